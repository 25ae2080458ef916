"""What is given from Python arrives as it was, or is refused: no argument becomes another on its way."""

from __future__ import annotations

import typing

import numpy
import pytest

import mase
from conftest import LINEAR_8_4

Call = typing.Callable[[], object]


def refused(call: Call, *, match: str = "") -> None:
    with pytest.raises((TypeError, ValueError), match=match):
        call()


# ---- numbers of arguments ----

TOO_LARGE = [2**70, 2**64 + 1, -(2**70), 2**63]


@pytest.mark.parametrize("number", [*TOO_LARGE, -1, 1.5, "1", None, [1]])
def test_numbers_are_not_cut_to_size(
    number: typing.Any, small: mase.MaseGraph, xor: mase.Data, graph: mase.MaseGraph
) -> None:
    x, y = numpy.zeros((20, 2)), [0, 1] * 10
    refused(lambda: mase.train(small, xor, max_epochs=number, progress=False))
    refused(lambda: mase.train(small, xor, batch_size=number, max_epochs=1, progress=False))
    refused(lambda: mase.train(small, xor, threads=number, max_epochs=1, progress=False))
    refused(lambda: mase.train(small, xor, seed=number, max_epochs=1, progress=False))
    refused(lambda: mase.evaluate(small, xor, limit=number))
    refused(lambda: mase.evaluate(small, xor, threads=number))
    refused(lambda: mase.evaluate(small, xor, batch_size=number))
    refused(lambda: mase.verify(small, xor, limit=number))
    refused(lambda: mase.Runner(small, threads=number))
    refused(lambda: mase.Runner(small, samples=number))
    refused(lambda: mase.Data(x, y, classes=number))
    refused(lambda: mase.Data(x, y, train=number))
    refused(lambda: mase.Data(x, y, train=10, validation=number))
    refused(lambda: xor.read("train", number, 1))
    refused(lambda: mase.open("jsc-tiny", shape=(number,)))
    refused(lambda: setattr(graph, "sample", (number,)))
    refused(lambda: mase.MaseGraph.empty("none", sample=(number,)))
    if number is not None:  # all that are left, and the usual seed
        refused(lambda: xor.read("train", 0, number))
    if number != 2**63:  # a seed has 64 bits
        if number is not None:  # then weights stay away
            refused(lambda: mase.MaseGraph.from_text(small.text("mg"), seed=number))
        refused(lambda: mase.Runner(small, seed=number))
        refused(lambda: mase.open("jsc-tiny", seed=number))
        refused(lambda: small.start(number))
    if number != 1.5:
        refused(lambda: mase.open("jsc-tiny", seconds=number))


def test_shapes_are_numbers() -> None:
    refused(lambda: mase.open("jsc-tiny", shape="16"))
    refused(lambda: mase.open("jsc-tiny", shape=(16.5,)))
    assert mase.open("jsc-tiny", shape=numpy.array([16])).sample == (16,)


@pytest.mark.parametrize("yes", ["no", "", None, 2, 0.5, [], [0]])
def test_truth_is_said(yes: typing.Any, small: mase.MaseGraph, xor: mase.Data) -> None:
    refused(lambda: small(xor.test.x, exact=yes))
    refused(lambda: mase.evaluate(small, xor, exact=yes))
    refused(lambda: mase.open("jsc-tiny", lenient=yes))
    refused(lambda: mase.open("jsc-tiny", no_weights=yes))
    refused(lambda: mase.train(small, xor, keep_last=yes, max_epochs=1, progress=False))
    assert (mase.Runner(small, exact=numpy.bool_(False))(xor.test.x) == small(xor.test.x)).all()


def test_nothing_is_what_was_asked_for(small: mase.MaseGraph, xor: mase.Data) -> None:
    """0 is a number like others: no default stands in for it."""
    before = {name: array.copy() for name, array in small.state_dict().items()}
    frozen = mase.train(small, xor, learning_rate=0.0, max_epochs=1, keep_last=True, progress=False)
    assert frozen.last.learning_rate == 0
    assert all((array == before[name]).all() for name, array in small.state_dict().items())
    none = mase.train(small, xor, max_epochs=0, progress=False)
    assert len(none) == 0 and none.stop == "nothing to do"
    assert all((array == before[name]).all() for name, array in small.state_dict().items())
    refused(lambda: mase.train(small, xor, batch_size=0, progress=False), match="batch_size")
    for rate in (-1.0, float("nan"), float("inf"), "1e-3", 1e-3j, [1e-3]):
        refused(lambda rate=rate: mase.train(small, xor, learning_rate=rate, progress=False))  # type: ignore[misc]


