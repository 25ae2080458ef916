"""tensor.py - values that exist while a model is built: parameters, buffers, constants.

The tracer needs shapes, types and the rule of initialisation, seldom numbers. A Tensor therefore holds a start:
a flat list of numbers, or a rule for each element,

    ("uniform", bound, centre)      a constant has the bound 0
    ("normal", deviation, mean)
    None                            the default of the layer that owns it

Arithmetic with plain numbers keeps a rule; every other operation needs numbers, which are then drawn, always the same
ones. A view shares the numbers of its base, as in PyTorch, so a write to one changes the other. Numbers are rounded to
the type of the tensor after every operation.
"""

UNKNOWN = ("unknown", 0.0, 0.0)  # the start of a layer's result while the model is built: shape only


class Kind(type):
    """torch.Tensor(2, 3) makes a tensor of that shape; anything of ours is an instance of it."""

    def __call__(cls, *args, **kwargs):
        return legacy(*args) if cls.__dict__.get("exposed") else super().__call__(*args, **kwargs)

    def __instancecheck__(cls, value):
        if cls.__dict__.get("exposed") and issubclass(type(value), Proxy):
            return is_traced_tensor(value)
        return issubclass(type(value), Tensor if cls.__dict__.get("exposed") else cls)


class Tensor(Arranged, metaclass=Kind):
    persistent = False  # in the state dict, as parameters and most buffers are
    becomes_buffer = False  # when assigned to a module: nn.Buffer
    maker = None  # the layer that created it, and its name there
    base = None  # the tensor whose elements a view shares
    strides, offset = None, 0  # layout within base; None: contiguous
    has_views = False
    unwritten = None  # positions of torch.empty that forward has not written yet
    __array_ufunc__ = None  # np.float64(2) * t calls our method

    def __init__(self, shape=(), start=("uniform", 0.0, 0.0), dtype=DTYPES["float32"]):
        self.shape, self.dtype = Size(shape), dtype
        self.wants_grad = self.used = False
        self.start = start

    @property
    def start(self):
        if TRACER is not None and id(self) in TRACER.changed:
            raise Fault("the numbers of '%s' are needed after forward has changed them: that is not followed"
                        % TRACER.home(self))
        self.check_read()
        self.check_written()
        self.used |= TRACER is not None  # the graph depends on it from now on
        return self.initial

    @start.setter
    def start(self, start):
        self.initial = start

    @property
    def initial(self):
        if self.base is None:
            return self.own
        own = self.base.own
        return [own[i] for i in self.positions()] if isinstance(own, list) else own

    @initial.setter
    def initial(self, start):
        start = self.dtype.rounded(start) if isinstance(start, list) else start
        if self.base is None:
            self.own, self.unwritten = start, None
            return
        if self.numel() == self.base.numel() and not isinstance(start, list):
            self.base.own, self.base.unwritten = start, None
            return
        numbers, places = list(self.base.present()), self.positions()
        for i, v in zip(places, self.like(self.shape, start).numbers()):
            numbers[i] = v
        left = (self.base.unwritten or set()).difference(places)
        self.base.own, self.base.unwritten = numbers, left or None

    def positions(self):
        """Flat positions of the elements in base, in order."""
        return flat_positions(self.shape, self.strides, self.offset)

    # ---- elements ----

    def numbers(self):
        return self.drawn(self.start)

    def present(self):
        """The elements, of which some are about to be written."""
        left, self.unwritten = self.unwritten, None
        numbers = self.numbers()
        self.unwritten = left
        return numbers

    def drawn(self, start):
        if isinstance(start, list):
            return start
        if self.numel() > MAX_NUMBERS:
            raise Fault("a tensor of %s is too large to compute with while tracing; at most %d "
                        "numbers" % (list(self.shape), MAX_NUMBERS))
        kind, spread, centre = start or self.default()
        if start is UNKNOWN:
            raise Fault("only the shape of this is known while the model is built, not its numbers")
        if spread == 0.0:
            return [centre] * self.numel()
        draw = Random(self.numel()).gauss if kind == "normal" else (
            lambda c, s, r=Random(self.numel()): r.uniform(c - s, c + s))
        if self.base is None:
            self.own = self.dtype.rounded([draw(centre, spread) for _ in range(self.numel())])
            return self.own
        return self.dtype.rounded([draw(centre, spread) for _ in range(self.numel())])

    @property
    def is_unknown(self):
        return self.initial is UNKNOWN

    def default(self):
        """The initial value that its layer gives it."""
        root = self.base if self.base is not None else self
        if root.maker is None:
            raise Fault("this needs numbers that are not known yet")
        layer, name = root.maker
        kind = type(layer).__mro__
        if name in ("running_mean", "num_batches_tracked") or "Norm" in str(kind) and name == "bias":
            return "uniform", 0.0, 0.0
        if "Norm" in str(kind):
            return "uniform", 0.0, 1.0
        if "num_embeddings" in layer.values:
            return "normal", 1.0, 0.0
        weight = layer._parameters.get("weight")
        fan = layer.values.get("hidden_size") or math.prod((weight if weight is not None else root).shape[1:])
        return "uniform", 1 / math.sqrt(max(fan, 1)), 0.0

    def like(self, shape, start, dtype=None):
        return Tensor(shape, start, dtype or self.dtype)

    def moved(self, shape, order):
        """A copy of the elements at the flat positions `order`; rules have no positions."""
        start = self.start
        if not isinstance(start, list):
            return self.like(shape, start if start or not self.maker else self.default())
        return self.like(shape, [start[i] for i in order])

    def viewed(self, shape, strides, offset=0):
        """A view of base's elements."""
        self.check_read()
        t = Tensor.__new__(Tensor)
        t.shape, t.dtype, t.wants_grad, t.used = Size(shape), self.dtype, False, False
        t.base = self if self.base is None else self.base
        t.strides, t.offset = list(strides), offset
        self.used |= TRACER is not None
        t.base.has_views = True
        return t

    def own_strides(self):
        return strides_of(self.shape) if self.strides is None else self.strides

    def stretched(self, shape):
        if tuple(shape) == tuple(self.shape):
            return self.clone()
        steps = [0] * (len(shape) - len(self.shape)) + [
            0 if n == 1 else step for n, step in zip(self.shape, strides_of(self.shape))]
        order = flat_positions(shape, steps, 0) if isinstance(self.initial, list) else ()
        return self.moved(shape, order)

    def scaled(self, factor, shift):
        if self.is_unknown:
            return self.like(self.shape, UNKNOWN)
        kind, spread, centre = self.start or self.default()
        return self.like(self.shape, (kind, abs(spread * factor), centre * factor + shift),
                         None if self.dtype.is_floating_point else DTYPES["float32"])

    def combined(self, other, fn, exact):
        """Apply fn elementwise; exact: integers stay integers."""
        if not isinstance(other, Tensor):
            other = self.beside(other)
        shape = broadcast(self.shape, other.shape)
        if self.is_unknown or other.is_unknown:
            return Tensor(shape, UNKNOWN, self.dtype)
        a, b = self.stretched(shape).numbers(), other.stretched(shape).numbers()
        whole = exact and not (self.dtype.is_floating_point or other.dtype.is_floating_point)
        kind = self.dtype if self.dtype.is_floating_point or whole else other.dtype
        if not whole and not kind.is_floating_point:
            kind = DTYPES["float32"]
        return Tensor(shape, [fn(x, y) for x, y in zip(a, b)], kind)

    def mapped(self, fn):
        return self.like(self.shape, [fn(x) for x in self.numbers()],
                         self.dtype if self.dtype.is_floating_point else DTYPES["float32"])

    def compared(self, other, fn):
        t = self.combined(other, fn, True)
        t.dtype = DTYPES["bool"]
        return t

    # ---- gradients ----

    @property
    def requires_grad(self):
        return self.wants_grad

    @requires_grad.setter
    def requires_grad(self, on):
        on = builtins.bool(on)
        if on and not self.dtype.is_floating_point:
            raise Fault("only tensors of floating point can require gradients, this is of %r"
                        % self.dtype)
        if TRACER and on != self.wants_grad:
            raise Fault("requires_grad changes while forward runs: set it in __init__")
        self.wants_grad = on

    def requires_grad_(self, requires_grad=True):
        self.requires_grad = requires_grad
        return self

    # ---- properties ----

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def numel(self):
        return math.prod(self.shape)

    def dim(self):
        return len(self.shape)

    ndim = property(dim)
    ndimension = dim
    device = device("cpu")
    is_cuda = False
    T = property(lambda self: self.permute(*reversed(range(self.ndim))))
    mT = property(lambda self: self.transpose(-1, -2))
    grad = layout = None
    is_leaf = True
    is_sparse = is_quantized = is_meta = False

    @property
    def data(self):
        return self

    @data.setter
    def data(self, other):
        if other is self:  # self.weight.data *= 0.5 has taken effect
            return
        if not isinstance(other, Tensor):
            raise Fault("data is a tensor, got %s" % type(other).__name__)
        self.check_write()
        start = other.start if other.start or not other.maker else other.default()
        self.shape, self.dtype, self.base, self.strides, self.offset = other.shape, other.dtype, None, None, 0
        self.start = list(start) if isinstance(start, list) else start

    def item(self):
        values = self.numbers()
        if len(values) != 1:
            raise Fault("item() needs a tensor of one element, this has %d" % len(values))
        return values[0]

    def tolist(self):
        def nest(values, shape):
            if not shape:
                return values[0]
            step = len(values) // shape[0] if shape[0] else 0
            return [nest(values[i * step:(i + 1) * step], shape[1:]) for i in range(shape[0])]
        return nest(self.numbers(), self.shape)

    def __bool__(self):
        return builtins.bool(self.item())

    def __float__(self):
        return builtins.float(self.item())

    def __int__(self):
        return builtins.int(self.item())

    __index__ = __int__

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(self.shape[0]))

    def __repr__(self):
        return "tensor(%s, %s)" % (list(self.shape), self.dtype)

    __hash__ = object.__hash__

    # ---- types, devices ----

    def cast(self, dtype):
        start = self.start
        if isinstance(start, list) and not dtype.is_floating_point:
            start = [builtins.bool(v) if dtype.name == "bool" else builtins.int(v) for v in start]
        return self.like(self.shape, start, dtype)

    def to(self, *target, dtype=None, **_):
        if contains_proxy(target) or contains_proxy(dtype):  # self.mask.to(x.device, dtype=x.dtype)
            return Proxy.record("call_method", "to", (self,) + target, {} if dtype is None else {"dtype": dtype})
        for t in target:
            dtype = t if isinstance(t, type(self.dtype)) else t.dtype if isinstance(t, Tensor) else dtype
        return self.cast(dtype) if dtype and dtype is not self.dtype else self

    def type(self, dtype=None, **_):
        if dtype is None:
            return "torch.%sTensor" % {"float32": "Float", "int64": "Long", "float64": "Double", "bool": "Bool",
                                       "int32": "Int", "uint8": "Byte"}.get(self.dtype.name, "")
        name = dtype.rpartition(".")[2] if isinstance(dtype, str) else getattr(dtype, "legacy", None)
        return self.to(dtype if not isinstance(name, str) else LEGACY[name.replace("Tensor", "")])

    def astype(self, dtype, **_):
        return self.cast(as_dtype(dtype))

    def type_as(self, other):
        if contains_proxy(other):
            return Proxy.record("call_method", "type_as", (self, other), {})
        return self.cast(other.dtype)

    def float(self):
        return self.cast(DTYPES["float32"])

    def double(self):
        return self.cast(DTYPES["float64"])

    def long(self):
        return self.cast(DTYPES["int64"])

    def int(self):
        return self.cast(DTYPES["int32"])

    def bool(self):
        return self.cast(DTYPES["bool"])

    def same(self, *_, **__):
        return self

    contiguous = detach = cpu = cuda = numpy = pin_memory = detach_ = same

    def clone(self, **_):
        start = self.start if self.start or not self.maker else self.default()
        return self.like(self.shape, list(start) if isinstance(start, list) else start)

    # ---- new starts, in place ----

    def check_write(self):
        """Fail if forward changes a tensor that outlives it."""
        root = self.base if self.base is not None else self
        if TRACER and id(root) in TRACER.lasting:
            raise Fault("forward changes '%s' in place, which the next call would find changed: that "
                        "is not followed" % TRACER.home(root))

    def check_written(self):
        """Fail for elements of torch.empty that are not written."""
        left = self.unwritten if self.base is None else self.base.unwritten
        if TRACER is not None and left and (self.base is None or not left.isdisjoint(self.positions())):
            raise Fault("forward reads numbers of torch.empty that nothing has written: they are others for each call")

    def check_read(self):
        """Fail if it is a parameter: training and files change its values."""
        if TRACER is not None and id(self) in TRACER.parameters:
            raise Fault("the numbers of parameter '%s' are needed while tracing: read it as an attribute of its module"
                        % TRACER.home(self))

    def restart(self, start):
        self.check_write()
        self.start = start
        return self

    def take(self, made):
        """x += y, x.add_(y): in place, which views and other names see."""
        if tuple(made.shape) != tuple(self.shape):
            raise Fault("a tensor of %s cannot be written over with one of %s" % (list(self.shape), list(made.shape)))
        if made.dtype.is_floating_point and not self.dtype.is_floating_point:
            raise Fault("a tensor of %r cannot be written over with one of %r" % (self.dtype, made.dtype))
        return self.restart(made.start)

    def take_traced(self, made):
        """It is a traced value from now on."""
        self.check_write()
        if self.base is not None or self.has_views:
            raise Fault("a traced value is written over a tensor that has views, which is not followed: clone() first")
        TRACER.kept.append(self)
        TRACER.changed[id(self)] = made
        return made

    def draw(self, start, traced):
        """Draw anew; in forward in each call: `traced` makes the nodes for it."""
        if TRACER is None:
            return self.restart(start)
        return self.take_traced(traced(sys.modules["torch"], tuple(self.shape)))

    def normal_(self, mean=0.0, std=1.0, **_):
        return self.draw(("normal", std, mean), lambda torch, shape: torch.randn(shape) * std + mean)

    def uniform_(self, a=0.0, b=1.0, **more):
        a, b = more.get("from", a), more.get("to", b)
        return self.draw(("uniform", (b - a) / 2, (b + a) / 2), lambda torch, shape: torch.rand(shape) * (b - a) + a)

    def bernoulli_(self, p=0.5, **_):
        draws = Random(self.numel())
        return self.draw(None if TRACER else [builtins.float(draws.random() < p) for _ in range(self.numel())],
                         lambda torch, shape: torch.bernoulli(torch.full(shape, plain_number(p))))

    def fill_(self, value):
        return self.restart(("uniform", 0.0, value))

    def zero_(self):
        return self.fill_(0.0)

    def copy_(self, other, *_, **__):
        if TRACER and TRACER.may_change(self):
            return TRACER.change(self, "copy_", (other,), {})
        other = other if isinstance(other, Tensor) else from_numbers(other)
        return self.restart(other.stretched(self.shape).start)

    # ---- arithmetic ----

    def __add__(self, other):
        if not is_number(other) or isinstance(self.start, list) or not self.start:
            return binary(self, other, operator.add, True)
        return self.scaled(1, other)

    def __mul__(self, other):
        if not is_number(other) or isinstance(self.start, list) or not self.start:
            return binary(self, other, operator.mul, True)
        return self.scaled(other, 0)

    def __neg__(self):
        return self * -1

    def __abs__(self):
        return self.abs()

    def __sub__(self, other):
        return self + -other if is_number(other) else binary(self, other, operator.sub, True)

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        if is_number(other) and other and not isinstance(self.start, list) and self.start:
            return self.scaled(1 / other, 0)
        return binary(self, other, operator.truediv, False)

    def __rtruediv__(self, other):
        return binary(Tensor((), [other]), self, operator.truediv, False)

    def __pow__(self, other):
        return binary(self, other, operator.pow, True)

    def __rpow__(self, other):
        return binary(self.beside(other), self, operator.pow, True)

    def __floordiv__(self, other):
        return binary(self, other, operator.floordiv, True)

    def __rfloordiv__(self, other):
        return binary(self.beside(other), self, operator.floordiv, True)

    def __mod__(self, other):
        return binary(self, other, operator.mod, True)

    def __rmod__(self, other):
        return binary(self.beside(other), self, operator.mod, True)

    def beside(self, number):
        """A number as an operand of this type; a float beside integers stays a float."""
        return Tensor((), [number], DTYPES["float32"] if isinstance(number, float) else self.dtype)

    __radd__, __rmul__ = __add__, __mul__

    def __matmul__(self, other):
        return matmul(self, other) if isinstance(other, Tensor) else NotImplemented

    def __and__(self, other):
        return self.compared(other, lambda a, b: a & b) if self.dtype.name == "bool" else binary(
            self, other, operator.and_, True)

    def __or__(self, other):
        return self.compared(other, lambda a, b: a | b) if self.dtype.name == "bool" else binary(
            self, other, operator.or_, True)

    def __invert__(self):
        if self.dtype.name == "bool":
            return self.like(self.shape, [not v for v in self.numbers()])
        return self.like(self.shape, [~v for v in self.numbers()])

    def __getattr__(self, name):
        if name.startswith("_"):  # a private attribute that user code has not set
            raise AttributeError(name)
        raise Lacking("a tensor's '%s' cannot be computed while tracing" % name)


