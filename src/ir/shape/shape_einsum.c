/*
 * shape_einsum.c - the rule of einsum: what its equation says of the dimensions.
 *
 * A label is a number: letters 0..51, then the dimensions that an ellipsis stands for, counted from
 * the last, so that those of all operands are the same.
 */
#include <string.h>

#include "base/number.h"
#include "ir/shape/shape.h"

enum { LETTERS = 52 };

static int letter(char c)
{
    return mase_is_lower(c) ? c - 'a' : c - 'A' + 26;
}

static char letter_of(int label)
{
    return (char)(label < 26 ? 'a' + label : 'A' + label - 26);
}

/* One term of the equation: an operand, or the result. */
struct term {
    int label[MASE_MAX_RANK], rank;
    int dots; /* where the ellipsis stands among the labels; -1: there is none */
};

static enum mase_status bad_equation(const struct mase_call *c, const char *why,
                                     struct mase_err *err)
{
    return mase_call_fail(c, err, "%s: %s", mase_show_arg(c, &c->param[0]), why);
}

/* Parse the term at *text, and advance. */
static enum mase_status read_term(const struct mase_call *c, const char **text, struct term *t,
                                  struct mase_err *err)
{
    *t = (struct term){ .dots = -1 };
    for (; **text && **text != ',' && !mase_starts_with(*text, "->"); ++*text) {
        if (**text == ' ')
            continue;
        if (mase_starts_with(*text, "...") && t->dots < 0) {
            t->dots = t->rank;
            *text += 2;
        } else if (!mase_is_alpha(**text)) {
            return bad_equation(c, "letters, one ellipsis for each operand, ',' and '->' are known",
                                err);
        } else {
            MASE_TRY(mase_call_rank(c, t->rank + 1, err));
            t->label[t->rank++] = letter(**text);
        }
    }
    return MASE_OK;
}

/* Labels with those that the ellipsis stands for. */
static enum mase_status spread(const struct mase_call *c, const struct term *t, int dots,
                               int *labels, int *count, struct mase_err *err)
{
    MASE_TRY(mase_call_rank(c, t->rank + (t->dots < 0 ? 0 : dots), err));
    *count = 0;
    for (int i = 0; i <= t->rank; i++) {
        for (int k = 0; i == t->dots && k < dots; k++)
            labels[(*count)++] = LETTERS + dots - 1 - k;
        if (i < t->rank)
            labels[(*count)++] = t->label[i];
    }
    return MASE_OK;
}

static enum mase_status add_operand(const struct mase_call *c, struct mase_einsum *e,
                                    const struct term *t, const struct mase_arg *arg, int *most,
                                    struct mase_err *err)
{
    const struct mase_tensor *x = mase_arg_tensor(arg);
    const int i = e->operands;
    if (!x)
        return mase_call_fail(c, err, "operand %d must be a tensor, got %s", i + 1,
                              mase_show_arg(c, arg));
    MASE_TRY(mase_call_float_tensor(c, x, "operands", err));
    const int dots = x->shape.rank - t->rank;
    if (dots < 0 || (dots && t->dots < 0))
        return mase_call_fail(c, err, "%s: operand %d is %s, which has %d dimensions",
                              mase_show_arg(c, &c->param[0]), i + 1, mase_show_shape(c, &x->shape),
                              x->shape.rank);
    *most = t->dots >= 0 && dots > *most ? dots : *most;
    MASE_TRY(spread(c, t, dots, e->label[i], &e->rank[i], err));
    for (int d = 0; d < x->shape.rank; d++) {
        int64_t *size = &e->size[e->label[i][d]];
        const int64_t n = x->shape.dim[d];
        if (*size != 1 && n != 1 && n != *size)
            return mase_call_fail(c, err, "%s: dimension %d of operand %d is %lld long, not %lld",
                                  mase_show_arg(c, &c->param[0]), d, i + 1, (long long)n,
                                  (long long)*size);
        *size = *size == 1 ? n : *size;
    }
    e->operands++;
    return MASE_OK;
}

