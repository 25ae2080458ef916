/*
 * int_lower.c - lower a program of rounded values to integers (mase/int_program.h).
 *
 * Values that depend on constants only are computed by the reference. A rounding makes codes; sums
 * of products of codes are codes; an affine function of each code, or a relu, changes what codes
 * mean.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "exec/reference/interpret.h"
#include "exec/reference/norm_affine.h"
#include "integer/int_parts.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "program/program_parts.h"

enum mase_status mase_int_refuse(const struct mase_int_lowering *l, struct mase_err *err,
                                 const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const enum mase_status st =
        mase_refuse_node(err, l->instr ? l->instr->from : NULL, "no exact integers", fmt, ap);
    va_end(ap);
    return st;
}

/* ---- values ---- */

struct mase_int_value *mase_int_add_value(struct mase_int_lowering *l, bool codes, int64_t rows,
                                          const struct mase_int_value *like)
{
    struct mase_int_value *v = mase_new(l->a, struct mase_int_value);
    if (like)
        *v = *like;
    v->of = NULL;
    v->codes = codes;
    v->from = l->instr ? l->instr->from : NULL;
    if (like)
        return v;
    v->rows = rows;
    v->at = l->e->rows;
    l->e->rows += rows;
    return v;
}

struct mase_meaning *mase_int_own_meanings(struct mase_int_lowering *l, struct mase_int_value *v)
{
    struct mase_meaning *m = mase_new_array(l->a, struct mase_meaning, (size_t)v->rows);
    for (int64_t r = 0; r < v->rows; r++)
        m[r] =
            v->meaning ? v->meaning[r] : (struct mase_meaning){ .step = 1, .parts = 1, .scale = 1 };
    v->meaning = m;
    return m;
}

/* lo; hi follows it in memory. */
int64_t *mase_int_own_bounds(struct mase_int_lowering *l, struct mase_int_value *v)
{
    int64_t *lo = mase_new_array(l->a, int64_t, (size_t)(2 * v->rows));
    v->lo = lo;
    v->hi = lo + v->rows;
    return lo;
}

struct mase_int_instr *mase_int_add_instr(struct mase_int_lowering *l, enum mase_int_op op,
                                          const struct mase_int_operands *in,
                                          const struct mase_int_value *out)
{
    struct mase_int_instr *i = mase_new(l->a, struct mase_int_instr);
    i->op = op;
    memcpy(i->in, in->value, sizeof i->in);
    i->in_count = in->count;
    i->out = out;
    if (l->e->last)
        ((struct mase_int_instr *)l->e->last)->next = i;
    else
        l->e->first = i;
    l->e->last = i;
    return i;
}

const struct mase_int_value *mase_int_operand(const struct mase_int_lowering *l,
                                              const struct mase_arg *a)
{
    const struct mase_pvalue *v = mase_pvalue_of(a);
    return v ? l->e->value[v->number] : NULL;
}

enum mase_status mase_int_require_codes(struct mase_int_lowering *l,
                                        const struct mase_int_value **v, const struct mase_arg *a,
                                        struct mase_err *err)
{
    *v = mase_int_operand(l, a);
    if (*v && (*v)->codes)
        return MASE_OK;
    const struct mase_pvalue *p = mase_pvalue_of(a);
    if (p && l->mapped[p->number].of)
        return mase_int_refuse(l, err, "what %s gives is not rounded",
                               l->mapped[p->number].by[0]->from);
    return mase_int_refuse(l, err, "what comes in is not rounded to a format with integer codes");
}

void mase_int_set_result(struct mase_int_lowering *l, const struct mase_instr *i,
                         const struct mase_int_value *v)
{
    const struct mase_pvalue *p = i->result[0];
    struct mase_int_value *own = mase_arena_memdup(l->a, v, sizeof *v);
    own->of = p;
    own->from = i->from;
    l->e->value[p->number] = own;
}

/* ---- affine functions and cuts ---- */

/* On floats an affine function is an instruction. */
static void affine_of_floats(struct mase_int_lowering *l, const struct mase_instr *i,
                             const struct mase_int_value *x, const float *scale, const float *shift,
                             bool relu)
{
    struct mase_int_value *y = mase_int_add_value(l, false, x->rows, NULL);
    struct mase_int_instr *made =
        mase_int_add_instr(l, MASE_INT_OP_AFFINE, &(struct mase_int_operands){ { x }, 1 }, y);
    made->u.affine.scale = scale;
    made->u.affine.shift = shift;
    made->u.affine.relu = relu;
    mase_int_set_result(l, i, y);
}

