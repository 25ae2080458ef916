"""onnx_intervals.py - what a float32 program may make of an ONNX model: bounds of every value, whatever order it adds in.

Each operation is computed in float64 on lower and upper bounds and widened by the most that float32 may be off: a sum
of n products by (n + 2) 2^-24 times the sum of their magnitudes, anything else by a few units of the last place. Where
both bounds round to one code, every program must have that code; where the bounds meet in the output, every program
must give that number. Exact values are not widened: whole numbers of a step whose sums stay below 2^24 steps.
"""
import numpy as np
from onnx import helper, numpy_helper

EPS = 2.0 ** -24
TINY = 2.0 ** -126
TYPES = {np.dtype(np.int8): (-128, 127), np.dtype(np.uint8): (0, 255), np.dtype(np.int16): (-32768, 32767), np.dtype(np.uint16): (0, 65535)}


class Unknown(Exception):
    """An operation without bounds."""


class Between:
    """lo <= value <= hi; step: all values are whole numbers of this power of two, or None."""

    def __init__(self, lo, hi, step=None):
        self.lo, self.hi, self.step = np.asarray(lo, np.float64), np.asarray(hi, np.float64), step

    @property
    def size(self):
        return np.maximum(np.abs(self.lo), np.abs(self.hi))

    def map(self, f):
        """A layout: the values elsewhere."""
        return Between(f(self.lo), f(self.hi), self.step)


def step_of(a):
    """The largest power of two of which all are multiples, NaN apart; None: there is none above 2^-100."""
    a = np.abs(np.asarray(a, np.float64)).ravel()
    a = a[(a > 0) & np.isfinite(a)]
    if a.size == 0:
        return 1.0
    m, e = np.frexp(a)
    whole = (m * 2.0 ** 53).astype(np.int64)
    low = np.log2((whole & -whole).astype(np.float64)) + e - 53
    return float(2.0 ** low.min()) if low.min() > -100 else None


def constant(a):
    return Between(a, a, step_of(a))


def widened(lo, hi, by):
    return Between(lo - by, hi + by)


def settle(lo, hi, step, size, by):
    """A result: exact where it is a whole number of steps below 2^24 of them, however far its parts came."""
    if step and float(np.max(size, initial=0)) < step * 2.0 ** 24:
        return Between(lo, hi, step)
    return widened(lo, hi, by + TINY)


def common(a, b):
    return min(a.step, b.step) if a.step and b.step else None


def add(a, b):
    return settle(a.lo + b.lo, a.hi + b.hi, common(a, b), a.size + b.size, (a.size + b.size) * 2 * EPS)


def sub(a, b):
    return add(a, Between(-b.hi, -b.lo, b.step))


def corners(a, b, f):
    with np.errstate(all="ignore"):
        all_of = np.stack(np.broadcast_arrays(f(a.lo, b.lo), f(a.lo, b.hi), f(a.hi, b.lo), f(a.hi, b.hi)))
    return all_of.min(0), all_of.max(0)


def mul(a, b):
    lo, hi = corners(a, b, np.multiply)
    return settle(lo, hi, a.step * b.step if a.step and b.step else None, np.maximum(abs(lo), abs(hi)), np.maximum(abs(lo), abs(hi)) * 2 * EPS)


def is_power(v):
    return bool(np.all(np.frexp(np.abs(v))[0] == 0.5))


def div(a, b):
    lo, hi = corners(a, b, np.divide)
    if is_power(b.lo) and np.all(b.lo == b.hi) and a.step:
        return Between(lo, hi, a.step / float(np.max(np.abs(b.lo))))
    return widened(lo, hi, np.maximum(abs(lo), abs(hi)) * 2 * EPS + TINY)


def product(a, w, f, terms):
    """f(x, w) is linear in both, w is known: sums of so many products."""
    positive, negative = np.maximum(w.lo, 0), np.minimum(w.lo, 0)
    lo, hi = f(a.lo, positive) + f(a.hi, negative), f(a.hi, positive) + f(a.lo, negative)
    size = f(a.size, np.abs(w.lo))
    return settle(lo, hi, a.step * w.step if a.step and w.step else None, size, size * (terms + 4) * EPS)


