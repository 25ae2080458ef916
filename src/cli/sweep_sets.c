/*
 * sweep_sets.c - a sweep over number formats: --set passes.quantize.linear.config.weight_width=2..8
 *
 * A value that is a range of integers, or several values separated by commas, is an axis of the
 * sweep; every combination of values gives a network. A single axis has an additional value, float:
 * the network as it is without formats, to compare with.
 */
#include <stdlib.h>
#include <string.h>

#include <mase/log.h>

#include "base/number.h"
#include "cli/command/cmd_sweep.h"
#include "cli/project.h"

static const char prefix[] = "passes.quantize.";
enum { MOST_VALUES = 100 };

/* Parse "2..8"; false: no range. */
static bool read_range(const char *text, long *from, long *to)
{
    char *end;
    *from = strtol(text, &end, 10);
    if (end == text || strncmp(end, "..", 2) != 0)
        return false;
    const char *second = end + 2;
    *to = strtol(second, &end, 10);
    return end != second && !*end;
}

bool mase_cli_is_set_axis(const char *text)
{
    const char *value = strchr(text, '=');
    long from, to;
    return value &&
           (read_range(value + 1, &from, &to) || (strchr(value, ',') && !strpbrk(value, "[{\"'")));
}

/* Make "KEY=VALUE" for each value. */
static enum mase_status spell_out(struct mase_cli_set_axis *axis, struct mase_arena *a,
                                  const char *text, struct mase_err *err)
{
    const char *value = strchr(text, '=') + 1;
    const int key = (int)(value - text);
    long from, to;
    axis->sets = mase_new_array(a, const char *, MOST_VALUES);
    if (!mase_starts_with(text, prefix))
        return mase_fail(err, MASE_EVALUE,
                         "--set %s: a sweep varies number formats, keys of [passes.quantize]; "
                         "options of training have their own lists, as --learning-rate 0.1,0.01",
                         text);
    if (read_range(value, &from, &to)) {
        if (from > to || to - from >= MOST_VALUES)
            return mase_fail(err, MASE_EVALUE,
                             "--set %s: expected a range of at most %d numbers, the least first",
                             text, MOST_VALUES);
        for (long i = from; i <= to; i++)
            axis->sets[axis->count++] = mase_arena_printf(a, "%.*s%ld", key, text, i);
        return MASE_OK;
    }
    for (const char *p = value;; p++) {
        const int n = (int)strcspn(p, ",");
        if (!n || axis->count == MOST_VALUES)
            return mase_fail(err, MASE_EVALUE,
                             "--set %s: expected at most %d values with commas between them", text,
                             MOST_VALUES);
        axis->sets[axis->count++] = mase_arena_printf(a, "%.*s%.*s", key, text, n, p);
        p += n;
        if (!*p)
            return MASE_OK;
    }
}

/* "linear.weight_width" for passes.quantize.linear.config.weight_width. */
static const char *short_key(struct mase_arena *a, const char *text)
{
    const char *path = text + sizeof prefix - 1, *config = strstr(path, ".config.");
    const int n = (int)strcspn(path, "=");
    if (!config || config - path > n)
        return mase_arena_printf(a, "%.*s", n, path);
    const int rest = n - (int)(config - path) - (int)strlen(".config.");
    return mase_arena_printf(a, "%.*s.%.*s", (int)(config - path), path, rest,
                             config + strlen(".config."));
}

/* The values as tables show them. */
static struct mase_value *values_of(const struct mase_cli_set_axis *axis, struct mase_arena *a)
{
    struct mase_value *list = mase_value_list(a);
    for (int i = 0; i < axis->count; i++) {
        const char *text = strchr(axis->sets[i], '=') + 1;
        char *end;
        const double x = mase_number_read(text, &end);
        struct mase_value *v = *end ? mase_value_string(a, text) : mase_value_float(a, x);
        if (!*end && x == (double)(int64_t)x && !strpbrk(text, ".eE"))
            v = mase_value_int(a, (int64_t)x);
        mase_value_push(a, list, v);
    }
    return list;
}

