/*
 * corr.c - products at many positions (corr.h).
 *
 * Rows of neighbouring channels lie a whole plane apart, often a power of two, so that a cache
 * keeps few of them. Therefore the rows that one position needs are packed first, one panel of the
 * size of the nearest cache at a time, and every output is computed from the panel.
 */
#include "exec/step/corr.h"

#include <stdalign.h>
#include <string.h>

enum {
    LANES = 64,    /* samples at a time */
    PANEL = 64,    /* rows copied together */
    OUTPUTS = 128, /* outputs held while the panels pass */
    FEW = 8,       /* outputs below which gradients are dot products */
    MANY = 16,     /* rows of a tap from which on it is skipped when it sees nothing */
};

/* ---- one position ---- */

/* y[o] = bias[o] + sum over taps t and inner rows i of w[o][t][i] x[row[t] + i x_step]. */
struct site {
    const float *x;
    const int32_t *row; // (taps): row of inner row 0, or -1
    long x_step, taps, inner;
    const float *w; // (outputs, taps inner)
    const float *bias;
    float *y;
    long y_step, outputs;
    bool add;
};

/* Copy rows k0..k1 of a site, `lanes` lanes from lane n on, contiguously. */
static void collect(const struct mase_step *s, const struct site *t, float *to, long k0, long k1,
                    long n, long lanes)
{
    const long stride = s->plan->stride;
    long tap = k0 / t->inner, i = k0 % t->inner;
    for (long k = k0; k < k1; k++, to += LANES) {
        const long row = t->row[tap] + i * t->x_step;
        if (t->row[tap] < 0)
            memset(to, 0, (size_t)lanes * sizeof *to);
        else if (lanes == LANES) /* a size the compiler knows */
            memcpy(to, t->x + row * stride + n, LANES * sizeof *to);
        else
            memcpy(to, t->x + row * stride + n, (size_t)lanes * sizeof *to);
        if (++i == t->inner) {
            i = 0;
            tap++;
        }
    }
}

static void row_pointers(const float **rows, const float *x, long count, long step)
{
    for (long i = 0; i < count; i++)
        rows[i] = x + i * step;
}

/* Few enough rows for one panel: straight to the result. */
static void small_site(const struct mase_step *s, const struct site *t, const float *const *rows,
                       float *panel, long n, long lanes)
{
    const long K = t->inner * t->taps, stride = s->plan->stride;
    collect(s, t, panel, 0, K, n, lanes);
    const struct mase_gemm g = { .y = t->y + n,
                                 .w = t->w,
                                 .bias = t->bias,
                                 .rows = rows,
                                 .O = t->outputs,
                                 .K = K,
                                 .y_stride = t->y_step * stride,
                                 .w_stride = K,
                                 .add = t->add };
    s->plan->k->gemm(&g, 0, lanes);
}

static void store_outputs(const struct mase_step *s, const struct site *t, const float *held,
                          long o, long count, long n, long lanes)
{
    for (long i = 0; i < count; i++) {
        float *y = t->y + (o + i) * t->y_step * s->plan->stride + n;
        if (t->add)
            s->plan->k->axpy(y, held + i * LANES, 1.0f, lanes);
        else
            memcpy(y, held + i * LANES, (size_t)lanes * sizeof *y);
    }
}

/* Lanes of a site, and the outputs that are held while its rows pass. */
struct pass {
    const float *const *rows; /* where the panels are */
    float *panel, *held;
    long n, lanes; /* from lane n on */
    long o, count; /* outputs */
    bool begun;
};

/* Add the products of rows k0..k1 to the outputs. */
static void add_rows(const struct mase_step *s, const struct site *t, struct pass *a, long k0,
                     long k1)
{
    const long K = t->inner * t->taps;
    for (long k = k0; k < k1 || !a->begun; k += PANEL, a->begun = true) {
        const long end = k + PANEL < k1 ? k + PANEL : k1;
        collect(s, t, a->panel, k, end, a->n, a->lanes);
        const struct mase_gemm g = { .y = a->held,
                                     .w = t->w + a->o * K + k,
                                     .bias = t->bias ? t->bias + a->o : NULL,
                                     .rows = a->rows,
                                     .O = a->count,
                                     .K = end - k,
                                     .y_stride = LANES,
                                     .w_stride = K,
                                     .add = a->begun };
        s->plan->k->gemm(&g, 0, a->lanes);
    }
}

/* Taps that see nothing are left out when that saves more than it costs. */
static bool skipped(const struct site *t, long tap)
{
    return t->row[tap] < 0 && t->inner >= MANY;
}

