"""Sweeps: a network trained once for each combination of options, always from the same weights."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional

from .data import Data
from .running import Evaluation, evaluate
from .training import TrainingResult, train

if TYPE_CHECKING:
    from .display import Table
    from .graph import MaseGraph


class Run(NamedTuple):
    """A combination of options, and what it came to; graph is the network that it trained."""

    options: Dict[str, Any]
    graph: MaseGraph
    training: TrainingResult
    test: Evaluation


class Sweep:
    """The runs of a sweep, the last option varying fastest."""

    def __init__(self, axes: List[str], runs: List[Run]) -> None:
        self.axes = axes
        self.runs = runs

    @property
    def best(self) -> Run:
        """That with the lowest validation loss: test rows choose nothing."""
        return min(self.runs, key=lambda run: run.training.last.val_loss)

    @property
    def table(self) -> Table:
        """A row for each run: its options, the last epoch, and the test split."""
        from .display import Table

        columns = ["train_loss", "train_score", "val_loss", "val_score"]
        rows = [
            [
                *(run.options[axis] for axis in self.axes),
                *(getattr(run.training.last, column) for column in columns),
                run.test.loss,
                run.test.score,
            ]
            for run in self.runs
        ]
        return Table([*self.axes, *columns, "test_loss", "test_score"], rows)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()

    def _repr_markdown_(self) -> str:
        return self.table._repr_markdown_()

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return str(self.table)


def sweep(graph: MaseGraph, data: Data, *, progress: Optional[bool] = False, **options: Any) -> Sweep:
    """Train a copy of the network for each combination of the options that are lists, and test it.

    The options are those of `train`: sweep(graph, data, learning_rate=[1e-3, 1e-2], batch_size=[64, 256],
    max_epochs=5). The graph stays as it is. Training of 0 epochs has nothing to show and is refused.
    """
    axes = [name for name, value in options.items() if isinstance(value, (list, tuple))]
    if not axes:
        raise ValueError("no option is a list of values: learning_rate=[1e-3, 1e-2]")
    runs = []
    for values in itertools.product(*(options[axis] for axis in axes)):
        chosen = {**options, **dict(zip(axes, values))}
        if chosen.get("max_epochs") == 0:
            raise ValueError("max_epochs is 0: there is nothing to compare")
        copy = graph.copy()
        training = train(copy, data, progress=progress, **chosen)
        runs.append(Run(chosen, copy, training, evaluate(copy, data)))
    if not runs:
        raise ValueError("an option is a list without values")
    return Sweep(axes, runs)
