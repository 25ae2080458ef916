/*
 * int_print.c - a network in integers as text: what is computed, on how many bits.
 */
#include "integer/int_parts.h"

static void print_meaning(struct mase_str *out, const struct mase_int_value *v)
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
    mase_str_printf(out, " : int%d[%lld]", mase_int_value_bits(v), (long long)v->rows);
    print_meaning(out, v);
}

static void print_instr(struct mase_str *out, const struct mase_int_instr *i)
{
    print_value(out, i->out);
    mase_str_printf(out, " = %s(@%lld", mase_int_op_names[i->op], (long long)i->in[0]->at);
    if (i->op == MASE_INT_OP_SUM) {
        const struct mase_int_sum *f = &i->u.sum;
        mase_str_printf(out, ", %lldx%lld", (long long)f->groups * (long long)f->outputs,
                        (long long)f->inputs);
        if (f->positions > 1)
            mase_str_printf(out, " at %lld", (long long)f->positions);
    }
    mase_str_printf(out, ") from %s\n", i->out->from ? i->out->from : "-");
}

void mase_int_program_print(struct mase_str *out, const struct mase_int_program *e)
{
    mase_str_printf(out, "mase-integers 1\nname %s\n", e->program->name);
    print_value(out, e->input);
    mase_str_printf(out, " = input %s\n", e->input->from);
    for (const struct mase_int_instr *i = e->first; i; i = i->next)
        print_instr(out, i);
    mase_str_printf(out, "return @%lld\n", (long long)e->output->at);
}
