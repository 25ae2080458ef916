"""Walking: nodes, layers, weights, texts, copies."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import typing
import pathlib

import numpy
import pytest

import mase

TEXT = """graph():
    %x : [num_users=1] = placeholder[target=x]
    %seq_blocks_0 : [num_users=1] = call_module[target=seq_blocks.0](args = (%x,), kwargs = {})
    %seq_blocks_1 : [num_users=1] = call_module[target=seq_blocks.1](args = (%seq_blocks_0,), kwargs = {})
    %seq_blocks_2 : [num_users=1] = call_module[target=seq_blocks.2](args = (%seq_blocks_1,), kwargs = {})
    %seq_blocks_3 : [num_users=1] = call_module[target=seq_blocks.3](args = (%seq_blocks_2,), kwargs = {})
    return seq_blocks_3"""


def test_text_is_torch_fx_s(graph: mase.MaseGraph) -> None:
    assert str(graph.fx_graph) == TEXT


def test_nodes_have_what_torch_fx_s_have(graph: mase.MaseGraph) -> None:
    nodes = list(graph.nodes)
    assert [node.name for node in nodes] == [
        "x", "seq_blocks_0", "seq_blocks_1", "seq_blocks_2", "seq_blocks_3", "output"
    ]
    linear = graph.node("seq_blocks_2")
    assert (linear.op, linear.target) == ("call_module", "seq_blocks.2")
    assert linear.args == (graph.node("seq_blocks_1"),)
    assert linear.kwargs == {}
    assert list(linear.users) == [graph.node("seq_blocks_3")]
    assert linear.all_input_nodes == [graph.node("seq_blocks_1")]
    assert linear.next is graph.node("seq_blocks_3") and linear.prev is graph.node("seq_blocks_1")
    assert nodes[0].prev is None and nodes[-1].next is None
    assert repr(linear) == "seq_blocks_2"
    assert graph.nodes[3] is linear and len(graph.nodes) == 6
    assert linear.format_node() == TEXT.split("\n")[4].strip()


FUNCTIONS = """
import torch
import torch.nn as nn
import torch.nn.functional as F

class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.fc = nn.Linear(16, width)

    def forward(self, x: torch.Tensor):
        y = F.relu(self.fc(torch.flatten(x, start_dim=1)))
        y = y[:, 1:5] + 2
        return y.view(y.size(0), -1).to(torch.float32)
