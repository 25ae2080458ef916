/*
 * t_onnx_wire.c - protobuf's wire format: what it may look like is read, what it may not is refused
 * with its place, and tensors that lie in other files do so in the model's own folder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase/str.h>

#include "onnx/onnx_file.h"
#include "run_cases.h"

/* ---- bytes ---- */

static void put_varint(struct mase_str *s, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        mase_str_addc(s, (char)(0x80 | (v & 0x7f)));
    mase_str_addc(s, (char)v);
}

static void put_int(struct mase_str *s, int number, uint64_t v)
{
    put_varint(s, (uint64_t)number << 3);
    put_varint(s, v);
}

static void put_bytes(struct mase_str *s, int number, const char *data, size_t n)
{
    put_varint(s, (uint64_t)number << 3 | 2);
    put_varint(s, n);
    mase_str_addn(s, data, n);
}

static void put_text(struct mase_str *s, int number, const char *text)
{
    put_bytes(s, number, text, strlen(text));
}

static enum mase_status read_tensor(struct mase_onnx_tensor *t, struct mase_arena *a,
                                    const struct mase_str *s, struct mase_err *err)
{
    memset(t, 0, sizeof *t);
    return mase_onnx_parse(t, a, MASE_ONNX_MESSAGE_tensor, s->data, s->len, "t.pb", err);
}

/* ---- what it may look like ---- */

