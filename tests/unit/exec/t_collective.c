/*
 * t_collective.c - what tiles tell each other: parts by number, sums in the order of the tiles, of
 * those that have samples, to the bit.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "exec/plan/collective.h"
#include "run_cases.h"

enum { TILES = 4, VALUES = 48 };

struct batch {
    struct mase_plan plan[TILES], *tile[TILES];
    struct mase_tiling tiling;
    float a[TILES][VALUES], b[TILES][VALUES];
};

static void begin(struct batch *t, int count)
{
    const struct mase_kernels *k;
    struct mase_err err;
    assert_int_equal(mase_kernels_select(&k, &err), MASE_OK);
    *t = (struct batch){ .tiling = { .tile = t->tile, .count = count } };
    for (int i = 0; i < TILES; i++) {
        t->tile[i] = &t->plan[i];
        t->plan[i] = (struct mase_plan){ .k = k, .tiling = &t->tiling };
        for (int j = 0; j < VALUES; j++) {
            t->a[i][j] = ldexpf(1.0f + 0.1f * (float)j, 8 * i - 12);
            t->b[i][j] = i == 1 ? -1e30f : 1e30f / (float)(i + j + 1);
        }
        assert_int_equal(mase_collective_add(&t->plan[i], t->a[i], sizeof t->a[i]), 0);
        assert_int_equal(mase_collective_add(&t->plan[i], t->b[i], sizeof t->b[i]), 1);
    }
}

static void end(struct batch *t)
{
    for (int i = 0; i < TILES; i++)
        mase_arena_release(&t->plan[i].arena);
}

/* One number after the other, one tile after the other. */
static float plain(const struct batch *t, float sum, int number, int j, int first)
{
    for (int i = first; i < t->tiling.count; i++)
        sum += number ? t->b[i][j] : t->a[i][j];
    return sum;
}

static void parts(void **state)
{
    struct batch t;
    (void)state;
    begin(&t, 3);
    for (int i = 0; i < TILES; i++) {
        assert_true(mase_collective_is_tile(&t.plan[i]));
        assert_int_equal(mase_collective_is_first(&t.plan[i]), i == 0);
        assert_int_equal(mase_collective_tiles(&t.plan[i]), 3);
        for (int k = 0; k < 3; k++) {
            assert_ptr_equal(mase_collective_part(&t.plan[i], 0, k), t.a[k]);
            assert_ptr_equal(mase_collective_part(&t.plan[i], 1, k), t.b[k]);
        }
    }
    end(&t);
}

/* Many and few values, from the beginning and not, by any tile. */
static void sums(void **state)
{
    static const struct {
        int from, n;
    } ranges[] = { { 0, VALUES }, { 16, 16 }, { 0, 2 }, { 5, 2 }, { 46, 2 }, { 3, 21 } };
    (void)state;
    for (int count = 1; count <= TILES; count++)
        for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
            for (int number = 0; number < 2; number++)
                for (int i = 0; i < count; i++) {
                    struct batch t;
                    float sum[VALUES] = { 0 };
                    begin(&t, count);
                    mase_collective_sum(&t.plan[i], sum, number, ranges[r].from, ranges[r].n);
                    for (int j = 0; j < ranges[r].n; j++) {
                        const float want = plain(&t, 0.0f, number, ranges[r].from + j, 0);
                        assert_memory_equal(&sum[j], &want, sizeof want);
                    }
                    end(&t);
                }
}

/* The first tile's own values take the sum, minus zeros among them. */
static void in_place(void **state)
{
    struct batch t;
    float want[VALUES];
    (void)state;
    begin(&t, TILES);
    for (int i = 0; i < TILES; i++)
        t.a[i][7] = -0.0f;
    for (int j = 0; j < VALUES; j++)
        want[j] = plain(&t, t.a[0][j], 0, j, 1);
    assert_true(signbit(want[7]));
    mase_collective_sum(&t.plan[0], t.a[0], 0, 0, 16);
    mase_collective_sum(&t.plan[0], t.a[0] + 16, 0, 16, 32);
    assert_memory_equal(t.a[0], want, sizeof want);
    end(&t);
}

/* A plan that has the whole batch is its only tile. */
static void alone(void **state)
{
    struct mase_plan p = { 0 };
    float own[2] = { 1, 2 }, sum[2] = { 10, 10 };
    (void)state;
    assert_int_equal(mase_collective_add(&p, own, sizeof own), 0);
    assert_false(mase_collective_is_tile(&p));
    assert_true(mase_collective_is_first(&p));
    assert_int_equal(mase_collective_tiles(&p), 1);
    mase_collective_sum(&p, sum, 0, 0, 2);
    assert_true(sum[0] == 11 && sum[1] == 12);
    mase_collective_sum(&p, own, 0, 0, 2);
    assert_true(own[0] == 1 && own[1] == 2);
    mase_arena_release(&p.arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(sums),
        cmocka_unit_test(in_place),
        cmocka_unit_test(alone),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
