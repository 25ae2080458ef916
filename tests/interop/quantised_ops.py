#!/usr/bin/env python3
"""Every kind of layer and function that takes number formats: what ch computes in a format is what
PyTorch computes in double precision with operands and results that NumPy has rounded.

usage: quantised_ops.py CH
"""
import os
import sys
import tempfile

from checks import check, finish, run

try:
    import numpy as np
    import torch
    from torch import nn
    import torch.nn.functional as F
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
ROWS = 16
OUT_WIDTH, OUT_FRAC = 9, 5
CONFIG = """[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
"""
SECTION = """[passes.quantize.{op}.config]
{config}
"""
FORMATS = {
    "integer": """name = "integer"
data_in_width = 6
data_in_frac_width = 3
weight_width = 5
weight_frac_width = 3
bias_width = 6
bias_frac_width = 4
data_out_width = 9
data_out_frac_width = 5""",
    "binary": """name = "binary"
data_in_name = "binary"
data_in_width = 1
data_in_stochastic = false
data_in_bipolar = true
weight_width = 1
weight_stochastic = false
weight_bipolar = true
bias_name = "integer"
bias_width = 6
bias_frac_width = 4""",
}


def fixed(x, width, frac, signed=True):
    """The nearest multiple of 2^-frac, ties to even, in the range of width bits."""
    low, high = (-2.0 ** (width - 1), 2.0 ** (width - 1) - 1) if signed else (0.0, 2.0 ** width - 1)
    return torch.from_numpy(np.clip(np.rint(x.detach().numpy() * 2.0 ** frac), low, high) / 2.0 ** frac)


def sign(x):
    return torch.where(x >= 0, torch.ones_like(x), -torch.ones_like(x))


class Rounding:
    """What a format makes of each operand."""

    def __init__(self, kind, unsigned_in, unsigned_out):
        self.binary = kind == "binary"
        self.unsigned_in, self.unsigned_out = unsigned_in, unsigned_out

    def data(self, x):
        return sign(x) if self.binary else fixed(x, 6, 3, not self.unsigned_in)

    def weight(self, x):
        return sign(x) if self.binary else fixed(x, 5, 3)

    def bias(self, x):
        return fixed(x, 6, 4)

    def result(self, x):
        return x if self.binary else fixed(x, OUT_WIDTH, OUT_FRAC, not self.unsigned_out)


# Operation, layer, sample; operation, expression, the same with rounded operands, sample.
MODULES = [
    ("batch_norm1d", "nn.BatchNorm1d(6)", (6,)), ("batch_norm2d", "nn.BatchNorm2d(3)", (3, 4, 4)),
    ("batch_norm1d", "nn.BatchNorm1d(6, affine=False)", (6,)),
    ("layer_norm", "nn.LayerNorm(6)", (3, 6)), ("layer_norm", "nn.LayerNorm((3, 6))", (3, 6)),
    ("group_norm", "nn.GroupNorm(2, 4)", (4, 5)), ("instance_norm2d", "nn.InstanceNorm2d(3, affine=True)", (3, 4, 4)),
    ("relu6", "nn.ReLU6()", (6,)), ("leaky_relu", "nn.LeakyReLU(0.1)", (6,)), ("elu", "nn.ELU()", (6,)),
    ("selu", "nn.SELU()", (6,)), ("silu", "nn.SiLU()", (6,)), ("gelu", "nn.GELU()", (6,)),
    ("sigmoid", "nn.Sigmoid()", (6,)), ("tanh", "nn.Tanh()", (6,)), ("hardtanh", "nn.Hardtanh()", (6,)),
    ("hardswish", "nn.Hardswish()", (6,)), ("hardsigmoid", "nn.Hardsigmoid()", (6,)),
    ("softplus", "nn.Softplus()", (6,)), ("softsign", "nn.Softsign()", (6,)), ("logsigmoid", "nn.LogSigmoid()", (6,)),
    ("softmax", "nn.Softmax(dim=1)", (6,)), ("log_softmax", "nn.LogSoftmax(dim=1)", (6,)),
    ("max_pool1d", "nn.MaxPool1d(2)", (3, 8)), ("max_pool2d", "nn.MaxPool2d(2)", (3, 4, 4)),
    ("avg_pool1d", "nn.AvgPool1d(2)", (3, 8)), ("avg_pool2d", "nn.AvgPool2d(2, padding=1)", (3, 4, 4)),
    ("adaptive_avg_pool2d", "nn.AdaptiveAvgPool2d((2, 3))", (3, 5, 7)),
    ("adaptive_max_pool2d", "nn.AdaptiveMaxPool2d(2)", (3, 5, 7)),
    ("convtranspose2d", "nn.ConvTranspose2d(3, 4, 2, stride=2)", (3, 3, 3)),
    ("conv3d", "nn.Conv3d(2, 3, 2)", (2, 3, 3, 3)), ("linear", "nn.Linear(6, 4, bias=False)", (6,)),
    ("lstm", "nn.LSTM(4, 3, batch_first=True)", (5, 4)), ("gru", "nn.GRU(4, 3, batch_first=True)", (5, 4)),
]


