#!/usr/bin/env python3
"""generate.py - HDF5 files of many kinds that h5py writes, all with the same numbers.

Features are (7i + 3k) % 11 - 5, labels i % 3, 33 rows. Run by hand with Debian's python3-h5py; t_tables.c
reads what it leaves.
"""
import os

import h5py
import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
ROWS = 33
i, k = np.mgrid[0:ROWS, 0:4]
X = ((7 * i + 3 * k) % 11 - 5).astype("f4")
y = np.arange(ROWS) % 3


def new(name, **options):
    return h5py.File(name + ".h5", "w", **options)


with new("lzf") as f:
    f.create_dataset("X", data=X, chunks=(20, 4), compression="lzf", shuffle=True)
    f.create_dataset("y", data=y, chunks=(33,), compression="lzf")
with new("gzip_latest", libver="latest") as f:
    f.create_dataset("X", data=X.astype(">f8"), chunks=(20, 4), compression="gzip", fletcher32=True)
    f.create_dataset("y", data=y.astype("u1"), maxshape=(None,))
with new("user_block", userblock_size=512) as f:
    f["X"], f["y"] = X.astype("i2"), y
with new("half") as f:
    f["X"], f["y"] = X.astype("f2"), y.astype(">u2")
with new("enumeration") as f:
    names = {f"n{n + 5}": n for n in range(-5, 6)}
    f.create_dataset("X", data=X.astype("i2"), dtype=h5py.enum_dtype(names, basetype="i2"))
    f.create_dataset("y", data=y.astype("u1"), dtype=h5py.enum_dtype({"a": 0, "b": 1, "c": 2}, basetype="u1"))
with new("large_enumeration") as f:
    f.create_dataset("X", data=np.full((ROWS, 1), 200, "u1"), dtype=h5py.enum_dtype({"a": 200}, basetype="u1"))
    f["y"] = y
with new("texts") as f:
    f["X"], f["y"] = X, np.array([b"a", b"a ", b"bb"])[y]
with new("any_length") as f:
    f["X"] = X
    f.create_dataset("y", data=np.array(["a", "a ", "bb"], object)[y], dtype=h5py.string_dtype())
with new("padded") as f:  # as Fortran writes
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(4)
    kind.set_strpad(h5py.h5t.STR_SPACEPAD)
    h5py.h5d.create(f.id, b"y", kind, h5py.h5s.create_simple((ROWS,))).write(
        h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"a   ", b"b   ", b"cc  "], "S4")[y], mtype=kind
    )
    f["X"] = X


def records(label, values):
    table = np.zeros(ROWS, [("a", "f4"), ("b", ">i2"), ("c", "f8"), ("label", label)])
    for n, name in enumerate("abc"):
        table[name] = X[:, n]
    table["label"] = values
    return table


with new("records", libver="latest") as f:
    f.create_dataset("t", data=records("i1", y), chunks=(20,), compression="lzf")
names = np.array(["cat", "dog", "emu"], object)[y]
with new("records_any_length") as f:
    f["t"] = records(h5py.string_dtype(), names)
with new("records_text") as f:
    plain = records("S3", names)
    table = np.zeros(ROWS, plain.dtype.descr + [("on", "?")])
    for name in plain.dtype.names:
        table[name] = plain[name]
    table["on"] = y == 1
    f["t"] = table

# Parts of an .npz file, as np.savez makes them: the first number of a sample is its row.
Z = np.stack([np.arange(30), np.arange(30) % 7], 1).astype("f4")
z = np.arange(30) % 3
np.savez("plain_and_test.npz", X=Z[:20], y=z[:20], X_test=Z[20:], y_test=z[20:])
np.savez("train_and_val.npz", x_train=Z[:20], y_train=z[:20], x_val=Z[20:], y_val=z[20:])
np.savez_compressed("test_unlabelled.npz", X=Z[:20], y=z[:20], X_test=Z[20:])
np.savez("test_first.npz", test_images=Z[20:], test_labels=z[20:], images=Z[:20], labels=z[:20])
