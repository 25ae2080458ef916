/*
 * grad_layout.c - gradients of operations that only move values: what moves them back and adds up
 * what came from one place.
 */
#include "ir/shape/shape.h"
#include "program/grad.h"

void mase_back_reshape(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0];
    mase_grad_give(k, x, mase_expr_reshape(&k->b, mase_grad_result(k, 0), mase_type_of(x)));
}

void mase_back_permute(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0];
    int order[MASE_MAX_RANK] = { 0 }, back[MASE_MAX_RANK];
    const struct mase_call *c = mase_grad_call(k);
    if (!k->b.status)
        k->b.status = mase_layout_order(c, order, &c->param[0].tensor->shape, k->b.err);
    for (int d = 0; d < mase_type_of(x)->rank; d++)
        back[order[d]] = d;
    if (!k->b.status)
        mase_grad_give(k, x, mase_expr_permute(&k->b, mase_grad_result(k, 0), back));
}

/* Sum over broadcast dimensions. */
void mase_back_expand(struct mase_backward *k)
{
    mase_grad_give(k, &k->i->param[0], mase_grad_result(k, 0));
}

/* The operation undoes itself, or is its own transpose. */
void mase_back_again(struct mase_backward *k)
{
    struct mase_arg param[MASE_MAX_PARAMS];
    for (int n = 0; n < mase_instr_params(k->i); n++)
        param[n] = k->i->param[n];
    param[0] = mase_grad_result(k, 0);
    mase_grad_give(k, &k->i->param[0],
                   mase_expr_call(&k->b, k->i->op, param, mase_instr_params(k->i)));
}

void mase_back_pixel_shuffle(struct mase_backward *k)
{
    mase_grad_give(k, &k->i->param[0],
                   mase_g(k, pixel_unshuffle, mase_grad_result(k, 0), k->i->param[1]));
}

void mase_back_pixel_unshuffle(struct mase_backward *k)
{
    mase_grad_give(k, &k->i->param[0],
                   mase_g(k, pixel_shuffle, mase_grad_result(k, 0), k->i->param[1]));
}

void mase_back_adjoint(struct mase_backward *k)
{
    mase_grad_give(k, &k->i->param[0], mase_grad_adjoint(k, mase_grad_result(k, 0)));
}

/* unfold (input, kernel_size, dilation, padding, stride) and fold (input, output_size, the same)
 * are each other's transpose. */
void mase_back_unfold(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param;
    const struct mase_ptype *image = mase_type_of(&param[0]);
    const struct mase_arg size[2] = { mase_expr_length(&k->b, image->dim[image->rank - 2]),
                                      mase_expr_length(&k->b, image->dim[image->rank - 1]) };
    mase_grad_give(k, &param[0],
                   mase_g(k, fold, mase_grad_result(k, 0), mase_expr_tuple(&k->b, size, 2),
                          param[1], param[2], param[3], param[4]));
}

void mase_back_fold(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param;
    mase_grad_give(
        k, &param[0],
        mase_g(k, unfold, mase_grad_result(k, 0), param[2], param[3], param[4], param[5]));
}

/* A length given as a number, or as what it is times N. */
static struct mase_extent extent_of(const struct mase_arg *a)
{
    struct mase_extent e = { a->kind == MASE_ARG_INT ? a->i : 0, 0 };
    if (a->kind == MASE_ARG_ATOM && !mase_extent_parse(a->s, &e))
        e = (struct mase_extent){ 0, 0 };
    return e;
}

/* Zeros are cut off again. */
void mase_back_pad(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param, mode = mase_grad_param(k, "mode");
    struct mase_arg width[2 * MASE_MAX_RANK];
    if (mode.kind == MASE_ARG_TEXT && !mase_streq(mode.s, "constant")) {
        mase_back_adjoint(k);
        return;
    }
    for (int n = 0; n < param[1].count; n++) {
        const struct mase_extent e = extent_of(&param[1].items[n]);
        width[n] = mase_expr_length(&k->b, (struct mase_extent){ -e.plus, -e.times });
    }
    mase_grad_give(
        k, &param[0],
        mase_g(k, pad, mase_grad_result(k, 0), mase_expr_tuple(&k->b, width, param[1].count)));
}

/* ---- joining ---- */

void mase_back_cat(struct mase_backward *k)
{
    const struct mase_arg *list = &k->i->param[0], dy = mase_grad_result(k, 0);
    const int axis = mase_grad_axis(k, "dim", mase_type_of(&dy)->rank);
    struct mase_extent start = { 0, 0 };
    for (int n = 0; n < list->count; n++) {
        const struct mase_ptype *t = mase_type_of(&list->items[n]);
        if (t->rank != mase_type_of(&dy)->rank)
            continue; /* [0] is left out */
        if (mase_grad_wants(k, &list->items[n]))
            mase_grad_give(k, &list->items[n],
                           mase_expr_narrow(&k->b, dy, axis, start, t->dim[axis]));
        start.plus += t->dim[axis].plus;
        start.times += t->dim[axis].times;
    }
}

