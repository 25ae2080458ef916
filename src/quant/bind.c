/*
 * bind.c - number formats from configuration tables.
 *
 * A configuration writes one key per operand and parameter: weight_width, weight_frac_width. The
 * operand's name is the caller's; the parameters, whether they may be none and their ranges are the
 * format's rows.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/format.h>

static enum mase_status fail_missing(const struct mase_value *config, const char *key,
                                     enum mase_quant_kind kind, struct mase_err *err)
{
    const struct mase_loc at = config ? config->at : MASE_NOWHERE;
    const bool table = config && config->kind == MASE_TABLE;
    const char *near = table ? mase_nearest(key, config->keys, config->count) : NULL;
    if (near)
        return mase_fail_at(err, MASE_EVALUE, at, "%s is missing, which %s needs; is '%s' meant?",
                            key, mase_quants[kind].name, near);
    return mase_fail_at(err, MASE_EVALUE, at, "%s is missing, which %s needs", key,
                        mase_quants[kind].name);
}

static enum mase_status bind_param(int64_t *param, const struct mase_quant_param *p,
                                   const struct mase_value *v, const char *key,
                                   struct mase_err *err)
{
    if (p->may_be_na && mase_value_is_none(v)) {
        *param = MASE_NA;
        return MASE_OK;
    }
    if (v->kind != MASE_INT)
        return mase_fail_at(
            err, MASE_EVALUE, v->at, "%s must be an integer %" PRId64 "..%" PRId64 "%s, got %s",
            key, p->min, p->max, p->may_be_na ? " or \"NA\"" : "", mase_value_kind_names[v->kind]);
    if (v->i < p->min || v->i > p->max)
        return mase_fail_at(err, MASE_EVALUE, v->at,
                            "%s = %" PRId64 " is outside %" PRId64 "..%" PRId64, key, v->i, p->min,
                            p->max);
    *param = v->i;
    return MASE_OK;
}

enum mase_status mase_format_bind(struct mase_format *f, enum mase_quant_kind kind,
                                  const struct mase_value *config, const char *prefix,
                                  struct mase_err *err)
{
    const struct mase_quant_info *info = &mase_quants[kind];
    struct mase_format bound = { .kind = kind };
    struct mase_str key = { 0 };
    enum mase_status st = MASE_OK;

    for (int i = 0; i < info->count && !st; i++) {
        mase_str_clear(&key);
        mase_str_printf(&key, "%s_%s", prefix, info->params[i].name);
        const struct mase_value *v = mase_value_get(config, mase_str_text(&key));
        st = v ? bind_param(&bound.param[i], &info->params[i], v, mase_str_text(&key), err)
               : fail_missing(config, mase_str_text(&key), kind, err);
    }
    mase_str_release(&key);
    if (!st)
        *f = bound;
    return st;
}

bool mase_format_mentioned(const struct mase_value *config, const char *prefix)
{
    const size_t n = strlen(prefix);
    for (int i = 0; config && config->kind == MASE_TABLE && i < config->count; i++)
        if (mase_starts_with(config->keys[i], prefix) && config->keys[i][n] == '_')
            return true;
    return false;
}
