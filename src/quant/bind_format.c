/*
 * bind_format.c - number formats from configuration tables, lists and texts.
 *
 * A configuration writes one key per operand and parameter: weight_width, weight_frac_width. The
 * operand's name is the caller's; the parameters, whether they may be none and their ranges are the
 * format's rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "quant/quant.h"

/* ---- from a table ---- */

static enum mase_status fail_missing(const struct mase_value *config, const char *key,
                                     enum mase_quant_kind kind, struct mase_err *err)
{
    const struct mase_loc at = config ? config->at : MASE_NOWHERE;
    const bool table = config && config->kind == MASE_TABLE;
    const struct mase_unknown names = { .word = key,
                                        .names = table ? config->keys : NULL,
                                        .count = table ? config->count : 0,
                                        .before = "; is '",
                                        .after = "' meant?" };
    return mase_fail_unknown(err, at, &names, "%s is missing, which %s needs", key,
                             mase_quants[kind]->name);
}

/* A format in the making. */
struct draft {
    struct mase_arena *arena;
    enum mase_quant_kind kind;
    void *params;
    struct mase_value *config;
    int said;            /* parameters up to the last one that is not left to its default */
    struct mase_loc at;  /* of the first of them */
    const char *operand; /* operand that has the format; "": none */
};

static void draft_init(struct draft *d, struct mase_arena *a, enum mase_quant_kind kind,
                       const char *operand)
{
    *d = (struct draft){ .arena = a, .kind = kind, .at = MASE_NOWHERE, .operand = operand };
    d->params = mase_arena_alloc(a, mase_quants[kind]->size);
    d->config = mase_value_list(a);
}

/* ---- what calibration finds ---- */

static const struct {
    const char *key;
    enum mase_tuning tuning;
} tunings[] = { { "frac_width", MASE_TUNED_EXPONENT },
                { "exponent_bias", MASE_TUNED_EXPONENT },
                { "scale", MASE_TUNED_SCALE },
                { "tensor_scale", MASE_TUNED_SCALE },
                { "zero_point", MASE_TUNED_ZERO } };

enum mase_tuning mase_param_tuning(const struct mase_opt *row)
{
    for (size_t i = 0; i < sizeof tunings / sizeof *tunings; i++)
        if (mase_streq(tunings[i].key, row->key))
            return tunings[i].tuning;
    return MASE_NOT_TUNED;
}

bool mase_value_is_auto(const struct mase_value *v)
{
    return v && v->kind == MASE_STRING && mase_streq(v->s, MASE_AUTO);
}

enum mase_status mase_format_refuse_auto(enum mase_quant_kind kind, const struct mase_opt *row,
                                         const char *key, struct mase_loc at, struct mase_err *err)
{
    struct mase_str can = { 0 };
    for (const struct mase_opt *p = mase_quants[kind]->params; p->type; p++)
        if (mase_param_tuning(p))
            mase_str_printf(&can, "%s%s", can.len ? " and " : "only ", p->key);
    const enum mase_status st =
        mase_param_tuning(row)
            ? mase_fail_at(err, MASE_EVALUE, at,
                           "%s = \"" MASE_AUTO "\" is for a calibration to find, and none was made",
                           key)
            : mase_fail_at(err, MASE_EVALUE, at,
                           "%s cannot be \"" MASE_AUTO "\": of %s %s can be calibrated", key,
                           mase_quants[kind]->name, can.len ? mase_str_text(&can) : "nothing");
    mase_str_release(&can);
    return st;
}

/* ---- drafts ---- */

/* v NULL: the default, which only an optional parameter may be left to. So is NA, unless that means
 * something else to it: formats print what nobody said as NA when something behind it was said. */
static enum mase_status draft_add(struct draft *d, const struct mase_opt *row, const char *key,
                                  const struct mase_value *v, struct mase_err *err)
{
    struct mase_opt named = *row;
    named.key = key;
    if (mase_value_is_auto(v))
        return mase_format_refuse_auto(d->kind, row, key, v->at, err);
    if (v && mase_value_is_none(v) && !row->required && !row->may_be_none)
        v = NULL;
    if (v) {
        MASE_TRY(mase_opt_bind_value(d->params, &named, v, err));
        d->at = d->said ? d->at : v->at;
        d->said = d->config->count + 1;
    } else {
        mase_opt_set_default(d->params, row);
    }
    mase_value_push(d->arena, d->config,
                    v && !mase_value_is_none(v) ? mase_value_copy(d->arena, v)
                                                : mase_value_none(d->arena));
    return MASE_OK;
}

static enum mase_status draft_resolve(struct draft *d, struct mase_err *err)
{
    const struct mase_quant_info *row = mase_quants[d->kind];
    d->config->count = d->said;
    const enum mase_status st = row->resolve ? row->resolve(d->params, err) : MASE_OK;
    if (st)
        mase_place(err, d->at);
    if (st && *d->operand)
        mase_wrap(err, "%s", d->operand);
    return st;
}

/* Resolve and intern when all went well; release what it was made in, in any case. */
static enum mase_status draft_end(struct draft *d, const struct mase_format **f,
                                  enum mase_status st, struct mase_err *err)
{
    if (!st)
        st = draft_resolve(d, err);
    if (!st)
        *f = mase_format_intern(d->kind, d->config, d->params);
    mase_arena_release(d->arena);
    return st;
}

