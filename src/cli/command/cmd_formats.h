/*
 * cmd_formats.h - private: what the parts of ch formats ask of each other.
 */
#ifndef MASE_CLI_COMMAND_CMD_FORMATS_H
#define MASE_CLI_COMMAND_CMD_FORMATS_H

#include <mase/format.h>

struct mase_cli;

/* The format with the parameters that it proposes (cmd_formats.c). */
enum mase_status mase_cli_format_proposed(const struct mase_format **f, struct mase_cli *c,
                                          enum mase_quant_kind kind, struct mase_err *err);
/* The values of one format, with its number line, and those of all (format_values.c). */
enum mase_status mase_cli_format_values(struct mase_cli *c, const struct mase_format *f,
                                        struct mase_err *err);
enum mase_status mase_cli_all_format_values(struct mase_cli *c, struct mase_err *err);

#endif /* MASE_CLI_COMMAND_CMD_FORMATS_H */
