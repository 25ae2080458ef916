/*
 * t_texts.c - texts that nobody expects, as the value of every option of every command and pass, as
 * every operand, and at every place of a configuration: each is taken or refused with status 2, and
 * none ends the program in another way. The cases come from the tables, so a new option is among
 * them.
 */
#define _XOPEN_SOURCE 700 /* nftw */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mase/file.h>
#include <mase/npy.h>
#include <mase/pass.h>

#include "cli/cli.h"
#include "pass/analysis/stat.h"
#include "run_cases.h"

enum { WORDS = 64, SECONDS = 60, REFUSED = 2 };

static char long_name[301], long_path[5001],
    *texts[] = {
        "NA", "None", "", "=", "%s%n", "\033[31m", long_name, long_path, NULL,
    };

/* What each command does here when nothing is odd. */
static const struct {
    const char *command, *words;
} works[] = {
    { "train", "--config c.toml --max-steps 1 --max-epochs 1" },
    { "test", "--config c.toml --load saved" },
    { "verify", "--config c.toml --load saved" },
    { "predict", "--config c.toml --load saved --input x.npy --output y.npy" },
    { "emit", "c toy --config c.toml --load saved --output emitted" },
    { "transform", "--config c.toml" },
    { "prune", "--config c.toml --sparsity 0.5" },
    { "calibrate", "--config c.toml --load saved" },
    { "sweep", "--config c.toml --max-steps 1 --max-epochs 1 --learning-rate 0.1,0.2" },
    { "search", "--config c.toml --trials 2 --workers 1" },
    { "data", "info toy_tiny" },
    { "show", "toy --config c.toml" },
    { "explain", "toy --config c.toml" },
    { "diff", "toy --config c.toml" },
    { "weights", "toy --config c.toml" },
    { "trace", "toy --config c.toml" },
    { "report", "mase_output/run" },
    { "convert", "toy out.mg --config c.toml --force" },
    { "study", "show mase_output/search" },
    { "passes", "" },
    { "ops", "" },
    { "formats", "integer" },
    { "help", "" },
    { "completion", "bash" },
    { "man", "" },
};

static const char config[] = "model = \"toy\"\ndataset = \"toy_tiny\"\n"
                             "[passes.quantize]\nby = \"type\"\n"
                             "default.config.name = \"NA\"\n"
                             "[passes.quantize.linear.config]\nname = \"integer\"\n"
                             "data_in_width = 8\ndata_in_frac_width = 4\nweight_width = 8\n"
                             "weight_frac_width = 4\nbias_width = 8\nbias_frac_width = 4\n"
                             "[search.search_space]\n"
                             "name = \"graph/quantize/mixed_precision_ptq\"\n"
                             "seed.default.config.name = [\"NA\"]\nsetup.by = \"type\"\n"
                             "seed.linear.config.name = [\"NA\", \"bfloat16\"]\n"
                             "[search.strategy]\nname = \"optuna\"\n"
                             "sw_runner.basic_evaluation.num_samples = 8\n"
                             "setup.sampler = \"random\"\n"
                             "metrics.loss.direction = \"minimize\"\n";

/* ---- a folder, and one run of ch in it ---- */

static char folder[64];

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

struct line {
    int count;
    const char *words[WORDS];
};

static void add_word(struct line *l, const char *word)
{
    assert_true(l->count < WORDS);
    l->words[l->count++] = word;
}

static struct line line_of(struct mase_arena *a, const char *command, const char *words)
{
    struct line l = { .count = 2, .words = { "ch", command } };
    char *rest = NULL, *copy = mase_arena_strdup(a, words);
    for (char *s = strtok_r(copy, " ", &rest); s; s = strtok_r(NULL, " ", &rest))
        add_word(&l, s);
    return l;
}

/* In a process of its own, as main does it: 0 or 2. */
static void child(struct line *l)
{
    struct mase_cli c = { 0 };
    struct mase_err err = { 0 };
    static const int cmockas[] = { SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS };
    for (size_t i = 0; i < sizeof cmockas / sizeof cmockas[0]; i++)
        signal(cmockas[i], SIG_DFL);
    const int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(out, 1);
    dup2(out, 2);
    alarm(SECONDS);
    enum mase_status st = mase_cli_parse(&c, l->count, (char **)l->words, &err);
    if (!st && c.command)
        st = c.command->run(&c, &err);
    fflush(stdout);
    if (st)
        mase_err_print(stderr, &err);
    mase_cli_release(&c);
    _exit(st ? REFUSED : 0);
}

static int run(struct line *l)
{
    int how;
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child(l);
    assert_int_equal(waitpid(pid, &how, 0), pid);
    return how;
}

/* The configuration of the case that failed. */
static void print_file(const char *path)
{
    char text[4096];
    FILE *f = fopen(path, "r");
    const size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    print_error("%s\n", text);
    if (f)
        fclose(f);
}

