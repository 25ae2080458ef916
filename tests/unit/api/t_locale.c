/*
 * t_locale.c - the library in a program with a locale of its own: a decimal comma, a point between
 * thousands, and the letters of Turkish in one byte each, where the capital of i is no I.
 *
 * All that reads or prints numbers or asks for letters is done under the locale C and again under
 * that one; every text and every bit must be equal. The locale is made here by localedef, which is
 * part of libc-bin, since a bare system has no such locale and no sources of any.
 */
#include <ctype.h>
#include <locale.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <mase.h>
#include <mase/file.h>
#include <mase/str.h>

#include "base/number.h"
#include "run_cases.h"

extern char **environ;

static char folder[] = "/tmp/t_locale.XXXXXX";

/* ---- the locale ---- */

static const char locale_text[] =
    "comment_char %\nescape_char /\n"
    "LC_IDENTIFICATION\ntitle \"decimal comma\"\nsource \"\"\naddress \"\"\ncontact \"\"\n"
    "email \"\"\ntel \"\"\nfax \"\"\nlanguage \"\"\nterritory \"\"\nrevision \"1\"\n"
    "date \"2020-01-01\"\ncategory \"i18n:2012\";LC_NUMERIC\nEND LC_IDENTIFICATION\n"
    "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n"
    "LC_CTYPE\nupper <U0041>..<U005A>;<U0130>\nlower <U0061>..<U007A>;<U0131>\n"
    "digit <U0030>..<U0039>\nspace <U0020>;<U0009>..<U000D>;<U00A0>\n"
    "toupper (<U0069>,<U0130>);(<U0131>,<U0049>);(<U0061>,<U0041>)\n"
    "tolower (<U0049>,<U0131>);(<U0130>,<U0069>);(<U0041>,<U0061>)\nEND LC_CTYPE\n";

