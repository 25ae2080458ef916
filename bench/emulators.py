"""emulators.py - alkaid and da4ml beside ours: the network of a file of weights, in their arrays.

    emulators.py alkaid|da4ml fixed|learned WEIGHTS.npz X.npy Y.npy

Answers one line for each line of standard input: `rate`, samples a second of the emulator, one thread; `different`, how
many rows of its outputs are not those of Y.npy, which ours computed. fixed: every operand has 6 bits, as bench/emulate trains it, data rounded down;
learned: bits for each weight and each feature of the data, as the file has them. Samples go in as the first layer
rounds them, since the emulators take fixed-point numbers alone.
"""
import re
import sys
import time
from importlib.metadata import version

import numpy as np

TOOL, KIND = sys.argv[1:3]
if TOOL == "alkaid":
    from alkaid.trace import FVArrayInput as Input
    from alkaid.trace import trace
    from alkaid.trace.ops import quantize
else:
    from da4ml.trace import FixedVariableArrayInput as Input
    from da4ml.trace import comb_trace as trace
    from da4ml.trace.ops import quantize


class Fixed:
    """6 bits: data with 3 behind the point, weights and biases with 4."""

    def __init__(self, _weights):
        pass

    def data(self, n, signed):
        return np.full(n, int(signed)), np.full(n, 2), np.full(n, 3)

    overflow, rounding = "SAT", "TRN"

    def constant(self, _name, x):
        return np.clip(np.rint(x * 16.0), -32, 31) / 16


class Learned:
    """Bits by training; what is symmetric saturates so."""

    def __init__(self, weights):
        self.w = weights

    def bits(self, name):
        frac = np.rint(self.w[name + "_frac_width"].astype(np.float64)).astype(np.int64)
        return frac, frac + np.rint(self.w[name + "_int_width"].astype(np.float64)).astype(np.int64)

    def data(self, n, signed):
        frac, bits = (np.broadcast_to(b, (n,)) for b in self.bits("data_in"))
        return np.where(bits > 0, int(signed), 0), np.where(bits > 0, bits - frac, 0), np.where(bits > 0, frac, 0)

    overflow, rounding = "SAT_SYM", "RND_CONV"

    def constant(self, name, x):
        frac, bits = (b.reshape(x.shape) for b in self.bits(name))
        most = np.where(bits > 0, 2.0**bits - 1, 0)
        return np.clip(np.rint(x.astype(np.float64) * 2.0**frac), -most, most) / 2.0**frac


def on_grid(x, form, k, i, f):
    scaled = x.astype(np.float64) * 2.0**f
    code = np.floor(scaled) if form.rounding == "TRN" else np.rint(scaled)
    high = 2.0 ** (i + f) - 1
    low = -high if form.overflow == "SAT_SYM" else -(2.0 ** (i + f))
    return np.clip(code, low * k, np.where(k + i + f > 0, high, 0)) / 2.0**f


def main():
    stored = {re.sub(r"^model\.", "", n): a for n, a in np.load(sys.argv[3]).items()}
    layers = sorted({n.rsplit(".", 1)[0] for n in stored if n.endswith(".weight")}, key=lambda n: int(re.findall(r"\d+", n)[-1]))
    x, want = np.load(sys.argv[4]), np.load(sys.argv[5])
    given = value = Input(x.shape[1])
    for number, path in enumerate(layers):
        w = {n[len(path) + 1 :]: a for n, a in stored.items() if n.startswith(path + ".")}
        form = (Fixed if KIND == "fixed" else Learned)(w)
        kif = form.data(w["weight"].shape[1], number == 0)
        if number == 0:
            x = on_grid(x, form, *kif)
            value = value.quantize(*kif)
        else:
            value = quantize(np.maximum(value, 0), *kif, form.overflow, form.rounding)
        value = value @ form.constant("weight", w["weight"]).T + form.constant("bias", w["bias"])
    logic = trace(given, value)

    def run():
        return np.asarray(logic.predict(x, n_threads=1)).reshape(want.shape).astype(np.float32)

    print(TOOL, version(TOOL), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        got = run()
        taken = time.perf_counter() - start
        print(round(len(x) / taken) if line.strip() == "rate" else int((got != want).any(axis=1).sum()), flush=True)


main()
