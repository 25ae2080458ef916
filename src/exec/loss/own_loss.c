/*
 * own_loss.c - a loss that is a graph (own_loss.h).
 */
#include "exec/loss/own_loss.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/ranks.h"
#include "exec/plan/collective.h"
#include "exec/plan/plan_parts.h"
#include "ir/graph/bind_call.h"
#include "ir/shape/shape.h"
#include "program/program_parts.h"

enum { OUTPUT, TARGET, INPUTS };

/* A value of the plans of tiles that the plan of the batch reads: for every sample, or only its sum
 * over the samples. */
struct sample_value {
    int value; /* its number in the program */
    const struct mase_instr
        *by; /* the sum or mean that reads it; NULL: it is read for every sample */
};

/* A sample_value as the plan of one batch size reads it. */
struct batch_value {
    struct mase_slot *slot; /* an input of that plan: (count), or (samples, rows) */
    int32_t *at;            /* sums: (rows), the sum that each row is added to; NULL: no sum */
    int64_t count;
    double divisor;
    int64_t first; /* position of its sums in batch_plan.sum */
};

/* The part of the loss that mixes samples, for one batch size: its one sample is the batch. */
struct batch_plan {
    int64_t samples;
    struct mase_plan *plan;
    struct batch_value *value; // (values)
    double *sum;               // (tiles, sums)
    int64_t sums;
    struct batch_plan *next;
};

struct tile {
    struct mase_plan *plan;
    struct mase_slot **slot; // (values)
    int64_t from;
};

struct mase_own_loss {
    struct mase_arena arena;
    struct mase_own_loss_opts opts;
    struct mase_input input[INPUTS];
    struct tile *tile; // (opts.tiles)
    struct sample_value *value;
    int value_count, value_cap;
    struct batch_plan *batch_plans,
        *batch_plan; /* one for each batch size; that of the current batch */
    int tiles;       /* of the current batch */
};

/* ---- which instructions belong to the plan of the batch ---- */

static struct mase_slot *slot_of(const struct mase_plan *p, const struct mase_pvalue *v)
{
    return mase_plan_slot(p, p->tensor[v->number]);
}

/* Instructions that the plans of tiles cannot run have no values there. */
static bool is_of_batch(const struct mase_plan *p, const struct mase_instr *i)
{
    const struct mase_slot *s =
        i->result_count && !p->inputs_only ? slot_of(p, i->result[0]) : NULL;
    return p->inputs_only || (s && !s->lanes && s->why);
}

/* Is it a sum or mean over the samples? The plans of tiles run every other sum. */
static bool is_sum(const struct mase_plan *p, const struct mase_instr *i)
{
    const struct mase_sig *sig = mase_op_call_sig(i->op);
    return !p->inputs_only && (i->op == MASE_OP_sum || i->op == MASE_OP_mean) &&
           i->param[mase_sig_find(sig, "dtype")].kind == MASE_ARG_NONE;
}

static void mark(struct mase_pvalue *v, void *data)
{
    const struct mase_plan *p = data;
    struct mase_slot *s = p->tensor[v->number] ? slot_of(p, v) : NULL;
    if (s && s->lanes)
        s->is_result = true;
}

/* The results of the plans of tiles are the values that instructions of the batch read. */
static enum mase_status mark_results(struct mase_plan *p, struct mase_err *err)
{
    const struct mase_pvalue *out = mase_pvalue_of(&p->program->output);
    const struct mase_slot *s = out && p->tensor[out->number] ? slot_of(p, out) : NULL;
    (void)err;
    for (const struct mase_instr *i = p->program->first; i; i = i->next)
        for (int k = 0; is_of_batch(p, i) && k < mase_instr_params(i); k++)
            mase_each_pvalue(&i->param[k], mark, p);
    if (s && s->lanes) /* to be refused, in better words */
        mase_plan_slot(p, s->tensor)->is_result = true;
    return MASE_OK;
}

struct search {
    struct mase_own_loss *l;
    const struct mase_plan *p;
    const struct mase_instr *by;
};

