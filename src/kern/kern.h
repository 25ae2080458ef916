/*
 * kern.h - the inner loops, each written once and built for every instruction set.
 *
 * Batch innermost: a row is one feature of n samples (lanes), n a multiple of MASE_LANES, rows
 * 64-byte aligned. Every instruction set computes with the same sixteen lanes, the same fused
 * multiply-adds and the same order of sums, so all give the same bits; kernels.def lists the
 * functions, dispatch.c chooses one set at start (MASE_ISA in the environment forces one).
 *
 * Lanes at and above the number of samples are padding: they may hold anything finite in
 * activations and must be zero in gradients, so that sums over lanes need no mask. The functions
 * that sum activations (moments, summary) take the number of samples.
 */
#ifndef MASE_KERN_KERN_H
#define MASE_KERN_KERN_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/err.h>

enum { MASE_LANES = 16 };

/* y[o][n] = bias[o] + sum over k of w[o][k] rows[k][n]. A dense layer, a convolution at one
 * position (rows: its patch) and the data gradients of both. */
struct mase_gemm {
    float *y;                 // (O, n), rows y_stride apart
    const float *w;           // (O, K): w[o * w_stride + k * w_step]
    const float *bias;        // (O) or NULL
    const float *const *rows; // (K)
    long O, K;
    long y_stride, w_stride;
    long w_step; /* 0 means 1 */
    bool add;    /* start from what y holds, not from the bias */
    bool relu;   /* cut at zero when storing */
};

/* y[o][n] = bias[o] + sum over k of w[o][k] rows[k][n], in integers that 32 bits hold. Weights come
 * in pairs, the first of two in the lower half; an odd last one has a row and a weight of zeros. */
struct mase_int_gemm {
    int32_t *const *y;          // (O)
    const int32_t *w;           // (O, pairs)
    const int32_t *bias;        // (O)
    const int16_t *const *rows; // (2 * pairs)
    long O, pairs;
};

/* How a number is rounded to 16 bits: clamp(round(x mul + add), lo, hi), to nearest, ties to even;
 * or with x / 2^shift; or with x factor + offset in float32. */
struct mase_int_affine {
    double mul, add, lo, hi;
    int shift;
    float factor, offset;
    bool divides, floor; /* of floats: divide by factor, not multiply; round down */
};

/* ---- layers of integers, the numbers of a sample side by side (int_layer.inc.c) ---- */

/* Storage types: bytes hold codes minus the lowest code, so that none is below zero. */
enum mase_int_storage { MASE_INT_BYTES, MASE_INT_SHORTS, MASE_INT_LONGS };
/* How sums are converted to codes: unchanged; clamp(round(sum factor + offset), lo, hi) in float32;
 * or with sum mul + add in double. To nearest, ties to even. */
enum mase_int_how { MASE_INT_SUMS, MASE_INT_BY_FLOAT, MASE_INT_BY_DOUBLE };

/* The positions of weights, bias and constants of outputs 0..15 of a tile: packing sixteen sums to
 * 16 bits permutes them. */
static inline int mase_int_lane(int number)
{
    return (number & 3) | (number & 4) << 1 | (number & 8) >> 1;
}

/* The sums of sixteen outputs: bias + sum over k of weight[k] word[k]. A word of the input has four
 * bytes or two shorts, as has a weight. Words of bytes come in groups of four, of two and of one,
 * in this order: in a group, products are added by pairs in 16 bits without overflow (except in
 * sets of kernels with long_sums). */
struct mase_int_tile {
    long fours, twos, ones; /* groups; of shorts, ones alone */
    const int32_t *word;    // (words)
    const int32_t *weight;  // (words, 16)
    const int32_t *bias;    // (16)
};
/* Constants of sixteen outputs. Those of a layer are in the order of lanes, others in the order of
 * outputs; base, which is subtracted from codes in bytes, in the order of lanes. */
