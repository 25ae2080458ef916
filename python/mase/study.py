"""Studies: what a search tried and what that came to, as trials, columns and tables."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import json
import math
import os
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    NoReturn,
    Optional,
    Tuple,
    Union,
    overload,
)

from ._library import Handle, c_path, c_text, call, call_text, lib, number
from ._session import session

if TYPE_CHECKING:
    from .display import Table
    from .graph import MaseGraph

PathLike = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Objective:
    """What a study makes small or large: a metric with its scale, or their sum."""

    name: str
    direction: str

    @property
    def sign(self) -> int:
        """What makes a better value a smaller one."""
        return -1 if self.direction == "maximize" else 1


@dataclass(frozen=True)
class Trial:
    """A point and what was measured there.

    state: "COMPLETE", "PRUNED", "FAIL", "RUNNING" or "WAITING". values: of the objectives; None: there
    are none. violations: of the constraints, which hold where they are not above 0. metrics: all that
    was measured, not scaled. config: the formats of the nodes, as a section of the pass quantize has
    them; channels: what the widths of layers were multiplied by; arguments: of the network's constructor;
    options: of training. failure: why it failed.
    """

    number: int
    state: str
    params: Dict[str, Any]
    values: Optional[List[float]]
    violations: List[float]
    readings: List[Tuple[int, float]]
    metrics: Dict[str, float]
    config: Dict[str, Any]
    channels: Dict[str, Any]
    arguments: Dict[str, Any]
    options: Dict[str, Any]
    failure: Optional[str]
    seconds: Optional[float]

    @classmethod
    def _of(cls, record: Dict[str, Any]) -> Trial:
        user = record.get("user", {})
        values = record.get("values")
        start, end = record.get("start"), record.get("end")
        return cls(
            number=record["number"],
            state=record["state"],
            params=record["params"],
            values=None if values is None else [float(value) for value in values],
            violations=[float(value) for value in record.get("violations", [])],
            readings=[(step, float(value)) for step, value in record.get("readings", [])],
            metrics={**user.get("software_metrics", {}), **user.get("hardware_metrics", {})},
            config=user.get("sampled_config", {}),
            channels=user.get("sampled_channels", {}),
            arguments=user.get("sampled_arguments", {}),
            options=user.get("sampled_options", {}),
            failure=user.get("failure"),
            seconds=(end - start) * 1e-6 if start and end else None,
        )

    @property
    def value(self) -> float:
        """Of a study with one objective. ValueError: there is none, or more."""
        if self.values is None or len(self.values) != 1:
            raise ValueError(f"trial {self.number} ({self.state}) has the values {self.values}")
        return self.values[0]

    @property
    def feasible(self) -> bool:
        """Does every constraint hold?"""
        return all(violation <= 0 for violation in self.violations)


class Study:
    """A study: trials by their numbers, columns by their names.

    Study("study.db") opens one of a store, of ours or Optuna's, by its name if there are several;
    Study("study.json") one that was written. `search` gives the one that it made, which also knows the
    networks of its trials.
    """

    def __init__(self, storage: PathLike, name: Optional[str] = None) -> None:
        out = ctypes.c_void_p()
        call(lib.mase_trials_open, session(), ctypes.byref(out), c_path(storage), c_text(name))
        assert out.value is not None
        self._setup(Handle(out.value, lib.mase_trials_free))

    @classmethod
    def _from(cls, handle: Handle) -> Study:
        study = cls.__new__(cls)
        study._setup(handle)
        return study

    def _setup(self, handle: Handle) -> None:
        self._handle = handle
        record = json.loads(self._print("study"))
        self.name: str = record["name"]
        self.hash: str = record["hash"]  # over points, values and states: equal for equal studies
        self.objectives = [Objective(o["name"], o["direction"]) for o in record["objectives"]]
        self.constraints: List[str] = record["constraints"]
        self.parameters: Dict[str, Dict[str, Any]] = {
            name: {"kind": d["name"], **d["attributes"]} for name, d in record["parameters"].items()
        }
        self.user_attrs: Dict[str, Any] = record.get("user", {})
        self.trials = [Trial._of(trial) for trial in record["trials"]]
        self.best_trials: List[Trial] = [self.trials[n] for n in record["best"]]

    def _print(self, what: str) -> str:
        return call_text(lib.mase_trials_print, self._handle.pointer, c_text(what))

    # ---- the best ----

    @property
    def best_trial(self) -> Trial:
        """Of a study with one objective. ValueError: there are more, or no trial is complete and feasible."""
        self._one_objective()
        if not self.best_trials:
            raise ValueError("no trial is complete and feasible")
        return self.best_trials[0]

    @property
    def best_value(self) -> float:
        return self.best_trial.value

    @property
    def best_params(self) -> Dict[str, Any]:
        return self.best_trial.params

    def _one_objective(self) -> None:
        if len(self.objectives) != 1:
            raise ValueError(f"there are {len(self.objectives)} objectives: best_trials is their front")

    def best_so_far(self, objective: int = 0) -> List[float]:
        """After each trial, the best value of an objective until then; NaN: there was none."""
        sign, best, found = self.objectives[objective].sign, math.inf, []
        for trial in self.trials:
            if trial.state == "COMPLETE" and trial.values is not None and trial.feasible:
                best = min(best, sign * trial.values[objective])
            found.append(sign * best if math.isfinite(best) else math.nan)
        return found

    # ---- networks ----

    def graph(self, trial: Union[Trial, int]) -> MaseGraph:
        """The network of a trial: with its formats and arguments and, if trials train, trained once
        more, to the same weights. MaseValueError: the study is from a store; `search` goes on with it."""
        from .graph import net_of

        wanted = trial.number if isinstance(trial, Trial) else number("trial", trial)
        return net_of(lib.mase_trials_net, self._handle.pointer, wanted)

    # ---- as a table ----

    @property
    def columns(self) -> Dict[str, List[Any]]:
        """All trials by columns: number, state, values_NAME of objectives (of one alone, value),
        constraints_NAME, metrics_NAME, params_NAME, seconds. None: a trial has no such thing."""
        found: Dict[str, List[Any]] = {"number": [t.number for t in self.trials]}
        for i, objective in enumerate(self.objectives):
            name = f"values_{objective.name}" if len(self.objectives) > 1 else "value"
            found[name] = [None if t.values is None else t.values[i] for t in self.trials]
        for i, constraint in enumerate(self.constraints):
            found[f"constraints_{constraint}"] = [
                t.violations[i] if i < len(t.violations) else None for t in self.trials
            ]
        for metric in dict.fromkeys(metric for t in self.trials for metric in t.metrics):
            found[f"metrics_{metric}"] = [t.metrics.get(metric) for t in self.trials]
        for name in self.parameters:
            found[f"params_{name}"] = [t.params.get(name) for t in self.trials]
        found["seconds"] = [t.seconds for t in self.trials]
        found["state"] = [t.state for t in self.trials]
        return found

    def trials_dataframe(self) -> Any:
        """The columns as a data frame of pandas; where that is not installed, as they are."""
        if importlib.util.find_spec("pandas") is None:
            return self.columns
        return importlib.import_module("pandas").DataFrame(self.columns)

    @property
    def table(self) -> Table:
        """A row for every trial: its values, and the parameters that vary."""
        return self._table(self.trials)

    @property
    def front(self) -> Table:
        """The same for the best trials."""
        return self._table(self.best_trials)

    def _table(self, trials: List[Trial]) -> Table:
        from .display import Table

        varying = [name for name, d in self.parameters.items() if len(d.get("choices", "ab")) > 1]
        columns = ["number", *(o.name for o in self.objectives), *varying]
        if any(t.state != "COMPLETE" for t in trials):
            columns.append("state")
        nothing = [None] * len(self.objectives)
        rows = [
            [t.number, *(t.values or nothing), *(t.params.get(name) for name in varying), t.state]
            for t in trials
        ]
        return Table(columns, [row[: len(columns)] for row in rows])

    # ---- as the original has it, and as files ----

    def log(self) -> Dict[str, Any]:
        """The original's log.json: all trials."""
        found: Dict[str, Any] = json.loads(self._print("log"))
        return found

    def best(self) -> Dict[str, Any]:
        """The original's best.json: the best trials."""
        found: Dict[str, Any] = json.loads(self._print("best"))
        return found

    def write(self, path: PathLike) -> None:
        """Add the study to a store, FILE.db or a URL, or write FILE.json; `Study` opens both."""
        call(lib.mase_trials_write, self._handle.pointer, c_path(path))

    # ---- as a sequence ----

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    @overload
    def __getitem__(self, index: int) -> Trial: ...
    @overload
    def __getitem__(self, index: slice) -> List[Trial]: ...
    @overload
    def __getitem__(self, index: str) -> List[Any]: ...
    def __getitem__(self, index: Union[int, slice, str]) -> Union[Trial, List[Any]]:
        """A trial by its number, some by a slice, or a column by its name."""
        if isinstance(index, str):
            return self.columns[index]
        return self.trials[index]

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Study is not pickled: write it, or open its store where it is wanted")

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(repr(self))}</p>" + self.front._repr_html_()

    def _repr_markdown_(self) -> str:
        return f"{self!r}\n\n" + self.front._repr_markdown_()

    def __repr__(self) -> str:
        what = ", ".join(f"{o.direction} {o.name}" for o in self.objectives)
        return f"Study({self.name}: {len(self)} trials, {len(self.best_trials)} best; {what})"


def studies(storage: PathLike) -> List[str]:
    """The names of the studies of a store."""
    found: List[str] = json.loads(call_text(lib.mase_session_studies, session(), c_path(storage)))
    return found


Metric = Callable[["MaseGraph", Dict[str, Any]], float]
