"""Edits of a graph, in the words of torch.fx: where, what, and instead of what."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, Optional, Sequence, Union

from ._library import c_text, call, lib, number
from ._names import function_path, node_name, unique_name
from ._values import label, write_value
from .node import Node

if TYPE_CHECKING:
    from ._library import Handle


class Editing:
    """The part of MaseGraph that changes it."""

    _by_name: Dict[str, Node]
    _before: Optional[Node]

    if TYPE_CHECKING:  # the rest of MaseGraph

        @property
        def _pointer(self) -> int: ...
        def _look(self) -> None: ...
        def _changed(self) -> None: ...
        def _change(self, function: Callable[..., int], *arguments: Any) -> None: ...
        def load_state_dict(self, state: Any, strict: bool = True) -> None: ...

    # ---- where ----

    @contextmanager
    def inserting_before(self, node: Optional[Node] = None) -> Iterator[None]:
        """New nodes go before this one; None: before the first."""
        self._look()
        first = next(iter(self._by_name.values()), None)
        before, self._before = self._before, node if node is not None else first
        try:
            yield
        finally:
            self._before = before

    @contextmanager
    def inserting_after(self, node: Optional[Node] = None) -> Iterator[None]:
        """New nodes go behind this one; None: behind the last, in front of the output."""
        before, self._before = self._before, node.next if node is not None else None
        try:
            yield
        finally:
            self._before = before

    # ---- what ----

    def add_module(self, path: str, layer: Any, seed: int = 0) -> None:
        """Add a layer, as one would construct it in PyTorch: "Linear(16, 5)".

        Its parameters get initial values from the seed, as PyTorch's layers do. A layer of
        PyTorch's may be given, too; then they are copied from it.
        """
        text = layer if isinstance(layer, str) else repr(layer)
        start = number("seed", seed, "u64")
        self._add(f"module {label(path)} = {text}")
        self._change(lib.mase_net_start, start)
        if hasattr(layer, "state_dict"):
            state = {f"{path}.{name}": value for name, value in layer.state_dict().items()}
            self.load_state_dict(state, strict=False)

    def add_attribute(self, path: str, kind: str, seed: int = 0) -> None:
        """Add a parameter that get_attr reads; kind as in the text form: "f32[16] init zeros"."""
        start = number("seed", seed, "u64")
        self._add(f"attr {label(path)} = {kind}")
        self._change(lib.mase_net_start, start)

    def placeholder(self, name: str, default: Any = ...) -> Node:
        """An input."""
        tail = "" if default is ... else f"(default={write_value(default, self)})"
        return self._add_node("placeholder", name, name, tail)

    def get_attr(self, path: str) -> Node:
        """Read a parameter or buffer."""
        return self._add_node("get_attr", path, path, "")

    def call_function(
        self,
        function: Union[str, Callable[..., Any]],
        args: Sequence[Any] = (),
        kwargs: Optional[Dict[str, Any]] = None,
        name: Optional[str] = None,
    ) -> Node:
        """Call a function: torch.relu itself, or its path "torch.relu"."""
        path = function_path(function)
        return self._call("call_function", path, path.rpartition(".")[2], args, kwargs, name)

    def call_method(
        self,
        method: str,
        args: Sequence[Any] = (),
        kwargs: Optional[Dict[str, Any]] = None,
        name: Optional[str] = None,
    ) -> Node:
        """Call a method of the first argument."""
        return self._call("call_method", method, method, args, kwargs, name)

    def call_module(
        self,
        path: str,
        args: Sequence[Any] = (),
        kwargs: Optional[Dict[str, Any]] = None,
        name: Optional[str] = None,
    ) -> Node:
        """Call a layer that is there (add_module)."""
        return self._call("call_module", path, path, args, kwargs, name)

    def output(self, value: Any) -> Node:
        """What the graph gives: a node, or a tuple, list or dict of nodes. The last node."""
        self._add(f"return {write_value(value, self)}")
        return self._by_name["output"]

    def create_node(
        self,
        op: str,
        target: Any,
        args: Sequence[Any] = (),
        kwargs: Optional[Dict[str, Any]] = None,
        name: Optional[str] = None,
    ) -> Node:
        """Any of the above, by the name of its kind."""
        if op == "placeholder":
            return self.placeholder(target, *args)
        if op == "get_attr":
            return self.get_attr(target)
        if op == "output":
            return self.output(*args)
        if op not in ("call_function", "call_method", "call_module"):
            raise ValueError(f"'{op}' is no kind of node")
        made: Node = getattr(self, op)(target, args, kwargs, name)
        return made

    def _call(
        self,
        op: str,
        target: str,
        hint: str,
        args: Sequence[Any],
        kwargs: Optional[Dict[str, Any]],
        name: Optional[str],
    ) -> Node:
        words = f"(args = {write_value(tuple(args), self)}, kwargs = {write_value(dict(kwargs or {}), self)})"
        return self._add_node(op, target, name or hint, words, exact=name is not None)

    def _add_node(self, op: str, target: str, hint: str, tail: str, exact: bool = False) -> Node:
        self._look()
        taken = self._by_name
        name = unique_name(hint, taken) if exact else node_name(hint, taken)
        self._add(f"%{label(name)} = {op}[target={label(target)}]{tail}")
        return self._by_name[name]

    def _add(self, statement: str) -> None:
        before = self._find(self._before) if self._before is not None else None
        self._change(lib.mase_net_add, None, before, c_text(statement))
        self._look()

    # ---- instead of what ----

    def erase_node(self, node: Node) -> None:
        """Remove a node without users, and its layer if nobody else calls it."""
        found, behind = self._find(node), node.next
        self._change(lib.mase_net_erase, found)
        if self._before is node:
            self._before = behind
        self._look()

    def eliminate_dead_code(self) -> bool:
        """Erase what nobody uses; was there anything?"""
        self._look()
        dead = False
        for node in reversed(list(self._by_name.values())):
            if node.op not in ("placeholder", "output") and not node.users:
                self.erase_node(node)
                dead = True
        return dead

    def lint(self) -> None:
        """Is every invariant kept? Raises MaseValueError with those that are not."""
        call(lib.mase_net_check, self._pointer)

    def _replace(self, old: Node, new: Node) -> None:
        self._change(lib.mase_net_replace, self._find(old), self._find(new))

    def _set_args(self, node: Node, args: Any, kwargs: Any) -> None:
        words = [None if value is None else c_text(write_value(value, self)) for value in (args, kwargs)]
        self._change(lib.mase_net_set_args, self._find(node), *words)

    def _find(self, node: Node) -> Any:
        """The library's pointer to a node of this graph."""
        if node._graph is not self:
            raise ValueError(f"node {node.name} is of another graph, or was erased")
        found = lib.mase_net_find(self._pointer, c_text(node.name))
        if not found:
            raise ValueError(f"there is no node {node.name} any more")
        return ctypes.c_void_p(found)
