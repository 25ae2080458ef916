#!/usr/bin/env python3
"""What is frozen in PyTorch is frozen here: after some steps the same weights, optimiser states and
files.

usage: freezing.py CH
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
STEPS, ROWS, CLASSES, FEATURES = 12, 48, 5, 16
OPTIMISERS = {
    "adam": lambda p: torch.optim.Adam(p, lr=1e-2, weight_decay=1e-2),
    "sgd": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9, nesterov=True, weight_decay=1e-2),
}
NETWORKS = ["Backbone", "Halves", "Blocks", "Chooses"]


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
          frozen and all(torch.equal(ours[k], start[k]) for k in frozen))
    moved = [k for k, p in net.named_parameters() if p.grad is not None]
    check(f"{project}: the rest moves", not any(torch.equal(ours[k], start[k]) for k in moved))
    mine = saved["optimizer_states"][0]
    requires = {i for i, p in enumerate(net.parameters()) if p.requires_grad}
    check(f"{project}: the optimiser has states of what is trained",
          set(optim.state_dict()["state"]) <= set(mine["state"]) <= requires)
    again = OPTIMISERS[optimiser](net.parameters())
    again.load_state_dict(mine)
    check(f"{project}: PyTorch's optimiser takes them", len(again.state) == len(mine["state"]))


def both_ways(name, cls, spec):
    """The class that ch convert writes freezes the same, and blocks the same gradients."""
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
    for n in (net, written):
        n.train()(x).square().sum().backward()
    a, b = dict(net.named_parameters()), dict(written.named_parameters())
    same = a.keys() == b.keys() and all(a[k].requires_grad == b[k].requires_grad and
                                        (a[k].grad is None) == (b[k].grad is None) and
                                        (a[k].grad is None or torch.equal(a[k].grad, b[k].grad)) for k in a)
    check(f"{name}: written as a class it has the same gradients", same)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rng = np.random.RandomState(3)
    x = rng.randn(ROWS, FEATURES).astype("<f4")
    y = np.arange(ROWS) % CLASSES
    np.savez("data.npz", X_train=x, y_train=y, X_test=x, y_test=y)
    module = load("frozen.py")
    for name in NETWORKS:
        spec = os.path.join(SOURCE, "frozen.py") + ":" + name
        for optimiser in OPTIMISERS:
            compare(name, getattr(module, name), optimiser, spec, x, torch.from_numpy(y))
        both_ways(name, getattr(module, name), spec)
finish()