/* Run after run of taps, for so many outputs at a time. */
static void large_site(const struct mase_step *s, const struct site *t, const float *const *rows,
                       float *panel, long n, long lanes)
{
    alignas(64) float held[OUTPUTS * LANES];
    for (long o = 0; o < t->outputs; o += OUTPUTS) {
        struct pass a = { rows, panel, held, n, lanes, .o = o };
        a.count = t->outputs - o < OUTPUTS ? t->outputs - o : OUTPUTS;
        for (long tap = 0, end; tap < t->taps; tap = end) {
            for (end = tap + 1; end < t->taps && skipped(t, end) == skipped(t, tap);)
                end++;
            if (!skipped(t, tap))
                add_rows(s, t, &a, tap * t->inner, end * t->inner);
        }
        if (!a.begun)
            add_rows(s, t, &a, 0, 0); /* the bias alone */
        store_outputs(s, t, held, o, a.count, n, lanes);
    }
}

static void run_site(const struct mase_step *s, const struct site *t)
{
    alignas(64) float panel[PANEL * LANES];
    const float *rows[PANEL];
    const long K = t->inner * t->taps;
    for (long i = 0; i < PANEL; i++)
        rows[i] = panel + i * LANES;
    for (long n = 0; n < s->plan->n; n += LANES) {
        const long lanes = s->plan->n - n < LANES ? s->plan->n - n : LANES;
        (K <= PANEL ? small_site : large_site)(s, t, rows, panel, n, lanes);
    }
}

void mase_corr_gather(const struct mase_step *s, const struct mase_corr *c, float *A,
                      const float *B, const float *wa, const float *bias, bool add, long from,
                      long to)
{
    const long stride = s->plan->stride;
    for (long p = from; p < to; p++)
        for (long g = 0; g < c->groups; g++) {
            const struct site t = { .x = B + g * c->C * c->b_step * stride,
                                    .row = c->near + p * c->T,
                                    .x_step = c->b_step,
                                    .taps = c->T,
                                    .inner = c->C,
                                    .w = wa + g * c->O * c->C * c->T,
                                    .bias = bias ? bias + g * c->O : NULL,
                                    .y = A + (c->a_row[p] + g * c->O * c->a_step) * stride,
                                    .y_step = c->a_step,
                                    .outputs = c->O,
                                    .add = add };
            run_site(s, &t);
        }
}

void mase_corr_scatter(const struct mase_step *s, const struct mase_corr *c, float *B,
                       const float *A, const float *wt, const float *bias, bool add, long from,
                       long to)
{
    const long stride = s->plan->stride;
    for (long q = from; q < to; q++) {
        const struct mase_corr_class *k = &c->classes[c->class_of[q]];
        for (long g = 0; g < c->groups; g++) {
            const struct site t = { .x = A + g * c->O * c->a_step * stride,
                                    .row = c->site + c->site_at[q],
                                    .x_step = c->a_step,
                                    .taps = k->taps,
                                    .inner = c->O,
                                    .w = wt + k->wt + g * c->C * c->O * k->taps,
                                    .bias = bias ? bias + g * c->C : NULL,
                                    .y = B + (c->b_row[q] + g * c->C * c->b_step) * stride,
                                    .y_step = c->b_step,
                                    .outputs = c->C,
                                    .add = add };
            run_site(s, &t);
        }
    }
}

/* wa[g][o][t][c] = w[g][o][c][t] */
void mase_corr_arrange(const struct mase_corr *c, float *wa, const float *w, long from, long to)
{
    for (long o = from; o < to; o++)
        for (long t = 0; t < c->T; t++)
            for (long ch = 0; ch < c->C; ch++)
                wa[(o * c->T + t) * c->C + ch] = w[(o * c->C + ch) * c->T + t];
}

/* wt[class][g][c][j][o] = w[g][o][c][tap j of the class] */
void mase_corr_turn(const struct mase_corr *c, float *wt, const float *w, long from, long to)
{
    for (int k = 0; k < c->class_count; k++) {
        const struct mase_corr_class *cl = &c->classes[k];
        for (long ch = from; ch < to; ch++) {
            const long g = ch / c->C, own = ch % c->C;
            float *to_ch = wt + cl->wt + ch * c->O * cl->taps;
            for (long j = 0; j < cl->taps; j++)
                for (long o = 0; o < c->O; o++)
                    to_ch[j * c->O + o] = w[((g * c->O + o) * c->C + own) * c->T + cl->tap[j]];
        }
    }
}

/* ---- weight gradients ---- */

static bool few_outputs(const struct mase_corr *c)
{
    return c->O < FEW;
}

