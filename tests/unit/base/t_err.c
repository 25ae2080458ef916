/*
 * t_err.c - what a failure carries and how it is printed.
 */
#include "check.h"
#include "run_cases.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include <mase/err.h>

/* What mase_err_print writes; caller frees. */
static char *printed(const struct mase_err *err)
{
    FILE *f = tmpfile();
    assert_non_null(f);
    mase_err_print(f, err);
    char *text = stream_text(f);
    fclose(f);
    return text;
}

static void assert_prints(const struct mase_err *err, const char *expected)
{
    char *text = printed(err);
    assert_string_equal(text, expected);
    free(text);
}

static void a_failure_without_a_place(void **state)
{
    (void)state;
    struct mase_err err = { 0 };
    assert_int_equal(mase_fail(&err, MASE_EVALUE, "width = %d is outside 1..32", 99), MASE_EVALUE);
    assert_int_equal(err.status, MASE_EVALUE);
    assert_null(err.loc.path);
    assert_int_equal(err.loc.off, -1);
    assert_prints(&err, "width = 99 is outside 1..32\n");
    assert_int_equal(mase_fail(NULL, MASE_EIO, "nobody listens"), MASE_EIO);
}

static void places_in_and_at_files(void **state)
{
    (void)state;
    struct mase_err err = { 0 };
    char path[] = "missing.toml";
    mase_fail_in(&err, MASE_EIO, path, "file not found");
    path[0] = 'X'; /* the path was copied */
    assert_ptr_equal(err.loc.path, err.path);
    assert_prints(&err, "missing.toml: file not found\n");
    mase_fail_at(&err, MASE_EPARSE, (struct mase_loc){ .path = "m.npy", .off = 0x1f3c }, "short");
    assert_prints(&err, "m.npy@0x1f3c: short\n");
    mase_fail_at(&err, MASE_EPARSE, (struct mase_loc){ .path = "m.npy", .off = 0 }, "no magic");
    assert_prints(&err, "m.npy@0x0: no magic\n");
    /* The file cannot be read again: the place alone. */
    mase_fail_at(&err, MASE_EPARSE, (struct mase_loc){ .path = "no.toml", .line = 3, .col = 4 },
                 "x");
    assert_prints(&err, "no.toml:3:4: x\n");
    mase_fail_at(&err, MASE_EPARSE, (struct mase_loc){ .path = "no.toml", .line = 3 }, "x");
    assert_prints(&err, "no.toml:3: x\n");
}

static void a_copied_error_still_prints(void **state)
{
    (void)state;
    struct mase_err err = { 0 }, copy;
    mase_fail_in(&err, MASE_EIO, "a.toml", "first");
    copy = err;
    mase_fail_in(&err, MASE_EIO, "b.toml", "second");
    assert_prints(&copy, "a.toml: first\n");
}

static void errno_is_explained(void **state)
{
    (void)state;
    struct mase_err err = { 0 };
    errno = ENOSPC;
    assert_int_equal(mase_fail_errno(&err, "out.csv", "cannot write"), MASE_EIO);
    assert_prints(&err, "out.csv: cannot write: No space left on device\n");
}

static void context_goes_before_the_message(void **state)
{
    (void)state;
    struct mase_err err = { 0 };
    mase_fail_in(&err, MASE_EVALUE, "jsc.toml", "width = %d", 99);
    assert_int_equal(mase_wrap(&err, "pass %s", "quantize"), MASE_EVALUE);
    assert_prints(&err, "jsc.toml: pass quantize: width = 99\n");
    mase_wrap(&err, "again (%s)", err.msg); /* an argument may be the message itself */
    assert_prints(&err, "jsc.toml: again (pass quantize: width = 99): pass quantize: width = 99\n");
    mase_fail(&err, err.status, "only %s", err.msg);
    assert_string_equal(err.msg,
                        "only again (pass quantize: width = 99): pass quantize: width = 99");
}

static void a_place_is_given_once(void **state)
{
    (void)state;
    struct mase_err err = { 0 };
    const struct mase_loc first = { .path = "a.toml", .line = 1, .off = -1 };
    const struct mase_loc second = { .path = "b.toml", .line = 2, .off = -1 };
    mase_fail(&err, MASE_EVALUE, "unknown key");
    assert_int_equal(mase_place(&err, first), MASE_EVALUE);
    mase_place(&err, second);
    assert_string_equal(err.path, "a.toml");
    assert_int_equal(err.loc.line, 1);
    mase_fail_at(&err, MASE_EVALUE, err.loc, "its own place"); /* path is err.path itself */
    assert_string_equal(err.path, "a.toml");
}