static void numbers_may_be_packed_or_not(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_onnx_tensor t;
    struct mase_err err;
    struct mase_str s = { 0 }, packed = { 0 };
    put_int(&s, 1, 2);
    put_varint(&packed, 300);
    put_varint(&packed, UINT64_MAX); /* -1 */
    put_bytes(&s, 1, packed.data, packed.len);
    put_int(&s, 1, 7);
    put_int(&s, 99, 5); /* of a later version: passed over */
    put_text(&s, 12, "of no interest");
    put_text(&s, 8, "first");
    put_text(&s, 8, "last"); /* the last one counts */
    put_bytes(&s, 4, "\0\0\x80\x3f\0\0\0\xc0", 8);
    if (read_tensor(&t, &a, &s, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(t.dims.count, 4);
    assert_int_equal(t.dims.items[0], 2);
    assert_int_equal(t.dims.items[1], 300);
    assert_int_equal(t.dims.items[2], -1);
    assert_int_equal(t.dims.items[3], 7);
    assert_string_equal(t.name, "last");
    assert_int_equal(t.float_data.count, 2);
    assert_true(t.float_data.items[0] == 1.0f && t.float_data.items[1] == -2.0f);
    assert_false(mase_onnx_has(&t.head, 9));
    mase_str_release(&s);
    mase_str_release(&packed);
    mase_arena_release(&a);
}

/* ---- what it may not ---- */

static const struct {
    const char *bytes;
    size_t size;
    const char *says;
    int64_t at;
} faults[] = {
    { "\x08", 1, "file ends inside a 8-bit integer", 1 },
    { "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "more than 64 bits", 1 },
    { "\x42\x05"
      "ab",
      4, "field 8 has 5 bytes, but only 2 are left", 0 },
    { "\x42\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "field 8 has 18446744073709551615 bytes",
      0 },
    { "\x43", 1, "wire type 3; expected 0, 1, 2 or 5", 0 },
    { "\x00\x00", 2, "no field of number 0", 0 },
    { "\x40\x01", 2, "name of a tensor is of wire type 0; expected 2", 0 },
    { "\x42\x02\x61\x00", 4, "zero byte", 0 },
    { "\x22\x03\x00\x00\x00", 5, "file ends inside a 32-bit integer", 2 },
};

static void faults_are_refused_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct mase_arena a = { 0 };
        struct mase_onnx_tensor t = { 0 };
        struct mase_err err = { 0 };
        assert_int_not_equal(mase_onnx_parse(&t, &a, MASE_ONNX_MESSAGE_tensor, faults[i].bytes,
                                             faults[i].size, "t.pb", &err),
                             MASE_OK);
        if (!strstr(err.msg, faults[i].says) || err.loc.off != faults[i].at)
            fail_msg("%zu: '%s' at %lld", i, err.msg, (long long)err.loc.off);
        mase_arena_release(&a);
    }
}

/* Graphs in attributes of nodes of graphs, 10 000 deep. */
static void depth_is_bounded(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_onnx_model m = { 0 };
    struct mase_err err = { 0 };
    struct mase_str inner = { 0 };
    static const int path[] = { 6, 5, 1 }; /* graph of attribute of node */
    for (int i = 0; i < 9999; i++) {
        struct mase_str outer = { 0 };
        put_bytes(&outer, path[i % 3], mase_str_text(&inner), inner.len);
        mase_str_release(&inner);
        inner = outer;
    }
    struct mase_str s = { 0 };
    put_bytes(&s, 7, inner.data, inner.len);
    assert_int_equal(
        mase_onnx_parse(&m, &a, MASE_ONNX_MESSAGE_model, s.data, s.len, "deep.onnx", &err),
        MASE_ELIMIT);
    assert_non_null(strstr(err.msg, "more than 100 deep"));
    mase_str_release(&inner);
    mase_str_release(&s);
    mase_arena_release(&a);
}

/* Two bytes of the file are a node of more than a hundred bytes in memory. */
static void memory_is_bounded(void **state)
{
    (void)state;
    enum { NODES = 2000000 };
    struct mase_arena a = { 0 };
    struct mase_onnx_graph g = { 0 };
    struct mase_err err = { 0 };
    char *bytes = malloc(2 * NODES);
    for (int i = 0; i < NODES; i++) {
        bytes[2 * i] = 0x0a;
        bytes[2 * i + 1] = 0;
    }
    setenv("MASE_MEMORY", "64M", 1);
    assert_int_equal(
        mase_onnx_parse(&g, &a, MASE_ONNX_MESSAGE_graph, bytes, 2 * NODES, "many.onnx", &err),
        MASE_ELIMIT);
    unsetenv("MASE_MEMORY");
    assert_true(a.used < 1 << 20);
    free(bytes);
    mase_arena_release(&a);
}

/* ---- tensors ---- */

struct tensor_case {
    int type;
    int64_t dims[3];
    int rank;
    int field;
    const char *data;
    size_t size;
    const char *says; /* NULL: it is read */
    double first;
};

static const struct tensor_case tensor_cases[] = {
    { 1, { 2 }, 1, 9, "\0\0\x80\x3f\0\0\0\xc0", 8, NULL, 1.0 },
    { 7, { 1 }, 1, 9, "\xfe\xff\xff\xff\xff\xff\xff\xff", 8, NULL, -2.0 },
    { 3, { 2 }, 1, 9, "\x80\x7f", 2, NULL, -128.0 },
    { 9, { 2 }, 1, 9, "\x07\x00", 2, NULL, 1.0 },
    { 10, { 1 }, 1, 5, "\x80\x78", 2, NULL, 1.0 }, /* 0x3c00 as a varint */
    { 2, { 2 }, 1, 5, "\x05\xff\x01", 3, NULL, 5.0 },
    { 22, { 3 }, 1, 9, "\x7a\x01", 2, NULL, -6.0 }, /* two in a byte, the first lowest */
    { 21, { 3 }, 1, 5, "\x7a\x01", 2, NULL, 10.0 },
    { 26, { 5 }, 1, 9, "\xe7\x01", 2, NULL, -1.0 },
    { 22, { 3 }, 1, 9, "\x7a", 1, "has 1 bytes; its type and shape ask for 2", 0 },
    { 2, { 1 }, 1, 5, "\x80\x02", 2, "element 0 is 256, which is no UINT8", 0 },
    { 1,
      { 3 },
      1,
      9,
      "\0\0\x80\x3f\0\0\0\xc0",
      8,
      "has 8 bytes; its type and shape ask for 12",
      0 },
    { 1,
      { 3 },
      1,
      4,
      "\0\0\x80\x3f\0\0\0\xc0",
      8,
      "has 2 elements; its type and shape ask for 3",
      0 },
    { 1, { -1 }, 1, 9, "", 0, "has a dimension of -1", 0 },
    { 1, { INT64_MAX, INT64_MAX, 2 }, 3, 9, "", 0, "more than 2^63 bytes", 0 },
    { 8, { 1 }, 1, 6, "", 0, "is of type STRING, which is not read", 0 },
    { 77, { 1 }, 1, 9, "", 0, "a type without a name", 0 },
};

static void tensors_are_what_their_type_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tensor_cases / sizeof tensor_cases[0]; i++) {
        const struct tensor_case *c = &tensor_cases[i];
        struct mase_arena a = { 0 };
        struct mase_onnx_file f = { .file = { .path = "t.pb" } };
        struct mase_onnx_tensor t;
        struct mase_tensor like;
        struct mase_err err = { 0 };
        struct mase_str s = { 0 };
        for (int d = 0; d < c->rank; d++)
            put_int(&s, 1, (uint64_t)c->dims[d]);
        put_int(&s, 2, (uint64_t)c->type);
        put_bytes(&s, c->field, c->data, c->size);
        assert_int_equal(read_tensor(&t, &a, &s, &err), MASE_OK);
        const enum mase_status st = mase_onnx_tensor_shape(&like, &f, &t, &err);
        if (c->says) {
            if (!st || !strstr(err.msg, c->says))
                fail_msg("%zu: '%s'", i, st ? err.msg : "is read");
        } else {
            assert_int_equal(st, MASE_OK);
            like.data = mase_arena_alloc(&a, (size_t)mase_tensor_bytes(&like));
            mase_onnx_tensor_copy(like.data, &f, &t);
            assert_true(mase_tensor_get(&like, 0) == c->first);
        }
        mase_str_release(&s);
        mase_arena_release(&a);
    }
}

