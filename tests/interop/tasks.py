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


LOSSES = '''
import torch
from torch import nn
from torch.nn import functional as F


class Focal(nn.Module):
    def __init__(self, gamma=0.0, weights=None):
        super().__init__()
        self.gamma = gamma
        self.register_buffer("weights", torch.tensor(weights or [1.0, 1.0, 1.0, 1.0]))

    def forward(self, logits, classes):
        ce = F.cross_entropy(logits, classes, reduction="none", weight=self.weights)
        p = torch.exp(-ce)
        return ((1 - p) ** self.gamma * ce).sum() / logits.size(0)


def dice(output, target, smooth=1.0):
    p = torch.softmax(output, dim=1)
    t = F.one_hot(target, output.shape[1]).to(p.dtype)
    both, all = (p * t).sum(dim=0), (p + t).sum(dim=0)
    return 1 - ((2 * both + smooth) / (all + smooth)).mean()


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.mse = nn.L1Loss(reduction="sum"), nn.MSELoss()

    def forward(self, x, y):
        with torch.no_grad():
            scale = y.abs().mean() + 1
        return self.l1(x, y) / scale / 40 + 0.5 * self.mse(x, y).sqrt() + F.smooth_l1_loss(x, y.detach(), beta=0.3)


def pairs(x, y):
    """Each beside all others: the nearest should be itself."""
    return F.cross_entropy(x @ torch.tanh(y).t(), torch.arange(x.size(0)))


def spread(x, y):
    """It mixes the samples: each beside their mean, and all distances."""
    centred = x - x.mean(0)
    near = (x @ x.t()) / 7 - (y @ y.t())
    return (centred ** 2).mean() + near.abs().mean()
'''


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
    ok = run(ch, "train", f"nets.py:{name}", "data.npz", "--load", "start.pt", "--scaling", "none", "--batch-size", str(len(x)),
             "--max-epochs", str(STEPS), "--learning-rate", str(RATE), "--momentum", "0", "--lr-schedule", "constant",
             "--training-optimizer", "sgd", "--project", project, *options)
    path = f"mase_output/{project}/software/training_ckpts/last.ckpt"
    ours = torch.load(path, weights_only=not IS_OLD)["state_dict"] if ok else {}
    far = max((ours["model." + k].double() - p).abs().max().item() for k, p in net.named_parameters()) if ok else np.inf
    check(f"{title}: the same weights, {far:.1e} apart", far <= 2e-6)


def own_losses(ch, x, numbers, images, maps):
    """What a user says himself: expressions and a .py file, by the very batch."""
    with open("losses.py", "w") as f:
        f.write(LOSSES)
    import losses
    many = random.normal(size=(1100, 4)).astype("f4")  # three tiles
    classes, bits = random.integers(0, 4, size=len(x)), (numbers > 0).astype("i8")
    rows = [
        ("reg", "two", x, numbers, "mean((output - target) ** 2) + 1e-3 * mean(abs(output))",
         lambda y, t: ((y - t) ** 2).mean() + 1e-3 * y.abs().mean()),
        ("reg", "two", x, numbers, "sum(log(cosh(output - target)), dim=1).mean() / 2",
         lambda y, t: torch.log(torch.cosh(y - t)).sum(1).mean() / 2),
        ("reg", "two", x, numbers, "0.01 * ((output - target)[:, 1] ** 2).sum() + F.l1_loss(output, target)",
         lambda y, t: 0.01 * ((y - t)[:, 1] ** 2).sum() + F.l1_loss(y, t)),
        ("reg", "two", x, numbers, "maximum(0.7 * (target - output), -0.3 * (target - output)).mean()",
         lambda y, t: torch.maximum(0.7 * (t - y), -0.3 * (t - y)).mean()),
        ("reg", "two", x, numbers, "sqrt(mse_loss(output, target)) + huber_loss(output, target, delta=0.5)",
         lambda y, t: F.mse_loss(y, t).sqrt() + F.huber_loss(y, t, delta=0.5)),
        ("reg", "two", many, np.tanh(many[:, :2]), "sqrt(mean((output - target) ** 2, dim=0)).sum() + output.std() / 9",
         lambda y, t: ((y - t) ** 2).mean(0).sqrt().sum() + y.std() / 9),
        ("reg", "two", many, np.tanh(many[:, :2]), "-mean(cosine_similarity(output, target))",
         lambda y, t: -F.cosine_similarity(y, t).mean()),
        ("reg", "two", x, numbers, "losses.py:Mixed", losses.Mixed()),
        ("reg", "two", x, numbers, "losses.py:spread", losses.spread),
        ("reg", "two", x, numbers, "losses.py:pairs", losses.pairs),
        ("cls", "four", x, classes, "cross_entropy(output, target, label_smoothing=0.1)",
         lambda y, t: F.cross_entropy(y, t, label_smoothing=0.1)),
        ("cls", "four", x, classes, "nll_loss(log_softmax(output, dim=1), target)", F.cross_entropy),
        ("cls", "four", x, classes, "-output.log_softmax(1).gather(1, target.unsqueeze(1)).mean()", F.cross_entropy),
        ("cls", "four", x, classes, "(one_hot(target, 4) - softmax(output, 1)).pow(2).sum(1).mean()",
         lambda y, t: (F.one_hot(t, 4) - y.softmax(1)).pow(2).sum(1).mean()),
        ("cls", "four", x, classes, "kl_div(log_softmax(output, 1), 0.9 * one_hot(target, 4) + 0.025, reduction='batchmean')",
         lambda y, t: F.kl_div(y.log_softmax(1), 0.9 * F.one_hot(t, 4) + 0.025, reduction="batchmean")),
        ("cls", "four", x, classes, "losses.py:Focal(gamma=2, weights=[1.0, 2.0, 0.5, 1.5])",
         losses.Focal(2, [1.0, 2.0, 0.5, 1.5]).double()),
        ("cls", "four", many, random.integers(0, 4, size=len(many)), "losses.py:dice(smooth=0.5)",
         lambda y, t: losses.dice(y, t, 0.5)),
        ("binary", "One", x, bits[:, 0], "binary_cross_entropy(sigmoid(output), target)",
         lambda y, t: F.binary_cross_entropy_with_logits(y[:, 0], t.double())),
        ("multilabel", "two", x, bits, "binary_cross_entropy_with_logits(output, target)",
         lambda y, t: F.binary_cross_entropy_with_logits(y, t.double())),
        ("autoencode", "four", x, None, "smooth_l1_loss(output, target, beta=0.5)", None),
        ("seg", "Maps", images, maps, "cross_entropy(output, target)", F.cross_entropy),
        ("seg", "Maps", images, maps, "cross_entropy(output, target, reduction='sum') / 100",
         lambda y, t: F.cross_entropy(y, t, reduction="sum") / 100),
    ]
    for i, (task, name, inputs, targets, loss, definition) in enumerate(rows):
        def peer(y, t, given, f=definition):
            return F.smooth_l1_loss(y, given.double(), beta=0.5) if f is None else f(y, t.double() if t.is_floating_point() else t)
        follow(ch, f"own {i} {loss.partition('(')[0].replace(':', ' ').replace('-', '')}", name, inputs, targets, peer,
               "--task", task, "--loss", loss)


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
    own_losses(ch, x, numbers, images, maps)
    os.chdir("/")
finish()