"""


def test_arguments_are_values_of_python_s(tmp_path: pathlib.Path) -> None:
    (tmp_path / "net.py").write_text(FUNCTIONS)
    graph = mase.trace(f"{tmp_path}/net.py:Net(width=6)", shape=(16,))
    node = graph.node
    assert node("flatten").kwargs == {"start_dim": 1}
    assert node("flatten").target == "torch.flatten"
    assert node("flatten").target.__name__ == "flatten"  # type: ignore[attr-defined]
    assert node("relu").kwargs == {"inplace": False}
    assert node("getitem").args == (node("relu"), (slice(None), slice(1, 5)))
    assert node("add").args == (node("getitem"), 2)
    assert node("view").args == (node("add"), node("size"), -1)
    assert str(node("to").args[1]) == "torch.float32"
    assert node("x").type == "torch.Tensor" and node("relu").type is None
    assert graph.modules["fc"].out_features == 6


def test_layers_have_classes_settings_and_arrays(graph: mase.MaseGraph) -> None:
    layer = graph.modules["seq_blocks.2"]
    assert type(layer).__name__ == "Linear"
    assert repr(layer) == "Linear(in_features=16, out_features=5, bias=True)"
    assert (layer.in_features, layer.out_features, layer.bias.shape) == (16, 5, (5,))
    assert layer.weight.shape == (5, 16) and layer.weight.dtype == numpy.float32
    assert [name for name, _ in layer.named_parameters()] == ["weight", "bias"]
    norm = graph.modules["seq_blocks.0"]
    assert [name for name, _ in norm.named_buffers()] == [
        "running_mean", "running_var", "num_batches_tracked"
    ]
    assert graph.node("seq_blocks_2").module is layer
    assert graph.modules["seq_blocks.1"].weight is None
    with pytest.raises(AttributeError, match="no_such"):
        layer.no_such
    assert repr(graph.model.seq_blocks[2]) == repr(layer)


def test_state_dict_is_the_network_s_own_memory(graph: mase.MaseGraph) -> None:
    state = graph.state_dict()
    assert list(state) == [
        "seq_blocks.0.weight", "seq_blocks.0.bias", "seq_blocks.0.running_mean",
        "seq_blocks.0.running_var", "seq_blocks.0.num_batches_tracked",
        "seq_blocks.2.weight", "seq_blocks.2.bias",
    ]
    assert graph.parameter_count == sum(p.size for p in graph.parameters()) == 117
    assert state["seq_blocks.0.num_batches_tracked"].dtype == numpy.int64
    weight = graph.modules["seq_blocks.2"].weight
    assert numpy.shares_memory(weight, state["seq_blocks.2.weight"])
    weight[...] = 0
    state["seq_blocks.2.bias"][...] = [1, -2, 3, 4, 5]
    assert graph(numpy.ones((1, 16), numpy.float32)).tolist() == [[1, 0, 3, 4, 5]]


def test_weights_count_from_the_next_call_on(graph: mase.MaseGraph) -> None:
    """A runner has a copy of the weights: each way of changing them must be noticed."""
    x = numpy.ones((3, 16), numpy.float32)
    weight = graph.modules["seq_blocks.2"].weight
    for way in range(3):
        bias = numpy.full(5, 7 + way, numpy.float32)
        if way == 0:  # an array from before the first run
            weight[...] = 0
            graph.state_dict()["seq_blocks.2.bias"][...] = bias
        elif way == 1:  # one from after it that is gone at once
            graph.state_dict()["seq_blocks.2.bias"][...] = bias
        else:
            graph.load_state_dict({"seq_blocks.2.bias": bias}, strict=False)
        assert graph(x).tolist() == [[7 + way] * 5] * 3
    runner = graph._runners
    assert graph(x) is not None and graph._runners is runner and len(runner) == 1


def test_each_array_over_a_weight_counts(graph: mase.MaseGraph) -> None:
    """Another array over the same weight may die before the one that is written to."""
    x = numpy.ones((1, 16), numpy.float32)
    state, again = graph.state_dict(), graph.modules["seq_blocks.2"].weight
    state["seq_blocks.2.weight"][...] = 0
    bias = state["seq_blocks.2.bias"]
    assert graph.modules["seq_blocks.2"].bias is not None and graph.modules["seq_blocks.2"].weight is not None
    del again
    gc.collect()
    for number in range(3, 6):
        bias[...] = number
        assert graph(x).tolist() == [[number] * 5]
    part = graph.state_dict()["seq_blocks.2.bias"][1:2]
    gc.collect()
    for number in range(6, 9):
        part[...] = number
        assert graph(x).tolist() == [[5, number, 5, 5, 5]]


def test_arrays_that_a_pass_was_lent_count_behind_it(graph: mase.MaseGraph) -> None:
    kept = []

    @mase.analysis_pass("test_keeps_a_bias")
    def keeps(inner: mase.MaseGraph, _args: typing.Any) -> None:
        kept.append(inner.modules["seq_blocks.2"].bias)

    @mase.transform_pass("test_keeps_another")
    def changes(inner: mase.MaseGraph, _args: typing.Any) -> None:
        kept.append(inner.modules["seq_blocks.2"].bias)

    x = numpy.ones((1, 16), numpy.float32)
    graph.modules["seq_blocks.2"].weight[...] = 0
    for number, run in enumerate((keeps, changes), 3):
        run(graph)
        graph(x)
        kept[-1][...] = number
        assert graph(x).tolist() == [[number] * 5]


def test_a_runner_is_kept_while_nothing_changes(graph: mase.MaseGraph) -> None:
    x = numpy.ones((3, 16), numpy.float32)
    graph(x)
    (first,) = graph._runners.values()
    graph.state_dict()
    graph(x)
    assert list(graph._runners.values()) == [first]


def test_arrays_keep_the_network_alive() -> None:
    bias = mase.open("jsc-tiny").state_dict()["seq_blocks.2.bias"]
    want = bias.copy()
    gc.collect()
    for _ in range(20):
        mase.open("jsc-toy")
    assert (bias == want).all()


def test_load_state_dict_checks_names_and_shapes_first(graph: mase.MaseGraph) -> None:
    state = {name: array + 1 for name, array in graph.state_dict().items()}
    before = {name: array.copy() for name, array in graph.state_dict().items()}
    with pytest.raises(ValueError, match="it lacks seq_blocks.0.weight"):
        graph.load_state_dict({"fc.weight": state["seq_blocks.2.weight"]})
    with pytest.raises(ValueError, match=r"seq_blocks.2.bias is \[5\], not \[4\]"):
        graph.load_state_dict({**state, "seq_blocks.2.bias": numpy.zeros(4)})
    for name, array in graph.state_dict().items():
        assert (array == before[name]).all()
    graph.load_state_dict(state)
    assert (graph.state_dict()["seq_blocks.2.weight"] == state["seq_blocks.2.weight"]).all()


def test_copies_have_weights_of_their_own(graph: mase.MaseGraph) -> None:
    for other in (copy.deepcopy(graph), graph.copy(), mase.MaseGraph(model=graph)):
        other.state_dict()["seq_blocks.2.bias"][...] = 9
        assert str(other.fx_graph) == TEXT
    assert (graph.state_dict()["seq_blocks.2.bias"] != 9).all()


def test_pickles_keep_weights_formats_and_metadata(graph: mase.MaseGraph) -> None:
    mase.passes.add_common_metadata_analysis_pass(graph, None)
    mase.quantize(graph, {"seq_blocks_2": {
        "name": "integer", "data_in_width": 8, "data_in_frac_width": 4, "weight_width": 8,
        "weight_frac_width": 4, "bias_width": 8, "bias_frac_width": 4}})
    other = pickle.loads(pickle.dumps(graph))
    x = numpy.random.default_rng(0).standard_normal((5, 16)).astype(numpy.float32)
    assert (other(x) == graph(x)).all()
    assert other.node("seq_blocks_2").formats == graph.node("seq_blocks_2").formats
    assert other.text("mg") == graph.text("mg")


def test_text_reads_back(graph: mase.MaseGraph) -> None:
    other = mase.MaseGraph.from_text(graph.text("mg"), seed=0)
    assert other.text("mg") == graph.text("mg")
    assert (other.state_dict()["seq_blocks.2.weight"] == graph.state_dict()["seq_blocks.2.weight"]).all()


def test_files(graph: mase.MaseGraph, tmp_path: pathlib.Path) -> None:
    graph.draw(tmp_path / "g.svg")
    assert "<svg" in (tmp_path / "g.svg").read_text()
    graph.save(tmp_path / "saved")
    graph.write(tmp_path / "net.onnx")
    graph.write(tmp_path / "w.safetensors")
    x = numpy.ones((2, 16), numpy.float32)
    graph.state_dict()["seq_blocks.2.bias"][...] = 3
    assert (mase.open(tmp_path / "saved")(x) != graph(x)).any()
    graph.load(tmp_path / "w.safetensors")
    assert (mase.open(tmp_path / "saved")(x) == graph(x)).all()
    assert numpy.allclose(mase.open(tmp_path / "net.onnx")(x), graph(x), atol=1e-6)


def test_repr_and_tables(graph: mase.MaseGraph) -> None:
    assert repr(graph) == "MaseGraph(jsc-tiny: 6 nodes, 4 layers, 117 parameters)"
    assert "<svg" in graph._repr_svg_()
    table = graph.table()
    assert table["name"][3] == "seq_blocks_2"
    assert "<td" in table._repr_html_() and "| seq_blocks_2 |" in table._repr_markdown_()


def test_memory_does_not_grow() -> None:
    """Opening, running and dropping networks gives back what it takes."""
    code = """
