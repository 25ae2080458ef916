#!/usr/bin/env python3
"""Networks as PyTorch's exporters write them, and as ONNX Runtime quantises them: ch predict gives what ONNX Runtime does.

usage: onnx_networks.py CH    status 77: no PyTorch of today, ONNX or ONNX Runtime here, skipped
"""
import io
import os
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout

from checks import check, finish, run

try:
    import numpy as np
    import onnx  # noqa: F401
    import onnxruntime
    import torch
    import torchvision
    from onnxruntime import quantization
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)
try:
    import onnxscript  # noqa: F401
    EXPORTERS = (False, True)
except ImportError:
    EXPORTERS = (False,)


def networks():
    models = torchvision.models
    yield "resnet18", models.resnet18(), (3, 64, 64)
    yield "mobilenet_v2", models.mobilenet_v2(), (3, 64, 64)
    yield "densenet121", models.densenet121(), (3, 64, 64)
    yield "squeezenet1_1", models.squeezenet1_1(), (3, 64, 64)
    yield "vit", models.VisionTransformer(32, 8, 2, 4, 32, 64, num_classes=10), (3, 32, 32)


def predict(ch, model, x, folder):
    np.save(f"{folder}/x.npy", x)
    if not run(ch, "predict", model, "--input", f"{folder}/x.npy", "--output", f"{folder}/y.npy", "--project-dir", folder):
        return None
    return np.load(f"{folder}/y.npy")


def compare(name, ch, model, x, folder, plain=False):
    options = onnxruntime.SessionOptions()
    if plain:  # every node as it stands
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options)
    want = session.run(None, {session.get_inputs()[0].name: x})[0]
    got = predict(ch, model, x, folder)
    most = np.abs(want).max()
    off = np.abs(got - want) if got is not None else np.full(1, np.inf)
    # where float32 sums come to half a step, which depends on their order, codes are one apart, and what follows with them
    near = off.max() <= 0.05 * most and off.mean() <= 5e-3 * most if plain else np.allclose(off, 0, atol=2e-5 * most)
    check(f"{name} (largest difference {off.max():.2e}, mean {off.mean():.2e} of {most:.3g})", near)


def export(net, x, path, dynamo):
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        if dynamo:
            torch.onnx.export(net, (x,), path, dynamo=True, dynamic_shapes=({0: torch.export.Dim("batch")},), verbose=False)
        else:
            torch.onnx.export(net, (x,), path, dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "N"}}, opset_version=17)


class Reader(quantization.CalibrationDataReader):
    def __init__(self, name, x):
        self.rows = iter([{name: x}])

    def get_next(self):
        return next(self.rows, None)


def main():
    warnings.filterwarnings("ignore")
    torch.manual_seed(0)
    ch = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        for name, net, shape in networks():
            net.eval()
            x = torch.randn(2, *shape)
            for dynamo in EXPORTERS:
                path = f"{folder}/{name}_{'dynamo' if dynamo else 'script'}.onnx"
                export(net, x, path, dynamo)
                compare(f"{name}, {'dynamo' if dynamo else 'script'}", ch, path, x.numpy(), folder)
        path = f"{folder}/qdq.onnx"
        quantization.quantize_static(f"{folder}/resnet18_script.onnx", path, Reader("x", x.new_zeros(2, 3, 64, 64).normal_().numpy()),
                                     quant_format=quantization.QuantFormat.QDQ, per_channel=True, reduce_range=True)
        compare("resnet18 of 8 bits, QDQ", ch, path, torch.randn(2, 3, 64, 64).numpy(), folder, plain=True)
    finish()


main()
