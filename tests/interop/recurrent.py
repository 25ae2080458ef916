#!/usr/bin/env python3
"""Recurrent layers and attention of torch.nn, with the attributes that change what they do: the same
outputs as in PyTorch, and after a step of plain descent the same weights, that is the same gradients.

usage: recurrent.py CH
"""
import os
import sys
import tempfile

from checks import check, finish, run

try:
    import numpy as np
    import torch
    from torch_models import IS_OLD
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
ROWS, STEPS, FEATURES, CLASSES = 24, 6, 5, 3

HEAD = """import torch
from torch import nn


"""
RECURRENT = '''class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.{layer}
        self.head = nn.Linear({width}, 3)

    def forward(self, x):
        {before}
        out, state = self.layer({given})
        {after}


'''


def state_text(kind, layers, width, hidden):
    """A first state that depends on the samples, so that its gradient counts too."""
    rows = "torch.stack([x.sum((%d, 2)).unsqueeze(1) * 0.1 * (k + 1 + torch.zeros(1, %d)) for k in range(%d)])"
    h = rows % (kind, width, layers)
    return h, rows % (kind, hidden, layers)


def recurrent(name, layer, given=False, **attributes):
    """A classifier with this layer; all of its results have a part in the answer."""
    first = attributes.get("batch_first", False)
    sides = 2 if attributes.get("bidirectional") else 1
    layers = attributes.get("num_layers", 1) * sides
    state = attributes.get("proj_size") or 4
    text = ", ".join(["5", "4"] + ["%s=%r" % i for i in attributes.items()])
    before = "pass" if first else "x = x.transpose(0, 1)"
    call = "x"
    if given:
        h, c = state_text(1 if first else 0, layers, state, 4)
        before += "\n        h = " + h
        call = "x, h"
        if layer == "LSTM":
            before += "\n        c = " + c
            call = "x, (h, c)"
    after = "out = out[:, -1] + out.mean(1)" if first else "out = out[-1] + out.mean(0)"
    if layer == "LSTM":
        after += "\n        h, c = state"
        after += "\n        return self.head(torch.cat([out, h[-1], h[0], c[0]], 1))"
        width = state * sides + 2 * state + 4
    else:
        after += "\n        return self.head(torch.cat([out, state[-1], state[0]], 1))"
        width = state * sides + 2 * state
    return RECURRENT.format(name=name, layer="%s(%s)" % (layer, text), width=width, before=before, given=call,
                            after=after)


CELLS = '''class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.{layer}
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        h = self.layer(x[:, 0])
        for t in range(1, 6):
            h = self.layer(x[:, t], h)
        return self.head({last})


'''


def networks():
    """Source and name of every network."""
    number = 0
    for layer in ("RNN", "LSTM", "GRU"):
        extra = [{"nonlinearity": "relu"}] if layer == "RNN" else [{"proj_size": 2}] if layer == "LSTM" else []
        for attributes in [{}, {"batch_first": True}, {"bias": False, "batch_first": True}, {"num_layers": 2},
                           {"bidirectional": True}, {"num_layers": 3, "bidirectional": True, "batch_first": True},
                           *extra, *({**e, "num_layers": 2, "bidirectional": True} for e in extra)]:
            for given in (False, True) if len(attributes) != 1 or "bias" in attributes else (False,):
                number += 1
                name = "%s%d" % (layer, number)
                yield name, recurrent(name, layer, given, **attributes)
    for layer, last in (("RNNCell(5, 4)", "h"), ("RNNCell(5, 4, nonlinearity='relu')", "h"),
                        ("LSTMCell(5, 4)", "h[0] + h[1]"), ("GRUCell(5, 4, bias=False)", "h")):
        number += 1
        name = "Cell%d" % number
        yield name, CELLS.format(name=name, layer=layer, last=last)


def checkpoint(project):
    saved = torch.load(f"mase_output/{project}/software/training_ckpts/last.ckpt", weights_only=not IS_OLD)
    return {k[len("model."):]: v for k, v in saved["state_dict"].items()}


def apart(ours, theirs):
    return max(((ours[k].double() - theirs[k].double()).abs() / theirs[k].double().abs().clamp(min=1)).max().item()
               for k in theirs)


def compare(name, cls, x, y):
    torch.manual_seed(1)
    net = cls()
    torch.save(net.state_dict(), "start.pt")
    start = {k: v.clone() for k, v in net.state_dict().items()}
    if not run(ch, "predict", f"nets.py:{name}", "npz:data.npz", "--load", "start.pt", "--input", "x.npy",
               "--output", "y.npy"):
        check(f"{name} is run", False)
        return
    net = net.double().train()
    theirs = net(torch.from_numpy(x).double())
    far = (np.abs(np.load("y.npy") - theirs.detach().numpy())).max()
    check(f"{name}: the same outputs, {far:.1e} apart", far <= 1e-5)
    if not run(ch, "train", f"nets.py:{name}", "npz:data.npz", "--load", "start.pt", "--split", "mase", "--scaling", "none",
               "--batch-size", str(ROWS), "--max-steps", "1", "--max-epochs", "1", "--learning-rate", "1",
               "--weight-decay", "0", "--momentum", "0", "--lr-schedule", "constant", "--training-optimizer", "sgd", "--project", name):
        check(f"{name} is trained", False)
        return
    torch.nn.functional.cross_entropy(theirs, torch.from_numpy(y)).backward()
    wanted = {k: start[k].double() - p.grad for k, p in net.named_parameters()}
    ours = checkpoint(name)
    far = apart(ours, wanted)
    check(f"{name}: the same gradients, {far:.1e} apart", list(ours) == list(start) and far <= 1e-5)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rng = np.random.RandomState(3)
    x = rng.randn(ROWS, STEPS, FEATURES).astype("<f4")
    y = np.arange(ROWS) % CLASSES
    np.savez("data.npz", X_train=x, y_train=y, X_test=x, y_test=y)
    np.save("x.npy", x)
    sources = list(networks())
    with open("nets.py", "w") as f:
        f.write(HEAD + "".join(source for _, source in sources))
    sys.path.insert(0, folder)
    import nets
    for name, _ in sources:
        compare(name, getattr(nets, name), x, y)
    check(f"{len(sources)} networks", len(sources) >= 30)
finish()