struct mase_int_finish {
    float factor[16], offset[16], lo[16], hi[16], scale[16], shift[16], parts[16];
    double mul[16], add[16], lowest[16], highest[16];
    int32_t base[16];
};
enum { MASE_INT_SAMPLES = 64 }; /* at most, at once */
struct mase_int_layer {
    long tiles, x_stride, y_stride; /* of samples, in bytes */
    const struct mase_int_tile *tile;
    const struct mase_int_finish *finish; // (tiles)
    enum mase_int_storage from, to;
    enum mase_int_how how;
};
/* Floats to codes: max(x scale + shift, 0) if relu, then over or times factor, rounded, cut. */
struct mase_int_encoding {
    long tiles, x_stride, y_stride; /* floats, bytes */
    const struct mase_int_finish *finish;
    enum mase_int_storage to;
    bool affine, relu, divides, floor;
};
/* Codes to floats, not below lo: code factor + offset; (code mul + add) factor, what is in brackets
 * in double and rounded to float; or ((code factor) / parts + offset) scale + shift. */
enum mase_decode_how { MASE_DECODE_BY_FLOAT, MASE_DECODE_BY_DOUBLE, MASE_DECODE_SCALED };
struct mase_int_decoding {
    long tiles, outputs, x_stride;
    const struct mase_int_finish *finish;
    enum mase_decode_how how;
};

/* dw[o][k] = sum over positions p and lanes of dy[o][p][n] rows[p][k][n]. */
struct mase_grad {
    float *dw;                // (O, K), rows dw_stride apart
    const float *dy;          // (O, P, n)
    const float *const *rows; // (P, K)
    long O, K, P, n;
    long dw_stride, dy_stride, dy_pos; /* distances between outputs and between positions */
    bool add;
};

/* A channel: count rows of n lanes, stride apart, with samples in the first `samples` lanes. */
struct mase_channel {
    const float *x;
    long count, stride, n, samples;
};

/* Cross entropy of C logit rows against labels, and its gradient. */
struct mase_cross_entropy {
    const float *logits;  // (C, n)
    float *dlogits;       // (C, n) or NULL: gradient times scale
    const int32_t *label; // (samples); below 0: the sample does not count
    const float *weight;  // (C) or NULL: class weights
    float *loss;          // (n): each sample's loss, not yet weighted by scale
    long C, n, samples, stride;
    float scale; /* of the gradient: 1 / sum of weights */
    float smoothing;
    int64_t correct; /* out: samples whose largest logit is the label's */
};

/* C logit rows and those of a teacher: the loss is (1 - share) cross entropy + share T T
 * KL(softmax(teacher / T) || softmax(logits / T)). */
struct mase_distillation {
    const float *logits;  // (C, n)
    const float *teacher; // (C, n), its own stride
    float *dlogits;       // (C, n) or NULL: the gradient of the cross entropy becomes that of both
    float *loss;          // (n): so do the losses
    long C, n, samples, stride, teacher_stride;
    float keep;        /* 1 - share */
    float weight;      /* share, in the measure of the losses: where samples have weights, times
                        * their mean */
    float temperature; /* T */
    float scale;       /* of the gradient, as it was of the cross entropy's */
};

/* A loss of each of the numbers in rows against its target: losses of a sample are summed. */
struct mase_pointwise_loss {
    const float *x;      // (rows, n)
    const float *target; // (rows, n), its own stride
    float *dx;           // (rows, n) or NULL: gradient times scale
    float *loss;         // (n): each sample's sum, not yet weighted by scale
    long rows, n, samples, stride, target_stride;
    float scale; /* of the gradient */
    float delta; /* huber: the difference beyond which it is linear */
};

/* One optimiser step over flat arrays. */
struct mase_optim {
    float *w, *m, *v;
    const float *g;
    long n;
    float clip;         /* gradients are multiplied by this */
    float decay;        /* of the weight, added to the gradient; 0 when it is decoupled */
    float keep;         /* of the weight itself: 1, less when the decay is decoupled */
    float beta1, take1; /* m = beta1 m + take1 g; sgd: beta1 is the momentum; lion: for the
                           direction of the step */
    float beta2, take2; /* v = beta2 v + take2 g g; lion: m = beta2 m + take2 g */
    float root, eps;    /* adam: the step is divided by root sqrt(v) + eps */
    float step;         /* the learning rate, for adam over the correction of m's bias */
    float ahead;        /* nadam: the same along the gradient */
    bool nesterov;      /* sgd */
};

