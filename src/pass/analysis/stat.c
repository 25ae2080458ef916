/*
 * stat.c - the table of statistics, their arguments, groups of values, and results as lists.
 */
#include <math.h>
#include <string.h>

#include <mase/log.h>

#include "pass/analysis/stat.h"

/* ---- arguments ---- */

static const char *const var_modes[] = { "online", "precise", NULL };

#define DEVICE \
    MASE_OPT_TEXT(struct mase_stat_args, device, "device", NULL, "accepted, of no effect")
#define DIMS                                            \
    MASE_OPT_VALUE(struct mase_stat_args, dims, "dims", \
                   "\"all\", \"NA\" (each position apart), or a list of dimensions of a sample")
#define ABS MASE_OPT_BOOL(struct mase_stat_args, abs, "abs", false, "of the absolute values")

static const struct mase_opt record_opts[] = {
    DEVICE,
    MASE_OPT_BOOL(struct mase_stat_args, new_dim, "add_new_dim_before_concat", false,
                  "samples along a dimension of their own"),
    { 0 },
};
static const struct mase_opt dims_opts[] = { DEVICE, DIMS, { 0 } };
static const struct mase_opt abs_opts[] = { DEVICE, DIMS, ABS, { 0 } };
static const struct mase_opt online_opts[] = {
    DEVICE,
    DIMS,
    MASE_OPT_BOOL(struct mase_stat_args, exact, "exact", false,
                  "dims = \"all\": the population variance, not the original's weighting"),
    { 0 },
};
static const struct mase_opt sigma_opts[] = {
    DEVICE,
    DIMS,
    ABS,
    MASE_OPT_CHOICE(struct mase_stat_args, var_mode, "var_mode", "online", var_modes,
                    "which variance: variance_online's or variance_precise's"),
    MASE_OPT_FLOAT(struct mase_stat_args, num_sigma, "num_sigma", 3, 0, 1e6,
                   "standard deviations on each side"),
    { 0 },
};
static const struct mase_opt quantile_opts[] = {
    DEVICE,
    DIMS,
    ABS,
    MASE_OPT_FLOAT(struct mase_stat_args, quantile, "quantile", 0.975, 0, 1,
                   "the upper quantile; the lower is 1 less this"),
    { 0 },
};
static const struct mase_opt histogram_opts[] = {
    DEVICE,
    DIMS,
    ABS,
    MASE_OPT_INT(struct mase_stat_args, bins, "bins", 64, 1, 65536, "bins of equal width"),
    MASE_OPT_VALUE(struct mase_stat_args, min, "min", "first edge; else the smallest value"),
    MASE_OPT_VALUE(struct mase_stat_args, max, "max", "last edge; else the largest value"),
    { 0 },
};
static const struct mase_opt sparsity_opts[] = {
    DEVICE,
    DIMS,
    MASE_OPT_FLOAT(struct mase_stat_args, threshold, "threshold", 0, 0, 1e30,
                   "what counts as zero: not larger than this"),
    { 0 },
};
static const struct mase_opt format_opts[] = {
    DEVICE,
    DIMS,
    ABS,
    MASE_OPT_TEXT(struct mase_stat_args, format_name, "format", "integer", "a number format"),
    MASE_OPT_BOOL(struct mase_stat_args, is_signed, "signed", true, "with a sign"),
    MASE_OPT_REST(struct mase_stat_args, format_params, "format_*",
                  "the format's parameters: format_width, format_frac_width"),
    { 0 },
};

