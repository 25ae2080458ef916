/*
 * t_metadata.c - the metadata passes beyond the golden networks: other calls, values, higher ranks,
 * and what verification finds.
 */
#include "run_cases.h"
#include "unit/ir/build.h"

#include "fixture.h"
#include "formats.h"

#define SHAPE(...)                                                                    \
    (struct mase_shape)                                                               \
    {                                                                                 \
        .rank = (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), .dim = { \
            __VA_ARGS__                                                               \
        }                                                                             \
    }

static struct mase_meta *meta_of(struct fixture *f, const char *node)
{
    return mase_graph_find(f->g, node)->meta;
}

/* The names of a node's arguments or results, with shapes or values: "data_in_0[8, 16] dim=1". */
static void expect(struct fixture *f, const char *node, const char *args, const char *results)
{
    const struct mase_meta *m = meta_of(f, node);
    for (int pass = 0; pass < 2; pass++) {
        struct mase_str text = { 0 };
        const struct mase_meta_arg *list = pass ? m->results : m->args;
        for (int i = 0; i < (pass ? m->result_count : m->arg_count); i++) {
            mase_str_printf(&text, "%s%s", i ? " " : "", list[i].name);
            if (list[i].kind == MASE_META_TENSOR || list[i].kind == MASE_META_PARAM) {
                mase_shape_print(&text, &list[i].shape);
            } else {
                mase_str_addc(&text, '=');
                mase_arg_print(&text, &list[i].raw, false);
            }
        }
        assert_string_equal(mase_str_text(&text), pass ? results : args);
        mase_str_release(&text);
    }
}

/* ---- common ---- */

/* What reads a parameter is get_attr, what reads a number of the code a constant: the same in the
 * metadata, in tables and in files as in mase_node_op_type. */
static void types_are_the_same_everywhere(void **state)
{
    (void)state;
    static const char text[] =
        "mase-graph 1\n"
        "name reads\n"
        "attr scale = f32[4]\n"
        "attr _tensor_constant0 = f32[4] constant\n"
        "%x = placeholder[target=x]\n"
        "%scale = get_attr[target=scale]\n"
        "%_tensor_constant0 = get_attr[target=_tensor_constant0]\n"
        "%mul = call_function[target=operator.mul](args = (%x, %scale), kwargs = {})\n"
        "%add = call_function[target=operator.add](args = (%mul, %_tensor_constant0), kwargs = "
        "{})\n"
        "return %add\n";
    struct fixture f;
    struct mase_graph *g = NULL;
    struct mase_err err = { 0 };
    if (mase_graph_parse_mg(&g, text, strlen(text), "reads.mg", &err))
        fail_msg("%s:%d: %s", err.path, err.loc.line, err.msg);
    setup_graph(&f, g, SHAPE(BATCH, 4));
    RUN(&f, "report_node_type", NULL);
    const char *table = printed(&f);
    assert_non_null(strstr(table, "scale              get_attr       get_attr "));
    assert_non_null(strstr(table, "_tensor_constant0  get_attr       implicit_func "));
    for (const struct mase_node *n = f.g->first; n; n = n->next)
        assert_int_equal(n->meta->type, mase_node_op_type(n));
    teardown(&f);
}

/* A network of calls that the original cannot describe. */
static struct mase_graph *assorted(void)
{
    struct mase_graph *g = mase_graph_new("assorted");
    MODULE_(g, "fc", "Linear", I(16), I(16));
    struct mase_node *x = placeholder(g, "x");
    struct mase_node *fc = CALL_MODULE(g, "fc", N(x));
    struct mase_node *cat = mase_graph_insert(g, NULL, MASE_CALL_FUNCTION, "torch.cat",
                                              &TUPLE(LIST(N(x), N(fc))), &KW1("dim", I(1)));
    struct mase_node *pow = FUNCTION(g, "operator.pow", N(cat), I(2));
    struct mase_node *split = METHOD(g, "split", N(pow), I(16), I(1));
    struct mase_node *item = FUNCTION(g, "operator.getitem", N(split), I(0));
    struct mase_node *size = METHOD(g, "size", N(item));
    FUNCTION(g, "operator.mul", I(2), N(item));
    struct mase_node *t = METHOD(g, "transpose", N(item), I(0), I(1));
    (void)size;
    output(g, t);
    return g;
}

