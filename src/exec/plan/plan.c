/*
 * plan.c - make a plan: walk the program once, give every value a slot and every instruction a
 * step.
 *
 * A value is plain when no length depends on the number of samples. It has lanes when one length is
 * that number and no other depends on it. Any other value mixes samples and cannot be planned.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "exec/plan/plan_parts.h"
#include "exec/step/plan_formats.h"
#include "ir/shape/shape.h"
#include "program/program_parts.h"

/* ---- slots ---- */

static struct mase_slot *slot_of(const struct mase_plan *p, const struct mase_pvalue *v)
{
    return mase_plan_slot(p, p->tensor[v->number]);
}

/* The dimension that is the samples, -1 when none depends on them; false when another way. */
static bool find_axis(const struct mase_ptype *t, int *axis)
{
    bool found = true;
    *axis = -1;
    for (int d = 0; d < t->rank; d++) {
        if (!t->dim[d].times)
            continue;
        found &= *axis < 0 && t->dim[d].times == 1 && t->dim[d].plus == 0;
        *axis = d;
    }
    return found;
}

/* Lanes or plain, by the value's type. name: of the node, for messages. */
static enum mase_status add_slot(struct mase_plan *p, const struct mase_pvalue *v, const char *name,
                                 struct mase_err *err)
{
    struct mase_slot *s = mase_plan_new_slot(p, p->tensor[v->number]);
    int axis;
    if (!find_axis(&v->type, &axis))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: its result mixes the samples of a batch, which a plan cannot run",
                         name);
    const struct mase_shape sample = mase_ptype_shape(&v->type, 1);
    s->rows = mase_shape_count(&sample);
    if (axis < 0)
        return MASE_OK;
    s->lanes = true;
    if (s->rows == 0)
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: its result is empty, which a plan cannot run",
                         name);
    if (s->tensor->dtype == MASE_F64) /* integers and truth values are floats in a plan */
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: a plan computes in %s only, not %s", name,
                         mase_dtypes[MASE_F32].name, mase_dtypes[s->tensor->dtype].name);
    mase_slot_set_axis(p, s, axis);
    return MASE_OK;
}

/* ---- steps ---- */

/* One step for one tensor of the result. */
static enum mase_status add_result(struct mase_plan *p, struct mase_call *c,
                                   struct mase_call *probe, struct mase_slot *out, int index,
                                   struct mase_err *err)
{
    const struct mase_step_kind *kind = mase_step_kind_of(c->node->op);
    if (!kind || (p->derived_of && !kind->derives))
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: a plan cannot run %s%s", c->node->name,
                         mase_ops[c->node->op].name, kind ? " on parameters alone" : "");
    MASE_TRY(mase_axis_check(p, kind, c, out, err));
    struct mase_step *s = mase_new(&p->arena, struct mase_step);
    *s = (struct mase_step){
        .plan = p, .node = c->node, .kind = kind, .out = out, .result_index = index
    };
    s->call = c;
    s->probe = probe;
    MASE_TRY(kind->prepare(s, s->call, err));
    MASE_TRY(mase_step_guard_whole(s, err));
    s->probe = NULL;
    mase_plan_add_step(p, s);
    return MASE_OK;
}

/* A tuple takes a step for each of its tensors, those in tuples within it too. */
static enum mase_status add_results(struct mase_plan *p, struct mase_call *c,
                                    struct mase_call *probe, const struct mase_arg *value,
                                    int *index, struct mase_err *err)
{
    for (int i = 0; mase_arg_is_seq(value) && i < value->count; i++)
        MASE_TRY(add_results(p, c, probe, &value->items[i], index, err));
    if (mase_arg_is_seq(value))
        return MASE_OK;
    struct mase_slot *out = mase_plan_slot(p, mase_arg_tensor(value));
    const int number = (*index)++;
    return out && out->lanes ? add_result(p, c, probe, out, number, err) : MASE_OK;
}

enum mase_status mase_plan_add_call(struct mase_plan *p, struct mase_call *c,
                                    struct mase_call *probe, struct mase_err *err)
{
    int index = 0;
    return add_results(p, c, probe, &c->result, &index, err);
}

/* ---- instructions ---- */

