/*
 * t_mg.c - .mg: what is written reads back equal; what is wrong is named with its place; nothing
 * crashes the reader.
 */
#include <stdlib.h>

#include "bounded.h"
#include "run_cases.h"
#include "unit/ir/build.h"

#include <mase/meta.h>

#include "formats.h"

static struct mase_graph *parse(const char *text)
{
    struct mase_graph *g = NULL;
    struct mase_err err = { 0 };
    if (mase_graph_parse_mg(&g, text, strlen(text), "t.mg", &err))
        fail_msg("%d:%d: %s\n%s", err.loc.line, err.loc.col, err.msg, text);
    return g;
}

/* print, parse, compare; print again, compare the texts. */
static void assert_round_trip(const struct mase_graph *g)
{
    struct mase_str first = { 0 }, second = { 0 }, why = { 0 };
    mase_graph_print_mg(&first, g);
    struct mase_graph *back = parse(mase_str_text(&first));
    if (!mase_graph_equal(g, back, &why))
        fail_msg("%s\n%s", mase_str_text(&why), mase_str_text(&first));
    assert_int_equal(mase_graph_verify(back, &why), 0);
    mase_graph_print_mg(&second, back);
    assert_string_equal(mase_str_text(&first), mase_str_text(&second));
    mase_graph_free(back);
    mase_str_release(&first);
    mase_str_release(&second);
    mase_str_release(&why);
}

static void test_jsc_tiny_text(void **state)
{
    (void)state;
    struct mase_graph *g = jsc_tiny();
    struct mase_quant q = integer_8_4();
    mase_module_set_quant(g, mase_graph_module(g, "seq_blocks.2"), &q);
    ASSERT_PRINTS(
        "mase-graph 1\n"
        "name jsc-tiny\n"
        "\n"
        "module seq_blocks.0 = BatchNorm1d(num_features=16)\n"
        "module seq_blocks.1 = ReLU(inplace=True)\n"
        "module seq_blocks.2 = Linear(in_features=16, out_features=5) quantized "
        "{name: 'integer', data_in_width: 8, data_in_frac_width: 4, weight_width: 8, "
        "weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}\n"
        "module seq_blocks.3 = ReLU(inplace=True)\n"
        "\n"
        "%x = placeholder[target=x]\n"
        "%seq_blocks_0 = call_module[target=seq_blocks.0](args = (%x,), kwargs = {})\n"
        "%seq_blocks_1 = call_module[target=seq_blocks.1](args = (%seq_blocks_0,), kwargs = {})\n"
        "%seq_blocks_2 = call_module[target=seq_blocks.2](args = (%seq_blocks_1,), kwargs = {})\n"
        "%seq_blocks_3 = call_module[target=seq_blocks.3](args = (%seq_blocks_2,), kwargs = {})\n"
        "return %seq_blocks_3\n",
        mase_graph_print_mg(out, g));
    assert_round_trip(g);
    mase_graph_free(g);
}

static void test_residual_round_trip(void **state)
{
    (void)state;
    struct mase_graph *g = residual();
    struct mase_param *w = mase_module_param(mase_graph_module(g, "layer1.0.conv1"), "weight");
    w->init = MASE_INIT_NORMAL;
    w->scale = 0.1178511302f;
    struct mase_quant q = { .kind = MASE_QUANT_integer, .bypass = true };
    q.operand[MASE_DATA_IN] = integer_format(8, MASE_NA);
    mase_node_set_quant(mase_graph_find(g, "add"), &q);
    assert_round_trip(g);
    mase_graph_free(g);
}

