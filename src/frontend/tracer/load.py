"""load.py - run the user's file and what it imports, and find the network that was asked for.

A file is often a script. Statements of its top level that fail are skipped and reported. A name that such a statement
would have set raises an error when the network uses it.
"""
import __future__ as future

PASSED = []  # {"path", "line", "message"} of skipped statements


class Late(Fault):
    """The time limit is reached: this fault is never skipped."""


def note(at, message):
    if at and not any(p["path"] == at["path"] and p["line"] == at["line"] for p in PASSED):
        PASSED.append({"path": at["path"], "line": at["line"], "message": message})


# ---- top levels ----

def failure(e, path):
    """The line of that file at which e was raised."""
    step = e.__traceback__
    while step:
        if step.tb_frame.f_code.co_filename == path and step.tb_frame.f_code.co_name == "<module>":
            return step.tb_lineno
        step = step.tb_next
    return 0


USUAL = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "np": "numpy"}
GIVEN = []  # names that a file uses without importing them


def give_usual(tree, path, scope):
    """Define common imports that a pasted class lacks."""
    if in_packages(path):
        return
    own = set(bound_names(tree))
    for name in sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & set(USUAL) - own):
        scope[name] = importlib.import_module(USUAL[name])
        GIVEN.append("%s as %s" % (USUAL[name], name) if name != "torch" else name)


def execute(tree, path, scope):
    flags = 0
    TOP_LEVELS.append(scope)
    give_usual(tree, path, scope)
    tree = with_plain_calls(tree)
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                flags |= getattr(future, alias.name).compiler_flag
        try:
            exec(compile(ast.Module([statement], []), path, "exec", flags, True), scope)
        except (Late, MemoryError):
            raise
        except (Exception, SystemExit) as e:
            pass_over(e, statement, path, scope)


def pass_over(e, statement, path, scope):
    fault = fault_of(e)
    answer_for(e)
    line = failure(e, path) or statement.lineno
    at = fault if fault["path"] == path and fault["line"] else place_of_line(path, line)
    at = {k: at[k] for k in ("path", "line", "col", "span")}
    Undone(statement, line, scope, lambda name: Lost(name, at, fault["message"]))
    note(place_of_line(path, line), fault["message"])


def place_of_line(path, line):
    text = linecache.getline(path, line)
    return {"path": path, "line": line, "col": len(text) - len(text.lstrip()) + 1,
            "span": max(len(text.strip()), 1)}


def parsed(path):
    with open(path, "rb") as f:
        return ast.parse(f.read(), path)


class FileLoader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        execute(parsed(self.path), self.path, module.__dict__)


class FileFinder(importlib.abc.MetaPathFinder):
    """Finds the user's files, which are neither part of Python nor of packages without torch."""

    def find_spec(self, name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec and name == "numpy.random":
            spec.loader = WatchedLoader(spec.loader)
        elif spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader) and (
                name.partition(".")[0] in IN_USE or is_users(spec.origin)):
            spec.loader = FileLoader(name, spec.origin)
        return spec


# ---- the file ----

def package_of(path):
    """The folder that imports are relative to, and the parts of the file's dotted name."""
    folder, name = os.path.split(os.path.abspath(path))
    parts = [os.path.splitext(name)[0]]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    return folder, parts


def made_package(folder, tree):
    """A file with "from .blocks import Block" belongs to a package, though its folder has no __init__.py."""
    level = max((n.level for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)), default=0)
    names = []
    for path in reversed([functools.reduce(lambda f, _: os.path.dirname(f), range(i), folder) for i in range(level)]):
        names.append(os.path.basename(path))
        package = types.ModuleType(".".join(names))
        package.__path__ = [path]
        sys.modules[package.__name__] = package
    return names


