/*
 * t_settings.c - precedence of the three sources of an option, and the table that shows them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase/file.h>
#include <mase/log.h>

#include "cli/cli.h"
#include "run_cases.h"

static char folder[] = "/tmp/mase_t_settings_XXXXXX", config[64];

/* Write the file, parse `ch transform --config FILE --batch-size given`, merge. */
static enum mase_status merge(struct mase_cli *c, const char *text, char *given,
                              struct mase_err *err)
{
    static char ch[] = "ch", transform[] = "transform", with[] = "--config",
                size[] = "--batch-size";
    static char *argv[8];
    int argc = 0;
    char *const words[] = { ch, transform, with, config, size, given };
    for (int i = 0; i < (given ? 6 : 4); i++)
        argv[argc++] = words[i];
    *c = (struct mase_cli){ 0 };
    *err = (struct mase_err){ 0 };
    assert_int_equal(mase_file_write(config, text, strlen(text), err), MASE_OK);
    assert_int_equal(mase_cli_parse(c, argc, argv, err), MASE_OK);
    return mase_cli_merge(c, err);
}

static void precedence(void **state)
{
    static char same[] = "128", other[] = "7";
    static const struct {
        const char *file;
        char *given;
        int64_t effective;
    } cases[] = {
        { "", NULL, 128 }, { "batch_size = 512\n", NULL, 512 }, { "batch_size = 128\n", NULL, 128 },
        { "", other, 7 },  { "batch_size = 512\n", other, 7 },  { "batch_size = 512\n", same, 128 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mase_cli c;
        struct mase_err err;
        assert_int_equal(merge(&c, cases[i].file, cases[i].given, &err), MASE_OK);
        assert_int_equal(mase_cli_value(&c, MASE_CLI_batch_size)->i, cases[i].effective);
        assert_true((c.setting[MASE_CLI_batch_size].file != NULL) == (cases[i].file[0] != '\0'));
        mase_cli_release(&c);
    }
}

static void mistakes_keep_their_place(void **state)
{
    static const struct {
        const char *file;
        int line, col;
    } cases[] = {
        { "bach_size = 1\n", 1, 1 },     { "seed = 1\nbatch_size = 0\n", 2, 14 },
        { "[passes.quantise]\n", 1, 9 }, { "seed = 1\n[search]\n", 2, 2 },
        { "passes = [1]\n", 1, 10 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mase_cli c;
        struct mase_err err;
        assert_int_not_equal(merge(&c, cases[i].file, NULL, &err), MASE_OK);
        assert_string_equal(err.path, config);
        assert_int_equal(err.loc.line, cases[i].line);
        assert_int_equal(err.loc.col, cases[i].col);
        mase_cli_release(&c);
    }
}

/* Lines of the table that name the option; NULL when there is none. */
static const char *line_of(const struct mase_str *table, const char *name, char *line, size_t size)
{
    const char *at = strstr(mase_str_text(table), name);
    assert_non_null(at);
    while (at[-1] != '\n')
        at--;
    snprintf(line, size, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

static void grey_marks_what_lost(void **state)
{
    static char given[] = "9";
    struct mase_cli c;
    struct mase_err err;
    struct mase_str plain = { 0 }, coloured = { 0 };
    char line[256];
    (void)state;
    assert_int_equal(merge(&c, "batch_size = 512\nseed = 3\n", given, &err), MASE_OK);
    const struct mase_table t = mase_cli_config_table(&c.arena, &c, false);
    const struct mase_table grey = mase_cli_config_table(&c.arena, &c, true);
    mase_table_render(&t, MASE_TABLE_PRETTY, &plain);
    mase_table_render(&grey, MASE_TABLE_PRETTY, &coloured);
    assert_null(strchr(mase_str_text(&plain), '\033'));
    line_of(&coloured, " batch_size ", line, sizeof line);
    assert_non_null(strstr(line, "\033[38;5;8m128\033[0m"));
    assert_non_null(strstr(line, "\033[38;5;8m512\033[0m"));
    line_of(&coloured, " seed ", line, sizeof line);
    assert_non_null(strstr(line, "\033[38;5;8m0\033[0m"));
    assert_null(strstr(line, "\033[38;5;8m3\033[0m"));
    line_of(&coloured, " task ", line, sizeof line);
    assert_null(strchr(line, '\033'));
    mase_str_release(&plain);
    mase_str_release(&coloured);
    mase_cli_release(&c);
}

static int make_folder(void **state)
{
    (void)state;
    mase_log_set_level(MASE_ERROR);
    if (!mkdtemp(folder))
        return -1;
    snprintf(config, sizeof config, "%s/c.toml", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return unlink(config) || rmdir(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence),
        cmocka_unit_test(mistakes_keep_their_place),
        cmocka_unit_test(grey_marks_what_lost),
    };
    return run_cases(argc, argv, tests, make_folder, remove_folder);
}
