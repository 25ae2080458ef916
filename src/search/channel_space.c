/*
 * channel_space.c - networks whose layers have other numbers of channels.
 */
#include "search/channel_space.h"

#include "base/number.h"
#include "pass/widths/widths.h"

static enum mase_status check_layer(const struct mase_widths *w, const struct mase_value *channels,
                                    int at, struct mase_arena *a, struct mase_err *err)
{
    const char *key = channels->keys[at];
    const char **names = mase_new_array(a, const char *, (size_t)mase_widths_count(w));
    int n = 0;
    for (int i = 0; i < mase_widths_count(w); i++) {
        const struct mase_width *width = mase_widths_at(w, i);
        const bool named = mase_streq(width->node, key);
        if (named && !width->fixed)
            return MASE_OK;
        if (named)
            return mase_fail_at(err, MASE_EVALUE, channels->key_at[at], "the width of %s stays: %s",
                                key, width->fixed);
        if (!width->fixed)
            names[n++] = width->node;
    }
    return mase_fail_unknown(err, channels->key_at[at],
                             &(struct mase_unknown){ .word = key,
                                                     .names = names,
                                                     .count = n,
                                                     .tail = n ? "layers whose width can change: "
                                                               : "no layer's width can change",
                                                     .lists = true },
                             "there is no layer '%s'", key);
}

static int group_of(const struct mase_widths *w, const char *node)
{
    int i = 0;
    while (!mase_streq(mase_widths_at(w, i)->node, node))
        i++;
    return mase_widths_at(w, i)->group;
}

/* Layers whose values are added have one width, which one of them decides. */
static enum mase_status check_groups(const struct mase_widths *w, const struct mase_value *channels,
                                     struct mase_err *err)
{
    for (int i = 0; i < channels->count; i++)
        for (int k = 0; k < i; k++)
            if (group_of(w, channels->keys[i]) == group_of(w, channels->keys[k]))
                return mase_fail_at(err, MASE_EVALUE, channels->key_at[i],
                                    "%s and %s have one width: name one of them", channels->keys[k],
                                    channels->keys[i]);
    return MASE_OK;
}

static enum mase_status check_multipliers(const struct mase_space *space,
                                          const struct mase_option_space *o,
                                          const struct mase_value *channels, struct mase_err *err)
{
    for (int i = 0; i < o->count; i++) {
        const struct mase_dimension *d = &space->dimension[o->first + i];
        const bool choice = d->kind == MASE_DIMENSION_CHOICE;
        for (int k = 0; choice && k < d->choices->count; k++)
            if (!(mase_value_number(d->choices->items[k]) > 0))
                return mase_fail_at(err, MASE_EVALUE, d->choices->items[k]->at,
                                    "%s: a width is multiplied by a number above 0", d->name);
        if (!choice && d->low <= 0)
            return mase_fail_at(err, MASE_EVALUE, channels->items[i]->at,
                                "%s: a width is multiplied by a number above 0", d->name);
    }
    return MASE_OK;
}

enum mase_status mase_channel_space_open(struct mase_channel_space *c, struct mase_space *space,
                                         struct mase_arena *a, struct mase_graph *g,
                                         const struct mase_shape *sample,
                                         const struct mase_value *channels, struct mase_err *err)
{
    *c = (struct mase_channel_space){ 0 };
    MASE_TRY(mase_option_space_read(&c->layers, space, a, "channels", channels, err));
    if (!channels)
        return MASE_OK;
    const struct mase_inputs in = mase_graph_inputs(a, g, sample, 1);
    MASE_TRY(mase_widths_find(&c->widths, g, in.item, in.count, err));
    for (int i = 0; i < channels->count; i++)
        MASE_TRY(check_layer(c->widths, channels, i, a, err));
    MASE_TRY(check_groups(c->widths, channels, err));
    return check_multipliers(space, &c->layers, channels, err);
}

void mase_channel_space_close(struct mase_channel_space *c)
{
    mase_widths_free(c->widths);
    *c = (struct mase_channel_space){ 0 };
}

enum mase_status mase_channel_space_apply(const struct mase_channel_space *c, struct mase_graph *g,
                                          const struct mase_space *space, const double *x,
                                          uint64_t seed, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const int n = c->layers.count;
    struct mase_redefinition *list = mase_new_array(&a, struct mase_redefinition, (size_t)n);
    struct mase_value *multipliers = mase_value_table(&a);
    mase_option_space_set(multipliers, &a, &c->layers, space, x);
    for (int i = 0; i < n; i++)
        list[i] = (struct mase_redefinition){ .node = multipliers->keys[i],
                                              .how = MASE_REDEFINE_WIDTH,
                                              .out = mase_value_number(multipliers->items[i]),
                                              .at = MASE_NOWHERE };
    const enum mase_status st =
        n ? mase_widths_redefine(g, c->widths, list, n, seed, err) : MASE_OK;
    mase_arena_release(&a);
    return st;
}