static void add_sample_value(struct mase_pvalue *v, void *data)
{
    const struct search *c = data;
    struct mase_own_loss *l = c->l;
    const struct mase_slot *s = c->p->tensor[v->number] ? slot_of(c->p, v) : NULL;
    if (!s || !s->lanes)
        return;
    const struct sample_value value = { v->number, is_sum(c->p, c->by) ? c->by : NULL };
    for (int i = 0; i < l->value_count; i++)
        if (l->value[i].value == value.value && l->value[i].by == value.by)
            return;
    l->value =
        mase_arena_grow(&l->arena, l->value, l->value_count, &l->value_cap, sizeof *l->value);
    l->value[l->value_count++] = value;
}

static void find_sample_values(struct mase_own_loss *l)
{
    struct search c = { l, l->tile[0].plan, NULL };
    for (const struct mase_instr *i = c.p->program->first; i; i = i->next) {
        c.by = i;
        for (int k = 0; is_of_batch(c.p, i) && k < mase_instr_params(i); k++)
            mase_each_pvalue(&i->param[k], add_sample_value, &c);
    }
}

/* ---- the plans of the tiles ---- */

static enum mase_status make_tiles(struct mase_own_loss *l, bool inputs_only, struct mase_err *err)
{
    const struct mase_plan_opts o = { .batch = l->opts.batch,
                                      .train = l->opts.train,
                                      .input_gradients = true,
                                      .inputs = l->input,
                                      .input_count = INPUTS };
    for (int k = 0; k < l->opts.tiles; k++) {
        MASE_TRY(mase_plan_new_part(&l->tile[k].plan, l->opts.graph, &o, mark_results, inputs_only,
                                    err));
        if (k == 0)
            MASE_TRY(mase_plan_check_size(l->tile[0].plan, l->opts.tiles, err));
    }
    return MASE_OK;
}

static void free_tiles(struct mase_own_loss *l)
{
    for (int k = 0; k < l->opts.tiles; k++) {
        mase_plan_free(l->tile[k].plan);
        l->tile[k].plan = NULL;
    }
}

static enum mase_status check_stores(const struct mase_program *p, struct mase_err *err)
{
    for (const struct mase_instr *i = p->first; i; i = i->next)
        if (i->prim == MASE_PRIM_store)
            return mase_node_place(
                i->node,
                mase_fail(err, MASE_EUNSUPPORTED,
                          "the loss writes into a buffer, and would be another for each batch"),
                err);
    return MASE_OK;
}

/* Operations that no plan computes sample by sample go to the plan of the batch. */
static enum mase_status make_parts(struct mase_own_loss *l, struct mase_err *err)
{
    struct mase_err why = { 0 };
    enum mase_status st = make_tiles(l, false, &why);
    if (st == MASE_EUNSUPPORTED) {
        free_tiles(l);
        st = make_tiles(l, true, err);
    } else if (st) {
        return mase_fail_at(err, st, why.loc, "%s", why.msg);
    }
    if (st)
        return st;
    MASE_TRY(check_stores(l->tile[0].plan->program, err));
    find_sample_values(l);
    for (int k = 0; k < l->opts.tiles; k++) {
        const struct mase_plan *p = l->tile[k].plan;
        l->tile[k].slot = mase_new_array(&l->arena, struct mase_slot *, (size_t)l->value_count);
        for (int i = 0; i < l->value_count; i++)
            l->tile[k].slot[i] = mase_plan_slot(p, p->tensor[l->value[i].value]);
    }
    return MASE_OK;
}

/* ---- the plan of the batch, for one batch size ---- */

static struct batch_value *find_batch_value(const struct mase_own_loss *l,
                                            const struct batch_plan *b, int value,
                                            const struct mase_instr *by)
{
    for (int i = 0; i < l->value_count; i++)
        if (l->value[i].value == value && l->value[i].by == by)
            return &b->value[i];
    return NULL;
}

static struct mase_slot *add_input(struct mase_plan *d, const struct mase_tensor *t,
                                   const struct mase_slot *from)
{
    struct mase_slot *s = mase_derive_add_slot(d, t);
    d->input =
        mase_arena_grow(&d->arena, d->input, d->input_count, &d->input_cap, sizeof *d->input);
    d->input[d->input_count++] = s;
    s->is_input = true;
    s->needs_grad = from->needs_grad && d->train;
    return s;
}

