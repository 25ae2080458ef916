/*
 * measure.c - what a report measures itself: how values are spread, and the test split.
 *
 * profile_statistics does the work. A statistic of a number format is asked for with the format, so
 * operands are measured format by format; activations on a bounded number of samples of the run's
 * data.
 */
#include <math.h>
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/meta.h>

#include "cli/report/html.h"
#include "cli/report/report.h"

enum {
    BINS = 64,
    LEAST_SAMPLES = 16, /* of a network too large for the number asked for */
    BATCH = 256,
};
static const double most_work = 1e10; /* multiplications of one measurement */

/* ---- which operands ---- */

static struct mase_report_spread *add(struct mase_report *r, struct mase_report_spreads *list)
{
    list->items =
        mase_arena_grow(r->arena, list->items, list->count, &list->cap, sizeof *list->items);
    return &list->items[list->count++];
}

static bool called_before(const struct mase_node *n, const struct mase_module *m)
{
    for (const struct mase_node *p = n->prev; p; p = p->prev)
        if (mase_node_module(p) == m)
            return true;
    return false;
}

/* Trainable parameters, each once. */
static void find_parameters(struct mase_report *r, const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    if (!m || called_before(n, m))
        return;
    for (int i = 0; i < n->meta->sw_arg_count; i++) {
        const char *name = n->meta->sw_args[i].name;
        const struct mase_param *p = mase_module_param(m, name);
        if (p && !p->is_buffer && p->tensor.dtype == MASE_F32 && mase_tensor_count(&p->tensor))
            *add(r, &r->parameters) =
                (struct mase_report_spread){ n, name, mase_named_rounding(n, name), NULL };
    }
}

/* What the nodes that compute are given. */
static void find_activations(struct mase_report *r, const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    if (n->kind == MASE_PLACEHOLDER || n->kind == MASE_OUTPUT ||
        !(mase_report_cost(r->costs, n->name, "flops") > 0))
        return;
    for (int i = 0; i < n->meta->sw_arg_count && i < n->input_count; i++) {
        const char *name = n->meta->sw_args[i].name;
        if (!m || !mase_module_param(m, name))
            *add(r, &r->activations) =
                (struct mase_report_spread){ n, name, mase_named_rounding(n, name), NULL };
    }
}

/* ---- statistics ---- */

/* The arguments of a statistic of a format: format = "integer", format_width = 8, ... */
static struct mase_value *format_args(struct mase_arena *a, const struct mase_report_spread *s)
{
    const struct mase_format *f = s->rounding.format;
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "format", mase_value_string(a, f->row->name));
    mase_value_set(a, v, "signed", mase_value_bool(a, s->rounding.sign == MASE_SIGNED));
    for (int i = 0; i < f->config->count; i++)
        mase_value_set(a, v, mase_arena_printf(a, "format_%s", f->row->params[i].key),
                       mase_value_copy(a, f->config->items[i]));
    return v;
}

static struct mase_value *statistics(struct mase_arena *a, const struct mase_report_spread *s)
{
    static const char *const of_formats[] = { "saturation", "underflow", "sqnr" };
    struct mase_value *v = mase_value_table(a), *bins = mase_value_table(a);
    mase_value_set(a, bins, "bins", mase_value_int(a, BINS));
    mase_value_set(a, v, "histogram", bins);
    for (int i = 0; i < 3 && s->rounding.format; i++)
        mase_value_set(a, v, of_formats[i], format_args(a, s));
    return v;
}

static bool same_group(const struct mase_report_spread *a, const struct mase_report_spread *b)
{
    return a->rounding.sign == b->rounding.sign && a->rounding.format == b->rounding.format;
}

static const struct mase_value *result_of(struct mase_arena *a, const struct mase_report_spread *s)
{
    for (int i = 0; i < s->node->meta->sw_arg_count; i++)
        if (mase_streq(s->node->meta->sw_args[i].name, s->operand))
            return mase_value_copy(a, s->node->meta->sw_args[i].stat);
    return NULL;
}

