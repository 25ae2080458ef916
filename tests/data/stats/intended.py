#!/usr/bin/env python3
"""intended.py - statistics of jsc-tiny computed with NumPy from its weights and inputs.

    python3 intended.py > intended.json

The network is four lines of NumPy here, and each statistic its definition over all samples at once:
nothing is shared with what it checks.
"""
import json
import pathlib
import struct

import numpy as np

here = pathlib.Path(__file__).resolve().parent
model = here.parent / "models" / "jsc-tiny"


def safetensors(path):
    raw = path.read_bytes()
    (n,) = struct.unpack("<Q", raw[:8])
    out = {}
    for name, t in json.loads(raw[8 : 8 + n]).items():
        if name == "__metadata__" or t["dtype"] != "F32":
            continue
        start, end = t["data_offsets"]
        out[name] = np.frombuffer(raw[8 + n + start : 8 + n + end], "<f4").reshape(t["shape"])
    return out


w = safetensors(model / "model.safetensors")
x = np.load(model / "x.npy")[:32].astype(np.float64)
bn = (x - w["seq_blocks.0.running_mean"]) / np.sqrt(w["seq_blocks.0.running_var"] + 1e-5)
bn = bn * w["seq_blocks.0.weight"] + w["seq_blocks.0.bias"]
relu = np.maximum(bn, 0)
linear = relu @ w["seq_blocks.2.weight"].T.astype(np.float64) + w["seq_blocks.2.bias"]
weight = w["seq_blocks.2.weight"].astype(np.float64)
bias = w["seq_blocks.2.bias"].astype(np.float64)
y = np.maximum(linear, 0)

cases = {}


def case(name, result, *, by="type", weights=(), activations=(), stats=None, **more):
    args = {
        "by": by,
        "target_weight_nodes": list(weights),
        "target_activation_nodes": list(activations),
        "weight_statistics": stats,
        "activation_statistics": stats,
        "num_samples": 32,
        "batch_size": 8,
        **more,
    }
    cases[name] = {"args": args, "result": result}


def plain(v):
    return np.asarray(v).tolist()


def precise(v, axis):
    n = v.size if axis is None else v.shape[axis]
    return {"mean": plain(v.mean(axis)), "variance": plain(v.var(axis, ddof=1)), "count": n}


def span(v, axis):
    n = v.size if axis is None else v.shape[axis]
    lo, hi = v.min(axis), v.max(axis)
    return {"min": plain(lo), "max": plain(hi), "range": plain(hi - lo), "count": n}


def both(statistic, act, wgt):
    """relu's inputs and the linear layer's parameters."""
    return {
        "seq_blocks_1": {"data_in_0": {statistic: act(bn)}},
        "seq_blocks_2": {"weight": {statistic: wgt(weight)}, "bias": {statistic: wgt(bias)}},
        "seq_blocks_3": {"data_in_0": {statistic: act(linear)}},
    }


common = dict(weights=["linear"], activations=["relu"])
first = lambda f: (lambda v: f(v, 0))

# A sample is (1, features): reducing dimension 0 leaves one result for each feature.
case("variance_precise_list", both("variance_precise", first(precise), first(precise)),
     stats={"variance_precise": {"dims": [0]}}, **common)
case("range_min_max_list", both("range_min_max", first(span), first(span)),
     stats={"range_min_max": {"dims": [0]}}, **common)


def online(v, ddof_part):
    """Over all samples; parts is how the original weights a sample's spread."""
    rows = v.reshape(32, -1) if v.shape[0] == 32 else v.reshape(1, -1)
    n, mean, m2 = 0, 0.0, 0.0
    for row in rows:
        k, d = row.size, row.mean() - mean
        m2 += row.var(ddof=ddof_part) * k + d * d * n * k / (n + k)
        mean += d * k / (n + k)
        n += k
    return mean, m2 / n, n


def sigma(v):
    mean, var, n = online(v, 1)
    s = 3 * np.sqrt(var)
    return {"min": mean - s, "max": mean + s, "range": 2 * s, "count": n}


