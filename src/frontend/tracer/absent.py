"""absent.py - what files import beside a network: enough of it that the network can be read."""

# Packages that files import beside a network: those that need torch themselves, and those that the
# python3 at hand may lack.
ON_TORCH = ("torchvision", "torchaudio", "torchtext", "torchmetrics", "torchinfo", "torchsummary",
            "pytorch_lightning", "lightning", "timm", "fvcore", "thop", "accelerate", "brevitas",
            "transformers")
OFTEN = ("numpy", "scipy", "pandas", "sklearn", "skimage", "matplotlib", "seaborn", "tqdm", "wandb",
         "tensorboard", "tensorboardX", "h5py", "PIL", "cv2", "yaml", "omegaconf", "hydra")


class Absent:
    """A name of a package that is not here. It may be called, for what scripts do beside the network;
    nobody may look at what comes of it."""

    def __init__(self, name, *_, **__):
        self.__dict__["_name"] = name

    def __call__(self, *args, **kwargs):
        if contains_proxy(args) or contains_proxy(kwargs):
            raise Fault("'%s' is not read here, so what it computes cannot be traced" % self._name)
        return Absent(self._name + "(...)")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent("%s.%s" % (self._name, name))

    def __setattr__(self, name, value):
        pass

    def __mro_entries__(self, bases):
        return (AbsentBase,)

    def look(self, *_):
        package = self._name.partition(".")[0]
        why = "it needs torch itself" if package in ON_TORCH else "python3 does not have it"
        raise Fault("'%s' is needed here, and %s is not read: %s" % (self._name, package, why))

    __bool__ = __int__ = __float__ = __index__ = __iter__ = __len__ = __getitem__ = look
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __neg__ = look
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = look
    __lt__ = __le__ = __gt__ = __ge__ = look


class AbsentBase:
    def __init__(self, *_, **__):
        pass


class AbsentPackage(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        full = "%s.%s" % (self.__name__, name)
        return sys.modules.get(full) or Absent(full)


class LightningModule(Module):
    """A network with its training in one class; the training is not looked at."""
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
