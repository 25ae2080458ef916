"""torch.py - stand-ins for torch, its functions and its packages, made from the tables of ops.def."""

# ---- functions ----

# Names in torch.nn.functional of functions that torch has under another name. For other functions, the
# first name in the row of ops.def.
ALIASES = {
    "adaptive_avg_pool1d": "torch.adaptive_avg_pool1d", "avg_pool1d": "torch.avg_pool1d",
    "avg_pool2d": "torch._C._nn.avg_pool2d", "bilinear": "torch.bilinear",
}


# In forward these draw anew in every call.
DRAWN = {"torch." + name for name in ("rand", "randn", "randint", "rand_like", "randn_like", "normal", "bernoulli")}


def numbers_of(v):
    """torch.linspace(0, 1, x.size(1), dtype=x.dtype) with known values of x."""
    if isinstance(v, tuple):
        return tuple(map(numbers_of, v))
    if isinstance(v, Attribute) and v.name == "device":
        return device("cpu")
    known_of = decided(v, lambda made: made if isinstance(made, dtype) else plain_of(made)) if isinstance(v, Proxy) else None
    return v if known_of is None else known_of


def as_written(target, maker=None):
    """Functions of torch itself are recorded as they are called."""
    def function(*args, **kwargs):
        if maker and target not in TABLES.functions:
            args, kwargs = numbers_of(args), {k: numbers_of(v) for k, v in kwargs.items()}
        if contains_proxy(args) or contains_proxy(kwargs):
            known(target, TABLES.functions, "function")
            if target.endswith("_") and args:
                TRACER.check_write(args[0])
            return Proxy.record("call_function", target, args, kwargs)
        if TRACER is not None and target in DRAWN:
            return Proxy.record("call_function", target, args, kwargs)
        if maker:
            return maker(*args, **kwargs)
        return concrete(target, args, kwargs)
    function.__name__ = target.rpartition(".")[2]
    return function


def joined(tensors, dim=0):
    """torch.cat of Tensors."""
    first = tensors[0]
    dim %= first.ndim
    if any(t.is_unknown for t in tensors):
        shape = first.shape[:dim] + (sum(t.shape[dim] for t in tensors),) + first.shape[dim + 1:]
        return Tensor(shape, UNKNOWN)
    if any(t.shape[:dim] + t.shape[dim + 1:] != first.shape[:dim] + first.shape[dim + 1:]
           for t in tensors):
        raise Fault("tensors of %s cannot be joined" % ", ".join(str(list(t.shape))
                                                                 for t in tensors))
    floating = [t for t in tensors if t.dtype.is_floating_point]
    blocks = [(math.prod(t.shape[dim:]), t.numbers()) for t in tensors]
    numbers = [v for i in range(math.prod(first.shape[:dim])) for n, values in blocks
               for v in values[i * n:(i + 1) * n]]
    shape = first.shape[:dim] + (sum(t.shape[dim] for t in tensors),) + first.shape[dim + 1:]
    return Tensor(shape, numbers, (floating or [first])[0].dtype)


def stacked(tensors, dim=0):
    return joined([t.unsqueeze(dim) for t in tensors], dim % (tensors[0].ndim + 1))


JOINS = {"cat": joined, "concat": joined, "stack": stacked}


def has_parameter(value):
    """Is there a parameter? forward reads it as a traced value."""
    if isinstance(value, (tuple, list)):
        return any(has_parameter(v) for v in value)
    return isinstance(value, Tensor) and TRACER is not None and id(value) in TRACER.parameters


def concrete(target, args, kwargs):
    """The function applied to Tensors."""
    name = target.rpartition(".")[2]
    if has_parameter(args):
        return Proxy.record("call_function", target, args, kwargs)
    if name in JOINS and args and all(isinstance(t, Tensor) for t in args[0]):
        return JOINS[name](*args, **kwargs)
    if name in FUNCTIONS:
        return FUNCTIONS[name](*args, **kwargs)
    if not args and isinstance(kwargs.get("input"), Tensor):
        kwargs = dict(kwargs)
        args = (kwargs.pop("input"),)
    if args and is_number(args[0]) and len(args) > 1 and isinstance(args[1], Tensor):
        args = (args[1].beside(args[0]),) + args[1:]
    if args and isinstance(args[0], Tensor):
        if not hasattr(Tensor, name) and hasattr(operator, name) and len(args) == 2:
            return getattr(operator, name)(*args)
        return getattr(args[0], name)(*args[1:], **kwargs)
    raise Fault("%s cannot be computed while tracing: none of its arguments is traced" % target)


