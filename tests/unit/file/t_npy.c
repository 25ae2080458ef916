/*
 * t_npy.c - NumPy files: everything NumPy wrote is read, what we write is what NumPy writes, and no
 * damaged file does harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase/file.h>
#include <mase/npy.h>

#include "bounded.h"
#include "file/element.h"
#include "run_cases.h"

#define DATA MASE_SOURCE_DIR "/tests/data/npy/"

/* ---- reading ---- */

/* What generate.py put at place i of an array of this kind. */
static double expected(char kind, int64_t i)
{
    switch (kind) {
    case 'f':
        return (double)i / 4 - 3;
    case 'i':
        return (double)i - 11;
    case 'u':
        return (double)i * 10;
    default:
        return i % 3 == 0;
    }
}

static void check_values(const char *file, enum mase_dtype dtype)
{
    struct mase_arena a = { 0 };
    struct mase_tensor t;
    struct mase_err err;
    char path[256];
    snprintf(path, sizeof path, DATA "%s.npy", file);
    if (mase_npy_read(&t, &a, path, &err))
        fail_msg("%s: %s", file, err.msg);
    assert_int_equal(t.dtype, dtype);
    assert_true(mase_shape_equal(&t.shape, &(struct mase_shape){ 3, { 2, 3, 4 } }));
    for (int64_t i = 0; i < 24; i++)
        if (mase_tensor_get(&t, i) != expected(file[0], i))
            fail_msg("%s[%d] = %g", file, (int)i, mase_tensor_get(&t, i));
    mase_arena_release(&a);
}