static bool follows_samples(const struct mase_instr *i, const struct mase_call *c)
{
    for (int n = 0; n < c->sig->count; n++)
        if (mase_arg_follows_samples(&i->param[n]))
            return true;
    return false;
}

/* Lengths of the result may depend on the number of samples. Other numbers may not: x / x.size(0)
 * would be a plan for full batches alone. */
static enum mase_status check_numbers(const struct mase_instr *i, const struct mase_call *c,
                                      struct mase_err *err)
{
    static const char *const lengths[] = { "shape", "size", "repeats", "dims" };
    for (int n = 0; n < c->sig->count; n++) {
        bool length = false;
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            length |= mase_streq(c->sig->param[n].name, lengths[k]);
        if (!length && mase_arg_follows_samples(&i->param[n]))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s: '%s' of %s depends on the number of samples, which a plan cannot",
                             c->node->name, c->sig->param[n].name, mase_ops[c->node->op].name);
    }
    return MASE_OK;
}

/* Later users see the result, whose gradient would have to pass by the call. */
static enum mase_status check_in_place(const struct mase_plan *p, const struct mase_instr *i,
                                       const struct mase_call *c, struct mase_err *err)
{
    const struct mase_slot *s = mase_plan_slot(p, mase_arg_tensor(&c->param[0]));
    if (!i->in_place || !s || !(s->needs_grad || (s->derived && p->train)))
        return MASE_OK;
    return mase_call_fail(c, err,
                          "writes under no_grad into a value that has a gradient: a plan cannot");
}

static enum mase_status init_call(struct mase_plan *p, struct mase_pcall *k,
                                  const struct mase_instr *i, struct mase_tensor **tensor,
                                  int64_t samples, struct mase_err *err)
{
    mase_pcall_init(k, &p->arena, i, tensor, samples);
    MASE_TRY(mase_node_place(&k->node, mase_pcall_infer(k, i, samples, err), err));
    mase_pcall_results(k, i, tensor);
    return MASE_OK;
}

static enum mase_status plan_call(struct mase_plan *p, const struct mase_instr *i,
                                  struct mase_call *c, struct mase_call *probe,
                                  struct mase_err *err)
{
    bool lanes = false;
    for (int k = 0; k < i->result_count; k++) {
        MASE_TRY(add_slot(p, i->result[k], c->node->name, err));
        lanes |= slot_of(p, i->result[k])->lanes;
    }
    if (!lanes && p->partial_outputs && follows_samples(i, c)) {
        mase_plan_refuse(p, &c->result, "it depends on the number of samples");
        return MASE_OK;
    }
    MASE_TRY(check_numbers(i, c, err));
    MASE_TRY(check_in_place(p, i, c, err));
    return lanes ? mase_plan_add_call(p, c, probe, err)
                 : mase_plan_add_plain_call(p, c, &probe->result, err);
}

static enum mase_status add_call(struct mase_plan *p, const struct mase_instr *i,
                                 struct mase_err *err)
{
    struct mase_pcall *k = mase_new(&p->arena, struct mase_pcall), probe;
    MASE_TRY(init_call(p, k, i, p->tensor, p->batch, err));
    MASE_TRY(init_call(p, &probe, i, p->probe, 2, err));
    return mase_node_place(&k->node, plan_call(p, i, &k->call, &probe.call, err), err);
}

static void add_tensors(struct mase_plan *p, const struct mase_pvalue *v)
{
    const struct mase_shape batch = mase_ptype_shape(&v->type, p->batch),
                            two = mase_ptype_shape(&v->type, 2);
    const struct mase_tensor t = mase_tensor(&p->arena, v->type.dtype, &batch, false),
                             probe = mase_tensor(&p->arena, v->type.dtype, &two, false);
    p->tensor[v->number] = mase_arena_memdup(&p->arena, &t, sizeof t);
    p->probe[v->number] = mase_arena_memdup(&p->arena, &probe, sizeof probe);
}

