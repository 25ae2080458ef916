/*
 * t_crc32.c - every way to compute the CRC gives what its definition gives, for all lengths around
 * the strides, all alignments, and in pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "file/crc32.h"
#include "run_cases.h"

/* Bit by bit. */
static uint32_t definition(uint32_t crc, const unsigned char *p, size_t n)
{
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

enum { SIZE = 1200 };

static void fill(unsigned char *p)
{
    uint32_t x = 7;
    for (int i = 0; i < SIZE; i++)
        p[i] = (unsigned char)((x = x * 1664525u + 1013904223u) >> 24);
}

static void known(void **state)
{
    (void)state;
    assert_int_equal(mase_crc32(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(mase_crc32(0, NULL, 0), 0);
    assert_int_equal(mase_crc32(0x1234, NULL, 0), 0x1234);
}

static void every_way(void **state)
{
    (void)state;
    unsigned char p[SIZE];
    fill(p);
    for (int way = 0; way <= (int)mase_crc32_best(); way++)
        for (size_t n = 0; n < SIZE - 3; n += n < 300 ? 1 : 37)
            for (size_t start = 0; start < 3; start++)
                assert_int_equal(mase_crc32_by((enum mase_crc32_way)way, (uint32_t)n, p + start, n),
                                 definition((uint32_t)n, p + start, n));
}

static void in_pieces(void **state)
{
    (void)state;
    unsigned char p[SIZE];
    fill(p);
    const uint32_t whole = definition(0, p, SIZE);
    for (size_t cut = 0; cut <= SIZE; cut += 13)
        assert_int_equal(mase_crc32(mase_crc32(0, p, cut), p + cut, SIZE - cut), whole);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known),
        cmocka_unit_test(every_way),
        cmocka_unit_test(in_pieces),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