def windows(x, kernel, strides, pads, dilations, value):
    """(N, C, positions..., kernel...) of an array with edges."""
    n = len(kernel)
    x = np.pad(x, [(0, 0), (0, 0)] + [(pads[d], pads[n + d]) for d in range(n)], constant_values=value)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    w = np.lib.stride_tricks.sliding_window_view(x, reach, axis=tuple(range(2, 2 + n)))
    at = (slice(None), slice(None)) + tuple(slice(None, None, s) for s in strides) + tuple(slice(None, None, d) for d in dilations)
    return w[at]


def conv(x, w, attributes, bias):
    n = w.lo.ndim - 2
    group = attributes.get("group", 1)
    where = (w.lo.shape[2:], attributes.get("strides", [1] * n), attributes.get("pads", [0] * 2 * n), attributes.get("dilations", [1] * n))

    def f(a, v):
        v = np.broadcast_to(v, w.lo.shape)
        each = []
        for g in range(group):
            part = windows(a[:, g * v.shape[1] : (g + 1) * v.shape[1]], *where, 0.0)
            rows = v[g * (v.shape[0] // group) : (g + 1) * (v.shape[0] // group)]
            axes = [1] + list(range(2 + n, 2 + 2 * n))
            each.append(np.moveaxis(np.tensordot(part, rows, (axes, list(range(1, 2 + n)))), -1, 1))
        return np.concatenate(each, 1)

    y = product(x, w, f, int(np.prod(w.lo.shape[1:])))
    return y if bias is None else add(y, bias.map(lambda b: b.reshape((-1,) + (1,) * n)))


def pool(x, attributes, how):
    kernel = attributes["kernel_shape"]
    n = len(kernel)
    strides, pads, dilations = attributes.get("strides", [1] * n), attributes.get("pads", [0] * 2 * n), attributes.get("dilations", [1] * n)
    axes = tuple(range(-n, 0))
    if how == "max":
        return x.map(lambda a: windows(a, kernel, strides, pads, dilations, -np.inf).max(axes))
    count = np.prod(kernel)
    if not attributes.get("count_include_pad", 0):
        count = windows(np.ones(x.lo.shape), kernel, strides, pads, dilations, 0.0).sum(axes)
    return mean_of(x, lambda a: windows(a, kernel, strides, pads, dilations, 0.0).sum(axes), count)


def mean_of(x, f, count):
    most = float(np.max(count))
    total = settle(f(x.lo), f(x.hi), x.step, f(x.size), f(x.size) * (most + 2) * EPS)
    lo, hi = total.lo / count, total.hi / count
    if total.step and is_power(count):
        return Between(lo, hi, total.step / most)
    return widened(lo, hi, (f(x.size) / count) * (most + 6) * EPS + TINY)


def function(x, f, off=8):
    """A monotonic function, to so many units of the last place; and of a magnitude at least 2^-20."""
    lo, hi = f(x.lo), f(x.hi)
    return widened(lo, hi, (np.maximum(abs(lo), abs(hi)) + 2.0 ** -20) * off * EPS)


def hardswish(x):
    f = lambda a: a * np.clip(a / 6 + 0.5, 0, 1)
    lo, hi = np.minimum(f(x.lo), f(x.hi)), np.maximum(f(x.lo), f(x.hi))
    lo = np.where((x.lo < -1.5) & (x.hi > -1.5), -0.375, lo)
    return widened(lo, hi, (x.size + 1) * 16 * EPS)


def around(axis, v, rank):
    """Numbers along an axis of a tensor of this rank."""
    v = np.asarray(v)
    return v if v.ndim == 0 or v.size == 1 and v.ndim <= 1 and rank == 0 else v.reshape([-1 if d == axis % rank else 1 for d in range(rank)]) if v.ndim else v


class Model:
    def __init__(self, model):
        self.model = model
        self.known = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}

    def run(self, x):
        g = self.model.graph
        self.at = {g.input[0].name: Between(x, x, None)}
        for node in g.node:
            attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            self.at[node.output[0]] = self.compute(node, attributes)
        return self.at[g.output[0].name]

    def value(self, name):
        if name not in self.at:
            self.at[name] = constant(self.known[name])
        return self.at[name]

    def inputs(self, node):
        return [self.value(i) if i else None for i in node.input]

    def quantise(self, node, attributes):
        x, scale, zero = self.value(node.input[0]), self.known[node.input[1]], self.known[node.input[2]]
        axis, rank = attributes.get("axis", 1), x.lo.ndim
        lo, hi = TYPES[zero.dtype]
        s, z = around(axis, scale.astype(np.float64), rank), around(axis, zero.astype(np.float64), rank)
        exact = x.step is not None and is_power(s)
        by = 0.0 if exact else EPS
        given = np.all(x.lo == x.hi) and not exact

        def code(a, sign):
            with np.errstate(all="ignore"):
                q = (a.astype(np.float32) / s.astype(np.float32)).astype(np.float64) if given else a / s
            if not given:
                q = q + sign * np.abs(q) * 2 * by
            return np.clip(np.rint(q) + z, lo, hi)

        return Between(code(x.lo, -1), code(x.hi, 1), 1.0)

    def dequantise(self, node, attributes):
        x, scale = self.value(node.input[0]), self.known[node.input[1]]
        zero = self.known[node.input[2]] if len(node.input) > 2 and node.input[2] else np.zeros(scale.shape)
        axis, rank = attributes.get("axis", 1), x.lo.ndim
        s, z = around(axis, scale.astype(np.float64), rank), around(axis, zero.astype(np.float64), rank)
        lo, hi = (x.lo - z) * s, (x.hi - z) * s
        if is_power(s):
            return Between(lo, hi, float(np.min(s)))
        return widened(lo, hi, np.maximum(abs(lo), abs(hi)) * EPS)

    def quant(self, node, attributes):
        """Of QONNX: any width, zero 0."""
        x, scale = self.value(node.input[0]), self.value(node.input[1]).lo
        exact = x.step is not None and is_power(scale)
        if node.op_type == "BipolarQuant":
            lo, hi, f = -1, 1, lambda q: np.where(q >= 0, 1.0, -1.0)
        else:
            bits, signed = self.value(node.input[3]).lo, attributes["signed"]
            hi = 2.0 ** (bits - signed) - 1
            lo = -hi - (not attributes["narrow"]) if signed else 0 * hi
            f = {b"ROUND": np.rint, b"FLOOR": np.floor, b"DOWN": np.trunc, b"HALF_UP": lambda q: np.sign(q) * np.floor(np.abs(q) + 0.5)}[attributes["rounding_mode"]]

        def code(a, sign):
            q = a / scale
            return np.clip(f(q if exact else q + sign * (np.abs(q) * 2 * EPS)), lo, hi)

        low, high = code(x.lo, -1) * scale, code(x.hi, 1) * scale
        return Between(low, high, step_of(scale)) if is_power(scale) else widened(low, high, np.maximum(abs(low), abs(high)) * EPS)

    def compute(self, node, attributes):
        op = node.op_type
        if node.domain:
            return self.quant(node, attributes)
        if op == "QuantizeLinear":
            return self.quantise(node, attributes)
        if op == "DequantizeLinear":
            return self.dequantise(node, attributes)
        if op in ("Reshape", "ReduceMean", "ReduceSum", "Slice", "Pad", "Gather"):
            return self.by_numbers(node, attributes)
        x = self.inputs(node)
        a = x[0]
        if op in ("Relu", "Identity"):
            return a.map(lambda v: np.maximum(v, 0)) if op == "Relu" else a
        if op == "Clip":
            return Between(np.clip(a.lo, x[1].lo, x[2].lo), np.clip(a.hi, x[1].lo, x[2].lo), common(a, common_of(x[1], x[2])))
        if op in ("Max", "Min"):
            f = np.maximum if op == "Max" else np.minimum
            step = a.step if np.all(np.isinf(x[1].lo)) else common(a, x[1])
            return Between(f(a.lo, x[1].lo), f(a.hi, x[1].hi), step)
        if op in ("Add", "Sub", "Mul", "Div"):
            return {"Add": add, "Sub": sub, "Mul": mul, "Div": div}[op](a, x[1])
        if op == "Gemm":
            y = product(a, x[1], lambda p, q: p @ q.T, x[1].lo.shape[1])
            return y if len(x) < 3 or x[2] is None else add(y, x[2])
        if op == "MatMul":
            return product(a, x[1], np.matmul, x[1].lo.shape[0])
        if op == "Conv":
            return conv(a, x[1], attributes, x[2] if len(x) > 2 else None)
        if op == "MaxPool":
            return pool(a, attributes, "max")
        if op == "AveragePool":
            return pool(a, attributes, "mean")
        if op in ("GlobalAveragePool", "GlobalMaxPool"):
            axes = tuple(range(2, a.lo.ndim))
            if op == "GlobalMaxPool":
                return a.map(lambda v: v.max(axes, keepdims=True))
            return mean_of(a, lambda v: v.sum(axes, keepdims=True), np.prod([a.lo.shape[d] for d in axes]))
        if op == "Transpose":
            return a.map(lambda v: v.transpose(attributes["perm"]))
        if op == "Concat":
            step = min(v.step for v in x) if all(v.step for v in x) else None
            return Between(np.concatenate([v.lo for v in x], attributes["axis"]), np.concatenate([v.hi for v in x], attributes["axis"]), step)
        if op == "BatchNormalization":
            return self.batch_norm(a, x[1:], attributes)
        return self.curve(op, a, attributes)

    def batch_norm(self, a, given, attributes):
        scale, shift, mean, var = (v.lo.reshape((-1,) + (1,) * (a.lo.ndim - 2)) for v in given)
        k = scale / np.sqrt(var + attributes.get("epsilon", 1e-5))
        lo, hi = np.minimum(a.lo * k, a.hi * k), np.maximum(a.lo * k, a.hi * k)
        size = (a.size + np.abs(mean)) * np.abs(k) + np.abs(shift)
        return widened(lo - mean * k + shift, hi - mean * k + shift, size * 16 * EPS)

    def curve(self, op, a, attributes):
        alpha = attributes.get("alpha", 0.01)
        if op == "LeakyRelu":
            return function(a, lambda v: np.where(v < 0, alpha * v, v)) if not is_power(alpha) else Between(
                np.where(a.lo < 0, alpha * a.lo, a.lo), np.where(a.hi < 0, alpha * a.hi, a.hi), a.step and a.step * alpha)
        if op == "HardSwish":
            return hardswish(a)
        curves = {"Tanh": np.tanh, "Sigmoid": lambda v: 1 / (1 + np.exp(-v)), "Softsign": lambda v: v / (1 + np.abs(v))}
        if op not in curves:
            raise Unknown(op)
        with np.errstate(all="ignore"):
            return function(a, curves[op], 64)

    def by_numbers(self, node, attributes):
        """Operations whose further inputs say where."""
        a, given = self.value(node.input[0]), [self.known[i] for i in node.input[1:] if i]
        if node.op_type == "Reshape":
            return a.map(lambda v: v.reshape([v.shape[i] if s == 0 else s for i, s in enumerate(given[0])]))
        if node.op_type in ("ReduceMean", "ReduceSum"):
            axes, keep = tuple(int(d) for d in given[0]), bool(attributes.get("keepdims", 1))
            f = lambda v: v.sum(axes, keepdims=keep)
            return mean_of(a, f, np.prod([a.lo.shape[d] for d in axes]) if node.op_type == "ReduceMean" else np.float64(1))
        raise Unknown(node.op_type)


def common_of(a, b):
    return Between(0, 0, common(a, b))
