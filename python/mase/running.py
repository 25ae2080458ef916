"""Computing: runners, predict, evaluate, verify, round.

A runner has a copy of the weights. A graph keeps those it made until the graph or its weights change:
by an edit, a pass, training, load_state_dict, or through an array over its weights. The latter is
seen by checksums of those weights alone whose arrays were handed out.
"""

from __future__ import annotations

import ctypes
import json
import math
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NoReturn, Optional, Tuple, Union

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
    number,
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

    engine: what computes, "float" or "int"; None: "int" if exact.
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
        engine: Optional[str] = None,
    ) -> None:
        from ._arrays import shape_of

        options = RunOptions(
            exact=exact,
            threads=threads,
            samples=samples,
            seed=seed,
            batch_size=batch_size,
            engine=c_text(engine),
        )
        out = ctypes.c_void_p()
        call(lib.mase_runner_new, graph._pointer, ctypes.byref(out), ctypes.byref(options))
        assert out.value is not None
        self._handle = Handle(out.value, lib.mase_runner_free)
        dim = (ctypes.c_int64 * 8)()
        self.result = shape_of(lib.mase_runner_result(out, dim), dim)
        self.dtype: str = lib.mase_runner_type(out).decode()
        self.features = int(lib.mase_runner_features(out))
        self._inputs: Dict[str, Tuple[int, ...]] = {}  # what a sample of each is like
        for node in graph.nodes:
            if node.op == "placeholder":
                rank = lib.mase_runner_input(out, len(self._inputs), dim)
                self._inputs[node.name] = shape_of(rank, dim)

    def __call__(self, *inputs: Any, **named: Any) -> NDArray[Any]:
        """One array (n, ...) for each input, by position or by the input's name: (n, ...)."""
        import numpy

        x = self._joined(inputs, named)
        y = numpy.empty((len(x), *self.result), self.dtype)
        call(lib.mase_runner_run_typed, self._handle.pointer, y.ctypes.data, x.ctypes.data, len(x))
        return y

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Runner is neither copied nor pickled: make another one of the graph")

    def _joined(self, inputs: Tuple[Any, ...], named: Mapping[str, Any]) -> NDArray[Any]:
        """The samples as the library takes them: the inputs of each behind each other, as those of
        data are already."""
        import numpy

        from ._arrays import as_array

        if len(inputs) == 1 < len(self._inputs) and not named:
            x = as_array(inputs[0], "float32")
            _check_samples(x, (self.features,), "all inputs side by side")
            return x
        arrays = {name: as_array(value, "float32") for name, value in self._by_name(inputs, named)}
        for name, sample in self._inputs.items():
            _check_samples(arrays[name], sample, f"input '{name}'")
        lengths = {name: len(array) for name, array in arrays.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"inputs have different numbers of samples: {lengths}")
        rows = [arrays[name].reshape(lengths[name], math.prod(self._inputs[name])) for name in self._inputs]
        joined: NDArray[Any] = rows[0] if len(rows) == 1 else numpy.concatenate(rows, axis=1)
        return joined

    def _by_name(self, inputs: Tuple[Any, ...], named: Mapping[str, Any]) -> List[Tuple[str, Any]]:
        names = list(self._inputs)
        if len(inputs) > len(names):
            raise TypeError(f"{len(names)} inputs are wanted, got {len(inputs)}")
        for name in named:
            if name not in names:
                raise TypeError(f"there is no input '{name}'; there are {', '.join(names)}")
            if name in names[: len(inputs)]:
                raise TypeError(f"input '{name}' is given twice")
        missing = [name for name in names[len(inputs) :] if name not in named]
        if missing:
            raise TypeError(f"an array is wanted for each input; there is none for {', '.join(missing)}")
        return [*zip(names, inputs), *named.items()]


def _check_samples(array: NDArray[Any], sample: Tuple[int, ...], what: str) -> None:
    if array.ndim < 1 or array.shape[1:] != sample:
        raise ValueError(
            f"{what}: the shape is {list(array.shape)}; expected a row of samples, each {list(sample)}"
        )


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
        matrix = numpy.zeros((len(classes), len(classes)), numpy.int64)
        for counts, row in zip(matrix, classes):
            answers = row["answers"]
            if isinstance(answers, dict):  # of many classes those that there are
                counts[[int(k) for k in answers]] = list(answers.values())
            else:
                counts[:] = answers
        return matrix

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
    engine: Optional[str] = None,
) -> Evaluation:
    """Evaluate a network on a split; exact: in integers; limit: samples at most, 0: all.

    engine is that of a Runner.

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
        engine=c_text(engine),
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
        number("limit", limit),
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
    if not isinstance(y, numpy.ndarray) or y.dtype != x.dtype or y.shape != x.shape or not y.flags.carray:
        raise ValueError(
            "out must be an array of float32 like the one to be rounded, row-major and writeable"
        )
    if y is not x and numpy.may_share_memory(x, y):
        x = x.copy()
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