/* One line in two, with MASE_QUICK one in seven: other texts for each option. */
static void must_end_well(struct line *l)
{
    static int lines;
    if (lines++ % (getenv("MASE_QUICK") ? 7 : 2))
        return;
    const int how = run(l);
    if (WIFEXITED(how) && (WEXITSTATUS(how) == 0 || WEXITSTATUS(how) == REFUSED))
        return;
    for (int i = 0; i < l->count; i++)
        print_error("%.80s ", l->words[i]);
    print_error("\n");
    print_file("h.toml");
    fail_msg("%s %d", WIFSIGNALED(how) ? "ended by signal" : "status",
             WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
}

static int set_up(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    const struct mase_shape shape = { 4, { 2, 1, 2, 2 } };
    const char *tmp = getenv("TMPDIR");
    memset(long_name, 'n', sizeof long_name - 1);
    memset(long_path, '/', sizeof long_path - 1);
    for (size_t i = 0; i < sizeof long_path - 1; i++)
        long_path[i] = i % 50 == 49 ? '/' : 'p';
    snprintf(folder, sizeof folder, "%.40s/mase-texts-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    setenv("XDG_CACHE_HOME", folder, 1);
    unsetenv("MASE_DATA");
    write_text("c.toml", config);
    const struct mase_tensor x = mase_tensor(&a, MASE_F32, &shape, true);
    if (mase_npy_write(&x, "x.npy", &err))
        return 1;
    struct line convert = line_of(&a, "convert", "toy saved");
    struct line transform = line_of(&a, "transform", "--config c.toml --project run");
    struct line search = line_of(&a, "search", "--config c.toml --trials 2 --project search");
    const int how = run(&convert) | run(&transform) | run(&search);
    mase_arena_release(&a);
    return how;
}

/* Paths within may be longer than the C library walks. */
static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return chdir("/") || system(command);
}

/* ---- the cases ---- */

static const char *work_of(const char *command)
{
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        if (mase_streq(works[i].command, command))
            return works[i].words;
    fail_msg("works[] has no row for the command '%s'", command);
    return NULL;
}

static void every_command_works_here(void **state)
{
    (void)state;
    for (const struct mase_cli_command *cmd = mase_cli_commands; cmd->name; cmd++) {
        struct mase_arena a = { 0 };
        struct line l = line_of(&a, cmd->name, work_of(cmd->name));
        const int how = run(&l);
        if (how)
            fail_msg("ch %s %s: %d", cmd->name, work_of(cmd->name), how);
        mase_arena_release(&a);
    }
}

/* Numbers and choices are read the same way for whoever takes them: one command is enough. */
static bool is_worth_it(const struct mase_cli_option *o, bool *seen)
{
    const bool text = o->opt->type == MASE_OPT_TYPE_TEXT || o->opt->type == MASE_OPT_TYPE_PATH;
    const bool first = !*seen;
    *seen = true;
    return o->metavar && (text || first);
}

static void every_option_of_every_command(void **state)
{
    (void)state;
    bool seen[MASE_CLI_COUNT] = { false };
    for (const struct mase_cli_command *cmd = mase_cli_commands; cmd->name; cmd++)
        for (int i = 0; i < MASE_CLI_COUNT; i++) {
            const struct mase_cli_option *o = &mase_cli_options[i];
            if (!mase_cli_command_takes(cmd, o) || !is_worth_it(o, &seen[i]))
                continue;
            for (char **text = texts; *text; text++) {
                struct mase_arena a = { 0 };
                struct line l = line_of(&a, cmd->name, work_of(cmd->name));
                const char *spelt = o->spellings;
                add_word(&l,
                         mase_arena_printf(&a, "%.*s=%s", (int)strcspn(spelt, " "), spelt, *text));
                must_end_well(&l);
                mase_arena_release(&a);
            }
        }
}

static void every_operand_of_every_command(void **state)
{
    (void)state;
    for (const struct mase_cli_command *cmd = mase_cli_commands; cmd->name; cmd++)
        for (char **text = texts; *text; text++)
            for (int at = 2; at < 4; at++) {
                struct mase_arena a = { 0 };
                struct line l = line_of(&a, cmd->name, work_of(cmd->name));
                if (at > l.count)
                    add_word(&l, "integer");
                if (at == l.count || l.words[at][0] == '-')
                    memmove(&l.words[at + 1], &l.words[at],
                            (size_t)(l.count++ - at) * sizeof l.words[0]);
                l.words[at] = *text;
                must_end_well(&l);
                mase_arena_release(&a);
            }
}

/* ---- configurations ---- */

static void run_config(struct mase_arena *a, const struct mase_value *root)
{
    struct mase_str text = { 0 };
    mase_toml_print(&text, root);
    write_text("h.toml", mase_str_text(&text));
    mase_str_release(&text);
    struct line l = line_of(a, "transform", "--config h.toml");
    must_end_well(&l);
}

/* Each text in place of the value, and in a list. */
static void try_texts(struct mase_arena *a, const struct mase_value *root, struct mase_value *table,
                      const char *key)
{
    for (char **text = texts; *text; text++) {
        struct mase_value *list = mase_value_list(a), *v = mase_value_string(a, *text);
        mase_value_set(a, table, key, v);
        run_config(a, root);
        mase_value_push(a, list, v);
        mase_value_set(a, table, key, list);
        run_config(a, root);
    }
}

static struct mase_value *parse(struct mase_arena *a, const char *text)
{
    struct mase_value *root = NULL;
    struct mase_err err = { 0 };
    if (mase_toml_parse(&root, a, text, strlen(text), "test.toml", &err))
        fail_msg("%s", err.msg);
    return root;
}

static void every_key_of_a_file(void **state)
{
    (void)state;
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        struct mase_arena a = { 0 };
        struct mase_value *root = parse(&a, config);
        if (mase_cli_options[i].flags & MASE_CLI_KEY)
            try_texts(&a, root, root, mase_cli_options[i].key);
        mase_arena_release(&a);
    }
}

