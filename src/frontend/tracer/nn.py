"""nn.py - stand-ins for torch.nn: Module and its containers."""

LAYERS = "torch.nn.modules"  # module name of layers, by which torch.fx recognises leaves


# ---- modules ----

class Module:
    training = True

    def __init__(self, *args, **kwargs):
        self.__dict__.update(_parameters={}, _buffers={}, _modules={})

    def __call__(self, *args, **kwargs):
        if TRACER is None:
            return self._hooked(lambda *a, **k: called_early(self, a, k), args, kwargs)
        return TRACER.call(self, args, kwargs)

    def forward(self, *args, **kwargs):
        raise Fault("%s has no forward" % type(self).__name__)

    def __setattr__(self, name, value):
        kinds = (("_parameters", Parameter), ("_modules", Module))
        if "_modules" not in self.__dict__ and isinstance(value, (Parameter, Module)):
            raise Fault("cannot assign '%s' before super().__init__() is called" % name)
        held = [self.__dict__.get(k, {}).get(name) for k in ("_parameters", "_buffers")]
        if TRACER and any(v is not None and TRACER.changed.get(id(v)) is value for v in held):
            return  # self.steps += 1 assigns the changed tensor
        if TRACER and any(v is not None for v in held):
            raise Fault("forward assigns '%s' anew, which the next call would find changed: that is "
                        "not followed" % name)
        home = next((k for k, cls in kinds if isinstance(value, cls)), None)
        if isinstance(value, Tensor) and value.becomes_buffer and "_buffers" in self.__dict__:
            self.register_buffer(name, value, value.persistent)
            home = "_buffers"
        tables = [self.__dict__[k] for k in ("_parameters", "_buffers", "_modules")
                  if k in self.__dict__]
        if not home and any(name in t for t in tables) and (value is None or
                                                            isinstance(value, Tensor)):
            home = next(k for k in ("_parameters", "_buffers", "_modules")
                        if name in self.__dict__[k])
        for t in tables:
            if not home or t is not self.__dict__[home]:
                t.pop(name, None)
        if home == "_buffers" and value is not None:
            value.persistent = getattr(self._buffers[name], "persistent", True)
        if home:
            self.__dict__.pop(name, None)
            self.__dict__[home][name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        for kind in ("_parameters", "_buffers", "_modules"):
            table = self.__dict__.get(kind, {})
            if name in table:
                value = table[name]
                is_read = TRACER and kind == "_parameters" and value is not None
                changed = TRACER.changed.get(id(value)) if TRACER else None
                return TRACER.parameter(value) if is_read else value if changed is None else changed
        raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))

    def __delattr__(self, name):
        for kind in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[kind]:
                del self.__dict__[kind][name]
                return
        object.__delattr__(self, name)

    def register_buffer(self, name, tensor, persistent=True):
        self._buffers[name] = tensor
        if tensor is not None:
            tensor.persistent = persistent

    def register_parameter(self, name, param):
        self._parameters[name] = param

    def add_module(self, name, module):
        self._modules[name] = module

    register_module = add_module

    # ---- iteration ----

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        memo = set() if memo is None else memo
        if self in memo:
            return
        memo.add(self)
        yield prefix, self
        for name, m in self._modules.items():
            if m is not None:
                yield from m.named_modules(memo, prefix + "." + name if prefix else name)

    def _named_places(self, prefix="", seen=None):
        """Every path to every module, and whether it is the module's first, in the order of the state dict."""
        seen = set() if seen is None else seen
        first = id(self) not in seen
        seen.add(id(self))
        yield prefix, self, first
        for name, m in self._modules.items():
            if m is not None:
                yield from m._named_places(prefix + "." + name if prefix else name, seen)

    def modules(self):
        return (m for _, m in self.named_modules())

    def named_children(self):
        return ((n, m) for n, m in self._modules.items() if m is not None)

    def children(self):
        return (m for _, m in self.named_children())

    def _named_owned(self, kind, recurse):
        seen = set()
        for path, m in self.named_modules() if recurse else [("", self)]:
            for name, t in m.__dict__[kind].items():
                if t is not None and id(t) not in seen:
                    seen.add(id(t))
                    is_read = TRACER and kind == "_parameters"
                    yield (path + "." + name if path else name), TRACER.known_parameter(t) if is_read else t

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        lead = prefix + "." if prefix else ""
        return ((lead + name, t) for name, t in self._named_owned("_parameters", recurse))

    def parameters(self, recurse=True):
        return (t for _, t in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        lead = prefix + "." if prefix else ""
        return ((lead + name, t) for name, t in self._named_owned("_buffers", recurse))

    def buffers(self, recurse=True):
        return (t for _, t in self.named_buffers(recurse=recurse))

    def get_submodule(self, path):
        m = self
        for name in path.split(".") if path else ():
            m = m._modules[name]
        return m

    def get_parameter(self, path):
        owner, _, name = path.rpartition(".")
        return getattr(self.get_submodule(owner), name)

    get_buffer = get_parameter

    def apply(self, fn):
        for m in self.children():
            m.apply(fn)
        fn(self)
        return self

    def requires_grad_(self, requires_grad=True):
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def train(self, mode=True):
        self.training = mode
        for m in self.children():
            m.train(mode)
        return self

    def eval(self):
        return self.train(False)

    # ---- hooks ----

    def register_forward_hook(self, hook, with_kwargs=False, **_):
        return Handle(self.__dict__.setdefault("_forward_hooks", []), hook, with_kwargs)

    def register_forward_pre_hook(self, hook, with_kwargs=False, **_):
        return Handle(self.__dict__.setdefault("_forward_pre_hooks", []), hook, with_kwargs)

    def _no_hook(self, *_, **__):
        """Hooks of gradients and files, which the graph has not."""
        return Handle([], None, False)

    register_backward_hook = register_full_backward_hook = register_full_backward_pre_hook = _no_hook
    register_state_dict_pre_hook = register_load_state_dict_post_hook = _register_state_dict_hook = _no_hook
    _register_load_state_dict_pre_hook = register_load_state_dict_pre_hook = _no_hook

    def _hooked(self, forward, args, kwargs):
        for handle in self.__dict__.get("_forward_pre_hooks", ()):
            given = handle.hook(self, args, kwargs) if handle.with_kwargs else handle.hook(self, args)
            if given is not None and handle.with_kwargs:
                args, kwargs = given
            elif given is not None:
                args = given if isinstance(given, tuple) else (given,)
        result = forward(*args, **kwargs)
        for handle in self.__dict__.get("_forward_hooks", ()):
            given = handle.hook(self, args, kwargs, result) if handle.with_kwargs else handle.hook(
                self, args, result)
            result = result if given is None else given
        return result

    # ---- states ----

    def state_dict(self, *_, prefix="", **__):
        out = {}
        for path, m, _first in self._named_places():
            for name, t in itertools.chain(m._parameters.items(), m._buffers.items()):
                if t is not None and (t.persistent or isinstance(t, Parameter)):
                    out[prefix + (path + "." + name if path else name)] = t
        return out

    def load_state_dict(self, state_dict, strict=True, assign=False):
        if isinstance(state_dict, (Weights, Absent)):
            note(here(), "weights that a model reads from a file are left out; --load gives it some")
            return Keys((), ())
        own = self.state_dict()
        missing, more = [n for n in own if n not in state_dict], [n for n in state_dict if n not in own]
        if strict and missing + more:
            raise Fault("load_state_dict: %s %s" % (", ".join(missing or more),
                                                    "missing" if missing else "not known"))
        for name, t in own.items():
            if name in state_dict:
                if tuple(t.shape) != tuple(state_dict[name].shape):
                    raise Fault("load_state_dict: '%s' is of %s, given %s" % (
                        name, list(t.shape), list(state_dict[name].shape)))
                t.copy_(state_dict[name].clone())
        return Keys(missing, more)

    # ---- methods without effect on the graph ----

    def _same(self, *_, **__):
        return self

    to = cuda = cpu = float = double = xpu = compile = share_memory = to_empty = zero_grad = _same

    def half(self):
        raise Fault("a network in half precision is not followed")

    bfloat16 = half

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        return ""

    def __repr__(self):
        return "%s()" % type(self).__name__


class Buffer:
    """self.mask = nn.Buffer(t) is self.register_buffer("mask", t)."""

    def __new__(cls, data=None, *, persistent=True):
        data = Tensor((0,)) if data is None else data.view(*data.shape)
        data.persistent, data.becomes_buffer = persistent, True
        return data


class Handle:
    """The result of registering a hook."""

    def __init__(self, hooks, hook, with_kwargs):
        self.hooks, self.hook, self.with_kwargs = hooks, hook, with_kwargs
        hooks.append(self)

    def remove(self):
        if self in self.hooks:
            self.hooks.remove(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class Keys(tuple):
    """The result of load_state_dict."""

    def __new__(cls, missing, unexpected):
        made = super().__new__(cls, (missing, unexpected))
        made.missing_keys, made.unexpected_keys = list(missing), list(unexpected)
        return made


class Sequential(Module):
    def __init__(self, *modules):
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, m in modules[0].items():
                self.add_module(name, m)
        else:
            for i, m in enumerate(modules):
                self.add_module(str(i), checked(m, "Sequential"))

    def forward(self, input):
        for m in self._modules.values():
            input = m(input)
        return input

    def append(self, module):
        self.add_module(str(len(self)), checked(module, type(self).__name__))
        return self

    def extend(self, modules):
        for m in modules:
            self.append(m)
        return self

    def insert(self, index, module):
        modules = list(self)
        modules.insert(index, checked(module, type(self).__name__))
        self._modules.clear()
        for m in modules:
            self.append(m)
        return self

    def pop(self, i):
        taken = self[i]
        del self[i]
        return taken

    def __add__(self, other):
        return type(self)(*self, *other) if type(self) is Sequential else type(self)([*self, *other])

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __getitem__(self, i):
        if isinstance(i, slice):
            return type(self)(*list(self)[i])
        return list(self)[i]

    def __setitem__(self, i, module):
        self._modules[list(self._modules)[i]] = module

    def __delitem__(self, i):
        kept = [m for n, m in enumerate(self) if n != i % len(self)]
        self._modules.clear()
        for m in kept:
            self.append(m)


def checked(m, owner):
    if isinstance(m, Absent):
        m.look()
    if not isinstance(m, Module):
        raise Fault("%s holds modules, got %s" % (owner, type(m).__name__))
    return m


class ModuleList(Sequential):
    def __init__(self, modules=()):
        Module.__init__(self)
        self.extend(modules)

    def forward(self, *args):
        raise Fault("a ModuleList is not called: call the modules in it")

    __iadd__ = Sequential.extend

    def __getitem__(self, i):
        return ModuleList(list(self)[i]) if isinstance(i, slice) else list(self)[i]


class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        self.update(modules or {})

    def update(self, modules):
        for name, m in modules.items() if hasattr(modules, "items") else modules:
            self[name] = m

    def __setitem__(self, name, m):
        self._modules[name] = checked(m, "ModuleDict")

    def __getitem__(self, name):
        return self._modules[name]

    def __iter__(self):
        return iter(self._modules)

    def __len__(self):
        return len(self._modules)

    def __contains__(self, name):
        return name in self._modules

    def __delitem__(self, name):
        del self._modules[name]

    def pop(self, name):
        return self._modules.pop(name)

    def keys(self):
        return self._modules.keys()

    def items(self):
        return self._modules.items()

    def values(self):
        return self._modules.values()


class ParameterList(Module):
    def __init__(self, values=()):
        super().__init__()
        for v in values:
            self.append(v)

    def append(self, v):
        setattr(self, str(len(self)), v if isinstance(v, Parameter) else Parameter(v))
        return self

    def __len__(self):
        return len(self._parameters)

    def __getitem__(self, i):
        return getattr(self, str(i % len(self)))

    def __setitem__(self, i, v):
        setattr(self, str(i % len(self)), v if isinstance(v, Parameter) else Parameter(v))

    def __iter__(self):
        return (self[i] for i in range(len(self)))


    def extend(self, values):
        for v in values:
            self.append(v)
        return self

    __iadd__ = extend


class DataParallel(Module):
    """With a single device it calls its module."""

    def __init__(self, module, *_, **__):
        super().__init__()
        self.module = module

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)


class ParameterDict(Module):
    def __init__(self, values=None):
        super().__init__()
        for name, v in (values or {}).items():
            self[name] = v

    def __setitem__(self, name, v):
        setattr(self, name, v if isinstance(v, Parameter) else Parameter(v))

    def __getitem__(self, name):
        return getattr(self, name)

    def __iter__(self):
        return iter(self._parameters)

    def __len__(self):
        return len(self._parameters)

    def __contains__(self, name):
        return name in self._parameters

    def keys(self):
        return self._parameters.keys()

    def items(self):
        return [(name, self[name]) for name in self]

    def values(self):
        return [self[name] for name in self]

    def update(self, values):
        for name, v in values.items() if hasattr(values, "items") else values:
            self[name] = v
