/*
 * table.c - the number formats gathered from quants.def, and what can be asked of any of them.
 */
#include <inttypes.h>
#include <string.h>

#include "quant/quant.h"

#define COUNT_OF(array) (int)(sizeof(array) / sizeof((array)[0]))

const struct mase_quant_info mase_quants[MASE_QUANT_COUNT] = {
    [MASE_QUANT_float] = { .name = "float", .suffix = "", .func = "", .help = "not quantised" },
#define QUANT(name_, suffix_, func_, params_, reference_, code_, help_)                            \
    [MASE_QUANT_##name_] = {                                                                       \
        #name_,       suffix_, func_, mase_##params_, COUNT_OF(mase_##params_), mase_##reference_, \
        mase_##code_, help_                                                                        \
    },
#include <mase/quants.def>
};

enum mase_quant_kind mase_quant_find(const char *name)
{
    for (int k = 0; k < MASE_QUANT_COUNT; k++)
        if (mase_streq(mase_quants[k].name, name))
            return (enum mase_quant_kind)k;
    return MASE_QUANT_COUNT;
}

void mase_quantize(const struct mase_format *f, float *q, const float *x, int64_t n,
                   enum mase_sign sign)
{
    if (f->kind != MASE_QUANT_float)
        mase_quants[f->kind].quantize(q, x, n, f, sign);
    else if (n > 0 && q != x)
        memcpy(q, x, (size_t)n * sizeof *q);
}

bool mase_format_code(int64_t *code, float q, const struct mase_format *f, enum mase_sign sign)
{
    return mase_quants[f->kind].code && mase_quants[f->kind].code(code, q, f, sign);
}

/* The first parameter of a role; dflt when the row has none. */
static int64_t param_of(const struct mase_quant_info *row, const int64_t *param,
                        enum mase_param_role role, int64_t dflt)
{
    for (int i = 0; i < row->count; i++)
        if (row->params[i].role == role)
            return param[i];
    return dflt;
}

int mase_format_bits(const struct mase_format *f)
{
    return (int)param_of(&mase_quants[f->kind], f->param, MASE_PARAM_WIDTH, 32);
}

int64_t mase_quant_stored_bits(const struct mase_quant_info *row, const int64_t *param, int64_t n)
{
    const int64_t shared = param_of(row, param, MASE_PARAM_SHARED, 0);
    const int64_t block = param_of(row, param, MASE_PARAM_BLOCK, 1);
    return n * param_of(row, param, MASE_PARAM_WIDTH, 32) + (n + block - 1) / block * shared;
}

int64_t mase_format_stored_bits(const struct mase_format *f, int64_t n)
{
    return mase_quant_stored_bits(&mase_quants[f->kind], f->param, n);
}

bool mase_format_equal(const struct mase_format *a, const struct mase_format *b)
{
    if (a->kind != b->kind)
        return false;
    for (int i = 0; i < mase_quants[a->kind].count; i++)
        if (a->param[i] != b->param[i])
            return false;
    return true;
}

void mase_format_print(struct mase_str *out, const struct mase_format *f)
{
    const struct mase_quant_info *info = &mase_quants[f->kind];
    mase_str_add(out, info->name);
    for (int i = 0; i < info->count; i++) {
        mase_str_add(out, i ? ", " : "(");
        if (f->param[i] == MASE_NA)
            mase_str_add(out, "NA");
        else
            mase_str_printf(out, "%" PRId64, f->param[i]);
    }
    if (info->count)
        mase_str_addc(out, ')');
}
