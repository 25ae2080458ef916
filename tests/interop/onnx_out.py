"""Networks written as ONNX: onnx's checker, ONNX Runtime's outputs beside ours, and read again.

    onnx_out.py CH [ROWS]

Float networks agree to 1e-5 of the largest output. Quantised ones, as QuantizeLinear and
DequantizeLinear, are computed by ONNX Runtime in integers where it can: those equal ch predict
--engine int to the bit.
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as e:
    print("%s is not installed: skipped" % e.name)
    sys.exit(77)

CH = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
faults = []


def ch(*words):
    run = subprocess.run([CH, *words], capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit("ch %s: %s" % (" ".join(words), run.stderr))


def outputs(path, x):
    """By ONNX Runtime, after the checker; and the operations that it really ran."""
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = "optimised.onnx"
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    y = session.run(None, {session.get_inputs()[0].name: x})[0]
    return y, [n.op_type for n in onnx.load("optimised.onnx").graph.node]


def ours(model, x, *words):
    np.save("x.npy", x)
    ch("predict", *model, "--input", "x.npy", "--output", "y.npy", "--project", "p", *words)
    return np.load("y.npy")


def check(what, holds, told):
    print("%-52s %s%s" % (what, told, "" if holds else "   WRONG"), flush=True)
    if not holds:
        faults.append(what)


def near(what, a, b, bound=1e-5):
    size = max(1.0, float(np.abs(b).max()))
    off = float(np.abs(a - b.reshape(a.shape)).max()) / size
    check(what, off <= bound, "%.1e" % off)


def equal(what, a, b):
    different = int((a != b.reshape(a.shape)).sum())
    check(what, different == 0, "%d of %d differ" % (different, a.size))


NETWORKS = """
import torch
from torch import nn
import torch.nn.functional as F

class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.n = nn.BatchNorm2d(8)
        self.b = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=4)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.mean = nn.AvgPool2d(2, padding=1, count_include_pad=False)
        self.fc = nn.Linear(8 * 3 * 3, 5)
    def forward(self, x):
        x = F.leaky_relu(self.n(self.a(x)), 0.2)
        x = torch.cat([x, F.silu(self.b(x))], 1)[:, :8] if False else x + F.silu(self.b(x))
        x = self.mean(self.pool(x))
        return F.log_softmax(self.fc(torch.flatten(x, 1)), dim=-1)

class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.up = nn.Linear(6, 12)
        self.down = nn.Linear(12, 6, bias=False)
    def forward(self, x):
        y = self.down(F.gelu(self.up(self.norm(x))))
        z = torch.cat([x + y, x * 0.5 - 1.0], dim=-1).permute(0, 2, 1)
        return torch.sigmoid(z).mean(dim=2) + F.hardtanh(z).amax(2) - F.elu(z, 0.3).sum((-1,))

