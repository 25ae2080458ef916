"""sizes.py - what is known of a traced value's shape when Python must decide: an if, an int(), a loop.

The shape of a sample is given, so shapes of what follows from it are known where each step on the way has a rule
here; a graph that was decided so holds for samples of this shape, and that is told. How many samples a batch has
stays open. What has no rule is not known, and refused as before.
"""


class Open(Exception):
    """Not known."""


class Batch:
    """How many samples there are: equal to itself, and nothing else is known of it."""

    def _open(self, *_):
        raise Open

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __truediv__ = __mod__ = _open
    __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = __bool__ = _open

    def __eq__(self, other):
        return True if other is self else self._open()

    def __ne__(self, other):
        return not self == other

    __hash__ = object.__hash__


BATCH = Batch()


class Shaped:
    def __init__(self, shape):
        self.shape = Size(shape)


def joined_shape(a, b):
    out = []
    for m, n in itertools.zip_longest(reversed(a), reversed(b), fillvalue=1):
        if m is BATCH or n is BATCH:
            if not (m is n or m is BATCH and n == 1 or n is BATCH and m == 1):
                raise Open
            out.insert(0, BATCH)
        else:
            out.insert(0, n if m == 1 else m)
    return Shaped(out)


def shape_of_value(v):
    return v.shape if isinstance(v, (Shaped, Tensor)) else ()


def elementwise(*args, **_):
    shapes = [shape_of_value(a) for a in args[:2]]
    made = Shaped(shapes[0])
    for s in shapes[1:]:
        made = joined_shape(made.shape, s)
    return made


def viewed_as(x, *size):
    size = list(size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size)
    own = list(x.shape)
    while own and size and own[0] is BATCH and (size[0] is BATCH or size[0] == -1 and size.count(-1) == 1
                                                and math.prod(own[1:]) == math.prod(size[1:])):
        own, size, lead = own[1:], size[1:], [BATCH]
        if -1 in size:
            known_ = math.prod(n for n in size if n != -1)
            size[size.index(-1)] = math.prod(own) // known_
        return Shaped(lead + size)
    if BATCH in [n for n in own if n is BATCH] or any(n is BATCH for n in size):
        raise Open
    if -1 in size:
        size[size.index(-1)] = math.prod(own) // math.prod(n for n in size if n != -1)
    return Shaped(size)


def flattened(x, start_dim=0, end_dim=-1):
    end = end_dim % len(x.shape) + 1
    middle = x.shape[start_dim:end]
    if any(n is BATCH for n in middle):
        raise Open
    return Shaped(x.shape[:start_dim] + (math.prod(middle),) + x.shape[end:])


def permuted(x, *dims):
    dims = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    return Shaped([x.shape[d] for d in dims])


def swapped(x, a, b):
    dims = list(x.shape)
    dims[a], dims[b] = dims[b], dims[a]
    return Shaped(dims)


def concatenated(tensors, dim=0):
    shape = list(tensors[0].shape)
    shape[dim] = sum(t.shape[dim] for t in tensors)
    return Shaped(shape)


def parts_of(x, sizes, dim=0):
    n = x.shape[dim]
    if isinstance(sizes, int):
        sizes = [min(sizes, n - i) for i in range(0, n, sizes)]
    return tuple(Shaped(x.shape[:dim % len(x.shape)] + (s,) + x.shape[dim % len(x.shape) + 1:]) for s in sizes)


