#!/usr/bin/env python3
"""The format int is QuantizeLinear and DequantizeLinear of ONNX, as ONNX Runtime computes them, bit for
bit: 4, 8 and 16 bits, signed or not, with a zero point or without, for a tensor, a channel or a block.

usage: onnx_qdq.py CH               status 77: no ONNX or ONNX Runtime here, skipped
       onnx_qdq.py --write FOLDER   its results as vectors for t_vectors.c: tests/data/quantizers/int
"""
import os
import sys
import tempfile

from checks import check, finish, run

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

OPSET, IR = 21, 10  # the first with 4 and 16 bits and with blocks
TYPES = {  # bits, sign: ONNX's type
    (4, True): TensorProto.INT4, (4, False): TensorProto.UINT4,
    (8, True): TensorProto.INT8, (8, False): TensorProto.UINT8,
    (16, True): TensorProto.INT16, (16, False): TensorProto.UINT16,
}


def cuts(n):
    """name, shape of the values, shape of the scales, attributes of ONNX, parameters of ours"""
    return [
        ("a tensor", (n, 37), (), {}, {}),
        ("channels", (6, n, 5), (6,), {"axis": 0}, {"axis": 0}),
        ("middle channels", (n, 7, 4), (7,), {"axis": 1}, {"axis": 1}),
        ("last channels", (n, 9), (9,), {"axis": -1}, {"axis": -1}),
        ("blocks", (n, 16), (n, 2), {"axis": -1, "block_size": 8}, {"block_size": 8}),
        ("blocks of three dimensions", (2, n, 12), (2, n, 2), {"axis": 2, "block_size": 6}, {"block_size": 6}),
    ]


def session(nodes, result, inputs, constants):
    """A graph as it is: nothing is fused or folded."""
    graph = helper.make_graph(
        nodes, "qdq", [helper.make_tensor_value_info("x", TensorProto.FLOAT, inputs)],
        [helper.make_tensor_value_info(result, TensorProto.FLOAT, inputs)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])


def qdq(x, scale, zero, bits, signed, attributes):
    """Through both operators."""
    dims = list(scale.shape)
    constants = [helper.make_tensor("scale", TensorProto.FLOAT, dims, scale.ravel().tolist()),
                 helper.make_tensor("zero", TYPES[bits, signed], dims, zero.ravel().tolist())]
    nodes = [helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["q"], **attributes),
             helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["y"], **attributes)]
    return session(nodes, "y", x.shape, constants).run(None, {"x": x})[0]


def dynamic(x):
    nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "scale", "zero"]),
             helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["y"])]
    return session(nodes, "y", x.shape, []).run(None, {"x": x})[0]


def spread(of, shape, attributes):
    """Scales or zero points, one for each value."""
    axis, size = attributes.get("axis", 0), attributes.get("block_size")
    if not of.ndim:
        return np.broadcast_to(of, shape)
    if size:
        return np.repeat(of, size, axis)
    return np.broadcast_to(of.reshape([-1 if d == axis % len(shape) else 1 for d in range(len(shape))]), shape)


def values(rng, shape, scale, zero, bits, attributes):
    """Within the range and beyond; some half way between two codes, some zero, some infinite. Beyond 32 bits
    the runtime's 4-bit integers wrap around where they should saturate: none of those there."""
    s, z = spread(scale, shape, attributes), spread(zero, shape, attributes)
    x = rng.normal(size=shape) * s * 2.0 ** (bits - 2)
    kind = rng.integers(0, 8, shape)
    half = rng.integers(-2 ** bits, 2 ** bits, shape) + 0.5
    x = np.where(kind == 0, half * s, x)
    x = np.where(kind == 1, (rng.integers(-2, 3, shape) * 2.0 ** (bits - 1) - z) * s, x)
    special = [0.0, -0.0, -1e-40, 1e6, -1e6] + ([np.inf, -np.inf, 1e38] if bits > 4 else [])
    x = np.where(kind == 2, rng.choice(special, shape), x)
    return x.astype(np.float32)


def numbers(v):
    """As the command line takes them; a float's digits read back to it."""
    words = [repr(float(n)) if v.dtype == np.float32 else str(int(n)) for n in v.ravel()]
    return f"[{','.join(words)}]" if v.ndim else words[0]


def given(seed, n):
    """name, parameters, values and what the runtime makes of them, where scales are given."""
    rng = np.random.default_rng(seed)
    for (bits, signed), affine, (what, shape, scales, attributes, cut) in (
            (t, a, c) for t in TYPES for a in (False, True) for c in cuts(n)):
        low, high = (-2 ** (bits - 1), 2 ** (bits - 1) - 1) if signed else (0, 2 ** bits - 1)
        scale = np.exp2(rng.uniform(-6, 2, scales)).astype(np.float32)
        zero = np.asarray(rng.integers(low, high + 1, scales) if affine else np.zeros(scales, int))
        x = values(rng, shape, scale, zero, bits, attributes)
        params = {"width": bits, "signed": str(signed).lower(), "scale": numbers(scale), **cut}
        if affine:
            params["zero_point"] = numbers(zero)
        name = f"{'int' if signed else 'uint'}{bits} of {what}{', affine' if affine else ''}"
        yield name, params, x, qdq(x, scale, zero, bits, signed, attributes)


def found(seed, n):
    """The same by the values: DynamicQuantizeLinear, which has eight bits."""
    rng = np.random.default_rng(seed)
    for shift in (0.0, 3.0, -3.0, 100.0):
        x = (rng.normal(size=(n, 30)) + shift).astype(np.float32)
        yield f"uint8 by values around {shift:g}", {"width": 8, "signed": "false", "symmetric": "false"}, x, dynamic(x)


def cases(seed, n):
    yield from given(seed, n)
    yield from found(seed, n)


def compare(ch):
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
        for name, params, x, want in cases(4, 40):
            np.save(source, x)
            done = run(ch, "formats", "int", "--apply", source, result, *(f"{k}={v}" for k, v in params.items()))
            got = np.load(result) if done else np.full_like(x, np.nan)
            at = np.flatnonzero(got.view(np.uint32).ravel() != want.view(np.uint32).ravel())
            told = f": {x.ravel()[at[0]]!r}, ours {got.ravel()[at[0]]!r}, theirs {want.ravel()[at[0]]!r}, " \
                f"{len(at)} in all" if len(at) else ""
            check(f"{name}: {x.size} values{told}", not len(at))


def write(folder):
    """For t_vectors.c, as formats.py writes its own."""
    lines, xs, ys, at = [], [], [], 0
    for i, (_, params, x, want) in enumerate(cases(5, 2)):
        said = {"scale": None, "zero_point": None, **params}
        lines.append(f"id={i} x_offset={at} x_count={x.size} x_shape={','.join(map(str, x.shape))} y_offset={at} "
                     + " ".join(f"{k}={v}" for k, v in said.items()))
        xs.append(x.ravel())
        ys.append(want.ravel())
        at += x.size
    os.makedirs(folder, exist_ok=True)
    np.save(os.path.join(folder, "x.npy"), np.concatenate(xs))
    np.save(os.path.join(folder, "y.npy"), np.concatenate(ys))
    with open(os.path.join(folder, "cases.txt"), "w") as f:
        f.write("\n".join(lines) + "\n")


if sys.argv[1] == "--write":
    write(sys.argv[2])
else:
    compare(os.path.abspath(sys.argv[1]))
    finish()