static void every_call_gets_sensible_records(void **state)
{
    (void)state;
    struct fixture f;
    setup_graph(&f, assorted(), SHAPE(8, 16));
    RUN(&f, "add_common_metadata", NULL);
    expect(&f, "x", "", "data_out_0[8, 16]");
    expect(&f, "fc", "data_in_0[8, 16] weight[16, 16] bias[16]", "data_out_0[8, 16]");
    expect(&f, "cat", "data_in_0[8, 16] data_in_1[8, 16] dim=1", "data_out_0[8, 32]");
    expect(&f, "pow_1", "data_in_0[8, 32] exponent=2", "data_out_0[8, 32]");
    expect(&f, "split", "split_size_or_sections=16 dim=1", "data_out_0[8, 16] data_out_1[8, 16]");
    expect(&f, "getitem", "data_in_0[8, 16] data_in_1[8, 16] select=0", "data_out_0[8, 16]");
    expect(&f, "mul", "data_in_0[8, 16] input=2", "data_out_0[8, 16]");
    expect(&f, "transpose", "dim0=0 dim1=1", "data_out_0[16, 8]");
    expect(&f, "output", "", "data_out_0[16, 8]");
    assert_int_equal(meta_of(&f, "size")->results[0].kind, MASE_META_OBJECT);
    RUN(&f, "verify_common_metadata", NULL);
    RUN(&f, "report_node_meta_param", NULL);
    teardown(&f);
}

/* The original takes the shape of whatever ran last; returned is what counts. */
static void the_output_is_what_is_returned(void **state)
{
    (void)state;
    struct fixture f;
    struct mase_graph *g = mase_graph_new("early");
    MODULE_(g, "a", "Linear", I(16), I(4));
    MODULE_(g, "b", "Linear", I(16), I(7));
    struct mase_node *x = placeholder(g, "x");
    struct mase_node *a = CALL_MODULE(g, "a", N(x));
    CALL_MODULE(g, "b", N(x));
    output(g, a);
    setup_graph(&f, g, SHAPE(2, 16));
    RUN(&f, "add_common_metadata", NULL);
    expect(&f, "output", "", "data_out_0[2, 4]");
    teardown(&f);
}

static void values_are_snapshots(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    f.dummy.tensor = f.x;
    f.dummy.tensor.shape.dim[0] = BATCH;
    RUN(&f, "add_common_metadata", "add_value = true");
    const struct mase_tensor *in = mase_meta_arg(meta_of(&f, "seq_blocks_1"), "data_in_0")->value;
    const struct mase_tensor *out =
        mase_meta_result(meta_of(&f, "seq_blocks_1"), "data_out_0")->value;
    int negative = 0;
    for (int64_t i = 0; i < mase_tensor_count(in); i++) {
        double v = mase_tensor_get(in, i);
        negative += v < 0;
        assert_true(mase_tensor_get(out, i) == (v > 0 ? v : 0));
    }
    assert_true(negative > 0); /* the ReLU is in place, its input is recorded as it was */
    const struct mase_meta *linear = meta_of(&f, "seq_blocks_2");
    assert_non_null(mase_meta_arg(linear, "weight")->value);
    RUN(&f, "add_common_metadata", "add_value = true\nforce_device_meta = true");
    assert_null(mase_meta_arg(meta_of(&f, "seq_blocks_2"), "weight")->value);
    teardown(&f);
}

static void dummy_values_follow_the_seed(void **state)
{
    (void)state;
    double first[2][3];
    for (int i = 0; i < 3; i++) {
        struct fixture f;
        setup(&f, "jsc-tiny"); /* the dummy input has a shape only */
        f.m.env.seed = i == 2 ? 7 : 6;
        RUN(&f, "add_common_metadata", "add_value = true");
        const struct mase_tensor *x = mase_meta_result(meta_of(&f, "x"), "data_out_0")->value;
        for (int k = 0; k < 2; k++)
            first[k][i] = mase_tensor_get(x, k);
        teardown(&f);
    }
    assert_true(first[0][0] == first[0][1] && first[1][0] == first[1][1]);
    assert_true(first[0][0] != first[0][2]);
    assert_true(first[0][0] != first[1][0]);
}

static void a_missing_input_is_named(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    f.m.env.input_count = 0;
    assert_int_not_equal(run(&f, "report_node_type", NULL), MASE_OK);
    assert_non_null(strstr(f.err.msg, "pass report_node_type: pass add_common_metadata: "));
    assert_non_null(strstr(f.err.msg, "'x'"));
    teardown(&f);
}

