/*
 * t_quantize.c - choosing, binding and applying configurations beyond the golden cases.
 */
#include "run_cases.h"
#include "unit/ir/build.h"

#include "fixture.h"
#include "formats.h"

#define INTEGER(d, w, b)                                                                 \
    "name = 'integer'\ndata_in_width = " d "\ndata_in_frac_width = 4\nweight_width = " w \
    "\nweight_frac_width = 4\nbias_width = " b "\nbias_frac_width = 4\n"
#define NONE "[default.config]\nname = 'NA'\n"
#define LAB  "by = 'type'\n" NONE "[linear.config]\n" INTEGER("8", "8", "8")

#define ON(name, model)                         \
    static void name##_body(struct fixture *f); \
    static void name(void **state)              \
    {                                           \
        struct fixture f;                       \
        (void)state;                            \
        setup(&f, model);                       \
        name##_body(&f);                        \
        teardown(&f);                           \
    }                                           \
    static void name##_body(struct fixture *f)

static const struct mase_quant *quant_of(struct fixture *f, const char *node)
{
    return mase_node_quant(mase_graph_find(f->g, node));
}

static int quantised(struct fixture *f)
{
    int n = 0;
    for (const struct mase_node *node = f->g->first; node; node = node->next)
        n += mase_node_quant(node) != NULL;
    return n;
}

/* What the pass warns of, with these arguments. */
static char *warnings(struct fixture *f, const char *args)
{
    struct caught c;
    catch_log(&c, MASE_WARNING);
    enum mase_status st = run(f, "quantize", args);
    char *text = caught_log(&c);
    if (st)
        fail_msg("%s", f->err.msg);
    return text;
}

/* ---- the laboratory's configuration ---- */

ON(only_the_linear_layer_changes, "jsc-tiny")
{
    RUN(f, "quantize", LAB);
    assert_int_equal(quantised(f), 1);
    const struct mase_quant *q = quant_of(f, "seq_blocks_2");
    assert_int_equal(q->kind, MASE_QUANT_integer);
    assert_false(q->bypass);
    for (int i = MASE_DATA_IN; i <= MASE_BIAS; i++) {
        assert_ptr_equal(q->operand[i], integer_format(8, 4));
    }
    assert_null(q->operand[MASE_DATA_OUT]);
    assert_int_equal(
        mase_value_get(mase_value_get(f->m.env.info, "summarize_quantization"), "changed")->count,
        1);
}

ON(properties_survive_but_hardware, "jsc-tiny")
{
    RUN(f, "add_software_metadata", NULL);
    RUN(f, "add_hardware_metadata", NULL);
    RUN(f, "quantize", LAB);
    assert_int_equal(f->g->props, MASE_PROP_META | MASE_PROP_COMMON | MASE_PROP_SOFTWARE);
    assert_false(mase_graph_find(f->g, "seq_blocks_2")->meta->hw.valid);
    RUN(f, "add_hardware_metadata", NULL);
    const struct mase_value *v = mase_graph_find(f->g, "seq_blocks_2")->meta->hw.verilog_param;
    assert_int_equal(mase_value_get(v, "WEIGHT_PRECISION_0")->i, 8);
    assert_int_equal(mase_value_get(v, "WEIGHT_PRECISION_1")->i, 4);
    assert_int_equal(mase_value_get(v, "DATA_OUT_0_PRECISION_0")->i, 32);
}

ON(twice_is_once, "jsc-tiny")
{
    struct mase_value *args = toml(f, LAB);
    MUST(f, mase_manager_run(&f->m, &f->g, "quantize", args, &f->err));
    struct mase_graph *once = mase_graph_clone(f->g);
    (void)printed(f);
    MUST(f, mase_manager_run(&f->m, &f->g, "quantize", args, &f->err));
    assert_true(mase_graph_equal(once, f->g, NULL));
    assert_null(strstr(printed(f), "True")); /* the second time, nothing changed */
    mase_graph_free(once);
}

ON(a_quantised_graph_can_be_quantised_again, "jsc-tiny")
{
    RUN(f, "quantize", LAB);
    (void)printed(f);
    RUN(f, "quantize", "by = 'type'\n" NONE "[linear.config]\n" INTEGER("16", "6", "4"));
    const struct mase_quant *q = quant_of(f, "seq_blocks_2");
    assert_int_equal(mase_format_bits(q->operand[MASE_DATA_IN]), 16);
    assert_int_equal(mase_format_bits(q->operand[MASE_WEIGHT]), 6);
    const struct mase_meta *m = mase_graph_find(f->g, "seq_blocks_2")->meta;
    assert_int_equal(mase_format_bits(mase_meta_arg(m, "bias")->format), 4);
    assert_non_null(strstr(printed(f), "| LinearInteger   | LinearInteger    | True "));
}

