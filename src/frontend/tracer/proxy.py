"""proxy.py - proxies stand for the values that flow through forward.

The rules are torch.fx's: an operation on a proxy becomes a node, an attribute becomes a node when it is used, and a
value that Python needs now (an if, a loop, a length) cannot be traced.
"""

TRACER = None  # the current one; None while the model is built
OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor",
             "lshift", "rshift", "eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "invert", "abs")
REFLECTED = OPERATORS[:13]
OF_NUMPY = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv",
            "floor_divide": "floordiv", "power": "pow", "remainder": "mod"}  # names of NumPy's functions
ASSIGNED = [n for n in REFLECTED if n != "matmul"]  # x += y changes x, as x.add_(y) does


# ---- places in the user's files ----

STDLIB = os.path.dirname(os.__file__) + os.sep


def in_packages(filename):
    """The path within the installed packages; "": elsewhere."""
    for folder in ("site-packages", "dist-packages"):
        _, found, rest = filename.partition(os.sep + folder + os.sep)
        if found:
            return rest
    return ""


def is_users(filename):
    """Is it user code, or that of a package whose network is traced?"""
    rest = in_packages(filename)
    if filename.endswith(".pyx"):  # NumPy's frames name .pyx files
        return False
    return re.split(r"[/.]", rest)[0] in IN_USE if rest else not filename.startswith(("<", STDLIB))