/* Every kind of value, awkward names, attributes, a default, a shape, an annotation. */
static const char everything[] =
    "mase-graph 1\n"
    "name 'all of it'\n"
    "\n"
    "module '0' = Conv2d(in_channels=3, out_channels=4, kernel_size=(3, 3), padding='same')\n"
    "module pool = MaxPool2d(kernel_size=2, stride=3)\n"
    "module up = Upsample(scale_factor=2.0, mode='bilinear')\n"
    "module emb = Embedding(num_embeddings=10, embedding_dim=4, padding_idx=9) init {weight: "
    "uniform(0.5)}\n"
    "attr scale = f32[1, 4] init normal(0.019999999552965164)\n"
    "attr _tensor_constant0 = i64[] constant\n"
    "attr shifted = f32[3] init uniform(0.5, 0.25)\n"
    "attr mask = f32[2, 2] buffer init [0.0, -inf, 0.0, 1.5]\n"
    "\n"
    "%x : torch.Tensor f32[8, 3, 4, 4] = placeholder[target=x]\n"
    "%y : 'Optional[Tensor]' = placeholder[target=y](default=None)\n"
    "%scale = get_attr[target=scale]\n"
    "%_tensor_constant0 = get_attr[target=_tensor_constant0]\n"
    "%_0 : f32[8, 4, 4, 4] = call_module[target='0'](args = (%x,), kwargs = {})\n"
    "%getitem = call_function[target=operator.getitem](args = (%_0, (slice(None, 2, -1), "
    "Ellipsis, [%scale, 1.5], {'a b': inf, c: -inf})), kwargs = {})\n"
    "%to = call_method[target=to](args = (%getitem, torch.float32, atom('<class \\'x\\'>'), "
    "'it\\'s\\n\\x01'), kwargs = {})\n"
    "%add = call_function[target=operator.add](args = (%to, 1e-05), kwargs = {alpha: True}) "
    "quantized {name: 'fixed', data_in_width: 16, data_in_frac_width: None}\n"
    "%last : torch.Tensor = return {out: (%add, ()), pair: (%x,)}\n";

static void test_everything_is_a_fixed_point(void **state)
{
    (void)state;
    struct mase_graph *g = parse(everything);
    ASSERT_PRINTS(everything, mase_graph_print_mg(out, g));
    assert_round_trip(g);

    const struct mase_node *x = mase_graph_find(g, "x");
    assert_int_equal(x->meta->results[0].shape.dim[1], 3);
    assert_string_equal(x->annotation, "torch.Tensor");
    assert_int_equal(mase_graph_attr(g, "_tensor_constant0")->kind, MASE_PARAM_CONSTANT);
    assert_ptr_equal(mase_graph_find(g, "add")->quant->operand[MASE_DATA_IN],
                     format_of("fixed(16, NA)"));
    assert_string_equal(g->last->name, "last");
    mase_graph_free(g);
}

/* As people write: positional arguments, comments, broken lines, no kwargs, " and '. */
static void test_by_hand(void **state)
{
    (void)state;
    struct mase_graph *g = parse("# my network\n"
                                 "mase-graph 1 # version\n"
                                 "module fc = Linear(16, 5, bias=False)\r\n"
                                 "module 1.relu = ReLU(True)\n"
                                 "\n"
                                 "%input: f32[8,16] = placeholder[target=input]\n"
                                 "%y = call_module[target=fc](\n"
                                 "    args = (%input,))  # the only layer\n"
                                 "%z = call_module[target=\"1.relu\"](args = (%y,))\n"
                                 "return %z # done");
    ASSERT_PRINTS("Linear(in_features=16, out_features=5, bias=False)",
                  mase_module_repr(out, mase_graph_module(g, "fc")));
    assert_non_null(mase_graph_module(g, "1.relu"));
    assert_string_equal(g->first->name, "input"); /* kept, though torch.fx would say input_1 */
    assert_round_trip(g);
    mase_graph_free(g);
}

#define HEAD "mase-graph 1\nmodule fc = Linear(16, 5)\n%x = placeholder[target=x]\n"

