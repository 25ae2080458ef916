/*
 * plan_formats.c - number formats in a plan (plan_formats.h).
 */
#include "exec/step/plan_formats.h"

#include <string.h>

#include "exec/plan/plan_parts.h"
#include "exec/reference/ref.h"
#include "exec/step/round_step.h"
#include "ir/shape/shape.h"
#include "program/program_parts.h"

/* ---- rounding rows ---- */

/* A step's own. */
struct rounding {
    struct mase_round rows;   /* first: what changes with the format (reformat.c) */
    struct mase_round single; /* for a single sample, whose values are contiguous */
    struct mase_shape sample;
    struct mase_learned_rounding
        *learned; /* NULL: gradients pass straight, and nothing is learned */
};

static void single(const struct mase_step *s, float *y, const float *x)
{
    const struct rounding *r = s->own;
    mase_round_all(&r->single, s->plan->k, y, x);
}

static void single_learned(const struct mase_step *s, float *y, const float *x)
{
    const struct rounding *r = s->own;
    mase_learned_rounding_single(r->learned, s->plan->k, y, x);
}

static void refresh(struct mase_step *s)
{
    const struct rounding *r = s->own;
    if (r->learned)
        mase_learned_rounding_refresh(r->learned);
}

static void refresh_single(struct mase_step *s)
{
    struct rounding *r = s->own;
    if (r->learned)
        return;
    if (!r->single.count || r->single.how.format != r->rows.how.format)
        r->single = mase_round_dense(&s->plan->arena, r->rows.how, &r->sample);
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    const struct mase_round *r = s->own;
    mase_round_run(r, p->k, s->out->x, s->in[0]->x, p->n, from, to);
    if (r->breaks_zeros) /* sums over lanes take the padding in */
        mase_round_clear(r, s->out->x, p->samples, p->n, from, to);
}

static void straight(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    for (long at = from * p->stride; at < to * p->stride && s->in[0]->dx; at += p->stride) {
        const float *dy = s->out->dx + at;
        if (s->add[0])
            p->k->axpy(s->in[0]->dx + at, dy, 1.0f, p->n);
        else if (s->in[0]->dx != s->out->dx)
            memcpy(s->in[0]->dx + at, dy, (size_t)p->n * sizeof *dy);
    }
}

/* ---- rounding rows ---- */

static void refresh_steps(const struct mase_step *s, long from, long to)
{
    const struct mase_plan *p = s->plan;
    const struct rounding *r = s->own;
    (void)from;
    (void)to;
    if (p->warm_up_pass)
        mase_learned_rounding_start(r->learned, s->in[0]->x, p->samples, p->warm_up_pass == 1);
    if (!p->warm_up_pass || !r->learned->products) /* others are finding what those follow from */
        mase_learned_rounding_refresh(r->learned);
}

/* In warm-up passes values pass unrounded: the first steps of formats with few bits are far off,
 * and later formats start from these values. */
static void forward_learned(const struct mase_step *s, long from, long to)
{
    const struct rounding *r = s->own;
    const int64_t stride = s->plan->stride;
    if (s->plan->warm_up_pass)
        memmove(s->out->x + from * stride, s->in[0]->x + from * stride,
                (size_t)((to - from) * stride) * sizeof(float));
    else
        mase_learned_rounding_rows(r->learned, s->plan->k, s->out->x, s->in[0]->x, s->plan->n, from,
                                   to);
}

/* Without a gradient of x to compute, the result's gradient is the place to write to. */
static void backward(const struct mase_step *s, long from, long to)
{
    const struct rounding *r = s->own;
    const struct mase_slot *in = s->in[0];
    mase_learned_rounding_rows_back(r->learned, s->plan->k, in->dx ? in->dx : s->out->dx, s->work,
                                    s->out->dx, in->x, in->dx && s->add[0], s->plan->n, from, to);
}

static void backward_learned(const struct mase_step *s, long from, long to)
{
    const struct rounding *r = s->own;
    mase_learned_rounding_learn(s, r->learned, s->work, from, to);
}

#define KIND(...)                                                                 \
    {                                                                             \
        .name = "quantise", .refresh = refresh, .refresh_single = refresh_single, \
        .forgets_out = true, __VA_ARGS__                                          \
    }
static const struct mase_step_kind block_kind = KIND(.forgets_in = true);
static const struct mase_step_kind value_kind = KIND(.forgets_in = true, .in_place = true);
static const struct mase_step_kind learned_kind = KIND(.in_place = true);

