/*
 * fuzz_npy.c - any bytes as a .npy file.
 */
#include <stddef.h>
#include <stdint.h>

#include <mase/npy.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mase_arena a = { 0 };
    struct mase_tensor t;
    struct mase_err err;
    if (mase_npy_parse(&t, &a, data, size, "fuzz.npy", &err) == MASE_OK) {
        double sum = 0; /* every element can be read */
        for (int64_t i = 0; i < mase_tensor_count(&t); i++)
            sum += mase_tensor_get(&t, i);
        (void)sum;
    }
    mase_arena_release(&a);
    return 0;
}
