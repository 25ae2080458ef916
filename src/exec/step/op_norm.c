/*
 * op_norm.c - normalisations within a sample (layer, group, instance norm), and by statistics that
 * are given (batch norm that stays as it is in a network that trains, instance norm that tracks).
 *
 * A group of consecutive rows is normalised at a time. With z = (x - mean) rstd and g = w dy:
 *     dx = rstd (g - mean of g - z mean of g z),  dw = sum dy z,  db = sum dy
 * An rms norm takes no mean off, and has none of g.
 */
#include <math.h>

#include "exec/plan/step.h"
#include "exec/reference/ref.h"

struct norm {
    struct mase_weight *w, *b;      /* NULL: 1 and 0 */
    struct mase_weight *mean, *var; /* given statistics, or NULL */
    long groups, count;             /* rows of a group */
    long elements, run;             /* w and b: element of row r is r / run % elements */
    double eps;
    bool about_zero; /* the root of the mean square; no mean is taken off */
};

static long element_of(const struct norm *m, long row)
{
    return row / m->run % m->elements;
}

static float weight_at(const struct norm *m, long row)
{
    return m->w ? m->w->x[element_of(m, row)] : 1.0f;
}

static float *mean_row(const struct mase_step *s, long group)
{
    return s->scratch + 2 * group * s->plan->stride;
}

static struct mase_standard standard_at(const struct mase_step *s, long row)
{
    const struct norm *m = s->own;
    const long stride = s->plan->stride, group = row / m->count;
    struct mase_standard st = { .x = s->in[0]->x + row * stride, .count = m->count };
    st.mean = mean_row(s, group);
    st.rstd = st.mean + stride;
    if (s->work) {
        st.sum = s->work + 2 * group * stride;
        st.sum_z = st.sum + stride;
    }
    return st;
}

/* Statistics of an RMS norm: mean 0, and rstd from the squares. */
static void lane_squares(float *mean, float *rstd, const struct mase_channel *x, double eps)
{
    for (long i = 0; i < x->n; i++)
        mean[i] = rstd[i] = 0.0f;
    for (long r = 0; r < x->count; r++)
        for (long i = 0; i < x->n; i++)
            rstd[i] += x->x[r * x->stride + i] * x->x[r * x->stride + i];
    for (long i = 0; i < x->n; i++)
        rstd[i] = (float)(1.0 / sqrt((double)rstd[i] / (double)x->count + eps));
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct norm *m = s->own;
    const struct mase_plan *p = s->plan;
    for (long g = from; g < to; g++) {
        float *mean = mean_row(s, g), *rstd = mean + p->stride;
        const struct mase_channel x = { s->in[0]->x + g * m->count * p->stride, m->count, p->stride,
                                        p->n, p->samples };
        if (m->about_zero)
            lane_squares(mean, rstd, &x, m->eps);
        else
            p->k->lane_moments(mean, rstd, &x, (float)m->eps);
        for (long r = g * m->count; r < (g + 1) * m->count; r++)
            p->k->standardise(s->out->x + r * p->stride, s->in[0]->x + r * p->stride, mean, rstd,
                              weight_at(m, r), m->b ? m->b->x[element_of(m, r)] : 0.0f, p->n);
    }
}

static void backward_data(const struct mase_step *s, long from, long to)
{
    const struct norm *m = s->own;
    const struct mase_plan *p = s->plan;
    for (long g = from; g < to && s->in[0]->dx; g++) {
        float *sum = s->work + 2 * g * p->stride, *sum_z = sum + p->stride;
        for (long i = 0; i < p->n; i++)
            sum[i] = sum_z[i] = 0.0f;
        for (long r = g * m->count; r < (g + 1) * m->count; r++) {
            const struct mase_standard st = standard_at(s, r);
            p->k->standard_sums(sum, sum_z, s->out->dx + r * p->stride, st.x, st.mean, st.rstd,
                                weight_at(m, r), p->n);
        }
        for (long i = 0; i < p->n && m->about_zero; i++)
            sum[i] = 0.0f; /* there is no mean that x moves */
        for (long r = g * m->count; r < (g + 1) * m->count; r++) {
            const struct mase_standard st = standard_at(s, r);
            p->k->standard_back(s->in[0]->dx + r * p->stride, s->out->dx + r * p->stride, &st,
                                weight_at(m, r), s->add[0], p->n);
        }
    }
}

