/*
 * bind_call.c - match given arguments to a signature.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/graph/bind_call.h"

#include "base/number.h"

int mase_sig_find(const struct mase_sig *sig, const char *name)
{
    for (int i = 0; i < sig->count; i++)
        if (mase_streq(sig->param[i].name, name))
            return i;
    return -1;
}

static enum mase_status fail_surplus(const struct mase_sig *sig, int given, struct mase_err *err)
{
    struct mase_str names = { 0 };
    for (int i = 0; i < sig->count; i++)
        mase_str_printf(&names, "%s%s", i ? ", " : "", sig->param[i].name);
    enum mase_status st =
        mase_fail(err, MASE_EVALUE, "takes at most %d argument%s (%s), got %d", sig->count,
                  sig->count == 1 ? "" : "s", mase_str_text(&names), given);
    mase_str_release(&names);
    return st;
}

static enum mase_status fail_unknown(const struct mase_sig *sig, const char *name,
                                     struct mase_err *err)
{
    const char *names[MASE_MAX_PARAMS];
    for (int i = 0; i < sig->count; i++)
        names[i] = sig->param[i].name;
    return mase_fail_unknown(
        err, MASE_NOWHERE,
        &(struct mase_unknown){ name, names, sig->count, .before = "; did you mean '" },
        "unknown argument '%s'", name);
}

/* f(x, 2, 3), f(x, (2, 3)) and f(x, [2, 3]) give a star parameter the same tuple. */
static struct mase_arg take_rest(struct mase_arena *a, const struct mase_arg *items, int count)
{
    bool one_seq =
        count == 1 && (items[0].kind == MASE_ARG_TUPLE || items[0].kind == MASE_ARG_LIST);
    if (one_seq)
        return mase_arg_seq(a, MASE_ARG_TUPLE, items[0].items, items[0].count);
    return mase_arg_seq(a, MASE_ARG_TUPLE, items, count);
}

static enum mase_status bind_positions(struct mase_binding *b, struct mase_arena *a,
                                       const struct mase_sig *sig, const struct mase_arg *args,
                                       struct mase_err *err)
{
    for (int i = 0; i < args->count; i++) {
        if (i >= sig->count)
            return fail_surplus(sig, args->count, err);
        b->bound[i] = true;
        if (sig->param[i].variadic) {
            b->value[i] = take_rest(a, args->items + i, args->count - i);
            return MASE_OK;
        }
        b->value[i] = args->items[i];
    }
    return MASE_OK;
}

/* Names that PyTorch takes beside its own: NumPy's, and what a method calls its parameter. */
static const struct synonym {
    const char *name, *of;
} synonyms[] = {
    { "axis", "dim" }, { "axis", "dims" }, { "keepdims", "keepdim" },
    { "x1", "input" }, { "x2", "other" },  { "split_size", "split_size_or_sections" },
};

static int find_named(const struct mase_sig *sig, const char *name)
{
    int i = mase_sig_find(sig, name);
    for (size_t k = 0; i < 0 && k < sizeof synonyms / sizeof *synonyms; k++)
        if (mase_streq(synonyms[k].name, name))
            i = mase_sig_find(sig, synonyms[k].of);
    return i;
}

static enum mase_status bind_names(struct mase_binding *b, const struct mase_sig *sig,
                                   const struct mase_arg *kwargs, struct mase_err *err)
{
    for (int k = 0; k < kwargs->count; k++) {
        const int i = find_named(sig, kwargs->keys[k]);
        if (i < 0)
            return fail_unknown(sig, kwargs->keys[k], err);
        if (b->bound[i])
            return mase_fail(err, MASE_EVALUE, "argument '%s' is given twice", kwargs->keys[k]);
        b->bound[i] = true;
        b->value[i] = kwargs->items[k];
    }
    return MASE_OK;
}

