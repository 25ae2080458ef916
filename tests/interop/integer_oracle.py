"""integer_oracle.py - what a quantised network gives in integers, by Python's own integers and fractions.

A network is a list of nodes, each a dict: name, op, inputs (names), and what the operation needs: attributes, arrays,
formats by operand. The first node is the input. Written from docs/integers.md and the heads of the formats: nothing
is rounded but what a format rounds. Where a scale is no power of two, results are those of float32 as it is said there.
"""
from fractions import Fraction
import math

import numpy as np

from exact_numbers import NEAREST_EVEN, SIGN, divide, exact_product, fused, largest_unit, nearest_float

F32 = np.float32


class Refused(Exception):
    """The oracle knows no integers for it; the program should not either."""


class Grid:
    """What a row is rounded to: the codes lo..hi of a step."""

    def __init__(self, step, lo, hi, direction=NEAREST_EVEN):
        self.step, self.lo, self.hi, self.direction = float(F32(step)), int(lo), int(hi), direction
        self.scaled = math.frexp(self.step)[0] != 0.5


class Row:
    """What the codes of a row stand for: (code step / parts + bias) scale + shift, cut at zero where relu."""

    def __init__(self, step=1.0, scaled=False, parts=1, bias=0.0, scale=1.0, shift=0.0, relu=False):
        self.step, self.scaled, self.parts, self.bias, self.scale, self.shift, self.relu = step, scaled, parts, bias, scale, shift, relu

    def copy(self, **changes):
        row = Row(**self.__dict__)
        row.__dict__.update(changes)
        return row

    def plain(self):
        return self.parts == 1 and self.bias == 0 and self.scale == 1 and self.shift == 0 and not self.relu

    def line(self, unit=1.0):
        """slope and constant over a unit, as fractions."""
        scale = Fraction(self.scale) / Fraction(unit)
        return Fraction(self.step) / self.parts * scale, Fraction(self.bias) * scale + Fraction(self.shift) / Fraction(unit)


class Value:
    """Samples of a shape: floats (N, rows), or codes (N, rows) with what each row stands for; functions still to come."""

    def __init__(self, shape, floats=None, code=None, row=None, then=()):
        self.shape, self.floats, self.code, self.row, self.then = tuple(shape), floats, code, row, then

    @property
    def rows(self):
        return int(np.prod(self.shape))


# ---- codes and floats ----


def as_integers(code, row, unit):
    """What codes stand for as whole numbers over a denominator."""
    slope, constant = row.line(unit)
    by = math.lcm(slope.denominator, constant.denominator)
    n = code * int(slope * by) + int(constant * by)
    return (np.maximum(n, 0) if row.relu else n), by


def decode(code, row):
    """The nearest float32; where something divides or a scale is no power of two, as C computes it."""
    if row.scaled:
        v = code.astype(np.int64).astype(F32) * F32(row.step) / F32(row.parts)
        if row.scale != 1 or row.shift != 0 or row.bias != 0:
            v = fused(v + F32(row.bias), F32(row.scale), np.asarray(F32(row.shift)))
    elif row.parts == 1:
        slope, constant = row.line()
        by = math.lcm(slope.denominator, constant.denominator)
        v = np.array([nearest_float(n, by) for n in code * int(slope * by) + int(constant * by)], dtype=F32)
    else:
        v = ((code.astype(np.float64) * row.step / row.parts + row.bias) * row.scale + row.shift).astype(F32)
    return np.where(v < 0, F32(0), v) if row.relu else v


def encode(x, grid):
    """Floats to codes."""
    if grid.direction == SIGN:
        return np.where(x >= 0, 1, -1).astype(object)
    with np.errstate(all="ignore"):
        v = np.rint(x / F32(grid.step)) if grid.scaled else x * F32(1 / grid.step)
    v = np.clip(v.astype(np.float64), -(2.0**60), 2.0**60)
    whole = [divide(*float(t).as_integer_ratio(), grid.direction) for t in v]
    return np.array([min(max(int(w), grid.lo), grid.hi) for w in whole], dtype=object)