static void long_texts_are_cut_at_a_character(void **state)
{
    (void)state;
    struct mase_err err = { 0 };
    char text[4001];
    for (int i = 0; i < 4000; i += 2)
        memcpy(text + i, "é", 2);
    text[4000] = '\0';
    for (int shift = 0; shift < 2; shift++) {
        mase_fail_in(&err, MASE_EVALUE, text, "%*s%s", shift, "", text);
        const size_t n = strlen(err.msg), m = strlen(err.path);
        assert_true(n < sizeof(err.msg) && n > sizeof(err.msg) - 8);
        assert_string_equal(err.msg + n - 3, "...");
        assert_string_equal(err.msg + n - 5, "é...");
        assert_string_equal(err.path + m - 5, "é...");
    }
}

struct excerpt {
    const char *content;
    int line, col, span;
    const char *shown; /* below the message */
};

static const struct excerpt excerpts[] = {
    { "a = 1\nwidth = 99\n", 2, 9, 2, "    2 | width = 99\n      |         ^~\n" },
    { "width = 99", 1, 9, 0, "    1 | width = 99\n      |         ^\n" },
    { "width = 99", 1, 1, 5, "    1 | width = 99\n      | ^~~~~\n" },
    { "width =\n", 1, 8, 1, "    1 | width =\n      |        ^\n" },  /* at the end of the line */
    { "width =\n", 1, 30, 4, "    1 | width =\n      |        ^\n" }, /* behind it */
    { "width = 9\n", 1, 9, 40, "    1 | width = 9\n      |         ^\n" }, /* too long a span */
    { "w = 9\r\nx = 1\r\n", 1, 5, 1, "    1 | w = 9\n      |     ^\n" },
    { "\tw = 9\n", 1, 6, 1, "    1 |     w = 9\n      |         ^\n" },
    { "größe = 9\n", 1, 11, 1, "    1 | größe = 9\n      |         ^\n" },
    { "n = \"größe\"\n", 1, 5, 9, "    1 | n = \"größe\"\n      |     ^~~~~~~\n" },
    { "a\033[31mb\001\177 = 1\n", 1, 9, 1,
      "    1 | a\\x1b[31mb\\x01\\x7f = 1\n      |               ^\n" },
    { "a\xff\xc3[ \xc2\x9b"
      "31m\n",
      1, 2, 1, "    1 | a\\xff\\xc3[ \\xc2\\x9b31m\n      |  ^\n" },
    { "x\xe2\x80\xaey = 1\n", 1, 1, 1,
      "    1 | x\\xe2\\x80\\xaey = 1\n      | ^\n" }, /* turns text round */
    { "a = 1\n", 1, 0, 0, "    1 | a = 1\n" },        /* no column known */
    { "a = 1\n", 2, 1, 1, "" },                       /* no such line */
    { "a = 1\n", 200, 1, 1, "" },
    { "", 1, 1, 1, "" },
    { "short now\n", 1, 500, 1, "    1 | ...\n      |    ^\n" },
    { "\n\n", 2, 1, 1, "    2 | \n      | ^\n" },
};

static void the_line_is_shown_with_a_caret(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "e.toml");
    for (int i = 0; i < COUNT(excerpts); i++) {
        const struct excerpt *e = &excerpts[i];
        struct mase_err err = { 0 };
        write_text(path, e->content, strlen(e->content));
        const struct mase_loc at = {
            .path = path, .line = e->line, .col = e->col, .span = e->span
        };
        mase_fail_at(&err, MASE_EVALUE, at, "wrong");
        struct mase_str expected = { 0 };
        mase_str_printf(&expected, "%s:%d", path, e->line);
        if (e->col)
            mase_str_printf(&expected, ":%d", e->col);
        mase_str_printf(&expected, ": wrong\n%s", e->shown);
        assert_prints(&err, mase_str_text(&expected));
        mase_str_release(&expected);
    }
    folder_remove(&dir);
}

