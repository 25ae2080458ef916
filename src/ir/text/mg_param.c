/*
 * mg_param.c - what a .mg file says of parameters: how they start, which are frozen or tied.
 */
#include "ir/graph/graph_parts.h"
#include "ir/text/mg.h"

static bool is_number(const struct mase_arg *v)
{
    return v->kind == MASE_ARG_INT || v->kind == MASE_ARG_FLOAT;
}

static double number(const struct mase_arg *v)
{
    return v->kind == MASE_ARG_INT ? (double)v->i : v->f;
}

/* [1.0, 2.0] */
static enum mase_status take_values(struct mase_mg_parser *p, struct mase_param *param)
{
    const int64_t count = mase_tensor_count(&param->tensor);
    struct mase_arg list;
    const struct mase_loc at = p->lx.t.at;

    MASE_TRY(mase_mg_value(p, &list));
    if (list.count != count)
        return mase_fail_at(p->err, MASE_EVALUE, at, "%d values for a tensor of %lld", list.count,
                            (long long)count);
    double *values = mase_new_array(&p->g->arena, double, (size_t)count);
    for (int i = 0; i < list.count; i++) {
        if (!is_number(&list.items[i]))
            return mase_fail_at(p->err, MASE_EPARSE, at, "value %d is no number", i);
        values[i] = number(&list.items[i]);
    }
    param->init = MASE_INIT_VALUES;
    param->values = values;
    param->zero_row = 0;
    return MASE_OK;
}

/* (BOUND) or (BOUND, CENTRE) */
static enum mase_status take_spread(struct mase_mg_parser *p, struct mase_param *param)
{
    struct mase_arg v = { .kind = MASE_ARG_TUPLE };
    if (!mase_mg_at(p, "("))
        return mase_mg_expected(p, "'('");
    const struct mase_loc at = p->lx.t.at;
    MASE_TRY(mase_mg_items(p, &v, NULL, ")"));
    if (v.count < 1 || v.count > 2 || !is_number(&v.items[0]) || !is_number(&v.items[v.count - 1]))
        return mase_fail_at(p->err, MASE_EPARSE, at, "expected a number, or two: (SPREAD, CENTRE)");
    param->scale = (float)number(&v.items[0]);
    param->centre = v.count == 2 ? (float)number(&v.items[1]) : 0;
    return MASE_OK;
}

enum mase_status mase_mg_start(struct mase_mg_parser *p, struct mase_param *param)
{
    if (mase_mg_at(p, "["))
        return take_values(p, param);
    for (int i = MASE_INIT_ZEROS; i <= MASE_INIT_UNSET; i++) {
        if (!mase_mg_at(p, mase_init_names[i]))
            continue;
        param->init = (enum mase_init)i;
        param->scale = param->centre = 0;
        param->zero_row = 0;
        MASE_TRY(mase_mg_next(&p->lx));
        return i == MASE_INIT_UNIFORM || i == MASE_INIT_NORMAL ? take_spread(p, param) : MASE_OK;
    }
    return mase_mg_expected(p, "zeros, ones, uniform(BOUND), normal(DEVIATION), unset or [values]");
}

/* {NAME..., NAME...}: take reads what follows each of these names of m's parameters. */
typedef enum mase_status take_fn(struct mase_mg_parser *p, const struct mase_module *m,
                                 struct mase_param *param, struct mase_loc at);

static enum mase_status each_named(struct mase_mg_parser *p, struct mase_module *m, take_fn *take)
{
    MASE_TRY(mase_mg_need(p, "{"));
    while (!mase_mg_at(p, "}")) {
        const char *name;
        const struct mase_loc at = p->lx.t.at;
        MASE_TRY(mase_mg_label(p, &name, "the name of a parameter"));
        struct mase_param *param = mase_module_param(m, name);
        if (!param)
            return mase_fail_at(p->err, MASE_EVALUE, at, "module %s has no parameter '%s'", m->path,
                                name);
        MASE_TRY(take(p, m, param, at));
        if (!mase_mg_at(p, "}"))
            MASE_TRY(mase_mg_need(p, ","));
    }
    return mase_mg_next(&p->lx);
}

static enum mase_status take_start(struct mase_mg_parser *p, const struct mase_module *m,
                                   struct mase_param *param, struct mase_loc at)
{
    (void)m;
    (void)at;
    MASE_TRY(mase_mg_need(p, ":"));
    return mase_mg_start(p, param);
}

enum mase_status mase_mg_starts(struct mase_mg_parser *p, struct mase_module *m)
{
    return each_named(p, m, take_start);
}

static enum mase_status take_frozen(struct mase_mg_parser *p, const struct mase_module *m,
                                    struct mase_param *param, struct mase_loc at)
{
    if (mase_param_is_buffer(param))
        return mase_fail_at(p->err, MASE_EVALUE, at, "module %s has no parameter '%s'", m->path,
                            param->name);
    param->kind = MASE_PARAM_FROZEN;
    return MASE_OK;
}

enum mase_status mase_mg_frozen(struct mase_mg_parser *p, struct mase_module *m)
{
    return each_named(p, m, take_frozen);
}

/* ---- ties ---- */

struct mase_mg_tied {
    const char *path, *to;
    struct mase_loc at;
};

enum mase_status mase_mg_tie(struct mase_mg_parser *p, const char *path)
{
    struct mase_mg_tied tie = { .path = path, .at = p->lx.t.at };
    MASE_TRY(mase_mg_label(p, &tie.to, "the name of the parameter that it is"));
    p->ties = mase_arena_grow(&p->scratch, p->ties, p->tie_count, &p->tie_cap, sizeof *p->ties);
    p->ties[p->tie_count++] = tie;
    return MASE_OK;
}

static enum mase_status take_tie(struct mase_mg_parser *p, const struct mase_module *m,
                                 struct mase_param *param, struct mase_loc at)
{
    (void)at;
    MASE_TRY(mase_mg_need(p, ":"));
    return mase_mg_tie(p, mase_arena_printf(&p->scratch, "%s.%s", m->path, param->name));
}

enum mase_status mase_mg_ties(struct mase_mg_parser *p, struct mase_module *m)
{
    return each_named(p, m, take_tie);
}

enum mase_status mase_mg_tie_all(struct mase_mg_parser *p)
{
    for (int i = 0; i < p->tie_count; i++)
        if (mase_graph_add_tie(p->g, p->ties[i].path, p->ties[i].to, p->err))
            return mase_place(p->err, p->ties[i].at);
    if (p->tie_count)
        mase_graph_settle_ties(p->g);
    p->tie_count = 0;
    return MASE_OK;
}
