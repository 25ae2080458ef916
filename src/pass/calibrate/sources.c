/*
 * sources.c - the values of a node's operands: parameters of the graph, and results of other nodes,
 * of which a limited number of samples is kept.
 */
#include <math.h>
#include <string.h>

#include "ir/graph/graph_parts.h"
#include "pass/calibrate/calibrate_parts.h"
#include "pass/support.h"

/* Values of a tensor that are kept, as whole samples spread evenly over all. */
enum { MOST_VALUES = 1 << 18 };

/* ---- list operands ---- */

struct sources {
    struct mase_arena *arena;
    struct mase_cal_source *item;
    int count, cap;
};

static void add(struct sources *s, const struct mase_cal_source *source)
{
    s->item = mase_arena_grow(s->arena, s->item, s->count, &s->cap, sizeof *s->item);
    s->item[s->count++] = *source;
}

static void add_parameters(struct sources *s, const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    for (int i = 0; m && i < m->param_count; i++) {
        const struct mase_mark *mark = mase_mark_find(mase_param_mark(m, &m->params[i]));
        const struct mase_rounding how = mase_mark_rounding(n, mase_param_mark(m, &m->params[i]));
        if (how.format && m->params[i].tensor.dtype == MASE_F32)
            add(s, &(struct mase_cal_source){
                       .operand = mark->operand, .how = how, .parameter = &m->params[i].tensor });
    }
}

static void add_arguments(struct sources *s, const struct mase_node *n)
{
    struct mase_named_arg *args;
    const int count = mase_named_args(s->arena, n, &args);
    for (int i = 0; i < count; i++) {
        const struct mase_rounding how = mase_mark_rounding(n, args[i].role);
        if (!how.format || args[i].arg->kind != MASE_ARG_NODE)
            continue;
        const struct mase_node *from = args[i].arg->node;
        const struct mase_param *p =
            from->kind == MASE_GET_ATTR ? mase_graph_attr(n->graph, from->target) : NULL;
        if (p && p->tensor.dtype != MASE_F32)
            continue;
        add(s, &(struct mase_cal_source){ .operand = mase_mark_find(args[i].role)->operand,
                                          .how = how,
                                          .parameter = p ? &p->tensor : NULL,
                                          .node = p ? NULL : from });
    }
}

static void add_result(struct sources *s, const struct mase_node *n)
{
    const struct mase_rounding how = mase_result_rounding(n);
    if (how.format)
        add(s, &(struct mase_cal_source){ .operand = MASE_DATA_OUT, .how = how, .node = n });
}

int mase_cal_sources(struct mase_cal_source **out, struct mase_arena *a, const struct mase_node *n)
{
    struct sources s = { .arena = a };
    const struct mase_module *m = mase_node_module(n);
    add_parameters(&s, n);
    for (const struct mase_node *k = n->graph->first; k; k = k->next)
        if (k == n || (m && mase_node_module(k) == m)) {
            add_arguments(&s, k);
            add_result(&s, k);
        }
    *out = s.item;
    return s.count;
}

/* ---- keep values ---- */

static void see(struct mase_cal_source *s, const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        s->min = isfinite(x[i]) ? fmin(s->min, (double)x[i]) : NAN;
        s->max = fmax(s->max, (double)x[i]);
        if (isnan(s->min))
            return;
    }
}

static void keep_all(struct mase_cal_source *s, const float *x, const struct mase_shape *shape)
{
    const int64_t n = mase_shape_count(shape);
    s->values = (struct mase_cal_tensor){ mase_arena_memdup(s->arena, x, (size_t)n * sizeof *x),
                                          *shape, s->how.role, s->how.sign };
    if (!isnan(s->min))
        see(s, x, n);
}

/* Keep sample i if it is the next of those wanted. */
static void keep_some(struct mase_cal_source *s, const float *x, const struct mase_shape *shape)
{
    const int64_t n = shape->dim[0], size = n ? mase_shape_count(shape) / n : 0;
    if (!s->kept) {
        s->wanted = size ? MOST_VALUES / size : s->rows;
        s->wanted = s->wanted < 1 ? 1 : s->wanted < s->rows ? s->wanted : s->rows;
        s->kept = mase_new_array(s->arena, float, (size_t)(s->wanted * size));
        s->values = (struct mase_cal_tensor){ s->kept, *shape, s->how.role, s->how.sign };
        s->values.shape.dim[0] = 0;
    }
    for (int64_t i = 0; i < n; i++, s->seen++)
        if ((s->seen + 1) * s->wanted / s->rows > s->seen * s->wanted / s->rows)
            memcpy(s->kept + s->values.shape.dim[0]++ * size, x + i * size,
                   (size_t)size * sizeof *x);
    if (!isnan(s->min))
        see(s, x, n * size);
}

static void take(void *data, const float *x, const struct mase_shape *shape, bool samples)
{
    struct mase_cal_source *s = data;
    if (samples)
        keep_some(s, x, shape);
    else
        keep_all(s, x, shape);
}

enum mase_status mase_cal_read(struct mase_cal_source *s, int count, struct mase_graph *g,
                               int64_t rows, struct mase_arena *a, struct mase_pass_env *env,
                               struct mase_err *err)
{
    struct mase_tap *taps = mase_new_array(a, struct mase_tap, (size_t)count);
    int n = 0;
    for (int i = 0; i < count; i++) {
        s[i].arena = a;
        s[i].min = INFINITY;
        s[i].max = -INFINITY;
        s[i].rows = rows;
        if (s[i].parameter)
            keep_all(&s[i], mase_f32(s[i].parameter), &s[i].parameter->shape);
        else
            taps[n++] = (struct mase_tap){ s[i].node, take, &s[i] };
    }
    return n ? mase_collect(g, taps, n, rows, env, err) : MASE_OK;
}
