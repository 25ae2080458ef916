/*
 * command_nets.h - what the commands that inspect networks share: naming a network, giving it
 * inputs, and the cells of their tables.
 */
#ifndef MASE_CLI_COMMAND_NETS_H
#define MASE_CLI_COMMAND_NETS_H

#include <mase/call.h>
#include <mase/saved.h>
#include <mase/work.h>

#include "cli/cli.h"

/* ---- networks (command_nets.c) ---- */

/* What a word of the command line names, with its weights or those of --load. */
enum mase_status mase_cli_net_open(struct mase_opened *n, struct mase_cli *c, const char *word,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* The same for who needs no values: initial ones are not drawn, those of --load not read. */
enum mase_status mase_cli_net_outline(struct mase_opened *n, struct mase_cli *c, const char *word,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Weights alone become the network that other is, with these weights; nothing if other has no graph
 * either, or n has one. */
enum mase_status mase_cli_net_adopt(struct mase_opened *n, const struct mase_opened *other,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* A clone of its graph. What shapes that has is found first, so that both know it. */
struct mase_graph *mase_cli_net_clone(const struct mase_opened *n);
/* out: n quantised as [passes.quantize] of the configuration says. It borrows n's weights: close it
 * first. */
enum mase_status mase_cli_net_quantise(struct mase_opened *out, struct mase_cli *c,
                                       const struct mase_opened *n,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* As a folder, which is made or whose network is replaced, with what its weights were trained on.
 */
enum mase_status mase_cli_net_save(struct mase_cli *c, const struct mase_opened *n, const char *dir,
                                   const struct mase_checkpoint_info *trained,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* The first run of [passes.quantize], or an error that says that there is none. */
enum mase_status mase_cli_quantize_run(const struct mase_pass_run **run, const struct mase_cli *c,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* The network that the command is about: its first operand, else the configuration's model. */
enum mase_status mase_cli_subject(const char **word, const struct mase_cli *c,
                                  struct mase_err *err) MASE_MUST_CHECK;

/* ---- inputs (command_inputs.c) ---- */

/* What is given to the placeholders of a graph, in their order. */
struct mase_cli_inputs {
    struct mase_tensor *tensor; /* (count) */
    int count;
    const char *source; /* "128 samples drawn from seed 0", for reports */
};
/* rows samples: those of --input (all of them when rows is 0), else drawn from the seed. */
enum mase_status mase_cli_inputs_make(struct mase_cli_inputs *in, struct mase_cli *c,
                                      const struct mase_opened *n, int64_t rows,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* One sample: of --input, of the test split of the dataset called data, or drawn from the seed. */
enum mase_status mase_cli_inputs_pick(struct mase_cli_inputs *in, struct mase_cli *c,
                                      const struct mase_opened *n, const char *data, int64_t sample,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Run the plain reference on them. */
enum mase_status mase_cli_run(struct mase_values *v, struct mase_cli *c,
                              const struct mase_opened *n, const struct mase_cli_inputs *in,
                              struct mase_err *err) MASE_MUST_CHECK;

/* ---- cells (cells.c) ---- */

/* A float32 in the fewest digits that read back to it. */
void mase_cli_set_real(struct mase_table *t, int row, int column, double x);
/* An error in four digits; 0 when there is none. */
void mase_cli_set_error(struct mase_table *t, int row, int column, double x);
/* The formats in force at a node, and the class or function it calls, in the arena of the table. */
const char *mase_cli_formats_of(struct mase_arena *a, const struct mase_node *n);
const char *mase_cli_type_of(struct mase_arena *a, const struct mase_node *n);

#endif /* MASE_CLI_COMMAND_NETS_H */
