/*
 * search_results.c - a study as the original writes it.
 *
 *     log.json     all trials by row: number, values, attributes, state, times
 *     best.json    the best trial, or the Pareto front: number, value, metrics, configuration
 */
#include <math.h>

#include "search/search_parts.h"

static struct mase_value *number(struct mase_arena *a, double x)
{
    return isnan(x) ? mase_value_none(a) : mase_value_float(a, x);
}

static struct mase_value *attribute(struct mase_arena *a, const struct mase_trial *t,
                                    const char *key)
{
    struct mase_value *v = mase_value_get(t->user, key);
    return v ? v : mase_value_none(a);
}

/* The original's "value", or one each of several. */
static void log_values(struct mase_arena *a, struct mase_value *row, const struct mase_study *s,
                       const struct mase_trial *t)
{
    const bool complete = t->state == MASE_TRIAL_COMPLETE;
    for (int i = 0; i < s->objectives; i++)
        mase_value_set(a, row, s->objectives > 1 ? mase_arena_printf(a, "values_%d", i) : "value",
                       number(a, complete ? t->value[i] : NAN));
}

static struct mase_value *milliseconds(struct mase_arena *a, int64_t us)
{
    return us ? mase_value_int(a, us / 1000) : mase_value_none(a);
}

static struct mase_value *log_row(struct mase_arena *a, const struct mase_study *s,
                                  const struct mase_trial *t)
{
    static const char *const attributes[] = { "hardware_metrics", "sampled_config",
                                              "scaled_metrics", "software_metrics" };
    struct mase_value *row = mase_value_table(a);
    mase_value_set(a, row, "number", mase_value_int(a, t->number));
    log_values(a, row, s, t);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        mase_value_set(a, row, mase_arena_printf(a, "user_attrs_%s", attributes[i]),
                       attribute(a, t, attributes[i]));
    mase_value_set(a, row, "state", mase_value_string(a, mase_trial_states[t->state]));
    mase_value_set(a, row, "datetime_start", milliseconds(a, t->start));
    mase_value_set(a, row, "datetime_complete", milliseconds(a, t->end));
    mase_value_set(a, row, "duration",
                   t->start && t->end ? milliseconds(a, t->end - t->start) : mase_value_none(a));
    return row;
}

struct mase_value *mase_search_log(struct mase_arena *a, const struct mase_study *study)
{
    struct mase_value *log = mase_value_table(a);
    for (int64_t i = 0; i < study->trials; i++)
        mase_value_set(a, log, mase_arena_printf(a, "%lld", (long long)i),
                       log_row(a, study, &study->trial[i]));
    return log;
}

/* ---- the best ---- */

static struct mase_value *values_of(struct mase_arena *a, const struct mase_study *s,
                                    const struct mase_trial *t)
{
    struct mase_value *list = mase_value_list(a);
    for (int i = 0; i < s->objectives; i++)
        mase_value_push(a, list, number(a, t->value[i]));
    return list;
}

static struct mase_value *best_row(struct mase_arena *a, const struct mase_study *s,
                                   const struct mase_trial *t)
{
    static const char *const attributes[] = { "software_metrics", "hardware_metrics",
                                              "scaled_metrics", "sampled_config" };
    struct mase_value *row = mase_value_table(a);
    mase_value_set(a, row, "number", mase_value_int(a, t->number));
    mase_value_set(a, row, "value", values_of(a, s, t));
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        mase_value_set(a, row, attributes[i], attribute(a, t, attributes[i]));
    return row;
}

static bool is_same(const struct mase_study *s, const struct mase_trial *a,
                    const struct mase_trial *b)
{
    for (int i = 0; i < s->objectives; i++)
        if (a->value[i] != b->value[i])
            return false;
    return true;
}

int64_t mase_search_distinct(int64_t *index, const struct mase_study_setup *setup,
                             const struct mase_study *study)
{
    const int64_t all = mase_pareto_front(index, setup, study->trial, study->trials);
    int64_t kept = 0;
    for (int64_t i = 0; i < all; i++) {
        int64_t k = 0;
        while (k < kept && !is_same(study, &study->trial[index[k]], &study->trial[index[i]]))
            k++;
        if (k == kept)
            index[kept++] = index[i];
    }
    return kept;
}

struct mase_value *mase_search_best(struct mase_arena *a, const struct mase_study_setup *setup,
                                    const struct mase_study *study)
{
    struct mase_value *best = mase_value_table(a);
    int64_t *index = mase_new_array(a, int64_t, (size_t)study->trials);
    const int64_t count = mase_search_distinct(index, setup, study);
    for (int64_t i = 0; i < count; i++)
        mase_value_set(a, best, mase_arena_printf(a, "%lld", (long long)i),
                       best_row(a, study, &study->trial[index[i]]));
    return best;
}
