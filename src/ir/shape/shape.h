/*
 * shape.h - what the shape rules share, and what the reference execution asks them again.
 *
 * A rule (mase_shape_*, named by ops.def) checks a call and sets its result's types and shapes.
 * What it has to find out on the way (the window of a convolution, the axes of a sum, the view
 * behind an index) is needed a second time to compute: those findings are functions here, so that
 * a shape and the values in it come from one reading of the arguments.
 */
#ifndef MASE_IR_SHAPE_SHAPE_H
#define MASE_IR_SHAPE_SHAPE_H

#include <mase/call.h>

#define SHAPE(rule) mase_shape_fn mase_shape_##rule;
#include <ops/shapes.def>

/* ---- text for messages, in the call's arena ---- */

const char *mase_show_shape(const struct mase_call *c, const struct mase_shape *s); /* [8, 16] */
const char *mase_show_ints(const struct mase_call *c, const int64_t *v, int n);     /* (3, 3) */
/* "f32[8, 16]" for a tensor, else as Python prints it. */
void mase_arg_show(struct mase_str *out, const struct mase_arg *a);
const char *mase_show_arg(const struct mase_call *c, const struct mase_arg *a);

/* ---- arguments ---- */

/* A bool, int or float as a double; false for everything else. */
bool mase_arg_number(const struct mase_arg *a, double *v);
static inline bool mase_arg_present(const struct mase_arg *a)
{
    return a && a->kind != MASE_ARG_NONE;
}
static inline bool mase_arg_is_seq(const struct mase_arg *a)
{
    return a->kind == MASE_ARG_TUPLE || a->kind == MASE_ARG_LIST;
}
/* The tensor in an argument, or NULL. */
static inline const struct mase_tensor *mase_arg_tensor(const struct mase_arg *a)
{
    return a && a->kind == MASE_ARG_TENSOR ? a->tensor : NULL;
}
/* A text argument, or fallback when it is absent or of another kind. */
const char *mase_call_text(const struct mase_call *c, const char *name, const char *fallback);
/* Lengths given as f(2, 3) or f((2, 3)) or f(2). Negative ones are left to the rule. */
enum mase_status mase_call_sizes(const struct mase_call *c, struct mase_shape *out,
                                 const char *name, struct mase_err *err) MASE_MUST_CHECK;
/* Dimension d of s, counted from the end when negative. */
enum mase_status mase_call_axis(const struct mase_call *c, int *axis, const struct mase_shape *s,
                                int64_t d, struct mase_err *err) MASE_MUST_CHECK;