void mase_back_stack(struct mase_backward *k)
{
    const struct mase_arg *list = &k->i->param[0], dy = mase_grad_result(k, 0);
    const int axis = mase_grad_axis(k, "dim", mase_type_of(&dy)->rank);
    for (int n = 0; n < list->count; n++)
        if (mase_grad_wants(k, &list->items[n]))
            mase_grad_give(k, &list->items[n],
                           mase_g(k, select, dy, mase_arg_int(axis), mase_arg_int(n)));
}

/* ---- cutting ---- */

/* The gradients of all results, zeros where there is none. */
static struct mase_arg all_results(struct mase_backward *k)
{
    const struct mase_instr *i = k->i;
    struct mase_arg *part = mase_new_array(&k->scratch, struct mase_arg, (size_t)i->result_count);
    for (int n = 0; n < i->result_count; n++) {
        part[n] = mase_grad_result(k, n);
        if (part[n].kind == MASE_ARG_NONE)
            part[n] = mase_expr_zeros(&k->b, &i->result[n]->type);
    }
    return mase_expr_tuple(&k->b, part, i->result_count);
}

void mase_back_pieces(struct mase_backward *k)
{
    mase_grad_give(k, &k->i->param[0], mase_g(k, cat, all_results(k), mase_grad_param(k, "dim")));
}

void mase_back_unbind(struct mase_backward *k)
{
    mase_grad_give(k, &k->i->param[0], mase_g(k, stack, all_results(k), mase_grad_param(k, "dim")));
}

/* A start counted from the end, of a dimension that may follow the samples. */
static struct mase_extent start_of(const struct mase_arg *start, struct mase_extent length)
{
    struct mase_extent e = extent_of(start);
    if (!e.times && e.plus < 0)
        e = (struct mase_extent){ length.plus + e.plus, length.times };
    return e;
}

void mase_back_narrow(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0], start = mase_grad_param(k, "start");
    const struct mase_ptype *t = mase_type_of(x);
    const int axis = mase_grad_axis(k, "dim", t->rank);
    mase_grad_give(
        k, x,
        mase_expr_embed(&k->b, mase_grad_result(k, 0), axis, start_of(&start, t->dim[axis]), t));
}

void mase_back_select(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0], index = mase_grad_param(k, "index");
    const struct mase_ptype *t = mase_type_of(x);
    const int axis = mase_grad_axis(k, "dim", t->rank);
    const struct mase_arg dy = mase_expr_unsqueeze(&k->b, mase_grad_result(k, 0), axis);
    mase_grad_give(k, x, mase_expr_embed(&k->b, dy, axis, start_of(&index, t->dim[axis]), t));
}

/* dy put into zeros at the places that were read. */
static struct mase_arg put_back(struct mase_backward *k, struct mase_arg places)
{
    const struct mase_arg zeros = mase_expr_zeros(&k->b, mase_type_of(&k->i->param[0]));
    return mase_g(k, setitem, zeros, places, mase_grad_result(k, 0));
}

void mase_back_slice(struct mase_backward *k)
{
    const struct mase_arg *x = &k->i->param[0];
    const struct mase_ptype *t = mase_type_of(x);
    const int axis = mase_grad_axis(k, "dim", t->rank);
    const struct mase_arg start = mase_grad_param(k, "start");
    struct mase_arg place[MASE_MAX_RANK], none[3] = { { 0 } };
    struct mase_arg bounds[3] = { start, mase_grad_param(k, "stop"), mase_grad_param(k, "step") };
    if (mase_grad_int(k, "step", 1) == 1) {
        mase_grad_give(k, x,
                       mase_expr_embed(&k->b, mase_grad_result(k, 0), axis,
                                       start_of(&start, t->dim[axis]), t));
        return;
    }
    for (int d = 0; d <= axis; d++)
        place[d] = mase_arg_seq(&k->b.p->arena, MASE_ARG_SLICE, d == axis ? bounds : none, 3);
    mase_grad_give(k, x, put_back(k, mase_expr_tuple(&k->b, place, axis + 1)));
}

static bool mentions_value(const struct mase_arg *a)
{
    bool any = a->kind == MASE_ARG_NODE || a->kind == MASE_ARG_LIST;
    for (int n = 0; a->kind >= MASE_ARG_TUPLE && n < a->count; n++)
        any |= mentions_value(&a->items[n]);
    return any;
}

/* An index may name a place several times, which a slice cannot. */
void mase_back_getitem(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param;
    mase_grad_give(k, &param[0],
                   mentions_value(&param[1]) ? mase_grad_adjoint(k, mase_grad_result(k, 0))
                                             : put_back(k, param[1]));
}

void mase_back_setitem(struct mase_backward *k)
{
    const struct mase_arg *param = k->i->param, dy = mase_grad_result(k, 0);
    if (mase_grad_wants(k, &param[0]))
        mase_grad_give(k, &param[0], mase_g(k, setitem, dy, param[1], mase_arg_float(0.0)));
    if (mase_grad_wants(k, &param[2]))
        mase_grad_give(k, &param[2], mase_g(k, getitem, dy, param[1]));
}
