/*
 * interpret.c - the reference of programs: instruction by instruction, as the definitions say.
 */
#include "exec/reference/interpret.h"

#include "base/limit.h"
#include "exec/reference/ref.h"
#include "exec/reference/ref_derived.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "ir/text/arg.h"
#include "quant/quant.h"

/* ---- one instruction ---- */

static const struct mase_tensor *operand(const struct mase_arg *a,
                                         struct mase_tensor *const *tensor)
{
    return tensor[((const struct mase_pvalue *)a->node)->number];
}

const struct mase_format *mase_instr_format(const struct mase_instr *i,
                                            struct mase_tensor *const *tensor)
{
    const int learned = mase_format_learned(i->round.format);
    const float *value[MASE_LEARNED_MAX];
    if (i->of[0]) {
        struct mase_products p;
        mase_instr_products(&p, i);
        p.data.format = mase_instr_format(i->of[0], tensor);
        p.weight.format = mase_instr_format(i->of[1], tensor);
        return mase_products_now(&p);
    }
    for (int j = 0; j < learned; j++)
        value[j] = mase_f32(operand(&i->param[1 + j], tensor));
    if (!learned)
        return i->round.format;
    return mase_learned_now(i->round.format, value,
                            mase_tensor_count(operand(&i->param[1], tensor)), i->round.sign);
}

static enum mase_status run_round(const struct mase_instr *i, struct mase_arena *a,
                                  struct mase_tensor **tensor, struct mase_err *err)
{
    const struct mase_tensor *x = operand(&i->param[0], tensor);
    const struct mase_shape shape = mase_shape_to_rank(&x->shape, i->round_rank);
    struct mase_tensor *y = mase_new(a, struct mase_tensor);
    struct mase_arg result = { .kind = MASE_ARG_TENSOR, .tensor = y };
    struct mase_node node = { .name = i->from ? i->from : "round" };
    *y = mase_tensor(a, MASE_F32, &x->shape, false);
    MASE_TRY(mase_ref_room(&(struct mase_call){ .arena = a, .node = &node }, &result, err));
    mase_ref_allocate(a, &result);
    mase_quantize(mase_instr_format(i, tensor), mase_f32(y), mase_f32(x), &shape, i->round.role,
                  i->round.sign);
    tensor[i->result[0]->number] = y;
    return MASE_OK;
}

/* ---- instructions that only gradients have ---- */

/* Memory for a result, whose type says its shape. */
static enum mase_status add_result(const struct mase_instr *i, int n, struct mase_arena *a,
                                   struct mase_tensor **tensor, int64_t samples,
                                   struct mase_err *err)
{
    const struct mase_ptype *type = &i->result[n]->type;
    const struct mase_shape shape = mase_ptype_shape(type, samples);
    struct mase_tensor *t = tensor[i->result[n]->number] = mase_new(a, struct mase_tensor);
    struct mase_arg result = { .kind = MASE_ARG_TENSOR, .tensor = t };
    struct mase_node node = { .name = i->from ? i->from : mase_prims[i->prim].name };
    *t = mase_tensor(a, type->dtype, &shape, false);
    MASE_TRY(mase_ref_room(&(struct mase_call){ .arena = a, .node = &node }, &result, err));
    mase_ref_allocate(a, &result);
    return MASE_OK;
}

static void run_round_back(const struct mase_instr *i, struct mase_arena *a,
                           struct mase_tensor **tensor)
{
    struct mase_rounding_back r = { .how = &i->round,
                                    .rank = i->round_rank,
                                    .dy = operand(&i->param[0], tensor),
                                    .x = operand(&i->param[1], tensor),
                                    .dx = tensor[i->result[0]->number] };
    for (int j = 0; j < mase_format_learned(i->round.format); j++) {
        r.value[j] = operand(&i->param[2 + j], tensor);
        r.dvalue[j] = tensor[i->result[1 + j]->number];
    }
    mase_ref_round_back(&r, a);
}

