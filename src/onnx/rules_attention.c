/*
 * rules_attention.c - attention with its masks and caches, rotary embeddings.
 */
#include <math.h>

#include "onnx/import_parts.h"

struct attention {
    struct mase_node *q, *k, *v; /* (N, heads, length, width) */
    struct mase_node *bias;      /* added to the products; NULL: none */
    int64_t past;                /* keys of earlier blocks */
    struct mase_node *valid;     /* number of keys of each sample; NULL: all */
    bool flat;                   /* heads and width come as one dimension */
};

/* (N, length, heads * width) as (N, heads, length, width). */
static struct mase_node *split_heads(struct mase_ox_import *im, struct mase_node *x, int64_t heads)
{
    const struct mase_tensor *t = mase_ox_tensor(im, x);
    if (!im->status && (heads < 1 || t->shape.dim[2] % heads)) {
        mase_ox_fail(im, MASE_EVALUE,
                     "q_num_heads and kv_num_heads must divide the last dimension");
        return NULL;
    }
    if (im->status)
        return NULL;
    const struct mase_arg dims[] = { mase_ox_dim(im, x, 0), mase_ox_dim(im, x, 1), ARG_INT(heads),
                                     ARG_INT(t->shape.dim[2] / heads) };
    return mase_ox_permute(im, mase_ox_reshape(im, x, dims, 4), (const int[]){ 0, 2, 1, 3 }, 4);
}

static bool read_heads(struct mase_ox_import *im, struct attention *a)
{
    const int64_t q_heads = mase_ox_attr_int(im, "q_num_heads", 0);
    const int64_t kv_heads = mase_ox_attr_int(im, "kv_num_heads", 0);
    a->q = mase_ox_x(im, 0);
    a->k = mase_ox_x(im, 1);
    a->v = mase_ox_x(im, 2);
    const int rank = mase_ox_rank(im, a->q);
    a->flat = rank == 3;
    if (!im->status && ((rank != 3 && rank != 4) || mase_ox_rank(im, a->k) != rank ||
                        mase_ox_rank(im, a->v) != rank))
        mase_ox_fail(im, MASE_EVALUE, "its operands must all have 3 dimensions, or all 4");
    if (a->flat) {
        a->q = split_heads(im, a->q, q_heads);
        a->k = split_heads(im, a->k, kv_heads);
        a->v = split_heads(im, a->v, kv_heads);
    }
    return !im->status;
}

/* Concatenate keys and values of earlier blocks with these. */
static bool read_past(struct mase_ox_import *im, struct attention *a)
{
    struct mase_ox_value *key = mase_ox_in(im, 4), *value = mase_ox_in(im, 5),
                         *valid = mase_ox_in(im, 6);
    if (key && value) {
        struct mase_node *k = mase_ox_node_of(im, key), *v = mase_ox_node_of(im, value);
        const struct mase_arg ks[] = { ARG_NODE(k), ARG_NODE(a->k) },
                              vs[] = { ARG_NODE(v), ARG_NODE(a->v) };
        a->past = mase_ox_tensor(im, k)->shape.dim[2];
        a->k = EMIT(im, MASE_OP_cat, mase_ox_list(im, ks, 2), ARG_INT(2));
        a->v = EMIT(im, MASE_OP_cat, mase_ox_list(im, vs, 2), ARG_INT(2));
    }
    if (valid)
        a->valid = EMIT(im, MASE_OP_reshape,
                        ARG_NODE(mase_ox_cast(im, mase_ox_node_of(im, valid), MASE_I64)),
                        mase_ox_int_list(im, (int64_t[]){ -1, 1, 1, 1 }, 4));
    mase_ox_out(im, 1, a->k);
    mase_ox_out(im, 2, a->v);
    return !im->status;
}

/* ---- masks ---- */

