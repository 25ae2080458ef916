"""state.py - what a call of forward changes in Python: attributes, globals, lists, dicts, closures, defaults.

A graph is one call. If the call changes nothing, every call is that graph. Otherwise forward is called again on the
changed state: it must record an equal graph each time, and must not read a value that keeps changing. Any difference is
refused, because PyTorch's next call would compute something else.
"""
import collections

PLAIN_KINDS = (type(None), builtins.bool, builtins.int, builtins.float, complex, str, bytes)
MAX_HELD = 1 << 18  # limit of visited objects


class Stale:
    """Replaces a value that each call changes. It may be written and incremented; any other use is refused."""

    def __init__(self, name):
        self.__dict__["_name"] = name

    def _read(self, *_, **__):
        raise looked("forward reads '%s', which its calls change: what the next call finds is not followed; a buffer that "
                     "training writes, self.steps.add_(1), is" % self._name, here())

    def _same(self, *_, **__):
        return self

    def _written(self, *_, **__):
        return None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._written if name in ("append", "extend", "add", "update", "insert", "appendleft", "extendleft",
                                         "clear") else self._read()

    __setattr__ = __setitem__ = __delitem__ = _written
    __getitem__ = _same
    __bool__ = __len__ = __iter__ = __next__ = __index__ = __int__ = __float__ = __contains__ = __call__ = _read
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = __str__ = __repr__ = __format__ = _read
    __enter__ = __round__ = __complex__ = __reversed__ = _read


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "matmul"):
    for _side in ("__%s__", "__r%s__", "__i%s__"):
        setattr(Stale, _side % _name, Stale._same)
for _name in ("neg", "pos", "abs", "invert"):
    setattr(Stale, "__%s__" % _name, Stale._same)


# ---- mutable state ----

def put_default(function, i, value):
    function.__defaults__ = function.__defaults__[:i] + (value,) + function.__defaults__[i + 1:]


def places_of(v):
    """The mutable parts of an object by key, and a function that sets one; None: immutable."""
    if isinstance(v, dict):
        return {k: i for k, i in v.items() if not (isinstance(k, str) and k.startswith("__"))}, operator.setitem
    if isinstance(v, types.CellType):
        try:
            return {"": v.cell_contents}, lambda cell, _, value: setattr(cell, "cell_contents", value)
        except ValueError:  # an empty cell
            return None
    if isinstance(v, type):
        own = {k: i for k, i in vars(v).items() if not k.startswith("__") and k != "_abc_impl"}
        return own, type.__setattr__
    if isinstance(v, types.FunctionType) and v.__defaults__:
        return dict(enumerate(v.__defaults__)), put_default
    names = [n for cls in type(v).__mro__ for n in vars(cls).get("__slots__", ())] if is_own(type(v)) else ()
    return ({n: getattr(v, n) for n in names if hasattr(v, n)}, object.__setattr__) if names else None


def inside(v):
    """The other objects that it holds, with names."""
    if isinstance(v, types.FunctionType):
        yield from zip(v.__code__.co_freevars, v.__closure__ or ())
        yield from (v.__kwdefaults__ or {}).items()
        yield v.__name__, vars(v)
    elif isinstance(v, types.MethodType):
        yield from (("", v.__func__), ("", v.__self__))
    elif isinstance(v, (staticmethod, classmethod)):
        yield "", v.__func__
    elif isinstance(v, property):
        yield from (("", f) for f in (v.fget, v.fset) if f)
    elif isinstance(v, functools.partial):
        yield from (("", i) for i in (v.func, v.args, v.keywords))
    elif isinstance(v, (tuple, list, collections.deque)):
        yield from (("", i) for i in v)
    elif isinstance(v, Handle):
        yield "", v.hook
    elif not isinstance(v, (type, types.ModuleType, Proxy, Tensor)) and isinstance(getattr(v, "__dict__", None), dict):
        yield "", vars(v)
        if not isinstance(v, Module) and is_own(type(v)):
            yield "", type(v)
    if callable(v) and hasattr(v, "__wrapped__"):
        yield "", v.__wrapped__


def progress(v):
    """The position of an iterator, the size of a cache, the contents of a NumPy array; None: no such state."""
    if isinstance(v, types.GeneratorType):
        return v.gi_frame and (v.gi_frame.f_lasti, [(k, picture(i, 3)) for k, i in v.gi_frame.f_locals.items()])
    if isinstance(v, functools._lru_cache_wrapper):
        return v.cache_info().currsize
    if type(v).__module__ == "itertools" or type(v).__name__.endswith("iterator"):
        try:
            return repr(v.__reduce__())
        except TypeError:
            return repr(v)
    if isinstance(v, Generator):
        return picture(v._generator, 3)
    if isinstance(v, Random):
        return hash(v.getstate())
    return hash(v.tobytes()) if hasattr(v, "__array_interface__") and hasattr(v, "tobytes") else None


