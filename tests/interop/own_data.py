#!/usr/bin/env python3
"""own_data.py - tables as NumPy, h5py, csv and others write them: read right, or refused with a place.

    own_data.py CH

What `ch data info --json` says of a table is compared with what NumPy says of the same rows. Status 77
(skipped) when h5py or NumPy is missing: Debian's python3-h5py and python3-numpy.
"""
import csv
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import h5py
    import numpy as np
except ImportError as e:
    print(f"own_data: skipped, {e.name} is not installed (python3-h5py python3-numpy)")
    sys.exit(77)

from checks import check, finish

ch = os.path.abspath(sys.argv[1])
names = ["wide", "high", "deep"]
kinds = np.array(["ash", "birch", "cedar"])
rng = np.random.default_rng(11)
X = np.round(rng.normal(size=(200, 3)) * [1, 100, 1e-3] + [0, 7, 5], 4)
y = rng.integers(0, 3, 200)


def ask(spec):
    return subprocess.run([ch, "data", "info", spec, "--json", "--split", "mase"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)


def training(n):
    """The rows that train: all but the fifth that RandomState(42) draws for testing."""
    return np.random.RandomState(42).permutation(n)[-(-n // 5):]


def agrees(what, spec, x=X, labels=y):
    run = ask(spec)
    if run.returncode:
        return check(f"{what}: {run.stderr.strip()}", False)
    said = json.loads(run.stdout)
    rows = training(len(x))
    x, labels = np.asarray(x, dtype=np.float32).reshape(len(x), -1)[rows].astype(float), np.asarray(labels)[rows]
    ok = said["rows_read"] == 200 and len(said["features"]) == x.shape[1]
    for f, column in zip(said["features"], x.T):
        ok = ok and np.float32(f["min"]) == column.min() and np.float32(f["max"]) == column.max() and \
            np.isclose(f["mean"], column.mean(), rtol=1e-9) and np.isclose(f["std"], column.std(), rtol=1e-9)
    counts = list(said["balance"]["train"].values())
    ok = ok and counts == list(np.bincount(labels, minlength=len(counts)))
    return check(what if ok else f"{what}: {run.stdout}", ok)


def refused(what, spec, pattern):
    run = ask(spec)
    ok = run.returncode == 2 and re.search(pattern, run.stderr)
    check(what if ok else f"{what}: status {run.returncode}, {run.stderr.strip()!r}, expected {pattern}", ok)


def trees_of(labels):
    """Of several lengths, in the order of the classes."""
    return np.array(["a", "b" * 40, "c\u00e9dre"])[labels]


# ---- text ----

def put(name, text, encoding="utf-8"):
    with open(name, "w", newline="", encoding=encoding) as f:
        f.write(text)


def rows(separator=",", end="\n", label=lambda k: str(k), head=None):
    lines = [separator.join(head or [*names, "label"])]
    lines += [separator.join([*(repr(float(v)) for v in row), label(k)]) for row, k in zip(X, y)]
    return end.join(lines) + end


def text_files():
    put("plain.csv", rows())
    agrees("plain text", "csv:plain.csv")
    put("windows.csv", rows(end="\r\n"), "utf-8-sig")
    agrees("Windows' line ends and byte order mark", "csv:windows.csv")
    put("semicolons.csv", rows(";"))
    agrees("semicolons", "csv:semicolons.csv")
    put("tabs.csv", rows("\t"))
    agrees("tabs", "csv:tabs.csv")
    with open("quoted.csv", "w", newline="") as f:
        out = csv.writer(f, quoting=csv.QUOTE_ALL)
        out.writerow([*names, "the, kind"])
        out.writerows([*map(repr, map(float, row)), kinds[k]] for row, k in zip(X, y))
    agrees("everything quoted, names as labels", "csv:quoted.csv:the, kind")
    put("floats.csv", rows(label=lambda k: f"{k}.0"))
    agrees("labels 0.0, 1.0, 2.0", "csv:floats.csv")
    put("ten.csv", rows(label=lambda k: f"{5 * k}.0"))
    agrees("labels 0.0, 5.0, 10.0, in the order of numbers", "csv:ten.csv", labels=5 * y)
    np.savetxt("savetxt.csv", np.c_[X, y], delimiter=",", header=",".join([*names, "label"]), comments="")
    agrees("np.savetxt", "csv:savetxt.csv")
    lines = rows().splitlines()
    put("index.csv", "\n".join(["," + lines[0], *(f"{i},{line}" for i, line in enumerate(lines[1:]))]))
    agrees("pandas' index", "csv:index.csv")
    put("trail.csv", "\n".join(line + "," for line in lines))
    refused("another column without a name", "csv:trail.csv", r"^trail\.csv:1:\d+: column 5 has no name")
    put("target.csv", rows(head=[*names, "Target"]))
    agrees("the usual name in another case", "csv:target.csv")
    truths = np.c_[X[:, :2], X[:, 0] > 0]
    put("truth.csv", "wide,high,deep,label\n" + "".join(f"{a!r},{b!r},{bool(t)},{k}\n" for (a, b, t), k in zip(truths.tolist(), y)))
    agrees("truth values", "csv:truth.csv", truths)
    put("dates.csv", "day,wide,label\n" + "".join(f"2024-01-{i % 28 + 1:02},{a!r},{k}\n" for i, (a, k) in enumerate(zip(X[:, 0].tolist(), y))))
    refused("dates", "csv:dates.csv", r"day is '2024-01-01', not a number; --features '!day' leaves the column out")
    put("decimal.csv", rows(";").replace(".", ","))
    agrees("decimal commas", "csv:decimal.csv")
    thousands = "wide;label\n" + "".join(f"{k + 1},{i % 900 + 100};{k}\n" for i, k in enumerate(y))
    put("thousands.csv", thousands)
    refused("commas that may group thousands", "csv:thousands.csv", r"^thousands\.csv:2:1: wide is '\d,\d{3}', not a number: its comma may be")
    put("both.csv", thousands + "1.5;0\n1,5;0\n")
    refused("commas and points", "csv:both.csv", r"^both\.csv:2:1: wide is '\d,\d{3}', not a number")
    put("hex.csv", rows().replace("\n" + lines[5] + "\n", "\n0x10,1,2,1\n"))
    refused("hexadecimal digits", "csv:hex.csv", r"^hex\.csv:6:1: wide is '0x10', not a number")
    put("doubled.csv", rows(head=["wide", "high", "wide", "label"]))
    refused("a doubled name", "csv:doubled.csv", r"^doubled\.csv:1:11: column 3 is called 'wide'")
    put("minus.csv", rows(label=lambda k: str(k - 1)))
    refused("labels from -1", "csv:minus.csv", r"^minus\.csv:\d+:\d+: label -1 is no class")
    put("missing.csv", rows().replace("\n" + lines[9] + "\n", "\n" + lines[9].rsplit(",", 1)[0] + ",\n"))
    refused("a missing label", "csv:missing.csv", r"^missing\.csv:10:\d+: the label is missing")
    put("wide.csv", rows(), "utf-16")
    refused("UTF-16", "csv:wide.csv", r"^wide\.csv:1:\d+: a byte 0: this is no text file")
    bundled = "/usr/lib/python3/dist-packages/sklearn/datasets/data"
    for name in ("iris", "wine_data", "breast_cancer"):
        if os.path.exists(f"{bundled}/{name}.csv"):
            refused(f"scikit-learn's {name}", f"csv:{bundled}/{name}.csv",
                    r"csv:1:1: there is no column 'label' .*the first line names the columns")


# ---- NumPy ----

def numpy_files():
    for what, x, labels in (("float16", X.astype("f2"), y.astype("i1")), ("big-endian", X.astype(">f8"), y.astype(">i8")),
                            ("Fortran order", np.asfortranarray(X), y), ("int8", (X[:, 1:] % 100).astype("i1"), y),
                            ("uint16", (X[:, 1:] % 100).astype("u2"), y.astype("u8")), ("booleans", X > 5, y > 0),
                            ("labels (N, 1)", X.astype("f4"), y[:, None]), ("whole floats", X, y.astype("f4")),
                            ("images", X.reshape(200, 1, 3).astype("f4"), y)):
        np.savez("x.npz", X=x, y=labels)
        agrees(f"npz: {what}", "npz:x.npz", x, labels.ravel().astype(int))
        np.savez_compressed("x.npz", X=x, y=labels)
        agrees(f"npz, packed: {what}", "npz:x.npz", x, labels.ravel().astype(int))

    trees = np.array(["\u00e9rable", "birch", "cedar \U0001f332"])
    for what, labels in (("texts", kinds[y]), ("texts as bytes", kinds[y].astype("S")), ("texts of big-endian letters", kinds[y].astype(">U9")),
                         ("one-hot labels", np.eye(3)[y]), ("one-hot integers", np.eye(3, dtype="u1")[y])):
        np.savez("x.npz", X=X, y=labels)
        agrees(f"npz: {what}", "npz:x.npz")
    np.savez("x.npz", X=X, y=trees[y])
    order = np.argsort(np.argsort([t.encode() for t in trees]))
    agrees("npz: texts beyond ASCII", "npz:x.npz", X, order[y])
    check("npz: with their names", list(json.loads(ask("npz:x.npz").stdout)["balance"]["train"]) == sorted(trees, key=str.encode))
    np.savez("x.npz", X, y)
    agrees("npz: arrays without names", "npz:x.npz")
    np.savez("x.npz", features=X, targets=y)
    agrees("npz: features and targets", "npz:x.npz")
    np.savez("x.npz", X=np.zeros((200, 8, 8, 3), "u1"), y=y)
    check("npz: channels behind the picture are said", "its channels behind it" in ask("npz:x.npz").stderr)

    def bad(what, pattern, **arrays):
        np.savez("bad.npz", **arrays)
        refused(f"npz: {what}", "npz:bad.npz", r"^bad\.npz: " + pattern)

    hole = np.where(np.arange(600).reshape(200, 3) == 50, np.nan, X)
    bad("NaN", "row 16: feature x2 is nan; features must be finite", X=hole, y=y)
    bad("beyond 32-bit floats", r"row 0: feature x\d is .*e\+4\d; 32-bit floats end at", X=X * 1e42, y=y)
    bad("negative labels", r"row \d+: y is -1, which is not an integer", X=X, y=y - 1)
    bad("fractions", r"row \d+: y is 0\.5, which is not", X=X, y=y / 2)
    bad("NaN as a label", r"row 3: y is nan", X=X, y=np.where(np.arange(200) == 3, np.nan, y))
    bad("labels beyond 32 bits", r"row 0: y is 10995116277\d\d", X=X, y=y + 2**40)
    bad("nearly one-hot labels", r"row 0: y has 3 columns, of which one should be 1", X=X, y=np.eye(3)[y] * 2)
    bad("several texts", r"y has several texts for a sample", X=X, y=np.c_[kinds[y], kinds[y]])
    bad("a text that is missing", r"row 3: the label is missing; --drop-nan leaves", X=X, y=np.where(np.arange(200) == 3, "", kinds[y]))
    bad("texts to train on, numbers to test", "some labels are texts", X_train=X, y_train=kinds[y], X_test=X, y_test=y)
    bad("texts as features", r"X\.npy: type '<U\d+' is not supported", X=X.astype(str), y=y)
    bad("objects", r"y\.npy: an object array holds Python pickles", X=X, y=kinds[y].astype(object))
    bad("complex numbers", r"X\.npy: type '<c16' is not supported", X=X + 1j, y=y)
    bad("other names", r"there is no array 'X' in the file; it has points\.npy, of\.npy", points=X, of=y)
    np.savez("points.npz", points=X, y=y)
    run = ask("points.npz")
    check("npz: the only array beside the labels is said", run.returncode == 0 and "'points' is read" in run.stderr)
    bad("in the test part", r"row 0 to test: feature x0 is inf", X_train=X, y_train=y, X_test=X * np.inf, y_test=y)
    np.savez("gap.npz", X=X, y=y + 1)
    run = ask("npz:gap.npz")
    check("npz: labels from 1 are said", run.returncode == 0 and "no row is of class 0" in run.stderr)


def packed_zeros(name, entry, size):
    """A zip file with one entry of so many zeros, packed as far as deflate goes."""
    stream, piece = zlib.compressobj(9, zlib.DEFLATED, -15), bytes(1 << 24)
    block = stream.compress(piece) + stream.flush(zlib.Z_FULL_FLUSH)
    data = block * (size // len(piece)) + b"\x03\x00"
    sizes = struct.pack("<III", 0, len(data), size // len(piece) * len(piece))
    local = struct.pack("<4sHHHHH", b"PK\3\4", 20, 0, 8, 0, 0) + sizes + struct.pack("<HH", len(entry), 0) + entry
    central = struct.pack("<4sHHHHHH", b"PK\1\2", 20, 20, 0, 8, 0, 0) + sizes + \
        struct.pack("<HHHHHII", len(entry), 0, 0, 0, 0, 0, 0) + entry
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local) + len(data), 0)
    with open(name, "wb") as f:
        f.write(local + data + central + end)


def bombs():
    packed_zeros("bomb.npz", b"X.npy", 3 << 29)
    refused("a data set that unpacks to gigabytes", "npz:bomb.npz", r"'X\.npy' has 1610612736 bytes, at most \d+ are read")
    run = subprocess.run([ch, "convert", "bomb.npz", "w.safetensors"], capture_output=True, text=True, timeout=120)
    check("weights, too", run.returncode == 2 and "takes 1610612736 bytes" in run.stderr)
    w = np.zeros(40_000_000, np.float32)
    w[::1000] = 0.25
    np.savez_compressed("pruned.npz", w=w)
    run = subprocess.run([ch, "convert", "pruned.npz", "pruned.safetensors"], capture_output=True, text=True, timeout=120)
    check("pruned weights, which pack well, are read", run.returncode == 0)
    with open("pruned.safetensors", "rb") as f:
        start = 8 + struct.unpack("<Q", f.read(8))[0]
    check("to the bit", np.array_equal(np.fromfile("pruned.safetensors", "f4", offset=start), w))


# ---- HDF5 ----

def hdf5_files():
    def put_pair(x, labels, **options):
        with h5py.File("x.h5", "w") as f:
            f.create_dataset("X", data=x, **options)
            f["y"] = labels

    for what, x, options in (("plain", X, {}), ("float16", X.astype("f2"), {}), ("big-endian", X.astype(">f4"), {}),
                             ("packed", X, {"compression": "gzip", "shuffle": True, "fletcher32": True, "chunks": (7, 2)}),
                             ("int16", (X * 10).astype("i2"), {}),
                             ("a filter of h5py's own", X, {"compression": "lzf", "chunks": (50, 3)}),
                             ("a chunk for all", X, {"compression": "gzip", "chunks": (200, 3)})):
        put_pair(x, y.astype("u1"), **options)
        agrees(f"h5: {what}", "h5:x.h5", x)
    with h5py.File("x.h5", "w") as f:
        f["inner/X"], f["y"], f["X"] = X, y, h5py.SoftLink("/inner/X")
    agrees("h5: a link within the file", "h5:x.h5")
    table = np.zeros(200, [("wide", "f4"), ("high", ">f8"), ("deep", "f8"), ("label", "i2")])
    for i, name in enumerate(names):
        table[name] = X[:, i]
    table["label"] = y
    with h5py.File("x.h5", "w") as f:
        f["things"] = table
    agrees("h5: a table", "h5:x.h5")
    put_pair(X, np.eye(3)[y])
    agrees("h5: one-hot labels", "h5:x.h5")
    put_pair(X > 5, y > 0)
    agrees("h5: booleans", "h5:x.h5", X > 5, (y > 0).astype(int))
    put_pair(X, kinds[y].astype("S"))
    agrees("h5: texts", "h5:x.h5")
    with h5py.File("x.h5", "w") as f:
        f["X"] = X
        f.create_dataset("y", data=list(trees_of(y)), dtype=h5py.string_dtype())
    agrees("h5: texts of any length", "h5:x.h5")
    with h5py.File("x.h5", "w") as f:
        f["X_train"], f["X_test"], f["y_train"], f["y_test"] = X, X, kinds[y].astype("S"), y
    refused("h5: texts to train on, numbers to test", "h5:x.h5", "some labels are texts")
    with h5py.File("x.h5", "w") as f:
        for part, rows in (("train", training(200)), ("test", np.setdiff1d(np.arange(200), training(200)))):
            f[f"{part}/x"], f[f"{part}/y"] = X[rows], y[rows]
    groups = json.loads(ask("h5:x.h5").stdout)
    check("h5: groups of parts", groups["splits"]["train"] == len(training(200)) and
          list(groups["balance"]["train"].values()) == list(np.bincount(y[training(200)])))
    for what, x, labels, pattern in (("NaN", np.where(np.arange(600).reshape(200, 3) == 50, np.nan, X), y, "row 16: feature x2 is nan"),
                                     ("negative labels", X, y - 1, r"row \d+: y is -1, which is not"),
                                     ("fractions", X, y / 2, r"row \d+: y is 0\.5"),
                                     ("texts as features", X.astype("S"), y, "dataset X holds texts, not numbers"),
                                     ("several texts", X, kinds[np.c_[y, y]].astype("S"), "y has several texts for a sample"),
                                     ("complex numbers", X + 1j, y, "X and y have shapes"),
                                     ("nearly one-hot labels", X, np.eye(3)[y] * 2, r"row 0: y has 3 columns, of which one")):
        put_pair(x, labels)
        refused(f"h5: {what}", "h5:x.h5", r"^x\.h5: .*" + pattern)


print(f"h5py {h5py.__version__}, NumPy {np.__version__}")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    text_files()
    numpy_files()
    bombs()
    hdf5_files()
finish()
