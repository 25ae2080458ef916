/*
 * cmd_show.h - ch show: the sheets about one file, and who fills them.
 */
#ifndef MASE_CLI_COMMAND_CMD_SHOW_H
#define MASE_CLI_COMMAND_CMD_SHOW_H

#include <mase/file_kind.h>

#include "cli/command_nets.h"

enum { MASE_SHOW_SHEETS = 8 };

struct mase_show {
    struct mase_cli *c;
    const char *word;         /* as the command line names it */
    enum mase_file_kind kind; /* MASE_KIND_UNKNOWN: no file, a model by name */
    struct mase_sheet sheet[MASE_SHOW_SHEETS];
    int sheets;
};

/* A new sheet, its title still to be set; headers end with NULL. */
struct mase_sheet *mase_show_sheet(struct mase_show *s, const char *key,
                                   const char *const *headers);
/* "12 nodes", in a. */
const char *mase_show_count(struct mase_arena *a, int64_t n, const char *what);

/* "float32", as PyTorch and NumPy say. */
const char *mase_show_type(const struct mase_tensor *t);

/* Each adds what the file holds. */
typedef enum mase_status mase_show_fn(struct mase_show *s, struct mase_err *err);
mase_show_fn mase_show_graph, mase_show_tensors, mase_show_record, mase_show_curves, mase_show_data;

/* Columns of statistics behind the others, and a tensor's in row; a shape has none. */
enum { MASE_SHOW_STATS = 6 };
extern const char *const mase_show_stats[MASE_SHOW_STATS];
void mase_show_set_stats(struct mase_table *t, int row, int column, const struct mase_tensor *x);

#endif /* MASE_CLI_COMMAND_CMD_SHOW_H */