static const struct {
    const char *text, *msg;
    int line, col;
} errors[] = {
    { "", "a graph begins with the line 'mase-graph 1'", 1, 1 },
    { "mase-graph 2\n", "only version 1 of mase-graph can be read", 1, 12 },
    { "mase-graph 1\n", "the graph has no return", 2, 1 },
    { HEAD, "the graph has no return", 4, 1 },
    { HEAD "return %y", "%y is not defined above", 4, 8 },
    { HEAD "%first = placeholder[target=a]\nreturn %frist",
      "%frist is not defined above; did you mean %first?", 5, 8 },
    { HEAD "return %x\nreturn %x", "nothing may follow return", 5, 1 },
    { HEAD "layer a = ReLU()", "expected name, module, attr, return or a node (%x), got 'layer'", 4,
      1 },
    { HEAD "module a = Linea(1, 2)", "unknown layer 'Linea'; did you mean 'Linear'?", 4, 12 },
    { HEAD "module fc = ReLU()", "module 'fc' exists already", 4, 8 },
    { HEAD "module a = Linear(1)", "module a: Linear: argument 'out_features' is missing", 4, 8 },
    { HEAD "module a = Linear(1, 2, biass=True)",
      "module a: Linear: unknown argument 'biass'; did you mean 'bias'?", 4, 8 },
    { HEAD "module a = Linear(1, 2, True, 4)",
      "module a: Linear: takes at most 3 arguments (in_features, out_features, bias), got 4", 4,
      8 },
    { HEAD "module a = Linear(in_features=1, 2)", "a positional argument cannot follow a keyword",
      4, 34 },
    { HEAD "module a = GELU(approximate=tanh)", "a text needs quotes: 'tanh'", 4, 29 },
    { HEAD "module a = Linear('b', 2)",
      "module a: Linear: in_features = 'b' must be an integer, at least 0", 4, 8 },
    { HEAD "module a = Linear(4000000000, 4000000000)",
      "module a: Linear: its weight would have more than 2147483648 values", 4, 8 },
    { HEAD "module a = Conv2d(6, 4, 3, groups=4)",
      "module a: Conv2d: in_channels = 6 is not a multiple of groups = 4", 4, 8 },
    { HEAD "module a = ReLU() init {weight: zeros}", "module a has no parameter 'weight'", 4, 25 },
    { HEAD "module a = Linear(1, 2) init {weight: norm(1)}",
      "expected zeros, ones, uniform(BOUND), normal(DEVIATION), unset or [values], got 'norm'", 4,
      39 },
    { HEAD "module a = Flatten() quantized {name: 'integer'}", "Flatten cannot be quantised", 4,
      22 },
    { HEAD "module a = Linear(1, 2) quantized {name: 'intger'}",
      "no number format is called 'intger', did you mean 'integer'? allowed: ...", 4, 42 },
    { HEAD "module a = Linear(1, 2) quantized {data_in_width: 8}", "quantized needs name: 'FORMAT'",
      4, 35 },
    { HEAD "module a = Linear(1, 2) quantized {name: integer, data_in_witdh: 8}",
      "'integer' has no parameter 'data_in_witdh': did you mean 'data_in_width'?", 4, 51 },
    { HEAD "attr fc.weight = f32[1]", "attribute 'fc.weight' exists already", 4, 6 },
    { HEAD "attr w = f33[1]", "expected a type: f32, f64, i64, i32, u8 or bool, got 'f33'", 4, 10 },
    { HEAD "attr w = f32[-1]", "dimension 0 of a shape must be an integer, at least 0", 4, 13 },
    { HEAD "attr w = f32[1,1,1,1,1,1,1,1,1]", "a shape has at most 8 dimensions, this 9", 4, 13 },
    { HEAD "attr w = f32[99999999999999]", "the weights would take more than 64 GiB", 4, 6 },
    { HEAD "attr w = f32[3] init [1, 2]", "2 values for a tensor of 3", 4, 22 },
    { HEAD "attr w = f32[1] init ['a']", "value 0 is no number", 4, 22 },
    { HEAD "attr w = f32[1] init uniform(1, 2, 3)", "expected a number, or two: (SPREAD, CENTRE)",
      4, 29 },
    { HEAD "%x = placeholder[target=x]", "%x is defined already", 4, 1 },
    { HEAD "%1 = placeholder[target=x]",
      "after % a node's name must follow: a letter or _, then letters, digits and _", 4, 1 },
    { HEAD "%a = call[target=x]",
      "expected placeholder, get_attr, call_function, call_method, call_module or return, got "
      "'call'",
      4, 6 },
    { HEAD "%a = call_module[target=fx](args = (%x,))", "unknown module 'fx'; did you mean 'fc'?",
      4, 25 },
    { HEAD "%a = call_function[target=torch.flaten](args = (%x,))",
      "unknown function 'torch.flaten'; did you mean 'torch.flatten'?", 4, 27 },
    { HEAD "%a = call_method[target=veiw](args = (%x,))",
      "unknown method 'veiw'; did you mean 'view'?", 4, 25 },
    { HEAD "%a = call_method[target=view](args = ())",
      "a method needs its object as the first argument", 4, 25 },
    { HEAD "%a = get_attr[target=scale]", "no attr or module's parameter is called 'scale'", 4,
      22 },
    { HEAD "%a = call_function[target=torch.flatten](args = (%x,), kwargs = {start: 1})",
      "torch.flatten: unknown argument 'start'; did you mean 'start_dim'?", 4, 27 },
    { HEAD "%a = call_function[target=torch.matmul](args = (%x,))",
      "torch.matmul: argument 'other' is missing", 4, 27 },
    { HEAD "%a = call_module[target=fc](args = (%x))", "args must be a tuple: (%x,)", 4, 36 },
    { HEAD "%a = call_module[target=fc](args = (%x,)) quantized {name: integer}",
      "a layer's number formats stand in its module line", 4, 43 },
    { HEAD "return (%x", "expected ',' or ')', got the end of the file", 4, 11 },
    { HEAD "return 'x", "this text has no closing '", 4, 8 },
    { HEAD "return '\\q'", "an escape must be one of \\n \\t \\\\ \\' \\\" and \\x01 to \\xff", 4,
      8 },
    { HEAD "return 99999999999999999999", "99999999999999999999 does not fit into 64 bits", 4, 8 },
    { HEAD "return slice(1)", "slice takes start, stop and step, got 1 values", 4, 16 },
    { HEAD "return %x %x", "expected the end of the line, got '%x'", 4, 11 },
    { HEAD "return \x01", "unexpected byte 0x01", 4, 8 },
    { HEAD "return ;", "unexpected character ';'", 4, 8 },
};

