/*
 * t_stored.c - tensors of every type go through each kind of file and come back with the same
 * name, type, shape and bits; .npz files by themselves; what a kind cannot hold is refused.
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

#include <mase/npy.h>
#include <mase/safetensors.h>
#include <mase/torch.h>

#include "bounded.h"
#include "file/zip.h"
#include "run_cases.h"

static char folder[] = "/tmp/t_stored_XXXXXX";

static const char *in_folder(struct mase_arena *a, const char *name)
{
    return mase_arena_printf(a, "%s/%s", folder, name);
}

/* ---- tensors ---- */

/* Of each type but those from `without` on: a table, a scalar, an empty one, names with dots,
 * slashes and more. Elements are any bits, so that NaNs and large numbers are among them. */
static int make(struct mase_named_tensor *items, struct mase_arena *a, enum mase_dtype without)
{
    static const struct mase_shape shapes[] = { { 2, { 3, 5 } }, { 0, { 0 } }, { 3, { 2, 0, 4 } } };
    static const char *const before[] = { "net.", "a/", "\xc3\xa9 " };
    static const char *const after[] = { ".weight", "", "" };
    int count = 0;
    uint32_t bits = 1;
    for (int d = 0; d < MASE_STORED_DTYPE_COUNT; d++)
        for (int s = 0; s < 3 && d != (int)without; s++) {
            struct mase_tensor t = mase_tensor(a, (enum mase_dtype)d, &shapes[s], true);
            unsigned char *p = t.data;
            for (int64_t i = 0; i < mase_tensor_bytes(&t); i++) {
                bits = bits * 1664525u + 1013904223u;
                p[i] = (unsigned char)(d == MASE_DTYPE_BOOL ? bits >> 31 : bits >> 24);
            }
            items[count].name =
                mase_arena_printf(a, "%s%s%s", before[s], mase_dtypes[d].name, after[s]);
            items[count++].tensor = t;
        }
    return count;
}

enum { MOST = 3 * MASE_STORED_DTYPE_COUNT };

static void same(const struct mase_named_tensor *x, const struct mase_tensors *file)
{
    for (int i = 0; i < file->count; i++) {
        const struct mase_tensor *t = &file->items[i].tensor;
        if (!mase_streq(file->items[i].name, x->name))
            continue;
        assert_int_equal(t->dtype, x->tensor.dtype);
        assert_true(mase_shape_equal(&t->shape, &x->tensor.shape));
        assert_memory_equal(t->data, x->tensor.data, (size_t)mase_tensor_bytes(t));
        return;
    }
    fail_msg("there is no '%s'", x->name);
}

