"""Losses of the tasks against PyTorch: three steps of descent on all rows give the same weights."""
import os
import sys
import tempfile

try:
    import numpy as np
    import torch
    from torch.nn import functional as F
except ImportError as e:
    print(f"not installed: {e}")
    sys.exit(77)

from checks import check, finish, run
from torch_models import IS_OLD

NETS = '''
import torch
from torch import nn


class One(nn.Module):
    def __init__(self, outputs=1):
        super().__init__()
        self.a, self.b = nn.Linear(4, 6), nn.Linear(6, outputs)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


def two():
    return One(2)


def four():
    return One(4)


class Maps(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 3, 1)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Embedding(7, 5), nn.Linear(5, 7)

    def forward(self, x):
        return self.b(self.a(x.long()))
'''
ROWS, STEPS, RATE = 40, 3, 0.3
random = np.random.default_rng(3)


def write(x, y):
    """The same rows for all parts: what is trained on is known."""
    parts = {f"{name}_{part}": a for part in ("train", "val", "test") for name, a in (("X", x), ("y", y)) if a is not None}
    np.savez("data.npz", **parts)


def follow(ch, title, name, x, y, loss, *options):
    write(x, y)
    torch.manual_seed(4)
    net = getattr(nets, name)()
    torch.save(net.state_dict(), "start.pt")
    net = net.double()
    optimiser = torch.optim.SGD(net.parameters(), lr=RATE)
    inputs, targets = torch.tensor(x), None if y is None else torch.tensor(y)
    for _ in range(STEPS):
        optimiser.zero_grad()
        last = loss(net(inputs.double()), targets, inputs)
        last.backward()
        optimiser.step()
    project = title.replace(" ", "_")
    ok = run(ch, "train", f"nets.py:{name}", "data.npz", "--load", "start.pt", "--scaling", "none", "--batch-size", str(ROWS),
             "--max-epochs", str(STEPS), "--learning-rate", str(RATE), "--momentum", "0", "--lr-schedule", "constant",
             "--training-optimizer", "sgd", "--project", project, *options)
    path = f"mase_output/{project}/software/training_ckpts/last.ckpt"
    ours = torch.load(path, weights_only=not IS_OLD)["state_dict"] if ok else {}
    far = max((ours["model." + k].double() - p).abs().max().item() for k, p in net.named_parameters()) if ok else np.inf
    check(f"{title}: the same weights, {far:.1e} apart", far <= 2e-6)


ch = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("nets.py", "w") as f:
        f.write(NETS)
    sys.path.insert(0, folder)
    import nets

    x = random.normal(size=(ROWS, 4)).astype("f4")
    numbers = random.normal(size=(ROWS, 2)).astype("f4")
    follow(ch, "mse", "two", x, numbers, lambda y, t, i: F.mse_loss(y, t.double()), "--task", "reg")
    follow(ch, "l1", "two", x, numbers, lambda y, t, i: F.l1_loss(y, t.double()), "--task", "reg", "--loss", "l1")
    follow(ch, "huber", "two", x, numbers, lambda y, t, i: F.huber_loss(y, t.double(), delta=0.5), "--task", "reg",
           "--loss", "huber", "--loss-delta", "0.5")
    follow(ch, "binary", "One", x, (x[:, 0] > 0).astype("i8"),
           lambda y, t, i: F.binary_cross_entropy_with_logits(y[:, 0], t.double()), "--task", "binary")
    follow(ch, "multilabel", "two", x, (numbers > 0).astype("i8"),
           lambda y, t, i: F.binary_cross_entropy_with_logits(y, t.double()), "--task", "multilabel")
    follow(ch, "autoencode", "four", x, None, lambda y, t, i: F.mse_loss(y, i.double()), "--task", "autoencode")
    images = random.normal(size=(ROWS, 1, 4, 3)).astype("f4")
    maps = random.integers(0, 3, size=(ROWS, 4, 3))
    maps[::3, 0, 0] = -100
    follow(ch, "seg", "Maps", images, maps, lambda y, t, i: F.cross_entropy(y, t), "--task", "seg")
    follow(ch, "seg weighted", "Maps", images, maps,
           lambda y, t, i: F.cross_entropy(y, t, weight=torch.tensor([1.0, 2, 0.5]).double(), label_smoothing=0.1),
           "--task", "seg", "--class-weights", "1,2,0.5", "--label-smoothing", "0.1")
    counts = np.bincount(maps[maps >= 0])
    follow(ch, "seg balanced", "Maps", images, maps,
           lambda y, t, i: F.cross_entropy(y, t, weight=torch.tensor(counts.sum() / (3 * counts))), "--task", "seg",
           "--class-weights", "balanced")
    follow(ch, "lm", "Tokens", random.integers(0, 7, size=(ROWS, 6)).astype("i4"), None,
           lambda y, t, i: F.cross_entropy(y[:, :-1].reshape(-1, 7), i[:, 1:].reshape(-1).long()), "--task", "lm")
    os.chdir("/")
finish()
