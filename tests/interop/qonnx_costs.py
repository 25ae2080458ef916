#!/usr/bin/env python3
"""The inference cost tool of QONNX agrees with count_flops: MACs and bit operations, with and without zeros.

usage: qonnx_costs.py CH
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

from checks import check, finish

try:
    import numpy as np
    from onnx import TensorProto, helper
    from qonnx.core.datatype import DataType
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.util.inference_cost import inference_cost
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])

CONFIG = """
model = "{model}"
dataset = "{dataset}"
project = "p"
seed = 42
[passes.quantize]
by = "type"
default.config.name = "NA"
{op}.config = {{ name = "integer", data_in_width = {a}, data_in_frac_width = 4, weight_width = {w}, weight_frac_width = {f}, bias_width = 8, bias_frac_width = 4 }}
[passes.count_flops]
"""


def safetensors(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        head, data = json.loads(file.read(size)), file.read()
    head.pop("__metadata__", None)
    return {name: np.frombuffer(data[slice(*t["data_offsets"])], "<f4").reshape(t["shape"])
            for name, t in head.items() if t["dtype"] == "F32"}


def quantised(x, width, frac):
    return np.clip(np.rint(x * 2.0**frac), -(2 ** (width - 1)), 2 ** (width - 1) - 1) / 2.0**frac


def model_of(node, x, y, weight, a, w, stride, pad):
    """One layer as a model, its operands annotated with their widths."""
    dense = weight.ndim == 2
    attributes = {} if dense else {"kernel_shape": weight.shape[2:], "strides": [stride] * 2, "pads": [pad] * 4}
    op = helper.make_node("MatMul" if dense else "Conv", ["x", "w"], ["y"], name=node, **attributes)
    value = helper.make_tensor_value_info
    graph = helper.make_graph([op], node, [value("x", TensorProto.FLOAT, x)], [value("y", TensorProto.FLOAT, y)])
    model = ModelWrapper(helper.make_model(graph))
    model.set_initializer("w", (weight.T if dense else weight).astype(np.float32))
    model.set_tensor_datatype("x", DataType[f"INT{a}"])
    model.set_tensor_datatype("w", DataType[f"INT{w}"])
    return model


# model, dataset, operation, widths, fraction, layers: module, shapes of input and output, stride, padding
CASES = [
    ("jsc-toy", "jsc", "linear", 8, 6, 3,
     {"seq_blocks.2": ((1, 16), (1, 8), 0, 0), "seq_blocks.5": ((1, 8), (1, 8), 0, 0),
      "seq_blocks.8": ((1, 8), (1, 5), 0, 0)}),
    ("vgg7", "cifar10", "conv2d", 5, 4, 4,
     {"feature_layers.0": ((1, 3, 32, 32), (1, 128, 32, 32), 1, 1),
      "feature_layers.3": ((1, 128, 32, 32), (1, 128, 32, 32), 1, 1)}),
]

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for model, dataset, op, a, w, f, layers in CASES:
        with open("c.toml", "w", encoding="ascii") as file:
            file.write(CONFIG.format(model=model, dataset=dataset, op=op, a=a, w=w, f=f))
        subprocess.run([ch, "transform", "--config", "c.toml", "--log-level", "error"], check=True,
                       stdout=subprocess.DEVNULL)
        saved = safetensors("mase_output/p/software/transform/transformed_ckpt/state_dict.safetensors")
        with open("mase_output/p/run.json", encoding="utf-8") as file:
            ours = json.load(file)["results"]["count_flops"]["nodes"]
        for path, (x, y, stride, pad) in layers.items():
            weight = quantised(saved[path + ".weight"], w, f)
            node, one = path.replace(".", "_"), model_of(path, x, y, weight, a, w, stride, pad)
            every = inference_cost(one, preprocess=False, discount_sparsity=False)["total_cost"]
            live = inference_cost(one, preprocess=False, discount_sparsity=True)["total_cost"]
            for key, peer in [("macs", every["total_macs"]), ("bitops", every["total_bops"]),
                              ("nonzero_bitops", round(live["total_bops"]))]:
                check(f"{model} {node} {key}: {ours[node][key]}, {peer}", ours[node][key] == peer)

finish()
