"""graph.py - the graph that one call of forward records."""

OWNED = ("_parameters", "_buffers", "_modules")


class Tracer:
    """Records one call of forward, in the current mode of the model."""
    trainings = 0  # number of calls after which an optimiser may have changed parameters

    def __init__(self, root, tables, mode, constants=0, sample=None):
        self.root, self.tables, self.mode = root, tables, mode
        self.defaults = []
        self.nodes, self.modules, self.attrs = [], {}, {}
        self.paths, self.parameters, self.buffers = {}, {}, {}
        for path, m in root.named_modules():
            self.paths[id(m)] = path
            for table, owned in ((self.parameters, m._parameters), (self.buffers, m._buffers)):
                for name, t in owned.items():
                    if t is not None:
                        table.setdefault(id(t), (path + "." + name if path else name, m, t))
        for path, m in root.named_modules():  # self.mask = torch.ones(4) is a plain attribute
            for name, t in vars(m).items():
                if isinstance(t, Tensor) and id(t) not in self.buffers:
                    self.buffers[id(t)] = path + "." + name if path else name, None, t
        self.lasting = set(self.parameters) | set(self.buffers)  # they outlive forward
        self.read = {}  # nodes: parameters are read once; buffers and constants at each use
        self.copies, self.asked, self.trained = {}, 0, Tracer.trainings  # of values of earlier calls
        Tracer.trainings += mode
        self.read_before = []  # earlier reads of parameters that forward has masked since
        self.constants = constants
        self.made = []  # layers without parameters that forward creates
        self.kept = []  # constants, kept alive so that their ids stay unique
        self.changed = {}  # buffers that forward has written to: their present values
        self.sizes, self.decisions = Sizes(self, sample), []

    def node(self, kind, target, args, kwargs, **more):
        args = [self.arg(a) for a in args]
        kwargs = [[k, self.arg(v)] for k, v in kwargs.items()]
        stops = not Grad.enabled and kind.startswith("call_")
        self.nodes.append(dict({"mode": "follows", "assigned": False}, kind=kind, target=target, args=args,
                               kwargs=kwargs, no_grad=stops, at=here(), **more))
        return len(self.nodes) - 1

    def name(self, node):
        def base(n):
            return re.sub(r"\W", "_", n["target"] if n["kind"] == "call_module" else n["target"].rpartition(".")[2])
        own = base(self.nodes[node])
        before = sum(base(n) == own for n in self.nodes[:node]) + hasattr(builtins, own)
        return "%s_%d" % (own, before) if before else own

    def arg(self, v):
        """A value as JSON: values that JSON lacks become an object with one key."""
        if isinstance(v, Proxy):
            return {"node": v.node}
        if isinstance(v, Stale):
            v._read()
        if isinstance(v, Tensor):
            return {"node": self.tensor(v)}
        if v is None or isinstance(v, (bool, str)):
            return v
        if isinstance(v, numbers.Integral):
            if abs(v) >= 1 << 63:
                raise Fault("%d does not fit 64 bits" % v)
            return int(v)
        if isinstance(v, numbers.Real):
            return float(v) if math.isfinite(v) else {"float": repr(float(v))}
        if isinstance(v, list):
            return [self.arg(i) for i in v]
        if isinstance(v, tuple):
            return {"tuple": [self.arg(i) for i in v]}
        if isinstance(v, range):
            return {"tuple": [self.arg(i) for i in v]}
        if isinstance(v, slice):
            return {"slice": [self.arg(i) for i in (v.start, v.stop, v.step)]}
        if isinstance(v, dict):
            return {"dict": [[str(k), self.arg(i)] for k, i in v.items()]}
        if v is Ellipsis or isinstance(v, (dtype, device)):
            return {"atom": str(v)}
        if isinstance(v, LegacyKind):
            return {"atom": str(v.dtype)}
        if isinstance(v, Absent):
            v.look()
        if dataclasses.is_dataclass(v) and not isinstance(v, type):
            return self.arg({f.name: getattr(v, f.name) for f in dataclasses.fields(v)})
        raise Fault("a %s cannot be an argument in a graph" % type(v).__name__)

    # ---- tensors that are read ----

    def parameter(self, p):
        if id(p) not in self.read:
            self.read[id(p)] = p, Proxy(self.tensor(p))
        return self.read[id(p)][1]

    def known_parameter(self, p):
        if id(p) not in self.read:
            self.read[id(p)] = p, Known(p)
        return self.read[id(p)][1]

    def listed(self, v):
        """Lists of unregistered parameters, self.scales = [p, q]: computations with them are in the graph, too."""
        if isinstance(v, Tensor):
            return Listed(v) if id(v) in self.parameters else v
        if type(v) in (list, tuple):
            made = type(v)(map(self.listed, v))
            return made if any(a is not b for a, b in zip(made, v)) else v
        if type(v) is dict:
            made = {k: self.listed(i) for k, i in v.items()}
            return made if any(made[k] is not v[k] for k in v) else v
        return v

    def list_parameters(self):
        for m in self.root.modules():
            own = vars(m)
            own.update({k: self.listed(v) for k, v in own.items() if k not in OWNED})

    def home(self, t):
        """The first name of a parameter or buffer, which it has in the graph."""
        return (self.parameters.get(id(t)) or self.buffers[id(t)])[0]

    def tensor(self, t):
        if id(t) in self.changed:
            return self.changed[id(t)].node
        return self.stored(t)

    def stored(self, t):
        """The path of its value when forward begins."""
        path, owner, _ = (self.parameters.get(id(t)) or self.buffers.get(id(t)) or
                          self.constant(t))
        if isinstance(owner, Layer) and owner is not self.root and path.rpartition(".")[2] in owner._own_names():
            self.use(owner)
        elif path not in self.attrs:
            self.attrs[path] = attribute(path, t, id(t) not in self.parameters)
        return self.node("get_attr", path, (), {})

    def may_change(self, t):
        """A buffer in the state dict may change in each batch of training, unless the graph depends on its values."""
        return self.mode and t.persistent and not t.used and self.buffers.get(id(t), (None, None))[1] is not None

    def change(self, t, method, args, kwargs):
        """buffer.method(...) in place, whose effect the next batch sees."""
        before = self.stored(t) if method == "copy_" else self.tensor(t)
        known(method, self.tables.methods, "method")
        self.changed[id(t)] = Proxy(self.node("call_method", method, (Proxy(before),) + args, kwargs))
        return self.changed[id(t)]

    def check_write(self, value):
        """In forward a parameter is a proxy, so it may not be replaced."""
        parameter = self.parameter_of(value)
        if parameter is not None:
            parameter.check_write()

    def parameter_of(self, value):
        """The parameter that a value reads; None: it reads none."""
        if isinstance(value, Known):
            return value.value
        return next((tensor for tensor, proxy in itertools.chain(self.read.values(), self.read_before) if proxy is value), None)

    def constant(self, t):
        t.check_written()
        while hasattr(self.root, "_tensor_constant%d" % self.constants):
            self.constants += 1
        path = "_tensor_constant%d" % self.constants
        self.constants += 1
        self.kept.append(t)
        self.buffers[id(t)] = path, None, t
        return self.buffers[id(t)]

    # ---- called modules ----

    def use(self, layer):
        path = self.paths.get(id(layer))
        if path is None and (layer._parameters or layer._buffers):
            raise Fault(NO_PART)
        if path is None:  # nn.ReLU()(x): one layer for each place in the source
            path = self.paths[id(layer)] = "_made_%d" % len(self.made)
            self.made.append(layer)
        if path not in self.modules:
            self.modules[path] = layer._describe(path, self.home)
        return path

    def call(self, module, args, kwargs):
        return module._hooked(lambda *a, **k: self.called(module, a, k), args, kwargs)

    def called(self, module, args, kwargs):
        if not isinstance(module, Layer) or type(module).__module__ != LAYERS:
            return module.forward(*args, **kwargs)
        return self.layer(module, args, kwargs)

    def is_outside(self, module):
        """Is it a layer in a plain list, of which the network holds the parameters only?"""
        own = [p for p in module._parameters.values() if p is not None]
        return id(module) not in self.paths and own and all(id(p) in self.parameters for p in own)

    def layer(self, module, args, kwargs):
        if module._layer_class() == "Linear" and self.is_outside(module):
            held = {name: None if p is None else self.parameter(p) for name, p in module._parameters.items()}
            return sys.modules["torch.nn.functional"].linear(*args, **kwargs, **held)
        if module is self.root or any(id(p) in self.changed for p in module._parameters.values() if p is not None):
            return module._computed(*args, **kwargs)
        pinned = module._asks_mode and module.training != self.mode
        mode = ("train" if module.training else "eval") if pinned else "follows"
        return Proxy(self.node("call_module", self.use(module), args, kwargs, mode=mode))

    def trace(self):
        self.list_parameters()
        forward = type(self.root).forward
        code = inspect.unwrap(forward).__code__
        args, kwargs = [], {}
        parameters = list(inspect.signature(forward).parameters.values())[1:]
        named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        if parameters and not named:
            raise Fault("forward takes %s: a graph needs inputs with names" % ", ".join(
                str(p) for p in parameters), place(code.co_filename, code.co_firstlineno, code, -1))
        for p in named:  # *args and **kwargs of other callers stay empty
            if p is not named[0] and p.default is not p.empty:
                self.defaults.append("%s=%r" % (p.name, p.default))
                continue
            value = self.input(p, getattr(forward, "__annotations__", {}).get(p.name))
            self.nodes[-1]["at"] = place(code.co_filename, code.co_firstlineno, code, -1)
            if p.kind == p.KEYWORD_ONLY:
                kwargs[p.name] = value
            else:
                args.append(value)
        result = self.root._hooked(functools.partial(forward, self.root), tuple(args), kwargs)
        if result is None:
            raise Fault("forward returns nothing: its result is what 'return' gives", place(
                code.co_filename, code.co_firstlineno, code, -1))
        self.node("output", "output", (told(result),), {})
        check_empty(self.nodes)
        self.keep_the_rest()

    def keep_the_rest(self):
        """Add unused modules, in order of registration, since they are in the state dict."""
        called, self.modules = self.modules, {}
        read, self.attrs = self.attrs, {}
        for path, m, first in self.root._named_places():
            is_layer = path and isinstance(m, Layer)
            if first and is_layer:
                self.modules[path] = called.get(path) or m._describe(path, self.home)
            own = m._own_names() if first and is_layer else ()
            for name, t in itertools.chain(m._parameters.items(), m._buffers.items()):
                if t is not None and name not in own:
                    self.keep(path + "." + name if path else name, t, read)
        self.modules.update((self.paths[id(layer)], called[self.paths[id(layer)]]) for layer in self.made)
        self.attrs.update(read)
        self.order()

    def keep(self, path, t, read):
        """Add a parameter that no layer holds: of a container, or a second name."""
        home, is_buffer = self.home(t), id(t) not in self.parameters
        if home == path:
            self.attrs[path] = read.pop(path, None) or attribute(path, t, is_buffer)
            self.attrs[path]["fixed"] = is_buffer and t.persistent and t.used
        elif not is_buffer or t.persistent:
            self.attrs[path] = attribute(path, t, is_buffer, home)
        if path in self.attrs:
            self.attrs[path]["after"] = len(self.modules)

    def order(self):
        """The position of a container with parameters but without layers; other modules come last."""
        holders = {""}
        for path in self.modules:
            while path:
                path = path.rpartition(".")[0]
                holders.add(path)
        for path, attr in self.attrs.items():
            if path.rpartition(".")[0] in holders or "after" not in attr:
                attr["after"] = len(self.modules)
        self.attrs = dict(sorted(self.attrs.items(), key=lambda item: item[1]["after"]))

    def input(self, p, annotation):
        default = () if p.default is p.empty else (p.default,)
        text = None if annotation is None else type_text(annotation)
        return Proxy(self.node("placeholder", p.name, default, {}, annotation=text))

    def graph(self):
        first = {}  # many layers may share a mask, which is sent once
        for path, attr in self.attrs.items():
            numbers = (attr["start"] or {}).get("hex")
            if numbers and first.setdefault((numbers, attr["dtype"]), path) != path:
                attr["start"] = {"as": first[numbers, attr["dtype"]]}
        return {"modules": list(self.modules.values()), "attrs": list(self.attrs.values()),
                "nodes": self.nodes}


