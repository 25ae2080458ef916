/*
 * remove_dropout.c - remove dropout, which does nothing in evaluation: its users read its operand.
 * Dropout that is active in evaluation (training=True, a layer pinned to training) stays, with a
 * warning.
 */
#include <mase/log.h>
#include <mase/pass.h>
#include <mase/program.h>

#include "ir/graph/bind_call.h"
#include "ir/shape/infer.h"

static bool is_dropout(const struct mase_node *n)
{
    return mase_op_prim(n->op) == MASE_PRIM_dropout;
}

/* Is it active in evaluation? A function has an argument for that, a layer its mode. */
static bool stays_on(const struct mase_node *n)
{
    if (mase_node_module(n))
        return n->mode == MASE_MODE_TRAIN;
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    const int at = mase_sig_find(sig, "training");
    const struct mase_arg *arg = at < n->args.count ? &n->args.items[at] : NULL;
    for (int i = 0; i < n->kwargs.count; i++)
        if (mase_streq(n->kwargs.keys[i], "training"))
            arg = &n->kwargs.items[i];
    if (!arg) /* active by default */
        return true;
    const bool follows = arg->kind == MASE_ARG_ATOM && mase_streq(arg->s, MASE_FOLLOWS_MODE);
    return !follows && mase_arg_truthy(arg);
}

static int remove_all(struct mase_graph *g)
{
    int removed = 0;
    for (struct mase_node *n = g->first, *next; n; n = next) {
        next = n->next;
        if (!is_dropout(n) || !n->input_count)
            continue;
        if (stays_on(n)) {
            mase_warn("remove_dropout: %s is on in evaluation, too, and stays", n->name);
            continue;
        }
        mase_graph_replace_uses(g, n, n->inputs[0], NULL);
        mase_graph_erase(g, n);
        removed++;
    }
    mase_graph_sweep(g);
    return removed;
}

static enum mase_status run(struct mase_graph **g, const void *opts, struct mase_pass_env *env,
                            struct mase_err *err)
{
    (void)opts, (void)err;
    const int removed = remove_all(*g);
    mase_pass_say(env, "Removed %d dropout%s\n", removed, removed == 1 ? "" : "s");
    env->changed = removed;
    return MASE_OK;
}

const struct mase_pass mase_pass_remove_dropout = {
    .name = "remove_dropout",
    .help = "take out dropout, which does nothing in evaluation",
    .transform = run,
    .same_outputs = true,
};
