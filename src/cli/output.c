/*
 * output.c - results on stdout.
 */
#include "cli/cli.h"

void mase_cli_put(const struct mase_str *text)
{
    fwrite(mase_str_text(text), 1, text->len, stdout);
}

void mase_cli_put_json(const struct mase_value *v)
{
    struct mase_str out = { 0 };
    mase_json_print(&out, v, 2);
    mase_str_addc(&out, '\n');
    mase_cli_put(&out);
    mase_str_release(&out);
}

void mase_cli_put_table(const struct mase_table *t)
{
    struct mase_str out = { 0 };
    mase_table_render(t, MASE_TABLE_SIMPLE, &out);
    mase_str_addc(&out, '\n');
    mase_cli_put(&out);
    mase_str_release(&out);
}

enum mase_status mase_cli_unknown(struct mase_err *err, const char *what, const char *word,
                                  const char *const *names, int count, const char *listing)
{
    const char *near = mase_nearest(word, names, count);
    if (near)
        return mase_fail(err, MASE_EVALUE,
                         "no %s is called '%s', did you mean '%s'? ch %s lists them", what, word,
                         near, listing);
    return mase_fail(err, MASE_EVALUE, "no %s is called '%s'; ch %s lists them", what, word,
                     listing);
}

enum mase_status mase_cli_operands(const struct mase_cli *c, int max, struct mase_err *err)
{
    if (c->operand_count <= max)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "surplus argument '%s'; usage: ch %s %s", c->operands[max],
                     c->command->name, c->command->operands);
}