ON(weights_stay_float, "jsc-tiny")
{
    const struct mase_param *w =
        mase_module_param(mase_graph_module(f->g, "seq_blocks.2"), "weight");
    float before[80];
    memcpy(before, w->tensor.data, sizeof before);
    RUN(f, "quantize", LAB);
    w = mase_module_param(mase_graph_module(f->g, "seq_blocks.2"), "weight");
    assert_memory_equal(before, w->tensor.data, sizeof before);
}

/* ---- what a configuration may leave out or add ---- */

ON(no_bias_no_bias_keys, "res_mlp")
{
    RUN(f, "quantize",
        "by = 'name'\n" NONE "[fc3.config]\nname = 'integer'\ndata_in_width = 8\n"
        "data_in_frac_width = 4\nweight_width = 8\nweight_frac_width = 4\n");
    assert_int_equal(quantised(f), 1);
    assert_null(quant_of(f, "fc3")->operand[MASE_BIAS]);
    FAILS(f, "quantize",
          "by = 'name'\n" NONE "[fc2.config]\nname = 'integer'\ndata_in_width = 8\n"
          "weight_width = 8\nweight_frac_width = 4\n",
          4, 6,
          "fc2 (linear) in integer also needs data_in_frac_width, bias_width, bias_frac_width");
}

ON(the_output_can_be_quantised, "jsc-tiny")
{
    RUN(f, "quantize", LAB "data_out_width = 10\ndata_out_frac_width = 'NA'\n");
    const struct mase_meta_arg *out =
        mase_meta_result(mase_graph_find(f->g, "seq_blocks_2")->meta, "data_out_0");
    assert_ptr_equal(out->format, integer_format(10, MASE_NA));
    RUN(f, "verify_common_metadata", NULL);
}

ON(bypass_changes_the_class_and_nothing_else, "jsc-tiny")
{
    RUN(f, "quantize", LAB "bypass = true\n");
    assert_true(quant_of(f, "seq_blocks_2")->bypass);
    assert_non_null(strstr(printed(f), "LinearInteger"));
    const struct mase_meta *m = mase_graph_find(f->g, "seq_blocks_2")->meta;
    assert_null(mase_meta_arg(m, "weight")->format);
    RUN(f, "verify_common_metadata", NULL);
}

ON(none_leaves_alone_whatever_else_is_said, "jsc-tiny")
{
    RUN(f, "quantize", "by = 'type'\n" NONE "[linear.config]\nname = 'NA'\nweight_width = 8\n");
    assert_int_equal(quantised(f), 0);
}

ON(a_default_is_needed_only_by_who_has_nothing_else, "jsc-tiny")
{
    RUN(f, "quantize",
        "by = 'type'\n[linear.config]\n" INTEGER("8", "8", "8") "[relu.config]\nname = 'NA'\n");
    FAILS(f, "quantize", "by = 'type'\n[linear.config]\n" INTEGER("8", "8", "8"), 1, 1,
          "node 'seq_blocks_1' (relu) has no section of its own, and there is no default");
}

ON(an_operation_that_does_not_occur_is_no_fault, "jsc-tiny")
{
    char *text = warnings(f, LAB "[conv2d.config]\n" INTEGER("8", "8", "8"));
    assert_string_equal(text, "");
    free(text);
}

/* ---- choosing ---- */

ON(of_several_patterns_the_first_wins, "jsc-toy")
{
    RUN(f, "quantize",
        "by = 'regex_name'\n" NONE "['seq_blocks_2'.config]\n" INTEGER(
            "4", "4", "4") "['seq_blocks_\\d+'.config]\n" INTEGER("8", "8", "8"));
    assert_int_equal(mase_format_bits(quant_of(f, "seq_blocks_2")->operand[MASE_WEIGHT]), 4);
    assert_int_equal(mase_format_bits(quant_of(f, "seq_blocks_5")->operand[MASE_WEIGHT]), 8);
}

ON(a_pattern_must_match_the_whole_name, "jsc-toy")
{
    char *text =
        warnings(f, "by = 'regex_name'\n" NONE "['blocks_2'.config]\n" INTEGER("8", "8", "8"));
    assert_non_null(strstr(text,
                           ":4:2: quantize: 'blocks_2' matches no node that can be quantised; "
                           "those that can be quantised: seq_blocks_1"));
    free(text);
    assert_int_equal(quantised(f), 0);
    RUN(f, "quantize", "by = 'regex_name'\n" NONE "['blocks_2'.config]\nname = 'NA'");
}

