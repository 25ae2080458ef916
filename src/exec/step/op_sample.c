/*
 * op_sample.c - grid_sample: interpolate an image at coordinates in the samples, with gradients for
 * the image and for the coordinates.
 */
#include "exec/reference/ref.h"
#include "exec/reference/sample_grid.h"
#include "exec/step/rowmap.h"

struct sampling {
    struct mase_grid_sampler grid;
    long channels, places; /* of a sample */
    long pixels;           /* of a channel */
};

/* The pixels that position r of a lane samples. */
static void look(const struct mase_step *s, long place, long lane, struct mase_look *l)
{
    const struct sampling *k = s->own;
    const float *at = s->in[1]->x + place * k->grid.n * s->plan->stride + lane;
    double coordinate[3];
    for (int d = 0; d < k->grid.n; d++)
        coordinate[d] = (double)at[d * s->plan->stride];
    mase_grid_look(&k->grid, coordinate, l);
}

static void forward(const struct mase_step *s, long from, long to)
{
    const struct sampling *k = s->own;
    const long stride = s->plan->stride;
    struct mase_look l;
    for (long r = from; r < to; r++)
        for (long i = 0; i < s->plan->n; i++) {
            look(s, r, i, &l);
            for (long c = 0; c < k->channels; c++) {
                double sum = 0.0;
                for (int p = 0; p < l.count; p++)
                    sum +=
                        l.weight[p] * (double)s->in[0]->x[(c * k->pixels + l.off[p]) * stride + i];
                s->out->x[(c * k->places + r) * stride + i] = (float)sum;
            }
        }
}

static void clear_lanes(const struct mase_step *s, const struct mase_slot *slot, long from, long to)
{
    for (int64_t r = 0; r < slot->rows; r++)
        for (long i = from; i < to; i++)
            slot->dx[r * s->plan->stride + i] = 0.0f;
}

/* Lane by lane, since several positions may sample one pixel. */
static void image_back(const struct mase_step *s, long from, long to)
{
    const struct sampling *k = s->own;
    const long stride = s->plan->stride;
    struct mase_look l;
    if (!s->in[0]->dx)
        return;
    if (!s->add[0])
        clear_lanes(s, s->in[0], from, to);
    for (long r = 0; r < k->places; r++)
        for (long i = from; i < to && i < s->plan->samples; i++) {
            look(s, r, i, &l);
            for (long c = 0; c < k->channels; c++)
                for (int p = 0; p < l.count; p++)
                    s->in[0]->dx[(c * k->pixels + l.off[p]) * stride + i] +=
                        (float)l.weight[p] * s->out->dx[(c * k->places + r) * stride + i];
        }
}

/* The derivative of what place r sees by its coordinates. */
static void place_back(const struct mase_step *s, long r, long i)
{
    const struct sampling *k = s->own;
    const long stride = s->plan->stride;
    double d[3] = { 0.0, 0.0, 0.0 };
    struct mase_look l;
    look(s, r, i, &l);
    for (long c = 0; c < k->channels; c++) {
        const double dy = (double)s->out->dx[(c * k->places + r) * stride + i];
        for (int p = 0; p < l.count; p++)
            for (int a = 0; a < k->grid.n; a++)
                d[a] += dy * l.slope[p][a] *
                        (double)s->in[0]->x[(c * k->pixels + l.off[p]) * stride + i];
    }
    for (int a = 0; a < k->grid.n; a++) {
        float *dx = s->in[1]->dx + (r * k->grid.n + a) * stride + i;
        *dx = (s->add[1] ? *dx : 0.0f) + (i < s->plan->samples ? (float)d[a] : 0.0f);
    }
}

static void grid_back(const struct mase_step *s, long from, long to)
{
    for (long r = from; r < to && s->in[1]->dx; r++)
        for (long i = 0; i < s->plan->n; i++)
            place_back(s, r, i);
}

static enum mase_status prepare(struct mase_step *s, struct mase_call *c, struct mase_err *err)
{
    struct sampling *k = s->own = mase_new(&s->plan->arena, struct sampling);
    MASE_TRY(mase_step_input(s, c, "input", err));
    MASE_TRY(mase_step_input(s, c, "grid", err));
    MASE_TRY(mase_grid_read(c, &k->grid, err));
    k->channels = (long)s->in[0]->tensor->shape.dim[1];
    k->pixels = (long)s->in[0]->rows / k->channels;
    k->places = (long)s->in[1]->rows / k->grid.n;
    mase_step_forward(s, forward, MASE_UNIT_ITEMS, k->places);
    mase_step_backward(s, image_back, MASE_UNIT_LANES, 0);
    mase_step_backward(s, grid_back, MASE_UNIT_ITEMS, k->places);
    return MASE_OK;
}

/* ---- affine_grid ---- */

/* Every coordinate is a sum of the matrix's numbers, weighted by where it lies. */
static enum mase_status prepare_affine(struct mase_step *s, struct mase_call *c,
                                       struct mase_err *err)
{
    struct mase_term_list terms = { 0 };
    struct mase_shape size;
    MASE_TRY(mase_step_input(s, c, "theta", err));
    MASE_TRY(mase_call_sizes(c, &size, "size", err));
    const int n = size.rank - 2;
    for (int64_t r = 0; r < s->out->rows; r++) {
        double base[4];
        mase_affine_base(base, &size, mase_call_flag(c, "align_corners"), r / n);
        for (int k = 0; k <= n; k++)
            mase_rowmap_add(s, &terms,
                            (struct mase_term){ 0, (int32_t)r, (int32_t)(r % n * (n + 1) + k),
                                                (float)base[k] });
    }
    mase_rowmap_set(s, &terms, 1, NULL);
    return MASE_OK;
}

const struct mase_step_kind mase_step_affine_grid = { .name = "affine_grid",
                                                      .prepare = prepare_affine };
const struct mase_step_kind mase_step_grid_sample = { .name = "grid_sample", .prepare = prepare };