/* A tensor of two floats that lies somewhere else. */
static void put_external(struct mase_str *s, const char *location, const char *offset,
                         const char *length)
{
    const char *const entries[][2] = { { "location", location },
                                       { "offset", offset },
                                       { "length", length } };
    put_int(s, 1, 2);
    put_int(s, 2, 1);
    put_int(s, 14, 1);
    for (int i = 0; i < 3; i++) {
        struct mase_str e = { 0 };
        put_text(&e, 1, entries[i][0]);
        put_text(&e, 2, entries[i][1]);
        put_bytes(s, 13, e.data, e.len);
        mase_str_release(&e);
    }
}

static void outside_data_stay_in_the_folder(void **state)
{
    (void)state;
    static const struct {
        const char *location, *offset, *length, *says;
    } rows[] = {
        { "in/w.data", "4", "8", NULL },
        { "in/../in/w.data", "4", "8", "not in the model's own folder" },
        { "../m/in/w.data", "4", "8", "not in the model's own folder" },
        { "/etc/hostname", "0", "8", "not in the model's own folder" },
        { "away.data", "0", "8", "not in the model's own folder" }, /* a link */
        { "in", "0", "8", "which is no file" },
        { "absent.data", "0", "8", "which is no file" },
        { "in/w.data", "8", "8", "bytes 8 to 16 are asked for" },
        { "in/w.data", "18446744073709551615", "8", "are asked for" },
        { "in/w.data", "18446744073709551616", "8", "is no number of bytes" },
        { "in/w.data", "-1", "8", "is no number of bytes" },
        { "in/w.data", "4", "9", "has 9 bytes; its type and shape ask for 8" },
        { "", "0", "8", "does not say in which file" },
    };
    char dir[] = "/tmp/t_onnx_XXXXXX", path[64], link[64];
    assert_non_null(mkdtemp(dir));
    struct mase_err err = { 0 };
    snprintf(path, sizeof path, "%s/m/in/w.data", dir);
    assert_int_equal(mase_file_write(path, "....\0\0\x80\x3f\0\0\0\xc0", 12, &err), MASE_OK);
    snprintf(path, sizeof path, "%s/away.data", dir);
    assert_int_equal(mase_file_write(path, "\0\0\x80\x3f\0\0\0\xc0", 8, &err), MASE_OK);
    snprintf(link, sizeof link, "%s/m/away.data", dir);
    assert_int_equal(symlink(path, link), 0);
    snprintf(path, sizeof path, "%s/m/model.onnx", dir);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mase_onnx_file f = { .file = { .path = path } };
        struct mase_onnx_tensor t;
        struct mase_tensor like;
        struct mase_str s = { 0 };
        put_external(&s, rows[i].location, rows[i].offset, rows[i].length);
        assert_int_equal(read_tensor(&t, &f.arena, &s, &err), MASE_OK);
        const enum mase_status st = mase_onnx_tensor_shape(&like, &f, &t, &err);
        if (!rows[i].says != !st || (st && !strstr(err.msg, rows[i].says)))
            fail_msg("%zu: '%s'", i, st ? err.msg : "is read");
        if (!st) {
            float v[2];
            mase_onnx_tensor_copy(v, &f, &t);
            assert_true(v[0] == 1.0f && v[1] == -2.0f);
        }
        mase_str_release(&s);
        mase_onnx_file_close(&f);
    }
    unlink(link);
    snprintf(path, sizeof path, "rm -r %s", dir);
    assert_int_equal(system(path), 0);
}

