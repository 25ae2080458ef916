/*
 * sum_width.c - sums of products of fixed-point numbers: the number that holds all of them.
 *
 * x is code * 2^-f with codes of w bits, so a product is a code of both widths at the sum of both
 * fractions, and K of them together stay below K times the largest. The bias is aligned to the
 * finer of the two fractions. A sum of that width is exact, whatever the order.
 */
#include "program/program_parts.h"

/* Wider sums than any accumulator has are as good as none. */
enum { MAX_WIDTH = 120 };

/* The largest magnitude of the codes of a rounded operand, as a power of two; -1: no integers. */
struct codes {
    struct mase_integer_form form;
    int magnitude; /* |code| <= 2^magnitude */
    bool ok;
};

static struct codes codes_of(const struct mase_arg *a)
{
    const struct mase_pvalue *v = mase_pvalue_of(a);
    const struct mase_format *f = v ? v->rounded.format : NULL;
    struct codes c = { 0 };
    if (!f || !f->row->integer)
        return c;
    c.ok = true;
    c.form = f->row->integer(f->params);
    c.magnitude = v->rounded.sign == MASE_SIGNED ? c.form.width - 1 : c.form.width;
    return c;
}

/* How many products one sum has: of a weight (out, in, ...), or of the right matrix. */
static int64_t products_of(const struct mase_instr *i)
{
    const struct mase_ptype *w = &mase_pvalue_of(&i->param[1])->type;
    int64_t k = 1;
    if (i->op == MASE_OP_matmul) {
        const struct mase_extent rows = w->dim[w->rank > 1 ? w->rank - 2 : 0];
        return rows.times || w->rank == 0 ? 0 : rows.plus;
    }
    for (int d = 1; d < w->rank; d++)
        k *= w->dim[d].times ? 0 : w->dim[d].plus;
    return k;
}

static int bits_of(int64_t n) /* the least b with n <= 2^b */
{
    int b = 0;
    while (b < 62 && (INT64_C(1) << b) < n)
        b++;
    return b;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

struct mase_integer_form mase_instr_sum(const struct mase_instr *i)
{
    static const enum mase_op ops[] = { MASE_OP_linear, MASE_OP_matmul, MASE_OP_conv1d,
                                        MASE_OP_conv2d, MASE_OP_conv3d };
    const struct mase_integer_form none = { 0, 0 };
    bool sums = false;
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        sums |= i->op == ops[k];
    if (!sums || i->prim != mase_op_prim(i->op))
        return none;
    const struct codes x = codes_of(&i->param[0]), w = codes_of(&i->param[1]);
    const bool biased = i->op != MASE_OP_matmul && i->param[2].kind != MASE_ARG_NONE;
    const struct codes b = biased ? codes_of(&i->param[2]) : (struct codes){ .ok = true };
    const int64_t k = x.ok && w.ok && b.ok ? products_of(i) : 0;
    if (k == 0)
        return none;
    const int product = x.form.frac_width + w.form.frac_width;
    struct mase_integer_form sum = { .frac_width = product };
    int magnitude = x.magnitude + w.magnitude + bits_of(k);
    if (biased) {
        sum.frac_width = larger(product, b.form.frac_width);
        magnitude += sum.frac_width - product;
        magnitude = larger(magnitude, b.magnitude + sum.frac_width - b.form.frac_width) + 1;
    }
    sum.width = magnitude + 2; /* a sign, and 2^magnitude itself */
    return sum.width <= MAX_WIDTH ? sum : none;
}
