/*
 * t_rng.c - Philox against the published known answers, streams, and the distributions.
 */
#include "check.h"
#include "run_cases.h"

#include <math.h>

#include <mase/rng.h>

static void philox_gives_the_published_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } cases[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
          { 0xffffffff, 0xffffffff },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        uint32_t out[4];
        mase_philox(out, cases[i].counter, cases[i].key);
        assert_memory_equal(out, cases[i].out, sizeof(out));
    }
}

/* The n-th number is the n-th word of the blocks; the layout of the counter is a promise. */
static void a_stream_is_its_blocks_in_order(void **state)
{
    (void)state;
    struct mase_rng r = mase_rng(0x1122334455667788u, MASE_STREAM_DUMMY, 0xaabbccdd00112233u);
    const uint32_t key[2] = { 0x55667788, 0x11223344 };
    for (uint32_t block = 0; block < 3; block++) {
        const uint32_t counter[4] = { block, 2u << 24, 0x00112233, 0xaabbccdd };
        uint32_t out[4];
        mase_philox(out, counter, key);
        for (int i = 0; i < 4; i++)
            assert_int_equal(mase_rng_u32(&r), out[i]);
    }
}

static void the_block_number_carries(void **state)
{
    (void)state;
    struct mase_rng r = mase_rng(1, MASE_STREAM_TEST, 2);
    r.counter[0] = 0xffffffff;
    mase_rng_u32(&r);
    assert_int_equal(r.counter[0], 0);
    assert_int_equal(r.counter[1], (3u << 24) + 1);
}

static void streams_do_not_disturb_each_other(void **state)
{
    (void)state;
    const uint64_t index = mase_rng_name("seq_blocks.2.weight");
    struct mase_rng alone = mase_rng(42, MASE_STREAM_INIT, index), mixed = alone;
    struct mase_rng others[] = { mase_rng(42, MASE_STREAM_DUMMY, index),
                                 mase_rng(42, MASE_STREAM_INIT, index + 1),
                                 mase_rng(43, MASE_STREAM_INIT, index) };
    int equal = 0;
    for (int i = 0; i < 100; i++) {
        const uint32_t expected = mase_rng_u32(&alone);
        for (int j = 0; j < COUNT(others); j++)
            equal += mase_rng_u32(&others[j]) == expected;
        assert_int_equal(mase_rng_u32(&mixed), expected);
    }
    assert_int_equal(equal, 0);
}

static void names_hash_by_fnv1a(void **state)
{
    (void)state;
    assert_true(mase_rng_name("") == 0xcbf29ce484222325u);
    assert_true(mase_rng_name("a") == 0xaf63dc4c8601ec8cu);
    assert_true(mase_rng_name("foobar") == 0x85944171f73967e8u);
}

/* Mean and variance of n draws lie within five standard errors. */
static void floats_are_uniform(void **state)
{
    (void)state;
    enum { N = 200000 };
    struct mase_rng r = mase_rng(7, MASE_STREAM_TEST, 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        const float u = mase_rng_float(&r);
        assert_true(u >= 0 && u < 1);
        assert_true(u * 0x1p24f == floorf(u * 0x1p24f)); /* 24 bits */
        sum += u;
        squares += (u - 0.5) * (u - 0.5);
    }
    assert_true(fabs(sum / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
    assert_true(fabs(squares / N - 1.0 / 12) < 5 * sqrt(1.0 / 180 / N));
}

static void ranges_exclude_their_end(void **state)
{
    (void)state;
    static const float ends[][2] = {
        { -0.25f, 0.25f }, { 1, 0x1.000002p0f }, { -3e38f, 3e38f }, { 100, 101 }, { 5, 5 },
    };
    for (int i = 0; i < COUNT(ends); i++) {
        const float lo = ends[i][0], hi = ends[i][1];
        struct mase_rng r = mase_rng(3, MASE_STREAM_TEST, (uint64_t)i);
        for (int j = 0; j < 20000; j++) {
            const float v = mase_rng_range(&r, lo, hi);
            assert_true(v >= lo && (v < hi || lo == hi));
        }
    }
}

/* Against the C library in double: the same number up to the last bit or so of a float. */
static void normals_are_box_and_muller(void **state)
{
    (void)state;
    struct mase_rng r = mase_rng(11, MASE_STREAM_TEST, 5), raw = r;
    for (int i = 0; i < 100000; i++) {
        const double u = ((double)mase_rng_u32(&raw) + 1) * 0x1p-32;
        const double turns = (double)mase_rng_u32(&raw) * 0x1p-32;
        const double expected = sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * turns);
        const double got = mase_rng_normal(&r);
        assert_true(fabs(got - expected) <= 1e-14 + fabs(expected) * 0x1p-23);
    }
}

static void normals_have_the_moments_of_normals(void **state)
{
    (void)state;
    enum { N = 200000 };
    struct mase_rng r = mase_rng(12, MASE_STREAM_TEST, 0);
    double sum = 0, squares = 0, fourths = 0;
    for (int i = 0; i < N; i++) {
        const double z = mase_rng_normal(&r);
        sum += z;
        squares += z * z;
        fourths += z * z * z * z;
    }
    assert_true(fabs(sum / N) < 5 * sqrt(1.0 / N));
    assert_true(fabs(squares / N - 1) < 5 * sqrt(2.0 / N));
    assert_true(fabs(fourths / N - 3) < 5 * sqrt(96.0 / N));
}

/* The same bits everywhere: what other compilers and C libraries must give, too. */
static void normals_have_fixed_bits(void **state)
{
    (void)state;
    static const float expected[] = { 0x1.8d6f7ap+0f,  0x1.131694p+0f,  0x1.a46896p-3f,
                                      0x1.65ec24p-1f,  -0x1.7f0d7ap-4f, 0x1.91fd16p+0f,
                                      -0x1.5ce76cp+0f, 0x1.2132e4p-1f };
    struct mase_rng r = mase_rng(42, MASE_STREAM_INIT, mase_rng_name("seq_blocks.2.weight"));
    for (int i = 0; i < COUNT(expected); i++)
        assert_true(mase_rng_normal(&r) == expected[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_answers),
        cmocka_unit_test(a_stream_is_its_blocks_in_order),
        cmocka_unit_test(the_block_number_carries),
        cmocka_unit_test(streams_do_not_disturb_each_other),
        cmocka_unit_test(names_hash_by_fnv1a),
        cmocka_unit_test(floats_are_uniform),
        cmocka_unit_test(ranges_exclude_their_end),
        cmocka_unit_test(normals_are_box_and_muller),
        cmocka_unit_test(normals_have_the_moments_of_normals),
        cmocka_unit_test(normals_have_fixed_bits),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
