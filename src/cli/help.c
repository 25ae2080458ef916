/*
 * help.c - help from the tables, 80 columns wide or as wide as a narrower terminal.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <mase/emit.h>

#include "cli/cli.h"

enum { WIDTH = 80, NARROW = 60, NARROWEST = 20, TEXT_COLUMN = 30, NARROW_TEXT_COLUMN = 6 };

int mase_cli_page_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_col > WIDTH)
        return WIDTH;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

/* Wrap text that starts in column `at`; further lines are indented; ends the line. */
void mase_cli_wrap(struct mase_str *out, int indent, int at, const char *text)
{
    const int page = mase_cli_page_width();
    bool first = true;
    while (*text) {
        const size_t n = strcspn(text, " ");
        if (!first && at + 1 + (int)n > page) {
            mase_str_addc(out, '\n');
            mase_str_pad(out, ' ', indent);
            at = indent;
            first = true;
        }
        mase_str_add(out, first ? "" : " ");
        mase_str_addn(out, text, n);
        at += (int)n + !first;
        first = false;
        text += n + strspn(text + n, " ");
    }
    mase_str_addc(out, '\n');
}

/* "  term          text", with the text on the next line after a long term. */
static void entry(struct mase_str *out, const char *term, const char *text)
{
    const int width = 2 + (int)strlen(term);
    const int column = mase_cli_page_width() < NARROW ? NARROW_TEXT_COLUMN : TEXT_COLUMN;
    mase_str_printf(out, "  %s", term);
    if (width >= column - 1) {
        mase_str_addc(out, '\n');
        mase_str_pad(out, ' ', column);
    } else {
        mase_str_pad(out, ' ', column - width);
    }
    mase_cli_wrap(out, column, column, text);
}

static bool is_number(const struct mase_cli_option *o)
{
    return o->opt->type == MASE_OPT_TYPE_INT || o->opt->type == MASE_OPT_TYPE_FLOAT;
}

/* The default of num_workers depends on the machine, and is explained in its help. */
static bool has_default(const struct mase_cli_option *o)
{
    return o->opt->text || (is_number(o) && o != &mase_cli_options[MASE_CLI_num_workers]);
}

void mase_cli_option_help(struct mase_str *out, const struct mase_cli_option *o)
{
    mase_str_add(out, o->help ? o->help : o->opt->help);
    if (o->opt->choices || (is_number(o) && !o->positive)) {
        mase_str_add(out, " (");
        mase_opt_describe(out, o->opt);
        mase_str_addc(out, ')');
    }
    if (has_default(o)) {
        mase_str_add(out, " [");
        mase_opt_default(out, o->opt);
        mase_str_addc(out, ']');
    }
}

static void option(struct mase_str *out, const struct mase_cli_option *o)
{
    struct mase_str term = { 0 }, text = { 0 };
    mase_cli_option_usage(&term, o);
    mase_cli_option_help(&text, o);
    entry(out, mase_str_text(&term), mase_str_text(&text));
    mase_str_release(&term);
    mase_str_release(&text);
}

/* The options of a group that the command takes, whether this version uses them or not. */
static void group(struct mase_str *out, const struct mase_cli_command *cmd, enum mase_cli_group g,
                  bool used)
{
    bool any = false;
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        const struct mase_cli_option *o = &mase_cli_options[i];
        if (o->group != g || mase_cli_command_uses(cmd, o) != used ||
            !mase_cli_command_takes(cmd, o))
            continue;
        if (!any)
            mase_str_printf(out, "\n%s:\n", mase_cli_group_titles[g]);
        any = true;
        option(out, o);
    }
}

/* Where the results of an action go, and an example call. */
static const struct {
    const char *command, *results, *example;
} endings[] = {
    { "train",
      "Results go to PROJECT_DIR/PROJECT: run.json says what was run and lists every file written; "
      "software/training_ckpts holds best.ckpt and last.ckpt, which PyTorch reads; beside it are "
      "metrics.csv, training_curve.svg and TensorBoard's files, and of a quantised network "
      "bits.csv. What an earlier training left there moves to PROJECT/version_N.",
      "  ch train jsc-tiny jsc --max-epochs 10 --batch-size 256\n" },
    { "test",
      "Tables go to stdout, or JSON with --json, and the same to "
      "PROJECT_DIR/PROJECT/software/test/run.json. An earlier one moves to PROJECT/version_N.",
      "  ch test jsc-tiny jsc --load best.ckpt\n" },
    { "predict",
      "Outputs go to the file of --output, and what was run to "
      "PROJECT_DIR/PROJECT/software/predict/run.json.",
      "  ch predict jsc-tiny --load best.ckpt --input x.npy --output y.npy --raw\n" },
    { "sweep",
      "Results go to PROJECT_DIR/PROJECT/software/sweep: one file per configuration, sweep.csv and "
      "sweep.svg. What is there already is not trained again; the table of another sweep moves to "
      "PROJECT/version_N.",
      "  ch sweep jsc-tiny jsc --batch-size 64,128,256 --learning-rate 0.1,1e-3\n" },
    { "prune",
      "Results go where those of ch transform go: PROJECT_DIR/PROJECT/run.json and "
      "software/transform, with the pruned network in transformed_ckpt.",
      "  ch prune jsc-toy jsc --load best.ckpt --sparsity 0.5 --scope global\n" },
    { "transform",
      "Results go to PROJECT_DIR/PROJECT: run.json says what was run and lists every file written; "
      "software/transform holds the passes' files and transformed_ckpt. What an earlier transform "
      "left "
      "there moves to PROJECT/version_N.",
      "  ch transform --config configs/examples/jsc_toy_by_type.toml --task cls --cpu=0\n" },
};

