/*
 * t_module.c - layers: constructors, what they print, their parameters and how those start.
 */
#include <math.h>

#include "ir/graph/graph_parts.h"
#include "run_cases.h"
#include "unit/ir/build.h"

/* ---- constructors, written as .mg reads them ---- */

static struct mase_graph *with_module(const char *ctor, struct mase_err *err)
{
    struct mase_graph *g = NULL;
    struct mase_str text = { 0 };
    mase_str_printf(&text, "mase-graph 1\nmodule m = %s\nreturn None\n", ctor);
    (void)!mase_graph_parse_mg(&g, text.data, text.len, NULL, err);
    mase_str_release(&text);
    return g;
}

static const struct {
    const char *ctor, *repr;
} reprs[] = {
    { "BatchNorm1d(16)",
      "BatchNorm1d(16, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)" },
    { "BatchNorm2d(8, eps=0.001, affine=False)",
      "BatchNorm2d(8, eps=0.001, momentum=0.1, affine=False, track_running_stats=True)" },
    { "BatchNorm3d(8, momentum=None)",
      "BatchNorm3d(8, eps=1e-05, momentum=None, affine=True, track_running_stats=True)" },
    { "InstanceNorm2d(8)",
      "InstanceNorm2d(8, eps=1e-05, momentum=0.1, affine=False, track_running_stats=False)" },
    { "Linear(16, 5)", "Linear(in_features=16, out_features=5, bias=True)" },
    { "Linear(16, 5, False)", "Linear(in_features=16, out_features=5, bias=False)" },
    { "Bilinear(3, 4, 5)", "Bilinear(in1_features=3, in2_features=4, out_features=5, bias=True)" },
    { "ReLU()", "ReLU()" },
    { "ReLU(16)", "ReLU(inplace=True)" },
    { "ReLU(0)", "ReLU()" },
    { "ReLU6()", "ReLU6()" },
    { "ReLU6(inplace=True)", "ReLU6(inplace=True)" },
    { "Hardswish(True)", "Hardswish()" },
    { "Hardsigmoid()", "Hardsigmoid()" },
    { "SELU(inplace=True)", "SELU(inplace=True)" },
    { "SiLU()", "SiLU()" },
    { "Hardtanh()", "Hardtanh(min_val=-1.0, max_val=1.0)" },
    { "Hardtanh(0, 6, True)", "Hardtanh(min_val=0, max_val=6, inplace=True)" },
    { "LeakyReLU()", "LeakyReLU(negative_slope=0.01)" },
    { "LeakyReLU(0.2, True)", "LeakyReLU(negative_slope=0.2, inplace=True)" },
    { "ELU()", "ELU(alpha=1.0)" },
    { "GELU()", "GELU(approximate='none')" },
    { "Sigmoid()", "Sigmoid()" },
    { "Tanh()", "Tanh()" },
    { "Softsign()", "Softsign()" },
    { "LogSigmoid()", "LogSigmoid()" },
    { "Identity()", "Identity()" },
    { "Softmax()", "Softmax(dim=None)" },
    { "LogSoftmax(1)", "LogSoftmax(dim=1)" },
    { "Softplus()", "Softplus(beta=1, threshold=20)" },
    { "Hardshrink()", "Hardshrink(0.5)" },
    { "Conv1d(16, 32, 3, padding=1)",
      "Conv1d(16, 32, kernel_size=(3,), stride=(1,), padding=(1,))" },
    { "Conv2d(3, 64, 7, 2, 3, bias=False)",
      "Conv2d(3, 64, kernel_size=(7, 7), stride=(2, 2), padding=(3, 3), bias=False)" },
    { "Conv2d(1, 100, 3, padding='valid')",
      "Conv2d(1, 100, kernel_size=(3, 3), stride=(1, 1), padding=valid)" },
    { "Conv2d(4, 8, [3, 5], dilation=2, groups=4, padding_mode='circular')",
      "Conv2d(4, 8, kernel_size=(3, 5), stride=(1, 1), dilation=(2, 2), groups=4, "
      "padding_mode=circular)" },
    { "Conv3d(1, 2, 3)", "Conv3d(1, 2, kernel_size=(3, 3, 3), stride=(1, 1, 1))" },
    { "ConvTranspose2d(4, 8, 3, output_padding=1, stride=2)",
      "ConvTranspose2d(4, 8, kernel_size=(3, 3), stride=(2, 2), output_padding=(1, 1))" },
    { "MaxPool2d(2)",
      "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)" },
    { "MaxPool2d((3, 2), stride=None)",
      "MaxPool2d(kernel_size=(3, 2), stride=(3, 2), padding=0, dilation=1, ceil_mode=False)" },
    { "MaxPool1d(3, 2, 1)",
      "MaxPool1d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)" },
    { "AvgPool1d(2)", "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))" },
    { "AvgPool2d(2)", "AvgPool2d(kernel_size=2, stride=2, padding=0)" },
    { "AdaptiveAvgPool1d(1)", "AdaptiveAvgPool1d(output_size=1)" },
    { "AdaptiveAvgPool2d((1, 1))", "AdaptiveAvgPool2d(output_size=(1, 1))" },
    { "AdaptiveMaxPool2d(2)", "AdaptiveMaxPool2d(output_size=2)" },
    { "Dropout()", "Dropout(p=0.5, inplace=False)" },
    { "Dropout2d(0.1)", "Dropout2d(p=0.1, inplace=False)" },
    { "Flatten()", "Flatten(start_dim=1, end_dim=-1)" },
    { "LayerNorm(64)", "LayerNorm((64,), eps=1e-05, elementwise_affine=True)" },
    { "RMSNorm(4)", "RMSNorm((4,), eps=None, elementwise_affine=True)" },
    { "RMSNorm((2, 3), eps=0.1, elementwise_affine=False)",
      "RMSNorm((2, 3), eps=0.1, elementwise_affine=False)" },
    { "LayerNorm([4, 8])", "LayerNorm((4, 8), eps=1e-05, elementwise_affine=True)" },
    { "GroupNorm(4, 16)", "GroupNorm(4, 16, eps=1e-05, affine=True)" },
    { "EmbeddingBag(5, 3)", "EmbeddingBag(5, 3, mode='mean')" },
    { "EmbeddingBag(5, 3, mode='sum', padding_idx=1)",
      "EmbeddingBag(5, 3, mode='sum', padding_idx=1)" },
    { "Embedding(1000, 64)", "Embedding(1000, 64)" },
    { "Embedding(1000, 64, 0)", "Embedding(1000, 64, padding_idx=0)" },
    { "Embedding(10, 4, -1)", "Embedding(10, 4, padding_idx=9)" },
    { "Upsample(scale_factor=2)", "Upsample(scale_factor=2.0, mode='nearest')" },
    { "Upsample((8, 8), mode='bilinear')", "Upsample(size=(8, 8), mode='bilinear')" },
    { "CrossEntropyLoss()", "CrossEntropyLoss()" },
    { "NLLLoss(ignore_index=1)", "NLLLoss()" },
    { "MSELoss()", "MSELoss()" },
    { "L1Loss(reduction='sum')", "L1Loss()" },
    { "SmoothL1Loss(beta=0.5)", "SmoothL1Loss()" },
    { "HuberLoss(delta=2.0)", "HuberLoss()" },
    { "BCELoss()", "BCELoss()" },
    { "BCEWithLogitsLoss()", "BCEWithLogitsLoss()" },
    { "KLDivLoss(log_target=True)", "KLDivLoss()" },
    { "Mish()", "Mish()" },
    { "Mish(True)", "Mish(inplace=True)" },
    { "CELU(0.5)", "CELU(alpha=0.5)" },
    { "Threshold(0.1, 20)", "Threshold(threshold=0.1, value=20)" },
    { "RReLU()", "RReLU(lower=0.125, upper=0.3333333333333333)" },
    { "Tanhshrink()", "Tanhshrink()" },
    { "PReLU(3)", "PReLU(num_parameters=3)" },
    { "GLU()", "GLU(dim=-1)" },
    { "Softmin(1)", "Softmin(dim=1)" },
    { "Softmax2d()", "Softmax2d()" },
    { "ZeroPad1d(1)", "ZeroPad1d((1, 1))" },
    { "ZeroPad2d((1, 2, 0, 1))", "ZeroPad2d((1, 2, 0, 1))" },
    { "ZeroPad3d(1)", "ZeroPad3d((1, 1, 1, 1, 1, 1))" },
    { "ConstantPad1d(1, 0.5)", "ConstantPad1d(padding=(1, 1), value=0.5)" },
    { "ConstantPad2d(1, 0)", "ConstantPad2d(padding=(1, 1, 1, 1), value=0)" },
    { "ConstantPad3d((1, 1, 0, 0, 2, 2), -1.0)",
      "ConstantPad3d(padding=(1, 1, 0, 0, 2, 2), value=-1.0)" },
    { "ReflectionPad1d(2)", "ReflectionPad1d((2, 2))" },
    { "ReflectionPad2d(1)", "ReflectionPad2d((1, 1, 1, 1))" },
    { "ReflectionPad3d(1)", "ReflectionPad3d((1, 1, 1, 1, 1, 1))" },
    { "ReplicationPad1d((1, 2))", "ReplicationPad1d((1, 2))" },
    { "ReplicationPad2d(1)", "ReplicationPad2d((1, 1, 1, 1))" },
    { "ReplicationPad3d(1)", "ReplicationPad3d((1, 1, 1, 1, 1, 1))" },
    { "CircularPad1d(1)", "CircularPad1d((1, 1))" },
    { "CircularPad2d(1)", "CircularPad2d((1, 1, 1, 1))" },
    { "CircularPad3d(1)", "CircularPad3d((1, 1, 1, 1, 1, 1))" },
    { "PixelShuffle(2)", "PixelShuffle(upscale_factor=2)" },
    { "PixelUnshuffle(3)", "PixelUnshuffle(downscale_factor=3)" },
    { "ChannelShuffle(2)", "ChannelShuffle(groups=2)" },
    { "Unfold(3, padding=1)", "Unfold(kernel_size=3, dilation=1, padding=1, stride=1)" },
    { "Fold((4, 5), (2, 2))",
      "Fold(output_size=(4, 5), kernel_size=(2, 2), dilation=1, padding=0, stride=1)" },
    { "Unflatten(1, (2, 3))", "Unflatten(dim=1, unflattened_size=(2, 3))" },
    { "ConvTranspose1d(4, 8, 3, output_padding=1, stride=2)",
      "ConvTranspose1d(4, 8, kernel_size=(3,), stride=(2,), output_padding=(1,))" },
    { "ConvTranspose3d(4, 8, 3)",
      "ConvTranspose3d(4, 8, kernel_size=(3, 3, 3), stride=(1, 1, 1))" },
    { "MaxPool3d(2)",
      "MaxPool3d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)" },
    { "AvgPool3d((2, 3, 1))", "AvgPool3d(kernel_size=(2, 3, 1), stride=(2, 3, 1), padding=0)" },
    { "AdaptiveAvgPool3d((1, None, 2))", "AdaptiveAvgPool3d(output_size=(1, None, 2))" },
    { "AdaptiveMaxPool3d(2)", "AdaptiveMaxPool3d(output_size=2)" },
    { "Dropout1d(0.25)", "Dropout1d(p=0.25, inplace=False)" },
    { "Dropout3d()", "Dropout3d(p=0.5, inplace=False)" },
    { "AlphaDropout(0.1)", "AlphaDropout(p=0.1, inplace=False)" },
    { "FeatureAlphaDropout()", "FeatureAlphaDropout(p=0.5, inplace=False)" },
    { "CosineSimilarity(dim=2)", "CosineSimilarity()" },
    { "PairwiseDistance(keepdim=True)", "PairwiseDistance()" },
    { "InstanceNorm3d(4, affine=True)",
      "InstanceNorm3d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=False)" },
    { "LPPool1d(2, 3)", "LPPool1d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)" },
    { "LPPool2d(1.5, (2, 3), stride=(1, 2))",
      "LPPool2d(norm_type=1.5, kernel_size=(2, 3), stride=(1, 2), ceil_mode=False)" },
    { "LocalResponseNorm(2)", "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)" },
    { "MaxUnpool1d(2)", "MaxUnpool1d(kernel_size=(2,), stride=(2,), padding=(0,))" },
    { "MaxUnpool2d(2, stride=3)",
      "MaxUnpool2d(kernel_size=(2, 2), stride=(3, 3), padding=(0, 0))" },
    { "MaxUnpool3d(2)", "MaxUnpool3d(kernel_size=(2, 2, 2), stride=(2, 2, 2), padding=(0, 0, 0))" },
    { "RNN(3, 4)", "RNN(3, 4)" },
    { "LSTM(3, 4, 2, batch_first=True, dropout=0.5, bidirectional=True, proj_size=2)",
      "LSTM(3, 4, proj_size=2, num_layers=2, batch_first=True, dropout=0.5, bidirectional=True)" },
    { "GRU(3, 4, bias=False)", "GRU(3, 4, bias=False)" },
    { "RNNCell(3, 4, nonlinearity='relu')", "RNNCell(3, 4, nonlinearity=relu)" },
    { "LSTMCell(3, 4)", "LSTMCell(3, 4)" },
    { "GRUCell(3, 4, bias=False)", "GRUCell(3, 4, bias=False)" },
    { "Linear(16, 5) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}",
      "LinearInteger(in_features=16, out_features=5, bias=True)" },
    { "ReLU(True) quantized {name: fixed, data_in_width: 8, data_in_frac_width: 4}",
      "ReLUInteger(inplace=True)" },
};

