#!/usr/bin/env python3
"""Number formats of standards are what ml_dtypes and SoftPosit compute.

usage: formats.py CH                 status 77: no NumPy or ml_dtypes here, skipped
       formats.py --write FOLDER     their results as vectors for t_vectors.c: tests/data/quantizers

Elements are ml_dtypes' casts. Scales of blocks are by the rules that are published: those of MX 1.0 as
microxcaling has them, and Nvidia's for nvfp4, in float32. Posits are SoftPosit's where that is there.
"""
import os
import sys
import tempfile

from checks import check, finish, run

try:
    import ml_dtypes
    import numpy as np
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)
try:
    import softposit
except ImportError:
    softposit = None

np.seterr(all="ignore")

# format, parameters, the peer's type; all overflow as the peer does
MINIFLOATS = [
    ("fp8_e4m3", {"overflow": "infinity"}, ml_dtypes.float8_e4m3fn),
    ("fp8_e5m2", {"overflow": "infinity"}, ml_dtypes.float8_e5m2),
    ("fp6_e2m3", {}, ml_dtypes.float6_e2m3fn),
    ("fp6_e3m2", {}, ml_dtypes.float6_e3m2fn),
    ("fp4_e2m1", {}, ml_dtypes.float4_e2m1fn),
    ("half", {}, np.float16),
    ("bfloat16", {}, ml_dtypes.bfloat16),
    ("minifloat", {"width": 8, "exponent_width": 4, "overflow": "infinity"}, ml_dtypes.float8_e4m3),
    ("minifloat", {"width": 8, "exponent_width": 3, "overflow": "infinity"}, ml_dtypes.float8_e3m4),
    ("minifloat", {"width": 8, "exponent_width": 4, "specials": "fn", "overflow": "infinity"},
     ml_dtypes.float8_e4m3fn),
    ("minifloat", {"width": 8, "exponent_width": 4, "specials": "fnuz", "overflow": "infinity"},
     ml_dtypes.float8_e4m3fnuz),
    ("minifloat", {"width": 8, "exponent_width": 5, "specials": "fnuz", "overflow": "infinity"},
     ml_dtypes.float8_e5m2fnuz),
    ("minifloat", {"width": 8, "exponent_width": 4, "exponent_bias": 11, "specials": "fnuz",
                   "overflow": "infinity"}, ml_dtypes.float8_e4m3b11fnuz),
]
# element, its type (None: eight-bit integers), its largest exponent, its largest value
ELEMENTS = [
    ("fp8_e4m3", ml_dtypes.float8_e4m3fn, 8, 448),
    ("fp8_e5m2", ml_dtypes.float8_e5m2, 15, 57344),
    ("fp6_e3m2", ml_dtypes.float6_e3m2fn, 4, 28),
    ("fp6_e2m3", ml_dtypes.float6_e2m3fn, 2, 7.5),
    ("fp4_e2m1", ml_dtypes.float4_e2m1fn, 2, 6),
    ("int8", None, 0, 127 / 64),
]


def cast(x, dtype, most=None):
    """Through the peer's type; NaN stays, which types without one make something else of."""
    held = x if most is None else np.clip(x, -most, most)
    y = np.asarray(held, np.float32).astype(dtype).astype(np.float32)
    return np.where(np.isnan(x), np.float32(np.nan), y)


def blocks_of(x, size):
    """Rows cut into blocks, the last of a row filled up with zeros, and how to put them back."""
    lines = x.reshape(-1, x.shape[-1])
    pad = -lines.shape[1] % size
    padded = np.pad(lines, ((0, 0), (0, pad)))
    return padded.reshape(-1, size), lambda b: b.reshape(padded.shape)[:, :lines.shape[1]].reshape(x.shape)


def mx(x, dtype, emax, most, size):
    blocks, back = blocks_of(x, size)
    largest = np.max(np.abs(blocks), axis=1, keepdims=True)  # NaN if there is one
    shared = np.frexp(largest.astype(np.float64))[1] - 1 - emax
    shared = np.where(largest == 0, -127, np.maximum(shared, -127))
    v = np.ldexp(blocks.astype(np.float64), -shared)
    if dtype is None:
        q = np.clip(np.rint(v * 64), -127, 127) / 64 + 0.0  # integers have one zero
    else:
        q = cast(v, dtype, most).astype(np.float64)
    q = np.ldexp(q, shared).astype(np.float32)
    return back(np.where(np.isfinite(largest), q, np.float32(np.nan)))


def nvfp4(x, size=16):
    blocks, back = blocks_of(x, size)
    largest = np.max(np.abs(blocks), axis=1, keepdims=True)
    tensor = np.float32(np.max(largest[np.isfinite(largest)]) / np.float32(2688))
    scale = cast(largest / np.float32(6) / tensor, ml_dtypes.float8_e4m3fn, 448) * tensor
    q = cast(blocks / scale, ml_dtypes.float4_e2m1fn, 6) * scale
    q = np.where(scale == 0, np.copysign(np.float32(0), blocks), q)
    return back(np.where(np.isfinite(largest), q, np.float32(np.nan)).astype(np.float32))