/* Without '->': what the ellipses stand for, then the letters that stand once, in their order. */
static void usual_result(const struct mase_einsum *e, struct term *out)
{
    *out = (struct term){ 0 };
    for (int label = 0; label < LETTERS; label++) {
        /* capitals come first, as in ASCII */
        const int l = label < 26 ? label + 26 : label - 26;
        int seen = 0;
        for (int i = 0; i < e->operands; i++)
            for (int d = 0; d < e->rank[i]; d++)
                seen += e->label[i][d] == l;
        if (seen == 1 && out->rank < MASE_MAX_RANK)
            out->label[out->rank++] = l;
    }
}

/* As many dimensions as can be gone through at once. */
static enum mase_status check_labels(const struct mase_call *c, const struct mase_einsum *e,
                                     struct mase_err *err)
{
    bool seen[MASE_EINSUM_LABELS] = { false };
    int count = 0;
    for (int i = 0; i < e->operands; i++)
        for (int d = 0; d < e->rank[i]; d++) {
            count += !seen[e->label[i][d]];
            seen[e->label[i][d]] = true;
        }
    if (count <= 2 * MASE_MAX_RANK)
        return MASE_OK;
    return mase_call_fail(c, err, "%s: %d labels, at most %d are known",
                          mase_show_arg(c, &c->param[0]), count, 2 * MASE_MAX_RANK);
}

static enum mase_status check_result(const struct mase_call *c, const struct mase_einsum *e,
                                     struct mase_err *err)
{
    for (int i = 0; i < e->out_rank; i++) {
        bool known = e->out[i] >= LETTERS, twice = false;
        for (int k = 0; k < e->operands; k++)
            for (int d = 0; d < e->rank[k]; d++)
                known |= e->label[k][d] == e->out[i];
        for (int k = 0; k < i; k++)
            twice |= e->out[k] == e->out[i];
        if (!known || twice)
            return mase_call_fail(c, err, "%s: '%c' of the result %s",
                                  mase_show_arg(c, &c->param[0]), letter_of(e->out[i]),
                                  twice ? "stands there twice" : "is no operand's");
    }
    return MASE_OK;
}

enum mase_status mase_einsum_read(const struct mase_call *c, struct mase_einsum *e,
                                  struct mase_err *err)
{
    const struct mase_arg *equation = &c->param[0], *operands = &c->param[1];
    struct term t;
    int dots = 0;
    *e = (struct mase_einsum){ 0 };
    for (int i = 0; i < MASE_EINSUM_LABELS; i++)
        e->size[i] = 1;
    if (equation->kind != MASE_ARG_TEXT)
        return mase_call_fail(c, err, "the equation must be a text, got %s",
                              mase_show_arg(c, equation));
    if (!mase_arg_is_seq(operands) || !operands->count || operands->count > MASE_EINSUM_OPERANDS)
        return mase_call_fail(c, err, "1 to %d operands are known", (int)MASE_EINSUM_OPERANDS);
    const char *text = equation->s;
    for (int i = 0; i < operands->count; i++) {
        MASE_TRY(read_term(c, &text, &t, err));
        MASE_TRY(add_operand(c, e, &t, &operands->items[i], &dots, err));
        if (i + 1 < operands->count && *text++ != ',')
            return bad_equation(c, "there are more operands than terms", err);
    }
    if (*text == ',')
        return bad_equation(c, "there are more terms than operands", err);
    MASE_TRY(check_labels(c, e, err));
    usual_result(e, &t);
    if (*text) {
        text += 2;
        MASE_TRY(read_term(c, &text, &t, err));
    }
    if (*text)
        return bad_equation(c, "one result is known", err);
    MASE_TRY(spread(c, &t, dots, e->out, &e->out_rank, err));
    return check_result(c, e, err);
}

enum mase_status mase_shape_einsum(struct mase_call *c, struct mase_err *err)
{
    struct mase_einsum e;
    struct mase_shape out = { 0 };
    MASE_TRY(mase_einsum_read(c, &e, err));
    const enum mase_dtype t = c->param[1].items[0].tensor->dtype;
    for (int i = 1; i < e.operands; i++)
        if (c->param[1].items[i].tensor->dtype != t)
            return mase_call_fail(c, err, "operands must have one type, got %s and %s",
                                  mase_dtypes[t].name,
                                  mase_dtypes[c->param[1].items[i].tensor->dtype].name);
    for (int i = 0; i < e.out_rank; i++)
        mase_shape_push(&out, e.size[e.out[i]]);
    mase_call_result(c, t, &out);
    return MASE_OK;
}
