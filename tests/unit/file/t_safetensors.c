/*
 * t_safetensors.c - files of the reference library are read, each rule of the format is enforced,
 * what we write reads back, and no damaged file does harm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase/safetensors.h>

#include "bounded.h"
#include "run_cases.h"

#define DATA MASE_SOURCE_DIR "/tests/data/safetensors/"

/* ---- reading ---- */

/* What generate.py put at place i of a tensor of this type. */
static double expected(const char *type, int64_t i)
{
    if (strstr(type, "float"))
        return (double)i / 4 - 1;
    if (mase_starts_with(type, "int"))
        return (double)i - 2;
    return mase_starts_with(type, "uint") ? (double)i * 10 : i % 3 == 0;
}

static void every_type(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum mase_dtype dtype;
    } rows[] = {
        { "float64", MASE_F64 },     { "float32", MASE_F32 }, { "float16", MASE_F32 },
        { "bfloat16", MASE_F32 },    { "int64", MASE_I64 },   { "int32", MASE_I32 },
        { "int16", MASE_I32 },       { "int8", MASE_I32 },    { "uint64", MASE_I64 },
        { "uint32", MASE_I64 },      { "uint16", MASE_I32 },  { "uint8", MASE_U8 },
        { "bool", MASE_DTYPE_BOOL },
    };
    struct mase_safetensors st;
    struct mase_err err;
    if (mase_safetensors_open(&st, DATA "types.safetensors", &err))
        fail_msg("%s", err.msg);
    assert_int_equal(st.count, 15);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const struct mase_tensor *t = mase_safetensors_find(&st, rows[k].name);
        assert_non_null(t);
        assert_int_equal(t->dtype, rows[k].dtype);
        assert_true(mase_shape_equal(&t->shape, &(struct mase_shape){ 2, { 2, 3 } }));
        for (int64_t i = 0; i < 6; i++)
            assert_true(mase_tensor_get(t, i) == expected(rows[k].name, i));
    }
    assert_int_equal((int)mase_tensor_get(mase_safetensors_find(&st, "scalar"), 0), -7);
    assert_int_equal(mase_tensor_count(mase_safetensors_find(&st, "empty")), 0);
    assert_null(mase_safetensors_find(&st, "float"));
    assert_string_equal(mase_value_get(st.metadata, "note")->s, "every type");
    mase_safetensors_close(&st);
}

static void a_real_model(void **state)
{
    (void)state;
    struct mase_safetensors st;
    struct mase_err err;
    const char *path = MASE_SOURCE_DIR "/tests/data/models/jsc-tiny/model.safetensors";
    assert_int_equal(mase_safetensors_open(&st, path, &err), MASE_OK);
    const struct mase_tensor *w = mase_safetensors_find(&st, "seq_blocks.2.weight");
    assert_non_null(w);
    assert_true(mase_shape_equal(&w->shape, &(struct mase_shape){ 2, { 5, 16 } }));
    assert_int_equal(mase_safetensors_find(&st, "seq_blocks.0.num_batches_tracked")->dtype,
                     MASE_I64);
    mase_safetensors_close(&st);
}

/* ---- refusing ---- */

/* A file of this header, blanks up to a length of pad, and so many bytes of data. */
static size_t build(unsigned char *buf, size_t cap, const char *header, size_t pad, size_t data)
{
    const size_t n = strlen(header) + pad;
    assert_true(8 + n + data <= cap);
    memset(buf, 0, 8 + n + data);
    for (int i = 0; i < 8; i++)
        buf[i] = (unsigned char)((uint64_t)n >> (8 * i));
    memset(buf + 8, ' ', n);
    memcpy(buf + 8, header, strlen(header));
    return 8 + n + data;
}

static void refuse(const char *header, size_t data, enum mase_status status, const char *message)
{
    unsigned char buf[1024];
    struct mase_safetensors st;
    struct mase_err err = { 0 };
    const size_t size = build(buf, sizeof buf, header, 0, data);
    assert_int_equal(mase_safetensors_parse(&st, buf, size, "m.safetensors", &err), status);
    if (!strstr(err.msg, message))
        fail_msg("'%s' is not in '%s'", message, err.msg);
    assert_true(err.loc.off >= 0 && err.loc.off <= (int64_t)size && err.loc.line == 0);
    assert_null(st.items);
}

