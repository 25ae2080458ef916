/*
 * verify_common_metadata.c - check that common metadata is consistent, and agrees with the graph.
 *
 * Every check of the table looks at every node; every failure is logged with node, check and
 * reason, and the pass then fails. A layer may read integers and give floats: its operands are
 * quantised, its result is not unless data_out says so. What must hold is that the recorded formats
 * are those the node computes with.
 */
#include <mase/log.h>

#include "pass/support.h"

struct verifier {
    struct mase_arena *scratch;
    const char *check;
    int failures;
    struct mase_map names; /* verilog name -> node */
    struct mase_str first; /* the first failure, for the error */
};

static void complain(struct verifier *v, const struct mase_node *n, const char *fmt, ...)
    MASE_PRINTF(3, 4);

static void complain(struct verifier *v, const struct mase_node *n, const char *fmt, ...)
{
    struct mase_str why = { 0 };
    va_list ap;
    va_start(ap, fmt);
    mase_str_vprintf(&why, fmt, ap);
    va_end(ap);
    mase_log(MASE_ERROR, "%s: %s: %s", n->name, v->check, mase_str_text(&why));
    if (!v->failures++)
        mase_str_printf(&v->first, "%s: %s: %s", n->name, v->check, mase_str_text(&why));
    mase_str_release(&why);
}

static const char *text_of(struct verifier *v, const struct mase_shape *s)
{
    struct mase_str out = { 0 };
    mase_shape_print(&out, s);
    const char *text = mase_arena_strdup(v->scratch, mase_str_text(&out));
    mase_str_release(&out);
    return text;
}

static bool is_tensor(const struct mase_meta_arg *arg)
{
    return arg && (arg->kind == MASE_META_TENSOR || arg->kind == MASE_META_PARAM);
}

static const struct mase_meta_arg *tensor_arg(const struct mase_node *n, const char *name)
{
    const struct mase_meta_arg *arg = mase_meta_arg(n->meta, name);
    return is_tensor(arg) ? arg : NULL;
}

static const struct mase_meta_arg *tensor_result(const struct mase_node *n)
{
    const struct mase_meta_arg *arg = mase_meta_result(n->meta, "data_out_0");
    return is_tensor(arg) ? arg : NULL;
}

/* ---- checks ---- */

/* A function or layer records every tensor operand; a method leaves out its object. */
static void inputs_present(struct verifier *v, const struct mase_node *n)
{
    if (n->kind != MASE_CALL_FUNCTION && n->kind != MASE_CALL_MODULE)
        return;
    int tensors = 0, records = 0;
    for (int i = 0; i < n->input_count; i++)
        tensors += tensor_result(n->inputs[i]) != NULL;
    for (int i = 0; i < n->meta->arg_count; i++)
        records += n->meta->args[i].kind == MASE_META_TENSOR;
    if (records < tensors)
        complain(v, n, "reads %d tensors, but %d are recorded", tensors, records);
}

static void each_record(struct verifier *v, const struct mase_node *n,
                        void (*check)(struct verifier *v, const struct mase_node *n,
                                      const struct mase_meta_arg *arg))
{
    for (int i = 0; i < n->meta->arg_count; i++)
        if (is_tensor(&n->meta->args[i]))
            check(v, n, &n->meta->args[i]);
    for (int i = 0; i < n->meta->result_count; i++)
        if (is_tensor(&n->meta->results[i]))
            check(v, n, &n->meta->results[i]);
}

static void shape_is_positive(struct verifier *v, const struct mase_node *n,
                              const struct mase_meta_arg *arg)
{
    for (int d = 0; d < arg->shape.rank; d++)
        if (arg->shape.dim[d] <= 0)
            complain(v, n, "%s has shape %s", arg->name, text_of(v, &arg->shape));
}

static void shapes_present(struct verifier *v, const struct mase_node *n)
{
    each_record(v, n, shape_is_positive);
}

static void formats_in_force(struct verifier *v, const struct mase_node *n)
{
    const struct mase_meta *m = n->meta;
    for (int pass = 0; pass < 2; pass++) {
        const struct mase_meta_arg *list = pass ? m->results : m->args;
        for (int i = 0; i < (pass ? m->result_count : m->arg_count); i++) {
            const struct mase_format *want = mase_meta_format_of(n, &list[i], pass);
            struct mase_str has = { 0 }, is = { 0 };
            mase_format_print(&has, list[i].format);
            mase_format_print(&is, want);
            if (list[i].format != want)
                complain(v, n, "%s is recorded as %s, but computes in %s", list[i].name,
                         mase_str_text(&has), mase_str_text(&is));
            mase_str_release(&has);
            mase_str_release(&is);
        }
    }
}

/* Names must still differ as Verilog identifiers, where a dot or blank becomes an underscore. */
static void names_unique(struct verifier *v, const struct mase_node *n)
{
    char *name = mase_arena_strdup(v->scratch, n->name);
    for (char *p = name; *p; p++)
        if (*p == '.' || *p == ' ')
            *p = '_';
    const struct mase_node *other = mase_map_get(&v->names, name);
    if (other)
        complain(v, n, "has the verilog name of %s", other->name);
    mase_map_put(&v->names, name, (void *)n);
}

