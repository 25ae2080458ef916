"""Computing: runners, predict, evaluate, verify, round.

A runner has a copy of the weights. A graph keeps those it made until the graph or its weights change:
by an edit, a pass, training, load_state_dict, or through an array over its weights. The latter is
seen by checksums of those weights alone whose arrays were handed out.
"""

from __future__ import annotations

import ctypes
import json
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple, Union

from ._library import (
    Handle,
    Proof,
    RunOptions,
    Scores,
    TestOptions,
    Text,
    c_text,
    call,
    dims,
    lib,
    take_text,
)
from ._options import settings_text
from ._session import session
from .data import Data

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .display import Table
    from .graph import MaseGraph

FEW = 64  # samples for which a runner of its own pays off


class Runner:
    """A network made ready to compute; what becomes of the graph does not change it.

    batch_size: where what a sample gives depends on the others of its batch, so many are taken at a
    time; 0: all that are given, as a module of PyTorch does.
    """

    def __init__(
        self,
        graph: MaseGraph,
        *,
        exact: bool = False,
        threads: int = 0,
        samples: int = 0,
        seed: int = 0,
        batch_size: int = 0,
    ) -> None:
        options = RunOptions(
            exact=exact, threads=threads, samples=samples, seed=seed, batch_size=batch_size
        )
        out = ctypes.c_void_p()
        call(lib.mase_runner_new, graph._pointer, ctypes.byref(out), ctypes.byref(options))
        assert out.value is not None
        self._handle = Handle(out.value, lib.mase_runner_free)
        dim = (ctypes.c_int64 * 8)()
        self.result = tuple(dim[: lib.mase_runner_result(out, dim)])
        self.features = int(lib.mase_runner_features(out))
        self._inputs = [node.name for node in graph.nodes if node.op == "placeholder"]

    def __call__(self, *inputs: Any, **named: Any) -> NDArray[Any]:
        """One array (n, ...) for each input, by position or by the input's name: (n, ...)."""
        import numpy

        x = self._joined(inputs, named)
        y = numpy.empty((len(x), *self.result), numpy.float32)
        call(lib.mase_runner_run, self._handle.pointer, y.ctypes.data, x.ctypes.data, len(x))
        return y

    def _joined(self, inputs: Tuple[Any, ...], named: Mapping[str, Any]) -> NDArray[Any]:
        """The samples as the library takes them: the inputs of each behind each other."""
        import numpy

        arrays = self._arrays(inputs, named)
        if len(arrays) > 1:
            x: NDArray[Any] = numpy.concatenate([a.reshape(len(a), -1) for a in arrays], axis=1)
        else:
            x = arrays[0]
        if x.ndim < 1 or x.size != len(x) * self.features:
            raise ValueError(
                f"samples of {self.features} values are wanted, in a batch; got shape {list(x.shape)}"
            )
        return x

    def _arrays(self, inputs: Tuple[Any, ...], named: Mapping[str, Any]) -> List[NDArray[Any]]:
        from ._arrays import as_array

        names = self._inputs[len(inputs) :]
        for name in named:
            if name not in names:
                raise TypeError(f"there is no input '{name}'; there are {', '.join(self._inputs)}")
        values = [*inputs, *(named[name] for name in names if name in named)]
        if not values:
            raise TypeError(f"inputs are wanted: {', '.join(self._inputs)}")
        if len(values) > len(self._inputs):
            raise TypeError(f"{len(self._inputs)} inputs are wanted, got {len(values)}")
        return [as_array(value, "float32") for value in values]


def runner_of(graph: MaseGraph, n: int, exact: bool, threads: int) -> Runner:
    """The graph's runner for n samples; a new one if the graph has changed."""
    if graph._runners and graph._weights_written():
        graph._runners.clear()
    few = n <= FEW
    key = (exact, threads, few)
    if key not in graph._runners:
        runner = Runner(graph, exact=exact, threads=threads, samples=FEW if few else 0)
        if not graph._runners:  # from now on, changes of weights count
            graph._weights_written()
        graph._runners[key] = runner
    return graph._runners[key]


def run(
    graph: MaseGraph, inputs: Tuple[Any, ...], named: Mapping[str, Any], exact: bool, threads: int
) -> NDArray[Any]:
    """Run a graph on a batch."""
    first = inputs[0] if inputs else next(iter(named.values()), ())
    try:
        n = len(first)
    except TypeError:
        raise ValueError("an input is an array of samples, (n, ...)") from None
    return runner_of(graph, n, exact, threads)(*inputs, **named)


def predict(
    graph: MaseGraph, x: Any, *, exact: bool = False, threads: int = 0, batch_size: int = 0
) -> NDArray[Any]:
    """What the network gives for samples (n, ...); exact: in integers, as deployed.

    batch_size is that of a Runner. x may be Data, or a split of it: then it is for the samples of the test split, or of that one.
    """
    from .data import Split

    if isinstance(x, Data):
        x = x.test
    if isinstance(x, Split):
        x = x.x
    if batch_size:
        return Runner(graph, exact=exact, threads=threads, batch_size=batch_size)(x)
    return graph(x, exact=exact, threads=threads)


