/*
 * t_zip.c - zip containers: what Python wrote is read, what we write reads back, and no damaged
 * file does harm.
 */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bounded.h"
#include "file/zip.h"
#include "run_cases.h"

#define DATA MASE_SOURCE_DIR "/tests/data/zip/"
#define LINE "the quick brown fox jumps over the lazy dog\n"

enum { LIMIT = 1 << 20 };

static void check_content(const struct mase_zip *z, struct mase_arena *a, const char *name,
                          const char *text, size_t size)
{
    const struct mase_zip_entry *e = mase_zip_find(z, name);
    const unsigned char *p = NULL;
    struct mase_err err;
    assert_non_null(e);
    if (mase_zip_read(z, e, a, &p, LIMIT, &err))
        fail_msg("%s: %s", name, err.msg);
    assert_int_equal(e->size, size);
    assert_memory_equal(p, text, size);
}

static void check_python(const char *file)
{
    struct mase_arena a = { 0 };
    struct mase_file f;
    struct mase_zip z;
    struct mase_err err;
    struct mase_str text = { 0 };
    for (int i = 0; i < 20; i++)
        mase_str_add(&text, LINE);
    assert_int_equal(mase_file_open(&f, file, &err), MASE_OK);
    if (mase_zip_open(&z, &a, f.data, f.size, file, &err))
        fail_msg("%s: %s", file, err.msg);
    assert_int_equal(z.count, 3);
    check_content(&z, &a, "a/text", text.data, text.len);
    check_content(&z, &a, "empty", "", 0);
    check_content(&z, &a, "one", "x", 1);
    assert_null(mase_zip_find(&z, "absent"));
    mase_str_release(&text);
    mase_file_close(&f);
    mase_arena_release(&a);
}

static void written_by_python(void **state)
{
    (void)state;
    check_python(DATA "stored.zip");
    check_python(DATA "deflated.zip"); /* its comment looks like an end record */
    check_python(DATA "wide.zip");
}

/* ---- refusals ---- */

static struct mase_str load(const char *path)
{
    struct mase_str s = { 0 };
    struct mase_file f;
    struct mase_err err;
    assert_int_equal(mase_file_open(&f, path, &err), MASE_OK);
    mase_str_addn(&s, (const char *)f.data, f.size);
    mase_file_close(&f);
    return s;
}

/* Open and read everything from an exact copy, so that sanitizers see each byte too far. */
static enum mase_status read_all(const char *data, size_t size, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_zip z;
    char *copy = malloc(size + (size == 0));
    memcpy(copy, data, size);
    enum mase_status st = mase_zip_open(&z, &a, copy, size, "x.zip", err);
    for (int i = 0; !st && i < z.count; i++) {
        const unsigned char *p;
        st = mase_zip_read(&z, &z.entries[i], &a, &p, LIMIT, err);
    }
    free(copy);
    mase_arena_release(&a);
    return st;
}

/* The file with bytes changed at the n-th place where `magic` stands. */
static void refuse_changed(const char *file, const char *magic, int nth, size_t off,
                           const char *bytes, size_t n, const char *message)
{
    struct mase_str s = load(file);
    struct mase_err err = { 0 };
    char *p = s.data;
    for (int i = 0; i <= nth; i++) {
        p = memmem(p + (i > 0), s.len - (size_t)(p - s.data) - (i > 0), magic, 4);
        assert_non_null(p);
    }
    memcpy(p + off, bytes, n);
    assert_int_not_equal(read_all(s.data, s.len, &err), MASE_OK);
    if (!strstr(err.msg, message))
        fail_msg("'%s' is not in '%s'", message, err.msg);
    mase_str_release(&s);
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *file, *magic;
        int nth;
        size_t off;
        const char *bytes;
        size_t n;
        const char *message;
    } rows[] = {
        { "stored.zip", "PK\1\2", 0, 8, "\1", 1, "'a/text' is encrypted" },
        { "stored.zip", "PK\1\2", 0, 10, "\14", 1, "packed by method 12" },
        { "stored.zip", "PK\1\2", 0, 16, "\0\0\0\0", 4, "'a/text' is damaged: its CRC is" },
        { "stored.zip", "PK\1\2", 0, 20, "\1", 1, "'a/text' cannot be 880 bytes from 769" },
        { "stored.zip", "PK\1\2", 0, 46, "b", 1, "the local header of 'b/text' has another" },
        { "stored.zip", "PK\1\2", 0, 46, "\0", 1, "entry 1 of the directory is damaged" },
        { "stored.zip", "PK\1\2", 2, 42, "\1", 1, "no local header of 'one'" },
        { "stored.zip", "PK\1\2", 1, 0, "pk", 2, "expected entry 2 of 3 of the directory" },
        { "stored.zip", "PK\5\6", 0, 8, "\4\0\4", 3, "4 entries do not fit into a directory" },
        { "stored.zip", "PK\5\6", 0, 8, "\4\4\4\4", 4, "1028 entries do not fit" },
        { "stored.zip", "PK\5\6", 0, 4, "\1", 1, "several parts" },
        { "stored.zip", "PK\5\6", 0, 16, "\xff\xff", 2, "is not in the file" },
        { "stored.zip", "PK\5\6", 0, 0, "p", 1, "there is no end record" },
        { "deflated.zip", "PK\1\2", 0, 24, "\1\0\0\1", 4, "cannot be 16777217 bytes from" },
        { "deflated.zip", "PK\1\2", 0, 24, "\x71", 1, "the deflated data of 'a/text' are damaged" },
        { "deflated.zip", "PK\1\2", 0, 24, "\x6f", 1, "the deflated data of 'a/text' are damaged" },
        { "bzip2.zip", "PK\1\2", 0, 0, "P", 1, "method 12; 0 (stored) and 8 (deflate)" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, DATA "%s", rows[i].file);
        refuse_changed(path, rows[i].magic, rows[i].nth, rows[i].off, rows[i].bytes, rows[i].n,
                       rows[i].message);
    }
}

