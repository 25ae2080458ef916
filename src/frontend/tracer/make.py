"""make.py - torch's functions that make tensors."""

LEGACY = {"Float": DTYPES["float32"], "Double": DTYPES["float64"], "Long": DTYPES["int64"], "Int": DTYPES["int32"],
          "Byte": DTYPES["uint8"], "Bool": DTYPES["bool"], "Half": DTYPES["float16"], "": DTYPES["float32"],
          "Short": DTYPES["int16"], "Char": DTYPES["int8"], "BFloat16": DTYPES["bfloat16"]}


def as_dtype(d):
    """A type by torch's, NumPy's or Python's name."""
    if isinstance(d, dtype):
        return d
    plain = {float: "float64", int: "int64", bool: "bool"}
    name = plain.get(d) or getattr(d, "__name__", None) or str(d)
    if name not in DTYPES:
        raise Fault("unknown type %r" % (d,))
    return DTYPES[name]


def from_numbers(data, dtype=None, **_):
    """torch.tensor of numbers, nested lists, tensors and NumPy arrays."""
    def shape_of(d):
        if isinstance(d, Tensor):
            return tuple(d.shape)
        return (len(d),) + (shape_of(d[0]) if len(d) else ()) if isinstance(d, (list, tuple, range)) else ()

    def flat(d, shape):
        if isinstance(d, Tensor) and tuple(d.shape) == shape:
            return d.numbers()
        if not shape:
            if isinstance(d, Absent):
                d.look()
            if isinstance(d, Proxy):
                raise Fault("a traced value is no plain number while tracing")
            if not is_number(d):
                raise Fault("a tensor is made of numbers, got %r" % (d,))
            return [d]
        if not isinstance(d, (list, tuple, range)) or len(d) != shape[0]:
            raise Fault("the rows of a tensor must have one length")
        if len(shape) == 1 and set(map(type, d)) <= {int, float, bool}:
            return list(d)
        return [v for row in d for v in flat(row, shape[1:])]
    if isinstance(data, Tensor):
        return data.clone().to(dtype=dtype)
    if isinstance(data, Exposed):
        return data
    if hasattr(data, "__array__") and hasattr(data, "tolist"):  # NumPy's
        kind = as_dtype(str(data.dtype))
        shape = data.shape
        made = Tensor(shape, [v.item() if hasattr(v, "item") else v for v in data.reshape(-1)], kind)
        return made.to(dtype=dtype)
    shape = shape_of(data)
    values = flat(data, shape)
    kinds = set(map(type, values))
    guess = ("float32" if not all(issubclass(k, (bool, numbers.Integral)) for k in kinds) or not kinds else
             "bool" if kinds == {bool} else "int64")
    return Tensor(shape, values, DTYPES[guess]).to(dtype=dtype)


def legacy(*args, dtype=DTYPES["float32"]):
    """torch.Tensor(2, 3), torch.FloatTensor([1, 2]): a shape, or numbers."""
    if len(args) == 1 and not is_number(args[0]) and not isinstance(args[0], Size):
        return from_numbers(args[0], dtype)
    return unwritten(Tensor(flat_shape(args), ("uniform", 0.0, 0.0), dtype))


def unwritten(t):
    """The result of torch.empty, whose elements forward may not read before it writes them."""
    t.unwritten = set(range(t.numel())) if TRACER is not None else None
    return t


def empty(*args, **kwargs):
    return unwritten(filled(0.0)(*args, **kwargs))


def empty_like(*args, **kwargs):
    return unwritten(like(0.0)(*args, **kwargs))


WHO_WRITE = ("setitem", "zero_", "fill_", "copy_", "normal_", "uniform_", "bernoulli_", "random_", "output")


def reads(node, i):
    """Is value i among the node's arguments?"""
    def among(v):
        if isinstance(v, dict):
            return v.get("node") == i if "node" in v else any(map(among, v.values()))
        return isinstance(v, list) and any(map(among, v))
    return among(node["args"]) or among(node["kwargs"])


