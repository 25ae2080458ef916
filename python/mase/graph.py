"""MaseGraph: a network as a graph of nodes with its layers, weights and metadata.

The nodes are read from the library as one text of JSON when somebody looks, and again only when the
graph has changed since (mase_net_edits).
"""

from __future__ import annotations

import ctypes
import json
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._library import Handle, Open, borrowed, c_path, c_text, call, call_text, dims, lib, number
from ._session import session
from ._values import FixedDict
from .editing import Editing
from .fx import FxGraph, Model
from .module import Module, class_of
from .node import Metadata, Node, NodeList
from .weights import Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

PathLike = Union[str, "os.PathLike[str]"]


def _opened(function: Callable[..., int], *arguments: Any, first: int = 1) -> Handle:
    """Call a function that makes a network."""
    out = ctypes.c_void_p()
    call(function, *arguments[:first], ctypes.byref(out), *arguments[first:])
    assert out.value is not None
    return Handle(out.value, lib.mase_net_free)


def open_net(
    spec: PathLike,
    *,
    dataset: Optional[str] = None,
    shape: Optional[Sequence[int]] = None,
    weights: Optional[PathLike] = None,
    key: Optional[str] = None,
    task: Optional[str] = None,
    seed: int = 0,
    seconds: float = 0,
    lenient: bool = False,
    no_weights: bool = False,
) -> Handle:
    """The network that spec names; see `open`."""
    options = Open(
        dataset=c_text(dataset),
        weights=None if weights is None else c_path(weights),
        key=c_text(key),
        task=c_text(task),
        seed=seed,
        seconds=seconds,
        lenient=lenient,
        no_weights=no_weights,
    )
    if shape is not None:
        options.shape = dims(shape)
        options.rank = len(shape)
    return _opened(lib.mase_net_open, session(), c_path(spec), ctypes.byref(options))


def open(spec: PathLike, **options: Any) -> MaseGraph:
    """Open a network.

    spec names it as on the command line: a model of the zoo ("jsc-tiny"), a class of PyTorch
    ("net.py:Net(width=3)", "torchvision.models:resnet18"), net.onnx, net.mg, a folder that was saved
    or that a run left, a checkpoint of ours.

    options: dataset, the name of the samples it takes; shape, of a sample without its batch;
    weights, a file or folder; key, of the state dict in a file that has several; task; seed, of
    initial weights; seconds that capturing a .py file may take; lenient, to take of weights what
    fits; no_weights, to look at graphs alone.
    """
    return MaseGraph._from(open_net(spec, **options))


def trace(model: Any, **options: Any) -> MaseGraph:
    """Capture a network of PyTorch's: "net.py:Net(width=3)", or a module itself.

    The file is run by a confined python3; PyTorch need not be installed. options as of `open`.
    """
    return MaseGraph(model, **options)


