/*
 * t_torch.c - PyTorch's files: what is in them, what we write, and damage of every kind.
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

#include <mase/graph.h>
#include <mase/safetensors.h>
#include <mase/torch.h>

#include "bounded.h"
#include "file/zip.h"
#include "run_cases.h"

#define DATA MASE_SOURCE_DIR "/tests/data/torch/"

static char temp[] = "/tmp/t_torch_XXXXXX";

static struct mase_torch opened(const char *path)
{
    struct mase_torch t;
    struct mase_err err;
    if (mase_torch_open(&t, path, &err))
        fail_msg("%s: %s", path, err.msg);
    return t;
}

/* ---- all that a file can hold ---- */

static const struct {
    const char *name;
    enum mase_dtype dtype;
    struct mase_shape shape;
    double first[8]; /* elements */
} mixed[] = {
    { "plain", MASE_F32, { 2, { 4, 6 } }, { 0, 1, 2, 3, 4, 5, 6, 7 } },
    { "tied", MASE_F32, { 2, { 4, 6 } }, { 0, 1, 2, 3, 4, 5, 6, 7 } },
    { "part", MASE_F32, { 2, { 2, 3 } }, { 8, 9, 10, 14, 15, 16 } },
    { "turned", MASE_F32, { 2, { 6, 4 } }, { 0, 6, 12, 18, 1, 7, 13, 19 } },
    { "permuted", MASE_F32, { 3, { 4, 2, 3 } }, { 0, 4, 8, 12, 16, 20, 1, 5 } },
    { "repeated", MASE_F32, { 2, { 2, 3 } }, { 1.5, 1.5, 1.5, -2, -2, -2 } },
    { "half", MASE_F32, { 1, { 4 } }, { 1, -0.5, 65504, 0x1p-24 } },
    { "bfloat", MASE_F32, { 1, { 3 } }, { 1, -3, 0x1.94p99 } },
    { "double", MASE_F64, { 1, { 2 } }, { 0.1, -1e300 } },
    { "long", MASE_I64, { 0, { 0 } }, { -0x1p62 } },
    { "int", MASE_I32, { 2, { 2, 1 } }, { 1, -2 } },
    { "short", MASE_I32, { 1, { 2 } }, { -300, 300 } },
    { "char", MASE_I32, { 1, { 2 } }, { -128, 127 } },
    { "byte", MASE_U8, { 1, { 2 } }, { 0, 255 } },
    { "bool", MASE_DTYPE_BOOL, { 1, { 2 } }, { 1, 0 } },
    { "empty", MASE_F32, { 2, { 0, 3 } }, { 0 } },
    { "parameter", MASE_F32, { 1, { 1 } }, { 7 } },
};
enum { MIXED = sizeof mixed / sizeof mixed[0] };

static void check_mixed(struct mase_torch *t, int converted)
{
    struct mase_named_tensor *items;
    int count;
    struct mase_err err;
    assert_int_equal(mase_torch_state_dict(t, &items, &count, &err), MASE_OK);
    assert_int_equal(count, MIXED);
    for (int i = 0; i < count; i++) {
        const struct mase_tensor *x = &items[i].tensor;
        assert_string_equal(items[i].name, mixed[i].name);
        assert_int_equal(x->dtype, mixed[i].dtype);
        assert_true(mase_shape_equal(&x->shape, &mixed[i].shape));
        for (int k = 0; k < mase_tensor_count(x) && k < 8; k++)
            if (mase_tensor_get(x, k) != mixed[i].first[k])
                fail_msg("%s[%d] = %g", items[i].name, k, mase_tensor_get(x, k));
    }
    assert_int_equal(t->converted, converted);

    struct mase_str s = { 0 };
    mase_obj_print(&s, t->root);
    assert_non_null(strstr(mase_str_text(&s),
                           "'epoch': 5, 'lr': 0.125, 'best': -7, 'flag': True, 'size': (2, 3), "
                           "'dtype': torch.bfloat16, 'device': 'cpu', 'seen': [3], "
                           "'raw': b'\\x00\\xff', 'big': 1099511627776, "
                           "0: (None, True, [-1, '\xc3\xa9'])}"));
    mase_str_release(&s);
}