static enum mase_status draft_add_table(struct draft *d, const struct mase_value *config,
                                        const char *prefix, struct mase_err *err)
{
    struct mase_str key = { 0 };
    enum mase_status st = MASE_OK;
    for (const struct mase_opt *row = mase_quants[d->kind]->params; row->type && !st; row++) {
        mase_str_clear(&key);
        mase_str_printf(&key, "%s%s%s", prefix, *prefix ? "_" : "", row->key);
        const struct mase_value *v = mase_value_get(config, mase_str_text(&key));
        st = v || !row->required ? draft_add(d, row, mase_str_text(&key), v, err)
                                 : fail_missing(config, mase_str_text(&key), d->kind, err);
    }
    mase_str_release(&key);
    return st;
}

enum mase_status mase_format_bind(const struct mase_format **f, enum mase_quant_kind kind,
                                  const struct mase_value *config, const char *prefix,
                                  struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct draft d;
    if (kind == MASE_QUANT_float) {
        *f = NULL;
        return MASE_OK;
    }
    draft_init(&d, &a, kind, prefix);
    return draft_end(&d, f, draft_add_table(&d, config, prefix, err), err);
}

enum mase_status mase_format_try(struct mase_format *f, struct mase_arena *a,
                                 enum mase_quant_kind kind, const struct mase_value *config,
                                 const char *prefix, struct mase_err *err)
{
    struct draft d;
    draft_init(&d, a, kind, prefix);
    MASE_TRY(draft_add_table(&d, config, prefix, err));
    MASE_TRY(draft_resolve(&d, err));
    *f = (struct mase_format){
        .kind = kind, .row = mase_quants[kind], .config = d.config, .params = d.params
    };
    return MASE_OK;
}

bool mase_format_mentioned(const struct mase_value *config, const char *prefix)
{
    const size_t n = strlen(prefix);
    for (int i = 0; config && config->kind == MASE_TABLE && i < config->count; i++)
        if (mase_starts_with(config->keys[i], prefix) && config->keys[i][n] == '_')
            return true;
    return false;
}

/* ---- from a list ---- */

enum mase_status mase_format_from_list(const struct mase_format **f, enum mase_quant_kind kind,
                                       const struct mase_value *list, struct mase_err *err)
{
    const struct mase_quant_info *q = mase_quants[kind];
    const int most = mase_quant_param_count(q);
    int least = 0;
    struct mase_arena a = { 0 };
    struct draft d;
    enum mase_status st = MASE_OK;

    while (least < most && q->params[least].required)
        least++;
    if (list->count < least || list->count > most)
        return mase_fail_at(err, MASE_EVALUE, list->at, "%s has %d to %d parameters, not %d",
                            q->name, least, most, list->count);
    if (kind == MASE_QUANT_float) {
        *f = NULL;
        return MASE_OK;
    }
    draft_init(&d, &a, kind, "");
    for (int i = 0; i < most && !st; i++)
        st = draft_add(&d, &q->params[i], q->params[i].key, i < list->count ? list->items[i] : NULL,
                       err);
    return draft_end(&d, f, st, err);
}

/* ---- from a text ---- */

/* One word up to a comma or a closing bracket of the level it stands in. */
static struct mase_value *take_word(struct mase_arena *a, const char **p)
{
    const char *s = *p + strspn(*p, " ");
    if (*s == '[') {
        struct mase_value *list = mase_value_list(a);
        for (s++; *s && *s != ']'; s += *s == ',')
            mase_value_push(a, list, take_word(a, &s));
        *p = *s ? s + 1 : s;
        *p += strspn(*p, " ");
        return list;
    }
    const size_t n = strcspn(s, ",])");
    size_t len = n;
    while (len && s[len - 1] == ' ')
        len--;
    *p = s + n;
    const char *word = mase_value_string_n(a, s, len)->s;
    char *end;
    errno = 0;
    const int64_t i = strtoll(word, &end, 10);
    if (end != word && !*end && !errno)
        return mase_value_int(a, i);
    const double d = mase_number_read(word, &end);
    if (end != word && !*end && !mase_is_alpha(*word)) /* infinity is a word */
        return mase_value_float(a, d);
    if (mase_streq(word, "true") || mase_streq(word, "True"))
        return mase_value_bool(a, true);
    if (mase_streq(word, "false") || mase_streq(word, "False"))
        return mase_value_bool(a, false);
    if (mase_streq(word, "NA") || mase_streq(word, "None"))
        return mase_value_none(a);
    return mase_value_string(a, word);
}

struct mase_value *mase_format_word(struct mase_arena *a, const char *word)
{
    const char *p = word;
    struct mase_value *v = take_word(a, &p);
    return *p ? mase_value_string(a, word) : v; /* 8, 4: neither a number nor a list */
}

static enum mase_status parse(const struct mase_format **f, struct mase_arena *a, const char *text,
                              struct mase_err *err)
{
    const char *open = strchr(text, '(');
    const size_t n = open ? (size_t)(open - text) : strlen(text);
    const char *name = mase_value_string_n(a, text, n)->s;
    struct mase_value *list = mase_value_list(a);
    enum mase_quant_kind kind = MASE_QUANT_float;

    if (!mase_streq(name, mase_quants[MASE_QUANT_float]->name))
        MASE_TRY(mase_quant_need(&kind, name, MASE_NOWHERE, err));
    const char *p = open ? open : text + n;
    if (open && open[1] == ')') /* NAME() is NAME */
        p++;
    while (*p == '(' || *p == ',') {
        p++;
        mase_value_push(a, list, take_word(a, &p));
    }
    if (open && (*p != ')' || p[1]))
        return mase_fail(err, MASE_EPARSE, "'%s' is no number format: NAME(PARAMETER, ...)", text);
    return mase_format_from_list(f, kind, list, err);
}

enum mase_status mase_format_parse(const struct mase_format **f, const char *text,
                                   struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const enum mase_status st = parse(f, &a, text, err);
    mase_arena_release(&a);
    return st;
}
