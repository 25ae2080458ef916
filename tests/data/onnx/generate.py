"""Write the networks of this folder, and what ONNX Runtime computes with them.

    python3 generate.py            needs torch, onnx, onnxscript, onnxruntime
    python3 generate.py CASES      also copies the cases below from a folder of onnx's node cases

NAME.onnx, NAME_x.npy, NAME_y.npy: networks of both exporters of PyTorch, with batches of any size
and of one; external.onnx has its tensors in external.data.
"""
import os
import shutil
import sys

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import helper, numpy_helper
from onnxruntime import quantization
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
# Each is here for something that changed between opsets, or that PyTorch does in another way.
CASES = """
add_bcast argmax_keepdims_example_select_last_index averagepool_2d_same_lower averagepool_2d_ceil
averagepool_2d_precomputed_pads_count_include_pad basic_conv_without_padding batchnorm_example clip_default_inbounds
clip_example clip_min_greater_than_max conv_with_autopad_same conv_with_strides_and_asymmetric_padding convtranspose_autopad_same
convtranspose_output_shape cumsum_1d_reverse_exclusive depthtospace_example div_int32_trunc elu_example expand_dim_changed
gather_negative_indices gather_elements_negative_indices gemm_all_attributes gemm_default_vector_bias group_normalization_example
hardmax_one_hot isinf_negative layer_normalization_3d_axis1_epsilon logsoftmax_axis_0 matmul_3d max_float32 maxpool_2d_ceil
maxpool_2d_same_upper maxpool_2d_dilations mod_mixed_sign_int64 mod_int64_fmod onehot_negative_indices
pow_types_int64_float32 prelu_broadcast reduce_l2_negative_axes_keep_dims_example reduce_log_sum_exp_default_axes_keepdims_example
reshape_zero_and_negative_dim reshape_allowzero_reordered scatter_elements_with_negative_indices shape_start_1_end_negative_1
shrink_soft slice_neg_steps slice_end_out_of_bounds slice_default_axes softmax_axis_1 split_1d_uneven_split_opset18
squeeze_negative_axes top_k_negative_axis transpose_default tril_out_neg unsqueeze_unsorted_axes where_example
""".split()


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(16, 8)
        self.bn = nn.BatchNorm1d(8)
        self.drop = nn.Dropout(0.3)
        self.fc2 = nn.Linear(8, 5)

    def forward(self, x):
        return self.fc2(self.drop(torch.relu(self.bn(self.fc1(x)))))


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.down = nn.Conv2d(4, 4, 3, stride=2, groups=2)
        self.fc = nn.Linear(16, 6)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        x = nn.functional.hardswish(self.down(nn.functional.pad(x, (0, 1, 0, 1))))
        return torch.softmax(self.fc(x.view(x.size(0), -1)), 1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8, bias=False)
        self.norm = nn.LayerNorm(8)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        x = self.embed(x)
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, 2, c // 2).transpose(1, 2) for f in (self.q, self.k, self.v))
        a = torch.softmax(q @ k.transpose(-1, -2) / 2.0, -1) @ v
        x = self.norm(x + a.transpose(1, 2).reshape(b, t, c))
        return self.out(nn.functional.gelu(x)).mean(1)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(8, 5)
        self.rnn = nn.RNN(5, 2, nonlinearity="tanh", bias=False)

    def forward(self, x):
        x, (h, c) = self.lstm(x)
        x, last = self.gru(x.transpose(0, 1))
        return torch.cat([self.rnn(x)[1][0], last[0], h[1], c[0]], 1)


def inputs(name, batch):
    if name == "attention":
        return torch.randint(0, 11, (batch, 6))
    return torch.randn(batch, *{"mlp": (16,), "cnn": (3, 8, 8), "recurrent": (6, 3)}[name])


