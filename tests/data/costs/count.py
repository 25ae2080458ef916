"""Costs counted one product after the other, to compare with what count_flops says.

    count.py net               print a network that does every row below once, in its order
    count.py check COSTS.csv   compare the numbers of its nodes; status 1 when some differ

Nothing here is shared with the program: products are enumerated by nested loops over indices, from the definitions in
PyTorch's documentation, and so is how many of them each result is the sum of.
"""
import collections
import csv
import itertools
import math
import sys

X = (1, 4, 6)  # what comes in: a sample of 4 rows of 6


def size(shape):
    return math.prod(shape)


def indices(*shape):
    return itertools.product(*map(range, shape))


class Count:
    """Products by the result that they are summed in; None: they fall beside every result."""

    def __init__(self):
        self.sums = collections.Counter()

    def product(self, result):
        self.sums[result] += 1

    @property
    def macs(self):
        return sum(self.sums.values())

    @property
    def bops(self):  # of floats: 32 by 32 bits, and an adder that holds the sum
        adders = sum(n * math.log2(n) for result, n in self.sums.items() if result is not None)
        return self.macs * (32 * 32 + 32 + 32) + adders


def matmul(a, b):
    """(..., m, k) times (..., k, n); batches broadcast from ones."""
    c = Count()
    batch = [max(p) for p in itertools.zip_longest(a[:-2][::-1], b[:-2][::-1], fillvalue=1)][::-1]
    for at in indices(*batch, a[-2], b[-1], a[-1]):
        c.product(at[:-1])
    return c


