/*
 * command.c - the command table.
 */
#include <string.h>

#include "cli/cli.h"

const struct mase_cli_command mase_cli_commands[] = {
#define COMMAND(name, run, operands, kind, help) { #name, run, operands, kind, help },
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
            unknown.word = NULL; /* nothing similar */
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

static unsigned bit_of(const struct mase_cli_command *cmd)
{
    return 1u << (cmd - mase_cli_commands);
}

bool mase_cli_command_takes(const struct mase_cli_command *cmd, const struct mase_cli_option *o)
{
    return o->taken_by & bit_of(cmd);
}

bool mase_cli_command_uses(const struct mase_cli_command *cmd, const struct mase_cli_option *o)
{
    return o->used_by & bit_of(cmd);
}