static void everything(void **state)
{
    (void)state;
    static const char *const files[] = { "mixed.pt", "mixed4.pt", "mixed_legacy.pt",
                                         "mixed_legacy4.pt" };
    for (int i = 0; i < 4; i++) {
        char path[512];
        snprintf(path, sizeof path, DATA "%s", files[i]);
        struct mase_torch t = opened(path);
        check_mixed(&t, 4);
        mase_torch_close(&t);
    }
}

/* What is contiguous and of our types is not copied. */
static void borrowed(void **state)
{
    (void)state;
    struct mase_torch t = opened(DATA "mixed.pt");
    const struct mase_obj *weights = mase_obj_get(t.root, "model_state_dict");
    const char *plain = mase_obj_get(weights, "plain")->tensor->data;
    const char *turned = mase_obj_get(weights, "turned")->tensor->data;
    const char *start = (const char *)t.file.data, *end = start + t.file.size;
    assert_true(plain > start && plain < end);
    assert_false(turned > start && turned < end);
    assert_ptr_equal(plain, mase_obj_get(weights, "tied")->tensor->data);
    mase_torch_close(&t);
}

static void untyped_storages(void **state)
{
    (void)state;
    struct mase_torch t = opened(DATA "untyped.pt");
    const struct mase_tensor *w = mase_obj_get(t.root, "w")->tensor;
    assert_int_equal(w->dtype, MASE_I32);
    assert_int_equal(((const int32_t *)w->data)[1], 65535);
    assert_int_equal(t.converted, 1);
    mase_torch_close(&t);
}

/* ---- against safetensors files of the same networks ---- */

static void compare_weights(const char *torch, const char *safetensors, const char *prefix)
{
    struct mase_torch t = opened(torch);
    struct mase_safetensors st;
    struct mase_named_tensor *items;
    int count;
    struct mase_err err;
    assert_int_equal(mase_safetensors_open(&st, safetensors, &err), MASE_OK);
    assert_int_equal(mase_torch_state_dict(&t, &items, &count, &err), MASE_OK);
    assert_int_equal(count, st.count);
    for (int i = 0; i < count; i++) {
        assert_true(mase_starts_with(items[i].name, prefix));
        const char *name = items[i].name + strlen(prefix);
        const struct mase_tensor *other = mase_safetensors_find(&st, name);
        if (!other)
            fail_msg("no %s", name);
        assert_int_equal(other->dtype, items[i].tensor.dtype);
        assert_true(mase_shape_equal(&other->shape, &items[i].tensor.shape));
        assert_memory_equal(other->data, items[i].tensor.data, (size_t)mase_tensor_bytes(other));
    }
    mase_safetensors_close(&st);
    mase_torch_close(&t);
}

static void real_networks(void **state)
{
    (void)state;
    compare_weights(DATA "jsc-tiny.pt",
                    MASE_SOURCE_DIR "/tests/data/models/jsc-tiny/model.safetensors", "");
    compare_weights(DATA "jsc-tiny.ckpt", DATA "jsc-tiny.ckpt.safetensors", "model.");
}

static void lightning(void **state)
{
    (void)state;
    struct mase_torch t = opened(DATA "jsc-tiny.ckpt");
    assert_int_equal(mase_obj_get(t.root, "epoch")->i, 2);
    assert_int_equal(mase_obj_get(t.root, "global_step")->i, 48);
    const struct mase_obj *adam = mase_obj_get(t.root, "optimizer_states")->items[0];
    const struct mase_obj *third = mase_obj_get_int(mase_obj_get(adam, "state"), 2);
    assert_int_equal(mase_obj_get(third, "exp_avg")->tensor->shape.dim[0], 5);
    assert_null(mase_obj_get_int(mase_obj_get(adam, "state"), 4));
    mase_torch_close(&t);
}

