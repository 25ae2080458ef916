"""undone.py - what a statement that failed would have changed: names that it sets, objects that it writes to.

Everything that it might have changed is marked as lost: using it raises an error that names the failed line. Bodies of
functions of the same file that the statement calls are searched, too.
"""

LOOPS = (ast.For, ast.While, ast.AsyncFor)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
STILL = (bool, builtins.int, builtins.float, complex, str, bytes, tuple, frozenset, range, type(None), device, dtype,
         os.PathLike, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)  # types that calls do not change
WRITERS = ("setattr", "delattr", "shuffle", "exec", "heappush", "heapify")  # functions that change their arguments
HARMLESS = ("to", "cuda", "cpu", "eval", "train", "half", "float", "double", "parameters", "named_parameters",
            "modules", "named_modules", "children", "state_dict", "load_state_dict", "zero_grad", "share_memory",
            "forward")  # methods of modules that do not change the network


# ---- statements that did not run ----

def own_nodes(tree):
    """The nodes of a statement, without nested statements and bodies of functions."""
    yield tree
    if isinstance(tree, SCOPES):
        return
    for child in ast.iter_child_nodes(tree):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield from own_nodes(child)


def statements(tree):
    """The statements directly inside another."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.stmt):
            yield child
        elif not isinstance(child, ast.expr):
            yield from statements(child)


def unrun(tree, line):
    """The nodes of a statement that did not run to their end, since it failed at that line: those that end there
    or later, and all of a loop around it."""
    if isinstance(tree, LOOPS) and line <= tree.end_lineno:
        line = min(line, tree.lineno)
    inner = [] if isinstance(tree, SCOPES) else list(statements(tree))
    end = inner[0].lineno - 1 if inner else tree.end_lineno
    if max(end, tree.lineno) >= line:
        yield from own_nodes(tree)
    for statement in inner:
        if statement.end_lineno >= line:
            yield from unrun(statement, line)


def names_set(nodes):
    for node in nodes:
        if isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield node.id
        elif isinstance(node, SCOPES) and not isinstance(node, ast.Lambda):
            yield node.name


# ---- their effects ----

class Undone:
    """Finds what a failed statement would have changed, and marks it as lost."""

    def __init__(self, statement, line, scope, lost):
        self.lost = lost  # name -> its replacement
        self.functions = set()
        nodes = list(unrun(statement, line))
        for name in names_set(nodes):
            scope[name] = lost(name)
        self.follow(nodes, scope)

    def follow(self, nodes, names):
        """names: those in scope; in a function, also its arguments."""
        for node in nodes:
            if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
                self.write(node, names)
            elif isinstance(node, ast.Call):
                self.call(node, names)

    def value(self, tree, names):
        """The present value of a name, or of an attribute; Ellipsis: unknown."""
        if isinstance(tree, ast.Name):
            return names.get(tree.id, ...)
        if isinstance(tree, ast.Attribute):
            owner = self.value(tree.value, names)
            if isinstance(owner, types.ModuleType):
                return vars(owner).get(tree.attr, ...)
            return ... if owner is ... else inspect.getattr_static(owner, tree.attr, ...)
        return ...

    def base(self, tree, names):
        """The outermost object that contains tree and that a statement can change."""
        chain = [tree]
        while isinstance(chain[-1], (ast.Attribute, ast.Subscript, ast.Call)):
            chain.append(chain[-1].func if isinstance(chain[-1], ast.Call) else chain[-1].value)
        for part in reversed(chain):
            found = self.value(part, names)
            if found is ... or not isinstance(found, types.ModuleType):
                return found
        return ...

    def write(self, node, names):
        """owner.name = v, owner[key] = v: only that part is lost, if the owner can hold a replacement."""
        owner = self.value(node.value, names)
        if isinstance(node, ast.Attribute) and owner is not ... and not isinstance(owner, (Absent, Module)):
            if not isinstance(owner, (type, types.ModuleType)) or is_own(owner):
                self.write_part(owner, node.attr)
            return
        key = getattr(node, "slice", None)
        key = getattr(key, "value", key)  # before 3.9 wrapped in Index
        key = getattr(key, "value", key)
        if isinstance(owner, dict) and isinstance(key, (str, builtins.int)):
            dict.__setitem__(owner, key, self.lost(str(key)))
            return
        self.change(self.base(node.value, names))

    def write_part(self, owner, name):
        try:
            (type if isinstance(owner, type) else object).__setattr__(owner, name, self.lost(name))
        except (AttributeError, TypeError):
            self.change(owner)

    def call(self, node, names):
        """function(...), owner.method(...): search the body of user code; other calls may change the owner."""
        given = [a.value if isinstance(a, ast.Starred) else a for a in node.args] + [k.value for k in node.keywords]
        owner, method = ..., getattr(node.func, "attr", None)
        called = self.value(node.func, names)
        if method:
            owner = self.base(node.func.value, names)
        if isinstance(called, type):  # it has no instances yet
            owner, method = Absent(called.__name__), "__init__"
            called = inspect.getattr_static(called, method, ...)
        elif owner is not ... and not isinstance(owner, STILL):
            called = inspect.getattr_static(owner if isinstance(owner, type) else type(owner), method, ...)
        code = getattr(called, "__func__", called)
        if inspect.isfunction(code) and is_users(code.__code__.co_filename):
            tree = definition(code)
            if tree:
                is_free = isinstance(called, staticmethod) or isinstance(owner, type) and called is code
                self.enter(code, tree, ... if is_free else owner, node, names)
                return
        elif (method or getattr(node.func, "id", "")) not in WRITERS:
            given = []
            if isinstance(owner, type) or isinstance(owner, Module) and method in HARMLESS:
                owner = ...
        for tree in given:
            self.change(self.base(tree, names))
        self.change(owner)

    def enter(self, function, tree, owner, node, names):
        """Search the body of a user's function, called with these arguments."""
        if function in self.functions:
            return
        self.functions.add(function)
        nodes = [n for s in tree.body for n in unrun(s, 0)]
        outer = {n for g in nodes if isinstance(g, ast.Global) for n in g.names}
        inner = dict(function.__globals__)
        for name in set(names_set(nodes)):
            inner[name] = ...
            if name in outer:
                function.__globals__[name] = self.lost(name)
        parameters = [a.arg for a in getattr(tree.args, "posonlyargs", []) + tree.args.args + tree.args.kwonlyargs]
        inner.update(dict.fromkeys(parameters, ...))
        given = [] if owner is ... else [owner]
        given += [self.base(a, names) for a in node.args]
        inner.update(zip(parameters, given))
        inner.update({k.arg: self.base(k.value, names) for k in node.keywords})
        self.follow(nodes, inner)

    def change(self, owner):
        """Replace every name of the object, in any file."""
        if owner is ... or isinstance(owner, STILL + (Absent,)) or type(owner).__module__ == "logging":
            return
        for scope in TOP_LEVELS:
            for name in [n for n, v in scope.items() if v is owner and not n.startswith("__")]:
                scope[name] = self.lost(name)


def is_own(value):
    """Is it a module or a class of the user's files?"""
    module = value if isinstance(value, types.ModuleType) else sys.modules.get(value.__module__)
    return is_users(getattr(module, "__file__", None) or "<")


def definition(function):
    """The syntax tree of a function."""
    try:
        tree = parsed(function.__code__.co_filename)
    except (OSError, SyntaxError, ValueError):
        return None
    line = function.__code__.co_firstlineno
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == function.__name__ and \
                min([node.lineno] + [d.lineno for d in node.decorator_list]) == line:
            return node
    return None


TOP_LEVELS = []  # namespaces of the files that were read