def load(path):
    """The file as a module, or as a part of its package."""
    sys.argv = [path]
    if not path.endswith(".py"):
        sys.path.append(os.getcwd())
        package = path.partition(".")[0]
        if not installed(package):
            raise Fault("no module '%s': python3 looks in %s" % (package, ", ".join(p for p in sys.path if p)))
        use(package)
        return importlib.import_module(path)
    folder, parts = package_of(path)
    sys.path[:0] = [os.path.dirname(os.path.abspath(path))]
    sys.path.append(os.getcwd())  # models/net.py may import models.blocks
    tree = parsed(path)
    full = ".".join(parts)
    if len(parts) == 1:
        parts = made_package(folder, tree) + parts
        full = ".".join(parts)
    else:
        shadows = os.path.exists(os.path.join(sys.path[0], parts[0] + ".py"))  # net/net.py: net is the package
        sys.path.insert(0 if shadows else 1, folder)
        use(parts[0])
        importlib.import_module(".".join(parts[:-1]))
        made = sys.modules.get(full)  # its package may have imported it
        if made is not None and os.path.samefile(made.__file__, path):
            return made
    module = types.ModuleType(full)
    module.__file__ = path
    module.__package__ = ".".join(parts[:-1])
    sys.modules[full] = module
    execute(tree, path, module.__dict__)
    return module


# ---- the network ----

def own_classes(module):
    return {n: v for n, v in vars(module).items()
            if isinstance(v, type) and issubclass(v, Module) and v.__module__ == module.__name__}


class Call:
    """NAME or NAME(ARGUMENTS), as the user gave it. Arguments are literals and names of the file."""

    def __init__(self, text, module):
        self.text, self.module, self.args, self.kwargs = text, module, None, {}
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError) as e:
            raise Fault("'%s' is neither a name nor NAME(ARGUMENTS): %s%s" % (
                text, e, " at column %d" % e.offset if getattr(e, "offset", None) else ""))
        if isinstance(tree, ast.Call):
            self.args = [v for a in tree.args for v in self.items(a)]
            self.kwargs = {k.arg: self.value(k.value) for k in tree.keywords if k.arg}
            if any(k.arg is None for k in tree.keywords):
                self.refuse(tree, "**")
            tree = tree.func
        self.maker = self.named(tree)

    def refuse(self, tree, what=None):
        raise Fault("'%s', column %d: '%s' is no plain value; numbers, texts, True, False, None, lists, tuples, "
                    "dicts, and names of the file are" % (
                        self.text, tree.col_offset + 1, what or ast.unparse(tree)
                        if hasattr(ast, "unparse") else type(tree).__name__))

    def items(self, tree):
        if isinstance(tree, ast.Starred):
            self.refuse(tree)
        return [self.value(tree)]

    def named(self, tree):
        if isinstance(tree, ast.Name):
            return self.global_name(tree.id)
        if isinstance(tree, ast.Attribute) and not tree.attr.startswith("_"):
            owner = self.named(tree.value)
            if hasattr(owner, tree.attr):
                return getattr(owner, tree.attr)
            raise Fault("'%s' has no '%s'" % (ast.unparse(tree.value) if hasattr(ast, "unparse") else "it",
                                              tree.attr))
        return self.refuse(tree)

    def global_name(self, name):
        value = vars(self.module).get(name)
        if value is None:
            value = getattr(self.module, name, None)
        if value is None and name == self.module.__name__.partition(".")[0]:
            value = sys.modules[name]  # transformers.BertConfig(...)
        if isinstance(value, Lost):
            value.look()
        if value is None:
            import difflib
            own = own_classes(self.module)
            near = difflib.get_close_matches(name, list(own), 1)
            raise Fault("no class '%s' in it; it has %s%s" % (
                name, ", ".join(own) or "none", "; did you mean '%s'?" % near[0] if near else ""))
        return value

    def value(self, tree):
        try:
            return ast.literal_eval(tree)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            pass
        if isinstance(tree, (ast.List, ast.Tuple)):
            made = [self.value(t) for t in tree.elts]
            return tuple(made) if isinstance(tree, ast.Tuple) else made
        if isinstance(tree, ast.Dict) and None not in tree.keys:
            return {self.value(k): self.value(v) for k, v in zip(tree.keys, tree.values)}
        if isinstance(tree, ast.Call) and not any(k.arg is None for k in tree.keywords):
            return self.named(tree.func)(*[v for a in tree.args for v in self.items(a)],
                                         **{k.arg: self.value(k.value) for k in tree.keywords})
        return self.named(tree)


