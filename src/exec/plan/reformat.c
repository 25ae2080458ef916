/*
 * reformat.c - change a number format in an existing plan: only the rounding changes.
 *
 * Such a plan rounds every operand that may have a format; an operand in float is copied, which
 * changes no bit. So its steps do not depend on the formats, and its results equal those of a new
 * plan. Roundings are kept for each format, so a search that returns to a format allocates nothing.
 */
#include <string.h>

#include "exec/plan/plan_parts.h"
#include "exec/reference/ref.h"
#include "exec/step/plan_formats.h"

struct mase_site_round {
    struct mase_round round;
    struct mase_site_round *next;
};

/* Calls of one module have their formats in common. */
static const void *key_of(const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    return m ? (const void *)m : n;
}

/* The plan that was asked for, not the derived one. */
static struct mase_plan *whole(struct mase_plan *p)
{
    return p->derived_of ? p->derived_of : p;
}

/* ---- remembering ---- */

static struct mase_round *round_of(const struct mase_site *s)
{
    return s->step ? s->step->own : s->rounded ? &s->rounded->how : NULL;
}

static void keep(struct mase_site *s, const struct mase_round *r)
{
    struct mase_site_round *made = mase_new(&s->plan->arena, struct mase_site_round);
    *made = (struct mase_site_round){ *r, s->made };
    s->made = made;
}

void mase_site_add(const struct mase_site *site)
{
    struct mase_plan *p = whole(site->plan);
    if (!p->formats_change || mase_op_is_recurrent(site->request.node->op))
        return; /* it rounds within its step, which is made for the formats it has */
    const void *key = key_of(site->request.node);
    struct mase_site *s = mase_arena_memdup(&p->arena, site, sizeof *site);
    s->next = mase_ptrmap_get(&p->site_of, key);
    mase_ptrmap_put(&p->site_of, &p->arena, key, s);
    if (round_of(s))
        keep(s, round_of(s));
}

void mase_site_constant(const struct mase_site *s)
{
    const struct mase_rounding how = s->request.how;
    if (how.format)
        mase_quantize(how.format, s->to, s->from, &s->shape, how.role, how.sign);
    else
        memcpy(s->to, s->from, (size_t)mase_shape_count(&s->shape) * sizeof *s->to);
}

/* ---- changing ---- */

static const struct mase_round *find_round(struct mase_site *s)
{
    const struct mase_site_round *made = s->made;
    while (made && made->round.how.format != s->request.how.format)
        made = made->next;
    if (made)
        return &made->round;
    struct mase_arena *a = &s->plan->arena;
    const struct mase_round r = s->step
                                    ? mase_round_rows(a, s->request.how, &s->shape, s->plan->stride)
                                    : mase_round_dense(a, s->request.how, &s->shape);
    keep(s, &r);
    return &s->made->round;
}

static void follow(struct mase_site *s)
{
    if (!round_of(s)) {
        mase_site_constant(s);
        return;
    }
    *round_of(s) = *find_round(s);
    if (s->step)
        s->step->forward.item[0].items = (long)round_of(s)->count;
    else
        mase_quantise_weight(s->plan, s->rounded);
}

static struct mase_rounding rounding_now(const struct mase_rounding_request *a)
{
    return a->operand == MASE_RESULT ? mase_result_rounding(a->node)
                                     : mase_operand_rounding(a->node, a->operand);
}

/* A call in float that writes into its operand is seen by others, one with formats is not. */
static enum mase_status check(const struct mase_site *s, struct mase_err *err)
{
    for (; s; s = s->next) {
        const struct mase_quant *q = mase_node_quant(s->request.node);
        if (s->request.writes && s->request.kept != (q && !q->bypass))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s writes into its operand in float and not with formats: a plan "
                             "made for one cannot follow to the other",
                             s->request.node->name);
        const struct mase_format *now = rounding_now(&s->request).format;
        if (mase_format_learned(now) || mase_format_is_open(now))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s: %s depends on numbers beside the format: a plan is made for them",
                             s->request.node->name, now->row->name);
        if (!mase_rounding_request_fits(&s->request, now))
            return mase_fail(err, MASE_EUNSUPPORTED,
                             "%s: a format with blocks needs the samples in the first dimension",
                             s->request.node->name);
    }
    return MASE_OK;
}

enum mase_status mase_plan_follow_formats(struct mase_plan *p, const struct mase_node *n,
                                          struct mase_err *err)
{
    struct mase_site *s = mase_ptrmap_get(&p->site_of, key_of(n));
    bool derived = false;
    if (!p->formats_change)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "%s: the plan was made for the formats it has, not for others", n->name);
    if (!s)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         mase_op_is_recurrent(n->op)
                             ? "%s: a plan is made for the formats of its %s"
                             : "%s: %s has no formats, or was computed when the plan was made",
                         n->name, mase_ops[n->op].name);
    MASE_TRY(check(s, err));
    for (; s; s = s->next) {
        const struct mase_rounding now = rounding_now(&s->request);
        if (now.format == s->request.how.format)
            continue;
        s->request.how = now;
        follow(s);
        derived |= s->plan != p;
    }
    if (derived)
        mase_derive_forward(p, p->threads);
    mase_plan_refresh(p);
    return derived ? mase_plan_check(p->derived, err) : MASE_OK;
}