static void every_type(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        enum mase_dtype dtype;
    } rows[] = {
        { "f2", MASE_F32 },
        { "f4", MASE_F32 },
        { "f8", MASE_F64 },
        { "i1", MASE_I32 },
        { "i2", MASE_I32 },
        { "i4", MASE_I32 },
        { "i8", MASE_I64 },
        { "u1", MASE_U8 },
        { "u2", MASE_I32 },
        { "u4", MASE_I64 },
        { "u8", MASE_I64 },
        { "b1", MASE_DTYPE_BOOL },
        { "f2_big", MASE_F32 },
        { "f4_big", MASE_F32 },
        { "f8_big", MASE_F64 },
        { "i2_big", MASE_I32 },
        { "i4_big", MASE_I32 },
        { "i8_big", MASE_I64 },
        { "u2_big", MASE_I32 },
        { "u4_big", MASE_I64 },
        { "u8_big", MASE_I64 },
        { "f2_fortran", MASE_F32 },
        { "f4_fortran", MASE_F32 },
        { "i8_fortran", MASE_I64 },
        { "f4_v2", MASE_F32 },
        { "f4_v3", MASE_F32 },
        { "i2_big_fortran", MASE_I32 },
        { "b1_fortran", MASE_DTYPE_BOOL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_values(rows[i].file, rows[i].dtype);
}

static void check_shape(const char *path, const struct mase_shape *shape)
{
    struct mase_arena a = { 0 };
    struct mase_tensor t;
    struct mase_err err;
    assert_int_equal(mase_npy_read(&t, &a, path, &err), MASE_OK);
    assert_true(mase_shape_equal(&t.shape, shape));
    mase_arena_release(&a);
}

static void odd_shapes(void **state)
{
    (void)state;
    check_shape(DATA "scalar.npy", &(struct mase_shape){ 0 });
    check_shape(DATA "empty.npy", &(struct mase_shape){ 2, { 0, 3 } });
    check_shape(DATA "vector.npy", &(struct mase_shape){ 1, { 5 } });
}

static void every_half(void **state)
{
    (void)state;
    for (int bits = 0; bits < 65536; bits++) {
        const int exponent = bits >> 10 & 31, fraction = bits & 1023;
        double v = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
        if (exponent == 31)
            v = fraction ? (double)NAN : (double)INFINITY;
        const float f = mase_float_of_half((uint16_t)bits);
        assert_int_equal(signbit(f) != 0, bits >> 15);
        assert_true(fabs((double)f) == v || (isnan(f) && isnan(v)));
    }
}

/* ---- refusing ---- */

static void refuse(const void *data, size_t size, enum mase_status status, const char *message)
{
    struct mase_arena a = { 0 };
    struct mase_tensor t = { 0 };
    struct mase_err err = { 0 };
    assert_int_equal(mase_npy_parse(&t, &a, data, size, "m.npy", &err), status);
    if (!strstr(err.msg, message))
        fail_msg("'%s' is not in '%s'", message, err.msg);
    assert_true(err.loc.off >= 0 && err.loc.off <= (int64_t)size);
    assert_null(t.data);
    mase_arena_release(&a);
}

static void refuse_file(const char *path, enum mase_status status, const char *message)
{
    struct mase_file f;
    struct mase_err err;
    assert_int_equal(mase_file_open(&f, path, &err), MASE_OK);
    refuse(f.data, f.size, status, message);
    mase_file_close(&f);
}

/* A version 1 file of this header and so many bytes of data. */
static void refuse_header(const char *header, size_t data, enum mase_status status,
                          const char *message)
{
    unsigned char buf[512] = "\x93NUMPY\x01";
    const size_t n = strlen(header);
    assert_true(10 + n + data <= sizeof buf);
    buf[8] = (unsigned char)n;
    memcpy(buf + 10, header, n);
    refuse(buf, 10 + n + data, status, message);
}

static void unreadable(void **state)
{
    (void)state;
    refuse_file(DATA "object.npy", MASE_EUNSUPPORTED, "an object array holds Python pickles");
    refuse_file(DATA "record.npy", MASE_EUNSUPPORTED, "structured arrays are not supported");
    refuse_file(DATA "complex.npy", MASE_EUNSUPPORTED, "type '<c8' is not supported");
    refuse("\x93NUMPX\x01", 7, MASE_EPARSE, "NPY magic");
    refuse("\x93NUMPY\x04\x00\x00\x00", 10, MASE_EUNSUPPORTED, "version 4.0");
}

static void bad_headers(void **state)
{
    (void)state;
#define ARRAY(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape ", }\n"
    refuse_header(ARRAY("(2,)"), 4, MASE_EPARSE, "ends inside");
    refuse_header(ARRAY("(2,)"), 9, MASE_EPARSE, "1 bytes after the array");
    refuse_header(ARRAY("(2)"), 8, MASE_EPARSE, "expected ',', found ')'");
    refuse_header(ARRAY("(-2,)"), 8, MASE_EPARSE, "expected a length, found '-'");
    refuse_header(ARRAY("(2, 2 3)"), 8, MASE_EPARSE, "expected ',', found '3'");
    refuse_header(ARRAY("(1, 1, 1, 1, 1, 1, 1, 1, 1)"), 4, MASE_ELIMIT, "more than 8 dimensions");
    refuse_header(ARRAY("(99999999999999999999,)"), 4, MASE_ELIMIT, "exceeds 64 bits");
    refuse_header(ARRAY("(4294967296, 4294967296)"), 4, MASE_ELIMIT, "more than 2^60 elements");
    refuse_header(ARRAY("(4294967296, 4294967296, 0)"), 0, MASE_ELIMIT, "more than 2^60");
    refuse_header("{'descr': '<f4', 'shape': (1,), }", 4, MASE_EPARSE, "no 'fortran_order'");
    refuse_header("{'descr': '<f4', 'descr': '<f4'}", 4, MASE_EPARSE, "second key 'descr'");
    refuse_header("{'dtype': '<f4'}", 4, MASE_EPARSE, "unknown key 'dtype'");
    refuse_header("{'fortran_order': 0}", 4, MASE_EPARSE, "expected True or False, found '0'");
    refuse_header("{'descr': 'f4'}", 4, MASE_EUNSUPPORTED, "type 'f4' is not supported");
    refuse_header("{'descr': '|f4'}", 4, MASE_EPARSE, "has no byte order");
    refuse_header("{'descr': '<f4", 0, MASE_EPARSE, "the header ends where a closing quote");
    refuse_header(ARRAY("(1,)") "x", 4, MASE_EPARSE, "expected the end of the header, found 'x'");
    refuse_header("", 0, MASE_EPARSE, "the header ends where '{' should be");
    refuse_header("{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}\xff\xff\xff\xff", 4,
                  MASE_EPARSE, "found byte 0xff");
#undef ARRAY
}

static void too_large_unsigned(void **state)
{
    (void)state;
    unsigned char buf[128] = "\x93NUMPY\x01\x00\x38\x00"
                             "{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}\n";
    memset(buf + 66, 0xff, 8);
    refuse(buf, 74, MASE_EVALUE, "element 0 = 18446744073709551615 exceeds");
}

/* ---- damage: a status, never a crash; a buffer of the exact size lets sanitizers see overreads
 * ---- */

static void parse_copy(const unsigned char *data, size_t size)
{
    struct mase_arena a = { 0 };
    struct mase_tensor t;
    struct mase_err err;
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    if (mase_npy_parse(&t, &a, copy, size, "m.npy", &err) == MASE_OK)
        assert_true(mase_tensor_bytes(&t) >= 0);
    else
        assert_true(err.msg[0]);
    free(copy);
    mase_arena_release(&a);
}

static void damage(const char *path)
{
    struct mase_file f;
    struct mase_err err;
    assert_int_equal(mase_file_open(&f, path, &err), MASE_OK);
    unsigned char *data = malloc(f.size);
    memcpy(data, f.data, f.size);
    for (size_t n = 0; n < f.size; n++)
        refuse(data, n, MASE_EPARSE, "");
    for (size_t i = 0; i < f.size; i++)
        for (int change = 1; change < 256; change++) {
            data[i] ^= (unsigned char)change;
            parse_copy(data, f.size);
            data[i] ^= (unsigned char)change;
        }
    free(data);
    mase_file_close(&f);
}

static void damaged_files(void **state)
{
    (void)state;
    damage(DATA "f4.npy");
    damage(DATA "i2_big_fortran.npy");
    damage(DATA "f4_v3.npy");
}

/* ---- writing ---- */

static void write_as_numpy(const char *file)
{
    struct mase_arena a = { 0 };
    struct mase_tensor t;
    struct mase_err err;
    char path[256], temp[] = "/tmp/t_npy_XXXXXX";
    snprintf(path, sizeof path, DATA "%s.npy", file);
    const int fd = mkstemp(temp);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(mase_npy_read(&t, &a, path, &err), MASE_OK);
    assert_int_equal(mase_npy_write(&t, temp, &err), MASE_OK);

    struct mase_file ours, numpys;
    assert_int_equal(mase_file_open(&ours, temp, &err), MASE_OK);
    assert_int_equal(mase_file_open(&numpys, path, &err), MASE_OK);
    assert_int_equal(ours.size, numpys.size);
    assert_memory_equal(ours.data, numpys.data, ours.size);
    mase_file_close(&ours);
    mase_file_close(&numpys);
    unlink(temp);
    mase_arena_release(&a);
}

static void same_bytes(void **state)
{
    (void)state;
    static const char *const files[] = { "f4", "f8",     "i4",    "i8",    "u1",
                                         "b1", "scalar", "empty", "vector" };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        write_as_numpy(files[i]);
}

static void cannot_write(void **state)
{
    (void)state;
    float x = 1;
    const struct mase_tensor t = { MASE_F32, { 0 }, &x };
    struct mase_err err;
    assert_int_equal(mase_npy_write(&t, DATA "f4.npy/x.npy", &err), MASE_EIO);
    assert_int_equal(mase_npy_read(&(struct mase_tensor){ 0 }, &(struct mase_arena){ 0 },
                                   DATA "absent.npy", &err),
                     MASE_EIO);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),    cmocka_unit_test(odd_shapes),
        cmocka_unit_test(every_half),    cmocka_unit_test(unreadable),
        cmocka_unit_test(bad_headers),   cmocka_unit_test(too_large_unsigned),
        cmocka_unit_test(damaged_files), cmocka_unit_test(same_bytes),
        cmocka_unit_test(cannot_write),
    };
    bound_memory();
    return run_cases(argc, argv, tests, NULL, NULL);
}
