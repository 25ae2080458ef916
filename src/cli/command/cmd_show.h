/*
 * cmd_show.h - ch show: the sheets that describe a file, and functions that fill them.
 */
#ifndef MASE_CLI_COMMAND_CMD_SHOW_H
#define MASE_CLI_COMMAND_CMD_SHOW_H

#include <mase/file_kind.h>

#include "cli/command_nets.h"

enum { MASE_SHOW_SHEETS = 8 };

struct mase_show {
    struct mase_cli *c;
    const char *word;         /* from the command line */
    enum mase_file_kind kind; /* MASE_KIND_UNKNOWN: no file, but a model's name */
    struct mase_sheet sheet[MASE_SHOW_SHEETS];
    int sheets;
};

/* Add a sheet, whose title is still to be set; headers end with NULL. */
struct mase_sheet *mase_show_sheet(struct mase_show *s, const char *key,
                                   const char *const *headers);
/* "12 nodes", in a. */
const char *mase_show_count(struct mase_arena *a, int64_t n, const char *what);

/* Name of the type as in PyTorch and NumPy: "float32". */
const char *mase_show_type(const struct mase_tensor *t);

/* Add sheets for a kind of file. */
typedef enum mase_status mase_show_fn(struct mase_show *s, struct mase_err *err);
mase_show_fn mase_show_graph, mase_show_tensors, mase_show_record, mase_show_curves, mase_show_data;

/* Add columns of statistics, and set those of a tensor in a row; shapes have none. */
enum { MASE_SHOW_STATS = 6 };
extern const char *const mase_show_stats[MASE_SHOW_STATS];
void mase_show_set_stats(struct mase_table *t, int row, int column, const struct mase_tensor *x);

#endif /* MASE_CLI_COMMAND_CMD_SHOW_H */