/* ---- which dict is the state dict ---- */

static struct mase_obj *some_tensor(struct mase_arena *a)
{
    const struct mase_shape one = { 1, { 1 } };
    const struct mase_tensor t = mase_tensor(a, MASE_F32, &one, true);
    return mase_obj_tensor(a, &t);
}

static struct mase_obj *dict_of(struct mase_arena *a, const char *key, struct mase_obj *item)
{
    struct mase_obj *d = mase_obj_dict(a);
    mase_obj_set(a, d, key, item);
    return d;
}

/* The names of the state dict, or the error. */
static const char *names(struct mase_arena *a, const struct mase_obj *root)
{
    struct mase_torch t = { .root = root, .file.path = "t.pt" };
    struct mase_named_tensor *items;
    int count;
    struct mase_err err;
    const char *text = "";
    if (mase_torch_state_dict(&t, &items, &count, &err))
        text = mase_arena_printf(a, "%s", err.msg);
    else
        for (int i = 0; i < count; i++)
            text = mase_arena_printf(a, "%s%s ", text, items[i].name);
    mase_arena_release(&t.arena);
    return text;
}

static void where_weights_are(void **state)
{
    (void)state;
    struct mase_arena arena = { 0 }, *a = &arena;
    struct mase_obj *w = dict_of(a, "w", some_tensor(a));
    assert_string_equal(names(a, w), "w ");
    assert_string_equal(names(a, dict_of(a, "state_dict", w)), "w ");
    assert_string_equal(names(a, dict_of(a, "model", dict_of(a, "state_dict", w))), "w ");
    assert_string_equal(names(a, dict_of(a, "my weights", w)), "w ");

    struct mase_obj *both = dict_of(a, "ours", w);
    mase_obj_set(a, both, "theirs", dict_of(a, "v", some_tensor(a)));
    assert_string_equal(names(a, both), "the file holds several state dicts: 'ours', 'theirs'; "
                                        "--load-key says which");
    mase_obj_set(a, both, "net", dict_of(a, "n", some_tensor(a)));
    assert_string_equal(names(a, both), "n ");

    mase_obj_set(a, w, "fc._extra_state", mase_obj_dict(a));
    assert_string_equal(names(a, w), "w ");
    assert_non_null(strstr(names(a, mase_obj_list(a)), "it holds a list"));
    assert_string_equal(names(a, mase_obj_dict(a)), ""); /* of a network without parameters */

    struct mase_obj *pl = dict_of(a, "state_dict", dict_of(a, "model.w", some_tensor(a)));
    mase_obj_set(a, pl->items[0], "metric.total", some_tensor(a));
    assert_string_equal(names(a, pl), "model.w metric.total ");
    mase_obj_set(a, pl, "pytorch-lightning_version", mase_obj_text(a, "2"));
    assert_string_equal(names(a, pl), "model.w ");
    mase_arena_release(a);
}

/* ---- writing ---- */

static void written_is_read(void **state)
{
    (void)state;
    struct mase_torch t = opened(DATA "mixed.pt");
    struct mase_err err;
    assert_int_equal(mase_torch_write(t.root, temp, &err), MASE_OK);
    struct mase_torch back = opened(temp);
    assert_true(mase_obj_equal(t.root, back.root));
    check_mixed(&back, 0);
    const struct mase_obj *weights = mase_obj_get(back.root, "model_state_dict");
    assert_ptr_equal(mase_obj_get(weights, "plain")->tensor->data,
                     mase_obj_get(weights, "tied")->tensor->data);
    mase_torch_close(&back);
    mase_torch_close(&t);
}

