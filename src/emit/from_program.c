/*
 * from_program.c - lower a program without number formats to steps on floats.
 *
 * Values that depend on constants only are computed by the reference. A batch norm is an affine
 * step for each channel; it and a relu are fused with the sum before them if they are its only
 * users.
 */
#include <math.h>
#include <string.h>

#include "emit/emit_parts.h"
#include "exec/reference/interpret.h"
#include "exec/reference/norm_affine.h"
#include "exec/reference/ref.h"
#include "exec/reference/spans.h"
#include "ir/graph/bind_call.h"
#include "ir/shape/infer.h"
#include "program/program_parts.h"

struct reading {
    struct mase_emit_net *n;
    struct mase_arena *a;
    const struct mase_program *p;
    struct mase_tensor **known;     /* by number */
    struct mase_emit_value **value; /* by number */
    int *uses;                      /* by number */
};

typedef enum mase_status read_fn(struct reading *r, const struct mase_instr *i,
                                 struct mase_emit_value *x, struct mase_err *err);

static struct mase_emit_value *add_value(struct reading *r, const struct mase_instr *i)
{
    const struct mase_shape s = mase_ptype_shape(&i->result[0]->type, 1);
    struct mase_emit_value *v = mase_emit_add_value(r->n, MASE_EMIT_F32, mase_shape_count(&s));
    r->value[i->result[0]->number] = v;
    return v;
}

static struct mase_emit_value *value_of(const struct reading *r, const struct mase_arg *a)
{
    const struct mase_pvalue *v = mase_pvalue_of(a);
    return v ? r->value[v->number] : NULL;
}

static const struct mase_tensor *known_of(const struct reading *r, const struct mase_arg *a)
{
    const struct mase_pvalue *v = mase_pvalue_of(a);
    return v ? r->known[v->number] : NULL;
}

/* ---- sums ---- */

static enum mase_status check_finite(const struct mase_instr *i, const float *w, int64_t n,
                                     struct mase_err *err)
{
    for (int64_t k = 0; k < n; k++)
        if (!isfinite(w[k]))
            return mase_emit_refuse(i->from, err, "a weight is not finite");
    return MASE_OK;
}

static enum mase_status add_sum(struct reading *r, const struct mase_instr *i,
                                struct mase_emit_value *x, struct mase_emit_sum *s,
                                struct mase_err *err)
{
    const struct mase_tensor *w = known_of(r, &i->param[1]), *b = known_of(r, &i->param[2]);
    const int64_t outputs = s->groups * s->outputs;
    if (!w || (mase_pvalue_of(&i->param[2]) && !b))
        return mase_emit_refuse(i->from, err, "its weights are not constant");
    s->fweight = mase_f32(w);
    s->fbias = b ? mase_f32(b) : mase_new_array(r->a, float, (size_t)outputs);
    s->acc = s->wtype = MASE_EMIT_F32;
    MASE_TRY(check_finite(i, s->fweight, outputs * s->inputs, err));
    MASE_TRY(check_finite(i, s->fbias, outputs, err));
    struct mase_emit_step *step =
        mase_emit_add_step(r->n, MASE_EMIT_SUM, i->from, x, add_value(r, i));
    step->sum = *s;
    step->map.op = MASE_EMIT_STORE;
    return MASE_OK;
}

static enum mase_status read_linear(struct reading *r, const struct mase_instr *i,
                                    struct mase_emit_value *x, struct mase_err *err)
{
    const struct mase_ptype *w = &mase_pvalue_of(&i->param[1])->type;
    const int64_t outputs = w->dim[0].plus, inputs = w->dim[1].plus;
    struct mase_emit_sum s = { .groups = 1,
                               .outputs = outputs,
                               .inputs = inputs,
                               .positions = x->rows / inputs,
                               .output_stride = 1,
                               .position_stride = outputs,
                               .access = MASE_INT_ACCESS_ROWS };
    return add_sum(r, i, x, &s, err);
}