static void test_reprs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof reprs / sizeof *reprs; i++) {
        struct mase_err err = { 0 };
        struct mase_graph *g = with_module(reprs[i].ctor, &err);
        if (!g)
            fail_msg("%s: %s", reprs[i].ctor, err.msg);
        ASSERT_PRINTS(reprs[i].repr, mase_module_repr(out, mase_graph_module(g, "m")));
        mase_graph_free(g);
    }
}

/* Every layer of the table can be written and read, whatever its defaults. */
static void test_every_class_is_tested(void **state)
{
    (void)state;
    static const char *const elsewhere[] = { "InstanceNorm1d", "AdaptiveMaxPool1d", "Softshrink" };
    for (int op = 0; op < MASE_OP_COUNT; op++) {
        const char *cls = mase_ops[op].module;
        bool found = !cls;
        for (size_t i = 0; !found && i < sizeof reprs / sizeof *reprs; i++)
            found = mase_starts_with(reprs[i].ctor, cls) && reprs[i].ctor[strlen(cls)] == '(';
        for (size_t i = 0; !found && i < sizeof elsewhere / sizeof *elsewhere; i++)
            found = mase_streq(elsewhere[i], cls); /* the row of a sister says the same */
        if (!found)
            fail_msg("no repr of %s is tested", cls);
    }
}