def chunks_of(x, chunks, dim=0):
    return parts_of(x, -(-x.shape[dim] // chunks), dim)


def unsqueezed(x, dim):
    at = dim % (len(x.shape) + 1)
    return Shaped(x.shape[:at] + (1,) + x.shape[at:])


def squeezed(x, dim=None):
    if dim is None:
        raise Open
    return Shaped(x.shape[:dim % len(x.shape)] + x.shape[dim % len(x.shape) + 1:]) if x.shape[dim] == 1 else x


def reduced_shape(x, dim=None, keepdim=False, **_):
    dims = range(len(x.shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = {d % len(x.shape) for d in dims}
    return Shaped([1 if i in dims else n for i, n in enumerate(x.shape) if keepdim or i not in dims])


def multiplied(a, b):
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise Open
    lead = joined_shape(a.shape[:-2], b.shape[:-2]).shape
    return Shaped(lead + (a.shape[-2], b.shape[-1]))


def taken(x, index):
    if not isinstance(x, Shaped):
        return x[index]
    out, d = [], 0
    index = index if isinstance(index, tuple) else (index,)
    if any(i is Ellipsis or isinstance(i, (Shaped, Tensor, list)) for i in index):
        raise Open
    for i in index:
        if i is None:
            out.append(1)
            continue
        if isinstance(i, slice):
            if x.shape[d] is BATCH and i != slice(None):
                raise Open
            out.append(x.shape[d] if i == slice(None) else len(range(*i.indices(x.shape[d]))))
        d += 1
    return Shaped(out + list(x.shape[d:]))


def interpolated(x, size=None, scale_factor=None, **_):
    n = len(x.shape) - 2
    if size is not None:
        return Shaped(x.shape[:2] + each(size, n))
    return Shaped(x.shape[:2] + tuple(math.floor(m * s) for m, s in zip(x.shape[2:], each(scale_factor, n))))


def attribute_of(x, name):
    if isinstance(x, Shaped) and name == "shape":
        return x.shape
    if isinstance(x, Shaped) and name == "ndim":
        return len(x.shape)
    raise Open


METHOD_SHAPES = {
    "view": viewed_as, "reshape": viewed_as, "flatten": flattened, "permute": permuted, "transpose": swapped,
    "t": lambda x: swapped(x, 0, 1), "contiguous": lambda x, *_: x, "clone": lambda x, *_: x, "float": lambda x: x,
    "detach": lambda x: x, "to": lambda x, *_: x, "chunk": chunks_of, "split": parts_of, "unsqueeze": unsqueezed,
    "squeeze": squeezed, "mean": reduced_shape, "sum": reduced_shape, "amax": reduced_shape, "std": reduced_shape,
    "dim": lambda x: len(x.shape), "ndimension": lambda x: len(x.shape), "numel": lambda x: math.prod(x.shape),
    "size": lambda x, dim=None: x.shape if dim is None else x.shape[dim], "matmul": multiplied, "bmm": multiplied,
    "unbind": lambda x, dim=0: (reduced_shape(x, dim),) * x.shape[dim], "cat": concatenated,
    "concat": concatenated, "softmax": lambda x, *_, **__: x, "interpolate": interpolated,
    "upsample": interpolated, "long": lambda x: x, "int": lambda x: x, "type_as": lambda x, _: x,
    "stack": lambda ts, dim=0: unsqueezed(ts[0], dim) and Shaped(
        ts[0].shape[:dim] + (len(ts),) + ts[0].shape[dim:]),
}
METHOD_SHAPES["linear"] = lambda x, weight, bias=None: Shaped(x.shape[:-1] + (weight.shape[0],))
METHOD_SHAPES.update({n: elementwise for n in (
    "add", "sub", "mul", "div", "pow", "relu", "relu_", "sigmoid", "tanh", "exp", "log", "sqrt", "abs", "gelu", "silu",
    "leaky_relu", "elu", "relu6", "hardswish", "dropout", "dropout2d", "sin", "cos", "neg", "clamp", "softplus", "log_softmax",
    "add_", "mul_", "square", "maximum", "minimum", "masked_fill", "layer_norm", "group_norm")})
METHOD_SHAPES["batch_norm"] = lambda x, *_, **__: x
SCALAR = {n: getattr(operator, n) for n in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "eq", "ne", "lt",
                                            "le", "gt", "ge", "neg", "iadd", "imul") if hasattr(operator, n)}


class Sizes:
    """The values of nodes that Python asks about, computed once each."""

    def __init__(self, tracer, sample):
        self.tracer, self.sample, self.values = tracer, sample, {}

    def of(self, node):
        if node not in self.values:
            self.values[node] = Open
            try:
                self.values[node] = self.computed(self.tracer.nodes[node])
            except (Open, AttributeError, TypeError, ValueError, IndexError, KeyError, ZeroDivisionError):
                pass
        if self.values[node] is Open:
            raise Open
        return self.values[node]

    def value(self, v):
        """An argument as the nodes have it, read back."""
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
        if kind == "atom" and inner == "Ellipsis":
            return Ellipsis
        if kind == "float":
            return builtins.float(inner)
        raise Open

    def computed(self, node):
        kind, target = node["kind"], node["target"]
        if kind == "placeholder":
            first = next(n for n in self.tracer.nodes if n["kind"] == "placeholder")
            if node is not first or self.sample is None:
                raise Open
            return Shaped((BATCH,) + tuple(self.sample))
        if kind == "get_attr":
            return Shaped(self.tracer.attrs[target]["shape"]) if target in self.tracer.attrs else self.parameter(target)
        args = [self.value(a) for a in node["args"]]
        kwargs = {k: self.value(v) for k, v in node["kwargs"]}
        if kind == "call_module":
            return self.layer(self.tracer.modules[target], args)
        if target == "builtins.getattr":
            return attribute_of(*args)
        name = target.rpartition(".")[2]
        if name == "getitem":
            return taken(*args)
        if name in SCALAR and not any(isinstance(a, (Shaped, Tensor)) for a in args):
            return SCALAR[name](*args)
        if name == "matmul":
            return multiplied(*args)
        if name in SHAPES and kind == "call_function":
            bound = self.tracer.tables.functions[target].bind(target, args, kwargs)
            return Shaped(SHAPES[name](tuple(args[0].shape), Info(bound)))
        return (elementwise if name in SCALAR else METHOD_SHAPES[name])(*args, **kwargs)

    def parameter(self, path):
        owner, _, name = path.rpartition(".")
        return Shaped(self.tracer.root.get_submodule(owner)._parameters[name].shape)

    def layer(self, module, args):
        name = module["class"]
        if name == "Flatten":
            values = dict(module["values"])
            return flattened(args[0], values["start_dim"], values["end_dim"])
        values = Info((k, self.value(v)) for k, v in module["values"])
        return Shaped(SHAPES[name](tuple(args[0].shape), values))


def decided(proxy, what):
    """What Python asks of a traced value, if it is known; told once for each place."""
    try:
        value = TRACER.sizes.of(proxy.node)
        answer = what(value)
    except (Open, TypeError):
        return None
    if answer is NotImplemented:
        return None
    TRACER.decisions.append(here())
    return answer
