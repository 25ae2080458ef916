/*
 * cmd_prune.c - ch prune: the prune pass alone, as options or the section of a configuration say.
 */
#include <mase/pass.h>

#include "cli/cli.h"

/* Options that are keys of the section. */
static const struct {
    enum mase_cli_option_id id;
    const char *key;
} keys[] = {
    { MASE_CLI_sparsity, "sparsity" },
    { MASE_CLI_prune_method, "method" },
    { MASE_CLI_scope, "scope" },
    { MASE_CLI_granularity, "granularity" },
};

/* The section of the file, if any, overridden by the command line. */
static enum mase_status make_section(struct mase_value **out, struct mase_cli *c,
                                     struct mase_err *err)
{
    struct mase_arena *a = &c->arena;
    const struct mase_value *file = mase_value_at(c->config, "passes.prune");
    *out = file ? mase_value_copy(a, file) : mase_value_table(a);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct mase_value *given = c->setting[keys[i].id].cmdline;
        if (!given)
            continue;
        if (file && (file->kind != MASE_TABLE || mase_value_get(file, "weight")))
            return mase_fail_at(err, MASE_EVALUE, file->at,
                                "%s changes a section of one table: say it in the file",
                                mase_cli_options[keys[i].id].spellings);
        mase_value_set(a, *out, keys[i].key, mase_value_copy(a, given));
    }
    if (!file && !c->setting[MASE_CLI_sparsity].cmdline)
        return mase_fail(err, MASE_EVALUE,
                         "ch prune needs --sparsity S, the share of the weights that become zero, "
                         "or a configuration with [passes.prune]");
    return MASE_OK;
}

enum mase_status mase_cli_prune(struct mase_cli *c, struct mase_err *err)
{
    struct mase_value *section, *passes = mase_value_table(&c->arena);
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(make_section(&section, c, err));
    mase_value_set(&c->arena, passes, "prune", section);
    MASE_TRY(mase_pass_runs_bind(&c->passes, &c->arena, passes, err));
    if (!c->config)
        c->config = mase_value_table(&c->arena);
    mase_value_set(&c->arena, c->config, "passes", passes); /* run.json records the section */
    MASE_TRY(mase_cli_command_find(&c->command, "transform",
                                   err)); /* the files are those of transform */
    return mase_cli_run_passes(c, err);
}
