#!/usr/bin/env python3
"""PyTorch reads what we write, and we read what PyTorch writes.

usage: torch_roundtrip.py TORCH_TOOL
"""
import collections
import os
import subprocess
import sys
import tempfile

from checks import check, finish, run

try:
    import numpy as np
    import torch
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data/torch"))
import generate  # noqa: E402

tool = sys.argv[1]


# weights_only refused every float before version 2.0, and the bytes that generate.tree has before 2.5.
VERSION = tuple(int(n) for n in torch.__version__.split(".")[:2])
KNOWS_FLOATS, KNOWS_BYTES = VERSION >= (2, 0), VERSION >= (2, 5)


def load(path, weights_only=KNOWS_FLOATS):
    return torch.load(path, weights_only=weights_only)


WIDENED = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.int16: torch.int32,
           torch.int8: torch.int32}


def same(a, b):
    """Is b what our reader and writer should make of a?"""
    if isinstance(a, torch.Tensor):
        a = a.detach().to(WIDENED.get(a.dtype, a.dtype)).contiguous()
        return a.dtype == b.dtype and a.shape == b.shape and \
            a.numpy().tobytes() == b.contiguous().numpy().tobytes()
    if isinstance(a, dict):
        return isinstance(b, dict) and len(a) == len(b) and \
            all(same(x, y) and same(a[x], b[y]) for x, y in zip(a, b))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, set):
        return sorted(a) == sorted(b)
    if isinstance(a, torch.device):
        return str(a) == b
    return a == b


def random_tree(rng, depth=0):
    kind = rng.integers(0, 9 if depth < 4 else 6)
    if kind == 0:
        return None
    if kind == 1:
        return bool(rng.integers(0, 2))
    if kind == 2:
        return int(rng.integers(-(2**63), 2**63 - 1)) >> int(rng.integers(0, 60))
    if kind == 3:
        return float(rng.normal())
    if kind == 4:
        return "".join(map(chr, rng.integers(32, 0x800, rng.integers(0, 9))))
    if kind == 5:
        shape = tuple(rng.integers(0, 4, rng.integers(0, 4)).tolist())
        x = torch.from_numpy(rng.normal(size=shape)) * 100
        x = x.to([torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64,
                  torch.uint8, torch.int8, torch.bool][rng.integers(0, 8)])
        return x.t() if x.dim() == 2 and rng.integers(0, 2) else x
    items = [random_tree(rng, depth + 1) for _ in range(rng.integers(0, 5))]
    if kind == 6:
        return items
    if kind == 7:
        return tuple(items)
    return {f"key {i}" if i % 2 else i: x for i, x in enumerate(items)}


def pytorch_to_ours(folder):
    theirs, ours = os.path.join(folder, "theirs.pt"), os.path.join(folder, "ours.pt")
    ways = [dict(_use_new_zipfile_serialization=zip_, pickle_protocol=protocol)
            for zip_ in (True, False) for protocol in (2, 3, 4, 5)]
    for way in ways:
        torch.save(generate.tree, theirs, **way)
        check(f"all types, {way}", run(tool, "copy", theirs, ours) and
              same(generate.tree, load(ours, KNOWS_BYTES)))
    rng = np.random.default_rng(1)
    good = 0
    for i in range(100):
        tree = {"tree": random_tree(rng), "w": torch.ones(1)}
        torch.save(tree, theirs, **ways[i % len(ways)])
        good += run(tool, "copy", theirs, ours) and same(tree, load(ours))
    check(f"random trees: {good} of 100", good == 100)


def state_dicts(folder):
    path, ours = os.path.join(folder, "net.pt"), os.path.join(folder, "ours.pt")
    net = torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(),
                              torch.nn.Conv1d(1, 2, 3))
    adam = torch.optim.Adam(net.parameters())
    for p in net.parameters():
        p.grad = torch.ones_like(p)
    adam.step()
    whole = {"epoch": 1, "model_state_dict": net.state_dict(), "optimizer": adam.state_dict()}
    torch.save(whole, path)
    check("a network and its optimiser", run(tool, "copy", path, ours) and same(whole, load(ours)))
    state = load(ours)["model_state_dict"]
    check("an OrderedDict", isinstance(state, collections.OrderedDict))
    check("strict loading", str(net.load_state_dict(state)) == "<All keys matched successfully>")
    adam.load_state_dict(load(ours)["optimizer"])


def ours_to_pytorch(folder):
    path = os.path.join(folder, "ours.ckpt")
    check("our checkpoint is written", run(tool, "write", path))
    tree = load(path)
    w = torch.arange(12, dtype=torch.float32).view(3, 4) - 1.5
    state = tree["state_dict"]
    check("its tensors", torch.equal(state["model.w"], w) and
          torch.equal(state["model.double"], w.double()) and
          torch.equal(state["model.long"], torch.tensor(-1)) and
          state["model.empty"].shape == (0, 3))
    check("shared data stay shared", state["model.w"].data_ptr() == state["model.tied"].data_ptr())
    check("its numbers", tree["numbers"] == [0, 255, 256, 65536, -1, -2**31, -2**63, 2**63 - 1, 0.1])
    check("the rest", tree["rng"].dtype == torch.uint8 and tree["text"] == "gr\u00fc\u00df' \u20ac"
          and tree["optimizer_states"] == [{"state": {0: {}}, "betas": (0.9, 0.999)}]
          and tree["nothing"] is None and tree["yes"] is True and tree["empty"] == ())
    try:
        mapped = torch.load(path, weights_only=KNOWS_FLOATS, mmap=True)
    except TypeError:  # before version 2.1
        mapped = tree
    check("mapped", torch.equal(mapped["state_dict"]["model.w"], w))


def whole_modules(folder):
    path = os.path.join(folder, "whole.pt")
    layer = torch.nn.Linear(2, 2)
    torch.save(layer, path)
    done = subprocess.run([tool, "dump", path], capture_output=True, text=True)
    wanted = "weight torch.float32[2, 2] %.17g" % layer.weight[0, 0].item()
    check("a pickled module gives its weights, by name", done.returncode == 0
          and "torch.nn.modules.linear.Linear" in done.stdout and wanted in done.stdout)
    torch.jit.script(layer).save(path)
    done = subprocess.run([tool, "dump", path], capture_output=True, text=True)
    check("so does a TorchScript archive", done.returncode == 0 and wanted in done.stdout)


print(f"PyTorch {torch.__version__}")
with tempfile.TemporaryDirectory() as temp:
    pytorch_to_ours(temp)
    state_dicts(temp)
    ours_to_pytorch(temp)
    whole_modules(temp)
finish()
