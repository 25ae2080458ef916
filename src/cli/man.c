/*
 * man.c - ch man: the manual page, in roff, from the tables.
 */
#include "cli/cli.h"

/* Text with roff's special characters escaped. */
static void add_text(struct mase_str *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        if ((p == text || p[-1] == '\n') && (*p == '.' || *p == '\''))
            mase_str_add(out, "\\&");
        if (*p == '\\')
            mase_str_add(out, "\\e");
        else if (*p == '-')
            mase_str_add(out, "\\-");
        else
            mase_str_addc(out, *p);
    }
}

static void add_entry(struct mase_str *out, const char *term, const char *text)
{
    mase_str_add(out, ".TP\n\\fB");
    add_text(out, term);
    mase_str_add(out, "\\fR\n");
    add_text(out, text);
    mase_str_addc(out, '\n');
}

static void add_option(struct mase_str *out, const struct mase_cli_option *o)
{
    struct mase_str term = { 0 }, text = { 0 };
    mase_cli_option_usage(&term, o);
    mase_cli_option_help(&text, o);
    if (!o->used_by)
        mase_str_add(&text, " (checked and recorded; of no effect in this version)");
    add_entry(out, mase_str_text(&term), mase_str_text(&text));
    mase_str_release(&term);
    mase_str_release(&text);
}

static void add_commands(struct mase_str *out)
{
    mase_str_add(out, ".SH COMMANDS\n");
    for (const struct mase_cli_command *c = mase_cli_commands; c->name; c++) {
        struct mase_str term = { 0 };
        mase_str_printf(&term, "%s %s", c->name, c->operands);
        add_entry(out, mase_str_text(&term), c->help);
        mase_str_release(&term);
    }
}

static void add_options(struct mase_str *out)
{
    mase_str_add(out, ".SH OPTIONS\n");
    for (int g = 0; g < MASE_CLI_GROUP_COUNT; g++) {
        mase_str_printf(out, ".SS %s\n", mase_cli_group_titles[g]);
        for (int i = 0; i < MASE_CLI_COUNT; i++)
            if ((int)mase_cli_options[i].group == g)
                add_option(out, &mase_cli_options[i]);
    }
}

static void add_page(struct mase_str *out)
{
    mase_str_add(out,
                 ".TH CH 1 \"\" \"mase " MASE_VERSION "\" \"User Commands\"\n"
                 ".SH NAME\nch \\- capture a network as a graph, look into it and quantise it\n"
                 ".SH SYNOPSIS\n.B ch\n.I COMMAND\n[\\fIMODEL\\fR] [\\fIDATASET\\fR] "
                 "[\\fIoptions\\fR]\n"
                 ".SH DESCRIPTION\n");
    add_text(out, "Options and arguments may come in any order. --option=value is the same as "
                  "--option value, and -- ends the options. A value given on the command line wins "
                  "over the configuration file, and that over the default, which stands in "
                  "brackets below.\n");
    add_commands(out);
    add_options(out);
    mase_str_add(out, ".SH CONFIGURATION FILES\n");
    add_text(out,
             "TOML. The top level holds options by the names that the configuration table "
             "shows (batch_size for --batch-size), and the sections passes, search, cf_args "
             "and transform. An unknown key is an error. \"NA\" means None. Relative paths are "
             "relative to the current directory. The passes run in the order of the file.\n");
    mase_str_add(out, ".SH FILES\n");
    add_entry(out, "PROJECT_DIR/PROJECT/run.json",
              "what was run: version, command line, effective configuration, seed, timings, "
              "results, and every file written with its SHA-256");
    add_entry(out, "PROJECT_DIR/PROJECT/software/transform/",
              "files of the passes; transformed_ckpt holds the graph, its weights and metadata");
    add_entry(out, "$XDG_CACHE_HOME/mase/, else ~/.cache/mase/",
              "tables that ch data import keeps (jsc.table) and those of files that were read "
              "(jsc-SUM.table); ch data remove removes them");
    add_entry(out, "PROJECT_DIR/PROJECT/version_N/",
              "what earlier runs of the same action left in the project, as they left it");
    mase_str_add(out, ".SH ENVIRONMENT\n");
    add_entry(out, "MASE_DATA",
              "folder or file of datasets where --data-dir is not given; it must "
              "be there");
    add_entry(out, "XDG_CACHE_HOME", "where the cache lies, if it is an absolute path");
    add_entry(out, "NO_COLOR", "set and not empty: no colours, even on a terminal");
    add_entry(
        out, "MASE_MEMORY",
        "how much memory a file or a network may ask for, in bytes or as 512M, 8G; else "
        "a file may take 128 MiB plus 16 times its size, the names put together from it 1 MiB "
        "plus 16 times its size, and a network what the machine has");
    mase_str_add(out, ".SH EXIT STATUS\n");
    add_text(out,
             "0, or 2 after an error, which is explained on the error stream with its place.\n");
}

enum mase_status mase_cli_man(struct mase_cli *c, struct mase_err *err)
{
    struct mase_str out = { 0 };
    MASE_TRY(mase_cli_operands(c, 0, err));
    add_page(&out);
    mase_cli_put(&out);
    mase_str_release(&out);
    return MASE_OK;
}