static void the_boundary_passes_over_views(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "toy");
    RUN(&f, "add_common_metadata", NULL);
    const struct mase_meta *m = f.g->meta;
    assert_int_equal(m->nodes_in_count, 1);
    assert_string_equal(m->nodes_in[0]->name, "seq_blocks_0");
    assert_int_equal(m->nodes_out_count, 1);
    assert_string_equal(m->nodes_out[0]->name, "seq_blocks_4");
    assert_int_equal(m->arg_count, 1);
    assert_string_equal(m->args[0].name, "data_in_0");
    assert_int_equal(m->result_count, 1);
    teardown(&f);
}

/* Shapes, formats and circuits of every network, large ones too: nothing is computed. */
static void every_model_can_be_described(void **state)
{
    (void)state;
#define DEFAULT                                                                       \
    "[default.config]\nname = 'integer'\ndata_in_width = 8\ndata_in_frac_width = 4\n" \
    "weight_width = 8\nweight_frac_width = 4\nbias_width = 8\nbias_frac_width = 4\n"
    static const char all[] = "by = 'type'\n" DEFAULT;
    static const char reach_all[] = "by = 'type'\nreach = 'all'\n" DEFAULT;
#undef DEFAULT
    for (const struct mase_model *model = mase_zoo; model->name; model++) {
        struct fixture f;
        struct mase_err err;
        const struct mase_data_info *data;
        struct mase_graph *g = NULL;
        if (mase_data_find(&data, model->dataset, &err) || model->build(&g, data, &err))
            fail_msg("%s", err.msg);
        struct mase_shape shape = { .rank = data->sample.rank + 1, .dim = { BATCH } };
        memcpy(shape.dim + 1, data->sample.dim, sizeof shape.dim - sizeof shape.dim[0]);
        setup_graph(&f, g, shape);
        RUN(&f, "verify_common_metadata", NULL);
        RUN(&f, "quantize", all);
        RUN(&f, "verify_common_metadata", NULL);
        RUN(&f, "report_node_hardware_type", NULL);
        RUN(&f, "report_node_meta_param", NULL);
        for (const struct mase_node *n = g->first; n; n = n->next) {
            assert_int_equal(mase_node_quant(n) != NULL, mase_ops[n->op].usual);
            assert_true(n->meta->has_common && n->meta->has_software && n->meta->hw.valid);
        }
        RUN(&f, "quantize", reach_all);
        RUN(&f, "verify_common_metadata", NULL);
        for (const struct mase_node *n = g->first; n; n = n->next)
            assert_int_equal(mase_node_quant(n) != NULL, mase_ops[n->op].quantisable);
        teardown(&f);
    }
}

/* ---- hardware ---- */

/* The original stops here: its list of two has no entry for a third dimension. */
static void dimensions_beyond_the_list_are_not_split(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        int value;
    } want[] = {
        { "DATA_IN_0_TENSOR_SIZE_DIM_3", 8 }, { "DATA_IN_0_PARALLELISM_DIM_3", 1 },
        { "DATA_IN_0_TENSOR_SIZE_DIM_2", 3 }, { "DATA_IN_0_PARALLELISM_DIM_2", 4 },
        { "DATA_IN_0_TENSOR_SIZE_DIM_0", 8 }, { "DATA_IN_0_PARALLELISM_DIM_1", 1 },
        { "DATA_IN_0_PARALLELISM_DIM_0", 1 },
    };
    struct fixture f;
    setup(&f, "conv_bn");
    RUN(&f, "add_hardware_metadata", NULL);
    const struct mase_value *v = meta_of(&f, "conv1")->hw.verilog_param;
    assert_non_null(v);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        assert_int_equal(mase_value_get(v, want[i].key)->i, want[i].value);
    RUN(&f, "report_node_hardware_type", NULL);
    teardown(&f);
}

/* ---- verification ---- */

struct damage {
    const char *check;
    void (*break_it)(struct fixture *f);
};

static void lose_an_input(struct fixture *f)
{
    meta_of(f, "seq_blocks_1")->arg_count = 0;
}
static void shrink_a_shape(struct fixture *f)
{
    meta_of(f, "seq_blocks_0")->args[0].shape.dim[1] = 0;
}
static void claim_a_format(struct fixture *f)
{
    meta_of(f, "seq_blocks_2")->args[1].format = integer_format(8, 4);
}
static void lose_a_result(struct fixture *f)
{
    meta_of(f, "seq_blocks_3")->result_count = 0;
}
static void bend_an_edge(struct fixture *f)
{
    meta_of(f, "seq_blocks_1")->args[0].shape.dim[1] = 15;
}
static void bend_a_weight(struct fixture *f)
{
    mase_meta_arg(meta_of(f, "seq_blocks_2"), "weight")->shape.dim[0] = 6;
}