static void same_tree_same_bytes(void **state)
{
    (void)state;
    struct mase_torch t = opened(DATA "jsc-tiny.ckpt");
    struct mase_file one, two;
    struct mase_err err;
    char other[sizeof temp + 2];
    snprintf(other, sizeof other, "%s.2", temp);
    assert_int_equal(mase_torch_write(t.root, temp, &err), MASE_OK);
    assert_int_equal(mase_torch_write(t.root, other, &err), MASE_OK);
    assert_int_equal(mase_file_open(&one, temp, &err), MASE_OK);
    assert_int_equal(mase_file_open(&two, other, &err), MASE_OK);
    assert_int_equal(one.size, two.size);
    assert_memory_equal(one.data, two.data, one.size);
    mase_file_close(&one);
    mase_file_close(&two);
    mase_torch_close(&t);
    unlink(other);
}

static void numbers(void **state)
{
    (void)state;
    struct mase_arena arena = { 0 }, *a = &arena;
    struct mase_obj *list = mase_obj_list(a);
    static const int64_t ints[] = { 0,         255,       256,       65535,     65536,    -1,
                                    INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, 1LL << 32 };
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++)
        mase_obj_push(a, list, mase_obj_int(a, ints[i]));
    static const double floats[] = { 0.1, -0.0, 1e300, 0x1p-1074, INFINITY, (double)NAN };
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        mase_obj_push(a, list, mase_obj_float(a, floats[i]));
    for (int i = 0; i < 600; i++) /* more texts than one byte counts */
        mase_obj_push(a, list, mase_obj_text(a, mase_arena_printf(a, "text %d", i % 300)));
    mase_obj_push(a, list, mase_obj_text_n(a, "a\0b", 3));
    mase_obj_push(a, list, mase_obj_bytes(a, "", 0));
    struct mase_err err;
    assert_int_equal(mase_torch_write(list, temp, &err), MASE_OK);
    struct mase_torch t = opened(temp);
    assert_true(mase_obj_equal(list, t.root));
    assert_false(mase_obj_equal(mase_obj_dict(a), mase_obj_ordered_dict(a)));
    mase_torch_close(&t);
    mase_arena_release(a);
}

/* ---- containers that are not what they should be ---- */

struct entry {
    const char *name;
    const void *data;
    size_t size;
};

/* A zip file of the entries; what reading it says. */
static const char *read_zip(const struct entry *e, int n, struct mase_err *err)
{
    struct mase_writer w;
    struct mase_zip_writer z;
    assert_int_equal(mase_writer_open(&w, temp, err), MASE_OK);
    mase_zip_begin(&z, &w);
    for (int i = 0; i < n; i++)
        assert_int_equal(mase_zip_put(&z, e[i].name, e[i].data, e[i].size, err), MASE_OK);
    assert_int_equal(mase_zip_finish(&z, err), MASE_OK);
    assert_int_equal(mase_writer_close(&w, err), MASE_OK);
    mase_zip_release(&z);
    struct mase_torch t;
    if (mase_torch_open(&t, temp, err))
        return err->msg;
    mase_torch_close(&t);
    return "read";
}

#define TENSOR(count, size)                                                                        \
    "\x80\002ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0" \
    "7X\3\0\0\0cpuK" count "tQK\0K" size "\x85K\1\x85\x89NtR."

#define PKL(literal)                              \
    {                                             \
        "a/data.pkl", literal, sizeof literal - 1 \
    }