static const struct {
    const char *ctor, *msg;
} wrong[] = {
    { "Linear()", "module m: Linear: argument 'in_features' is missing" },
    { "Linear(1, 2, in_features=3)", "module m: Linear: argument 'in_features' is given twice" },
    { "Linear(1, -2)", "module m: Linear: out_features = -2 must be an integer, at least 0" },
    { "Linear(1.5, 2)", "module m: Linear: in_features = 1.5 must be an integer, at least 0" },
    { "Conv2d(1, 2, (3, 3, 3))", "module m: Conv2d: kernel_size must have 2 numbers, has 3" },
    { "Conv1d(1, 2, (3, 3))", "module m: Conv1d: kernel_size must have 1 number, has 2" },
    { "Conv2d(1, 2, 0)", "module m: Conv2d: kernel_size = 0 must be an integer, at least 1" },
    { "Conv2d(1, 2, 'a')",
      "module m: Conv2d: kernel_size must be an integer or a tuple of integers" },
    { "Conv2d(4, 6, 3, groups=4)",
      "module m: Conv2d: out_channels = 6 is not a multiple of groups = 4" },
    { "GroupNorm(3, 16)",
      "module m: GroupNorm: num_channels = 16 is not a multiple of num_groups = 3" },
    { "GroupNorm(0, 16)", "module m: GroupNorm: num_groups = 0 must be an integer, at least 1" },
    { "Embedding(10, 4, 10)", "module m: Embedding: padding_idx = 10 is outside the 10 rows" },
    { "LayerNorm([1, 2, 3, 4, 5, 6, 7, 8, 9])",
      "module m: LayerNorm: normalized_shape gives more than 8 dimensions" },
};

