"""Samples with what they should become, in splits: by name, from a file, or from arrays."""

from __future__ import annotations

import ctypes
import json
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NoReturn, Optional, Sequence, Tuple

from ._library import Arrays, Handle, TableRows, c_path, c_text, call, call_text, dims, lib, number
from ._options import options_text
from ._session import session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .graph import MaseGraph

SPLITS = ("train", "validation", "test")


class Data:
    """Samples of a data set.

    Data("jsc") opens one by name, Data("csv:FILE:LABEL"), Data("table.npz") or Data("jets.h5") a
    file. Data(x, y) takes arrays, or anything with DLPack or __array__: x is (count, ...), y
    (count) whole numbers, the classes, or (count, targets) numbers to predict. They are copied once.

    options are those of the command line: task, label, features, split, split_by, split_seed,
    scaling, drop_nan, data_dir, require_real_data, ... trained is the graph that they are for:
    its training data decide how features are scaled. Of arrays, the first `train` rows train, the
    next `validation` ones validate and the rest test; without them a fifth tests, and a tenth of the
    rest validates. Arrays are taken as they are; scaling="standard" scales them. Without y they are
    samples alone, for passes that run a network.
    """

    def __init__(
        self,
        x: Any,
        y: Any = None,
        *,
        trained: Optional[MaseGraph] = None,
        name: Optional[str] = None,
        classes: int = 0,
        class_names: Optional[Sequence[str]] = None,
        train: int = 0,
        validation: int = 0,
        **options: Any,
    ) -> None:
        out = ctypes.c_void_p()
        if isinstance(x, str) or hasattr(x, "__fspath__"):
            if y is not None:
                raise TypeError("data by name have their own answers: y is for arrays")
            if name is not None or classes or class_names is not None or train or validation:
                raise TypeError(
                    "name, classes, class_names, train and validation are for arrays; split divides data"
                    " by name"
                )
            net = None if trained is None else trained._pointer
            spec = c_path(x)
            call(
                lib.mase_rows_open, session(), ctypes.byref(out), spec, options_text(options), net
            )
        else:
            if trained is not None:
                raise TypeError(
                    "trained is for data by name: arrays are taken as they are, or scaled as scaling says"
                )
            arrays, keep = _arrays(x, y, name, classes, class_names)
            arrays.train, arrays.validation = train, validation
            options.setdefault("scaling", "none")
            if arrays.targets:
                options.setdefault("task", "regression")
            text = options_text(options)
            call(lib.mase_rows_from, session(), ctypes.byref(out), ctypes.byref(arrays), text)
            del keep
        assert out.value is not None
        self._handle = Handle(out.value, lib.mase_rows_free)
        self._info: Optional[Dict[str, Any]] = None

    @property
    def _pointer(self) -> int:
        return self._handle.pointer

    @property
    def info(self) -> Dict[str, Any]:
        """What they are: name, source, simulated, notice, rows, sample, classes, class_names, ..."""
        if self._info is None:
            self._info = json.loads(call_text(lib.mase_rows_info, self._pointer))
        return self._info

    @property
    def name(self) -> str:
        return str(self.info["name"])

    @property
    def sample(self) -> Tuple[int, ...]:
        """The shape of a sample."""
        return tuple(self.info["sample"])

    @property
    def classes(self) -> int:
        return int(self.info["classes"] or 0)

    @property
    def class_names(self) -> List[str]:
        return list(self.info.get("class_names") or [])

    @property
    def feature_names(self) -> List[str]:
        return list(self.info.get("feature_names") or [])

    @property
    def targets(self) -> int:
        """Numbers of a sample to predict; 0: it has a class."""
        return int(self.info.get("targets") or 0)

    def count(self, split: str) -> int:
        """How many samples a split has."""
        count = int(lib.mase_rows_count(self._pointer, c_text(split)))
        if count < 0:
            raise ValueError(f"there is no split '{split}'; there are {', '.join(SPLITS)}")
        return count

    def __len__(self) -> int:
        return sum(self.count(split) for split in SPLITS)

    @property
    def train(self) -> Split:
        """The samples that train."""
        return Split(self, "train")

    @property
    def validation(self) -> Split:
        """The samples that validate."""
        return Split(self, "validation")

    @property
    def test(self) -> Split:
        """The samples that test."""
        return Split(self, "test")

    def split(self, name: str) -> Split:
        """A split by its name."""
        self.count(name)
        return Split(self, name)

    def read(self, split: str, first: int = 0, n: Optional[int] = None) -> Tuple[Any, Any]:
        """n samples of a split from first on (None: all): x, and labels, targets or None."""
        import numpy

        first = number("first", first)
        n = self.count(split) - first if n is None else number("n", n)
        x = numpy.empty((n, *self.sample), numpy.float32)
        labels = numpy.empty(n, numpy.int32) if self.classes and not self.targets else None
        targets = numpy.empty((n, self.targets), numpy.float32) if self.targets else None
        where = [None if a is None else a.ctypes.data for a in (x, labels, targets)]
        call(lib.mase_rows_read, self._pointer, c_text(split), first, n, *where)
        return x, labels if targets is None else targets

    def table(self, split: str) -> Tuple[Any, Any, Any]:
        """The table behind all splits without copying, read-only: features (rows, columns), labels
        or targets, and the numbers of the split's rows. ValueError: pictures have none."""
        from ._arrays import view

        table = TableRows()
        call(lib.mase_rows_table, self._pointer, ctypes.byref(table), c_text(split))
        if not table.x:
            raise ValueError("these samples are no table of numbers: read them")
        rows = table.rows
        x = view(self._handle, table.x, (rows, table.stride), "float32", True)
        index = view(self._handle, table.split, (table.count,), "uint32", True)
        if table.labels:
            y = view(self._handle, table.labels, (rows,), "int32", True)
        else:
            y = view(self._handle, table.targets, (rows, self.targets), "float32", True)
        return x, y, index

    def __copy__(self) -> Data:
        return self  # nobody can change them

    def __deepcopy__(self, _memo: Any) -> Data:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("Data are not pickled: open or make them anew where they are wanted")

    def _repr_html_(self) -> str:
        from .display import data_table

        return data_table(self)._repr_html_()

    def __repr__(self) -> str:
        splits = ", ".join(f"{self.count(split)} {split}" for split in SPLITS)
        what = " (simulated)" if self.info.get("simulated") else ""
        return f"Data({self.name}{what}: {splits}; samples {list(self.sample)})"


