"""predict, evaluate, verify, round."""

from __future__ import annotations

import pathlib
import typing

import numpy
import pytest

import mase
from conftest import LINEAR_8_4


def test_predictions_are_numpy_s_arithmetic(graph: mase.MaseGraph) -> None:
    x = numpy.random.default_rng(0).standard_normal((100, 16)).astype(numpy.float32)
    s = graph.state_dict()
    h = numpy.maximum(x / numpy.sqrt(1 + 1e-5), 0)
    want = numpy.maximum(h @ s["seq_blocks.2.weight"].T + s["seq_blocks.2.bias"], 0)
    for y in (graph(x), mase.predict(graph, x), graph(x.astype(numpy.float64)), mase.Runner(graph)(x)):
        assert y.shape == (100, 5) and y.dtype == numpy.float32
        assert numpy.allclose(y, want, atol=1e-5)
    assert (graph(x=x[:1]) == graph(x)[:1]).all()


def test_wrong_inputs_are_refused(graph: mase.MaseGraph) -> None:
    for shape in ((2, 15), (16,), (1, 4, 4), (16, 1), (4, 8), (1, 16, 1), (), (2, 0)):
        with pytest.raises(ValueError, match=r"each \[16\]|an array of samples"):
            graph(numpy.ones(shape))
    with pytest.raises(TypeError, match="no input 'y'"):
        graph(y=numpy.ones((1, 16)))
    with pytest.raises(TypeError, match="given twice"):
        graph(numpy.ones((1, 16)), x=numpy.ones((1, 16)))
    with pytest.raises(TypeError, match="none for x"):
        graph()
    assert graph(numpy.ones((0, 16))).shape == (0, 5)


def test_an_image_with_its_channels_last_is_refused() -> None:
    """Of equal numbers of values only one shape is what the network takes."""
    graph = mase.MaseGraph.empty("image", sample=(3, 8, 6))
    graph.add_module("conv", "Conv2d(3, 4, 3)")
    graph.output(graph.call_module("conv", (graph.placeholder("x"),)))
    assert graph(numpy.ones((2, 3, 8, 6))).shape == (2, 4, 6, 4)
    runner = mase.Runner(graph)
    for shape in ((2, 8, 6, 3), (2, 3, 6, 8), (2, 144), (2, 1, 3, 8, 6), (6, 8, 6)):
        for run in (graph, runner, lambda x: mase.predict(graph, x)):
            with pytest.raises(ValueError, match=r"shape is .*each \[3, 8, 6\]"):
                run(numpy.ones(shape))


def test_each_input_has_its_shape(tmp_path: pathlib.Path) -> None:
    (tmp_path / "two.py").write_text(
        "import torch.nn as nn\n\nclass Two(nn.Module):\n    def forward(self, a, b):\n        return a - b\n"
    )
    graph = mase.open(f"{tmp_path}/two.py:Two", shape=(4,))
    a, b = numpy.full((3, 4), 5.0), numpy.arange(12.0).reshape(3, 4)
    for y in (graph(a, b), graph(a=a, b=b), graph(b=b, a=a), graph(a, b=b), graph(numpy.hstack([a, b]))):
        assert (y == a - b).all()
    assert graph(a[:0], b[:0]).shape == (0, 4)
    with pytest.raises(ValueError, match="input 'b': the shape is"):
        graph(a, b.reshape(3, 2, 2))
    with pytest.raises(ValueError, match="different numbers of samples"):
        graph(a, b[:2])
    with pytest.raises(ValueError, match="side by side"):
        graph(a)
    with pytest.raises(TypeError, match="none for b"):
        graph(a=numpy.hstack([a, b]))


def test_a_text_of_several_inputs_takes_their_shapes_from_data(tmp_path: pathlib.Path) -> None:
    (tmp_path / "net.mg").write_text(
        "mase-graph 1\nmodule fc = Linear(in_features=6, out_features=2)\n%x = placeholder[target=x]\n%k = placeholder[target=k]\n"
        "%fc = call_module[target=fc](args = (%x,), kwargs = {})\n"
        "%y = call_function[target=operator.mul](args = (%fc, %k), kwargs = {})\nreturn %y\n"
    )
    x, k = numpy.ones((10, 6), "f4"), numpy.ones((10, 2), "f4")
    numpy.savez(tmp_path / "data.npz", x=x, k=k, y=k)
    options = {"dataset": f"npz:{tmp_path}/data.npz", "task": "reg"}
    graph = mase.open(tmp_path / "net.mg", **options)
    y = graph(x, k * 0.5)
    assert y.shape == (10, 2)
    graph.save(tmp_path / "saved")
    again = mase.open(tmp_path / "net.mg", weights=tmp_path / "saved", **options)
    for other in (again, mase.open(tmp_path / "saved")):
        assert (other(x, k * 0.5) == y).all()


