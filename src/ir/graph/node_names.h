/*
 * node_names.h - the names of a graph's nodes, made unique as torch.fx does.
 */
#ifndef MASE_IR_GRAPH_NODE_NAMES_H
#define MASE_IR_GRAPH_NODE_NAMES_H

#include <mase/graph.h>

/* A text that is a name, or the base of numbered names, or both. */
struct mase_name {
    const char *text; /* interned */
    bool used;        /* stays true when the node is erased: a name is not used twice */
    struct mase_node *node;
    int64_t count; /* the last number tried with this base */
    int64_t skip;  /* of base_NUMBER: all from NUMBER to this one are taken; 0: not known */
    struct mase_name *next;
};

struct mase_names {
    struct mase_arena *arena;
    struct mase_intern *intern;
    struct mase_map map;
    struct mase_name *first, *last;
};

struct mase_names *mase_names_new(struct mase_arena *arena, struct mase_intern *intern);
/* The text a name is made from: "layer1.0.conv1", "flatten" for torch.flatten. */
void mase_names_candidate(struct mase_str *out, enum mase_node_kind kind, const char *target);
/* Reserve a free, legal name, as near to candidate as the rules allow. */
const char *mase_names_make(struct mase_names *names, const char *candidate);
/* Reserve exactly this name; NULL if it is taken. */
const char *mase_names_take(struct mase_names *names, const char *name);
void mase_names_set_node(struct mase_names *names, const char *name, struct mase_node *node);
struct mase_node *mase_names_node(const struct mase_names *names, const char *name); /* or NULL */
/* Copy the taken names and counts of src, without nodes. */
void mase_names_copy(struct mase_names *dst, const struct mase_names *src);
/* A Python keyword, builtin, or a name that generated code needs. */
bool mase_name_is_reserved(const char *name);
/* [A-Za-z_][0-9A-Za-z_]* */
bool mase_name_is_identifier(const char *name);

#endif /* MASE_IR_GRAPH_NODE_NAMES_H */