#define F32(shape, begin, end) \
    "{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"

static void bad_entries(void **state)
{
    (void)state;
    refuse("{\"a\":" F32("[1]", "0", "4") "}", 3, MASE_EPARSE, "outside the 3 bytes");
    refuse("{\"a\":" F32("[1]", "0", "4") "}", 5, MASE_EPARSE, "1 bytes after the last tensor");
    refuse("{\"a\":" F32("[2]", "0", "4") "}", 4, MASE_EPARSE,
           "has 4 bytes, its type and shape "
           "ask for 8");
    refuse("{\"a\":" F32("[1]", "4", "0") "}", 4, MASE_EPARSE, "offsets [4, 0] are outside");
    refuse("{\"a\":" F32("[1]", "-4", "0") "}", 4, MASE_EPARSE, "offsets [-4, 0] are outside");
    refuse("{\"a\":" F32("[1]", "4", "8") "}", 8, MASE_EPARSE, "leaving a gap from 0");
    refuse("{\"a\":" F32("[1]", "0", "4") ",\"b\":" F32("[1]", "2", "6") "}", 6, MASE_EPARSE,
           "tensor 'b' begins at 2 of the data, overlapping what ends at 4");
    refuse("{\"a\":" F32("[-1]", "0", "4") "}", 4, MASE_EPARSE, "dimension 0 is no length");
    refuse("{\"a\":" F32("[1.0]", "0", "4") "}", 4, MASE_EPARSE, "dimension 0 is no length");
    refuse("{\"a\":" F32("1", "0", "4") "}", 4, MASE_EPARSE, "no \"shape\" list");
    refuse("{\"a\":" F32("[1,1,1,1,1,1,1,1,1]", "0", "4") "}", 4, MASE_ELIMIT, "9 dimensions");
    refuse("{\"a\":" F32("[4294967296,4294967296,0]", "0", "0") "}", 0, MASE_ELIMIT,
           "more than 2^60 elements");
    refuse("{\"a\":{\"dtype\":1,\"shape\":[4],\"data_offsets\":[0,4]}}", 4, MASE_EPARSE,
           "no \"dtype\" string");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, MASE_EPARSE,
           "no \"data_offsets\" [begin, end]");
    refuse("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1}}", 4,
           MASE_EPARSE, "unknown key 'x'");
    refuse("{\"a\":[]}", 0, MASE_EPARSE, "tensor 'a' is no object");
}

static void bad_headers(void **state)
{
    (void)state;
    refuse("", 0, MASE_EPARSE, "does not begin with '{'");
    refuse(" {}", 0, MASE_EPARSE, "does not begin with '{'");
    refuse("[]", 0, MASE_EPARSE, "does not begin with '{'");
    refuse("{\"a\":}", 0, MASE_EPARSE, "header: ");
    refuse("{} x", 0, MASE_EPARSE, "header: ");
    refuse("{\"a\":" F32("[0]", "0", "0") ",\"a\":" F32("[0]", "0", "0") "}", 0, MASE_EPARSE,
           "header: ");
    refuse("{\"__metadata__\":{\"a\":1}}", 0, MASE_EPARSE, "no object of strings");
    refuse("{\"__metadata__\":\"a\"}", 0, MASE_EPARSE, "no object of strings");

    struct mase_safetensors st;
    struct mase_err err = { 0 };
    const unsigned char huge[16] = { 1, 0xe1, 0xf5, 5 }; /* 100 000 001 */
    assert_int_equal(mase_safetensors_parse(&st, huge, sizeof huge, "m", &err), MASE_ELIMIT);
    assert_int_equal(mase_safetensors_parse(&st, huge, 7, "m", &err), MASE_EPARSE);
    const unsigned char beyond[16] = { 9, 0 };
    assert_int_equal(mase_safetensors_parse(&st, beyond, sizeof beyond, "m", &err), MASE_EPARSE);
}

