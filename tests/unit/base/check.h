/*
 * check.h - what the tests of this layer share: cmocka's headers in their order, folders that are
 * removed again, and files to compare.
 */
#ifndef MASE_TEST_CHECK_H
#define MASE_TEST_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mase/arena.h>
#include <mase/file.h>
#include <mase/str.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* A folder of the test's own; removed with what is in it. The arena holds its paths. */
struct folder {
    struct mase_arena arena;
    const char *path;
};

static inline struct folder folder_make(void)
{
    struct folder f = { 0 };
    const char *base = getenv("TMPDIR");
    char *path = mase_arena_printf(&f.arena, "%s/mase-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(path));
    f.path = path;
    return f;
}

/* folder/name, owned by the folder. */
static inline const char *folder_at(struct folder *f, const char *name)
{
    return mase_path_join(&f->arena, f->path, name);
}

/* Number of entries; removes them, too, if asked. */
static inline int folder_sweep(struct folder *f, const char *dir, bool removing)
{
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (mase_streq(e->d_name, ".") || mase_streq(e->d_name, ".."))
            continue;
        n++;
        const char *path = mase_path_join(&f->arena, dir, e->d_name);
        if (removing && unlink(path) != 0) {
            folder_sweep(f, path, true);
            rmdir(path);
        }
    }
    closedir(d);
    return n;
}

static inline int folder_entries(struct folder *f)
{
    return folder_sweep(f, f->path, false);
}

static inline void folder_remove(struct folder *f)
{
    folder_sweep(f, f->path, true);
    assert_int_equal(rmdir(f->path), 0);
    mase_arena_release(&f->arena);
}

static inline void write_text(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* All that was written to a temporary stream; caller frees. */
static inline char *stream_text(FILE *f)
{
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    const long size = ftell(f);
    rewind(f);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, f), size);
    return text;
}

/* Read to the end, as far as there is room, and close. */
static inline void read_all(int fd, char *text, size_t size)
{
    size_t len = 0;
    for (ssize_t n; len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0;)
        len += (size_t)n;
    text[len] = '\0';
    close(fd);
}

/* The file must hold exactly this text. */
static inline void assert_content(const char *path, const char *text)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *got = stream_text(f);
    fclose(f);
    assert_string_equal(got, text);
    free(got);
}

#endif /* MASE_TEST_CHECK_H */
