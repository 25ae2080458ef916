/*
 * t_statistics.c - profile_statistics against the original's numbers, and against NumPy's where the
 * original has none: counts exactly, numbers to 1e-5 of their size.
 */
#include <math.h>

#include <mase/profile.h>

#include "golden.h"
#include "run_cases.h"

/* ---- the data ---- */

static int reads; /* calls of read since the test began */

static enum mase_status count_rows(void *data, const char *split, int64_t *count,
                                   struct mase_err *err)
{
    const struct fixture *f = data;
    if (mase_streq(split, "pred"))
        return mase_fail(err, MASE_EIO, "the disk is gone");
    *count = mase_streq(split, "validation") ? 0 : f->x.shape.dim[0];
    return MASE_OK;
}

static enum mase_status read_rows(void *data, const char *split, int64_t first, int64_t n, float *x,
                                  struct mase_err *err)
{
    (void)split, (void)err;
    const struct fixture *f = data;
    const int64_t row = mase_tensor_count(&f->x) / f->x.shape.dim[0];
    assert_true(first >= 0 && n > 0 && first + n <= f->x.shape.dim[0]);
    memcpy(x, mase_f32(&f->x) + first * row, (size_t)(n * row) * sizeof *x);
    reads++;
    return MASE_OK;
}

static void with_samples(struct fixture *f, struct mase_samples *s)
{
    *s = (struct mase_samples){ count_rows, read_rows, 8, f, NULL };
    f->m.env.samples = s;
    reads = 0;
}

/* ---- comparing ---- */

static double number(const struct mase_value *v)
{
    return v->kind == MASE_INT ? (double)v->i : v->f;
}

static bool is_number(const struct mase_value *v)
{
    return v->kind == MASE_INT || v->kind == MASE_FLOAT;
}

/* Numbers near zero are differences of larger ones, which float32 sums in another order give no
 * closer than this. */
#define SMALL 0.01

/* Tables hold the same keys. */
static void assert_close(struct fixture *f, const char *where, const struct mase_value *want,
                         const struct mase_value *got)
{
    if (!got)
        fail_msg("%s is missing", where);
    if (is_number(want) && is_number(got)) {
        const double w = number(want), g = number(got);
        const bool exact = got->kind == MASE_INT;
        if (exact ? w != g : !(fabs(w - g) <= 1e-5 * fmax(fabs(w), SMALL)))
            fail_msg("%s: expected %.9g, got %.9g", where, w, g);
        return;
    }
    if (want->kind != got->kind)
        fail_msg("%s: expected %s, got %s", where, mase_value_kind_names[want->kind],
                 mase_value_kind_names[got->kind]);
    if (want->kind == MASE_STRING) {
        assert_string_equal(want->s, got->s);
        return;
    }
    if (want->count != got->count)
        fail_msg("%s: expected %d entries, got %d", where, want->count, got->count);
    for (int i = 0; i < want->count; i++) {
        const bool table = want->kind == MASE_TABLE;
        const char *inner = table ? mase_arena_printf(&f->arena, "%s.%s", where, want->keys[i])
                                  : mase_arena_printf(&f->arena, "%s[%d]", where, i);
        assert_close(f, inner, want->items[i],
                     table ? mase_value_get(got, want->keys[i]) : got->items[i]);
    }
}

static const struct mase_value *stat_of(const struct mase_node *n, const char *entry)
{
    const struct mase_meta *m = n->meta;
    for (int i = 0; i < m->sw_arg_count; i++)
        if (mase_streq(m->sw_args[i].name, entry))
            return m->sw_args[i].stat;
    for (int i = 0; i < m->sw_result_count; i++)
        if (mase_streq(m->sw_results[i].name, entry))
            return m->sw_results[i].stat;
    fail_msg("%s has no %s", n->name, entry);
    return NULL;
}

