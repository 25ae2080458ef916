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
/* Convert floats to float32 and integers to 64 bits; booleans are unchanged. */
struct mase_tensor mase_cli_as_input(struct mase_arena *a, const struct mase_tensor *t);
/* Read the arrays of a .npz file, converted by mase_cli_as_input. */
enum mase_status mase_cli_read_arrays(struct mase_cli_arrays *x, struct mase_arena *a,
                                      const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* Read several .npy files, "a.npy;b.npy": the inputs in order. */
enum mase_status mase_cli_read_files(struct mase_cli_arrays *x, struct mase_arena *a,
                                     const char *paths, struct mase_err *err) MASE_MUST_CHECK;
/* Order the arrays by the inputs of g: by name, or as they come if they have no names. Sets the
 * sample shapes of g's inputs. */
enum mase_status mase_cli_order_arrays(struct mase_cli_arrays *x, struct mase_arena *a,
                                       struct mase_graph *g, const char *path,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Concatenate them to (samples, features); no data if float32 does not represent their integers. */
struct mase_tensor mase_cli_join_arrays(struct mase_arena *a, const struct mase_cli_arrays *x);

struct mase_cli_many {
    const char *input, *output; /* files */
    int64_t samples;            /* rows of the inputs */
    int results;                /* number of tensors written */
};
enum mase_status mase_cli_predict_many(struct mase_cli_many *m, struct mase_arena *a,
                                       const struct mase_graph *g, const struct mase_cli_arrays *x,
                                       struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_CLI_PREDICT_MANY_H */