static enum mase_status read_conv(struct reading *r, const struct mase_instr *i,
                                  struct mase_emit_value *x, struct mase_err *err)
{
    struct mase_pcall k;
    struct mase_window w;
    struct mase_int_window flat;
    MASE_TRY(mase_instr_call(&k, i, r->a, r->p, r->known, err));
    MASE_TRY(mase_conv_window(&k.call, &w, err));
    mase_ref_lift_window(&w);
    if (!mase_int_window_of(&flat, &w) || w.mode != MASE_PAD_ZEROS)
        return mase_emit_refuse(i->from, err,
                                "only convolutions of one or two dimensions, padded with zeros");
    const struct mase_shape *weight = &mase_call_tensor(&k.call, "weight")->shape;
    const int64_t channels = weight->dim[1], positions = mase_int_window_positions(&flat);
    struct mase_emit_sum s = { .groups = w.groups,
                               .outputs = weight->dim[0] / w.groups,
                               .inputs = channels * mase_int_window_area(&flat),
                               .positions = positions,
                               .output_stride = positions,
                               .position_stride = 1,
                               .group_rows = channels * mase_int_window_channel(&flat),
                               .access = MASE_INT_ACCESS_WINDOW,
                               .window = mase_arena_memdup(r->a, &flat, sizeof flat) };
    return add_sum(r, i, x, &s, err);
}

/* ---- functions of single numbers ---- */

/* The sum that gives the operand, if i is its only user and no step but an affine one is fused. */
static struct mase_emit_step *sum_before(const struct reading *r, const struct mase_instr *i,
                                         const struct mase_emit_value *x, enum mase_emit_map_op op)
{
    struct mase_emit_step *s = r->n->last;
    const bool open = s && (s->kind == MASE_EMIT_SUM || s->kind == MASE_EMIT_ADD) && s->out == x &&
                      r->uses[mase_pvalue_of(&i->param[0])->number] == 1;
    if (!open || s->map.relu || s->map.op == MASE_EMIT_RELU ||
        (op == MASE_EMIT_AXPY && (s->map.op != MASE_EMIT_STORE || s->kind != MASE_EMIT_SUM)))
        return NULL;
    return s;
}

static enum mase_status read_relu(struct reading *r, const struct mase_instr *i,
                                  struct mase_emit_value *x, struct mase_err *err)
{
    struct mase_emit_step *s = sum_before(r, i, x, MASE_EMIT_RELU);
    (void)err;
    if (s) {
        s->map.relu = s->map.op == MASE_EMIT_AXPY;
        s->map.op = s->map.relu ? MASE_EMIT_AXPY : MASE_EMIT_RELU;
        r->value[i->result[0]->number] = x;
        return MASE_OK;
    }
    mase_emit_add_step(r->n, MASE_EMIT_MAP, i->from, x, add_value(r, i))->map.op = MASE_EMIT_RELU;
    return MASE_OK;
}

static enum mase_status read_batch_norm(struct reading *r, const struct mase_instr *i,
                                        struct mase_emit_value *x, struct mase_err *err)
{
    struct mase_pcall k;
    MASE_TRY(mase_instr_call(&k, i, r->a, r->p, r->known, err));
    const struct mase_shape *shape = &k.call.param[0].tensor->shape;
    const int64_t channels = shape->rank > 1 ? shape->dim[1] : 1, per = x->rows / channels;
    struct mase_emit_step *s = sum_before(r, i, x, MASE_EMIT_AXPY);
    const int64_t rows = s ? channels : x->rows, run = s ? 1 : per;
    float *affine = mase_new_array(r->a, float, (size_t)(2 * channels)),
          *scale = mase_new_array(r->a, float, (size_t)rows),
          *shift = mase_new_array(r->a, float, (size_t)rows);
    if (!mase_norm_affines(affine, affine + channels, &k.call, channels))
        return mase_emit_refuse(i->from, err, "batch norm by statistics of the batch");
    if (s && (s->sum.groups * s->sum.outputs != channels || s->sum.output_stride != per))
        return mase_emit_refuse(i->from, err, "its channels are not those of the layer before it");
    for (int64_t row = 0; row < rows; row++) {
        scale[row] = affine[row / run];
        shift[row] = affine[channels + row / run];
    }
    MASE_TRY(check_finite(i, scale, rows, err));
    MASE_TRY(check_finite(i, shift, rows, err));
    if (s)
        r->value[i->result[0]->number] = x;
    else
        s = mase_emit_add_step(r->n, MASE_EMIT_MAP, i->from, x, add_value(r, i));
    s->map = (struct mase_emit_map){ .op = MASE_EMIT_AXPY,
                                     .factor = mase_emit_reals(r->a, scale, rows),
                                     .offset = mase_emit_reals(r->a, shift, rows) };
    return MASE_OK;
}