/* What is expected is there, and nothing else anywhere. */
static int check_result(struct fixture *f, const char *kase, const struct mase_value *want)
{
    int entries = 0, found = 0;
    for (int i = 0; i < want->count; i++) {
        const struct mase_node *n = mase_graph_find(f->g, want->keys[i]);
        assert_non_null(n);
        for (int k = 0; k < want->items[i]->count; k++) {
            const char *entry = want->items[i]->keys[k];
            const struct mase_value *w = want->items[i]->items[k], *got = stat_of(n, entry);
            const char *where =
                mase_arena_printf(&f->arena, "%s: %s.%s", kase, want->keys[i], entry);
            assert_int_equal(w->count, got->count);
            for (int j = 0; j < w->count; j++)
                assert_close(f, mase_arena_printf(&f->arena, "%s.%s", where, w->keys[j]),
                             w->items[j], mase_value_get(got, w->keys[j]));
            entries++;
        }
    }
    for (const struct mase_node *n = f->g->first; n; n = n->next) {
        for (int i = 0; i < n->meta->sw_arg_count; i++)
            found += n->meta->sw_args[i].stat->count > 0;
        for (int i = 0; i < n->meta->sw_result_count; i++)
            found += n->meta->sw_results[i].stat->count > 0;
    }
    if (found != entries)
        fail_msg("%s: %d entries have statistics, expected %d", kase, found, entries);
    return entries;
}

/* The cases of a file; section: those that it has under this key, NULL: all of it. */
static int check_cases(const char *model, const char *file, const char *section)
{
    struct fixture f;
    struct mase_samples s;
    struct mase_value *cases;
    int entries = 0;
    setup(&f, model);
    with_samples(&f, &s);
    MUST(&f, mase_json_read(&cases, &f.arena, file, &f.err));
    if (section)
        cases = mase_value_get(cases, section);
    assert_non_null(cases);
    for (int i = 0; i < cases->count; i++) {
        const struct mase_value *args = mase_value_get(cases->items[i], "args");
        f.g->props &= ~(unsigned)MASE_PROP_SOFTWARE; /* begin with empty entries */
        MUST(&f, mase_manager_run(&f.m, &f.g, "profile_statistics", args, &f.err));
        entries += check_result(&f, cases->keys[i], mase_value_get(cases->items[i], "result"));
    }
    teardown(&f);
    return entries;
}

static const char *const profiled[] = { "jsc-tiny", "jsc-toy", "toy", "conv_bn", "res_mlp" };
enum { PROFILED = sizeof profiled / sizeof profiled[0] };

static void statistics_are_the_originals(void **state)
{
    (void)state;
    for (int i = 0; i < PROFILED; i++) {
        char path[512];
        snprintf(path, sizeof path, DATA "/stats/%s.json", profiled[i]);
        assert_true(check_cases(profiled[i], path, NULL) > 50);
    }
}

static void where_the_original_fails_it_is_as_torch_has_it(void **state)
{
    (void)state;
    for (int i = 0; i < PROFILED; i++)
        assert_true(check_cases(profiled[i], DATA "/stats/flawed.json", profiled[i]) > 15);
}

static void what_the_original_lacks_is_as_numpy_has_it(void **state)
{
    (void)state;
    assert_true(check_cases("jsc-tiny", DATA "/stats/intended.json", NULL) > 30);
}

/* ---- the lab's example ---- */

static const char lab[] = "target_weight_nodes = ['linear']\n"
                          "target_activation_nodes = ['relu']\n"
                          "num_samples = 32\n"
                          "weight_statistics.variance_precise = { device = 'cpu', dims = 'all' }\n"
                          "activation_statistics.range_quantile = { device = 'cpu', dims = 'all', "
                          "quantile = 0.97 }\n";

/* The text with five digits of each number, since a sum's last ones depend on its order, and
 * without the padding that depends on them. */
static const char *shortened(struct fixture *f, const char *text)
{
    char *out = mase_arena_alloc(&f->arena, strlen(text) + 1), *o = out;
    while (*text) {
        char *end = NULL;
        const double v = strchr("-0123456789", *text) ? strtod(text, &end) : 0;
        if (end && memchr(text, '.', (size_t)(end - text))) {
            o += snprintf(o, (size_t)(end - text) + 1, "%.5g", v);
            text = end;
        } else {
            const bool padding = strchr(" -=", *text) && o > out && o[-1] == *text;
            *o = *text++;
            o += !padding;
        }
    }
    *o = 0;
    return out;
}