ON(a_pattern_that_comes_too_late_is_warned_of, "jsc-toy")
{
    char *text = warnings(f, "by = 'regex_name'\n" NONE "['seq.*'.config]\n" INTEGER(
                                 "8", "8", "8") "['seq_blocks_2'.config]\n" INTEGER("4", "4", "4"));
    assert_non_null(strstr(text, "every node that 'seq_blocks_2' matches falls under an earlier"));
    free(text);
}

ON(a_node_that_cannot_be_quantised_is_refused, "toy")
{
    FAILS(f, "quantize", "by = 'name'\n" NONE "[size.config]\n" INTEGER("8", "8", "8"), 4, 2,
          "'size' is a size, which cannot be quantised");
    RUN(f, "quantize", "by = 'name'\n" NONE "[size.config]\nname = 'NA'");
}

/* Norms and pools stay as they are unless somebody says their name: the original knows none. */
ON(what_is_not_usual_has_to_be_named, "jsc-tiny")
{
    RUN(f, "quantize", "by = 'type'\n[default.config]\n" INTEGER("8", "8", "8"));
    assert_null(quant_of(f, "seq_blocks_0"));
    assert_non_null(quant_of(f, "seq_blocks_1"));
    RUN(f, "quantize", "by = 'type'\n[linear.config]\nname = 'NA'\n[relu.config]\nname = 'NA'");
    RUN(f, "quantize", "by = 'regex_name'\n['.*'.config]\n" INTEGER("8", "8", "8"));
    assert_null(quant_of(f, "seq_blocks_0"));
    FAILS(f, "quantize", "by = 'regex_name'\n" NONE "['.*_0'.config]\n" INTEGER("8", "8", "8"), 4,
          2,
          "'.*_0' matches 'seq_blocks_0', but patterns reach no batch_norm1d without reach = "
          "\"all\"");
}

ON(what_is_named_is_reached, "jsc-tiny")
{
    RUN(f, "quantize", "by = 'type'\n" NONE "[batch_norm1d.config]\n" INTEGER("8", "6", "5"));
    const struct mase_quant *q = quant_of(f, "seq_blocks_0");
    assert_ptr_equal(q->operand[MASE_DATA_IN], integer_format(8, 4));
    assert_ptr_equal(q->operand[MASE_WEIGHT], integer_format(6, 4));
    assert_ptr_equal(q->operand[MASE_BIAS], integer_format(5, 4));
    RUN(f, "quantize", "by = 'name'\n" NONE "[seq_blocks_0.config]\n" INTEGER("7", "7", "7"));
    assert_ptr_equal(quant_of(f, "seq_blocks_0")->operand[0], integer_format(7, 4));
}

ON(reach_all_is_all, "jsc-tiny")
{
    RUN(f, "quantize",
        "by = 'regex_name'\nreach = 'all'\n" NONE "['.*_0'.config]\n" INTEGER("8", "8", "8"));
    assert_non_null(quant_of(f, "seq_blocks_0"));
    assert_int_equal(quantised(f), 1);
    FAILS(f, "quantize", "by = 'type'\nreach = 'some'\n" NONE, 2, 9, "reach");
}

/* A result may have a format of its own, whatever the operation; without a sign where it has none.
 */
ON(results_of_all_operations, "jsc-tiny")
{
    RUN(f, "quantize",
        "by = 'type'\n" NONE
        "[relu.config]\nname = 'integer'\ndata_in_width = 8\ndata_in_frac_width = 4\n"
        "data_out_width = 3\ndata_out_frac_width = 2\n");
    const struct mase_node *n = mase_graph_find(f->g, "seq_blocks_1");
    assert_ptr_equal(mase_result_rounding(n).format, integer_format(3, 2));
    assert_int_equal(mase_result_rounding(n).sign, MASE_UNSIGNED);
}

ON(keys_beside_none_are_those_of_formats, "jsc-tiny")
{
    RUN(f, "quantize", LAB "[relu.config]\nname = 'NA'\ndata_in_width = 8\nbypass = false");
    FAILS(f, "quantize", LAB "[relu.config]\nname = 'NA'\nwombat = 8", 14, 1,
          "'NA' has no parameter 'wombat'");
    FAILS(f, "quantize", LAB "[relu.config]\nname = 'None'", 13, 8,
          "no number format is called 'None'; allowed: integer, fixed, ");
}