enum mase_status mase_cli_set_axes(struct mase_cli_set_axis *axes, int *count, struct mase_cli *c,
                                   struct mase_err *err)
{
    const struct mase_value *sets = mase_cli_value(c, MASE_CLI_set);
    *count = 0;
    for (int i = 0; i < sets->count; i++) {
        const char *text = sets->items[i]->s;
        if (!mase_cli_is_set_axis(text))
            continue;
        if (*count == MASE_SWEEP_MAX_AXES)
            return mase_fail(err, MASE_ELIMIT, "a sweep varies at most %d options",
                             MASE_SWEEP_MAX_AXES);
        struct mase_cli_set_axis *axis = &axes[(*count)++];
        *axis = (struct mase_cli_set_axis){ 0 };
        MASE_TRY(spell_out(axis, &c->arena, text, err));
        axis->values = values_of(axis, &c->arena);
        axis->axis =
            (struct mase_sweep_axis){ short_key(&c->arena, text), axis->values, .network = true };
    }
    return MASE_OK;
}

enum mase_status mase_cli_first_set(const char **out, struct mase_arena *a, const char *text,
                                    struct mase_err *err)
{
    struct mase_cli_set_axis axis = { 0 };
    MASE_TRY(spell_out(&axis, a, text, err));
    *out = axis.sets[0];
    return MASE_OK;
}

/* Set combination number k of the values; the last axis varies fastest. */
static enum mase_status set_all(struct mase_cli *c, const struct mase_cli_set_axis *axes, int count,
                                int k, struct mase_err *err)
{
    for (int i = count - 1; i >= 0; i--) {
        MASE_TRY(mase_cli_set(c, axes[i].sets[k % axes[i].count], err));
        k /= axes[i].count;
    }
    return mase_pass_runs_bind(&c->passes, &c->arena, mase_value_get(c->config, "passes"), err);
}

/* ---- calibration ---- */

static bool has_auto(const struct mase_value *v)
{
    bool found = mase_value_is_auto(v);
    const bool has_items =
        v && (v->kind == MASE_TABLE || v->kind == MASE_LIST || v->kind == MASE_TUPLE);
    for (int i = 0; has_items && i < v->count && !found; i++)
        found = has_auto(v->items[i]);
    return found;
}

enum mase_status mase_cli_need_weights(struct mase_graph *g, struct mase_cli *c,
                                       struct mase_err *err)
{
    const char *path = mase_cli_text(c, MASE_CLI_load_name);
    if (g->weights || !has_auto(mase_value_at(c->config, "passes.quantize")))
        return MASE_OK;
    const struct mase_value *seed = mase_cli_value(c, MASE_CLI_seed);
    seed = seed->kind == MASE_LIST ? seed->items[0] : seed;
    mase_graph_init_weights(g, (uint64_t)seed->i);
    return path ? mase_cli_load_weights(g, c, path, err) : MASE_OK;
}

enum mase_status mase_cli_set_networks(struct mase_graph **out, struct mase_cli *c,
                                       const struct mase_graph *base,
                                       const struct mase_cli_set_axis *axes, int count,
                                       struct mase_opened *w, struct mase_err *err)
{
    int all = 1;
    for (int i = 0; i < count; i++)
        all *= axes[i].count;
    /* calibration changes it */
    struct mase_value *passes = mase_value_copy(&c->arena, mase_value_get(c->config, "passes"));
    for (int k = 0; k < all; k++) {
        mase_value_set(&c->arena, c->config, "passes", mase_value_copy(&c->arena, passes));
        MASE_TRY(set_all(c, axes, count, k, err));
        out[k] = mase_graph_clone(base);
        MASE_TRY(mase_cli_need_weights(out[k], c, err));
        MASE_TRY(mase_cli_apply_formats(&out[k], c, w, err));
    }
    mase_value_set(&c->arena, c->config, "passes", passes);
    if (count == 1 && axes[0].plain)
        out[all] = mase_graph_clone(base);
    return set_all(c, axes, count, 0, err); /* restore the configuration for run.json */
}
