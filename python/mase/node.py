"""Nodes of a graph, as torch.fx has them, and their metadata, as MASE has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NoReturn, Optional, Tuple, Union, overload

from ._values import FixedDict, FixedList, Function, read_args

if TYPE_CHECKING:
    from .graph import MaseGraph
    from .module import Module


class Section(FixedDict):
    """A part of a node's metadata: a dict that passes fill in, and nobody else.

    Passes keep metadata in the library, where reports and files find it.
    """

    _instead = (
        "metadata are filled in by passes; a pass of your own can keep its findings in "
        "node.meta under a key of its own"
    )

    def __deepcopy__(self, _memo: Any) -> Any:
        return plain(self)

    def __reduce__(self) -> Any:
        return (dict, (plain(self),))


def plain(section: Any) -> Any:
    """The same in dicts and lists that may be changed."""
    if isinstance(section, dict):
        return {key: plain(value) for key, value in section.items()}
    if isinstance(section, list):
        return [plain(value) for value in section]
    return section


def _section(value: Any) -> Any:
    if isinstance(value, dict):
        return Section((key, _section(item)) for key, item in value.items())
    if isinstance(value, list):
        return FixedList(_section(item) for item in value)
    return value


class Metadata:
    """What passes know of a node, or of a graph: three sections, common, software and hardware.

    meta["common"] and meta.parameters["common"] are the same.
    """

    __slots__ = ("_owner", "_raw", "_sections")

    def __init__(self, owner: Union[Node, MaseGraph], raw: Dict[str, Any]) -> None:
        self._owner = owner
        self._raw = raw
        self._sections: Optional[Section] = None

    def _update(self, raw: Dict[str, Any]) -> None:
        if raw is not self._raw:
            self._raw = raw
            self._sections = None

    @property
    def parameters(self) -> Dict[str, Any]:
        """The sections by their names."""
        self._owner._look()
        if self._sections is None:
            self._sections = Section(
                (name, _section(self._raw.get(name, {})))
                for name in ("common", "software", "hardware")
            )
        return self._sections

    def __getitem__(self, section: str) -> Dict[str, Any]:
        found: Dict[str, Any] = self.parameters[section]
        return found

    def __contains__(self, section: object) -> bool:
        return section in self.parameters

    def keys(self) -> List[str]:
        return list(self.parameters)

    @property
    def node(self) -> Optional[Node]:
        """Whose they are; None: they are the graph's."""
        return self._owner if isinstance(self._owner, Node) else None

    @property
    def model(self) -> MaseGraph:
        """The graph, whose layers are the current ones."""
        return self._owner.graph if isinstance(self._owner, Node) else self._owner

    @property
    def module(self) -> Optional[Module]:
        """The layer that the node calls, if it calls one."""
        node = self.node
        return node.module if node is not None else None

    def __reduce__(self) -> NoReturn:
        raise TypeError("metadata are copied and pickled with their graph; parameters alone can be, too")

    def __repr__(self) -> str:
        return f"Metadata({self.parameters!r})"


