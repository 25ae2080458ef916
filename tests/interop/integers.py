"""Quantised networks in integers: ch predict --engine int against an oracle in Python's integers.

    integers.py CH [ROWS]        160000: the whole test set, most of an hour

The oracle reads the weights and the formats and computes in integers, or in halves of float64 where
every number is an integer below 2^53: no float is rounded but where the definition says so. It knows
chains of layers: batch norm, relu, linear, convolution, pools.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is not installed: skipped")
    sys.exit(77)

from exact_numbers import divide, dyadic, exact_product, fused, half_even, nearest_float

CH = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
CHUNK = 4000  # samples at a time: Python's integers are large


def ch(*words):
    run = subprocess.run([CH, *words], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit("ch %s: %s" % (" ".join(words), run.stderr))
    return run.stdout


# ---- numbers: integers times 2^-exponent, one exponent for each channel (axis 1) ----


class Codes:
    """value = code * 2^-frac, Python integers; frac has one entry for each channel."""

    def __init__(self, code, frac):
        self.code, self.frac = code, np.asarray(frac, dtype=object)

    def by_channel(self, vector):
        return np.asarray(vector, dtype=object).reshape((1, -1) + (1,) * (self.code.ndim - 2))


def to_grid(v, frac, lo, hi):
    """Codes rounded to multiples of 2^-frac (by channel) between lo and hi."""
    shift = v.frac - frac
    left = np.where(shift < 0, -shift, 0)
    code = v.code << v.by_channel(left)
    code = half_even(code, v.by_channel(np.where(shift > 0, shift, 0)))
    return Codes(np.minimum(np.maximum(code, v.by_channel(lo)), v.by_channel(hi)), frac)


def grid_of_floats(x, frac, lo, hi):
    """Float32 samples to codes: the product with a power of two is exact in float64."""
    shape = (1, -1) + (1,) * (x.ndim - 2)
    scale = np.array([2.0 ** int(f) for f in frac]).reshape(shape)
    code = np.rint(x.astype(np.float64) * scale)
    code = np.clip(code, np.array(lo, dtype=float).reshape(shape), np.array(hi, dtype=float).reshape(shape))
    return Codes(code.astype(np.int64).astype(object), frac)


# ---- layers ----


def line_of(w, eps=1e-5):
    """Scale and shift of batch norm, in float32 as they are said to be."""
    rstd = (1 / np.sqrt(w["running_var"].astype(np.float64) + eps)).astype(np.float32)
    scale = rstd * w["weight"]
    return scale, w["bias"] - w["running_mean"] * scale


def batch_norm(v, w):
    scale, shift = line_of(w)
    if isinstance(v, np.ndarray):
        shape = (1, -1) + (1,) * (v.ndim - 2)
        return fused(scale.reshape(shape), v, shift.reshape(shape))
    scale, shift = [dyadic(x) for x in scale], [dyadic(x) for x in shift]
    frac = [max(f + a[1], b[1]) for f, a, b in zip(v.frac, scale, shift)]
    times = [a[0] << (g - f - a[1]) for f, a, g in zip(v.frac, scale, frac)]
    plus = [b[0] << (g - b[1]) for b, g in zip(shift, frac)]
    return Codes(v.code * v.by_channel(times) + v.by_channel(plus), frac)


def relu(v):
    if isinstance(v, np.ndarray):
        return np.where(v < 0, np.float32(0), v)
    return Codes(np.where(v.code < 0, 0, v.code), v.frac)


def rounded_weight(w, f):
    """Weights as integers over one power of two for each output; f: functions by operand."""
    code, frac = f["weight"](w["weight"])
    top = frac.max()
    return code << (top - frac), int(top)


def windows(code, kernel, padding):
    """(N, C, ...) to (N, positions, C * kernel), and the shape of the positions."""
    n = code.ndim - 2
    code = np.pad(code, [(0, 0), (0, 0)] + [(p, p) for p in padding])
    view = np.lib.stride_tricks.sliding_window_view(code, kernel, axis=tuple(range(2, 2 + n)))
    out = view.shape[2 : 2 + n]
    order = (0,) + tuple(range(2, 2 + n)) + (1,) + tuple(range(2 + n, 2 + 2 * n))
    return view.transpose(order).reshape(code.shape[0], int(np.prod(out)), -1), out


def layer(v, w, f, attributes):
    """Linear or a convolution, its data rounded first."""
    v = f["data_in"](v)
    top = int(max(v.frac))
    x = v.code << v.by_channel(top - v.frac)
    weight, frac = rounded_weight(w, f)
    bias, bias_frac = f["bias"](w["bias"]) if "bias" in w else (np.zeros(len(weight), dtype=object), np.zeros(1, dtype=object))
    if attributes is None:
        y = exact_product(x, weight)
    else:
        rows, out = windows(x, attributes["kernel"], attributes["padding"])
        y = exact_product(rows.reshape(-1, rows.shape[2]), weight.reshape(len(weight), -1))
        y = y.reshape(rows.shape[0], rows.shape[1], -1).transpose(0, 2, 1).reshape((rows.shape[0], -1) + out)
    all_frac = max(top + frac, int(bias_frac.max()))
    total = Codes(y << (all_frac - top - frac), [all_frac] * y.shape[1])
    total.code = total.code + total.by_channel(bias << (all_frac - bias_frac))
    return total


def max_pool(v, size):
    n, c, h, w = v.code.shape
    code = v.code[:, :, : h // size * size, : w // size * size]
    return Codes(code.reshape(n, c, h // size, size, w // size, size).max(axis=(3, 5)), v.frac)


class Mean:
    """A sum that is still to be divided."""

    def __init__(self, total, parts):
        self.total, self.parts = total, parts


def mean_to_grid(m, frac, lo, hi):
    v = m.total
    shift = v.frac - frac
    number = v.code << v.by_channel(np.where(shift < 0, -shift, 0))
    by = v.by_channel(m.parts << np.where(shift > 0, shift, 0))
    return Codes(np.minimum(np.maximum(divide(number, by), v.by_channel(lo)), v.by_channel(hi)), frac)


def as_floats(v):
    """To the nearest float32."""
    out = np.empty(v.code.shape, dtype=np.float32)
    for c in range(v.code.shape[1]):
        flat = v.code[:, c].reshape(-1)
        out[:, c] = np.array([nearest_float(k, 1 << int(v.frac[c])) for k in flat], dtype=np.float32).reshape(v.code[:, c].shape)
    return out


# ---- formats ----


def integer(width, frac):
    """The functions of a layer whose operands are all integer(width, frac)."""
    lo, hi = -(1 << (width - 1)), (1 << (width - 1)) - 1

    def data_in(v):
        if isinstance(v, np.ndarray):
            n = v.shape[1]
            return grid_of_floats(v, [frac] * n, [lo] * n, [hi] * n)
        n = (v.total if isinstance(v, Mean) else v).code.shape[1]
        to = mean_to_grid if isinstance(v, Mean) else to_grid
        return to(v, np.array([frac] * n, dtype=object), [lo] * n, [hi] * n)

    def constant(w):
        code = np.clip(np.rint(w.astype(np.float64) * 2.0**frac), lo, hi)
        return code.astype(np.int64).astype(object), np.full(w.shape, frac, dtype=object)

    return {"data_in": data_in, "weight": constant, "bias": constant}


def learned(w):
    """hgq: bits for each weight and each feature of the data, as training left them."""

    def grid(name, signed=True):
        frac = np.rint(w[name + "_frac_width"].astype(np.float64)).astype(np.int64)
        bits = frac + np.rint(w[name + "_int_width"].astype(np.float64)).astype(np.int64)
        hi = np.where(bits > 0, (1 << np.maximum(bits, 0)) - 1, 0)
        return frac, np.where(signed, -hi, 0), hi

    def data_in(v):
        n = v.shape[1] if isinstance(v, np.ndarray) else v.code.shape[1]
        frac, lo, hi = (np.broadcast_to(g, (n,)) for g in grid("data_in", w["signed"]))
        if isinstance(v, np.ndarray):
            return grid_of_floats(v, frac, lo, hi)
        return to_grid(v, np.array([int(f) for f in frac], dtype=object), [int(x) for x in lo], [int(x) for x in hi])

    def constant(name):
        def of(x):
            frac, lo, hi = (g.reshape(x.shape) for g in grid(name))
            code = np.clip(np.rint(x.astype(np.float64) * 2.0**frac), lo, hi)
            return code.astype(np.int64).astype(object), frac.astype(object)

        return of

    return {"data_in": data_in, "weight": constant("weight"), "bias": constant("bias")}


# ---- networks ----


def modules_of(model):
    """The calls of a network in order: (path, class, attributes as text)."""
    with tempfile.TemporaryDirectory() as folder:
        ch("convert", model, folder + "/net.mg")
        with open(folder + "/net.mg", encoding="utf-8") as f:
            text = f.read()
    kinds = dict((m[0], (m[1], m[2])) for m in re.findall(r"^module (\S+) = (\w+)\((.*)\)$", text, re.M))
    for target, call in re.findall(r"^%\w+(?: : \S+)? = call_\w+\[target=(\S+?)\](.*)$", text, re.M):
        yield (target,) + kinds.get(target, (target, call))


def numbers(text, name, default):
    found = re.search(r"\b%s=(\([^)]*\)|'\w+'|\d+)" % name, text)
    if not found or found[1] == "'valid'":
        return default
    values = tuple(int(n) for n in re.findall(r"\d+", found[1]))
    return values if len(values) > 1 or found[1].startswith("(") else values * len(default)


def run(modules, weights, x, formats):
    v = x
    seen_relu = False
    for path, kind, text in modules:
        w = {n[len(path) + 1 :]: a for n, a in weights.items() if n.startswith(path + ".")}
        if kind.startswith("BatchNorm"):
            v, seen_relu = batch_norm(v, w), False
        elif kind == "ReLU":
            v, seen_relu = relu(v), True
        elif kind == "Linear":
            w["signed"] = not seen_relu
            v = layer(v, w, formats(w), None)
        elif kind in ("Conv1d", "Conv2d"):
            zero = (0,) * int(kind[4])
            v = layer(v, w, formats(w), {"kernel": numbers(text, "kernel_size", zero), "padding": numbers(text, "padding", zero)})
        elif kind == "MaxPool2d":
            v = max_pool(v, numbers(text, "kernel_size", (0,))[0])
        elif kind == "AdaptiveAvgPool1d":
            v = Mean(Codes(v.code.sum(axis=2, keepdims=True), v.frac), v.code.shape[2])
        elif kind in ("view", "torch.flatten"):
            rows, shape = (len(v.total.code), v.total) if isinstance(v, Mean) else (len(v.code), v)
            shape.code = shape.code.reshape((rows, shape.code.shape[1], -1) if "16, -1" in text else (rows, -1))
            if shape.code.shape[1] != len(shape.frac):
                shape.frac = np.repeat(shape.frac, shape.code.shape[1] // len(shape.frac))
        elif kind != "size":
            sys.exit("the oracle knows no %s" % kind)
    return as_floats(v)


CONFIG = """
[passes.quantize]
by = "type"
default.config.name = "NA"
"""
FIXED = """
[passes.quantize.%s.config]
name = "integer"
data_in_width = %d
data_in_frac_width = %d
weight_width = %d
weight_frac_width = %d
bias_width = %d
bias_frac_width = %d
"""


def compare(name, model, words, weights, x, config, formats):
    with open("c.toml", "w", encoding="utf-8") as f:
        f.write(config)
    np.save("x.npy", x)
    ch("predict", model, *words, "--config", "c.toml", "--load", weights, "--engine", "int", "--input", "x.npy", "--output", "y.npy", "--project", "p")
    ch("convert", weights, "w.npz", "--force")
    stored = {re.sub(r"^model\.", "", n): a for n, a in np.load("w.npz").items()}
    modules = list(modules_of(model))
    want = np.concatenate([run(modules, stored, x[k : k + CHUNK], formats) for k in range(0, len(x), CHUNK)])
    got = np.load("y.npy")
    different = int((want.reshape(got.shape) != got).sum())
    print("%-12s %-8s %7d samples, %8d outputs, %d different" % (model, name, len(x), got.size, different), flush=True)
    return different


def main():
    os.chdir(tempfile.mkdtemp())
    bad = 0
    rng = np.random.default_rng(1)
    ch("data", "export", "jsc-sim", "jets.npz", "--split", "mase")
    jets = np.load("jets.npz")
    x = jets[[n for n in jets.files if n.lower().startswith("x")][-1]].astype(np.float32)[:ROWS]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    for model in ("jsc-tiny", "jsc-toy", "jsc-s", "jsc-test"):
        ch("train", model, "jsc-sim", "--max-epochs", "1", "--max-steps", "300", "--learning-rate", "1e-2", "--project", model)
        weights = "mase_output/%s/software/training_ckpts/last.ckpt" % model
        for width, frac in ((8, 4), (16, 8), (6, 3), (4, 2)):
            config = CONFIG + FIXED % (("linear",) + (width, frac) * 3)
            bad += compare("%d/%d" % (width, frac), model, ("jsc-sim",), weights, x, config, lambda w, k=(width, frac): integer(*k))
    bad += learned_widths(x)
    for model, least, of in (("toy_convnet", 40, 80), ("cnv", 2, 1600)):
        bad += pictures(model, rng, max(least, ROWS // of))
    sys.exit(1 if bad else 0)


def learned_widths(x):
    config = CONFIG + """
