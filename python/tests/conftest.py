"""Tests run against the package beside them, and the library of the build folder (MASE_LIBRARY)."""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
os.environ.setdefault("XDG_CACHE_HOME", str(ROOT / "build" / "python-cache"))

import mase  # noqa: E402

LINEAR_8_4 = {
    "name": "integer",
    "data_in_width": 8,
    "data_in_frac_width": 4,
    "weight_width": 8,
    "weight_frac_width": 4,
    "bias_width": 8,
    "bias_frac_width": 4,
}
BY_TYPE = {
    "by": "type",
    "default": {"config": {"name": None}},
    "linear": {"config": LINEAR_8_4},
}


@pytest.fixture
def graph() -> mase.MaseGraph:
    return mase.open("jsc-tiny")


@pytest.fixture(scope="session")
def xor() -> mase.Data:
    """Points in the plane; the class is whether the signs differ. 320 train, 80 validate, 100 test."""
    import numpy

    x = numpy.random.default_rng(1).uniform(-1, 1, (500, 2)).astype(numpy.float32)
    y = (x[:, 0] * x[:, 1] < 0).astype(numpy.int64)
    return mase.Data(x, y, name="xor", train=320, validation=80)


@pytest.fixture
def small() -> mase.MaseGraph:
    """A network for xor."""
    graph = mase.MaseGraph.empty("small", sample=(2,))
    x = graph.placeholder("x")
    graph.add_module("fc1", "Linear(2, 16)")
    graph.add_module("act", "ReLU()")
    graph.add_module("fc2", "Linear(16, 2)")
    h = graph.call_module("act", (graph.call_module("fc1", (x,)),))
    graph.output(graph.call_module("fc2", (h,)))
    return graph