def told(result):
    """The result of forward; from a dict, objects that are not tensors are dropped, such as caches of keys and values."""
    if not isinstance(result, dict):
        return result
    kept = {}
    for name, v in result.items():
        if type(v).__module__ != "builtins" and not isinstance(v, (Proxy, Tensor, dict, tuple, list)) \
                and not dataclasses.is_dataclass(v):
            note(here() or {"path": REQUEST["file"], "line": 0}, "'%s' of what forward gives is a %s, which is left out" % (
                name, type(v).__name__))
        else:
            kept[name] = v
    return kept


def type_text(t):
    """As torch.fx names a type."""
    if isinstance(t, type):
        return t.__qualname__ if t.__module__ == "builtins" else "%s.%s" % (t.__module__,
                                                                           t.__qualname__)
    return repr(t)


def start_json(t):
    if t.initial is None:
        if not t.maker:
            raise Fault("this needs the numbers of a random tensor, which are not drawn yet")
        layer, name = t.maker
        if layer.values.get("padding_idx") is not None:
            raise Fault("the table of an embedding with a padding_idx is registered under another "
                        "name first: register the embedding before", layer.at)
        return {"made": {"class": layer._layer_class(), "param": name, "values": [
            [k, TRACER.arg(v)] for k, v in layer.values.items()]}}
    if isinstance(t.initial, list):
        if len(t.initial) > MAX_NUMBERS:
            raise Fault("a constant of %s is too large; at most %d numbers"
                        % (list(t.shape), MAX_NUMBERS))
        if t.dtype.name == "float32" and len(t.initial) > 64:
            return {"hex": array.array("f", t.initial).tobytes().hex()}
        return {"values": [float(v) if math.isfinite(v) else {"float": repr(float(v))}
                           for v in t.initial]}
    kind, spread, centre = t.initial
    if t.is_unknown:
        t.numbers()
    return {"kind": kind, "spread": float(spread), "centre": float(centre)}


def attribute(path, t, is_buffer, tied=None):
    if not t.dtype.short:
        raise Fault("'%s' is of %r, which graphs do not store" % (path, t.dtype))
    return {"path": path, "dtype": t.dtype.short, "shape": [int(n) for n in t.shape],
            "buffer": is_buffer, "constant": is_buffer and not t.persistent,
            "frozen": not is_buffer and not t.requires_grad, "fixed": False, "tied": tied,
            "start": None if tied else start_json(t), "at": here()}