/* What a pass needs beside the option in question. */
static struct mase_value *needs_of(struct mase_arena *a, const char *pass)
{
    return parse(a, mase_streq(pass, "quantize") ? "by = \"type\"\ndefault.config.name = \"NA\"\n"
                    : mase_streq(pass, "profile_statistics")
                        ? "target_weight_nodes = \"all\"\ntarget_activation_nodes = \"all\"\n"
                          "num_samples = 2\nweight_statistics.sparsity = {}\n"
                          "activation_statistics.sparsity = {}\n"
                        : "");
}

/* A configuration with one pass, whose table is *args. */
static struct mase_value *with_pass(struct mase_arena *a, const char *pass,
                                    struct mase_value **args)
{
    struct mase_value *root = parse(a, "model = \"toy\"\ndataset = \"toy_tiny\"\n");
    struct mase_value *passes = mase_value_table(a);
    *args = needs_of(a, pass);
    mase_value_set(a, passes, pass, *args);
    mase_value_set(a, root, "passes", passes);
    return root;
}

static void every_option_of_every_pass(void **state)
{
    (void)state;
    const struct mase_pass *p;
    for (int i = 0; (p = mase_pass_at(i)); i++)
        for (const struct mase_opt *row = p->opts; row && row->type; row++) {
            struct mase_arena a = { 0 };
            struct mase_value *args, *root = with_pass(&a, p->name, &args);
            try_texts(&a, root, args, row->key);
            mase_arena_release(&a);
        }
}

static void every_argument_of_every_statistic(void **state)
{
    (void)state;
    for (const struct mase_stat_kind *kind = mase_stat_kinds; kind->name; kind++)
        for (const struct mase_opt *row = kind->opts; row->type; row++) {
            struct mase_arena a = { 0 };
            struct mase_value *args, *root = with_pass(&a, "profile_statistics", &args);
            struct mase_value *chosen = mase_value_table(&a), *arguments = mase_value_table(&a);
            mase_value_set(&a, chosen, kind->name, arguments);
            mase_value_set(&a, args, "weight_statistics", chosen);
            try_texts(&a, root, arguments, row->key);
            mase_arena_release(&a);
        }
}

/* Every value of the tree, one after the other. */
static void try_leaves(struct mase_arena *a, const struct mase_value *root,
                       struct mase_value *table)
{
    for (int i = 0; i < table->count; i++) {
        struct mase_value *was = table->items[i];
        if (was->kind == MASE_TABLE)
            try_leaves(a, root, was);
        try_texts(a, root, table, table->keys[i]);
        mase_value_set(a, table, table->keys[i], was);
    }
}

static void every_value_of_a_configuration(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_value *root = NULL;
    if (mase_toml_read(&root, &a, MASE_SOURCE_DIR "/configs/examples/jsc_toy_by_type.toml", &err))
        fail_msg("%s", err.msg);
    try_leaves(&a, root, root);
    root =
        parse(&a, "dataset = \"toy_tiny\"\n[model]\nname = \"own\"\n"
                  "layers = [\"Flatten()\", \"Linear(4, 2)\"]\n[transform]\nstyle = \"graph\"\n");
    try_leaves(&a, root, root);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_works_here),
        cmocka_unit_test(every_option_of_every_command),
        cmocka_unit_test(every_operand_of_every_command),
        cmocka_unit_test(every_key_of_a_file),
        cmocka_unit_test(every_option_of_every_pass),
        cmocka_unit_test(every_argument_of_every_statistic),
        cmocka_unit_test(every_value_of_a_configuration),
    };
    return run_cases(argc, argv, tests, set_up, tear_down);
}
