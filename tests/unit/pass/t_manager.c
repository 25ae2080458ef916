/*
 * t_manager.c - the manager holds passes to their contract.
 */
#include "fixture.h"
#include "run_cases.h"

#include "base/host.h"

#define ON(name)                                \
    static void name##_body(struct fixture *f); \
    static void name(void **state)              \
    {                                           \
        struct fixture f;                       \
        (void)state;                            \
        setup(&f, "jsc-tiny");                  \
        name##_body(&f);                        \
        teardown(&f);                           \
    }                                           \
    static void name##_body(struct fixture *f)

/* ---- passes of our own ---- */

/* What no analysis may do: it gives the linear layer a format. */
static enum mase_status edit(const struct mase_graph *g, const void *opts,
                             struct mase_pass_env *env, struct mase_err *err)
{
    (void)opts, (void)env, (void)err;
    struct mase_quant q = { .kind = MASE_QUANT_integer };
    mase_module_set_quant((struct mase_graph *)g, mase_graph_module(g, "seq_blocks.2"), &q);
    return MASE_OK;
}

/* The same behind the counter's back. */
static enum mase_status meddle(const struct mase_graph *g, const void *opts,
                               struct mase_pass_env *env, struct mase_err *err)
{
    (void)opts, (void)env, (void)err;
    mase_graph_find(g, "seq_blocks_2")->target = "seq_blocks.3";
    return MASE_OK;
}

static void insert_behind(struct mase_graph **g, const char *function)
{
    struct mase_node *n = mase_graph_find(*g, "seq_blocks_2");
    struct mase_arg args = mase_arg_seq(&(*g)->arena, MASE_ARG_TUPLE,
                                        &(struct mase_arg){ .kind = MASE_ARG_NODE, .node = n }, 1);
    struct mase_node *y = mase_graph_insert_after(*g, n, MASE_CALL_FUNCTION, function, &args, NULL);
    mase_graph_replace_uses(*g, n, y, y);
}

static enum mase_status insert(struct mase_graph **g, const void *opts, struct mase_pass_env *env,
                               struct mase_err *err)
{
    (void)opts, (void)env, (void)err;
    insert_behind(g, "torch.relu");
    return MASE_OK;
}

static enum mase_status squash(struct mase_graph **g, const void *opts, struct mase_pass_env *env,
                               struct mase_err *err)
{
    (void)opts, (void)env, (void)err;
    insert_behind(g, "torch.tanh");
    return MASE_OK;
}

struct numbers {
    int64_t width;
    const char *label;
};

static struct numbers seen;
static int checks;

static enum mase_status look(const struct mase_graph *g, const void *opts,
                             struct mase_pass_env *env, struct mase_err *err)
{
    (void)g, (void)env, (void)err;
    seen = *(const struct numbers *)opts;
    return MASE_OK;
}

static enum mase_status check_numbers(const void *opts, struct mase_err *err)
{
    checks++;
    if (((const struct numbers *)opts)->width == 13)
        return mase_fail(err, MASE_EVALUE, "13 is unlucky");
    return MASE_OK;
}

static const struct mase_opt number_rows[] = {
    MASE_OPT_INT(struct numbers, width, "width", 8, 1, 32, "bits"),
    MASE_OPT_TEXT(struct numbers, label, "label", NULL, "a word"),
    { 0 },
};

static const struct mase_pass editing = { .name = "editing", .analyse = edit };
static const struct mase_pass meddling = { .name = "meddling", .analyse = meddle };
static const struct mase_pass inserting = {
    .name = "inserting",
    .keeps = MASE_PROP_META | MASE_PROP_HARDWARE,
    .transform = insert,
};
static const struct mase_pass looking = {
    .name = "looking",
    .needs = MASE_PROP_HARDWARE,
    .opts = number_rows,
    .opts_size = sizeof(struct numbers),
    .check = check_numbers,
    .analyse = look,
};

static enum mase_status run_own(struct fixture *f, const struct mase_pass *p, const char *args)
{
    return mase_manager_run_pass(&f->m, &f->g, p, args ? toml(f, args) : NULL, &f->err);
}

