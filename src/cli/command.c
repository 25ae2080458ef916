/*
 * command.c - the command table.
 */
#include <string.h>

#include "cli/cli.h"

const struct mase_cli_command mase_cli_commands[] = {
#define COMMAND(name, run, operands, takes, help) { #name, run, operands, takes, help },
#include "cli/commands.def"
    { 0 },
};

const char *const mase_cli_later[] = {
#define LATER(name) #name,
#include "cli/commands.def"
    NULL,
};

static enum mase_status fail_unknown(const char *name, struct mase_err *err)
{
    const char *names[sizeof mase_cli_commands / sizeof mase_cli_commands[0]];
    struct mase_unknown unknown = { name, names, 0, .tail = "available: ", .lists = true };
    for (const struct mase_cli_command *c = mase_cli_commands; c->name; c++)
        names[unknown.count++] = c->name;
    for (const char *const *l = mase_cli_later; *l; l++)
        if (mase_streq(*l, name)) {
            unknown.word = NULL; /* nothing else is meant */
            unknown.status = MASE_EUNSUPPORTED;
            return mase_fail_unknown(err, MASE_NOWHERE, &unknown, "%s is not part of this version",
                                     name);
        }
    return mase_fail_unknown(err, MASE_NOWHERE, &unknown, "unknown command '%s'", name);
}

enum mase_status mase_cli_command_find(const struct mase_cli_command **out, const char *name,
                                       struct mase_err *err)
{
    for (const struct mase_cli_command *c = mase_cli_commands; c->name; c++)
        if (mase_streq(c->name, name)) {
            *out = c;
            return MASE_OK;
        }
    return fail_unknown(name, err);
}

/* Options of one or two commands only, or of a listing and of one action. */
static const struct {
    enum mase_cli_option_id option;
    const char *commands;
} only[] = {
    { MASE_CLI_resume, "train" },   { MASE_CLI_input, "predict" },
    { MASE_CLI_output, "predict" }, { MASE_CLI_raw, "predict" },
    { MASE_CLI_all_rows, "test" },  { MASE_CLI_dump_after, "transform" },
};

static const char *only_commands(const struct mase_cli_option *o)
{
    for (size_t i = 0; i < sizeof only / sizeof only[0]; i++)
        if (o == &mase_cli_options[only[i].option])
            return only[i].commands;
    return NULL;
}

/* Options of the commands that look into networks, and which of them take it; NULL: all do. */
static const struct {
    enum mase_cli_option_id option;
    const char *commands;
} looks[] = {
    { MASE_CLI_config, NULL },          { MASE_CLI_set, NULL },
    { MASE_CLI_load_name, NULL },       { MASE_CLI_seed, NULL },
    { MASE_CLI_log_level, NULL },       { MASE_CLI_no_warnings, NULL },
    { MASE_CLI_plugins, NULL },         { MASE_CLI_dataset, NULL },
    { MASE_CLI_batch_size, "diff" },    { MASE_CLI_input, "diff trace" },
    { MASE_CLI_node, "weights trace" }, { MASE_CLI_sample, "trace" },
    { MASE_CLI_data_dir, "trace" },     { MASE_CLI_require_real_data, "trace" },
    { MASE_CLI_split, "trace" },        { MASE_CLI_map, NULL },
    { MASE_CLI_scaling, "trace" },      { MASE_CLI_force, "convert" },
    { MASE_CLI_stats, "show" },         { MASE_CLI_draw, "show" },
    { MASE_CLI_trace_seconds, "show" },
};

static bool look_takes(const struct mase_cli_command *cmd, const struct mase_cli_option *o)
{
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        if (o == &mase_cli_options[looks[i].option])
            return !looks[i].commands || strstr(looks[i].commands, cmd->name);
    return false;
}

/* A report takes the rest from the run. */
static bool report_takes(const struct mase_cli_option *o)
{
    static const enum mase_cli_option_id options[] = {
        MASE_CLI_output,    MASE_CLI_data_dir,    MASE_CLI_require_real_data, MASE_CLI_threads,
        MASE_CLI_log_level, MASE_CLI_no_warnings, MASE_CLI_trace_seconds,
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (o == &mase_cli_options[options[i]])
            return true;
    return o->group == MASE_CLI_GROUP_REPORT;
}

bool mase_cli_command_takes(const struct mase_cli_command *cmd, const struct mase_cli_option *o)
{
    const char *one = only_commands(o);
    if (o->group == MASE_CLI_GROUP_INFORMATION || (one && strstr(one, cmd->name)))
        return true;
    if (cmd->takes == MASE_CLI_REPORT || o->group == MASE_CLI_GROUP_REPORT)
        return cmd->takes == MASE_CLI_REPORT && report_takes(o);
    if (o->group == MASE_CLI_GROUP_OUTPUT)
        return cmd->takes != MASE_CLI_NOTHING && !mase_streq(cmd->name, "predict");
    if (cmd->takes == MASE_CLI_INSPECT || o->group == MASE_CLI_GROUP_INSPECT)
        return cmd->takes == MASE_CLI_INSPECT && look_takes(cmd, o);
    if (o == &mase_cli_options[MASE_CLI_plugins] && mase_streq(cmd->name, "passes"))
        return true;
    if (o->flags & MASE_CLI_LIST)
        return mase_streq(cmd->name, "formats");
    if (o->group == MASE_CLI_GROUP_DATA && mase_streq(cmd->name, "data"))
        return !one;
    return cmd->takes >= MASE_CLI_ACTION && !one;
}

/* What each action acts on beside the options that all do. */
static const struct {
    const char *command;
    unsigned flags;
    int also; /* one option more; -1: none */
} acts_on[] = {
    { "train", MASE_CLI_TRAINS | MASE_CLI_RUNS, -1 },
    { "sweep", MASE_CLI_TRAINS | MASE_CLI_RUNS, -1 },
    { "test", MASE_CLI_RUNS, -1 },
    { "predict", MASE_CLI_RUNS, -1 },
    { "data", MASE_CLI_RUNS, -1 },
    { "transform", MASE_CLI_RUNS, MASE_CLI_batch_size }, /* its passes read samples */
};

bool mase_cli_command_uses(const struct mase_cli_command *cmd, const struct mase_cli_option *o)
{
    const bool looks_on = cmd->takes == MASE_CLI_INSPECT || cmd->takes == MASE_CLI_REPORT;
    unsigned flags = looks_on ? ~0u : MASE_CLI_USED;
    bool also = false;
    for (size_t i = 0; i < sizeof acts_on / sizeof acts_on[0]; i++)
        if (mase_streq(acts_on[i].command, cmd->name)) {
            flags |= acts_on[i].flags;
            also = acts_on[i].also >= 0 && o == &mase_cli_options[acts_on[i].also];
        }
    return also || o->flags & flags;
}
