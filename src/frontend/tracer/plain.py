"""plain.py - Python's own functions that need a value now, replaced by versions that accept traced values.

len(x) and int(x) need a number at once, but the batch size is open: where no number is known, these give a value of the
graph, x.size(0), and n // 4 for int(n / 4) of a length. hash() of texts and id() differ in each process and are refused.
"""

PLAIN = {"len": "_mase_len", "int": "_mase_int"}
OF_PROCESS = {"hash": "_mase_hash", "id": "_mase_id"}


class PlainCalls(ast.NodeTransformer):
    def __init__(self, own):
        self.names = {name: ours for name, ours in PLAIN.items() if name not in own}
        self.of_process = {name: ours for name, ours in OF_PROCESS.items() if name not in own}

    def visit_Name(self, node):
        node.id = self.of_process.get(node.id, node.id)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.names and len(node.args) == 1 and not node.keywords \
                and not isinstance(node.args[0], ast.Starred):
            node.func.id = self.names[node.func.id]
        return node


def bound_names(tree):
    """Names that a file defines itself, such as its own len."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.asname or node.name


def with_plain_calls(tree):
    return PlainCalls(set(bound_names(tree))).visit(tree)


def is_length(node):
    """Is it an integer, a size or computed from sizes?"""
    try:
        value = TRACER.sizes.of(node)
        return isinstance(value, (builtins.int, Unknown)) and not isinstance(value, builtins.bool)
    except Open:
        made = TRACER.nodes[node]
        return made["target"] in ("operator.add", "operator.sub", "operator.mul", "operator.floordiv") and all(
            map(is_whole_argument, made["args"]))


def is_whole_argument(v):
    if isinstance(v, dict):
        return "node" in v and is_length(v["node"])
    return isinstance(v, builtins.int) and not isinstance(v, builtins.bool)


def is_never_negative(v):
    """Is an integer never negative? int() truncates, // rounds down."""
    if not isinstance(v, dict):
        return v >= 0
    made = TRACER.nodes[v["node"]]
    if not made["target"].startswith("operator.") or made["target"] == "operator.getitem":
        return True  # a length
    return made["target"] in ("operator.add", "operator.mul", "operator.floordiv") and all(map(is_never_negative, made["args"]))


def divided_length(node):
    """The length and the integer that a node divides it by; None: another node."""
    made = TRACER.nodes[node]
    if made["target"] != "operator.truediv" or not is_whole_argument(made["args"][0]) or not is_never_negative(made["args"][0]):
        return None
    try:
        by = TRACER.sizes.value(made["args"][1])
    except Open:
        return None
    return (made["args"][0], builtins.int(by)) if is_number(by) and by >= 1 and by == builtins.int(by) else None


def traced_int(v):
    if not isinstance(v, Proxy) or decided(v, plain_of) is not None:
        return builtins.int(v)
    if is_length(v.node):
        return v
    parts = divided_length(v.node)
    if parts is None or not isinstance(parts[0], dict):
        return builtins.int(v)
    return Proxy.record("call_function", "operator.floordiv", (Proxy(parts[0]["node"]), parts[1]), {})


def traced_len(v):
    if not isinstance(v, Proxy) or decided(v, count_of) is not None or not is_traced_tensor(v):
        return builtins.len(v)
    return Proxy.record("call_method", "size", (v, 0), {})


class OfProcess(builtins.int):
    """The result of hash() or id(): may be a key, and compared with itself. forward must not compute with it."""

    def _compute(self, *_):
        if TRACER is None:
            return NotImplemented
        raise looked("forward computes with %s, which is another in each process: that is not followed" % self.what, here())


def of_process(number, what):
    if TRACER is None:
        return number
    number = OfProcess(number)
    number.what = what
    return number


def has_own_hash(v):
    """Is its hash equal in every process, as that of numbers?"""
    if isinstance(v, (tuple, frozenset)):
        return all(map(has_own_hash, v))
    return isinstance(v, (builtins.int, builtins.float, complex)) and not isinstance(v, OfProcess)


def traced_hash(v):
    number = hash(v)
    return number if has_own_hash(v) else of_process(number, "the hash of a %s" % type(v).__name__)


def traced_id(v):
    return of_process(id(v), "id()")


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "and", "or", "xor", "lshift", "rshift"):
    for _side in ("__%s__", "__r%s__"):
        setattr(OfProcess, _side % _name, OfProcess._compute)
for _name in ("neg", "pos", "abs", "invert", "int", "index", "float", "round", "trunc", "floor", "ceil", "lt", "le", "gt", "ge"):
    setattr(OfProcess, "__%s__" % _name, OfProcess._compute)
builtins._mase_len, builtins._mase_int, builtins._mase_hash, builtins._mase_id = traced_len, traced_int, traced_hash, traced_id
