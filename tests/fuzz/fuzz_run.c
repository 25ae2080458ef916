/*
 * fuzz_run.c - any bytes as a network that is run: what begins as a .mg is read as one, other bytes
 * are decisions of the random networks of the unit tests. It runs by a plan in both modes, backward
 * too, and by the reference; where all is smooth and well conditioned they must agree, gradients of
 * random networks with differences, too. Whatever trains has a gradient that is a program: it
 * holds, reads back, and agrees with the plan's in the same places.
 *
 * Sizes are bounded, so that no input takes long: what is larger was refused elsewhere, or is as
 * good as what is smaller.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../compare_grad.h"
#include "../compare_plan.h"
#include "../random_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NODES = 60, ELEMENTS = 20000, SAMPLES = 3 };

/* ---- bounds ---- */

static bool count_elements(const char *full, struct mase_param *p, void *data)
{
    int64_t *sum = data;
    (void)full;
    *sum += mase_tensor_count(&p->tensor);
    return *sum <= ELEMENTS;
}

static int64_t elements_of(const struct mase_arg *a)
{
    int64_t sum = a->kind == MASE_ARG_TENSOR ? mase_tensor_count(a->tensor) : 0;
    for (int i = 0; (a->kind == MASE_ARG_TUPLE || a->kind == MASE_ARG_LIST) && i < a->count; i++)
        sum += elements_of(&a->items[i]);
    return sum;
}

/* Has it shapes, and small ones? */
static bool is_small(const struct cp_case *c)
{
    struct mase_arena a = { 0 };
    struct mase_values v;
    struct mase_err err;
    bool small = !mase_infer_shapes(&v, &a, c->g, c->in, c->inputs, &err);
    int64_t sum = 0;
    for (int i = 0; small && i < v.count; i++) {
        sum += elements_of(&v.value[i]);
        small = sum <= ELEMENTS;
    }
    mase_arena_release(&a);
    return small;
}

/* ---- conditions ---- */

static bool jumps(const struct mase_graph *g)
{
    static const enum mase_op ops[] = {
        MASE_OP_eq,      MASE_OP_ne,        MASE_OP_gt,       MASE_OP_ge,    MASE_OP_lt,
        MASE_OP_le,      MASE_OP_round,     MASE_OP_floor,    MASE_OP_to,    MASE_OP_cast,
        MASE_OP_int,     MASE_OP_long,      MASE_OP_floordiv, MASE_OP_bool,  MASE_OP_not,
        MASE_OP_invert,  MASE_OP_div,       MASE_OP_max,      MASE_OP_min,   MASE_OP_tan,
        MASE_OP_type_as, MASE_OP_remainder, MASE_OP_fmod,     MASE_OP_atan2,
    };
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_quant *q = mase_node_quant(n);
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
            if (n->op == ops[i])
                return true;
        if (q && !q->bypass)
            return true;
    }
    return false;
}

static bool nudge(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    (void)data;
    for (int64_t i = 0; p->tensor.dtype == MASE_F32 && i < mase_tensor_count(&p->tensor); i++)
        mase_f32(&p->tensor)[i] *= 1.0f + (i % 2 ? 0x1p-18f : -0x1p-18f);
    return true;
}

/* Does a change in the last places of weights and inputs stay one in the output? */
static bool is_steady(struct cp_case *c)
{
    struct mase_arena a = { 0 };
    struct mase_err err;
    bool tame, steady = false;
    const struct mase_tensor *y = cp_reference(c, &a, &tame, &err), *z;
    if (y && tame) {
        mase_graph_each_param(c->g, nudge, NULL);
        for (int i = 0; i < c->inputs; i++)
            for (int64_t k = 0; k < mase_tensor_count(&c->in[i].tensor); k++)
                mase_f32(&c->in[i].tensor)[k] *= 1.0f + (k % 3 ? 0x1p-18f : -0x1p-18f);
        z = cp_reference(c, &a, &tame, &err);
        steady = z && tame;
        for (int64_t i = 0; steady && i < mase_tensor_count(y); i++)
            steady = fabs(mase_tensor_get(y, i) - mase_tensor_get(z, i)) <= 1e-4;
    }
    mase_arena_release(&a);
    return steady;
}

/* ---- running ---- */

/* slopes: compare the gradients with differences; close: and with those of the program. */
static enum cp_verdict run_backward(struct cp_case *c, bool slopes, bool close,
                                    struct mase_str *why)
{
    struct mase_plan *p;
    struct mase_err err;
    struct cp_slopes s = { .why = why };
    enum cp_verdict v = CP_UNTAMED;
    if (cp_plan(c, &p, SAMPLES + 14, true, 1, &err))
        return CP_REFUSED;
    if (slopes)
        v = cp_gradients(c, p, &s);
    else
        v = cp_backward(c, p) ? CP_UNTAMED : CP_REFUSED;
    if (v == CP_SAME || v == CP_UNTAMED)
        v = cg_compare(c, p, close, why);
    mase_plan_free(p);
    return v;
}

