/*
 * shape_arrays.c - rules of calls that go over two arrays at once: tensordot, cdist, searchsorted.
 */
#include "ir/shape/shape.h"

/* ---- tensordot ---- */

/* One of the two lists of dimensions; from the back to the front of a shape, they are negative. */
static enum mase_status read_dims(const struct mase_call *c, int *order, int count,
                                  const struct mase_arg *list, const struct mase_shape *s,
                                  struct mase_err *err)
{
    bool in[MASE_MAX_RANK] = { false };
    for (int i = 0; i < count; i++) {
        const struct mase_arg *d = mase_arg_is_seq(list) ? &list->items[i] : list;
        const int64_t at = d->kind == MASE_ARG_INT && d->i < 0 ? d->i + s->rank : d->i;
        if (d->kind != MASE_ARG_INT || at < 0 || at >= s->rank || in[at])
            return mase_call_fail(c, err,
                                  "dims: %s is no dimension of %s, or one for the second time",
                                  mase_show_arg(c, d), mase_show_shape(c, s));
        order[i] = (int)at;
        in[at] = true;
    }
    for (int d = 0, n = count; d < s->rank; d++)
        if (!in[d])
            order[n++] = d;
    return MASE_OK;
}

/* dims = 2: the last two of a and the first two of b. */
static enum mase_status read_count(const struct mase_call *c, struct mase_tensordot *t, int64_t n,
                                   const struct mase_shape *a, const struct mase_shape *b,
                                   struct mase_err *err)
{
    if (n < 0 || n > a->rank || n > b->rank)
        return mase_call_fail(c, err, "dims = %lld is outside 0..%d", (long long)n,
                              a->rank < b->rank ? a->rank : b->rank);
    t->sums = (int)n;
    for (int d = 0; d < a->rank; d++)
        t->order[0][d] = (d + a->rank - t->sums) % (a->rank ? a->rank : 1);
    for (int d = 0; d < b->rank; d++)
        t->order[1][d] = d;
    return MASE_OK;
}

enum mase_status mase_tensordot_read(const struct mase_call *c, struct mase_tensordot *t,
                                     struct mase_err *err)
{
    const struct mase_shape *a = &mase_call_tensor(c, "a")->shape;
    const struct mase_shape *b = &mase_call_tensor(c, "b")->shape;
    const struct mase_arg *dims = mase_call_arg(c, "dims");
    *t = (struct mase_tensordot){ 0 };
    if (dims->kind == MASE_ARG_INT)
        MASE_TRY(read_count(c, t, dims->i, a, b, err));
    else if (mase_arg_is_seq(dims) && dims->count == 2) {
        const struct mase_arg *l = &dims->items[0], *r = &dims->items[1];
        t->sums = mase_arg_is_seq(l) ? l->count : 1;
        if (t->sums != (mase_arg_is_seq(r) ? r->count : 1))
            return mase_call_fail(c, err, "dims = %s must be as many of a as of b",
                                  mase_show_arg(c, dims));
        if (t->sums > a->rank || t->sums > b->rank)
            return mase_call_fail(c, err, "dims = %s are more than there are",
                                  mase_show_arg(c, dims));
        MASE_TRY(read_dims(c, t->order[0], t->sums, l, a, err));
        MASE_TRY(read_dims(c, t->order[1], t->sums, r, b, err));
    } else
        return mase_call_fail(c, err, "dims must be a number or two lists, got %s",
                              mase_show_arg(c, dims));
    t->kept[0] = a->rank - t->sums;
    t->kept[1] = b->rank - t->sums;
    for (int i = 0; i < t->sums; i++)
        if (a->dim[t->order[0][i]] != b->dim[t->order[1][i]])
            return mase_call_fail(c, err, "dimension %d of %s and %d of %s differ", t->order[0][i],
                                  mase_show_shape(c, a), t->order[1][i], mase_show_shape(c, b));
    return MASE_OK;
}

