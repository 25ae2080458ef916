/*
 * command_nets.h - shared by commands that inspect networks: opening a network, its inputs, cells
 * of tables.
 */
#ifndef MASE_CLI_COMMAND_NETS_H
#define MASE_CLI_COMMAND_NETS_H

#include <mase/call.h>
#include <mase/saved.h>
#include <mase/work.h>

#include "cli/cli.h"

/* ---- networks (command_nets.c) ---- */

/* Open the network of a word, with its weights or those of --load. */
enum mase_status mase_cli_net_open(struct mase_opened *n, struct mase_cli *c, const char *word,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* As mase_cli_net_open, without values: weights are neither drawn nor loaded. */
enum mase_status mase_cli_net_outline(struct mase_opened *n, struct mase_cli *c, const char *word,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* If n is a file of weights, open the network of other with these weights; does nothing if n has a
 * graph or other has none. */
enum mase_status mase_cli_net_adopt(struct mase_opened *n, const struct mase_opened *other,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* A clone of its graph. Shapes are inferred first, so that both have them. */
struct mase_graph *mase_cli_net_clone(const struct mase_opened *n);
/* out: n quantised by [passes.quantize] of the configuration. It borrows n's weights: close it
 * first. */
enum mase_status mase_cli_net_quantise(struct mase_opened *out, struct mase_cli *c,
                                       const struct mase_opened *n,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Save as a folder, which is created or updated, with what the weights were trained on. */
enum mase_status mase_cli_net_save(struct mase_cli *c, const struct mase_opened *n, const char *dir,
                                   const struct mase_checkpoint_info *trained,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* The first run of [passes.quantize]; an error if there is none. */
enum mase_status mase_cli_quantize_run(const struct mase_pass_run **run, const struct mase_cli *c,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* The network of the command: its first operand, else the configuration's model. */
enum mase_status mase_cli_subject(const char **word, const struct mase_cli *c,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* ---- inputs (command_inputs.c) ---- */

/* Inputs for the placeholders of a graph, in order. */
struct mase_cli_inputs {
    struct mase_tensor *tensor; /* (count) */
    int count;
    const char *source; /* for reports: "128 samples drawn from seed 0" */
};
/* Make `rows` samples: from --input (all if rows is 0), else drawn from the seed. */
enum mase_status mase_cli_inputs_make(struct mase_cli_inputs *in, struct mase_cli *c,
                                      const struct mase_opened *n, int64_t rows,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* One sample: from --input, from the test split of dataset `data`, or drawn from the seed. */
enum mase_status mase_cli_inputs_pick(struct mase_cli_inputs *in, struct mase_cli *c,
                                      const struct mase_opened *n, const char *data, int64_t sample,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Run the reference on the inputs. */
enum mase_status mase_cli_run(struct mase_values *v, struct mase_cli *c,
                              const struct mase_opened *n, const struct mase_cli_inputs *in,
                              struct mase_err *err) MASE_MUST_CHECK;

/* ---- cells (cells.c) ---- */

/* A float32 in the fewest digits that read back as it. */
void mase_cli_set_real(struct mase_table *t, int row, int column, double x);
/* An error in four digits; 0 when there is none. */
void mase_cli_set_error(struct mase_table *t, int row, int column, double x);
/* The formats of a node, and the class or function that it calls, in the arena of the table. */
const char *mase_cli_formats_of(struct mase_arena *a, const struct mase_node *n);
const char *mase_cli_type_of(struct mase_arena *a, const struct mase_node *n);

#endif /* MASE_CLI_COMMAND_NETS_H */
