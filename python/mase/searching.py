"""Searching: networks of many formats, each measured, by the section [search] of a configuration."""

from __future__ import annotations

import ctypes
import json
import threading
from typing import TYPE_CHECKING, Any, Callable, Mapping, Optional, Union

from ._library import (
    MEASURE,
    ON_TRIAL,
    OPEN_NET,
    STOP,
    Handle,
    OwnMetric,
    Searching,
    c_path,
    c_text,
    call,
    fail_in_callback,
    has_exception,
    lib,
    number,
    real,
)
from ._options import configuration, options_text
from .data import Data
from .study import Metric, Study, Trial
from .training import interrupts_kept

if TYPE_CHECKING:
    from .graph import MaseGraph

Model = Callable[..., "MaseGraph"]


class _Watch:
    """The callbacks of one search. Workers are threads of C's, so the exceptions are kept here."""

    def __init__(
        self,
        model: Optional[Model],
        metrics: Mapping[str, Metric],
        on_trial: Optional[Callable[[Trial], Any]],
        bar: Any,
    ) -> None:
        self.model = model
        self.on_trial = on_trial
        self.bar = bar
        self.done = 0
        self.error: Optional[BaseException] = None
        self.opened: Optional[MaseGraph] = None  # C copies it when the callback has returned
        self.metrics = (OwnMetric * max(len(metrics), 1))()
        self.names = list(metrics)
        self.functions = [MEASURE(_measure(self, metric)) for metric in metrics.values()]
        for i, function in enumerate(self.functions):
            self.metrics[i].name = c_text(self.names[i])
            self.metrics[i].measure = function
        self.open = OPEN_NET(self._open) if model is not None else OPEN_NET()
        self.trial = ON_TRIAL(self._trial)
        self.stop = STOP(self._stop)

    def keep(self, error: BaseException) -> None:
        self.error = self.error or error

    def _open(self, _user: Any, net: Any, arguments: bytes, err: Any) -> int:
        try:
            assert self.model is not None
            self.opened = self.model(**json.loads(arguments))
            net[0] = self.opened._pointer
            return 0
        except BaseException as error:
            self.keep(error)
            return fail_in_callback(err, f"{type(error).__name__}: {error}")

    def _trial(self, _user: Any, text: bytes) -> bool:
        try:
            self.done += 1
            if self.bar is not None:
                self.bar.trial(self.done)
            return self.on_trial is None or self.on_trial(Trial._of(json.loads(text))) is not False
        except BaseException as error:  # also KeyboardInterrupt
            self.keep(error)
            return False

    def _stop(self, _user: Any) -> bool:
        return self.error is not None or has_exception()


def _measure(watch: _Watch, metric: Metric) -> Callable[..., int]:
    def measure(_user: Any, value: Any, net: int, point: bytes, err: Any) -> int:
        from .graph import net_of

        try:
            value[0] = real("the metric", metric(net_of(lib.mase_net_clone, net), json.loads(point)))
            return 0
        except BaseException as error:
            watch.keep(error)
            return fail_in_callback(err, f"{type(error).__name__}: {error}")

    return measure


def search(
    model: Union[MaseGraph, Model],
    data: Data,
    config: Any,
    *,
    trials: int = 0,
    seconds: float = 0,
    workers: int = 0,
    seed: int = 0,
    storage: Optional[Any] = None,
    study: Optional[str] = None,
    metrics: Optional[Mapping[str, Metric]] = None,
    on_trial: Optional[Callable[[Trial], Any]] = None,
    progress: Optional[bool] = None,
    **options: Any,
) -> Study:
    """Try out the points of a [search] section, each with a copy of the network, on data.

    model: a graph, which stays as it is; or a function that makes one of the arguments that
    [search.search_space.model] varies, and of none. config: a whole configuration, of which [search]
    and the options of training count, or that section: a dict, a text, or the path of a file.

    trials: of the study in all, 0: as [search] says. workers: trials at a time, which changes no
    result; 0: as many as pay off. seed: 0: as the configuration says. storage: where the study is
    kept, "study.db" or a URL, under the name `study`; one that is there is gone on with. metrics:
    functions of a graph, the network of a trial, and of its point, a dict with sampled_config; what
    they return may be an objective like what runners measure. One runs at a time. on_trial is called
    with each Trial; False from it stops the search. What metrics, on_trial and Ctrl-C raise ends the
    search and is raised here; what a store has of it stays there. options: of training, and batch_size.
    """
    from .display import progress_bar
    from .graph import MaseGraph

    graph, open_net = (model, None) if isinstance(model, MaseGraph) else (model(), model)
    watch = _Watch(open_net, metrics or {}, on_trial, progress_bar(progress))
    how = Searching(
        trials=number("trials", trials),
        seconds=real("seconds", seconds),
        workers=number("workers", workers),
        seed=number("seed", seed),
        storage=None if storage is None else c_path(storage),
        study=c_text(study),
        options=options_text(options),
        metrics=watch.metrics,
        metric_count=len(watch.names),
        open=watch.open,
        on_trial=watch.trial,
        stop=watch.stop,
    )
    out = ctypes.c_void_p()
    try:
        with configuration(config) as text, interrupts_kept():
            call(
                lib.mase_net_search,
                graph._pointer,
                ctypes.byref(out),
                data._pointer,
                text,
                ctypes.byref(how),
            )
    except Exception:
        if watch.error is None:  # else that is what ended the search
            raise
    finally:
        if watch.bar is not None:
            watch.bar.close()
    found = Handle(out.value, lib.mase_trials_free, (data._handle, watch)) if out.value else None
    if watch.error is not None:
        raise watch.error
    assert found is not None
    return Study._from(found)
