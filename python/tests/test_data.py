"""Samples from arrays and by name."""

from __future__ import annotations

import typing

import numpy
import pytest

import mase


def test_arrays_come_back_as_they_were() -> None:
    x = numpy.arange(120, dtype=numpy.float32).reshape(20, 2, 3)
    y = numpy.arange(20) % 3
    data = mase.Data(x, y, train=14, validation=4, class_names=["a", "b", "c"])
    assert (data.count("train"), data.count("validation"), data.count("test")) == (14, 4, 2)
    assert len(data) == 20 and data.sample == (2, 3)
    assert data.classes == 3 and data.class_names == ["a", "b", "c"]
    assert (data.train.x == x[:14]).all() and (data.train.y == y[:14]).all()
    assert (data.test.x == x[18:]).all() and (data.validation.y == y[14:18]).all()
    part, labels = data.train[1:5:2]
    assert (part == x[1:5:2]).all() and (labels == y[1:5:2]).all()
    assert [len(b) for b, _ in data.train.batches(4)] == [4, 4, 4, 2]


def test_numbers_to_predict() -> None:
    x, y = numpy.ones((16, 4), numpy.float32), numpy.arange(32, dtype=numpy.float64).reshape(16, 2)
    data = mase.Data(x, y, train=12, validation=2)
    assert data.targets == 2 and data.classes == 0
    assert (data.train.y == y[:12]).all()


@pytest.mark.parametrize("kind", ["list", "float64", "transposed", "int16"])
def test_any_array_is_taken(kind: str) -> None:
    x = numpy.arange(36, dtype=numpy.float32).reshape(12, 3)
    given = {
        "list": x.tolist(),
        "float64": x.astype(numpy.float64),
        "transposed": numpy.asfortranarray(x),
        "int16": x.astype(numpy.int16),
    }[kind]
    assert (mase.Data(given, [0, 1] * 6, train=10, validation=1).train.x == x[:10]).all()


def test_dlpack_is_taken_without_copying() -> None:
    from mase._arrays import as_array

    class Tensor:
        def __init__(self, array: typing.Any) -> None:
            self.array = array

        def __dlpack__(self, **options: object) -> object:
            return self.array.__dlpack__()

        def __dlpack_device__(self) -> object:
            return self.array.__dlpack_device__()

    x = numpy.ones((3, 2), numpy.float32)
    assert numpy.shares_memory(as_array(Tensor(x), "float32"), x)
    assert as_array(Tensor(x), "float64").dtype == numpy.float64


def test_results_have_dlpack(graph: mase.MaseGraph) -> None:
    y = graph(numpy.ones((2, 16), numpy.float32))
    assert (numpy.from_dlpack(y) == y).all()


def test_table_is_the_library_s_memory() -> None:
    x = numpy.arange(40, dtype=numpy.float32).reshape(20, 2)
    data = mase.Data(x, numpy.arange(20) % 2, train=12, validation=4)
    table, labels, index = data.table("test")
    assert (table[index] == data.test.x).all() and (labels[index] == data.test.y).all()
    assert not table.flags.writeable
    del data
    assert (table[index] == x[16:]).all()


def test_wrong_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match="4 samples, and y has 3"):
        mase.Data(numpy.zeros((4, 2)), [0, 1, 0])
    with pytest.raises(ValueError):
        mase.Data(numpy.zeros((20, 2)), [0, -1, 0, 1] * 5)
    with pytest.raises(ValueError, match="no split 'tset'"):
        mase.Data(numpy.zeros((20, 2)), [0, 1] * 10).count("tset")
    with pytest.raises(mase.MaseError, match="scalign"):
        mase.Data(numpy.zeros((20, 2)), [0, 1] * 10, scalign="standard")


def test_scaling_is_done_if_asked() -> None:
    x = numpy.random.default_rng(0).normal(5, 3, (100, 2)).astype(numpy.float32)
    raw = mase.Data(x, numpy.zeros(100, int), classes=2, train=80, validation=10)
    scaled = mase.Data(x, numpy.zeros(100, int), classes=2, train=80, validation=10, scaling="standard")
    assert (raw.train.x == x[:80]).all()
    assert abs(float(scaled.train.x.mean())) < 0.3


def test_by_name() -> None:
    data = mase.Data("toy_tiny")
    assert data.sample == (1, 2, 2) and data.classes == 2
    assert data.count("train") > 0
    assert "toy" in repr(data) and "<table>" in data._repr_html_()
    assert data.info["name"] == data.name


def test_few_rows_may_all_train() -> None:
    x = numpy.arange(12, dtype=numpy.float32).reshape(4, 3)
    data = mase.Data(x, [0, 1, 1, 0], train=4)
    assert (data.train.x == x).all() and data.count("test") == 0
    alone = mase.Data(x, train=4)
    assert (alone.train.x == x).all() and alone.train.y is None


@pytest.mark.parametrize(
    "x, y, error",
    [
        (numpy.zeros((20, 4)), numpy.full(20, 2**40), ValueError),  # cut to 32 bits: class 0
        (numpy.zeros((20, 4), complex), numpy.zeros(20, int), TypeError),
        (numpy.zeros((20, 4)), numpy.array(["a", "b"] * 10), TypeError),
    ],
)
def test_numbers_do_not_become_others(x: typing.Any, y: typing.Any, error: typing.Any) -> None:
    with pytest.raises(error):
        mase.Data(x, y)


def test_inputs_are_real_numbers(graph: mase.MaseGraph) -> None:
    with pytest.raises(TypeError, match="complex128"):
        graph(numpy.zeros((2, 16), complex))


def test_nothing_is_left_out_without_a_word(graph: mase.MaseGraph) -> None:
    x, y = numpy.zeros((20, 16), numpy.float32), [0, 1] * 10
    with pytest.raises(TypeError, match="trained is for data by name"):
        mase.Data(x, y, trained=graph)
    for option in ({"name": "mine"}, {"classes": 3}, {"class_names": ["a", "b"]}, {"train": 3}, {"validation": 3}):
        with pytest.raises(TypeError, match="for arrays"):
            mase.Data("toy_tiny", **option)  # type: ignore[arg-type]