static float *same_floats(struct mase_int_lowering *l, int64_t n, float value)
{
    float *f = mase_new_array(l->a, float, (size_t)n);
    for (int64_t k = 0; k < n; k++)
        f[k] = value;
    return f;
}

static enum mase_status lower_relu(struct mase_int_lowering *l, const struct mase_instr *i,
                                   struct mase_err *err)
{
    const struct mase_int_value *x = mase_int_operand(l, &i->param[0]);
    if (x && !x->codes) {
        affine_of_floats(l, i, x, same_floats(l, x->rows, 1.0f), same_floats(l, x->rows, 0.0f),
                         true);
        return MASE_OK;
    }
    MASE_TRY(mase_int_require_codes(l, &x, &i->param[0], err));
    struct mase_int_value *y = mase_int_add_value(l, true, x->rows, x);
    struct mase_meaning *m = mase_int_own_meanings(l, y);
    for (int64_t r = 0; r < y->rows; r++)
        m[r].relu = true;
    mase_int_set_result(l, i, y);
    return MASE_OK;
}

static enum mase_status lower_batch_norm(struct mase_int_lowering *l, const struct mase_instr *i,
                                         struct mase_err *err)
{
    const struct mase_int_value *x = mase_int_operand(l, &i->param[0]);
    struct mase_pcall k;
    MASE_TRY(mase_instr_call(&k, i, &l->scratch, l->e->program, l->known, err));
    const struct mase_shape *s = &k.call.param[0].tensor->shape;
    const int64_t channels = s->rank > 1 ? s->dim[1] : 1;
    float *scale = mase_new_array(l->a, float, (size_t)channels),
          *shift = mase_new_array(l->a, float, (size_t)channels);
    if (!mase_norm_affines(scale, shift, &k.call, channels))
        return mase_int_refuse(l, err,
                               "batch norm by statistics of the batch, or by values that "
                               "are not constant");
    if (!x || x->codes)
        MASE_TRY(mase_int_require_codes(l, &x, &i->param[0], err));
    const int64_t per = x->rows / channels;
    if (!x->codes) {
        float *a = same_floats(l, x->rows, 0.0f), *b = same_floats(l, x->rows, 0.0f);
        for (int64_t r = 0; r < x->rows; r++) {
            a[r] = scale[r / per];
            b[r] = shift[r / per];
        }
        affine_of_floats(l, i, x, a, b, false);
        return MASE_OK;
    }
    bool affine = false;
    for (int64_t r = 0; r < x->rows; r++)
        affine |= x->meaning[r].relu || x->meaning[r].scale != 1.0f || x->meaning[r].shift != 0.0f;
    if (affine)
        MASE_TRY(mase_int_materialise(l, &x, err));
    struct mase_int_value *y = mase_int_add_value(l, true, x->rows, x);
    struct mase_meaning *m = mase_int_own_meanings(l, y);
    for (int64_t r = 0; r < y->rows; r++) {
        m[r].scale = scale[r / per];
        m[r].shift = shift[r / per];
    }
    mase_int_set_result(l, i, y);
    return MASE_OK;
}

/* ---- functions, evaluated with the next rounding ---- */

/* Is the first operand the only one that is not constant, and the operation elementwise? */
static bool is_function(const struct mase_int_lowering *l, const struct mase_instr *i)
{
    const struct mase_pvalue *x = mase_pvalue_of(&i->param[0]);
    if (i->result_count != 1 || !x || (i->prim != MASE_PRIM_map && i->prim != MASE_PRIM_zip))
        return false;
    for (int k = 1; k < mase_instr_params(i); k++) {
        const struct mase_pvalue *v = mase_pvalue_of(&i->param[k]);
        if (v && (!l->known[v->number] || mase_tensor_count(l->known[v->number]) != 1))
            return false;
    }
    return mase_ptype_equal(&x->type, &i->result[0]->type);
}

