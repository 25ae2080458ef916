#!/usr/bin/env python3
"""Layers derived from PyTorch's, with parameters and buffers of their own, masks that forward writes into .data, tensors that the
constructor changes in place: what PyTorch computes, and its gradients; or a refusal that says where. Never another number.

usage: own_layers.py CH
"""
import os
import re
import sys
import tempfile

from checks import check, finish, run

try:
    import numpy as np
    import torch
    from one_step import follow, predict
    from torch_models import IS_OLD
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
NETS = '''import torch
from torch import nn
import torch.nn.functional as F


class Masked(nn.Linear):
    def __init__(self, *sizes, **more):
        super().__init__(*sizes, **more)
        self.register_buffer("mask", torch.ones(self.out_features, self.in_features).tril())

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


class Biased(nn.Linear):
    def __init__(self, i, o):
        super().__init__(i, o, bias=False)
        self.bias = nn.Parameter(torch.full((o,), 0.25))


class Gated(nn.BatchNorm1d):
    def __init__(self, n):
        super().__init__(n)
        self.gate = nn.Parameter(torch.full((n,), 0.5))

    def forward(self, x):
        return super().forward(x) * self.gate


class Normed(nn.LayerNorm):
    def __init__(self, n):
        super().__init__(n, elementwise_affine=False)
        self.weight, self.bias = nn.Parameter(torch.full((n,), 2.0)), nn.Parameter(torch.ones(n))


class Standardised(nn.Conv2d):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.gain = nn.Parameter(torch.ones(self.out_channels, 1, 1, 1))
        self.norm = nn.BatchNorm2d(self.out_channels)

    def forward(self, x):
        w = self.weight - self.weight.mean((1, 2, 3), keepdim=True)
        return self.norm(self._conv_forward(x, w * self.gain, self.bias))


class PixelConv(nn.Conv2d):
    """As PixelCNNs have it."""

    def __init__(self, kind, *a, **k):
        super().__init__(*a, **k)
        self.register_buffer("mask", self.weight.data.clone())
        _, _, h, w = self.weight.size()
        self.mask.fill_(1)
        self.mask[:, :, h // 2, w // 2 + (kind == "B"):] = 0
        self.mask[:, :, h // 2 + 1:] = 0

    def forward(self, x):
        self.weight.data *= self.mask
        return super().forward(x)


class MADE(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Masked(8, 6), Masked(6, 6, bias=False)

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


class GivenBias(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.n, self.g = Biased(8, 6), Normed(6), Gated(6)

    def forward(self, x):
        return self.g(self.n(self.a(x)))


class Convolved(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.out = Standardised(1, 3, 3, padding=1), nn.Linear(24, 6)

    def forward(self, x):
        return self.out(self.c(x.view(-1, 1, 2, 4)).flatten(1))


class Root(nn.Linear):
    def __init__(self):
        super().__init__(8, 6)
        self.register_buffer("mask", torch.ones(6, 8).triu())

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


class Alone(nn.Linear):
    def __init__(self):
        super().__init__(8, 6)

    def forward(self, x):
        return super().forward(x) * 2


class InPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 6)
        t = torch.zeros(6)
        u = t
        u += torch.arange(6.0)
        v = t[1:3]
        v *= 3
        v -= 1
        t /= 2
        table = torch.zeros(4, 6)
        even = table[:, 0::2]
        even += torch.arange(4.0)[:, None]
        self.t, self.u, self.table = t, u, table
        with torch.no_grad():
            self.fc.weight *= 0.5

    def forward(self, x):
        drawn = torch.empty(6)
        drawn[:3] = 1.0
        drawn[3:] = 2.0
        return self.fc(x) * self.t + self.u + self.table.sum(0) + drawn


class Pixel(nn.Module):
    def __init__(self):
        super().__init__()
        self.c, self.d = PixelConv("A", 1, 3, 3, padding=1), PixelConv("B", 3, 3, 3, padding=1, bias=False)
        self.out = nn.Linear(24, 6)

    def forward(self, x):
        return self.out(self.d(F.relu(self.c(x.view(-1, 1, 2, 4)))).flatten(1))


class Zeroed(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(8, 6), nn.Linear(6, 6), nn.Conv1d(1, 2, 3, padding=1)
        self.out = nn.Linear(12, 6)

    def forward(self, x):
        self.a.weight.data[:, :2].zero_()
        self.a.weight.data[0, 3] = 0
        self.b.weight.data = self.b.weight.data * torch.eye(6)
        self.c.weight.data[:, :, -1].zero_()
        return self.out(self.c(self.b(self.a(x)).unsqueeze(1)).flatten(1))


'''
REFUSED = {  # by name: what forward begins with
    "Halved": "self.fc.weight.data.mul_(0.5)", "Clamped": "self.fc.weight.data.clamp_(-0.1, 0.1)",
    "Signed": "self.fc.weight.data.copy_(self.fc.weight.sign())", "Row": "self.fc.weight.data[0].mul_(2)",
    "NoGrad": "torch.no_grad().__enter__(); self.fc.weight[0].zero_()", "Detached": "self.fc.weight.detach().mul_(0.5)",
    "NoMask": "self.fc.weight.data *= self.part", "NoMaskEither": "self.fc.weight.data = self.fc.weight.data * self.part",
    "Every": "[p.data.clamp_(-1, 1) for p in self.parameters()]", "Added": "w = self.fc.weight.data; w += 1",
    "Chosen": "self.fc.weight.data[self.fc.weight.data > 0] = 1", "Traced": "self.fc.weight.data[0] = x[0]",
    "Unwritten": "t = torch.empty(8); t[:4] = 1; x = x + t", "UnwrittenBatch": "x = x + torch.empty(x.size(0), 8)",
    "Seeded": "torch.manual_seed(0); x = x + torch.randn(8)", "Views": "t = torch.zeros(8); u = t[:4]; t += x.mean(); x = x + t",
}
REFUSING = """class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 6)
        self.register_buffer("part", torch.full((6, 8), 0.5))

    def forward(self, x):
        {body}
        return self.fc(x)


"""