def sigma_list(v):
    mean, s = v.mean(0), 2 * v.std(0, ddof=1)
    return {"min": plain(mean - s), "max": plain(mean + s), "range": plain(2 * s),
            "count": v.shape[0]}


def exact(v):
    return {"mean": v.mean(), "variance": v.var(), "count": v.size}


case("range_n_sigma_online", both("range_n_sigma", sigma, sigma),
     stats={"range_n_sigma": {"dims": "all"}}, **common)
case("range_n_sigma_list", both("range_n_sigma", sigma_list, sigma_list),
     stats={"range_n_sigma": {"dims": [0], "var_mode": "precise", "num_sigma": 2}}, **common)
case("variance_online_exact", both("variance_online", exact, exact),
     stats={"variance_online": {"exact": True}}, **common)

# A layer among the activation targets alone: its input is measured, its parameters are not.
everything = lambda v: precise(v, None)
case("activation_target_with_parameters",
     {"seq_blocks_0": {"data_in_0": {"variance_precise": everything(x)}},
      "seq_blocks_2": {"data_in_0": {"variance_precise": everything(relu)}}},
     activations=["linear", "batch_norm1d"], stats={"variance_precise": {}})
case("outputs",
     {"seq_blocks_2": {"data_in_0": {"range_min_max": span(relu, None)},
                       "data_out_0": {"range_min_max": span(linear, None)}},
      "seq_blocks_3": {"data_in_0": {"range_min_max": span(linear, None)},
                       "data_out_0": {"range_min_max": span(y, None)}}},
     by="name", activations=["seq_blocks_2", "seq_blocks_3"], stats={"range_min_max": {}},
     profile_output_activation=True)


def histogram(v):
    # float32 first: the edges are those of the values as they are
    v = v.astype(np.float32).astype(np.float64)
    counts, edges = np.histogram(v, bins=10)
    return {"min": edges[0], "max": edges[-1], "counts": plain(counts), "below": 0, "above": 0,
            "count": v.size}


def cut(v):
    inside = v[(v >= -1) & (v <= 1)]
    return {"min": -1, "max": 1, "counts": plain(np.histogram(inside, bins=4, range=(-1, 1))[0]),
            "below": int((v < -1).sum()), "above": int((v > 1).sum()), "count": v.size}


def zeros(v):
    z = int((v == 0).sum())
    return {"zeros": z, "sparsity": z / v.size, "density": 1 - z / v.size, "count": v.size}


case("histogram", both("histogram", histogram, histogram), stats={"histogram": {"bins": 10}},
     **common)
case("histogram_in_a_range", both("histogram", cut, cut),
     stats={"histogram": {"bins": 4, "min": -1, "max": 1.0}}, **common)
case("sparsity", {"seq_blocks_2": {"data_in_0": {"sparsity": zeros(relu)}}},
     by="name", activations=["seq_blocks_2"], stats={"sparsity": {}})


def fixed(v, width, frac):
    lo, hi = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    return np.clip(np.rint(v * 2.0**frac), lo, hi) / 2.0**frac


def formats(v):
    q = fixed(v, 4, 2)
    below, above = int((v < -2).sum()), int((v > 1.75).sum())
    under = int(((v != 0) & (q == 0)).sum())
    signal, noise = (v**2).mean(), ((q - v) ** 2).mean()
    return {
        "saturation": {"below": below, "above": above, "fraction": (below + above) / v.size,
                       "count": v.size},
        "underflow": {"underflow": under, "fraction": under / v.size, "count": v.size},
        "sqnr": {"signal_power": signal, "noise_power": noise,
                 "sqnr": 10 * np.log10(signal / noise), "count": v.size},
    }


width = {"format": "integer", "format_width": 4, "format_frac_width": 2}
case("number_format",
     {"seq_blocks_1": {"data_in_0": formats(bn)},
      "seq_blocks_2": {"weight": formats(weight), "bias": formats(bias)},
      "seq_blocks_3": {"data_in_0": formats(linear)}},
     stats={"saturation": width, "underflow": width, "sqnr": width}, **common)

print(json.dumps(cases, indent=1))
