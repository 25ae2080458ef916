/*
 * t_onnx_check.c - what is written as ONNX is checked as others will read it: a model with one
 * thing wrong is refused, by the node that has it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include <mase/graph.h>
#include <mase/onnx.h>

#include "onnx/onnx_check.h"
#include "run_cases.h"

static const char network[] =
    "mase-graph 1\n"
    "name net\n"
    "\n"
    "module conv = Conv2d(in_channels=3, out_channels=4, kernel_size=(3, 3))\n"
    "module fc = Linear(in_features=4, out_features=5) quantized {name: 'int', data_in_name: "
    "'int', "
    "data_in_width: 8, data_in_scale: 0.1, weight_name: 'int', weight_width: 8, weight_scale: "
    "0.01, bias_name: 'NA'}\n"
    "\n"
    "%x = placeholder[target=x]\n"
    "%conv = call_module[target=conv](args = (%x,), kwargs = {})\n"
    "%pool = call_function[target=torch.nn.functional.max_pool2d](args = (%conv, 2), kwargs = {})\n"
    "%mean = call_method[target=mean](args = (%pool, (2, 3)), kwargs = {})\n"
    "%fc = call_module[target=fc](args = (%mean,), kwargs = {})\n"
    "%half = call_function[target=operator.mul](args = (%fc, 0.5), kwargs = {})\n"
    "%y = call_function[target=torch.softmax](args = (%half, -1), kwargs = {})\n"
    "%z = call_function[target=torch.cat](args = ([%y, %half], 1), kwargs = {})\n"
    "%t = call_method[target=reshape](args = (%z, -1, 5, 2), kwargs = {})\n"
    "return %t\n";

static struct mase_str written;

static int write_model(void **state)
{
    struct mase_graph *g;
    struct mase_err err = { 0 };
    struct mase_onnx_written how = { .dialect = MASE_ONNX_QDQ };
    const struct mase_input in = { "x", { .dtype = MASE_F32, .shape = { 4, { 1, 3, 8, 8 } } } };
    (void)state;
    if (mase_graph_parse_mg(&g, network, strlen(network), "net.mg", &err))
        fail_msg("%s", err.msg);
    mase_graph_init_weights(g, 1);
    if (mase_onnx_export(&written, g, &in, 1, &how, &err))
        fail_msg("%s", err.msg);
    mase_graph_free(g);
    return 0;
}

static int drop_model(void **state)
{
    (void)state;
    mase_str_release(&written);
    return 0;
}

/* ---- parts of the model ---- */

static struct mase_onnx_node *node(struct mase_onnx_model *m, const char *op)
{
    for (int k = 0; k < m->graph->node.count; k++)
        if (mase_streq(m->graph->node.items[k].op_type, op))
            return &m->graph->node.items[k];
    fail_msg("there is no %s", op);
    return NULL;
}

static struct mase_onnx_attribute *attribute(struct mase_onnx_model *m, const char *op,
                                             const char *name)
{
    struct mase_onnx_node *n = node(m, op);
    for (int k = 0; k < n->attribute.count; k++)
        if (mase_streq(n->attribute.items[k].name, name))
            return &n->attribute.items[k];
    fail_msg("%s has no %s", op, name);
    return NULL;
}

static struct mase_onnx_tensor *tensor(struct mase_onnx_model *m, const char *name)
{
    for (int k = 0; k < m->graph->initializer.count; k++)
        if (mase_streq(m->graph->initializer.items[k].name, name))
            return &m->graph->initializer.items[k];
    fail_msg("there is no %s", name);
    return NULL;
}

/* ---- one thing wrong each ---- */

