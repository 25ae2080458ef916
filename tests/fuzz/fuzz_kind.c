/*
 * fuzz_kind.c - any bytes: what kind of file they are, and what an outline says of them: with all
 * values read and from the headers alone it must be the same.
 */
#include <stdint.h>
#include <string.h>

#include "file/outline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_same(const struct mase_outline *a, const struct mase_outline *b)
{
    if (a->count != b->count)
        mase_bug("%d tensors from the headers, %d with values", a->count, b->count);
    for (int i = 0; i < a->count; i++)
        if (!mase_streq(a->items[i].name, b->items[i].name) ||
            a->items[i].tensor.dtype != b->items[i].tensor.dtype ||
            !mase_shape_equal(&a->items[i].tensor.shape, &b->items[i].tensor.shape))
            mase_bug("tensor %d, '%s', is another with values", i, a->items[i].name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mase_outline outline, values;
    struct mase_err err = { 0 };
    const enum mase_file_kind kind = mase_file_kind_of(data, size, "fuzz");
    if (kind < 0 || kind >= MASE_KIND_COUNT)
        mase_bug("kind %d does not exist", kind);
    const bool known = !mase_outline_parse(&outline, data, size, "fuzz", false, &err);
    if (!known && !err.msg[0])
        mase_bug("refused without cause");
    err = (struct mase_err){ 0 };
    if (!mase_outline_parse(&values, data, size, "fuzz", true, &err)) {
        if (!known)
            mase_bug("refused from the headers alone, accepted with values");
        check_same(&outline, &values);
        double sum = 0; /* every element can be read */
        for (int k = 0; k < values.count; k++)
            for (int64_t i = 0; i < mase_tensor_count(&values.items[k].tensor); i++)
                sum += mase_tensor_get(&values.items[k].tensor, i);
        (void)sum;
        mase_outline_close(&values);
    } else if (!err.msg[0]) {
        mase_bug("refused without cause");
    }
    if (known)
        mase_outline_close(&outline);
    return 0;
}