def export(net, x, path, dynamo, any_batch):
    if dynamo:
        shapes = ({0: torch.export.Dim("batch")},) if any_batch else None
        torch.onnx.export(net, (x,), path, dynamo=True, dynamic_shapes=shapes, external_data=False, verbose=False)
    else:
        axes = {"x": {0: "N"}, "y": {0: "N"}} if any_batch else None
        torch.onnx.export(net, (x,), path, dynamo=False, input_names=["x"], output_names=["y"], dynamic_axes=axes,
                          opset_version=13)
    model = onnx.load(path)  # paths and stacks of whoever made it say nothing
    for part in (model, model.graph, *model.graph.node, *model.graph.input, *model.graph.output, *model.graph.value_info):
        part.ClearField("metadata_props")
        part.ClearField("doc_string")
    model.graph.ClearField("value_info")
    onnx.save(model, path)
    return onnxruntime.InferenceSession(path)


def plain(path):
    """A session that computes every node as it stands."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options)


class Reader(quantization.CalibrationDataReader):
    def __init__(self, rows):
        self.rows = iter([{"x": rows}])

    def get_next(self):
        return next(self.rows, None)


def quant(x, scale, zero, bits, signed, narrow):
    """Quant of QONNX by its definition."""
    low = -(2 ** (bits - 1)) + narrow if signed else 0
    high = 2 ** (bits - 1) - 1 if signed else 2**bits - 1 - narrow
    codes = np.clip(np.rint(x.astype(np.float64) / scale + zero), low, high)
    return ((codes - zero) * scale).astype(np.float32)


def qonnx_network():
    """Two layers: weights of 4 bits for each channel, narrow, data of 6 and 5 bits, unsigned behind the ReLU."""
    rng = np.random.default_rng(1)
    w = [rng.normal(size=s).astype(np.float32) for s in ((8, 16), (5, 8))]
    b = [rng.normal(size=n).astype(np.float32) for n in (8, 5)]
    scales = [np.abs(v).max(1, keepdims=True).astype(np.float32) / 7 for v in w]
    constants, nodes = [], []

    def constant(name, v):
        constants.append(numpy_helper.from_array(np.asarray(v, np.float32), name))
        return name

    def add_quant(x, y, scale, bits, signed, narrow):
        nodes.append(helper.make_node("Quant", [x, constant(y + "_s", scale), constant(y + "_z", 0), constant(y + "_b", bits)], [y], name=y,
                                      domain="qonnx.custom_op.general", signed=signed, narrow=narrow, rounding_mode="ROUND"))

    def forward(x):
        h = quant(x, np.float32(0.11), 0, 6, True, False) @ quant(w[0], scales[0], 0, 4, True, True).T + b[0]
        h = quant(np.maximum(h, 0), np.float32(0.25), 0, 5, False, False)
        return h @ quant(w[1], scales[1], 0, 4, True, True).T + b[1]

    add_quant("x", "xq", 0.11, 6, 1, 0)
    add_quant(constant("fc1.weight", w[0]), "w1q", scales[0], 4, 1, 1)
    add_quant(constant("fc2.weight", w[1]), "w2q", scales[1], 4, 1, 1)
    nodes.append(helper.make_node("Gemm", ["xq", "w1q", constant("fc1.bias", b[0])], ["h"], name="fc1", transB=1))
    nodes.append(helper.make_node("Relu", ["h"], ["r"], name="relu"))
    add_quant("r", "rq", 0.25, 5, 0, 0)
    nodes.append(helper.make_node("Gemm", ["rq", "w2q", constant("fc2.bias", b[1])], ["y"], name="fc2", transB=1))
    info = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["N", k]) for n, k in (("x", 16), ("y", 5))]
    graph = helper.make_graph(nodes, "qonnx", info[:1], info[1:], constants)
    sets = [helper.make_opsetid("", 13), helper.make_opsetid("qonnx.custom_op.general", 1)]
    onnx.save(helper.make_model(graph, opset_imports=sets), f"{HERE}/qonnx.onnx")
    return forward


def quantised():
    """qdq, qoperator: of ONNX Runtime, weights of 7 bits, for with 8 its sums saturate on some processors; qonnx."""
    rng = np.random.default_rng(0)
    x = {"qdq": rng.normal(size=(64, 16)), "qoperator": rng.normal(size=(16, 3, 6, 6))}
    convs = f"{HERE}/convs.onnx"
    net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 3, stride=2)).eval()
    export(net, torch.randn(2, 3, 6, 6), convs, False, True)
    for name, source, form, channels in (("qdq", f"{HERE}/mlp_dynamo.onnx", quantization.QuantFormat.QDQ, True),
                                         ("qoperator", convs, quantization.QuantFormat.QOperator, True)):
        rows = x[name].astype(np.float32)
        quantization.quantize_static(source, f"{HERE}/{name}.onnx", Reader(rows), quant_format=form, per_channel=channels, reduce_range=True,
                                     activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8)
        np.save(f"{HERE}/{name}_x.npy", rows)
        np.save(f"{HERE}/{name}_y.npy", plain(f"{HERE}/{name}.onnx").run(None, {"x": rows})[0])
    os.remove(convs)
    np.save(f"{HERE}/qonnx_x.npy", x["qdq"].astype(np.float32))
    np.save(f"{HERE}/qonnx_y.npy", qonnx_network()(x["qdq"].astype(np.float32)))


def mixed():
    """x - mean(x) over the samples: fixed.onnx for a batch of 2, open.onnx for any."""
    for name, batch in (("fixed", 2), ("open", "N")):
        info = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [batch, 4]) for n in "xy"]
        nodes = [helper.make_node("ReduceMean", ["x"], ["m"], name="mean", axes=[0]), helper.make_node("Sub", ["x", "m"], ["y"], name="sub")]
        graph = helper.make_graph(nodes, "mixed", info[:1], info[1:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), f"{HERE}/mixed_{name}.onnx")


def nested():
    """A layer whose name lies below that of another, which PyTorch cannot have, and one name twice."""
    names = ("a.weight", "a.b.weight", "c d.weight", "c/d.weight")
    info = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["N", 2]) for n in "xy"]
    nodes = [helper.make_node("MatMul", [f"h{i}" if i else "x", n], [f"h{i + 1}" if i < 3 else "y"]) for i, n in enumerate(names)]
    weights = [numpy_helper.from_array(np.eye(2, dtype=np.float32) * (i + 2), n) for i, n in enumerate(names)]
    graph = helper.make_graph(nodes, "nested", info[:1], info[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), f"{HERE}/nested.onnx")


def main():
    torch.manual_seed(0)
    for name, net in (("mlp", Mlp()), ("cnn", Cnn()), ("attention", Attention()), ("recurrent", Recurrent())):
        for module in net.modules():
            if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
                module.running_mean.uniform_(-0.3, 0.3)
                module.running_var.uniform_(0.5, 2)
        net.eval()
        x = inputs(name, 3)
        for kind, dynamo, any_batch in (("script", False, True), ("dynamo", True, True), ("single", False, False)):
            if name == "recurrent" and kind != "script":
                continue
            path = f"{HERE}/{name}_{kind}.onnx"
            session = export(net, x if any_batch else x[:1], path, dynamo, any_batch)
            feed = session.get_inputs()[0].name
            y = [session.run(None, {feed: part})[0] for part in ([x.numpy()] if any_batch else np.split(x.numpy(), 3))]
        np.save(f"{HERE}/{name}_x.npy", x.numpy())
        np.save(f"{HERE}/{name}_y.npy", np.concatenate(y))
    model = onnx.load(f"{HERE}/mlp_script.onnx")
    if os.path.exists(f"{HERE}/external.data"):
        os.remove(f"{HERE}/external.data")
    onnx.save(model, f"{HERE}/external.onnx", save_as_external_data=True, location="external.data", size_threshold=0)
    quantised()
    mixed()
    nested()
    for case in CASES if len(sys.argv) > 1 else ():
        shutil.copytree(f"{sys.argv[1]}/test_{case}", f"{HERE}/cases/{case}", dirs_exist_ok=True)


main()