static void the_labs_example(void **state)
{
    (void)state;
    static const char heading[] = "Inspecting graph [add_common_meta_param_analysis_pass]\n\n";
    struct fixture f;
    struct mase_samples s;
    setup(&f, "jsc-tiny");
    with_samples(&f, &s);
    RUN(&f, "profile_statistics", lab);
    assert_int_equal(reads, 1); /* the engine takes more at once than the command line asks for */
    RUN(&f, "report_node_meta_param", "which = ['software']");
    const char *got = printed(&f) + strlen(heading);
    const char *want = file_text(&f, DATA "/stats/jsc-tiny_software.txt");
    assert_non_null(strstr(got, "'count': 512"));
    assert_non_null(strstr(got, "'count': 160"));
    assert_non_null(strstr(got, "'count': 80"));
    assert_non_null(strstr(got, "'count': 5"));
    assert_string_equal(shortened(&f, mase_arena_strndup(&f.arena, got, strlen(got) - 1)),
                        shortened(&f, want));
    teardown(&f);
}

/* ---- the flaws ---- */

static void a_second_profile_adds_to_the_first(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_samples s;
    setup(&f, "jsc-tiny");
    with_samples(&f, &s);
    RUN(&f, "profile_statistics", lab);
    RUN(&f, "profile_statistics",
        "target_activation_nodes = ['relu']\nnum_samples = 8\n"
        "activation_statistics.range_min_max = {}");
    const struct mase_value *stat = stat_of(mase_graph_find(f.g, "seq_blocks_1"), "data_in_0");
    assert_int_equal(stat->count, 2);
    assert_int_equal(mase_value_at(stat, "range_quantile.count")->i, 512);
    assert_int_equal(mase_value_at(stat, "range_min_max.count")->i, 8 * 16);
    teardown(&f);
}

static void more_samples_than_there_are(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_samples s;
    struct caught c;
    setup(&f, "jsc-tiny");
    with_samples(&f, &s);
    catch_log(&c, MASE_WARNING);
    RUN(&f, "profile_statistics",
        "target_activation_nodes = 'all'\nnum_samples = 1000\n"
        "batch_size = 48\nactivation_statistics.range_min_max = {}");
    char *log = caught_log(&c);
    assert_non_null(strstr(log, "num_samples = 1000, but the train split has 64"));
    free(log);
    assert_int_equal(reads, 2); /* 48 and 16 */
    const struct mase_value *stat = stat_of(mase_graph_find(f.g, "seq_blocks_2"), "data_in_0");
    assert_int_equal(mase_value_at(stat, "range_min_max.count")->i, 64 * 16);
    teardown(&f);
}

/* Two rounds for a histogram, one for the rest; the weights need no data at all. */
static void data_is_read_as_often_as_needed(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_samples s;
    setup(&f, "jsc-tiny");
    with_samples(&f, &s);
    RUN(&f, "profile_statistics",
        "target_activation_nodes = ['relu']\nnum_samples = 16\nbatch_size = 8\n"
        "activation_statistics.histogram = {}\n"
        "activation_statistics.abs_mean = {}");
    assert_int_equal(reads, 4);
    const struct mase_value *stat = stat_of(mase_graph_find(f.g, "seq_blocks_3"), "data_in_0");
    assert_int_equal(mase_value_at(stat, "abs_mean.count")->i, 16 * 5);
    assert_int_equal(mase_value_at(stat, "histogram.count")->i, 16 * 5);
    int64_t sum = 0;
    for (int i = 0; i < 64; i++)
        sum += mase_value_at(stat, "histogram.counts")->items[i]->i;
    assert_int_equal(sum, 16 * 5);
    f.m.env.samples = NULL;
    RUN(&f, "profile_statistics",
        "target_weight_nodes = 'all'\nweight_statistics.range_min_max = {}");
    teardown(&f);
}

