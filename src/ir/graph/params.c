/*
 * params.c - which parameters and buffers a layer has, of what shape, and how PyTorch starts them.
 *
 * One rule per family, named by the MODULE column of ops.def. Order is PyTorch's: parameters, then
 * buffers. The default start of a weight is uniform in +-1/sqrt(fan_in), and of its bias too.
 */
#include <math.h>

#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"
#include "ir/graph/recurrent.h"

/* Larger tensors are refused before any memory is asked for. */
#define MAX_VALUES ((int64_t)1 << 31)

struct making {
    struct mase_module *m;
    struct mase_arena *arena;
    int *cap; /* of the module's parameters */
    struct mase_err *err;
};

/* ---- reading attributes ---- */

static struct mase_arg *attr(const struct making *k, const char *name)
{
    return &k->m->attrs[mase_sig_find(mase_op_ctor_sig(k->m->op), name)];
}

static enum mase_status as_int(const struct making *k, const char *name, const struct mase_arg *v,
                               int64_t min, int64_t *out)
{
    if (v->kind != MASE_ARG_INT || v->i < min) {
        struct mase_str text = { 0 };
        mase_arg_print(&text, v, true);
        enum mase_status st =
            mase_fail(k->err, MASE_EVALUE, "%s = %s must be an integer, at least %lld", name,
                      mase_str_text(&text), (long long)min);
        mase_str_release(&text);
        return st;
    }
    *out = v->i;
    return MASE_OK;
}

static enum mase_status attr_int(const struct making *k, const char *name, int64_t min,
                                 int64_t *out)
{
    return as_int(k, name, attr(k, name), min, out);
}

/* The integers of a tuple attribute as further dimensions of s. */
static enum mase_status attr_dims(const struct making *k, const char *name, int64_t min,
                                  struct mase_shape *s)
{
    const struct mase_arg *v = attr(k, name);
    if (v->kind != MASE_ARG_TUPLE)
        return mase_fail(k->err, MASE_EVALUE, "%s must be an integer or a tuple of integers", name);
    for (int i = 0; i < v->count; i++) {
        if (s->rank == MASE_MAX_RANK)
            return mase_fail(k->err, MASE_ELIMIT, "%s gives more than %d dimensions", name,
                             MASE_MAX_RANK);
        MASE_TRY(as_int(k, name, &v->items[i], min, &s->dim[s->rank++]));
    }
    return MASE_OK;
}

static bool flag(const struct making *k, const char *name)
{
    return mase_arg_truthy(attr(k, name));
}

static enum mase_status need_divides(const struct making *k, const char *by, int64_t d,
                                     const char *what, int64_t n)
{
    if (n % d == 0)
        return MASE_OK;
    return mase_fail(k->err, MASE_EVALUE, "%s = %lld is not a multiple of %s = %lld", what,
                     (long long)n, by, (long long)d);
}

/* ---- writing parameters ---- */

static enum mase_status add(const struct making *k, struct mase_param p)
{
    int64_t count = mase_tensor_count(&p.tensor);
    if (count > MAX_VALUES)
        return mase_fail(k->err, MASE_ELIMIT, "its %s would have more than %lld values", p.name,
                         (long long)MAX_VALUES);
    struct mase_module *m = k->m;
    m->params = mase_arena_grow(k->arena, m->params, m->param_count, k->cap, sizeof *m->params);
    m->params[m->param_count++] = p;
    return MASE_OK;
}

static enum mase_status add_buffer(const struct making *k, struct mase_param p)
{
    p.kind = MASE_PARAM_BUFFER;
    return add(k, p);
}

static struct mase_param start(const char *name, enum mase_init init, float scale,
                               struct mase_tensor tensor)
{
    return (struct mase_param){ .name = name, .init = init, .scale = scale, .tensor = tensor };
}

static struct mase_tensor f32(const struct mase_shape *shape)
{
    return (struct mase_tensor){ .dtype = MASE_F32, .shape = *shape };
}

/* A weight and its bias (n values) by PyTorch's default. */
static enum mase_status add_weight_bias(const struct making *k, const struct mase_shape *weight,
                                        int64_t n, int64_t fan_in)
{
    float bound = fan_in > 0 ? (float)(1 / sqrt((double)fan_in)) : 0.0f;
    struct mase_shape bias = { .rank = 1, .dim = { n } };
    struct mase_param p = start("weight", MASE_INIT_UNIFORM, bound, f32(weight));

    MASE_TRY(add(k, p));
    if (!flag(k, "bias"))
        return MASE_OK;
    p.name = "bias";
    p.tensor = f32(&bias);
    return add(k, p);
}

