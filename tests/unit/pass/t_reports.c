/*
 * t_reports.c - metadata and reports of every golden network, to the letter.
 */
#include "golden.h"
#include "run_cases.h"

/* The pass's text must be the golden file, which lacks nothing or only the last newline. */
static void check_report(struct golden *t, const char *pass, const char *args, const char *file)
{
    const char *want = golden_text(t, file);
    if (!want)
        return;
    RUN(t->f, pass, args);
    const char *got = printed(t->f);
    size_t n = strlen(want);
    if (n && want[n - 1] != '\n')
        got = mase_arena_strndup(&t->f->arena, got, strlen(got) - 1);
    compare_text(t, "-", file, want, got);
}

/* The golden tables of report_node_meta_param lack its heading. */
static void check_table(struct golden *t, const char *args, const char *file)
{
    static const char heading[] = "Inspecting graph [add_common_meta_param_analysis_pass]\n\n";
    const char *want = golden_text(t, file);
    if (!want)
        return;
    RUN(t->f, "report_node_meta_param", args);
    const char *got = printed(t->f);
    assert_int_equal(strncmp(got, heading, strlen(heading)), 0);
    got += strlen(heading);
    compare_text(t, "-", file, want, mase_arena_strndup(&t->f->arena, got, strlen(got) - 1));
}

static void check_json(struct golden *t, const char *file, enum mase_section s)
{
    const struct mase_value *want = mase_value_get(mase_value_get(t->root, "json"), file);
    if (want)
        assert_within(t->f, file, want, section(t->f, s));
}

static void check_model(const char *model)
{
    struct fixture f;
    struct golden t;
    setup(&f, model);
    golden_open(&t, &f, model);
    check_report(&t, "report_graph", NULL, "report_graph_seed.txt");
    check_report(&t, "report_node_type", NULL, "node_type.txt");
    check_report(&t, "report_node_shape", NULL, "node_shape.txt");
    check_json(&t, "meta_common.json", MASE_COMMON);
    check_table(&t, "which = ['common']", "meta_common.txt");
    check_table(&t, "which = 'software'", "meta_software.txt");
    check_table(&t, "which = ['software', 'common']", "meta_common_software.txt");
    check_table(&t, NULL, "meta_all.txt");
    check_report(&t, "report_node_hardware_type", NULL, "node_hardware_type.txt");
    check_table(&t, "which = ['hardware']", "meta_hardware.txt");
    RUN(&f, "add_hardware_metadata", NULL);
    check_json(&t, "meta_hardware.json", MASE_HARDWARE);
    const struct mase_value *sources =
        mase_value_get(mase_value_get(t.root, "json"), "verilog_sources.json");
    if (sources)
        assert_true(mase_value_equal(sources, f.g->meta->verilog_sources));
    RUN(&f, "verify_common_metadata", NULL);
    golden_close(&t);
    teardown(&f);
}

static void reports_equal_the_originals(void **state)
{
    (void)state;
    for (int i = 0; golden_models[i]; i++)
        check_model(golden_models[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(reports_equal_the_originals) };
    mase_log_set_level(MASE_CRITICAL);
    return run_cases(argc, argv, tests, NULL, NULL);
}