static void test_wrong_constructors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct mase_err err = { 0 };
        assert_null(with_module(wrong[i].ctor, &err));
        assert_string_equal(err.msg, wrong[i].msg);
    }
}

/* ---- parameters ---- */

static bool list_param(const char *full, struct mase_param *p, void *data)
{
    mase_str_printf(data, "%s %s", full, mase_dtypes[p->tensor.dtype].name);
    mase_shape_print(data, &p->tensor.shape);
    mase_str_add(data, mase_param_is_buffer(p) ? " buffer\n" : "\n");
    return true;
}

static const struct {
    const char *ctor, *params;
    int64_t trainable;
} layers[] = {
    { "Linear(16, 5)", "m.weight f32[5, 16]\nm.bias f32[5]\n", 85 },
    { "Linear(16, 5, bias=False)", "m.weight f32[5, 16]\n", 80 },
    { "Bilinear(3, 4, 5)", "m.weight f32[5, 3, 4]\nm.bias f32[5]\n", 65 },
    { "Conv1d(4, 8, 3, groups=2)", "m.weight f32[8, 2, 3]\nm.bias f32[8]\n", 56 },
    { "Conv2d(3, 8, (3, 5))", "m.weight f32[8, 3, 3, 5]\nm.bias f32[8]\n", 368 },
    { "ConvTranspose2d(4, 8, 3, groups=2)", "m.weight f32[4, 4, 3, 3]\nm.bias f32[8]\n", 152 },
    { "BatchNorm1d(16)",
      "m.weight f32[16]\nm.bias f32[16]\nm.running_mean f32[16] buffer\n"
      "m.running_var f32[16] buffer\nm.num_batches_tracked i64[] buffer\n",
      32 },
    { "BatchNorm1d(16, affine=False, track_running_stats=False)", "", 0 },
    { "InstanceNorm2d(4, affine=True)", "m.weight f32[4]\nm.bias f32[4]\n", 8 },
    { "LayerNorm((4, 8))", "m.weight f32[4, 8]\nm.bias f32[4, 8]\n", 64 },
    { "RMSNorm((4, 8))", "m.weight f32[4, 8]\n", 32 },
    { "RMSNorm(8, elementwise_affine=False)", "", 0 },
    { "LayerNorm(8, bias=False)", "m.weight f32[8]\n", 8 },
    { "LayerNorm(8, elementwise_affine=False)", "", 0 },
    { "GroupNorm(2, 8)", "m.weight f32[8]\nm.bias f32[8]\n", 16 },
    { "Embedding(10, 4)", "m.weight f32[10, 4]\n", 40 },
    { "ReLU()", "", 0 },
};