static void check_file(const char *path, const struct mase_named_tensor *items, int count)
{
    struct mase_tensors file;
    struct mase_err err;
    if (mase_tensors_open_stored(&file, path, NULL, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(file.count, count);
    assert_int_equal(file.converted, 0);
    for (int i = 0; i < count; i++)
        same(&items[i], &file);
    mase_tensors_close(&file);
}

/* ---- each kind ---- */

static void safetensors(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_named_tensor items[MOST];
    struct mase_err err;
    const char *path = in_folder(&a, "all.safetensors");
    const int count = make(items, &a, MASE_STORED_DTYPE_COUNT);
    assert_int_equal(mase_safetensors_write(items, count, NULL, path, &err), MASE_OK);
    check_file(path, items, count);
    mase_arena_release(&a);
}

static void pytorch(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_named_tensor items[MOST];
    struct mase_err err;
    const char *path = in_folder(&a, "all.pt");
    const int count = make(items, &a, MASE_STORED_DTYPE_COUNT);
    struct mase_obj *root = mase_obj_ordered_dict(&a);
    for (int i = 0; i < count; i++)
        mase_obj_set(&a, root, items[i].name, mase_obj_tensor(&a, &items[i].tensor));
    assert_int_equal(mase_torch_write(root, path, &err), MASE_OK);
    check_file(path, items, count);
    mase_arena_release(&a);
}

static void npz(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_named_tensor items[MOST];
    struct mase_err err;
    const char *path = in_folder(&a, "all.npz");
    int count = make(items, &a, MASE_BF16);
    assert_int_equal(mase_npz_write(items, count, path, &err), MASE_OK);
    check_file(path, items, count);

    count = make(items, &a, MASE_STORED_DTYPE_COUNT);
    assert_int_equal(mase_npz_write(items, count, in_folder(&a, "no.npz"), &err),
                     MASE_EUNSUPPORTED);
    assert_non_null(strstr(err.msg, "'net.bf16.weight' is of bfloat16"));
    assert_int_not_equal(access(in_folder(&a, "no.npz"), F_OK), 0);
    mase_arena_release(&a);
}

/* Does a hold what b holds, in one of our types? */
static void same_values(const struct mase_tensor *a, const struct mase_tensor *b)
{
    assert_true(a->dtype < MASE_DTYPE_COUNT);
    assert_true(b->dtype >= MASE_DTYPE_COUNT || a->dtype == b->dtype);
    assert_true(mase_shape_equal(&a->shape, &b->shape));
    for (int64_t i = 0; i < mase_tensor_count(a); i++) {
        const double x = mase_tensor_get(a, i), y = mase_tensor_get(b, i);
        assert_true(x == y || (isnan(x) && isnan(y)));
    }
}

/* Tensors are widened to our types when nothing else is asked for. */
static void widened(void **state)
{
    (void)state;
    static const char *const names[] = { "wide.safetensors", "wide.pt", "wide.ckpt" };
    for (int k = 0; k < 3; k++) {
        struct mase_arena a = { 0 };
        struct mase_named_tensor items[MOST];
        struct mase_tensors wide, stored;
        struct mase_err err;
        const char *path = in_folder(&a, names[k]);
        const int count = make(items, &a, MASE_U64);
        assert_int_equal(mase_tensors_write(items, count, NULL, path, &err), MASE_OK);
        assert_int_equal(mase_tensors_open_stored(&stored, path, NULL, &err), MASE_OK);
        assert_int_equal(mase_tensors_open(&wide, path, &err), MASE_OK);
        assert_int_equal(wide.count, count);
        assert_int_equal(stored.converted, 0);
        assert_true(wide.converted > 0);
        for (int i = 0; i < count; i++)
            same_values(&wide.items[i].tensor, &stored.items[i].tensor);
        mase_tensors_close(&wide);
        mase_tensors_close(&stored);
        mase_arena_release(&a);
    }
}

/* Of random 64 bits without a sign, some are no int64: kept, and refused where that is wanted. */
static void too_large_to_widen(void **state)
{
    (void)state;
    static const char *const names[] = { "all.safetensors", "all.pt" };
    for (int k = 0; k < 2; k++) {
        struct mase_arena a = { 0 };
        struct mase_tensors t;
        struct mase_err err;
        assert_int_not_equal(mase_tensors_open(&t, in_folder(&a, names[k]), &err), MASE_OK);
        assert_non_null(strstr(err.msg, "largest"));
        mase_arena_release(&a);
    }
}

/* ---- .npz ---- */

static void an_empty_one(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_npz z;
    struct mase_err err;
    const char *path = in_folder(&a, "empty.npz");
    assert_int_equal(mase_npz_write(NULL, 0, path, &err), MASE_OK);
    struct mase_file f;
    assert_int_equal(mase_file_open(&f, path, &err), MASE_OK);
    assert_int_equal(mase_npz_parse(&z, f.data, f.size, path, &err), MASE_OK);
    assert_int_equal(z.count, 0);
    mase_npz_close(&z);
    mase_file_close(&f);
    mase_arena_release(&a);
}

/* Every prefix is refused, and no change of a byte does harm: those in an array or its name are
 * seen by the CRC, or are names. */
static void damaged(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_named_tensor items[2] = {
        { "w", mase_tensor(&a, MASE_F32, &(struct mase_shape){ 1, { 3 } }, true) },
        { "h", mase_tensor(&a, MASE_F16, &(struct mase_shape){ 1, { 2 } }, true) }
    };
    struct mase_err err;
    struct mase_file f;
    struct mase_npz z;
    const char *path = in_folder(&a, "small.npz");
    assert_int_equal(mase_npz_write(items, 2, path, &err), MASE_OK);
    assert_int_equal(mase_file_open(&f, path, &err), MASE_OK);
    for (size_t n = 0; n < f.size; n++) {
        unsigned char *copy = malloc(n ? n : 1); /* of this size, so that reading beyond is seen */
        memcpy(copy, f.data, n);
        assert_int_not_equal(mase_npz_parse(&z, copy, n, path, &err), MASE_OK);
        free(copy);
    }
    unsigned char *copy = mase_arena_memdup(&a, f.data, f.size);
    for (size_t i = 0; i < f.size; i++) {
        copy[i] ^= (unsigned char)(1 << i % 8);
        if (mase_npz_parse(&z, copy, f.size, path, &err) == MASE_OK) {
            assert_int_equal(z.count, 2);
            assert_int_equal(mase_tensor_count(&z.items[0].tensor), 3);
            mase_npz_close(&z);
        }
        copy[i] = f.data[i];
    }
    mase_file_close(&f);
    mase_arena_release(&a);
}

/* An entry of 1.4 MB that claims to be an array of 1.4 GB: refused before anything is unpacked. */
static void npz_bomb(void **state)
{
    (void)state;
    enum { PACKED = 1400000, CLAIMED = 1400000000 };
    struct mase_arena a = { 0 };
    const struct mase_named_tensor item = {
        "bomb", mase_tensor(&a, MASE_U8, &(struct mase_shape){ 1, { PACKED } }, true)
    };
    struct mase_err err;
    struct mase_file f;
    struct mase_npz z;
    const char *path = in_folder(&a, "bomb.npz");
    assert_int_equal(mase_npz_write(&item, 1, path, &err), MASE_OK);
    assert_int_equal(mase_file_open(&f, path, &err), MASE_OK);
    unsigned char *copy = mase_arena_memdup(&a, f.data, f.size), *entry = copy;
    while (memcmp(entry, "PK\1\2", 4) != 0)
        entry++;
    entry[10] = 8; /* deflated */
    for (int i = 0; i < 4; i++)
        entry[24 + i] = (unsigned char)((unsigned)CLAIMED >> (8 * i));
    assert_int_equal(mase_npz_parse(&z, copy, f.size, path, &err), MASE_ELIMIT);
    assert_non_null(strstr(err.msg, "array 'bomb' takes 1400000000 bytes"));
    mase_file_close(&f);
    mase_arena_release(&a);
}

/* A name is only a name: nothing is written where it points. */
static void names_are_no_paths(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    const struct mase_shape one = { 0 };
    const struct mase_named_tensor items[] = {
        { "../../escaped", mase_tensor(&a, MASE_F32, &one, true) },
        { "/tmp/t_stored_escaped", mase_tensor(&a, MASE_F32, &one, true) },
        { "a\\..\\b", mase_tensor(&a, MASE_F32, &one, true) },
    };
    struct mase_err err;
    const char *path = in_folder(&a, "paths.npz");
    assert_int_equal(mase_npz_write(items, 3, path, &err), MASE_OK);
    check_file(path, items, 3);
    assert_int_not_equal(access("/tmp/t_stored_escaped", F_OK), 0);
    assert_int_not_equal(access("/tmp/t_stored_escaped.npy", F_OK), 0);
    mase_arena_release(&a);
}

/* No array, or no array that is a number's. */
static void bad_entries(void **state)
{
    (void)state;
    static const struct {
        const char *name, *content, *message;
    } rows[] = {
        { "notes.txt", "hello", "entry 'notes.txt' is no array" },
        { "x.npy", "hello", "x.npy: " },
        { "x.npy", "\x93NUMPY\x01", "x.npy: " },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mase_arena a = { 0 };
        struct mase_writer out;
        struct mase_zip_writer w;
        struct mase_file f;
        struct mase_npz z;
        struct mase_err err;
        const char *path = in_folder(&a, "bad.npz");
        assert_int_equal(mase_writer_open(&out, path, &err), MASE_OK);
        mase_zip_begin(&w, &out);
        assert_int_equal(
            mase_zip_put(&w, rows[i].name, rows[i].content, strlen(rows[i].content), &err),
            MASE_OK);
        assert_int_equal(mase_zip_finish(&w, &err), MASE_OK);
        assert_int_equal(mase_writer_close(&out, &err), MASE_OK);
        mase_zip_release(&w);
        assert_int_equal(mase_file_open(&f, path, &err), MASE_OK);
        assert_int_equal(mase_npz_parse(&z, f.data, f.size, path, &err), MASE_EPARSE);
        assert_non_null(strstr(err.msg, rows[i].message));
        mase_file_close(&f);
        mase_arena_release(&a);
    }
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command); /* NOLINT(cert-env33-c): our own folder */
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(safetensors),
        cmocka_unit_test(pytorch),
        cmocka_unit_test(npz),
        cmocka_unit_test(widened),
        cmocka_unit_test(too_large_to_widen),
        cmocka_unit_test(an_empty_one),
        cmocka_unit_test(damaged),
        cmocka_unit_test(npz_bomb),
        cmocka_unit_test(names_are_no_paths),
        cmocka_unit_test(bad_entries),
    };
    bound_memory();
    return run_cases(argc, argv, tests, set_up, tear_down);
}