/* By call and by configuration: the same numbers, and a value that two read is measured once. */
static void a_call_measures_what_the_pass_does(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_samples s;
    const struct mase_format *q;
    setup(&f, "jsc-tiny");
    with_samples(&f, &s);
    MUST(&f, mase_format_parse(&q, "integer(6, 3)", &f.err));
    RUN(&f, "profile_statistics",
        "by = 'name'\ntarget_activation_nodes = ['seq_blocks_2']\nnum_samples = 48\n"
        "target_weight_nodes = ['seq_blocks_2']\nweight_statistics.range_min_max = {}\n"
        "[activation_statistics.histogram]\nbins = 9\n[activation_statistics.sqnr]\n"
        "format = 'integer'\nsigned = false\nformat_width = 6\nformat_frac_width = 3\n");
    const int by_pass = reads;
    const struct mase_node *n = mase_graph_find(f.g, "seq_blocks_2");
    const struct mase_statistic range = { .name = "range_min_max" };
    const struct mase_statistic two[] = {
        { .name = "histogram", .bins = 9 },
        { .name = "sqnr", .format = q, .sign = MASE_UNSIGNED },
    };
    const struct mase_profile_target targets[] = { { n, "data_in_0", two, 2 },
                                                   { n, "weight", &range, 1 },
                                                   { n, "data_in_0", two, 2 },
                                                   { n, "data_in_0", &range, 1 } };
    const struct mase_profile p = { .targets = targets, .count = 4, .samples = 48 };
    struct mase_value *results[4];
    reads = 0;
    MUST(&f, mase_profile(results, &f.arena, f.g, &p, &f.m.env, &f.err));
    assert_int_equal(reads, by_pass);
    assert_true(mase_value_equal(results[0], stat_of(n, "data_in_0")));
    assert_true(mase_value_equal(results[1], stat_of(n, "weight")));
    assert_true(mase_value_equal(results[2], results[0]));
    assert_int_equal(mase_value_at(results[3], "range_min_max.count")->i, 48 * 16);
    teardown(&f);
}

static void a_call_refuses_what_it_cannot_measure(void **state)
{
    (void)state;
    static const struct mase_statistic known = { .name = "range_min_max" };
    static const struct {
        struct mase_statistic stat;
        const char *argument, *message;
    } cases[] = {
        { { .name = "sqnr" }, "data_in_0", "sqnr needs a number format" },
        { { .name = "variance" }, "data_in_0", "no statistic is called 'variance'" },
        { { .name = "abs_mean" }, "data_in_7", "'seq_blocks_2' has no argument 'data_in_7'" },
    };
    struct fixture f;
    struct mase_value *result;
    setup(&f, "jsc-tiny");
    RUN(&f, "add_software_metadata", NULL);
    struct mase_profile_target t = { .node = mase_graph_find(f.g, "seq_blocks_2"), .count = 1 };
    const struct mase_profile p = { .targets = &t, .count = 1 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        t.name = cases[i].argument;
        t.stats = &cases[i].stat;
        assert_int_equal(mase_profile(&result, &f.arena, f.g, &p, &f.m.env, &f.err), MASE_EVALUE);
        assert_non_null(strstr(f.err.msg, cases[i].message));
    }
    t.name = "data_in_0";
    t.stats = &known;
    assert_int_equal(mase_profile(&result, &f.arena, f.g, &p, &f.m.env, &f.err), MASE_EUNSUPPORTED);
    assert_non_null(strstr(f.err.msg, "there is no dataset"));
    teardown(&f);
}

static void profiling_changes_no_weight(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_samples s;
    setup(&f, "jsc-tiny");
    with_samples(&f, &s);
    const struct mase_module *bn = mase_graph_module(f.g, "seq_blocks.0");
    float before[16];
    memcpy(before, mase_f32(&mase_module_param(bn, "running_mean")->tensor), sizeof before);
    static const char args[] = "mode = '%s'\ntarget_activation_nodes = 'all'\n"
                               "activation_statistics.range_min_max = {}";
    static const char *const modes[] = { "eval", "train" };
    for (int i = 0; i < 2; i++) {
        RUN(&f, "profile_statistics", mase_arena_printf(&f.arena, args, modes[i]));
        assert_memory_equal(before, mase_f32(&mase_module_param(bn, "running_mean")->tensor),
                            sizeof before);
    }
    teardown(&f);
}

