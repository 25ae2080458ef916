"""random_source.py - sources of random networks, written a statement at a time: each is tried by PyTorch with a small
batch, so that shapes and element types need no rules here. What random_modules.py compares."""
import contextlib
import random
import re

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

ROWS = 7  # of the batch that statements are tried with: no other size is this
LARGEST = 600  # values of a tensor, for each sample
HEAD = """import torch
from torch import nn
import torch.nn.functional as F

"""
MAKERS = []  # (kind, weight, function)
SELDOM = ("numel", "double", "half()", "bfloat16", "hstack", "dist(", "logit", "positive", "= +", "return +", "rsub", "rot90",
    "float_power", "tensor_split",
          "slice_scatter", "select_scatter", "index_copy", "index_fill", "take_along_dim", ".diff", "torch.diff", "cummax", "cummin",
          "kthvalue", "renorm", "msort")
PLAIN = ("layer", "view", "operator", "parameter", "buffer", "subclass", "function")  # ONNX has more of these


def makes(kind, weight=1.0):
    """A function that returns the text of an expression, or None where there is nothing to make it of."""
    def keep(function):
        MAKERS.append((kind, weight, function))
        return function
    return keep


class Nothing(Exception):
    """There is no value of that sort."""


@contextlib.contextmanager
def no_ties():
    """The order of equal values, which PyTorch leaves open, is an error."""
    kept = [(holder, name, getattr(holder, name)) for holder in (torch, torch.Tensor) for name in ("argsort", "sort", "topk", "kthvalue", "median", "msort")
            if hasattr(holder, name)]

    def strict(function):
        def checked(t, *args, **kwargs):
            t_ = kwargs.get("input", t).detach()
            for d in range(min(1, t_.dim() - 1), t_.dim()):
                ordered = plain_sort(t_, d)[0]
                if (ordered.narrow(d, 1, ordered.shape[d] - 1) == ordered.narrow(d, 0, ordered.shape[d] - 1)).any():
                    raise Nothing("equal values are put in order")
            return function(t, *args, **kwargs)
        return checked

    plain_sort = torch.sort
    for holder, name, function in kept:
        setattr(holder, name, strict(function))
    try:
        yield
    finally:
        for holder, name, function in kept:
            setattr(holder, name, function)


def samples(rng, n, shape, exact):
    """Normal numbers, or multiples of 1/2, many of which lie on the edges of functions."""
    values = rng.normal(size=(n, *shape))
    return (np.clip(np.round(values * 2), -4, 4) / 2 if exact else values).astype("f4")


