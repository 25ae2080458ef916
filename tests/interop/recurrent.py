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


ATTENTION = '''class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(5, 8)
        self.layer = nn.{layer}
        self.head = nn.Linear(8, 3)
        self.register_buffer("mask", torch.triu(torch.ones(6, 6), diagonal=1){mask}, persistent=False)

    def forward(self, x):
        {before}
        {call}
        {after}


'''


def attention(name, call, first, mask="", layer="MultiheadAttention(8, 2, batch_first=%r)"):
    layer = layer % first if "%r" in layer else layer
    before = "x = self.up(x)" if first else "x = self.up(x).transpose(0, 1)"
    after = "return self.head(out.mean(%d))" % (1 if first else 0)
    return name, ATTENTION.format(name=name, layer=layer, mask=mask, before=before, call=call, after=after)


def attentions():
    """The variants of nn.MultiheadAttention, and encoders of it."""
    for first in (True, False):
        end = "First" if first else "Second"
        yield attention("Attention" + end, "out, _ = self.layer(x, x, x)", first)
        yield attention("Weights" + end, """out, w = self.layer(x, x, x)
        out = out * w.sum(2%s).unsqueeze(2)""" % ("" if first else ").transpose(0, 1"), first)
        yield attention("Heads" + end, """out, w = self.layer(x, x * 0.5, x + 1, average_attn_weights=False)
        w = w[:, 0].mean(2)
        out = out * %s.unsqueeze(2)""" % ("w" if first else "w.transpose(0, 1)"), first)
        yield attention("Masked" + end, "out, _ = self.layer(x, x, x, attn_mask=self.mask, need_weights=False)", first,
                        " == 1")
        yield attention("Added" + end, "out, _ = self.layer(x, x, x, attn_mask=self.mask * -0.7)", first)
        yield attention("Padded" + end, """bad = %s[:, :, 0] > 0.5
        bad = torch.cat([bad[:, :5], bad[:, 5:] == 2], 1)
        out, _ = self.layer(x, x, x, key_padding_mask=bad)""" % ("x" if first else "x.transpose(0, 1)"), first)
        yield attention("NoBias" + end, "out, _ = self.layer(x, x, x)", first, "",
                        "MultiheadAttention(8, 4, bias=False, batch_first=%r)")
        yield attention("Other" + end, "out, _ = self.layer(x, x[..., :3], x[..., 2:7])", first, "",
                        "MultiheadAttention(8, 2, kdim=3, vdim=5, batch_first=%r)")
        yield attention("Encoder" + end, "out = self.layer(x)", first, "",
                        "TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=%r)")
        yield attention("Encoders" + end, "out = self.layer(x, mask=self.mask)", first, " == 1",
                        "TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation='gelu', "
                        "norm_first=True, batch_first=%r), 2, nn.LayerNorm(8))")


def networks():
    """Source and name of every network."""
    yield from attentions()
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
    check(f"{name}: the same gradients, {far:.1e} apart", set(ours) == set(start) and far <= 1e-5)


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
    import warnings
    warnings.simplefilter("ignore")  # of nested tensors, which are not at stake
    import nets
    for name, _ in sources:
        compare(name, getattr(nets, name), x, y)
    check(f"{len(sources)} networks", len(sources) >= 50)
finish()