static enum mase_status add_round(struct mase_plan *p, const struct mase_instr *i,
                                  struct mase_err *err)
{
    const struct mase_pvalue *v = i->result[0];
    add_tensors(p, v);
    MASE_TRY(add_slot(p, v, i->from, err));
    MASE_TRY(mase_plan_round(p, i, slot_of(p, v), slot_of(p, mase_pvalue_of(&i->param[0])), err));
    p->probe[v->number]->data = p->tensor[v->number]->data;
    return MASE_OK;
}

static enum mase_status add_instr(struct mase_plan *p, const struct mase_instr *i,
                                  struct mase_err *err)
{
    if (i->prim == MASE_PRIM_round)
        return mase_node_place(i->node, add_round(p, i, err), err);
    if (i->prim == MASE_PRIM_store)
        return mase_node_place(i->node,
                               mase_plan_add_store(p, mase_pvalue_of(&i->param[0]),
                                                   slot_of(p, mase_pvalue_of(&i->param[1])),
                                                   i->from, err),
                               err);
    return i->result_count ? add_call(p, i, err) : MASE_OK; /* a check: the reference makes it */
}

/* ---- inputs, parameters and constants ---- */

static void add_input(struct mase_plan *p, struct mase_slot *s)
{
    p->input =
        mase_arena_grow(&p->arena, p->input, p->input_count, &p->input_cap, sizeof *p->input);
    p->input[p->input_count++] = s;
    s->is_input = true;
    s->needs_grad = p->train && p->input_gradients && s->tensor->dtype == MASE_F32 &&
                    (!p->partial_outputs || p->input_count == 1);
}

/* A parameter is trained unless it is frozen, a buffer is a constant. */
static void add_param(struct mase_plan *p, const struct mase_pvalue *v, struct mase_slot *s)
{
    s->weight = mase_plan_weight(p, v->param);
    s->x = s->weight->x;
    s->dx = s->weight->dx;
    s->needs_grad = s->dx != NULL;
    if (mase_param_is_buffer(v->param))
        p->tensor[v->number]->data = p->probe[v->number]->data = v->param->tensor.data;
}

static enum mase_status add_source(struct mase_plan *p, const struct mase_pvalue *v,
                                   struct mase_err *err)
{
    if (v->source == MASE_PSOURCE_RESULT)
        return MASE_OK;
    add_tensors(p, v);
    MASE_TRY(add_slot(p, v, v->name, err));
    if (v->source == MASE_PSOURCE_INPUT)
        add_input(p, slot_of(p, v));
    else
        add_param(p, v, slot_of(p, v));
    return MASE_OK;
}

static enum mase_status set_output(struct mase_plan *p, struct mase_err *err)
{
    const struct mase_pvalue *v = mase_pvalue_of(&p->program->output);
    if (p->partial_outputs)
        return p->partial_outputs(p, err);
    p->output = v ? slot_of(p, v) : NULL;
    if (!p->output || !p->output->lanes || p->output->axis)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "output: a plan returns one tensor whose first dimension is the samples");
    p->output->is_result = true;
    return MASE_OK;
}

/* The tiles of a batch have one program. */
static enum mase_status take_program(struct mase_plan *p, const struct mase_plan_opts *o,
                                     struct mase_err *err)
{
    const struct mase_lower_opts lower = { .inputs = o->inputs,
                                           .input_count = o->input_count,
                                           .training = o->train,
                                           .formats_change = o->formats_change };
    if (!p->tiling || p->tiling->tile[0] == p)
        return mase_program_lower(&p->program, p->graph, &lower, err);
    p->program = p->tiling->tile[0]->program;
    return MASE_OK;
}

static enum mase_status build(struct mase_plan *p, const struct mase_plan_opts *o,
                              struct mase_err *err)
{
    MASE_TRY(take_program(p, o, err));
    MASE_TRY(mase_plan_place_weights(p, err)); /* not before the shapes agree */
    const struct mase_program *program = p->program;
    const size_t count = (size_t)program->value_count;
    p->tensor = mase_new_array(&p->arena, struct mase_tensor *, count);
    p->probe = mase_new_array(&p->arena, struct mase_tensor *, count);
    for (int n = 0; n < program->value_count; n++)
        MASE_TRY(add_source(p, program->value[n], err));
    for (const struct mase_instr *i = program->first; i; i = i->next)
        if (i->prim == MASE_PRIM_store)
            slot_of(p, mase_pvalue_of(&i->param[0]))->changes = true;
    for (const struct mase_instr *i = program->first; i && !p->inputs_only; i = i->next)
        MASE_TRY(add_instr(p, i, err));
    return set_output(p, err);
}