/* ---- the contract ---- */

ON(an_analysis_that_edits_is_caught)
{
    f->m.verify = false; /* the counter alone is enough */
    assert_int_equal(run_own(f, &editing, NULL), MASE_EUNSUPPORTED);
    assert_non_null(strstr(f->err.msg, "pass editing: an analysis must not change the graph"));
}

ON(an_analysis_that_meddles_is_caught_when_verifying)
{
    assert_int_equal(run_own(f, &meddling, NULL), MASE_EUNSUPPORTED);
    assert_non_null(strstr(f->err.msg, "pass meddling: an analysis must not change the graph: "));
}

ON(needs_are_provided_in_order)
{
    static const char *const want[] = { "init_metadata", "add_common_metadata",
                                        "add_hardware_metadata", "looking" };
    MUST(f, run_own(f, &looking, NULL));
    assert_int_equal(f->m.runs, 4);
    assert_int_equal(f->m.timings->count, 4);
    for (int i = 0; i < 4; i++)
        assert_string_equal(mase_value_get(f->m.timings->items[i], "pass")->s, want[i]);
    assert_int_equal(f->g->props, MASE_PROP_META | MASE_PROP_COMMON | MASE_PROP_HARDWARE);
    MUST(f, run_own(f, &looking, NULL)); /* nothing is provided twice */
    assert_int_equal(f->m.runs, 5);
}

ON(an_edit_drops_what_is_not_kept)
{
    RUN(f, "add_software_metadata", NULL);
    RUN(f, "add_hardware_metadata", NULL);
    assert_int_equal(f->g->props, MASE_PROP_ALL);
    f->m.verify = false; /* which would say what the next test claims */
    MUST(f, run_own(f, &inserting, NULL));
    assert_int_equal(f->g->props, MASE_PROP_META | MASE_PROP_HARDWARE);
    assert_non_null(mase_graph_find(f->g, "relu"));
    assert_int_equal(f->m.env.original->node_count + 1, f->g->node_count);
}

ON(a_pass_that_promises_too_much_is_caught)
{
    RUN(f, "init_metadata", NULL);
    assert_int_equal(run_own(f, &inserting, NULL), MASE_EUNSUPPORTED);
    assert_non_null(
        strstr(f->err.msg, "pass inserting: says that metadata holds, but 'relu' has none"));
}

ON(fresh_metadata_makes_the_old_untrue)
{
    RUN(f, "add_hardware_metadata", NULL);
    RUN(f, "init_metadata", NULL);
    assert_int_equal(f->g->props, MASE_PROP_META);
    assert_false(f->g->first->meta->has_common);
}

/* ---- options ---- */

ON(options_are_bound_and_the_table_is_not_touched)
{
    seen.label = "something";
    struct mase_value *args = toml(f, "width = 5\nlabel = \"NA\"");
    struct mase_value *kept = mase_value_copy(&f->arena, args);
    MUST(f, mase_manager_run_pass(&f->m, &f->g, &looking, args, &f->err));
    assert_int_equal(seen.width, 5);
    assert_null(seen.label); /* NA is none */
    assert_true(mase_value_equal(args, kept));
}

ON(defaults_hold_without_a_section)
{
    MUST(f, run_own(f, &looking, NULL));
    assert_int_equal(seen.width, 8);
    assert_null(seen.label);
}

ON(a_mistyped_key_names_the_nearest)
{
    assert_int_equal(run_own(f, &looking, "label = 'a'\nwidht = 5"), MASE_EVALUE);
    assert_non_null(strstr(f->err.msg, "pass looking: "));
    assert_non_null(strstr(f->err.msg, "'widht'"));
    assert_non_null(strstr(f->err.msg, "'width'"));
    assert_int_equal(f->err.loc.line, 2);
    assert_int_equal(f->m.runs, 0); /* found before anything ran */
}

