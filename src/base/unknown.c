/*
 * unknown.c - the message about a word that is none of the known names.
 */
#include <mase/str.h>

static void add_list(struct mase_str *out, const struct mase_unknown *u)
{
    const size_t begin = out->len, most = u->list_bytes;
    for (int i = 0; i < u->count && (!most || out->len - begin < most); i++)
        if (u->names[i])
            mase_str_printf(out, "%s%s", out->len > begin ? ", " : "", u->names[i]);
    if (most && out->len - begin >= most)
        mase_str_add(out, ", ...");
}

enum mase_status mase_fail_unknown(struct mase_err *err, struct mase_loc at,
                                   const struct mase_unknown *u, const char *fmt, ...)
{
    struct mase_str text = { 0 };
    va_list ap;
    va_start(ap, fmt);
    mase_str_vprintf(&text, fmt, ap);
    va_end(ap);
    const enum mase_status status = u->status ? u->status : MASE_EVALUE;
    const char *near = u->word ? mase_nearest(u->word, u->names, u->count) : NULL;
    if (near)
        mase_str_printf(&text, "%s%s%s", u->before ? u->before : ", did you mean '", near,
                        u->after ? u->after : "'?");
    else
        mase_str_add(&text, u->otherwise ? u->otherwise : u->tail ? ";" : "");
    if (u->tail)
        mase_str_printf(&text, " %s", u->tail);
    if (u->lists)
        add_list(&text, u);
    mase_fail_at(err, status, at, "%s", mase_str_text(&text));
    mase_str_release(&text);
    return status;
}