ON(calls_of_one_module_must_agree, "jsc-tiny")
{
    struct mase_node *n = mase_graph_find(f->g, "seq_blocks_3");
    struct mase_arg args = mase_arg_seq(&f->g->arena, MASE_ARG_TUPLE,
                                        &(struct mase_arg){ .kind = MASE_ARG_NODE, .node = n }, 1);
    struct mase_node *again =
        mase_graph_insert_after(f->g, n, MASE_CALL_MODULE, "seq_blocks.3", &args, NULL);
    mase_graph_replace_uses(f->g, n, again, again);
    char *text = warnings(f, "by = 'name'\n" NONE "[seq_blocks_3.config]\n" INTEGER("8", "8", "8"));
    assert_non_null(strstr(text, "seq_blocks_3 and seq_blocks_4 are both calls of seq_blocks.3"));
    free(text);
    /* both compute in the format, and the metadata of both says so */
    assert_int_equal(mase_meta_arg(again->meta, "data_in_0")->format->kind, MASE_QUANT_integer);
    RUN(f, "verify_common_metadata", NULL);
}

ON(functions_are_quantised_too, "toy_custom_fn")
{
    RUN(f, "quantize",
        "by = 'type'\n" NONE
        "[relu.config]\n" INTEGER("8", "8", "8") "[matmul.config]\n" INTEGER("6", "7", "8"));
    assert_null(quant_of(f, "relu")->operand[MASE_WEIGHT]);
    const struct mase_meta *m = mase_graph_find(f->g, "matmul")->meta;
    assert_int_equal(mase_format_bits(mase_meta_arg(m, "data_in_0")->format), 6);
    assert_int_equal(mase_format_bits(mase_meta_arg(m, "data_in_1")->format), 7);
}

/* F.linear and x.add(y): what the original fails on. */
static struct mase_graph *without_modules(void)
{
    struct mase_graph *g = mase_graph_new("functions");
    const struct mase_shape shape = { 2, { 4, 16 } };
    mase_graph_add_attr(g, "w", MASE_F32, &shape, MASE_PARAM_TRAINED);
    struct mase_node *x = placeholder(g, "x");
    struct mase_node *w = mase_graph_insert(g, NULL, MASE_GET_ATTR, "w", NULL, NULL);
    struct mase_node *y = FUNCTION(g, "torch._C._nn.linear", N(x), N(w));
    output(g, METHOD(g, "add", N(y), N(y)));
    return g;
}

static void a_linear_function_is_a_linear_layer(void **state)
{
    (void)state;
    struct fixture f;
    setup_graph(&f, without_modules(), (struct mase_shape){ 2, { 8, 16 } });
    RUN(&f, "quantize",
        "by = 'type'\n" NONE "[linear.config]\nname = 'integer'\ndata_in_width = 8\n"
        "data_in_frac_width = 4\nweight_width = 6\nweight_frac_width = 4\n");
    const struct mase_node *n = mase_graph_find(f.g, "linear");
    assert_null(n->quant->operand[MASE_BIAS]); /* it has none */
    assert_int_equal(mase_format_bits(mase_meta_arg(n->meta, "data_in_0")->format), 8);
    assert_int_equal(mase_format_bits(mase_meta_arg(n->meta, "weight")->format), 6);
    RUN(&f, "verify_common_metadata", NULL);
    teardown(&f);
}

static void methods_stay_in_float(void **state)
{
    (void)state;
    struct fixture f;
    setup_graph(&f, without_modules(), (struct mase_shape){ 2, { 8, 16 } });
    char *text = warnings(&f, "by = 'type'\n" NONE "[add.config]\n" INTEGER("8", "8", "8"));
    assert_non_null(strstr(text, "add is a call_method and stays in float"));
    free(text);
    assert_int_equal(quantised(&f), 0);
    FAILS(&f, "quantize", "by = 'name'\n" NONE "[add.config]\n" INTEGER("8", "8", "8"), 4, 2,
          "'add' is a call_method: only modules and functions can be quantised");
    teardown(&f);
}

/* ---- faults ---- */