/* The tensors of the program's values for a whole batch of this size. */
static struct mase_tensor **list_tensors(struct batch_plan *b, const struct mase_plan *p)
{
    struct mase_arena *a = &b->plan->arena;
    const struct mase_program *program = p->program;
    struct mase_tensor **tensor =
        mase_new_array(a, struct mase_tensor *, (size_t)program->value_count);
    for (int n = 0; n < program->value_count; n++) {
        const struct mase_ptype *type = &program->value[n]->type;
        const struct mase_slot *s = p->tensor[n] ? mase_plan_slot(p, p->tensor[n]) : NULL;
        const struct mase_shape shape = mase_ptype_shape(type, b->samples);
        tensor[n] = p->tensor[n];
        if (!s || s->lanes) {
            const struct mase_tensor t = mase_tensor(a, type->dtype, &shape, false);
            tensor[n] = mase_arena_memdup(a, &t, sizeof t);
        }
    }
    return tensor;
}

/* Find the sum that each row is added to, over the dimensions that the call reduces. */
static enum mase_status set_sums(struct batch_value *v, struct batch_plan *b,
                                 const struct mase_call *c, const struct mase_slot *from,
                                 struct mase_err *err)
{
    const struct mase_shape *shape = &c->param[0].tensor->shape;
    bool given[MASE_MAX_RANK];
    MASE_TRY(mase_call_axes(c, given, shape, "dim", true, err));
    v->at = mase_new_array(&b->plan->arena, int32_t, (size_t)from->rows);
    for (int64_t r = 0; r < from->rows; r++) {
        int64_t rest = r, at = 0, step = 1;
        for (int d = shape->rank - 1; d >= 0; d--) {
            if (d == from->axis)
                continue;
            at += given[d] ? 0 : rest % shape->dim[d] * step;
            step *= given[d] ? 1 : shape->dim[d];
            rest /= shape->dim[d];
        }
        v->at[r] = (int32_t)at;
    }
    v->count = mase_tensor_count(c->result.tensor);
    v->divisor =
        c->node->op == MASE_OP_mean ? (double)mase_shape_count(shape) / (double)v->count : 1.0;
    v->first = b->sums;
    b->sums += v->count;
    return MASE_OK;
}

static enum mase_status add_call(struct batch_plan *b, struct mase_plan *p, struct mase_call *c,
                                 struct mase_err *err)
{
    const struct mase_tensor *t = mase_arg_tensor(&c->result);
    bool known = false;
    if (t) { /* it is a constant if all operands are */
        mase_plan_new_slot(p, t)->rows = mase_tensor_count(t);
        MASE_TRY(mase_plan_add_constant(p, c, &c->result, &known, err));
    }
    return known ? MASE_OK : mase_derive_add(b->plan, c, err);
}

static enum mase_status add_instr(struct mase_own_loss *l, struct batch_plan *b,
                                  const struct mase_instr *i, struct mase_tensor **tensor,
                                  struct mase_err *err)
{
    struct mase_plan *p = l->tile[0].plan;
    struct mase_pcall *k = mase_new(&b->plan->arena, struct mase_pcall);
    mase_pcall_init(k, &b->plan->arena, i, tensor, b->samples);
    MASE_TRY(mase_pcall_infer(k, i, b->samples, err));
    mase_pcall_results(k, i, tensor);
    const struct mase_pvalue *x = is_sum(p, i) ? mase_pvalue_of(&i->param[0]) : NULL;
    struct batch_value *v = x ? find_batch_value(l, b, x->number, i) : NULL;
    if (!v)
        return add_call(b, p, &k->call, err);
    const struct mase_slot *from = l->tile[0].slot[v - b->value];
    v->slot = add_input(b->plan, tensor[i->result[0]->number], from);
    return set_sums(v, b, &k->call, from, err);
}

static enum mase_status refuse_result(const struct mase_ptype *type, struct mase_err *err)
{
    struct mase_str text = { 0 };
    if (type)
        mase_ptype_print(&text, type);
    const enum mase_status st =
        mase_fail(err, MASE_EVALUE,
                  "the loss is %s; it has to be one number for a batch: take its mean() or sum()",
                  type ? mase_str_text(&text) : "no tensor");
    mase_str_release(&text);
    return st;
}

static enum mase_status set_result(struct batch_plan *b, const struct mase_plan *p,
                                   struct mase_tensor *const *tensor, struct mase_err *err)
{
    const struct mase_pvalue *out = mase_pvalue_of(&p->program->output);
    struct mase_slot *s = out ? mase_plan_slot(b->plan, tensor[out->number]) : NULL;
    const struct mase_slot *of_samples = out && p->tensor[out->number] ? slot_of(p, out) : NULL;
    if (!out || (of_samples && of_samples->lanes) || mase_tensor_count(tensor[out->number]) != 1)
        return refuse_result(out ? &out->type : NULL, err);
    if (!s || (p->train && !s->needs_grad))
        return mase_fail(err, MASE_EVALUE,
                         "the loss does not follow the output: no gradient reaches it");
    b->plan->output = s;
    s->is_result = true;
    return MASE_OK;
}

