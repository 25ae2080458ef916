/*
 * t_emit.c - what a network as C is made of: numbers of rows in few, types, memory that is shared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emit/emit_parts.h"
#include "run_cases.h"

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
    assert_int_equal(mase_emit_type_between(-128, 127, MASE_EMIT_I8), MASE_EMIT_I8);
    assert_int_equal(mase_emit_type_between(0, 128, MASE_EMIT_I8), MASE_EMIT_U8);
    assert_int_equal(mase_emit_type_between(-1, 128, MASE_EMIT_I8), MASE_EMIT_I16);
    assert_int_equal(mase_emit_type_between(0, 65535, MASE_EMIT_I8), MASE_EMIT_U16);
    assert_int_equal(mase_emit_type_between(-1, 1 << 20, MASE_EMIT_I8), MASE_EMIT_I32);
    assert_int_equal(mase_emit_type_between(0, (int64_t)1 << 31, MASE_EMIT_I8), MASE_EMIT_I64);
    assert_int_equal(mase_emit_type_between(0, 1, MASE_EMIT_I32), MASE_EMIT_I32);
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

/* ---- steps that are run before they are written ---- */

static const char sum_of_two[] =
    "mase-graph 1\nname n\n"
    "module a = Linear(in_features=3, out_features=4) quantized {name: 'integer', data_in_width: "
    "8, "
    "data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, "
    "bias_frac_width: 4}\n"
    "%x = placeholder[target=x]\n"
    "%a = call_module[target=a](args = (%x,), kwargs = {})\n"
    "%add = call_function[target=operator.add](args = (%a, %a), kwargs = {}) quantized {name: "
    "'integer', data_in_width: 6, data_in_frac_width: 2}\n"
    "return %add\n";

static void break_weight(struct mase_emit_net *n)
{
    ((int64_t *)n->first->next->sum.weight)[1] += 3;
}
static void break_sign(struct mase_emit_net *n)
{
    for (struct mase_emit_step *s = n->first; s; s = s->next)
        if (s->kind == MASE_EMIT_ADD)
            s->weight[1] = mase_emit_numbers(n->a, &(int64_t){ -1 }, 1);
}
static void break_rows(struct mase_emit_net *n)
{
    n->first->next->sum.group_rows = n->first->next->sum.positions = 2;
    n->first->next->sum.access = MASE_INT_ACCESS_ROWS;
}
static void break_type(struct mase_emit_net *n)
{
    n->first->next->out->type = MASE_EMIT_I8;
}
static void break_sums(struct mase_emit_net *n)
{
    n->first->next->sum.acc = MASE_EMIT_I8;
}
static void break_memory(struct mase_emit_net *n)
{
    n->first->next->out->slot = n->first->out->slot;
}
static void break_life(struct mase_emit_net *n)
{
    n->last->in[0] = n->first->out;
}

/* Whatever is wrong with a step is found before a line is written. */
static void steps_are_run_before_they_are_written(void **state)
{
    static const struct {
        void (*change)(struct mase_emit_net *n);
        const char *message;
    } cases[] = {
        { NULL, NULL },
        { break_weight, "its results are others than those it was made from" },
        { break_sign, "its results are others than those it was made from" },
        { break_rows, "a: its C is wrong for sample 0: it reads what is not there" },
        { break_type, "a: its C is wrong for sample 0: a code does not fit its type" },
        { break_sums, "a: its C is wrong for sample 0: a sum does not fit its type" },
        { break_memory, "a: its C is wrong for sample 0: it writes over what it reads" },
        { break_life, "it reads what is not there" },
    };
    const float x[] = { 1, -2, 3, 0.5f, 7, -7, 100, 100, 100 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_arena a = { 0 };
        struct mase_err err = { 0 };
        struct mase_graph *g;
        struct mase_int_program *e;
        struct mase_emit_net n = { .a = &a };
        const struct mase_shape sample = { 1, { 3 } };
        assert_int_equal(mase_graph_parse_mg(&g, sum_of_two, sizeof sum_of_two - 1, "n.mg", &err),
                         MASE_OK);
        mase_graph_init_weights(g, 1);
        const struct mase_inputs in = mase_graph_inputs(&a, g, &sample, 1);
        assert_int_equal(mase_int_program_new(&e, g, in.item, in.count, &err), MASE_OK);
        assert_int_equal(mase_emit_from_integers(&n, e, false, &err), MASE_OK);
        mase_emit_place(&n);
        if (cases[i].change)
            cases[i].change(&n);
        const enum mase_status st = mase_emit_check(&n, &(struct mase_emit_source){ .exact = e },
                                                    i % 2 ? x : NULL, i % 2 ? 3 : 0, &err);
        assert_int_equal(st, cases[i].change ? MASE_EVALUE : MASE_OK);
        if (cases[i].change && !strstr(err.msg, cases[i].message))
            fail_msg("got '%s', want '%s'", err.msg, cases[i].message);
        mase_int_program_free(e);
        mase_graph_free(g);
        mase_arena_release(&a);
    }
}

/* Tiles read two inputs at a time: of an odd number at several positions the last has another
 * behind it, though there is an even number of rows. */
