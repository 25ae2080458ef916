"""Passes written in Python, which run in the library's manager as those that are built in."""

from __future__ import annotations

import ctypes
import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Tuple, Union, overload

from ._library import RUN_PASS, OwnPass, c_text, call, fail_in_callback, keep_exception, lib
from ._options import plain
from ._session import forget_listing, session

if TYPE_CHECKING:
    from .graph import MaseGraph
    from .passes import PassFunction
    from .weights import Lent

Body = Callable[["MaseGraph", Dict[str, Any]], Any]


class _Running(threading.local):
    """The networks whose passes this thread is running, each with the weights that were lent to
    passes: what is lent is part of them."""

    def __init__(self) -> None:
        self.graphs: List[Tuple[MaseGraph, List[Lent]]] = []


_running = _Running()


@contextmanager
def running(graph: MaseGraph) -> Iterator[None]:
    """Passes run on this graph."""
    lents: List[Lent] = []
    _running.graphs.append((graph, lents))
    try:
        yield
    finally:
        _running.graphs.pop()
        graph._changed()
        for lent in lents:
            graph._take_over(lent)


# The library keeps a pass as long as the session: its callback looks up what the name means now, so
# that a cell of a notebook may define it again.
_bodies: Dict[str, Body] = {}
_kinds: Dict[str, bool] = {}
_keep: List[Any] = []


def _run(name: str, net: int, args: bytes, info: Any, err: Any) -> int:
    from .graph import lent_graph

    owner, lents = _running.graphs[-1]
    graph = lent_graph(net, owner._handle)
    try:
        found = _bodies[name](graph, json.loads(args or b"{}"))
        result = _result(found)
        if result is not None:
            text = json.dumps(plain(result)).encode("utf-8")
            return int(lib.mase_text_set(session(), info, text, err))
        return 0
    except BaseException as error:
        keep_exception(error)
        return fail_in_callback(err, f"{type(error).__name__}: {error}")
    finally:
        lents.append(graph._lent)
        graph._handle = None


def _result(found: Any) -> Any:
    """Of (graph, info), info; else what it is."""
    from .graph import MaseGraph

    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], MaseGraph):
        found = found[1]
    return None if isinstance(found, MaseGraph) else found


def _register(body: Body, name: str, transform: bool) -> PassFunction:
    from .passes import pass_function

    if name in _bodies and _kinds[name] != transform:
        raise ValueError(f"there is a pass '{name}' of the other kind already")
    if name not in _bodies:
        callback = RUN_PASS(lambda _user, net, args, info, err: _run(name, net, args, info, err))
        help = (body.__doc__ or "a pass of one's own").strip().split("\n")[0]
        own = OwnPass(name=c_text(name), help=c_text(help), transform=transform, run=callback)
        call(lib.mase_session_add_pass, session(), ctypes.byref(own))
        _keep.extend((callback, own))
        forget_listing("passes")
    _bodies[name], _kinds[name] = body, transform
    return pass_function(name, "transform" if transform else "analysis", body.__doc__ or "", [])


def _plain_name(body: Body, name: Optional[str]) -> str:
    found = name or body.__name__
    for ending in ("_analysis_pass", "_transform_pass"):
        if found.endswith(ending):
            return found[: -len(ending)]
    return found


def _decorator(transform: bool, body_or_name: Union[Body, str, None]) -> Any:
    if callable(body_or_name):
        return _register(body_or_name, _plain_name(body_or_name, None), transform)
    return lambda body: _register(body, _plain_name(body, body_or_name), transform)


@overload
def analysis_pass(body_or_name: Body) -> PassFunction: ...
@overload
def analysis_pass(body_or_name: Optional[str] = None) -> Callable[[Body], PassFunction]: ...
def analysis_pass(body_or_name: Union[Body, str, None] = None) -> Any:
    """Make a pass of a function that looks at a graph: @analysis_pass, or @analysis_pass("name").

    It is called with the graph and its arguments, a dict, and returns what it found: a value that
    JSON has, None, or (graph, value). The name, without "_analysis_pass", may then stand in a
    [passes] table, and the function takes (graph, pass_args) and returns (graph, info), as all do.
    """
    return _decorator(False, body_or_name)


@overload
def transform_pass(body_or_name: Body) -> PassFunction: ...
@overload
def transform_pass(body_or_name: Optional[str] = None) -> Callable[[Body], PassFunction]: ...
def transform_pass(body_or_name: Union[Body, str, None] = None) -> Any:
    """The same for a function that changes the graph that it is given."""
    return _decorator(True, body_or_name)
