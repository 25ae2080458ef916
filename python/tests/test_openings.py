"""The same words name the same network, whoever asks: `ch convert` opens it to look at, `ch transform`
to work on, `mase.open` in Python. Each saves what it opened; the folders must be equal byte by byte, or
all refuse it for the same reason."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import typing

import pytest

import mase

CH = os.environ.get("MASE_CH", "")
SAVED = ("graph_module.mg", "state_dict.safetensors", "node_meta_param.toml", "scaling.json")

SOURCE = """
import torch.nn as nn

class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.first = nn.Linear(8, width)
        self.last = nn.Linear(width, 2)

    def forward(self, x):
        return self.last(self.first(x).relu())
"""
TWO_INPUTS = """
import torch.nn as nn

class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(3, 4)
        self.right = nn.Linear(2, 4)

    def forward(self, a, b):
        return self.left(a) + self.right(b)
"""
TWO_CLASSES = SOURCE + SOURCE.split("\n\n", 1)[1].replace("class Net", "class Other")
QUANTISE = """
[passes.quantize]
by = "type"
default = { config = { name = "NA" } }
[passes.quantize.linear.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 8
weight_frac_width = 4
bias_width = 8
bias_frac_width = 4
"""


def ch(*words: object, cwd: pathlib.Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CH, *map(str, words)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, "MASE_DATA": ""},
        check=False,
    )


def made(*words: object, cwd: pathlib.Path) -> None:
    run = ch(*words, cwd=cwd)
    assert run.returncode == 0, run.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with something of every kind that a word may name."""
    at = tmp_path_factory.mktemp("openings")
    (at / "empty.toml").write_text("")
    (at / "q.toml").write_text(QUANTISE)
    (at / "fold.toml").write_text("[passes.fold_batch_norm]\n")
    (at / "net.py").write_text(SOURCE)
    (at / "two.py").write_text(TWO_CLASSES)
    (at / "both.py").write_text(TWO_INPUTS)
    (at / "broken.py").write_text("class Net(\n")
    (at / "notes.txt").write_text("nothing\n")
    (at / "graph.mz").write_bytes(b"\x80\x02.")
    (at / "empty.ckpt").write_bytes(b"")
    rows = [f"{i % 7},{i % 5},{i % 3},{i % 2}\n" for i in range(60)]
    (at / "t.csv").write_text("a,b,c,label\n" + "".join(rows))
    (at / "nothing").mkdir()
    made("convert", "toy", "toys", "--seed", 3, cwd=at)
    made("convert", "jsc-tiny", "tiny", "--seed", 1, cwd=at)
    for suffix in ("safetensors", "npz", "pt", "ckpt"):
        made("convert", "toys", f"w.{suffix}", cwd=at)
    made("convert", "toys", "toy.mg", cwd=at)
    made("convert", "toys", "toy.onnx", cwd=at)
    made("convert", "toys", "toy.py", cwd=at)
    shutil.copy(at / "toy.mg", at / "graph_without_suffix")
    made("transform", "--config", "q.toml", "toy", "toy_tiny", "--project", "quantised", "--seed", 3, cwd=at)
    made("transform", "--config", "fold.toml", "jsc-tiny-127", "jsc-sim", "--project", "folded", cwd=at)
    quick = ("--max-epochs", 1, "--batch-size", 1024)
    made("train", "toy", "toy_tiny", "--project", "run", *quick, cwd=at)
    made("train", "toy", "toy_tiny", "--config", "q.toml", "--project", "qat", *quick, cwd=at)
    made("train", "net.py:Net(width=3)", "csv:wide.csv", "--project", "own", *quick, cwd=wide(at))
    again = ("--load", "mase_output/run", "--project", "again")
    made("transform", "toy", "toy_tiny", "--config", "empty.toml", *again, cwd=at)
    best = at / "mase_output/run/software/training_ckpts/best.ckpt"
    for name in ("moved.ckpt", "moved.pt", "moved"):
        shutil.copy(best, at / name)
    (at / "hf").mkdir()
    shutil.copy(at / "w.safetensors", at / "hf/model.safetensors")
    shutil.copytree(at / "toys", at / "bare")
    (at / "bare/SHA256SUMS").unlink()
    (at / "bare/state_dict.safetensors").unlink()
    shutil.copytree(at / "toys", at / "torn")
    (at / "torn/state_dict.safetensors").unlink()
    shutil.copytree(at / "toys", at / "shadow/toy_convnet")
    (at / "shadow/jsc-tiny").mkdir()
    (at / "shadow/empty.toml").write_text("")
    return at


def wide(at: pathlib.Path) -> pathlib.Path:
    """Beside it a table of eight columns."""
    names = ",".join(f"f{i}" for i in range(8))
    rows = [",".join(str((i * (k + 1)) % 11) for k in range(8)) + f",{i % 2}\n" for i in range(200)]
    (at / "wide.csv").write_text(f"{names},label\n" + "".join(rows))
    return at


class Row(typing.NamedTuple):
    word: str
    weights: typing.Optional[str] = None
    dataset: typing.Optional[str] = None
    shape: typing.Optional[typing.Tuple[int, ...]] = None
    task: typing.Optional[str] = None
    key: typing.Optional[str] = None
    lenient: bool = False
    refused: typing.Optional[str] = None  # a regular expression that each sentence matches
    ways: str = "convert transform python"
    cwd: str = "."

    def name(self) -> str:
        data = self.dataset or ("x".join(map(str, self.shape)) if self.shape else "")
        return " ".join(x for x in (self.word, self.weights and f"--load {self.weights}", data) if x)


FOLDED = "mase_output/folded"
BEST = "mase_output/run/software/training_ckpts/best.ckpt"
Q = "mase_output/quantised/software/transform/transformed_ckpt"
# A network with weights of its own goes to files without --load; transform names its data.
LOOK = "transform python"
NO_MODEL = "there is no model"

ROWS = [
    # ---- the zoo ----
    Row("toy"),
    Row("jsc-tiny"),
    Row("jsc_tiny"),
    Row("jsc-tiny", dataset="jsc"),
    Row("jsc-tiny", dataset="jsc-sim"),
    Row("toy", dataset="toy_tiny"),
    Row("jsc-tiny", shape=(16,)),
    Row("vgg7", dataset="mnist", refused="vgg7"),
    Row("jsc-tinny", refused=NO_MODEL),
    Row("", refused="there is no model|is empty|must not be empty"),
    # ---- weights for it ----
    Row("toy", "w.safetensors", dataset="toy_tiny"),
    Row("toy", "w.npz", dataset="toy_tiny"),
    Row("toy", "w.pt", dataset="toy_tiny"),
    Row("toy", "w.ckpt", dataset="toy_tiny"),
    Row("toy", "hf", dataset="toy_tiny"),
    Row("toy", "toys", dataset="toy_tiny"),
    Row("toy", "toys/graph_module.mg", dataset="toy_tiny"),
    Row("toy", BEST, dataset="toy_tiny"),
    Row("toy", "mase_output/run", dataset="toy_tiny"),
    Row("toy", "mase_output/again", dataset="toy_tiny"),
    Row("toy", "moved.pt", dataset="toy_tiny"),
    Row("toy", "moved", dataset="toy_tiny"),
    Row("toy", Q, dataset="toy_tiny"),
    Row("toy", "mase_output/quantised", dataset="toy_tiny"),
    Row("toy", "mase_output/qat", dataset="toy_tiny"),
    Row("jsc-tiny-127", FOLDED, dataset="jsc-sim"),
    Row("jsc-tiny-127", FOLDED, ways="convert python"),
    Row("toy", BEST, ways="convert python"),
    Row("toy", "w.pt", dataset="toy_tiny", lenient=True),
    Row("jsc-tiny", "w.safetensors", dataset="jsc-sim", lenient=True, refused="nothing in it fits"),
    # ---- weights that are none, or not for it ----
    Row("jsc-tiny", "w.safetensors", dataset="jsc-sim", refused="seq_blocks|shape|missing"),
    Row("jsc-tiny", "toys", dataset="jsc-sim", refused="holds the network toy and not jsc-tiny"),
    Row("jsc-tiny", BEST, dataset="jsc-sim", refused="seq_blocks|shape"),
    Row("toy", "bare", dataset="toy_tiny", refused="has no state_dict.safetensors"),
    Row("toy", "torn", dataset="toy_tiny", refused="state_dict.safetensors: .*missing"),
    Row("toy", "nothing", dataset="toy_tiny", refused="is a folder without weights"),
    Row("toy", "none.pt", dataset="toy_tiny", refused="not found|[Nn]o such"),
    Row("toy", "notes.txt", dataset="toy_tiny", refused="cannot tell what '.*notes.txt' is"),
    Row("toy", "graph.mz", dataset="toy_tiny", refused=r"pickled graphs \(.mz\) are not read"),
    Row("toy", "toy.onnx", dataset="toy_tiny", refused="has weights under names of its own"),
    Row("toy", "toy.mg", dataset="toy_tiny", refused="graph_module.mg|node_meta|without weights|is a graph"),
    Row("toy", "empty.ckpt", dataset="toy_tiny", refused="the file is empty"),
    Row("toy", "w.pt", dataset="toy_tiny", key="none.such", refused="none.such"),
    # ---- folders, runs, checkpoints as the network ----
    Row("toys", dataset="toy_tiny"),
    Row("toys/", dataset="toy_tiny"),
    Row("toys/graph_module.mg", dataset="toy_tiny"),
    Row("mase_output/run", dataset="toy_tiny"),
    Row("mase_output/quantised", dataset="toy_tiny"),
    Row("mase_output/qat", dataset="toy_tiny"),
    Row(BEST, dataset="toy_tiny"),
    Row("moved.ckpt", dataset="toy_tiny"),
    Row("moved.pt", dataset="toy_tiny"),
    Row("moved", dataset="toy_tiny"),
    Row(FOLDED, dataset="jsc-sim"),
    Row("toys", "w.pt", dataset="toy_tiny", ways=LOOK),
    Row("toys", BEST, dataset="toy_tiny", ways=LOOK),
    Row(BEST, "toys", dataset="toy_tiny", ways=LOOK),
    Row("toys", "tiny", dataset="toy_tiny", ways=LOOK, refused="holds the network jsc-tiny and not"),
    Row("nothing", dataset="toy_tiny", refused="has no graph_module.mg, and no run"),
    Row("torn", dataset="toy_tiny", refused="state_dict.safetensors: .*missing"),
    Row("w.ckpt", dataset="toy_tiny", ways=LOOK, refused="holds weights without their network"),
    Row("w.safetensors", dataset="toy_tiny", ways=LOOK, refused="weights without their network"),
    Row("hf", dataset="toy_tiny", ways=LOOK, refused="weights without their network"),
    Row("notes.txt", dataset="toy_tiny", refused="notes.txt"),
    # ---- a name of the zoo that is also a folder ----
    Row("jsc-tiny", dataset="jsc-sim", cwd="shadow"),
    Row("toy_convnet", dataset="toy_tiny", cwd="shadow"),
    # ---- graphs ----
    Row("toy.mg", dataset="toy_tiny"),
    Row("toy.mg", shape=(4,)),
    Row("toy.mg", "w.npz", dataset="toy_tiny"),
    Row("toy.mg", "toys", dataset="toy_tiny"),
    Row("graph_without_suffix", dataset="toy_tiny"),
    Row("none.mg", dataset="toy_tiny", refused="none.mg: file not found"),
    # ---- ONNX ----
    Row("toy.onnx", dataset="toy_tiny"),
    Row("toy.onnx", shape=(1, 2, 2)),
    Row("toy.onnx", dataset="jsc", refused="it takes samples of"),
    Row("none.onnx", shape=(4,), refused="none.onnx: file not found"),
    # ---- PyTorch's source ----
    Row("net.py:Net", shape=(8,)),
    Row("net.py", shape=(8,)),
    Row("net.py:Net(width=3)", shape=(8,)),
    Row("net.py:Net(width=3)", dataset="csv:wide.csv"),
    Row("net.py:Net(width=3)", "mase_output/own", dataset="csv:wide.csv"),
    Row("net.py:Net(width=3)", "mase_output/own", ways="convert python"),
    Row("net.py:Net", "mase_output/own", shape=(8,), refused="first|shape"),
    Row("net.py:Net", shape=(5,), refused="8|5"),
    Row("net.py:None", shape=(8,), refused="None"),
    Row("net.py:Net", ways="convert python", refused="does not say what data it takes"),
    Row("two.py", shape=(8,), refused="Net.*Other|Other.*Net"),
    Row("none.py:Net", shape=(8,), refused="none.py: file not found"),
    Row("broken.py:Net", shape=(8,), refused="broken.py"),
    Row("nowhere.at_all:Net", shape=(8,), refused="nowhere"),
]


def by_convert(row: Row, at: pathlib.Path, out: pathlib.Path) -> typing.Optional[str]:
    words = ["convert", row.word, out]
    words += ["--dataset", row.dataset] if row.dataset else []
    return by_command(row, words, at)


def by_transform(row: Row, at: pathlib.Path, out: pathlib.Path) -> typing.Optional[str]:
    words = ["transform", row.word, *([row.dataset] if row.dataset else []), "--config", "empty.toml"]
    sentence = by_command(row, [*words, "--project", "p", "--project-dir", out.parent / "by_transform"], at)
    if sentence is None:
        shutil.copytree(out.parent / "by_transform/p/software/transform/transformed_ckpt", out)
    return sentence


def by_command(row: Row, words: typing.List[typing.Any], at: pathlib.Path) -> typing.Optional[str]:
    words += ["--load", row.weights] if row.weights else []
    words += ["--input-shape", ",".join(map(str, row.shape))] if row.shape else []
    words += ["--load-key", row.key] if row.key else []
    words += ["--strict", "no"] if row.lenient else []
    run = ch(*words, cwd=at)
    assert run.returncode in (0, 2), run.stderr
    return run.stderr if run.returncode else None


def by_python(row: Row, at: pathlib.Path, out: pathlib.Path) -> typing.Optional[str]:
    before = pathlib.Path.cwd()
    os.chdir(at)
    try:
        mase.open(
            row.word,
            weights=row.weights,
            dataset=row.dataset,
            shape=row.shape,
            key=row.key,
            lenient=row.lenient,
        ).save(out)
    except mase.MaseError as e:
        return str(e)
    finally:
        os.chdir(before)
    return None


WAYS = {"convert": by_convert, "transform": by_transform, "python": by_python}


def contents(folder: pathlib.Path) -> typing.Dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in SAVED if (folder / name).exists()}


