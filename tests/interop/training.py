#!/usr/bin/env python3
"""Networks of which parts are frozen, or that are others while they are trained: after some steps the
same weights, optimiser states and outputs as in PyTorch; and the classes that ch writes of them behave
the same in both modes.

usage: training.py CH
"""
import os
import sys
import tempfile

from checks import check, finish, run

try:
    import numpy as np
    import torch
    from torch_models import IS_OLD, SOURCE, build, load
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
STEPS, ROWS, SHOWN, CLASSES, FEATURES = 12, 48, 20, 5, 16
OPTIMISERS = {
    "adam": lambda p: torch.optim.Adam(p, lr=1e-2, weight_decay=1e-2),
    "sgd": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9, nesterov=True, weight_decay=1e-2),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-2, weight_decay=1e-2),
    "nadam": lambda p: torch.optim.NAdam(p, lr=1e-2, weight_decay=1e-2),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-2, weight_decay=1e-2),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=1e-2, weight_decay=1e-2),
}
FROZEN = ["Backbone", "Halves", "Blocks", "Chooses"]
MODES = ["Branches", "Pinned", "BatchStatistics", "Defaults", "Counts", "Spectral"]  # without chance in training
WRITTEN = FROZEN + MODES + ["Follows"]


def checkpoint(project):
    return torch.load(f"mase_output/{project}/software/training_ckpts/last.ckpt", weights_only=not IS_OLD)


def state_of(saved):
    return {k[len("model."):]: v for k, v in saved["state_dict"].items()}


def scaled(x, saved):
    data = saved["mase"]["data"]
    return x if data["mean"] is None else (x - data["mean"].numpy()) / data["std"].numpy()


def train(net, x, y, make):
    """The whole of the rows in one batch: their order does not matter. In float64, from which float32
    is as far as ours."""
    net = net.double().train()
    optimiser = make(net.parameters())
    for _ in range(STEPS):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimiser.step()
    return net, optimiser


def distance(net, x, spec, project, saved):
    """Between what is predicted here and there, by weights that are the same up to rounding."""
    path = f"mase_output/{project}/software/training_ckpts/last.ckpt"
    if not run(ch, "predict", spec, "npz:data.npz", "--load", path, "--input", "x.npy", "--output", "y.npy"):
        return np.inf
    net.load_state_dict(state_of(saved))
    with torch.no_grad():
        y = net.eval()(x[:SHOWN]).detach().numpy()
    return (np.abs(np.load("y.npy") - y) / np.maximum(1, np.abs(y))).max()


def compare(name, cls, optimiser, spec, x, y):
    torch.manual_seed(1)
    net = build(cls, CLASSES, FEATURES)
    start = {k: v.clone() for k, v in net.state_dict().items()}
    torch.save(start, "start.pt")
    project = f"{name}-{optimiser}"
    if not run(ch, "train", spec, "npz:data.npz", "--load", "start.pt", "--split", "mase", "--batch-size", str(ROWS),
               "--max-steps", str(STEPS), "--max-epochs", str(STEPS), "--learning-rate", "1e-2", "--weight-decay",
               "1e-2", "--lr-schedule", "constant", "--training-optimizer", optimiser, "--project", project):
        check(f"{project} is trained", False)
        return
    saved = checkpoint(project)
    ours = state_of(saved)
    inputs = torch.from_numpy(scaled(x.astype("f8"), saved))
    net, optim = train(net, inputs, y, OPTIMISERS[optimiser])
    theirs = net.state_dict()
    far = max((theirs[k].double() - ours[k].double()).abs().max().item() for k in theirs)
    check(f"{project}: the same weights, {far:.1e} apart", list(theirs) == list(ours) and far <= 2e-5)
    frozen = [k for k, p in net.named_parameters() if p.grad is None]
    check(f"{project}: what has no gradient keeps its bits: {', '.join(frozen)}",
          bool(frozen) == (name in FROZEN) and all(torch.equal(ours[k], start[k]) for k in frozen))
    moved = [k for k, p in net.named_parameters() if p.grad is not None]
    check(f"{project}: the rest moves", not any(torch.equal(ours[k], start[k]) for k in moved))
    far = distance(net, torch.from_numpy(x.astype("f8")), spec, project, saved)
    check(f"{project}: the same outputs, {far:.1e} apart", far <= 1e-5)
    mine = saved["optimizer_states"][0]
    requires = {i for i, p in enumerate(net.parameters()) if p.requires_grad}
    check(f"{project}: the optimiser has states of what is trained",
          {i for i in optim.state_dict()["state"] if optimiser != "adagrad" or i in requires} <= set(mine["state"]) <= requires)
    again = OPTIMISERS[optimiser](net.parameters())
    again.load_state_dict(mine)
    check(f"{project}: PyTorch's optimiser takes them", len(again.state) == len(mine["state"]))


def tried_on(name):
    """All optimisers on one network with frozen parts and one with modes, the first two on every one."""
    if name not in FROZEN + MODES:
        return []
    all_of_them = [o for o in OPTIMISERS if not (IS_OLD and o == "nadam")] # PyTorch 1.13 multiplies by mu twice
    return all_of_them if name in ("Backbone", "Branches") else all_of_them[:2]


def steps_of(net, x):
    """Gradients of a step in training, then what is evaluated; chance is the same for all."""
    torch.manual_seed(7)
    net.train()(x).square().sum().backward()
    with torch.no_grad():
        return {k: p.grad for k, p in net.named_parameters()}, net.eval()(x), net.state_dict()


def alike(name, a, b):
    """To the bit, but for what PyTorch computes by another function than the class."""
    return torch.allclose(a, b, 1e-5, 1e-6) if name == "Spectral" else torch.equal(a, b)


def as_class(name, cls, spec):
    """The class that ch convert writes freezes the same, blocks the same gradients, asks the same
    mode."""
    if not run(ch, "convert", spec, name + ".py", "--dataset", "npz:data.npz"):
        check(f"{name} is converted", False)
        return
    module = {"__name__": name}
    with open(name + ".py") as f:
        exec(f.read(), module)
    torch.manual_seed(1)
    net, written = build(cls, CLASSES, FEATURES), module[name]()
    written.load_state_dict(net.state_dict())
    x = torch.randn(7, FEATURES)
    (ga, ya, sa), (gb, yb, sb) = steps_of(net, x), steps_of(written, x)
    check(f"{name}: written as a class it has the same gradients", ga.keys() == gb.keys() and all(
        (ga[k] is None) == (gb[k] is None) and (ga[k] is None or alike(name, ga[k], gb[k])) for k in ga))
    check(f"{name}: and the same outputs", alike(name, ya, yb))
    check(f"{name}: and statistics", all(torch.equal(sa[k], sb[k]) for k in sa))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rng = np.random.RandomState(3)
    x = rng.randn(ROWS, FEATURES).astype("<f4")
    y = np.arange(ROWS) % CLASSES
    np.savez("data.npz", X_train=x, y_train=y, X_test=x, y_test=y)
    np.save("x.npy", x[:SHOWN])
    for file in ("frozen.py", "modes.py"):
        module = load(file)
        for name in (n for n in WRITTEN if hasattr(module, n)):
            spec = os.path.join(SOURCE, file) + ":" + name
            for optimiser in tried_on(name):
                compare(name, getattr(module, name), optimiser, spec, x, torch.from_numpy(y))
            as_class(name, getattr(module, name), spec)
finish()