[passes.quantize.linear.config]
name = "hgq"
data_in_width = 7
data_in_axis = 1
weight_width = 6
weight_block_size = 1
bias_width = 6
bias_block_size = 1
"""
    with open("h.toml", "w", encoding="utf-8") as f:
        f.write(config)
    ch("train", "jsc-s", "jsc-sim", "--config", "h.toml", "--max-epochs", "1", "--max-steps", "400", "--learning-rate", "5e-3", "--ebops-weight", "1e-5", "--project", "hgq")
    return compare("learned", "jsc-s", ("jsc-sim",), "mase_output/hgq/software/training_ckpts/last.ckpt", x, config, learned)


def drawn_weights(model, rng):
    """Weights by chance; batch norms have statistics of their own, and scales of either sign."""
    weights = {}
    for path, kind, text in modules_of(model):
        sizes = [int(n) for n in re.findall(r"(?:in|out|num)_(?:features|channels)=(\d+)", text)]
        normal = lambda mean, spread, shape: rng.normal(mean, spread, shape).astype(np.float32)
        if kind.startswith("BatchNorm"):
            of = {"weight": normal(1, 0.7, sizes), "running_mean": normal(0, 0.3, sizes)}
            of["running_var"] = rng.uniform(0.2, 2, sizes).astype(np.float32)
            of["num_batches_tracked"] = np.array(1)
        elif kind in ("Linear", "Conv1d", "Conv2d"):
            kernel = numbers(text, "kernel_size", ()) if kind != "Linear" else ()
            shape = (sizes[1], sizes[0]) + kernel
            of = {"weight": normal(0, 1.5 / np.sqrt(np.prod(shape[1:])), shape)}
        else:
            continue
        of["bias"] = normal(0, 0.3, sizes[-1:])
        weights.update((path + "." + n, a) for n, a in of.items())
    return weights


def pictures(model, rng, rows):
    bad = 0
    np.savez("w0.npz", **drawn_weights(model, rng))
    x = rng.normal(0, 1, (rows, 3, 32, 32)).astype(np.float32)
    for width, frac in ((8, 4), (16, 8), (6, 3), (4, 2)):
        config = CONFIG + "".join(FIXED % ((kind,) + (width, frac) * 3) for kind in ("linear", "conv2d", "conv1d"))
        bad += compare("%d/%d" % (width, frac), model, ("cifar10",), "w0.npz", x, config, lambda w, k=(width, frac): integer(*k))
    return bad


main()
