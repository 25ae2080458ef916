"""Editing in the words of torch.fx, building from nothing, and names."""

from __future__ import annotations

import operator
import typing

import numpy
import pytest

import mase
from mase._names import function_path, node_name, unique_name
from mase._values import Word, write_value


def test_insert_and_replace(graph: mase.MaseGraph) -> None:
    linear = graph.node("seq_blocks_2")
    with graph.inserting_after(linear):
        twice = graph.call_function(operator.mul, (linear, 2))
    changed = linear.replace_all_uses_with(twice)
    twice.args = (linear, 3)
    graph.lint()
    assert twice.name == "mul" and twice.prev is linear
    assert graph.node("seq_blocks_3").args == (twice,)
    assert graph.node("seq_blocks_3") in changed
    x = numpy.ones((1, 16), numpy.float32)
    plain = mase.open("jsc-tiny")
    assert numpy.allclose(graph(x), 3 * plain(x))


def test_nodes_stay_the_same_objects(graph: mase.MaseGraph) -> None:
    nodes = list(graph.nodes)
    nodes[3].meta["mine"] = 42
    with graph.inserting_before(nodes[3]):
        added = graph.call_function("torch.relu", (nodes[2],))
    assert [n for n in graph.nodes if n is not added] == nodes
    assert nodes[3].meta["mine"] == 42 and nodes[3].prev is added


def test_erase(graph: mase.MaseGraph) -> None:
    last = graph.node("seq_blocks_3")
    with pytest.raises(ValueError, match="output"):
        graph.erase_node(last)
    last.replace_all_uses_with(graph.node("seq_blocks_2"))
    graph.erase_node(last)
    assert "seq_blocks.3" not in graph.modules
    assert [node.name for node in graph.nodes][-2:] == ["seq_blocks_2", "output"]
    with pytest.raises(RuntimeError, match="seq_blocks_3 was erased"):
        last.users


def test_erasing_while_walking(graph: mase.MaseGraph) -> None:
    for node in graph.nodes:
        if node.op == "call_module" and type(node.module).__name__ == "ReLU":
            node.replace_all_uses_with(node.all_input_nodes[0])
            graph.erase_node(node)
    graph.lint()
    assert [node.name for node in graph.nodes] == ["x", "seq_blocks_0", "seq_blocks_2", "output"]


def test_dead_code(graph: mase.MaseGraph) -> None:
    with graph.inserting_before(graph.node("output")):
        dead = graph.call_function("torch.relu", (graph.node("seq_blocks_3"),))
        graph.call_function("torch.neg", (dead,))
    assert graph.eliminate_dead_code() and not graph.eliminate_dead_code()
    assert len(graph.nodes) == 6


def test_built_from_nothing(small: mase.MaseGraph) -> None:
    small.lint()
    assert [n.name for n in small.nodes] == ["x", "fc1", "act", "fc2", "output"]
    state = small.state_dict()
    x = numpy.array([[0.5, -1.5], [2, 3]], numpy.float32)
    hidden = numpy.maximum(x @ state["fc1.weight"].T + state["fc1.bias"], 0)
    want = hidden @ state["fc2.weight"].T + state["fc2.bias"]
    assert numpy.allclose(small(x), want, atol=1e-6)


def test_inputs_by_name() -> None:
    graph = mase.MaseGraph.empty("two")
    a, b = graph.placeholder("a"), graph.placeholder("b")
    graph.output(graph.call_function("operator.sub", (a, b)))
    graph.sample = (3,)
    one, two = numpy.full((2, 3), 5, numpy.float32), numpy.full((2, 3), 3, numpy.float32)
    assert (graph(b=two, a=one) == 2).all() and (graph(one, two) == 2).all()
    with pytest.raises(TypeError, match="no input 'c'"):
        graph(one, c=two)


def test_wrong_edits_change_nothing(graph: mase.MaseGraph) -> None:
    before = graph.text("mg")
    with pytest.raises(mase.MaseError):
        graph.call_module("no.such.layer", (graph.node("x"),))
    with pytest.raises(mase.MaseError):
        graph.add_module("seq_blocks.2", "Linear(1, 2)")
    with pytest.raises(mase.MaseError):
        graph.add_module("fc", "Linear(1")
    with pytest.raises(TypeError, match="object"):
        graph.call_function("torch.relu", (object(),))
    with pytest.raises(ValueError, match="another graph"):
        graph.erase_node(mase.open("jsc-tiny").node("x"))
    assert graph.text("mg") == before


@pytest.mark.parametrize(
    "targets, names",
    [
        (["seq_blocks.0", "seq_blocks.1"], ["seq_blocks_0", "seq_blocks_1"]),
        (["add", "add", "add"], ["add", "add_1", "add_2"]),
        (["layer1.0.relu", "layer1.0.relu"], ["layer1_0_relu", "layer1_0_relu_1"]),
        (["input", "max", "sum", "getattr"], ["input_1", "max_1", "sum_1", "getattr_1"]),
        (["myNet.convA", "__add__", "0.weight"], ["my_net_conv_a", "add", "_0_weight"]),
    ],
)
def test_names_are_torch_fx_s(targets: typing.List[str], names: typing.List[str]) -> None:
    taken: typing.List[str] = []
    for target in targets:
        taken.append(node_name(target, taken))
    assert taken == names


def test_functions_by_path() -> None:
    assert function_path(operator.add) == "operator.add"
    assert function_path(getattr) == "builtins.getattr"
    assert function_path("torch.relu") == "torch.relu"
    assert unique_name("a_01", ["a_01"]) == "a_2"


def test_values_in_the_text_form(graph: mase.MaseGraph) -> None:
    value = (graph.node("x"), [1, -2.5, float("inf")], {"dim": None}, slice(None, 2), (True,),
             "it's", Word("torch.float32"), numpy.int64(3))
    assert write_value(value, graph) == (
        "(%x, [1, -2.5, inf], {dim: None}, slice(None, 2, None), (True,), 'it\\'s', "
        "atom('torch.float32'), 3)"
    )


def test_nodes_of_another_graph_are_no_arguments(graph: mase.MaseGraph) -> None:
    """It may have a node of the same name, which is another one."""
    other = graph.copy()
    text = other.text("mg")
    with pytest.raises(ValueError, match="of another graph"):
        other.call_function("torch.relu", (graph.node("x"),))
    with pytest.raises(ValueError, match="of another graph"):
        other.node("seq_blocks_2").args = (graph.node("seq_blocks_1"),)
    with pytest.raises(ValueError, match="of another graph"):
        other.call_function("torch.cat", ([other.node("x"), graph.node("x")],), {"dim": 1})
    assert other.text("mg") == text