def round_codes(v, grids):
    """Codes to codes of grids: in integers, or in float32 where some scale is no power of two."""
    scaled = any(r.scaled for r in v.row) or any(g.scaled for g in grids)
    if scaled and any(g.direction != NEAREST_EVEN for g in grids):
        raise Refused("scaled integers are rounded to nearest")
    code = np.empty_like(v.code)
    for r, (row, g) in enumerate(zip(v.row, grids)):
        if scaled:
            step = F32(g.step)
            factor = F32(row.step) * F32(row.scale) / step / F32(row.parts)
            offset = F32((row.bias * row.scale + row.shift) / g.step)
            y = np.rint(fused(v.code[:, r].astype(np.int64).astype(F32), np.asarray(factor), np.asarray(offset)))
            lo = max(g.lo, 0) if row.relu else g.lo
            code[:, r] = [int(t) for t in np.clip(y, F32(lo), F32(g.hi))]
        else:
            n, by = as_integers(v.code[:, r], row, g.step)
            y = divide(n, by, g.direction)
            code[:, r] = y if g.direction == SIGN else np.minimum(np.maximum(y, g.lo), g.hi)
    return Value(v.shape, code=code, row=[Row(g.step, g.scaled) for g in grids])


def plain(v):
    """Codes that are their numbers but for a step: what sums are made of."""
    if all(r.plain() for r in v.row):
        return v
    if any(r.scaled or r.parts != 1 for r in v.row):
        raise Refused("neither rounded nor a whole number of steps")
    code, rows = np.empty_like(v.code), []
    for r, row in enumerate(v.row):
        slope, constant = row.line()
        by = math.lcm(slope.denominator, constant.denominator)
        rows.append(Row(1.0 / by))
        code[:, r] = as_integers(v.code[:, r], row, 1.0 / by)[0]
    return Value(v.shape, code=code, row=rows)


def round_value(v, grids):
    if v.floats is not None:
        code = np.stack([encode(v.floats[:, r], g) for r, g in enumerate(grids)], axis=1)
    elif v.then:
        code = np.empty_like(v.code)
        for r, g in enumerate(grids):
            y = decode(v.code[:, r], v.row[r])
            for f in v.then:
                y = f(y)
            code[:, r] = encode(y, g)
    else:
        return round_codes(v, grids)
    return Value(v.shape, code=code, row=[Row(g.step, g.scaled) for g in grids])


# ---- formats: grids of data, numbers of weights ----


def codes_of(f, signed):
    """The least and the most code of int, lsq and their like."""
    if f.get("signed") is not None:
        signed = f["signed"]
    steps = 2 ** (f["width"] - signed)
    return (-(steps - (1 if f.get("narrow") else 0)) if signed else 0), steps - 1


def grid_of(f, k, signed):
    """The grid of block k; None: the values decide."""
    name = f["name"]
    if name in ("integer", "fixed", "integer_floor", "fixed_floor", "logicnets"):
        steps = 2 ** (f["width"] - signed)
        direction = "floor" if name.endswith("_floor") else f.get("rounding", NEAREST_EVEN)
        return Grid(2.0 ** -f["frac_width"], -steps if signed else 0, int(F32(steps - 1)), direction)
    if name == "binary":
        return Grid(1, -1, 1, SIGN)
    if name == "int":
        lo, hi = codes_of(f, signed)
        at = lambda p: p[k] if isinstance(p, list) else p
        zero = at(f.get("zero_point")) or 0
        return Grid(at(f["scale"]), lo - zero, hi - zero) if f.get("scale") is not None else None
    learned = {n: F32(a[k]) for n, a in f["learned"].items()}
    if name == "hgq":
        signed = f["signed"] if f.get("signed") is not None else signed
        frac, whole = (int(np.rint(learned[n])) for n in ("frac_width", "int_width"))
        bits = min(max(frac + whole, 0), f["most"] - signed)
        hi = 2**bits - 1
        return Grid(2.0 ** -(bits - whole), -hi if signed else 0, hi)
    lo, hi = codes_of(f, signed)
    if name == "pact":
        hi = max(hi, 1)
        return Grid(learned["bound"] / F32(hi), -hi if lo else 0, hi)
    zero = int(np.rint(learned["offset"] / learned["scale"])) if name == "lsq_plus" else 0
    return Grid(learned["scale"], lo + zero, hi + zero)


