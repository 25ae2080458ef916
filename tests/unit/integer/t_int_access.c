/*
 * t_int_access.c - the pattern that an integer program states for the rows that it reads is the
 * list of rows, and the types that it states hold what can come.
 */
#include <math.h>

#include "formats.h"
#include "integer/int_parts.h"
#include "run_cases.h"
#include "unit/exec/step_case.h"

#define S(...)                                                       \
    {                                                                \
        (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
        {                                                            \
            __VA_ARGS__                                              \
        }                                                            \
    }

/* Networks, and the patterns of their sums and maxima. */
static const struct {
    struct step_case net;
    const char *access;
} cases[] = {
    { { "linear", "fc = Linear(5, 7); fc(x)", .in = { S(3, 5) } }, " rows" },
    { { "conv1d", "c = Conv1d(3, 4, 3, stride=2, padding=1); c(x)", .in = { S(3, 7) } },
      " window" },
    { { "conv2d", "c = Conv2d(4, 6, 3, groups=2, dilation=2, padding=2); c(x)",
        .in = { S(4, 5, 6) } },
      " window" },
    { { "conv2d", "c = Conv2d(4, 6, (3, 5)); c(x)", .in = { S(4, 3, 5) } }, " rows" },
    { { "conv3d", "c = Conv3d(2, 3, 2); c(x)", .in = { S(2, 3, 3, 4) } }, " list" },
    { { "conv2d",
        "c = Conv2d(2, 3, 3); p = MaxPool2d(3, 2, padding=1, ceil_mode=True); d = Conv2d(3, 2, 1); "
        "c(x); p(c); d(p)",
        .in = { S(2, 6, 7) } },
      " window pool window" },
    { { "conv2d",
        "c = Conv2d(2, 4, 3); p = AvgPool2d(2, padding=1, count_include_pad=False); "
        "d = Conv2d(4, 2, 1); c(x); p(c); d(p)",
        .in = { S(2, 5, 4) } },
      " window pool window" },
    { { "conv2d",
        "c = Conv2d(2, 4, 2); p = AdaptiveAvgPool2d((2, 3)); d = Conv2d(4, 2, 1); "
        "c(x); p(c); d(p)",
        .in = { S(2, 6, 6) } },
      " window list window" },
    { { "conv2d",
        "c = Conv2d(2, 4, 2); p = AdaptiveMaxPool2d((2, 4)); d = Conv2d(4, 2, 1); "
        "c(x); p(c); d(p)",
        .in = { S(2, 5, 9) } },
      " window pool window" },
    { { "conv2d", "c = Conv2d(2, 4, 3); fc = Linear(4, 3); c(x); torch.mean(c, (2, 3)); fc(mean)",
        .in = { S(2, 4, 6) } },
      " window pool rows" },
    { { "conv2d",
        "c = Conv2d(2, 2, 3, padding=1); d = Conv2d(2, 2, 3, padding=1); e = Conv2d(2, 3, "
        "1); c(x); d(c); operator.add(d, c); torch.relu(add); e(relu)",
        .in = { S(2, 4, 4) } },
      " window window pairs window" },
    { { "linear", "a = Linear(3, 1); b = Linear(1, 1); a(x); b(a); operator.add(b, a)",
        .in = { S(3) } },
      " rows rows pairs" },
};

static struct mase_int_program *integers_of(struct running *r, const struct step_case *c)
{
    struct mase_int_program *e;
    struct mase_quant q = { .operand = { format_of("integer(6, 2)"), format_of("integer(5, 2)"),
                                         format_of("integer(5, 2)") } };
    q.kind = q.operand[0]->kind;
    *r = start(c, 2);
    for (struct mase_node *n = r->graph->first; n; n = n->next)
        if (n->op == MASE_OP_linear || n->op == MASE_OP_conv1d || n->op == MASE_OP_conv2d ||
            n->op == MASE_OP_conv3d)
            mase_module_set_quant(r->graph, mase_node_module(n), &q);
    must(mase_int_program_new(&e, r->graph, r->input, 1, &err), c);
    return e;
}

/* ---- patterns ---- */

/* The row of a channel that element k sees at position p, said otherwise than the library does. */
static int64_t seen(const struct mase_int_window *w, int64_t p, int64_t k)
{
    const int64_t out[2] = { p / w->out[1], p % w->out[1] },
                  element[2] = { k / w->kernel[1], k % w->kernel[1] };
    int64_t at[2];
    for (int d = 0; d < 2; d++) {
        at[d] = out[d] * w->stride[d] - w->pad[d] + element[d] * w->dilation[d];
        if (at[d] < 0 || at[d] >= w->in[d])
            return -1;
    }
    return at[0] * w->in[1] + at[1];
}

static void check_sum(const struct mase_int_instr *i)
{
    const struct mase_int_sum *f = &i->u.sum;
    const struct mase_int_window *w = f->window;
    const int64_t at = i->in[0]->at, area = w ? w->kernel[0] * w->kernel[1] : 1;
    for (int64_t g = 0; g < f->groups && f->access != MASE_INT_ACCESS_POOL; g++)
        for (int64_t p = 0; p < f->positions; p++)
            for (int64_t k = 0; k < f->inputs; k++) {
                const int64_t entry = (g * f->positions + p) * f->inputs + k;
                int64_t row = f->from[entry];
                if (f->access == MASE_INT_ACCESS_ROWS)
                    row = at + entry;
                if (f->access == MASE_INT_ACCESS_PAIRS)
                    row = i->in[k]->at + g;
                if (f->access == MASE_INT_ACCESS_WINDOW) {
                    row = seen(w, p, k % area);
                    row = row < 0 ? -1
                                  : at + (g * (f->inputs / area) + k / area) * w->in[0] * w->in[1] +
                                        row;
                }
                assert_int_equal(f->from[entry], row);
            }
}

/* Entries from to before end are what lies under the window, and zeros behind it. */
static void check_pool(const struct mase_int_window *w, const int32_t *from, const int32_t *end,
                       int64_t channel, int64_t p)
{
    for (int64_t k = 0; k < w->kernel[0] * w->kernel[1]; k++) {
        const int64_t row = seen(w, p, k);
        if (row >= 0) {
            assert_true(from < end);
            assert_int_equal(*from++, channel + row);
        }
    }
    for (; from < end; from++)
        assert_int_equal(*from, -1);
}

static void check_pools(const struct mase_int_instr *i)
{
    const bool sum = i->op == MASE_INT_OP_SUM;
    const struct mase_int_sum *f = &i->u.sum;
    const struct mase_int_rows *m = &i->u.rows;
    const struct mase_int_window *w = sum ? f->window : m->window;
    const int64_t positions = w->out[0] * w->out[1];
    for (int64_t r = 0; r < i->out->rows; r++) {
        const int32_t *from = sum ? f->from + r * f->inputs : m->from + m->first[r];
        check_pool(w, from, sum ? from + f->inputs : m->from + m->first[r + 1],
                   i->in[0]->at + r / positions * w->in[0] * w->in[1], r % positions);
    }
}

static void patterns_are_the_lists(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct running r;
        struct mase_int_program *e = integers_of(&r, &cases[c].net);
        struct mase_str found = { 0 };
        for (const struct mase_int_instr *i = e->first; i; i = i->next) {
            if (i->op != MASE_INT_OP_SUM && i->op != MASE_INT_OP_MAX)
                continue;
            const bool sum = i->op == MASE_INT_OP_SUM;
            const enum mase_int_access access = sum ? i->u.sum.access : i->u.rows.access;
            mase_str_printf(&found, " %s", mase_int_access_names[access]);
            if (sum)
                check_sum(i);
            if (access == MASE_INT_ACCESS_POOL)
                check_pools(i);
        }
        assert_string_equal(mase_str_text(&found), cases[c].access);
        mase_str_release(&found);
        mase_int_program_free(e);
        stop(&r);
    }
}

