"""Numbers are written with a point, whatever the locale of the program around the library says."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import typing

import pytest

from test_library import ROOT

# All ways in which numbers become text, or texts numbers; what comes of it is printed.
WORK = """
import hashlib, json, locale, os, pathlib, sys
import numpy
import mase

name = locale.setlocale(locale.LC_ALL, sys.argv[1])
print(locale.localeconv()["decimal_point"], file=sys.stderr)
rng = numpy.random.default_rng(0)
x = rng.normal(0, 2, (200, 3)).astype(numpy.float32)
y = (x[:, 0] > 0.25).astype(int)
rows = [",".join([*(f"{v:.6f}" for v in row), "abc"[label]]) for row, label in zip(x, y)]
pathlib.Path("t.csv").write_text("a,b,c,label\\n" + "\\n".join(rows) + "\\n")
table = mase.Data("t.csv", split="0.7,0.2,0.1", scaling="standard")
print("csv", table.info["mean"], table.info["scale"], len(table.train), table.train.x.tobytes().hex()[:400])
data = mase.Data(x, y, name="points", scaling="minmax", split="0.6,0.2,0.2")
print("arrays", data.info["mean"], data.info["scale"], len(data.train), repr(data))
graph = mase.MaseGraph.empty("net", sample=(3,))
graph.add_module("fc1", "Linear(3, 4)")
graph.add_module("act", "LeakyReLU(0.125)")
graph.add_module("fc2", "Linear(4, 2)")
graph.add_module("norm", "BatchNorm1d(2, eps=0.0025, momentum=0.15)")
h = graph.call_module("act", (graph.call_module("fc1", (graph.placeholder("x"),)),))
h = graph.call_module("norm", (graph.call_module("fc2", (h,)),))
graph.output(graph.call_function("operator.mul", (h, 1.5)))
result = mase.train(graph, data, max_epochs=2, batch_size=16, learning_rate=0.0625, weight_decay=0.001,
                    training_optimizer="adamw", progress=False, checkpoint_dir="ckpt")
print("train", [(e.train_loss, e.val_loss, e.learning_rate) for e in result.epochs], str(result.table)[:60])
print("layers", [repr(m) for m in graph.modules.values()], graph.node("mul").args[1])
evaluation = mase.evaluate(graph, data)
print("evaluate", evaluation.loss, evaluation["classes"], str(evaluation.table))
print("round", mase.round(x[:4], "name = 'minifloat_denorm'\\nwidth = 8\\nexponent_width = 4\\nexponent_bias = 7").tolist())
config = "[passes.prune]\\nsparsity = 0.25\\n"
print("passes", mase.transform(graph.copy(), config)[1])
print("profile", mase.profile(graph, data, by="type", target_activation_nodes=["linear"],
      activation_statistics={"range_quantile": {"device": "cpu", "dims": "all", "quantile": 0.97}}))
integer = {"name": "integer", "data_in_width": 8, "data_in_frac_width": 4, "weight_width": 8, "weight_frac_width": 6,
           "bias_width": 8, "bias_frac_width": 4}
quantised = mase.quantize(graph.copy(), {"fc1": integer})
for number, net in enumerate((graph, quantised)):
    for what in ("graph", "mg", "program", "json", "svg", "dot", *(["py"] if net is graph else [])):
        print(what, net.text(what))
    net.save(f"saved{number}")
    for ending in ("mg", "onnx", "svg", "npz", "safetensors"):
        net.write(f"net{number}.{ending}")
emitted = mase.open("jsc-tiny")
emitted.write("net.c")
emitted.write("unrolled.c", unrolled=True)
for training in mase.listing("training"):
    print(training["key"], training["default"], training["allowed"])
again = mase.MaseGraph.from_text(graph.text("mg"), seed=1)
again.load("net0.safetensors")
print("again", (again(x) == graph(x)).all(), (mase.open("saved0")(x) == graph(x)).all(), graph(x).tobytes().hex()[:400])
try:
    mase.train(graph, data, learning_rate=0.5, momentum=-0.5, progress=False)
except ValueError as error:
    print(error)
for path in sorted(pathlib.Path(".").rglob("*")):
    if path.is_file() and path.suffix not in (".ckpt",):
        print(path, hashlib.sha256(path.read_bytes()).hexdigest())
"""


def commas(folder: pathlib.Path) -> typing.Tuple[str, typing.Dict[str, str]]:
    """A locale with a decimal comma, and the environment in which it is found."""
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout.split()
    for name in ("de_DE.utf8", "de_DE.UTF-8", "fr_FR.utf8", "pl_PL.utf8"):
        if name in listed:
            return name, {}
    if shutil.which("localedef") is None or not pathlib.Path("/usr/share/i18n/locales/de_DE").exists():
        pytest.skip("no locale with a decimal comma here, and none can be made (Debian: locales)")
    made = subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", str(folder / "de_DE.UTF-8")],
        capture_output=True, text=True, check=False,
    )
    if not (folder / "de_DE.UTF-8").exists():
        pytest.skip(f"localedef makes no locale: {made.stderr}")
    return "de_DE.UTF-8", {"LOCPATH": str(folder)}


def worked(folder: pathlib.Path, name: str, env: typing.Dict[str, str]) -> typing.Tuple[str, str]:
    """What comes of the work in this locale, and its decimal point."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", WORK, name], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1",
             **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.split("\n")[0]


def test_a_decimal_comma_changes_nothing(tmp_path: pathlib.Path) -> None:
    (tmp_path / "locales").mkdir()
    name, env = commas(tmp_path / "locales")
    points, point = worked(tmp_path / "points", "C", {})
    with_commas, comma = worked(tmp_path / "commas", name, env)
    assert (point, comma) == (".", ",")
    for line, other in zip(points.split("\n"), with_commas.split("\n")):
        assert line == other
    assert points == with_commas