def conv(x, w, stride=1, padding=0, dilation=1, groups=1):
    """x (channels, ...), w (out, channels / groups, ...): padding multiplies zeros, which count."""
    c = Count()
    out = [(n + 2 * padding - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(x[1:], w[2:])]
    for o in indices(w[0], *out):
        for _ in indices(*w[1:]):
            c.product(o)
    return c


def transposed(x, w, stride=1, padding=0, dilation=1, groups=1, more=0):
    """x (channels, ...), w (channels, out / groups, ...): each input is spread over the kernel."""
    c = Count()
    out = [(n - 1) * stride - 2 * padding + dilation * (k - 1) + more + 1 for n, k in zip(x[1:], w[2:])]
    for channel, *at in indices(*x):
        group = channel // (x[0] // groups)
        for o, *k in indices(*w[1:]):
            to = [i * stride - padding + j * dilation for i, j in zip(at, k)]
            inside = all(0 <= t < n for t, n in zip(to, out))
            c.product((group * w[1] + o, *to) if inside else None)
    return c


def recurrent(steps, sizes, hidden, gates, directions=1, projected=0):
    """Layers one behind the other: every gate is a sum over what comes in and what it remembers."""
    c = Count()
    remembered = projected or hidden
    for layer, width in enumerate(sizes):
        for direction, t, gate in indices(directions, steps, gates * hidden):
            for _ in range(width + remembered):
                c.product((layer, direction, t, gate))
        if projected:
            for direction, t, o in indices(directions, steps, projected):
                for _ in range(hidden):
                    c.product((layer, direction, t, o, "projected"))
    return c


# (expression, its products or None, other operations): x is (1, 4, 6); self.* are parameters and layers
N = size(X)
MM, MV, LINEAR = matmul((4, 6), (6, 5)), matmul((4, 6), (6, 1)), matmul((4, 6), (6, 3))
ROWS = [
    # one value at a time: function, method, operator
    *[(text, None, N) for text in (
        "torch.relu(x)", "x.relu()", "F.relu(x)", "self.relu(x)", "torch.exp(x)", "x.exp()", "torch.sigmoid(x)", "x.sigmoid()",
        "torch.add(x, x)", "x.add(x)", "x + x", "operator.add(x, x)", "x - 1", "x * x", "torch.mul(x, x)", "x.mul(x)", "-x",
        "torch.neg(x)", "x.neg()", "x / 2", "x.abs()", "abs(x)", "torch.abs(x)", "x.clamp(0, 1)", "torch.clamp(x, 0, 1)",
        "x > 0", "torch.gt(x, 0)", "x.gt(0)")],
    # reductions read all values, however few they leave
    *[(text, None, N) for text in (
        "torch.mean(x, 1)", "x.mean(1)", "torch.mean(x)", "x.mean()", "torch.sum(x, 2)", "x.sum(2)", "x.sum()", "torch.amax(x, 1)",
        "x.amax(1)", "x.max()", "torch.max(x)", "x.argmax(1)", "torch.argmax(x, 1)", "x.prod(1)", "torch.prod(x, 1)",
        "torch.cumsum(x, 1)", "x.cumsum(1)")],
    *[(text, None, 4 * N) for text in ("torch.var(x, 1)", "x.var(1)", "x.std(1)", "torch.std(x, 1)", "x.logsumexp(1)",
                                       "torch.logsumexp(x, 1)")],
    *[(text, None, 2 * N) for text in ("torch.norm(x, 2, 1)", "x.norm(2, 1)")],
    *[(text, None, 5 * N) for text in ("torch.softmax(x, -1)", "x.softmax(-1)", "F.softmax(x, -1)", "self.softmax(x)",
                                       "F.log_softmax(x, -1)", "x.log_softmax(-1)", "F.layer_norm(x, (6,))", "self.norm(x)")],
    # moved, not computed
    *[(text, None, 0) for text in ("x.flatten(1)", "torch.flatten(x, 1)", "x.reshape(1, 24)", "x.transpose(1, 2)", "x.permute(0, 2, 1)",
                                   "torch.cat([x, x], 1)", "x[:, 0]", "x.unsqueeze(0)")],
    # products
    *[(text, MM, 0) for text in ("x @ self.w", "x.matmul(self.w)", "torch.matmul(x, self.w)", "operator.matmul(x, self.w)",
                                 "torch.matmul(input=x, other=self.w)", "torch.matmul(other=self.w, input=x)")],
    *[(text, matmul((4, 6), (6, 4)), 0) for text in ("x @ x.mT", "torch.bmm(x, x.transpose(1, 2))", "x.bmm(x.transpose(1, 2))")],
    *[(text, LINEAR, 0) for text in ("self.fc(x)", "F.linear(x, self.v)", "F.linear(x, self.v, self.b)",
                                     "F.linear(weight=self.v, input=x)")],
    *[(text, MM, size((4, 5))) for text in ("torch.addmm(self.c, x[0], self.w)", "self.c.addmm(x[0], self.w)",
                                            "torch.addmm(mat2=self.w, mat1=x[0], input=self.c)")],
    ("x[0].mm(self.w)", MM, 0), ("torch.mm(x[0], self.w)", MM, 0), ("x[0].mv(self.u)", MV, 0), ("torch.mv(x[0], self.u)", MV, 0),
    ("torch.einsum('nij,jk->nik', x, self.w)", MM, 0),
    ("torch.baddbmm(self.c, x, self.w[None])", MM, size((4, 5))), ("self.c[None].baddbmm(x, self.w[None])", MM, size((4, 5))),
    # convolutions: as layers and functions
    ("self.conv(x)", conv((4, 6), (5, 4, 3), padding=1), 0), ("F.conv1d(x, self.k, padding=1)", conv((4, 6), (5, 4, 3), padding=1), 0),
    ("self.grouped(x)", conv((4, 6), (8, 2, 3), stride=2, groups=2), 0),
    ("self.up(x)", transposed((4, 6), (4, 3, 3), stride=2, padding=1, more=1), 0),
    ("F.conv_transpose1d(x, self.t, stride=2, padding=1, output_padding=1)", transposed((4, 6), (4, 3, 3), stride=2, padding=1, more=1), 0),
    ("self.up2(x[None])", transposed((1, 4, 6), (1, 2, 3, 3), stride=2, dilation=2), 0),
    ("self.upg(x)", transposed((4, 6), (4, 2, 4), stride=3, groups=2), 0),
    # windows
    ("F.avg_pool1d(x, 2)", None, 2 * 12), ("self.pool(x)", None, 2 * 12), ("F.max_pool1d(x, 3, 1)", None, 3 * 16),
    # layers that remember: gates, products and sums of each unit
    ("self.rnn(x)[0]", recurrent(4, [6], 5, 1), 4 * 5), ("self.lstm(x)[0]", recurrent(4, [6, 5, 5], 5, 4), 9 * 3 * 4 * 5),
    ("self.both(x)[0]", recurrent(4, [6, 10], 5, 3, directions=2), 9 * 2 * 2 * 4 * 5),
    ("self.small(x)[0]", recurrent(4, [6, 2], 5, 4, projected=2), 9 * 2 * 4 * 5),
]
PARAMETERS = {"w": (6, 5), "u": (6,), "v": (3, 6), "b": (3,), "c": (4, 5), "k": (5, 4, 3), "t": (4, 3, 3)}
LAYERS = {  # text: the values that are trained
    "relu": ("ReLU()", 0), "softmax": ("Softmax(-1)", 0), "norm": ("LayerNorm(6)", 12), "fc": ("Linear(6, 3)", 21),
    "conv": ("Conv1d(4, 5, 3, padding=1)", 65), "grouped": ("Conv1d(4, 8, 3, stride=2, groups=2)", 56),
    "up": ("ConvTranspose1d(4, 3, 3, stride=2, padding=1, output_padding=1)", 39),
    "up2": ("ConvTranspose2d(1, 2, 3, stride=2, dilation=2, bias=False)", 18),
    "upg": ("ConvTranspose1d(4, 4, 4, stride=3, groups=2)", 36), "pool": ("AvgPool1d(2)", 0),
    "rnn": ("RNN(6, 5, batch_first=True)", 65), "lstm": ("LSTM(6, 5, 3, batch_first=True)", 4 * 5 * (13 + 12 + 12)),
    "both": ("GRU(6, 5, 2, batch_first=True, bidirectional=True)", 2 * 3 * 5 * (13 + 17)),
    "small": ("LSTM(6, 5, 2, batch_first=True, proj_size=2)", 4 * 5 * (10 + 6) + 2 * 10),
}


def net():
    print("import operator\n\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Net(nn.Module):")
    print("    def __init__(self):\n        super().__init__()")
    for name, shape in PARAMETERS.items():
        print(f"        self.{name} = nn.Parameter(torch.ones{shape})")
    for name, (text, _) in LAYERS.items():
        print(f"        self.{name} = nn.{text}")
    print("\n    def forward(self, x):\n        return (")
    for text, *_ in ROWS:
        print(f"            ({text}).clone(),  # which costs nothing, and ends a row")
    print("        )")


def check(path):
    """The nodes of a row stand before its clone."""
    rows, wrong = iter(ROWS), 0
    found = collections.Counter()
    for node in csv.DictReader(open(path)):
        if node["Node"] == "total":
            params = sum(map(size, PARAMETERS.values())) + sum(n for _, n in LAYERS.values())
            wrong += int(node["Params"]) != params
            print("params", node["Params"], "of", params)
            break
        found.update({name: int(node[name]) for name in ("MACs", "FLOPs", "BOPs")})
        if node["Op"] != "clone":
            continue
        text, count, operations = next(rows)
        macs = count.macs if count else 0
        wanted = {"MACs": macs, "FLOPs": 2 * macs + operations, "BOPs": math.floor(count.bops + 0.5) if count else 0}
        if wanted != dict(found):
            wrong += 1
            print(f"{text}: wanted {wanted}, got {dict(found)}")
        found = collections.Counter()
    left = len(list(rows))
    print(len(ROWS), "rows,", left, "not seen,", wrong, "wrong")
    return 1 if wrong or left else 0


if __name__ == "__main__":
    sys.exit(net() if sys.argv[1:] == ["net"] else check(sys.argv[2]))
