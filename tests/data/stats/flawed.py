#!/usr/bin/env python3
"""flawed.py - the statistics at which the original fails, for every network, with PyTorch's modules.

    python3 flawed.py        writes flawed.json: {network: {case: {args, result}}}

The networks are built from ../graphs, run node by node in double precision, and each statistic is
its definition over all samples at once. The arguments are those with which the original fails.
"""
import json
import pathlib
import re
import struct

import numpy as np
import torch
from torch import nn

here = pathlib.Path(__file__).resolve().parent
NETWORKS = ["jsc-tiny", "jsc-toy", "toy", "conv_bn", "res_mlp"]
LAYERS = ["linear", "conv1d", "conv2d", "batch_norm1d", "batch_norm2d", "layer_norm"]
ACTIVATIONS = ["relu", "linear", "conv1d", "conv2d"]
OPS = {nn.Linear: "linear", nn.Conv2d: "conv2d", nn.BatchNorm1d: "batch_norm1d", nn.BatchNorm2d: "batch_norm2d",
       nn.LayerNorm: "layer_norm", nn.ReLU: "relu"}


def safetensors(path):
    raw = path.read_bytes()
    (n,) = struct.unpack("<Q", raw[:8])
    out = {}
    for name, t in json.loads(raw[8 : 8 + n]).items():
        if name != "__metadata__" and t["dtype"] == "F32":
            start, end = t["data_offsets"]
            out[name] = np.frombuffer(raw[8 + n + start : 8 + n + end], "<f4").reshape(t["shape"])
    return out


def modules_of(name):
    state = safetensors(here.parent / "models" / name / "model.safetensors")
    found = {}
    for line in (here.parent / "graphs" / f"{name}.modules.txt").read_text().splitlines():
        path, text = line.split("\t")
        module = eval("nn." + text, {"nn": nn}).double().eval()  # our own file
        own = {k[len(path) + 1 :]: torch.tensor(v.astype(np.float64)) for k, v in state.items() if k.startswith(path + ".")}
        module.load_state_dict(own, strict=False)
        found[path] = module
    return found


def run(name):
    """For each call: its name, operation, module, and its inputs."""
    modules, values, calls = modules_of(name), {}, []
    x = torch.tensor(np.load(here.parent / "models" / name / "x.npy")[:32].astype(np.float64))
    functions = {"size": lambda t: None, "torch.add": torch.add, "torch.flatten": torch.flatten, "torch.relu": torch.relu, "torch.nn.functional.relu": torch.relu,
                 "operator.add": torch.add, "view": lambda t, *shape: t.reshape(t.shape[0], -1)}
    line = re.compile(r"%(\w+) : .*= (\w+)\[target=([\w.]+)\](?:\(args = \((.*?),?\), kwargs = (\{.*?\})\))?$")
    for text in (here.parent / "graphs" / f"{name}.txt").read_text().splitlines():
        found = line.search(text.replace("<built-in function add>", "operator.add"))
        if not found:
            continue
        node, kind, target, args, kwargs = found.groups()
        if kind == "placeholder":
            values[node] = x
            continue
        mentioned = [values.get(a.strip()[1:]) for a in args.split(",") if a.strip().startswith("%")]
        operands = [v.clone() for v in mentioned if v is not None]  # a module may write into them
        module = modules[target] if kind == "call_module" else None
        inputs = [o.numpy().copy() for o in operands]
        if module is not None:
            values[node] = module(*operands).detach()
        else:
            extra = {"start_dim": 1} if "start_dim" in kwargs else {}
            values[node] = functions[target](*operands, **extra)
        op = OPS.get(type(module)) if module is not None else "relu" if "relu" in target else None
        calls.append((node, op, module, inputs))
    return calls


def plain(v):
    return json.loads(json.dumps(np.asarray(v, np.float64).tolist()), parse_float=lambda s: float(f"{float(s):.7g}"))


def precise(v):
    return {"mean": plain(v.mean(0)), "variance": plain(v.var(0, ddof=1)), "count": v.shape[0]}


def span(v):
    return {"min": plain(v.min(0)), "max": plain(v.max(0)), "range": plain(v.max(0) - v.min(0)), "count": v.shape[0]}


def sigma(samples):
    """Samples one by one, their spread unbiased: what the original meant to do."""
    n, mean, m2 = 0, 0.0, 0.0
    for row in samples:
        k, d = row.size, row.mean() - mean
        m2 += row.var(ddof=1) * k + d * d * n * k / (n + k)
        mean += d * k / (n + k)
        n += k
    s = 3 * np.sqrt(m2 / n)
    return {"min": plain(mean - s), "max": plain(mean + s), "range": plain(2 * s), "count": n}


# statistic, its arguments, its definition for a parameter and for the samples of an activation, activations measured
CASES = {
    "variance_precise_dim0": ("variance_precise", {"dims": [0]}, precise, precise, ACTIVATIONS),
    "range_min_max_dim0": ("range_min_max", {"dims": [0]}, span, span, ACTIVATIONS),
    "range_n_sigma_online": ("range_n_sigma", {"dims": "all", "var_mode": "online", "num_sigma": 3},
                             lambda v: sigma([v]), lambda v: sigma(list(v)), ACTIVATIONS),
}


def case(calls, statistic, options, of_parameter, of_activation, activations):
    result = {}
    for node, op, module, inputs in calls:
        entries = {}
        if op in activations:
            for i, x in enumerate(inputs):
                entries[f"data_in_{i}"] = {statistic: of_activation(x)}
        if op in LAYERS:
            for name, value in [*module.named_parameters(), *module.named_buffers()]:
                if name != "num_batches_tracked":
                    entries[name] = {statistic: of_parameter(value.detach().numpy())}
        if entries:
            result[node] = entries
    args = {"by": "type", "target_weight_nodes": LAYERS, "target_activation_nodes": activations,
            "weight_statistics": {statistic: options}, "activation_statistics": {statistic: options},
            "num_samples": 32, "batch_size": 8}
    return {"args": args, "result": result}


if __name__ == "__main__":
    every = {name: {key: case(run(name), *spec) for key, spec in CASES.items()} for name in NETWORKS}
    with open(here / "flawed.json", "w", encoding="ascii") as file:
        json.dump(every, file, separators=(",", ":"))
        file.write("\n")