class Evaluation:
    """How good a network is: samples, loss, score (accuracy, of classes), seconds, and details."""

    def __init__(self, scores: Any, detail: Dict[str, Any]) -> None:
        self.samples: int = scores.samples
        self.loss: float = scores.loss
        self.score: float = scores.score
        self.seconds: float = scores.seconds
        self.detail = detail

    @property
    def accuracy(self) -> float:
        """Of classes, the part that is right."""
        if "classes" not in self.detail:
            raise AttributeError(f"the score of this task is {self.score_name}, no accuracy")
        return self.score

    @property
    def score_name(self) -> str:
        return str(self.detail.get("score_name", "score"))

    @property
    def confusion(self) -> NDArray[Any]:
        """Samples of the row's class that the network took for the column's."""
        import numpy

        classes = self.detail.get("classes")
        if classes is None:
            raise AttributeError("only classes can be confused")
        return numpy.array([row["answers"] for row in classes], numpy.int64)

    @property
    def table(self) -> Table:
        """Its metrics; of classes, a row for each."""
        from .display import evaluation_table

        return evaluation_table(self)

    def __getitem__(self, metric: str) -> Any:
        return self.detail[metric]

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>" + self.table._repr_html_()

    def _repr_markdown_(self) -> str:
        return f"{self!r}\n\n" + self.table._repr_markdown_()

    def __repr__(self) -> str:
        return f"{self.samples} samples: loss {self.loss:.6g}, {self.score_name} {self.score:.6g}"


def evaluate(
    graph: MaseGraph,
    data: Data,
    *,
    split: str = "test",
    exact: bool = False,
    limit: int = 0,
    task: Optional[str] = None,
    loss: Optional[str] = None,
    threads: int = 0,
    batch_size: int = 0,
) -> Evaluation:
    """Evaluate a network on a split; exact: in integers; limit: samples at most, 0: all.

    batch_size: where what a sample gives depends on the others of its batch, so many are taken at a
    time; 0: 128.
    """
    scores, detail = Scores(), Text()
    options = TestOptions(
        exact=exact,
        threads=threads,
        split=c_text(split),
        limit=limit,
        task=c_text(task),
        loss=c_text(loss),
        batch_size=batch_size,
    )
    call(
        lib.mase_net_evaluate,
        graph._pointer,
        ctypes.byref(scores),
        data._pointer,
        ctypes.byref(options),
        ctypes.byref(detail),
    )
    return Evaluation(scores, _taken(detail))


class Verification:
    """The network twice, emulated in float32 and in exact integers: what differs.

    samples were compared; of outputs numbers, differ were not the same; of the samples, decisions
    had another largest output. nodes has a row for every node.
    """

    def __init__(self, proof: Any, nodes: List[Dict[str, Any]]) -> None:
        self.samples: int = proof.samples
        self.outputs: int = proof.outputs
        self.differ: int = proof.differ
        self.decisions: int = proof.decisions
        self.nodes = nodes

    @property
    def table(self) -> Table:
        """A row for every node."""
        from .display import Table

        columns = list(self.nodes[0]) if self.nodes else []
        return Table(columns, [[row.get(column) for column in columns] for row in self.nodes])

    def __bool__(self) -> bool:
        """Is everything the same?"""
        return self.differ == 0

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>" + self.table._repr_html_()

    def __repr__(self) -> str:
        return (
            f"{self.samples} samples: {self.differ} of {self.outputs} numbers and "
            f"{self.decisions} decisions differ between float32 and exact integers"
        )


def verify(graph: MaseGraph, data: Data, *, split: str = "test", limit: int = 0) -> Verification:
    """Compare emulation and exact integers on a split, limit samples at most, 0: all."""
    proof, detail = Proof(), Text()
    call(
        lib.mase_net_prove,
        graph._pointer,
        ctypes.byref(proof),
        data._pointer,
        c_text(split),
        limit,
        ctypes.byref(detail),
    )
    return Verification(proof, _taken(detail))


def _taken(detail: Text) -> Any:
    try:
        return json.loads(take_text(detail) or "{}")
    finally:
        lib.mase_text_release(ctypes.byref(detail))


def round(
    array: Any, format: Union[str, Mapping[str, Any]], *, role: str = "weight", out: Any = None
) -> NDArray[Any]:
    """Numbers as a format has them.

    format: {"name": "integer", "width": 8, "frac_width": 4}, or the same as TOML. role: "data" (the
    first dimension is the batch), "unsigned data", "weight" or "bias". out: an array of float32 for the results,
    which may be the array itself.
    """
    import numpy

    from ._arrays import as_array

    x = as_array(array, "float32")
    y: NDArray[Any] = numpy.empty_like(x) if out is None else out
    if y.dtype != x.dtype or y.shape != x.shape or not y.flags.c_contiguous:
        raise ValueError("out must be an array of float32 like the one to be rounded, row-major")
    call(
        lib.mase_session_round,
        session(),
        y.ctypes.data,
        x.ctypes.data,
        x.ndim,
        dims(x.shape),
        settings_text(format),
        c_text(role),
    )
    return y
