/*
 * t_log.c - the log and the progress bar, into a file and onto a (pseudo) terminal.
 */
#define _XOPEN_SOURCE 700 /* posix_openpt */
#include "check.h"
#include "run_cases.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <mase/log.h>
#include <mase/progress.h>

/* A terminal to write to; what was written is read from its other side. */
struct terminal {
    int master;
    FILE *out;
};

static struct terminal terminal_open(void)
{
    struct terminal t = { .master = posix_openpt(O_RDWR | O_NOCTTY) };
    if (t.master < 0) {
        print_message("skipped: this machine gives no terminals\n");
        skip();
    }
    assert_int_equal(grantpt(t.master), 0);
    assert_int_equal(unlockpt(t.master), 0);
    t.out = fopen(ptsname(t.master), "w");
    assert_non_null(t.out);
    return t;
}

/* How long something took is not what is tested: 1.7 s becomes 0.0 s, and 3 s left 0 s left. */
static void zero_times(char *text)
{
    for (char *s = text; (s = strstr(s, " s")); s++) {
        const bool tenths = s - text >= 3 && s[-2] == '.';
        if (tenths)
            s[-1] = s[-3] = '0';
        else if (s > text && strncmp(s, " s left", 7) == 0)
            s[-1] = '0';
    }
}

/* What was written since the last look. The terminal turns \n into \r\n. A terminal delivers when
 * it likes, so a mark is sent after the text and waited for. */
static const char *terminal_text(const struct terminal *t, char text[4096])
{
    enum { MARK = '\001' };
    size_t len = 0;
    fputc(MARK, t->out);
    fflush(t->out);
    do {
        assert_true(len < 4096);
        const ssize_t n = read(t->master, text + len, 4096 - len);
        assert_true(n > 0);
        len += (size_t)n;
    } while (text[len - 1] != MARK);
    text[len - 1] = '\0';
    zero_times(text);
    return text;
}

static void terminal_close(struct terminal *t)
{
    mase_log_set_stream(NULL);
    fclose(t->out);
    close(t->master);
}

static int plain_environment(void **state)
{
    (void)state;
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    mase_log_set_level(MASE_INFO);
    return 0;
}

static void messages_in_a_file_are_plain(void **state)
{
    (void)state;
    FILE *f = tmpfile();
    assert_non_null(f);
    mase_log_set_stream(f);
    mase_log_set_level(MASE_DEBUG);
    mase_debug("d");
    mase_info("number %d", 7);
    mase_warn("%s", "two\nINFO     lines\033[2J"); /* a name may say what it likes */
    mase_log(MASE_ERROR, "e");
    mase_log(MASE_CRITICAL, "c");
    mase_log_set_stream(NULL);
    char *text = stream_text(f);
    assert_string_equal(
        text, "DEBUG    d\nINFO     number 7\nWARNING  two\\nINFO     lines\\x1b[2J\nERROR    e\n"
              "CRITICAL c\n");
    free(text);
    fclose(f);
}

static void levels_hide_what_is_below(void **state)
{
    (void)state;
    for (int shown = MASE_DEBUG; shown <= MASE_CRITICAL; shown++) {
        FILE *f = tmpfile();
        assert_non_null(f);
        mase_log_set_stream(f);
        mase_log_set_level((enum mase_log_level)shown);
        assert_int_equal(mase_log_get_level(), shown);
        for (int level = MASE_DEBUG; level <= MASE_CRITICAL; level++)
            mase_log((enum mase_log_level)level, "x");
        mase_log_set_stream(NULL);
        char *text = stream_text(f);
        int lines = 0;
        for (const char *s = text; *s; s++)
            lines += *s == '\n';
        assert_int_equal(lines, MASE_CRITICAL - shown + 1);
        free(text);
        fclose(f);
    }
    assert_string_equal(mase_log_level_names[MASE_WARNING], "warning");
}

static void a_terminal_gets_colours(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "\033[36mDEBUG   \033[0m \033[34mm\033[0m\r\n",
        "\033[32mINFO    \033[0m \033[34mm\033[0m\r\n",
        "\033[33mWARNING \033[0m \033[34mm\033[0m\r\n",
        "\033[31mERROR   \033[0m \033[34mm\033[0m\r\n",
        "\033[31;47mCRITICAL\033[0m \033[34mm\033[0m\r\n",
    };
    struct terminal t = terminal_open();
    char text[4096];
    mase_log_set_stream(t.out);
    mase_log_set_level(MASE_DEBUG);
    for (int level = MASE_DEBUG; level <= MASE_CRITICAL; level++) {
        mase_log((enum mase_log_level)level, "m");
        assert_string_equal(terminal_text(&t, text), expected[level]);
    }
    terminal_close(&t);
}