static enum mase_status run_derived(const struct mase_instr *i, struct mase_arena *a,
                                    struct mase_tensor **tensor, int64_t samples,
                                    struct mase_err *err)
{
    struct mase_pcall k;
    for (int n = 0; n < i->result_count; n++)
        MASE_TRY(add_result(i, n, a, tensor, samples, err));
    struct mase_tensor *out = tensor[i->result[0]->number];
    if (i->prim == MASE_PRIM_round_back) {
        run_round_back(i, a, tensor);
        return MASE_OK;
    }
    mase_pcall_init(&k, a, i, tensor, samples);
    const struct mase_tensor *dy = k.call.param[0].tensor;
    if (i->prim != MASE_PRIM_adjoint)
        return mase_ref_slope(out, &k.call, i->prim == MASE_PRIM_slope_y, err);
    struct mase_tensor like = mase_tensor(a, out->dtype, &out->shape, false);
    k.call.param[0].tensor = &like;
    return mase_ref_adjoint(out, &k.call, dy, err);
}

enum mase_status mase_instr_run(const struct mase_instr *i, struct mase_arena *a,
                                struct mase_tensor **tensor, int64_t samples, struct mase_err *err)
{
    if (i->prim == MASE_PRIM_round)
        return run_round(i, a, tensor, err);
    if (i->prim == MASE_PRIM_round_back || mase_prim_is_derived(i->prim))
        return run_derived(i, a, tensor, samples, err);
    struct mase_pcall k;
    mase_pcall_init(&k, a, i, tensor, samples);
    MASE_TRY(mase_pcall_infer(&k, i, samples, err));
    MASE_TRY(mase_ref_room(&k.call, &k.call.result, err));
    /* Pieces of an operand are complete already; None is there for an effect. */
    const bool todo = mase_ref_allocate(a, &k.call.result) || k.call.result.kind == MASE_ARG_NONE;
    if (todo && mase_forward_of(i->op))
        MASE_TRY(mase_ref_compute(&k.call, err));
    mase_pcall_results(&k, i, tensor);
    return MASE_OK;
}

enum mase_status mase_instr_call(struct mase_pcall *k, const struct mase_instr *i,
                                 struct mase_arena *a, const struct mase_program *p,
                                 struct mase_tensor *const *known, struct mase_err *err)
{
    struct mase_tensor **t = mase_new_array(a, struct mase_tensor *, (size_t)p->value_count);
    for (int n = 0; n < p->value_count; n++) {
        const struct mase_ptype *type = &p->value[n]->type;
        const struct mase_shape one = mase_ptype_shape(type, 1);
        const struct mase_tensor empty = mase_tensor(a, type->dtype, &one, false);
        t[n] = known[n] ? known[n] : mase_arena_memdup(a, &empty, sizeof empty);
    }
    mase_pcall_init(k, a, i, t, 1);
    return mase_pcall_infer(k, i, 1, err);
}

enum mase_status mase_refuse_node(struct mase_err *err, const char *from, const char *what,
                                  const char *fmt, va_list ap)
{
    struct mase_str text = { 0 };
    mase_str_vprintf(&text, fmt, ap);
    const enum mase_status st = mase_fail(err, MASE_EUNSUPPORTED, "%s: %s: %s",
                                          from ? from : "the network", what, mase_str_text(&text));
    mase_str_release(&text);
    return st;
}

/* The rows of an operand, counted on from so many. */
static struct mase_tensor *number_rows(struct mase_arena *a, const struct mase_pvalue *p,
                                       int64_t *count)
{
    const struct mase_shape s = mase_ptype_shape(&p->type, 1);
    struct mase_tensor *t = mase_new(a, struct mase_tensor);
    *t = mase_tensor(a, MASE_F32, &s, true);
    for (int64_t r = 0; r < mase_tensor_count(t); r++)
        mase_f32(t)[r] = (float)++*count;
    return t;
}