static struct mase_node *as_bias(struct mase_ox_import *im, struct mase_node *allowed)
{
    return EMIT(im, MASE_OP_where, ARG_NODE(allowed), ARG_FLOAT(0.0), ARG_FLOAT(-INFINITY));
}

static void add_bias(struct mase_ox_import *im, struct attention *a, struct mase_node *bias)
{
    a->bias = a->bias ? EMIT(im, MASE_OP_add, ARG_NODE(a->bias), ARG_NODE(bias)) : bias;
}

static struct mase_node *counting(struct mase_ox_import *im, int64_t n)
{
    const char *key = "dtype";
    const struct mase_arg count = ARG_INT(n), type = mase_ox_type(MASE_I64);
    return mase_ox_emit_kw(im, MASE_OP_arange, &count, 1, &key, &type, 1);
}

/* Positions of queries minus those of keys, (length, keys), or for each sample. */
static struct mase_node *distances(struct mase_ox_import *im, const struct attention *a)
{
    const int64_t queries = mase_ox_tensor(im, a->q)->shape.dim[2],
                  keys = mase_ox_tensor(im, a->k)->shape.dim[2];
    struct mase_node *i = EMIT(im, MASE_OP_unsqueeze, ARG_NODE(counting(im, queries)), ARG_INT(1));
    struct mase_node *d = EMIT(im, MASE_OP_sub, ARG_NODE(i), ARG_NODE(counting(im, keys)));
    if (a->valid)
        return EMIT(im, MASE_OP_add, ARG_NODE(d),
                    ARG_NODE(EMIT(im, MASE_OP_sub, ARG_NODE(a->valid), ARG_INT(queries))));
    return a->past ? EMIT(im, MASE_OP_add, ARG_NODE(d), ARG_INT(a->past)) : d;
}

static void read_mask(struct mase_ox_import *im, struct attention *a)
{
    struct mase_ox_value *v = mase_ox_in(im, 3);
    if (!v || im->status)
        return;
    struct mase_node *mask = mase_ox_node_of(im, v);
    if (mase_ox_dtype(im, mask) == MASE_DTYPE_BOOL)
        mask = as_bias(im, mask);
    const int last = mase_ox_rank(im, mask) - 1;
    const int64_t keys = mase_ox_tensor(im, a->k)->shape.dim[2];
    if (last >= 0 && !im->status && mase_ox_tensor(im, mask)->shape.dim[last] < keys) {
        int64_t before[MASE_MAX_RANK] = { 0 }, after[MASE_MAX_RANK] = { 0 };
        after[last] = keys - mase_ox_tensor(im, mask)->shape.dim[last];
        mask = mase_ox_pad(im, mask, before, after, "constant", -INFINITY);
    }
    add_bias(im, a, mask);
}

static bool read_masks(struct mase_ox_import *im, struct attention *a)
{
    const int64_t causal = mase_ox_attr_int(im, "is_causal", 0);
    const int64_t left = mase_ox_attr_int(im, "left_window_size", -1);
    const int64_t right = mase_ox_attr_int(im, "right_window_size", -1);
    read_mask(im, a);
    if (causal)
        add_bias(im, a, as_bias(im, EMIT(im, MASE_OP_ge, ARG_NODE(distances(im, a)), ARG_INT(0))));
    if (left >= 0)
        add_bias(im, a,
                 as_bias(im, EMIT(im, MASE_OP_le, ARG_NODE(distances(im, a)), ARG_INT(left))));
    if (right >= 0)
        add_bias(im, a,
                 as_bias(im, EMIT(im, MASE_OP_ge, ARG_NODE(distances(im, a)), ARG_INT(-right))));
    if (a->valid) {
        struct mase_node *j = counting(im, mase_ox_tensor(im, a->k)->shape.dim[2]);
        add_bias(im, a, as_bias(im, EMIT(im, MASE_OP_lt, ARG_NODE(j), ARG_NODE(a->valid))));
    }
    return !im->status;
}