static void containers(void **state)
{
    (void)state;
    static const unsigned char data[8] = { 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40 };
    const struct entry good = PKL(TENSOR("\2", "\2")), none = PKL("N."), more = PKL("N.N");
    const struct entry storage = { "a/data/7", data, 8 }, shorter = { "a/data/7", data, 7 };
    const struct entry second = { "b/data.pkl", "N.", 2 }, deep = { "a/b/data.pkl", "N.", 2 };
    const struct entry script = { "a/constants.pkl", "N.", 2 };
    const struct entry big = { "a/byteorder", "big", 3 }, odd = { "a/byteorder", "odd", 3 };
    const struct entry above = { "../../data.pkl", "N.", 2 };
    const struct {
        struct entry entries[3];
        int count;
        const char *message;
    } cases[] = {
        { { good, storage }, 2, "read" },
        { { good, storage, big }, 3, "read" },
        { { good, storage, odd }, 3, "neither 'little' nor 'big'" },
        { { good }, 1, "there is no entry 'a/data/7'" },
        { { good, shorter }, 2, "'a/data/7' has 7 bytes, 2 elements of torch.float32 need 8" },
        { { none, second }, 2, "two pickles, 'a/data.pkl' and 'b/data.pkl'" },
        { { deep }, 1, "no PyTorch file: the zip has no entry NAME/data.pkl" },
        { { above }, 1, "no PyTorch file" },
        { { more }, 1, "1 bytes after the end of the pickle" },
        { { none, script }, 2, "read" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mase_err err;
        const char *said = read_zip(cases[i].entries, cases[i].count, &err);
        if (!strstr(said, cases[i].message))
            fail_msg("'%s' is not in '%s'", cases[i].message, said);
    }
}

static void big_endian(void **state)
{
    (void)state;
    static const unsigned char data[8] = { 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0 };
    const struct entry entries[] = { PKL(TENSOR("\2", "\2")),
                                     { "a/byteorder", "big", 3 },
                                     { "a/data/7", data, 8 } };
    struct mase_err err;
    assert_string_equal(read_zip(entries, 3, &err), "read");
    struct mase_torch t = opened(temp);
    assert_true(mase_f32(t.root->tensor)[0] == 1 && mase_f32(t.root->tensor)[1] == -2);
    mase_torch_close(&t);
}

/* A tensor of 2^30 elements, all of them the one in the storage. */
static void memory_bomb(void **state)
{
    (void)state;
    static const char pickle[] =
        "\x80\002ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\n"
        "X\1\0\0\0007X\3\0\0\0cpuK\1tQK\0\x8a\4\0\0\0\x40\x85K\0\x85\x89NtR.";
    const struct entry entries[] = { { "a/data.pkl", pickle, sizeof pickle - 1 },
                                     { "a/data/7", "\0\0\0\0", 4 } };
    struct mase_err err;
    const char *said = read_zip(entries, 2, &err);
    assert_int_equal(err.status, MASE_ELIMIT);
    assert_non_null(strstr(said, "a tensor of 4294967296 bytes"));
}

/* A storage that claims to unpack to 144 MB from 140 KB of the file. */
static void zip_bomb(void **state)
{
    (void)state;
    static const char pickle[] =
        "\x80\002ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\n"
        "X\1\0\0\0007X\3\0\0\0cpuJ\0\x51\x25\2tQK\0J\0\x51\x25\2\x85K\1\x85\x89NtR.";
    enum { PACKED = 140000, CLAIMED = 0x02255100 * 4 };
    static unsigned char packed[PACKED];
    const struct entry entries[] = { { "a/data.pkl", pickle, sizeof pickle - 1 },
                                     { "a/data/7", packed, PACKED } };
    struct mase_err err;
    read_zip(entries, 2, &err);
    struct mase_file f;
    assert_int_equal(mase_file_open(&f, temp, &err), MASE_OK);
    unsigned char *data = malloc(f.size), *entry = NULL;
    memcpy(data, f.data, f.size);
    for (size_t i = 0; i + 4 < f.size; i++) /* the last entry of the directory */
        if (memcmp(data + i, "PK\1\2", 4) == 0)
            entry = data + i;
    entry[10] = 8; /* deflated */
    for (int i = 0; i < 4; i++)
        entry[24 + i] = (unsigned char)((uint32_t)CLAIMED >> (8 * i));
    struct mase_torch t;
    assert_int_equal(mase_torch_parse(&t, data, f.size, "bomb.pt", &err), MASE_ELIMIT);
    assert_non_null(strstr(err.msg, "'a/data/7' has"));
    free(data);
    mase_file_close(&f);
}

static void no_torch_file(void **state)
{
    (void)state;
    struct mase_torch t;
    struct mase_err err;
    assert_int_equal(mase_torch_parse(&t, "", 0, "t.pt", &err), MASE_EPARSE);
    assert_int_equal(mase_torch_parse(&t, "PK\3\4", 4, "t.pt", &err), MASE_EPARSE);
    assert_int_equal(mase_torch_parse(&t, "\x80\2N.", 4, "t.pt", &err), MASE_EPARSE);
    assert_int_equal(mase_torch_open(&t, DATA "missing.pt", &err), MASE_EIO);
}

/* ---- damage ---- */

/* Whatever comes of the bytes, it comes without a crash, and a refusal says why. */
static bool try_bytes(const unsigned char *data, size_t size)
{
    struct mase_torch t;
    struct mase_err err = { 0 };
    unsigned char *copy = malloc(size ? size : 1); /* of the exact size, for the sanitizers */
    memcpy(copy, data, size);
    const enum mase_status st = mase_torch_parse(&t, copy, size, "damaged.pt", &err);
    if (st) {
        assert_true(err.msg[0] != 0);
    } else {
        struct mase_str s = { 0 };
        mase_obj_print(&s, t.root);
        mase_str_release(&s);
        mase_torch_close(&t);
    }
    free(copy);
    return st == MASE_OK;
}

static const char *const small_files[] = { DATA "mixed.pt", DATA "mixed_legacy.pt",
                                           DATA "mixed_legacy4.pt", DATA "jsc-tiny.pt" };

static void every_prefix(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct mase_file f;
        struct mase_err err;
        assert_int_equal(mase_file_open(&f, small_files[i], &err), MASE_OK);
        for (size_t n = 0; n < f.size; n++)
            assert_false(try_bytes(f.data, n));
        assert_true(try_bytes(f.data, f.size));
        mase_file_close(&f);
    }
}