static void test_parameters(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        struct mase_graph *g = with_module(layers[i].ctor, NULL);
        assert_non_null(g);
        ASSERT_PRINTS(layers[i].params, mase_graph_each_param(g, list_param, out));
        assert_int_equal(mase_graph_param_count(g), layers[i].trainable);
        mase_graph_free(g);
    }
}

/* The order is that of the tree of containers, whatever order modules were registered in. */
static void test_state_dict_order(void **state)
{
    (void)state;
    const struct mase_shape one = { .rank = 1, .dim = { 1 } };
    struct mase_graph *g = mase_graph_new(NULL);
    MODULE_(g, "block.0.fc", "Linear", I(1), I(1));
    MODULE_(g, "head", "Linear", I(1), I(1));
    module(g, "block.1", "Linear", &TUPLE(I(1), I(1)), &KW1("bias", B(false)));
    mase_graph_add_attr(g, "mean", MASE_F32, &one, MASE_PARAM_BUFFER);
    mase_graph_add_attr(g, "scale", MASE_F32, &one, MASE_PARAM_TRAINED);
    mase_graph_add_attr(g, "block.0.gamma", MASE_F32, &one, MASE_PARAM_TRAINED);
    ASSERT_PRINTS("scale f32[1]\nmean f32[1] buffer\nblock.0.gamma f32[1]\n"
                  "block.0.fc.weight f32[1, 1]\nblock.0.fc.bias f32[1]\n"
                  "block.1.weight f32[1, 1]\n"
                  "head.weight f32[1, 1]\nhead.bias f32[1]\n",
                  mase_graph_each_param(g, list_param, out));
    assert_string_equal(mase_graph_attr(g, "scale")->name, "scale");
    assert_string_equal(mase_graph_attr(g, "head.bias")->name, "bias");
    assert_null(mase_graph_attr(g, "head.gain"));
    mase_graph_free(g);
}

/* ---- how they start ---- */

static const float *data_of(const struct mase_graph *g, const char *path)
{
    return mase_f32(&mase_graph_attr(g, path)->tensor);
}

/* Uniform in +-1/sqrt(fan_in): within the bound, near it at the ends, with the right variance. */
static void assert_uniform(const struct mase_graph *g, const char *path, double bound)
{
    const struct mase_tensor *t = &mase_graph_attr(g, path)->tensor;
    int64_t n = mase_tensor_count(t);
    double sum = 0, squares = 0, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = mase_f32(t)[i];
        sum += v;
        squares += v * v;
        largest = fmax(largest, fabs(v));
    }
    assert_true(largest <= bound && largest > 0.98 * bound);
    assert_true(fabs(sum / (double)n) < 5 * bound / sqrt(3 * (double)n));
    assert_true(fabs(squares / (double)n / (bound * bound / 3) - 1) < 5 / sqrt((double)n));
}