/* ---- what the engine cannot run ---- */

/* The mean mixes the samples of a batch, so the plain reference runs the network, by batches as the
 * command line says; a value that does not follow the samples is one sample of each batch. */
static void the_reference_runs_what_mixes_samples(void **state)
{
    (void)state;
    static const char text[] =
        "mase-graph 1\n\n%x : f32[1, 4] = placeholder[target=x]\n"
        "%mean : f32[4] = call_function[target=torch.mean](args = (%x, 0), kwargs = {})\n"
        "%sub : f32[1, 4] = call_function[target=operator.sub](args = (%x, %mean), kwargs = {})\n"
        "return %sub\n";
    enum { ROWS = 20 };
    struct mase_graph *g;
    struct mase_err err;
    struct mase_samples s;
    struct fixture f;
    float rows[ROWS * 4];
    if (mase_graph_parse_mg(&g, text, strlen(text), "text", &err))
        fail_msg("%d: %s", err.loc.line, err.msg);
    setup_graph(&f, g, (struct mase_shape){ 2, { ROWS, 4 } });
    for (int i = 0; i < ROWS * 4; i++)
        rows[i] = (float)i;
    f.x.data = rows;
    with_samples(&f, &s);
    RUN(&f, "profile_statistics",
        "target_activation_nodes = 'all'\nprofile_output_activation = true\n"
        "activation_statistics.range_min_max = {}\nactivation_statistics.histogram = {}");
    assert_int_equal(reads, 2 * 3); /* two rounds of 8, 8 and 4 */
    const struct mase_value *mean = stat_of(mase_graph_find(f.g, "sub"), "data_in_1");
    const struct mase_value *out = stat_of(mase_graph_find(f.g, "sub"), "data_out_0");
    assert_int_equal(mase_value_at(mean, "range_min_max.count")->i, 3 * 4);
    assert_true(mase_value_at(mean, "range_min_max.min")->f == 14); /* 0, 4, ... 28 */
    assert_true(mase_value_at(mean, "range_min_max.max")->f == 73); /* 67, 71, 75, 79 */
    assert_int_equal(mase_value_at(out, "histogram.count")->i, ROWS * 4);
    assert_true(mase_value_at(out, "range_min_max.max")->f == 14);
    teardown(&f);
}

/* ---- bad input ---- */

static const struct {
    const char *args;
    int row, column;
    const char *text;
} wrong[] = {
    { "by = 'kind'", 1, 6, "kind" },
    { "target_weight_nodes = 3", 1, 23, "must be a list of names or \"all\", not integer" },
    { "target_weight_nodes = [3]", 1, 24, "must hold strings, not integer" },
    { "target_weight_nodes = ['linaer']", 1, 24, "did you mean 'linear'?" },
    { "by = 'name'\ntarget_activation_nodes = ['seq_block_1']", 2, 28,
      "no node is called 'seq_block_1': did you mean 'seq_blocks_1'?" },
    { "mode = 'test'", 1, 8, "mode" },
    { "weight_statistics = 3", 1, 21, "weight_statistics must be a table, not integer" },
    { "weight_statistics.range_minmax = {}", 1, 19,
      "no statistic is called 'range_minmax', did you mean 'range_min_max'?" },
    { "weight_statistics.nonsense = {}", 1, 19,
      "no statistic is called 'nonsense'; there are record, variance_online" },
    { "weight_statistics.record = 3", 1, 28, "record: its arguments must be a table" },
    { "weight_statistics.range_quantile.quantile = 1.5", 1, 45, "1.5" },
    { "weight_statistics.range_quantile.quantile = -0.1", 1, 45, "-0.1" },
    { "weight_statistics.range_quantile.qantile = 0.5", 1, 34, "did you mean 'quantile'?" },
    { "weight_statistics.abs_mean.dims = 'some'", 1, 35, "dims must be \"all\"" },
    { "weight_statistics.abs_mean.dims = ['x']", 1, 35, "dims must be \"all\"" },
    { "target_weight_nodes = ['linear']\nweight_statistics.abs_mean.dims = [2]", 2, 36,
      "dims has 2, but a sample has 2 dimensions" },
    { "weight_statistics.range_n_sigma.var_mode = 'off'", 1, 44, "var_mode" },
    { "weight_statistics.histogram.bins = 0", 1, 36, "bins" },
    { "weight_statistics.histogram = { min = 2, max = 1 }", 1, 48,
      "max = 1 must be larger than min = 2" },
    { "weight_statistics.histogram.min = 'low'", 1, 35, "min must be a finite number" },
    { "weight_statistics.sqnr = {}", 1, 26, "format_width is missing" },
    { "weight_statistics.sqnr.format = 'intager'", 1, 19, "did you mean 'integer'?" },
    { "weight_statistics.sqnr = { format_widht = 8 }", 1, 28, "'format_widht' is no argument" },
    { "weight_statistics.sqnr = { format_width = 99, format_frac_width = 1 }", 1, 43, "99" },
};