class Source:
    def __init__(self, seed, kinds=None):
        self.rng = random.Random(seed)
        self.classes, self.init, self.body = [], [], []
        self.results, self.values, self.inputs, self.kinds = "", {}, {}, set()
        self.net = nn.Module()
        self.count = 0
        self.pending = []  # lines of the constructor that a statement needs
        self.draws = False  # in training
        self.wanted = kinds or (PLAIN if self.rng.random() < 0.15 else None)
        self.exact = self.rng.random() < 0.25

    # ---- what makers ask for ----

    def one(self, *choices):
        return self.rng.choice(choices)

    def number(self, low=-2.0, high=2.0):
        return round(self.rng.uniform(low, high), 2)

    def pick(self, holds=lambda t: True):
        """A value's name; the newest are the likeliest."""
        names = [n for n, t in self.values.items() if isinstance(t, torch.Tensor) and holds(t)]
        if not names:
            raise Nothing
        return names[min(int(self.rng.expovariate(0.6)), len(names) - 1) * -1 - 1]

    def floats(self, *ranks):
        return self.pick(lambda t: t.dtype == torch.float32 and in_rows(t) and (not ranks or t.dim() in ranks))

    def ints(self):
        return self.pick(lambda t: t.dtype in (torch.int64, torch.int32) and in_rows(t))

    def bools(self):
        return self.pick(lambda t: t.dtype == torch.bool and in_rows(t))

    def shape(self, name):
        return self.values[name].shape

    def dim(self, name, rows=False):
        """A dimension, of samples only if it may be, from the front or from the end."""
        rank = len(self.shape(name))
        if rank < 2 and not rows:
            raise Nothing
        d = self.rng.randrange(0 if rows else 1, rank)
        return d - rank if self.rng.random() < 0.4 else d

    def size(self, name, dim):
        return self.shape(name)[dim]

    def attribute(self, letter, text):
        """An attribute of the module."""
        self.count += 1
        name = f"{letter}{self.count}"
        self.pending.append(f"self.{name} = {text}")
        return f"self.{name}"

    def parameter(self, *shape):
        return self.attribute("p", f"nn.Parameter(torch.randn{tuple(shape) if len(shape) != 1 else f'({shape[0]})'} * 0.5)")

    def buffer(self, text, kept=None):
        self.count += 1
        kept = self.rng.random() < 0.7 if kept is None else kept
        self.pending.append(f'self.register_buffer("b{self.count}", {text}{"" if kept else ", persistent=False"})')
        return f"self.b{self.count}"

    def indices(self, size, count=None):
        """Numbers from 0 below a size, as text of a list."""
        return str([self.rng.randrange(size) for _ in range(count or self.rng.randint(1, 3))])

    def rows_of(self, name):
        return self.one(f"{name}.shape[0]", f"{name}.size(0)", f"len({name})")

    # ---- statements ----

    def space(self):
        """What a statement can name."""
        space = {"torch": torch, "nn": nn, "F": F}
        for text in self.classes:
            exec(text, space)
        return dict(space, self=self.net, **self.values)

    def add(self, kind, text, statement=False):
        """Try it; False: PyTorch does not take it, or it makes what is of no use."""
        name = self.one("x", "y", "z", f"v{len(self.body)}") if self.rng.random() < 0.4 else f"v{len(self.body)}"
        line = text if statement else f"{name} = {text}"
        space = self.space()
        before = dict(self.net.__dict__["_modules"]), dict(self.net.__dict__["_parameters"])
        try:
            with torch.no_grad(), no_ties():
                for part in self.pending:
                    exec(part, space)
                exec(line, space)
        except Exception:
            self.undo(before)
            return False
        values = {n: t for n, t in space.items() if isinstance(t, torch.Tensor)}
        if not all(of_use(t) for t in values.values()):
            self.undo(before)
            if statement:
                self.replay()
            return False
        new = [n for n in values if values[n] is not self.values.get(n)]
        self.values = {n: values[n] for n in [*(n for n in values if n not in new), *new]}
        self.init += self.pending
        self.body.append(line)
        self.kinds.add(kind)
        self.pending = []
        return True

    def replay(self):
        """What a statement wrote over is what it was."""
        self.values = {n: t.clone() for n, t in self.given.items()}
        with torch.no_grad():
            for line in self.body:
                space = self.space()
                exec(line, space)
                self.values = {n: t for n, t in space.items() if isinstance(t, torch.Tensor)}

    def undo(self, before):
        self.net.__dict__["_modules"], self.net.__dict__["_parameters"] = before
        self.pending = []

    def grow(self, statements):
        makers = [m for m in MAKERS if self.wanted is None or m[0] in self.wanted]
        for _ in range(statements * 12):
            if len(self.body) >= statements:
                break
            kind, _, maker = self.rng.choices(makers, [m[1] for m in makers])[0]
            self.pending, classes, draws = [], len(self.classes), self.draws
            try:
                made = maker(self)
            except Nothing:
                made = None
            if made and any(word in made for word in SELDOM) and self.rng.random() < 0.9:
                made = None
            if not made or not self.add(kind, made.lstrip("!"), made.startswith("!")):
                del self.classes[classes:]
                self.draws = draws

    def text(self):
        return write(self.classes, self.inputs, self.init, self.body, self.results)


def write(classes, inputs, init, body, results):
    lines = [HEAD]
    for text in classes:
        lines += ["", text, ""]
    lines += ["", "class Net(nn.Module):", "    def __init__(self):", "        super().__init__()"]
    lines += ["        " + line for line in init]
    lines += ["", f"    def forward(self, {', '.join(inputs)}):"]
    lines += ["        " + part for line in body for part in line.split("\n")]
    return "\n".join([*lines, f"        return {results}", ""])