def posit(x, width, es):
    """SoftPosit has eight bits without exponent, sixteen with one bit, and any width with two."""
    def one(v):
        if not np.isfinite(v):
            return np.nan
        if (width, es) == (8, 0):
            return softposit.convertP8ToDouble(softposit.convertDoubleToP8(v))
        if (width, es) == (16, 1):
            return softposit.convertP16ToDouble(softposit.convertDoubleToP16(v))
        return softposit.convertPX2ToDouble(softposit.convertDoubleToPX2(v, width))
    return np.array([one(float(v)) for v in x.ravel()], np.float32).reshape(x.shape)


def cases(seed, count):
    """format, parameters, inputs, what the peer makes of them."""
    rng = np.random.default_rng(seed)
    wide = rng.integers(0, 2**32, count, dtype=np.uint32).view(np.float32)  # any bits
    near = (rng.normal(size=count) * np.exp2(rng.integers(-20, 12, count))).astype(np.float32)
    short = np.ldexp(rng.integers(-512, 512, count).astype(np.float32), rng.integers(-16, 8, count))
    edge = np.array([0, -0.0, 448, 464, 465, 480, 57344, 61440, 65504, 65519, 65520, 1e38, np.inf, -np.inf,
                     np.nan, 2**-9, 2**-10, 3 * 2**-11, 1e-45], np.float32)
    x = np.concatenate([wide, near, short.astype(np.float32), edge])
    for name, params, dtype in MINIFLOATS:
        yield name, params, x, cast(x, dtype)
    for name, dtype, most in (("fp8_e4m3", ml_dtypes.float8_e4m3fn, 448),
                              ("fp8_e5m2", ml_dtypes.float8_e5m2, 57344)):
        yield name, {}, x, cast(x, dtype, most)
    rows = x[:len(x) // 96 * 96].reshape(-1, 96)
    calm = near[:len(near) // 80 * 80].reshape(-1, 80)  # blocks without infinities
    for name, dtype, emax, most in ELEMENTS:
        yield "mx", {"element": name}, rows, mx(rows, dtype, emax, most, 32)
        yield "mx", {"element": name, "block_size": 7}, calm, mx(calm, dtype, emax, most, 7)
        tiny = (calm * np.float32(2**-120)).astype(np.float32)
        yield "mx", {"element": name, "block_size": 16}, tiny, mx(tiny, dtype, emax, most, 16)
    yield "nvfp4", {}, calm, nvfp4(calm)
    if softposit:
        some = np.concatenate([near[:2000], short[:2000], wide[:2000], edge]).astype(np.float32)
        for width, es in ((8, 0), (16, 1), (8, 2), (12, 2), (16, 2), (20, 2), (32, 2)):
            yield "posit", {"width": width, "es": es}, some, posit(some, width, es)


def differences(ours, theirs):
    """Where they differ, the sign of zero included; all NaN are alike."""
    both = np.isnan(ours) & np.isnan(theirs)
    return np.flatnonzero((ours.view(np.uint32) != theirs.view(np.uint32)) & ~both)


def compare(ch):
    with tempfile.TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
        for name, params, x, want in cases(1, 40000):
            words = [f"{k}={v}" for k, v in params.items()]
            np.save(source, x)
            done = run(ch, "formats", name, "--apply", source, result, *words)
            at = differences(np.load(result).ravel(), want.ravel().astype(np.float32)) if done else [0]
            told = f": {x.ravel()[at[0]]!r}, ours {np.load(result).ravel()[at[0]]!r}, theirs " \
                f"{want.ravel()[at[0]]!r}, {len(at)} in all" if done and len(at) else ""
            check(f"{name} {' '.join(words)}: {x.size} values{told}", done and not len(at))
    if not softposit:
        print("posits are not compared: no SoftPosit here")


def write(folder):
    """A folder for each format, as those of the original."""
    made = {}
    for name, params, x, want in cases(2, 80):
        made.setdefault(name, []).append((params, x, want))
    for name, all_cases in made.items():
        path = os.path.join(folder, name)
        os.makedirs(path, exist_ok=True)
        lines, xs, ys, at = [], [], [], 0
        for i, (params, x, want) in enumerate(all_cases):
            said = {"exponent_bias": None, **params} if name == "minifloat" else params
            lines.append(f"id={i} x_offset={at} x_count={x.size} x_shape={','.join(map(str, x.shape))} "
                         f"y_offset={at} " + " ".join(f"{k}={v}" for k, v in said.items()))
            xs.append(x.ravel())
            ys.append(want.ravel().astype(np.float32))
            at += x.size
        np.save(os.path.join(path, "x.npy"), np.concatenate(xs))
        np.save(os.path.join(path, "y.npy"), np.concatenate(ys))
        with open(os.path.join(path, "cases.txt"), "w") as f:
            f.write("\n".join(line.rstrip() for line in lines) + "\n")


if sys.argv[1] == "--write":
    write(sys.argv[2])
else:
    compare(os.path.abspath(sys.argv[1]))
    finish()
