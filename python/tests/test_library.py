"""The binding itself: what is found, what is declared, what is imported when."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import typing

import pytest

import mase
from mase import _library

ROOT = pathlib.Path(__file__).resolve().parents[2]


def python(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python"), **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_import_brings_neither_numpy_nor_torch() -> None:
    done = python(
        "import mase, sys; graph = mase.open('jsc-tiny'); list(graph.nodes);"
        "print([m for m in ('numpy', 'torch', 'tqdm') if m in sys.modules])"
    )
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("path", ["/nowhere/libmase.so.0", "libm.so.6"])
def test_missing_library_is_an_import_error_that_says_where_it_looked(path: str) -> None:
    done = python("import mase", MASE_LIBRARY=path)
    assert done.returncode == 1
    assert "ImportError" in done.stderr
    assert path in done.stderr and "MASE_LIBRARY" in done.stderr


def header() -> str:
    text = (ROOT / "include" / "mase.h").read_text(encoding="utf-8")
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def test_every_function_takes_what_the_header_says() -> None:
    found = {}
    for name, arguments in re.findall(r"MASE_API[^;(]*?\b(mase_\w+)\(([^;]*?)\)[^;()]*;", header()):
        found[name] = 0 if arguments.strip() == "void" else len(arguments.split(","))
    for line in _library._FUNCTIONS.split("\n"):
        if line:
            name, _result, *words = line.split()
            assert found[name] == len(words), name


STRUCTS = {
    "mase_hooks": "Hooks",
    "mase_own_pass": "OwnPass",
    "mase_arrays": "Arrays",
    "mase_table_rows": "TableRows",
    "mase_open": "Open",
    "mase_weight_info": "Weight",
    "mase_decision_text": "Decision",
    "mase_run_opts": "RunOptions",
    "mase_scores": "Scores",
    "mase_test_opts": "TestOptions",
    "mase_proof": "Proof",
    "mase_epoch": "EpochStruct",
    "mase_training": "Training",
    "mase_text": "Text",
}


@pytest.mark.parametrize("name", STRUCTS)
def test_every_struct_has_the_fields_of_the_header_in_their_order(name: str) -> None:
    (body,) = re.findall(rf"struct {name} {{(.*?)\n}};", header(), re.DOTALL)
    fields: typing.List[str] = []
    for part in re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", body).split(";"):
        for declared in part.split(","):
            names = re.findall(r"(\w+)(?:\[\w+\])?\s*$", declared.strip())
            fields += names
    ours = [field[0] for field in getattr(_library, STRUCTS[name])._fields_]
    assert ours == fields


def test_statuses_are_those_of_the_header() -> None:
    text = (ROOT / "include" / "mase" / "err.h").read_text(encoding="utf-8")
    (body,) = re.findall(r"enum mase_status {(.*?)}", text, re.DOTALL)
    names = re.findall(r"MASE_(\w+)", re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL))
    assert names == "OK EVALUE EPARSE EIO EUNSUPPORTED ELIMIT ENOMEM EBUG".split()


def test_lazy_names_are_those_that_type_checkers_see() -> None:
    text = (ROOT / "python" / "mase" / "__init__.py").read_text(encoding="utf-8")
    seen = set(re.findall(r"^    from \.\w+ import (\w+) as \1$", text, re.MULTILINE))
    assert seen == set(mase._HOME)
    for name in mase._HOME:
        assert getattr(mase, name) is not None


def test_version_is_the_project_s() -> None:
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert f"project(mase VERSION {mase.__version__} " in text


def test_errors_are_python_s_own_too() -> None:
    with pytest.raises(FileNotFoundError) as missing:
        mase.open("jsc-tiny").load("no_such_folder/best.ckpt")
    assert isinstance(missing.value, mase.MaseError)
    with pytest.raises(ValueError, match="jsc-tin"):
        mase.open("jsc-tinyy")


def test_errors_say_the_place() -> None:
    with pytest.raises(mase.MaseParseError) as wrong:
        mase.MaseGraph.from_text("mase-graph 1\nmodule fc = Linear(16, 5\n", "mine.mg")
    error = wrong.value
    assert (error.path, error.status) == ("mine.mg", 2)
    assert error.line is not None and error.col is not None
    assert str(error).startswith(f"mine.mg:{error.line}:{error.col}: ")


def test_log_lines_go_to_logging(caplog: pytest.LogCaptureFixture) -> None:
    import logging

    with caplog.at_level(logging.DEBUG, logger="mase"):
        mase.passes.add_common_metadata_analysis_pass(mase.open("jsc-tiny"))
    assert any("add_common_metadata" in record.getMessage() for record in caplog.records)


FORKS = """
import multiprocessing, os, signal, sys, numpy, mase
torch = sys.modules.get("torch")
x = numpy.random.default_rng(0).standard_normal((4096, 16)).astype(numpy.float32)
data = mase.Data(x, numpy.arange(4096) % 5)
graph = mase.MaseGraph.empty("wide", sample=(16,))
graph.add_module("a", "Linear(16, 512)")
graph.add_module("b", "Linear(512, 5)")
graph.output(graph.call_module("b", (graph.call_module("a", (graph.placeholder("x"),)),)))

def work(number):
    signal.alarm(120)  # a child that hangs ends
    net = graph.copy()
    mase.train(net, data, max_epochs=1, batch_size=2048, threads=2, progress=False)
    return net(x, threads=2).tobytes(), graph(x).tobytes()

want = work(0)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(all(got == want for got in pool.map(work, range(3))), work(1) == want)
"""


def test_a_fork_computes_on() -> None:
    """A pool of processes, or the workers of a loader of data, begun after threads were."""
    done = python(FORKS)
    assert done.stdout == "True True\n", done.stderr
