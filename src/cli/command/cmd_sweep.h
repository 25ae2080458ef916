/*
 * cmd_sweep.h - axes of a sweep that change the network's number formats (sweep_sets.c).
 */
#ifndef MASE_CLI_COMMAND_CMD_SWEEP_H
#define MASE_CLI_COMMAND_CMD_SWEEP_H

#include <mase/sweep.h>
#include <mase/work.h>

#include "cli/cli.h"

struct mase_cli_set_axis {
    struct mase_sweep_axis axis;
    struct mase_value *values; /* the axis's own, to which a plain one may be pushed */
    const char **sets;         /* (count): "passes.quantize.linear.config.weight_width=2" */
    int count;
    bool plain; /* the axis has a last value beyond these: MASE_SWEEP_PLAIN */
};

/* Does this --set give several values to a key? */
bool mase_cli_is_set_axis(const char *text);
/* "KEY=FIRST" of such a text. */
enum mase_status mase_cli_first_set(const char **out, struct mase_arena *a, const char *text,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Those of --set, at most MASE_SWEEP_MAX_AXES. */
enum mase_status mase_cli_set_axes(struct mase_cli_set_axis *axes, int *count, struct mase_cli *c,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Where the configuration leaves something "auto", a network that has no weights gets those of
 * --load or initial ones, of the first seed: calibration needs them. */
enum mase_status mase_cli_weigh(struct mase_graph *g, struct mase_cli *c,
                                struct mase_err *err) MASE_MUST_CHECK;
/* A network for each combination of them, and a plain one if the only axis has such a value; out is
 * long enough, the caller frees. */
enum mase_status mase_cli_set_networks(struct mase_graph **out, struct mase_cli *c,
                                       const struct mase_graph *base,
                                       const struct mase_cli_set_axis *axes, int count,
                                       struct mase_opened *w, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_CLI_COMMAND_CMD_SWEEP_H */