static void write_file(const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int make_locale(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    struct mase_str map = { 0 };
    mase_str_add(&map, "<code_set_name> ISO-8859-9\n<comment_char> %\n<escape_char> /\n"
                       "<mb_cur_min> 1\n<mb_cur_max> 1\nCHARMAP\n");
    for (unsigned i = 0; i < 256; i++)
        mase_str_printf(&map, "<U%04X> /x%02x x\n", i == 0xdd ? 0x130 : i == 0xfd ? 0x131 : i, i);
    mase_str_add(&map, "END CHARMAP\n");
    write_file("map", map.data);
    mase_str_release(&map);
    write_file("locale", locale_text);
    char command[512]; /* it answers 1 for the categories that are left out */
    snprintf(command, sizeof command,
             "cd %s && mkdir out && localedef --no-archive -c -i ./locale -f ./map ./out/comma "
             "2>log; test -e out/comma/LC_NUMERIC || cat log",
             folder);
    char *const argv[] = { "sh", "-c", command, NULL };
    pid_t child;
    int how;
    assert_int_equal(posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    snprintf(command, sizeof command, "%s/out", folder);
    setenv("LOCPATH", command, 1);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char *const argv[] = { "rm", "-rf", folder, NULL };
    pid_t child;
    int how;
    assert_int_equal(posix_spawn(&child, "/bin/rm", NULL, NULL, argv, environ), 0);
    return waitpid(child, &how, 0) != child;
}

static void with_comma(void)
{
    assert_non_null(setlocale(LC_ALL, "comma"));
    char text[16];
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5"); /* or this test tests nothing */
    assert_int_equal(toupper('i'), 0xdd);
}

/* ---- what is done ---- */

#define MUST(call)                                    \
    do {                                              \
        if (call) {                                   \
            char text_[2048];                         \
            mase_err_text(&err, text_, sizeof text_); \
            setlocale(LC_ALL, "C");                   \
            fail_msg("%s", text_);                    \
        }                                             \
    } while (0)

static void take(struct mase_str *out, struct mase_text *text)
{
    mase_str_addn(out, text->data, text->len);
    mase_text_release(text);
}

static void take_bits(struct mase_str *out, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        mase_str_printf(out, "%02x", ((const unsigned char *)data)[i]);
    mase_str_addc(out, '\n');
}

static void take_weights(struct mase_str *out, struct mase_net *net)
{
    struct mase_err err = { 0 };
    for (int i = 0; i < mase_net_weights(net); i++) {
        struct mase_weight_info w = { .size = sizeof w };
        MUST(mase_net_weight(net, i, &w, &err));
        int64_t n = strcmp(w.dtype, "float32") ? 0 : 1;
        for (int d = 0; d < w.rank; d++)
            n *= w.dim[d];
        take_bits(out, w.data, (size_t)n * sizeof(float));
    }
}

static void take_rows(struct mase_str *out, struct mase_session *s, const char *name,
                      const char *options)
{
    struct mase_err err = { 0 };
    struct mase_rows *rows = NULL;
    struct mase_text text = { 0 };
    float x[64 * 4];
    int32_t labels[64];
    MUST(mase_rows_open(s, &rows, name, options, NULL, &err));
    MUST(mase_rows_info(rows, &text, &err));
    take(out, &text);
    const int64_t n = mase_rows_count(rows, "train");
    assert_in_range(n, 1, 64);
    MUST(mase_rows_read(rows, "train", 0, n, x, labels, NULL, &err));
    take_bits(out, x, (size_t)n * 2 * sizeof *x);
    take_bits(out, labels, (size_t)n * sizeof *labels);
    mase_rows_free(rows);
}

static void take_file(struct mase_str *out, struct mase_net *net, const char *name,
                      const char *options)
{
    struct mase_err err = { 0 };
    struct mase_file f;
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    MUST(mase_net_write(net, path, options, &err));
    MUST(mase_file_open(&f, path, &err));
    mase_str_addn(out, (const char *)f.data, f.size);
    mase_file_close(&f);
}

static void data_files(struct mase_str *out, struct mase_session *s)
{
    struct mase_str csv = { 0 }, german = { 0 };
    static const char *const kinds[] = { "Iris", "INDIGO", "\xdd\xe4" };
    char name[200], scaling[200];
    mase_str_add(&csv, "f1,f2,LABEL\n");
    mase_str_add(&german, "f1;f2;label\n");
    for (int i = 0; i < 60; i++) {
        mase_str_printf(&csv, "%d.%d,%d.5e-3,%s\n", i, i % 7, i, kinds[i % 3]);
        mase_str_printf(&german, "%d,%d2;%d,5;%d\n", i, i % 7, i, i % 3);
    }
    write_file("a.csv", csv.data);
    write_file("b.csv", german.data);
    mase_str_release(&csv);
    mase_str_release(&german);
    snprintf(name, sizeof name, "%s/a.csv", folder);
    take_rows(out, s, name, "split = '0.6,0.2,0.2'");
    write_file("s.json", "{\"mean\": [1.5, 2.5], \"scale\": [0.25, 0.5]}");
    snprintf(scaling, sizeof scaling, "scaling = '%s/s.json'", folder);
    take_rows(out, s, name, scaling);
    snprintf(name, sizeof name, "%s/b.csv", folder);
    take_rows(out, s, name, "scaling = 'standard'");
}

static void networks(struct mase_str *out, struct mase_session *s)
{
    static const char *const prints[] = { "graph", "mg", "program", "svg", "dot", "json" };
    struct mase_err err = { 0 };
    struct mase_net *net = NULL, *again = NULL;
    struct mase_text text = { 0 };
    struct mase_rows *rows = NULL;
    const struct mase_training training = {
        .size = sizeof training,
        .max_epochs = 1,
        .learning_rate = 1e-2,
        .options = "training_optimizer = 'sgd'\nmomentum = 0.9\nweight_decay = 1.5e-3\n"
    };
    MUST(mase_rows_open(s, &rows, "toy-tiny", NULL, NULL, &err));
    MUST(mase_net_open(s, &net, "toy-tiny", NULL, &err));
    MUST(mase_net_train(net, NULL, rows, &training, &err));
    take_weights(out, net);
    take_file(out, net, "net.c", NULL);
    take_file(out, net, "net.py", NULL);
    take_file(out, net, "net.onnx", NULL);
    MUST(mase_net_pass(net, "quantize",
                       "by = 'type'\ndefault.config.name = 'NA'\n"
                       "linear.config = { name = 'int', weight_width = 8, weight_scale = 0.0625,"
                       " data_in_width = 8, data_in_scale = 0.125, bias_width = 8 }\n",
                       NULL, NULL, &err));
    for (size_t i = 0; i < sizeof prints / sizeof *prints; i++) {
        MUST(mase_net_print(net, &text, prints[i], &err));
        if (strcmp(prints[i], "mg") == 0)
            MUST(mase_net_parse(s, &again, text.data, "again", &err));
        take(out, &text);
    }
    MUST(mase_net_print(again, &text, "json", &err));
    take(out, &text);
    MUST(mase_net_profile(net, &text, rows, NULL, &err));
    take(out, &text);
    mase_net_free(again);
    mase_net_free(net);
    mase_rows_free(rows);
}

/* Whatever goes wrong is said alike, too. */
static void refusals(struct mase_str *out, struct mase_session *s)
{
    static const char *const options[] = { "normalize = '1,5/2'", "split = '0.5,0.6,0.7'",
                                           "normalize = 1.5e400", "INPUTS = 1" };
    struct mase_err err = { 0 };
    struct mase_rows *rows = NULL;
    char text[2048];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        assert_int_not_equal(mase_rows_open(s, &rows, "toy-tiny", options[i], NULL, &err), 0);
        mase_err_text(&err, text, sizeof text);
        mase_str_printf(out, "%s\n", text);
    }
    assert_int_equal(mase_rows_open(s, &rows, "/no/such.csv", NULL, NULL, &err), MASE_EIO);
    mase_err_text(&err, text, sizeof text);
    mase_str_printf(out, "%s\n", text);
}

/* ---- the tests ---- */

typedef void work_fn(struct mase_str *out, struct mase_session *s);

static void compare(work_fn *work)
{
    struct mase_str plain = { 0 }, comma = { 0 };
    struct mase_session *s = mase_session_new(NULL);
    setlocale(LC_ALL, "C");
    work(&plain, s);
    with_comma();
    work(&comma, s);
    setlocale(LC_ALL, "C");
    mase_session_free(s);
    assert_true(plain.len > 100);
    size_t i = 0;
    while (i < plain.len && plain.data[i] == comma.data[i])
        i++;
    if (plain.len != comma.len || i < plain.len)
        fail_msg("from byte %zu: '%.60s' under C, '%.60s' with a decimal comma", i, plain.data + i,
                 comma.data + i);
    mase_str_release(&plain);
    mase_str_release(&comma);
}

static void data_are_read_alike(void **state)
{
    (void)state;
    compare(data_files);
}

static void networks_are_trained_and_written_alike(void **state)
{
    (void)state;
    compare(networks);
}

static void refusals_are_worded_alike(void **state)
{
    (void)state;
    compare(refusals);
}

static void the_host_keeps_its_locale(void **state)
{
    (void)state;
    char text[32];
    with_comma();
    assert_int_equal(mase_snprintf(text, sizeof text, "%.2f", 1234.5), 7);
    assert_string_equal(text, "1234.50");
    assert_true(mase_number_read("1.5", NULL) == 1.5);
    snprintf(text, sizeof text, "%.2f", 1234.5);
    setlocale(LC_ALL, "C");
    assert_string_equal(text, "1234,50");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_are_read_alike),
        cmocka_unit_test(networks_are_trained_and_written_alike),
        cmocka_unit_test(refusals_are_worded_alike),
        cmocka_unit_test(the_host_keeps_its_locale),
    };
    return run_cases(argc, argv, tests, make_locale, remove_folder);
}
