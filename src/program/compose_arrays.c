/*
 * compose_arrays.c - rules that say calls on whole arrays in the words of others (compose.h).
 */
#include "program/compose.h"

#include "ir/shape.h"

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