/* ---- attention ---- */

/* Repeat the heads of keys and values for grouped queries. */
static void share_heads(struct mase_ox_import *im, struct attention *a)
{
    const int64_t q = mase_ox_tensor(im, a->q)->shape.dim[1],
                  k = mase_ox_tensor(im, a->k)->shape.dim[1];
    if (im->status || q == k)
        return;
    if (k < 1 || q % k) {
        mase_ox_fail(im, MASE_EVALUE, "%lld heads of queries do not share %lld of keys",
                     (long long)q, (long long)k);
        return;
    }
    a->k = EMIT(im, MASE_OP_repeat_interleave, ARG_NODE(a->k), ARG_INT(q / k), ARG_INT(1));
    a->v = EMIT(im, MASE_OP_repeat_interleave, ARG_NODE(a->v), ARG_INT(q / k), ARG_INT(1));
}

OX_RULE(attention)
{
    struct attention a = { 0 };
    const double given = mase_ox_attr_float(im, "scale", 0.0),
                 softcap = mase_ox_attr_float(im, "softcap", 0.0);
    const int64_t mode = mase_ox_attr_int(im, "qk_matmul_output_mode", 0);
    const bool has_scale = mase_ox_has_attr(im, "scale");
    (void)mase_ox_attr_int(im, "softmax_precision", 1); /* the reference computes in double */
    if (!read_heads(im, &a) || !read_past(im, &a) || !read_masks(im, &a))
        return im->status;
    share_heads(im, &a);
    const double scale =
        has_scale ? given : 1.0 / sqrt((double)mase_ox_tensor(im, a.q)->shape.dim[3]);
    struct mase_node *kt = EMIT(im, MASE_OP_transpose, ARG_NODE(a.k), ARG_INT(-2), ARG_INT(-1));
    struct mase_node *qk =
        EMIT(im, MASE_OP_matmul, ARG_NODE(EMIT(im, MASE_OP_mul, ARG_NODE(a.q), ARG_FLOAT(scale))),
             ARG_NODE(kt));
    if (softcap > 0.0)
        qk = EMIT(im, MASE_OP_mul,
                  ARG_NODE(EMIT(im, MASE_OP_tanh,
                                ARG_NODE(EMIT(im, MASE_OP_div, ARG_NODE(qk), ARG_FLOAT(softcap))))),
                  ARG_FLOAT(softcap));
    struct mase_node *sum = a.bias ? EMIT(im, MASE_OP_add, ARG_NODE(qk), ARG_NODE(a.bias)) : qk;
    struct mase_node *p = EMIT(im, MASE_OP_softmax, ARG_NODE(sum), ARG_INT(-1));
    if (a.bias) { /* a query without any key gets zeros */
        struct mase_node *most =
            EMIT(im, MASE_OP_amax, ARG_NODE(a.bias), ARG_INT(-1), ARG_BOOL(true));
        p = EMIT(im, MASE_OP_where,
                 ARG_NODE(EMIT(im, MASE_OP_eq, ARG_NODE(most), ARG_FLOAT(-INFINITY))),
                 ARG_FLOAT(0.0), ARG_NODE(p));
    }
    if (mase_ox_has_out(im, 3))
        mase_ox_out(im, 3, mode == 3 ? p : mode == 2 ? sum : qk);
    struct mase_node *y = EMIT(im, MASE_OP_matmul, ARG_NODE(p), ARG_NODE(a.v));
    if (a.flat)
        y = EMIT(im, MASE_OP_flatten,
                 ARG_NODE(mase_ox_permute(im, y, (const int[]){ 0, 2, 1, 3 }, 4)), ARG_INT(2));
    return mase_ox_out(im, 0, y);
}

