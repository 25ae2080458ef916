"""random_networks.py - random networks with number formats, as nodes for integer_oracle.py and as files for ch.

Small ones, with what is rare elsewhere: values of one element, windows in the padding alone, groups, dilation,
constants that share a factor, layers whose weights are all zero.
"""
import os

import numpy as np

F32 = np.float32
KINDS = ("integer", "directions", "wide", "int", "zero_point", "channels", "by_values", "power", "lsq", "lsq_plus", "pact", "hgq",
         "binary", "ternary", "logicnets", "mixed")
TABLES = ("tanh", "sigmoid", "relu6", "hardtanh", "leaky_relu", "hardswish", "softsign")
MODULES = {"relu": "ReLU()", "tanh": "Tanh()", "sigmoid": "Sigmoid()", "relu6": "ReLU6()", "hardtanh": "Hardtanh()",
           "leaky_relu": "LeakyReLU(negative_slope=0.125)", "hardswish": "Hardswish()", "softsign": "Softsign()"}
PASSES = ("max_pool", "avg_pool", "mean", "cat")  # whose formats spend a bit on a sign where data may have one
KEEPS = PASSES + ("flatten", "reshape", "permute", "narrow")  # what pads may add any number


def tuple_text(t):
    return "(%s,)" % t[0] if len(t) == 1 else str(tuple(t))


def quantised(node):
    """The formats of a node as .mg says them."""
    if not node["formats"]:
        return ""
    said = {"name": next(iter(node["formats"].values()))["name"]}
    for operand in ("data_in",) + ("weight", "bias") * ("weight" in node) + ("data_out",):
        f = node["formats"].get(operand)
        if f is not None:
            said.update(("%s_%s" % (operand, k), v) for k, v in f.items() if k != "learned")
        elif operand != "data_out":
            said[operand + "_name"] = "NA"
    return " quantized {%s}" % ", ".join("%s: %r" % k for k in said.items())


class Network:
    def __init__(self, name, nodes, x):
        self.name, self.nodes, self.x = name, nodes, x

    def write(self, folder):
        """net.mg, w.npz and x.npy."""
        arrays = self.arrays()
        modules = ["module %s = %s%s" % (n["name"], n["module"], quantised(n)) for n in self.nodes if "module" in n]
        modules += ["attr %s = f32[%d] init unset" % (k, len(a)) for k, a in arrays.items() if "." in k and k.split(".")[1].startswith(("data_", "weight_", "bias_"))]
        lines = ["%%%s = placeholder[target=x]" % self.nodes[0]["name"]]
        for n in self.nodes[1:]:
            args = ", ".join("%" + i for i in n["inputs"])
            if n["op"] == "cat":
                args = "[%s]" % args
            call = "call_module[target=%s]" % n["name"] if "module" in n else n["call"]
            own = "" if "module" in n else quantised(n)
            lines.append("%%%s = %s(args = (%s%s), kwargs = {})%s" % (n["name"], call, args, n.get("args", "") or ",", own))
        with open(os.path.join(folder, "net.mg"), "w", encoding="utf-8") as f:
            f.write("mase-graph 1\nname %s\n\n%s\n\n%s\nreturn %%%s\n" % (self.name, "\n".join(modules), "\n".join(lines), self.nodes[-1]["name"]))
        np.savez(os.path.join(folder, "w.npz"), **arrays)
        np.save(os.path.join(folder, "x.npy"), self.x)

    def arrays(self):
        arrays = {}
        for n in self.nodes:
            for key in ("weight", "bias", "running_mean", "running_var"):
                if n.get(key) is not None:
                    arrays["%s.%s" % (n["name"], key)] = n[key]
            if n["op"] == "batch_norm":
                arrays[n["name"] + ".num_batches_tracked"] = np.array(1)
            for operand, f in n["formats"].items():
                for what, a in f.get("learned", {}).items():
                    arrays["%s.%s_%s" % (n["name"], operand, what)] = a
        return arrays


# ---- number formats ----