/* The gradient of a learned rounding reads what was rounded; blocks are read again while they are
 * written. */
static const struct mase_step_kind *kind_of(const struct mase_plan *p, const struct rounding *r)
{
    if (r->learned)
        return &learned_kind;
    return r->rows.row || p->formats_change || !mase_round_has_kernel(r->rows.how.format)
               ? &block_kind
               : &value_kind;
}

/* The shape of one sample; derived plans have no samples. */
static struct mase_shape sample_shape(const struct mase_plan *p, const struct mase_slot *in,
                                      const struct mase_rounding_request *request)
{
    struct mase_shape s = in->tensor->shape;
    if (p->derived_of)
        return mase_shape_to_rank(&s, request->rank);
    s.dim[0] = 1;
    return s;
}

/* In training, steps and bounds follow from what the last step learned; else they are constant. */
static void add_phases(struct mase_step *s, long rows)
{
    const struct mase_plan *p = s->plan;
    struct rounding *r = s->own;
    struct mase_learned_rounding *g = r->learned;
    if (g && g->learned)
        mase_learned_rounding_use(s, g);
    if (g && (p->train || p->derived_of))
        mase_step_forward(s, refresh_steps, MASE_UNIT_ITEMS, 1);
    if (mase_learned_rounding_moves(g))
        mase_step_forward(s, forward_learned, MASE_UNIT_ITEMS, rows);
    else
        mase_step_forward(s, forward, MASE_UNIT_ITEMS, (long)r->rows.count);
    if (!g) {
        mase_step_backward(s, straight, MASE_UNIT_ITEMS, rows);
        return;
    }
    s->work_size = 3 * rows;
    mase_step_backward(s, backward, MASE_UNIT_ITEMS, rows);
    if (g->learned)
        mase_step_backward(s, backward_learned, MASE_UNIT_ITEMS, (long)g->blocks);
}

static void add_rounding(struct mase_step *s, struct mase_slot *in,
                         const struct mase_rounding_request *request)
{
    struct mase_plan *p = s->plan;
    const struct mase_shape shape = sample_shape(p, in, request);
    struct rounding *r = s->own = mase_new(&p->arena, struct rounding);
    r->rows = mase_round_rows(&p->arena, request->how, &shape, p->stride);
    r->sample = shape;
    r->learned = mase_learned_rounding(p, request, &r->rows, in->rows);
    s->kind = kind_of(p, r);
    s->single = r->learned ? single_learned : single;
    mase_step_add_input(s, in);
    add_phases(s, (long)in->rows);
    mase_plan_add_step(p, s);
    mase_site_add(&(struct mase_site){ .request = *request, .plan = p, .shape = shape, .step = s });
}

/* ---- weights ---- */

const char *mase_quantise_refusal(const struct mase_plan *p, struct mase_rounding how)
{
    if (!p->train || mase_format_gradient(how.format) == MASE_GRADIENT_STRAIGHT)
        return NULL;
    return mase_arena_printf(&((struct mase_plan *)p)->arena,
                             "%s clips gradients, which training does not within recurrent layers",
                             how.format->row->name);
}

void mase_quantise_weight(const struct mase_plan *p, const struct mase_rounded *r)
{
    if (r->learned && p->warm_up_pass)
        mase_learned_rounding_start(r->learned, r->from->x, 1, p->warm_up_pass == 1);
    if (r->learned && !(p->warm_up_pass && r->learned->products))
        mase_learned_rounding_refresh(r->learned);
    if (mase_learned_rounding_moves(r->learned) && p->warm_up_pass)
        memcpy(r->weight.x, r->from->x, (size_t)r->weight.count * sizeof(float));
    else if (mase_learned_rounding_moves(r->learned))
        mase_learned_rounding_dense(r->learned, p->k, r->weight.x, r->from->x);
    else
        mase_round_all(&r->how, p->k, r->weight.x, r->from->x);
}

static void round_weights(const struct mase_step *s, long from, long to)
{
    long i = 0;
    for (const struct mase_rounded *r = s->rounded; r; r = r->next, i++)
        if (i >= from && i < to)
            mase_quantise_weight(s->plan, r);
}

/* The gradients of rounded weights, which the step has found, become those of the weights. */
static void weights_back(const struct mase_step *s, long from, long to)
{
    long i = 0;
    for (const struct mase_rounded *r = s->rounded; r; r = r->next, i++)
        if (i >= from && i < to && r->learned && r->weight.dx) /* a buffer has none */
            mase_learned_rounding_dense_back(s, r->learned, r->from->dx, r->weight.dx, r->from->x,
                                             mase_step_adds(s, r->from));
}

