/*
 * width_parts.h - how lengths of values depend on the widths of layers.
 *
 * Each layer with a width has a variable. A length of a value is a sum of multiples of variables:
 * behind a flatten of 4 x 4 pixels it is 16 times the convolution's, behind a concatenation the sum
 * of two. Variable 0 is the constant 1. Values that are added have equal lengths, so that one
 * variable is bound to what the other value says; what is not known to follow fixes those that
 * reach it, with the reason.
 */
#ifndef MASE_PASS_WIDTHS_WIDTH_PARTS_H
#define MASE_PASS_WIDTHS_WIDTH_PARTS_H

#include "pass/widths/widths.h"

struct mase_width_term {
    int var;
    int64_t num, den; /* the width of var, times num / den */
};
struct mase_width_sum {
    int count;
    struct mase_width_term *term;
};

struct mase_width_var {
    struct mase_width_sum bound; /* what it must equal, of free variables; of a free one itself */
    bool is_bound;
    int64_t width;
    const char *node;   /* the layer's first call; NULL: it is no layer's */
    const char *fixed;  /* of a free variable: why its width cannot change */
    const char *joined; /* the node that made it equal to other widths, or NULL */
};

/* The result of a node: the lengths of a tensor, one number, or items. */
struct mase_width_flow {
    int rank;
    struct mase_width_sum *dim;
    int count;
    struct mase_width_flow *item;
};

/* What the attributes of a layer have to do with widths. */
struct mase_width_row {
    enum mase_op op;
    const char *in;  /* attribute: what it takes; NULL: indices */
    const char *out; /* what it gives; NULL: what it takes */
    int spatial;     /* dimensions behind that of the channels; -1: the channels are the second */
};

struct mase_width_layer {
    const char *path, *node; /* its module and first call */
    const struct mase_width_row *row;
    struct mase_width_sum *in; /* what arrives; of a layer norm several lengths */
    int ins;
    int64_t takes;      /* now, of a layer with weights; -1: nothing */
    int var;            /* of what it gives; 0: it gives what it takes */
    int64_t gives;      /* a depthwise convolution: outputs for each input; else 0 */
    const char *shared; /* why nothing of it can change; NULL: it can */
};

/* A length that forward gives as a number, to view or zeros. */
struct mase_width_view {
    const char *node;
    int arg, item; /* of the node's arguments; item of that tuple, -1: itself */
    struct mase_width_sum sum;
};

struct mase_widths {
    struct mase_arena arena;
    struct mase_width_var *var;
    int vars, var_cap;
    struct mase_width_layer *layer;
    int layers, layer_cap;
    struct mase_width_view *view;
    int views, view_cap;
    struct mase_width_flow *flow; /* of each node, by position */
    int nodes;
    struct mase_input *input; /* shapes */
    int inputs;
    struct mase_width *listed;
    int listed_count;
};

/* ---- sums (width_sum.c) ---- */

struct mase_width_sum mase_width_constant(struct mase_widths *w, int64_t n);
struct mase_width_sum mase_width_variable(struct mase_widths *w, int var);
bool mase_width_is_constant(const struct mase_width_sum *s);
struct mase_width_sum mase_width_times(struct mase_widths *w, const struct mase_width_sum *s,
                                       int64_t num, int64_t den);
struct mase_width_sum mase_width_plus(struct mase_widths *w, const struct mase_width_sum *a,
                                      const struct mase_width_sum *b);
bool mase_width_equal(struct mase_widths *w, const struct mase_width_sum *a,
                      const struct mase_width_sum *b);
int mase_width_new_var(struct mase_widths *w, const char *node, int64_t width);
/* s in terms of free variables, each once. */
struct mase_width_sum mase_width_normal(struct mase_widths *w, const struct mase_width_sum *s);
/* No variable of s can change. */
void mase_width_fix(struct mase_widths *w, const struct mase_width_sum *s, const char *why);
/* a and b are one length from now on, because of node. */
void mase_width_unite(struct mase_widths *w, const struct mase_width_sum *a,
                      const struct mase_width_sum *b, const struct mase_node *node);
/* The length, a normal sum, when variable v has the width now[v]; false: it is no whole number, or
 * below 1. */
bool mase_width_value(int64_t *out, const struct mase_width_sum *s, const int64_t *now);

/* ---- the walk over a graph ---- */

struct mase_width_walk {
    struct mase_widths *w;
    const struct mase_graph *g;
    struct mase_values base; /* results with the widths as they are */
};
struct mase_width_flow *mase_width_flow_of(const struct mase_width_walk *k,
                                           const struct mase_node *n);
const struct mase_arg *mase_width_base(const struct mase_width_walk *k, const struct mase_node *n);
bool mase_width_flow_is_constant(const struct mase_width_flow *f);
/* A result that depends on no width. */
struct mase_width_flow mase_width_flow_constant(struct mase_widths *w, const struct mase_arg *base);
void mase_width_fix_flow(struct mase_widths *w, const struct mase_width_flow *f, const char *why);

/* Lengths behind one call. False: it is not known how they follow. */
/* Of a call one operand of which depends on widths: by trying the shape rule (width_probe.c). */
bool mase_width_probe(struct mase_width_walk *k, struct mase_width_flow *out,
                      const struct mase_node *n, const struct mase_node *operand);
/* Of calls with rules of their own (width_rules.c). */
bool mase_width_zip(struct mase_width_walk *k, struct mase_width_flow *out,
                    const struct mase_node *n);
bool mase_width_join(struct mase_width_walk *k, struct mase_width_flow *out,
                     const struct mase_node *n);
bool mase_width_reshape(struct mase_width_walk *k, struct mase_width_flow *out,
                        const struct mase_node *n);
bool mase_width_item(struct mase_width_walk *k, struct mase_width_flow *out,
                     const struct mase_node *n);
/* Of a new tensor: each length that is a number may become what it is joined with. */
void mase_width_create(struct mase_width_walk *k, struct mase_width_flow *out,
                       const struct mase_node *n);
/* Of a layer (width_layers.c); NULL: the class has no row. */
const struct mase_width_row *mase_width_row_of_op(enum mase_op op);
const struct mase_width_row *mase_width_row_of(const struct mase_node *n);
bool mase_width_through_layer(struct mase_width_walk *k, struct mase_width_flow *out,
                              const struct mase_node *n);
/* Does it multiply, so that it takes and gives numbers of its own? */
bool mase_width_is_unit(const struct mase_width_layer *l);
struct mase_width_layer *mase_width_layer_of(const struct mase_widths *w, const char *path);

#endif /* MASE_PASS_WIDTHS_WIDTH_PARTS_H */
