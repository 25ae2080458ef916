"""absent.py - stand-ins for packages that a file imports and that are not here, as far as the network needs them.

A package that is not installed becomes a stand-in, and so does one that itself imports torch, which would get the
stand-in for torch. Stand-ins raise an error when their results are used. The sources of some packages are read all
the same when a model uses their classes; these then import the stand-in for torch.
"""

# Packages that need torch themselves. The first are read when a network needs them.
READ = ("torchvision", "timm", "transformers")
ON_TORCH = READ + ("torchaudio", "torchtext", "torchmetrics", "torchinfo", "torchsummary",
                   "pytorch_lightning", "lightning", "fvcore", "thop", "accelerate", "brevitas")
# Parts of them that no network is made of.
BESIDE = ("torchvision.datasets", "torchvision.transforms", "torchvision.utils", "torchvision.io",
          "torchvision.extension", "torchvision._C", "timm.data", "timm.loss", "timm.optim",
          "timm.scheduler", "timm.utils")
IN_USE = set()  # packages whose sources are read


def is_beside(name):
    return any(name == part or name.startswith(part + ".") for part in BESIDE)


def installed(name):
    return importlib.machinery.PathFinder.find_spec(name) is not None


def is_checkout(package):
    """Does the package lie among the user's own files?"""
    spec = importlib.machinery.PathFinder.find_spec(package)
    return spec is not None and spec.origin is not None and is_users(spec.origin)


def use(package):
    """Read the sources of the package from now on."""
    if package not in IN_USE:
        IN_USE.add(package)
        for name in [n for n in sys.modules if n.partition(".")[0] == package]:
            del sys.modules[name]


def real(full):
    """The object that a name of such a package stands for; None: not available."""
    package = full.partition(".")[0]
    if package == "timm" and not installed(package):
        return TIMM.get(full.rpartition(".")[2])
    if package not in READ or is_beside(full) or "(" in full or not installed(package):
        return None
    use(package)
    try:
        module, _, name = full.rpartition(".")
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return None


LOOKED = []  # faults of reads of absent values, until answer_for removes them


def looked(message, at=None):
    LOOKED.append(Fault(message, at))
    return LOOKED[-1]


def answer_for(e):
    """Remove a fault that is reported or skipped. A fault that the file itself catches remains, because the file
    then does something else than it would with the package."""
    while e:
        LOOKED[:] = [fault for fault in LOOKED if fault is not e]
        e = e.__cause__ or e.__context__


class Absent:
    """A name of a package that is not installed. It may be called, as scripts do beside the network, but using
    the result is a fault."""

    def __init__(self, name, *_, **__):
        self.__dict__["_name"] = name

    def __call__(self, *args, **kwargs):
        there = real(self._name)
        if there is not None and not isinstance(there, Absent):
            return there(*args, **kwargs)
        if contains_proxy(args) or contains_proxy(kwargs):
            raise Fault("'%s' is not read here, so what it computes cannot be traced" % self._name)
        if len(args) == 1 and not kwargs and is_plain_code(args[0]):
            return args[0]  # a decorator
        return Absent(self._name + "(...)")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent("%s.%s" % (self._name, name))

    def __setattr__(self, name, value):
        pass

    def __repr__(self):
        return "<%s, which is not here>" % self._name

    def __mro_entries__(self, bases):
        there = real(self._name)
        if isinstance(there, type):
            return (there,)
        return (type("AbsentBase", (AbsentBase,), {"absent": self._name}),)

    def __instancecheck__(self, value):
        """No value is an instance of a class that is not installed."""
        return False if is_type_name(self._name) else self.look()

    __subclasscheck__ = __instancecheck__

    def __getitem__(self, index):
        """Dataset[int] is a type; data[0] is unknown."""
        return self if is_type_name(self._name) and not contains_proxy(index) else self.look()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def look(self, *_):
        package = self._name.partition(".")[0]
        why = "it needs torch itself" if package in ON_TORCH and installed(package) else "python3 does not have it"
        raise looked("'%s' is needed here, and %s is not read: %s" % (self._name, package, why))

    __bool__ = __int__ = __float__ = __index__ = __iter__ = __len__ = __contains__ = look
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __neg__ = look
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = look
    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __rand__ = __matmul__ = __rmatmul__ = look

    def __or__(self, other):
        """X | Y in annotations."""
        return self if is_type_name(self._name) else self.look()

    __ror__ = __or__

    def __eq__(self, other):
        """Types are equal if they are the same; values are unknown."""
        if self is other or is_type_name(self._name):
            return self is other or isinstance(other, Absent) and self._name == other._name
        return self.look()

    def __hash__(self):
        return hash(self._name) if is_type_name(self._name) else self.look()


def is_plain_code(v):
    """Is it a function or a class, as a decorator gets?"""
    return inspect.isfunction(v) or isinstance(v, (type, staticmethod, classmethod, property))


def is_type_name(name):
    return name.rpartition(".")[2].lstrip("_")[:1].isupper() and not name.endswith(")")


class AbsentBase:
    def __init__(self, *_, **__):
        pass

    def __class_getitem__(cls, _):
        return cls


