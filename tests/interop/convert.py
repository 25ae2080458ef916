#!/usr/bin/env python3
"""PyTorch, NumPy and the safetensors package read what ch convert writes, and ch what they write:
every type, shape and bit.

usage: convert.py CH
"""
import collections
import os
import re
import sys
import tempfile

from checks import check, finish, run

try:
    import numpy as np
    import torch
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)
try:
    import safetensors.torch
except ImportError:
    safetensors = None
    print("# without the safetensors package: its files are left out")

ch = sys.argv[1]


def convert(source, target, *options):
    return run(ch, "convert", source, target, "--force", *options)


def bits(t):
    """The bytes of a tensor of any type."""
    t = t.detach().contiguous()
    return b"" if t.numel() == 0 else t.reshape(-1).view(torch.uint8).numpy().tobytes()


def same(a, b):
    return list(a) == list(b) and all(
        a[k].dtype == b[k].dtype and a[k].shape == b[k].shape and bits(a[k]) == bits(b[k])
        for k in a)


def same_arrays(a, z):
    return set(a) == set(z.files) and all(
        a[k].numpy().dtype == z[k].dtype and a[k].numpy().shape == z[k].shape
        and a[k].numpy().tobytes() == z[k].tobytes() for k in a)


def load(path):
    return torch.load(path, weights_only=True)


TYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8",
         "bool"]
# Types that came with PyTorch 2.3, and that its older versions cannot load.
TYPES += [t for t in ("uint16", "uint32", "uint64") if hasattr(torch, t)]


def example():
    """Of every type a table, a scalar and an empty one; strides that are not dense; shared data."""
    d = collections.OrderedDict()
    for name in TYPES:
        kind = getattr(torch, name)
        raw = np.frombuffer(np.random.RandomState(len(d)).bytes(8 * 15), np.uint8).copy()
        if name == "bool":
            raw &= 1
        size = torch.empty(0, dtype=kind).element_size()
        table = torch.from_numpy(raw[:15 * size]).view(kind).reshape(3, 5)
        d[f"net.{name}.weight"] = table
        d[f"net.{name}.scalar"] = table[1, 2].clone()
        d[f"net.{name}.empty"] = table[:0].clone()
    d["turned"] = d["net.float32.weight"].t()
    d["part"] = d["net.float64.weight"][1:, ::2]
    d["shared"] = d["net.float32.weight"]
    d["a/b c\u00e9"] = torch.ones(2)
    return d


def dense(d):
    return collections.OrderedDict((k, v.contiguous()) for k, v in d.items())


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    given = example()
    wanted = dense(given)
    for name, options in {"zip": {}, "old": {"_use_new_zipfile_serialization": False}}.items():
        torch.save(given, f"{name}.pt", **options)
        check(f"PyTorch's {name} file is read", convert(f"{name}.pt", f"{name}.safetensors"))
        check("and comes back", convert(f"{name}.safetensors", f"{name}_back.pt")
              and same(wanted, load(f"{name}_back.pt")))

    check("a .ckpt", convert("zip.safetensors", "a.ckpt")
          and same(wanted, load("a.ckpt")["state_dict"]))
    check("a .pth of the same is the plain state dict", convert("a.ckpt", "a.pth") and same(wanted, load("a.pth")))
    check("and so is a .ckpt when asked", convert("a.ckpt", "plain.ckpt", "--plain")
          and same(wanted, load("plain.ckpt")))

    # NumPy has no bfloat16.
    plain = collections.OrderedDict((k, v) for k, v in wanted.items() if v.dtype != torch.bfloat16)
    torch.save(plain, "plain.pt")
    check("NumPy reads our .npz", convert("plain.pt", "plain.npz")
          and same_arrays(plain, np.load("plain.npz")))
    arrays = {k: v.numpy() for k, v in plain.items()}
    for save in np.savez, np.savez_compressed:
        save("theirs.npz", **arrays)
        check(f"we read what {save.__name__} wrote", convert("theirs.npz", "theirs.pt")
              and same(plain, load("theirs.pt")))

    # A checkpoint of Lightning's shape: the whole tree goes over, renamed or not.
    tree = {"epoch": 3, "pytorch-lightning_version": "2.0.0", "state_dict": wanted,
            "optimizer_states": [{"state": {0: {"step": torch.tensor(5.0)}}, "param_groups": []}]}
    torch.save(tree, "tree.ckpt")
    check("a tree", convert("tree.ckpt", "back.ckpt", "--map", "net=model.net"))
    back = load("back.ckpt")
    renamed = collections.OrderedDict(
        (k.replace("net.", "model.net.", 1) if k.startswith("net.") else k, v)
        for k, v in wanted.items())
    check("keeps all that is in it", back["epoch"] == 3 and list(back) == list(tree)
          and back["optimizer_states"][0]["state"][0]["step"] == 5.0
          and same(renamed, back["state_dict"]))

    if safetensors:
        theirs = collections.OrderedDict((k, v.clone()) for k, v in wanted.items())
        safetensors.torch.save_file(theirs, "theirs.safetensors", metadata={"note": "x"})
        check("we read what safetensors wrote", convert("theirs.safetensors", "t.ckpt"))
        back = load("t.ckpt")
        check("metadata too", back["metadata"] == {"note": "x"}
              and same(dict(sorted(theirs.items())), dict(sorted(back["state_dict"].items()))))
        check("safetensors reads ours",
              same(dict(sorted(wanted.items())),
                   dict(sorted(safetensors.torch.load_file("zip.safetensors").items()))))
    # A class that we wrote is what torch.fx sees of the graph, and takes its weights.
    import torch.fx
    for name in "jsc-s", "toy_convnet", "resnet18":
        convert(name, "net.mg")
        convert(name, "net.py")
        convert(name, "folder")
        convert("folder", "net.pt")
        source = {}
        exec(open("net.py").read(), source)
        net = next(c for c in source.values() if isinstance(c, type)
                   and issubclass(c, torch.nn.Module))()
        ours = re.findall(r"^%(\S+)(?: : .*?)? = (\w+)\[target=([^\]]+)\]", open("net.mg").read(), re.M)
        qualified = torch.fx.node._get_qualified_name
        theirs = [(n.name, n.op, n.target if isinstance(n.target, str) else
                   qualified(n.target).replace("_operator.", "operator."))
                  for n in torch.fx.symbolic_trace(net).graph.nodes if n.op != "output"]
        check(f"{name} as a class has the graph's nodes", ours == theirs)
        check("and takes its weights", not any(net.load_state_dict(load("net.pt"))))
    os.chdir("/")
finish()