static enum mase_status lower_function(struct mase_int_lowering *l, const struct mase_instr *i,
                                       struct mase_err *err)
{
    const struct mase_pvalue *p = mase_pvalue_of(&i->param[0]);
    const struct mase_int_pending *before = &l->mapped[p->number];
    struct mase_int_pending *m = &l->mapped[i->result[0]->number];
    if (!before->of && !(l->e->value[p->number] && l->e->value[p->number]->codes))
        return mase_int_refuse(l, err,
                               "what comes in is not rounded to a format with integer "
                               "codes");
    m->of = before->of ? before->of : l->e->value[p->number];
    for (int k = 0; k < before->count; k++) {
        m->by = mase_arena_grow(l->a, m->by, m->count, &m->cap, sizeof *m->by);
        m->by[m->count++] = before->by[k];
    }
    m->by = mase_arena_grow(l->a, m->by, m->count, &m->cap, sizeof *m->by);
    m->by[m->count++] = i;
    return MASE_OK;
}

/* ---- instructions ---- */

typedef enum mase_status lower_fn(struct mase_int_lowering *l, const struct mase_instr *i,
                                  struct mase_err *err);

static const struct {
    enum mase_prim prim;
    enum mase_op op; /* unknown: every operation */
    lower_fn *lower;
} rules[] = {
    { MASE_PRIM_round, MASE_OP_unknown, mase_int_lower_round },
    { MASE_PRIM_map, MASE_OP_relu, lower_relu },
    { MASE_PRIM_norm, MASE_OP_batch_norm, lower_batch_norm },
    { MASE_PRIM_dot, MASE_OP_linear, mase_int_lower_linear },
    { MASE_PRIM_conv, MASE_OP_conv1d, mase_int_lower_conv },
    { MASE_PRIM_conv, MASE_OP_conv2d, mase_int_lower_conv },
    { MASE_PRIM_conv, MASE_OP_conv3d, mase_int_lower_conv },
    { MASE_PRIM_window, MASE_OP_unknown, mase_int_lower_window },
    { MASE_PRIM_zip, MASE_OP_add, mase_int_lower_add },
    { MASE_PRIM_reduce, MASE_OP_mean, mase_int_lower_mean },
    { MASE_PRIM_join, MASE_OP_unknown, mase_int_lower_join },
    { MASE_PRIM_reshape, MASE_OP_unknown, mase_int_lower_layout },
    { MASE_PRIM_permute, MASE_OP_unknown, mase_int_lower_layout },
    { MASE_PRIM_expand, MASE_OP_unknown, mase_int_lower_layout },
    { MASE_PRIM_flip, MASE_OP_unknown, mase_int_lower_layout },
    { MASE_PRIM_rearrange, MASE_OP_unknown, mase_int_lower_layout },
    { MASE_PRIM_pad, MASE_OP_unknown, mase_int_lower_layout },
    { MASE_PRIM_cut, MASE_OP_unknown, mase_int_lower_layout },
};

/* Do samples lie along the first dimension, and does nothing else depend on their number? */
static enum mase_status check_types(struct mase_int_lowering *l, const struct mase_instr *i,
                                    struct mase_err *err)
{
    for (int k = 0; k < i->result_count; k++) {
        const struct mase_ptype *t = &i->result[k]->type;
        bool first = t->rank > 0 && t->dim[0].times == 1 && t->dim[0].plus == 0;
        for (int d = 1; d < t->rank; d++)
            first &= t->dim[d].times == 0;
        if (!first)
            return mase_int_refuse(l, err, "its result does not have the samples first");
    }
    return MASE_OK;
}

static enum mase_status lower_instr(struct mase_int_lowering *l, const struct mase_instr *i,
                                    struct mase_err *err)
{
    l->instr = i;
    if (i->prim == MASE_PRIM_check && i->result_count == 0)
        return MASE_OK;
    if (mase_instr_is_known(i, l->known)) {
        if (i->prim == MASE_PRIM_round)
            l->format[i->result[0]->number] = mase_instr_format(i, l->known);
        return mase_instr_run(i, &l->scratch, l->known, 0, err);
    }
    MASE_TRY(check_types(l, i, err));
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (rules[k].prim == i->prim && (rules[k].op == i->op || rules[k].op == MASE_OP_unknown))
            return rules[k].lower(l, i, err);
    if (is_function(l, i))
        return lower_function(l, i, err);
    return mase_int_refuse(l, err, "%s has none", mase_ops[i->op].name);
}

