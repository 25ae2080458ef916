/*
 * predict_many.h - networks of several inputs, or with several results.
 */
#ifndef MASE_CLI_PREDICT_MANY_H
#define MASE_CLI_PREDICT_MANY_H

#include <mase/graph.h>
#include <mase/weights.h>

enum { MASE_CLI_INPUTS = 32 };

struct mase_cli_arrays {
    struct mase_named_tensor *items;
    int count;
};
/* Floats as float32, integers as 64 bits, truth values as they are. */
struct mase_tensor mase_cli_as_input(struct mase_arena *a, const struct mase_tensor *t);
/* The arrays of a .npz file, floats as float32 and integers as 64 bits. */
enum mase_status mase_cli_read_arrays(struct mase_cli_arrays *x, struct mase_arena *a,
                                      const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* Several .npy files, "a.npy;b.npy": the inputs in their order. */
enum mase_status mase_cli_read_files(struct mase_cli_arrays *x, struct mase_arena *a,
                                     const char *paths, struct mase_err *err) MASE_MUST_CHECK;
/* Which of them each input of g takes, in its order: by names, or as they come where they have
 * none. What samples of them are like g then knows. */
enum mase_status mase_cli_order_arrays(struct mase_cli_arrays *x, struct mase_arena *a,
                                       struct mase_graph *g, const char *path,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* One behind the other, (samples, features); no data: they have integers that floats do not hold.
 */
struct mase_tensor mase_cli_join_arrays(struct mase_arena *a, const struct mase_cli_arrays *x);

struct mase_cli_many {
    const char *input, *output; /* files */
    int64_t samples;            /* set: rows of the inputs, and */
    int results;                /* tensors that were written */
};
enum mase_status mase_cli_predict_many(struct mase_cli_many *m, struct mase_arena *a,
                                       const struct mase_graph *g, const struct mase_cli_arrays *x,
                                       struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_CLI_PREDICT_MANY_H */