static void put(const struct mase_step *s, struct mase_weight *w, long i, float value)
{
    if (w && w->dx)
        w->dx[i] = mase_step_adds(s, w) ? w->dx[i] + value : value;
}

/* Elements from..to of w and b: the rows that use one come in runs, a turn of all elements apart.
 */
static void backward_params(const struct mase_step *s, long from, long to)
{
    const struct norm *m = s->own;
    const struct mase_plan *p = s->plan;
    for (long e = from; e < to; e++) {
        float dw = 0.0f, db = 0.0f, w_row, b_row;
        for (long turn = e * m->run; turn < s->in[0]->rows; turn += m->elements * m->run)
            for (long r = turn; r < turn + m->run; r++) {
                const struct mase_standard st = standard_at(s, r);
                p->k->standard_params(&b_row, &w_row, s->out->dx + r * p->stride, &st, p->n);
                dw += w_row;
                db += b_row;
            }
        put(s, m->w, e, dw);
        put(s, m->b, e, db);
    }
}

/* ---- by given statistics: y = scale x + shift ---- */

static float fixed_rstd(const struct norm *m, long c)
{
    return (float)(1.0 / sqrt((double)m->var->x[c] + m->eps));
}

static void forward_fixed(const struct mase_step *s, long from, long to)
{
    const struct norm *m = s->own;
    const struct mase_plan *p = s->plan;
    for (long r = from; r < to; r++) {
        const long c = element_of(m, r);
        const float scale = fixed_rstd(m, c) * (m->w ? m->w->x[c] : 1.0f);
        const float shift = (m->b ? m->b->x[c] : 0.0f) - m->mean->x[c] * scale;
        p->k->affine(s->out->x + r * p->stride, s->in[0]->x + r * p->stride, scale, shift, false,
                     p->n);
    }
}

static void backward_fixed(const struct mase_step *s, long from, long to)
{
    const struct norm *m = s->own;
    const struct mase_plan *p = s->plan;
    for (long c = from; c < to; c++) {
        const float rstd = fixed_rstd(m, c), scale = rstd * (m->w ? m->w->x[c] : 1.0f);
        const long first = c * m->run * p->stride;
        const struct mase_channel x = { s->in[0]->x + first, m->run, p->stride, p->n, p->samples };
        float sum, sum_x;
        p->k->norm_sums(&sum, &sum_x, &x, s->out->dx + first, m->mean->x[c]);
        put(s, m->w, c, sum_x * rstd);
        put(s, m->b, c, sum);
        for (long i = 0; i < m->run && s->in[0]->dx; i++) {
            const long at = first + i * p->stride;
            if (s->add[0])
                p->k->axpy(s->in[0]->dx + at, s->out->dx + at, scale, p->n);
            else
                p->k->affine(s->in[0]->dx + at, s->out->dx + at, scale, 0.0f, false, p->n);
        }
    }
}

/* ---- preparing ---- */

/* Statistics that are given: both or none, and not trained. */
static enum mase_status find_statistics(struct mase_step *s, struct norm *m, struct mase_err *err)
{
    MASE_TRY(mase_step_weight(s, &m->mean, "running_mean", err));
    MASE_TRY(mase_step_weight(s, &m->var, "running_var", err));
    if (!m->mean != !m->var)
        return mase_call_fail(s->call, err, "needs both running_mean and running_var, or neither");
    if (m->mean && (m->mean->dx || m->var->dx))
        return mase_call_fail(s->call, err, "a plan cannot train running statistics");
    return MASE_OK;
}

static enum mase_status begin(struct mase_step *s, struct norm **m, struct mase_err *err)
{
    MASE_TRY(mase_step_input(s, s->call, "input", err));
    *m = s->own = mase_new(&s->plan->arena, struct norm);
    MASE_TRY(mase_step_weight(s, &(*m)->w, "weight", err));
    MASE_TRY(mase_step_weight(s, &(*m)->b, "bias", err));
    (*m)->about_zero = s->call->node->op == MASE_OP_rms_norm;
    return (*m)->about_zero ? mase_rms_eps(s->call, &(*m)->eps, err)
                            : mase_call_float(s->call, &(*m)->eps, "eps", err);
}