class Node:
    """A node of a graph. It stays the same object while its node exists, whatever is edited.

    name and op never change; everything else is asked of the graph as it is now.
    """

    __slots__ = (
        "_name",
        "_op",
        "_graph",
        "_record",
        "_target",
        "_args",
        "_kwargs",
        "_index",
        "_metadata",
        "_meta",
        "__weakref__",
    )

    def __init__(self, graph: MaseGraph, record: Dict[str, Any]) -> None:
        self._graph: Optional[MaseGraph] = graph
        self._name: str = record["name"]
        self._op: str = record["op"]
        self._record: Dict[str, Any] = {}
        self._target: str = ""
        self._args: Tuple[Any, ...] = ()
        self._kwargs: Dict[str, Any] = {}
        self._index = 0
        self._metadata: Optional[Metadata] = None
        self._meta: Optional[Dict[str, Any]] = None

    def _set(self, record: Dict[str, Any], index: int) -> None:
        """Take over what the library says, but the arguments, which may mention nodes below."""
        self._record = record
        self._index = index
        target = record["target"]
        self._target = Function(target) if self.op == "call_function" else target
        if self._metadata is not None:
            self._metadata._update(record["meta"])

    def _set_args(self, nodes: Dict[str, Node]) -> None:
        self._args, self._kwargs = read_args(self._record, nodes.__getitem__)

    def _look(self) -> None:
        """See to it that what is known is true now."""
        graph = self._graph
        if graph is None:
            raise RuntimeError(f"node {self.name} was erased")
        if graph._stale:
            graph._look()
            if self._graph is None:
                raise RuntimeError(f"node {self.name} was erased")

    @property
    def name(self) -> str:
        """Unique in the graph."""
        return self._name

    @property
    def op(self) -> str:
        """placeholder, get_attr, call_function, call_method, call_module or output."""
        return self._op

    @property
    def graph(self) -> MaseGraph:
        """The graph that it belongs to."""
        self._look()
        assert self._graph is not None
        return self._graph

    @property
    def target(self) -> str:
        """What it calls: the path of a layer, "torch.flatten", the name of a method or input."""
        if self._graph is None or self._graph._stale:
            self._look()
        return self._target

    @property
    def args(self) -> Tuple[Any, ...]:
        """Positional arguments; nodes stand for what they compute. May be set."""
        if self._graph is None or self._graph._stale:
            self._look()
        return self._args

    @args.setter
    def args(self, args: Tuple[Any, ...]) -> None:
        self.graph._set_args(self, tuple(args), None)

    @property
    def kwargs(self) -> Dict[str, Any]:
        """Keyword arguments. May be set as a whole."""
        if self._graph is None or self._graph._stale:
            self._look()
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: Dict[str, Any]) -> None:
        self.graph._set_args(self, None, dict(kwargs))

    @property
    def users(self) -> Dict[Node, None]:
        """Who uses what it computes, in order, as keys."""
        find = self.graph._by_name
        return FixedDict((find[name], None) for name in self._record["users"])

    @property
    def all_input_nodes(self) -> List[Node]:
        """The nodes among its arguments, each once."""
        find = self.graph._by_name
        return [find[name] for name in self._record["inputs"]]

    @property
    def next(self) -> Optional[Node]:
        """The one behind it in the order of execution; None behind the last."""
        nodes = self.graph._nodes
        return nodes[self._index + 1] if self._index + 1 < len(nodes) else None

    @property
    def prev(self) -> Optional[Node]:
        """The one before it; None before the first."""
        nodes = self.graph._nodes
        return nodes[self._index - 1] if self._index else None

    @property
    def meta(self) -> Dict[str, Any]:
        """A dict for one's own; under "mase" stands the Metadata of the passes."""
        self._look()
        if self._meta is None:
            self._metadata = Metadata(self, self._record["meta"])
            self._meta = {"mase": self._metadata}
        return self._meta

    @property
    def type(self) -> Optional[str]:
        """The annotation, "torch.Tensor", if the code has one."""
        self._look()
        annotation: Optional[str] = self._record["annotation"]
        return annotation

    @property
    def module(self) -> Optional[Module]:
        """The layer that it calls; None: it calls none."""
        modules = self.graph._modules
        return modules.get(self._record["module"])

    @property
    def mase_op(self) -> str:
        """The operation: "linear", "relu", "add"."""
        self._look()
        return str(self._record["mase_op"])

    @property
    def mase_type(self) -> str:
        """What passes may do with it: "module_related_func", "builtin_func", ..."""
        self._look()
        return str(self._record["mase_type"])

    @property
    def formats(self) -> Dict[str, str]:
        """Number formats of its operands: {"weight": "integer(8, 4)"}; those in float are not there."""
        self._look()
        return FixedDict(self._record["formats"] or {})

    @property
    def config(self) -> Optional[Dict[str, Any]]:
        """How it was quantised, in the words of the pass quantize; None: it was not."""
        self._look()
        config = self._record["config"]
        return None if config is None else FixedDict(config)

    @property
    def type_name(self) -> str:
        """What reports call it: the class of its layer, the name of its function, else its target."""
        self._look()
        return str(self._record["type_name"])

    def replace_all_uses_with(self, replacement: Node) -> List[Node]:
        """Whoever used this node uses the other from now on; returns those that were changed."""
        users = [user for user in self.users if user is not replacement]
        self.graph._replace(self, replacement)
        return users

    def append(self, _other: Node) -> NoReturn:
        raise NotImplementedError("nodes cannot be moved; insert a new one where it belongs")

    def format_node(self) -> str:
        """Its line of the graph's text."""
        self._look()
        return str(self.graph.fx_graph).split("\n")[1 + self._index].strip()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a node is copied and pickled with its graph")

    def __repr__(self) -> str:
        return self.name


class NodeList:
    """The nodes of a graph in the order of execution.

    A loop over it sees the graph as it was at the start, without nodes that were erased meanwhile.
    """

    __slots__ = ("_nodes",)

    def __init__(self, nodes: List[Node]) -> None:
        self._nodes = nodes

    def __iter__(self) -> Iterator[Node]:
        for node in self._nodes:
            if node._graph is not None:
                yield node

    def __reversed__(self) -> Iterator[Node]:
        return iter([node for node in reversed(self._nodes) if node._graph is not None])

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> List[Node]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[Node, List[Node]]:
        return self._nodes[index]

    def __repr__(self) -> str:
        return repr(self._nodes)
