/*
 * config_table.c - the table of options: default, value of the file, value of the command line,
 * value in force.
 */
#include <mase/table.h>

#include "cli/cli.h"

enum { WRAP = 24 }; /* width of a cell */

#define GREY  "\033[38;5;8m"
#define PLAIN "\033[0m"

/* The value as Python prints it; empty if there is none; grey if overridden. */
static void set_cell(struct mase_table *t, int row, int column, const struct mase_value *v,
                     bool grey)
{
    struct mase_str raw = { 0 }, text = { 0 };
    if (v)
        mase_value_str(&raw, v);
    mase_str_add_printable(&text, mase_str_text(&raw), raw.len, false);
    mase_str_release(&raw);
    if (v && grey)
        mase_table_setf(t, row, column, GREY "%s" PLAIN, mase_str_text(&text));
    else
        mase_table_set(t, row, column, mase_str_text(&text));
    mase_str_release(&text);
}

static void add_row(struct mase_table *t, const struct mase_cli_option *o,
                    const struct mase_cli_setting *s, bool with_file, bool colour)
{
    const int row = mase_table_row(t);
    int column = 0;
    mase_table_set(t, row, column++, o->key);
    set_cell(t, row, column++, s->dflt, colour && (s->file || s->cmdline));
    if (with_file)
        set_cell(t, row, column++, s->file, colour && s->cmdline);
    set_cell(t, row, column++, s->cmdline, false);
    set_cell(t, row, column, mase_cli_effective(s), false);
}

static bool has_row(const struct mase_cli_option *o, const struct mase_cli_setting *s)
{
    return o->flags & MASE_CLI_ROW ||
           (o->flags & MASE_CLI_SET && (s->file || s->cmdline || s->settled));
}

struct mase_table mase_cli_config_table(struct mase_arena *a, const struct mase_cli *c, bool colour)
{
    static const char *const with_file[] = { "Name",         "Default",
                                             "Config. File", "Manual Override",
                                             "Effective",    NULL };
    static const char *const without[] = { "Name", "Default", "Manual Override", "Effective",
                                           NULL };
    struct mase_table t = mase_table(a, c->config ? with_file : without);

    t.wrap = WRAP;
    t.coloured = colour;
    t.align[0] = MASE_ALIGN_LEFT;
    for (int i = 1; i < t.columns; i++)
        t.align[i] = MASE_ALIGN_CENTRE;
    for (int i = 0; i < MASE_CLI_COUNT; i++)
        if (has_row(&mase_cli_options[i], &c->setting[i]))
            add_row(&t, &mase_cli_options[i], &c->setting[i], c->config != NULL, colour);
    return t;
}
