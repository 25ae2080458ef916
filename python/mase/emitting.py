"""Networks as source of other languages."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional

from ._session import listing

if TYPE_CHECKING:
    from .graph import MaseGraph, PathLike


def emit(graph: MaseGraph, target: str, path: Optional[PathLike] = None, **options: Any) -> str:
    """Write the network as source of a language, a row of mase.listing("targets"), with what belongs to it
    beside it; None: under the network's name. The path of the main file is returned.

    options of C: name, what its functions are called; unrolled, weights stand in the code; codes, it takes
    and gives integers.
    """
    targets = {row["name"]: row["ends"] for row in listing("targets")}
    if target not in targets:
        raise ValueError(f"there is no target '{target}'; there are {', '.join(targets)}")
    where = os.fspath(path) if path is not None else f"{graph.name or 'net'}{targets[target]}"
    if not where.endswith(targets[target]):
        raise ValueError(f"the main file of {target} ends in {targets[target]}, and '{where}' does not")
    graph.write(where, **options)
    return where