class Sequence(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv1d(3, 4, 3, padding=1)
        self.p = nn.AdaptiveAvgPool1d(1)
    def forward(self, x):
        return self.p(F.relu6(self.c(x)) ** 2).squeeze(-1) / 3
"""


def float_networks(rng):
    with open("nets.py", "w", encoding="utf-8") as f:
        f.write(NETWORKS)
    for name, shape in (("Residual", (3, 16, 16)), ("Tokens", (4, 6)), ("Sequence", (3, 9))):
        model = "nets.py:" + name
        words = ("--input-shape", ",".join(map(str, shape)), "--seed", "5")
        ch("convert", model, name.lower(), *words)
        ch("convert", name.lower(), name + ".onnx", *words)
        x = rng.normal(0, 1, (33,) + shape).astype(np.float32)
        y, _ = outputs(name + ".onnx", x)
        near(name, y, ours((model, "--load", name.lower()), x, *words))
        near(name + ", read again", y, ours((name + ".onnx",), x))
    for name in ("toy_convnet", "cnv", "vgg7"):
        ch("convert", name, "zoo_" + name, "--seed", "2")
        ch("convert", "zoo_" + name, name + ".onnx")
        x = rng.normal(0, 1, (3, 3, 32, 32)).astype(np.float32)
        y, _ = outputs(name + ".onnx", x)
        near(name, y, ours((name, "cifar10", "--load", "zoo_" + name), x))


MLP = """
[model]
name = "MLP"
layers = ["Linear(16, 64)", "ReLU()", "Linear(64, 32)", "ReLU()", "Linear(32, 32)", "ReLU()", "Linear(32, 5)"]
"""
QUANTISED = """
[passes.quantize]
by = "type"
default.config.name = "NA"
[passes.quantize.linear.config]
name = "%s"
"""


def quantised(name, rows, kind, x, exact, fused):
    """A short training in these formats, written, and computed by both."""
    with open(name + ".toml", "w", encoding="utf-8") as f:
        f.write(MLP + QUANTISED % kind + "\n".join("%s = %s" % r for r in rows.items()) + "\n")
    ch("train", "--config", name + ".toml", "--dataset", "jsc-sim", "--load", "mase_output/float", "--max-epochs", "1",
       "--max-steps", "150", "--learning-rate", "1e-4", "--project", name)
    run = "mase_output/" + name
    ch("convert", run, name + ".onnx")
    y, operations = outputs(name + ".onnx", x)
    integers = ours((run, "jsc-sim", "--load", run), x, "--engine", "int")
    if exact:
        equal(name + ", in integers", y, integers)
    else:
        near(name + ", in integers", y, integers, 1e-6)
    check(name + ", fused", operations.count("QGemm") == fused, "%d of 4 layers" % operations.count("QGemm"))


def quantised_networks(rng):
    x = rng.normal(0, 1, (ROWS, 16)).astype(np.float32)
    with open("float.toml", "w", encoding="utf-8") as f:
        f.write(MLP)
    ch("train", "--config", "float.toml", "--dataset", "jsc-sim", "--max-epochs", "1", "--max-steps", "400", "--learning-rate", "1e-3",
       "--project", "float")
    fixed = lambda w, f: dict((o + "_" + k, v) for o in ("data_in", "weight", "bias") for k, v in (("width", w), ("frac_width", f)))
    lsq = {"data_in_width": 8, "weight_width": 8, "weight_axis": 0, "bias_name": '"NA"'}
    quantised("lsq8", lsq, "lsq", x, True, 4)
    quantised("lsq8_tensor", {k: v for k, v in lsq.items() if k != "weight_axis"}, "lsq", x, True, 4)
    quantised("lsq4", dict(lsq, data_in_width=4, weight_width=4), "lsq", x, False, 1)
    quantised("fixed8", fixed(8, 4), "integer", x, True, 1)
    quantised("fixed6", fixed(6, 3), "integer", x, True, 1)
    quantised("fixed16", fixed(16, 8), "integer", x, False, 0)


def deployable(rng):
    """jsc-s, whose batch norms are folded, in 8 bits whose weights use all of them: pairs of products that do not fit 16 bits are right, too."""
    with open("fold.toml", "w", encoding="utf-8") as f:
        f.write("[passes.fold_batch_norm]\n")
    with open("eight.toml", "w", encoding="utf-8") as f:
        f.write(QUANTISED % "int" + "data_in_width = 8\ndata_in_scale = 'auto'\nweight_width = 8\nweight_scale = 'auto'\nweight_axis = 0\n"
                "bias_name = 'NA'\n")
    ch("train", "jsc-s", "jsc-sim", "--max-epochs", "1", "--max-steps", "100", "--learning-rate", "1e-2", "--project", "jscs")
    ch("transform", "jsc-s", "jsc-sim", "--config", "fold.toml", "--load", "mase_output/jscs", "--project", "folded")
    folded = "mase_output/folded/software/transform/transformed_ckpt"
    ch("calibrate", folded, "jsc-sim", "--load", folded, "--config", "eight.toml", "--output", "eight")
    ch("convert", "eight/network", "eight.onnx")
    ch("data", "export", "jsc-sim", "jets.npz")
    x = np.concatenate([np.load("jets.npz")["x_test"][:ROWS], rng.normal(0, 9, (ROWS, 16)).astype(np.float32)])
    y, operations = outputs("eight.onnx", x)
    equal("jsc-s in 8 bits, in integers", y, ours(("eight/network", "--load", "eight/network"), x, "--engine", "int"))
    equal("jsc-s in 8 bits, read again", y, ours(("eight.onnx",), x, "--engine", "int"))
    check("jsc-s in 8 bits, fused", operations.count("QGemm") == 5, "%d of 5 layers" % operations.count("QGemm"))
    wide = sum(t.name.endswith("weight_codes") and t.data_type == onnx.TensorProto.UINT8 for t in onnx.load("eight.onnx").graph.initializer)
    check("jsc-s in 8 bits, nothing saturates", wide == 5, "%d of 5 weights are unsigned" % wide)


os.chdir(tempfile.mkdtemp())
generator = np.random.default_rng(1)
float_networks(generator)
quantised_networks(generator)
deployable(generator)
if faults:
    sys.exit("wrong: " + ", ".join(faults))