static void results_numbered(struct verifier *v, const struct mase_node *n)
{
    if (n->meta->result_count < 1)
        complain(v, n, "has no result");
    for (int i = 0; i < n->meta->result_count; i++) {
        const char *want = mase_arena_printf(v->scratch, "data_out_%d", i);
        if (!mase_streq(n->meta->results[i].name, want))
            complain(v, n, "result %d is called %s, not %s", i, n->meta->results[i].name, want);
    }
}

static const struct mase_meta_arg *record_of(const struct mase_node *n,
                                             const struct mase_named_arg *named, int *data,
                                             struct verifier *v)
{
    if (!mase_mark_is_data(named->role))
        return tensor_arg(n, named->name);
    return tensor_arg(n, mase_arena_printf(v->scratch, "data_in_%d", (*data)++));
}

static void edges_agree(struct verifier *v, const struct mase_node *n)
{
    if (n->kind != MASE_CALL_FUNCTION && n->kind != MASE_CALL_MODULE && n->kind != MASE_CALL_METHOD)
        return;
    struct mase_named_arg *args;
    int count = mase_named_args(v->scratch, n, &args);
    for (int i = 0, data = 0; i < count; i++) {
        if (args[i].arg->kind != MASE_ARG_NODE)
            continue;
        const struct mase_node *from = args[i].arg->node;
        const struct mase_meta_arg *out = tensor_result(from);
        if (!out)
            continue;
        const struct mase_meta_arg *in = record_of(n, &args[i], &data, v);
        if (in && !mase_shape_equal(&in->shape, &out->shape))
            complain(v, n, "%s is %s, but %s gives %s", in->name, text_of(v, &in->shape),
                     from->name, text_of(v, &out->shape));
    }
}

static int64_t last(const struct mase_shape *s)
{
    return s->rank ? s->dim[s->rank - 1] : 0;
}

static void linear_fits(struct verifier *v, const struct mase_node *n)
{
    if (n->meta->op != MASE_OP_linear)
        return;
    const struct mase_meta_arg *x = tensor_arg(n, "data_in_0"), *w = tensor_arg(n, "weight");
    const struct mase_meta_arg *y = tensor_result(n);
    if (!x || !w || !y || w->shape.rank != 2)
        complain(v, n, "needs data_in_0, a weight of rank 2 and data_out_0");
    else if (last(&x->shape) != w->shape.dim[1] || last(&y->shape) != w->shape.dim[0])
        complain(v, n, "a weight of %s takes %s to %s", text_of(v, &w->shape),
                 text_of(v, &x->shape), text_of(v, &y->shape));
}

static void relu_keeps_shape(struct verifier *v, const struct mase_node *n)
{
    if (n->meta->op != MASE_OP_relu || n->kind == MASE_CALL_METHOD)
        return;
    const struct mase_meta_arg *x = tensor_arg(n, "data_in_0"), *y = tensor_result(n);
    if (!x || !y || !mase_shape_equal(&x->shape, &y->shape))
        complain(v, n, "the shapes of data_in_0 and data_out_0 differ");
}

static void flatten_keeps_count(struct verifier *v, const struct mase_node *n)
{
    if (n->meta->op != MASE_OP_flatten || n->kind == MASE_CALL_METHOD)
        return;
    const struct mase_meta_arg *x = tensor_arg(n, "data_in_0"), *y = tensor_result(n);
    if (!x || !y || mase_shape_count(&x->shape) != mase_shape_count(&y->shape))
        complain(v, n, "data_in_0 and data_out_0 differ in their number of elements");
}

static const struct {
    const char *name;
    void (*check)(struct verifier *v, const struct mase_node *n);
} checks[] = {
    { "inputs present", inputs_present },
    { "shapes present", shapes_present },
    { "formats in force", formats_in_force },
    { "unique names", names_unique },
    { "results", results_numbered },
    { "edges", edges_agree },
    { "linear", linear_fits },
    { "relu", relu_keeps_shape },
    { "flatten", flatten_keeps_count },
};

enum { CHECKS = sizeof checks / sizeof checks[0] };

static void note(struct mase_pass_env *env, int nodes, int failures)
{
    if (!env->info)
        return;
    struct mase_arena *a = env->info_arena;
    struct mase_value *result = mase_value_table(a);
    mase_value_set(a, result, "nodes", mase_value_int(a, nodes));
    mase_value_set(a, result, "checks", mase_value_int(a, CHECKS));
    mase_value_set(a, result, "failures", mase_value_int(a, failures));
    mase_pass_note(env, "verify_common_metadata", result);
}

static enum mase_status run(const struct mase_graph *g, const void *opts, struct mase_pass_env *env,
                            struct mase_err *err)
{
    (void)opts;
    struct verifier v = { .scratch = env->scratch, .names = { .arena = env->scratch } };
    for (int i = 0; i < CHECKS; i++) {
        v.check = checks[i].name;
        for (const struct mase_node *n = g->first; n; n = n->next)
            checks[i].check(&v, n);
    }
    note(env, g->node_count, v.failures);
    enum mase_status st = MASE_OK;
    if (v.failures)
        st = mase_fail(err, MASE_EVALUE, "%d checks failed; the first: %s", v.failures,
                       mase_str_text(&v.first));
    else
        mase_info("common metadata: %d checks hold on %d nodes", CHECKS, g->node_count);
    mase_str_release(&v.first);
    return st;
}

const struct mase_pass mase_pass_verify_common_metadata = {
    .name = "verify_common_metadata",
    .help = "check the common metadata against itself and the graph; list every fault",
    .needs = MASE_PROP_META | MASE_PROP_COMMON,
    .analyse = run,
};
