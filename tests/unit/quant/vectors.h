/*
 * vectors.h - the original's results: inputs and outputs as .npy, a line of key=value for each
 * case.
 */
#ifndef TESTS_QUANT_VECTORS_H
#define TESTS_QUANT_VECTORS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mase/file.h>

#include "formats.h"

static inline bool same_bits(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* What the original gives for the sign of zero differs from machine to machine. */
static inline bool same_result(float a, float b)
{
    return same_bits(a, b) || (a == 0 && b == 0);
}

/* The floats of a version 1 .npy file of type <f4; the reader proper is in a later layer. */
static inline const float *floats_of(const struct mase_file *f, int64_t *count)
{
    assert_true(f->size > 10 && memcmp(f->data, "\x93NUMPY\x01", 7) == 0);
    const size_t start = 10 + f->data[8] + 256u * f->data[9];
    *count = (int64_t)((f->size - start) / sizeof(float));
    return (const float *)(const void *)(f->data + start);
}

static inline const char *field(const char *line, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, " %s=", name);
    const char *at = strstr(line, key);
    if (!at)
        fail_msg("no%s in: %s", key, line);
    return at + strlen(key);
}

static inline int64_t number(const char *line, const char *name)
{
    const char *text = field(line, name);
    return mase_starts_with(text, "None") ? MASE_NA : strtoll(text, NULL, 10);
}

static inline struct mase_shape shape_of(const char *text)
{
    struct mase_shape s = { 0 };
    char *end;
    do {
        s.dim[s.rank++] = strtoll(text, &end, 10);
        text = end + 1;
    } while (*end == ',');
    return s;
}

/* All cases of a folder; returns how many. */
typedef void vector_fn(const char *line, const float *x, const float *y, int64_t nx, int64_t ny);

static inline int each_vector(const char *folder, vector_fn *check)
{
    char path[3][512], line[512];
    static const char *const names[] = { "x.npy", "y.npy", "cases.txt" };
    struct mase_file fx, fy;
    struct mase_err err = { 0 };
    int64_t nx, ny;
    int cases = 0;
    for (int i = 0; i < 3; i++)
        snprintf(path[i], sizeof path[i], "%s/tests/data/quantizers/%s/%s", MASE_SOURCE_DIR, folder,
                 names[i]);
    assert_int_equal(mase_file_open(&fx, path[0], &err), MASE_OK);
    assert_int_equal(mase_file_open(&fy, path[1], &err), MASE_OK);
    const float *x = floats_of(&fx, &nx), *y = floats_of(&fy, &ny);
    FILE *in = fopen(path[2], "r");
    assert_non_null(in);
    for (; fgets(line, sizeof line, in); cases++)
        check(line, x, y, nx, ny);
    fclose(in);
    mase_file_close(&fx);
    mase_file_close(&fy);
    return cases;
}

#endif /* TESTS_QUANT_VECTORS_H */