/* Rotate pairs of values, half a width apart or adjacent, by angles of their position. */
static struct mase_node *turn(struct mase_ox_import *im, struct mase_node *x,
                              struct mase_node *cosine, struct mase_node *sine, int64_t width,
                              bool interleaved)
{
    const int64_t half = width / 2;
    struct mase_node *a = interleaved ? mase_ox_slice(im, x, 3, ARG_INT(0), ARG_INT(width), 2)
                                      : mase_ox_slice(im, x, 3, ARG_INT(0), ARG_INT(half), 1);
    struct mase_node *b = interleaved ? mase_ox_slice(im, x, 3, ARG_INT(1), ARG_INT(width), 2)
                                      : mase_ox_slice(im, x, 3, ARG_INT(half), ARG_INT(width), 1);
    struct mase_node *real =
        EMIT(im, MASE_OP_sub, ARG_NODE(EMIT(im, MASE_OP_mul, ARG_NODE(cosine), ARG_NODE(a))),
             ARG_NODE(EMIT(im, MASE_OP_mul, ARG_NODE(sine), ARG_NODE(b))));
    struct mase_node *imag =
        EMIT(im, MASE_OP_add, ARG_NODE(EMIT(im, MASE_OP_mul, ARG_NODE(sine), ARG_NODE(a))),
             ARG_NODE(EMIT(im, MASE_OP_mul, ARG_NODE(cosine), ARG_NODE(b))));
    const struct mase_arg both[] = { ARG_NODE(real), ARG_NODE(imag) };
    if (!interleaved)
        return EMIT(im, MASE_OP_cat, mase_ox_list(im, both, 2), ARG_INT(3));
    return EMIT(im, MASE_OP_flatten,
                ARG_NODE(EMIT(im, MASE_OP_stack, mase_ox_list(im, both, 2), ARG_INT(4))),
                ARG_INT(3));
}

OX_RULE(rotary_embedding)
{
    const bool interleaved = mase_ox_attr_int(im, "interleaved", 0) != 0;
    const int64_t heads = mase_ox_attr_int(im, "num_heads", 0),
                  asked = mase_ox_attr_int(im, "rotary_embedding_dim", 0);
    struct mase_node *given = mase_ox_x(im, 0), *cosine = mase_ox_x(im, 1),
                     *sine = mase_ox_x(im, 2);
    struct mase_ox_value *places = mase_ox_in(im, 3);
    const bool flat = mase_ox_rank(im, given) == 3;
    const int order[] = { 0, 2, 1, 3 };
    MASE_TRY(im->status);
    /* (N, length, heads, width) */
    struct mase_node *x =
        mase_ox_permute(im, flat ? split_heads(im, given, heads) : given, order, 4);
    if (places) {
        struct mase_node *at = mase_ox_cast(im, mase_ox_node_of(im, places), MASE_I64);
        cosine = EMIT(im, MASE_OP_getitem, ARG_NODE(cosine), ARG_NODE(at));
        sine = EMIT(im, MASE_OP_getitem, ARG_NODE(sine), ARG_NODE(at));
    }
    cosine = EMIT(im, MASE_OP_unsqueeze, ARG_NODE(cosine), ARG_INT(2));
    sine = EMIT(im, MASE_OP_unsqueeze, ARG_NODE(sine), ARG_INT(2));
    const int64_t all = mase_ox_tensor(im, x)->shape.dim[3], width = asked ? asked : all;
    struct mase_node *y = turn(im, x, cosine, sine, width, interleaved);
    if (width < all) {
        const struct mase_arg both[] = { ARG_NODE(y), ARG_NODE(mase_ox_slice(
                                                          im, x, 3, ARG_INT(width), ARG_NONE, 1)) };
        y = EMIT(im, MASE_OP_cat, mase_ox_list(im, both, 2), ARG_INT(3));
    }
    return mase_ox_out(im, 0,
                       flat ? EMIT(im, MASE_OP_flatten, ARG_NODE(y), ARG_INT(2))
                            : mase_ox_permute(im, y, order, 4));
}
