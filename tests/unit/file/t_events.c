/*
 * t_events.c - event files: read back by a decoder of their own, and whole whatever happens.
 */
#define _XOPEN_SOURCE 700
#include "../base/check.h"
#include "run_cases.h"

#include <math.h>
#include <time.h>

#include <mase/events.h>

#include "base/fault.h"

/* ---- a decoder that shares nothing with the writer ---- */

struct event {
    double wall_time;
    int64_t step;
    bool has_step;
    char version[32], tag[300];
    float value;
};

/* Bit by bit, from the definition. */
static uint32_t crc32c(const unsigned char *p, size_t n)
{
    uint32_t c = 0xffffffff;
    for (size_t i = 0; i < n * 8; i++) {
        const uint32_t bit = (uint32_t)(p[i / 8] >> (i % 8) & 1);
        c = (c ^ bit) & 1 ? c >> 1 ^ 0x82f63b78 : c >> 1;
    }
    return ~c;
}

static uint64_t little(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    while (bytes--)
        v = v << 8 | p[bytes];
    return v;
}

static void check_masked(const unsigned char *p, const unsigned char *data, size_t n)
{
    const uint32_t rotated = (uint32_t)little(p, 4) - 0xa282ead8;
    assert_int_equal(rotated << 15 | rotated >> 17, crc32c(data, n));
}

