"""Emitted C: what ch emit c writes, compiled, against ch predict, bit for bit.

    emitted.py CH [ROWS] [all]

Each network is compiled as the strictest C99 and gets samples by chance and some at the edges: ties,
zeros of either sign, infinities, tiny and huge ones. Quantised networks must give the bits of
--engine int; floats the engine's numbers but for the order of sums. all: every network in every
format, by gcc and clang in turns, at -O0, -Os and -O3, as tables and unrolled, with codes, and under
the sanitizers.
"""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("numpy is not installed: skipped")
    sys.exit(77)

CH = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 300
ALL = "all" in sys.argv
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-ffreestanding"]
CC = [c for c in ("gcc", "clang") if shutil.which(c)]
with open("/proc/cpuinfo", encoding="utf-8") as cpus:
    AVX2 = ["-O2 -mavx2"] if " avx2 " in cpus.read() else []
if not CC:
    print("no C compiler: skipped")
    sys.exit(77)

NETWORKS = '''
import torch
from torch import nn

class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 31), nn.ReLU(), nn.Linear(31, 20), nn.ReLU(), nn.Linear(20, 5))
    def forward(self, x):
        return self.net(x)

class Curves(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(16, 9), nn.Linear(9, 7), nn.Linear(7, 3)
    def forward(self, x):
        return self.c(torch.sigmoid(self.b(torch.tanh(self.a(x)))))

class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.wide = nn.Conv2d(6, 6, (3, 2), stride=(1, 1), padding=(2, 1), dilation=(2, 2), groups=3, bias=False)
        self.deep = nn.Conv2d(6, 6, 3, padding=1, groups=6)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.last = nn.Linear(6, 4)
    def forward(self, x):
        x = torch.relu(self.norm(self.first(x)))
        x = torch.relu(self.wide(x))
        x = self.pool(torch.relu(self.deep(x)))
        return self.last(x.mean((2, 3)))

class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 36, 3, groups=2)
        self.second = nn.Conv2d(36, 34, (1, 2), stride=2, groups=2)
        self.last = nn.Linear(34, 17)
    def forward(self, x):
        x = torch.relu(self.second(torch.relu(self.first(x))))
        return self.last(torch.flatten(nn.functional.max_pool2d(x, 2), 1))

class Add(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 4)
    def forward(self, x):
        x = torch.relu(self.a(x))
        return self.c(torch.relu(self.b(x)) + x)

class Rows(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 6)
        self.conv = nn.Conv1d(6, 5, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm1d(5)
        self.b = nn.Linear(10, 3)
    def forward(self, x):
        x = torch.relu(self.a(x)).transpose(1, 2)
        x = torch.relu(self.norm(self.conv(x)))
        x = nn.functional.adaptive_avg_pool1d(x, 2)
        return self.b(torch.flatten(x, 1))
'''

SHAPES = {"Layers": (16,), "Curves": (16,), "Residual": (3, 8, 7), "Wide": (2, 6, 6), "Add": (16,), "Rows": (8, 4)}
KINDS = ("linear", "conv1d", "conv2d", "relu", "tanh", "sigmoid", "add", "adaptive_avg_pool1d", "max_pool2d", "mean")


def fixed(width, frac, name="integer", more=""):
    operand = lambda o: "%s_width = %d\n%s_frac_width = %d\n%s" % (o, width, o, frac, more.replace("OPERAND", o))
    return lambda kind: 'name = "%s"\n' % name + "".join(operand(o) for o in ("data_in", "weight", "bias") if o == "data_in" or kind in ("linear", "conv1d", "conv2d"))


def scaled(kind):
    text = 'name = "int"\ndata_in_width = 8\ndata_in_scale = 0.0371\n'
    if kind in ("linear", "conv1d", "conv2d"):
        text += "weight_width = 6\nweight_scale = 0.0513\nbias_width = 16\nbias_scale = 0.0019\n"
    return text


def mixed(weight):
    def of(kind):
        text = 'name = "integer"\ndata_in_width = 6\ndata_in_frac_width = 3\n'
        if kind in ("linear", "conv1d", "conv2d"):
            text += weight + 'bias_name = "integer"\nbias_width = 8\nbias_frac_width = 4\n'
        return text

    return of


FORMATS = {
    "8/4": fixed(8, 4),
    "16/8": fixed(16, 8),
    "4/2": fixed(4, 2),
    "20/14": fixed(20, 14),
    "5/-1": fixed(5, -1),
    "floor": fixed(7, 3, "integer_floor"),
    "away": fixed(7, 3, "fixed", 'OPERAND_rounding = "nearest_away"\n'),
    "to zero": fixed(7, 3, "fixed", 'OPERAND_rounding = "toward_zero"\n'),
    "scaled": scaled,
    "binary": mixed('weight_name = "binary"\nweight_width = 1\nweight_bipolar = true\nweight_stochastic = false\n'),
    "ternary": mixed('weight_name = "ternary"\nweight_width = 2\nweight_scaling_factor = false\nweight_mean = "NA"\nweight_median = "NA"\nweight_max = "NA"\n'),
}
USUAL = (("Layers", "8/4"), ("Residual", "scaled"), ("Wide", "8/4"), ("Curves", "8/4"), ("Residual", None))
FORMATS["6/3"] = fixed(6, 3)