/* Run the profiler for every operand of the first one's format, and keep what it found: the next
 * format's run overwrites it. */
static enum mase_status measure_group(struct mase_report *r, struct mase_report_spreads *list,
                                      int first, struct mase_value *args, const char *prefix,
                                      struct mase_err *err)
{
    struct mase_arena *a = r->arena;
    struct mase_value *nodes = mase_value_list(a);
    for (int i = first; i < list->count; i++)
        if (same_group(&list->items[first], &list->items[i]))
            mase_value_push(a, nodes, mase_value_string(a, list->items[i].node->name));
    mase_value_set(a, args, mase_arena_printf(a, "target_%s_nodes", prefix), nodes);
    mase_value_set(a, args, mase_arena_printf(a, "%s_statistics", prefix),
                   statistics(a, &list->items[first]));
    struct mase_manager m = { .env = { .samples = &r->samples.source } };
    mase_cli_sample_inputs(&m.env, a, r->graph, &r->data.sample);
    const enum mase_status st = mase_manager_run(&m, &r->graph, "profile_statistics", args, err);
    mase_manager_release(&m);
    for (int i = first; i < list->count && !st; i++)
        if (same_group(&list->items[first], &list->items[i]))
            list->items[i].stat = result_of(a, &list->items[i]);
    return st;
}

/* args: what all groups share. */
static enum mase_status measure_all(struct mase_report *r, struct mase_report_spreads *list,
                                    const struct mase_value *args, const char *prefix,
                                    struct mase_err *err)
{
    for (int i = 0; i < list->count; i++)
        if (!list->items[i].stat)
            MASE_TRY(measure_group(r, list, i, mase_value_copy(r->arena, args), prefix, err));
    return MASE_OK;
}

static struct mase_value *common_args(struct mase_arena *a)
{
    struct mase_value *args = mase_value_table(a);
    args->at = MASE_NOWHERE;
    mase_value_set(a, args, "by", mase_value_string(a, "name"));
    return args;
}

/* ---- the data ---- */

static bool is_same_data(const struct mase_report *r, const struct mase_dataset *d)
{
    const struct mase_dataset_info *info = mase_dataset_info(d);
    const char *sum = mase_report_text(r, "dataset.sha256");
    return mase_shape_equal(&info->data.sample, &r->data.sample) &&
           info->data.classes == r->data.classes && (!sum || mase_streq(sum, info->checksum));
}

/* The data of the run, if it is still there and still the same. */
static bool open_data(struct mase_report *r)
{
    const char *dir = mase_cli_text(r->c, MASE_CLI_data_dir);
    struct mase_err why = { 0 };
    if (dir && !mase_is_dir(dir) && !mase_is_file(dir)) {
        mase_report_note(r, "nothing is measured on data: %s is gone", dir);
        return false;
    }
    if (mase_cli_open_data(&r->samples.dataset, r->c, &why)) {
        mase_report_note(r, "nothing is measured on data: %s", why.msg);
        return false;
    }
    if (!is_same_data(r, r->samples.dataset)) {
        mase_report_note(r, "nothing is measured on data: %s is not what the run used",
                         mase_dataset_info(r->samples.dataset)->source);
        return false;
    }
    r->notice = r->notice ? r->notice : mase_dataset_info(r->samples.dataset)->notice;
    r->simulated = r->simulated || mase_dataset_info(r->samples.dataset)->simulated;
    return true;
}

/* ---- activations ---- */

/* As many as were asked for, fewer of a large network or a small split. */
static int64_t sample_count(const struct mase_report *r)
{
    const int64_t asked = mase_cli_value(r->c, MASE_CLI_samples)->i;
    const int64_t split = mase_dataset_split(r->samples.dataset, MASE_SPLIT_VALIDATION).count;
    const double room = most_work / fmax(1, mase_report_cost(r->costs, NULL, "macs"));
    const int64_t most = (int64_t)fmin(fmax(room, LEAST_SAMPLES), (double)split);
    return asked < most ? asked : most;
}