static uint64_t varint(const unsigned char **p)
{
    uint64_t v = 0;
    for (int shift = 0;; shift += 7) {
        const unsigned char byte = *(*p)++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
}

static void text(char *out, size_t size, const unsigned char *p, uint64_t n)
{
    assert_in_range(n, 0, size - 1);
    memcpy(out, p, n);
    out[n] = '\0';
}

/* Keys are field << 3 | wire type; the same field number means something else at each depth. */
static void decode(struct event *e, const unsigned char *p, const unsigned char *end, int depth)
{
    while (p < end) {
        const uint64_t key = varint(&p);
        const uint64_t bytes = (key & 7) == 2 ? varint(&p) : 0;
        const unsigned char *body = p;
        assert_true(bytes <= (uint64_t)(end - p));
        p += bytes;
        if (depth == 0 && key == (1 << 3 | 1)) {
            memcpy(&e->wall_time, p, 8);
            p += 8;
        } else if (depth == 0 && key == (2 << 3 | 0)) {
            e->step = (int64_t)varint(&p);
            e->has_step = true;
        } else if (depth == 0 && key == (3 << 3 | 2)) {
            text(e->version, sizeof(e->version), body, bytes);
        } else if ((depth == 0 && key == (5 << 3 | 2)) || (depth == 1 && key == (1 << 3 | 2))) {
            decode(e, body, p, depth + 1);
        } else if (depth == 2 && key == (1 << 3 | 2)) {
            text(e->tag, sizeof(e->tag), body, bytes);
        } else if (depth == 2 && key == (2 << 3 | 5)) {
            memcpy(&e->value, p, 4);
            p += 4;
        } else {
            fail_msg("key %d at depth %d", (int)key, depth);
        }
    }
    assert_ptr_equal(p, end);
}

/* All events of a file, which must be whole; returns how many. */
static int read_events(const char *path, struct event *e, int max)
{
    struct mase_file f;
    struct mase_err err;
    assert_int_equal(mase_file_open(&f, path, &err), MASE_OK);
    int count = 0;
    for (size_t off = 0; off < f.size; count++) {
        const unsigned char *p = f.data + off;
        assert_true(f.size - off >= 16);
        const uint64_t n = little(p, 8);
        assert_true(n <= f.size - off - 16);
        check_masked(p + 8, p, 8);
        check_masked(p + 12 + n, p + 12, n);
        assert_true(count < max);
        e[count] = (struct event){ 0 };
        decode(&e[count], p + 12, p + 12 + n, 0);
        off += 16 + n;
    }
    mase_file_close(&f);
    return count;
}

/* ---- the tests ---- */

static struct mase_events *open_in(const char *dir)
{
    struct mase_events *e;
    struct mase_err err;
    if (mase_events_open(&e, dir, &err))
        fail_msg("%s", err.msg);
    return e;
}

static void checksum_is_castagnoli(void **state)
{
    (void)state;
    assert_int_equal(crc32c((const unsigned char *)"123456789", 9), 0xe3069283);
}

static void scalars_read_back(void **state)
{
    (void)state;
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    char longest[261] = "";
    for (int i = 0; i < 260; i++)
        longest[i] = letters[i % 26]; /* a length of two varint bytes */
    const struct {
        const char *tag;
        int64_t step;
        double value;
    } cases[] = {
        { "train_loss_step", 0, 1.609437912 },
        { "train_loss_step", 127, 1.5 },
        { "val_acc_epoch", 128, -0.0 },
        { "", INT64_MAX, 1e300 },
        { longest, -1, -INFINITY },
        { "Genauigkeit \xc3\xa4", 300, 1e-45 },
    };
    struct folder dir = folder_make();
    const double before = (double)time(NULL);
    struct mase_events *e = open_in(folder_at(&dir, "a/b"));
    const char *path = mase_arena_strdup(&dir.arena, mase_events_path(e));
    for (int i = 0; i < COUNT(cases); i++)
        assert_int_equal(mase_events_scalar(e, cases[i].tag, cases[i].step, cases[i].value, NULL),
                         MASE_OK);
    assert_int_equal(mase_events_close(e, NULL), MASE_OK);
    const double after = (double)time(NULL) + 1;

    struct event got[COUNT(cases) + 1];
    assert_int_equal(read_events(path, got, COUNT(got)), COUNT(got));
    assert_string_equal(got[0].version, "brain.Event:2");
    for (int i = 0; i < COUNT(cases); i++) {
        const float expected = (float)cases[i].value;
        assert_string_equal(got[i + 1].tag, cases[i].tag);
        assert_true(got[i + 1].has_step && got[i + 1].step == cases[i].step);
        assert_memory_equal(&got[i + 1].value, &expected, sizeof(expected));
        assert_true(got[i + 1].wall_time >= before && got[i + 1].wall_time <= after);
    }
    folder_remove(&dir);
}

static void name_says_time_host_and_process(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    struct mase_events *first = open_in(dir.path), *second = open_in(dir.path);
    const char *name = strrchr(mase_events_path(first), '/') + 1;
    long long seconds;
    assert_int_equal(sscanf(name, "events.out.tfevents.%lld.", &seconds), 1);
    assert_in_range(seconds, (long long)time(NULL) - 60, (long long)time(NULL));
    assert_true(mase_ends_with(name, mase_arena_printf(&dir.arena, ".%ld.0", (long)getpid())));
    assert_string_not_equal(mase_events_path(first), mase_events_path(second));
    assert_int_equal(mase_events_close(first, NULL), MASE_OK);
    assert_int_equal(mase_events_close(second, NULL), MASE_OK);
    assert_int_equal(mase_events_close(NULL, NULL), MASE_OK);
    assert_int_equal(folder_entries(&dir), 2);
    folder_remove(&dir);
}

/* Enough points to flush many times; a reader finds whole records at every moment. */
static void file_is_whole_while_it_grows(void **state)
{
    (void)state;
    enum { POINTS = 2000 };
    struct folder dir = folder_make();
    struct mase_events *e = open_in(dir.path);
    const char *path = mase_arena_strdup(&dir.arena, mase_events_path(e));
    struct event *got = calloc(POINTS + 1, sizeof(*got));
    int sizes_seen = 0, last = 0;
    for (int i = 0; i < POINTS; i++) {
        assert_int_equal(mase_events_scalar(e, "loss", i, i, NULL), MASE_OK);
        if (i % 100 == 0) {
            const int n = read_events(path, got, POINTS + 1);
            sizes_seen += n != last;
            last = n;
        }
    }
    assert_true(sizes_seen > 2);
    assert_int_equal(mase_events_close(e, NULL), MASE_OK);
    assert_int_equal(read_events(path, got, POINTS + 1), POINTS + 1);
    for (int i = 0; i < POINTS; i++)
        assert_true(got[i + 1].step == i && got[i + 1].value == (float)i);
    free(got);
    folder_remove(&dir);
}

/* ---- failures ---- */

/* The disk is full after so many writes. */
static int disk_full(const char *call, void *user)
{
    int *left = user;
    return mase_streq(call, "write") && (*left)-- <= 0 ? 28 /* ENOSPC */ : 0;
}

static void full_disk_leaves_whole_records(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    struct mase_events *e = open_in(dir.path);
    const char *path = mase_arena_strdup(&dir.arena, mase_events_path(e));
    assert_int_equal(mase_events_scalar(e, "loss", 1, 1, NULL), MASE_OK);
    assert_int_equal(mase_events_flush(e, NULL), MASE_OK);
    assert_int_equal(mase_events_scalar(e, "loss", 2, 2, NULL), MASE_OK);
    int left = 1;
    mase_fault_write_max = 7; /* the second part of the record fails */
    mase_fault = disk_full;
    mase_fault_user = &left;
    struct mase_err err = { 0 };
    assert_int_equal(mase_events_close(e, &err), MASE_EIO);
    mase_fault = NULL;
    mase_fault_write_max = 0;
    assert_non_null(strstr(err.msg, "cannot write"));
    assert_string_equal(err.path, path);
    struct event got[3];
    assert_int_equal(read_events(path, got, 3), 2);
    assert_int_equal(got[1].step, 1);
    folder_remove(&dir);
}

static void failed_open_leaves_nothing(void **state)
{
    (void)state;
    struct folder dir = folder_make();
    struct mase_events *e;
    struct mase_err err = { 0 };
    int left = 0;
    mase_fault = disk_full;
    mase_fault_user = &left;
    assert_int_equal(mase_events_open(&e, dir.path, &err), MASE_EIO);
    mase_fault = NULL;
    assert_null(e);
    assert_int_equal(folder_entries(&dir), 0);
    write_text(folder_at(&dir, "file"), "x", 1);
    assert_int_equal(mase_events_open(&e, folder_at(&dir, "file"), &err), MASE_EIO);
    assert_null(e);
    folder_remove(&dir);
}

/* ---- our own reader ---- */

struct points {
    int count;
    double sum;
    char last[64];
};

static void add_point(const char *tag, int64_t step, double value, void *data)
{
    struct points *p = data;
    p->count++;
    p->sum += value * (double)step;
    snprintf(p->last, sizeof p->last, "%s", tag);
}

static enum mase_status read_points(struct points *p, const char *path)
{
    struct mase_err err = { 0 };
    *p = (struct points){ 0 };
    return mase_events_read(path, add_point, p, &err);
}

/* A file of three points, its bytes in *whole; the caller closes it. */
static void write_three(struct folder *f, struct mase_file *whole)
{
    struct mase_events *e;
    struct mase_err err = { 0 };
    assert_int_equal(mase_events_open(&e, f->path, &err), MASE_OK);
    const char *path = mase_arena_strdup(&f->arena, mase_events_path(e));
    for (int i = 1; i <= 3; i++)
        assert_int_equal(mase_events_scalar(e, "loss/train", i, i * 0.5, &err), MASE_OK);
    assert_int_equal(mase_events_close(e, &err), MASE_OK);
    assert_int_equal(mase_file_open(whole, path, &err), MASE_OK);
}

static void points_read_back(void **state)
{
    (void)state;
    struct folder f = folder_make();
    struct mase_file whole;
    struct points p;
    write_three(&f, &whole);
    assert_int_equal(read_points(&p, whole.path), MASE_OK);
    assert_int_equal(p.count, 3);
    assert_true(p.sum == 0.5 * (1 + 4 + 9));
    assert_string_equal(p.last, "loss/train");
    mase_file_close(&whole);
    folder_remove(&f);
}

/* A part of a file has the points of its whole records; a damaged one is an error. */
static void parts_and_damage(void **state)
{
    (void)state;
    struct folder f = folder_make();
    const char *copy = folder_at(&f, "copy");
    struct mase_file whole;
    struct points p;
    write_three(&f, &whole);
    for (size_t n = 0; n < whole.size; n++) {
        write_text(copy, (const char *)whole.data, n);
        assert_int_equal(read_points(&p, copy), MASE_OK);
        assert_in_range(p.count, 0, 2);
    }
    char *bytes = malloc(whole.size);
    assert_non_null(bytes);
    for (size_t i = 0; i < whole.size; i++) {
        memcpy(bytes, whole.data, whole.size);
        bytes[i] ^= 0x20;
        write_text(copy, bytes, whole.size);
        assert_int_not_equal(read_points(&p, copy), MASE_OK);
    }
    free(bytes);
    mase_file_close(&whole);
    folder_remove(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksum_is_castagnoli),
        cmocka_unit_test(scalars_read_back),
        cmocka_unit_test(name_says_time_host_and_process),
        cmocka_unit_test(file_is_whole_while_it_grows),
        cmocka_unit_test(full_disk_leaves_whole_records),
        cmocka_unit_test(failed_open_leaves_nothing),
        cmocka_unit_test(points_read_back),
        cmocka_unit_test(parts_and_damage),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
