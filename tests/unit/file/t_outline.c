/*
 * t_outline.c - what files hold: the same from headers alone as with all values read.
 */
#include "../base/check.h"
#include "run_cases.h"

#include "file/outline.h"
#include <mase/npy.h>
#include <mase/safetensors.h>
#include <mase/torch.h>

static float numbers[6] = { 1, -2, 3, 4, 5, 6.5f };
static int64_t steps[1] = { 7 };
static const struct mase_named_tensor both[] = {
    { "fc.weight", { MASE_F32, { 2, { 2, 3 } }, numbers } },
    { "step", { MASE_I64, { 0, { 0 } }, steps } },
};
static const struct mase_tensor *const matrix = &both[0].tensor, *const step = &both[1].tensor;

static const struct mase_named_tensor *item_of(const struct mase_outline *o, const char *name)
{
    for (int i = 0; i < o->count; i++)
        if (mase_streq(o->items[i].name, name))
            return &o->items[i];
    fail_msg("no tensor %s", name);
    return NULL;
}

/* Whatever the file and its order, these two are in it. */
static void check_both(const char *path, enum mase_file_kind kind)
{
    for (int values = 0; values < 2; values++) {
        struct mase_outline o;
        struct mase_err err = { 0 };
        if (mase_outline_open(&o, path, values, &err))
            fail_msg("%s: %s", path, err.msg);
        assert_int_equal(o.kind, kind);
        assert_int_equal(o.count, 2);
        for (int i = 0; i < 2; i++) {
            const struct mase_named_tensor *item = item_of(&o, both[i].name);
            assert_true(mase_shape_equal(&item->tensor.shape, &both[i].tensor.shape));
            assert_int_equal(item->tensor.dtype, both[i].tensor.dtype);
            assert_int_equal(item->tensor.data != NULL, values);
            if (values)
                assert_memory_equal(item->tensor.data, both[i].tensor.data,
                                    (size_t)mase_tensor_bytes(&item->tensor));
        }
        mase_outline_close(&o);
    }
}

static void every_kind_of_file(void **state)
{
    (void)state;
    struct folder f = folder_make();
    struct mase_err err = { 0 };
    struct mase_obj *dict = mase_obj_ordered_dict(&f.arena);
    for (int i = 0; i < 2; i++)
        mase_obj_set(&f.arena, dict, both[i].name, mase_obj_tensor(&f.arena, &both[i].tensor));
    assert_int_equal(mase_torch_write(dict, folder_at(&f, "a.pt"), &err), MASE_OK);
    check_both(folder_at(&f, "a.pt"), MASE_KIND_TORCH);
    assert_int_equal(mase_safetensors_write(both, 2, NULL, folder_at(&f, "a.st"), &err), MASE_OK);
    check_both(folder_at(&f, "a.st"), MASE_KIND_SAFETENSORS);
    assert_int_equal(mase_npz_write(both, 2, folder_at(&f, "a.npz"), &err), MASE_OK);
    check_both(folder_at(&f, "a.npz"), MASE_KIND_NPZ);
    folder_remove(&f);
}

static void the_model_is_found_and_the_rest_is_kept(void **state)
{
    (void)state;
    struct folder f = folder_make();
    struct mase_arena *a = &f.arena;
    struct mase_err err = { 0 };
    struct mase_outline o;
    struct mase_obj *root = mase_obj_dict(a), *inner = NULL;
    mase_obj_set(a, root, "epoch", mase_obj_int(a, 3));
    inner = mase_obj_set(a, root, "optimizer", mase_obj_list(a));
    mase_obj_push(a, inner, mase_obj_tensor(a, matrix));
    inner = mase_obj_set(a, root, "state_dict", mase_obj_dict(a));
    mase_obj_set(a, inner, "w", mase_obj_tensor(a, matrix));
    assert_int_equal(mase_torch_write(root, folder_at(&f, "a.ckpt"), &err), MASE_OK);
    assert_int_equal(mase_outline_open(&o, folder_at(&f, "a.ckpt"), false, &err), MASE_OK);
    assert_int_equal(o.count, 1);
    assert_string_equal(o.items[0].name, "w");
    assert_ptr_equal(o.state, mase_obj_get(o.tree, "state_dict"));
    assert_int_equal(mase_obj_get(o.tree, "epoch")->i, 3);
    mase_outline_close(&o);
    folder_remove(&f);
}