static void too_large(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_str s = load(DATA "deflated.zip");
    struct mase_zip z;
    struct mase_err err;
    const unsigned char *p;
    assert_int_equal(mase_zip_open(&z, &a, s.data, s.len, "x.zip", &err), MASE_OK);
    assert_int_equal(mase_zip_read(&z, mase_zip_find(&z, "a/text"), &a, &p, 879, &err),
                     MASE_ELIMIT);
    assert_string_equal(err.msg, "'a/text' has 880 bytes, at most 879 are read");
    mase_str_release(&s);
    mase_arena_release(&a);
}

/* Two names for one content, as bombs have them: together the entries need more than there is. */
static void overlapping(void **state)
{
    (void)state;
    struct mase_str s = load(DATA "stored.zip"), t = { 0 };
    struct mase_err err = { 0 };
    const char *end = memmem(s.data, s.len, "PK\5\6", 4);
    const char *entry = memmem(s.data, s.len, "PK\1\2", 4);
    const char *next = memmem(entry + 4, s.len - (size_t)(entry + 4 - s.data), "PK\1\2", 4);
    mase_str_addn(&t, s.data, (size_t)(end - s.data));
    mase_str_addn(&t, entry, (size_t)(next - entry));  /* the first entry again */
    t.data[t.len - (size_t)(next - entry) + 46] = 'b'; /* under another name */
    mase_str_addn(&t, end, s.len - (size_t)(end - s.data));
    char *record = t.data + t.len - (s.data + s.len - end);
    record[8]++;
    record[10]++;
    const size_t size =
        (unsigned char)record[12] + 256u * (unsigned char)record[13] + (size_t)(next - entry);
    record[12] = (char)size;
    record[13] = (char)(size >> 8);
    assert_int_not_equal(read_all(t.data, t.len, &err), MASE_OK);
    assert_non_null(strstr(err.msg, "'b/text' overlaps other entries"));
    mase_str_release(&s);
    mase_str_release(&t);
}

static void damage(const char *path)
{
    struct mase_str s = load(path);
    struct mase_err err;
    for (size_t n = 0; n < s.len; n++)
        assert_int_not_equal(read_all(s.data, n, &err), MASE_OK);
    for (size_t i = 0; i < s.len; i++)
        for (int bit = 0; bit < 8; bit++) {
            s.data[i] ^= (char)(1 << bit);
            (void)!read_all(s.data, s.len, &err); /* the date, say, is not looked at */
            s.data[i] ^= (char)(1 << bit);
        }
    mase_str_release(&s);
}

static void damaged_files(void **state)
{
    (void)state;
    damage(DATA "stored.zip");
    damage(DATA "deflated.zip");
    damage(DATA "wide.zip");
}

/* ---- writing ---- */

static struct mase_str write_sample(uint64_t wide_from)
{
    char temp[] = "/tmp/t_zip_XXXXXX";
    const int fd = mkstemp(temp);
    assert_true(fd >= 0);
    close(fd);
    struct mase_writer out;
    struct mase_zip_writer w;
    struct mase_err err;
    assert_int_equal(mase_writer_open(&out, temp, &err), MASE_OK);
    mase_zip_begin(&w, &out);
    w.wide_from = wide_from;
    assert_int_equal(mase_zip_put(&w, "archive/data.pkl", LINE, strlen(LINE), &err), MASE_OK);
    assert_int_equal(mase_zip_put(&w, "archive/data/0", "x", 1, &err), MASE_OK);
    assert_int_equal(mase_zip_put(&w, "archive/data/1", NULL, 0, &err), MASE_OK);
    assert_int_equal(mase_zip_put(&w, "archive/version", "3\n", 2, &err), MASE_OK);
    assert_int_equal(mase_zip_finish(&w, &err), MASE_OK);
    mase_zip_release(&w);
    assert_int_equal(mase_writer_close(&out, &err), MASE_OK);
    struct mase_str s = load(temp);
    unlink(temp);
    return s;
}

static void check_written(uint64_t wide_from)
{
    struct mase_arena a = { 0 };
    struct mase_str s = write_sample(wide_from);
    struct mase_zip z;
    struct mase_err err;
    if (mase_zip_open(&z, &a, s.data, s.len, "x.zip", &err))
        fail_msg("%s", err.msg);
    check_content(&z, &a, "archive/data.pkl", LINE, strlen(LINE));
    check_content(&z, &a, "archive/data/0", "x", 1);
    check_content(&z, &a, "archive/data/1", "", 0);
    check_content(&z, &a, "archive/version", "3\n", 2);
    for (int i = 0; i < z.count; i++) {
        const unsigned char *p;
        assert_int_equal(mase_zip_read(&z, &z.entries[i], &a, &p, LIMIT, &err), MASE_OK);
        assert_int_equal(((const char *)p - s.data) % 64, 0);
    }
    mase_str_release(&s);
    mase_arena_release(&a);
}

static void round_trip(void **state)
{
    (void)state;
    check_written(UINT32_MAX);
    check_written(40); /* some sizes and offsets are wide, others not */
    check_written(0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_by_python), cmocka_unit_test(refusals),
        cmocka_unit_test(too_large),         cmocka_unit_test(overlapping),
        cmocka_unit_test(damaged_files),     cmocka_unit_test(round_trip),
    };
    bound_memory();
    return run_cases(argc, argv, tests, NULL, NULL);
}