def recur(q, layer, x):
    """The results of all steps. What weights multiply is rounded at each step, gates and states are not."""
    p = dict(layer.named_parameters())
    w, u, b, c = (p[k].T if p[k].ndim > 1 else p[k] for k in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"))
    h = state = torch.zeros(len(x), layer.hidden_size, dtype=x.dtype)
    results = []
    for t in range(x.shape[1]):
        of_x, of_h = q.data(x[:, t]) @ w + b, q.data(h) @ u + c
        if isinstance(layer, nn.LSTM):
            i, f, g, o = (of_x + of_h).chunk(4, 1)
            state = f.sigmoid() * state + i.sigmoid() * g.tanh()
            h = o.sigmoid() * state.tanh()
        else:
            (xr, xz, xn), (hr, hz, hn) = of_x.chunk(3, 1), of_h.chunk(3, 1)
            r, z = (xr + hr).sigmoid(), (xz + hz).sigmoid()
            h = (1 - z) * (xn + r * hn).tanh() + z * h
        results.append(h)
    return torch.stack(results, 1)


def attention(q, x):
    query, key, value = q.data(x), q.data(x * 2), q.data(x * 0.5)
    return F.softmax(query @ key.transpose(1, 2) / 6 ** 0.5, dim=2) @ value


FUNCTIONS = [
    ("cat", "torch.cat((x, x * 2), 1)", lambda q, x, w: torch.cat((q.data(x), q.data(x * 2)), 1), (6,)),
    ("stack", "torch.stack((x, x * 2), 1)", lambda q, x, w: torch.stack((q.data(x), q.data(x * 2)), 1), (6,)),
    ("mean", "torch.mean(x, 2)", lambda q, x, w: q.data(x).mean(2), (3, 6)),
    ("mean", "torch.mean(torch.relu(x), 2)", lambda q, x, w: q.data(x.relu()).mean(2), (3, 6)),
    ("max_pool2d", "F.max_pool2d(torch.relu(x) * 1.0, 2)", lambda q, x, w: F.max_pool2d(q.data(x.relu()), 2),
     (3, 4, 4)),
    ("div", "x / (self.w.abs() + 1.0)", lambda q, x, w: q.data(x) / q.data(w.abs() + 1), (6,)),
    ("softmax", "F.softmax(x, dim=1)", lambda q, x, w: F.softmax(q.data(x), dim=1), (6,)),
    ("gelu", "F.gelu(x)", lambda q, x, w: F.gelu(q.data(x)), (6,)),
    ("batch_norm", "F.batch_norm(x, self.m, self.v, self.w, self.b)",
     lambda q, x, w: F.batch_norm(q.data(x), M, V, q.weight(w), q.bias(B)), (6,)),
    ("layer_norm", "F.layer_norm(x, (6,), self.w, self.b)",
     lambda q, x, w: F.layer_norm(q.data(x), (6,), q.weight(w), q.bias(B)), (3, 6)),
    ("matmul", "torch.matmul(x, x.transpose(1, 2))",
     lambda q, x, w: torch.matmul(q.data(x), q.weight(x.transpose(1, 2))), (3, 6)),
    ("scaled_dot_product_attention", "F.scaled_dot_product_attention(x, x * 2, x * 0.5)",
     lambda q, x, w: attention(q, x), (3, 6)),
]
# data, results that cannot be negative
UNSIGNED_IN = {"relu6"}
UNSIGNED_OUT = {"relu6", "sigmoid", "hardsigmoid", "softmax"}

torch.manual_seed(2)
W, B, M, V = (torch.randn(6, dtype=torch.float64) for _ in range(4))
V = V.abs() + 0.5
W, B, M, V = (t.float().double() for t in (W, B, M, V))

HEAD = """import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(6))
        self.b = nn.Parameter(torch.zeros(6))
        self.register_buffer("m", torch.zeros(6))
        self.register_buffer("v", torch.zeros(6))
"""


class Case:
    """One layer or function on its own part of the input, with its own part of the output."""

    def __init__(self, number, kind, op, text, sample, wanted=None):
        self.op, self.text, self.sample = op, text, sample
        self.recurs = op in ("lstm", "gru")
        x = np.random.RandomState(number).randn(ROWS, *sample) * 2
        self.x = x.astype("<f4")
        relu = wanted is not None and "relu(x)" in text and "*" not in text
        self.q = Rounding(kind, relu or op in UNSIGNED_IN, relu or op in UNSIGNED_OUT)
        given = torch.from_numpy(self.x).double()
        self.layer = None if wanted else self.make_layer(number)
        self.state = {} if wanted else {k: v.float() if v.dtype == torch.float64 else v.clone()
                                        for k, v in self.layer.state_dict().items()}
        exact = wanted(self.q, given, W) if wanted else self.run_layer(given)
        self.exact = exact.detach().reshape(ROWS, -1)

    def make_layer(self, number):
        torch.manual_seed(number)
        layer = eval(self.text).double().eval()
        for p in list(layer.parameters()) + list(layer.buffers()):
            if p.dtype == torch.float64:
                p.data = (torch.randn(p.shape) * 0.7).double()
        if getattr(layer, "running_var", None) is not None:
            layer.running_var.data = layer.running_var.abs() + 0.5
        return layer

    def run_layer(self, x):
        for k, p in self.layer.named_parameters():
            p.data = (self.q.weight if k.startswith("weight") else self.q.bias)(p.data)
        return recur(self.q, self.layer, x) if self.recurs else self.layer(self.q.data(x))


def cases(kind):
    found = [Case(i, kind, op, text, sample) for i, (op, text, sample) in enumerate(MODULES)]
    return found + [Case(i, kind, op, text, sample, wanted) for i, (op, text, wanted, sample) in enumerate(FUNCTIONS)]


def write_net(all_cases):
    """All cases side by side: what is padded with zeros and added is not rounded by anybody."""
    width = sum(c.exact.shape[1] for c in all_cases)
    lines = [f"        self.c{i} = {c.text}" for i, c in enumerate(all_cases) if c.layer]
    lines += ["", "    def forward(self, inputs):", "        y = 0.0"]
    first = out = 0
    for i, c in enumerate(all_cases):
        count, n = int(np.prod(c.sample)), c.exact.shape[1]
        lines += [f"        x = inputs[:, {first}:{first + count}].reshape(-1, {', '.join(map(str, c.sample))})",
                  f"        x = {f'self.c{i}(x)' + '[0]' * c.recurs if c.layer else c.text}",
                  f"        y = F.pad(torch.flatten(x, 1), ({out}, {width - out - n})) + y"]
        first, out = first + count, out + n
    with open("nets.py", "w") as f:
        f.write(HEAD + "\n".join(lines + ["        return y", ""]))


def compare(kind):
    all_cases = cases(kind)
    write_net(all_cases)
    state = {"w": W.float(), "b": B.float(), "m": M.float(), "v": V.float()}
    state.update({f"c{i}.{k}": v for i, c in enumerate(all_cases) for k, v in c.state.items()})
    torch.save(state, "w.pt")
    x = np.concatenate([c.x.reshape(ROWS, -1) for c in all_cases], 1)
    np.save("x.npy", x)
    np.savez("data.npz", X_train=x, y_train=np.zeros(ROWS, int), X_test=x, y_test=np.zeros(ROWS, int))
    with open("c.toml", "w") as f:
        f.write(CONFIG + "".join(SECTION.format(op=op, config=FORMATS[kind]) for op in {c.op for c in all_cases}))
    if not run(ch, "predict", "nets.py:Net", "npz:data.npz", "--load", "w.pt", "--input", "x.npy", "--output", "y.npy",
               "--config", "c.toml", "--log-level", "error"):
        check(f"{kind} is run", False)
        return
    parts = np.split(np.load("y.npy"), np.cumsum([c.exact.shape[1] for c in all_cases])[:-1], 1)
    for c, ours in zip(all_cases, parts):
        # what lies nearly half way between two values of the result's format may go either way
        way = np.abs(c.exact.numpy() * 2.0 ** OUT_FRAC % 1 - 0.5)
        tie = (way > 0) & (way < 1e-4) & (kind == "integer")
        far = np.abs(ours - c.q.result(c.exact).numpy())[~tie]
        check(f"{c.text} in {kind}: {far.max():.1e} apart, {tie.sum()} of {tie.size} at ties",
              far.max() <= 2e-6 * max(1.0, float(c.exact.abs().max())) and tie.mean() < 0.1)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for kind in FORMATS:
        compare(kind)
finish()