enum mase_status mase_bind(struct mase_binding *b, struct mase_arena *a, const struct mase_sig *sig,
                           const struct mase_arg *args, const struct mase_arg *kwargs,
                           struct mase_err *err)
{
    memset(b, 0, sizeof *b);
    if (args)
        MASE_TRY(bind_positions(b, a, sig, args, err));
    if (kwargs)
        MASE_TRY(bind_names(b, sig, kwargs, err));
    return MASE_OK;
}

/* ---- defaults ---- */

static struct mase_arg number(const char *text)
{
    char *end;
    long long i = strtoll(text, &end, 10);
    if (!*end)
        return mase_arg_int(i);
    double f = mase_number_read(text, &end);
    if (*end)
        mase_bug("ops.def: default \"%s\" is no literal and no earlier parameter", text);
    return mase_arg_float(f);
}

struct mase_arg mase_bind_default(struct mase_arena *a, const struct mase_sig *sig, int i,
                                  const struct mase_arg *value)
{
    const char *text = sig->param[i].dflt;
    size_t n = strlen(text);

    if (!strcmp(text, "None"))
        return mase_arg_none();
    if (!strcmp(text, "True") || !strcmp(text, "False"))
        return mase_arg_bool(*text == 'T');
    if (*text == '\'')
        return mase_arg_text(mase_arena_strndup(a, text + 1, n - 2));
    int earlier = mase_sig_find(sig, text);
    if (earlier >= 0 && earlier < i)
        return value[earlier];
    return number(text);
}

/* Does the default of parameter i name another parameter? Then None means that one too. */
static bool follows_another(const struct mase_sig *sig, int i)
{
    return sig->param[i].has_default && mase_sig_find(sig, sig->param[i].dflt) >= 0;
}

/* ---- conversions ---- */

static struct mase_arg repeated(struct mase_arena *a, const struct mase_arg *v, int n)
{
    const struct mase_arg items[6] = { *v, *v, *v, *v, *v, *v };
    return mase_arg_seq(a, MASE_ARG_TUPLE, items, n);
}

static bool is_number(const struct mase_arg *v)
{
    return v->kind == MASE_ARG_INT || v->kind == MASE_ARG_FLOAT;
}

static struct mase_arg convert(struct mase_arena *a, char how, struct mase_arg v)
{
    if (how == '?')
        return mase_arg_bool(mase_arg_truthy(&v));
    if (how == 'f')
        return v.kind == MASE_ARG_INT ? mase_arg_float((double)v.i) : v;
    if (v.kind == MASE_ARG_LIST)
        return mase_arg_seq(a, MASE_ARG_TUPLE, v.items, v.count);
    if (!is_number(&v))
        return v;
    return repeated(a, &v, how == 'n' ? 1 : how - '0');
}

enum mase_status mase_bind_defaults(struct mase_binding *b, struct mase_arena *a,
                                    const struct mase_sig *sig, struct mase_err *err)
{
    for (int i = 0; i < sig->count; i++) {
        const struct mase_sig_param *p = &sig->param[i];
        if (!b->bound[i] && p->variadic)
            b->value[i] = mase_arg_seq(a, MASE_ARG_TUPLE, NULL, 0);
        else if (!b->bound[i] && !p->has_default)
            return mase_fail(err, MASE_EVALUE, "argument '%s' is missing", p->name);
        else if (!b->bound[i] || (b->value[i].kind == MASE_ARG_NONE && follows_another(sig, i)))
            b->value[i] = mase_bind_default(a, sig, i, b->value);
        if (p->coerce)
            b->value[i] = convert(a, p->coerce, b->value[i]);
    }
    return MASE_OK;
}

enum mase_status mase_bind_check(struct mase_arena *a, enum mase_op op, enum mase_node_kind kind,
                                 const struct mase_arg *args, const struct mase_arg *kwargs,
                                 struct mase_err *err)
{
    const struct mase_sig *sig = mase_op_call_sig(op);
    struct mase_binding b;

    MASE_TRY(mase_bind(&b, a, sig, args, kwargs, err));
    return kind == MASE_CALL_MODULE ? MASE_OK : mase_bind_defaults(&b, a, sig, err);
}
