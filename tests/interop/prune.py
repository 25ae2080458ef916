#!/usr/bin/env python3
"""Pruning: the weights that torch.nn.utils.prune takes away, and after steps of descent the weights
that are left, which are those of a network whose masks PyTorch keeps.

usage: prune.py CH
"""
import os
import sys
import tempfile

from checks import check, finish, run

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch.nn.utils import prune
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
ROWS, CLASSES = 48, 3
NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 7, 3)
        self.mid = nn.Linear(28, 10)
        self.head = nn.Linear(10, 3)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = torch.relu(self.mid(torch.flatten(x, 1)))
        return self.head(x)
"""
LAYERS = ("conv", "mid", "head")
SECTION = """[passes.prune]
sparsity = {sparsity}
method = "{method}"
scope = "{scope}"
granularity = "{granularity}"
"""


def section(**keys):
    with open("c.toml", "w") as f:
        f.write(SECTION.format(**{"method": "l1-norm", "scope": "local", "granularity": "elementwise", **keys}))


def theirs(net, sparsity, method="l1-norm", scope="local", granularity="elementwise"):
    """net with masks, by the functions of PyTorch."""
    layers = [getattr(net, name) for name in LAYERS]
    if scope == "global":
        prune.global_unstructured([(m, "weight") for m in layers], prune.L1Unstructured, amount=sparsity)
    for m in layers if scope == "local" else []:
        if granularity == "channel":
            prune.ln_structured(m, "weight", amount=sparsity, n=1 if method == "l1-norm" else 2, dim=0)
        else:
            prune.l1_unstructured(m, "weight", amount=sparsity)
    return {name: getattr(net, name).weight_mask.bool().numpy() for name in LAYERS}


def compare(Net, number, **keys):
    torch.manual_seed(number)
    net = Net()
    torch.save(net.state_dict(), "start.pt")
    before = {name: getattr(net, name).weight.detach().numpy().copy() for name in LAYERS}
    section(**keys)
    if not run(ch, "prune", "nets.py:Net", "npz:data.npz", "--load", "start.pt", "--config", "c.toml", "--project", f"p{number}",
               "--log-level", "error") or not run(ch, "convert", f"mase_output/p{number}", f"p{number}.npz"):
        check(f"{keys} is run", False)
        return
    ours = np.load(f"p{number}.npz")
    masks = theirs(net, **keys)
    same = all(((ours[f"{k}.weight"] != 0) == masks[k]).all() for k in LAYERS)
    kept = all((ours[f"{k}.weight"][masks[k]] == before[k][masks[k]]).all() for k in LAYERS)
    gone = sum((~m).sum() for m in masks.values())
    check(f"{keys}: the same {gone} weights go, the others stay as they are", same and kept)


def train(Net, number, x, y, **keys):
    """Some steps by plain descent with momentum, gradients cut to a length."""
    torch.manual_seed(number)
    net = Net()
    torch.save(net.state_dict(), "start.pt")
    section(**keys)
    if not run(ch, "train", "nets.py:Net", "npz:data.npz", "--load", "start.pt", "--config", "c.toml", "--split", "mase",
               "--scaling", "none", "--batch-size", str(ROWS), "--max-epochs", "5", "--learning-rate", "0.2",
               "--momentum", "0.9", "--clip-norm", "0.5", "--weight-decay", "0.01", "--lr-schedule", "constant",
               "--training-optimizer", "sgd", "--project", f"t{number}", "--log-level", "error") or \
            not run(ch, "convert", f"mase_output/t{number}/software/training_ckpts/last.ckpt", f"t{number}.npz"):
        check(f"{keys} is trained", False)
        return
    net = net.double()
    theirs(net, **keys)
    optim = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.9, nesterov=True, weight_decay=0.01)
    for _ in range(5):
        optim.zero_grad()
        F.cross_entropy(net(torch.from_numpy(x).double()), torch.from_numpy(y)).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optim.step()
    net(torch.from_numpy(x).double())  # masks the weights that the last step has moved
    ours = {k[len("model."):]: v for k, v in np.load(f"t{number}.npz").items()}
    far = max(np.abs(ours[f"{k}.weight"] - getattr(net, k).weight.detach().numpy()).max() for k in LAYERS)
    far = max(far, max(np.abs(ours[f"{k}.bias"] - getattr(net, k).bias.detach().numpy()).max() for k in LAYERS))
    check(f"{keys}: trained, {far:.1e} apart", far <= 1e-5)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("nets.py", "w") as f:
        f.write(NET)
    rng = np.random.RandomState(3)
    x = rng.randn(ROWS, 2, 6).astype("<f4")
    y = np.arange(ROWS) % CLASSES
    np.savez("data.npz", X_train=x, y_train=y, X_test=x, y_test=y)
    sys.path.insert(0, folder)
    from nets import Net
    cases = [dict(sparsity=s) for s in (0.0, 0.25, 0.5, 0.77, 1.0)]
    cases += [dict(sparsity=s, scope="global") for s in (0.3, 0.5, 0.9)]
    cases += [dict(sparsity=s, granularity="channel", method=m) for s in (0.25, 0.5) for m in ("l1-norm", "l2-norm")]
    for number, keys in enumerate(cases):
        compare(Net, number, **keys)
    train(Net, 0, x, y, sparsity=0.5)
    train(Net, 1, x, y, sparsity=0.7, scope="global")
finish()
