#!/usr/bin/env python3
"""Reference outputs and graph texts of the larger zoo models, from PyTorch and torchvision.

Their weights are too large to store: both sides compute them. Element i of the tensor called NAME
is a number in [0, 1) of 24 bits from splitmix64, seeded with the FNV-1a hash of the name, then
scaled by what the tensor is (see value()). Only the outputs are stored, as NAME/y.npy; the input is
the tensor called "input". The same rules are in tests/unit/frontend/t_zoo_large.c.

Also writes ../graphs/NAME.txt, str(graph) of torch.fx, and ../graphs/NAME.modules.txt.

    pip install numpy torch torchvision && python3 generate.py
"""
import os

import numpy as np
import torch
import torchvision
from torch import nn

os.chdir(os.path.dirname(os.path.abspath(__file__)))
MASK = (1 << 64) - 1


def fnv1a(name):
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def u(name, count):
    i = np.arange(1, count + 1, dtype=np.uint64)
    z = np.uint64(fnv1a(name)) + i * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(40)).astype(np.float64) / 2**24


def value(name, shape):
    shape = tuple(shape)
    if name.endswith("num_batches_tracked"):
        return np.ones(shape, np.int64)
    x = u(name, int(np.prod(shape, dtype=np.int64)))
    if name == "input":
        x = 2 * x - 1
    elif len(shape) >= 2:  # uniform, variance 2 / inputs of one output
        x = (2 * x - 1) * np.sqrt(6.0 / np.prod(shape[1:]))
    elif name.endswith("weight") or name.endswith("running_var"):
        x = 0.5 + x
    else:
        x = 0.1 * (2 * x - 1)
    return x.astype(np.float32).reshape(shape)


class VGG7(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for width in (128, 256, 512):
            for _ in range(2):
                layers += [nn.Conv2d(channels, width, kernel_size=3, padding=1),
                           nn.BatchNorm2d(width, momentum=0.9), nn.ReLU(inplace=True)]
                channels = width
            layers.append(nn.MaxPool2d(kernel_size=2))
        self.feature_layers = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Linear(8192, 1024), nn.ReLU(inplace=True),
                                        nn.Linear(1024, 1024), nn.ReLU(inplace=True))
        self.last_layer = nn.Linear(1024, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last_layer(self.classifier(self.feature_layers(x).view(-1, 8192)))


class LFC(nn.Module):
    def __init__(self):
        super().__init__()
        layers, width = [], 784
        for outputs in (256, 256, 256, 256, 10):
            layers += [nn.Linear(width, outputs), nn.BatchNorm1d(outputs)]
            width = outputs
        self.seq_blocks = nn.Sequential(*layers, nn.Softmax())

    def forward(self, x):
        return self.seq_blocks(x.view(x.size(0), -1))


class CNV(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for width in (64, 128, 256):
            for _ in range(2):
                layers += [nn.Conv2d(channels, width, 3, stride=1, padding="valid"),
                           nn.BatchNorm2d(width)]
                channels = width
            if width < 256:
                layers.append(nn.MaxPool2d(2, 2))
        self.seq_blocks = nn.Sequential(*layers)
        self.seq_blocks_1 = nn.Sequential(nn.Linear(256, 512), nn.BatchNorm1d(512),
                                          nn.Linear(512, 512), nn.BatchNorm1d(512),
                                          nn.Linear(512, 10), nn.BatchNorm1d(10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.seq_blocks(x)
        x = torch.flatten(x, start_dim=1, end_dim=-1)
        return self.seq_blocks_1(x)


MODELS = {  # name: (model, input shape)
    "vgg7": (VGG7(), (1, 3, 32, 32)),
    "lfc": (LFC(), (4, 1, 28, 28)),
    "cnv": (CNV(), (2, 3, 32, 32)),
    "resnet18": (torchvision.models.resnet18(), (2, 3, 32, 32)),
    "resnet34": (torchvision.models.resnet34(), (2, 3, 32, 32)),
    "resnet50": (torchvision.models.resnet50(), (2, 3, 32, 32)),
}

for name, (model, shape) in MODELS.items():
    state = model.state_dict()
    model.load_state_dict({k: torch.from_numpy(value(k, v.shape)) for k, v in state.items()})
    model.eval()
    with torch.no_grad():
        x = torch.from_numpy(value("input", shape))
        y = model.double()(x.double())  # in double: the best that can be known
    os.makedirs(name, exist_ok=True)
    np.save(f"{name}/y.npy", y.numpy().astype(np.float32))
    traced = torch.fx.symbolic_trace(model)
    with open(f"../graphs/{name}.txt", "w") as out:
        out.write(str(traced.graph) + "\n")
    with open(f"../graphs/{name}.modules.txt", "w") as out:
        for path, module in traced.named_modules():
            if not list(module.children()):
                text = str(module).replace("affine=True, bias=True", "affine=True")  # since 2.15
                out.write(f"{path}\t{text}\n")
    count = sum(p.numel() for p in model.parameters())
    print(f"{name}: {count} parameters, |y| up to {y.abs().max():.4g}")