class Lost(Absent):
    """A name whose statement failed at the top level of a file."""

    def __init__(self, name, at, message):
        self.__dict__.update(_name=name, at=at, message=message)

    def look(self, *_):
        raise looked("'%s' is needed, and this line, which decides it, fails: %s"
                    % (self._name, self.message), self.at)

    def __call__(self, *args, **kwargs):
        return self.look()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.look()

    def __mro_entries__(self, bases):
        return self.look()

    __getitem__ = __or__ = __ror__ = __enter__ = __eq__ = __hash__ = __instancecheck__ = __subclasscheck__ = look
    __bool__ = __int__ = __float__ = __index__ = __iter__ = __len__ = __contains__ = look
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __neg__ = look
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = look
    __lt__ = __le__ = __gt__ = __ge__ = __and__ = __rand__ = __matmul__ = __rmatmul__ = look


class AbsentPackage(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        full = "%s.%s" % (self.__name__, name)
        return sys.modules.get(full) or Absent(full)


class LightningModule(Module):
    """A network with its training in one class; the training is not traced."""
    device = device("cpu")
    hparams = Info()

    def save_hyperparameters(self, *names, ignore=(), **_):
        given = dict(sys._getframe(1).f_locals)
        given.update(given.pop("kwargs", {}))
        ignore = (ignore,) if isinstance(ignore, str) else ignore
        kept = {k: v for k, v in given.items() if k not in ("self", "__class__", *ignore)}
        self.__dict__["hparams"] = Info({k: v for k, v in kept.items() if not names or k in names})

    def log(self, *_, **__):
        pass

    log_dict = log


# ---- imports ----

def importer():
    """The frame that executes the import statement."""
    frame = sys._getframe(2)
    while frame and (frame.f_code.co_filename.startswith("<frozen") or
                     frame.f_globals.get("__name__") in ("__main__", "importlib")):
        frame = frame.f_back
    return frame


@functools.lru_cache(maxsize=None)
def guarded_lines(path):
    """First and last lines of try statements that handle errors; None: the file has no Python source."""
    try:
        with open(path, "rb") as f:
            tree = ast.parse(f.read())
    except (OSError, SyntaxError, ValueError):
        return None
    return [(t.body[0].lineno, t.body[-1].end_lineno) for t in ast.walk(tree) if isinstance(t, ast.Try) and t.handlers]


def expects_failure(frame):
    """Is the statement in a try that handles errors? Such files work without the package."""
    if not frame:
        return False
    lines = guarded_lines(frame.f_code.co_filename)
    return lines is None or any(first <= frame.f_lineno <= last for first, last in lines)


def only_asks():
    """Does importlib.util.find_spec(name) ask whether a package is installed?"""
    frame = sys._getframe(2)
    while frame and frame.f_globals.get("__name__") in ("importlib._bootstrap", "_frozen_importlib", "__main__"):
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") == "importlib.util"


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds torch and all its modules, and packages that need torch."""

    def find_spec(self, name, path=None, target=None):
        package = name.partition(".")[0]
        if package in READ and package not in IN_USE and is_checkout(package):
            use(package)
        if name.startswith("torch.") or name in EINOPS or (package in IN_USE and is_beside(name)) or (
                package in ON_TORCH and package not in IN_USE and (
                    installed(package) or not expects_failure(importer()))):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        if spec.name.startswith("torch.nn.modules."):
            return Package(spec.name, LAYER_CLASSES, TABLES.layers)  # torch.nn.modules.module.Module is nn.Module
        if spec.name.startswith("torch."):
            return Package(spec.name)
        made = AbsentPackage(spec.name)
        made.__dict__.update(EINOPS.get(spec.name, {}))
        if spec.name == "numpy":
            made.__dict__.update(numpy_content())
        if spec.name in ("pytorch_lightning", "lightning", "lightning.pytorch"):
            made.LightningModule = LightningModule
        return made

    def exec_module(self, module):
        pass


def found_above(name, frame):
    """Scripts run from a folder above: src/net/a.py may import net.b."""
    file = os.path.abspath(frame.f_code.co_filename) if frame else ""
    folder = os.path.dirname(file)
    for _ in range(0 if in_packages(file) else LEVELS):
        spec = importlib.machinery.PathFinder.find_spec(name, [folder, os.path.join(folder, "src")])
        if spec and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = FileLoader(name, spec.origin)
            return spec
        if spec and spec.submodule_search_locations and has_sources(spec.submodule_search_locations[0]):
            return spec  # a folder without __init__.py
        if folder in ("/", "") or os.path.exists(os.path.join(folder, ".git")):
            return None
        folder = os.path.dirname(folder)
    return None


def has_sources(folder):
    return any(name.endswith(".py") for name in os.listdir(folder))


LEVELS = 6


class LastFinder(Finder):
    """Finds every module that no other finder has found."""

    def find_spec(self, name, path=None, target=None):
        if only_asks():
            return None
        above = found_above(name, importer()) if "." not in name else None
        if above:
            return above
        if name != "numpy" and expects_failure(importer()):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)
