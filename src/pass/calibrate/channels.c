/*
 * channels.c - choose parameters for each block of a tensor, if a format takes lists of them.
 *
 * The blocks are the format's own: with an axis the channels along it, with a block size runs of
 * values. Each is calibrated as a tensor of its own; their numbers become lists.
 */
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "pass/calibrate/calibrate_parts.h"

/* Parameters that give a format a number for each block. */
static const char *const block_keys[] = { "axis", "block_size" };
enum { BLOCK_KEYS = sizeof block_keys / sizeof *block_keys };

static int find_key(const struct mase_value *config, const char *prefix, const char *key)
{
    char full[64];
    mase_snprintf(full, sizeof full, "%s_%s", prefix, key);
    return mase_value_find(config, full);
}

static bool is_auto(const struct mase_value *config, const char *prefix, const char *key)
{
    const int at = find_key(config, prefix, key);
    return at >= 0 && mase_value_is_auto(config->items[at]);
}

static bool has_block_key(const struct mase_value *config, const char *prefix)
{
    bool has = false;
    for (int i = 0; i < BLOCK_KEYS; i++) {
        const int at = find_key(config, prefix, block_keys[i]);
        has |= at >= 0 && !mase_value_is_none(config->items[at]);
    }
    return has;
}

static void set_key(struct mase_value *config, const char *prefix, const char *key,
                    struct mase_value *v)
{
    const int at = find_key(config, prefix, key);
    if (at >= 0)
        config->items[at] = v;
}

/* The blocks of the format, asked of it with a scale by values if it has one. */
static enum mase_status cut(struct mase_blocks *b, const struct mase_value *config,
                            const char *prefix, enum mase_quant_kind kind,
                            const struct mase_cal_tensor *t, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_value *plain = mase_value_copy(&a, config);
    struct mase_format f;
    set_key(plain, prefix, "scale", mase_value_none(&a));
    set_key(plain, prefix, "zero_point", mase_value_none(&a));
    enum mase_status st = mase_format_try(&f, &a, kind, plain, prefix, err);
    if (!st)
        st = mase_format_fits(&f, &t->shape, t->role, err);
    if (!st)
        *b = mase_format_blocks(&f, &t->shape, t->role);
    mase_arena_release(&a);
    return st;
}

/* The values of one block, over all samples. */
static struct mase_cal_tensor gather(struct mase_arena *a, const struct mase_cal_tensor *t,
                                     const struct mase_blocks *b, int64_t block, int64_t each)
{
    int64_t *offset = mase_new_array(a, int64_t, (size_t)b->largest), n = 0;
    float *x = mase_new_array(a, float, (size_t)(b->count / each * b->largest));
    for (int64_t i = block; i < b->count; i += each) {
        const int64_t rows = mase_blocks_offsets(b, i, offset);
        for (int64_t k = 0; k < rows; k++)
            x[n++] = t->x[offset[k]];
    }
    return (struct mase_cal_tensor){ x, { 1, { n } }, MASE_ROLE_WEIGHT, t->sign };
}

static struct mase_cal_values values_of(const struct mase_cal_tensor *t)
{
    struct mase_cal_values v = { t, 1, INFINITY, -INFINITY };
    for (int64_t i = 0; i < t->shape.dim[0]; i++) {
        v.min = fmin(v.min, (double)t->x[i]);
        v.max = fmax(v.max, (double)t->x[i]);
    }
    return v;
}

struct lists {
    struct mase_value *scale, *zero; /* NULL: given */
};

static enum mase_status choose_block(struct lists *lists, const struct mase_value *config,
                                     const char *prefix, enum mase_quant_kind kind,
                                     const struct mase_cal_tensor *t,
                                     const struct mase_calibrate_opts *o, struct mase_arena *out,
                                     struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_value *own = mase_value_copy(&a, config);
    const struct mase_cal_values v = values_of(t);
    struct mase_cal_fit unused;
    for (int i = 0; i < BLOCK_KEYS; i++)
        set_key(own, prefix, block_keys[i], mase_value_none(&a));
    const enum mase_status st = mase_cal_choose(own, prefix, &unused, kind, &v, o, &a, err);
    if (!st && lists->scale)
        mase_value_push(out, lists->scale,
                        mase_value_copy(out, own->items[find_key(own, prefix, "scale")]));
    if (!st && lists->zero)
        mase_value_push(out, lists->zero,
                        mase_value_copy(out, own->items[find_key(own, prefix, "zero_point")]));
    mase_arena_release(&a);
    return st;
}

static enum mase_status choose_blocks(struct mase_value *config, const char *prefix,
                                      enum mase_quant_kind kind, const struct mase_cal_tensor *t,
                                      const struct mase_calibrate_opts *o, struct mase_arena *a,
                                      struct mase_err *err)
{
    struct mase_blocks b;
    struct lists lists = { 0 };
    MASE_TRY(cut(&b, config, prefix, kind, t, err));
    const bool samples = t->role == MASE_ROLE_DATA && t->shape.rank && t->shape.dim[0];
    const int64_t each = samples ? b.count / t->shape.dim[0] : b.count;
    if (is_auto(config, prefix, "scale"))
        lists.scale = mase_value_list(a);
    if (is_auto(config, prefix, "zero_point"))
        lists.zero = mase_value_list(a);
    for (int64_t i = 0; i < each; i++) {
        struct mase_arena scratch = { 0 };
        const struct mase_cal_tensor block = gather(&scratch, t, &b, i, each);
        const enum mase_status st = choose_block(&lists, config, prefix, kind, &block, o, a, err);
        mase_arena_release(&scratch);
        MASE_TRY(st);
    }
    if (lists.scale)
        set_key(config, prefix, "scale", lists.scale);
    if (lists.zero)
        set_key(config, prefix, "zero_point", lists.zero);
    set_key(config, prefix, "power_of_two", mase_value_bool(a, false));
    return MASE_OK;
}

enum mase_status mase_cal_decide(struct mase_value *config, const char *prefix,
                                 struct mase_cal_fit *fit, enum mase_quant_kind kind,
                                 const struct mase_cal_values *v,
                                 const struct mase_calibrate_opts *o, struct mase_arena *a,
                                 struct mase_err *err)
{
    struct mase_cal_scorer scorer;
    struct mase_format f;
    if (!is_auto(config, prefix, "scale") || !has_block_key(config, prefix))
        return mase_cal_choose(config, prefix, fit, kind, v, o, a, err);
    if (v->count > 1)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%d tensors share it, which have no channels in common: leave out axis "
                         "and block_size",
                         v->count);
    MASE_TRY(choose_blocks(config, prefix, kind, &v->tensor[0], o, a, err));
    MASE_TRY(mase_format_try(&f, a, kind, config, prefix, err));
    mase_cal_scorer_init(&scorer, v, a, false);
    *fit = mase_cal_fit(&scorer, &f);
    return MASE_OK;
}
