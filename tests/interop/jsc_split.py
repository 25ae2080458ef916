#!/usr/bin/env python3
"""jsc_split.py - jsc files as h5py writes them, and what NumPy and scikit-learn make of them.

    jsc_split.py PROGRAM         write new files to a temporary folder, run PROGRAM (t_jsc) on them
    jsc_split.py --write DIR     write the files that are kept in tests/data/data

Status 77 (skipped) when h5py, NumPy or scikit-learn is missing: Debian's python3-h5py, python3-numpy
and python3-sklearn.
"""
import os
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
    import sklearn
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler
except ImportError as e:
    print(f"jsc_split: skipped, {e.name} is not installed (python3-h5py python3-numpy python3-sklearn)")
    sys.exit(77)

FEATURES = """j_zlogz j_c1_b0_mmdt j_c1_b1_mmdt j_c1_b2_mmdt j_c2_b1_mmdt j_c2_b2_mmdt j_d2_b1_mmdt
j_d2_b2_mmdt j_d2_a1_b1_mmdt j_d2_a1_b2_mmdt j_m2_b1_mmdt j_m2_b2_mmdt j_n2_b1_mmdt j_n2_b2_mmdt
j_mass_mmdt j_multiplicity""".split()
LABELS = "j_g j_q j_w j_z j_t".split()
OTHERS = "j_pt j_eta j_mass".split()