def picture(v, depth=0, held=()):
    """A value in a form that can be compared later. Traced values are equal here: they are compared when a later call reads
    them. Objects with mutable parts of their own are compared by identity."""
    if isinstance(v, PLAIN_KINDS):
        return type(v), v
    if isinstance(v, Known):
        v = v.value
    if isinstance(v, Proxy):
        return "traced"
    if isinstance(v, Tensor):
        return "tensor", tuple(v.shape), v.initial
    if id(v) in held:
        return id(v)
    if depth < 5 and isinstance(v, (tuple, list, collections.deque)):
        return type(v), [picture(i, depth + 1, held) for i in v]
    if depth < 5 and isinstance(v, dict):
        return type(v), [(k if isinstance(k, PLAIN_KINDS) else id(k), picture(i, depth + 1, held)) for k, i in v.items()]
    if isinstance(v, (set, frozenset)):
        return type(v), sorted(repr(i) if isinstance(i, PLAIN_KINDS) else str(id(i)) for i in v)
    if isinstance(v, bytearray):
        return bytes(v)
    return id(v), progress(v)


class State:
    """All state that forward can reach and change, as of its construction."""

    def __init__(self, root):
        self.grad, self.owners, self.tensors, self.lists, self.seen, self.held = Grad.enabled, [], [], [], {}, set()
        for path, m in root.named_modules():
            self.look(vars(m), path)
        for scope in TOP_LEVELS:
            self.look(scope, "")
        self.look(os.environ._data, "os.environ")
        self.before = self.pictures()

    def look(self, first, name):
        todo = [(first, name)]
        while todo and len(self.seen) < MAX_HELD:
            v, name = todo.pop()
            if id(v) in self.seen or isinstance(v, PLAIN_KINDS + (types.ModuleType, Proxy, dtype, device, Stale)):
                continue
            if isinstance(v, type) and not is_own(v) or isinstance(v, types.FunctionType) and not is_users(
                    v.__code__.co_filename):
                continue
            self.seen[id(v)] = v
            if isinstance(v, Tensor):
                self.tensors.append((v, dict(vars(v))))
                continue
            if isinstance(v, (list, set, bytearray, collections.deque)):
                self.lists.append((v, list(v)))
            places = places_of(v)
            if places:
                self.owners.append((v, name, *places))
                self.held.add(id(v))
                todo += [(i, k if isinstance(k, str) and k else name) for k, i in places[0].items()]
            todo += [(i, k or name) for k, i in inside(v)]

    def pictures(self):
        """(owner, key) -> a comparable form of the value."""
        return {(at, k): picture(i, 0, self.held) for at, (owner, _, _, _) in enumerate(self.owners)
                for k, i in (places_of(owner) or ({}, None))[0].items()}

    def mark(self):
        """Remember the present state, for changed()."""
        self.before = self.pictures()

    def changed(self):
        return differing(self.before, self.pictures())

    def name(self, place):
        at, key = place
        owner, name = self.owners[at][:2]
        if isinstance(owner, types.FunctionType):
            return owner.__code__.co_varnames[owner.__code__.co_argcount - len(owner.__defaults__) + key]
        return key if isinstance(key, str) and key else name

    def spoil(self, places):
        for place in places:
            owner, _, _, put = self.owners[place[0]]
            put(owner, place[1], Stale(self.name(place)))

    def restore(self):
        Grad.enabled = self.grad
        for owner, _, places, put in self.owners:
            fresh = (places_of(owner) or ({}, None))[0]
            for k in fresh:
                if k not in places and isinstance(owner, (dict, type)):
                    operator.delitem(owner, k) if isinstance(owner, dict) else type.__delattr__(owner, k)
            for k, v in places.items():
                if k not in fresh or fresh[k] is not v:
                    put(owner, k, v)
        for v, items in self.lists:
            if isinstance(v, (list, bytearray)):
                v[:] = items
            else:
                v.clear()
                (v.update if isinstance(v, set) else v.extend)(items)
        for t, own in self.tensors:
            vars(t).clear()
            vars(t).update(own)


def differing(a, b):
    return {k for k in a.keys() | b.keys() if k not in a or k not in b or a[k] != b[k]}


# ---- values of an earlier call ----

def renewed(tracer, former, node):
    """A value that every call computes alike, such as a table of positions: recompute it in this trace."""
    key = id(former), node, tracer.asked > 0  # if only its size is asked for, it may depend on the samples
    if key not in tracer.copies:
        made = former.nodes[node]
        target = made["target"].rpartition(".")[2]
        asks = target in ("size", "dim", "ndimension", "numel") or target == "getattr" and made["args"][1] != "T"
        is_data = made["kind"] == "placeholder" and not tracer.asked
        of_weights = made["kind"] in ("get_attr", "call_module") and not made["target"].startswith("_tensor_constant")
        if is_data or made["target"] in DRAWN or made["assigned"] or target == "setitem" or (
                of_weights and not tracer.asked and (former.mode or tracer.mode or former.trained != tracer.trained)):
            raise Fault("a value of an earlier call of forward is used: it is not there again")
        tracer.kept.append(former)
        tracer.copies[key] = copied(tracer, former, made, asks)
    return tracer.copies[key]


