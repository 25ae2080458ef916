/*
 * check.h - what the tests of this layer share: cmocka's headers in their order, folders that are
 * removed again, and a stream to print into.
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

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* A new empty folder, and its removal with the files in it (one level of folders). */
static inline char *temp_dir(void)
{
    const char *base = getenv("TMPDIR");
    char *dir = malloc(4096);
    assert_non_null(dir);
    snprintf(dir, 4096, "%s/mase-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
    return dir;
}

static inline void remove_files(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        char path[4096];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        struct stat st;
        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode))
            remove_files(path);
        else
            unlink(path);
    }
    closedir(d);
    rmdir(dir);
}

static inline void remove_dir(char *dir)
{
    remove_files(dir);
    free(dir);
}

static inline int entries_in(const char *dir)
{
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* . and .. */
}

static inline void write_text(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* The file must hold exactly this text. */
static inline void assert_content(const char *path, const char *text)
{
    char got[4096];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t n = fread(got, 1, sizeof(got) - 1, f);
    fclose(f);
    got[n] = '\0';
    assert_string_equal(got, text);
}

#endif /* MASE_TEST_CHECK_H */
