#!/usr/bin/env python3
"""Networks as others export them: by both exporters of PyTorch, in opsets 9 to 21, quantised by ONNX Runtime with and without
calibration. What is read gives ONNX Runtime's outputs, for batches of another size than the exported one.

usage: onnx_strangers.py CH   status 77: no torch, onnxscript or ONNX Runtime here, skipped
"""
import io
import logging
import os
import subprocess
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout

from checks import check, finish

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
try:
    import numpy as np
    import onnx
    import onnxruntime
    import onnxscript  # which the newer exporter asks for
    import torch
    import torch.nn.functional as F
    from onnxruntime import quantization
    from torch import nn
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

CH = os.path.abspath(sys.argv[1])
EXPORTS = [(False, n) for n in (9, 11, 13, 15, 17, 18, 20)] + [(True, 18), (True, 21)]


class Function(nn.Module):
    """Layers by name and a function of them and the input."""

    def __init__(self, forward, **layers):
        super().__init__()
        self.function = forward
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.function(self, x)


def put(_, x):
    y = x.clone()
    y[:, 1:3] = x[:, 3:5] * 2
    return y


def places(_, x):
    theta = torch.tensor([[0.8, 0.1, 0.0], [-0.1, 0.9, 0.1]]).expand(x.shape[0], 2, 3)
    return F.grid_sample(x, F.affine_grid(theta, x.shape, align_corners=False), align_corners=False)


def picked(_, x):
    y = x[:, torch.tensor([2, 0, 5, 1])]
    return torch.roll(y, 1, -1) * y.flip(-1) + torch.gather(x, 1, torch.arange(4).expand(x.shape[0], 4))


def reduced(_, x):
    y = F.pad(torch.where(x > 0, x, torch.exp(x) - 1).clamp(-1, 2) * torch.tanh(x) + torch.erf(x), (1, 2), mode="reflect")
    return torch.stack([y.amax(-1), y.amin(-1), y.std(-1), y.norm(dim=-1), y.cumsum(-1)[..., -1]], -1)


def curves(_, x):
    y = F.prelu(x, torch.tensor([0.2])) + F.mish(x) + F.softplus(x) + F.hardsigmoid(x) + F.selu(x) + F.softsign(x)
    return y + F.logsigmoid(x) + F.hardtanh(x) + F.leaky_relu(x, 0.3) + F.relu6(x)


def networks():
    f = Function
    yield "mlp", nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 16), nn.SiLU(), nn.Linear(16, 5), nn.LogSoftmax(-1)), (16,)
    yield "residual", f(lambda m, x: m.fc(F.adaptive_avg_pool2d(m.b(F.relu(m.n(m.a(x)))) + m.a(x), 1).flatten(1)), a=nn.Conv2d(3, 8, 3, padding=1),
                        n=nn.BatchNorm2d(8), b=nn.Conv2d(8, 8, 3, padding=1, groups=8), fc=nn.Linear(8, 5)), (3, 12, 12)
    yield "unet", f(lambda m, x: torch.sigmoid(m.o(torch.cat([x, m.u(F.elu(m.d(x)))], 1))), d=nn.Conv2d(3, 8, 3, stride=2, padding=1),
                    u=nn.ConvTranspose2d(8, 4, 2, stride=2), o=nn.Conv2d(7, 1, 1)), (3, 8, 8)
    yield "larger", f(lambda m, x: F.interpolate(m.c(x), scale_factor=2, mode="bilinear", align_corners=False) + F.interpolate(x[:, :1], scale_factor=2),
                      c=nn.Conv2d(3, 4, 3, padding=1)), (3, 6, 6)
    yield "lstm", f(lambda m, x: m.fc(m.l(x)[0][:, -1]), l=nn.LSTM(6, 10, 2, batch_first=True, bidirectional=True), fc=nn.Linear(20, 3)), (7, 6)
    yield "gru", f(lambda m, x: m.fc(m.l(x)[0].mean(1)), l=nn.GRU(6, 10, batch_first=True), fc=nn.Linear(10, 3)), (7, 6)
    yield "encoder", f(lambda m, x: m.fc(m.e(x).mean(1)), e=nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), fc=nn.Linear(8, 4)), (5, 8)
    yield "attention", f(lambda m, x: F.scaled_dot_product_attention(*m.q(x).chunk(3, -1)), q=nn.Linear(8, 24)), (5, 8)
    yield "norms", f(lambda m, x: torch.einsum("bti,ij->btj", m.n(x), m.w.weight).transpose(1, 2).softmax(1) + m.g(x.transpose(1, 2)), n=nn.LayerNorm(8),
                     g=nn.GroupNorm(2, 8), w=nn.Linear(8, 8)), (5, 8)
    yield "top", f(lambda m, x: x.topk(3, -1)[0] + x.topk(3, -1)[1].float() * 0.1 + x.argmax(-1, keepdim=True).float()), (9,)
    yield "pools", f(lambda m, x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True) + F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)), (3, 9, 9)
    yield "shuffled", f(lambda m, x: F.pixel_shuffle(x, 2) * 1.5 - x.mean((1, 2, 3), keepdim=True)), (8, 4, 4)
    for name, function, shape in (("put", put, (6,)), ("places", places, (3, 8, 8)), ("picked", picked, (6,)), ("reduced", reduced, (9,)), ("curves", curves, (9,))):
        yield name, f(function), shape