/* What training must know: frozen parameters, calls that stop gradients. */
static void test_training_is_kept(void **state)
{
    static const char text[] =
        "mase-graph 1\n\n"
        "module a = Linear(in_features=2, out_features=3) init {bias: ones} frozen {weight, bias}\n"
        "module n = BatchNorm1d(num_features=3) frozen {weight}\n"
        "attr w = f32[3] frozen init ones\n"
        "attr v = f32[3] frozen\n\n"
        "%x = placeholder[target=x]\n"
        "%a = call_module[target=a](args = (%x,), kwargs = {}) no_grad\n"
        "%add = call_function[target=operator.add](args = (%a, 1), kwargs = {}) no_grad\n"
        "return %add\n";
    struct mase_graph *g = NULL;
    struct mase_str again = { 0 };
    (void)state;
    assert_int_equal(mase_graph_parse_mg(&g, text, strlen(text), "t", NULL), MASE_OK);
    assert_int_equal(mase_graph_attr(g, "a.bias")->kind, MASE_PARAM_FROZEN);
    assert_int_equal(mase_graph_attr(g, "w")->kind, MASE_PARAM_FROZEN);
    assert_int_equal(mase_graph_attr(g, "n.weight")->kind, MASE_PARAM_FROZEN);
    assert_int_equal(mase_graph_attr(g, "n.bias")->kind, MASE_PARAM_TRAINED);
    assert_true(mase_graph_find(g, "a")->no_grad && !mase_graph_find(g, "x")->no_grad);
    assert_int_equal(mase_graph_param_count(g), 9 + 6 + 6);
    assert_int_equal(mase_graph_frozen_count(g), 9 + 3 + 6);
    mase_graph_print_mg(&again, g);
    assert_string_equal(mase_str_text(&again), text);
    assert_round_trip(g);

    struct mase_graph *copy = mase_graph_clone(g);
    assert_true(mase_graph_equal(g, copy, NULL));
    mase_graph_find(copy, "a")->no_grad = false;
    assert_false(mase_graph_equal(g, copy, NULL));
    mase_graph_find(copy, "a")->no_grad = true;
    mase_graph_attr(copy, "a.bias")->kind = MASE_PARAM_TRAINED;
    assert_false(mase_graph_equal(g, copy, NULL));
    mase_graph_free(copy);
    mase_graph_free(g);
    mase_str_release(&again);
}