def scale_of(rng, size):
    """A step for numbers of this size; seldom a power of two."""
    s = float(F32(size * 2.0 ** rng.uniform(-1, 1)))
    return float(F32(2.0 ** np.round(np.log2(s)))) if rng.random() < 0.1 else s


def integer(rng, role, widths=(2, 9), name="integer", **more):
    width = int(rng.integers(*widths)) if role != "bias" else int(rng.integers(4, 17))
    frac = int(rng.integers(-1, width + 2)) if rng.random() < 0.2 else max(width - int(rng.integers(1, 5)), 0)
    return {"name": name, "width": width, "frac_width": frac, **more}


def directions(rng, role):
    if rng.random() < 0.4:
        return integer(rng, role, name="integer_floor")
    return integer(rng, role, name="fixed", rounding=str(rng.choice(["nearest_even", "nearest_away", "floor", "toward_zero"])))


def signed_of(rng, role):
    return None if rng.random() < 0.5 else bool(rng.random() < 0.8 or role != "data_in")


def ints(rng, role, shape, axis=None, zero=False, power=False):
    width = int(rng.integers(2, 9)) if role != "bias" else int(rng.integers(8, 17))
    f = {"name": "int", "width": width, "signed": signed_of(rng, role), "narrow": bool(rng.random() < 0.2), "axis": axis}
    size = {"data_in": 3, "data_out": 3, "weight": 1, "bias": 0.5}[role] / 2 ** (width - 1)
    draw = (lambda: float(2.0 ** np.round(np.log2(size) + rng.integers(-1, 2)))) if power else lambda: scale_of(rng, size)
    blocks = 1 if axis is None else shape[axis - (1 if role.startswith("data") else 0)]
    f["scale"] = draw() if blocks == 1 and (axis is None or rng.random() < 0.5) else [draw() for _ in range(blocks)]
    if isinstance(f["scale"], list) and role.startswith("data") and rng.random() < 0.6:
        f["scale"] = [float(F32(f["scale"][0] * 2.0 ** rng.integers(-1, 2))) for _ in f["scale"]]  # which sums can meet
    if zero:
        lo, hi = (0, 2**width - 1) if f["signed"] is False else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)
        point = lambda: int(rng.integers(lo, hi + 1)) if rng.random() < 0.95 else int(rng.integers(-300, 300))
        f["zero_point"] = [point() for _ in range(blocks)] if isinstance(f["scale"], list) else point()
    return f


def one_scale(f):
    """The same for all channels."""
    if "axis" in f:
        f["axis"] = None
    for key in ("scale", "zero_point"):
        if isinstance(f.get(key), list):
            f[key] = f[key][0]
    for what in f.get("learned", {}):
        f["learned"][what] = f["learned"][what][:1]


def by_values(rng, role):
    f = {"name": "int", "width": int(rng.integers(2, 9)), "axis": 0 if rng.random() < 0.6 else None, "symmetric": bool(rng.random() < 0.7),
         "narrow": bool(rng.random() < 0.2), "power_of_two": bool(rng.random() < 0.2)}
    return f


def learned(rng, name, role, shape):
    """Steps, bounds or bits as training might have left them."""
    width = int(rng.integers(2, 9)) if role != "bias" else int(rng.integers(6, 13))
    f = {"name": name, "width": width, "signed": signed_of(rng, role), "axis": None}
    data = role.startswith("data")
    blocks = 1
    if rng.random() < 0.4 and len(shape) >= 1 and role != "bias":
        f["axis"] = 1 if data else 0
        blocks = shape[0]
    size = {"data_in": 3, "data_out": 3, "weight": 1, "bias": 0.5}[role]
    draw = lambda low, high: rng.uniform(low, high, blocks).astype(F32)
    if name == "hgq":
        f["most"] = 13
        if rng.random() < 0.3 and not data:
            f.update(axis=None, block_size=1)
            blocks = int(np.prod(shape))
        whole = rng.integers(-2, 3, blocks)
        f["learned"] = {"frac_width": (rng.integers(-2, width, blocks) - whole + rng.uniform(-0.4, 0.4, blocks)).astype(F32),
                        "int_width": (whole + rng.uniform(-0.4, 0.4, blocks)).astype(F32)}
    elif name == "pact":
        f["learned"] = {"bound": draw(size / 2, size * 2)}
    else:
        f["learned"] = {"scale": draw(size / 2**width, size * 4 / 2**width)}
        if name == "lsq_plus":
            f["learned"]["offset"] = draw(-size / 3, size / 3)
    return f