/* Batch norms go by the batch's statistics then, and dropout drops: the reference only evaluates.
 */
static bool trains_otherwise(const struct mase_graph *g)
{
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (!strncmp(mase_ops[n->op].name, "batch_norm", 10) || n->op == MASE_OP_dropout ||
            n->op == MASE_OP_dropout2d || n->op == MASE_OP_scaled_dot_product_attention)
            return true;
    return false;
}

/* whole: every gradient passes, none is stopped or frozen. */
static void run(struct cp_case *c, bool whole)
{
    static const char *const modes[] = { "evaluation", "training", "backward" };
    struct mase_str why = { 0 };
    const bool compare = !jumps(c->g) && is_steady(c), other = trains_otherwise(c->g);
    bool same = true;
    for (int mode = 0; mode < 3; mode++) {
        const enum cp_verdict v =
            mode < 2 ? cp_forward(c, SAMPLES + 14 * mode, mode == 1, 1, &why)
                     : run_backward(c, whole && same && compare && !other, same && compare, &why);
        same &= v == CP_SAME;
        if (v == CP_WRONG && (mode == 2 || (compare && !(mode && other)))) {
            fprintf(stderr, "%s: %s\n", modes[mode], mase_str_text(&why));
            abort();
        }
    }
    mase_str_release(&why);
}

/* Samples of this shape for every placeholder. */
static bool set_inputs(struct cp_case *c, struct mase_arena *a, const struct mase_shape *sample)
{
    for (const struct mase_node *n = c->g->first; n; n = n->next) {
        if (n->kind != MASE_PLACEHOLDER)
            continue;
        if (c->inputs == 4)
            return false;
        struct mase_input *in = &c->in[c->inputs++];
        *in = (struct mase_input){ .name = n->name,
                                   .tensor = mase_tensor(a, MASE_F32, sample, true) };
        for (int64_t i = 0; i < mase_tensor_count(&in->tensor); i++)
            mase_f32(&in->tensor)[i] = (float)((i * 7 + c->inputs) % 31 - 15) / 8;
    }
    return c->inputs > 0;
}

static void run_text(const uint8_t *data, size_t size)
{
    static const struct mase_shape shapes[] = {
        { 2, { SAMPLES, 4 } },       { 2, { SAMPLES, 16 } },      { 3, { SAMPLES, 3, 4 } },
        { 3, { SAMPLES, 2, 4 } },    { 4, { SAMPLES, 2, 4, 4 } }, { 4, { SAMPLES, 3, 4, 5 } },
        { 4, { SAMPLES, 1, 8, 8 } }, { 1, { SAMPLES } },
    };
    struct mase_graph *g;
    struct mase_err err;
    int64_t elements = 0;
    if (mase_graph_parse_mg(&g, (const char *)data, size, NULL, &err))
        return;
    mase_graph_each_param(g, count_elements, &elements);
    if (g->node_count <= NODES && elements <= ELEMENTS) {
        mase_graph_init_weights(g, 1);
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            struct mase_arena a = { 0 };
            struct cp_case c = { .g = g, .samples = SAMPLES };
            if (set_inputs(&c, &a, &shapes[i]) && is_small(&c))
                run(&c, false);
            mase_arena_release(&a);
        }
    }
    mase_graph_free(g);
}

struct bytes {
    const uint8_t *data;
    size_t left;
};

/* Behind the last byte all decisions are the first. */
static uint32_t next_byte(void *data)
{
    struct bytes *b = data;
    if (!b->left)
        return 0;
    b->left--;
    return *b->data++;
}

static void run_decisions(const uint8_t *data, size_t size)
{
    struct bytes b = { data, size };
    struct rg r = { .next = next_byte, .data = &b };
    struct mase_arena a = { 0 };
    rg_make(&r, 12);
    struct cp_case c = { .g = r.g, .samples = SAMPLES, .inputs = r.inputs };
    for (int i = 0; i < r.inputs; i++) {
        struct mase_shape s = r.input[i].tensor.shape;
        s.dim[0] = SAMPLES;
        c.in[i] = r.input[i];
        c.in[i].tensor = mase_tensor(&a, MASE_F32, &s, true);
        for (int64_t k = 0; k < mase_tensor_count(&c.in[i].tensor); k++)
            mase_f32(&c.in[i].tensor)[k] =
                (float)(2 * rg_pick(&r, 32) - 31) / 16 + (float)(k % 64) * 0x1p-12f;
    }
    run(&c, true);
    rg_release(&r);
    mase_arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char magic[] = "mase-graph";
    if (size > sizeof magic && !memcmp(data, magic, sizeof magic - 1))
        run_text(data, size);
    else
        run_decisions(data, size);
    return 0;
}
