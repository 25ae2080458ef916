"""Arguments of nodes: from the library's JSON to Python's values, and into the text form.

A node is a Node, a tuple a tuple, a slice a slice. A bare word as `torch.float32` is a Word, a
string that prints without quotes.
"""

from __future__ import annotations

import copy
import math
import re
from typing import TYPE_CHECKING, Any, Callable, Dict, List, NoReturn, Tuple


class Word(str):
    """A bare word of the graph's: torch.float32, a device, a layout."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class Function(str):
    """The target of a call_function node: "torch.flatten", with the __name__ of a function."""

    @property
    def __name__(self) -> str:
        return self.rpartition(".")[2]


class Fixed:
    """What a graph tells of itself: reading is all that it is for. What were written into it would
    be lost without a word, so it is refused."""

    _instead = "this is what the graph says; edits of the graph change it"

    def _refuse(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise TypeError(self._instead)


class FixedDict(Fixed, Dict[Any, Any]):
    """A dict that is as it is; copies of it are plain."""

    if not TYPE_CHECKING:
        __setitem__ = __delitem__ = update = setdefault = pop = popitem = clear = __ior__ = Fixed._refuse

    def __deepcopy__(self, memo: Any) -> Any:
        return copy.deepcopy(dict(self), memo)

    def __reduce__(self) -> Any:
        return (dict, (dict(self),))


class FixedList(Fixed, List[Any]):
    """A list that is as it is; copies of it are plain."""

    if not TYPE_CHECKING:
        __setitem__ = __delitem__ = append = extend = insert = pop = remove = clear = Fixed._refuse
        sort = reverse = __iadd__ = __imul__ = Fixed._refuse

    def __deepcopy__(self, memo: Any) -> Any:
        return copy.deepcopy(list(self), memo)

    def __reduce__(self) -> Any:
        return (list, (list(self),))


def read_value(value: Any, node_of: Callable[[str], Any]) -> Any:
    """A value of the library's JSON."""
    if isinstance(value, list):
        return FixedList(read_value(item, node_of) for item in value)
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    return _READERS[kind](inner, node_of)


def _read_dict(inner: Dict[str, Any], node_of: Callable[[str], Any]) -> Dict[str, Any]:
    return FixedDict((key, read_value(item, node_of)) for key, item in inner.items())


_READERS: Dict[str, Callable[[Any, Callable[[str], Any]], Any]] = {
    "%": lambda inner, node_of: node_of(inner),
    "tuple": lambda inner, node_of: tuple(read_value(item, node_of) for item in inner),
    "dict": _read_dict,
    "slice": lambda inner, node_of: slice(*(read_value(item, node_of) for item in inner)),
    "atom": lambda inner, node_of: Word(inner),
    "float": lambda inner, node_of: float(inner),
}


def read_args(
    record: Dict[str, Any], node_of: Callable[[str], Any]
) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """args and kwargs of a node's record."""
    args = tuple(read_value(value, node_of) for value in record["args"])
    return args, _read_dict(record["kwargs"], node_of)


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*\Z")
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\\": "\\\\", "'": "\\'"}


def quoted(text: str) -> str:
    """'text', as the text form has it."""
    escaped = (_ESCAPES.get(c) or (c if c.isprintable() else f"\\x{ord(c):02x}") for c in text)
    return "'" + "".join(escaped) + "'"


def label(text: str) -> str:
    """A name, path or target: quoted if it is no plain word."""
    return text if _PLAIN.match(text) else quoted(text)


def write_value(value: Any, graph: Any) -> str:
    """A value in the text form of this graph: (%x, 2), [1, 2], {dim: 1}, 'text', slice(None, 2, None)."""
    from .node import Node

    if isinstance(value, Node):
        if value._graph is not graph:  # which may have another of this name
            raise ValueError(f"node {value.name} is of another graph, or was erased")
        return "%" + label(value.name)
    if isinstance(value, (tuple, list, dict, slice)):
        return _write_items(value, graph)
    if isinstance(value, Word):
        return f"atom({quoted(value)})"
    if isinstance(value, str):
        return quoted(value)
    return _write_number(value)


def _write_items(value: Any, graph: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{label(k)}: {write_value(v, graph)}" for k, v in value.items()) + "}"
    if isinstance(value, slice):
        return "slice" + write_value((value.start, value.stop, value.step), graph)
    inner = ", ".join(write_value(item, graph) for item in value)
    if isinstance(value, list):
        return f"[{inner}]"
    return f"({inner},)" if len(value) == 1 else f"({inner})"


def _write_number(value: Any) -> str:
    item = getattr(value, "item", None)  # numbers of NumPy and PyTorch
    if callable(item):
        value = item()
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if value is None or isinstance(value, (bool, int)):
        return repr(value)
    if str(value).startswith("torch."):  # torch.float32 itself
        return f"atom({quoted(str(value))})"
    raise TypeError(
        f"an argument of a node is a node, a number, a text, None, or a tuple, list, dict or slice "
        f"of these, not {type(value).__name__}"
    )