static void test_errors_name_their_place(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        struct mase_graph *g = NULL;
        struct mase_err err = { 0 };
        assert_int_not_equal(
            mase_graph_parse_mg(&g, errors[i].text, strlen(errors[i].text), "t.mg", &err), MASE_OK);
        assert_null(g);
        assert_string_equal(err.loc.path, "t.mg");
        if (!same_message(err.msg, errors[i].msg) || err.loc.line != errors[i].line ||
            err.loc.col != errors[i].col) {
            print_error("%d:%d: %s\nwanted %d:%d: %s\n", err.loc.line, err.loc.col, err.msg,
                        errors[i].line, errors[i].col, errors[i].msg);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void test_nesting_is_limited(void **state)
{
    (void)state;
    struct mase_str text = { 0 };
    struct mase_graph *g = NULL;
    struct mase_err err = { 0 };

    mase_str_add(&text, HEAD "return ");
    mase_str_pad(&text, '[', 100000);
    assert_int_equal(mase_graph_parse_mg(&g, text.data, text.len, NULL, &err), MASE_ELIMIT);
    assert_string_equal(err.msg, "values are nested more than 64 deep");
    mase_str_release(&text);
}

/* Whatever is done to a file, the reader gives a graph that verifies, or a status. */
static void assert_survives(const char *text, size_t size)
{
    struct mase_graph *g = NULL;
    struct mase_str why = { 0 };
    if (!mase_graph_parse_mg(&g, text, size, "t.mg", NULL)) {
        if (mase_graph_verify(g, &why))
            fail_msg("%s\n%.*s", mase_str_text(&why), (int)size, text);
        mase_graph_print_mg(&why, g);
    }
    mase_graph_free(g);
    mase_str_release(&why);
}

static void test_every_prefix(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof everything; n++) {
        char *copy = malloc(n ? n : 1); /* exactly n bytes: reading on is seen by the sanitizer */
        memcpy(copy, everything, n);
        assert_survives(copy, n);
        free(copy);
    }
}

static void test_every_byte_changed(void **state)
{
    (void)state;
    static const char changes[] = "\0\n'%([{=,:#9-xA";
    char copy[sizeof everything];

    memcpy(copy, everything, sizeof everything);
    for (size_t i = 0; i < sizeof everything - 1; i++) {
        for (size_t k = 0; k < 4; k++) { /* four of the changes here, others at the next byte */
            copy[i] = changes[(4 * i + k) % (sizeof changes - 1)];
            assert_survives(copy, sizeof everything - 1);
        }
        copy[i] = (char)(everything[i] ^ 0x80);
        assert_survives(copy, sizeof everything - 1);
        copy[i] = everything[i];
    }
}

static void test_missing_file(void **state)
{
    (void)state;
    struct mase_graph *g = (struct mase_graph *)1;
    struct mase_err err = { 0 };
    assert_int_equal(mase_graph_read_mg(&g, "no/such/file.mg", &err), MASE_EIO);
    assert_null(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jsc_tiny_text),
        cmocka_unit_test(test_residual_round_trip),
        cmocka_unit_test(test_everything_is_a_fixed_point),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_training_is_kept),
        cmocka_unit_test(test_errors_name_their_place),
        cmocka_unit_test(test_nesting_is_limited),
        cmocka_unit_test(test_every_prefix),
        cmocka_unit_test(test_every_byte_changed),
        cmocka_unit_test(test_missing_file),
    };
    bound_memory();
    return run_cases(argc, argv, tests, NULL, NULL);
}