static enum mase_status fill_batch_plan(struct mase_own_loss *l, struct batch_plan *b,
                                        struct mase_err *err)
{
    struct mase_plan *p = l->tile[0].plan;
    b->value = mase_new_array(&b->plan->arena, struct batch_value, (size_t)l->value_count);
    struct mase_tensor **tensor = list_tensors(b, p);
    for (int i = 0; i < l->value_count; i++)
        if (!l->value[i].by)
            b->value[i].slot = add_input(b->plan, tensor[l->value[i].value], l->tile[0].slot[i]);
    for (const struct mase_instr *i = p->program->first; i; i = i->next)
        if (is_of_batch(p, i))
            MASE_TRY(mase_node_place(i->node, add_instr(l, b, i, tensor, err), err));
    MASE_TRY(set_result(b, p, tensor, err));
    b->sum = mase_new_array(&b->plan->arena, double, (size_t)(b->sums * l->opts.tiles));
    return mase_plan_finish(b->plan, err);
}

static enum mase_status new_batch_plan(struct mase_own_loss *l, int64_t samples,
                                       struct mase_err *err)
{
    struct batch_plan *b = mase_new(&l->arena, struct batch_plan);
    *b = (struct batch_plan){ .samples = samples, .plan = mase_derive_plan(l->tile[0].plan) };
    const enum mase_status st = fill_batch_plan(l, b, err);
    if (st) {
        mase_derive_plan_free(b->plan);
        return st;
    }
    b->next = l->batch_plans;
    l->batch_plans = l->batch_plan = b;
    return MASE_OK;
}

/* ---- life ---- */

static struct mase_input input_of(const char *name, enum mase_dtype type,
                                  const struct mase_shape *sample, int64_t batch)
{
    struct mase_input in = { .name = name, .tensor = { .dtype = type } };
    in.tensor.shape.rank = sample->rank + 1;
    in.tensor.shape.dim[0] = batch;
    memcpy(in.tensor.shape.dim + 1, sample->dim, (size_t)sample->rank * sizeof sample->dim[0]);
    return in;
}

/* The two placeholders are output and target, in this order, whatever their names. */
static enum mase_status find_inputs(struct mase_own_loss *l, struct mase_err *err)
{
    const struct mase_own_loss_opts *o = &l->opts;
    const char *name[INPUTS] = { NULL };
    int count = 0;
    for (const struct mase_node *n = o->graph->first; n; n = n->next)
        if (n->kind == MASE_PLACEHOLDER && !n->args.count && count++ < INPUTS)
            name[count - 1] = n->name;
    if (count != INPUTS)
        return mase_fail(err, MASE_EVALUE, "a loss takes output and target; this one takes %d",
                         count);
    l->input[OUTPUT] = input_of(name[OUTPUT], MASE_F32, &o->output, o->batch);
    l->input[TARGET] = input_of(name[TARGET], o->target_type, &o->target, o->batch);
    return MASE_OK;
}

static bool add_trained(const char *full, struct mase_param *p, void *data)
{
    struct mase_str *all = data;
    if (mase_param_is_trained(p))
        mase_str_printf(all, "%s%s", all->len ? ", " : "", full);
    return true;
}

static enum mase_status check_graph(const struct mase_graph *g, struct mase_err *err)
{
    struct mase_str names = { 0 };
    enum mase_status st = MASE_OK;
    const struct mase_node *draws = mase_graph_draws(g);
    mase_graph_each_param(g, add_trained, &names);
    if (names.len)
        st = mase_fail(err, MASE_EUNSUPPORTED,
                       "the loss has parameters of its own, which nothing would train: %s",
                       mase_str_text(&names));
    mase_str_release(&names);
    if (st || !draws)
        return st;
    return mase_node_place(
        draws, mase_fail(err, MASE_EUNSUPPORTED, "%s: a loss draws no numbers", draws->name), err);
}

