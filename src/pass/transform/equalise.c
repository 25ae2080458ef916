/*
 * equalise.c - channels between two layers get ranges alike, and the network computes the same.
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

#include "ir/shape.h"
#include "pass/calibrate/calibrate.h"
#include "pass/support.h"
#include "pass/transform/outputs.h"

struct equalise_opts {
    bool power_of_two;
    int64_t rounds;
};

struct pair {
    struct mase_node *first, *second;
    int64_t channels;
};

/* ---- pairs ---- */

static bool passes_factor(enum mase_op op)
{
    static const enum mase_op ops[] = {
        MASE_OP_relu,
        MASE_OP_leaky_relu,
        MASE_OP_identity,
        MASE_OP_dropout,
        MASE_OP_dropout1d,
        MASE_OP_dropout2d,
        MASE_OP_dropout3d,
        MASE_OP_flatten,
        MASE_OP_avg_pool1d,
        MASE_OP_avg_pool2d,
        MASE_OP_max_pool1d,
        MASE_OP_max_pool2d,
        MASE_OP_adaptive_avg_pool1d,
        MASE_OP_adaptive_avg_pool2d,
        MASE_OP_adaptive_max_pool1d,
        MASE_OP_adaptive_max_pool2d,
    };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i] == op)
            return true;
    return false;
}

static struct mase_tensor *weight_of(const struct mase_node *n)
{
    return &mase_module_param(mase_node_module(n), "weight")->tensor;
}

/* Why its weights cannot be scaled; NULL: they can. */
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

/* The layer that n's result goes to, through what lets factors pass; NULL: none. */
static struct mase_node *next_layer(const struct mase_node *n, bool *flattened)
{
    const struct mase_node *at = n;
    *flattened = false;
    while (at->user_count == 1) {
        struct mase_node *user = at->users[0];
        if (!passes_factor(user->op) || mase_node_quant(user))
            return user->input_count == 1 && user->inputs[0] == at ? user : NULL;
        *flattened |= user->op == MASE_OP_flatten;
        at = user;
    }
    return NULL;
}

/* Do the channels of one meet those of the other? Behind flatten each is a run of features. */
static bool meets(const struct pair *p, bool flattened)
{
    const struct mase_tensor *a = weight_of(p->first), *b = weight_of(p->second);
    const bool features = p->second->op == MASE_OP_linear;
    if (p->first->op == MASE_OP_linear || !features)
        return (p->first->op == MASE_OP_linear) == features && !flattened &&
               a->shape.dim[0] == b->shape.dim[1];
    return flattened && b->shape.dim[1] % a->shape.dim[0] == 0;
}

static int find_pairs(struct pair *pairs, const struct mase_graph *g)
{
    int count = 0;
    for (struct mase_node *n = g->first; n; n = n->next) {
        bool flattened;
        if (reason_to_stay(n))
            continue;
        struct pair p = { n, next_layer(n, &flattened), 0 };
        if (!p.second || reason_to_stay(p.second) || !meets(&p, flattened)) {
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

/* The channel that element i of the second layer's weight takes in. */
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

/* Returns how far the largest factor is from 1, in powers of two. */
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
        MASE_TRY(mase_cal_own(pairs[i].first, false, err));
        MASE_TRY(mase_cal_own(pairs[i].second, false, err));
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
    const struct mase_outputs before = mase_outputs(*g, env);
    const int count = find_pairs(pairs, *g);
    MASE_TRY(equalise(pairs, count, opts, err));
    const struct mase_outputs after = mase_outputs(*g, env);
    mase_pass_say(env, "Equalised the channels between %d pair%s of layers\n", count,
                  count == 1 ? "" : "s");
    mase_outputs_report(env, "equalise", count, &before, &after);
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
};