def ch(*words):
    run = subprocess.run([CH, *words], capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


def must(*words):
    status, out, err = ch(*words)
    if status:
        sys.exit("ch %s: %s" % (" ".join(words), err))
    return out


def samples(shape, rng):
    x = rng.normal(0, 2, (ROWS,) + shape).astype(np.float32)
    edge = [0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 3e38, -3e38, 1e-20, 0.5 / 16, -0.5 / 16, 1.5 / 16, 2.5 / 16, 127.5 / 16, -128.5 / 16]
    flat = x.reshape(ROWS, -1)
    for row, value in enumerate(edge[: ROWS // 2]):
        flat[row, rng.integers(0, flat.shape[1], 3)] = value
    ties = ROWS // 4
    flat[-ties:] = rng.integers(-300, 300, (ties, flat.shape[1])).astype(np.float32) / 32
    return x


def draw_weights(model, shape, rng):
    """Weights by chance under the network's own names; batch norms of either sign."""
    must("convert", model, "initial", "--input-shape", shape, "--force")
    must("convert", "initial", "initial.npz", "--force")
    weights = {}
    for name, w in np.load("initial.npz").items():
        if name.endswith("running_var"):
            w = rng.uniform(0.2, 2, w.shape)
        elif w.dtype.kind == "f":
            w = rng.normal(0, 0.4 if w.ndim == 1 else 1.5 / np.sqrt(np.prod(w.shape[1:])), w.shape)
        weights[name] = w.astype(np.float32) if w.dtype.kind == "f" else w
    np.savez("w.npz", **weights)


def emit(model, shape, config, *options):
    words = ["--config", config] if config else []
    status, out, err = ch("emit", "c", model, "--input-shape", shape, "--load", "w.npz", "--output", "net", "--json", "--vectors", "5", *words, *options)
    if status and ": no C: " not in err:
        sys.exit(err)
    return None if status else json.loads(out)


def run(cc, flags, name, x, outputs):
    command = [cc, *STRICT, *flags, "-shared", "-fPIC", "net/net.c", "-o", "net/net.so"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("%s\n%s" % (" ".join(command), done.stderr))
    copy = tempfile.mktemp(suffix=".so", dir="net")
    os.rename("net/net.so", copy)
    function = getattr(ctypes.CDLL(os.path.abspath(copy)), name + "_batch")
    y = np.zeros((len(x), outputs), dtype=np.float32)
    function(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(x)))
    return y


def test_program(cc, flags):
    """net_test.c, which prints what is wrong and fails with it."""
    command = [cc, *STRICT[:-1], *flags, "net/net.c", "net/net_test.c", "-o", "net/net_test"]
    subprocess.run(command, check=True)
    done = subprocess.run(["net/net_test"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def builds(case):
    """Two of the compilers and options, others for each case, so that all have their turn."""
    every = [(c, o) for o in ("-O0", "-O3 -march=native", "-Os", "-O2 -U__SSE2__", "-O3", *AVX2) for c in CC]
    return [every[(case + k) % len(every)] for k in (0, 3)] if ALL else [(CC[0], "-O1")]


def compare(case, network, format_name, rng):
    model, shape = "nets.py:" + network, ",".join(str(n) for n in SHAPES[network])
    config = None
    if format_name:
        config = "c.toml"
        with open(config, "w", encoding="utf-8") as f:
            f.write('[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\n')
            for kind in KINDS:
                f.write("[passes.quantize.%s.config]\n%s" % (kind, FORMATS[format_name](kind)))
    draw_weights(model, shape, rng)
    x = samples(SHAPES[network], rng)
    if not format_name:
        x = np.clip(np.nan_to_num(x), -10, 10)
    np.save("x.npy", x)
    words = ["--config", config, "--engine", "int"] if config else []
    status, _, err = ch("predict", model, "--input-shape", shape, "--load", "w.npz", "--input", "x.npy", "--output", "y.npy", "--project", "p", *words)
    if status:
        print("%-9s %-8s refused by the engine: %s" % (network, format_name, [line for line in err.splitlines() if ": " in line][-1]), flush=True)
        return 0
    want = np.load("y.npy").reshape(len(x), -1)
    bad = 0
    for style in ("tables", "unrolled") if ALL else ("tables",):
        about = emit(model, shape, config, "--style", style)
        if not about:
            print("%-9s %-8s refused" % (network, format_name or "float"), flush=True)
            return bad
        for cc, flags in builds(case):
            got = run(cc, flags.split(), about["function"], x.reshape(len(x), -1), want.shape[1])
            if config:
                different = int((want.view(np.int32) != got.view(np.int32)).sum())
            else:
                different = int((np.abs(want - got) > 1e-5 * (1 + np.abs(want))).sum())
            bad += different
            if different:
                print("%s %s %s %s %s: %d different" % (network, format_name, style, cc, flags, different))
        if not ALL:
            continue
        status, text = test_program(CC[-1], ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
        if status or not text.startswith("0 of "):
            print("net_test: %s" % text)
            bad += 1
    if ALL and config:
        given = emit(model, shape, config, "--codes")
        status, text = test_program(CC[0], ["-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"])
        if status or not given:
            print("codes: %s" % text)
            bad += 1
    print("%-9s %-8s %6d samples, %7d outputs, %d different" % (network, format_name or "float", len(x), want.size, bad), flush=True)
    return bad


def main():
    os.chdir(tempfile.mkdtemp())
    with open("nets.py", "w", encoding="utf-8") as f:
        f.write(NETWORKS)
    rng = np.random.default_rng(3)
    cases = [(n, f) for n in SHAPES for f in list(FORMATS) + [None]] if ALL else USUAL
    bad = sum(compare(case, network, format_name, rng) for case, (network, format_name) in enumerate(cases))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
