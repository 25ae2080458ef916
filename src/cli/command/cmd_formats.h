/*
 * cmd_formats.h - private: shared by the files of ch formats.
 */
#ifndef MASE_CLI_COMMAND_CMD_FORMATS_H
#define MASE_CLI_COMMAND_CMD_FORMATS_H

#include <mase/format.h>

struct mase_cli;

/* The format with its suggested parameters (cmd_formats.c). */
enum mase_status mase_cli_format_proposed(const struct mase_format **f, struct mase_cli *c,
                                          enum mase_quant_kind kind, struct mase_err *err);
/* Print the values of a format with its number line, or a table of all formats (format_values.c).
 */
enum mase_status mase_cli_format_values(struct mase_cli *c, const struct mase_format *f,
                                        struct mase_err *err);
enum mase_status mase_cli_all_format_values(struct mase_cli *c, struct mase_err *err);

#endif /* MASE_CLI_COMMAND_CMD_FORMATS_H */