def one_bit(rng, role):
    return {"name": "binary", "width": 1, "stochastic": False, "bipolar": True}


def three(rng, role):
    return {"name": "ternary", "width": 2, "scaling_factor": bool(rng.random() < 0.5), "mean": "NA", "median": "NA", "max": "NA"}


def draw_format(rng, kind, role, shape):
    """The format of an operand in a network of a kind; shape: of one sample, or of the constant."""
    if kind == "mixed":
        kind = str(rng.choice([k for k in KINDS if k not in ("mixed", "logicnets")]))
    if kind in ("integer", "logicnets") or kind in ("binary", "ternary") and role != "weight" and rng.random() < 0.8:
        return integer(rng, role)
    if kind == "directions":
        return directions(rng, role)
    if kind == "wide":
        return integer(rng, role, widths=(12, 25))
    if kind in ("int", "zero_point", "channels", "power", "by_values"):
        if kind == "by_values" and role == "weight":
            return by_values(rng, role)
        axis = None if kind != "channels" or rng.random() < 0.4 or role == "bias" else 1 if role.startswith("data") else 0
        return ints(rng, role, shape, axis, kind == "zero_point", kind == "power")
    if kind == "binary":
        return one_bit(rng, role)
    if kind == "ternary":
        return three(rng, role) if role == "weight" else integer(rng, role)
    return learned(rng, kind, role, shape)


# ---- constants ----


def weights(rng, shape):
    fan = max(int(np.prod(shape[1:])), 1)
    w = rng.normal(0, 1.5 / np.sqrt(fan), shape)
    how = rng.random()
    if how < 0.15:
        w = w * (rng.random(shape) < 0.4)
    elif how < 0.25:
        w = np.round(w * 4) * 0.1875
    elif how < 0.28:
        w = w * 0
    return (np.round(w * 256) / 256).astype(F32)  # sums of magnitudes are exact in float32, whatever their order


# ---- layers ----