ON(faults_have_a_place_and_say_what_is_allowed, "jsc-tiny")
{
    static const struct {
        const char *args;
        int line, col;
        const char *text;
    } faults[] = {
        { NONE, 1, 1, "option 'by' is missing" },
        { "by = 'kind'\n", 1, 6, "kind" },
        { "by = 'type'\n" NONE "[linaer.config]\nname = 'integer'\n", 4, 2,
          "did you mean 'linear'?" },
        { "by = 'type'\n" NONE "[linear]\nconfg = 1\n", 5, 1, "may hold only 'config'" },
        { "by = 'type'\n" NONE "[linear.config]\nweight_width = 8\n", 4, 9, "has no name" },
        { "by = 'type'\n" NONE "[linear.config]\nname = 'interger'\n", 5, 8,
          "did you mean 'integer'" },
        { "by = 'type'\n" NONE "[linear.config]\nname = 8\n", 5, 8, "name" },
        { LAB "weigth_width = 8\n", 12, 1, "did you mean 'weight_width'?" },
        { LAB "bypass = 1\n", 12, 10, "bypass" },
        { "by = 'type'\n" NONE "[linear.config]\n" INTEGER("99", "8", "8"), 6, 17, "99" },
        { "by = 'type'\n" NONE "[linear.config]\n" INTEGER("'8'", "8", "8"), 6, 17,
          "data_in_width" },
        { "by = 'regex_name'\n" NONE "['seq_(blocks'.config]\n" INTEGER("8", "8", "8"), 4, 2,
          "missing closing parenthesis at character 12" },
    };
    struct mase_graph *before = mase_graph_clone(f->g);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        assert_int_not_equal(run(f, "quantize", faults[i].args), MASE_OK);
        if (!strstr(f->err.msg, faults[i].text) || !strstr(f->err.msg, "pass quantize: "))
            fail_msg("'%s' is not in: %s", faults[i].text, f->err.msg);
        assert_int_equal(f->err.loc.line, faults[i].line);
        assert_int_equal(f->err.loc.col, faults[i].col);
        assert_true(mase_graph_equal(before, f->g, NULL)); /* all or nothing */
    }
    mase_graph_free(before);
}

ON(a_pattern_without_end_is_an_error, "jsc-tiny")
{
    FAILS(f, "quantize",
          "by = 'regex_name'\n" NONE "['((([a-z_0-9]+)+)+)+[A-Z]'.config]\n" INTEGER("8", "8", "8"),
          4, 2, "limit");
}

ON(the_table_can_be_checked_without_a_graph, "jsc-tiny")
{
    struct mase_value *passes = toml(f, "[report_graph]\n[quantize]\nby = 'type'\n"
                                        "[quantize.liner.config]\nname = 'integer'\n");
    struct mase_pass_runs runs;
    assert_int_equal(mase_pass_runs_bind(&runs, &f->arena, passes, &f->err), MASE_EVALUE);
    assert_non_null(strstr(f->err.msg, "pass quantize: 'liner' is no operation"));
    assert_int_equal(f->err.loc.line, 4);
}

ON(a_summary_needs_an_original, "jsc-tiny")
{
    assert_int_equal(run(f, "summarize_quantization", NULL), MASE_EVALUE);
    assert_non_null(strstr(f->err.msg, "there is no original to compare with"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_linear_layer_changes),
        cmocka_unit_test(properties_survive_but_hardware),
        cmocka_unit_test(twice_is_once),
        cmocka_unit_test(a_quantised_graph_can_be_quantised_again),
        cmocka_unit_test(weights_stay_float),
        cmocka_unit_test(no_bias_no_bias_keys),
        cmocka_unit_test(the_output_can_be_quantised),
        cmocka_unit_test(bypass_changes_the_class_and_nothing_else),
        cmocka_unit_test(none_leaves_alone_whatever_else_is_said),
        cmocka_unit_test(a_default_is_needed_only_by_who_has_nothing_else),
        cmocka_unit_test(an_operation_that_does_not_occur_is_no_fault),
        cmocka_unit_test(of_several_patterns_the_first_wins),
        cmocka_unit_test(a_pattern_must_match_the_whole_name),
        cmocka_unit_test(a_pattern_that_comes_too_late_is_warned_of),
        cmocka_unit_test(a_node_that_cannot_be_quantised_is_refused),
        cmocka_unit_test(what_is_not_usual_has_to_be_named),
        cmocka_unit_test(what_is_named_is_reached),
        cmocka_unit_test(reach_all_is_all),
        cmocka_unit_test(results_of_all_operations),
        cmocka_unit_test(keys_beside_none_are_those_of_formats),
        cmocka_unit_test(calls_of_one_module_must_agree),
        cmocka_unit_test(functions_are_quantised_too),
        cmocka_unit_test(a_linear_function_is_a_linear_layer),
        cmocka_unit_test(methods_stay_in_float),
        cmocka_unit_test(faults_have_a_place_and_say_what_is_allowed),
        cmocka_unit_test(a_pattern_without_end_is_an_error),
        cmocka_unit_test(the_table_can_be_checked_without_a_graph),
        cmocka_unit_test(a_summary_needs_an_original),
    };
    mase_log_set_level(MASE_CRITICAL);
    return run_cases(argc, argv, tests, NULL, NULL);
}