void mase_quantise_weights(struct mase_plan *p)
{
    for (const struct mase_rounded *r = p->rounded; r; r = r->next)
        mase_quantise_weight(p, r);
}

void mase_quantise_finish(struct mase_step *s)
{
    long count = 0;
    bool learned = false;
    for (const struct mase_rounded *r = s->rounded; r; r = r->next, count++)
        learned |= r->learned != NULL;
    if (learned && s->plan->train)
        mase_step_backward(s, weights_back, MASE_UNIT_ITEMS, count);
}

/* Training: rounded by a phase of the step's own, which comes first, since weights are asked for
 * before the step lists what it runs. */
static void round_in_step(struct mase_step *s, struct mase_rounded *r)
{
    if (!s->rounded && s->forward.count)
        mase_bug("%s: it asks for weights after it listed phases", s->kind->name);
    if (!s->rounded)
        mase_step_forward(s, round_weights, MASE_UNIT_ITEMS, 0);
    s->forward.item[0].items++;
    r->next = s->rounded;
    s->rounded = r;
}

static void round_when_read(struct mase_plan *p, struct mase_rounded *r)
{
    if (!p->rounded_end)
        p->rounded_end = &p->rounded;
    *p->rounded_end = r;
    p->rounded_end = &r->next;
}

/* The next copy of the plan that p is like: they ask in the same order. */
static float *copy_of_like(struct mase_plan *p)
{
    const struct mase_rounded *from = p->like_next;
    if (!from)
        mase_bug("a plan rounds more weights than the one it is like");
    p->like_next = from->next;
    return from->weight.x;
}

/* A learned rounding computes the gradient of the weight from that of the copy. */
static void give_gradient(struct mase_step *s, struct mase_rounded *r,
                          const struct mase_rounding_request *request, size_t floats)
{
    struct mase_plan *p = s->plan;
    r->learned = mase_learned_rounding(p, request, &r->how, r->weight.count);
    if (!r->learned)
        return;
    mase_learned_rounding_use(s, r->learned);
    if (!p->train || !(r->from->dx || r->learned->learned))
        return;
    mase_step_use(s, r->from);
    r->weight.base = NULL;
    r->weight.derived = true;
    r->weight.uses = NULL;
    r->weight.dx = mase_new_array(&p->arena, float, floats);
    p->copies = mase_arena_grow(&p->arena, p->copies, p->copy_count, &p->copy_cap,
                                sizeof(struct mase_weight *));
    p->copies[p->copy_count++] = &r->weight;
}

static struct mase_weight *rounded_copy(struct mase_step *s, struct mase_weight *w,
                                        const struct mase_rounding_request *request)
{
    struct mase_plan *p = s->plan;
    const struct mase_shape shape = mase_shape_to_rank(&w->shape, request->rank);
    struct mase_rounded *r = mase_new(&p->arena, struct mase_rounded);
    *r = (struct mase_rounded){ .weight = *w };
    r->weight.views = NULL;
    r->from = r->weight.base = w->base ? w->base : w;
    if (p->like) {
        r->weight.x = copy_of_like(p);
        return &r->weight;
    }
    const size_t n = (size_t)(w->count + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
    r->weight.x = mase_new_array(&p->arena, float, n);
    r->how = mase_round_dense(&p->arena, request->how, &shape);
    give_gradient(s, r, request, n);
    if (p->train)
        round_in_step(s, r);
    else
        round_when_read(p, r);
    mase_site_add(
        &(struct mase_site){ .request = *request, .plan = p, .shape = shape, .rounded = r });
    return &r->weight;
}

struct mase_slot *mase_rounded_for(struct mase_step *s, struct mase_slot *slot)
{
    if (!slot || !slot->unrounded || slot->why)
        return slot;
    struct mase_slot *to = mase_plan_add_plain(s->plan, slot->tensor);
    to->weight = rounded_copy(s, slot->unrounded->weight, slot->request);
    to->x = to->weight->x;
    to->dx = to->weight->dx;
    to->needs_grad = to->dx != NULL;
    return to;
}

/* ---- values ---- */

static struct mase_step *new_step(struct mase_plan *p, const struct mase_rounding_request *request)
{
    struct mase_step *s = mase_new(&p->arena, struct mase_step);
    struct mase_node *n = mase_new(&p->arena, struct mase_node);
    *n = (struct mase_node){ .name = request->node->name,
                             .at = request->node->at,
                             .no_grad = request->node->no_grad };
    *s = (struct mase_step){ .plan = p, .node = n, .kind = &block_kind };
    return s;
}

struct mase_slot *mase_quantise_lanes(struct mase_plan *p, struct mase_slot *from,
                                      const struct mase_rounding_request *request)
{
    struct mase_step *s = new_step(p, request);
    s->out = mase_plan_add_lanes(p, &from->tensor->shape);
    add_rounding(s, from, request);
    return s->out;
}

bool mase_rounding_request_fits(const struct mase_rounding_request *a, const struct mase_format *f)
{
    return (!a->apart || !f || !mase_format_has_blocks(f)) && !mase_format_learned(f) &&
           !mase_format_is_open(f);
}

static enum mase_status round_lanes(struct mase_plan *p, struct mase_slot *to,
                                    struct mase_slot *from, struct mase_rounding_request *request,
                                    struct mase_err *err)
{
    request->apart = from->axis || request->rank != from->tensor->shape.rank;
    if (request->apart && mase_format_has_blocks(request->how.format))
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: a format with blocks needs the samples in the first dimension, here "
                         "they are in dimension %d",
                         request->node->name, from->axis);
    struct mase_step *s = new_step(p, request);
    s->out = to;
    add_rounding(s, from, request);
    return MASE_OK;
}

