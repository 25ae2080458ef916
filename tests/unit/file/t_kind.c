/*
 * t_kind.c - kinds of files are told from their bytes, and from names only where bytes say nothing.
 */
#include "../base/check.h"
#include "run_cases.h"

#include <mase/file_kind.h>

#include "file/zip.h"

#define BYTES(text) text, sizeof(text) - 1

static const struct {
    const char *data;
    size_t size;
    const char *path;
    enum mase_file_kind kind;
} cases[] = {
    { BYTES("\x93NUMPY\1\0v\0{'descr'"), "a.npy", MASE_KIND_NPY },
    { BYTES("\x93NUMPY\1\0v\0{'descr'"), "a.pt", MASE_KIND_NPY },
    { BYTES("\x89HDF\r\n\x1a\n\0"), "a.h5", MASE_KIND_HDF5 },
    { BYTES("\x10\0\0\0\0\0\0\0{}              "), "a.bin", MASE_KIND_SAFETENSORS },
    { BYTES("\x10\0\0\0\0\0\0\0[]              "), "a.bin", MASE_KIND_UNKNOWN },
    { BYTES("\x10\0\0\0\0\0\0\1{}              "), "a.safetensors", MASE_KIND_UNKNOWN },
    { BYTES("\x18\0\0\0\0\0\0\0\1\2\3\4\t12345678\x1a\rbrain.Event:2"), "x", MASE_KIND_EVENTS },
    { BYTES("mase-graph 1\n"), "a.txt", MASE_KIND_MG },
    { BYTES("# a comment\n\n# another\nmase-graph 1\n"), "a", MASE_KIND_MG },
    { BYTES("# mase-graph 1"), "a.mg", MASE_KIND_UNKNOWN },
    { BYTES("\x80\2\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.\x80"), "a", MASE_KIND_TORCH_OLD },
    { BYTES("\x80\2}q\0."), "a.pkl", MASE_KIND_PICKLE },
    { BYTES("PK\3\4 and no directory"), "a.pt", MASE_KIND_TORCH },
    { BYTES("PK\3\4 and no directory"), "a.npz", MASE_KIND_NPZ },
    { BYTES("PK\3\4 and no directory"), "a", MASE_KIND_ZIP },
    { BYTES("import torch"), "net.py", MASE_KIND_PYTHON },
    { BYTES("{}"), "run.json", MASE_KIND_JSON },
    { BYTES("model = 1"), "a.toml", MASE_KIND_TOML },
    { BYTES("\x08\7"), "a.onnx", MASE_KIND_ONNX },
    { BYTES("hello"), "a.pt", MASE_KIND_UNKNOWN },
    { BYTES(""), "a.npy", MASE_KIND_UNKNOWN },
    { BYTES(""), ".py", MASE_KIND_UNKNOWN },
};

static void bytes_tell(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(cases); i++) {
        const enum mase_file_kind kind =
            mase_file_kind_of(cases[i].data, cases[i].size, cases[i].path);
        if (kind != cases[i].kind)
            fail_msg("case %d, '%s': %s, expected %s", i, cases[i].path, mase_file_kinds[kind].name,
                     mase_file_kinds[cases[i].kind].name);
    }
}

/* HDF5 files may begin with something else, 512 bytes or twice that, and so on. */
static void hdf5_may_begin_late(void **state)
{
    (void)state;
    char data[1100] = { 0 };
    memcpy(data + 1024, BYTES("\x89HDF\r\n\x1a\n"));
    assert_int_equal(mase_file_kind_of(data, sizeof data, "a"), MASE_KIND_HDF5);
    assert_int_equal(mase_file_kind_of(data + 1, sizeof data - 1, "a"), MASE_KIND_UNKNOWN);
}

static const struct {
    const char *names[3];
    enum mase_file_kind kind;
} zips[] = {
    { { "net/data.pkl", "net/data/0", "net/version" }, MASE_KIND_TORCH },
    { { "net/data.pkl", "net/constants.pkl", "net/code/a.py" }, MASE_KIND_SCRIPT },
    { { "a.npy", "b.npy" }, MASE_KIND_NPZ },
    { { "a.npy", "readme.txt" }, MASE_KIND_ZIP },
    { { NULL }, MASE_KIND_ZIP },
};

static void entries_tell_of_zips(void **state)
{
    (void)state;
    struct folder f = folder_make();
    const char *path = folder_at(&f, "file");
    for (int i = 0; i < COUNT(zips); i++) {
        struct mase_writer out;
        struct mase_zip_writer w;
        struct mase_err err = { 0 };
        enum mase_file_kind kind = MASE_KIND_COUNT;
        assert_int_equal(mase_writer_open(&out, path, &err), MASE_OK);
        mase_zip_begin(&w, &out);
        for (int k = 0; k < 3 && zips[i].names[k]; k++)
            assert_int_equal(mase_zip_put(&w, zips[i].names[k], "x", 1, &err), MASE_OK);
        assert_int_equal(mase_zip_finish(&w, &err), MASE_OK);
        mase_zip_release(&w);
        assert_int_equal(mase_writer_close(&out, &err), MASE_OK);
        assert_int_equal(mase_file_kind_find(&kind, path, &err), MASE_OK);
        assert_string_equal(mase_file_kinds[kind].name, mase_file_kinds[zips[i].kind].name);
    }
    folder_remove(&f);
}

static void folders_are_known_by_a_file(void **state)
{
    (void)state;
    struct folder f = folder_make();
    struct mase_err err = { 0 };
    enum mase_file_kind kind = MASE_KIND_COUNT;
    assert_int_equal(mase_file_kind_find(&kind, f.path, &err), MASE_OK);
    assert_int_equal(kind, MASE_KIND_FOLDER);
    assert_int_equal(mase_file_write(folder_at(&f, "run.json"), "{}", 2, &err), MASE_OK);
    assert_int_equal(mase_file_kind_find(&kind, f.path, &err), MASE_OK);
    assert_int_equal(kind, MASE_KIND_RUN);
    assert_int_equal(mase_file_write(folder_at(&f, "graph_module.mg"), "x", 1, &err), MASE_OK);
    assert_int_equal(mase_file_kind_find(&kind, f.path, &err), MASE_OK);
    assert_int_equal(kind, MASE_KIND_SAVED);
    assert_int_not_equal(mase_file_kind_find(&kind, folder_at(&f, "none"), &err), MASE_OK);
    folder_remove(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_tell),
        cmocka_unit_test(hdf5_may_begin_late),
        cmocka_unit_test(entries_tell_of_zips),
        cmocka_unit_test(folders_are_known_by_a_file),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