static void test_initial_weights(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new(NULL);
    MODULE_(g, "fc", "Linear", I(64), I(500));
    MODULE_(g, "conv", "Conv2d", I(8), I(500), I(3), I(1), I(0), I(1), I(4));
    MODULE_(g, "bn", "BatchNorm2d", I(4));
    MODULE_(g, "emb", "Embedding", I(100), I(50), I(7));
    mase_graph_init_weights(g, 42);

    assert_uniform(g, "fc.weight", 1 / 8.0);
    assert_uniform(g, "fc.bias", 1 / 8.0);
    assert_uniform(g, "conv.weight", 1 / sqrt(2 * 9));
    for (int i = 0; i < 4; i++) {
        assert_true(data_of(g, "bn.weight")[i] == 1 && data_of(g, "bn.bias")[i] == 0);
        assert_true(data_of(g, "bn.running_mean")[i] == 0 && data_of(g, "bn.running_var")[i] == 1);
    }
    double squares = 0;
    for (int i = 0; i < 5000; i++)
        squares += data_of(g, "emb.weight")[i] * data_of(g, "emb.weight")[i];
    assert_true(fabs(squares / 4950 - 1) < 0.1);
    for (int i = 0; i < 50; i++)
        assert_true(data_of(g, "emb.weight")[7 * 50 + i] == 0);
    mase_graph_free(g);
}

/* A tensor's start depends on the seed and its name, not on its neighbours. */
static void test_streams_are_independent(void **state)
{
    (void)state;
    struct mase_graph *a = mase_graph_new(NULL), *b = mase_graph_new(NULL);
    MODULE_(a, "fc", "Linear", I(4), I(4));
    MODULE_(b, "first", "Linear", I(9), I(9));
    MODULE_(b, "fc", "Linear", I(4), I(4));
    mase_graph_init_weights(a, 7);
    mase_graph_init_weights(b, 7);
    assert_memory_equal(data_of(a, "fc.weight"), data_of(b, "fc.weight"), 64);
    mase_graph_init_weights(b, 8);
    assert_memory_not_equal(data_of(a, "fc.weight"), data_of(b, "fc.weight"), 64);
    mase_graph_free(a);
    mase_graph_free(b);
}

/* Attributes that only agree together; everything starts anew, and what is frozen stays so. */
static void test_rebuilt_module_starts_anew(void **state)
{
    (void)state;
    struct mase_err err;
    struct mase_graph *g = with_module("Conv2d(4, 4, 3, groups=4)", &err);
    struct mase_module *m = mase_graph_module(g, "m");
    mase_graph_init_weights(g, 7);
    assert_int_equal(mase_graph_freeze(g, "m.bias"), 1);
    const struct mase_module_attr odd[] = { { "in_channels", mase_arg_int(6) } };
    assert_int_equal(mase_module_rebuild(g, m, odd, 1, &err), MASE_EVALUE);
    assert_int_equal(mase_module_attr(m, "in_channels")->i, 4);
    const uint64_t edits = g->edits;
    const struct mase_module_attr six[] = { { "in_channels", mase_arg_int(6) },
                                            { "groups", mase_arg_int(6) },
                                            { "out_channels", mase_arg_int(6) } };
    assert_int_equal(mase_module_rebuild(g, m, six, 3, &err), MASE_OK);
    assert_true(g->edits > edits);
    assert_int_equal(mase_module_param(m, "weight")->tensor.shape.dim[0], 6);
    assert_null(mase_module_param(m, "weight")->tensor.data);
    assert_null(mase_module_param(m, "bias")->tensor.data);
    assert_int_equal(mase_module_param(m, "weight")->kind, MASE_PARAM_TRAINED);
    assert_int_equal(mase_module_param(m, "bias")->kind, MASE_PARAM_FROZEN);
    mase_graph_free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reprs),
        cmocka_unit_test(test_every_class_is_tested),
        cmocka_unit_test(test_wrong_constructors),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_state_dict_order),
        cmocka_unit_test(test_initial_weights),
        cmocka_unit_test(test_streams_are_independent),
        cmocka_unit_test(test_rebuilt_module_starts_anew),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
