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
squeeze_negative_axes top_k_negative_axis transpose_default tril_out_neg unsqueeze_unsorted_axes where_example affine_grid_2d convinteger_with_padding dequantizelinear_blocked
dynamicquantizelinear_max_adjusted gridsample_border_padding gridsample_nearest if matmulinteger quantizelinear_blocked_asymmetric scatternd_add
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


def model_of(nodes, constants, name, width=6, outputs=4, sets=()):
    info = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, ["N", k]) for n, k in (("x", width), ("y", outputs))]
    graph = helper.make_graph(nodes, name, info[:1], info[1:], [numpy_helper.from_array(v, n) if isinstance(v, np.ndarray) else v for n, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), *(helper.make_opsetid(d, 1) for d in sets)], ir_version=10)


def cut_codes(rng):
    """Codes that a Clip cuts, of data and of weights; weights of 4 bits; a bias of 32; a branch that is taken, and one that is not."""
    f, i8 = np.float32, np.int8
    w4 = helper.make_tensor("w2", onnx.TensorProto.INT4, [4, 5], rng.integers(-8, 8, 20).tolist())
    constants = {"s": np.array(0.3, f), "z": np.array(0, i8), "lo": np.array(-7, i8), "hi": np.array(7, i8), "w": rng.integers(-128, 128, (5, 6)).astype(i8),
                 "ws": rng.uniform(0.05, 0.2, 5).astype(f), "wz": np.zeros(5, i8), "b": rng.integers(-90, 90, 5).astype(np.int32), "bs": np.array(0.02, f), "w2": w4,
                 "w2s": np.array(0.11, f), "yes": np.array(True), "us": np.array(0.07, f), "uz": np.array(0, np.uint8), "top": np.array(31, np.uint8)}
    branch = [helper.make_graph([helper.make_node(op, ["g"], ["r"], name=op)], op, [], [helper.make_tensor_value_info("r", onnx.TensorProto.FLOAT, None)]) for op in ("Relu", "Neg")]
    node = helper.make_node
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["xq"]), node("Clip", ["xq", "lo", "hi"], ["xc"]), node("DequantizeLinear", ["xc", "s", "z"], ["xd"]),
             node("Clip", ["w", "lo", "hi"], ["wc"]), node("DequantizeLinear", ["wc", "ws", "wz"], ["wd"], axis=0), node("DequantizeLinear", ["b", "bs"], ["bd"]),
             node("Gemm", ["xd", "wd", "bd"], ["g"], transB=1, name="fc1"), node("If", ["yes"], ["h"], then_branch=branch[0], else_branch=branch[1], name="choice"),
             node("QuantizeLinear", ["h", "us", "uz"], ["hq"]), node("Clip", ["hq", "uz", "top"], ["hc"]), node("DequantizeLinear", ["hc", "us", "uz"], ["hd"]),
             node("DequantizeLinear", ["w2", "w2s"], ["w2d"]), node("Gemm", ["hd", "w2d"], ["y"], transB=1, name="fc2")]
    return model_of(nodes, constants, "cut")


