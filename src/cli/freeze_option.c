/*
 * freeze_option.c - --freeze: parameters that a run does not train, by name, module or pattern.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/log.h>

#include "cli/project.h"

struct names {
    struct mase_arena *arena;
    const char **name;
    int count, cap;
};

/* List a parameter and its module: a pattern may match either. */
static bool list_param(const char *full, struct mase_param *p, void *data)
{
    struct names *n = data;
    const char *dot = strrchr(full, '.');
    if (mase_param_is_buffer(p))
        return true;
    for (int i = 0; i < 2; i++) {
        const size_t len = i && dot ? (size_t)(dot - full) : strlen(full);
        n->name = mase_arena_grow(n->arena, n->name, n->count, &n->cap, sizeof *n->name);
        n->name[n->count++] = mase_arena_strndup(n->arena, full, len);
    }
    return true;
}

static enum mase_status fail_unknown(const struct mase_graph *g, const struct mase_value *pattern,
                                     struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct names n = { .arena = &a };
    mase_graph_each_param(g, list_param, &n);
    const enum mase_status st = mase_fail_unknown(
        err, pattern->at,
        &(struct mase_unknown){ pattern->s, n.name, n.count, .before = "; did you mean '",
                                .otherwise = "; ch show lists them" },
        "--freeze '%s': no parameter is called so, is in a module of that name or fits it as a "
        "pattern",
        pattern->s);
    mase_arena_release(&a);
    return st;
}

static bool count_norm(const char *full, struct mase_param *p, void *data)
{
    (void)p;
    *(int *)data += mase_ends_with(full, "running_mean");
    return true;
}

enum mase_status mase_cli_freeze(struct mase_graph *g, struct mase_cli *c, struct mase_err *err)
{
    const struct mase_value *list = mase_cli_value(c, MASE_CLI_freeze);
    int count = 0, norms = 0;
    if (list->kind != MASE_LIST || !list->count)
        return MASE_OK;
    for (int i = 0; i < list->count; i++) {
        const int n = mase_graph_freeze(g, list->items[i]->s);
        if (!n)
            return fail_unknown(g, list->items[i], err);
        count += n;
    }
    mase_graph_each_param(g, count_norm, &norms);
    mase_info("--freeze: %d parameters are not trained, %" PRId64 " values of %" PRId64 "%s", count,
              mase_graph_frozen_count(g), mase_graph_param_count(g),
              norms ? "; statistics of batch norms go on as --freeze-bn-stats-after says" : "");
    return MASE_OK;
}