def at_least_one(what: str, value: Any) -> int:
    """A count that is not 0."""
    count = number(what, value)
    if count < 1:
        raise ValueError(f"{what} is {count}")
    return count


class Split:
    """One split of Data: its x and y, parts of it by slices, batches."""

    def __init__(self, data: Data, name: str) -> None:
        self.data = data
        self.name = name

    def __len__(self) -> int:
        return self.data.count(self.name)

    @property
    def x(self) -> Any:
        """All samples, (count, ...)."""
        return self.data.read(self.name)[0]

    @property
    def y(self) -> Any:
        """All labels, or targets."""
        return self.data.read(self.name)[1]

    def __getitem__(self, part: slice) -> Tuple[Any, Any]:
        if not isinstance(part, slice):
            raise TypeError(f"parts of a split are slices, as train[0:8], not {part!r}")
        rows = range(*part.indices(len(self)))
        first = min(rows, default=0)
        x, y = self.data.read(self.name, first, max(rows, default=-1) + 1 - first)
        return x[:: rows.step], None if y is None else y[:: rows.step]

    def batches(self, size: int) -> Iterator[Tuple[Any, Any]]:
        """x and y of size samples at a time, in order; the last may be smaller."""
        for first in range(0, len(self), at_least_one("the size of a batch", size)):
            yield self.data.read(self.name, first, min(size, len(self) - first))

    def __repr__(self) -> str:
        return f"{self.name} of {self.data.name}: {len(self)} samples"


def _arrays(
    x: Any, y: Any, name: Optional[str], classes: int, class_names: Optional[Sequence[str]]
) -> Tuple[Any, Any]:
    """The struct for arrays, and what must live as long as it is read."""
    from ._arrays import address, as_array

    x = as_array(x, "float32")
    if x.ndim < 1:
        raise ValueError("x has no samples: it is a single number")
    if class_names is not None and classes not in (0, len(class_names)):
        raise ValueError(f"there are {classes} classes, and {len(class_names)} names of classes")
    arrays = Arrays(
        name=c_text(name),
        x=address(x),
        count=len(x),
        shape=dims(x.shape[1:]),
        rank=x.ndim - 1,
        classes=classes,
    )
    keep: List[Any] = [x]
    if y is None:  # samples alone
        return arrays, keep
    y = as_array(y)
    if y.ndim < 1:
        raise ValueError("y is a single number: a label or target for each sample is wanted")
    if len(y) != len(x):
        raise ValueError(f"x has {len(x)} samples, and y has {len(y)}")
    if y.dtype.kind in "iub" and y.ndim == 1:
        keep.append(as_array(y, "int32"))
        arrays.labels = address(keep[-1])
    elif classes or class_names is not None:
        raise TypeError(
            f"classes are whole numbers, one for each sample; y has {list(y.shape)} of type {y.dtype}"
        )
    else:
        keep.append(as_array(y, "float32"))
        arrays.targets = address(keep[-1])
        arrays.target_count = keep[-1].size // max(len(x), 1)
    if class_names is not None:
        keep.append((ctypes.c_char_p * len(class_names))(*(c_text(n) for n in class_names)))
        arrays.class_names = keep[-1]
        arrays.classes = len(class_names)
    return arrays, keep