/* As above for the argument called name. */
enum mase_status mase_call_axis_arg(const struct mase_call *c, int *axis,
                                    const struct mase_shape *s, const char *name,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* A set of dimensions (one, several, or none: all of them when all_if_none) as flags. */
enum mase_status mase_call_axes(const struct mase_call *c, bool *in, const struct mase_shape *s,
                                const char *name, bool all_if_none,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The items of a tuple or list argument, each a tensor: at least one. */
enum mase_status mase_call_tensors(const struct mase_call *c, const struct mase_arg **items,
                                   int *count, const char *name,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- element types ---- */

bool mase_dtype_is_float(enum mase_dtype t);
/* The type that holds both, as torch.promote_types. */
enum mase_dtype mase_dtype_promote(enum mase_dtype a, enum mase_dtype b);
/* The type of an operation on these (tensors and numbers): tensors with dimensions decide before
 * those without, and those before plain numbers, as torch.result_type. */
enum mase_dtype mase_dtype_of_args(const struct mase_arg *const *args, int n);
/* torch.float32 and its like; false when it names none that we have. */
bool mase_dtype_parse(const char *text, enum mase_dtype *t);
/* The dtype argument called name if it is given, else t stays. */
enum mase_status mase_call_dtype(const struct mase_call *c, enum mase_dtype *t, const char *name,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Fail unless t has float elements. */
enum mase_status mase_call_float_tensor(const struct mase_call *c, const struct mase_tensor *t,
                                        const char *name, struct mase_err *err) MASE_MUST_CHECK;

/* ---- shapes ---- */

/* Elements of s, or -1 when a length is negative or there are more than MASE_MAX_ELEMENTS, also
 * where a length of 0 hides the others: sums and products of two lengths fit in 64 bits. */
#define MASE_MAX_ELEMENTS (INT64_C(1) << 31)
int64_t mase_shape_count_checked(const struct mase_shape *s);
/* As mase_shape_count_checked, with the limit for results of c. */
int64_t mase_call_count(const struct mase_call *c, const struct mase_shape *s);
int64_t mase_call_most(const struct mase_call *c);
/* Fail when a result would have more dimensions than a shape holds. */
enum mase_status mase_call_rank(const struct mase_call *c, int rank,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Widen out to what broadcasting it with s gives; false when they do not fit. */
bool mase_shape_widen(struct mase_shape *out, const struct mase_shape *s);
/* Does s broadcast to exactly `to`? */
bool mase_shape_fits(const struct mase_shape *s, const struct mase_shape *to);
/* Dimensions [from, to) of s. */
struct mase_shape mase_shape_part(const struct mase_shape *s, int from, int to);
void mase_shape_append(struct mase_shape *s, const struct mase_shape *more);
void mase_shape_push(struct mase_shape *s, int64_t dim);

/* c->result = a tuple of tensors without data. */
void mase_call_result_tuple(struct mase_call *c, const struct mase_tensor *tensors, int count);
/* c->result = a tuple of ints. */
void mase_call_result_ints(struct mase_call *c, const struct mase_shape *s);

/* ---- numbers (shape_scalar.c) ---- */

/* The functions behind element-wise operations; NULL when op is none of the kind. Python numbers
 * are computed with them while shapes are inferred, tensors when the graph runs. */
typedef double mase_unary_fn(double x);
typedef double mase_binary_fn(double x, double y);
mase_unary_fn *mase_unary_of(enum mase_op op);
mase_unary_fn *mase_slope_of(enum mase_op op); /* the derivative */
mase_binary_fn *mase_binary_of(enum mase_op op);
mase_binary_fn *mase_partial_of(enum mase_op op, int operand); /* by the first or second */
/* From the rows of operations: integer division by 0 has no result; integers convert to float; no
 * gradient. */
bool mase_op_divides(enum mase_op op);
bool mase_op_makes_float(enum mase_op op);
bool mase_op_is_flat(enum mase_op op);
/* The slope of rrelu below 0 in evaluation; in training it is random, which is refused. */
enum mase_status mase_rrelu_slope(const struct mase_call *c, bool training, double *slope,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* c->result from numbers alone, as Python computes: 7 // 2 is 3, 7 / 2 is 3.5. */
enum mase_status mase_scalar_unary(struct mase_call *c, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_scalar_binary(struct mase_call *c, struct mase_err *err) MASE_MUST_CHECK;

/* ---- reductions (shape_reduce.c) ---- */

/* The dimensions that a variance, norm or extreme goes over. */
enum mase_status mase_reduction_axes(const struct mase_call *c, bool *in,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* The correction of a variance or the order of a norm; 0 for others. */
enum mase_status mase_reduction_number(const struct mase_call *c, double *p,
                                       struct mase_err *err) MASE_MUST_CHECK;

/* The dimension that sort, topk and median go along, and which values they leave of it: count of
 * them from first on, in their order. */
struct mase_order {
    int axis; /* -1: all values as one row */
    int64_t first, count;
    bool descending;
    bool nan_wins; /* where one is no number, the first such */
};
enum mase_status mase_order_read(const struct mase_call *c, struct mase_order *o,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* The dimensions that tensordot sums over, and then those that it leaves, of a and b. */
struct mase_tensordot {
    int sums, kept[2];
    int order[2][MASE_MAX_RANK];
};
enum mase_status mase_tensordot_read(const struct mase_call *c, struct mase_tensordot *t,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* searchsorted and bucketize: do values that are found stand before the place? */
bool mase_search_right(const struct mase_call *c);

/* The dimension whose three values cross multiplies. */
enum mase_status mase_cross_axis(const struct mase_call *c, int *axis, const struct mase_shape *s,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Arguments of randint: size integers from low to below high. */
enum mase_status mase_randint_read(const struct mase_call *c, int64_t *low, int64_t *high,
                                   struct mase_shape *size, struct mase_err *err) MASE_MUST_CHECK;

/* ---- einsum (shape_einsum.c) ---- */

enum { MASE_EINSUM_OPERANDS = 4, MASE_EINSUM_LABELS = 52 + MASE_MAX_RANK };
/* The dimensions of operands and result by the labels of the equation. */
struct mase_einsum {
    int operands;
    int label[MASE_EINSUM_OPERANDS][MASE_MAX_RANK], rank[MASE_EINSUM_OPERANDS];
    int out[MASE_MAX_RANK], out_rank;
    int64_t size[MASE_EINSUM_LABELS]; /* of a label; an operand may have 1 in its place */
};
enum mase_status mase_einsum_read(const struct mase_call *c, struct mase_einsum *e,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* ---- windows (shape_window.c) ---- */

enum mase_pad_mode { MASE_PAD_ZEROS, MASE_PAD_REFLECT, MASE_PAD_REPLICATE, MASE_PAD_CIRCULAR };

/* How a convolution or pool slides; only [0, n) of each array is meant. */
struct mase_window {
    int n;      /* spatial dimensions */
    bool batch; /* the input has a batch dimension */
    int64_t in[3], out[3];
    int64_t kernel[3], stride[3], dilation[3];
    int64_t pad[3];     /* before the first element */
    int64_t pad_end[3]; /* after the last */
    int64_t groups;
    enum mase_pad_mode mode;
};
enum mase_status mase_conv_window(const struct mase_call *c, struct mase_window *w,
                                  struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_conv_transpose_window(const struct mase_call *c, struct mase_window *w,
                                            struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_pool_window(const struct mase_call *c, struct mase_window *w,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Sets n, batch, in and out. */
enum mase_status mase_adaptive_window(const struct mase_call *c, struct mase_window *w,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* How upsample maps each spatial dimension. */
struct mase_resize {
    int n;
    int64_t in[3], out[3];
    double scale[3]; /* input steps per output step, as the user asked; 0: from the sizes */
};
enum mase_status mase_resize_plan(const struct mase_call *c, struct mase_resize *r,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* grid_sample: bilinear or nearest; zeros, border or reflection. */
enum mase_status mase_grid_modes(const struct mase_call *c, int *mode, int *edge,
                                 struct mase_err *err) MASE_MUST_CHECK;

/* ---- normalisation (shape_norm.c) ---- */

/* The channels' dimension: 1, or 0 for an instance norm without a batch dimension. */
int mase_norm_channel_dim(const struct mase_call *c, const struct mase_shape *s);

/* ---- views, indices, ranges (shape_layout.c, shape_index.c, shape_create.c) ---- */

/* x[index]: a view, of which dimensions are picked by tensors of integers. Several of those are
 * broadcast to one shape, which stands in the result where they stood, or first if not together. */
enum { MASE_INDEX_PICKS = 4 };
struct mase_index {
    struct mase_view view; /* the picked dimensions still have their full lengths here */
    struct {
        const struct mase_tensor *by;
        int dim; /* of the view, ascending */
    } pick[MASE_INDEX_PICKS];
    int picks;
    bool wrap;                /* negative integers count from the end */
    int at;                   /* of the result: where the picked dimensions begin */
    struct mase_shape picked; /* what the tensors broadcast to */
    struct mase_shape shape;  /* of the result */
};
/* Is that dimension of the view picked by a tensor? */
bool mase_index_picks(const struct mase_index *x, int d);
/* The shape of the result, by view and picks. */
enum mase_status mase_index_shape(const struct mase_call *c, struct mase_index *x,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* x[:, mask] of a constant mask: the places at which it holds become the index, a list. For
 * getitem and setitem, when their arguments are bound. */
enum mase_status mase_index_masks(struct mase_call *c, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_index_plan(const struct mase_call *c, struct mase_index *x,
                                 const struct mase_tensor *t, const struct mase_arg *index,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* How embedding_bag joins rows. */
enum mase_bag { MASE_BAG_SUM, MASE_BAG_MEAN, MASE_BAG_MAX };
enum mase_status mase_bag_mode(const struct mase_call *c, enum mase_bag *mode,
                               struct mase_err *err) MASE_MUST_CHECK;
/* Its padding_idx, or -1. */
enum mase_status mase_bag_padding(const struct mase_call *c, int64_t *row,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* The source of scatter: a tensor or a number. */
const struct mase_arg *mase_scatter_source(const struct mase_call *c);
/* Python's slice on a length: first element, count and step. */
enum mase_status mase_slice_plan(const struct mase_call *c, const struct mase_arg *slice,
                                 int64_t len, int64_t *first, int64_t *count, int64_t *step,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* The order that transpose, t and permute put the dimensions in. */
enum mase_status mase_layout_order(const struct mase_call *c, int *order,
                                   const struct mase_shape *s,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* The elements of a dimension that narrow and select keep. */
enum mase_status mase_narrow_plan(const struct mase_call *c, int *axis, int64_t *start,
                                  int64_t *length, struct mase_err *err) MASE_MUST_CHECK;
/* The order of the attributes T (all dimensions reversed) and mT (the last two swapped). */
void mase_attr_order(int *order, const struct mase_shape *s, bool all);

/* Dimensions of length 1 in front, as broadcasting would put them. */
struct mase_shape mase_shape_to_rank(const struct mase_shape *s, int rank);
/* How pad widens each dimension; a negative number cuts. */
struct mase_pads {
    int64_t before[MASE_MAX_RANK], after[MASE_MAX_RANK];
    enum mase_pad_mode mode;
};
/* "constant", "reflect" ...: of the function as it says, of a layer by its class. */
const char *mase_pad_mode(const struct mase_call *c);
/* Does cat leave a tensor of this shape out? [0] joins what has any dimensions, as in PyTorch. */
bool mase_cat_skips(const struct mase_shape *s);
enum mase_status mase_pads_plan(const struct mase_call *c, struct mase_pads *p,
                                const struct mase_shape *s, struct mase_err *err) MASE_MUST_CHECK;

/* The source of each value of a result (shape_pick.c). */
struct mase_pick {
    struct mase_shape in, out;
    struct mase_view view;     /* of the input */
    int64_t n[MASE_MAX_RANK];  /* what the operation needs to know */
    struct mase_window window; /* of unfold */
    /* The offset in the input of what comes to a place of the result; -1: nothing does, it is 0. */
    int64_t (*from)(const struct mase_pick *p, const int64_t *at);
};
enum mase_status mase_pick_plan(const struct mase_call *c, struct mase_pick *p,
                                struct mase_err *err) MASE_MUST_CHECK;
/* fold adds up what unfold writes out: from image `in` to columns `out`. */
enum mase_status mase_fold_plan(const struct mase_call *c, struct mase_pick *p,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The windows of unfold and fold on an image (N, C, H, W) or (C, H, W). */
enum mase_status mase_unfold_window(const struct mase_call *c, struct mase_window *w,
                                    const struct mase_shape *image,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* The numbers of arange and range. */
enum mase_status mase_range_plan(const struct mase_call *c, double *start, double *end,
                                 double *step, bool *integers,
                                 struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_IR_SHAPE_SHAPE_H */
