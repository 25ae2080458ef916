/*
 * int_print.c - print an integer program: instructions and numbers of bits.
 */
#include "integer/int_parts.h"

const char *const mase_int_op_names[] = { "affine", "encode", "sum", "round",
                                          "scale",  "table",  "max", "pick" };
const char *const mase_int_access_names[] = { "list", "rows", "window", "pool", "pairs" };

static void print_range(struct mase_str *out, const struct mase_int_value *v)
{
    int64_t lo = v->lo[0], hi = v->hi[0];
    for (int64_t r = 1; r < v->rows; r++) {
        lo = v->lo[r] < lo ? v->lo[r] : lo;
        hi = v->hi[r] > hi ? v->hi[r] : hi;
    }
    mase_str_printf(out, " %lld..%lld", (long long)lo, (long long)hi);
}

static void print_step(struct mase_str *out, const struct mase_int_value *v)
{
    double least = v->meaning[0].step, most = least;
    for (int64_t r = 0; r < v->rows; r++) {
        least = v->meaning[r].step < least ? v->meaning[r].step : least;
        most = v->meaning[r].step > most ? v->meaning[r].step : most;
    }
    mase_str_printf(out, " step %g", least);
    if (most != least)
        mase_str_printf(out, "..%g", most);
}

static void print_value(struct mase_str *out, const struct mase_int_value *v)
{
    mase_str_printf(out, "@%lld", (long long)v->at);
    if (!v->codes) {
        mase_str_printf(out, " : float[%lld]", (long long)v->rows);
        return;
    }
    const struct mase_int_type t = mase_int_value_type(v);
    mase_str_printf(out, " : %s%d[%lld]", t.is_signed ? "int" : "uint", t.width,
                    (long long)v->rows);
    print_range(out, v);
    print_step(out, v);
}

static void print_access(struct mase_str *out, enum mase_int_access access,
                         const struct mase_int_window *w)
{
    mase_str_printf(out, ", %s", mase_int_access_names[access]);
    if (w)
        mase_str_printf(out, " %lldx%lld", (long long)w->kernel[0], (long long)w->kernel[1]);
}

static void print_sum(struct mase_str *out, const struct mase_int_sum *f)
{
    mase_str_printf(out, ", %lldx%lld", (long long)f->groups * (long long)f->outputs,
                    (long long)f->inputs);
    if (f->positions > 1)
        mase_str_printf(out, " at %lld", (long long)f->positions);
    print_access(out, f->access, f->window);
}

static void print_instr(struct mase_str *out, const struct mase_int_instr *i)
{
    print_value(out, i->out);
    mase_str_printf(out, " = %s(", mase_int_op_names[i->op]);
    for (int k = 0; k < i->in_count; k++)
        mase_str_printf(out, "%s@%lld", k ? ", " : "", (long long)i->in[k]->at);
    if (i->op == MASE_INT_OP_SUM)
        print_sum(out, &i->u.sum);
    if (i->op == MASE_INT_OP_MAX)
        print_access(out, i->u.rows.access, i->u.rows.window);
    mase_str_printf(out, ") from %s\n", i->out->from ? i->out->from : "-");
}

void mase_int_program_print(struct mase_str *out, const struct mase_int_program *e)
{
    mase_str_printf(out, "mase-integers 2\nname %s\n", e->program->name);
    print_value(out, e->input);
    mase_str_printf(out, " = input %s\n", e->input->from);
    for (const struct mase_int_instr *i = e->first; i; i = i->next)
        print_instr(out, i);
    mase_str_printf(out, "return @%lld\n", (long long)e->output->at);
}
