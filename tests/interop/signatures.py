#!/usr/bin/env python3
"""The signatures of ops.def beside PyTorch's: positions, names and defaults of every function and method, and of every layer.
An argument by position must come to the parameter that PyTorch gives it to; what a row lacks is refused by ch.

usage: signatures.py OPS_DEF
"""
import ast
import inspect
import re
import sys

from checks import check, finish

try:
    import torch
    import torch.nn.functional as F  # noqa: F401 (targets name it)
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)
if not hasattr(F, "rms_norm"):
    print("skipped: this PyTorch is too old to say all signatures")
    sys.exit(77)

OTHER_WORLDS = ("operator.", "math.", "builtins.", "chop.", "onnx.", "mase.")  # no signatures of PyTorch's
# They say no signature, or one of overloads that Python chooses from.
IN_PYTHON = ("logsigmoid", "finfo", "size", "shape", "ndimension", "type", "bool", "int", "long", "float", "new_tensor", "__setitem__")
SAME = {  # what PyTorch calls a parameter that stands in the same place
    "other": ("mat2", "vec", "tensor", "exponent"), "input": ("self", "tensor"), "tensor": ("self",), "dim0": ("axis0",), "dim1": ("axis1",),
    "split_size_or_sections": ("split_size", "split_sizes"), "fill_value": ("value",), "select": ("idx", "indices", "index"),
    "shape": ("size",), "range": ("start", "end"), "bounds": ("high", "low"), "operands": ("tensors",),
    "equation": ("args",), "target": ("dtype", "device", "other"), "dim": ("other",),  # torch.max(x, y)
}
# (name, parameter): a row that says more than one function, or PyTorch's enumeration of what has a word here
KNOWN = {
    ("softmax", "_stacklevel"), ("log_softmax", "_stacklevel"),  # a type there is taken as the type
    ("torch._C._nn.elu_", "inplace"), ("rrelu", "inplace"),  # its shape rule wants a truth value
     ("unflatten", "sizes"), ("randint", "bounds"), ("randint", "low"), ("randint", "dtype"), ("range", "dtype"), ("arange", "range"), ("range", "range"),
    ("zero_", "dtype"), ("norm", "p"),  # the method's default is the function's
}


def parameters(text):
    """(name, default or ...) of a signature of ours."""
    out = []
    for part in text.split(", ") if text else ():
        name, given, default = part.partition("=")
        out.append((name.partition(":")[0], literal(default) if given else ...))
    return out


def literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def of_schema(name):
    packet = getattr(torch.ops.aten, name, None)
    schemas = [getattr(packet, o)._schema for o in packet.overloads() if "out" not in o] if packet else []
    return [[(a.name, a.default_value if a.has_default_value() else ..., a.kwarg_only) for a in s.arguments]
            for s in schemas if "Dimname" not in str(s)]


def of_python(f):
    try:
        return [[(p.name, ... if p.default is p.empty else p.default, p.kind is p.KEYWORD_ONLY)
                 for p in inspect.signature(f).parameters.values() if p.kind is not p.VAR_KEYWORD]]
    except (TypeError, ValueError):
        return []


def of_target(target):
    last = target.rpartition(".")[2]
    try:
        f = eval(target)
    except AttributeError:  # of another release
        f = None
    f = getattr(f, "__wrapped__", f)
    if last.startswith(("adaptive_max_pool", "max_pool", "fractional")) and "functional" in target:
        f = getattr(F, last + "_with_indices")  # F.max_pool2d chooses by return_indices
    for lead, prefix in (("torch.special.", "special_"), ("torch.linalg.", "linalg_")):
        last = prefix + last if target.startswith(lead) else last
    return of_python(f) or of_schema(last)


def plain(default):
    """[1, 1] is 1, and [] is nothing given."""
    if isinstance(default, (list, tuple)):
        return default[0] if default and len(set(default)) == 1 else None if not default else tuple(default)
    return default


def differences(name, ours, theirs, is_method):
    """What comes to another parameter, or is another number when it is not given."""
    positional = [p for p in theirs if not p[2]]
    by_name = {p[0]: p for p in theirs}
    found = []
    for i, (own, default) in enumerate(ours):
        star = own.startswith("*")
        if (name, own.lstrip("*")) in KNOWN or (is_method and i == 0):
            continue
        own = own.lstrip("*")
        names = (own,) + SAME.get(own, ())
        if i < len(positional) and positional[i][0] not in names and not star:
            found.append(f"{own} stands where PyTorch has {positional[i][0]}")
        match = next((by_name[n] for n in names if n in by_name), None)
        is_same = isinstance(default, str) and default in dict(ours)  # stride=kernel_size, where PyTorch says None
        if match and default is not ... and match[1] is not ... and not is_same and plain(match[1]) != plain(default):
            found.append(f"{own}={default}, and PyTorch's is {match[1]}")
        if star:
            break
    return found


def compare(target, ours, candidates, is_method=False):
    name = target.replace("Tensor.", "")
    needed = sum(d is ... and not n.startswith("*") for n, d in ours)  # torch.where(condition) is another function
    candidates = [c for c in candidates if len(c) >= needed]
    if candidates:
        worst = min((differences(name, ours, c, is_method) for c in candidates), key=len)
        check(f"{target}: {'; '.join(worst) or 'agrees'}", not worst)
    else:
        check(f"{target}: PyTorch says no signature", False)


with open(sys.argv[1]) as f:
    text = f.read()
calls = re.findall(r'^    CALL\("([^"]*)",\s*"([^"]*)",\s*"([^"]*)"\)', text, re.M)
layers = re.findall(r'^    MODULE\((\w+), \w+, "([^"]*)"', text, re.M)
check(f"{len(calls)} calls and {len(layers)} layers are read", len(calls) > 300 and len(layers) > 100)
for signature, functions, methods in calls:
    for target in functions.split():
        if not target.startswith(OTHER_WORLDS) and target.rpartition(".")[2] not in IN_PYTHON:
            compare(target.rpartition(".")[2] if target.count(".") == 1 else target, parameters(signature), of_target(target))
    for method in methods.split():
        if method not in IN_PYTHON:
            own_first = [sorted(c, key=lambda p: p[0] != "self") for c in of_schema(method)]  # torch.where(condition, self, other)
            compare("Tensor." + method, parameters(signature), own_first, True)
for name, signature in layers:
    cls = getattr(torch.nn, name, None)
    if cls and name != "RNN":  # which has its nonlinearity between those of the base
        start = torch.nn.RNNBase.__init__ if name in ("LSTM", "GRU") else cls.__init__
        theirs = [c[2 if start is not cls.__init__ else 1:] for c in of_python(start)]
        compare("nn." + name, parameters(signature), theirs)
finish()
