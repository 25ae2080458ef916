/*
 * unknown.c - the message about a word that is none of the known names.
 */
#include <string.h>

#include <mase/str.h>

static const struct {
    const char *word, *name, *note;
} synonyms[] = {
#define SYNONYM(word, name, note) { word, name, note },
#include "base/synonyms.def"
};

/* Are they equal but for leading hyphens, and hyphens that stand for underscores? */
static bool is_spelling_of(const char *a, const char *b)
{
    a += strspn(a, "-");
    b += strspn(b, "-");
    while (*a && *b && (*a == *b || (*a == '-' && *b == '_') || (*a == '_' && *b == '-')))
        a++, b++;
    return *a == *b;
}

/* The known name that another program's word stands for, or NULL; note: what is said besides. */
static const char *find_synonym(const char **note, const struct mase_unknown *u)
{
    for (size_t s = 0; s < sizeof synonyms / sizeof synonyms[0]; s++)
        for (int i = 0; i < u->count && is_spelling_of(u->word, synonyms[s].word); i++)
            if (u->names[i] && is_spelling_of(u->names[i], synonyms[s].name)) {
                *note = synonyms[s].note;
                return u->names[i];
            }
    return NULL;
}

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
    const char *note = "", *near = u->word ? find_synonym(&note, u) : NULL;
    if (u->word && !near)
        near = mase_nearest(u->word, u->names, u->count);
    if (near)
        mase_str_printf(&text, "%s%s%s%s", u->before ? u->before : ", did you mean '", near,
                        u->after ? u->after : "'?", note);
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
