"""plain.py - len(x) and int(x) of traced values: Python wants a number at once, and how many samples there are is open.

Calls of the two in the user's files come here, and give a value of the graph where no number is known: len(x) is
x.size(0), and int(n / 4) of a length is n // 4.
"""

PLAIN = {"len": "_mase_len", "int": "_mase_int"}


class PlainCalls(ast.NodeTransformer):
    def __init__(self, own):
        self.names = {name: ours for name, ours in PLAIN.items() if name not in own}

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.names and len(node.args) == 1 and not node.keywords \
                and not isinstance(node.args[0], ast.Starred):
            node.func.id = self.names[node.func.id]
        return node


def bound_names(tree):
    """A file may have a len of its own."""
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
    """A whole number, as sizes are and what is computed from them."""
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
    """Of whole numbers: int() goes towards zero, // downwards."""
    if not isinstance(v, dict):
        return v >= 0
    made = TRACER.nodes[v["node"]]
    if not made["target"].startswith("operator.") or made["target"] == "operator.getitem":
        return True  # a length itself
    return made["target"] in ("operator.add", "operator.mul", "operator.floordiv") and all(map(is_never_negative, made["args"]))


def divided_length(node):
    """The length and the whole number that a node divides it by; None: it is none such."""
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


builtins._mase_len, builtins._mase_int = traced_len, traced_int
