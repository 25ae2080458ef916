/*
 * rounding_loss.c - what weights and biases lose by rounding: values beyond the range of their
 * format saturate, values below half a step become zero. Both reduce accuracy without an error.
 *
 * A parameter loses much if the values that saturate or vanish have more than a share of its power.
 * Formats that learned their steps are not counted, since training chose what saturates.
 */
#include <math.h>
#include <string.h>

#include <mase/log.h>

#include "pass/support.h"
#include "quant/quant.h"

enum { MOST_NAMED = 3 };
static const double much = 0.03;

struct lost {
    int64_t values, saturated, zeroed;
    double power, off; /* sums of squares: of the values; of those that saturate or vanish */
    bool learned;
    const float *x, *q;
};

static void add_cut(void *data, int64_t i)
{
    struct lost *l = data;
    const double d = (double)l->q[i] - (double)l->x[i];
    l->off += l->q[i] != 0 && isfinite(d) ? d * d : 0;
}

static enum mase_operand operand_of(const struct mase_quantised *p)
{
    const char *dot = strrchr(p->name, '.');
    return mase_starts_with(dot ? dot + 1 : p->name, "bias") ? MASE_BIAS : MASE_WEIGHT;
}

/* Has the format all numbers that it rounds by? */
static bool is_ready(const struct mase_quantised *p)
{
    return p->x->data && !mase_format_learned(p->rounding.format) &&
           !mase_format_is_open(p->rounding.format);
}

static struct lost look(const struct mase_quantised *p)
{
    struct mase_arena a = { 0 };
    const struct mase_rounding r = p->rounding;
    const struct mase_quant *own = mase_node_quant(p->node);
    float *q = mase_new_array(&a, float, (size_t)mase_tensor_count(p->x));
    struct lost l = { .values = mase_tensor_count(p->x), .x = mase_f32(p->x), .q = q };
    l.learned = own && mase_format_learned(own->operand[operand_of(p)]) > 0;
    mase_quantize(r.format, q, l.x, &p->x->shape, r.role, r.sign);
    for (int64_t i = 0; i < l.values; i++) {
        const double x = (double)l.x[i];
        const bool gone = x != 0 && q[i] == 0;
        l.zeroed += gone;
        l.power += isfinite(x) ? x * x : 0;
        l.off += gone && isfinite(x) ? x * x : 0;
    }
    l.saturated = mase_quantised_saturated(p, add_cut, &l);
    mase_arena_release(&a);
    return l;
}

/* ---- as values ---- */

/* A parameter that calibration can choose, such as weight_frac_width. */
static const char *tuned(struct mase_arena *a, const struct mase_quantised *p)
{
    const struct mase_opt *row = p->rounding.format->row->params;
    while (row->type && !mase_param_tuning(row))
        row++;
    return row->type ? mase_arena_printf(a, "%s_%s", mase_operand_names[operand_of(p)], row->key)
                     : NULL;
}

static void set_counts(struct mase_arena *a, struct mase_value *v, const struct lost *l)
{
    mase_value_set(a, v, "values", mase_value_int(a, l->values));
    mase_value_set(a, v, "saturated", mase_value_int(a, l->saturated));
    mase_value_set(a, v, "rounded_to_zero", mase_value_int(a, l->zeroed));
}

struct mase_value *mase_rounding_loss(struct mase_arena *a, const struct mase_graph *g)
{
    struct mase_quantised *list;
    struct lost all = { 0 };
    const int count = g->weights ? mase_quantised_list(&list, a, g) : 0;
    struct mase_value *v = mase_value_table(a), *most = mase_value_list(a);
    for (int i = 0; i < count; i++) {
        if (!is_ready(&list[i]))
            continue;
        const struct lost l = look(&list[i]);
        all.values += l.values;
        all.saturated += l.saturated;
        all.zeroed += l.zeroed;
        if (l.learned || !(l.off > much * l.power))
            continue;
        struct mase_value *one = mase_value_table(a);
        const char *key = tuned(a, &list[i]);
        mase_value_set(a, one, "parameter", mase_value_string(a, list[i].name));
        set_counts(a, one, &l);
        mase_value_set(a, one, "calibrate", key ? mase_value_string(a, key) : mase_value_none(a));
        mase_value_push(a, most, one);
    }
    set_counts(a, v, &all);
    mase_value_set(a, v, "lose_much", most);
    return all.values ? v : NULL;
}

/* ---- as a sentence ---- */

static int64_t number(const struct mase_value *v, const char *key)
{
    return mase_value_get(v, key)->i;
}

static void add_share(struct mase_str *out, int64_t n, int64_t of, const char *what)
{
    if (n)
        mase_str_printf(out, "%lld (%.3g %%) %s", (long long)n, 100 * (double)n / (double)of, what);
    else
        mase_str_printf(out, "none %s", what);
}

static void add_parameter(struct mase_str *out, const struct mase_value *v)
{
    const long long n = number(v, "values"), cut = number(v, "saturated"),
                    gone = number(v, "rounded_to_zero");
    mase_str_printf(out, "%s, of whose %lld", mase_value_get(v, "parameter")->s, n);
    if (cut)
        mase_str_printf(out, " %lld saturate", cut);
    if (gone)
        mase_str_printf(out, "%s %lld become zero", cut ? "," : "", gone);
}

/* Add the parameters that calibration can choose, each once. */
static void add_help(struct mase_str *out, const struct mase_value *most)
{
    int found = 0;
    for (int i = 0; i < most->count; i++) {
        const struct mase_value *key = mase_value_get(most->items[i], "calibrate");
        bool again = key->kind == MASE_NONE;
        for (int k = 0; k < i && !again; k++)
            again = mase_value_equal(mase_value_get(most->items[k], "calibrate"), key);
        if (!again)
            mase_str_printf(out, "%s%s = \"" MASE_AUTO "\"", found++ ? ", " : "; ", key->s);
    }
    mase_str_add(out, found ? " lets ch calibrate find what fits" : "; more bits may help");
}

bool mase_rounding_loss_describe(struct mase_str *out, const struct mase_value *lost)
{
    const int64_t of = lost ? number(lost, "values") : 0;
    if (!lost || (!number(lost, "saturated") && !number(lost, "rounded_to_zero")))
        return false;
    const struct mase_value *most = mase_value_get(lost, "lose_much");
    mase_str_printf(out, "of %lld weights and biases ", (long long)of);
    add_share(out, number(lost, "saturated"), of, "saturate");
    mase_str_add(out, ", ");
    add_share(out, number(lost, "rounded_to_zero"), of, "become zero");
    for (int i = 0; i < most->count && i < MOST_NAMED; i++) {
        mase_str_add(out, i ? "; " : ": above all ");
        add_parameter(out, most->items[i]);
    }
    if (most->count > MOST_NAMED)
        mase_str_printf(out, "; and %d more", most->count - MOST_NAMED);
    if (most->count)
        add_help(out, most);
    return most->count > 0;
}

void mase_rounding_loss_log(const struct mase_graph *g, bool trained)
{
    struct mase_arena a = { 0 };
    struct mase_str text = { 0 };
    const bool warns = mase_rounding_loss_describe(&text, mase_rounding_loss(&a, g));
    if (warns && !trained)
        mase_warn("%s", mase_str_text(&text));
    else if (text.len)
        mase_info("Rounded, %s", mase_str_text(&text));
    mase_str_release(&text);
    mase_arena_release(&a);
}