def trained(name, nets, x):
    """Ours in PyTorch: the gradients of places that are masked differ, and nothing reads these."""
    ok = run(ch, "train", f"nets.py:{name}", "npz:data.npz", "--max-steps", "6", "--learning-rate", "1e-2", "--project", name)
    path = f"mase_output/{name}/software/training_ckpts/last.ckpt"
    ok = ok and run(ch, "predict", f"nets.py:{name}", "npz:data.npz", "--load", path, "--input", "x.npy", "--output", "y.npy")
    if ok:
        state = torch.load(path, weights_only=not IS_OLD)["state_dict"]
        net = getattr(nets, name)()
        net.load_state_dict({k[len("model."):]: v for k, v in state.items()}, strict=True)
        with torch.no_grad():
            ok = np.abs(net.eval()(x).numpy() - np.load("y.npy")).max() <= 1e-5
    check(f"{name}: is trained, saved, and the same in PyTorch", ok)


def refuse(name, nets):
    torch.save(getattr(nets, name)().state_dict(), "start.pt")
    done = predict(ch, name)
    held = done.returncode == 2 and re.search(r"nets\.py:\d+:\d+: ", done.stderr)
    check(f"{name}: refused with its place{'' if held else ': ' + done.stderr}", held)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rng = np.random.RandomState(3)
    x = rng.randn(24, 8).astype("<f4")
    y = np.arange(24) % 6
    np.savez("data.npz", X_train=x, y_train=y, X_test=x, y_test=y)
    np.save("x.npy", x)
    with open("nets.py", "w") as f:
        f.write(NETS + "".join(REFUSING.format(name=name, body=body.replace("; ", "\n        "))
                               for name, body in REFUSED.items()))
    sys.path.insert(0, folder)
    import nets
    samples = torch.from_numpy(x)
    for name in ("MADE", "GivenBias", "Convolved", "Root", "Alone", "InPlace"):
        follow(ch, name, nets, samples, torch.from_numpy(y), trains=name != "InPlace")
    for name in ("Pixel", "Zeroed"):
        follow(ch, name, nets, samples, None, trains=False)
    for name in ("MADE", "GivenBias", "Convolved", "Root", "Alone", "InPlace", "Pixel", "Zeroed"):
        trained(name, nets, samples)
    for name in REFUSED:
        refuse(name, nets)
finish()