/* ---- life ---- */

static int64_t padded(int64_t count)
{
    return (count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

/* Rows a power of two apart fall on the same few lines of the nearest cache: one vector more keeps
 * them apart. */
static int64_t row_stride(int64_t batch)
{
    const int64_t lanes = padded(batch);
    return lanes % 64 == 0 ? lanes + MASE_LANES : lanes;
}

enum mase_status mase_plan_finish(struct mase_plan *p, struct mase_err *err)
{
    MASE_TRY(mase_plan_place(p, err));
    mase_plan_list_forward(p);
    mase_plan_list_backward(p);
    return MASE_OK;
}

static enum mase_status make(struct mase_plan *p, const struct mase_plan_opts *o,
                             struct mase_err *err)
{
    MASE_TRY(build(p, o, err));
    if (p->derived)
        MASE_TRY(mase_plan_finish(p->derived, err));
    MASE_TRY(mase_plan_finish(p, err));
    mase_plan_read_weights(p);
    mase_plan_set_samples(p, o->batch);
    return p->derived ? mase_plan_check(p->derived, err) : MASE_OK;
}

/* The plan of `kind` for the graph. */
static enum mase_status new_plan(struct mase_plan **out, const struct mase_plan *kind,
                                 struct mase_graph *g, const struct mase_plan_opts *o,
                                 struct mase_err *err)
{
    const struct mase_kernels *k;
    if (o->train && o->formats_change) /* gradients would be summed in another order */
        return mase_fail(err, MASE_EUNSUPPORTED, "formats can change in evaluation alone");
    if (!o->train && !o->learns)
        MASE_TRY(mase_graph_need_learned(g, err));
    MASE_TRY(mase_plan_check_like(g, o, err));
    MASE_TRY(mase_kernels_select(&k, err));
    struct mase_plan *p = mase_xcalloc(sizeof *p);
    *p = *kind;
    p->graph = g;
    p->k = k;
    p->batch = o->batch;
    p->train = o->train;
    p->seed = o->seed;
    *out = p; /* a tile is known to the others of its batch from the beginning */
    p->threads = o->threads > 1 ? o->threads : 1;
    p->input_gradients = o->input_gradients;
    p->formats_change = o->formats_change;
    p->like = o->like;
    p->like_next = o->like ? o->like->rounded : NULL;
    p->edits = g->edits;
    p->stride = row_stride(o->batch);
    const enum mase_status st = make(p, o, err);
    if (st) {
        mase_plan_free(p);
        *out = NULL;
    }
    return st;
}

enum mase_status mase_plan_new_tile(struct mase_plan **out, struct mase_graph *g,
                                    const struct mase_plan_opts *o,
                                    const struct mase_tiling *tiling, struct mase_err *err)
{
    return new_plan(out, &(struct mase_plan){ .tiling = tiling }, g, o, err);
}

enum mase_status mase_plan_new_part(struct mase_plan **out, struct mase_graph *g,
                                    const struct mase_plan_opts *o,
                                    mase_partial_outputs_fn *partial_outputs, bool inputs_only,
                                    struct mase_err *err)
{
    return new_plan(
        out, &(struct mase_plan){ .partial_outputs = partial_outputs, .inputs_only = inputs_only },
        g, o, err);
}

enum mase_status mase_plan_new(struct mase_plan **out, struct mase_graph *g,
                               const struct mase_plan_opts *o, struct mase_err *err)
{
    return new_plan(out, &(struct mase_plan){ 0 }, g, o, err);
}

void mase_plan_free(struct mase_plan *p)
{
    if (!p)
        return;
    mase_derive_free(p);
    if (!p->tiling || p->tiling->tile[0] == p)
        mase_program_free(p->program);
    mase_aligned_free(p->memory);
    if (!mase_plan_first_tile(p))
        mase_aligned_free(p->params);
    mase_aligned_free(p->grads);
    mase_arena_release(&p->arena);
    mase_xfree(p);
}
