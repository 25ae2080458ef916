/*
 * completion.c - ch completion bash: a completion script with every name the tables hold.
 *
 * The script has all words in case statements, so completing runs no program.
 */
#include <mase/emit.h>
#include <mase/format.h>
#include <mase/ops.h>
#include <mase/pass.h>
#include <mase/zoo.h>

#include "cli/cli.h"

static void spellings(struct mase_str *out, const struct mase_cli_option *o, const char *between)
{
    for (const char *p = o->spellings; *p; p++) {
        if (*p == ' ')
            mase_str_add(out, between);
        else
            mase_str_addc(out, *p);
    }
}

/* A case: the words, or files, that can follow this option. */
static void value_case(struct mase_str *out, const struct mase_cli_option *o)
{
    if (!o->spellings || !o->metavar)
        return;
    mase_str_add(out, "    ");
    spellings(out, o, " | ");
    mase_str_add(out, ")\n        ");
    if (o == &mase_cli_options[MASE_CLI_dump_after]) {
        mase_str_add(out, "COMPREPLY=($(compgen -W \"all $passes\" -- \"$cur\"))");
    } else if (o->opt->choices) {
        mase_str_add(out, "COMPREPLY=($(compgen -W \"");
        for (const char *const *c = o->opt->choices; *c; c++)
            mase_str_printf(out, "%s%s", c == o->opt->choices ? "" : " ", *c);
        mase_str_add(out, "\" -- \"$cur\"))");
    } else if (o->path) {
        mase_str_printf(out, "COMPREPLY=($(compgen -%c -- \"$cur\"))",
                        o->path == MASE_CLI_DIR ? 'd' : 'f');
    } else {
        mase_str_add(out, "COMPREPLY=()");
    }
    mase_str_add(out, "\n        return\n        ;;\n");
}

static void command_options(struct mase_str *out, const struct mase_cli_command *cmd)
{
    mase_str_printf(out, "    %s) options=\"", cmd->name);
    for (int i = 0, n = 0; i < MASE_CLI_COUNT; i++) {
        const struct mase_cli_option *o = &mase_cli_options[i];
        if (!o->spellings || !mase_cli_command_takes(cmd, o))
            continue;
        mase_str_add(out, n++ ? " " : "");
        spellings(out, o, " ");
    }
    mase_str_add(out, "\" ;;\n");
}

static void add_names(struct mase_str *out)
{
    mase_str_add(out, "    local commands=\"");
    for (const struct mase_cli_command *c = mase_cli_commands; c->name; c++)
        mase_str_printf(out, "%s%s", c == mase_cli_commands ? "" : " ", c->name);
    mase_str_add(out, "\"\n    local models=\"");
    for (const struct mase_model *m = mase_zoo; m->name; m++)
        mase_str_printf(out, "%s%s", m == mase_zoo ? "" : " ", m->name);
    mase_str_add(out, "\"\n    local datasets=\"");
    for (const struct mase_data_info *d = mase_datasets; d->name; d++)
        mase_str_printf(out, "%s%s", d == mase_datasets ? "" : " ", d->name);
    mase_str_add(out, "\"\n    local targets=\"");
    for (const struct mase_target *t = mase_targets; t->name; t++)
        mase_str_printf(out, "%s%s", t == mase_targets ? "" : " ", t->name);
    mase_str_add(out, "\"\n    local passes=\"");
    for (const struct mase_pass *const *p = mase_passes; *p; p++)
        mase_str_printf(out, "%s%s", p == mase_passes ? "" : " ", (*p)->name);
    mase_str_add(out, "\"\n    local formats=\"");
    for (int k = 0; k < MASE_QUANT_COUNT; k++)
        mase_str_printf(out, "%s%s", k ? " " : "", mase_quants[k]->name);
    mase_str_add(out, "\"\n    local ops=\"");
    for (int i = MASE_OP_unknown + 1; i < MASE_OP_COUNT; i++)
        mase_str_printf(out, "%s%s", i > MASE_OP_unknown + 1 ? " " : "", mase_ops[i].name);
    mase_str_add(out, "\"\n");
}

static void add_script(struct mase_str *out)
{
    mase_str_add(out, "# bash completion for ch, printed by: ch completion bash\n"
                      "_ch()\n{\n"
                      "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                      "    local command=${COMP_WORDS[1]} options words\n");
    add_names(out);
    mase_str_add(out, "    case $prev in\n");
    for (int i = 0; i < MASE_CLI_COUNT; i++)
        value_case(out, &mase_cli_options[i]);
    mase_str_add(out, "    esac\n"
                      "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                      "        COMPREPLY=($(compgen -W \"$commands --help --version --info\" -- "
                      "\"$cur\"))\n"
                      "        return\n"
                      "    fi\n"
                      "    case $command in\n");
    for (const struct mase_cli_command *c = mase_cli_commands; c->name; c++)
        command_options(out, c);
    mase_str_add(out, "    esac\n"
                      "    case $command in\n"
                      "    passes) words=$passes ;;\n"
                      "    ops) words=$ops ;;\n"
                      "    formats) words=$formats ;;\n"
                      "    data) words=\"list info import remove $datasets\" ;;\n"
                      "    help) words=$commands ;;\n"
                      "    emit) words=\"$targets $models $datasets\" ;;\n"
                      "    completion) words=bash ;;\n"
                      "    *) words=\"$models $datasets\" ;;\n"
                      "    esac\n"
                      "    case $cur in\n"
                      "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
                      "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
                      "    esac\n"
                      "}\n"
                      "complete -o default -F _ch ch ./ch\n");
}

enum mase_status mase_cli_completion(struct mase_cli *c, struct mase_err *err)
{
    struct mase_str out = { 0 };
    MASE_TRY(mase_cli_operands(c, 1, err));
    if (c->operand_count && !mase_streq(c->operands[0], "bash"))
        return mase_fail(err, MASE_EUNSUPPORTED, "no completion for '%s'; available: bash",
                         c->operands[0]);
    add_script(&out);
    mase_cli_put(&out);
    mase_str_release(&out);
    return MASE_OK;
}