static void targets(struct mase_str *out)
{
    mase_str_add(out, "\ntargets:\n");
    for (const struct mase_target *t = mase_targets; t->name; t++)
        entry(out, t->name, t->help);
}

static void help_of(struct mase_str *out, const struct mase_cli_command *cmd)
{
    const bool action = cmd->kind >= MASE_CLI_ACTION;
    mase_str_printf(out, "usage: ch %s%s%s%s\n\n", cmd->name, *cmd->operands ? " " : "",
                    cmd->operands, cmd->kind == MASE_CLI_NOTHING ? "" : " [options]");
    mase_cli_wrap(out, 0, 0, cmd->help);
    if (mase_starts_with(cmd->operands, "TARGET "))
        targets(out);
    for (int g = 0; g < MASE_CLI_GROUP_COUNT; g++)
        group(out, cmd, (enum mase_cli_group)g, true);
    if (!action)
        return;
    mase_str_addc(out, '\n');
    mase_cli_wrap(out, 0, 0,
                  "Accepted, checked, shown in the configuration table and recorded in run.json, "
                  "but of no effect on this command:");
    for (int g = 0; g < MASE_CLI_GROUP_COUNT; g++)
        group(out, cmd, (enum mase_cli_group)g, false);
    mase_str_addc(out, '\n');
    mase_cli_wrap(out, 0, 0,
                  "A value given on the command line wins over the configuration file, and that "
                  "over the default [in brackets]. In the file an option goes by its name in the "
                  "table, such as batch_size; \"NA\" means None.");
    mase_str_addc(out, '\n');
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (mase_streq(endings[i].command, cmd->name)) {
            mase_cli_wrap(out, 0, 0, endings[i].results);
            mase_str_printf(out, "\nexample:\n%s", endings[i].example);
        }
}

static void help_of_ch(struct mase_str *out)
{
    struct mase_str actions = { 0 };
    mase_str_add(&actions, "action to perform. One of ");
    for (const struct mase_cli_command *c = mase_cli_commands; c->name; c++)
        mase_str_printf(&actions, "%s%s", c == mase_cli_commands ? "" : ", ", c->name);

    mase_str_add(out, "usage: ch COMMAND [MODEL] [DATASET] [options]\n\n"
                      "Capture a network as a graph, look into it, quantise it, and prove what "
                      "changed.\n\nmain arguments:\n");
    entry(out, "COMMAND", mase_str_text(&actions));
    option(out, &mase_cli_options[MASE_CLI_model]);
    option(out, &mase_cli_options[MASE_CLI_dataset]);
    mase_str_add(out, "\ncommands (ch COMMAND --help says more):\n");
    for (const struct mase_cli_command *c = mase_cli_commands; c->name; c++)
        entry(out, c->name, c->help);
    group(out, &mase_cli_commands[0], MASE_CLI_GROUP_INFORMATION, true);
    mase_str_add(out,
                 "\nOptions and arguments may come in any order; --option=value is the same as\n"
                 "--option value; -- ends the options. Exit status: 0, or 2 after an error.\n"
                 "\nfirst steps:\n"
                 "  ch --info                            the networks and data sets there are\n"
                 "  ch passes quantize                   what a pass does and its options\n"
                 "  ch train jsc-tiny jsc --max-epochs 10 --batch-size 256\n"
                 "  ch transform --config configs/examples/jsc_toy_by_type.toml\n");
    mase_str_release(&actions);
}

void mase_cli_help(struct mase_str *out, const struct mase_cli_command *cmd)
{
    if (cmd)
        help_of(out, cmd);
    else
        help_of_ch(out);
}

enum mase_status mase_cli_help_command(struct mase_cli *c, struct mase_err *err)
{
    const struct mase_cli_command *cmd = NULL;
    struct mase_str out = { 0 };
    MASE_TRY(mase_cli_operands(c, 1, err));
    if (c->operand_count)
        MASE_TRY(mase_cli_command_find(&cmd, c->operands[0], err));
    mase_cli_help(&out, cmd);
    mase_cli_put(&out);
    mase_str_release(&out);
    return MASE_OK;
}