class MaseGraph(Editing, Weights):
    """A network as a graph. Opened from whatever `open` takes, from a module of PyTorch's, or from
    another graph, of which it becomes a copy.

    A module of PyTorch's is captured from its source, with its own weights. Its constructor's
    arguments are taken from attributes of the same names, or from arguments, a text: "16, width=3".
    If what was captured has other layers, parameters or shapes than the module, that is an error.
    """

    def __init__(
        self,
        model: Any,
        cf_args: Optional[Mapping[str, Any]] = None,
        *,
        arguments: Optional[str] = None,
        **options: Any,
    ) -> None:
        if cf_args:
            raise NotImplementedError(
                "cf_args: arguments of forward are fixed in a class of your own that calls the model"
            )
        if isinstance(model, MaseGraph):
            if options:
                raise TypeError("a copy of a graph takes no options")
            self._setup(_opened(lib.mase_net_clone, model._pointer))
        elif isinstance(model, (str, os.PathLike)):
            self._setup(open_net(model, **options))
        else:
            from .capture import capture

            capture(self, model, arguments, options)

    @classmethod
    def _from(cls, handle: Handle) -> MaseGraph:
        graph = cls.__new__(cls)
        graph._setup(handle)
        return graph

    def _setup(self, handle: Handle) -> None:
        self._handle: Optional[Handle] = handle
        self._stale = True
        self._edits = -1
        self._before: Optional[Node] = None
        self._record: Dict[str, Any] = {}
        self._by_name: Dict[str, Node] = {}
        self._nodes: List[Node] = []
        self._modules: Dict[str, Module] = {}
        self._metadata: Optional[Metadata] = None
        self._meta: Optional[Dict[str, Any]] = None
        self._runners = {}
        self._lent = {}
        self._sums = {}

    @classmethod
    def empty(cls, name: str = "net", sample: Optional[Sequence[int]] = None) -> MaseGraph:
        """A graph without nodes, to be built with placeholder, add_module, call_module, output."""
        graph = cls.from_text("mase-graph 1\n", name)
        if sample is not None:
            graph.sample = tuple(sample)
        return graph

    @classmethod
    def from_text(cls, text: str, name: str = "text", seed: Optional[int] = None) -> MaseGraph:
        """A graph from its text, as graph.text("mg") has it; with a seed, weights are drawn."""
        graph = cls._from(_opened(lib.mase_net_parse, session(), c_text(text), c_text(name)))
        if seed is not None:
            graph.start(seed)
        return graph

    # ---- what is known of it ----

    @property
    def _pointer(self) -> int:
        if self._handle is None:
            raise RuntimeError("a pass may use its graph only while it runs")
        return self._handle.pointer

    def _changed(self) -> None:
        """A call may have changed the graph or its weights."""
        self._stale = True
        self._runners.clear()

    def _change(self, function: Callable[..., int], *arguments: Any) -> None:
        """Call a function that changes it, which it may have when a hook raises something, too."""
        try:
            call(function, self._pointer, *arguments)
        finally:
            self._changed()

    def _look(self) -> None:
        """Read the graph anew, if it has changed."""
        if not self._stale:
            return
        edits = lib.mase_net_edits(self._pointer)
        if edits != self._edits:
            self._read()
            self._edits = edits
        self._stale = False

    def _read(self) -> None:
        self._record = json.loads(self._print("json"))
        old, nodes = self._by_name, {}
        for index, record in enumerate(self._record["nodes"]):
            node = old.get(record["name"])
            if node is None or node.op != record["op"]:
                node = Node(self, record)
            node._set(record, index)
            nodes[node.name] = node
        for node in nodes.values():
            node._set_args(nodes)
        for name, node in old.items():
            if nodes.get(name) is not node:
                node._graph = None
        self._by_name, self._nodes = nodes, list(nodes.values())
        self._modules = {
            record["path"]: class_of(record)(self, record) for record in self._record["modules"]
        }
        if self._metadata is not None:
            self._metadata._update(self._record["meta"])

    def _print(self, what: str) -> str:
        return call_text(lib.mase_net_print, self._pointer, c_text(what))

    @property
    def nodes(self) -> NodeList:
        """In the order of execution."""
        if self._stale:
            self._look()
        return NodeList(self._nodes)

    def node(self, name: str) -> Node:
        """The node of this name; KeyError: there is none."""
        self._look()
        return self._by_name[name]

    @property
    def modules(self) -> Dict[str, Module]:
        """Layers by their paths."""
        self._look()
        return FixedDict(self._modules)

    @property
    def fx_graph(self) -> FxGraph:
        """The graph as torch.fx has it; its str is torch.fx's text."""
        return FxGraph(self)

    @property
    def model(self) -> Model:
        """The network as PyTorch would have it: graph.model.seq_blocks[2].weight."""
        return Model(self)

    @property
    def meta(self) -> Dict[str, Any]:
        """A dict for one's own; under "mase" stands the Metadata of the graph as a whole."""
        self._look()
        if self._meta is None:
            self._metadata = Metadata(self, self._record["meta"])
            self._meta = {"mase": self._metadata}
        return self._meta

    @property
    def name(self) -> Optional[str]:
        """The network's name."""
        self._look()
        name: Optional[str] = self._record["name"]
        return name

    @property
    def quantised(self) -> bool:
        """Has any operand a number format?"""
        self._look()
        return bool(self._record["quantised"])

    @property
    def sample(self) -> Optional[Tuple[int, ...]]:
        """The shape of a sample of the first input, without its batch; None: it is not known."""
        dim = (ctypes.c_int64 * 8)()
        rank = lib.mase_net_sample(self._pointer, dim)
        return None if rank < 0 else tuple(dim[:rank])

    @sample.setter
    def sample(self, shape: Sequence[int]) -> None:
        self._change(lib.mase_net_set_sample, len(shape), dims(shape))

    def text(self, what: str = "graph") -> str:
        """In words: "graph" as torch.fx prints it; "mg", which reads back (from_text); "py";
        "program", what it computes; "integers"; "svg" and "dot", drawn; "json"."""
        return self._print(what)

    # ---- weights ----

    def start(self, seed: int = 0) -> None:
        """Give parameters that have no values their initial ones, as PyTorch does."""
        self._change(lib.mase_net_start, number("seed", seed, "u64"))

    # ---- files ----

    def load(self, path: PathLike, **options: Any) -> MaseGraph:
        """Weights from a file of any kind that is read. options: key, lenient, seed, map."""
        from ._options import options_text

        self._change(lib.mase_net_load, c_path(path), options_text(options))
        return self

    def save(self, folder: PathLike) -> None:
        """As a folder: graph, weights, metadata, checksums."""
        call(lib.mase_net_save, self._pointer, c_path(folder))

    def write(self, path: PathLike, **options: Any) -> None:
        """As the file that its name says: .onnx, .mg, .py, .safetensors, .pt, .npz, .svg, .dot, .c.

        options of ONNX: dialect; of C: name, unrolled, codes.
        """
        from ._options import options_text

        call(lib.mase_net_write, self._pointer, c_path(path), options_text(options))

    def draw(self, file: PathLike = "mase_graph.svg") -> None:
        """Write a drawing, .svg or .dot."""
        self.write(file)

    # ---- computing ----

    def __call__(self, *inputs: Any, exact: bool = False, threads: int = 0, **named: Any) -> NDArray[Any]:
        """Run it on a batch: one array for each input, by position or by the input's name."""
        from .running import run

        return run(self, inputs, named, exact, threads)

    # ---- copies ----

    def copy(self) -> MaseGraph:
        """A second one like it, with weights of its own."""
        return MaseGraph._from(_opened(lib.mase_net_clone, self._pointer))

    def __copy__(self) -> MaseGraph:
        return self.copy()

    def __deepcopy__(self, _memo: Any) -> MaseGraph:
        return self.copy()

    def __reduce__(self) -> Any:
        return _unpacked, (_packed(self),)

    # ---- display ----

    def table(self) -> Any:
        """A row for every node."""
        from .display import graph_table

        return graph_table(self)

    def _repr_svg_(self) -> str:
        return self._print("svg")

    def __repr__(self) -> str:
        self._look()
        what = ", quantised" if self.quantised else ""
        return (
            f"MaseGraph({self.name or 'unnamed'}: {len(self._nodes)} nodes, "
            f"{len(self._modules)} layers, {self.parameter_count} parameters{what})"
        )


def _packed(graph: MaseGraph) -> Dict[str, bytes]:
    """The files of the folder that it would be saved as."""
    import pathlib
    import tempfile

    with tempfile.TemporaryDirectory(prefix="mase-") as folder:
        saved = pathlib.Path(folder, "graph")
        graph.save(saved)
        return {str(p.relative_to(saved)): p.read_bytes() for p in saved.rglob("*") if p.is_file()}


def _unpacked(files: Dict[str, bytes]) -> MaseGraph:
    import pathlib
    import tempfile

    with tempfile.TemporaryDirectory(prefix="mase-") as folder:
        for name, content in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return open(folder)


def net_of(function: Callable[..., int], pointer: int, *arguments: Any) -> MaseGraph:
    """The graph of a network that a function makes of an object."""
    return MaseGraph._from(_opened(function, pointer, *arguments))


def lent_graph(pointer: int, owner: Any) -> MaseGraph:
    """The graph of a network that C lends to a callback; arrays over its weights keep the owner."""
    return MaseGraph._from(Handle(pointer, borrowed, owner))