static const struct damage damages[] = {
    { "seq_blocks_1: inputs present: ", lose_an_input },
    { "seq_blocks_0: shapes present: ", shrink_a_shape },
    { "seq_blocks_2: formats in force: weight", claim_a_format },
    { "seq_blocks_3: results: ", lose_a_result },
    { "seq_blocks_1: edges: data_in_0 is [8, 15], but seq_blocks_0 gives [8, 16]", bend_an_edge },
    { "seq_blocks_2: linear: a weight of [6, 16] takes [8, 16] to [8, 5]", bend_a_weight },
};

static void verification_names_node_check_and_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        struct fixture f;
        struct caught c;
        setup(&f, "jsc-tiny");
        RUN(&f, "add_common_metadata", NULL);
        damages[i].break_it(&f);
        catch_log(&c, MASE_ERROR);
        enum mase_status st = run(&f, "verify_common_metadata", NULL);
        char *log = caught_log(&c);
        assert_int_equal(st, MASE_EVALUE);
        if (!strstr(log, damages[i].check))
            fail_msg("'%s' is not in: %s", damages[i].check, log);
        free(log);
        teardown(&f);
    }
}

static void every_failure_is_counted(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    RUN(&f, "verify_common_metadata", NULL);
    const struct mase_value *note = mase_value_get(f.m.env.info, "verify_common_metadata");
    assert_int_equal(mase_value_get(note, "failures")->i, 0);
    assert_int_equal(mase_value_get(note, "nodes")->i, 6);
    lose_a_result(&f);
    bend_a_weight(&f);
    mase_log_set_level(MASE_CRITICAL);
    assert_int_equal(run(&f, "verify_common_metadata", NULL), MASE_EVALUE);
    note = mase_value_get(f.m.env.info, "verify_common_metadata");
    assert_int_equal(mase_value_get(note, "failures")->i, 3); /* the relu misses its result too */
    teardown(&f);
}

/* ---- reports ---- */

static void reports_go_to_files(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    const char *dir = temp_dir(&f);
    f.m.env.out_dir = dir;
    RUN(&f, "report_graph", NULL);
    const char *screen = printed(&f), *path = mase_path_join(&f.arena, dir, "report_graph.txt");
    const char *text = file_text(&f, path);
    assert_int_equal(strlen(screen), strlen(text) + 1); /* the screen's has a final newline */
    assert_int_equal(strncmp(screen, text, strlen(text)), 0);
    assert_string_equal(f.m.env.files->items[0]->s, path);
    assert_int_equal(remove(path), 0);
    RUN(&f, "report_graph", "file_name = 'graph.txt'");
    assert_string_equal(printed(&f), "");
    path = mase_path_join(&f.arena, dir, "graph.txt");
    assert_string_equal(file_text(&f, path), text);
    assert_int_equal(remove(path), 0);
    RUN(&f, "report_node_meta_param", "which = 'common'\nformat = 'json'\nsave_path = 'm.json'");
    path = mase_path_join(&f.arena, dir, "m.json");
    struct mase_value *v;
    MUST(&f, mase_json_read(&v, &f.arena, path, &f.err));
    assert_string_equal(mase_value_at(v, "seq_blocks_2.common.mase_op")->s, "linear");
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(dir), 0);
    teardown(&f);
}

static void which_says_what_is_allowed(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f, "jsc-tiny");
    FAILS(&f, "report_node_meta_param", "which = ['common', 'hard']", 1, 20,
          "none of all, common, hardware, software");
    FAILS(&f, "report_node_meta_param", "which = []", 1, 9, "which is empty");
    FAILS(&f, "report_node_meta_param", "which = [1]", 1, 10, "must hold strings");
    FAILS(&f, "report_node_meta_param", "format = 'html'", 1, 10, "html");
    teardown(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_gets_sensible_records),
        cmocka_unit_test(the_output_is_what_is_returned),
        cmocka_unit_test(values_are_snapshots),
        cmocka_unit_test(dummy_values_follow_the_seed),
        cmocka_unit_test(a_missing_input_is_named),
        cmocka_unit_test(the_boundary_passes_over_views),
        cmocka_unit_test(every_model_can_be_described),
        cmocka_unit_test(dimensions_beyond_the_list_are_not_split),
        cmocka_unit_test(verification_names_node_check_and_reason),
        cmocka_unit_test(types_are_the_same_everywhere),
        cmocka_unit_test(every_failure_is_counted),
        cmocka_unit_test(reports_go_to_files),
        cmocka_unit_test(which_says_what_is_allowed),
    };
    mase_log_set_level(MASE_CRITICAL);
    return run_cases(argc, argv, tests, NULL, NULL);
}