#define WRONG(name) static void name(struct mase_onnx_model *m)
WRONG(nothing)
{
    (void)m;
}
WRONG(fewer_inputs)
{
    node(m, "Mul")->input.count = 1;
}
WRONG(more_inputs)
{
    node(m, "Softmax")->input = node(m, "Mul")->input;
}
WRONG(no_input)
{
    node(m, "Mul")->input.items[1] = "";
}
WRONG(no_such_input)
{
    node(m, "Mul")->input.items[1] = "nowhere";
}
WRONG(later_input)
{
    node(m, "Conv")->input.items[0] = "pool";
}
WRONG(taken_output)
{
    node(m, "Softmax")->output.items[0] = "half";
}
WRONG(unnamed_output)
{
    node(m, "Softmax")->output.count = 0;
}
WRONG(no_such_operation)
{
    node(m, "Softmax")->op_type = "Softmin";
}
WRONG(operation_of_no_domain)
{
    node(m, "Softmax")->domain = "elsewhere";
}
WRONG(later_operation)
{
    struct mase_onnx_node *n = node(m, "Softmax");
    n->op_type = "Gelu";
    n->attribute.count = 0;
}
WRONG(integers_times_floats)
{
    struct mase_onnx_tensor *t = tensor(m, "number");
    t->data_type = MASE_ONNX_INT32;
}
WRONG(integers_in_softmax)
{
    node(m, "Softmax")->input.items[0] = "fc.weight_codes";
}
WRONG(unknown_attribute)
{
    attribute(m, "Softmax", "axis")->name = "dim";
}
WRONG(another_type_of_attribute)
{
    attribute(m, "Softmax", "axis")->type = 1;
}
WRONG(attribute_twice)
{
    attribute(m, "Conv", "dilations")->name = "strides";
}
WRONG(attribute_missing)
{
    node(m, "Concat")->attribute.count = 0;
}
WRONG(axis_outside)
{
    attribute(m, "Concat", "axis")->i = 2;
}
WRONG(window_beyond)
{
    attribute(m, "MaxPool", "kernel_shape")->ints.items[0] = 7;
}
WRONG(strides_of_another_count)
{
    attribute(m, "MaxPool", "strides")->ints.count = 1;
}
WRONG(groups_beside_channels)
{
    attribute(m, "Conv", "group")->i = 2;
}
WRONG(matrix_beside_rows)
{
    attribute(m, "Gemm", "transB")->i = 0;
}
WRONG(bytes_beside_shape)
{
    tensor(m, "number")->raw_data.size = 8;
}
WRONG(codes_without_their_type)
{
    struct mase_onnx_tensor *t = tensor(m, "fc_data_in_zero_point");
    static const unsigned char zero[4];
    t->data_type = MASE_ONNX_INT32;
    t->raw_data = (struct mase_onnx_bytes){ zero, sizeof zero };
}
WRONG(words_before_their_opset)
{
    struct mase_onnx_tensor *t = tensor(m, "fc_data_in_zero_point");
    static const unsigned char zero[2];
    t->data_type = MASE_ONNX_INT16;
    t->raw_data = (struct mase_onnx_bytes){ zero, sizeof zero };
}
WRONG(another_zero_point)
{
    node(m, "DequantizeLinear")->input.items[2] = "fc.weight_codes";
}
WRONG(shape_that_is_not_filled)
{
    struct mase_onnx_tensor *t = tensor(m, "lengths_1");
    static const unsigned char three[] = { 3, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0,
                                           0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0 };
    t->raw_data.data = three;
}
WRONG(axes_that_are_no_constant)
{
    node(m, "ReduceMean")->input.items[1] = "half";
}
WRONG(output_of_another_type)
{
    m->graph->output.items[0].type->tensor_type->elem_type = MASE_ONNX_INT64;
}
WRONG(output_of_another_shape)
{
    m->graph->output.items[0].type->tensor_type->shape->dim.items[1].dim_value = 4;
}
WRONG(output_of_another_batch)
{
    m->graph->output.items[0].type->tensor_type->shape->dim.items[0].dim_param = "Nx2";
}
WRONG(output_of_nothing)
{
    m->graph->output.items[0].name = "nowhere";
}
WRONG(no_outputs)
{
    m->graph->output.count = 0;
}
WRONG(name_taken)
{
    tensor(m, "fc.weight_codes")->name = "x";
}
WRONG(no_opset)
{
    m->opset_import.count = 0;
}
WRONG(version_before_opset)
{
    m->ir_version = 7;
}
WRONG(graph_without_name)
{
    m->graph->name = "";
}

#define ONE(name, says)   \
    {                     \
#name, name, says \
    }
