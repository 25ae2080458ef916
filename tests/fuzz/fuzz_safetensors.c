/*
 * fuzz_safetensors.c - any bytes as a .safetensors file, its tensors widened and as they are
 * stored.
 */
#include <stddef.h>
#include <stdint.h>

#include <mase/safetensors.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef enum mase_status parse_fn(struct mase_safetensors *st, const void *data, size_t size,
                                  const char *path, struct mase_err *err);

static void read_file(parse_fn *parse, const uint8_t *data, size_t size)
{
    struct mase_safetensors st;
    struct mase_err err = { 0 };
    if (parse(&st, data, size, "fuzz.safetensors", &err)) {
        if (!err.msg[0])
            mase_bug("refused without cause");
        return;
    }
    double sum = 0; /* every element can be read */
    for (int k = 0; k < st.count; k++)
        for (int64_t i = 0; i < mase_tensor_count(&st.items[k].tensor); i++)
            sum += mase_tensor_get(&st.items[k].tensor, i);
    (void)sum;
    mase_safetensors_close(&st);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_file(mase_safetensors_parse, data, size);
    read_file(mase_safetensors_parse_stored, data, size);
    return 0;
}
