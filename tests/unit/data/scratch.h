/*
 * scratch.h - a folder for one test, files in it, and what tests of datasets say again and again.
 */
#ifndef TESTS_DATA_SCRATCH_H
#define TESTS_DATA_SCRATCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase/dataset.h>
#include <mase/file.h>

#define DATA MASE_SOURCE_DIR "/tests/data/data/"

static char scratch[] = "/tmp/t_data_XXXXXX";

static int make_scratch(void **state)
{
    (void)state;
    unsetenv("MASE_DATA");
    return mkdtemp(scratch) ? 0 : -1;
}

/* Files only: tests make no folders of folders. */
static void empty_folder(const char *path)
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char name[512];
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        unlink(name);
    }
    if (dir)
        closedir(dir);
}

static int remove_scratch(void **state)
{
    (void)state;
    empty_folder(scratch);
    return rmdir(scratch);
}

static inline const char *in_scratch(const char *name)
{
    static char path[8][512];
    static int next;
    next = (next + 1) % 8;
    snprintf(path[next], sizeof path[next], "%s/%s", scratch, name);
    return path[next];
}

/* Without mase_file_write's flush to disk: some tests write a thousand files. */
static inline const char *put(const char *name, const void *data, size_t size)
{
    const char *path = in_scratch(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    return path;
}

static inline const char *put_text(const char *name, const char *text)
{
    return put(name, text, strlen(text));
}

static inline struct mase_dataset *open_data(const char *name, const struct mase_dataset_opts *opts)
{
    struct mase_dataset *d = NULL;
    struct mase_err err = { 0 };
    if (mase_dataset_open(&d, name, opts, &err))
        fail_msg("%s: %s", name, err.msg);
    return d;
}

/* Opening fails with this status and a message that contains this text. Returns the byte
 * offset that it names, or -1. */
static inline int64_t refuse(const char *name, const struct mase_dataset_opts *opts,
                             enum mase_status status, const char *message)
{
    struct mase_dataset *d = NULL;
    struct mase_err err = { 0 };
    const enum mase_status st = mase_dataset_open(&d, name, opts, &err);
    if (st != status || d)
        fail_msg("%s: status %d instead of %d: %s", name, st, status, err.msg);
    if (!strstr(err.msg, message))
        fail_msg("%s: '%s' is not in '%s'", name, message, err.msg);
    return err.loc.off;
}

#endif /* TESTS_DATA_SCRATCH_H */
