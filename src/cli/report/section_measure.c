/*
 * section_measure.c - measurements for a report: statistics of values, and the test split.
 *
 * mase_profile does the work; activations are measured on a bounded number of samples of the run's
 * data.
 */
#include <math.h>
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/meta.h>
#include <mase/profile.h>

#include "cli/report/html.h"
#include "cli/report/report.h"

enum {
    BINS = 64,
    LEAST_SAMPLES = 16, /* for a network too large for the usual number */
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

/* List trainable parameters, each once. */
static void find_parameters(struct mase_report *r, const struct mase_node *n)
{
    const struct mase_module *m = mase_node_module(n);
    if (!m || called_before(n, m))
        return;
    for (int i = 0; i < n->meta->sw_arg_count; i++) {
        const char *name = n->meta->sw_args[i].name;
        const struct mase_param *p = mase_module_param(m, name);
        if (p && !mase_param_is_buffer(p) && p->tensor.dtype == MASE_F32 &&
            mase_tensor_count(&p->tensor))
            *add(r, &r->parameters) =
                (struct mase_report_spread){ n, name, mase_named_rounding(n, name), NULL };
    }
}

/* List the inputs of nodes that compute. */
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

/* A histogram, and statistics of rounding. Operands of one format share the list. */
static const struct mase_statistic *statistics(int *count, struct mase_report *r,
                                               const struct mase_profile_target *before,
                                               const struct mase_report_spreads *list, int i)
{
    static const char *const of_formats[] = { "saturation", "underflow", "sqnr" };
    const struct mase_rounding *of = &list->items[i].rounding;
    *count = of->format ? 4 : 1;
    for (int k = 0; k < i; k++)
        if (list->items[k].rounding.format == of->format &&
            list->items[k].rounding.sign == of->sign)
            return before[k].stats;
    struct mase_statistic *stats = mase_new_array(r->arena, struct mase_statistic, 4);
    stats[0] = (struct mase_statistic){ .name = "histogram", .bins = BINS };
    for (int k = 0; k < 3; k++)
        stats[1 + k] = (struct mase_statistic){ .name = of_formats[k],
                                                .format = of->format,
                                                .sign = of->sign };
    return stats;
}

/* how: description of the samples, for activations. */
static enum mase_status measure_all(struct mase_report *r, struct mase_report_spreads *list,
                                    struct mase_profile how, struct mase_err *err)
{
    struct mase_arena *a = r->arena;
    struct mase_profile_target *targets =
        mase_new_array(a, struct mase_profile_target, (size_t)list->count);
    struct mase_value **results = mase_new_array(a, struct mase_value *, (size_t)list->count);
    struct mase_pass_env env = { .samples = &r->samples.source };
    for (int i = 0; i < list->count; i++) {
        struct mase_profile_target *t = &targets[i];
        t->node = list->items[i].node;
        t->name = list->items[i].operand;
        t->stats = statistics(&t->count, r, targets, list, i);
    }
    how.targets = targets;
    how.count = list->count;
    mase_cli_sample_inputs(&env, a, r->graph, &r->data.sample);
    MASE_TRY(mase_profile(results, a, r->graph, &how, &env, err));
    for (int i = 0; i < list->count; i++)
        list->items[i].stat = results[i];
    return MASE_OK;
}

/* ---- the data ---- */

static bool is_same_data(const struct mase_report *r, const struct mase_dataset *d)
{
    const struct mase_dataset_info *info = mase_dataset_info(d);
    const char *sum = mase_report_text(r, "dataset.sha256");
    return mase_shape_equal(&info->data.sample, &r->data.sample) &&
           info->data.classes == r->data.classes && (!sum || mase_streq(sum, info->checksum));
}

/* Open the data of the run, scaled for its weights. */
static enum mase_status open_for_run(struct mase_report *r, struct mase_err *err)
{
    struct mase_work_choice o;
    MASE_TRY(mase_cli_choose(&o, r->c, err));
    o.model = NULL;
    MASE_TRY(mase_work_find(&r->work, &o, err));
    return mase_work_open_data(&r->samples.dataset, &r->work, err);
}

/* Open the data if it is available and unchanged. */
static bool open_data(struct mase_report *r)
{
    const char *dir = mase_cli_text(r->c, MASE_CLI_data_dir);
    struct mase_err why = { 0 };
    if (dir && !mase_is_dir(dir) && !mase_is_file(dir)) {
        mase_report_note(r, "nothing is measured on data: %s is gone", dir);
        return false;
    }
    if (open_for_run(r, &why)) {
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

/* As many as usual, fewer for a large network or a small split. */
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
    struct mase_str text = { 0 };
    const int64_t n = sample_count(r);
    if (!n)
        return MASE_OK;
    for (const struct mase_node *node = r->graph->first; node; node = node->next)
        find_activations(r, node);
    mase_str_add(&text, "the first ");
    mase_html_count(&text, n);
    mase_str_printf(&text, " samples of the validation split of %s", r->data.name);
    r->activations_of = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return measure_all(r, &r->activations,
                       (struct mase_profile){
                           .split = "validation", .samples = n, .batch = n < BATCH ? n : BATCH },
                       err);
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
                                 struct mase_graph *g, const struct mase_classes *classes,
                                 struct mase_err *err)
{
    struct mase_objective objective;
    struct mase_measurement found;
    MASE_TRY(mase_cli_objective(&objective, r->c, err));
    const struct mase_measure how = {
        .data = r->samples.dataset,
        .rows = mase_dataset_split(r->samples.dataset, MASE_SPLIT_TEST),
        .objective = &objective,
        .class_map = classes->map,
        .batch_size = mase_cli_value(r->c, MASE_CLI_batch_size)->i,
        .threads = (int)mase_cli_value(r->c, MASE_CLI_threads)->i,
        .detail = r->arena,
    };
    MASE_TRY(mase_work_measure(&found, g, &how, err));
    *e = found.e;
    return MASE_OK;
}

static enum mase_status measure_test(struct mase_report *r, struct mase_err *err)
{
    struct mase_report_test *t = mase_new(r->arena, struct mase_report_test);
    struct mase_classes classes;
    mase_classes_match(&classes, r->arena, r->samples.dataset, &r->work.trained);
    t->names = classes.names;
    t->split = "test";
    t->measured = true;
    t->weights = r->weights;
    MASE_TRY(evaluate(&t->e, r, r->graph, &classes, err));
    if (r->before && r->before->weights)
        MASE_TRY(evaluate(&t->before, r, r->before, &classes, err));
    r->tested = t;
    return MASE_OK;
}

/* ---- measure ---- */

static bool wants_data(const struct mase_report *r)
{
    return mase_cli_value(r->c, MASE_CLI_samples)->i > 0 ||
           !mase_streq(mase_cli_text(r->c, MASE_CLI_test), "never");
}

enum mase_status mase_report_measure(struct mase_report *r, struct mase_err *err)
{
    mase_cli_samples_init(&r->samples, r->c, &r->work);
    if (!r->graph || !r->graph->weights)
        return MASE_OK;
    for (const struct mase_node *n = r->graph->first; n; n = n->next)
        find_parameters(r, n);
    MASE_TRY(measure_all(r, &r->parameters, (struct mase_profile){ 0 }, err));
    if (!wants_data(r) || !open_data(r))
        return MASE_OK;
    MASE_TRY(measure_activations(r, err));
    return should_test(r) ? measure_test(r, err) : MASE_OK;
}