static void pairs_do_not_pass_memory(void **state)
{
    static const char text[] =
        "mase-graph 1\nname n\n"
        "module a = Linear(in_features=3, out_features=1) quantized {name: 'integer', "
        "data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, "
        "bias_width: 8, bias_frac_width: 4}\n"
        "module b = Linear(in_features=1, out_features=17) quantized {name: 'integer', "
        "data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, "
        "bias_width: 8, bias_frac_width: 4}\n"
        "%x = placeholder[target=x]\n"
        "%a = call_module[target=a](args = (%x,), kwargs = {})\n"
        "%b = call_module[target=b](args = (%a,), kwargs = {})\n"
        "return %b\n";
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_graph *g;
    struct mase_int_program *e;
    struct mase_emit_net n = { .a = &a };
    const struct mase_shape sample = { 2, { 2, 3 } };
    (void)state;
    assert_int_equal(mase_graph_parse_mg(&g, text, sizeof text - 1, "n.mg", &err), MASE_OK);
    mase_graph_init_weights(g, 1);
    const struct mase_inputs in = mase_graph_inputs(&a, g, &sample, 1);
    assert_int_equal(mase_int_program_new(&e, g, in.item, in.count, &err), MASE_OK);
    assert_int_equal(mase_emit_from_integers(&n, e, false, &err), MASE_OK);
    mase_emit_find_tiles(&n);
    mase_emit_place(&n);
    const struct mase_emit_step *tiled = n.first;
    while (tiled && !tiled->sum.tiled)
        tiled = tiled->next;
    assert_non_null(tiled);
    assert_int_equal(tiled->in[0]->rows, 2);
    assert_int_equal(mase_emit_room(tiled->in[0]), 3);
    const struct mase_emit_source from = { .exact = e };
    assert_int_equal(mase_emit_check(&n, &from, NULL, 0, &err), MASE_OK);
    tiled->in[0]->passed = false;
    assert_int_equal(mase_emit_check(&n, &from, NULL, 0, &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, "a pair of rows lies behind its memory"));
    mase_int_program_free(e);
    mase_graph_free(g);
    mase_arena_release(&a);
}

/* Every row is found by its name and its files' ending, and refuses options it does not have. */
static void targets_are_rows(void **state)
{
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_graph *g;
    const struct mase_shape sample = { 1, { 3 } };
    (void)state;
    assert_int_equal(mase_graph_parse_mg(&g, sum_of_two, sizeof sum_of_two - 1, "n.mg", &err),
                     MASE_OK);
    mase_graph_init_weights(g, 1);
    const struct mase_inputs in = mase_graph_inputs(&a, g, &sample, 1);
    struct mase_value *unknown = mase_value_table(&a);
    mase_value_set(&a, unknown, "colour", mase_value_string(&a, "red"));
    for (const struct mase_target *t = mase_targets; t->name; t++) {
        const struct mase_emit_opts o = { .file = "sum" }, wrong = { .options = unknown };
        struct mase_emitted e;
        assert_ptr_equal(mase_target_find(t->name), t);
        assert_int_equal(mase_emit(&e, t, g, in.item, in.count, &wrong, &err), MASE_EVALUE);
        assert_non_null(strstr(err.msg, "colour"));
        assert_int_equal(e.files, 0);
        assert_int_equal(mase_emit(&e, t, g, in.item, in.count, &o, &err), MASE_OK);
        assert_ptr_equal(mase_target_of_path(e.file[0].name), t);
        for (int i = 0; i < e.files; i++)
            assert_true(mase_starts_with(e.file[i].name, "sum") && e.file[i].text.len > 0);
        assert_null(e.makefile); /* without vectors there is nothing to check */
        mase_emitted_release(&e);
    }
    assert_null(mase_target_find("cobol"));
    assert_null(mase_target_of_path("net.cob"));
    mase_graph_free(g);
    mase_arena_release(&a);
}

/* What a target cannot take is refused before anything is lowered or written. */
static void targets_of_integers_refuse_floats(void **state)
{
    static const char text[] = "mase-graph 1\nname n\n"
                               "module a = Linear(in_features=3, out_features=2)\n"
                               "%x = placeholder[target=x]\n"
                               "%a = call_module[target=a](args = (%x,), kwargs = {})\n"
                               "return %a\n";
    const struct mase_target t = { .name = "gates", .ends = ".g", .rows = mase_target_c_rows };
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_emitted e;
    struct mase_graph *g;
    const struct mase_shape sample = { 1, { 3 } };
    (void)state;
    assert_int_equal(mase_graph_parse_mg(&g, text, sizeof text - 1, "n.mg", &err), MASE_OK);
    mase_graph_init_weights(g, 1);
    const struct mase_inputs in = mase_graph_inputs(&a, g, &sample, 1);
    assert_int_equal(mase_emit(&e, &t, g, in.item, in.count, &(struct mase_emit_opts){ 0 }, &err),
                     MASE_EVALUE);
    assert_non_null(strstr(err.msg, "gates is written from integers"));
    mase_graph_free(g);
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_rows_are_few),
        cmocka_unit_test(types_are_the_smallest),
        cmocka_unit_test(a_chain_has_two_arrays_and_a_branch_three),
        cmocka_unit_test(floats_read_back),
        cmocka_unit_test(targets_are_rows),
        cmocka_unit_test(targets_of_integers_refuse_floats),
        cmocka_unit_test(steps_are_run_before_they_are_written),
        cmocka_unit_test(pairs_do_not_pass_memory),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
