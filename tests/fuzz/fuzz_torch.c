/*
 * fuzz_torch.c - any bytes as a PyTorch file. The first byte chooses what the rest is: a whole
 * file, read once with its tensors widened and once as they are stored; or the pickle of a zip
 * file, which the CRCs of a zip file would hide from the fuzzer.
 */
#include <stddef.h>
#include <stdint.h>

#include "file/pickle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef enum mase_status parse_fn(struct mase_torch *t, const void *data, size_t size,
                                  const char *path, struct mase_err *err);

static void read_as(parse_fn *parse, const uint8_t *data, size_t size)
{
    struct mase_torch t;
    struct mase_err err = { 0 };
    if (parse(&t, data, size, "fuzz.pt", &err)) {
        if (!err.msg[0])
            mase_bug("refused without cause");
        return;
    }
    struct mase_named_tensor *items;
    int count;
    double sum = 0; /* every element can be read */
    if (mase_torch_state_dict(&t, &items, &count, &err) == MASE_OK)
        for (int k = 0; k < count; k++)
            for (int64_t i = 0; i < mase_tensor_count(&items[k].tensor); i++)
                sum += mase_tensor_get(&items[k].tensor, i);
    (void)sum;
    mase_torch_close(&t);
}

static void read_file(const uint8_t *data, size_t size)
{
    read_as(mase_torch_parse, data, size);
    read_as(mase_torch_parse_stored, data, size);
}

static void read_pickle(const uint8_t *data, size_t size)
{
    struct mase_arena a = { 0 };
    struct mase_pickle p = { .arena = &a, .limit = 1 << 24 };
    struct mase_cursor in = { .path = "fuzz.pkl", .data = data, .size = size };
    struct mase_err err = { 0 };
    const struct mase_obj *root;
    if (mase_pickle_read(&p, &in, &root, &err) == MASE_OK && root->weight < 1 << 16) {
        struct mase_str text = { 0 };
        mase_obj_print(&text, root);
        mase_str_release(&text);
        struct mase_torch t = { .root = root, .file = { .path = "fuzz.pkl", .size = size } };
        struct mase_torch_state state;
        (void)!mase_torch_find_state(&t, NULL, &state, &err);
        mase_arena_release(&t.arena);
    }
    mase_arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0)
        (data[0] == 'f' ? read_file : read_pickle)(data + 1, size - 1);
    return 0;
}
