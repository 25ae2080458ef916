/*
 * equalise.c - equalise the ranges of channels between two layers, without changing what the
 * network computes.
 *
 * Behind a linear or convolutional layer a channel may be scaled down by s > 0 and up again by the
 * next layer, since what stands between (ReLU, pooling) lets a factor pass:
 *
 *     w1[c] /= s,  b1[c] /= s,  w2[:, c] *= s        s = sqrt(max |w1[c]| / max |w2[:, c]|)
 *
 * Afterwards both have the same largest weight for the channel (Nagel and others, Data-Free
 * Quantization, 2019), so one scale for a whole tensor suits its channels better. A layer between
 * two others is changed by both pairs, hence several rounds. Weights are rounded to float32 again,
 * unless factors are powers of two: then nothing is lost at all.
 */
#include <math.h>

#include <mase/log.h>

#include "ir/shape/shape.h"
#include "pass/calibrate/calibrate_parts.h"
#include "pass/support.h"

struct equalise_opts {
    bool power_of_two;
    int64_t rounds;
};

struct pair {
    struct mase_node *first, *second;
    int64_t channels;
};

/* ---- pairs ---- */

/* Operations that commute with a positive factor of each channel; some reduce windows over the last
 * dimensions. */
static const struct {
    enum mase_op op;
    int window; /* number of dimensions; -1: elementwise, or changes the shape only */
} passing[] = {
    { MASE_OP_relu, -1 },
    { MASE_OP_leaky_relu, -1 },
    { MASE_OP_identity, -1 },
    { MASE_OP_dropout, -1 },
    { MASE_OP_dropout1d, -1 },
    { MASE_OP_dropout2d, -1 },
    { MASE_OP_dropout3d, -1 },
    { MASE_OP_flatten, -1 },
    { MASE_OP_avg_pool1d, 1 },
    { MASE_OP_avg_pool2d, 2 },
    { MASE_OP_max_pool1d, 1 },
    { MASE_OP_max_pool2d, 2 },
    { MASE_OP_adaptive_avg_pool1d, 1 },
    { MASE_OP_adaptive_avg_pool2d, 2 },
    { MASE_OP_adaptive_max_pool1d, 1 },
    { MASE_OP_adaptive_max_pool2d, 2 },
};

/* The row of a node's operation; -1: it does not commute. */
static int passing_of(const struct mase_node *n)
{
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (passing[i].op == n->op)
            return mase_node_quant(n) ? -1 : (int)i;
    return -1;
}

static struct mase_tensor *weight_of(const struct mase_node *n)
{
    return &mase_module_param(mase_node_module(n), "weight")->tensor;
}

/* The reason why a layer's weights cannot be scaled; NULL: they can. */
static const char *reason_to_stay(const struct mase_node *n)
{
    const char *why = mase_cal_fixed(n);
    if (why || mase_node_quant(n))
        return why ? why : "it has number formats: equalise before you quantise";
    if (mase_op_is_transposed(n->op))
        return "it is a transposed convolution";
    if (n->op != MASE_OP_linear && mase_module_attr(mase_node_module(n), "groups")->i != 1)
        return "its channels are in groups";
    return NULL;
}

/* The shape of a node's result; NULL: unknown. */
static const struct mase_shape *shape_of(const struct mase_node *n)
{
    const struct mase_meta_arg *y = n->meta ? mase_meta_result(n->meta, "data_out_0") : NULL;
    return y && y->kind == MASE_META_TENSOR ? &y->shape : NULL;
}

/* The number of values of the last `dims` dimensions. */
static int64_t last_of(const struct mase_shape *s, int dims)
{
    const struct mase_shape last = mase_shape_part(s, s->rank > dims ? s->rank - dims : 0, s->rank);
    return mase_shape_count(&last);
}

/* The number of dimensions after that of the channels. */
static int dims_after(const struct mase_node *layer)
{
    return layer->op == MASE_OP_linear ? 0 : weight_of(layer)->shape.rank - 2;
}

/* The values of a channel are adjacent runs in memory. The length of a run after node n, which
 * commutes with factors; 0: n mixes channels. */
static int64_t run_after(int64_t run, const struct mase_node *n)
{
    const int window = passing[passing_of(n)].window;
    const struct mase_shape *x = shape_of(n->inputs[0]), *y = shape_of(n);
    if (!x || !y || window < 0)
        return x && y ? run : 0;
    const int64_t in = last_of(x, window), out = last_of(y, window);
    return run % in ? 0 : run / in * out;
}

/* The layer that reads n's result, through operations that commute; NULL: none. *run: length of the
 * runs there; 0: channels are mixed. */
static struct mase_node *next_layer(const struct mase_node *n, int64_t *run)
{
    const struct mase_node *at = n;
    const struct mase_shape *y = shape_of(n);
    *run = y ? last_of(y, dims_after(n)) : 0;
    while (at->user_count == 1) {
        struct mase_node *user = at->users[0];
        if (user->input_count != 1 || user->inputs[0] != at)
            return NULL;
        if (passing_of(user) < 0)
            return user;
        *run = *run ? run_after(*run, user) : 0;
        at = user;
    }
    return NULL;
}

