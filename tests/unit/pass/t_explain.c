/*
 * t_explain.c - why the quantise pass does what it does, and that it then does just that.
 */
#include "fixture.h"
#include "run_cases.h"

#include <mase/quantize.h>

#define INTEGER                                                       \
    "{ name = 'integer', data_in_width = 8, data_in_frac_width = 4, " \
    "weight_width = 8, weight_frac_width = 4, bias_width = 8, bias_frac_width = 4 }"
#define NA_DEFAULT "default.config.name = 'NA'\n"

static enum mase_status decide(struct fixture *f, struct mase_decision *d,
                               const struct mase_graph *g, const char *args)
{
    struct mase_value *passes = mase_value_table(&f->arena);
    struct mase_pass_runs runs;
    mase_value_set(&f->arena, passes, "quantize", toml(f, args));
    MASE_TRY(mase_pass_runs_bind(&runs, &f->arena, passes, &f->err));
    assert_null(mase_pass_runs_find(&runs, "quantize", runs.items));
    return mase_quantize_explain(d, &f->arena, g, mase_pass_runs_find(&runs, "quantize", NULL),
                                 &f->err);
}

static struct mase_decision *explain(struct fixture *f, const char *args)
{
    struct mase_decision *d =
        mase_new_array(&f->arena, struct mase_decision, (size_t)f->g->node_count);
    MUST(f, decide(f, d, f->g, args));
    return d;
}

static const struct mase_decision *of(const struct fixture *f, const struct mase_decision *d,
                                      const char *name)
{
    for (int i = 0; i < f->g->node_count; i++)
        if (mase_streq(d[i].node->name, name))
            return &d[i];
    fail_msg("no decision on %s", name);
    return NULL;
}

static void by_type(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-toy");
    const uint64_t edits = f.g->edits;
    const struct mase_decision *d =
        explain(&f, "by = 'type'\n" NA_DEFAULT "linear.config = " INTEGER);
    assert_int_equal(of(&f, d, "x")->reason, MASE_NOT_QUANTISABLE);
    assert_null(of(&f, d, "x")->key);
    assert_int_equal(of(&f, d, "seq_blocks_0")->reason, MASE_NOT_NAMED);
    assert_null(of(&f, d, "seq_blocks_0")->key);
    assert_int_equal(of(&f, d, "seq_blocks_1")->reason, MASE_SAYS_NA);
    assert_true(of(&f, d, "seq_blocks_1")->fallback);
    assert_int_equal(of(&f, d, "seq_blocks_2")->reason, MASE_QUANTISED);
    assert_string_equal(of(&f, d, "seq_blocks_2")->key, "linear");
    assert_string_equal(of(&f, d, "seq_blocks_2")->by, "type");
    assert_false(of(&f, d, "seq_blocks_2")->fallback);
    assert_int_equal(f.g->edits, edits);
    teardown(&f);
}

static void by_pattern_name_and_bypass(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-toy");
    const struct mase_decision *d =
        explain(&f, "by = 'regex_name'\n" NA_DEFAULT "'seq_blocks_[25]'.config = " INTEGER);
    assert_string_equal(of(&f, d, "seq_blocks_5")->key, "seq_blocks_[25]");
    assert_int_equal(of(&f, d, "seq_blocks_8")->reason, MASE_SAYS_NA);
    d = explain(&f, "by = 'name'\ndefault.config = " INTEGER "\nseq_blocks_2.config.name = 'NA'\n"
                    "seq_blocks_5.config = { name = 'integer', bypass = true }");
    assert_int_equal(of(&f, d, "seq_blocks_2")->reason, MASE_SAYS_NA);
    assert_false(of(&f, d, "seq_blocks_2")->fallback);
    assert_int_equal(of(&f, d, "seq_blocks_5")->reason, MASE_BYPASSED);
    assert_int_equal(of(&f, d, "seq_blocks_8")->reason, MASE_QUANTISED);
    assert_true(of(&f, d, "seq_blocks_8")->fallback);
    teardown(&f);
}

/* What was explained is what happens. */
static void agrees_with_the_pass(void **state)
{
    (void)state;
    static const char args[] = "by = 'regex_name'\n" NA_DEFAULT "'.*_[1-8]'.config = " INTEGER;
    struct fixture f;
    setup(&f, "jsc-toy");
    const struct mase_decision *d = explain(&f, args);
    RUN(&f, "quantize", args);
    int i = 0, changed = 0;
    for (const struct mase_node *n = f.g->first; n; n = n->next, i++) {
        assert_string_equal(d[i].node->name, n->name);
        assert_true((d[i].reason == MASE_QUANTISED) == (mase_node_quant(n) != NULL));
        changed += d[i].reason == MASE_QUANTISED;
    }
    assert_int_equal(i, f.g->node_count);
    assert_int_equal(changed, 6); /* three linear layers, three of the four ReLUs */
    teardown(&f);
}

/* Decisions carried out are what the pass does; one's own need neither text nor metadata. */
static void decisions_can_be_carried_out(void **state)
{
    (void)state;
    static const char args[] = "by = 'regex_name'\n" NA_DEFAULT "'.*_[1-8]'.config = " INTEGER;
    struct fixture f;
    struct mase_str why = { 0 };
    setup(&f, "jsc-toy");
    struct mase_graph *copy = mase_graph_clone(f.g), *own = mase_graph_clone(f.g);
    struct mase_decision *d =
        mase_new_array(&f.arena, struct mase_decision, (size_t)f.g->node_count);
    MUST(&f, decide(&f, d, copy, args));
    mase_quantize_apply(copy, d, copy->node_count);
    RUN(&f, "quantize", args);
    if (!mase_graph_same_formats(f.g, copy, &why))
        fail_msg("%s", mase_str_text(&why));
    const struct mase_decision layer = { .node = mase_graph_find(own, "seq_blocks_2"),
                                         .reason = MASE_QUANTISED,
                                         .quant = of(&f, d, "seq_blocks_2")->quant };
    mase_quantize_apply(own, &layer, 1);
    assert_non_null(mase_node_quant(layer.node));
    assert_null(mase_node_quant(mase_graph_find(own, "seq_blocks_5")));
    mase_graph_free(copy);
    mase_graph_free(own);
    mase_str_release(&why);
    teardown(&f);
}

static void faults_have_places(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-toy");
    struct mase_decision *d =
        mase_new_array(&f.arena, struct mase_decision, (size_t)f.g->node_count);
    static const struct {
        const char *args, *message;
        int line;
    } cases[] = {
        { "by = 'colour'", "colour", 1 },
        { "by = 'type'\nlinaer.config.name = 'NA'", "did you mean 'linear'", 2 },
        { "by = 'type'", "seq_blocks_1", 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_not_equal(decide(&f, d, f.g, cases[i].args), MASE_OK);
        assert_non_null(strstr(f.err.msg, cases[i].message));
        assert_int_equal(f.err.loc.line, cases[i].line);
    }
    teardown(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_type),
        cmocka_unit_test(by_pattern_name_and_bypass),
        cmocka_unit_test(agrees_with_the_pass),
        cmocka_unit_test(decisions_can_be_carried_out),
        cmocka_unit_test(faults_have_places),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