/* Two state dicts: neither is the model's, so all tensors are listed by their paths. */
static void tensors_without_a_model_are_named_by_paths(void **state)
{
    (void)state;
    struct folder f = folder_make();
    struct mase_arena *a = &f.arena;
    struct mase_err err = { 0 };
    struct mase_outline o;
    struct mase_obj *root = mase_obj_dict(a), *inner = NULL;
    static const char *const halves[] = { "generator", "critic" };
    for (int i = 0; i < 2; i++) {
        inner = mase_obj_set(a, root, halves[i], mase_obj_dict(a));
        mase_obj_set(a, inner, "w", mase_obj_tensor(a, matrix));
    }
    inner = mase_obj_set_key(a, root, mase_obj_int(a, 5), mase_obj_list(a));
    mase_obj_push(a, inner, mase_obj_tensor(a, step));
    assert_int_equal(mase_torch_write(root, folder_at(&f, "a.pt"), &err), MASE_OK);
    assert_int_equal(mase_outline_open(&o, folder_at(&f, "a.pt"), true, &err), MASE_OK);
    assert_null(o.state);
    assert_int_equal(o.count, 3);
    assert_string_equal(o.items[0].name, "generator.w");
    assert_string_equal(o.items[1].name, "critic.w");
    assert_string_equal(o.items[2].name, "5.0");
    mase_outline_close(&o);
    folder_remove(&f);
}

/* A long key above many tensors is a part of each of their names. */
static void names_stay_in_proportion(void **state)
{
    (void)state;
    struct folder f = folder_make();
    struct mase_arena *a = &f.arena;
    struct mase_err err = { 0 };
    struct mase_outline o;
    struct mase_str key = { 0 };
    struct mase_obj *root = mase_obj_dict(a), *inner = NULL;
    mase_str_pad(&key, 'k', 100000);
    inner = mase_obj_set(a, root, mase_str_text(&key), mase_obj_list(a));
    for (int i = 0; i < 100; i++)
        mase_obj_push(a, inner, mase_obj_tensor(a, step));
    const char *path = folder_at(&f, "a.pt");
    assert_int_equal(mase_torch_write(root, path, &err), MASE_OK);
    assert_int_equal(mase_outline_open(&o, path, false, &err), MASE_ELIMIT);
    assert_non_null(strstr(err.msg, "the names of the tensors, written out, take more than 2."));
    assert_int_equal(setenv("MASE_MEMORY", "64M", 1), 0);
    assert_int_equal(mase_outline_open(&o, path, false, &err), MASE_OK);
    assert_int_equal(o.count, 100);
    mase_outline_close(&o);
    assert_int_equal(unsetenv("MASE_MEMORY"), 0);
    mase_str_release(&key);
    folder_remove(&f);
}

/* Two gigabytes of float16, which as values would take four: names cost nothing. */
static void data_are_not_read(void **state)
{
    (void)state;
    struct folder f = folder_make();
    struct mase_err err = { 0 };
    struct mase_outline o;
    const char *path = folder_at(&f, "large.safetensors");
    static const char header[] = "{\"a\":{\"dtype\":\"F16\",\"shape\":[1073741824],"
                                 "\"data_offsets\":[0,2147483648]}}";
    const uint64_t n = sizeof header - 1;
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    for (int i = 0; i < 8; i++)
        fputc((int)(n >> 8 * i & 0xff), out);
    fputs(header, out);
    fclose(out);
    assert_int_equal(truncate(path, (off_t)(8 + n + 2147483648u)), 0);
    assert_int_equal(mase_outline_open(&o, path, false, &err), MASE_OK);
    assert_int_equal(o.items[0].tensor.dtype, MASE_F16);
    assert_int_equal(mase_tensor_bytes(&o.items[0].tensor), 2147483648u);
    assert_int_equal(o.file_bytes, 8 + n + 2147483648u);
    assert_true(o.arena.used < 10000 && o.metadata && o.metadata->count == 0);
    mase_outline_close(&o);
    folder_remove(&f);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    struct folder f = folder_make();
    struct mase_err err = { 0 };
    struct mase_outline o;
    struct mase_file whole;
    const char *path = folder_at(&f, "a.npy"), *cut = folder_at(&f, "cut.npy");
    assert_int_equal(mase_npy_write(matrix, path, &err), MASE_OK);
    assert_int_equal(mase_file_open(&whole, path, &err), MASE_OK);
    for (size_t n = 0; n < whole.size; n++) {
        write_text(cut, (const char *)whole.data, n);
        assert_int_not_equal(mase_outline_open(&o, cut, false, &err), MASE_OK);
    }
    assert_string_equal(err.msg, "23 bytes of data, type and shape ask for 24");
    mase_file_close(&whole);
    write_text(cut, "hello", 5);
    assert_int_equal(mase_outline_open(&o, cut, false, &err), MASE_EUNSUPPORTED);
    assert_int_not_equal(mase_outline_open(&o, folder_at(&f, "none"), false, &err), MASE_OK);
    folder_remove(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_file),
        cmocka_unit_test(the_model_is_found_and_the_rest_is_kept),
        cmocka_unit_test(tensors_without_a_model_are_named_by_paths),
        cmocka_unit_test(names_stay_in_proportion),
        cmocka_unit_test(data_are_not_read),
        cmocka_unit_test(what_is_missing_is_said),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
