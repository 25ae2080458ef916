#!/usr/bin/env python3
"""Networks of Brevitas, exported as QONNX and as QCDQ, are read and give Brevitas' own outputs.

usage: brevitas_files.py CH   status 77: no Brevitas here, skipped

QCDQ with a truncating average is left out: there ties are rounded by what float32 sums come to, in ONNX Runtime as well.
"""
import logging
import os
import subprocess
import sys
import tempfile
import warnings

from checks import check, finish

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
try:
    import brevitas.nn as qnn
    import brevitas.quant as quant
    import numpy as np
    import onnx
    import onnxoptimizer  # which Brevitas asks for
    import torch
    from brevitas.export import export_onnx_qcdq, export_qonnx
    from torch import nn
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

CH = os.path.abspath(sys.argv[1])


def mlp(weight_bits, bits, weights=quant.Int8WeightPerChannelFloat, **options):
    def layer(inputs, outputs):
        return qnn.QuantLinear(inputs, outputs, bias=True, weight_quant=weights, weight_bit_width=weight_bits, **options)

    def relu():
        return qnn.QuantReLU(act_quant=quant.Uint8ActPerTensorFloat, bit_width=bits, return_quant_tensor=bool(options))

    first = qnn.QuantIdentity(act_quant=quant.Int8ActPerTensorFloat, bit_width=bits, return_quant_tensor=bool(options))
    return nn.Sequential(first, layer(16, 32), relu(), layer(32, 24), relu(), layer(24, 5))


class Convolutions(nn.Module):
    """Weights for each channel, a bias of integers, groups, a batch norm; an average that truncates, or a maximum."""

    def __init__(self, truncates):
        super().__init__()
        self.first = qnn.QuantIdentity(act_quant=quant.Int8ActPerTensorFloat, bit_width=8, return_quant_tensor=True)
        self.c1 = qnn.QuantConv2d(3, 8, 3, padding=1, bias=False, weight_bit_width=4, weight_quant=quant.Int8WeightPerChannelFloat)
        self.norm = nn.BatchNorm2d(8)
        self.r1 = qnn.QuantReLU(bit_width=4, return_quant_tensor=True)
        self.c2 = qnn.QuantConv2d(8, 8, 3, stride=2, groups=2, bias=True, weight_bit_width=3, bias_quant=quant.Int32Bias)
        self.r2 = qnn.QuantReLU(bit_width=4, return_quant_tensor=True)
        self.pool = qnn.TruncAvgPool2d(2, bit_width=4, trunc_quant=quant.TruncTo8bit) if truncates else nn.MaxPool2d(2)
        self.fc = qnn.QuantLinear(72, 5, bias=True, weight_bit_width=2)

    def forward(self, x):
        x = self.pool(self.r2(self.c2(self.r1(self.norm(self.c1(self.first(x)))))))
        return self.fc(torch.flatten(getattr(x, "value", x), 1))


def trained(net, x):
    """What Brevitas computes after it has seen data."""
    net.train()
    for _ in range(3):
        net(x)
    net.eval()
    with torch.no_grad():
        y = net(x)
    return getattr(y, "value", y).numpy()


def ours(path):
    done = subprocess.run([CH, "predict", path, "--input", "x.npy", "--output", "y.npy", "--project", "p"], capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1])
        return None
    return np.load("y.npy")


def compare(name, net, x, qcdq=True, dynamo=False):
    want = trained(net, x)
    np.save("x.npy", x.numpy())
    for kind, export in (("QONNX", export_qonnx), ("QCDQ", export_onnx_qcdq)):
        if kind == "QCDQ" and not qcdq:
            continue
        path = f"{kind}.onnx"
        export(net, x, export_path=path, dynamo=dynamo)
        got = ours(path)
        off = np.inf if got is None else np.abs(got - want).max() / max(1, np.abs(want).max())
        kinds = sorted({n.op_type for n in onnx.load(path).graph.node if "Quant" in n.op_type or n.op_type == "Trunc"})
        check(f"{name}, {kind}{', dynamo' if dynamo else ''}: {off:.1e}, {', '.join(kinds)}", off <= 1e-5)


def main():
    os.chdir(tempfile.mkdtemp())
    torch.manual_seed(0)
    x, pictures = torch.randn(64, 16), torch.randn(16, 3, 16, 16)
    for bits in (2, 3, 5, 8):
        compare(f"weights and data of {bits} bits", mlp(bits, bits), x)
    compare("4 and 6 bits", mlp(4, 6), x, dynamo=True)
    compare("a bias of integers", mlp(4, 6, bias_quant=quant.Int32Bias), x)
    compare("binary weights", mlp(1, 8, quant.SignedBinaryWeightPerTensorConst), x, qcdq=False)
    compare("ternary weights", mlp(2, 8, quant.SignedTernaryWeightPerTensorConst), x)
    compare("fixed point", mlp(6, 8, quant.Int8WeightPerTensorFixedPoint), x)
    compare("convolutions", Convolutions(False), pictures)
    compare("a truncating average", Convolutions(True), pictures, qcdq=False)
    finish()


main()