enum mase_status mase_shape_tensordot(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x[2];
    struct mase_tensordot t;
    struct mase_shape out = { 0 };
    MASE_TRY(mase_call_need(c, &x[0], "a", err));
    MASE_TRY(mase_call_need(c, &x[1], "b", err));
    MASE_TRY(mase_tensordot_read(c, &t, err));
    MASE_TRY(mase_call_rank(c, t.kept[0] + t.kept[1], err));
    if (x[0]->dtype != x[1]->dtype)
        return mase_call_fail(c, err, "a is %s, b is %s; both must be of one type",
                              mase_dtypes[x[0]->dtype].name, mase_dtypes[x[1]->dtype].name);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < t.kept[k]; i++)
            mase_shape_push(&out, x[k]->shape.dim[t.order[k][t.sums + i]]);
    mase_call_result(c, x[0]->dtype, &out);
    return MASE_OK;
}

/* ---- cdist ---- */

enum mase_status mase_shape_cdist(struct mase_call *c, struct mase_err *err)
{
    const struct mase_tensor *x, *y;
    double p;
    MASE_TRY(mase_call_need(c, &x, "x1", err));
    MASE_TRY(mase_call_need(c, &y, "x2", err));
    MASE_TRY(mase_call_float_tensor(c, x, "x1", err));
    MASE_TRY(mase_call_float_tensor(c, y, "x2", err));
    MASE_TRY(mase_call_float(c, &p, "p", err));
    const struct mase_shape *s = &x->shape, *t = &y->shape;
    const bool lists = s->rank >= 2 && t->rank >= 2;
    struct mase_shape out = { 0 };
    if (lists)
        out = mase_shape_part(s, 0, s->rank - 2);
    const struct mase_shape other =
        lists ? mase_shape_part(t, 0, t->rank - 2) : (struct mase_shape){ 0 };
    if (!lists || s->dim[s->rank - 1] != t->dim[t->rank - 1] || !mase_shape_widen(&out, &other))
        return mase_call_fail(c, err, "x1 %s and x2 %s must be lists of equally long vectors",
                              mase_show_shape(c, s), mase_show_shape(c, t));
    if (p < 0.0)
        return mase_call_fail(c, err, "p = %g is negative", p);
    mase_shape_push(&out, s->dim[s->rank - 2]);
    mase_shape_push(&out, t->dim[t->rank - 2]);
    mase_call_result(c, mase_dtype_promote(x->dtype, y->dtype), &out);
    return MASE_OK;
}

/* ---- searchsorted and bucketize ---- */

bool mase_search_right(const struct mase_call *c)
{
    return mase_call_flag(c, "right") || mase_streq(mase_call_text(c, "side", ""), "right");
}

enum mase_status mase_shape_searchsorted(struct mase_call *c, struct mase_err *err)
{
    const bool one_row = c->node->op == MASE_OP_bucketize;
    const struct mase_tensor *rows, *x;
    MASE_TRY(mase_call_need(c, &rows, one_row ? "boundaries" : "sorted_sequence", err));
    MASE_TRY(mase_call_need(c, &x, "input", err));
    const struct mase_shape *r = &rows->shape, *s = &x->shape;
    bool fit = r->rank == 1 || (!one_row && r->rank && r->rank == s->rank);
    for (int d = 0; fit && r->rank > 1 && d < r->rank - 1; d++)
        fit = r->dim[d] == s->dim[d];
    if (!fit)
        return mase_call_fail(c, err, "%s cannot be looked for in %s: one row, or one for each",
                              mase_show_shape(c, s), mase_show_shape(c, r));
    if (mase_arg_present(mase_call_arg(c, "sorter")))
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: searchsorted: a sorter is not available",
                         c->node->name);
    mase_call_result(c, mase_call_flag(c, "out_int32") ? MASE_I32 : MASE_I64, s);
    return MASE_OK;
}