def test_options_are_those_that_were_given(small: mase.MaseGraph, xor: mase.Data) -> None:
    slow = mase.train(small.copy(), xor, learning_rate=numpy.float32(0.25), max_epochs=numpy.int64(1), progress=False)
    assert slow.last.learning_rate == 0.25 and len(slow) == 1
    refused(lambda: mase.train(small, xor, patience=2**70, max_epochs=1, progress=False))
    refused(lambda: mase.train(small, xor, patience=0.5, max_epochs=1, progress=False))
    refused(lambda: mase.train(small, xor, momentum=float("nan"), max_epochs=1, progress=False))
    refused(lambda: mase.quantize(small, {"fc1": {**LINEAR_8_4, "weight_width": 2**64 + 8}}))
    refused(lambda: mase.quantize(small, {"fc1": {**LINEAR_8_4, "weight_width": 8.5}}))


@pytest.mark.parametrize("text", ["jsc-tiny\0", "\0", 5, 1.5, ["jsc-tiny"], object()])
def test_texts_are_whole(text: typing.Any, graph: mase.MaseGraph) -> None:
    """A zero would end a text on its way to C."""
    data = [[0.0, 1.0]] * 10, [0, 1] * 5
    refused(lambda: graph.text(text))
    refused(lambda: mase.open(text))
    refused(lambda: mase.open("jsc-tiny", dataset=text))
    refused(lambda: mase.open("jsc-tiny", weights=text))
    refused(lambda: graph.save(text))
    refused(lambda: graph.write(text))
    refused(lambda: graph.load(text))
    refused(lambda: mase.Data(*data, name=text))
    refused(lambda: mase.Data(*data, class_names=["a", text]))
    refused(lambda: mase.Data(*data).count(text))
    refused(lambda: mase.listing(text))
    refused(lambda: mase.run_pass(graph, text))
    refused(lambda: mase.round([1.0], {"name": "integer", "width": 8, "frac_width": 4}, role=text))
    refused(lambda: mase.run_pass(graph, "quantize", {"by": text}))
    if isinstance(text, str):
        refused(lambda: mase.round([1.0], f"name = 'integer'\nwidth = 8\nfrac_width = 4\n{text}width = 2"))
        refused(lambda: mase.transform(graph, f"[passes.report_graph]\n{text}[passes.no_such]\n"))
        refused(lambda: mase.MaseGraph.from_text(graph.text("mg") + text + "module"))


# ---- arrays ----

