/*
 * ref_adjoint.c - the reference of adjoint: what an operation that is linear in its first operand
 * made of it goes back to where it came from, added up in double.
 *
 * Averages and resampling weigh what they read. All else moves values: the numbers of the places go
 * through the operation, and where they come out they say where values came from.
 */
#include "exec/reference/ref.h"
#include "exec/reference/ref_derived.h"
#include "exec/reference/sample_grid.h"
#include "exec/reference/spans.h"
#include "ir/graph/bind_call.h"

struct going_back {
    struct mase_call *c;
    const struct mase_tensor *dy;
    double *sum; /* by places of the operand */
};

/* ---- averages ---- */

struct averaging {
    struct mase_window window;
    mase_span_fn *span;
    bool count_pad;
    double divisor; /* 0: the number of elements */
};

static enum mase_status read_average(struct averaging *a, const struct mase_call *c,
                                     const struct mase_pool *pool, struct mase_err *err)
{
    *a = (struct averaging){ .span = pool->adaptive ? mase_adaptive_span : mase_window_span };
    if (pool->adaptive) {
        MASE_TRY(mase_adaptive_window(c, &a->window, err));
    } else {
        MASE_TRY(mase_pool_window(c, &a->window, err));
        a->count_pad = mase_call_flag(c, "count_include_pad");
        if (mase_arg_present(mase_call_arg(c, "divisor_override")))
            MASE_TRY(mase_call_float(c, &a->divisor, "divisor_override", err));
    }
    mase_ref_lift_window(&a->window);
    return MASE_OK;
}

static void average_back(const struct averaging *a, const struct mase_span *s, double *plane,
                         double dy)
{
    const struct mase_window *w = &a->window;
    double count = a->divisor;
    if (count == 0.0) {
        count = 1.0;
        for (int d = 0; d < 3; d++)
            count *= (double)(a->count_pad ? s[d].padded : s[d].end - s[d].first);
    }
    for (int64_t d = s[0].first; d < s[0].end; d++)
        for (int64_t h = s[1].first; h < s[1].end; h++)
            for (int64_t v = s[2].first; v < s[2].end; v++)
                plane[(d * w->in[1] + h) * w->in[2] + v] += dy / count;
}

static enum mase_status pool_back(const struct going_back *g, const struct mase_pool *pool,
                                  struct mase_err *err)
{
    struct averaging a;
    MASE_TRY(read_average(&a, g->c, pool, err));
    const struct mase_window *w = &a.window;
    const int64_t inputs = w->in[0] * w->in[1] * w->in[2];
    const int64_t outputs = w->out[0] * w->out[1] * w->out[2];
    for (int64_t i = 0; i < mase_tensor_count(g->dy); i += outputs)
        for (struct mase_nd at = mase_nd_dims(w->out, 3); at.i < at.count; mase_nd_next(&at)) {
            struct mase_span s[3];
            for (int d = 0; d < 3; d++)
                s[d] = a.span(w, d, at.at[d]);
            average_back(&a, s, g->sum + i / outputs * inputs, ref_get(g->dy, i + at.i));
        }
    return MASE_OK;
}

/* ---- resampling ---- */

static enum mase_status upsample_back(const struct going_back *g, struct mase_err *err)
{
    struct mase_resize r;
    struct mase_blend *b[3];
    MASE_TRY(mase_resize_plan(g->c, &r, err));
    for (int d = 0; d < r.n; d++)
        b[d] = mase_blends(g->c, g->c->arena, &r, d);
    for (struct mase_nd p = mase_nd(&g->dy->shape); p.i < p.count; mase_nd_next(&p)) {
        const int64_t plane = p.at[0] * g->dy->shape.dim[1] + p.at[1];
        struct mase_blending k;
        for (mase_blending_start(&k, &r, b, &p.at[2]); mase_blending_next(&k);)
            g->sum[plane * k.size + k.off] += k.weight * ref_get(g->dy, p.i);
    }
    return MASE_OK;
}

static enum mase_status sample_back(const struct going_back *g, struct mase_err *err)
{
    const struct mase_tensor *x = mase_call_tensor(g->c, "input");
    const struct mase_tensor *at = mase_call_tensor(g->c, "grid");
    struct mase_grid_sampler grid;
    struct mase_look l;
    MASE_TRY(mase_grid_read(g->c, &grid, err));
    const int64_t samples = x->shape.dim[0], channels = x->shape.dim[1];
    const int64_t pixels = mase_tensor_count(x) / (samples * channels);
    const int64_t places = mase_tensor_count(at) / (samples * grid.n);
    for (int64_t i = 0; i < samples * places; i++) {
        double coordinate[3];
        for (int d = 0; d < grid.n; d++)
            coordinate[d] = ref_get(at, i * grid.n + d);
        mase_grid_look(&grid, coordinate, &l);
        for (int64_t k = 0; k < channels; k++) {
            const int64_t plane = i / places * channels + k;
            for (int p = 0; p < l.count; p++)
                g->sum[plane * pixels + l.off[p]] +=
                    l.weight[p] * ref_get(g->dy, plane * places + i % places);
        }
    }
    return MASE_OK;
}

/* ---- values that move ---- */

/* The operand's places counted from 1; 0 is none of them. What a pad adds is 0, whatever it says.
 */
static enum mase_status moved_back(const struct going_back *g, struct mase_err *err)
{
    struct mase_call *c = g->c;
    if (c->node->op == MASE_OP_pad)
        c->param[mase_sig_find(c->sig, "value")] = mase_arg_none();
    const struct mase_tensor *x = mase_arg_tensor(&c->param[0]);
    struct mase_tensor *number = mase_new(c->arena, struct mase_tensor);
    *number = mase_tensor(c->arena, MASE_F64, &x->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(number); i++)
        ref_set(number, i, (double)(i + 1));
    c->param[0].tensor = number;
    struct mase_tensor *moved = mase_new(c->arena, struct mase_tensor);
    *moved = mase_tensor(c->arena, MASE_F64, &g->dy->shape, true);
    c->result = (struct mase_arg){ .kind = MASE_ARG_TENSOR, .tensor = moved };
    MASE_TRY(mase_forward_of(c->node->op)(c, err));
    for (int64_t i = 0; i < mase_tensor_count(moved); i++) {
        const int64_t from = (int64_t)ref_get(moved, i);
        if (from > 0)
            g->sum[from - 1] += ref_get(g->dy, i);
    }
    return MASE_OK;
}

enum mase_status mase_ref_adjoint(struct mase_tensor *out, struct mase_call *c,
                                  const struct mase_tensor *dy, struct mase_err *err)
{
    const struct mase_pool *pool = mase_pool_of(c->node->op);
    const int64_t n = mase_tensor_count(out);
    const struct going_back g = { c, dy, mase_new_array(c->arena, double, (size_t)n) };
    if (pool)
        MASE_TRY(pool_back(&g, pool, err));
    else if (c->node->op == MASE_OP_upsample)
        MASE_TRY(upsample_back(&g, err));
    else if (c->node->op == MASE_OP_grid_sample)
        MASE_TRY(sample_back(&g, err));
    else
        MASE_TRY(moved_back(&g, err));
    for (int64_t i = 0; i < n; i++)
        ref_set(out, i, g.sum[i]);
    return MASE_OK;
}
