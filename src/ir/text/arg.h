/*
 * arg.h - arguments: printing, their nodes, conversion to values.
 */
#ifndef MASE_IR_TEXT_ARG_H
#define MASE_IR_TEXT_ARG_H

#include <mase/graph.h>
#include <mase/value.h>

enum mase_arg_style {
    MASE_ARG_FX,  /* in a line of str(graph): %x, strings and keys bare */
    MASE_ARG_MG,  /* reads back: %x, strings quoted */
    MASE_ARG_STR, /* Python's str(): x, strings inside of something quoted */
    MASE_ARG_PY,  /* Python source: x, strings quoted */
};
void mase_arg_write(struct mase_str *out, const struct mase_arg *arg, enum mase_arg_style style);

/* An argument as a value for files and reports; nodes, tensors, slices and atoms become texts. */
struct mase_value *mase_arg_to_value(struct mase_arena *a, const struct mase_arg *arg);
/* Texts are copied; a date or an atom is a text. */
struct mase_arg mase_arg_from_value(struct mase_arena *a, const struct mase_value *v);

/* 'text' with the escapes that .mg reads. */
void mase_mg_quote(struct mase_str *out, const char *text);
/* Letters, digits and _ . + -, starting with a letter or _: what .mg reads without quotes. */
bool mase_mg_is_word(const char *text);

/* A deep copy with nodes replaced by map. */
typedef struct mase_node *mase_map_node_fn(struct mase_node *n, void *data);
struct mase_arg mase_arg_map(struct mase_arena *a, const struct mase_arg *arg,
                             mase_map_node_fn *map, void *data);
/* Every node mentioned in arg, in order of mention, repetitions included. */
typedef void mase_each_node_fn(struct mase_node *n, void *data);
void mase_arg_each_node(const struct mase_arg *arg, mase_each_node_fn *fn, void *data);

static inline bool mase_arg_has_items(const struct mase_arg *arg)
{
    return arg->kind >= MASE_ARG_TUPLE;
}

#endif /* MASE_IR_TEXT_ARG_H */