static enum mase_status make(struct mase_own_loss *l, struct mase_err *err)
{
    MASE_TRY(check_graph(l->opts.graph, err));
    MASE_TRY(find_inputs(l, err));
    return make_parts(l, err);
}

enum mase_status mase_own_loss_new(struct mase_own_loss **out, const struct mase_own_loss_opts *o,
                                   struct mase_err *err)
{
    struct mase_own_loss *l = mase_xcalloc(sizeof *l);
    l->opts = *o;
    l->tile = mase_xcalloc((size_t)o->tiles * sizeof *l->tile);
    const enum mase_status st = make(l, err);
    if (st) {
        mase_own_loss_free(l);
        return st;
    }
    *out = l;
    return MASE_OK;
}

void mase_own_loss_free(struct mase_own_loss *l)
{
    if (!l)
        return;
    for (const struct batch_plan *b = l->batch_plans; b; b = b->next)
        mase_derive_plan_free(b->plan);
    free_tiles(l);
    mase_xfree(l->tile);
    mase_arena_release(&l->arena);
    mase_xfree(l);
}

/* ---- one batch ---- */

enum mase_status mase_own_loss_begin(struct mase_own_loss *l, int64_t samples, int tiles,
                                     struct mase_err *err)
{
    l->tiles = tiles;
    for (l->batch_plan = l->batch_plans; l->batch_plan; l->batch_plan = l->batch_plan->next)
        if (l->batch_plan->samples == samples)
            return MASE_OK;
    return new_batch_plan(l, samples, err);
}

static void load(const struct mase_plan *p, const struct mase_lanes *output,
                 const struct mase_targets *t)
{
    const struct mase_lanes x = mase_plan_input(p, OUTPUT), y = mase_plan_input(p, TARGET);
    const size_t bytes = (size_t)p->samples * sizeof(float);
    for (int64_t r = 0; r < x.rows; r++)
        memcpy(x.data + r * x.stride, output->data + r * output->stride, bytes);
    for (int64_t r = 0; r < y.rows; r++) {
        float *to = y.data + r * y.stride;
        if (!t->label)
            memcpy(to, t->y.data + r * t->y.stride, bytes);
        for (int64_t i = 0; t->label && i < p->samples; i++) {
            const int32_t label = t->label[r * t->label_stride + i];
            to[i] = label < 0 ? -100.0f : (float)label; /* what PyTorch ignores */
        }
    }
}

/* Sum up the values of one tile, in the order of its rows and samples. */
static void add_up(double *sum, const struct batch_value *v, const struct mase_slot *from,
                   const struct mase_plan *p)
{
    for (int64_t k = 0; k < v->count; k++)
        sum[k] = 0.0;
    for (int64_t r = 0; r < from->rows; r++)
        for (int64_t i = 0; i < p->samples; i++)
            sum[v->at[r]] += (double)from->x[r * p->stride + i];
}

static void pass_all(const struct mase_own_loss *l, const struct batch_value *v,
                     const struct mase_slot *from, const struct mase_plan *p, int64_t first)
{
    const struct batch_plan *b = l->batch_plan;
    for (int64_t r = 0; r < from->rows; r++)
        for (int64_t i = 0; i < p->samples; i++)
            v->slot->x[mase_slot_element(from, r, first + i, b->samples) * b->plan->stride] =
                from->x[r * p->stride + i];
}

void mase_own_loss_tile(struct mase_own_loss *l, int k, int64_t from, int64_t n,
                        const struct mase_lanes *output, const struct mase_targets *targets)
{
    struct tile *t = &l->tile[k];
    struct mase_plan *p = t->plan;
    const struct batch_plan *b = l->batch_plan;
    t->from = p->first = from;
    mase_plan_set_samples(p, n);
    load(p, output, targets);
    mase_works_run(&p->forward, 1);
    for (int i = 0; i < l->value_count; i++) {
        const struct batch_value *v = &b->value[i];
        if (v->at)
            add_up(b->sum + k * b->sums + v->first, v, t->slot[i], p);
        else
            pass_all(l, v, t->slot[i], p, from);
    }
}