static enum mase_status add_scale(const struct making *k, const struct mase_shape *shape)
{
    return add(k, start("weight", MASE_INIT_ONES, 0, f32(shape)));
}

static enum mase_status add_shift(const struct making *k, const struct mase_shape *shape)
{
    return add(k, start("bias", MASE_INIT_ZEROS, 0, f32(shape)));
}

static enum mase_status add_statistics(const struct making *k, const struct mase_shape *shape)
{
    struct mase_tensor counter = { .dtype = MASE_I64 };
    MASE_TRY(add_buffer(k, start("running_mean", MASE_INIT_ZEROS, 0, f32(shape))));
    MASE_TRY(add_buffer(k, start("running_var", MASE_INIT_ONES, 0, f32(shape))));
    return add_buffer(k, start("num_batches_tracked", MASE_INIT_ZEROS, 0, counter));
}

/* ---- the rules ---- */

static enum mase_status params_none(const struct making *k)
{
    (void)k;
    return MASE_OK;
}

static enum mase_status params_linear(const struct making *k)
{
    struct mase_shape w = { .rank = 2 }; // (O, I)
    MASE_TRY(attr_int(k, "out_features", 0, &w.dim[0]));
    MASE_TRY(attr_int(k, "in_features", 0, &w.dim[1]));
    return add_weight_bias(k, &w, w.dim[0], w.dim[1]);
}

static enum mase_status params_bilinear(const struct making *k)
{
    struct mase_shape w = { .rank = 3 }; // (O, I1, I2)
    MASE_TRY(attr_int(k, "out_features", 0, &w.dim[0]));
    MASE_TRY(attr_int(k, "in1_features", 1, &w.dim[1]));
    MASE_TRY(attr_int(k, "in2_features", 0, &w.dim[2]));
    return add_weight_bias(k, &w, w.dim[0], w.dim[1]);
}

/* The weight of a convolution is (first, second / groups, kernel...). */
static enum mase_status convolution(const struct making *k, const char *first, const char *second,
                                    int spatial)
{
    struct mase_shape w = { .rank = 2 };
    int64_t groups, out;

    MASE_TRY(attr_int(k, "groups", 1, &groups));
    MASE_TRY(attr_int(k, first, 0, &w.dim[0]));
    MASE_TRY(attr_int(k, second, 0, &w.dim[1]));
    MASE_TRY(attr_int(k, "out_channels", 0, &out));
    MASE_TRY(need_divides(k, "groups", groups, first, w.dim[0]));
    MASE_TRY(need_divides(k, "groups", groups, second, w.dim[1]));
    w.dim[1] /= groups;
    MASE_TRY(attr_dims(k, "kernel_size", 1, &w));
    if (w.rank != 2 + spatial)
        return mase_fail(k->err, MASE_EVALUE, "kernel_size must have %d number%s, has %d", spatial,
                         spatial == 1 ? "" : "s", w.rank - 2);

    struct mase_shape field = w;
    field.dim[0] = 1;
    return add_weight_bias(k, &w, out, mase_shape_count(&field));
}

static int spatial_of(enum mase_op op)
{
    const bool one = op == MASE_OP_conv1d || op == MASE_OP_convtranspose1d;
    const bool three = op == MASE_OP_conv3d || op == MASE_OP_convtranspose3d;
    return one ? 1 : three ? 3 : 2;
}

static enum mase_status params_conv(const struct making *k)
{
    return convolution(k, "out_channels", "in_channels", spatial_of(k->m->op));
}

static enum mase_status params_conv_transpose(const struct making *k)
{
    return convolution(k, "in_channels", "out_channels", spatial_of(k->m->op));
}

static enum mase_status params_norm(const struct making *k)
{
    struct mase_shape s = { .rank = 1 };
    MASE_TRY(attr_int(k, "num_features", 0, &s.dim[0]));
    if (flag(k, "affine")) {
        MASE_TRY(add_scale(k, &s));
        MASE_TRY(add_shift(k, &s));
    }
    return flag(k, "track_running_stats") ? add_statistics(k, &s) : MASE_OK;
}

static enum mase_status params_layer_norm(const struct making *k)
{
    struct mase_shape s = { 0 };
    MASE_TRY(attr_dims(k, "normalized_shape", 0, &s));
    if (!flag(k, "elementwise_affine"))
        return MASE_OK;
    MASE_TRY(add_scale(k, &s));
    return flag(k, "bias") ? add_shift(k, &s) : MASE_OK;
}

