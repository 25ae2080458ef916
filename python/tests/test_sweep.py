"""Sweeps and calibration: each run is what it would be alone, and the graph stays as it is."""

from __future__ import annotations

import typing

import pytest

import mase

AUTO: typing.Dict[str, typing.Any] = {
    "name": "integer",
    "data_in_width": 8,
    "data_in_frac_width": "auto",
    "weight_width": 4,
    "weight_frac_width": "auto",
    "bias_width": 8,
    "bias_frac_width": 4,
}


def weights(graph: mase.MaseGraph) -> typing.List[typing.Any]:
    return [weight.tolist() for weight in graph.state_dict().values()]


def test_a_sweep_is_its_runs(small: mase.MaseGraph, xor: mase.Data) -> None:
    small.start(1)
    before = weights(small)
    rates = [1e-3, 2e-2]
    found = mase.sweep(small, xor, learning_rate=rates, batch_size=[32, 64], max_epochs=3)
    assert weights(small) == before and len(found) == 4
    assert found.axes == ["learning_rate", "batch_size"]
    assert [tuple(run.options[axis] for axis in found.axes) for run in found.runs] == [
        (rate, size) for rate in rates for size in (32, 64)
    ]
    alone = small.copy()
    mase.train(alone, xor, learning_rate=2e-2, batch_size=32, max_epochs=3, progress=False)
    assert weights(found.runs[2].graph) == weights(alone)
    assert found.runs[2].test.loss == mase.evaluate(alone, xor).loss == found.table[2][-2]
    assert found.best.training.last.val_loss == min(found.table["val_loss"])
    assert "learning_rate" in repr(found) and "<table>" in found._repr_html_()


@pytest.mark.parametrize(
    "options, words", [({}, "list"), ({"seed": []}, "without values"), ({"max_epochs": [0]}, "nothing")]
)
def test_a_sweep_needs_something_to_compare(
    small: mase.MaseGraph, xor: mase.Data, options: typing.Dict[str, typing.Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        mase.sweep(small, xor, **options)


def test_what_is_auto_is_found(small: mase.MaseGraph, xor: mase.Data) -> None:
    small.start(1)
    before = small.text("mg")
    found = mase.calibrate(small, xor, {"fc1": AUTO}, method="minmax", rows=320)
    assert small.text("mg") == before and list(found) == ["fc1"]
    largest = abs(xor.train.x).max()
    assert found["fc1"]["data_in_frac_width"] == max(f for f in range(9) if largest <= 127 * 0.5**f)
    by_type = {"by": "type", "default": {"config": {"name": None}}, "linear": {"config": AUTO}}
    assert mase.calibrate(small, xor, by_type, method="minmax", rows=320)["fc1"] == found["fc1"]
    mase.quantize(small, found)
    assert small.node("fc1").config == found["fc1"]
    with pytest.raises(ValueError, match="method"):
        mase.calibrate(small, xor, {"fc1": AUTO}, method="luck")
