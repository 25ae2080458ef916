/*
 * named_args.c - the arguments of a call, matched with the parameters of its signature.
 *
 * Defaults are not filled in, since reports show the call as written.
 */
#include "pass/support.h"

static bool is_sequence(const struct mase_arg *arg)
{
    return arg->kind == MASE_ARG_LIST || arg->kind == MASE_ARG_TUPLE;
}

static int capacity(const struct mase_node *n)
{
    int count = n->args.count + n->kwargs.count;
    for (int i = 0; i < n->args.count; i++)
        count += is_sequence(&n->args.items[i]) ? n->args.items[i].count : 0;
    for (int i = 0; i < n->kwargs.count; i++)
        count += is_sequence(&n->kwargs.items[i]) ? n->kwargs.items[i].count : 0;
    return count;
}

struct matching {
    struct mase_arena *arena;
    struct mase_named_arg *items;
    int count;
};

static void give(struct matching *m, const char *name, char role, const struct mase_arg *arg)
{
    bool spread = mase_mark_is_data(role) && is_sequence(arg);
    if (!spread) {
        m->items[m->count++] = (struct mase_named_arg){ name, role, arg };
        return;
    }
    for (int i = 0; i < arg->count; i++) {
        const char *item = mase_arena_printf(m->arena, "%s_%d", name, i);
        m->items[m->count++] = (struct mase_named_arg){ item, role, &arg->items[i] };
    }
}

/* Match the i-th positional argument; *shape takes it and all that follow, as shape_0, shape_1. */
static void give_positional(struct matching *m, const struct mase_sig *sig, int i,
                            const struct mase_arg *arg)
{
    for (int k = 0; k < sig->count && k <= i; k++) {
        const struct mase_sig_param *p = &sig->param[k];
        if (p->variadic) {
            give(m, mase_arena_printf(m->arena, "%s_%d", p->name, i - k), 0, arg);
            return;
        }
        if (k == i) {
            give(m, p->name, p->role, arg);
            return;
        }
    }
    mase_bug("argument %d is more than the signature takes", i);
}

static char role_of(const struct mase_sig *sig, const char *name)
{
    for (int i = 0; i < sig->count; i++)
        if (mase_streq(sig->param[i].name, name))
            return sig->param[i].role;
    return 0;
}

int mase_named_args(struct mase_arena *a, const struct mase_node *n, struct mase_named_arg **out)
{
    const struct mase_sig *sig = mase_op_call_sig(n->op);
    struct matching m = { a, mase_new_array(a, struct mase_named_arg, (size_t)capacity(n)), 0 };
    int self = n->kind == MASE_CALL_METHOD;
    for (int i = self; i < n->args.count; i++)
        give_positional(&m, sig, i, &n->args.items[i]);
    for (int i = 0; i < n->kwargs.count; i++) {
        const char *name = n->kwargs.keys[i];
        give(&m, name, role_of(sig, name), &n->kwargs.items[i]);
    }
    *out = m.items;
    return m.count;
}
