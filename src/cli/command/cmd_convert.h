/*
 * cmd_convert.h - shared by the conversions of networks and of files of weights.
 */
#ifndef MASE_CLI_COMMAND_CMD_CONVERT_H
#define MASE_CLI_COMMAND_CMD_CONVERT_H

#include <mase/weights.h>

#include "cli/cli.h"

/* What was written, for the report. */
struct mase_cli_converted {
    int nodes, tensors; /* -1: none of this kind */
    int64_t values;
};

/* convert_weights.c: convert tensors from file to file, with their types. */
enum mase_status mase_cli_convert_weights(struct mase_cli_converted *done, struct mase_cli *c,
                                          const char *in, const char *out,
                                          struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_CLI_COMMAND_CMD_CONVERT_H */