const struct mase_stat_kind mase_stat_kinds[] = {
#define STAT(name_, state_, opts_, fields_, help_) \
    { .name = #name_,                              \
      .fields = fields_,                           \
      .help = help_,                               \
      .state = &mase_state_##state_,               \
      .opts = opts_,                               \
      .result = mase_result_##name_ },
#include "pass/analysis/stats.def"
    { 0 },
};

enum { KINDS = sizeof mase_stat_kinds / sizeof mase_stat_kinds[0] - 1 };

static enum mase_status find_kind(const struct mase_stat_kind **kind, const char *name,
                                  struct mase_loc at, struct mase_err *err)
{
    const char *names[KINDS];
    for (int i = 0; i < KINDS; i++) {
        names[i] = mase_stat_kinds[i].name;
        *kind = &mase_stat_kinds[i];
        if (mase_streq(name, names[i]))
            return MASE_OK;
    }
    return mase_fail_unknown(
        err, at, &(struct mase_unknown){ name, names, KINDS, .tail = "there are ", .lists = true },
        "no statistic is called '%s'", name);
}

static enum mase_status bind_dims(struct mase_stat *s, struct mase_err *err)
{
    const struct mase_value *d = s->args.dims;
    s->dims = MASE_DIMS_ALL;
    if (!d || (d->kind == MASE_STRING && mase_streq(d->s, "all")))
        return MASE_OK;
    s->dims = MASE_DIMS_NONE;
    if (mase_value_is_none(d))
        return MASE_OK;
    s->dims = MASE_DIMS_LIST;
    bool good = d->kind == MASE_LIST;
    for (int i = 0; good && i < d->count; i++)
        good = d->items[i]->kind == MASE_INT;
    return good ? MASE_OK
                : mase_fail_at(err, MASE_EVALUE, d->at,
                               "dims must be \"all\", \"NA\" or a list of integers, such as [0]");
}

static enum mase_status check_edge(const struct mase_value *v, const char *key,
                                   struct mase_err *err)
{
    if (!v || v->kind == MASE_INT || (v->kind == MASE_FLOAT && isfinite(v->f)))
        return MASE_OK;
    return mase_fail_at(err, MASE_EVALUE, v->at, "%s must be a finite number, got %s", key,
                        mase_value_kind_names[v->kind]);
}

static enum mase_status check_edges(struct mase_stat_args *args, struct mase_err *err)
{
    MASE_TRY(check_edge(args->min, "min", err));
    MASE_TRY(check_edge(args->max, "max", err));
    if (args->min && args->max && mase_value_number(args->min) >= mase_value_number(args->max))
        return mase_fail_at(err, MASE_EVALUE, args->max->at,
                            "max = %g must be larger than min = %g", mase_value_number(args->max),
                            mase_value_number(args->min));
    return MASE_OK;
}

static bool is_param(const struct mase_quant_info *q, const char *key)
{
    for (const struct mase_opt *p = q->params; p->type; p++)
        if (mase_starts_with(key, "format_") && mase_streq(key + strlen("format_"), p->key))
            return true;
    return false;
}

static enum mase_status bind_format(struct mase_stat_args *args, struct mase_err *err)
{
    const struct mase_value *rest = args->format_params;
    enum mase_quant_kind kind;
    MASE_TRY(mase_quant_need(&kind, args->format_name, MASE_NOWHERE, err));
    for (int i = 0; i < rest->count; i++)
        if (!is_param(mase_quants[kind], rest->keys[i]))
            return mase_fail_at(err, MASE_EVALUE, rest->key_at[i],
                                "'%s' is no argument; the parameters of %s are written "
                                "format_width and so on",
                                rest->keys[i], mase_quants[kind]->name);
    return mase_format_bind(&args->format, kind, rest, "format", err);
}

static enum mase_status bind_args(struct mase_stat *s, const struct mase_value *args,
                                  struct mase_err *err)
{
    if (args && args->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, args->at, "its arguments must be a table, not %s",
                            mase_value_kind_names[args->kind]);
    MASE_TRY(mase_opts_bind(&s->args, sizeof s->args, s->kind->opts, args, s->arena, err));
    MASE_TRY(bind_dims(s, err));
    MASE_TRY(check_edges(&s->args, err));
    if (s->kind->opts == format_opts)
        MASE_TRY(bind_format(&s->args, err));
    return MASE_OK;
}

enum mase_status mase_stat_new(struct mase_stat **out, struct mase_arena *a, const char *name,
                               struct mase_loc at, const struct mase_value *args,
                               struct mase_stat_budget *budget, struct mase_err *err)
{
    struct mase_stat *s = mase_new(a, struct mase_stat);
    s->arena = a;
    s->budget = budget;
    MASE_TRY(find_kind(&s->kind, name, at, err));
    enum mase_status st = bind_args(s, args, err);
    if (st) {
        mase_place(err, at);
        mase_wrap(err, "%s", name);
        return st;
    }
    s->args.abs |= s->kind->result == mase_result_abs_mean;
    *out = s;
    return MASE_OK;
}

enum mase_status mase_stat_make(struct mase_stat **out, struct mase_arena *a,
                                const struct mase_statistic *t, struct mase_stat_budget *budget,
                                struct mase_err *err)
{
    const struct mase_stat_kind *kind;
    MASE_TRY(find_kind(&kind, t->name, MASE_NOWHERE, err));
    const bool of_format = kind->opts == format_opts;
    if (of_format != (t->format != NULL))
        return mase_fail(err, MASE_EVALUE, "%s %s", t->name,
                         of_format ? "needs a number format" : "is not of a number format");
    struct mase_stat *s = mase_new(a, struct mase_stat);
    *s = (struct mase_stat){ .kind = kind, .arena = a, .budget = budget, .dims = MASE_DIMS_ALL };
    MASE_TRY(mase_opts_bind(&s->args, sizeof s->args, kind->opts, NULL, a, err));
    s->args.abs |= kind->result == mase_result_abs_mean;
    s->args.bins = t->bins ? t->bins : s->args.bins;
    s->args.format = t->format;
    s->args.is_signed = t->sign == MASE_SIGNED;
    *out = s;
    return MASE_OK;
}

/* ---- groups ---- */

static enum mase_status reduced_dims(const struct mase_stat *s, bool *reduced, struct mase_err *err)
{
    const struct mase_value *d = s->args.dims;
    for (int i = 0; s->dims == MASE_DIMS_LIST && i < d->count; i++) {
        const int axis = mase_shape_axis(&s->shape, d->items[i]->i);
        if (axis < 0)
            return mase_fail_at(err, MASE_EVALUE, d->items[i]->at,
                                "dims has %lld, but a sample has %d dimensions",
                                (long long)d->items[i]->i, s->shape.rank);
        reduced[axis] = true;
    }
    for (int i = 0; s->dims == MASE_DIMS_ALL && i < s->shape.rank; i++)
        reduced[i] = true;
    return MASE_OK;
}

/* The group of element e: its position along the kept dimensions. */
static int32_t group_of(const struct mase_shape *shape, const bool *reduced, int64_t e)
{
    int64_t index = 0, step = 1;
    for (int d = shape->rank - 1; d >= 0; d--) {
        if (!reduced[d]) {
            index += e % shape->dim[d] * step;
            step *= shape->dim[d];
        }
        e /= shape->dim[d];
    }
    return (int32_t)index;
}

static enum mase_status make_groups(struct mase_stat *s, struct mase_err *err)
{
    bool reduced[MASE_MAX_RANK] = { false };
    const int64_t elements = mase_shape_count(&s->shape);
    MASE_TRY(reduced_dims(s, reduced, err));
    s->kept.rank = 0;
    for (int d = 0; d < s->shape.rank; d++)
        if (!reduced[d])
            s->kept.dim[s->kept.rank++] = s->shape.dim[d];
    s->groups = mase_shape_count(&s->kept);
    if (s->groups <= 1)
        return MASE_OK;
    s->group = mase_new_array(s->arena, int32_t, (size_t)elements);
    for (int64_t e = 0; e < elements; e++)
        s->group[e] = group_of(&s->shape, reduced, e);
    return MASE_OK;
}

static enum mase_status take_budget(struct mase_stat *s, struct mase_err *err)
{
    const int64_t values = mase_shape_count(&s->shape) * s->total;
    if (!s->kind->state->keeps || !s->budget)
        return MASE_OK;
    if (values > s->budget->limit - s->budget->used)
        return mase_fail(err, MASE_ELIMIT,
                         "keeps every value: %lld here and %lld before, more than max_values = "
                         "%lld; profile fewer samples or nodes, or raise it",
                         (long long)values, (long long)s->budget->used,
                         (long long)s->budget->limit);
    s->budget->used += values;
    return MASE_OK;
}

static enum mase_status begin(struct mase_stat *s, const struct mase_shape *shape, int64_t total,
                              struct mase_err *err)
{
    s->shape = *shape;
    s->total = total;
    MASE_TRY(make_groups(s, err));
    MASE_TRY(take_budget(s, err));
    s->state = mase_arena_alloc_array(s->arena, (size_t)s->groups, s->kind->state->size);
    for (int64_t g = 0; s->kind->state->begin && g < s->groups; g++)
        s->kind->state->begin(s, mase_stat_group(s, g));
    return MASE_OK;
}

enum mase_status mase_stat_begin(struct mase_stat *s, const struct mase_shape *shape, int64_t total,
                                 struct mase_err *err)
{
    if (!mase_shape_count(shape) || !total)
        return MASE_OK;
    const enum mase_status st = begin(s, shape, total, err);
    return st ? mase_wrap(err, "%s", s->kind->name) : MASE_OK;
}

/* ---- values ---- */

int mase_stat_rounds(const struct mase_stat *s)
{
    return s->kind->state->rounds ? s->kind->state->rounds(s) : 1;
}

void mase_stat_run(const struct mase_stat *s, int64_t group, const float *x, int64_t n,
                   int64_t stride)
{
    enum { CHUNK = 1024 };
    void *state = mase_stat_group(s, group);
    float chunk[CHUNK];
    if (stride == 1 && !s->args.abs) {
        s->kind->state->span(s, state, x, n);
        return;
    }
    for (int64_t from = 0; from < n; from += CHUNK) {
        const int64_t count = n - from < CHUNK ? n - from : CHUNK;
        for (int64_t i = 0; i < count; i++) {
            const float v = x[(from + i) * stride];
            chunk[i] = s->args.abs ? fabsf(v) : v;
        }
        s->kind->state->span(s, state, chunk, count);
    }
}

void mase_stat_spans(struct mase_stat *s, const struct mase_stat_block *b)
{
    const int64_t elements = mase_shape_count(&b->shape);
    if (!s->group && b->element_stride == 1 && b->sample_stride == elements) {
        mase_stat_run(s, 0, b->data, elements * b->samples, 1);
        return;
    }
    for (int64_t e = 0; e < elements; e++)
        mase_stat_run(s, s->group ? s->group[e] : 0, b->data + e * b->element_stride, b->samples,
                      b->sample_stride);
}

/* Blocks may differ in shape only if groups do not depend on it. */
static enum mase_status check_block(const struct mase_stat *s, const struct mase_stat_block *b,
                                    struct mase_err *err)
{
    const bool fits = s->samples + b->samples <= s->total;
    if (fits && mase_shape_equal(&s->shape, &b->shape))
        return MASE_OK;
    if (s->dims == MASE_DIMS_ALL && !s->kind->state->keeps)
        return MASE_OK;
    return mase_fail(err, MASE_EUNSUPPORTED,
                     "the shape changes from batch to batch; with dims = \"all\" most statistics "
                     "can do without one, or choose a batch size that divides num_samples");
}

enum mase_status mase_stat_feed(struct mase_stat *s, const struct mase_stat_block *b,
                                struct mase_err *err)
{
    const int64_t elements = mase_shape_count(&b->shape);
    enum mase_status st = MASE_OK;
    if (!elements || !b->samples)
        return MASE_OK;
    if (!s->state)
        st = begin(s, &b->shape, b->total, err);
    if (!st)
        st = check_block(s, b, err);
    if (st)
        return mase_wrap(err, "%s", s->kind->name);
    if (s->kind->state->block)
        s->kind->state->block(s, b);
    else
        mase_stat_spans(s, b);
    s->samples += b->samples;
    s->values += b->samples * elements;
    return MASE_OK;
}

enum mase_stat_input mase_stat_wants(const struct mase_stat *s)
{
    const struct mase_stat_state *state = s->kind->state;
    if (state->wants)
        return state->wants(s);
    return state->part ? MASE_STAT_PARTS : MASE_STAT_VALUES;
}

void mase_stat_took(struct mase_stat *s, int64_t samples)
{
    s->samples += samples;
    s->values += samples * mase_shape_count(&s->shape);
}

void mase_stat_end_round(struct mase_stat *s)
{
    s->round++;
    if (!s->state || s->round >= mase_stat_rounds(s))
        return;
    s->samples = s->values = 0;
    for (int64_t g = 0; s->kind->state->next && g < s->groups; g++)
        s->kind->state->next(s, mase_stat_group(s, g));
}

/* ---- results ---- */

int64_t mase_stat_count(const struct mase_stat *s)
{
    return s->values / s->groups;
}

static struct mase_value *nest(struct mase_arena *a, const struct mase_shape *shape, int depth,
                               const float **next)
{
    if (depth == shape->rank)
        return mase_value_float(a, *(*next)++);
    struct mase_value *list = mase_value_list(a);
    for (int64_t i = 0; i < shape->dim[depth]; i++)
        mase_value_push(a, list, nest(a, shape, depth + 1, next));
    return list;
}

struct mase_value *mase_stat_nested(struct mase_arena *a, const struct mase_shape *shape,
                                    const float *data)
{
    return nest(a, shape, 0, &data);
}

void mase_stat_set(const struct mase_stat *s, struct mase_arena *a, struct mase_value *fields,
                   const char *field, mase_stat_number_fn *number)
{
    float *values = mase_new_array(s->arena, float, (size_t)s->groups);
    for (int64_t g = 0; g < s->groups; g++)
        values[g] = (float)number(s, mase_stat_group(s, g));
    mase_value_set(a, fields, field, mase_stat_nested(a, &s->kept, values));
}

/* Integers, so that counts are exact. */
static struct mase_value *nested_counts(const struct mase_stat *s, struct mase_arena *a, int depth,
                                        int64_t *g, mase_stat_number_fn *number)
{
    if (depth == s->kept.rank)
        return mase_value_int(a, (int64_t)number(s, mase_stat_group(s, (*g)++)));
    struct mase_value *list = mase_value_list(a);
    for (int64_t i = 0; i < s->kept.dim[depth]; i++)
        mase_value_push(a, list, nested_counts(s, a, depth + 1, g, number));
    return list;
}

void mase_stat_set_counts(const struct mase_stat *s, struct mase_arena *a,
                          struct mase_value *fields, const char *field, mase_stat_number_fn *number)
{
    int64_t g = 0;
    mase_value_set(a, fields, field, nested_counts(s, a, 0, &g, number));
}

void mase_stat_set_na(const struct mase_stat *s, struct mase_arena *a, struct mase_value *fields,
                      const char *field)
{
    mase_warn("%s: %s needs at least two values of each position, and has %lld", s->kind->name,
              field, (long long)mase_stat_count(s));
    mase_value_set(a, fields, field, mase_value_string(a, "NA"));
}

void mase_stat_set_count(const struct mase_stat *s, struct mase_arena *a, struct mase_value *fields)
{
    mase_value_set(a, fields, "count", mase_value_int(a, mase_stat_count(s)));
}

struct mase_value *mase_stat_result(const struct mase_stat *s, struct mase_arena *a)
{
    struct mase_value *fields = mase_value_table(a);
    if (s->state)
        s->kind->result(s, a, fields);
    else
        mase_value_set(a, fields, "count", mase_value_int(a, 0));
    return fields;
}