def blocks_of(f, shape, data):
    """Which block a number belongs to: of a weight, or of one sample."""
    index = np.zeros(shape, dtype=int)
    if f.get("axis") is not None:
        d = f["axis"] - (1 if data else 0)
        index += np.arange(shape[d]).reshape((-1,) + (1,) * (len(shape) - d - 1))
    elif f.get("block_size") is not None:
        per = -(-shape[-1] // f["block_size"])
        index = np.arange(int(np.prod(shape[:-1]))).reshape(shape[:-1] + (1,)) * per + np.arange(shape[-1]) // f["block_size"]
    return index.reshape(-1)


def round_data(v, f, signed):
    index = blocks_of(f, v.shape, True)
    grids = {k: grid_of(f, k, signed) for k in set(index)}
    if any(g is None for g in grids.values()):
        raise Refused("a scale by the values of data")
    return round_value(v, [grids[k] for k in index])


def by_values(f, x):
    """int without a scale: the grid that the values of a block make."""
    lo, hi = codes_of(f, 1)
    low, high = F32(min(x.min(), 0)), F32(max(x.max(), 0))
    largest = -low if lo < 0 and -low > high else high
    scale = largest / F32(hi if hi > 0 else 1) if f.get("symmetric", True) else (high - low) / F32(hi - lo)
    if f.get("power_of_two") and scale > 0:
        mantissa, e = math.frexp(float(scale))
        scale = F32(math.ldexp(1.0, e - (mantissa == 0.5)))
    scale = scale if scale != 0 else F32(2.0**-23)
    zero = 0 if f.get("symmetric", True) else int(np.clip(np.rint(F32(lo) - low / scale), lo, hi))
    return Grid(scale, lo - zero, hi - zero)


def step_of_values(f, q):
    """The step of values that were rounded by one of their own: what is stored is they, so the nearest to what their ends say that gives all."""
    g = by_values(f, q)
    middle = F32(g.step)
    below, above = np.nextafter(middle, F32(0)), np.nextafter(middle, F32(np.inf))
    for step in (middle, below, above, np.nextafter(below, F32(0)), np.nextafter(above, F32(np.inf))):
        code = np.rint(q / step)
        if ((code >= g.lo) & (code <= g.hi) & (code.astype(F32) * step == q)).all():
            return float(step)
    return None


def round_constant(w, f):
    """The numbers that a format makes of a weight, and their steps where they are codes of scales, by number."""
    if f is None:
        return w, None
    if f["name"] == "ternary":
        return ternary(w, f), None
    if f["name"] == "binary":
        return np.where(w >= 0, F32(1), F32(-1)), np.ones(w.shape)
    flat, steps = w.reshape(-1).copy(), np.ones(w.size)
    index, found = blocks_of(f, w.shape, False), True
    for k in range(index.max() + 1):
        own = index == k
        known = grid_of(f, k, 1)
        g = known or by_values(f, flat[own])
        code = encode(flat[own], g)
        flat[own] = [F32(int(c)) * F32(g.step) for c in code]
        step = g.step if known else step_of_values(f, flat[own])
        if step is None:
            found = False
        else:
            steps[own] = step
    if not found:
        return flat.reshape(w.shape), None
    return flat.reshape(w.shape), steps.reshape(w.shape)


def ternary(w, f):
    """By output; the weights are such that sums of them are exact in float32."""
    out = np.empty_like(w)
    for part, to in zip(*((w, out) if w.ndim > 1 else (w[None], out[None]))):
        size = np.abs(part)
        if f["scaling_factor"] and not size.any():
            raise Refused("a mean of nothing")
        limit = F32(0.75) * (F32(size.sum(dtype=np.float64)) / F32(size.size))
        above = size > limit
        a = F32(size[above].sum(dtype=np.float64)) / F32(above.sum()) if f["scaling_factor"] else F32(1)
        to[...] = np.where(part > limit, a, np.where(part < -limit, -a, F32(0)))
    return out


# ---- sums of products ----


def affine(values, rows, shape, weight=None, bias=None, scale=None, parts=None):
    """rows: (groups, positions, inputs) of all values in a row, -1: zero; weight: (groups, outputs, inputs), None: ones.

    Results lie (groups, outputs, positions). scale: of each output's weights where they are codes.
    """
    code = np.concatenate([v.code for v in values], axis=1)
    row = [r for v in values for r in v.row]
    groups, positions, inputs = rows.shape
    odd = scale is not None and any(not is_power(s) for s in scale.reshape(-1))
    outputs = weight.shape[1] if weight is not None else 1
    code = np.concatenate([code, np.zeros((len(code), 1), dtype=object)], axis=1)
    result, meaning = np.empty((len(code), groups, outputs, positions), dtype=object), []
    for g in range(groups):
        seen = [{(row[r].step, row[r].scaled) for r in rows[g, :, k] if r >= 0} for k in range(inputs)]
        if any(len({s for s, _ in steps}) > 1 for steps in seen):
            raise Refused("a weight meets several scales")
        x = code[:, rows[g]]
        for o in range(outputs):
            w = weight[g, o] if weight is not None else np.ones(inputs, dtype=F32)
            numbers, step, scaled = whole_weights(seen, w, None if scale is None else float(scale[g, o]), odd, min(r.step for r in row))
            b = float(bias[g, o]) if bias is not None else 0.0
            steps = np.rint(b / step)
            rounds = scaled and scale is not None and w.any()
            whole = abs(steps) < 2**31 if rounds else abs(steps) < 2**52 and steps * step == b
            result[:, g, o] = exact_product(x, np.array([numbers], dtype=object))[:, :, 0] + (int(steps) if whole else 0)
            meaning += [Row(step, scaled, int(parts[p]) if parts is not None else 1, 0.0 if whole else b) for p in range(positions)]
    return Value(shape, code=result.reshape(len(code), -1), row=meaning)


def is_power(step):
    return math.frexp(step)[0] == 0.5


def whole_weights(seen, w, scale, odd, least_step):
    """Integers for the weights of one sum, and what a product of codes is worth. What meets no data counts for nothing.

    Where some scale is no power of two, weights are codes of their format's step, if it has one."""
    used = [next(iter(s)) if s else None for s in seen]
    if not odd and not any(u and u[1] for u in used):
        products = [Fraction(float(a)) * Fraction(u[0]) if u else Fraction(0) for a, u in zip(w, used)]
        unit = largest_unit(products)
        return [int(p / unit) for p in products], float(unit), False
    least = min((u[0] for u in used if u), default=least_step)
    ratio = [Fraction(u[0]) / Fraction(least) if u else Fraction(0) for u in used]
    if any(r and (r.numerator & (r.numerator - 1) or r.denominator & (r.denominator - 1)) for r in ratio):
        raise Refused("scales whose ratios are no powers of two")
    if scale is not None:
        return [int(np.rint(float(a) / scale)) * int(r) for a, r in zip(w, ratio)], scale * least, True
    products = [Fraction(float(a)) * r for a, r in zip(w, ratio)]
    unit = largest_unit(products)
    return [int(p / unit) for p in products], float(unit) * least, True


def scales_of(weight, steps):
    """By output, the least of powers of two; None: weights without steps."""
    if steps is None:
        return None
    by_output = steps.reshape(len(steps), -1)
    if not all(is_power(s) for s in set(steps.reshape(-1))) and (by_output != by_output[:, :1]).any():
        raise Refused("the weights of one sum have several scales")
    return by_output.min(axis=1)


def layer(v, node, rows, shape, groups):
    """Linear or a convolution: weights (outputs, ...)."""
    weight, steps = round_constant(node["weight"], node["formats"].get("weight"))
    bias = round_constant(node["bias"], node["formats"].get("bias"))[0] if node.get("bias") is not None else None
    scale = scales_of(weight, steps)
    by_group = lambda a: a.reshape((groups, len(a) // groups) + a.shape[1:]) if a is not None else None
    return affine([plain(v)], rows, shape, by_group(weight.reshape(len(weight), -1)), by_group(bias), by_group(scale))


# ---- windows ----


def spans(size, kernel, stride, padding, dilation, ceil):
    """Of each output of one dimension: what it looks at, -1 the edge; and how much of it is padded size."""
    reach = dilation * (kernel - 1) + 1
    left = size + 2 * padding - reach
    out = (left + (stride - 1 if ceil else 0)) // stride + 1
    if ceil and (out - 1) * stride >= size + padding:
        out -= 1
    for o in range(out):
        at = [o * stride - padding + k * dilation for k in range(kernel)]
        yield [a if 0 <= a < size else -1 for a in at], min(at[0] + kernel, size + padding) - at[0]


def adaptive(size, out):
    for o in range(out):
        yield list(range(o * size // out, -(-(o + 1) * size // out))), 0


def grid_rows(size, by_dimension):
    """(positions, kernel) rows of a channel; and of each position the padded number."""
    rows, padded = [[0]], [1]
    for n, dimension in zip(size, by_dimension):
        rows = [[-1 if a < 0 or b < 0 else a * n + b for a in r for b in at] for r in rows for at, _ in dimension]
        padded = [p * q for p in padded for _, q in dimension]
    return rows, padded


def windows_of(v, node):
    size = v.shape[1:]
    if "output_size" in node:
        by = [list(adaptive(n, o)) for n, o in zip(size, node["output_size"])]
    else:
        each = [node[k] for k in ("kernel", "stride", "padding", "dilation")]
        by = [list(spans(n, *(p[d] for p in each), node.get("ceil", False))) for d, n in enumerate(size)]
    rows, padded = grid_rows(size, by)
    return rows, padded, tuple(len(b) for b in by)


def convolution(v, node):
    rows, _, out = windows_of(v, node)
    groups, channels = node["groups"], v.shape[0] // node["groups"]
    per = int(np.prod(v.shape[1:]))
    index = np.array([[[-1 if r < 0 else (g * channels + c) * per + r for c in range(channels) for r in at] for at in rows] for g in range(groups)])
    return layer(v, node, index, (len(node["weight"]),) + out, groups)


def max_pool(v, node):
    rows, _, out = windows_of(v, node)
    per = int(np.prod(v.shape[1:]))
    same = lambda a, b: a.__dict__ == b.__dict__
    ordered = lambda x: all(r.scale > 0 and same(r, x.row[k // per * per]) for k, r in enumerate(x.row))
    if not ordered(v):
        v = plain(v)
    if not ordered(v):
        raise Refused("several scales in a channel")
    if any(max(at) < 0 for at in rows):
        raise Refused("the largest of nothing")
    code = [v.code[:, [c * per + r for r in at if r >= 0]].max(axis=1) for c in range(v.shape[0]) for at in rows]
    return Value((v.shape[0],) + out, code=np.stack(code, axis=1), row=[v.row[c * per] for c in range(v.shape[0]) for _ in rows])


def average(v, node):
    rows, padded, out = windows_of(v, node)
    v = plain(v)
    per, most = int(np.prod(v.shape[1:])), max(sum(r >= 0 for r in at) for at in rows)
    seen = [[r for r in at if r >= 0] for at in rows]
    index = np.array([[[c * per + r for r in at] + [-1] * (most - len(at)) for at in seen] for c in range(v.shape[0])])
    parts = padded if node.get("count_padding") else [len(at) for at in seen]
    return affine([v], index, (v.shape[0],) + out, parts=parts)


# ---- nodes ----


def linear(v, node):
    inputs = v.shape[-1]
    rows = np.arange(v.rows).reshape(1, -1, inputs)
    shape = v.shape[:-1] + (len(node["weight"]),)
    y = layer(v, node, rows, shape, 1)
    order = np.arange(y.rows).reshape(len(node["weight"]), -1).T.reshape(-1)
    return Value(shape, code=y.code[:, order], row=[y.row[k] for k in order])


def batch_norm(v, node):
    rstd = (1 / np.sqrt(node["running_var"].astype(np.float64) + 1e-5)).astype(F32)
    scale = rstd * node["weight"]
    shift = node["bias"] - node["running_mean"] * scale
    per = v.rows // v.shape[0] if len(v.shape) > 1 else 1
    a, b = np.repeat(scale, per), np.repeat(shift, per)
    if v.floats is not None:
        return Value(v.shape, floats=fused(a[None], v.floats, b[None]))
    if any(r.relu or r.scale != 1 or r.shift != 0 for r in v.row):
        v = plain(v)
    return Value(v.shape, code=v.code, row=[r.copy(scale=float(a[k]), shift=float(b[k])) for k, r in enumerate(v.row)])


def relu(v, node):
    if v.floats is not None:
        return Value(v.shape, floats=np.where(v.floats < 0, F32(0), v.floats))
    return Value(v.shape, code=v.code, row=[r.copy(relu=True) for r in v.row])


def picked(v, index):
    """Rows in another order; -1: zero."""
    flat = index.reshape(-1)
    if v.then:  # of the shape that it has
        return v
    if v.floats is not None:
        return Value(index.shape, floats=np.where(flat < 0, F32(0), v.floats[:, flat]))
    code = np.where(flat < 0, 0, v.code[:, flat])
    channels = index.reshape(len(index), -1) if index.ndim > 1 else index.reshape(1, -1)
    like = [v.row[next((k for k in c if k >= 0), 0)] for c in channels for _ in c]  # a zero has any step: that of its channel
    return Value(index.shape, code=code, row=[v.row[k] if k >= 0 else Row(r.step, r.scaled) for k, r in zip(flat, like)])


def index_of(v):
    return np.arange(v.rows).reshape(v.shape)


def join(values, node):
    """Side by side along the first dimension of samples."""
    shape = (sum(v.shape[0] for v in values),) + values[0].shape[1:]
    return Value(shape, code=np.concatenate([v.code for v in values], axis=1), row=[r for v in values for r in v.row])


def mean(v, node):
    v = plain(v)
    kept = v.shape[: len(v.shape) - node["last"]]
    rows = np.arange(v.rows).reshape(int(np.prod(kept)), 1, -1)
    return affine([v], rows, kept, parts=[rows.shape[2]])


def add(x, y):
    x, y = plain(x), plain(y)
    rows = np.stack([np.arange(x.rows), np.arange(x.rows) + x.rows], axis=1)[:, None, :]
    return affine([x, y], rows, x.shape)


def in_double(f):
    def of(x):
        with np.errstate(all="ignore"):
            return f(x.astype(np.float64)).astype(F32)

    return of


FUNCTIONS = {
    "tanh": in_double(np.tanh),
    "sigmoid": in_double(lambda x: 1 / (1 + np.exp(-x))),
    "relu6": in_double(lambda x: np.minimum(np.maximum(x, 0), 6)),
    "hardtanh": in_double(lambda x: np.minimum(np.maximum(x, -1), 1)),
    "leaky_relu": in_double(lambda x: np.where(x > 0, x, x * 0.125)),
    "hardswish": in_double(lambda x: x * np.minimum(np.maximum(x + 3, 0), 6) / 6),
    "softsign": in_double(lambda x: x / (1 + np.abs(x))),
}
LAYOUTS = {
    "flatten": lambda i, node: i.reshape(-1),
    "reshape": lambda i, node: i.reshape(node["shape"]),
    "permute": lambda i, node: i.transpose(node["order"]),
    "pad": lambda i, node: np.pad(i, [(0, 0)] * (i.ndim - 1) + [node["pad"]], constant_values=-1),
    "narrow": lambda i, node: i.take(range(node["start"], node["start"] + node["length"]), axis=node["dim"]),
}
RULES = {"linear": linear, "conv": convolution, "batch_norm": batch_norm, "relu": relu, "max_pool": max_pool, "avg_pool": average, "mean": mean}


def rounded(v, node, role, unsigned):
    f = node["formats"].get(role)
    return round_data(v, f, 0 if unsigned else 1) if f else v


def compute(node, values, nodes):
    """What a node gives; unsigned: its data cannot be negative and its format asks."""
    f = node["formats"].get("data_in")
    asks = f is not None and (node["op"] in ("relu", "relu6") or node["positive"] and (f["name"] in ("int", "lsq", "lsq_plus", "pact", "hgq") or node["passes"]))
    data = [rounded(values[n], node, "data_in", asks) for n in node["inputs"]]
    v, op = data[0], node["op"]
    if op not in ("batch_norm", "relu") and op not in LAYOUTS and any(d.floats is not None for d in data):
        raise Refused("what comes in is not rounded")
    if any(d.then for d in data) and op not in FUNCTIONS and not (op in LAYOUTS and node["shape_out"] == v.shape):
        raise Refused("a function that is not rounded")
    if op == "add":
        y = add(*data)
    elif op == "cat":
        y = join(data, node)
    elif op in LAYOUTS:
        y = picked(v, LAYOUTS[op](index_of(v), node))
    elif op in FUNCTIONS:
        y = Value(v.shape, code=v.code, row=v.row, then=v.then + (FUNCTIONS[op],))
    else:
        y = RULES[op](v, node)
    return rounded(y, node, "data_out", node["out_positive"])


def run(nodes, x):
    """The outputs for samples (N, ...), float32 (N, outputs)."""
    values = {nodes[0]["name"]: Value(x.shape[1:], floats=x.reshape(len(x), -1))}
    for node in nodes[1:]:
        values[node["name"]] = compute(node, values, nodes)
    y = values[nodes[-1]["name"]]
    if y.code is None or y.then:
        raise Refused("what it returns was never rounded")
    return np.stack([decode(y.code[:, r], row) for r, row in enumerate(y.row)], axis=1)