/* Table rows to lanes: y[f][i] = table[index[i]][f], 0 in the padding. */
struct mase_gather {
    float *y; // (F, n), rows y_stride apart
    const float *table;
    const uint32_t *index; /* NULL: rows 0, 1, ... */
    long F, n, samples, y_stride, table_stride;
};

enum mase_curve {
#define CURVE(name) MASE_CURVE_##name,
#include "kern/curves.def"
};

/* a f b; an operand is a row, or one number for all lanes. */
enum mase_binary {
    MASE_ADD, /* a + scale b */
    MASE_MUL,
    MASE_DIV,
    MASE_MAX,
    MASE_MIN,
    MASE_EQ, /* comparisons give 1 and 0 */
    MASE_NE,
    MASE_GT,
    MASE_GE,
    MASE_LT,
    MASE_LE,
};
struct mase_pair {
    enum mase_binary f;
    const float *a, *b;
    bool a_broadcast, b_broadcast;
    float scale;
};

/* Rows and what each is multiplied by. */
struct mase_terms {
    const int32_t *row;
    const float *coef;
    long count;
};

/* Products of rows, lane by lane: a and b walk in steps of floats. */
struct mase_dot {
    const float *a, *b;
    long a_step, b_step, K;
    float scale;
};

/* One row of statistics of a per-sample normalisation, and the sums of the gradient over its count
 * rows. */
struct mase_standard {
    const float *x, *mean, *rstd;
    const float *sum, *sum_z;
    long count;
};

/* One hidden unit of an LSTM or GRU at one time step. Forward replaces the sums of its gates by the
 * gates; backward replaces the gates by the gradients of the sums. */
struct mase_unit_rows {
    float *gate[4]; /* lstm: i, f, g, o; gru: r, z, n */
    float *inner;   /* gru: the part of n from h, before the factor r; backward: its gradient */
    const float *before; /* lstm: c of the step before, gru: h; NULL: zero */
    float *c, *tanh_c;   /* lstm: of this step */
    float *h;            /* forward */
    float *dh; /* backward; gru: replaced by the part of the gradient of the previous h that passes
                  through z */
    float *dc; /* lstm, backward: replaced by the gradient of the previous c */
};

/* Statistics of some rows of at most MASE_SUMMARY_LANES lanes, kept for each lane modulo 16:
 * extremes, which ignore NaN, and sums of differences from a number near the mean. The sums are
 * finite only if all values are. */
enum { MASE_SUMMARY_LANES = 64 };
struct mase_summary {
    float min[MASE_LANES], max[MASE_LANES];
    double sum[MASE_LANES], squares[MASE_LANES];
    double lanes[MASE_LANES]; /* the squares of each lane's sum */
};

enum { MASE_BINS = 64 };

struct mase_integer_levels; /* quant/quant.h */
struct mase_float_levels;
struct mase_mx_levels;
struct mase_minifloat_levels;
struct mase_mxint_levels;
struct mase_scaled_levels;
struct mase_block_fp_levels;
struct mase_uniform;

struct mase_kernels {
    const char *isa;
    bool long_sums; /* products of bytes are added in 32 bits, so words need no groups */
#define KERNEL_ROW(name, args) void(*name) args;
#include "kern/kernels.def"
};

enum mase_isa { MASE_ISA_SCALAR, MASE_ISA_AVX2, MASE_ISA_AVX512, MASE_ISA_VNNI, MASE_ISA_COUNT };
extern const char *const mase_isa_names[]; /* "scalar", "avx2", "avx512", "vnni", NULL */
bool mase_isa_supported(enum mase_isa isa);
/* One set; a bug if this CPU lacks it. */
const struct mase_kernels *mase_kernels_of(enum mase_isa isa);
/* The best set for this CPU, or the set that MASE_ISA names; an unknown or unsupported set is an
 * error. */
enum mase_status mase_kernels_select(const struct mase_kernels **k,
                                     struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_KERN_KERN_H */