/* Do channels of the first layer, in runs of this length, match those of the second? */
static bool channels_match(const struct pair *p, int64_t run)
{
    const struct mase_tensor *a = weight_of(p->first), *b = weight_of(p->second);
    const struct mase_shape *x = shape_of(p->second->inputs[0]);
    const int64_t channels = a->shape.dim[0];
    if (!x || !run)
        return false;
    if (p->second->op == MASE_OP_linear) /* a run has several features */
        return b->shape.dim[1] == channels * run;
    return b->shape.dim[1] == channels && run == last_of(x, dims_after(p->second));
}

static int find_pairs(struct pair *pairs, const struct mase_graph *g)
{
    int count = 0;
    for (struct mase_node *n = g->first; n; n = n->next) {
        int64_t run;
        if (reason_to_stay(n))
            continue;
        struct pair p = { n, next_layer(n, &run), 0 };
        if (!p.second || reason_to_stay(p.second) || !channels_match(&p, run)) {
            mase_info("equalise: %s stays as it is: no layer behind it takes its channels alone",
                      n->name);
            continue;
        }
        p.channels = weight_of(n)->shape.dim[0];
        pairs[count++] = p;
    }
    return count;
}

/* ---- scaling ---- */

/* The channel that element i of the second layer's weight multiplies. */
static int64_t taken(const struct pair *p, const struct mase_shape *w, int64_t i)
{
    const struct mase_shape kernel = mase_shape_part(w, 2, w->rank);
    return i / mase_shape_count(&kernel) % w->dim[1] / (w->dim[1] / p->channels);
}

static int64_t given(const struct pair *p, const struct mase_shape *w, int64_t i)
{
    return i / (mase_shape_count(w) / p->channels);
}

typedef int64_t channel_fn(const struct pair *p, const struct mase_shape *w, int64_t i);

static void largest(double *range, const struct pair *p, const struct mase_tensor *w,
                    channel_fn *channel)
{
    for (int64_t i = 0; i < mase_tensor_count(w); i++) {
        const int64_t c = channel(p, &w->shape, i);
        range[c] = fmax(range[c], fabs(mase_tensor_get(w, i)));
    }
}

static void scale(const double *factor, const struct pair *p, struct mase_tensor *w,
                  channel_fn *channel)
{
    for (int64_t i = 0; i < mase_tensor_count(w); i++)
        mase_tensor_set(w, i, mase_tensor_get(w, i) * factor[channel(p, &w->shape, i)]);
}

/* Returns the largest factor, as the magnitude of its log2. */
static double equalise_pair(const struct pair *p, bool power_of_two)
{
    struct mase_arena a = { 0 };
    const size_t n = (size_t)p->channels;
    double *one = mase_new_array(&a, double, n), *two = mase_new_array(&a, double, n), most = 0;
    struct mase_param *bias = mase_module_param(mase_node_module(p->first), "bias");
    largest(one, p, weight_of(p->first), given);
    largest(two, p, weight_of(p->second), taken);
    for (size_t c = 0; c < n; c++) {
        double octaves = one[c] > 0 && two[c] > 0 ? 0.5 * log2(one[c] / two[c]) : 0;
        octaves = power_of_two ? trunc(octaves) : octaves;
        most = fmax(most, fabs(octaves));
        one[c] = exp2(-octaves);
        two[c] = exp2(octaves);
    }
    scale(one, p, weight_of(p->first), given);
    scale(two, p, weight_of(p->second), taken);
    if (bias)
        scale(one, p, &bias->tensor, given);
    mase_arena_release(&a);
    return most;
}

static enum mase_status equalise(const struct pair *pairs, int count, const struct equalise_opts *o,
                                 struct mase_err *err)
{
    const double enough = 1e-3;
    double most = count ? INFINITY : 0;
    for (int i = 0; i < count; i++) {
        MASE_TRY(mase_cal_unshare(pairs[i].first, false, err));
        MASE_TRY(mase_cal_unshare(pairs[i].second, false, err));
    }
    for (int64_t round = 0; round < o->rounds && most > enough; round++) {
        most = 0;
        for (int i = 0; i < count; i++)
            most = fmax(most, equalise_pair(&pairs[i], o->power_of_two));
    }
    return MASE_OK;
}

static enum mase_status run(struct mase_graph **g, const void *opts, struct mase_pass_env *env,
                            struct mase_err *err)
{
    struct pair *pairs = mase_new_array(env->scratch, struct pair, (size_t)(*g)->node_count);
    const int count = find_pairs(pairs, *g);
    MASE_TRY(equalise(pairs, count, opts, err));
    mase_pass_say(env, "Equalised the channels between %d pair%s of layers\n", count,
                  count == 1 ? "" : "s");
    env->changed = count;
    return MASE_OK;
}

static const struct mase_opt opts[] = {
    MASE_OPT_BOOL(struct equalise_opts, power_of_two, "power_of_two", false,
                  "scale by powers of two alone: coarser, but outputs keep every bit"),
    MASE_OPT_INT(struct equalise_opts, rounds, "rounds", 20, 1, 1000,
                 "most rounds over all pairs; it ends sooner when nothing changes any more"),
    { 0 },
};

const struct mase_pass mase_pass_equalise = {
    .name = "equalise",
    .help = "give the channels between layers ranges alike, by other weights",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .keeps = MASE_PROP_META | MASE_PROP_COMMON | MASE_PROP_SOFTWARE | MASE_PROP_HARDWARE,
    .opts = opts,
    .opts_size = sizeof(struct equalise_opts),
    .transform = run,
    .same_outputs = true,
};
