/*
 * cmd_sweep.h - axes of a sweep over number formats (sweep_sets.c).
 */
#ifndef MASE_CLI_COMMAND_CMD_SWEEP_H
#define MASE_CLI_COMMAND_CMD_SWEEP_H

#include <mase/sweep.h>
#include <mase/work.h>

#include "cli/cli.h"

struct mase_cli_set_axis {
    struct mase_sweep_axis axis;
    struct mase_value *values; /* owned by the axis; a value for float may be appended */
    const char **sets;         /* (count): "passes.quantize.linear.config.weight_width=2" */
    int count;
    bool plain; /* the last value is MASE_SWEEP_PLAIN */
};

/* Does this --set give several values? */
bool mase_cli_is_set_axis(const char *text);
/* The text with the first value, "KEY=FIRST". */
enum mase_status mase_cli_first_set(const char **out, struct mase_arena *a, const char *text,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* The axes of --set, at most MASE_SWEEP_MAX_AXES. */
enum mase_status mase_cli_set_axes(struct mase_cli_set_axis *axes, int *count, struct mase_cli *c,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* If the configuration has "auto", give a network without weights those of --load, or initial ones
 * of the first seed, since calibration needs weights. */
enum mase_status mase_cli_need_weights(struct mase_graph *g, struct mase_cli *c,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Build a network for each combination, and one in float if the only axis has such a value; out is
 * large enough; the caller frees the graphs. */
enum mase_status mase_cli_set_networks(struct mase_graph **out, struct mase_cli *c,
                                       const struct mase_graph *base,
                                       const struct mase_cli_set_axis *axes, int count,
                                       struct mase_opened *w, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_CLI_COMMAND_CMD_SWEEP_H */
