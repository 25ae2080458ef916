/*
 * fuzz_safetensors.c - any bytes as a safetensors file.
 */
#include <stddef.h>
#include <stdint.h>

#include <mase/safetensors.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mase_safetensors st;
    struct mase_err err;
    if (mase_safetensors_parse(&st, data, size, "fuzz.safetensors", &err) == MASE_OK) {
        double sum = 0; /* every element can be read */
        for (int k = 0; k < st.count; k++)
            for (int64_t i = 0; i < mase_tensor_count(&st.items[k].tensor); i++)
                sum += mase_tensor_get(&st.items[k].tensor, i);
        (void)sum;
        mase_safetensors_close(&st);
    }
    return 0;
}
