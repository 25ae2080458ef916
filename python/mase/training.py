"""Training, with a line of progress and callbacks whose exceptions reach the caller."""

from __future__ import annotations

import ctypes
import math
import signal
import threading
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterator, List, Optional

from ._library import (
    ON_BATCH,
    ON_EPOCH,
    EpochStruct,
    Training,
    c_path,
    call,
    has_exception,
    keep_exception,
    lib,
    number,
    real,
)
from ._options import options_text
from .data import Data

if TYPE_CHECKING:
    from .display import Table
    from .graph import MaseGraph


@dataclass(frozen=True)
class Epoch:
    """What an epoch came to; epoch counts from 0."""

    epoch: int
    epochs: int
    step: int
    learning_rate: float
    train_loss: float
    train_score: float
    val_loss: float
    val_score: float
    seconds: float
    samples: int
    best: bool
    ebops: float
    stop: Optional[str]

    @classmethod
    def _of(cls, e: Any) -> Epoch:
        fields = {name: getattr(e, name) for name in cls.__dataclass_fields__}
        fields["stop"] = e.stop.decode() if e.stop else None
        return cls(**fields)


class TrainingResult:
    """What training came to: epochs, one after the other, perhaps none; stop, why it ended."""

    def __init__(self, epochs: List[Epoch], stop: Optional[str] = None) -> None:
        self.epochs = epochs
        self.stop = stop

    @property
    def last(self) -> Epoch:
        """IndexError: there was nothing to do."""
        return self.epochs[-1]

    @property
    def best(self) -> Epoch:
        """The last one that was the best so far, by validation loss."""
        return next((e for e in reversed(self.epochs) if e.best), self.epochs[-1])

    @property
    def table(self) -> Table:
        """A row for every epoch."""
        from .display import Table

        columns = ["epoch", "train_loss", "train_score", "val_loss", "val_score", "learning_rate"]
        if any(not math.isnan(e.ebops) for e in self.epochs):
            columns.append("ebops")
        return Table(columns, [[asdict(e)[column] for column in columns] for e in self.epochs])

    def _repr_html_(self) -> str:
        from .display import curves

        losses = {name: [getattr(e, name) for e in self.epochs] for name in ("train_loss", "val_loss")}
        return curves(losses, "epoch") + self.table._repr_html_()

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()

    def __len__(self) -> int:
        return len(self.epochs)

    def __repr__(self) -> str:
        return str(self.table)


class _Watch:
    """The callbacks of one training."""

    def __init__(
        self, bar: Any, on_epoch: Optional[Callable[[Epoch], Any]], max_epochs: int
    ) -> None:
        self.bar = bar
        self.on_epoch = on_epoch
        self.max_epochs = max_epochs
        self.epochs: List[Epoch] = []

    def epoch(self, _user: Any, e: Any) -> bool:
        try:
            epoch = Epoch._of(e.contents)
            self.epochs.append(epoch)
            if self.bar is not None:
                self.bar.epoch(epoch)
            if has_exception():
                return False
            return self.on_epoch is None or self.on_epoch(epoch) is not False
        except BaseException as error:  # also KeyboardInterrupt
            keep_exception(error)
            return False

    def batch(self, _user: Any, epoch: int, done: int, total: int, loss: float) -> bool:
        try:
            if self.bar is not None:
                self.bar.batch(epoch, self.max_epochs, done, total, loss)
        except BaseException as error:
            keep_exception(error)
        return not has_exception()


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """Ctrl-C is remembered and raised when C has returned. Raised at once it might come at the very
    edge of a callback, where nobody can catch it and ctypes drops it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.getsignal(signal.SIGINT)

    def keep(number: int, frame: Any) -> None:
        try:
            if callable(usual):
                usual(number, frame)
        except BaseException as error:
            keep_exception(error)

    if callable(usual):
        signal.signal(signal.SIGINT, keep)
    try:
        yield
    finally:
        if callable(usual):
            signal.signal(signal.SIGINT, usual)


def train(
    graph: MaseGraph,
    data: Data,
    *,
    max_epochs: int = 20,
    batch_size: int = 128,
    learning_rate: float = 1e-5,
    seed: int = 0,
    threads: int = 0,
    checkpoint_dir: Optional[Any] = None,
    resume: Optional[Any] = None,
    keep_last: bool = False,
    on_epoch: Optional[Callable[[Epoch], Any]] = None,
    progress: Optional[bool] = None,
    **options: Any,
) -> TrainingResult:
    """Fit the network to data; the same seed gives the same bits, whatever the threads.

    on_epoch is called after each epoch; False from it stops training there. An exception in it,
    Ctrl-C too, stops training and is raised here; the weights are then those that a stop leaves.
    checkpoint_dir: where best.ckpt and last.ckpt go. keep_last: end with the weights of the last
    epoch, not of the best. progress: show a bar; None: in notebooks and on terminals. options: all
    others of `ch train`: training_optimizer, lr_schedule, task, loss, patience, ...
    (mase.listing("training") has them with their help). The files of TensorBoard come from `ch train`.
    """
    from .display import progress_bar

    said = {  # among the options 0 is a number; in the struct it is the default
        "max_epochs": number("max_epochs", max_epochs),
        "batch_size": number("batch_size", batch_size),
        "learning_rate": real("learning_rate", learning_rate),
        "seed": number("seed", seed),
        "threads": number("threads", threads),
    }
    watch = _Watch(progress_bar(progress), on_epoch, max_epochs)
    training = Training(
        checkpoint_dir=None if checkpoint_dir is None else c_path(checkpoint_dir),
        resume=None if resume is None else c_path(resume),
        keep_last=keep_last,
        options=options_text({**said, **options}),
        on_epoch=ON_EPOCH(watch.epoch),
        on_batch=ON_BATCH(watch.batch),
    )
    last = EpochStruct()
    try:
        with interrupts_kept():
            call(
                lib.mase_net_train,
                graph._pointer,
                ctypes.byref(last),
                data._pointer,
                ctypes.byref(training),
            )
    finally:
        graph._changed()
        if watch.bar is not None:
            watch.bar.close()
    return TrainingResult(watch.epochs, Epoch._of(last).stop)