/* Round a constant now; the site rounds it again if its format changes. */
static void round_constant(struct mase_plan *p, struct mase_slot *to, const struct mase_slot *from,
                           const struct mase_rounding_request *request)
{
    to->x = mase_new_array(&p->arena, float, (size_t)from->rows);
    const struct mase_site site = { .request = *request,
                                    .plan = p,
                                    .shape =
                                        mase_shape_to_rank(&from->tensor->shape, request->rank),
                                    .to = to->x,
                                    .from = from->x };
    mase_site_constant(&site);
    mase_site_add(&site);
}

/* Numbers by which calls of constants alone are computed when the plan is made. */
static void round_data(struct mase_plan *p, struct mase_tensor *to, const struct mase_tensor *from,
                       const struct mase_rounding_request *request)
{
    const struct mase_shape shape = mase_shape_to_rank(&from->shape, request->rank);
    *to = mase_tensor(&p->arena, MASE_F32, &from->shape, true);
    mase_site_constant(&(struct mase_site){
        .request = *request, .shape = shape, .to = mase_f32(to), .from = mase_f32(from) });
}

/* The formats whose steps make those of a bias, and the parameters that they learn. */
static const struct mase_rounding_products *products_of(struct mase_arena *a,
                                                        const struct mase_instr *i)
{
    if (!i->of[0])
        return NULL;
    struct mase_rounding_products *request = mase_new(a, struct mase_rounding_products);
    mase_instr_products(&request->products, i);
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < mase_format_learned(i->of[k]->round.format); j++)
            request->learned[k][j] = mase_pvalue_of(&i->of[k]->param[1 + j])->param;
    return request;
}

enum mase_status mase_plan_round(struct mase_plan *p, const struct mase_instr *i,
                                 struct mase_slot *to, struct mase_slot *from, struct mase_err *err)
{
    struct mase_rounding_request *request = mase_new(&p->arena, struct mase_rounding_request);
    *request = (struct mase_rounding_request){ .how = i->round,
                                               .node = i->node,
                                               .operand = i->operand,
                                               .rank = i->round_rank,
                                               .products = products_of(&p->arena, i),
                                               .writes = i->writes,
                                               .kept = i->kept };
    const int own = mase_format_learned(i->round.format);
    const bool learned = own || request->products;
    for (int j = 0; j < own; j++)
        request->learned[j] = mase_pvalue_of(&i->param[1 + j])->param;
    if (learned && p->formats_change)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: %s has learned of this network, formats of which cannot be changed",
                         i->from, i->round.format->row->name);
    if (to->lanes)
        return round_lanes(p, to, from, request, err);
    to->why = from->why;
    if (from->why)
        return MASE_OK;
    if (from->tensor->data && !learned)
        round_data(p, (struct mase_tensor *)to->tensor, from->tensor, request);
    if (from->derived || from->unrounded) {
        mase_derive_round(p, to, from, request);
    } else if (from->weight) {
        to->unrounded = from;
        to->request = request;
    } else if (learned) {
        return mase_fail(err, MASE_EUNSUPPORTED, "%s: %s cannot be learned for a constant", i->from,
                         i->round.format->row->name);
    } else {
        round_constant(p, to, from, request);
    }
    return MASE_OK;
}
