/*
 * output.c - print results to stdout.
 */
#include <string.h>

#include <mase/log.h>

#include "cli/cli.h"

void mase_cli_put(const struct mase_str *text)
{
    fwrite(mase_str_text(text), 1, text->len, stdout);
    (void)mase_flush_output();
}

void mase_cli_put_json(const struct mase_value *v)
{
    struct mase_str out = { 0 };
    mase_json_print(&out, v, 2);
    mase_str_addc(&out, '\n');
    mase_cli_put(&out);
    mase_str_release(&out);
}

bool mase_cli_wants_json(const struct mase_cli *c)
{
    return c->sheets.format == MASE_SHEET_JSON;
}

void mase_cli_put_table(struct mase_cli *c, const struct mase_table *t)
{
    mase_sheets_add(&c->sheets, &(struct mase_sheet){ .key = "rows", .table = *t });
}

void mase_cli_put_pairs(struct mase_cli *c, const struct mase_table *t)
{
    int width = 0;
    if (c->sheets.format != MASE_SHEET_TEXT) {
        mase_cli_put_table(c, t);
        return;
    }
    for (int r = 0; r < t->rows; r++) {
        const int n = (int)strlen(t->cell[r * t->columns]);
        width = n > width ? n : width;
    }
    for (int r = 0; r < t->rows; r++)
        mase_sheets_line(&c->sheets, "%-*s  %s", width, t->cell[r * t->columns],
                         t->cell[r * t->columns + 1]);
}

void mase_cli_put_sheets(struct mase_cli *c, const struct mase_sheet *sheets, int count)
{
    if (count == 1 && mase_cli_wants_json(c)) {
        mase_cli_put_json(mase_sheet_rows(&c->arena, &sheets->table));
        return;
    }
    for (int i = 0; i < count; i++)
        mase_sheets_add(&c->sheets, &sheets[i]);
    mase_sheets_end(&c->sheets);
}

enum mase_status mase_cli_operands(const struct mase_cli *c, int max, struct mase_err *err)
{
    if (c->operand_count <= max)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "surplus argument '%s'; usage: ch %s %s", c->operands[max],
                     c->command->name, c->command->operands);
}