def export(net, x, path, dynamo, opset):
    """Whether the exporter can."""
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            if dynamo:
                torch.onnx.export(net, (x,), path, dynamo=True, dynamic_shapes=({0: torch.export.Dim("batch")},), opset_version=opset, verbose=False)
            else:
                torch.onnx.export(net, (x,), path, dynamo=False, input_names=["x"], dynamic_axes={"x": {0: "N"}}, opset_version=opset)
        return True
    except Exception:  # of many kinds
        return False


def compare(path, x):
    """By how much of the largest output each value is off; None: refused, and told; nothing of ONNX Runtime's is fused."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(path, options)
        want = session.run(None, {session.get_inputs()[0].name: x})[0]
    except Exception:  # it cannot either
        return np.zeros(1)
    np.save("x.npy", x)
    done = subprocess.run([CH, "predict", path, "--input", "x.npy", "--output", "y.npy", "--project", "p"], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1])
        return None if done.returncode == 2 else np.full(1, np.inf)
    got = np.load("y.npy")
    return np.abs(got - want) / max(1, np.abs(want).max()) if got.shape == want.shape else np.full(1, np.inf)


class Rows(quantization.CalibrationDataReader):
    def __init__(self, name, x):
        self.rows = iter([{name: x}])

    def get_next(self):
        return next(self.rows, None)


def quantised(base, x):
    """Files of ONNX Runtime: weights unsigned or of 7 bits, for it saturates with others on some processors."""
    kind, form = quantization.QuantType, quantization.QuantFormat
    quantization.quantize_dynamic(base, "dynamic.onnx", weight_type=kind.QUInt8)
    yield "dynamic", compare("dynamic.onnx", x)
    for name, layout, data in (("QDQ", form.QDQ, kind.QUInt8), ("QDQ, signed", form.QDQ, kind.QInt8), ("QOperator", form.QOperator, kind.QUInt8), ("QOperator, signed", form.QOperator, kind.QInt8)):
        quantization.quantize_static(base, "static.onnx", Rows("x", x), quant_format=layout, activation_type=data, weight_type=data, reduce_range=True)
        yield name, compare("static.onnx", x)


def main():
    os.chdir(tempfile.mkdtemp())
    torch.manual_seed(0)
    rng = np.random.default_rng(1)
    read = refused = 0
    for name, net, shape in networks():
        net.eval()
        x = rng.normal(0, 1, (7, *shape)).astype(np.float32)
        off = [compare("net.onnx", x) for dynamo, opset in EXPORTS if export(net, torch.randn(4, *shape), "net.onnx", dynamo, opset)]
        read += sum(o is not None for o in off)
        refused += sum(o is None for o in off)
        most = max((o.max() for o in off if o is not None), default=np.inf)
        check(f"{name}: {len(off)} exports, off by at most {most:.1e}", most <= 1e-5)
    check(f"of all exports {read} are read, {refused} refused by name", refused <= 2)
    convolutions = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 6, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 5))
    mlp = nn.Sequential(nn.Linear(16, 32), nn.Sigmoid(), nn.Linear(32, 5))
    for name, net, shape in (("mlp", mlp, (16,)), ("convolutions", convolutions, (3, 12, 12))):
        export(net.eval(), torch.randn(4, *shape), "base.onnx", False, 17)
        for how, off in quantised("base.onnx", rng.normal(0, 1, (200, *shape)).astype(np.float32)):
            other = np.inf if off is None else (off > 1e-5).mean()  # where half a step is rounded otherwise
            check(f"{name}, {how}: {100 * other:.2f} % of the values are others", other <= 0.005)
    finish()


main()
