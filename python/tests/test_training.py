"""Training: it learns, it tells, it stops."""

from __future__ import annotations

import io
import pathlib
import sys
import typing

import numpy
import pytest

import mase


def test_it_learns_and_is_reproducible(small: mase.MaseGraph, xor: mase.Data) -> None:
    other = small.copy()
    before = mase.evaluate(small, xor).loss
    result = mase.train(small, xor, max_epochs=30, batch_size=32, learning_rate=0.02, progress=False)
    assert len(result) == 30 and result.last.epoch == 29
    assert mase.evaluate(small, xor).loss < before / 2
    assert mase.evaluate(small, xor).accuracy > 0.85
    mase.train(other, xor, max_epochs=30, batch_size=32, learning_rate=0.02, threads=1, progress=False)
    for name, array in small.state_dict().items():
        assert (array == other.state_dict()[name]).all()
    assert "train_loss" in repr(result) and "seconds" not in repr(result)
    page = result._repr_html_()
    assert "<table>" in page and page.count("<polyline") == 2


def test_on_epoch_may_stop(small: mase.MaseGraph, xor: mase.Data) -> None:
    seen: typing.List[mase.Epoch] = []

    def watch(epoch: mase.Epoch) -> bool:
        seen.append(epoch)
        return len(seen) < 3

    result = mase.train(small, xor, max_epochs=50, on_epoch=watch, progress=False)
    assert [epoch.epoch for epoch in seen] == [0, 1, 2] and result.epochs == seen
    assert seen[0].epochs == 50 and seen[0].samples == 320
    assert result.stop


@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt])
def test_exceptions_travel_through_c(
    small: mase.MaseGraph, xor: mase.Data, kind: typing.Type[BaseException]
) -> None:
    def watch(epoch: mase.Epoch) -> None:
        if epoch.epoch == 1:
            raise kind("on purpose")

    with pytest.raises(kind, match="on purpose"):
        mase.train(small, xor, max_epochs=500, on_epoch=watch, progress=False)
    mase.evaluate(small, xor)  # nothing is left behind


def test_ctrl_c_stops_within_an_epoch(small: mase.MaseGraph) -> None:
    import _thread
    import threading
    import time

    x = numpy.zeros((200000, 2), numpy.float32)
    data = mase.Data(x, numpy.arange(200000) % 2, train=190000, validation=5000)
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        mase.train(small, data, max_epochs=1000, batch_size=1, progress=False)
    timer.join()
    assert time.perf_counter() - start < 10


def test_options_are_checked(small: mase.MaseGraph, xor: mase.Data) -> None:
    with pytest.raises(mase.MaseError, match="optimiser_"):
        mase.train(small, xor, max_epochs=1, optimiser_="sgd", progress=False)
    result = mase.train(small, xor, max_epochs=1, training_optimizer="sgd", progress=False)
    assert len(result) == 1


def test_checkpoints(small: mase.MaseGraph, xor: mase.Data, tmp_path: pathlib.Path) -> None:
    mase.train(small, xor, max_epochs=2, checkpoint_dir=tmp_path / "ckpt", keep_last=True, progress=False)
    assert (tmp_path / "ckpt" / "best.ckpt").exists()
    other = small.copy().load(tmp_path / "ckpt" / "last.ckpt")
    for name, array in small.state_dict().items():
        assert (array == other.state_dict()[name]).all()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_run_goes_on_with_its_labels_alone(
    small: mase.MaseGraph, tmp_path: pathlib.Path, task: str
) -> None:
    rng = numpy.random.default_rng(3)
    x = rng.normal(size=(200, 2)).astype("f4")
    labels = (x[:, 0] > 0).astype("i8") if task == "classification" else x[:, :2].copy()
    data = mase.Data(x, labels, task=task)
    others = mase.Data(x, 1 - labels, task=task)
    last = tmp_path / "last.ckpt"
    options: typing.Dict[str, typing.Any] = {"task": task, "checkpoint_dir": tmp_path, "progress": False}
    mase.train(small, data, max_epochs=1, **options)
    mase.train(small, data, max_epochs=2, resume=last, **options)
    with pytest.raises(mase.MaseError, match="other data"):
        mase.train(small, others, max_epochs=3, resume=last, **options)


def test_bar_on_a_terminal(
    small: mase.MaseGraph, xor: mase.Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    mase.train(small, xor, max_epochs=2, progress=True)
    assert "epoch 2/2: train_loss" in stream.getvalue()
    stream.truncate(0)
    mase.train(small, xor, max_epochs=1)  # no terminal: no bar
    assert stream.getvalue().strip("\0") == ""


def test_bar_in_a_notebook(
    small: mase.MaseGraph, xor: mase.Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    import types

    shown: typing.List[str] = []

    class Display:
        def update(self, html: str) -> None:
            shown.append(html)

    ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    setattr(ipython, "get_ipython", lambda: types.SimpleNamespace(kernel=True))
    setattr(display, "HTML", str)
    setattr(display, "display", lambda html, display_id: Display())
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    mase.train(small, xor, max_epochs=2)
    assert "<progress" in shown[-1] and "epoch 2/2" in shown[-1]
