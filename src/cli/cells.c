/*
 * cells.c - numbers and names in the cells of a table.
 */

#include <mase/compare.h>

#include "base/number.h"
#include "cli/command_nets.h"

void mase_cli_set_real(struct mase_table *t, int row, int column, double x)
{
    char text[MASE_NUMBER_BYTES];
    mase_table_set(t, row, column, mase_number_shortest(text, x, 6, true));
}

void mase_cli_set_error(struct mase_table *t, int row, int column, double x)
{
    mase_table_setf(t, row, column, "%.4g", x);
}

static const char *keep(struct mase_arena *a, struct mase_str *text)
{
    const char *copy = mase_arena_strdup(a, mase_str_text(text));
    mase_str_release(text);
    return copy;
}

const char *mase_cli_formats_of(struct mase_arena *a, const struct mase_node *n)
{
    struct mase_str text = { 0 };
    mase_quant_print(&text, mase_node_quant(n));
    return keep(a, &text);
}

const char *mase_cli_type_of(struct mase_arena *a, const struct mase_node *n)
{
    struct mase_str text = { 0 };
    mase_node_type_name(&text, n);
    return keep(a, &text);
}