static long padded_outputs(const struct mase_corr *c)
{
    return (c->O + MASE_LANES - 1) / MASE_LANES * MASE_LANES;
}

long mase_corr_grad_items(const struct mase_corr *c)
{
    return c->groups * (few_outputs(c) ? c->O : c->C);
}

int64_t mase_corr_grad_work(const struct mase_corr *c)
{
    return few_outputs(c) ? 0 : (int64_t)c->groups * c->T * c->C * padded_outputs(c);
}

/* Channels first..last of group g: outputs are the vectors' dimension, samples are summed over.
 * work is (groups, T, C, outputs). */
struct channels {
    const struct mase_corr *c;
    const float *A, *B;
    float *work;
    long g, first, last;
};

/* Outputs o.. (count of them) at position p, lanes from n on. */
static void add_position(const struct mase_step *s, const struct channels *h, long p, long o,
                         long count, long n, long lanes)
{
    const struct mase_corr *c = h->c;
    alignas(64) float turned[LANES * OUTPUTS];
    const float *rows[LANES];
    const long stride = s->plan->stride, width = (count + 15) / 16 * 16, all = padded_outputs(c);
    s->plan->k->transpose(turned, h->A + (c->a_row[p] + (h->g * c->O + o) * c->a_step) * stride + n,
                          count, c->a_step * stride, lanes);
    row_pointers(rows, turned, lanes, width);
    for (long t = 0; t < c->T; t++) {
        const int32_t row = c->near[p * c->T + t];
        if (row < 0)
            continue;
        const struct mase_gemm g = { .y = h->work + ((h->g * c->T + t) * c->C + h->first) * all + o,
                                     .w = h->B +
                                          (row + (h->g * c->C + h->first) * c->b_step) * stride + n,
                                     .rows = rows,
                                     .O = h->last - h->first,
                                     .K = lanes,
                                     .y_stride = all,
                                     .w_stride = c->b_step * stride,
                                     .add = true };
        s->plan->k->gemm(&g, 0, width);
    }
}

static void add_channels(const struct mase_step *s, const struct channels *h)
{
    const struct mase_corr *c = h->c;
    const long all = padded_outputs(c);
    for (long t = 0; t < c->T; t++)
        memset(h->work + ((h->g * c->T + t) * c->C + h->first) * all, 0,
               (size_t)((h->last - h->first) * all) * sizeof(float));
    for (long p = 0; p < c->P; p++)
        for (long n = 0; n < s->plan->n; n += LANES) {
            const long lanes = s->plan->n - n < LANES ? s->plan->n - n : LANES;
            for (long o = 0; o < c->O; o += OUTPUTS)
                add_position(s, h, p, o, c->O - o < OUTPUTS ? c->O - o : OUTPUTS, n, lanes);
        }
}

/* Few outputs: dot products of rows, a block of positions and of weights at a time. */
static void dot_block(const struct mase_step *s, const struct mase_corr *c, const float *A,
                      const float *B, struct mase_grad *d, long g, long p, long k0)
{
    const float *rows[1024];
    const long stride = s->plan->stride;
    for (long i = 0; i < d->P; i++)
        for (long j = 0; j < d->K; j++) {
            const long k = k0 + j;
            const int32_t row = c->near[(p + i) * c->T + k % c->T];
            rows[i * d->K + j] =
                row < 0 ? c->zero : B + (row + (g * c->C + k / c->T) * c->b_step) * stride;
        }
    d->rows = rows;
    d->dy = A + (c->a_row[p] + g * c->O * c->a_step) * stride;
    s->plan->k->grad(d, 0, d->O);
}

static void dot_output(const struct mase_step *s, const struct mase_corr *c, float *dw,
                       const float *A, const float *B, bool add, long out)
{
    enum { KEPT = 256, AT_ONCE = 4 };
    const long K = c->C * c->T, g = out / c->O, stride = s->plan->stride;
    for (long k = 0; k < K; k += KEPT) {
        const long width = K - k < KEPT ? K - k : KEPT;
        for (long p = 0; p < c->P;) {
            long count = 1; /* positions whose rows follow one another regularly */
            while (count < AT_ONCE && p + count < c->P &&
                   c->a_row[p + count] - c->a_row[p + count - 1] == c->a_row[p + 1] - c->a_row[p])
                count++;
            struct mase_grad d = { .dw = dw + out * K + k,
                                   .O = 1,
                                   .K = width,
                                   .P = count,
                                   .n = s->plan->n,
                                   .dw_stride = K,
                                   .dy_pos =
                                       count > 1 ? (c->a_row[p + 1] - c->a_row[p]) * stride : 0,
                                   .add = add || p > 0 };
            dot_block(s, c, A + out % c->O * c->a_step * stride, B, &d, g, p, k);
            p += count;
        }
    }
}