def test_evaluation_counts_right_answers(small: mase.MaseGraph, xor: mase.Data) -> None:
    result = mase.evaluate(small, xor)
    x, y = xor.test.x, xor.test.y
    logits = small(x).astype(numpy.float64)
    answers = logits.argmax(1)
    loss = (numpy.log(numpy.exp(logits).sum(1)) - logits[numpy.arange(len(y)), y]).mean()
    assert result.samples == 100
    assert result.accuracy == pytest.approx((answers == y).mean())
    assert result.loss == pytest.approx(loss, rel=1e-5)
    confusion = numpy.zeros((2, 2), int)
    numpy.add.at(confusion, (y, answers), 1)
    assert (result.confusion == confusion).all()
    assert "<table>" in result._repr_html_() and "100 samples" in repr(result)
    assert mase.evaluate(small, xor, split="train", limit=50).samples == 50


def test_verify_and_exact(small: mase.MaseGraph, xor: mase.Data) -> None:
    with pytest.raises(mase.MaseError):
        small(xor.test.x, exact=True)
    config = {"name": "integer", "data_in_width": 8, "data_in_frac_width": 6}
    mase.quantize(small, {"fc1": LINEAR_8_4, "fc2": LINEAR_8_4, "act": config})
    proof = mase.verify(small, xor)
    assert proof.samples == 100 and proof.outputs == 200
    assert proof and proof.differ == 0 and proof.decisions == 0
    assert "fc1" in str(proof.table)
    assert (small(xor.test.x, exact=True) == small(xor.test.x)).all()
    assert mase.evaluate(small, xor, exact=True).loss == pytest.approx(mase.evaluate(small, xor).loss)


def test_round_is_the_format_s_grid() -> None:
    x = numpy.array([[0.3, -1.26, 100], [1 / 32, 3 / 32, -1000]], numpy.float32)
    y = mase.round(x, {"name": "integer", "width": 8, "frac_width": 4})
    want = numpy.clip(numpy.rint(x * 16), -128, 127) / 16
    assert (y == want).all() and y is not x
    assert mase.round(x, "name = 'integer'\nwidth = 8\nfrac_width = 4", out=x) is x
    assert (x == want).all()
    with pytest.raises(ValueError, match="frac_widht"):
        mase.round(x, {"name": "integer", "width": 8, "frac_widht": 4})


def test_batch_statistics_are_those_of_the_batch_that_is_asked_for() -> None:
    graph = mase.MaseGraph.empty("normed", sample=(2,))
    x = graph.placeholder("x")
    graph.add_module("norm", "BatchNorm1d(2, track_running_stats=False)")
    graph.output(graph.call_module("norm", (x,)))
    graph.start()
    rng = numpy.random.default_rng(7)
    samples = (rng.normal(size=(2500, 2)) + numpy.arange(2500)[:, None] / 500).astype("f4")
    targets = rng.normal(size=(2500, 2)).astype("f4")

    def wanted(batch: int) -> typing.Any:
        x = samples.astype("f8")
        parts = [x[i : i + batch] for i in range(0, 2500, batch)]
        return numpy.concatenate([(p - p.mean(0)) / numpy.sqrt(p.var(0) + 1e-5) for p in parts])

    for n in (40, 900, 2500):  # all that are given, as a module of PyTorch takes them
        alone = samples[:n].astype("f8")
        alone = (alone - alone.mean(0)) / numpy.sqrt(alone.var(0) + 1e-5)
        assert numpy.abs(graph(samples[:n]) - alone).max() < 1e-5
    for batch in (100, 1000, 2000):
        assert numpy.abs(mase.predict(graph, samples, batch_size=batch) - wanted(batch)).max() < 1e-5
        data = mase.Data(samples, targets, task="regression", train=2, validation=0)
        said = mase.evaluate(graph, data, task="regression", batch_size=batch)
        x = samples[2:].astype("f8")
        parts = [x[i : i + batch] for i in range(0, 2498, batch)]
        y = numpy.concatenate([(p - p.mean(0)) / numpy.sqrt(p.var(0) + 1e-5) for p in parts])
        assert abs(said.loss - ((y - targets[2:]) ** 2).mean()) < 1e-5


def test_results_have_the_type_that_is_computed() -> None:
    """By a plan, and by the reference, which runs what mixes the samples."""
    x = numpy.random.default_rng(0).standard_normal((6, 4)).astype(numpy.float32)
    for text, want in (
        ("argmax](args = (%x, 1)", x.argmax(1)),
        ("gt](args = (%x, 0)", x > 0),
        ("to](args = (%x, torch.float64)", x.astype(numpy.float64)),
        ("argmax](args = (%x, 0)", None),
        ("argsort](args = (%x, 0)", x.argsort(0)),
    ):
        graph = mase.MaseGraph.from_text(
            f"mase-graph 1\n%x = placeholder[target=x]\n%y = call_method[target={text}, kwargs = {{}})\nreturn %y\n"
        )
        graph.sample = (4,)
        if want is None:
            with pytest.raises(mase.MaseError):
                graph(x)
            continue
        y = graph(x)
        assert y.dtype == want.dtype and (y == want).all()
