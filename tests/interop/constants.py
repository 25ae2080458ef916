#!/usr/bin/env python3
"""Tensors that are known when a network is traced: shapes, indices and masks that follow from them are
PyTorch's. Where a file of weights would change what was traced with, it is refused.

usage: constants.py CH
"""
import os
import subprocess
import sys
import tempfile

from checks import check, finish

try:
    import numpy as np
    import torch
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
ROWS, FEATURES = 20, 8
HEAD = """import math
import torch
from torch import nn
import torch.nn.functional as F


"""
NETWORK = """class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 6)
        self.register_buffer("sizes", torch.tensor([-1, 3, 2]))
        self.register_buffer("mask", torch.tensor([True, False, True, True, False, False]))
        self.register_buffer("some", torch.tensor([False, True, True, False, True, True]), persistent=False)
        self.register_buffer("pick", torch.tensor([0, 2, 5]))
        self.register_buffer("tril", torch.tril(torch.ones(6, 6)))
        self.register_buffer("std", torch.ones(6))
        self.keep = torch.tensor([1, 1, 0, 1, 0, 1]).bool()
        self.pos = nn.Parameter(torch.randn(10, 6))
        self.emb = nn.Embedding(10, 6)

    def forward(self, x):
        x = self.fc(x)
        n = x.size(1)
        i = torch.arange(6)
        {body}


"""
NETWORKS = {  # by name: what forward does
    "ViewList": "return x.view(self.sizes.tolist()).flatten(1)",
    "ViewItem": "return x.view(-1, int(self.sizes[1]), self.sizes[2].item()).flatten(1)",
    "ViewCount": "return x.view(-1, self.sizes.numel(), 2).flatten(1)",
    "SizeInt": "return x[:, :int(x.size(1) / 2)]",
    "SizeIf": "return x * 2 if x.dim() == 2 and x.shape[-1] > 4 else x",
    "SizeLength": "return x.sum(len(x.shape) - 1, keepdim=True)",
    "SizeShapes": "y = x.relu().view(-1, 2, 3).flatten(1); return y if x.shape == y.shape else x",
    "SizeRange": "return sum(x[:, j:j + 1] * j for j in range(x.size(1)))",
    "SizeLoop": "return torch.cat([p * (j + 1) for j, p in enumerate(x.split(2, dim=1))], 1)",
    "SizeDeep": "y = x.view(-1, 1, 6).transpose(1, 2); return x * 3 if y.size(1) == 6 and y.ndim == 3 else x",
    "Mask": "return x[:, self.mask]",
    "MaskOfTheCode": "return x[:, self.some]",
    "MaskAttribute": "return x[:, self.keep]",
    "MaskLast": "return x[..., self.some]",
    "MaskDeep": "return x.view(-1, 6, 1)[:, self.mask, 0]",
    "MaskComputed": "return x[:, i % 2 == 0]",
    "MaskOfRows": "return x @ self.tril[self.mask].t()",
    "MaskSum": "return x[:, :int(self.mask.sum())]",
    "MaskPlaces": "return x[:, self.mask.nonzero().squeeze(1)]",
    "MaskedArange": "return x[:, i[i > 2]]",
    "Pick": "return x[:, self.pick]",
    "PickSelect": "return torch.index_select(x, 1, self.pick)",
    "PickOfPicks": "return x[:, i[self.pick]]",
    "Gather": "return x.gather(1, self.pick.expand(x.size(0), -1))",
    "GatherRepeated": "return x.gather(1, self.pick.unsqueeze(0).repeat(x.size(0), 1))",
    "Repeated": "return x * self.pick.repeat(2).float()",
    "ArangeSlice": "return x * torch.arange(10)[:n]",
    "ArangeBack": "return x[:, torch.arange(n - 1, -1, -1)]",
    "Places": "return x + self.emb(torch.arange(n)).sum(0) + self.pos[:n].sum(0)",
    "Tril": "return x @ self.tril[:n, :n]",
    "Expanded": "return x * torch.ones(1, 6).expand(x.size(0), -1)",
    "Viewed": "return x * torch.ones(6).view(1, n)",
    "Joined": "return x * torch.cat([self.pick, self.pick + 1]).float()",
    "JoinedRows": "return x @ torch.cat([self.tril[:, :2], self.tril[:, 4:]], dim=1)",
    "Stacked": "return x * torch.stack([self.pick, self.pick], dim=1).flatten().float()",
    "Halves": "h = n // 2; return torch.cat([x[:, h:], x[:, :h]], 1)",
    "Lengths": "return x.view(-1, math.prod(self.tril.shape) // 6)",
    "Scaled": "return x / (self.std + 1e-5)",
}
CHANGED = {"Scaled": "std", "Mask": "mask", "ViewItem": "sizes", "MaskSum": "mask"}


def predict(name, path):
    return subprocess.run([ch, "predict", f"nets.py:{name}", "npz:data.npz", "--load", path, "--input", "x.npy",
                           "--output", "y.npy"], capture_output=True, text=True)


def compare(name, net, x):
    torch.save(net.state_dict(), "start.pt")
    with torch.no_grad():
        theirs = net(torch.from_numpy(x)).numpy()
    done = predict(name, "start.pt")
    ours = np.load("y.npy") if done.returncode == 0 else np.zeros(0)
    same = ours.shape == theirs.shape and np.abs(ours - theirs).max() <= 1e-5
    check(f"{name}: the same outputs", same)
    if not same:
        print(done.stderr, ours.shape, theirs.shape)


def change(name, net, buffer):
    state = {k: v.clone() for k, v in net.state_dict().items()}
    state[buffer] = ~state[buffer] if state[buffer].dtype == torch.bool else state[buffer] + 1
    torch.save(state, "other.pt")
    done = predict(name, "other.pt")
    check(f"{name}: another {buffer} than it was traced with is refused",
          done.returncode == 2 and f"with other values than the network was traced with: {buffer}" in done.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rng = np.random.RandomState(3)
    x = rng.randn(ROWS, FEATURES).astype("<f4")
    y = np.arange(ROWS) % 2
    np.savez("data.npz", X_train=x, y_train=y, X_test=x, y_test=y)
    np.save("x.npy", x)
    with open("nets.py", "w") as f:
        f.write(HEAD + "".join(NETWORK.format(name=name, body=body.replace("; ", "\n        "))
                               for name, body in NETWORKS.items()))
    sys.path.insert(0, folder)
    import nets
    torch.manual_seed(4)
    for name in NETWORKS:
        compare(name, getattr(nets, name)().eval(), x)
    net = nets.Tril().eval()
    net.tril += 1  # which the graph reads: a file may say so
    compare("Tril", net, x)
    for name, buffer in CHANGED.items():
        change(name, getattr(nets, name)().eval(), buffer)
finish()