def check_empty(nodes):
    """torch.empty(x.size(0), 4) of a traced size: its first user must write it."""
    for i, made in enumerate(nodes):
        if made["target"].rpartition(".")[2] not in ("empty", "empty_like", "new_empty") or made["kind"] == "call_module":
            continue
        readers = [n for n in nodes[i + 1:] if reads(n, i) and n["target"].rpartition(".")[2] not in NO_TENSORS]
        if readers and readers[0]["target"].rpartition(".")[2] not in WHO_WRITE:
            raise Fault("forward reads what torch.empty gives: the numbers that the memory held, which are others for "
                        "each call", readers[0]["at"])


def is_size(proxy):
    """x.size() or x.shape."""
    node = TRACER.nodes[proxy.node]
    return (node["kind"], node["target"], len(node["args"])) == ("call_method", "size", 1) and not node["kwargs"] or (
        node["target"] == "builtins.getattr" and node["args"][1] == "shape")


class LegacyKind(type):
    """torch.FloatTensor and similar: types that make tensors of numbers or of a shape."""

    def __new__(cls, legacy):
        return super().__new__(cls, legacy + "Tensor", (), {"legacy": legacy, "dtype": LEGACY[legacy], "__module__": "torch"})

    def __init__(cls, legacy):
        super().__init__(legacy, (), {})

    def __call__(cls, *args, **_):
        if not contains_proxy(args):
            return legacy(*args, dtype=cls.dtype)
        if len(args) == 1 and isinstance(args[0], (list, tuple)):
            return Proxy.record("call_function", "torch.tensor", (args[0],), {"dtype": cls.dtype})
        if len(args) == 1 and is_size(args[0]):
            return Proxy.record("call_function", "torch.empty", args, {"dtype": cls.dtype})
        if any(isinstance(a, (list, tuple)) for a in args) or len(args) == 1:
            raise Fault("%s of a traced value is not followed: x.to(dtype) says what it becomes" % cls.__name__)
        return Proxy.record("call_function", "torch.empty", args, {"dtype": cls.dtype})

    def __instancecheck__(cls, value):
        return issubclass(type(value), Tensor) and value.dtype is cls.dtype


class Limits:
    """torch.finfo and torch.iinfo."""

    def __init__(self, kind):
        self.dtype = str(kind).rpartition(".")[2]
        self.bits = 8 * kind.itemsize
        if not kind.is_floating_point:
            self.min, self.max = (0, 255) if kind.name == "uint8" else (-1 << (self.bits - 1), (1 << (self.bits - 1)) - 1)
            return
        digits, top = {"float64": (52, 1023), "float32": (23, 127), "float16": (10, 15), "bfloat16": (7, 127),
                       "float8_e5m2": (2, 15)}.get(kind.name, (3, 8))
        self.eps, self.max = 2.0 ** -digits, (2 - 2.0 ** -digits) * 2.0 ** top
        self.max = 448.0 if digits == 3 else self.max
        self.min, self.tiny = -self.max, 2.0 ** (1 - top if digits != 3 else -6)
        self.smallest_normal = self.tiny
        self.resolution = 10.0 ** -int(digits * math.log10(2))


def limits(kind=None):
    return Limits(DTYPES["float32"] if kind is None else as_dtype(kind))


def asked_shape(args, size):
    """zeros(2, 3) or zeros(size=(2, 3))."""
    return flat_shape(args if size is None else [size])


def filled(value):
    def make(*args, size=None, dtype=None, **_):
        return Tensor(asked_shape(args, size), ("uniform", 0.0, value)).to(dtype=dtype)
    return make


def like(value):
    def make(t, dtype=None, **_):
        return Tensor(t.shape, ("uniform", 0.0, value), dtype or t.dtype)
    return make


def random_like(rule):
    def make(t, dtype=None, **_):
        return Tensor(t.shape, rule, dtype or t.dtype)
    return make


def number_type(v):
    return DTYPES["bool" if isinstance(v, bool) else "int64" if isinstance(v, int) else "float32"]


def full(size, fill_value, dtype=None, **_):
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return Tensor(flat_shape([size] if not is_whole(size) else [(size,)]), ("uniform", 0.0, value),
                  dtype or number_type(value))


def full_like(t, fill_value, dtype=None, **_):
    return Tensor(t.shape, ("uniform", 0.0, fill_value), dtype or t.dtype)


def randn(*args, size=None, dtype=None, **_):
    return Tensor(asked_shape(args, size), ("normal", 1.0, 0.0), dtype or DTYPES["float32"])


def rand(*args, size=None, dtype=None, **_):
    return Tensor(asked_shape(args, size), ("uniform", 0.5, 0.5), dtype or DTYPES["float32"])