WRONG = {
    "complex": numpy.ones((4, 16), complex),
    "objects": numpy.ones((4, 16), object),
    "texts": numpy.full((4, 16), "1"),
    "bytes": numpy.full((4, 16), b"1"),
    "structures": numpy.zeros((4, 16), [("a", "f4")]),
    "dates": numpy.zeros((4, 16), "datetime64[s]"),
    "times": numpy.zeros((4, 16), "timedelta64[s]"),
    "large": numpy.full((4, 16), 1e300),
    "negative": numpy.full((4, 16), -1e39),
    "fractions of integers": numpy.full((4, 16), 2**24 + 1),
    "integers of 64 bits": numpy.full((4, 16), 2**53 + 1),
    "unsigned": numpy.full((4, 16), 2**64 - 1, numpy.uint64),
    "masked": numpy.ma.masked_array(numpy.ones((4, 16)), numpy.eye(4, 16)),
    "masked rows": [numpy.ma.masked_array(numpy.ones(16), numpy.eye(1, 16)[0])] * 4,
    "ragged": [[1.0] * 16, [1.0] * 15],
    "huge": [[2**70] * 16],
    "nothing": None,
    "a set": {1.0},
    "a dict": {"x": [1.0] * 16},
    "a generator": (i for i in range(16)),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_would_become_other_numbers_is_refused(kind: str, graph: mase.MaseGraph) -> None:
    x = WRONG[kind]
    refused(lambda: graph(x))
    refused(lambda: mase.predict(graph, x))
    refused(lambda: mase.round(x, {"name": "integer", "width": 8, "frac_width": 4}))
    refused(lambda: mase.Data(x, [0, 1, 0, 1], train=4))
    if isinstance(x, numpy.ndarray):
        name = "seq_blocks.2.weight"
        wide = numpy.repeat(x, 2, axis=0)[:5]
        refused(lambda: graph.load_state_dict({name: wide}, strict=False))


def layouts(x: typing.Any) -> typing.Dict[str, typing.Any]:
    """The same numbers, in all sorts of ways."""
    twice = numpy.repeat(numpy.repeat(x, 2, axis=0), 3, axis=1)
    found = {
        "big end first": x.astype(">f4"),
        "little": x.astype("<f8"),
        "columns": numpy.asfortranarray(x),
        "steps": twice[::2, ::3],
        "backwards": x[::-1, ::-1].copy()[::-1, ::-1],
        "nested": x.tolist(),
        "rows": list(x),
        "numbers": [[numpy.float32(v) for v in row] for row in x],
        "matrix": numpy.matrix(x),
        "unmasked": numpy.ma.masked_array(x),
        "long": x.astype(numpy.longdouble),
        "small": x.astype(numpy.int8),
        "truth": x.astype(">i8"),
        "read-only": numpy.broadcast_to(x[:1], x.shape) if (x == x[:1]).all() else x.copy(),
    }
    odd = numpy.zeros(x.nbytes + 1, numpy.uint8)[1:].view(numpy.float32).reshape(x.shape)
    odd[...] = x
    found["odd address"] = odd
    return found


def test_layouts_do_not_matter(graph: mase.MaseGraph) -> None:
    x = numpy.random.default_rng(0).integers(-5, 6, (6, 16)).astype(numpy.float32)
    y = numpy.array([0, 4, 2, 1, 3, 0])
    want = graph(x)
    for kind, given in layouts(x).items():
        assert (graph(given) == want).all(), kind
        assert (mase.Data(given, y, train=6).train.x == x).all(), kind
        rounded = mase.round(given, {"name": "integer", "width": 4, "frac_width": 0})
        assert (rounded == numpy.clip(x, -8, 7)).all(), kind
        copy = graph.copy()
        copy.load_state_dict({"seq_blocks.2.weight": numpy.asarray(given)[:5]}, strict=False)
        assert (copy.modules["seq_blocks.2"].weight == x[:5]).all(), kind
    for dtype in (">i8", "u1", "i2", bool):
        labels = (y > 1).astype(dtype)
        assert (mase.Data(x, labels, train=6).train.y == (y > 1)).all()
        assert (mase.Data(x, labels[::-1].copy()[::-1], train=6).train.y == (y > 1)).all()
    assert (graph(x[:0]) == want[:0]).all()


def test_labels_are_whole_numbers() -> None:
    x = numpy.zeros((6, 2), numpy.float32)
    refused(lambda: mase.Data(x, numpy.ma.masked_array([0, 1] * 3, [0, 0, 1, 0, 0, 0])))
    refused(lambda: mase.Data(x, numpy.array([0, 1, 0, 1, 0, 2**32])))
    refused(lambda: mase.Data(x, [0.0, 1.0] * 3, class_names=["a", "b"]), match="whole numbers")
    refused(lambda: mase.Data(x, [0.0, 1.0] * 3, classes=2), match="whole numbers")
    refused(lambda: mase.Data(x, [0, 1] * 3, classes=3, class_names=["a", "b"]), match="3 classes")
    refused(lambda: mase.Data(x, [0, 1] * 3, class_names=["a", "a"]), match="one before")
    refused(lambda: mase.Data(x, [0.0, float("nan")] * 3, train=6))
    refused(lambda: mase.Data(x, 3))


def test_parts_of_splits_are_those_of_arrays() -> None:
    x = numpy.arange(40, dtype=numpy.float32).reshape(20, 2)
    data = mase.Data(x, numpy.arange(20) % 4, train=20)
    for part in (slice(None, None, -1), slice(15, 3, -4), slice(-3, None), slice(5, 5), slice(2, 19, 5),
                 slice(3, 15, -1), slice(None, 4, -3), slice(100, 200)):
        got, labels = data.train[part]
        assert (got == x[part]).all() and got.shape == x[part].shape, part
        assert (labels == (numpy.arange(20) % 4)[part]).all(), part
    refused(lambda: data.train[3])  # type: ignore[index]
    refused(lambda: list(data.train.batches(-1)))
    refused(lambda: list(data.train.batches(0)))


def test_rounding_into_an_array_of_one_s_own() -> None:
    format = {"name": "integer", "width": 8, "frac_width": 4}
    x = numpy.random.default_rng(0).normal(0, 3, 9).astype(numpy.float32)
    want = mase.round(x, format)
    line = numpy.concatenate([x, numpy.zeros(1, numpy.float32)])
    assert (mase.round(line[:-1], format, out=line[1:]) == want).all()  # they overlap
    fixed = numpy.zeros(9, numpy.float32)
    fixed.flags.writeable = False
    refused(lambda: mase.round(x, format, out=fixed), match="out")
    refused(lambda: mase.round(x, format, out=[0.0] * 9), match="out")
    refused(lambda: mase.round(x, format, out=numpy.zeros(9)), match="out")
    refused(lambda: mase.round(x, format, out=numpy.zeros(18, numpy.float32)[::2]), match="out")
    assert (fixed == 0).all()


def test_weights_are_copied_before_any_is_written(small: mase.MaseGraph) -> None:
    """Of a state dict over the network's own memory, too."""
    graph = mase.MaseGraph.from_text(
        "mase-graph 1\nmodule a = Linear(3, 3)\nmodule b = Linear(3, 3)\n%x = placeholder[target=x]\n"
        "%a = call_module[target=a](args = (%x,))\n%b = call_module[target=b](args = (%a,))\nreturn %b\n",
        seed=1,
    )
    own = graph.state_dict()
    a, b = own["a.weight"].copy(), own["b.weight"].copy()
    graph.load_state_dict({"a.weight": own["b.weight"], "b.weight": own["a.weight"].T.T}, strict=False)
    assert (own["a.weight"] == b).all() and (own["b.weight"] == a).all()


def test_counters_are_whole_numbers(graph: mase.MaseGraph) -> None:
    name = "seq_blocks.0.num_batches_tracked"
    for value in (1.5, float("nan"), 1e30, "3", 2**70):
        refused(lambda value=value: graph.load_state_dict({name: numpy.array(value)}, strict=False))  # type: ignore[misc]
    graph.load_state_dict({name: 7.0}, strict=False)
    assert graph.state_dict()[name] == 7


# ---- what is set ----


def test_weights_are_set_by_name(graph: mase.MaseGraph) -> None:
    x = numpy.ones((1, 16), numpy.float32)
    layer = graph.modules["seq_blocks.2"]
    graph(x)
    layer.weight = numpy.zeros((5, 16))
    layer.bias = [1, 2, 3, 4, 5]
    assert graph(x).tolist() == [[1, 2, 3, 4, 5]]
    graph.model.seq_blocks[2].bias = numpy.full(5, 9.0)
    assert graph(x).tolist() == [[9] * 5] and layer.bias.tolist() == [9] * 5
    graph.modules["seq_blocks.0"].running_mean = numpy.full(16, 0.5)
    assert (graph.state_dict()["seq_blocks.0.running_mean"] == 0.5).all()
    refused(lambda: setattr(layer, "bias", numpy.zeros(4)), match=r"\[5\], not \[4\]")
    refused(lambda: setattr(layer, "bias", 0.0))
    refused(lambda: setattr(layer, "bias", None))
    assert layer.bias.tolist() == [9] * 5


def test_nothing_is_set_that_changes_nothing(graph: mase.MaseGraph) -> None:
    layer, node = graph.modules["seq_blocks.2"], graph.node("seq_blocks_2")
    for thing, name in (
        (layer, "in_features"), (layer, "wieght"), (layer, "path"), (graph.modules["seq_blocks.1"], "weight"),
        (graph.model, "seq_blocks"), (graph.model.seq_blocks, "fc"), (graph.fx_graph, "nodes"),
        (node, "name"), (node, "op"), (node, "target"), (node, "users"), (node, "extra"),
        (graph, "name"), (graph, "nodes"), (node.meta["mase"], "parameters"),
    ):
        with pytest.raises((AttributeError, TypeError)):
            setattr(thing, name, numpy.zeros((5, 16)))
    for change in (
        lambda: graph.modules.update(fc=layer),
        lambda: graph.modules.pop("seq_blocks.2"),
        lambda: node.kwargs.update(dim=1),
        lambda: node.users.clear(),
        lambda: layer.formats.update(weight="integer(8, 4)"),
        lambda: node.formats.clear(),
    ):
        with pytest.raises(TypeError):
            change()
    with pytest.raises(TypeError):
        del graph.modules["seq_blocks.2"]
    with pytest.raises((AttributeError, TypeError)):
        del layer.weight