enum { MOST_ROWS = 1 << 23 }; /* float32 counts no further */

enum mase_status mase_instr_rows(struct mase_tensor **out, const struct mase_instr *i,
                                 struct mase_arena *a, struct mase_tensor *const *known, int count,
                                 struct mase_err *err)
{
    const struct mase_arg *first = &i->param[0];
    struct mase_tensor **t = mase_new_array(a, struct mase_tensor *, (size_t)count);
    int64_t rows = 0;
    for (int n = 0; n < count; n++)
        t[n] = known[n];
    for (int k = 0; k < (mase_arg_is_seq(first) ? first->count : 1); k++) {
        const struct mase_pvalue *p =
            mase_pvalue_of(mase_arg_is_seq(first) ? &first->items[k] : first);
        if (!p || t[p->number])
            continue;
        const struct mase_shape s = mase_ptype_shape(&p->type, 1);
        if (rows + mase_shape_count(&s) >= MOST_ROWS)
            return mase_fail(err, MASE_EUNSUPPORTED, "%s: a sample has too many numbers", i->from);
        t[p->number] = number_rows(a, p, &rows);
    }
    MASE_TRY(mase_instr_run(i, a, t, 1, err));
    *out = mase_arena_memdup(a, t[i->result[0]->number], sizeof **out);
    return MASE_OK;
}

/* ---- a program ---- */

struct running {
    const struct mase_program *p;
    const struct mase_input *inputs;
    int input_count;
    struct mase_arena *a;
    struct mase_tensor **tensor;
    int64_t samples; /* -1: no input has told yet */
};

static enum mase_status wrong_shape(const struct mase_pvalue *v, const struct mase_tensor *t,
                                    struct mase_err *err)
{
    struct mase_str got = { 0 };
    mase_shape_print(&got, &t->shape);
    const enum mase_status st = mase_fail(
        err, MASE_EVALUE, "input '%s': %s%s is not what the program takes, or of other samples",
        v->name, mase_dtypes[t->dtype].name, mase_str_text(&got));
    mase_str_release(&got);
    return st;
}

/* The number of samples is what makes the first input fit. */
static enum mase_status set_input(struct running *r, const struct mase_pvalue *v,
                                  struct mase_err *err)
{
    const struct mase_input *in = NULL;
    for (int i = 0; i < r->input_count; i++)
        if (mase_streq(r->inputs[i].name, v->name))
            in = &r->inputs[i];
    if (!in || !in->tensor.data)
        return mase_fail(err, MASE_EVALUE, "input '%s' has %sno values", v->name,
                         in ? "a shape but " : "");
    for (int d = 0; d < v->type.rank && d < in->tensor.shape.rank && r->samples < 0; d++)
        if (v->type.dim[d].times)
            r->samples = (in->tensor.shape.dim[d] - v->type.dim[d].plus) / v->type.dim[d].times;
    const struct mase_shape want = mase_ptype_shape(&v->type, r->samples);
    if (in->tensor.dtype != v->type.dtype || !mase_shape_equal(&want, &in->tensor.shape))
        return wrong_shape(v, &in->tensor, err);
    r->tensor[v->number] = mase_arena_memdup(r->a, &in->tensor, sizeof in->tensor);
    return MASE_OK;
}

static enum mase_status set_constant(struct running *r, const struct mase_pvalue *v,
                                     struct mase_err *err)
{
    const struct mase_shape shape = mase_ptype_shape(&v->type, 0);
    const void *data =
        v->source == MASE_PSOURCE_PARAM && v->param ? v->param->tensor.data : v->data;
    if (!data)
        return mase_fail(err, MASE_EVALUE, "'%s' has no values: load or initialise the weights",
                         v->name ? v->name : "a constant");
    r->tensor[v->number] = mase_new(r->a, struct mase_tensor);
    *r->tensor[v->number] = (struct mase_tensor){ v->type.dtype, shape, (void *)data };
    return MASE_OK;
}