static const struct {
    const char *name;
    void (*change)(struct mase_onnx_model *m);
    const char *says; /* NULL: it is right */
} models[] = {
    ONE(nothing, NULL),
    ONE(fewer_inputs, "(Mul): 1 inputs are too few"),
    ONE(more_inputs, "(Softmax): 2 inputs are too many"),
    ONE(no_input, "(Mul): input 1 is missing"),
    ONE(no_such_input, "(Mul): its input 'nowhere' is made by no node before it"),
    ONE(later_input, "(Conv): its input 'pool' is made by no node before it"),
    ONE(taken_output, "(Softmax): the name 'half' is taken"),
    ONE(unnamed_output, "(Softmax): it has 0 outputs, not 1"),
    ONE(no_such_operation, "(Softmin): opset 18 has no such operation"),
    ONE(operation_of_no_domain, "there is no opset of the domain 'elsewhere'"),
    ONE(later_operation, "(Gelu): opset 18 has no such operation"),
    ONE(integers_times_floats, "(Mul): its input 'number' is of type INT32"),
    ONE(integers_in_softmax, "(Softmax): its input 'fc.weight_codes' is of type"),
    ONE(unknown_attribute, "(Softmax): it has no attribute 'dim'"),
    ONE(another_type_of_attribute, "(Softmax): its attribute 'axis' is of another type"),
    ONE(attribute_twice, "(Conv): its attribute 'strides' is given twice"),
    ONE(attribute_missing, "(Concat): its attribute 'axis' is missing"),
    ONE(axis_outside, "(Concat): axis is outside of its rank"),
    ONE(window_beyond, "(MaxPool): its window does not fit"),
    ONE(strides_of_another_count, "(MaxPool): strides has 1 entries, not 2"),
    ONE(groups_beside_channels, "(Conv): its weight does not fit its input"),
    ONE(matrix_beside_rows, "(Gemm): 4 columns meet 5 rows"),
    ONE(bytes_beside_shape, "the tensor 'number' has"),
    ONE(codes_without_their_type, "(QuantizeLinear): its input 'fc_data_in_zero_point' is of type"),
    ONE(words_before_their_opset, "(QuantizeLinear): its input 'fc_data_in_zero_point' is of type"),
    ONE(another_zero_point, "(DequantizeLinear): its"),
    ONE(shape_that_is_not_filled, "(Reshape): 20 values do not fill its shape"),
    ONE(axes_that_are_no_constant, "(ReduceMean): its input 'half' is made by no node before it"),
    ONE(output_of_another_type, "the output 't' is of type FLOAT, not INT64"),
    ONE(output_of_another_shape, "the output 't' is said to be of another shape"),
    ONE(output_of_another_batch, "the output 't' is said to be of another shape"),
    ONE(output_of_nothing, "nothing makes the output 'nowhere'"),
    ONE(no_outputs, "there is no output"),
    ONE(name_taken, "the name 'x' is taken"),
    ONE(no_opset, "there is no opset of the domain ''"),
    ONE(version_before_opset, "version 7 of the format has no opset 18"),
    ONE(graph_without_name, "the graph has no name"),
};

static void one_thing_wrong_is_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        struct mase_onnx_file f;
        struct mase_str changed = { 0 };
        struct mase_err err = { 0 };
        int at;
        assert_int_equal(
            mase_onnx_file_parse(&f, mase_str_text(&written), written.len, "net.onnx", &err),
            MASE_OK);
        models[k].change(f.model);
        mase_onnx_print(&changed, MASE_ONNX_MESSAGE_model, f.model);
        const enum mase_status st =
            mase_onnx_check(&at, mase_str_text(&changed), changed.len, &err);
        if ((st == MASE_OK) != !models[k].says)
            fail_msg("%s: %s", models[k].name, st ? err.msg : "taken");
        if (st && !strstr(err.msg, models[k].says))
            fail_msg("%s: '%s', not '%s'", models[k].name, err.msg, models[k].says);
        mase_str_release(&changed);
        mase_onnx_file_close(&f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thing_wrong_is_refused),
    };
    return run_cases(argc, argv, tests, write_model, drop_model);
}
