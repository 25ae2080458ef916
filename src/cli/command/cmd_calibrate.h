/*
 * cmd_calibrate.h - ch calibrate: the configuration that it writes.
 */
#ifndef MASE_CLI_COMMAND_CMD_CALIBRATE_H
#define MASE_CLI_COMMAND_CMD_CALIBRATE_H

#include "cli/project.h"

/* What calibrated.toml says beside the options in force. */
struct mase_cli_calibrated {
    struct mase_cli *c;
    const struct mase_graph *graph;   /* with the formats that were found */
    const struct mase_value *results; /* of the passes: figures of each operand */
    const char *network;              /* the folder that holds it */
    bool own_model; /* it is no longer the model that the options name, so it is named */
};
/* Append it to out. */
void mase_cli_calibrated_print(struct mase_str *out, const struct mase_cli_calibrated *f);

#endif /* MASE_CLI_COMMAND_CMD_CALIBRATE_H */