def copied(tracer, former, made, asks):
    tracer.asked += asks

    def anew(v):
        if isinstance(v, dict):
            return {"node": renewed(tracer, former, v["node"])} if "node" in v else {k: anew(i) for k, i in v.items()}
        return [anew(i) for i in v] if isinstance(v, list) else v
    if made["kind"] == "placeholder":
        return next(i for i, n in enumerate(tracer.nodes) if n["kind"] == "placeholder" and n["target"] == made["target"])
    args, kwargs = anew(made["args"]), anew(made["kwargs"])
    tracer.asked -= asks
    if made["target"] in former.attrs:
        tracer.attrs.setdefault(made["target"], former.attrs[made["target"]])
    for path in {made["target"], made["target"].rpartition(".")[0]} & set(former.modules):
        tracer.modules.setdefault(path, former.modules[path])
    tracer.nodes.append(dict(made, args=args, kwargs=kwargs))
    return len(tracer.nodes) - 1


# ---- is every call equal? ----

def signature(nodes, attrs):
    """What a recording computes, independent of the order of its nodes: the expression of the output, and of all writes in
    order. And of all nodes."""
    of = []

    def plain(v):
        if isinstance(v, dict) and "node" in v:
            return of[v["node"]]
        if isinstance(v, dict):
            return tuple((k, plain(i)) for k, i in v.items())
        return tuple(map(plain, v)) if isinstance(v, list) else (type(v).__name__, v)
    effects = []
    for n in nodes:
        target = n["target"]
        if n["kind"] == "get_attr" and attrs.get(target, {}).get("constant"):  # constants are made by each call, or kept by an attribute
            target = json.dumps({k: v for k, v in attrs[target].items() if k not in ("path", "at", "after")})
        of.append(hash((n["kind"], target, n["mode"], n["no_grad"], n["assigned"], plain(n["args"]), plain(n["kwargs"]))))
        last = n["target"].rpartition(".")[2]
        if n["kind"] in ("placeholder", "output") or n["assigned"] or last == "setitem" or last.endswith("_"):
            effects.append(of[-1])
    return effects, of


class Calls:
    """Calls forward repeatedly: in evaluation, in training, and alternating."""

    def __init__(self, root, state, evaluated, trained):
        self.root, self.state, self.fault, self.left = root, state, None, set()
        self.expected = {t.mode: signature(t.nodes, t.attrs) for t in (evaluated, trained) if t}
        self.trains = trained is not None
        self.mode = None

    def call(self, mode):
        """The recording, or None if training fails, which is reported."""
        try:
            if mode != self.mode:
                self.root.train(mode)
            self.mode = mode
            before = self.state.pictures()
            made = recorded(self.root, mode)
            self.left |= differing(before, self.state.pictures())
            self.compare(mode, made)
        except Exception as e:
            if isinstance(e, Fault) and not fault_of(e)["line"]:
                code = inspect.unwrap(type(self.root).forward).__code__
                e.at = place(code.co_filename, code.co_firstlineno, code, -1)
            if not mode or isinstance(e, (Late, MemoryError)):
                raise
            answer_for(e)
            if self.trains:
                self.fault, self.trains = {"error": fault_of(e)}, False

    def compare(self, mode, made):
        if mode not in self.expected:
            return
        (before, known_nodes), (now, nodes) = self.expected[mode], signature(made.nodes, made.attrs)
        if now == before:
            return
        names = ", ".join(sorted({"'%s'" % self.state.name(p) for p in self.left})) or "what is not looked into"
        at = next((n["at"] for n, s in zip(made.nodes, nodes) if s not in known_nodes and n["at"]), None)
        raise Fault("forward computes something else when it is called again, because of what a call leaves in %s: that is not "
                    "followed; a buffer that training writes, self.steps.add_(1), is" % names, at or made.nodes[0]["at"])

    def check(self):
        """None, or the reason why the network cannot be trained."""
        self.state.restore()
        moving, last = set(), {}
        for mode in (False, False, True, True, False, True):
            self.call(mode)
            now = self.state.pictures()
            moving |= differing(last.get(mode, now), now)
            last[mode] = now
        if moving:
            self.state.spoil(moving)
            for mode in (False, True, False):
                self.call(mode)
        self.state.restore()
        return self.fault


def recorded(root, mode, constants=0):
    """One call of forward, in the current mode of the network."""
    global TRACER
    TRACER = Tracer(root, TABLES, mode, constants, SAMPLE)
    try:
        TRACER.trace()
        return TRACER
    finally:
        TRACER = None