/* ---- sums of two, pools, means ---- */

static enum mase_status read_add(struct reading *r, const struct mase_instr *i,
                                 struct mase_emit_value *x, struct mase_err *err)
{
    struct mase_emit_value *y = value_of(r, &i->param[1]);
    const int scale = mase_sig_find(mase_op_call_sig(i->op), "alpha");
    if (!y || y->rows != x->rows ||
        !mase_ptype_equal(&mase_pvalue_of(&i->param[0])->type, &i->result[0]->type) ||
        (scale >= 0 && mase_arg_present(&i->param[scale]) &&
         !(i->param[scale].kind == MASE_ARG_INT && i->param[scale].i == 1)))
        return mase_emit_refuse(i->from, err, "it adds tensors of other shapes, or a multiple");
    const float one = 1, none = 0;
    struct mase_emit_step *s = mase_emit_add_step(r->n, MASE_EMIT_ADD, i->from, x, add_value(r, i));
    s->in[1] = y;
    s->acc = MASE_EMIT_F32;
    s->weight[0] = s->weight[1] = mase_emit_reals(r->a, &one, 1);
    s->bias = mase_emit_reals(r->a, &none, 1);
    s->map.op = MASE_EMIT_STORE;
    return MASE_OK;
}

static enum mase_status read_pool(struct reading *r, const struct mase_instr *i,
                                  struct mase_emit_value *x, struct mase_err *err)
{
    struct mase_pcall k;
    struct mase_window w;
    struct mase_int_window flat;
    const struct mase_pool *pool = mase_pool_of(i->op);
    if (!pool || i->result_count != 1)
        return mase_emit_refuse(i->from, err, "%s has none", mase_ops[i->op].name);
    MASE_TRY(mase_instr_call(&k, i, r->a, r->p, r->known, err));
    MASE_TRY(pool->adaptive ? mase_adaptive_window(&k.call, &w, err)
                            : mase_pool_window(&k.call, &w, err));
    mase_ref_lift_window(&w);
    const struct mase_arg *divisor =
        pool->adaptive || pool->largest ? NULL : mase_call_arg(&k.call, "divisor_override");
    const bool edges = w.pad[1] || w.pad[2] || w.pad_end[1] || w.pad_end[2];
    bool even = (!pool->adaptive || mase_window_adapt(&w)) && mase_int_window_of(&flat, &w);
    /* an average at an edge may divide by less */
    for (int d = 1; d < 3 && !pool->largest; d++)
        even &= (w.out[d] - 1) * w.stride[d] + (w.kernel[d] - 1) * w.dilation[d] < w.in[d];
    if (!even || (divisor && mase_arg_present(divisor)) ||
        (!pool->largest && edges && !pool->adaptive))
        return mase_emit_refuse(i->from, err, "a pool whose windows are not all alike");
    struct mase_emit_step *s =
        mase_emit_add_step(r->n, MASE_EMIT_POOL, i->from, x, add_value(r, i));
    s->largest = pool->largest;
    s->window = mase_arena_memdup(r->a, &flat, sizeof flat);
    s->channels = x->rows / mase_int_window_channel(&flat);
    s->acc = MASE_EMIT_F32;
    s->parts = s->largest ? 1 : mase_int_window_area(&flat);
    return MASE_OK;
}

/* ---- layouts ---- */

static enum mase_status number_rows(struct reading *r, struct mase_tensor **out,
                                    const struct mase_instr *i, struct mase_err *err)
{
    return mase_instr_rows(out, i, r->a, r->known, r->p->value_count, err);
}

/* Do samples lie along the first dimension, and does nothing else depend on their number? */
static bool is_by_samples(const struct mase_instr *i)
{
    for (int k = 0; k < i->result_count; k++) {
        const struct mase_ptype *t = &i->result[k]->type;
        bool first =
            t->rank > 0 && t->dim[0].times == 1 && t->dim[0].plus == 0 && t->dtype == MASE_F32;
        for (int d = 1; d < t->rank; d++)
            first &= t->dim[d].times == 0;
        if (!first)
            return false;
    }
    return true;
}