/* All values are kept to the end: would they be too many? Told before anything is computed. Copies
 * that are rounded are counted when they are made. */
static enum mase_status check_total(const struct running *r, struct mase_err *err)
{
    uint64_t all = 0;
    for (const struct mase_instr *i = r->p->first; i; i = i->next) {
        for (int k = 0; k < i->result_count && i->prim != MASE_PRIM_round; k++) {
            const struct mase_ptype *type = &i->result[k]->type;
            const struct mase_shape shape = mase_ptype_shape(type, r->samples);
            all += (uint64_t)mase_shape_count(&shape) * (uint64_t)mase_dtypes[type->dtype].size;
        }
        const enum mase_status st =
            mase_limit_network(all, err, "%s: its result, with all before it,",
                               i->from ? i->from : mase_prims[i->prim].name);
        MASE_TRY(i->node ? mase_node_place(i->node, st, err) : st);
    }
    return MASE_OK;
}

static enum mase_status run(struct running *r, struct mase_err *err)
{
    r->tensor = mase_new_array(r->a, struct mase_tensor *, (size_t)r->p->value_count);
    for (int n = 0; n < r->p->value_count; n++) {
        const struct mase_pvalue *v = r->p->value[n];
        if (v->source == MASE_PSOURCE_INPUT)
            MASE_TRY(set_input(r, v, err));
        else if (v->source != MASE_PSOURCE_RESULT)
            MASE_TRY(set_constant(r, v, err));
    }
    MASE_TRY(check_total(r, err));
    for (const struct mase_instr *i = r->p->first; i; i = i->next) {
        const enum mase_status st = mase_instr_run(i, r->a, r->tensor, r->samples, err);
        MASE_TRY(i->node ? mase_node_place(i->node, st, err) : st);
    }
    return MASE_OK;
}

enum mase_status mase_program_run(struct mase_arg *out, struct mase_arena *a,
                                  const struct mase_program *p, const struct mase_input *inputs,
                                  int input_count, struct mase_err *err)
{
    struct running r = {
        .p = p, .inputs = inputs, .input_count = input_count, .a = a, .samples = -1
    };
    MASE_TRY(run(&r, err));
    *out = mase_pcall_arg(a, &p->output, r.tensor);
    return MASE_OK;
}

/* ---- what the nodes of its graph compute ---- */

/* A result with tensors for its values. A parameter that no instruction reads has no number. */
static struct mase_arg with_tensors(const struct running *r, const struct mase_arg *result)
{
    const struct mase_pvalue *v = mase_pvalue_of(result);
    if (v)
        return (struct mase_arg){ .kind = MASE_ARG_TENSOR,
                                  .tensor =
                                      v->number >= 0 ? r->tensor[v->number] : &v->param->tensor };
    struct mase_arg copy = mase_arg_copy(r->a, result);
    for (int i = 0; mase_arg_has_items(&copy) && i < copy.count; i++)
        copy.items[i] = with_tensors(r, &result->items[i]);
    return copy;
}

enum mase_status mase_program_run_nodes(struct mase_values *out, struct mase_arena *a,
                                        const struct mase_program *p, const struct mase_graph *g,
                                        const struct mase_input *inputs, int input_count,
                                        struct mase_err *err)
{
    struct running r = { .p = p, .inputs = inputs, .input_count = input_count, .a = a };
    MASE_TRY(run(&r, err));
    *out = (struct mase_values){ .arena = a, .index.arena = a };
    out->value = mase_new_array(a, struct mase_arg, (size_t)g->node_count);
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_arg *result = mase_program_result(p, n);
        out->value[out->count++] = with_tensors(&r, n->kind == MASE_OUTPUT ? &p->output : result);
        mase_map_put(&out->index, n->name, (void *)(uintptr_t)out->count);
    }
    return MASE_OK;
}