ON(values_are_checked_before_anything_runs)
{
    assert_int_equal(run_own(f, &looking, "width = 99"), MASE_EVALUE);
    assert_non_null(strstr(f->err.msg, "99"));
    assert_int_equal(f->err.loc.col, 9);
    checks = 0;
    assert_int_equal(run_own(f, &looking, "width = 13"), MASE_EVALUE);
    assert_non_null(strstr(f->err.msg, "pass looking: 13 is unlucky"));
    assert_int_equal(f->err.loc.line, 1); /* without a place of its own: the section's */
    assert_int_equal(checks, 1);
    assert_int_equal(f->m.runs, 0);
}

ON(an_unknown_pass_names_the_nearest)
{
    struct mase_value *passes = toml(f, "[report_graph]\n[quantise]\nby = 'type'");
    assert_int_equal(mase_manager_run_all(&f->m, &f->g, passes, &f->err), MASE_EVALUE);
    assert_non_null(strstr(f->err.msg, "'quantise'"));
    assert_non_null(strstr(f->err.msg, "'quantize'"));
    assert_int_equal(f->err.loc.line, 2);
    assert_int_equal(f->m.runs, 0); /* the whole table is checked first */
}

ON(passes_must_be_tables)
{
    const struct mase_value *root = toml(f, "passes = 3\n[other]\nreport_graph = 4");
    struct mase_pass_runs runs;
    assert_int_equal(mase_pass_runs_bind(&runs, &f->arena, mase_value_get(root, "passes"), &f->err),
                     MASE_EVALUE);
    assert_non_null(strstr(f->err.msg, "passes must be tables, not integer"));
    assert_int_equal(mase_pass_runs_bind(&runs, &f->arena, mase_value_get(root, "other"), &f->err),
                     MASE_EVALUE);
    assert_int_equal(f->err.loc.line, 3);
}

ON(passes_run_in_the_order_of_the_file)
{
    MUST(f, mase_manager_run_all(&f->m, &f->g,
                                 toml(f, "[report_node_type]\n[report_graph]\n[init_metadata]"),
                                 &f->err));
    const struct mase_value *t = f->m.timings;
    assert_int_equal(t->count, 5);
    assert_string_equal(mase_value_get(t->items[2], "pass")->s, "report_node_type");
    assert_string_equal(mase_value_get(t->items[3], "pass")->s, "report_graph");
    assert_string_equal(mase_value_get(t->items[4], "pass")->s, "init_metadata");
    assert_true(mase_value_get(t->items[4], "seconds")->f >= 0);
}

/* ---- dumps ---- */

ON(a_dump_is_the_graph_after_the_pass)
{
    static const char *const after[] = { "report_graph", NULL };
    struct mase_str want = { 0 };
    f->m.dump_after = after;
    RUN(f, "init_metadata", NULL);
    assert_string_equal(printed(f), "");
    RUN(f, "report_graph", NULL);
    mase_str_add(&want, "# after report_graph\n");
    mase_graph_print_mg(&want, f->g);
    assert_non_null(strstr(printed(f), mase_str_text(&want)));
    mase_str_release(&want);
}

ON(a_dump_in_a_folder_reads_back_equal)
{
    static const char *const after[] = { "all", NULL };
    const char *dir = temp_dir(f);
    struct mase_graph *again;
    f->m.dump_after = after;
    f->m.dump_dir = dir;
    RUN(f, "init_metadata", NULL);
    const char *path = mase_path_join(&f->arena, dir, "01_init_metadata.mg");
    MUST(f, mase_graph_read_mg(&again, path, &f->err));
    assert_true(mase_graph_equal(f->g, again, NULL));
    mase_graph_free(again);
    assert_string_equal(f->m.env.files->items[0]->s, path);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(dir), 0);
}

/* ---- the table ---- */