/* Values that are read for every sample: those of tile k, from the process that has them. */
static void exchange_values(struct mase_own_loss *l, const struct mase_tiling *t, int k)
{
    const struct batch_plan *b = l->batch_plan;
    const bool mine = k >= t->from && k < t->to;
    const struct tile *tile = &l->tile[k];
    for (int i = 0; i < l->value_count; i++) {
        const struct mase_slot *s = tile->slot[i];
        if (b->value[i].at)
            continue;
        mase_ranks_broadcast(t->ranks, s->x, (size_t)(s->rows * tile->plan->stride) * sizeof *s->x,
                             mase_collective_owner(t, k));
        if (!mine)
            pass_all(l, &b->value[i], s, tile->plan, tile->from);
    }
}

void mase_own_loss_exchange(struct mase_own_loss *l, const struct mase_tiling *t, int64_t size)
{
    const struct batch_plan *b = l->batch_plan;
    if (b->sums)
        mase_ranks_gather(t->ranks, b->sum, (size_t)b->sums * sizeof *b->sum, l->tiles);
    for (int k = 0; k < l->tiles; k++) {
        const int64_t from = k * size, left = b->samples - from;
        l->tile[k].from = from;
        mase_plan_set_samples(l->tile[k].plan, left < size ? left : size);
        exchange_values(l, t, k);
    }
}

enum mase_status mase_own_loss_check(const struct mase_own_loss *l, const uint32_t *row,
                                     struct mase_err *err)
{
    for (int k = 0; k < l->tiles; k++) {
        struct mase_plan *p = l->tile[k].plan;
        if (err)
            p->row = row ? row + l->tile[k].from : NULL;
        MASE_TRY(mase_plan_check(p, err));
    }
    return mase_plan_check(l->batch_plan->plan, err);
}

/* Add up the sums of all tiles, in the order of the tiles. */
static void add_tile_sums(const struct mase_own_loss *l)
{
    const struct batch_plan *b = l->batch_plan;
    for (int i = 0; i < l->value_count; i++) {
        const struct batch_value *v = &b->value[i];
        for (int64_t k = 0; v->at && k < v->count; k++) {
            double sum = 0.0;
            for (int tile = 0; tile < l->tiles; tile++)
                sum += b->sum[tile * b->sums + v->first + k];
            v->slot->x[k * b->plan->stride] = (float)(sum / v->divisor);
        }
    }
}

double mase_own_loss_end(struct mase_own_loss *l, float scale)
{
    const struct mase_plan *d = l->batch_plan->plan;
    add_tile_sums(l);
    mase_works_run(&d->forward, 1);
    const double loss = (double)d->output->x[0];
    if (!d->train)
        return loss;
    memset(d->output->dx, 0, (size_t)d->n * sizeof(float));
    d->output->dx[0] = scale > 0.0f ? scale : 1.0f;
    mase_works_run(&d->backward, 1);
    return loss;
}

/* Did an earlier value store its gradient in the same memory? */
static bool is_stored(const struct tile *t, int k)
{
    for (int i = 0; i < k; i++)
        if (t->slot[i]->dx == t->slot[k]->dx)
            return true;
    return false;
}

static void pass_back(const struct mase_own_loss *l, const struct tile *t, int k)
{
    const struct batch_plan *b = l->batch_plan;
    const struct batch_value *v = &b->value[k];
    const struct mase_slot *to = t->slot[k];
    const struct mase_plan *p = t->plan;
    const bool add = is_stored(t, k);
    for (int64_t r = 0; r < to->rows; r++) {
        float *dx = to->dx + r * p->stride;
        for (int64_t i = 0; i < p->n; i++) {
            const int64_t at = v->at ? v->at[r] : mase_slot_element(to, r, t->from + i, b->samples);
            float g = 0.0f;
            if (v->slot->dx && i < p->samples)
                g = v->slot->dx[at * b->plan->stride] / (v->at ? (float)v->divisor : 1.0f);
            dx[i] = add ? dx[i] + g : g;
        }
    }
}

void mase_own_loss_gradient(const struct mase_own_loss *l, int k, struct mase_lanes dx)
{
    const struct tile *t = &l->tile[k];
    const struct mase_plan *p = t->plan;
    for (int i = 0; i < l->value_count; i++)
        if (t->slot[i]->dx)
            pass_back(l, t, i);
    mase_works_run(&p->backward, 1);
    const struct mase_lanes from = mase_plan_input_gradient(p, OUTPUT);
    for (int64_t r = 0; r < dx.rows; r++)
        for (int64_t i = 0; i < p->n; i++)
            dx.data[r * dx.stride + i] = from.data ? from.data[r * from.stride + i] : 0.0f;
}
