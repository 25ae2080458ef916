/*
 * program_print.c - the text of a program. What it writes program_parse.c reads back to an equal
 * one.
 */
#include <mase/value.h>

#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"
#include "ir/text/arg.h"
#include "program/text.h"

const char *const mase_psource_names[] = { "input", "param", "const" };
const char *const mase_psign_names[] = { "signed", "unsigned" };
const char *const mase_prole_names[] = { "data", "weight" };

static void print_label(struct mase_str *out, const char *s)
{
    if (mase_mg_is_word(s))
        mase_str_add(out, s);
    else
        mase_mg_quote(out, s);
}

static void print_typed(struct mase_str *out, const struct mase_pvalue *v)
{
    mase_str_printf(out, "%%%d : ", v->number);
    mase_ptype_print(out, &v->type);
}

/* ---- values from outside ---- */

static void print_numbers(struct mase_str *out, const struct mase_pvalue *v)
{
    const struct mase_shape s = mase_ptype_shape(&v->type, 0);
    const struct mase_tensor t = { v->type.dtype, s, (void *)v->data };
    mase_str_addc(out, '[');
    for (int64_t i = 0; i < mase_shape_count(&s); i++) {
        mase_str_add(out, i ? ", " : "");
        if (t.dtype == MASE_F32 || t.dtype == MASE_F64)
            mase_repr_float(out, mase_tensor_get(&t, i));
        else
            mase_str_printf(out, "%lld", (long long)mase_tensor_get(&t, i));
    }
    mase_str_addc(out, ']');
}

static void print_rounding(struct mase_str *out, const struct mase_rounding *r)
{
    mase_format_print(out, r->format);
    mase_str_printf(out, " %s %s", mase_psign_names[r->sign], mase_prole_names[r->role]);
}

static void print_source(struct mase_str *out, const struct mase_pvalue *v)
{
    print_typed(out, v);
    mase_str_printf(out, " = %s ", mase_psource_names[v->source]);
    if (v->source == MASE_PSOURCE_CONST)
        print_numbers(out, v);
    else
        print_label(out, v->name);
    if (v->rounded.format) {
        mase_str_add(out, " in ");
        print_rounding(out, &v->rounded);
    }
    mase_str_addc(out, '\n');
}

/* ---- instructions ---- */

/* Would the parameter be the same if it were left out? */
static bool is_default(const struct mase_instr *i, int k)
{
    const struct mase_sig *sig = mase_op_call_sig(i->op);
    struct mase_arena a = { 0 };
    struct mase_binding b = { 0 };
    struct mase_err why;
    for (int n = 0; n < sig->count; n++) {
        b.bound[n] = n != k;
        b.value[n] = i->param[n];
    }
    const bool same =
        !mase_bind_defaults(&b, &a, sig, &why) && mase_arg_equal(&b.value[k], &i->param[k]);
    mase_arena_release(&a);
    return same;
}

/* Operands by position as long as nothing is left out, then by name what is not the default. */
static void print_params(struct mase_str *out, const struct mase_instr *i)
{
    const struct mase_sig *sig = mase_op_call_sig(i->op);
    const char *sep = "";
    bool positional = true;
    for (int k = 0; k < sig->count; k++) {
        const struct mase_sig_param *p = &sig->param[k];
        positional &= p->role != 0;
        if (is_default(i, k)) {
            positional = false;
            continue;
        }
        mase_str_add(out, sep);
        if (!positional)
            mase_str_printf(out, "%s=", p->name);
        mase_arg_write(out, &i->param[k], MASE_ARG_MG);
        sep = ", ";
    }
}

static void print_round(struct mase_str *out, const struct mase_instr *i)
{
    mase_str_printf(out, "%s(", mase_prims[i->prim].name);
    for (int k = 0; k < mase_instr_params(i); k++) {
        mase_str_add(out, k ? ", " : "");
        mase_arg_write(out, &i->param[k], MASE_ARG_MG);
    }
    mase_str_add(out, ") to ");
    print_rounding(out, &i->round);
    if (i->round_rank != i->result[0]->type.rank)
        mase_str_printf(out, " rank %d", i->round_rank);
    if (i->of[0])
        mase_str_printf(out, " of %%%d %%%d%s", i->of[0]->result[0]->number,
                        i->of[1]->result[0]->number, i->turned ? " turned" : "");
}

static void print_instr(struct mase_str *out, const struct mase_instr *i)
{
    for (int k = 0; k < i->result_count; k++) {
        mase_str_add(out, k ? ", " : "");
        print_typed(out, i->result[k]);
    }
    mase_str_add(out, i->result_count ? " = " : "do ");
    if (i->prim == MASE_PRIM_round || i->prim == MASE_PRIM_round_back) {
        print_round(out, i);
    } else {
        const char *prim = mase_prims[i->prim].name, *op = mase_ops[i->op].name;
        mase_str_printf(out, "%s.%s(", prim, op);
        print_params(out, i);
        mase_str_addc(out, ')');
        if (i->round.format) {
            mase_str_add(out, " factors ");
            print_rounding(out, &i->round);
        }
    }
    if (i->sum.width)
        mase_str_printf(out, " sum fixed(%d, %d)", i->sum.width, i->sum.frac_width);
    mase_str_add(out, i->no_grad ? " no_grad" : "");
    mase_str_add(out, i->in_place ? " in_place" : "");
    if (i->from) {
        mase_str_add(out, " from ");
        print_label(out, i->from);
    }
    mase_str_addc(out, '\n');
}

/* ---- the whole ---- */

struct printing {
    struct mase_str *out;
    const struct mase_program *p;
    int next; /* values below it are printed */
};

/* Numbers grow line by line, so what comes from outside stands before its first use. */
static void print_before(struct mase_pvalue *v, void *data)
{
    struct printing *pr = data;
    for (; pr->next <= v->number; pr->next++)
        if (pr->p->value[pr->next]->source != MASE_PSOURCE_RESULT)
            print_source(pr->out, pr->p->value[pr->next]);
}

void mase_program_print(struct mase_str *out, const struct mase_program *p)
{
    struct printing pr = { .out = out, .p = p };
    mase_str_printf(out, MASE_PROGRAM_MAGIC " %d\n", MASE_PROGRAM_VERSION);
    if (p->name) {
        mase_str_add(out, "name ");
        print_label(out, p->name);
        mase_str_addc(out, '\n');
    }
    if (p->training)
        mase_str_add(out, "training\n");
    for (int n = 0; n < p->value_count && p->value[n]->source == MASE_PSOURCE_INPUT; n++)
        print_before(p->value[n], &pr);
    for (const struct mase_instr *i = p->first; i; i = i->next) {
        for (int k = 0; k < mase_instr_params(i); k++)
            mase_each_pvalue(&i->param[k], print_before, &pr);
        print_instr(out, i);
    }
    mase_each_pvalue(&p->output, print_before, &pr);
    mase_str_add(out, "return ");
    mase_arg_write(out, &p->output, MASE_ARG_MG);
    mase_str_addc(out, '\n');
}
