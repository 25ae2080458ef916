#!/usr/bin/env python3
"""The graph that we trace from a .py file is the one that torch.fx traces from it.

usage: trace_with_torch.py TRACE_TOOL        compares
       trace_with_torch.py --write           writes tests/data/source/CLASS.txt for features.py and
                                             transformer.py
"""
import importlib.util
import inspect
import os
import subprocess
import sys

try:
    import torch.fx
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

sys.dont_write_bytecode = True
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/source")
JETS, SMALL, GREY, DIGITS, PHOTOS = (5, 16), (10, 3, 8, 8), (10, 1, 4, 4), (10, 1, 28, 28), (
    1000, 3, 224, 224)
MODELS = [
    ("test.py", JETS, ["Test"]),
    ("jsc.py", JETS, ["Tiny", "Toy", "Small"]),
    ("residual.py", JETS, ["ResMLP"]),
    ("products.py", JETS, ["MatmulNet"]),
    ("images.py", SMALL, ["ConvBN", "Toy", "ToyTiny", "ToyConvNet", "ToyTestModel", "VGG7", "CNV"]),
    ("images.py", GREY, ["ToyCustomFn"]),
    ("images.py", DIGITS, ["LFC"]),
    ("resnet.py", PHOTOS, ["resnet18", "resnet34", "resnet50"]),
    ("transformer.py", JETS, ["Transformer"]),
    ("features.py", JETS, ["Functions", "Operators", "Shapes", "Parameters", "Shared", "Inputs",
                           "Positions"]),
    ("features.py", SMALL, ["Images"]),
]


class Info(dict):
    __getattr__ = dict.__getitem__


def load(name):
    spec = importlib.util.spec_from_file_location(name[:-3], os.path.join(SOURCE, name))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(cls, classes, *sample):
    row = len(sample) == 1
    info = Info(num_classes=classes, num_features=sample[0] if row else None,
                image_size=None if row else sample)
    answers = dict(info, info=info, in_features=info.num_features)
    needed = [p.name for p in inspect.signature(cls).parameters.values()
              if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return cls(**{name: answers[name] for name in needed})


failed = 0
for name, data, classes in MODELS:
    for cls in classes:
        theirs = str(torch.fx.Tracer().trace(build(getattr(load(name), cls), *data)))
        if sys.argv[1] == "--write":
            if name in ("features.py", "transformer.py"):
                with open(os.path.join(SOURCE, cls + ".txt"), "w") as f:
                    f.write(theirs + "\n")
            continue
        ours = subprocess.run([sys.argv[1], os.path.join(SOURCE, name) + ":" + cls,
                               *map(str, data)], stdout=subprocess.PIPE, check=True, text=True)
        same = ours.stdout.rstrip("\n") == theirs
        failed += not same
        print("ok" if same else "NOT OK", name, cls)
        if not same:
            print(ours.stdout, theirs, sep="\n")
sys.exit(failed > 0)