import numpy, resource, mase
x = numpy.ones((64, 16), numpy.float32)
def once():
    graph = mase.open("jsc-toy")
    graph(x); graph.state_dict(); list(graph.nodes); mase.Data(x, numpy.arange(64) % 5); graph.copy()
for _ in range(30): once()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(300): once()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**__import__("os").environ, "PYTHONPATH": mase.__path__[0] + "/.."})
    assert int(done.stdout) < 3000, done.stdout


def test_threads_use_networks_of_their_own() -> None:
    import threading

    results: typing.List[float] = []

    def work(seed: int) -> None:
        graph = mase.open("jsc-tiny", seed=seed)
        x = numpy.random.default_rng(7).standard_normal((100, 16)).astype(numpy.float32)
        first = graph(x)
        for _ in range(20):
            assert (graph(x) == first).all()
            list(graph.copy().nodes)
        results.append(float(first.sum()))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2, 1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and len(set(results)) == 2


def test_c_that_is_written_compiles(graph: mase.MaseGraph, tmp_path: pathlib.Path) -> None:
    """The source includes the header that stands beside it."""
    import shutil

    graph.write(tmp_path / "foo.c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["foo.c", "foo.h"]
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    subprocess.run([compiler, "-std=c99", "-c", "foo.c", "-o", "foo.o"], cwd=tmp_path, check=True)
