/*
 * cmd_convert.h - the two halves of ch convert: files of weights, and networks.
 */
#ifndef MASE_CLI_COMMAND_CMD_CONVERT_H
#define MASE_CLI_COMMAND_CMD_CONVERT_H

#include <mase/weights.h>

#include "cli/cli.h"

/* What was written. */
struct mase_cli_converted {
    int nodes, tensors; /* -1: not of this kind */
    int64_t values;
};

/* convert_weights.c: the tensors of one file to another, each in the type it has. */
enum mase_status mase_cli_convert_weights(struct mase_cli_converted *done, struct mase_cli *c,
                                          const char *in, const char *out,
                                          struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_CLI_COMMAND_CMD_CONVERT_H */
