/*
 * cmd_calibrate.h - ch calibrate: the configuration that it writes.
 */
#ifndef MASE_CLI_COMMAND_CMD_CALIBRATE_H
#define MASE_CLI_COMMAND_CMD_CALIBRATE_H

#include "cli/project.h"

/* Contents of calibrated.toml, beside the options in force. */
struct mase_cli_calibrated {
    struct mase_cli *c;
    const struct mase_graph *graph;   /* with the chosen formats */
    const struct mase_value *results; /* of the passes: figures of each operand */
    const char *network;              /* folder of the network */
    bool own_model; /* name the folder as the model, since the network differs from the options'
                       model */
};
/* Append it to out. */
void mase_cli_calibrated_print(struct mase_str *out, const struct mase_cli_calibrated *f);

#endif /* MASE_CLI_COMMAND_CMD_CALIBRATE_H */