/* Compute which row of which operand each result row copies, by running the reference on row
 * numbers. */
static enum mase_status add_picks(struct reading *r, const struct mase_instr *i,
                                  struct mase_emit_value *const *value, int count,
                                  struct mase_err *err)
{
    struct mase_tensor *out;
    if (i->result_count != 1)
        return mase_emit_refuse(i->from, err, "%s has several results", mase_ops[i->op].name);
    MASE_TRY(number_rows(r, &out, i, err));
    const int64_t rows = mase_tensor_count(out);
    struct mase_emit_picked *picked = mase_new_array(r->a, struct mase_emit_picked, (size_t)rows);
    bool same = rows == value[0]->rows;
    for (int64_t k = 0; k < rows; k++) {
        const float number = mase_f32(out)[k];
        int64_t row = (int64_t)number - 1;
        int v = 0;
        while (v < count && row >= value[v]->rows)
            row -= value[v++]->rows;
        if (row < -1 || v == count || (float)(int64_t)number != number)
            return mase_emit_refuse(i->from, err, "%s computes", mase_ops[i->op].name);
        picked[k] = (struct mase_emit_picked){ v, (int32_t)row };
        same &= v == 0 && row == k;
    }
    if (same)
        r->value[i->result[0]->number] = value[0];
    else
        mase_emit_add_picks(r->n, i->from, value, count, picked, add_value(r, i));
    return MASE_OK;
}

static enum mase_status read_layout(struct reading *r, const struct mase_instr *i,
                                    struct mase_emit_value *x, struct mase_err *err)
{
    return add_picks(r, i, &x, 1, err);
}

enum { MOST_JOINED = 16 };

static enum mase_status read_join(struct reading *r, const struct mase_instr *i,
                                  struct mase_err *err)
{
    const struct mase_arg *list = &i->param[0];
    struct mase_emit_value *value[MOST_JOINED];
    int count = 0;
    for (int k = 0; k < list->count; k++) {
        struct mase_emit_value *v = value_of(r, &list->items[k]);
        bool seen = false;
        if (!v || !is_by_samples(i))
            return mase_emit_refuse(i->from, err, "it joins what is no value of a sample");
        for (int j = 0; j < k; j++)
            seen |= mase_pvalue_of(&list->items[j]) == mase_pvalue_of(&list->items[k]);
        if (!seen && count == MOST_JOINED)
            return mase_emit_refuse(i->from, err, "it joins more than %d values", MOST_JOINED);
        if (!seen)
            value[count++] = v;
    }
    return add_picks(r, i, value, count, err);
}

/* A mean over adjacent rows, recognised by the means of their numbers. */
static enum mase_status read_mean(struct reading *r, const struct mase_instr *i,
                                  struct mase_emit_value *x, struct mase_err *err)
{
    struct mase_tensor *out;
    MASE_TRY(number_rows(r, &out, i, err));
    const int64_t rows = mase_tensor_count(out), inputs = x->rows / rows;
    for (int64_t k = 0; k < rows; k++)
        if (mase_f32(out)[k] != (float)(k * inputs) + (float)(inputs + 1) / 2)
            return mase_emit_refuse(i->from, err, "a mean over other than the last dimensions");
    const struct mase_int_window w = mase_int_window_of_rows(inputs);
    struct mase_emit_step *s =
        mase_emit_add_step(r->n, MASE_EMIT_POOL, i->from, x, add_value(r, i));
    s->window = mase_arena_memdup(r->a, &w, sizeof w);
    s->channels = rows;
    s->acc = MASE_EMIT_F32;
    s->parts = inputs;
    return MASE_OK;
}

/* ---- the network ---- */

static const struct {
    enum mase_prim prim;
    enum mase_op op; /* unknown: every operation */
    read_fn *read;
} rules[] = {
    { MASE_PRIM_map, MASE_OP_relu, read_relu },
    { MASE_PRIM_norm, MASE_OP_batch_norm, read_batch_norm },
    { MASE_PRIM_dot, MASE_OP_linear, read_linear },
    { MASE_PRIM_conv, MASE_OP_conv1d, read_conv },
    { MASE_PRIM_conv, MASE_OP_conv2d, read_conv },
    { MASE_PRIM_window, MASE_OP_unknown, read_pool },
    { MASE_PRIM_zip, MASE_OP_add, read_add },
    { MASE_PRIM_reduce, MASE_OP_mean, read_mean },
    { MASE_PRIM_reshape, MASE_OP_unknown, read_layout },
    { MASE_PRIM_permute, MASE_OP_unknown, read_layout },
    { MASE_PRIM_expand, MASE_OP_unknown, read_layout },
    { MASE_PRIM_flip, MASE_OP_unknown, read_layout },
    { MASE_PRIM_rearrange, MASE_OP_unknown, read_layout },
    { MASE_PRIM_pad, MASE_OP_unknown, read_layout },
    { MASE_PRIM_cut, MASE_OP_unknown, read_layout },
};