/* A line of 3000 digits, fault at col: the shown line is short and the caret is under that byte. */
static void assert_window(const char *path, int col)
{
    struct mase_err err = { 0 };
    const struct mase_loc at = { .path = path, .line = 1, .col = col, .span = 1 };
    mase_fail_at(&err, MASE_EVALUE, at, "wrong");
    char *text = printed(&err);
    char *shown = strchr(text, '\n') + 1, *caret = strchr(shown, '\n') + 1;
    const size_t column = strcspn(caret, "^");
    assert_true(caret - shown < 100);
    assert_int_equal(shown[column], 'a' + (col - 1) % 26);
    free(text);
}

static void long_lines_are_trimmed_around_the_caret(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "long.json");
    char line[3000];
    for (int i = 0; i < 3000; i++)
        line[i] = (char)('a' + i % 26);
    write_text(path, line, 3000);
    for (int col = 1; col <= 3000; col++)
        assert_window(path, col);
    folder_remove(&dir);
}

static void windows_do_not_split_characters(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "long.toml");
    char line[1200];
    for (int i = 0; i < 1200; i += 3)
        memcpy(line + i, "本", 3);
    write_text(path, line, sizeof(line));
    for (int col = 1; col < 1200; col++) {
        struct mase_err err = { 0 };
        const struct mase_loc at = { .path = path, .line = 1, .col = col };
        mase_fail_at(&err, MASE_EVALUE, at, "wrong");
        char *text = printed(&err);
        assert_null(strchr(strchr(text, '\n'), '?'));
        free(text);
    }
    folder_remove(&dir);
}

static void a_pipe_is_not_opened_again(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    const char *path = folder_at(&dir, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    struct mase_err err = { 0 };
    mase_fail_at(&err, MASE_EPARSE, (struct mase_loc){ .path = path, .line = 1, .col = 1 }, "x");
    /* Opening it would wait for ever. */
    assert_prints(&err, mase_arena_printf(&dir.arena, "%s:1:1: x\n", path));
    folder_remove(&dir);
}

static void messages_cannot_drive_the_terminal(void **state)
{
    (void)state;
    struct mase_err err = { 0 };
    mase_fail_in(&err, MASE_EVALUE, "a\033]0;x", "unknown key \"\033[2J\"\nknown: größe");
    assert_prints(&err, "a\\x1b]0;x: unknown key \"\\x1b[2J\"\\nknown: größe\n");
}

static enum mase_status half(int n, struct mase_err *err)
{
    return n % 2 ? mase_fail(err, MASE_EVALUE, "%d is odd", n) : MASE_OK;
}

static enum mase_status halve_both(int a, int b, struct mase_err *err)
{
    MASE_TRY(half(a, err));
    MASE_TRY(half(b, err));
    return MASE_OK;
}

static void try_returns_the_first_failure(void **state)
{
    (void)state;
    struct mase_err err = { 0 };
    assert_int_equal(halve_both(2, 4, &err), MASE_OK);
    assert_int_equal(halve_both(3, 5, &err), MASE_EVALUE);
    assert_string_equal(err.msg, "3 is odd");
}

static void a_bug_says_where_and_aborts(void **state)
{
    (void)state;
    int fds[2], status;
    assert_int_equal(pipe(fds), 0);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(fds[1], STDERR_FILENO);
        mase_bug_at("graph.c", 12, "operand %d has no shape", 3);
    }
    close(fds[1]);
    char said[128];
    read_all(fds[0], said, sizeof(said));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_string_equal(said, "graph.c:12: bug: operand 3 has no shape\n");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_without_a_place),
        cmocka_unit_test(places_in_and_at_files),
        cmocka_unit_test(a_copied_error_still_prints),
        cmocka_unit_test(errno_is_explained),
        cmocka_unit_test(context_goes_before_the_message),
        cmocka_unit_test(a_place_is_given_once),
        cmocka_unit_test(long_texts_are_cut_at_a_character),
        cmocka_unit_test(the_line_is_shown_with_a_caret),
        cmocka_unit_test(long_lines_are_trimmed_around_the_caret),
        cmocka_unit_test(windows_do_not_split_characters),
        cmocka_unit_test(a_pipe_is_not_opened_again),
        cmocka_unit_test(messages_cannot_drive_the_terminal),
        cmocka_unit_test(try_returns_the_first_failure),
        cmocka_unit_test(a_bug_says_where_and_aborts),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
