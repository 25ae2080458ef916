"""Copies and pickles: what can be copied is, and all else says so; nothing is freed twice."""

from __future__ import annotations

import copy
import gc
import pickle
import typing

import numpy
import pytest

import mase
from conftest import LINEAR_8_4
from mase import compat

Ways = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "old pickle": lambda thing: pickle.loads(pickle.dumps(thing, 2)),
}


def things() -> typing.Dict[str, typing.Any]:
    """One of each class."""
    graph = mase.open("jsc-tiny")
    mase.quantize(graph, {"seq_blocks_2": LINEAR_8_4})
    x = numpy.random.default_rng(0).standard_normal((40, 16)).astype(numpy.float32)
    data = mase.Data(x, numpy.arange(40) % 5)
    module = compat.MaseDataModule("toy_tiny", batch_size=4)
    info = mase.run_pass(graph, "report_graph")[1]
    return {
        "graph": graph,
        "runner": mase.Runner(graph),
        "data": data,
        "split": data.train,
        "node": graph.node("seq_blocks_2"),
        "nodes": graph.nodes,
        "module": graph.modules["seq_blocks.2"],
        "modules": graph.modules,
        "container": graph.model.seq_blocks,
        "model": graph.model,
        "fx": graph.fx_graph,
        "metadata": graph.node("seq_blocks_2").meta["mase"],
        "section": graph.node("seq_blocks_2").meta["mase"]["common"],
        "kwargs": graph.node("seq_blocks_2").kwargs,
        "formats": graph.node("seq_blocks_2").formats,
        "meta": graph.node("seq_blocks_2").meta,
        "quantizer": graph.modules["seq_blocks.2"].w_quantizer,
        "weight": graph.modules["seq_blocks.2"].weight,
        "info": info,
        "evaluation": mase.evaluate(graph, data),
        "verification": mase.verify(graph, data),
        "profile": mase.profile(graph, data, by="type", target_weight_nodes=["linear"], weight_statistics={"range_min_max": {"device": "cpu"}}),
        "training": mase.train(graph.copy(), data, max_epochs=1, progress=False),
        "table": graph.table(),
        "loader": module.train_dataloader(),
        "data module": module,
        "input generator": compat.InputGenerator(module),
        "dataset info": compat.get_dataset_info("jsc"),
        "model info": compat.get_model_info("jsc-tiny"),
        "pass": mase.passes.quantize_transform_pass,
        "handle": graph._handle,
        "error": raised(lambda: mase.MaseGraph.from_text("mase-graph 1\nmodule a = Linear(2\n", "a.mg")),
        "missing file": raised(lambda: graph.load("/nowhere/best.ckpt")),
        "no such model": raised(lambda: mase.open("jsc-tinyy")),
    }


def raised(call: typing.Callable[[], object]) -> BaseException:
    try:
        call()
    except mase.MaseError as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("way", Ways)
def test_each_class_is_copied_or_says_that_it_is_not(way: str) -> None:
    refused = []
    for name, thing in things().items():
        try:
            other = Ways[way](thing)
        except TypeError as error:
            assert str(error), name
            refused.append(name)
            continue
        assert type(other).__name__ == type(thing).__name__ or isinstance(thing, dict), name
        if not isinstance(thing, (numpy.ndarray, mase.MaseGraph)):
            assert repr(other) == repr(thing) or "object at" in repr(thing), name
        del other
        gc.collect()
    always = {"node", "runner", "handle", "metadata", "meta", "nodes"}
    if way == "copy":
        assert set(refused) <= always
    elif way == "deepcopy":
        assert set(refused) <= always | {"modules", "input generator"}
    else:
        assert set(refused) <= always | {"data", "split", "data module", "loader", "input generator"}
    assert {"node", "handle"} <= set(refused)


@pytest.mark.parametrize("way", Ways)
def test_what_was_copied_works(way: str) -> None:
    found = things()
    x = numpy.ones((2, 16), numpy.float32)
    want = found["graph"](x)
    assert (Ways[way](found["graph"])(x) == want).all()
    layer = Ways[way](found["module"])
    assert (layer.weight == found["module"].weight).all() and type(layer) is type(found["module"])
    assert (Ways[way](found["model"])(x) == want).all()
    error = Ways[way](found["error"])
    assert (error.line, error.path, error.status) == (3, "a.mg", 2) and str(error) == str(found["error"])
    assert isinstance(Ways[way](found["missing file"]), FileNotFoundError)
    assert Ways[way](found["missing file"]).filename == "/nowhere/best.ckpt"
    assert str(Ways[way](found["evaluation"])) == str(found["evaluation"])
    assert Ways[way](found["info"]).text == found["info"].text
    if way in ("copy", "deepcopy"):
        assert (Ways[way](found["data"]).train.x == found["data"].train.x).all()


def test_runners_are_not_freed_twice() -> None:
    runner = mase.Runner(mase.open("jsc-tiny"))
    x = numpy.ones((2, 16), numpy.float32)
    want = runner(x)
    for way in Ways.values():
        try:
            other = way(runner)
            assert (other(x) == want).all()
            del other
        except TypeError as error:
            assert "Runner" in str(error)
        gc.collect()
        assert (runner(x) == want).all()