def make(rng, n, kinds):
    """n records with some exact duplicates; kinds gives each column's type."""
    names = FEATURES + OTHERS + LABELS
    order = list(rng.permutation(len(names))) if len(set(kinds)) > 1 else range(len(names))
    t = np.zeros(n, dtype=[(names[i], kinds[i % len(kinds)]) for i in order])
    for i, name in enumerate(FEATURES + OTHERS):
        t[name] = np.asarray(rng.normal(i - 8, 0.1 + i, n)).astype(t.dtype[name])
    t["j_multiplicity"] = rng.integers(3, 90, n)
    t["j_n2_b2_mmdt"] = 7  # constant: its deviation counts as 1
    label = rng.integers(0, 5, n)
    for k, name in enumerate(LABELS):
        t[name] = label == k
    for i in rng.choice(np.arange(1, n), n // 20, replace=False):
        t[i] = t[rng.integers(0, i)]
    for name in OTHERS:  # these columns do not count when rows are compared
        t[name] = rng.normal(0, 1, n)
    return t


def expect(t):
    """Table (train_val, then test), labels, mean and deviation, rows in train_val, duplicates."""
    x = np.stack([t[f] for f in FEATURES], axis=1)
    y = np.stack([t[f] for f in LABELS], axis=1)
    _, first = np.unique(np.concatenate([x, y], axis=1), axis=0, return_index=True)
    keep = np.sort(first)
    x_fit, x_test, y_fit, y_test = train_test_split(
        x[keep], y[keep], test_size=0.2, random_state=42)
    scaler = StandardScaler().fit(x_fit)
    table = np.concatenate([scaler.transform(x_fit), scaler.transform(x_test)])
    label = np.concatenate([y_fit, y_test]).argmax(axis=1)
    counts = np.array([len(x_fit), len(t) - len(keep)])
    return (table.astype(np.float32), label.astype(np.int32),
            np.stack([scaler.mean_, scaler.scale_]), counts.astype(np.int64))


def write(folder, name, t, **options):
    with h5py.File(f"{folder}/{name}.h5", "w") as f:
        f.create_dataset("t_allpar_new", data=t, **options)
    for part, array in zip(("table", "label", "scaling", "counts"), expect(t)):
        np.save(f"{folder}/{name}_{part}.npy", array)


def write_all(folder, seed):
    rng = np.random.default_rng(seed)
    write(folder, "jsc_single", make(rng, 633, ["<f4"]), chunks=(100,), compression="gzip")
    write(folder, "jsc_mixed", make(rng, 211, ["<f8", ">f4", "<f4", "<f8", ">f8"]))
    r = np.random.RandomState(42)
    np.save(f"{folder}/numpy_permutation.npy", r.permutation(1000).astype(np.int32))
    np.save(f"{folder}/numpy_rand.npy", np.random.RandomState(3).rand(1500))


def write_bad(folder):
    """Files that must be refused, and tables of the user's own."""
    rng = np.random.default_rng(5)
    good = make(rng, 40, ["<f4"])

    def table(name, t, dataset="t_allpar_new"):
        with h5py.File(f"{folder}/{name}.h5", "w") as f:
            f.create_dataset(dataset, data=t)

    keep = [n for n in good.dtype.names if n != "j_mass_mmdt"]
    table("bad_column", np.array(good[keep].tolist(), dtype=[(n, "<f4") for n in keep]))
    table("bad_name", good, "t_allpar")
    for name, column, value in (("bad_nan", "j_c2_b1_mmdt", np.nan), ("bad_inf", "j_zlogz", np.inf),
                                ("bad_label", "j_t", 2.0)):
        t = good.copy()
        t[column][17] = value
        table(name, t)
    table("bad_empty", good[:0])
    with h5py.File(f"{folder}/bad_claim.h5", "w") as f:  # rows that were never written
        f.create_dataset("t_allpar_new", (1 << 31,), good.dtype, chunks=(64,), compression="gzip")

    x = rng.normal(size=(50, 2, 3)).astype(np.float32)
    y = np.arange(50) % 4
    np.savez(f"{folder}/own.npz", X=x, y=y)
    np.savez_compressed(f"{folder}/own_split.npz", X_train=x[:40], y_train=y[:40], X_test=x[40:],
                        y_test=y[40:])
    np.savez(f"{folder}/bad_y.npz", X=x, y=y[:49])
    np.savez(f"{folder}/bad_float_y.npz", X=x, y=y + 0.5)
    np.savez(f"{folder}/bad_none.npz", Z=x)
    with h5py.File(f"{folder}/own.h5", "w") as f:
        f["X"], f["y"] = x, y
    t = np.zeros(50, dtype=[("a", "<f8"), ("kind", "<i2"), ("b", "<i4")])
    t["a"], t["b"], t["kind"] = x[:, 0, 0], np.arange(50), y
    table("own_table", t, "things")


def write_hostile(folder):
    """Files that would have us read others, or unpack a gigabyte for a few numbers."""
    y = np.arange(20) % 2

    def file(name):
        f = h5py.File(f"{folder}/bad_{name}.h5", "w")
        f["y"] = y
        return f

    with file("link") as f:
        f["X"] = h5py.ExternalLink("own.h5", "/X")
    with file("soft_link") as f:
        f["elsewhere"] = h5py.ExternalLink("own.h5", "/")
        f["X"] = h5py.SoftLink("/elsewhere/X")
    with file("virtual") as f:
        layout = h5py.VirtualLayout((20, 3), "f8")
        layout[:] = h5py.VirtualSource("own.h5", "X", (20, 3))
        f.create_virtual_dataset("X", layout)
    with file("stored_out") as f:
        f.create_dataset("X", (20, 3), "f8", external=[("own.npz", 0, h5py.h5f.UNLIMITED)])
    with file("chunk") as f:
        x = f.create_dataset("X", (20, 3), "f8", maxshape=(None, 3), chunks=(1 << 26, 3), compression="gzip")
        x.id.write_direct_chunk((0, 0), b"x\x9c" + bytes(64))


def main():
    if sys.argv[1:2] == ["--write"]:
        write_all(sys.argv[2], 1)
        write_bad(sys.argv[2])
        write_hostile(sys.argv[2])
        return 0
    print(f"h5py {h5py.__version__}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(100, 105):
            write_all(folder, seed)
            subprocess.run([sys.argv[1], "same_permutation", "as_sklearn"], check=True, env={**os.environ, "JSC_GOLDEN": folder})
    return 0


sys.exit(main())