/* ---- the program ---- */

static enum mase_status add_sources(struct mase_int_lowering *l, struct mase_err *err)
{
    struct mase_program *p = l->e->program;
    for (int n = 0; n < p->value_count; n++) {
        struct mase_pvalue *v = p->value[n];
        const struct mase_shape s = mase_ptype_shape(&v->type, 1);
        if (v->source == MASE_PSOURCE_INPUT) {
            if (l->e->input || v->type.dtype != MASE_F32)
                return mase_int_refuse(l, err, "it must have one input, of floats");
            struct mase_int_value *in = mase_int_add_value(l, false, mase_shape_count(&s), NULL);
            in->of = v;
            in->from = v->name;
            l->e->input = l->e->value[n] = in;
        } else if (v->source != MASE_PSOURCE_RESULT) {
            struct mase_tensor *t = l->known[n] = mase_new(&l->scratch, struct mase_tensor);
            *t = (struct mase_tensor){ v->type.dtype, mase_ptype_shape(&v->type, 0),
                                       (void *)(v->param ? v->param->tensor.data : v->data) };
        }
    }
    return l->e->input ? MASE_OK : mase_int_refuse(l, err, "it has no input");
}

static enum mase_status set_output(struct mase_int_lowering *l, struct mase_err *err)
{
    const struct mase_pvalue *v = mase_pvalue_of(&l->e->program->output);
    l->instr = NULL;
    if (!v)
        return mase_int_refuse(l, err, "it must return one tensor");
    if (l->mapped[v->number].of)
        return mase_int_refuse(l, err, "what %s gives is returned and not rounded",
                               l->mapped[v->number].by[0]->from);
    l->e->output = l->e->value[v->number];
    if (!l->e->output || !l->e->output->codes)
        return mase_int_refuse(l, err, "what it returns was never rounded: quantise it first");
    l->e->result = mase_ptype_shape(&v->type, 1);
    return MASE_OK;
}

static enum mase_status lower(struct mase_int_lowering *l, struct mase_err *err)
{
    const size_t n = (size_t)l->e->program->value_count;
    l->e->value = mase_new_array(l->a, struct mase_int_value *, n);
    l->known = mase_new_array(&l->scratch, struct mase_tensor *, n);
    l->format = mase_new_array(&l->scratch, const struct mase_format *, n);
    l->mapped = mase_new_array(l->a, struct mase_int_pending, n);
    MASE_TRY(add_sources(l, err));
    for (const struct mase_instr *i = l->e->program->first; i; i = i->next)
        MASE_TRY(mase_node_place(i->node, lower_instr(l, i, err), err));
    MASE_TRY(set_output(l, err));
    mase_int_find_int16(l->e);
    mase_int_find_dense(l->e);
    return MASE_OK;
}

static enum mase_status make(struct mase_int_program **out, struct mase_graph *g,
                             const struct mase_input *inputs, int input_count, bool float_biases,
                             struct mase_err *err)
{
    const struct mase_lower_opts opts = { .inputs = inputs, .input_count = input_count };
    struct mase_int_program *e = mase_xcalloc(sizeof *e);
    struct mase_int_lowering l = { .e = e, .a = &e->arena, .float_biases = float_biases };
    enum mase_status st = mase_graph_need_learned(g, err);
    if (!st)
        st = mase_program_lower(&e->program, g, &opts, err);
    if (!st)
        st = lower(&l, err);
    mase_arena_release(&l.scratch);
    if (st) {
        mase_int_program_free(e);
        return st;
    }
    *out = e;
    return MASE_OK;
}

enum mase_status mase_int_program_new(struct mase_int_program **out, struct mase_graph *g,
                                      const struct mase_input *inputs, int input_count,
                                      struct mase_err *err)
{
    return make(out, g, inputs, input_count, false, err);
}

enum mase_status mase_int_program_new_float_biases(struct mase_int_program **out,
                                                   struct mase_graph *g,
                                                   const struct mase_input *inputs, int input_count,
                                                   struct mase_err *err)
{
    return make(out, g, inputs, input_count, true, err);
}
