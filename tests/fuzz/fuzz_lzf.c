/*
 * fuzz_lzf.c - any bytes as a chunk packed by LZF, for room that is too small and large.
 */
#include <stdint.h>
#include <stdlib.h>

#include "data/lzf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t rooms[] = { 1, 100, 1 << 16 };
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        unsigned char *to = malloc(rooms[i]);
        const size_t n = mase_unlzf(to, rooms[i], data, size);
        if (n > rooms[i] + 1)
            abort();
        free(to);
    }
    return 0;
}
