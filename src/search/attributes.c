/*
 * attributes.c - the attributes that a search gives its trials, read.
 *
 *     software_metrics, hardware_metrics    as they were measured: accuracy, accuracy_error
 *     scaled_metrics                        those of the objectives, times their scale
 *     sampled_config                        NODE.config.KEY
 */
#include "search/attributes.h"

#include <math.h>
#include <string.h>

#include <mase/search.h>

#include "search/format_space.h"

/* ---- metrics ---- */

/* NaN: these attributes have none of this name. */
static double metric(const struct mase_value *user, const char *name)
{
    const double soft =
        mase_value_number(mase_value_get(mase_value_get(user, "software_metrics"), name));
    return isnan(soft)
               ? mase_value_number(mase_value_get(mase_value_get(user, "hardware_metrics"), name))
               : soft;
}

static double scaled(const struct mase_value *user, const char *name)
{
    return mase_value_number(mase_value_get(mase_value_get(user, "scaled_metrics"), name));
}

/* What the search multiplied a metric by; NaN: not known. */
static double scale_in(const struct mase_value *user, const char *name)
{
    const double plain = metric(user, name);
    return plain != 0 ? scaled(user, name) / plain : NAN;
}

static double spread_in(const struct mase_value *user, const char *name)
{
    struct mase_str key = { 0 };
    mase_str_printf(&key, "%s_error", name);
    const double spread = metric(user, mase_str_text(&key)) * fabs(scale_in(user, name));
    mase_str_release(&key);
    return spread;
}

double mase_search_scale(const struct mase_study *s, int objective)
{
    double scale = NAN;
    for (int64_t i = 0; i < s->trials && isnan(scale); i++)
        scale = scale_in(s->trial[i].user, s->objective[objective].name);
    return isnan(scale) || fabs(scale - 1) < 1e-9 ? 1 : scale;
}

const char *mase_search_label(struct mase_arena *a, const struct mase_study *s, int objective)
{
    const char *name = s->objective[objective].name;
    const double scale = mase_search_scale(s, objective);
    return scale == 1 ? name : mase_arena_printf(a, "%.6g x %s", scale, name);
}

double mase_search_spread(const struct mase_study *s, const struct mase_trial *t, int objective)
{
    return spread_in(t->user, s->objective[objective].name);
}

double mase_search_baseline_value(const struct mase_study *s, int objective)
{
    return scaled(mase_value_get(s->user, MASE_SEARCH_BASELINE), s->objective[objective].name);
}

double mase_search_baseline_spread(const struct mase_study *s, int objective)
{
    return spread_in(mase_value_get(s->user, MASE_SEARCH_BASELINE), s->objective[objective].name);
}

/* ---- bits ---- */

static const struct mase_value *configs_of(const struct mase_trial *t)
{
    const struct mase_value *v = mase_value_get(t->user, "sampled_config");
    return v && v->kind == MASE_TABLE ? v : NULL;
}

static struct mase_search_bits_row *find_row(const struct mase_search_bits *b, const char *node,
                                             const char *operand)
{
    for (int i = 0; i < b->rows; i++)
        if (mase_streq(b->row[i].node, node) && mase_streq(b->row[i].operand, operand))
            return &b->row[i];
    return NULL;
}

static struct mase_search_bits_row *add_row(struct mase_search_bits *b, struct mase_arena *a,
                                            const char *node, const char *operand)
{
    b->row = mase_arena_grow(a, b->row, b->rows, &b->cap, sizeof *b->row);
    struct mase_search_bits_row *row = &b->row[b->rows++];
    *row = (struct mase_search_bits_row){ node, operand,
                                          mase_new_array(a, double, (size_t)b->trials) };
    for (int i = 0; i < b->trials; i++)
        row->bits[i] = NAN;
    return row;
}

static void take_config(struct mase_search_bits *b, struct mase_arena *a, int trial,
                        const char *node, const struct mase_value *config)
{
    for (int i = 0; config && config->kind == MASE_TABLE && i < config->count; i++) {
        enum mase_operand operand;
        const char *parameter;
        const double bits = mase_value_number(config->items[i]);
        if (isnan(bits) || !mase_operand_key(&operand, &parameter, config->keys[i]) ||
            !mase_streq(parameter, "width"))
            continue;
        struct mase_search_bits_row *row = find_row(b, node, mase_operand_names[operand]);
        row = row ? row : add_row(b, a, node, mase_operand_names[operand]);
        row->bits[trial] = bits;
    }
}

static const struct mase_value *config_of(const struct mase_trial *t, const char *node)
{
    return mase_value_get(mase_value_get(configs_of(t), node), "config");
}

/* Does the search vary anything of a node? The configuration has a default, too, which is none. */
static bool is_searched(const struct mase_study *s, const char *node)
{
    const size_t n = strlen(node);
    for (int i = 0; i < s->space.count; i++) {
        const char *name = s->space.dimension[i].name;
        if (!strncmp(name, node, n) && mase_starts_with(name + n, "/config/"))
            return true;
    }
    return false;
}

/* Nodes in the order of the network, which is that of each trial; what only later trials have comes
 * last. */
void mase_search_bits_of(struct mase_search_bits *out, struct mase_arena *a,
                         const struct mase_study *s, const int64_t *index, int trials)
{
    struct mase_map done = { .arena = a };
    *out = (struct mase_search_bits){ .trials = trials };
    for (int i = 0; i < trials; i++) {
        const struct mase_value *configs = configs_of(&s->trial[index[i]]);
        for (int n = 0; configs && n < configs->count; n++) {
            const char *node = configs->keys[n];
            const bool take = !mase_map_get(&done, node) && is_searched(s, node);
            for (int k = i; k < trials && take; k++)
                take_config(out, a, k, node, config_of(&s->trial[index[k]], node));
            mase_map_put(&done, node, out);
        }
    }
}
