/*
 * t_reader.c - the process that reads HDF5, PNG and JPEG: what it has of its host, what it may do,
 * and what is said when it does not come to an end.
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <mase/dataset.h>

#include "base/sanitized.h"
#include "data/lzf.h"
#include "data/reader.h"
#include "run_cases.h"

#define DATA MASE_SOURCE_DIR "/tests/data/"

static struct mase_reader start(uint64_t seconds)
{
    struct mase_reader w = { .limits = { (uint64_t)1 << 32, seconds, false },
                             .path = "x.h5",
                             .library = "libtest",
                             .kind = "HDF5 file" };
    struct mase_err err;
    assert_int_equal(mase_reader_start(&w, &err), MASE_OK);
    return w;
}

static enum mase_status misbehave(struct mase_reader *w, const char *how, struct mase_err *err)
{
    const struct mase_reader_request q = { .verb = MASE_READER_MISBEHAVE,
                                           .bytes = strlen(how) + 1 };
    return mase_reader_call(w, q, how, NULL, 0, NULL, err);
}

/* ---- nothing of the host's ---- */

static int forks;

static void count_fork(void)
{
    forks++;
}

static void open_files(void)
{
    static const char *const names[] = { DATA "data/own.h5", DATA "data/own_table.h5:kind" };
    const struct mase_dataset_opts opts = { 0 };
    struct mase_err err;
    for (int i = 0; i < 2; i++) {
        struct mase_dataset *d = NULL;
        assert_int_equal(mase_dataset_open(&d, names[i], &opts, &err), MASE_OK);
        mase_dataset_close(d);
    }
}

/* A fork has the locks that other threads held, and nobody who would give them back. */
static void the_host_is_not_forked(void **state)
{
    (void)state;
    assert_int_equal(pthread_atfork(count_fork, NULL, NULL), 0);
    open_files();
    assert_int_equal(forks, 0);
}

static int count_files(pid_t process)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)process);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));)
        count += e->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void nothing_of_the_host_is_in_it(void **state)
{
    (void)state;
    char path[64], target[200] = "";
    struct mase_err err;
    const int mine = open("/dev/null", O_RDONLY); /* not closed on exec */
    struct mase_reader w = start(60);
    assert_int_equal(misbehave(&w, "not", &err), MASE_OK);
    snprintf(path, sizeof path, "/proc/%ld/exe", (long)w.child);
    assert_true(readlink(path, target, sizeof target - 1) > 0);
    assert_non_null(strstr(target, "memfd:mase-reader"));
    assert_int_equal(count_files(w.child), 4); /* standard ones and the socket */
    mase_reader_stop(&w);
    close(mine);
}

/* A program may run without standard files, whose numbers then serve for the socket. */
static void the_host_may_have_closed_its_files(void **state)
{
    (void)state;
    int saved[4];
    struct mase_err err;
    for (int i = 0; i < 4; i++) {
        saved[i] = fcntl(i, F_DUPFD, 20);
        close(i);
    }
    struct mase_reader w = start(60);
    const enum mase_status st = misbehave(&w, "not", &err);
    mase_reader_stop(&w);
    for (int i = 0; i < 4; i++)
        if (saved[i] >= 0) {
            dup2(saved[i], i);
            close(saved[i]);
        }
    assert_int_equal(st, MASE_OK);
}

/* ---- what it may do, and how it ends ---- */

static void it_is_confined(void **state)
{
    (void)state;
    struct mase_err err = { 0 };
    struct mase_reader w = start(60);
    assert_int_equal(misbehave(&w, "try", &err), MASE_ELIMIT);
    if (MASE_SANITIZED)
        assert_non_null(strstr(err.msg, "opened sealed"));
    else
        assert_string_equal(err.msg, "opened sealed alone no more");
    assert_string_equal(err.loc.path, "x.h5");
    assert_ptr_equal(err.loc.path, err.path);
    assert_int_equal(err.loc.off, 77);
    assert_int_equal(misbehave(&w, "not", &err), MASE_OK); /* a refusal is not its end */
    mase_reader_stop(&w);
}

static void its_end_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *how;
        enum mase_status status;
        const char *message;
    } cases[] = {
        { "die", MASE_EPARSE, "damaged HDF5 file: libtest fails on it (signal 9)" },
        { "end", MASE_EIO, "the process that reads the file ended with status 7" },
        { "lie", MASE_EPARSE, "damaged HDF5 file: what libtest says of it is impossible" },
        { "spin", MASE_ELIMIT, "reading this HDF5 file took more than 1 second of computing" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_err err = { 0 }, later = { 0 };
        struct mase_reader w = start(1);
        assert_int_equal(misbehave(&w, cases[i].how, &err), cases[i].status);
        assert_string_equal(err.msg, cases[i].message);
        assert_int_equal(misbehave(&w, "not", &later), cases[i].status);
        assert_string_equal(later.msg, cases[i].message);
        mase_reader_stop(&w);
    }
}

/* ---- LZF ---- */

static void lzf_is_unpacked(void **state)
{
    (void)state;
    unsigned char to[64];
    /* "abc", then nine bytes from three before, then "d" */
    static const unsigned char packed[] = { 2, 'a', 'b', 'c', 7 << 5, 0, 2, 0, 'd' };
    assert_int_equal(mase_unlzf(to, sizeof to, packed, sizeof packed), 13);
    assert_memory_equal(to, "abcabcabcabcd", 13);
    assert_int_equal(mase_unlzf(to, 12, packed, sizeof packed), 13); /* more than there is room */
    static const unsigned char before[] = { 0, 'a', 1 << 5, 1 };
    assert_int_equal(mase_unlzf(to, sizeof to, before, sizeof before), 0);
    for (size_t n = 1; n < sizeof packed; n++)
        assert_true(mase_unlzf(to, sizeof to, packed, n) < 13);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_is_not_forked),
        cmocka_unit_test(nothing_of_the_host_is_in_it),
        cmocka_unit_test(the_host_may_have_closed_its_files),
        cmocka_unit_test(it_is_confined),
        cmocka_unit_test(its_end_is_told),
        cmocka_unit_test(lzf_is_unpacked),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
