/*
 * compose_arrays.c - rules that say calls on whole arrays in the words of others (compose.h).
 */
#include "program/compose.h"

#include "ir/shape/shape.h"

static struct mase_arg dtype_arg(enum mase_dtype t)
{
    return (struct mase_arg){ .kind = MASE_ARG_ATOM, .s = mase_dtypes[t].torch };
}

/* y as another type. */
static enum mase_status end_as(struct mase_compose *k, struct mase_arg y, enum mase_dtype t)
{
    const struct mase_arg target = dtype_arg(t);
    if (k->status)
        return k->status;
    if (mase_pvalue_of(&y)->type.dtype != t)
        return mase_compose_last(k, MASE_OP_cast, y,
                                 mase_arg_seq(&k->l->program->arena, MASE_ARG_TUPLE, &target, 1));
    k->l->param[0] = y;
    k->l->alias = true;
    return MASE_OK;
}

/* Without what has no values, unless the type depends on it. */
enum mase_status mase_lower_cat(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_arg *list = &l->param[0];
    struct mase_arg *items =
        mase_new_array(&l->program->arena, struct mase_arg, (size_t)list->count);
    int kept = 0;
    (void)err;
    for (int i = 0; i < list->count; i++) {
        const struct mase_shape s = mase_compose_shape(&list->items[i]);
        if (mase_cat_skips(&s))
            continue;
        items[kept++] = list->items[i];
        if (mase_pvalue_of(&list->items[i])->type.dtype != l->call[0].result.tensor->dtype)
            return MASE_OK;
    }
    if (kept)
        *list = mase_arg_seq(&l->program->arena, list->kind, items, kept);
    return MASE_OK;
}

/* x.copy_(y): of x its shape and type count. */
enum mase_status mase_lower_copy_into(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_ptype type = mase_pvalue_of(&l->param[0])->type;
    const struct mase_arg sizes = mase_lowered_sizes(l, &type);
    struct mase_arg y = l->param[1];
    if (!mase_pvalue_of(&y))
        return mase_compose_last(&k, MASE_OP_full, sizes, y, dtype_arg(type.dtype));
    struct mase_ptype other = mase_pvalue_of(&y)->type;
    other.dtype = type.dtype;
    if (!mase_ptype_equal(&other, &type))
        y = mase_compose(&k, MASE_OP_expand, y, sizes);
    return end_as(&k, y, type.dtype);
}

/* ---- two arrays at once ---- */

/* x under another shape, whose lengths may follow the samples. */
static struct mase_arg shaped(struct mase_compose *k, struct mase_arg x,
                              const struct mase_ptype *type)
{
    return k->status ? x : mase_compose(k, MASE_OP_reshape, x, mase_lowered_sizes(k->l, type));
}

/* x with a dimension of length 1 before dimension at. */
static struct mase_arg widened(struct mase_compose *k, struct mase_arg x, int at)
{
    if (k->status)
        return x;
    struct mase_ptype type = mase_pvalue_of(&x)->type;
    for (int d = type.rank++; d > at; d--)
        type.dim[d] = type.dim[d - 1];
    type.dim[at] = (struct mase_extent){ .plus = 1 };
    return shaped(k, x, &type);
}

/* Differences of all pairs, and their norms. */
enum mase_status mase_lower_cdist(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const struct mase_arg x = l->param[0], y = l->param[1], p = mase_compose_param(&k, "p");
    struct mase_arg a = widened(&k, x, mase_pvalue_of(&x)->type.rank - 1);
    struct mase_arg b = widened(&k, y, mase_pvalue_of(&y)->type.rank - 2);
    struct mase_arg d = mase_compose(&k, MASE_OP_sub, a, b);
    return mase_compose_last(&k, MASE_OP_norm, d, p, mase_arg_int(-1));
}

/* The number of boundaries that are below a value, or not above. */
enum mase_status mase_lower_searchsorted(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    const bool one_row = l->op == MASE_OP_bucketize;
    struct mase_arg rows = l->param[one_row ? 1 : 0], x = l->param[one_row ? 0 : 1];
    const enum mase_op behind = mase_search_right(&l->call[0]) ? MASE_OP_gt : MASE_OP_ge;
    if (mase_pvalue_of(&rows)->type.rank > 1)
        rows = widened(&k, rows, mase_pvalue_of(&rows)->type.rank - 1);
    x = widened(&k, x, mase_pvalue_of(&x)->type.rank);
    struct mase_arg before = mase_compose(&k, MASE_OP_not, mase_compose(&k, behind, rows, x));
    const struct mase_arg count = mase_compose(&k, MASE_OP_sum, before, mase_arg_int(-1));
    return end_as(&k, count, l->call[0].result.tensor->dtype);
}

/* Operand which of a tensordot as a matrix or a list of them: those it keeps each by itself, the
 * others as one, which stands last of a and first of b. */
static struct mase_arg as_matrix(struct mase_compose *k, const struct mase_tensordot *t, int which)
{
    struct mase_arg x = k->l->param[which];
    const struct mase_ptype *from = &mase_pvalue_of(&x)->type;
    struct mase_ptype type = { .dtype = from->dtype };
    int64_t order[MASE_MAX_RANK], length = 1, columns = 1;
    for (int i = 0; i < from->rank; i++) /* kept labels, then summed ones; for b the reverse */
        order[i] = t->order[which][which ? i : (i + t->sums) % from->rank];
    for (int i = 0; i < t->sums; i++)
        length *= from->dim[t->order[which][i]].plus;
    for (int i = 0; i < t->kept[which]; i++) {
        const struct mase_extent e = from->dim[t->order[which][t->sums + i]];
        columns *= e.plus;
        if (!which)
            type.dim[type.rank++] = e;
    }
    type.dim[type.rank++].plus = length;
    if (which)
        type.dim[type.rank++].plus = columns;
    if (from->rank)
        x = mase_compose(k, MASE_OP_permute, x, mase_compose_ints(k, order, from->rank));
    return shaped(k, x, &type);
}

static bool follows(const struct mase_lowered *l, int param)
{
    return mase_ptype_follows(&mase_pvalue_of(&l->param[param])->type);
}

enum mase_status mase_lower_tensordot(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    struct mase_tensordot t;
    const struct mase_tensor *r[MASE_BATCH_SIZES];
    struct mase_ptype type;
    MASE_TRY(mase_tensordot_read(&l->call[0], &t, err));
    for (int s = 0; s < MASE_BATCH_SIZES; s++)
        r[s] = l->call[s].result.tensor;
    MASE_TRY(mase_lowered_type(&type, r, l->call[0].node, err));
    for (int i = 0; i < t.sums; i++)
        if (mase_pvalue_of(&l->param[0])->type.dim[t.order[0][i]].times)
            return mase_call_fail(&l->call[0], err, "sums over the samples, which a program keeps");
    if (follows(l, 1))
        return mase_call_fail(&l->call[0], err,
                              "b follows the samples; a program has a alone do so: einsum says it");
    struct mase_arg a = as_matrix(&k, &t, 0), b = as_matrix(&k, &t, 1);
    struct mase_arg y = mase_compose(&k, MASE_OP_matmul, a, b);
    return mase_compose_last(&k, MASE_OP_reshape, y, mase_lowered_sizes(l, &type));
}