static void empty_and_padded(void **state)
{
    (void)state;
    unsigned char buf[64];
    struct mase_safetensors st;
    struct mase_err err;
    const size_t size = build(buf, sizeof buf, "{}", 6, 0);
    assert_int_equal(mase_safetensors_parse(&st, buf, size, "m", &err), MASE_OK);
    assert_int_equal(st.count, 0);
    assert_int_equal(st.metadata->count, 0);
    mase_safetensors_close(&st);
    mase_safetensors_close(&st); /* a closed one may be closed again */
}

/* A header of odd length puts the floats at an odd address: they must be copied, not cast. */
static void unaligned(void **state)
{
    (void)state;
    _Alignas(8) unsigned char buf[128];
    struct mase_safetensors st;
    struct mase_err err;
    for (size_t pad = 0; pad < 8; pad++) {
        const size_t size = build(buf, sizeof buf, "{\"a\":" F32("[2]", "0", "8") "}", pad, 8);
        const float x[2] = { 1.5f, -2.25f };
        memcpy(buf + size - 8, x, 8);
        assert_int_equal(mase_safetensors_parse(&st, buf, size, "m", &err), MASE_OK);
        assert_true((uintptr_t)st.items[0].tensor.data % 4 == 0);
        assert_memory_equal(st.items[0].tensor.data, x, 8);
        mase_safetensors_close(&st);
    }
}

/* ---- writing ---- */

static void round_trip(void **state)
{
    (void)state;
    struct mase_safetensors in, out;
    struct mase_err err;
    char temp[] = "/tmp/t_safetensors_XXXXXX";
    const int fd = mkstemp(temp);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(mase_safetensors_open(&in, DATA "types.safetensors", &err), MASE_OK);
    assert_int_equal(mase_safetensors_write(in.items, in.count, in.metadata, temp, &err), MASE_OK);
    assert_int_equal(mase_safetensors_open(&out, temp, &err), MASE_OK);
    assert_int_equal(out.count, in.count);
    assert_true(mase_value_equal(out.metadata, in.metadata));
    for (int i = 0; i < in.count; i++) {
        const struct mase_tensor *a = &in.items[i].tensor;
        const struct mase_tensor *b = mase_safetensors_find(&out, in.items[i].name);
        assert_non_null(b);
        assert_int_equal(a->dtype, b->dtype);
        assert_true(mase_shape_equal(&a->shape, &b->shape));
        if (mase_tensor_bytes(a))
            assert_memory_equal(a->data, b->data, (size_t)mase_tensor_bytes(a));
    }
    mase_safetensors_close(&in);
    mase_safetensors_close(&out);
    unlink(temp);
}

/* ---- damage ---- */

static void parse_copy(const unsigned char *data, size_t size)
{
    struct mase_safetensors st;
    struct mase_err err = { 0 };
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    if (mase_safetensors_parse(&st, copy, size, "m", &err) == MASE_OK)
        mase_safetensors_close(&st);
    else
        assert_true(err.msg[0]);
    free(copy);
}

static void damaged(void **state)
{
    (void)state;
    static const unsigned char changes[] = { 1, 2, 4, 8, 16, 32, 64, 128, 255, '"', '{' };
    struct mase_file f;
    struct mase_err err;
    assert_int_equal(mase_file_open(&f, DATA "types.safetensors", &err), MASE_OK);
    unsigned char *data = malloc(f.size);
    memcpy(data, f.data, f.size);
    for (size_t n = 0; n < f.size; n++) {
        struct mase_safetensors st;
        assert_int_not_equal(mase_safetensors_parse(&st, data, n, "m", &err), MASE_OK);
        parse_copy(data, n);
    }
    for (size_t i = 0; i < f.size; i++)
        for (size_t k = 0; k < sizeof changes; k++) {
            data[i] ^= changes[k];
            parse_copy(data, f.size);
            data[i] ^= changes[k];
        }
    free(data);
    mase_file_close(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),       cmocka_unit_test(a_real_model),
        cmocka_unit_test(bad_entries),      cmocka_unit_test(bad_headers),
        cmocka_unit_test(empty_and_padded), cmocka_unit_test(unaligned),
        cmocka_unit_test(round_trip),       cmocka_unit_test(damaged),
    };
    bound_memory();
    return run_cases(argc, argv, tests, NULL, NULL);
}
