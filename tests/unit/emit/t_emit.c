/*
 * t_emit.c - what a network as C is made of: numbers of rows in few, types, memory that is shared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "emit/emit.h"

static void numbers_of_rows_are_few(void **state)
{
    static const struct {
        int64_t row[6];
        int64_t count, per;
    } cases[] = {
        { { 7, 7, 7, 7, 7, 7 }, 1, 6 }, /* one for all */
        { { 1, 1, 1, 2, 2, 2 }, 2, 3 }, /* by channel */
        { { 1, 1, 2, 2, 2, 2 }, 3, 2 }, /* runs of 2 and 4 */
        { { 1, 2, 2, 2, 2, 2 }, 6, 1 },
    };
    struct mase_arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float real[6];
        for (int k = 0; k < 6; k++)
            real[k] = (float)cases[i].row[k];
        const struct mase_emit_numbers n = mase_emit_numbers(&a, cases[i].row, 6),
                                       f = mase_emit_reals(&a, real, 6);
        assert_int_equal(n.count, cases[i].count);
        assert_int_equal(n.per, cases[i].per);
        assert_int_equal(f.count, cases[i].count);
        for (int k = 0; k < 6; k++) {
            assert_int_equal(n.number[k / n.per], cases[i].row[k]);
            assert_true(f.real[k / f.per] == real[k]);
        }
    }
    const float zeros[] = { 0.0f, -0.0f };
    assert_int_equal(mase_emit_reals(&a, zeros, 2).count, 2); /* they are not the same bits */
    mase_arena_release(&a);
}

static void types_are_the_smallest(void **state)
{
    (void)state;
    assert_int_equal(mase_emit_type_for(-128, 127, MASE_EMIT_I8), MASE_EMIT_I8);
    assert_int_equal(mase_emit_type_for(0, 128, MASE_EMIT_I8), MASE_EMIT_U8);
    assert_int_equal(mase_emit_type_for(-1, 128, MASE_EMIT_I8), MASE_EMIT_I16);
    assert_int_equal(mase_emit_type_for(0, 65535, MASE_EMIT_I8), MASE_EMIT_U16);
    assert_int_equal(mase_emit_type_for(-1, 1 << 20, MASE_EMIT_I8), MASE_EMIT_I32);
    assert_int_equal(mase_emit_type_for(0, (int64_t)1 << 31, MASE_EMIT_I8), MASE_EMIT_I64);
    assert_int_equal(mase_emit_type_for(0, 1, MASE_EMIT_I32), MASE_EMIT_I32);
}

static struct mase_emit_value *follow(struct mase_emit_net *n, struct mase_emit_value *x,
                                      int64_t rows)
{
    struct mase_emit_value *y = mase_emit_add_value(n, MASE_EMIT_I16, rows);
    mase_emit_add_step(n, MASE_EMIT_MAP, "node", x, y);
    return y;
}

static void a_chain_has_two_arrays_and_a_branch_three(void **state)
{
    for (int branch = 0; branch < 2; branch++) {
        struct mase_arena a = { 0 };
        struct mase_emit_net n = { .a = &a };
        (void)state;
        n.input = mase_emit_add_value(&n, MASE_EMIT_F32, 4);
        struct mase_emit_value *v = follow(&n, n.input, 10), *kept = v;
        for (int k = 0; k < 5; k++)
            v = follow(&n, v, 10 + k);
        n.output = follow(&n, v, 3);
        n.last->in[1] = branch ? kept : NULL; /* read again at the end */
        mase_emit_place(&n);
        assert_int_equal(n.slot_count, 2 + branch);
        for (const struct mase_emit_step *s = n.first; s; s = s->next)
            assert_true(s->in[0]->slot != s->out->slot);
        assert_true(!branch || kept->slot != v->slot);
        mase_arena_release(&a);
    }
}

static void floats_read_back(void **state)
{
    const float some[] = { 0.1f, 1.0f, 16777216.0f, 1.17549435e-38f, -3.4028235e38f, 1e-45f };
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        struct mase_str s = { 0 };
        mase_emit_real(&s, (double)some[i], true);
        assert_int_equal(s.data[s.len - 1], 'f');
        assert_true(strtof(s.data, NULL) == some[i]);
        mase_str_release(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_rows_are_few),
        cmocka_unit_test(types_are_the_smallest),
        cmocka_unit_test(a_chain_has_two_arrays_and_a_branch_three),
        cmocka_unit_test(floats_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