static void every_pass_is_well_formed(void **state)
{
    (void)state;
    for (int i = 0; mase_passes[i]; i++) {
        const struct mase_pass *p = mase_passes[i];
        assert_ptr_equal(mase_pass_find(p->name), p);
        assert_non_null(p->help);
        assert_true(!p->analyse != !p->transform);
        assert_true(!p->opts == !p->opts_size);
        if (p->then)
            assert_non_null(mase_pass_find(p->then));
    }
    assert_null(mase_pass_find("no such pass"));
    assert_string_equal(mase_pass_kind(mase_pass_find("quantize")), "transform");
    assert_string_equal(mase_pass_kind(mase_pass_find("load_mase_graph")), "interface");
    assert_string_equal(mase_pass_kind(mase_pass_find("report_graph")), "analysis");
    assert_string_equal(mase_pass_kind(&inserting), "transform");
}

static enum mase_status look_for_passes(void *data, struct mase_err *err)
{
    (void)err;
    int count = 0;
    assert_ptr_equal(mase_pass_find("insert"), data);
    assert_non_null(mase_pass_find("quantize"));
    assert_null(mase_pass_find("no such pass"));
    while (mase_pass_at(count))
        count++;
    assert_ptr_equal(mase_pass_at(count - 1), data);
    assert_null(mase_pass_at(count + 1));
    return MASE_OK;
}

static void a_host_brings_passes_for_its_call(void **state)
{
    (void)state;
    static const struct mase_pass own = { .name = "insert", .help = "-", .transform = insert };
    const struct mase_pass *const list[] = { &own, NULL };
    const struct mase_host host = { .passes = list };
    assert_int_equal(mase_guarded(&host, look_for_passes, (void *)&own, NULL), MASE_OK);
    assert_null(mase_pass_find("insert"));
}

/* No rounding explains what tanh does. */
static void a_broken_promise_is_undone(void **state)
{
    static const struct mase_pass lies = { .name = "lies",
                                           .help = "says that it changes nothing",
                                           .transform = squash,
                                           .same_outputs = true };
    struct fixture f;
    (void)state;
    setup(&f, "jsc-tiny");
    mase_graph_init_weights(f.g, 1);
    struct mase_graph *was = mase_graph_clone(f.g);
    mase_graph_own_weights(was); /* it outlives the graph */
    const float *weight = mase_f32(&mase_graph_attr(f.g, "seq_blocks.2.weight")->tensor);
    const float first = weight[0];
    MUST(&f, mase_manager_run_pass(&f.m, &f.g, &lies, NULL, &f.err));
    assert_true(mase_graph_equal(was, f.g, NULL));
    assert_true(mase_f32(&mase_graph_attr(f.g, "seq_blocks.2.weight")->tensor) == weight);
    assert_true(weight[0] == first);
    assert_true(mase_value_get(mase_value_get(f.m.env.info, "lies"), "undone")->b);
    assert_null(f.m.env.original);
    mase_graph_free(was);
    teardown(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_analysis_that_edits_is_caught),
        cmocka_unit_test(an_analysis_that_meddles_is_caught_when_verifying),
        cmocka_unit_test(needs_are_provided_in_order),
        cmocka_unit_test(an_edit_drops_what_is_not_kept),
        cmocka_unit_test(a_pass_that_promises_too_much_is_caught),
        cmocka_unit_test(fresh_metadata_makes_the_old_untrue),
        cmocka_unit_test(options_are_bound_and_the_table_is_not_touched),
        cmocka_unit_test(defaults_hold_without_a_section),
        cmocka_unit_test(a_mistyped_key_names_the_nearest),
        cmocka_unit_test(values_are_checked_before_anything_runs),
        cmocka_unit_test(an_unknown_pass_names_the_nearest),
        cmocka_unit_test(passes_must_be_tables),
        cmocka_unit_test(passes_run_in_the_order_of_the_file),
        cmocka_unit_test(a_dump_is_the_graph_after_the_pass),
        cmocka_unit_test(a_dump_in_a_folder_reads_back_equal),
        cmocka_unit_test(every_pass_is_well_formed),
        cmocka_unit_test(a_host_brings_passes_for_its_call),
        cmocka_unit_test(a_broken_promise_is_undone),
    };
    mase_log_set_level(MASE_CRITICAL);
    return run_cases(argc, argv, tests, NULL, NULL);
}