static void colours_can_be_refused(void **state)
{
    (void)state;
    struct terminal t = terminal_open();
    char text[4096];
    mase_log_set_stream(t.out);
    assert_true(mase_use_colour(t.out));
    setenv("NO_COLOR", "", 1); /* empty means unset */
    assert_true(mase_use_colour(t.out));
    setenv("NO_COLOR", "1", 1);
    assert_false(mase_use_colour(t.out));
    mase_info("m");
    assert_string_equal(terminal_text(&t, text), "INFO     m\r\n");
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    assert_false(mase_use_colour(t.out));
    struct mase_progress p;
    mase_progress_start(&p, "Profiling", 2);
    assert_string_equal(terminal_text(&t, text), ""); /* nor can it redraw a line */
    terminal_close(&t);
}

static void progress_in_a_file_is_one_line(void **state)
{
    (void)state;
    FILE *f = tmpfile();
    assert_non_null(f);
    mase_log_set_stream(f);
    struct mase_progress p;
    mase_progress_start(&p, "Profiling", 40);
    for (int i = 1; i <= 40; i++)
        mase_progress_step(&p, i);
    snprintf(p.note, sizeof(p.note), "loss 0.71");
    mase_progress_end(&p);
    mase_log_set_stream(NULL);
    char *text = stream_text(f);
    zero_times(text);
    assert_string_equal(text, "INFO     Profiling: 40/40 in 0.0 s, loss 0.71\n");
    free(text);
    fclose(f);
}

static void progress_is_hidden_with_its_level(void **state)
{
    (void)state;
    struct terminal t = terminal_open();
    char text[4096];
    mase_log_set_stream(t.out);
    mase_log_set_level(MASE_WARNING);
    struct mase_progress p;
    mase_progress_start(&p, "Profiling", 2);
    p.drawn = 0; /* long ago */
    mase_progress_step(&p, 1);
    mase_progress_end(&p);
    assert_string_equal(terminal_text(&t, text), "");
    terminal_close(&t);
}

static void progress_on_a_terminal_is_redrawn(void **state)
{
    (void)state;
    struct terminal t = terminal_open();
    char text[4096];
    setenv("NO_COLOR", "1", 1);
    mase_log_set_stream(t.out);
    struct mase_progress p;
    mase_progress_start(&p, "Profiling", 4);
    assert_string_equal(terminal_text(&t, text),
                        "\r\033[KProfiling  [........................]   0%  0/4  0.0 s");
    p.drawn = mase_clock() + 1000000000000u; /* however slow this machine is: too soon */
    mase_progress_step(&p, 1);
    assert_string_equal(terminal_text(&t, text), "");
    p.drawn = 0;
    mase_progress_step(&p, 2);
    assert_string_equal(terminal_text(&t, text),
                        "\r\033[KProfiling  [############............]  50%  2/4  0.0 s, 0 s left");
    mase_info("between"); /* takes the line away first */
    assert_string_equal(terminal_text(&t, text), "\r\033[KINFO     between\r\n");
    p.drawn = 0;
    mase_progress_step(&p, 9); /* more than promised */
    assert_string_equal(terminal_text(&t, text),
                        "\r\033[KProfiling  [########################] 100%  9/4  0.0 s");
    mase_progress_end(&p);
    assert_string_equal(terminal_text(&t, text), "\r\033[KINFO     Profiling: 9/4 in 0.0 s\r\n");
    terminal_close(&t);
}

static void progress_fits_the_terminal(void **state)
{
    (void)state;
    struct terminal t = terminal_open();
    char text[4096];
    const struct winsize narrow = { .ws_row = 5, .ws_col = 20 };
    assert_int_equal(ioctl(t.master, TIOCSWINSZ, &narrow), 0);
    mase_log_set_stream(t.out);
    struct mase_progress p;
    mase_progress_start(&p, "Größe", 0);
    p.drawn = 0;
    terminal_text(&t, text);
    snprintf(p.note, sizeof(p.note), "a note that cannot fit");
    mase_progress_step(&p, 3);
    assert_string_equal(terminal_text(&t, text), "\r\033[KGröße  3  0.0 s  a ");
    terminal_close(&t);
}

static void the_clock_moves_forward(void **state)
{
    (void)state;
    uint64_t last = mase_clock();
    for (int i = 0; i < 1000; i++) {
        const uint64_t now = mase_clock();
        assert_true(now >= last);
        last = now;
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(messages_in_a_file_are_plain, plain_environment),
        cmocka_unit_test_setup(levels_hide_what_is_below, plain_environment),
        cmocka_unit_test_setup(a_terminal_gets_colours, plain_environment),
        cmocka_unit_test_setup(colours_can_be_refused, plain_environment),
        cmocka_unit_test_setup(progress_in_a_file_is_one_line, plain_environment),
        cmocka_unit_test_setup(progress_is_hidden_with_its_level, plain_environment),
        cmocka_unit_test_setup(progress_on_a_terminal_is_redrawn, plain_environment),
        cmocka_unit_test_setup(progress_fits_the_terminal, plain_environment),
        cmocka_unit_test(the_clock_moves_forward),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
