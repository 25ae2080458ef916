"""A network as PyTorch's users know it: torch.fx's graph, and a module with layers as attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, Tuple

from .module import Container
from .node import NodeList

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .graph import MaseGraph


class FxGraph:
    """A graph as torch.fx has it: its text, its nodes, and the edits of MaseGraph."""

    def __init__(self, graph: MaseGraph) -> None:
        self._graph = graph

    @property
    def nodes(self) -> NodeList:
        """In the order of execution."""
        return self._graph.nodes

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._graph, name)

    def print_tabular(self) -> None:
        """Print a row for every node."""
        print(self._graph.table())

    def __str__(self) -> str:
        return self._graph._print("graph").rstrip("\n")

    __repr__ = __str__


class Model(Container):
    """The network as PyTorch would have it: called with inputs, with layers as attributes."""

    def __init__(self, graph: MaseGraph) -> None:
        super().__init__(graph, "")

    @property
    def graph(self) -> FxGraph:
        """Its graph."""
        return self._graph.fx_graph

    def __call__(self, *inputs: Any, **named: Any) -> NDArray[Any]:
        return self._graph(*inputs, **named)

    def state_dict(self) -> Dict[str, NDArray[Any]]:
        """As MaseGraph.state_dict."""
        return self._graph.state_dict()

    def named_parameters(self) -> Iterator[Tuple[str, NDArray[Any]]]:
        """What is trained, by name."""
        return iter(self._graph._weights(lambda w: not w.buffer and not w.constant))

    def __repr__(self) -> str:
        return super().__repr__().replace("Sequential", self._graph.name or "Model", 1)
