/*
 * known_values.c - which instructions constants and parameters alone decide.
 */
#include "exec/reference/interpret.h"
#include "ir/text/arg.h"

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
