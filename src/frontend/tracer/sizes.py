"""sizes.py - values of traced expressions that Python needs now: in an if, an int(), a loop.

The shape of a sample is known, and the parent process has the shape rules of all operations: it is asked for the shapes
of the nodes recorded so far. A graph that depends on such an answer is valid for samples of this shape only, which is
reported. The batch size stays open. An unknown value is refused.
"""


class Open(Exception):
    """Raised for a value that is not known."""


class Unknown:
    """A length that is not known, such as the batch size: equal to itself only."""

    def _open(self, *_):
        raise Open

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __truediv__ = __mod__ = _open
    __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = __bool__ = _open

    def __eq__(self, other):
        return True if other is self else self._open()

    def __ne__(self, other):
        return not self == other

    __hash__ = object.__hash__


BATCH = Unknown()


class Shaped:
    def __init__(self, shape, kind=None):
        self.shape, self.dtype = Size(shape), kind


def attribute_of(x, name):
    if isinstance(x, Shaped) and name == "shape":
        return x.shape
    if isinstance(x, Shaped) and name == "ndim":
        return len(x.shape)
    if isinstance(x, Shaped) and name == "dtype" and x.dtype:
        return x.dtype
    raise Open


def taken(x, index):
    if isinstance(x, Shaped):
        raise Open
    return x[index]


OF_SHAPES = {
    "dim": lambda x: len(x.shape), "ndimension": lambda x: len(x.shape), "numel": lambda x: math.prod(x.shape),
    "size": lambda x, dim=None: x.shape if dim is None else x.shape[dim],
}
SCALAR = {n: getattr(operator, n) for n in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt",
                                            "le", "gt", "ge", "neg", "iadd", "imul") if hasattr(operator, n)}


class Sizes:
    """Values of nodes that Python needs: shapes are asked for, numbers computed, once each."""

    def __init__(self, tracer, sample):
        self.tracer, self.sample, self.values, self.told = tracer, sample, {}, []
        self.modules, self.attrs = set(), set()  # already sent to the parent

    def of(self, node):
        if node not in self.values:
            self.values[node] = Open
            try:
                self.values[node] = self.found(node)
            except (Open, AttributeError, TypeError, ValueError, IndexError, KeyError, ZeroDivisionError):
                pass
        if self.values[node] is Open:
            raise Open
        return self.values[node]

    def found(self, node):
        if self.sample is None:
            raise Open
        if node >= len(self.told):
            self.ask()
        known = shaped(self.told[node])
        return self.computed(self.tracer.nodes[node]) if known is None else known

    def ask(self):
        """Ask for the shapes of all new nodes."""
        tracer, first = self.tracer, len(self.told)
        modules = [m for path, m in tracer.modules.items() if path not in self.modules]
        attrs = [a for path, a in tracer.attrs.items() if path not in self.attrs]
        self.modules.update(tracer.modules)
        self.attrs.update(tracer.attrs)
        answers = question({
            "from": first,
            "modules": [dict(m, start={}, tied={}, frozen=[]) for m in modules],
            "attrs": [dict(a, start=NO_NUMBERS, tied=None, after=0) for a in attrs],
            "nodes": tracer.nodes[first:]})
        self.told += answers + [None] * (len(tracer.nodes) - first - len(answers))

    def value(self, v):
        """The value of a node's argument."""
        if isinstance(v, list):
            return [self.value(i) for i in v]
        if not isinstance(v, dict):
            return v
        (kind, inner), = v.items()
        if kind == "node":
            return self.of(inner)
        if kind == "tuple":
            return tuple(self.value(i) for i in inner)
        if kind == "slice":
            return slice(*(self.value(i) for i in inner))
        if kind == "float":
            return builtins.float(inner)
        if kind == "atom" and inner.startswith("torch."):
            return DTYPES[inner.partition(".")[2]]
        raise Open

    def computed(self, node):
        """The value of a node that is not a tensor."""
        if not node["kind"].startswith("call_"):
            raise Open
        args = [self.value(a) for a in node["args"]]
        kwargs = {k: self.value(v) for k, v in node["kwargs"]}
        if node["target"] == "builtins.getattr":
            return attribute_of(*args)
        name = node["target"].rpartition(".")[2]
        if name == "getitem":
            return taken(*args)
        if node["target"] == "math." + name and all(map(is_number, args)):
            return getattr(math, name)(*args)
        if name in SCALAR and not any(isinstance(a, Shaped) for a in args):
            return SCALAR[name](*args)
        return OF_SHAPES[name](*args, **kwargs)


NO_NUMBERS = {"kind": "uniform", "spread": 0.0, "centre": 0.0}


def shaped(told):
    """An answer as shapes; None: not a tensor."""
    if isinstance(told, list):
        parts = tuple(shaped(t) for t in told)
        return None if None in parts else parts
    if told is None:
        return None
    return Shaped((BATCH if n == "batch" else Unknown() if n is None else n for n in told["shape"]),
                  DTYPES.get(told.get("dtype")))


# What a layer needs, and its dimension, in a sample and in a batch.
TAKES = {"Linear": ("in_features", -1)}
TAKES.update({"Conv%dd" % n: ("in_channels", -1 - n) for n in (1, 2, 3)})
TAKES.update({"ConvTranspose%dd" % n: ("in_channels", -1 - n) for n in (1, 2, 3)})


def check_layers(tracer):
    """Report a layer whose input does not fit at the line that creates the layer; other misfits are reported at the call."""
    for node in tracer.nodes:
        module = tracer.modules.get(node["target"]) if node["kind"] == "call_module" else None
        if module and module["class"] in TAKES and len(node["args"]) == 1 and module["at"] and module["at"]["line"]:
            name, dim = TAKES[module["class"]]
            wanted = dict(module["values"])[name]
            try:
                given = tracer.sizes.value(node["args"][0]).shape
                if len(given) >= -dim and is_number(given[dim]) and given[dim] != wanted:
                    node["at"] = module["at"]
            except (Open, AttributeError):
                pass


NO_TENSORS = ("getattr", "size", "dim", "ndimension", "numel", "split", "chunk", "unbind", "tensor_split", "len")


def has_floats(proxy):
    """x.is_floating_point()"""
    answer = decided(proxy, lambda v: v.dtype.is_floating_point if v.dtype else NotImplemented)
    if answer is None:
        raise Fault("the type of a traced value is not known here while tracing")
    return answer


def is_traced_tensor(proxy):
    """isinstance(x, torch.Tensor), in files that take lists and dicts, too. Without a shape rule the node's name decides."""
    try:
        return isinstance(TRACER.sizes.of(proxy.node), Shaped)
    except Open:
        node = TRACER.nodes[proxy.node]
        return node["kind"] != "output" and node["target"].rpartition(".")[2] not in NO_TENSORS


def decided(proxy, what):
    """The value that Python asks for, if it is known; reported once for each place."""
    try:
        value = TRACER.sizes.of(proxy.node)
        answer = what(value)
    except (Open, TypeError):
        return None
    if answer is NotImplemented:
        return None
    TRACER.decisions.append(here())
    return answer
