/*
 * traces.h - what a call may leave behind: descriptors, folders, bytes that differ.
 */
#ifndef TESTS_TRACES_H
#define TESTS_TRACES_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How many descriptors the process has open, one for looking among them. */
static inline int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* A folder, and all that is in it. */
static inline void remove_all(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[4096];
        const int n = snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (n < (int)sizeof path && strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            unlink(path) != 0)
            remove_all(path);
    }
    if (d)
        closedir(d);
    rmdir(dir);
}

static inline uint64_t add_bytes(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

#endif /* TESTS_TRACES_H */