static enum mase_status params_rms_norm(const struct making *k)
{
    struct mase_shape s = { 0 };
    MASE_TRY(attr_dims(k, "normalized_shape", 0, &s));
    return flag(k, "elementwise_affine") ? add_scale(k, &s) : MASE_OK;
}

static enum mase_status params_group_norm(const struct making *k)
{
    struct mase_shape s = { .rank = 1 };
    int64_t groups;

    MASE_TRY(attr_int(k, "num_groups", 1, &groups));
    MASE_TRY(attr_int(k, "num_channels", 0, &s.dim[0]));
    MASE_TRY(need_divides(k, "num_groups", groups, "num_channels", s.dim[0]));
    if (!flag(k, "affine"))
        return MASE_OK;
    MASE_TRY(add_scale(k, &s));
    return add_shift(k, &s);
}

static enum mase_status params_prelu(const struct making *k)
{
    struct mase_shape s = { .rank = 1 };
    const struct mase_arg *init = attr(k, "init");
    MASE_TRY(attr_int(k, "num_parameters", 1, &s.dim[0]));
    if (init->kind != MASE_ARG_FLOAT)
        return mase_fail(k->err, MASE_EVALUE, "init must be a number");
    struct mase_param p = start("weight", MASE_INIT_UNIFORM, 0, f32(&s));
    p.centre = (float)init->f;
    return add(k, p);
}

static enum mase_status params_embedding(const struct making *k)
{
    struct mase_shape s = { .rank = 2 };
    MASE_TRY(attr_int(k, "num_embeddings", 0, &s.dim[0]));
    MASE_TRY(attr_int(k, "embedding_dim", 0, &s.dim[1]));

    struct mase_arg *pad = attr(k, "padding_idx");
    int64_t row = 0;
    if (pad->kind != MASE_ARG_NONE) {
        MASE_TRY(as_int(k, "padding_idx", pad, -s.dim[0], &row));
        if (row >= s.dim[0])
            return mase_fail(k->err, MASE_EVALUE, "padding_idx = %lld is outside the %lld rows",
                             (long long)row, (long long)s.dim[0]);
        pad->i = row < 0 ? row + s.dim[0] : row; /* kept, and printed, counted from the start */
    }
    struct mase_param p = start("weight", MASE_INIT_NORMAL, 1, f32(&s));
    p.zero_row = pad->kind != MASE_ARG_NONE ? pad->i + 1 : 0;
    return add(k, p);
}

/* One layer in one direction. */
static enum mase_status add_direction(const struct making *k, const struct mase_recurrent *r,
                                      int layer, int direction)
{
    struct mase_recurrent_param list[MASE_RECURRENT_PARAMS];
    const int count = mase_recurrent_params(list, r, layer);
    const float bound = (float)(1 / sqrt((double)r->hidden));
    for (int i = 0; i < count; i++) {
        const char *name = mase_recurrent_name(k->arena, r, list[i].what, layer, direction);
        MASE_TRY(add(k, start(name, MASE_INIT_UNIFORM, bound, f32(&list[i].shape))));
    }
    return MASE_OK;
}

static enum mase_status params_recurrent(const struct making *k)
{
    struct mase_recurrent r;
    MASE_TRY(mase_recurrent_read(&r, k->m, k->err));
    for (int l = 0; l < r.layers; l++)
        for (int d = 0; d < r.directions; d++)
            MASE_TRY(add_direction(k, &r, l, d));
    return MASE_OK;
}

/* ---- the table ---- */

typedef enum mase_status params_fn(const struct making *k);

struct rule {
    const char *op;
    params_fn *make;
};

/* clang-format off */
static const struct rule rules[MASE_OP_COUNT] = {
    [MASE_OP_unknown] = { .op = "unknown",
#define OP(name, ...) }, [MASE_OP_##name] = { .op = #name,
#define MODULE(cls, type, ctor, repr, params) .make = params_##params
#include <mase/ops.def>
    },
};
/* clang-format on */

enum mase_status mase_params_make(struct mase_module *m, struct mase_arena *a, struct mase_err *err)
{
    int cap = 0;
    struct making k = { m, a, &cap, err };
    m->params = NULL;
    m->param_count = 0;
    return rules[m->op].make(&k);
}

bool mase_param_starts_as(const struct mase_param *p, const struct mase_param *d)
{
    return p->init == d->init && p->scale == d->scale && p->centre == d->centre &&
           p->zero_row == d->zero_row;
}