/* ---- types ---- */

static void types_are_the_narrowest(void **state)
{
    static const struct {
        int64_t lo, hi;
        int width;
        bool is_signed;
    } known[] = {
        { 0, 0, 1, false },
        { 0, 1, 1, false },
        { -1, 0, 1, true },
        { -1, 1, 2, true },
        { 0, 255, 8, false },
        { 0, 256, 9, false },
        { -128, 127, 8, true },
        { -129, 0, 9, true },
        { -1, 128, 9, true },
        { 5, 7, 3, false },
        { INT64_MIN, INT64_MAX, 64, true },
    };
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const struct mase_int_type t = mase_int_type_of(known[k].lo, known[k].hi);
        assert_int_equal(t.width, known[k].width);
        assert_int_equal(t.is_signed, known[k].is_signed);
    }
}

static bool holds(struct mase_int_type t, double x)
{
    const double end = (double)(UINT64_C(1) << (t.width - t.is_signed));
    return x < end && x >= (t.is_signed ? -end : 0);
}

/* The largest and the smallest that each sum can be on the way, its products added in the worst
 * order. */
static void check_sum_type(const struct mase_int_instr *i)
{
    const struct mase_int_sum *f = &i->u.sum;
    const struct mase_int_type t = mase_int_sum_type(i), w = mase_int_weight_type(i);
    double least = 0, most = 0;
    for (int64_t r = 0; r < i->in[0]->rows; r++) {
        least = fmin(least, (double)i->in[0]->lo[r]);
        most = fmax(most, (double)i->in[0]->hi[r]);
    }
    for (int64_t o = 0; o < f->groups * f->outputs; o++) {
        double below = (double)(f->bias[o] < 0 ? f->bias[o] : 0),
               above = (double)(f->bias[o] > 0 ? f->bias[o] : 0);
        for (int64_t k = 0; k < f->inputs; k++) {
            const double v = (double)f->weight[o * f->inputs + k];
            assert_true(holds(w, v));
            below += v > 0 ? v * least : v * most;
            above += v > 0 ? v * most : v * least;
        }
        assert_true(holds(t, below) && holds(t, above));
    }
    for (int64_t r = 0; r < i->out->rows; r++)
        assert_true(holds(t, (double)i->out->lo[r]) && holds(t, (double)i->out->hi[r]));
}

static void types_hold_sums_and_codes(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct running r;
        struct mase_int_program *e = integers_of(&r, &cases[c].net);
        for (const struct mase_int_instr *i = e->first; i; i = i->next) {
            const struct mase_int_type t = mase_int_value_type(i->out);
            for (int64_t k = 0; k < i->out->rows; k++)
                assert_true(holds(t, (double)i->out->lo[k]) && holds(t, (double)i->out->hi[k]));
            if (i->op == MASE_INT_OP_SUM && i->u.sum.access != MASE_INT_ACCESS_PAIRS)
                check_sum_type(i);
            if (i->op == MASE_INT_OP_ROUND)
                for (int64_t k = 0; k < i->out->rows; k++)
                    assert_true(holds(mase_int_round_type(i),
                                      (double)(i->in[0]->hi[k] * i->u.round[k].mul +
                                               i->u.round[k].add + i->u.round[k].div)));
        }
        mase_int_program_free(e);
        stop(&r);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_the_lists),
        cmocka_unit_test(types_are_the_narrowest),
        cmocka_unit_test(types_hold_sums_and_codes),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
