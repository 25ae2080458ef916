/*
 * fold_constants.c - what constants alone decide becomes a constant, and what nobody uses goes.
 *
 * An instruction folds when all its operands are known, nothing in it depends on the number of
 * samples, and it gives the same every time it is run.
 */
#include "exec/reference/interpret.h"
#include "exec/reference/ref.h"
#include "ir/text/arg.h"
#include "program/program_parts.h"

struct folding {
    struct mase_program *p;
    bool weights;
    struct mase_tensor **tensor; /* of values that are known, by number */
    struct mase_arena scratch;
};

static bool is_known(const struct mase_pvalue *v, bool weights)
{
    if (v->source == MASE_PSOURCE_PARAM)
        return v->param && v->param->tensor.data && (weights || v->param->is_constant);
    return v->source == MASE_PSOURCE_CONST;
}

struct operands {
    struct mase_tensor *const *tensor;
    bool known;
};

static void need_known(struct mase_pvalue *v, void *data)
{
    struct operands *o = data;
    o->known &= o->tensor[v->number] != NULL;
}

bool mase_instr_is_known(const struct mase_instr *i, struct mase_tensor *const *tensor)
{
    struct operands o = { tensor, i->result_count > 0 && i->prim != MASE_PRIM_dropout &&
                                      i->prim != MASE_PRIM_random };
    for (int k = 0; k < mase_instr_params(i); k++) {
        mase_each_pvalue(&i->param[k], need_known, &o);
        o.known &= !mase_arg_follows_samples(&i->param[k]);
    }
    for (int k = 0; k < i->result_count; k++)
        o.known &= !mase_ptype_follows(&i->result[k]->type);
    for (int k = 0; k < 2 && i->of[k]; k++)
        for (int j = 1; j < mase_instr_params(i->of[k]); j++) /* what their formats have learned */
            mase_each_pvalue(&i->of[k]->param[j], need_known, &o);
    return o.known;
}

static enum mase_status fold_instr(struct folding *f, struct mase_instr *i, struct mase_err *err)
{
    MASE_TRY(mase_instr_run(i, &f->scratch, f->tensor, 0, err));
    for (int k = 0; k < i->result_count; k++) {
        struct mase_pvalue *v = i->result[k];
        const struct mase_tensor *t = f->tensor[v->number];
        v->source = MASE_PSOURCE_CONST;
        v->made_by = NULL;
        v->data = mase_arena_memdup(&f->p->arena, t->data, (size_t)mase_tensor_bytes(t));
    }
    i->result_count = 0;
    return MASE_OK;
}

/* ---- what nobody uses ---- */

static void mark_used(struct mase_pvalue *v, void *data)
{
    bool *used = data;
    used[v->number] = true;
}

static bool is_needed(const struct mase_instr *i, const bool *used)
{
    bool needed = i->prim == MASE_PRIM_check || i->prim == MASE_PRIM_store;
    for (int k = 0; k < i->result_count; k++)
        needed |= used[i->result[k]->number];
    return needed;
}

/* From the last to the first: what is needed needs its operands. */
static int drop_unused(struct folding *f, int count)
{
    struct mase_program *p = f->p;
    bool *used = mase_new_array(&f->scratch, bool, (size_t)p->value_count);
    struct mase_instr **list = mase_new_array(&f->scratch, struct mase_instr *, (size_t)count);
    struct mase_instr *next = NULL;
    int n = 0, gone = 0;
    for (struct mase_instr *i = p->first; i; i = i->next)
        list[n++] = i;
    mase_each_pvalue(&p->output, mark_used, used);
    p->last = NULL;
    while (n-- > 0) {
        if (!is_needed(list[n], used)) {
            gone++;
            continue;
        }
        for (int k = 0; k < mase_instr_params(list[n]); k++)
            mase_each_pvalue(&list[n]->param[k], mark_used, used);
        p->last = p->last ? p->last : list[n];
        list[n]->next = next;
        next = list[n];
    }
    p->first = next;
    return gone;
}

static enum mase_status fold(struct folding *f, int *gone, struct mase_err *err)
{
    struct mase_program *p = f->p;
    int count = 0;
    f->tensor = mase_new_array(&f->scratch, struct mase_tensor *, (size_t)p->value_count);
    for (int n = 0; n < p->value_count; n++) {
        const struct mase_pvalue *v = p->value[n];
        if (!is_known(v, f->weights))
            continue;
        f->tensor[n] = mase_new(&f->scratch, struct mase_tensor);
        *f->tensor[n] = mase_tensor(&f->scratch, v->type.dtype, &(struct mase_shape){ 0 }, false);
        f->tensor[n]->shape = mase_ptype_shape(&v->type, 0);
        f->tensor[n]->data = (void *)(v->param ? v->param->tensor.data : v->data);
    }
    for (struct mase_instr *i = p->first; i; i = i->next, count++)
        if (mase_instr_is_known(i, f->tensor))
            MASE_TRY(fold_instr(f, i, err));
    *gone = drop_unused(f, count);
    mase_program_renumber(p);
    for (struct mase_instr *i = p->first; i; i = i->next)
        i->sum = i->prim == MASE_PRIM_round ? i->sum : mase_instr_sum(i);
    return MASE_OK;
}

enum mase_status mase_program_fold(struct mase_program *p, bool weights, int *gone,
                                   struct mase_err *err)
{
    struct folding f = { .p = p, .weights = weights };
    const enum mase_status st = fold(&f, gone, err);
    mase_arena_release(&f.scratch);
    return st;
}