/* ---- writing ---- */

/* All kinds of fields, numbers of either sign, zeros that are there and some that are not. */
static void what_is_written_is_read(void **state)
{
    int64_t dims[] = { 3, 0, -1, INT64_MIN, INT64_MAX };
    float floats[] = { 1.5f, -0.0f };
    const char *names[] = { "a", "", "c" };
    struct mase_onnx_tensor tensor = { .name = "w", .data_type = 0 };
    struct mase_onnx_attribute attributes[3] = { { .name = "ints", .type = 7 },
                                                 { .name = "alpha", .f = 0.0f },
                                                 { .name = "none" } };
    struct mase_onnx_node node = { .op_type = "Conv" };
    struct mase_arena a = { 0 };
    struct mase_err err;
    struct mase_str bytes = { 0 };
    (void)state;
    tensor.dims.items = dims;
    tensor.dims.count = 5;
    tensor.float_data.items = floats;
    tensor.float_data.count = 2;
    tensor.head.has = 1u << 2;
    tensor.raw_data = (struct mase_onnx_bytes){ (const unsigned char *)"\0\1", 2 };
    attributes[0].head.has = 1u << 20;
    attributes[0].t = &tensor;
    attributes[1].head.has = 1u << 2;
    node.attribute.items = attributes;
    node.attribute.count = 3;
    node.input.items = names;
    node.input.count = 3;
    mase_onnx_print(&bytes, MASE_ONNX_MESSAGE_node, &node);

    struct mase_onnx_node got = { 0 };
    assert_int_equal(
        mase_onnx_parse(&got, &a, MASE_ONNX_MESSAGE_node, bytes.data, bytes.len, "n", &err),
        MASE_OK);
    assert_string_equal(got.op_type, "Conv");
    assert_int_equal(got.input.count, 3);
    assert_string_equal(got.input.items[1], "");
    assert_string_equal(got.input.items[2], "c");
    assert_int_equal(got.attribute.count, 3);
    assert_true(mase_onnx_has(&got.attribute.items[1].head, 2));
    assert_false(mase_onnx_has(&got.attribute.items[2].head, 2));
    const struct mase_onnx_tensor *t = got.attribute.items[0].t;
    assert_non_null(t);
    assert_true(mase_onnx_has(&t->head, 2));
    assert_int_equal(t->dims.count, 5);
    assert_memory_equal(t->dims.items, dims, sizeof dims);
    assert_memory_equal(t->float_data.items, floats, sizeof floats);
    assert_int_equal(t->raw_data.size, 2);
    assert_memory_equal(t->raw_data.data, "\0\1", 2);
    mase_str_release(&bytes);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_may_be_packed_or_not),
        cmocka_unit_test(faults_are_refused_with_their_place),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(tensors_are_what_their_type_says),
        cmocka_unit_test(outside_data_stay_in_the_folder),
        cmocka_unit_test(what_is_written_is_read),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