class Drawing:
    def __init__(self, rng, kind, shape):
        self.rng, self.kind = rng, kind
        self.nodes = [{"name": "x", "op": "input", "inputs": [], "formats": {}, "shape_out": tuple(shape), "out_positive": False}]
        self.at = self.nodes[0]

    @property
    def shape(self):
        return self.at["shape_out"]

    def chance(self, p):
        return self.rng.random() < p

    def whole(self, lo, hi):
        return int(self.rng.integers(lo, hi + 1))

    def add(self, op, gives, inputs=None, formats=(), **more):
        """formats: which operands get one, by chance: (role, chance)."""
        n = {"name": "%s%d" % (op[0], len(self.nodes)), "op": op, "inputs": [i["name"] for i in inputs or [self.at]], "shape_out": tuple(int(s) for s in gives), **more}
        sources = inputs or [self.at]
        n["positive"] = all(i["out_positive"] for i in sources)
        n["passes"] = op in PASSES
        n["out_positive"] = op in ("relu", "relu6", "sigmoid") or op in KEEPS and n["positive"]
        n["formats"] = {}
        for role, chance in formats:
            if op in ("add", "cat") and self.kind not in ("integer", "directions", "wide", "power"):
                chance = max(chance, 0.85)  # of both one scale
            if self.chance(chance) or role == "data_in" and sources[0]["op"] == "input" and self.chance(0.8):
                about = n[role].shape if role in ("weight", "bias") else n["shape_out"] if role == "data_out" else sources[0]["shape_out"]
                f = n["formats"][role] = draw_format(self.rng, self.kind, role, about)
                if op == "cat":
                    one_scale(f)  # of each as many channels as it has
                if role == "data_in" and f.get("axis") == 1 and op in ("linear", "conv") and n.get("groups", 0) < about[0] and self.chance(0.85):
                    one_scale(f)  # sums meet one
        if self.kind == "logicnets" and "data_in" in n["formats"] and self.chance(0.7):
            n["formats"]["data_in"]["name"] = "logicnets"
        self.nodes.append(n)
        self.at = n

    # each: false where the shape has none

    def layer_formats(self, bias):
        f = [("data_in", 0.93), ("weight", 0.97)] + ([("bias", 0.75)] if bias else [])
        return f + [("data_out", 0.1)]

    def linear(self):
        shape = self.shape
        if shape[-1] > 300:
            return False
        out = self.whole(1, 5) if self.chance(0.9) else self.whole(16, 20)
        bias = self.chance(0.8)
        w = weights(self.rng, (out, shape[-1]))
        self.add("linear", shape[:-1] + (out,), formats=self.layer_formats(bias), weight=w, bias=self.rng.normal(0, 0.4, out).astype(F32) if bias else None,
                 module="Linear(in_features=%d, out_features=%d%s)" % (shape[-1], out, "" if bias else ", bias=False"))
        return True

    def window(self, most_padding, dilate):
        """Kernel, stride, padding, dilation and what comes out; None: nothing would."""
        size, n = self.shape[1:], len(self.shape) - 1
        kernel = [self.whole(1, 3) for _ in range(n)]
        stride = [self.whole(1, 3) for _ in range(n)]
        dilation = [2 if dilate and self.chance(0.2) else 1 for _ in range(n)]
        padding = [self.whole(0, most_padding(k)) for k in kernel]
        out = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, k, t, p, d in zip(size, kernel, stride, padding, dilation)]
        reach = all(s + 2 * p >= d * (k - 1) + 1 for s, k, p, d in zip(size, kernel, padding, dilation))
        return dict(kernel=kernel, stride=stride, padding=padding, dilation=dilation, out=out) if reach and min(out) > 0 and np.prod(out) <= 80 else None

    def conv(self):
        shape, n = self.shape, len(self.shape) - 1
        w = self.window(lambda k: 2, True) if n in (1, 2) else None
        if not w:
            return False
        groups = int(self.rng.choice([g for g in range(1, shape[0] + 1) if shape[0] % g == 0]))
        out = groups * self.whole(1, max(1, 4 // groups)) if self.chance(0.93) else groups * -(-18 // groups)
        bias = self.chance(0.8)
        out_shape = w.pop("out")
        text_of = ", ".join("%s=%s" % (k, tuple_text(w[j])) for k, j in (("kernel_size", "kernel"), ("stride",) * 2, ("padding",) * 2, ("dilation",) * 2))
        self.add("conv", [out] + out_shape, formats=self.layer_formats(bias), groups=groups, weight=weights(self.rng, (out, shape[0] // groups, *w["kernel"])),
                 bias=self.rng.normal(0, 0.4, out).astype(F32) if bias else None, **w,
                 module="Conv%dd(in_channels=%d, out_channels=%d, %s, groups=%d%s)" % (n, shape[0], out, text_of, groups, "" if bias else ", bias=False"))
        return True

    def pool(self, op, name):
        n = len(self.shape) - 1
        w = self.window(lambda k: k // 2, op == "max_pool") if n in (1, 2) else None
        if not w:
            return False
        w["ceil"] = self.chance(0.2)
        more = ", ceil_mode=%s" % w["ceil"]
        if op == "avg_pool":
            w["count_padding"] = self.chance(0.5)
            more += ", count_include_pad=%s" % w["count_padding"]
        else:
            more += ", dilation=%s" % tuple_text(w["dilation"])
        out = w.pop("out")
        if w["ceil"]:
            for d, size in enumerate(self.shape[1:]):
                reach, s, p = w["dilation"][d] * (w["kernel"][d] - 1) + 1, w["stride"][d], w["padding"][d]
                out[d] = (size + 2 * p - reach + s - 1) // s + 1
                out[d] -= (out[d] - 1) * s >= size + p
        text_of = ", ".join("%s=%s" % (k, tuple_text(w[j])) for k, j in (("kernel_size", "kernel"), ("stride",) * 2, ("padding",) * 2))
        self.add(op, [self.shape[0]] + out, formats=[("data_in", 0.4), ("data_out", 0.3 if op == "avg_pool" else 0.1)], **w,
                 module="%s%dd(%s%s)" % (name, n, text_of, more))
        return True

    def max_pool(self):
        return self.pool("max_pool", "MaxPool")

    def avg_pool(self):
        return self.pool("avg_pool", "AvgPool")

    def adaptive(self):
        n = len(self.shape) - 1
        if n not in (1, 2):
            return False
        out = [self.whole(1, min(s, 3)) for s in self.shape[1:]]
        self.add("avg_pool", [self.shape[0]] + out, formats=[("data_in", 0.4), ("data_out", 0.3)], output_size=out,
                 module="AdaptiveAvgPool%dd(output_size=%s)" % (n, tuple_text(out)))
        return True

    def mean(self):
        if len(self.shape) < 2:
            return False
        last = self.whole(1, len(self.shape) - 1)
        dims = tuple(range(-last, 0))
        self.add("mean", self.shape[:-last], formats=[("data_in", 0.4), ("data_out", 0.3)], last=last, call="call_function[target=torch.mean]",
                 args=", %s" % (dims,) if last > 1 else ", -1")
        return True

    def batch_norm(self):
        if len(self.shape) > 3:
            return False
        c = self.shape[0]
        normal = lambda m, s: self.rng.normal(m, s, c).astype(F32)
        self.add("batch_norm", self.shape, weight=normal(1, 0.7), bias=normal(0, 0.3), running_mean=normal(0, 0.3), running_var=self.rng.uniform(0.2, 2, c).astype(F32),
                 module="BatchNorm%dd(num_features=%d)" % (2 if len(self.shape) == 3 else 1, c))
        return True

    def relu(self):
        self.add("relu", self.shape, formats=[("data_in", 0.4), ("data_out", 0.15)], **self.called("relu", "torch.relu"))
        return True

    def called(self, op, function):
        return {"module": MODULES[op]} if self.chance(0.6) else {"call": "call_function[target=%s]" % function}

    def table(self):
        op = str(self.rng.choice(TABLES))
        self.add(op, self.shape, formats=[("data_in", 0.9), ("data_out", 0.5)], module=MODULES[op])
        return True

    def sum(self):
        others = [n for n in self.nodes[1:] if n["shape_out"] == self.shape and n is not self.at]
        if not others:
            return False
        self.add("add", self.shape, inputs=[self.at, others[self.whole(0, len(others) - 1)]][:: 1 if self.chance(0.5) else -1],
                 formats=[("data_in", 0.4), ("data_out", 0.15)], call="call_function[target=operator.add]")
        return True

    def branch(self):
        """A layer beside what is there, and their sum."""
        before, bias = self.at, self.chance(0.8)
        shape = self.shape
        if len(shape) == 1:
            w = weights(self.rng, (shape[0], shape[0]))
            self.add("linear", shape, formats=self.layer_formats(bias), weight=w, bias=self.rng.normal(0, 0.4, shape[0]).astype(F32) if bias else None,
                     module="Linear(in_features=%d, out_features=%d%s)" % (shape[0], shape[0], "" if bias else ", bias=False"))
        elif len(shape) in (2, 3):
            n = len(shape) - 1
            k = int(self.rng.choice([1, 3]))
            self.add("conv", shape, formats=self.layer_formats(bias), groups=1, weight=weights(self.rng, (shape[0], shape[0]) + (k,) * n),
                     bias=self.rng.normal(0, 0.4, shape[0]).astype(F32) if bias else None, kernel=[k] * n, stride=[1] * n, padding=[k // 2] * n, dilation=[1] * n,
                     module="Conv%dd(in_channels=%d, out_channels=%d, kernel_size=%s, padding=%s%s)"
                     % (n, shape[0], shape[0], tuple_text([k] * n), tuple_text([k // 2] * n), "" if bias else ", bias=False"))
        else:
            return False
        if before["op"] != "input":
            self.add("add", shape, inputs=[self.at, before], formats=[("data_in", 0.4), ("data_out", 0.15)], call="call_function[target=operator.add]")
        return True

    def cat(self):
        others = [n for n in self.nodes[1:] if len(n["shape_out"]) == len(self.shape) and n["shape_out"][1:] == self.shape[1:]]
        if not others:
            return False
        inputs = [self.at, others[self.whole(0, len(others) - 1)]]
        self.add("cat", (sum(i["shape_out"][0] for i in inputs),) + self.shape[1:], inputs=inputs, formats=[("data_in", 0.3)], call="call_function[target=torch.cat]", args=", 1")
        return True

    def layout(self):
        shape = self.shape
        how = self.rng.choice(["flatten", "reshape", "permute", "pad", "narrow"])
        if how == "flatten":
            self.add("flatten", [np.prod(shape)], call="call_function[target=torch.flatten]", args=", 1")
        elif how == "reshape":
            to = [int(np.prod(shape))] if len(shape) > 1 and self.chance(0.5) else [shape[0], int(np.prod(shape[1:]))] if len(shape) > 2 else [1] + list(shape)
            self.add("reshape", to, shape=to, call="call_method[target=reshape]", args=", -1, " + ", ".join(map(str, to)))
        elif how == "permute" and len(shape) > 1:
            order = [int(k) for k in self.rng.permutation(len(shape))]
            self.add("permute", [shape[k] for k in order], order=order, call="call_method[target=permute]", args=", 0, " + ", ".join(str(k + 1) for k in order))
        elif how == "pad":
            pad = (self.whole(0, 2), self.whole(0, 1))
            self.add("pad", shape[:-1] + (shape[-1] + sum(pad),), pad=pad, call="call_function[target=torch.nn.functional.pad]", args=", %s" % (pad,))
        elif how == "narrow":
            d = self.whole(0, len(shape) - 1)
            length = self.whole(1, shape[d])
            start = self.whole(0, shape[d] - length)
            self.add("narrow", shape[:d] + (length,) + shape[d + 1 :], dim=d, start=start, length=length, call="call_method[target=narrow]",
                     args=", %d, %d, %d" % (d + 1, start, length))
        else:
            return False
        return True


STEPS = (("linear", 14), ("conv", 24), ("max_pool", 6), ("avg_pool", 6), ("adaptive", 4), ("mean", 3), ("batch_norm", 7), ("relu", 18),
         ("table", 4), ("sum", 9), ("branch", 9), ("cat", 3), ("layout", 9))


def draw_samples(rng, shape):
    rows = 12
    x = rng.normal(0, 2, (rows,) + shape).astype(F32)
    x[-4:] = rng.integers(-100, 100, (4,) + shape).astype(F32) / 32  # ties
    flat = x.reshape(rows, -1)
    flat[0, rng.integers(flat.shape[1])] = rng.choice([0.0, -0.0, 1e-45, 3e38, -3e38, 1e-20, 100.5])
    return x


def draw(rng, kind, name):
    """A network of a kind."""
    form = rng.random()
    small = lambda most: int(rng.choice([1, 2, rng.integers(1, most + 1)]))
    shape = (small(4), small(7), small(7)) if form < 0.45 else (small(4), small(9)) if form < 0.65 else (small(12),)
    d = Drawing(rng, kind, shape)
    names, chances = zip(*STEPS)
    chances = np.array(chances) / sum(chances)
    wanted = int(rng.integers(2, 9))
    if len(shape) == 1:
        d.linear()
    elif rng.random() < 0.8:
        d.conv()
    for _ in range(60):
        if len(d.nodes) > wanted:
            break
        getattr(d, str(rng.choice(names, p=chances)))()
        if np.prod(d.shape) > 250:
            break
    if rng.random() < 0.5 or not any("weight" in n for n in d.nodes):
        if len(d.shape) > 1:
            d.add("flatten", [np.prod(d.shape)], call="call_function[target=torch.flatten]", args=", 1")
        d.linear()
    return Network(name, d.nodes, draw_samples(rng, shape))
