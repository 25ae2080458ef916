#!/usr/bin/env python3
"""Networks of several inputs: after some steps the same weights as in PyTorch, the same outputs, from an .npz or
HDF5 file whose arrays have the names of forward's parameters in any order, from others that --features names, from
columns of a table.

usage: inputs.py CH
"""
import importlib.util
import os
import sys
import tempfile

from checks import check, finish, run

try:
    import h5py
    import numpy as np
    import torch
    from torch_models import IS_OLD, SOURCE
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
FILE = os.path.join(SOURCE, "inputs.py")
ROWS, STEPS = 40, 6
rng = np.random.default_rng(3)
INPUTS = {
    "Weighted": {"x": rng.normal(size=(ROWS, 6)), "mask": rng.uniform(size=(ROWS, 6))},
    "Siamese": {"left": rng.normal(size=(ROWS, 1, 5, 5)), "right": rng.normal(size=(ROWS, 1, 5, 5))},
    "Categories": {"numbers": rng.normal(size=(ROWS, 6)), "cities": rng.integers(0, 10, (ROWS, 2)),
                   "kind": rng.integers(0, 5, ROWS)},
    "Hidden": {"x": rng.normal(size=(ROWS, 6)), "hidden": rng.uniform(size=(ROWS, 6)) < 0.3},
    "Decoder": {"source": rng.integers(0, 12, (ROWS, 7)), "target": rng.integers(0, 12, (ROWS, 4))},
}
labels = rng.integers(0, 3, ROWS)


def nets():
    spec = importlib.util.spec_from_file_location("inputs_of", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_file(x):
    return x.astype("f4") if x.dtype == "f8" else x


def tensors(inputs):
    return [torch.from_numpy(as_file(x)).double() if x.dtype == "f8" else torch.from_numpy(x) for x in inputs.values()]


def descend(net, inputs):
    net = net.double().train()
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(*inputs), torch.from_numpy(labels)).backward()
        optimiser.step()
    return net


def train(spec, data, project, *more):
    return run(ch, "train", spec, data, "--load", "start.pt", "--split", "mase", "--scaling", "none", "--batch-size",
               str(ROWS), "--max-steps", str(STEPS), "--max-epochs", str(STEPS), "--learning-rate", "0.1",
               "--weight-decay", "0", "--momentum", "0", "--lr-schedule", "constant", "--training-optimizer", "sgd",
               "--project", project, *more)


def last(project):
    return f"mase_output/{project}/software/training_ckpts/last.ckpt"


def same_weights(what, net, project, ok):
    ours = torch.load(last(project), weights_only=not IS_OLD)["state_dict"] if ok else {}
    far = max((v - ours["model." + k].double()).abs().max().item() for k, v in net.state_dict().items()) if ok else np.inf
    check(f"{what}: the same weights, {far:.1e} apart", far <= 1e-5)


def same_outputs(what, name, net, inputs, *given, load=None):
    ok = run(ch, "predict", f"{FILE}:{name}", "--load", load or last(name), *given, "--output", "y.npy")
    with torch.no_grad():
        theirs = net.eval()(*inputs).numpy()
    far = np.abs(np.load("y.npy") - theirs).max() if ok else np.inf
    check(f"{what}: the same outputs, {far:.1e} apart", far <= 1e-5)


def compare(name, cls, arrays):
    torch.manual_seed(5)
    net = cls()
    torch.save(net.state_dict(), "start.pt")
    inputs = tensors(arrays)
    # every row trains: those to test are others
    rows = {k: as_file(x) for k, x in reversed(list(arrays.items()))}
    parts = {f"{k}_{part}": x if part == "train" else x[:10] for k, x in rows.items() for part in ("train", "test")}
    np.savez("data.npz", **parts, y_train=labels, y_test=labels[:10])
    with h5py.File("data.h5", "w") as f:
        for k, x in {**parts, "y_train": labels, "y_test": labels[:10]}.items():
            f[k] = x.astype("i1") if x.dtype == bool else x
    spec, chosen = f"{FILE}:{name}", ("--features", ",".join(arrays))
    net = descend(net, inputs)
    same_weights(f"{name}, npz", net, name, train(spec, "data.npz", name, *chosen))
    same_weights(f"{name}, HDF5", net, name + "5", train(spec, "data.h5", name + "5", *chosen))
    np.savez("samples.npz", **rows)
    same_outputs(f"{name}, npz", name, net, inputs, "--input", "samples.npz")
    files = []
    for k, x in arrays.items():
        np.save(k + ".npy", as_file(x))
        files += ["--input", k + ".npy"]
    same_outputs(f"{name}, files", name, net, inputs, *files)


def by_reference(cls):
    """A network that no plan runs, since it mixes its samples."""
    arrays = {"x": rng.normal(size=(ROWS, 6)), "kind": rng.integers(0, 5, ROWS), "mask": rng.uniform(size=(ROWS, 6))}
    net = cls()
    torch.save(net.state_dict(), "centred.pt")
    np.savez("centred.npz", **{k: as_file(x) for k, x in reversed(list(arrays.items()))})
    same_outputs("Centred, by the reference", "Centred", net.double(), tensors(arrays), "--input", "centred.npz",
                 load="centred.pt")


def by_name():
    """Without --features: by the names of forward's parameters, whatever their order in the file."""
    arrays = INPUTS["Categories"]
    rows = {k: as_file(x) for k, x in reversed(list(arrays.items()))}
    np.savez("named.npz", **rows, label=labels, beside=rng.normal(size=(ROWS, 2)))
    np.savez("ordered.npz", numbers=rows["numbers"], cities=rows["cities"], kind=rows["kind"], label=labels)
    spec = f"{FILE}:Categories"
    ok = train(spec, "named.npz", "named") and train(spec, "ordered.npz", "ordered", "--features", "numbers,cities,kind")
    check("arrays are found by their names", ok and all(
        torch.equal(a, b) for a, b in zip(*[torch.load(last(p), weights_only=not IS_OLD)["state_dict"].values()
                                            for p in ("named", "ordered")])))


def columns():
    numbers, cities, kind = INPUTS["Categories"].values()
    with open("table.csv", "w") as f:
        f.write("n0,n1,n2,n3,n4,n5,c0,c1,kind,label\n")
        for i in range(ROWS):
            f.write(",".join(repr(float(np.float32(v))) for v in numbers[i]))
            f.write(f",{cities[i][0]},{cities[i][1]},{kind[i]},{labels[i]}\n")
    with open("flat.py", "w") as f:
        f.write("import sys, torch\nsys.path.insert(0, %r)\nimport inputs\n"
                "class Flat(inputs.Categories):\n"
                "    def forward(self, numbers, cities, kind):\n"
                "        return super().forward(numbers, cities, kind.squeeze(1))\n" % SOURCE)
    np.savez("table.npz", numbers=as_file(numbers), cities=cities, kind=kind[:, None], label=labels)
    ok = train("flat.py:Flat", "table.csv", "table", "--features", "n0..n5;c0,c1;kind") and \
        train("flat.py:Flat", "table.npz", "arrays")
    check("columns are divided among inputs", ok and all(
        torch.equal(a, b) for a, b in zip(*[torch.load(last(p), weights_only=not IS_OLD)["state_dict"].values()
                                            for p in ("table", "arrays")])))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        module = nets()
        for name, arrays in INPUTS.items():
            compare(name, getattr(module, name), arrays)
        torch.manual_seed(5)
        torch.save(module.Categories().state_dict(), "start.pt")
        by_name()
        columns()
        by_reference(module.Centred)
    finish()


main()