static enum mase_status measure_activations(struct mase_report *r, struct mase_err *err)
{
    struct mase_arena *a = r->arena;
    struct mase_value *args = common_args(a);
    struct mase_str text = { 0 };
    const int64_t n = sample_count(r);
    if (!n)
        return MASE_OK;
    for (const struct mase_node *node = r->graph->first; node; node = node->next)
        find_activations(r, node);
    mase_value_set(a, args, "split", mase_value_string(a, "validation"));
    mase_value_set(a, args, "num_samples", mase_value_int(a, n));
    mase_value_set(a, args, "batch_size", mase_value_int(a, n < BATCH ? n : BATCH));
    mase_str_add(&text, "the first ");
    mase_html_count(&text, n);
    mase_str_printf(&text, " samples of the validation split of %s", r->data.name);
    r->activations_of = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return measure_all(r, &r->activations, args, "activation", err);
}

/* ---- the test split ---- */

static bool should_test(const struct mase_report *r)
{
    const char *when = mase_cli_text(r->c, MASE_CLI_test);
    const double samples = (double)mase_dataset_split(r->samples.dataset, MASE_SPLIT_TEST).count;
    const double work = samples * mase_report_cost(r->costs, NULL, "macs");
    if (r->tested && !mase_streq(when, "always"))
        return false;
    return samples > 0 && !mase_streq(when, "never") &&
           (mase_streq(when, "always") || work <= most_work);
}

static enum mase_status evaluate(struct mase_evaluation *e, struct mase_report *r,
                                 struct mase_graph *g, struct mase_err *err)
{
    struct mase_predictor *p = NULL;
    const int64_t rows = mase_dataset_split(r->samples.dataset, MASE_SPLIT_TEST).count;
    const struct mase_predictor_opts opts = {
        .threads = mase_predict_threads(g, &r->data.sample, rows,
                                        (int)mase_cli_value(r->c, MASE_CLI_threads)->i),
    };
    MASE_TRY(mase_predictor_new(&p, g, &r->data.sample, &opts, err));
    const enum mase_status st =
        mase_evaluate(e, p, r->samples.dataset, MASE_SPLIT_TEST, 0, r->arena, err);
    mase_predictor_free(p);
    return st;
}

static enum mase_status measure_test(struct mase_report *r, struct mase_err *err)
{
    struct mase_report_test *t = mase_new(r->arena, struct mase_report_test);
    t->names = mase_dataset_info(r->samples.dataset)->class_names;
    t->split = "test";
    t->measured = true;
    t->weights = r->weights;
    MASE_TRY(evaluate(&t->e, r, r->graph, err));
    if (r->before && r->before->weights)
        MASE_TRY(evaluate(&t->before, r, r->before, err));
    r->tested = t;
    return MASE_OK;
}

/* ---- all of it ---- */

static bool wants_data(const struct mase_report *r)
{
    return mase_cli_value(r->c, MASE_CLI_samples)->i > 0 ||
           !mase_streq(mase_cli_text(r->c, MASE_CLI_test), "never");
}

enum mase_status mase_report_measure(struct mase_report *r, struct mase_err *err)
{
    mase_cli_samples_init(&r->samples, r->c);
    if (!r->graph || !r->graph->weights)
        return MASE_OK;
    for (const struct mase_node *n = r->graph->first; n; n = n->next)
        find_parameters(r, n);
    MASE_TRY(measure_all(r, &r->parameters, common_args(r->arena), "weight", err));
    if (!wants_data(r) || !open_data(r))
        return MASE_OK;
    MASE_TRY(measure_activations(r, err));
    return should_test(r) ? measure_test(r, err) : MASE_OK;
}