def columns(filename, line, code, lasti):
    """First column and length of the expression of an instruction; before 3.11 the line."""
    if hasattr(code, "co_positions") and lasti >= 0:
        first, last, col, end = next(itertools.islice(code.co_positions(), lasti // 2, None))
        if first == line and col is not None:
            return col + 1, end - col if first == last else 1
    text = linecache.getline(filename, line)
    return len(text) - len(text.lstrip()) + 1, max(len(text.strip()), 1)


def place(filename, line, code, lasti):
    col, span = columns(filename, line, code, lasti)
    return {"path": filename, "line": line, "col": col, "span": span}


def here():
    """The innermost place in user code."""
    frame = sys._getframe(1)
    while frame and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    if not frame:
        return None
    return place(frame.f_code.co_filename, frame.f_lineno, frame.f_code, frame.f_lasti)


# ---- proxies ----

def contains_proxy(value):
    if isinstance(value, (tuple, list)):
        return any(contains_proxy(v) for v in value)
    if isinstance(value, dict):
        return any(contains_proxy(v) for v in value.values())
    if isinstance(value, slice):
        return contains_proxy((value.start, value.stop, value.step))
    return isinstance(value, Proxy)


def assertion(frame):
    """The message of the assert statement that asks for a truth value here, in a tuple; None: not an assert. torch.fx can
    record these, too, in some versions of Python."""
    steps = list(itertools.dropwhile(lambda s: s.offset < frame.f_lasti,
                                     dis.get_instructions(frame.f_code)))
    steps = [s for s in steps[:6] if s.opname not in ("TO_BOOL", "CACHE", "NOT_TAKEN")]
    if steps and steps[0].opname == "COMPARE_OP":  # from 3.13 on COMPARE_OP converts to bool
        steps = steps[1:]
    if len(steps) < 3 or not steps[0].opname.startswith("POP_JUMP") or "TRUE" not in steps[0].opname:
        return None
    if steps[1].opname != "LOAD_ASSERTION_ERROR" and steps[1].argval is not AssertionError:
        if steps[1].opname != "LOAD_GLOBAL" or steps[1].argval != "AssertionError":
            return None
    text = steps[2].argval
    return (text,) if steps[2].opname == "LOAD_CONST" and isinstance(text, str) else ()


def plain_of(v):
    return v if is_number(v) else NotImplemented


def plain_truth(v):
    return builtins.bool(v) if isinstance(v, (builtins.bool, int, float)) else NotImplemented


def count_of(v):
    if isinstance(v, tuple):
        return len(v)
    return v.shape[0] if is_number(v.shape[0]) else NotImplemented


NEVER = ("is_cuda", "is_sparse", "is_quantized", "is_mkldnn", "is_meta", "is_nested")  # false for all values


class Proxy:
    def __init__(self, node):
        self.own, self.tracer = node, TRACER

    @property
    def node(self):
        return self.own if self.tracer is TRACER else renewed(TRACER, self.tracer, self.own)

    def __setattr__(self, name, value):
        if name == "data" and set_data(self, value):
            return
        if name == "data":
            TRACER.check_write(self)
        if name in ("data", "grad", "requires_grad"):
            raise Fault("'%s' of a traced value cannot be set" % name)
        object.__setattr__(self, name, value)

    def __repr__(self):
        """Used in messages of assert; torch.fx's name."""
        return "Proxy(%s)" % self.tracer.name(self.node)

    @staticmethod
    def record(kind, target, args, kwargs):
        return Proxy(TRACER.node(kind, target, args, kwargs))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in NEVER:
            return False
        if name == "data":
            held = data_of(self)
            return self.detach() if held is None else held
        return Attribute(self, name)

    def __getitem__(self, index):
        for i in index if isinstance(index, tuple) else (index,):
            if isinstance(i, Tensor) and i.dtype.name == "bool":
                i.used = True  # it decides a shape
        return Proxy.record("call_function", "operator.getitem", (self, index), {})

    def __setitem__(self, index, value):
        """Later reads of self see the change, as in graphs; x[mask] = 0 is a function of its own."""
        if isinstance(index, Proxy):
            self.masked_fill_(index, value)
        else:
            Proxy.record("call_function", "operator.setitem", (self, index, value), {})

    def __iter__(self):
        """a, b = x has a known length; a loop has not."""
        frame = sys._getframe(1)
        for step in dis.get_instructions(frame.f_code):
            if step.offset == frame.f_lasti and step.opname == "UNPACK_SEQUENCE":
                return iter([self[i] for i in range(step.argval)])
        count = decided(self, count_of)
        if count is not None:
            return iter([self[i] for i in range(count)])
        raise Fault("a loop over a traced value: its length is not known while tracing")

    def __bool__(self):
        message = assertion(sys._getframe(1))
        if message is None:
            answer = decided(self, plain_truth)
            if answer is not None:
                return answer
            raise Fault("control flow on data: whether this holds is not known while tracing")
        Proxy.record("call_function", "torch._assert", (self,) + message, {})
        return True

    def __len__(self):
        count = decided(self, count_of)
        if count is not None:
            return count
        raise Fault("the length of a traced value is not known while tracing; use x.size(0)")

    def __contains__(self, item):
        raise Fault("control flow on data: 'in' cannot be answered while tracing")

    def __int__(self):
        return int(self._number())

    def __float__(self):
        return float(self._number())

    def __index__(self):
        return operator.index(self._number())

    def _number(self):
        number = decided(self, plain_of)
        if number is None:
            raise Fault("a traced value is no plain number while tracing")
        return number

    __complex__ = __float__
    __hash__ = object.__hash__

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        """np.float64(2) * x is a traced product; np.log(x.size(1)) a number, if it is known."""
        plain = [a.item() if hasattr(a, "item") and not isinstance(a, (Proxy, Tensor)) else a for a in args]
        name = OF_NUMPY.get(ufunc.__name__)
        if method == "__call__" and name and not kwargs:
            return getattr(operator, name)(*plain)
        return getattr(ufunc, method)(*[a._number() if isinstance(a, Proxy) else a for a in args], **kwargs)

    def __call__(self, *args, **kwargs):
        raise Fault("a traced value is not a function")


class Known(Proxy):
    """A parameter that forward found by iterating over modules: its shape and type are known."""

    def __init__(self, value):
        self.value, self.made, self.tracer = value, None, TRACER

    @property
    def node(self):
        if self.made is None or self.tracer is not TRACER:
            self.made, self.tracer = TRACER.tensor(self.value), TRACER
        return self.made

    def __setattr__(self, name, value):
        if name == "requires_grad":
            self.value.requires_grad = value
        else:
            super().__setattr__(name, value)

    def requires_grad_(self, requires_grad=True):
        self.value.requires_grad_(requires_grad)
        return self

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    requires_grad = property(lambda self: self.value.requires_grad)
    dtype = property(lambda self: self.value.dtype)

    def is_floating_point(self):
        return self.value.dtype.is_floating_point

    def size(self, dim=None):
        return self.value.size(dim)

    def dim(self):
        return self.value.ndim


class Listed(Known):
    """A parameter in a list of the module's: each use reads it, as in torch.fx."""

    @property
    def node(self):
        return TRACER.tensor(self.value)


class Attribute(Proxy):
    """x.name: a method if it is called, else a value, recorded at its first use."""

    def __init__(self, owner, name):
        self.owner, self.name, self.read, self.tracer = owner, name, None, owner.tracer

    @property
    def node(self):
        if self.read is None or self.tracer is not TRACER:
            self.read = TRACER.node("call_function", "builtins.getattr",
                                    (self.owner, self.name), {})
            self.tracer = TRACER
        return self.read

    # There is one device, so attributes of x.device are constants.

    def __str__(self):
        return "cpu" if self.name == "device" else super().__str__()

    def __getattr__(self, name):
        if self.name == "device" and name in ("type", "index"):
            return getattr(device("cpu"), name)
        return super().__getattr__(name)

    def __eq__(self, other):
        return str(other) == "cpu" if self.name == "device" else Proxy.__eq__(self, other)

    def __ne__(self, other):
        return not self == other if self.name == "device" else Proxy.__ne__(self, other)

    __hash__ = object.__hash__

    def __call__(self, *args, **kwargs):
        if self.name in ("requires_grad_", "retain_grad") and self.name not in TRACER.tables.methods:
            return self.owner  # gradients of inputs are not computed here
        if self.name == "is_floating_point" and not args:
            return has_floats(self.owner)
        known(self.name, TRACER.tables.methods, "method")
        if self.name.endswith("_") and not self.name.endswith("__"):
            TRACER.check_write(self.owner)
        return Proxy.record("call_method", self.name, (self.owner,) + args, kwargs)


def operator_method(name):
    target = "operator." + name

    def method(self, *other):
        known(target, TRACER.tables.functions, "operator")
        return Proxy.record("call_function", target, (self,) + other, {})
    return method


def reflected_method(name):
    def method(self, other):
        known("operator." + name, TRACER.tables.functions, "operator")
        return Proxy.record("call_function", "operator." + name, (other, self), {})
    return method


def assigned_method(name):
    def method(self, other):
        known("operator." + name, TRACER.tables.functions, "operator")
        result = Proxy.record("call_function", "operator." + name, (self, other), {})
        TRACER.nodes[result.node]["assigned"] = True
        return result
    return method


for _name in OPERATORS:
    setattr(Proxy, "__%s__" % _name.rstrip("_"), operator_method(_name))
for _name in REFLECTED:
    setattr(Proxy, "__r%s__" % _name.rstrip("_"), reflected_method(_name))
for _name in ASSIGNED:
    setattr(Proxy, "__i%s__" % _name.rstrip("_"), assigned_method(_name))


def known(name, table, what):
    if name in table:
        return
    import difflib
    lower = {n.lower(): n for n in table}  # nn.Relu
    near = [lower[n] for n in difflib.get_close_matches(name.lower(), list(lower), 1)]
    raise Fault("unknown %s '%s'%s" % (what, name, "; did you mean '%s'?" % near[0] if near else ""))
