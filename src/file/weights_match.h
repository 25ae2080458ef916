/*
 * weights_match.h - what a file's tensors are to a graph: which is which, and what differs.
 */
#ifndef MASE_FILE_WEIGHTS_MATCH_H
#define MASE_FILE_WEIGHTS_MATCH_H

#include <mase/graph.h>
#include <mase/str.h>
#include <mase/weights.h>

/* Names that differ, and what to say of each. */
struct mase_match_names {
    const char **name;
    const char **note; /* or NULL */
    int count, cap;
};

/* A tensor of the file by the graph's name for it. */
struct mase_match_entry {
    const char *name;
    const struct mase_tensor *tensor; /* NULL: it is passed over */
    const char *what;                 /* then: why */
    bool ignored;                     /* the wrapper's own, as n_averaged is */
};

struct mase_weights_match {
    struct mase_arena *arena;
    const struct mase_graph *graph;
    const struct mase_tensors *file;
    struct mase_match_entry *entries;
    int count;
    struct mase_str wrappers; /* "'module.', 'model.'": what was left out of the names */
    struct mase_map items;    /* the entries by name */
    struct mase_map known;    /* the graph's names */
    struct mase_map found;    /* what the file has of a parameter, by its first name in the graph */
    struct mase_match_names missing, unexpected, misshaped, contrary, changed;
    struct mase_match_names untracked; /* num_batches_tracked, of which old files have none */
    struct mase_match_names passed;    /* kinds that are not read and are not needed */
    int converted;                     /* tensors whose type is not the parameter's */
};

/* weights_match_names.c: the file's tensors by the graph's names. */
void mase_match_names_of_file(struct mase_weights_match *l);
/* An option under which more names match, for messages; NULL: none. */
const char *mase_match_advice(const struct mase_weights_match *l);
/* weights_match.c: all that differs. */
void mase_match_compare(struct mase_weights_match *l);

/* rename.c: a name without "_orig_mod." and the like, the last of which is then in gone. */
const char *mase_name_without_wrappers(struct mase_arena *a, const char *name, const char **gone);

#endif /* MASE_FILE_WEIGHTS_MATCH_H */