static enum mase_status read_instr(struct reading *r, const struct mase_instr *i,
                                   struct mase_err *err)
{
    if (i->prim == MASE_PRIM_check && i->result_count == 0)
        return MASE_OK;
    if (mase_instr_is_known(i, r->known))
        return mase_instr_run(i, r->a, r->known, 0, err);
    if (i->prim == MASE_PRIM_join && mase_arg_is_seq(&i->param[0]))
        return read_join(r, i, err);
    struct mase_emit_value *x = value_of(r, &i->param[0]);
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (rules[k].prim == i->prim && (rules[k].op == i->op || rules[k].op == MASE_OP_unknown))
            return x && is_by_samples(i)
                       ? rules[k].read(r, i, x, err)
                       : mase_emit_refuse(i->from, err,
                                          "its result does not have the samples first, or "
                                          "its operand is no such value");
    return mase_emit_refuse(i->from, err, "%s has none", mase_ops[i->op].name);
}

static enum mase_status read_sources(struct reading *r, struct mase_err *err)
{
    for (int n = 0; n < r->p->value_count; n++) {
        struct mase_pvalue *v = r->p->value[n];
        const struct mase_shape s = mase_ptype_shape(&v->type, 1);
        if (v->source == MASE_PSOURCE_INPUT) {
            if (r->n->input || v->type.dtype != MASE_F32)
                return mase_emit_refuse(NULL, err, "it must have one input, of floats");
            r->n->input = r->value[n] =
                mase_emit_add_value(r->n, MASE_EMIT_F32, mase_shape_count(&s));
        } else if (v->source != MASE_PSOURCE_RESULT) {
            struct mase_tensor *t = r->known[n] = mase_new(r->a, struct mase_tensor);
            *t = (struct mase_tensor){ v->type.dtype, mase_ptype_shape(&v->type, 0),
                                       (void *)(v->param ? v->param->tensor.data : v->data) };
        }
    }
    return r->n->input ? MASE_OK : mase_emit_refuse(NULL, err, "it has no input");
}

static void count_use(struct mase_pvalue *v, void *data)
{
    ((int *)data)[v->number]++;
}

static void count_uses(struct reading *r)
{
    for (const struct mase_instr *i = r->p->first; i; i = i->next)
        for (int k = 0; k < mase_instr_params(i); k++)
            mase_each_pvalue(&i->param[k], count_use, r->uses);
    mase_each_pvalue(&r->p->output, count_use, r->uses);
}

enum mase_status mase_emit_from_program(struct mase_emit_net *n, const struct mase_program *p,
                                        struct mase_err *err)
{
    const size_t count = (size_t)p->value_count;
    struct reading r = { .n = n, .a = n->a, .p = p };
    r.known = mase_new_array(r.a, struct mase_tensor *, count);
    r.value = mase_new_array(r.a, struct mase_emit_value *, count);
    r.uses = mase_new_array(r.a, int, count);
    count_uses(&r);
    MASE_TRY(read_sources(&r, err));
    for (const struct mase_instr *i = p->first; i; i = i->next)
        MASE_TRY(mase_node_place(i->node, read_instr(&r, i, err), err));
    struct mase_emit_value *y = value_of(&r, &p->output);
    if (!y)
        return mase_emit_refuse(NULL, err, "it must return one tensor");
    if (y == n->input) { /* an input cannot be returned without a copy */
        y = mase_emit_add_value(n, MASE_EMIT_F32, y->rows);
        mase_emit_add_step(n, MASE_EMIT_MAP, "output", n->input, y)->map.op = MASE_EMIT_STORE;
    }
    n->output = y;
    return MASE_OK;
}