static void finish(struct mase_step *s, long groups)
{
    struct norm *m = s->own;
    m->groups = groups;
    m->count = (long)s->in[0]->rows / groups;
    s->scratch_size = 2 * groups * s->plan->stride;
    s->work_size = 2 * groups * s->plan->stride;
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, groups);
    mase_step_backward(s, backward_data, MASE_UNIT_ITEMS, groups);
    if ((m->w && m->w->dx) || (m->b && m->b->dx))
        mase_step_backward(s, backward_params, MASE_UNIT_ITEMS, m->elements);
}

static void finish_fixed(struct mase_step *s)
{
    const struct norm *m = s->own;
    mase_step_forward(s, forward_fixed, MASE_UNIT_ITEMS, (long)s->in[0]->rows);
    mase_step_backward(s, backward_fixed, MASE_UNIT_ITEMS, m->elements);
}

static void by_channel(struct mase_step *s)
{
    struct norm *m = s->own;
    m->elements = (long)s->in[0]->tensor->shape.dim[1];
    m->run = (long)s->in[0]->rows / m->elements;
}

static enum mase_status prepare_layer(struct mase_step *s, struct mase_call *c,
                                      struct mase_err *err)
{
    struct norm *m;
    struct mase_shape over;
    MASE_TRY(begin(s, &m, err));
    MASE_TRY(mase_call_sizes(c, &over, "normalized_shape", err));
    m->elements = (long)mase_shape_count(&over);
    m->run = 1;
    if (over.rank > s->in[0]->tensor->shape.rank - mase_plan_first(s->plan))
        return mase_call_fail(c, err, "normalises over the batch, which a plan keeps");
    finish(s, (long)s->in[0]->rows / m->elements);
    return MASE_OK;
}

static enum mase_status prepare_group(struct mase_step *s, struct mase_call *c,
                                      struct mase_err *err)
{
    struct norm *m;
    int64_t groups;
    MASE_TRY(begin(s, &m, err));
    MASE_TRY(mase_call_int(c, &groups, "num_groups", err));
    by_channel(s);
    finish(s, (long)groups);
    return MASE_OK;
}

static enum mase_status prepare_instance(struct mase_step *s, struct mase_call *c,
                                         struct mase_err *err)
{
    struct norm *m;
    MASE_TRY(begin(s, &m, err));
    MASE_TRY(find_statistics(s, m, err));
    if (mase_norm_channel_dim(c, &s->in[0]->tensor->shape) != 1)
        return mase_call_fail(c, err, "a plan needs an input with a batch dimension");
    by_channel(s);
    const bool fixed = m->mean && !mase_call_training(c, "use_input_stats", s->plan->train);
    if (m->mean && !fixed && s->plan->train)
        return mase_call_fail(c, err, "a plan cannot train running statistics per instance");
    if (fixed)
        finish_fixed(s);
    else
        finish(s, m->elements);
    return MASE_OK;
}

static enum mase_status prepare_batch(struct mase_step *s, struct mase_call *c,
                                      struct mase_err *err)
{
    struct norm *m;
    (void)c;
    MASE_TRY(begin(s, &m, err));
    MASE_TRY(find_statistics(s, m, err));
    by_channel(s);
    finish_fixed(s);
    return MASE_OK;
}

const struct mase_step_kind mase_step_layer_norm = {
    .name = "layer_norm", .prepare = prepare_layer, .axes = MASE_AXES_KEPT, .derives = true
};
const struct mase_step_kind mase_step_rms_norm = {
    .name = "rms_norm", .prepare = prepare_layer, .axes = MASE_AXES_KEPT, .derives = true
};
const struct mase_step_kind mase_step_group_norm = { .name = "group_norm",
                                                     .prepare = prepare_group };
const struct mase_step_kind mase_step_instance_norm = { .name = "instance_norm",
                                                        .prepare = prepare_instance };
const struct mase_step_kind mase_step_fixed_batch_norm = { .name = "fixed_batch_norm",
                                                           .prepare = prepare_batch };