def more_of_qonnx(rng):
    """Signs, rounding down, widths for each channel, a bias, eight bits of float, and a truncation."""
    f = np.float32
    constants = {"one": np.array(1, f), "zero": np.array(0, f), "eighth": np.array(0.125, f), "six": np.array(6, f), "five": np.array(5, f), "w": rng.normal(0, 1, (5, 6)).astype(f),
                 "ws": rng.uniform(0.2, 0.5, (5, 1)).astype(f), "b": rng.normal(0, 1, 5).astype(f), "w2": rng.normal(0, 1, (4, 5)).astype(f), "four": np.array(4, f), "three": np.array(3, f),
                 "seven": np.array(7, f), "top": np.array(448, f), "ts": np.array(0.5, f), "out": np.array(2, f), "eight": np.array(8, f)}
    def node(op, inputs, output, **attributes):
        own = op in ("Quant", "BipolarQuant", "Trunc", "FloatQuant")
        return helper.make_node(op, inputs, [output], domain="qonnx.custom_op.general" if own else "", **attributes)

    nodes = [node("Quant", ["x", "eighth", "zero", "six"], "xq", signed=1, narrow=0, rounding_mode="FLOOR"), node("BipolarQuant", ["w", "ws"], "wq"),
             node("Quant", ["b", "eighth", "zero", "five"], "bq", signed=1, narrow=1, rounding_mode="ROUND"), node("Gemm", ["xq", "wq", "bq"], "g", transB=1),
             node("Relu", ["g"], "r"), node("Quant", ["r", "eighth", "zero", "eight"], "rq", signed=0, narrow=0, rounding_mode="ROUND"),
             node("FloatQuant", ["w2", "one", "four", "three", "seven", "top"], "w2q", has_inf=0, has_nan=1, has_subnormal=1, saturation=1, rounding_mode="ROUND"),
             node("Gemm", ["rq", "w2q"], "h", transB=1), node("Trunc", ["h", "ts", "zero", "eight", "out", "four"], "y", rounding_mode="FLOOR", signed=1, narrow=0)]
    return model_of(nodes, constants, "more", sets=("qonnx.custom_op.general",))


def codes():
    """cut: by ONNX Runtime; qgemm: a file that it has optimised; more: by the executor of qonnx."""
    from qonnx.custom_op.registry import getCustomOp
    from qonnx.core.modelwrapper import ModelWrapper
    rng = np.random.default_rng(5)
    x = rng.normal(0, 1.5, (9, 6)).astype(np.float32)
    onnx.save(cut_codes(rng), f"{HERE}/cut.onnx")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = f"{HERE}/qgemm.onnx"
    mlp = np.load(f"{HERE}/mlp_x.npy")
    session = onnxruntime.InferenceSession(f"{HERE}/qdq.onnx", options)
    np.save(f"{HERE}/qgemm_x.npy", mlp)
    np.save(f"{HERE}/qgemm_y.npy", plain(f"{HERE}/qgemm.onnx").run(None, {session.get_inputs()[0].name: mlp})[0])
    np.save(f"{HERE}/cut_x.npy", x)
    np.save(f"{HERE}/cut_y.npy", plain(f"{HERE}/cut.onnx").run(None, {"x": x})[0])
    onnx.save(more_of_qonnx(rng), f"{HERE}/more.onnx")
    file = ModelWrapper(f"{HERE}/more.onnx")
    context = {i.name: numpy_helper.to_array(i) for i in file.graph.initializer}
    context["x"] = x
    for node in file.graph.node:
        if node.domain:
            instance = getCustomOp(node, onnx_opset_version=2 if node.op_type == "Trunc" else 1)
            instance.execute_node(context, file.graph)
        else:
            values = [context[i] for i in node.input]
            product = np.maximum(values[0], 0) if node.op_type == "Relu" else values[0] @ values[1].T + (values[2] if len(values) > 2 else 0)
            context[node.output[0]] = product.astype(np.float32)
    np.save(f"{HERE}/more_x.npy", x)
    np.save(f"{HERE}/more_y.npy", context["y"])


def mixed():
    """x - mean(x) over the samples: fixed.onnx for a batch of 2, open.onnx for any."""
    for name, batch in (("fixed", 2), ("open", "N")):
        info = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [batch, 4]) for n in "xy"]
        nodes = [helper.make_node("ReduceMean", ["x"], ["m"], name="mean", axes=[0]), helper.make_node("Sub", ["x", "m"], ["y"], name="sub")]
        graph = helper.make_graph(nodes, "mixed", info[:1], info[1:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)]), f"{HERE}/mixed_{name}.onnx")
    x = np.arange(16, dtype=np.float32).reshape(4, 4) ** 2
    np.save(f"{HERE}/mixed_x.npy", x)
    np.save(f"{HERE}/mixed_y.npy", np.concatenate([x[k : k + 2] - x[k : k + 2].mean(0) for k in (0, 2)]))


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
    codes()
    mixed()
    nested()
    for case in CASES if len(sys.argv) > 1 else ():
        shutil.copytree(f"{sys.argv[1]}/test_{case}", f"{HERE}/cases/{case}", dirs_exist_ok=True)


main()