def choose(module, text):
    """The class, function or module instance that makes the network."""
    if text is not None:
        return Call(text, module)
    own = own_classes(module)
    if len(own) != 1:
        if not own and PASSED:
            raise Fault("%s" % PASSED[0]["message"], place_of_line(PASSED[0]["path"], PASSED[0]["line"]))
        raise Fault("say which: FILE:CLASS with one of %s" % (", ".join(own) or "(no class)"))
    return Call(next(iter(own)), module)


# Names of constructor parameters that the dataset determines.
ANSWERS = {
    "info": None, "config": None, "cfg": None, "dataset_info": None, "data_info": None,
    "num_classes": "num_classes", "n_classes": "num_classes", "classes": "num_classes",
    "out_features": "num_classes", "output_dim": "num_classes", "out_dim": "num_classes",
    "num_features": "num_features", "n_features": "num_features", "in_features": "num_features",
    "input_dim": "num_features", "in_dim": "num_features", "image_size": "image_size",
    "in_channels": "in_channels",
}


def answered(maker, call, info):
    """Set required parameters without a value from the dataset."""
    given = dict(call.kwargs)
    try:
        signature = inspect.signature(maker)
    except (TypeError, ValueError):
        return given
    for i, p in enumerate(signature.parameters.values()):
        if p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        if p.name in given or i < len(call.args or ()):
            continue
        if p.name not in ANSWERS:
            raise Fault("%s needs '%s', which no data set tells: give it a default, or say FILE:%s(%s=...)"
                        % (maker.__name__, p.name, call.text.partition("(")[0], p.name))
        field = ANSWERS[p.name]
        given[p.name] = info if field is None else info[field]
        if field and info[field] is None:
            raise Fault("%s needs '%s', which the data set '%s' does not have"
                        % (maker.__name__, p.name, info["name"]))
    return given


class FunctionLoss(Module):
    """A function of output and target, as a module."""

    def __init__(self, function, kwargs):
        super().__init__()
        self.function, self.kwargs = function, kwargs

    def forward(self, output, target):
        return self.function(output, target, **self.kwargs)


def is_loss_function(maker, call):
    """Does it take an output and a target, or does it make a module?"""
    if not isinstance(maker, types.FunctionType) or call.args:
        return False
    waits = [p for p in inspect.signature(maker).parameters.values()
             if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD and p.name not in call.kwargs]
    return len(waits) == 2


def build(call, info):
    """The network, and its name."""
    maker = call.maker
    if REQUEST["loss"] and is_loss_function(maker, call):
        return FunctionLoss(maker, call.kwargs), maker.__name__
    if isinstance(maker, Module) and call.args is None:
        return maker, type(maker).__name__
    if not callable(maker):
        raise Fault("'%s' is a %s and no class" % (call.text, type(maker).__name__))
    global BUILDING
    BUILDING = True
    model = maker(*(call.args or ()), **answered(maker, call, info))
    BUILDING = False
    name = getattr(maker, "__name__", type(model).__name__)
    if not isinstance(model, Module):
        base = getattr(model, "absent", None)
        raise Fault("%s gives %s and not a torch.nn.Module%s" % (
            name, type(model).__name__, ": it is derived from '%s', which is not read" % base if base else ""))
    if "_modules" not in model.__dict__:
        raise Fault("%s does not call super().__init__()" % type(model).__name__)
    return model, name