def in_python(target, signature):
    """Functions that torch.nn.functional defines in Python: recorded with defaults, all by keyword."""
    def function(*args, **kwargs):
        bound = signature.bind(target, args, kwargs)
        required = tuple(bound[n] for n in signature.names if n not in signature.defaults)
        name = target.rpartition(".")[2]
        if required and isinstance(required[0], Tensor) and hasattr(Tensor, name) and not contains_proxy(
                args) and not has_parameter(args):
            return getattr(required[0], name)(*args[1:], **kwargs)
        if TRACER is None and name in SHAPES and required and isinstance(required[0], Tensor):
            return Tensor(SHAPES[name](required[0].shape, Info(bound)), UNKNOWN)
        named = {n: bound[n] for n in signature.names if n in signature.defaults}
        return Proxy.record("call_function", target, required, named)
    function.__name__ = target.rpartition(".")[2]
    return function


def python_or(traced, existing):
    """The first function for traced values and parameters, the second for Tensors."""
    def function(*args, **kwargs):
        if contains_proxy(args) or contains_proxy(kwargs) or (
                TRACER and args and id(args[0]) in TRACER.parameters):
            return traced(*args, **kwargs)
        return existing(*args, **kwargs)
    return function


def by_method(name):
    """nn.functional.sigmoid(x) is x.sigmoid()."""
    def function(input):
        return getattr(input, name)()
    return function


def functional(tables):
    out = {}
    for target, first in tables.first.items():
        name = target.rpartition(".")[2]
        first = ALIASES.get(name, first)
        if name in ("sigmoid", "tanh"):
            out[name] = by_method(name)
        elif first == target:
            out[name] = in_python(target, tables.functions[target])
        else:
            out[name] = as_written(first)
    out["scaled_dot_product_attention"] = attention(out["scaled_dot_product_attention"])
    out["multi_head_attention_forward"] = multi_head_attention_forward
    out["_in_projection_packed"] = in_projection_packed
    for name in list(out):  # relu_ is torch's own, leaky_relu_ is in torch._C._nn
        for target in ("torch.%s_" % name, "torch._C._nn.%s_" % name):
            if target in tables.functions:
                out[name + "_"] = as_written(target)
    return out


def torch_split(tensor, split_size_or_sections, dim=0):
    """torch.split is defined in Python."""
    if isinstance(tensor, Tensor) and not has_parameter(tensor):
        return tensor.split(split_size_or_sections, dim)
    return Proxy.record("call_function", "torch.functional.split",
                        (tensor, split_size_or_sections), {"dim": dim})


