/*
 * parts.h - one input as the files of a folder: a line "@@NAME" begins each; what is before the
 * first belongs to none.
 */
#ifndef MASE_FUZZ_PARTS_H
#define MASE_FUZZ_PARTS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase/file.h>
#include <mase/str.h>

/* A folder of this process, in memory if there is such a place. */
static const char *fuzz_folder(void)
{
    static char path[64];
    if (path[0])
        return path;
    snprintf(path, sizeof path, "%s/mase_fuzz_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(path))
        abort();
    return path;
}

static const uint8_t *next_mark(const uint8_t *p, const uint8_t *end)
{
    for (; end - p >= 3; p++)
        if (p[0] == '\n' && p[1] == '@' && p[2] == '@')
            return p;
    return end;
}

/* Every part whose name is in names (NULL ends them) becomes that file below dir, the others are
 * removed. Written plainly: an fsync would be most of the time. */
static void fuzz_write_parts(const char *dir, const char *const *names, const uint8_t *data,
                             size_t size)
{
    struct mase_arena a = { 0 };
    for (int i = 0; names[i]; i++)
        unlink(mase_path_join(&a, dir, names[i]));
    const uint8_t *end = data + size;
    for (const uint8_t *p = next_mark(data, end); p < end;) {
        const uint8_t *name = p + 3, *line = memchr(name, '\n', (size_t)(end - name));
        const uint8_t *body = line ? line + 1 : end, *stop = next_mark(line ? line : end, end);
        for (int i = 0; line && names[i]; i++)
            if (strlen(names[i]) == (size_t)(line - name) &&
                !memcmp(names[i], name, (size_t)(line - name))) {
                FILE *f = fopen(mase_path_join(&a, dir, names[i]), "wb");
                if (!f || (stop > body && fwrite(body, (size_t)(stop - body), 1, f) != 1))
                    abort();
                fclose(f);
            }
        p = stop;
    }
    mase_arena_release(&a);
}

#endif /* MASE_FUZZ_PARTS_H */