static void every_byte_changed(void **state)
{
    (void)state;
    static const unsigned char flips[] = { 0x01, 0x80, 0xff };
    for (int i = 0; i < 4; i++) {
        struct mase_file f;
        struct mase_err err;
        assert_int_equal(mase_file_open(&f, small_files[i], &err), MASE_OK);
        unsigned char *data = malloc(f.size);
        memcpy(data, f.data, f.size);
        for (size_t at = 0; at < f.size; at++)
            for (int k = 0; k < 3; k++) {
                data[at] ^= flips[k];
                try_bytes(data, f.size);
                data[at] ^= flips[k];
            }
        assert_true(try_bytes(data, f.size));
        free(data);
        mase_file_close(&f);
    }
}

static int make_temp(void **state)
{
    (void)state;
    const int fd = mkstemp(temp);
    return fd < 0 ? -1 : close(fd);
}

static int remove_temp(void **state)
{
    (void)state;
    return unlink(temp);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything),       cmocka_unit_test(borrowed),
        cmocka_unit_test(untyped_storages), cmocka_unit_test(real_networks),
        cmocka_unit_test(lightning),        cmocka_unit_test(where_weights_are),
        cmocka_unit_test(written_is_read),  cmocka_unit_test(same_tree_same_bytes),
        cmocka_unit_test(numbers),          cmocka_unit_test(containers),
        cmocka_unit_test(big_endian),       cmocka_unit_test(memory_bomb),
        cmocka_unit_test(zip_bomb),         cmocka_unit_test(no_torch_file),
        cmocka_unit_test(every_prefix),     cmocka_unit_test(every_byte_changed),
    };
    bound_memory();
    return run_cases(argc, argv, tests, make_temp, remove_temp);
}