def in_rows(t):
    return t.dim() > 0 and t.shape[0] == ROWS


def of_use(t):
    """Neither too large nor empty, its numbers neither huge nor none."""
    if not 0 < t.numel() <= LARGEST * ROWS or t.dim() > 5:
        return False
    return not t.is_floating_point() or bool(torch.isfinite(t).all() and t.abs().max() < 1e4)


# ---- the whole ----

SAMPLES = [(8,), (12,), (3, 8), (4, 5), (2, 6, 6), (1, 4, 8)]


def begin(s):
    """Inputs, and mostly a layer behind the first."""
    sample = s.one(*SAMPLES)
    s.inputs["x"] = ("float", sample)
    rng = np.random.default_rng(s.rng.randrange(1 << 30))
    s.values["x"] = torch.from_numpy(samples(rng, ROWS, sample, s.exact))
    embeds = False
    more = s.rng.random()
    if more < 0.15:
        other = s.one(sample, (sample[-1],), (5,))
        s.inputs["k"] = ("float", other)
        s.values["k"] = torch.from_numpy(samples(rng, ROWS, other, s.exact))
        s.kinds.add("several inputs")
    elif more < 0.25:
        other = s.one((), (4,))
        s.inputs["k"] = ("int", other)
        k = torch.randint(0, 5, (ROWS, *other))
        s.values["k"] = k
        embeds = True
    s.given = {n: t.clone() for n, t in s.values.items()}
    if embeds:
        s.pending = ["self.e0 = nn.Embedding(5, 6)"]
        s.add("several inputs", "e = self.e0(k)", True)
    if s.rng.random() < (0.4 if s.exact else 0.8):
        width = s.one(4, 6, 8, 10)
        s.pending = [f"self.l0 = nn.Linear({sample[-1]}, {width})"]
        s.add("layer", "x = self.l0(x)", True)


def end(s):
    """What is returned: mostly a row of numbers for each sample."""
    way = s.rng.random()
    if way < 0.65:
        name = together(s) if s.rng.random() < 0.8 else s.floats()
        rank = len(s.shape(name))
        if rank > 2:
            s.add("view", f"out = {name}.flatten(1)", True)
            name = "out"
        elif rank == 1:
            s.add("view", f"out = {name}.unsqueeze(1)", True)
            name = "out"
        s.pending = [f"self.out = nn.Linear({s.shape(name)[1]}, 3)"]
        s.add("layer", f"out = self.out({name})", True)
        s.results = "out"
    elif way < 0.8:
        s.results = s.floats()
    elif way < 0.9:
        s.results = s.pick(in_rows)
        if s.values[s.results].dtype != torch.float32:
            s.kinds.add("typed result")
    else:
        a, b = s.pick(in_rows), s.pick(in_rows)
        s.results = s.one(f"{a}, {b}", f'{{"a": {a}, "b": {b}}}')
        s.kinds.add("several outputs")


def together(s):
    """The newest values that nothing has used yet, side by side: what is computed counts."""
    used = " ".join(s.body)
    names = [n for n, t in s.values.items() if in_rows(t) and t.dim() > 1 and len(re.findall(rf"\b{n}\b", used)) < 2][-3:]
    last = s.floats()
    if not set(names) - {last}:
        return last
    parts = [f"{n}.flatten(1)" + ("" if s.values[n].dtype == torch.float32 else ".float()") for n in names]
    s.add("view", f"out = torch.cat([{', '.join(parts)}], 1)", True)
    return "out" if "out" in s.values else last


def generate(seed, kinds=None):
    """A network, or None where the dice fell badly."""
    torch.manual_seed(seed)
    s = Source(seed, kinds)
    import random_more, random_parts  # register what statements are made of
    try:
        begin(s)
        s.grow(s.rng.randint(2, 8))
        end(s)
    except Nothing:
        return None
    return s if s.body and random_parts and random_more else None