DRAWS = Random(1)  # shared state, so that rejection sampling gets new numbers


def normal(mean=0.0, std=1.0, size=None, **_):
    if isinstance(mean, Tensor) and isinstance(std, (Tensor, numbers.Real)):
        deviations = std.numbers() if isinstance(std, Tensor) else [std] * mean.numel()
        if len(deviations) == mean.numel():
            return mean.like(mean.shape, [DRAWS.gauss(m, d) for m, d in zip(mean.numbers(), deviations)])
    if size is None or isinstance(mean, Tensor) or isinstance(std, Tensor):
        raise Fault("torch.normal is computed for plain numbers and a size, or a tensor of means")
    return Tensor(flat_shape([size]), ("normal", std, mean))


def randint(*args, size=None, dtype=None, **_):
    bounds = list(args)
    if size is None:
        size = bounds.pop()
    low, high = bounds if len(bounds) == 2 else (0, bounds[0])
    draw = Random(math.prod(size)).randrange
    return Tensor(flat_shape([size]), [draw(low, high) for _ in range(math.prod(size))], dtype or DTYPES["int64"])


def randperm(n, dtype=None, **_):
    if TRACER is not None:  # a permutation drawn anew in each call
        order = sys.modules["torch"].rand(n).argsort()
        return order if dtype in (None, DTYPES["int64"]) else order.to(dtype)
    order = list(range(n))
    Random(n).shuffle(order)
    return Tensor((n,), order, dtype or DTYPES["int64"])


def plain_number(v):
    return v.item() if isinstance(v, Tensor) else v


def arange(*span, start=None, end=None, step=None, dtype=None, **_):
    span = [plain_number(v) for v in span]
    if len(span) == 1 and end is None:
        end, span = span[0], []
    start = span[0] if span else 0 if start is None else start
    end = span[1] if len(span) > 1 else plain_number(end)
    step = span[2] if len(span) > 2 else 1 if step is None else step
    count = max(0, math.ceil((end - start) / step))
    whole = all(isinstance(v, numbers.Integral) for v in (start, end, step))
    return Tensor((count,), [start + i * step for i in range(count)],
                  dtype or DTYPES["int64" if whole else "float32"])


def linspace(start, end, steps, dtype=None, **_):
    """As torch computes it: from both ends to the middle, in the type of the tensor."""
    kind = dtype or DTYPES["float32"]
    gap = kind.rounded([(end - start) / max(steps - 1, 1)])[0]
    return Tensor((steps,), [start + i * gap if i < steps // 2 or steps == 1 else end - (steps - 1 - i) * gap
                             for i in range(steps)], kind)


def logspace(start, end, steps, base=10.0, dtype=None, **_):
    exponents = linspace(start, end, steps, DTYPES["float64"]).numbers()
    return Tensor((steps,), [base ** v for v in exponents], dtype or DTYPES["float32"])


def eye(n, m=None, dtype=None, **_):
    m = n if m is None else m
    return Tensor((n, m), [builtins.float(i == j) for i in range(n) for j in range(m)], dtype or DTYPES["float32"])


def triangle(keep):
    def make(t, diagonal=0):
        rows, cols = t.shape[-2:]
        return t.like(t.shape, [v if keep(i % cols - i // cols % rows, diagonal) else 0
                                for i, v in enumerate(t.numbers())])
    return make


MAKERS = {
    "tensor": from_numbers, "as_tensor": from_numbers, "from_numpy": from_numbers, "asarray": from_numbers,
    "scalar_tensor": from_numbers,
    "zeros": filled(0.0), "ones": filled(1.0), "empty": empty, "full": full, "full_like": full_like,
    "zeros_like": like(0.0), "ones_like": like(1.0), "empty_like": empty_like, "normal": normal,
    "randn": randn, "rand": rand, "randint": randint, "randperm": randperm, "arange": arange,
    "randn_like": random_like(("normal", 1.0, 0.0)), "rand_like": random_like(("uniform", 0.5, 0.5)),
    "linspace": linspace, "logspace": logspace, "eye": eye,
    "tril": triangle(operator.le), "triu": triangle(operator.ge),
}
LEGACY_TYPES = {name + "Tensor": LegacyKind(name) for name in LEGACY if name}