static void bad_input_is_named_with_its_place(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_samples s;
    setup(&f, "jsc-tiny");
    with_samples(&f, &s);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        FAILS(&f, "profile_statistics", wrong[i].args, wrong[i].row, wrong[i].column,
              wrong[i].text);
    }
    teardown(&f);
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    static const char args[] = "target_activation_nodes = ['relu']\nsplit = '%s'\nmax_values = %d\n"
                               "activation_statistics.range_quantile = {}";
    struct fixture f;
    struct mase_samples s;
    setup(&f, "jsc-tiny");
    const char *train = mase_arena_printf(&f.arena, args, "train", 1000);
    FAILS(&f, "profile_statistics", train, 1, 1, "there is no dataset");
    with_samples(&f, &s);
    FAILS(&f, "profile_statistics", train, 1, 1,
          "seq_blocks_1.data_in_0: range_quantile: keeps every value: 1024 here and 0 before");
    assert_int_equal(f.err.status, MASE_ELIMIT);
    FAILS(&f, "profile_statistics", mase_arena_printf(&f.arena, args, "train", 1100), 1, 1,
          "320 here and 1024 before");
    FAILS(&f, "profile_statistics", mase_arena_printf(&f.arena, args, "validation", 9999), 1, 1,
          "the validation split has no samples");
    FAILS(&f, "profile_statistics", mase_arena_printf(&f.arena, args, "pred", 9999), 1, 1,
          "the disk is gone");
    RUN(&f, "profile_statistics", mase_arena_printf(&f.arena, args, "test", 1344));
    teardown(&f);
}

static void one_value_has_no_spread(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    struct caught c;
    catch_log(&c, MASE_WARNING);
    RUN(&f, "profile_statistics",
        "target_weight_nodes = ['linear']\nweight_statistics.variance_precise.dims = 'NA'");
    char *log = caught_log(&c);
    assert_non_null(strstr(log, "variance_precise: mean needs at least two values"));
    free(log);
    const struct mase_value *stat = stat_of(mase_graph_find(f.g, "seq_blocks_2"), "bias");
    assert_string_equal(mase_value_at(stat, "variance_precise.variance")->s, "NA");
    assert_int_equal(mase_value_at(stat, "variance_precise.count")->i, 1);
    teardown(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_are_the_originals),
        cmocka_unit_test(where_the_original_fails_it_is_as_torch_has_it),
        cmocka_unit_test(what_the_original_lacks_is_as_numpy_has_it),
        cmocka_unit_test(the_labs_example),
        cmocka_unit_test(a_second_profile_adds_to_the_first),
        cmocka_unit_test(more_samples_than_there_are),
        cmocka_unit_test(data_is_read_as_often_as_needed),
        cmocka_unit_test(a_call_measures_what_the_pass_does),
        cmocka_unit_test(a_call_refuses_what_it_cannot_measure),
        cmocka_unit_test(profiling_changes_no_weight),
        cmocka_unit_test(the_reference_runs_what_mixes_samples),
        cmocka_unit_test(bad_input_is_named_with_its_place),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(one_value_has_no_spread),
    };
    mase_log_set_level(MASE_CRITICAL);
    return run_cases(argc, argv, tests, NULL, NULL);
}