def torch_einsum(equation, *operands):
    """torch.einsum is defined in Python; its operands may be a list."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not isinstance(equation, str):
        raise Fault("einsum of lists of numbers is not supported: write its equation as a text")
    if not contains_proxy(operands) and not has_parameter(operands):
        return FUNCTIONS["einsum"](equation, *operands)
    return Proxy.record("call_function", "torch.functional.einsum", (equation,) + operands, {})


def attention(sdpa):
    """Repeat keys and values for groups of queries if they have fewer heads."""
    def scaled_dot_product_attention(query, key, value, *args, enable_gqa=False, **kwargs):
        if enable_gqa:
            heads = [decided(t, lambda v: v.shape[-3]) for t in (query, key)]
            if not all(is_number(n) for n in heads):
                raise Fault("scaled_dot_product_attention(enable_gqa=True): how many heads there are is not known")
            if heads[0] != heads[1]:
                key, value = (t.repeat_interleave(heads[0] // heads[1], dim=-3) for t in (key, value))
        return sdpa(query, key, value, *args, **kwargs)
    return scaled_dot_product_attention


def watch_math(tables):
    """math.sqrt of a traced value is a node."""
    for name, fn in list(vars(math).items()):
        if callable(fn) and "math." + name in tables.functions:
            setattr(math, name, as_written("math." + name, fn))


# ---- initialisers ----

def fans(t):
    if t.dim() < 2:
        raise Fault("fan in and fan out need a tensor of at least 2 dimensions")
    field = math.prod(t.shape[2:])
    return t.shape[1] * field, t.shape[0] * field


def gain_of(nonlinearity, param=None):
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2.0 / (1 + slope * slope))
    gains = {"relu": math.sqrt(2.0), "tanh": 5.0 / 3, "selu": 0.75}
    linear = ("linear", "sigmoid", "conv1d", "conv2d", "conv3d")
    if nonlinearity not in gains and nonlinearity not in linear:
        raise Fault("unknown nonlinearity '%s'" % nonlinearity)
    return gains.get(nonlinearity, 1.0)


def spread(t, std, shape):
    return t.normal_(0.0, std) if shape == "normal" else t.uniform_(-math.sqrt(3.0) * std,
                                                                    math.sqrt(3.0) * std)


def xavier(shape):
    def start(tensor, gain=1.0, **_):
        return spread(tensor, gain * math.sqrt(2.0 / sum(fans(tensor))), shape)
    return start


def kaiming(shape):
    def start(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", **_):
        fan = fans(tensor)[("fan_in", "fan_out").index(mode)]
        return spread(tensor, gain_of(nonlinearity, a) / math.sqrt(fan), shape)
    return start


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, **_):
    """Asymmetric limits are rare; the narrower side counts."""
    kept = math.erf(min(mean - a, b - mean) / std / math.sqrt(2))
    if kept < 0.5:
        raise Fault("trunc_normal_ that keeps less than half of the normal is not supported")
    return tensor.normal_(mean, std * cut_deviation(kept))


def orthogonal_(tensor, gain=1, **_):
    """A normal distribution with equal deviation; reported, since it is approximate."""
    rows, columns = tensor.shape[0], tensor.numel() // max(tensor.shape[0], 1)
    note(here(), "orthogonal_ starts as a normal of the same deviation, which is not orthogonal")
    return tensor.normal_(0.0, gain / math.sqrt(max(rows, columns, 1)))


def eye_(tensor):
    return tensor.copy_(eye(*tensor.shape))


def dirac_(tensor, groups=1):
    out, into = tensor.shape[0] // groups, tensor.shape[1]
    tensor.fill_(0.0)
    middle = tuple(n // 2 for n in tensor.shape[2:])
    for g in range(groups):
        for i in range(min(out, into)):
            tensor[(g * out + i, i) + middle] = 1.0
    return tensor


INIT = {
    "uniform_": lambda tensor, a=0.0, b=1.0, **_: tensor.uniform_(a, b),
    "normal_": lambda tensor, mean=0.0, std=1.0, **_: tensor.normal_(mean, std),
    "constant_": lambda tensor, val: tensor.fill_(val),
    "ones_": lambda tensor: tensor.fill_(1.0),
    "zeros_": lambda tensor: tensor.fill_(0.0),
    "trunc_normal_": trunc_normal_, "orthogonal_": orthogonal_, "eye_": eye_, "dirac_": dirac_,
    "xavier_uniform_": xavier("uniform"), "xavier_normal_": xavier("normal"),
    "kaiming_uniform_": kaiming("uniform"), "kaiming_normal_": kaiming("normal"),
    "calculate_gain": gain_of, "_calculate_fan_in_and_fan_out": fans,
    "_calculate_correct_fan": lambda tensor, mode: fans(tensor)[("fan_in", "fan_out").index(mode.lower())],
}


def quietly(fill):
    """Without gradients, as torch.nn.init."""
    @functools.wraps(fill)
    def call(tensor, *args, **kwargs):
        if not isinstance(tensor, Proxy):
            return fill(tensor, *args, **kwargs)
        with no_grad():
            return fill(tensor, *args, **kwargs)
    return call


INIT = {name: quietly(fill) if name.endswith("_") else fill for name, fill in INIT.items()}
INIT.update({name[:-1]: fn for name, fn in INIT.items() if name.endswith("_")})  # deprecated names


# ---- the packages ----

class Package(types.ModuleType):
    """A stand-in for a package: unknown names become classes and functions that fail when used."""

    def __init__(self, name, content=(), layers=None):
        super().__init__(name)
        self.__path__ = []
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)  # others test whether torch is installed
        self.__dict__.update(content)
        self.__dict__["_layers"] = layers

    def __setattr__(self, name, value):
        """"import torch.nn.utils.weight_norm as w" means the function, though there is a module of that name."""
        if not isinstance(value, types.ModuleType) or not callable(self.__dict__.get(name)):
            super().__setattr__(name, value)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        full = self.__name__ + "." + name
        if full in sys.modules:
            return sys.modules[full]
        if name.lstrip("_")[:1].isupper():
            made = missing_layer(name, self._layers) if self._layers else Absent(full)
        else:
            made = UnknownFunction(full)
        setattr(self, name, made)
        return made


class UnknownFunction:
    """Fails when it is called; also torch.hub.load."""

    def __init__(self, full):
        self.full = full

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return UnknownFunction("%s.%s" % (self.full, name))

    def __call__(self, *args, **kwargs):
        if TRACER is None and len(args) == 1 and not kwargs and is_plain_code(args[0]):
            return args[0]  # a decorator
        if self.full.endswith(".is_available"):
            return False  # queries of devices: torch.npu
        known(self.full, TABLES.functions, "function")
        raise Fault("'%s' cannot be used while tracing" % self.full)


def of_existing(target):
    def function(*args, **kwargs):
        if contains_proxy(args) or contains_proxy(kwargs) or has_parameter(args):
            known(target, TABLES.functions, "function")
        return concrete(target, args, kwargs)
    function.__name__ = target.rpartition(".")[2]
    return function


def torch_content(tables):
    content = {name: as_written("torch." + name, fn) for name, fn in MAKERS.items()}
    for target in tables.functions:
        head, _, name = target.rpartition(".")
        if head == "torch" and name not in content:
            content[name] = as_written(target)
    for name in itertools.chain(METHODS, FUNCTIONS):  # supported for Tensors, not for traced values
        if name not in content and not name.endswith("_"):
            content[name] = of_existing("torch." + name)
    for target, signature in tables.functions.items():  # torch.norm is defined in torch.functional, in Python
        head, _, name = target.rpartition(".")
        if head == "torch.functional" and name not in ("split", "einsum"):
            content[name] = python_or(in_python(target, signature), content[name])
    content["spmm"] = content["mm"]  # of dense tensors
    content.update(LEGACY_TYPES, finfo=as_written("torch.finfo", limits), iinfo=limits)
    content.update(DTYPES, dtype=dtype, device=device, Size=Size, Tensor=Exposed, split=torch_split, einsum=torch_einsum,
                   no_grad=no_grad, inference_mode=inference_mode, enable_grad=enable_grad,
                   set_grad_enabled=set_grad_enabled, is_grad_enabled=lambda: Grad.enabled,
                   inf=math.inf, pi=math.pi,
                   nan=math.nan, __version__="2.1.0", is_tensor=lambda t: isinstance(t, Exposed),
                   is_floating_point=lambda input: input.is_floating_point(), is_complex=lambda input: False)
    return content


def nn_content(tables):
    content = {"Module": Module, "Sequential": Sequential, "ModuleList": ModuleList,
               "ModuleDict": ModuleDict, "ParameterList": ParameterList,
               "ParameterDict": ParameterDict, "Parameter": Parameter,
               "DataParallel": DataParallel, "Buffer": Buffer}
    bases = {"Conv": type("_ConvNd", (Layer,), {}), "BatchNorm": type("_BatchNorm", (Layer,), {}), "Embedding": Table}
    for name, signature in tables.layers.items():
        base = next((b for start, b in bases.items() if name.startswith(start)), Layer)
        content[name] = type(name, (base,), {"signature": signature, "__module__": LAYERS,
                                             "__qualname__": name})
    content.update({cls.__name__: cls for cls in COMPOSED})
    for cls in content.values():
        cls.__module__ = LAYERS if cls is not Parameter else cls.__module__
    return content, bases


LAYER_CLASSES = {}  # names in torch.nn


def repeated(count):
    """_pair(3) is (3, 3)."""
    return lambda v: tuple(v) if isinstance(v, (tuple, list)) else (v,) * count


def install(tables):
    """Register the stand-ins as modules."""
    layers, bases = nn_content(tables)
    LAYER_CLASSES.update(layers)
    packages = {
        "torch": torch_content(tables),
        "torch.nn": layers,
        "torch.nn.functional": functional(tables),
        "torch.nn.init": INIT,
        "torch.nn.parameter": {"Parameter": Parameter, "Buffer": Buffer},
        "torch.nn.parallel": {"DataParallel": DataParallel, "DistributedDataParallel": DataParallel},
        "torch.nn.modules": layers,
        "torch.nn.modules.conv": dict(layers, _ConvNd=bases["Conv"]),
        "torch.nn.modules.batchnorm": dict(layers, _BatchNorm=bases["BatchNorm"]),
        "torch.nn.modules.utils": dict({"_%s" % n: repeated(i + 1) for i, n in enumerate((
            "single", "pair", "triple", "quadruple"))}, _ntuple=repeated),
        "torch.functional": {"split": torch_split, "einsum": torch_einsum},
        "torch.linalg": {"lstsq": lstsq, "norm": python_or(as_written("torch._C._linalg.linalg_norm"),
                                                           of_existing("torch.linalg.norm")),
                         "vector_norm": as_written("torch._C._linalg.linalg_vector_norm"),
                         "cross": as_written("torch._C._linalg.linalg_cross")},
        "torch.special": {target.rpartition(".")[2]: as_written(target) for target in tables.functions
                          if target.startswith("torch.special.")},
    }
    for name, content in NAMES.items():
        packages[name] = dict(packages.get(name, {}), **content)
        packages.setdefault(name.rpartition(".")[0] or "torch", {})
    for name, content in packages.items():
        is_layers = name in ("torch.nn", "torch.nn.modules")
        sys.modules[name] = Package(name, content, tables.layers if is_layers else None)
    for name in packages:
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, sys.modules[name])
    sys.meta_path[:0] = [Finder(), FileFinder()]
    sys.meta_path.append(LastFinder())
    watch_math(tables)
    watch_arguments()
    watch_draws()