void mase_corr_grad(const struct mase_step *s, const struct mase_corr *c, float *dw, float *work,
                    const float *A, const float *B, bool add, long from, long to)
{
    if (few_outputs(c)) {
        for (long o = from; o < to; o++)
            dot_output(s, c, dw, A, B, add, o);
        return;
    }
    while (from < to) {
        const long g = from / c->C, end = (g + 1) * c->C < to ? (g + 1) * c->C : to;
        const struct channels h = { c, A, B, work, g, from - g * c->C, end - g * c->C };
        add_channels(s, &h);
        from = end;
    }
}

void mase_corr_grad_end(const struct mase_corr *c, float *dw, const float *work, bool add,
                        long from, long to)
{
    const long all = padded_outputs(c);
    for (long out = from; out < to && !few_outputs(c); out++) {
        const long g = out / c->O, o = out % c->O;
        for (long ch = 0; ch < c->C; ch++)
            for (long t = 0; t < c->T; t++) {
                float *w = dw + (out * c->C + ch) * c->T + t;
                const float sum = work[((g * c->T + t) * c->C + ch) * all + o];
                *w = add ? *w + sum : sum;
            }
    }
}

/* ---- tables ---- */

/* List, for each class of positions, the kernel taps that read some position of the class. */
static void find_taps(struct mase_step *s, struct mase_corr *c)
{
    struct mase_arena *a = &s->plan->arena;
    bool *seen = mase_new_array(a, bool, (size_t)(c->class_count * c->T));
    long wt = 0;
    const int32_t *q = c->place;
    for (long p = 0; p < c->P; p++)
        for (long t = 0; t < c->T; t++, q++)
            if (*q >= 0)
                seen[c->class_of[*q] * c->T + t] = true;
    c->classes = mase_new_array(a, struct mase_corr_class, (size_t)c->class_count);
    for (int k = 0; k < c->class_count; k++) {
        struct mase_corr_class *cl = &c->classes[k];
        cl->tap = mase_new_array(a, int32_t, (size_t)c->T);
        for (long t = 0; t < c->T; t++)
            if (seen[k * c->T + t])
                cl->tap[cl->taps++] = (int32_t)t;
        cl->wt = wt;
        wt += c->groups * c->C * c->O * cl->taps;
    }
}

/* The index of each tap among the taps of its class. */
static const int32_t *number_taps(struct mase_step *s, const struct mase_corr *c)
{
    int32_t *number = mase_new_array(&s->plan->arena, int32_t, (size_t)(c->class_count * c->T));
    for (int k = 0; k < c->class_count; k++)
        for (long j = 0; j < c->classes[k].taps; j++)
            number[k * c->T + c->classes[k].tap[j]] = (int32_t)j;
    return number;
}

static void find_sites(struct mase_step *s, struct mase_corr *c)
{
    struct mase_arena *a = &s->plan->arena;
    int64_t total = 0;
    c->site_at = mase_new_array(a, int64_t, (size_t)c->Q);
    for (long q = 0; q < c->Q; q++) {
        c->site_at[q] = total;
        total += c->classes[c->class_of[q]].taps;
    }
    c->site = mase_new_array(a, int32_t, (size_t)total);
    memset(c->site, 0xff, (size_t)total * sizeof *c->site);
    const int32_t *number = number_taps(s, c), *q = c->place;
    for (long p = 0; p < c->P; p++)
        for (long t = 0; t < c->T; t++, q++)
            if (*q >= 0)
                c->site[c->site_at[*q] + number[c->class_of[*q] * c->T + t]] = c->a_row[p];
}

/* The rows of B that are seen; where rows are numbered as positions, the places themselves. */
static int32_t *find_near(struct mase_step *s, const struct mase_corr *c)
{
    long same = 0;
    while (same < c->Q && c->b_row[same] == same)
        same++;
    if (same == c->Q)
        return c->place;
    int32_t *near = mase_new_array(&s->plan->arena, int32_t, (size_t)(c->P * c->T));
    for (long i = 0; i < c->P * c->T; i++)
        near[i] = c->place[i] < 0 ? -1 : c->b_row[c->place[i]];
    return near;
}

void mase_corr_init(struct mase_step *s, struct mase_corr *c, bool scatters)
{
    c->near = find_near(s, c);
    c->zero = mase_new_array(&s->plan->arena, float, (size_t)s->plan->stride);
    if (!scatters)
        return;
    find_taps(s, c);
    find_sites(s, c);
}
