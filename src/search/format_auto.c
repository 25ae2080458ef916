/*
 * format_auto.c - "auto" in a search: parameters that calibration finds, for every choice of the
 * operand that has them.
 *
 * A calibration finds one choice of every operand of a node, so it takes as many of them as the
 * operand with most choices has. Other nodes are in float meanwhile.
 */
#include <mase/format.h>
#include <mase/log.h>
#include <mase/progress.h>

#include "search/format_space.h"

/* Formats to be found for one operand of one site. */
enum { MOST_FOUND = 1 << 16 };

struct calibration {
    struct mase_arena *a;
    struct mase_graph *g;
    const struct mase_calibrate_opts *opts;
    const struct mase_samples *samples;
    struct mase_inputs inputs;
    int networks;
};

static bool has_auto(const struct mase_format_site *s, enum mase_operand o)
{
    for (int i = 0; i < s->config->count; i++)
        for (int k = 0;
             mase_format_decides(s->config->keys[i], o) && k < s->config->items[i]->count; k++)
            if (mase_value_is_auto(s->config->items[i]->items[k]))
                return true;
    return false;
}

/* The digits of the keys that decide an operand, for its choice number `index`. */
static void set_digits(int *digit, const struct mase_format_site *s, enum mase_operand o,
                       int64_t index)
{
    for (int i = s->config->count - 1; i >= 0; i--)
        if (mase_format_decides(s->config->keys[i], o)) {
            digit[i] = (int)(index % s->config->items[i]->count);
            index /= s->config->items[i]->count;
        }
}

static enum mase_status calibrate(struct mase_decision *d, const struct calibration *c,
                                  struct mase_err *err)
{
    struct mase_arena scratch = { 0 };
    struct mase_pass_env env = { .scratch = &scratch,
                                 .samples = c->samples,
                                 .inputs = c->inputs.item,
                                 .input_count = c->inputs.count };
    struct mase_decision *list =
        mase_new_array(&scratch, struct mase_decision, (size_t)c->g->node_count);
    int i = 0, at = 0;
    for (struct mase_node *n = c->g->first; n; n = n->next, i++) {
        list[i] = (struct mase_decision){ .node = n, .reason = MASE_NOT_NAMED };
        at = n == d->node ? i : at;
    }
    list[at] = *d;
    const enum mase_status st = mase_calibrate(list, i, c->g, c->opts, &env, err);
    if (!st)
        d->quant = list[at].quant;
    mase_arena_release(&scratch);
    return st;
}

/* Choice number `index` of an operand, and with it whatever else the configuration has. */
static enum mase_status find(struct mase_format_site *s, enum mase_operand o, int64_t index,
                             const struct calibration *c, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_decision d;
    int *digit = mase_new_array(&a, int, (size_t)s->config->count);
    for (int other = 0; other < MASE_OPERAND_COUNT; other++) /* theirs, while it is free */
        if (s->found[other])
            set_digits(digit, s, (enum mase_operand)other,
                       index % mase_format_site_indices(s, (enum mase_operand)other));
    set_digits(digit, s, o, index);
    enum mase_status st = mase_format_site_bind(&d, &a, mase_format_site_combine(&a, s, digit),
                                                mase_graph_find(c->g, s->node), err);
    if (!st && d.pending)
        st = calibrate(&d, c, err);
    for (int k = 0; !st && d.reason != MASE_SAYS_NA && k < MASE_OPERAND_COUNT; k++) {
        const struct mase_format **found = s->found[k];
        if (found)
            found += mase_format_site_index(s, (enum mase_operand)k, digit);
        if (found && !*found)
            *found = d.quant.operand[k];
    }
    mase_arena_release(&a);
    return st;
}

static enum mase_status begin(struct mase_format_site *s, const struct calibration *c,
                              struct mase_err *err)
{
    for (int o = 0; o < MASE_OPERAND_COUNT; o++) {
        const int64_t count = mase_format_site_indices(s, (enum mase_operand)o);
        if (!has_auto(s, (enum mase_operand)o))
            continue;
        if (c->networks > 1)
            return mase_fail_at(err, MASE_EUNSUPPORTED, s->config->at,
                                "%s: \"auto\" is not available where the arguments of the network "
                                "vary",
                                s->node);
        if (count > MOST_FOUND)
            return mase_fail_at(err, MASE_ELIMIT, s->config->at,
                                "%s: %s has %lld choices to be found by calibration; at most %d",
                                s->node, mase_operand_names[o], (long long)count, MOST_FOUND);
        s->found[o] = mase_new_array(c->a, const struct mase_format *, (size_t)count);
    }
    return MASE_OK;
}

static enum mase_status find_all(struct mase_format_site *s, const struct calibration *c,
                                 struct mase_err *err)
{
    enum mase_status st = begin(s, c, err);
    for (int o = 0; o < MASE_OPERAND_COUNT && !st; o++)
        for (int64_t i = 0;
             s->found[o] && i < mase_format_site_indices(s, (enum mase_operand)o) && !st; i++)
            if (!s->found[o][i])
                st = find(s, (enum mase_operand)o, i, c, err);
    return st;
}

enum mase_status mase_format_space_calibrate(struct mase_format_space *f, struct mase_arena *a,
                                             const struct mase_variants *networks,
                                             const struct mase_calibrate_opts *o,
                                             const struct mase_samples *samples,
                                             const struct mase_shape *sample, struct mase_err *err)
{
    struct mase_graph *g = networks->graph[0];
    const struct calibration c = {
        a, g, o, samples, mase_graph_inputs(a, g, sample, 1), networks->count
    };
    const enum mase_log_level level = mase_log_get_level();
    enum mase_status st = MASE_OK;
    mase_log_set_level(MASE_WARNING); /* a line for each would be hundreds */
    for (int i = 0; i < f->sites && !st; i++)
        st = find_all(&f->site[i], &c, err);
    mase_log_set_level(level);
    return st;
}