class Exposed(Tensor):
    """torch.Tensor, as user code names it."""
    exposed = True


Tensor.__module__ = Exposed.__module__ = "torch"
Exposed.__name__ = Exposed.__qualname__ = "Tensor"
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    def _compare(self, other, fn=getattr(operator, _name)):
        if isinstance(other, Proxy) or not (is_number(other) or isinstance(other, Tensor)):
            return NotImplemented
        return self.compared(other, fn)
    setattr(Tensor, "__%s__" % _name, _compare)


def assigned_in_place(name, fn):
    """x += y as x.add_(y)."""
    def method(self, other):
        if TRACER and TRACER.may_change(self):
            return TRACER.change(self, name + "_", (other,), {})
        if isinstance(other, Proxy):
            return self.take_traced(fn(Proxy(TRACER.tensor(self)), other))
        if not (is_number(other) or isinstance(other, Tensor)):
            return NotImplemented
        return self.take(fn(self, other))
    return method


for _name, _method in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("truediv", "div"), ("floordiv", "floor_divide"),
                       ("mod", "remainder"), ("pow", "pow"), ("and", "bitwise_and"), ("or", "bitwise_or")):
    setattr(Tensor, "__i%s__" % _name, assigned_in_place(_method, getattr(operator, _name + "_" * (_name in ("and", "or")))))


def binary(a, b, fn, exact):
    if isinstance(b, Proxy) or not (is_number(b) or isinstance(b, Tensor)):
        return NotImplemented
    return a.combined(b, fn, exact)


class Parameter(Tensor):
    def __init__(self, data=None, requires_grad=True):
        data = data if data is not None else Tensor((0,))
        if not isinstance(data, Tensor):
            raise Fault("a parameter is made from a tensor, got %s" % type(data).__name__)
        if isinstance(data, Parameter):
            raise Fault("a parameter made from another shares its numbers but not its gradient: to "
                        "tie them, assign the other itself")
        super().__init__(data.shape, data.start, data.dtype)
        self.requires_grad = requires_grad


Parameter.__module__ = "torch.nn.parameter"