@pytest.mark.skipif(not CH, reason="needs the program ch")
@pytest.mark.parametrize("row", ROWS, ids=Row.name)
def test_is_opened_alike(row: Row, place: pathlib.Path, tmp_path: pathlib.Path) -> None:
    opened: typing.Dict[str, typing.Dict[str, bytes]] = {}
    for way in row.ways.split():
        sentence = WAYS[way](row, place / row.cwd, tmp_path / way)
        if row.refused:
            assert sentence is not None, f"{way} opens it"
            assert re.search(row.refused, sentence), f"{way}: {sentence}"
        else:
            assert sentence is None, f"{way}: {sentence}"
            opened[way] = contents(tmp_path / way)
    for way, files in opened.items():
        first = next(iter(opened.values()))
        assert files.keys() == first.keys(), way
        for name, data in files.items():
            assert data == first[name], f"{way}: {name}"


@pytest.mark.skipif(not CH, reason="needs the program ch")
@pytest.mark.parametrize(
    ("word", "weights", "dataset"),
    [
        ("toy", BEST, "toy_tiny"),
        ("toy", "mase_output/qat", "toy_tiny"),
        ("mase_output/run", None, "toy_tiny"),
        ("toys", "moved", "toy_tiny"),
        ("net.py:Net(width=3)", "mase_output/own", "csv:wide.csv"),
        ("mase_output/own", None, "csv:wide.csv"),
    ],
)
def test_measures_alike(word: str, weights: typing.Optional[str], dataset: str, place: pathlib.Path) -> None:
    load = ("--load", weights) if weights else ()
    run = ch("test", word, dataset, *load, "--json", "--project", "measured", cwd=place)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    before = pathlib.Path.cwd()
    os.chdir(place)
    try:
        graph = mase.open(word, weights=weights, dataset=dataset)
        data = mase.Data(dataset, trained=graph)
        scores = mase.evaluate(graph, data)
    finally:
        os.chdir(before)
    assert data.info["scaling"] == found["dataset"]["scaling"]
    assert data.info["checksum"] == found["dataset"]["sha256"]
    assert scores.loss == found["test_loss_epoch"]
    assert scores.samples == found["samples"]


@pytest.mark.parametrize("path", ["w.npz", "hf", "mase_output/run", "moved"])
def test_weights_are_loaded_as_they_are_opened(path: str, place: pathlib.Path, tmp_path: pathlib.Path) -> None:
    mase.open("toy", weights=place / path).save(tmp_path / "opened")
    graph = mase.open("toy")
    graph.load(place / path)
    graph.save(tmp_path / "loaded")
    assert contents(tmp_path / "loaded") == contents(tmp_path / "opened")


def test_a_saved_network_is_opened(place: pathlib.Path) -> None:
    with pytest.raises(mase.MaseError, match="is a saved network"):
        mase.open("toy").load(place / "toys")
