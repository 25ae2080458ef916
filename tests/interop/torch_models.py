"""The networks of tests/data/source under PyTorch itself: loaded, built, traced."""
import dis
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import os
import re
import sys
import types

import torch
import torch.fx

sys.dont_write_bytecode = True
IS_OLD = int(torch.__version__.split(".")[0]) < 2
SOURCE = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/source"))
JETS, SMALL, GREY, DIGITS, PHOTOS = (5, 16), (10, 3, 8, 8), (10, 1, 4, 4), (10, 1, 28, 28), (
    1000, 3, 224, 224)
MODELS = [  # file, classes and sizes of a sample, its networks
    ("test.py", JETS, ["Test"]),
    ("jsc.py", JETS, ["Tiny", "Toy", "Small"]),
    ("residual.py", JETS, ["ResMLP"]),
    ("products.py", JETS, ["MatmulNet"]),
    ("mixed.py", JETS, ["Mixed"]),
    ("images.py", SMALL, ["ConvBN", "Toy", "ToyTiny", "ToyConvNet", "ToyTestModel", "VGG7", "CNV"]),
    ("images.py", GREY, ["ToyCustomFn"]),
    ("images.py", DIGITS, ["LFC"]),
    ("resnet.py", PHOTOS, ["resnet18", "resnet34", "resnet50"]),
    ("transformer.py", JETS, ["Transformer"]),
    ("features.py", JETS, ["Functions", "Operators", "Pairs", "Shapes", "Parameters", "Shared", "Inputs",
                           "Positions"]),
    ("features.py", SMALL, ["Images"]),
    ("students.py", DIGITS, ["LeNet", "Digits"]),
    ("students.py", JETS, ["MLP", "Autoencoder", "Wide"]),
    ("vision.py", SMALL, ["vgg_bn", "MobileNet", "DenseNet", "SqueezeNet", "SENet", "UNet", "ConvNeXt",
                          "VisionTransformer"]),
    ("jets.py", JETS, ["DeepSets", "InteractionNetwork", "GatedTagger", "KAN", "LitTagger"]),
    ("language.py", JETS, ["GPT"]),
    ("package/net.py", JETS, ["Net"]),
    ("frozen.py", JETS, ["Backbone", "Halves", "Blocks", "Chooses"]),
    ("tied.py", JETS, ["Words", "HeadFirst", "Places", "Direct", "FrozenTable"]),
    ("modes.py", JETS, ["Follows", "Branches", "Pinned", "BatchStatistics", "Defaults"]),
]


class Anything(torch.nn.Module):
    """What files import beside a network, where it is not installed."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    save_hyperparameters = __init__


class Stub(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything if name[:1].isupper() else Stub(name)


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        known = name.split(".")[0] in ("torchvision", "tqdm", "pytorch_lightning", "torchmetrics")
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if known else None

    def create_module(self, spec):
        return Stub(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Absent())


class Info(dict):
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)


def unpack(proxy):
    """torch.fx before 2.0 does not know how Python 3.11 unpacks: a, b = x.shape."""
    frame = sys._getframe(1)
    for step in dis.get_instructions(frame.f_code):
        if step.offset == frame.f_lasti and step.opname == "UNPACK_SEQUENCE":
            return (proxy[i] for i in range(step.argval))
    raise TypeError("a loop over a traced value")


if IS_OLD:
    torch.fx.Proxy.__iter__ = unpack


def load(name):
    """The file as a module; one that lies in a package, as a part of it."""
    stem = name[:-3].replace("/", ".")
    if "." in stem and SOURCE not in sys.path:
        sys.path.insert(0, SOURCE)
    spec = importlib.util.spec_from_file_location(stem, os.path.join(SOURCE, name))
    module = importlib.util.module_from_spec(spec)
    sys.modules[stem] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def build(cls, classes, *sample):
    """The network, its parameters without defaults answered as our tracer does."""
    row = len(sample) == 1
    info = Info(num_classes=classes, num_features=sample[0] if row else None,
                image_size=None if row else sample)
    answers = dict(info, info=info, in_features=info.num_features, n_features=info.num_features,
                   input_dim=info.num_features, in_channels=sample[0], n_classes=classes,
                   output_dim=classes)
    needed = [p.name for p in inspect.signature(cls).parameters.values()
              if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return cls(**{name: answers[name] for name in needed})


def fed(forward):
    """forward without the arguments that have defaults, except for the first: those are not inputs."""
    parameters = list(inspect.signature(forward).parameters.values())
    kept = [p for i, p in enumerate(parameters) if i < 2 or p.default is p.empty]
    if kept == parameters or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return forward
    names = ", ".join(p.name for p in kept)
    scope = {"inner": forward}
    exec(f"def forward({names}):\n    return inner({', '.join(p.name for p in kept)})", scope)
    made = scope["forward"]
    made.__annotations__ = {k: v for k, v in forward.__annotations__.items() if k in names.split(", ")}
    return made


def traced(net, training):
    net.train(training)
    forward = type(net).forward
    type(net).forward = fed(forward)
    try:
        text = str(torch.fx.Tracer().trace(net))
    finally:
        type(net).forward = forward
    return re.sub(r"\[#users=", "[num_users=", text)  # as it was before 2.0


def graph_text(make):
    """Of the network that make() makes anew for each tracing, which leaves constants in it: where an argument
    says the mode, it is self.training; where the graphs of both modes differ, both."""
    trained, evaluated = traced(make(), True), traced(make(), False)
    merged = trained.replace("training: True", "training: self.training")
    if trained == evaluated:
        return trained
    if merged == evaluated.replace("training: False", "training: self.training"):
        return merged
    return f"{evaluated}\n\nwhile training\n{trained}"
