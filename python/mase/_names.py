"""Names of new nodes, by torch.fx's rules."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import Any, Container

_TAKEN = {"inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree", *keyword.kwlist}
_TAKEN.update(dir(builtins))


def node_name(target: str, existing: Container[str]) -> str:
    """The first free name for a node with this target (of a function: its last part)."""
    text = re.sub(r"^__(.*)__$", r"\1", target)
    text = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", text).lower()
    return unique_name(re.sub(r"[^0-9a-zA-Z_]+", "_", text), existing)


def unique_name(candidate: str, existing: Container[str]) -> str:
    """candidate itself, or with the next number behind it."""
    candidate = candidate or "_unnamed"
    if candidate[0].isdigit():
        candidate = "_" + candidate
    match = re.match(r"(.*)_(\d+)$", candidate)
    base, number = (match.group(1), int(match.group(2))) if match else (candidate, 0)
    while candidate in existing or candidate in _TAKEN:
        number += 1
        candidate = f"{base}_{number}"
    return candidate


def function_path(function: Any) -> str:
    """How a graph names a function: "torch.relu", "operator.add", "builtins.getattr"."""
    if isinstance(function, str):
        return function
    name = getattr(function, "__name__", None)
    if name is None:
        raise TypeError(f"a function or its path is wanted, not {type(function).__name__}")
    return f"{_module_of(function, name)}.{name}"


def _module_of(function: Any, name: str) -> str:
    import sys

    module = getattr(function, "__module__", None) or ""
    if module == "_operator":
        return "operator"
    for guess in ("torch", "torch.nn.functional"):  # functions of torch._C say other things
        found = sys.modules.get(guess)
        if found is not None and getattr(found, name, None) is function:
            return guess
    if not module:
        raise ValueError(f"the module of function '{name}' is not known; give its path as a text")
    return str(module)
