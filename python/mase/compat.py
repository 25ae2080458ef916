"""Names of the original, so that what was written for it runs; chop has them as it imports them.

A model is a MaseGraph here: get_model gives one, load_model fills it, MaseGraph(model=model) copies
it. Batches are NumPy's arrays.
"""

from __future__ import annotations

import copy
import logging
import os
from typing import Any, Dict, Iterator, Mapping, Optional, Tuple, Union

from . import _session
from ._library import call, lib
from .data import Data, at_least_one
from .graph import MaseGraph, open as open_graph
from .node import Metadata as MaseMetadata
from .node import Node
from .passes import Info, run_pass

__all__ = [
    "DatasetInfo",
    "InputGenerator",
    "MaseMetadata",
    "MaseDataModule",
    "ModelInfo",
    "deepcopy_mase_graph",
    "get_cf_args",
    "get_dataset_info",
    "get_dummy_input",
    "get_logger",
    "get_mase_op",
    "get_mase_type",
    "get_model",
    "get_model_info",
    "get_node_actual_target",
    "load_model",
    "set_logging_verbosity",
    "summarize_quantization_analysis_pass",
]


def set_logging_verbosity(level: Union[str, int] = "info") -> None:
    """The least level of log lines to be shown, on the error stream: "debug" ... "critical"."""
    number = level if isinstance(level, int) else getattr(logging, level.upper(), None)
    if not isinstance(number, int):
        raise ValueError(f"'{level}' is no level; there are debug, info, warning, error, critical")
    logger = _session.logger
    logger.setLevel(number)
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(levelname)-8s %(message)s"))
        logger.addHandler(handler)
    logger.info("Set logging level to %s", logging.getLevelName(number).lower())


def get_logger(name: str = "chop") -> logging.Logger:
    """The logger of this name; the original's own is ours."""
    return logging.getLogger("mase" if name.partition(".")[0] == "chop" else name)


# ---- data ----


def _row(what: str, name: str) -> Dict[str, Any]:
    """The row of a list of the library's by its name; '-' and '_' are the same."""
    wanted = name.replace("-", "_")
    for row in _session.listing(what):
        if row["name"].replace("-", "_") == wanted:
            return row
    known = ", ".join(row["name"] for row in _session.listing(what))
    raise ValueError(f"{what[:-1]} {name} is not known; there are {known}")


class DatasetInfo:
    """What a model must know of a data set."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.name: str = row["name"]
        self.num_classes: Optional[int] = row["classes"]
        sample = tuple(row["sample"] or ())
        self.sample = sample
        self.num_features: Optional[int] = sample[0] if len(sample) == 1 else None
        self.image_size: Optional[Tuple[int, ...]] = sample if len(sample) == 3 else None
        self.available_splits = ("train", "validation", "test")
        self.help: str = row["help"]

    def __repr__(self) -> str:
        return f"DatasetInfo({self.name}: samples {list(self.sample)}, {self.num_classes} classes)"


def get_dataset_info(name: str) -> DatasetInfo:
    """What is known of a data set before it is opened."""
    return DatasetInfo(_row("datasets", name))


class Loader:
    """Batches (x, y) of a split. Those that train come in another order each time."""

    def __init__(self, data: Data, split: str, batch_size: int, shuffle: bool = False) -> None:
        self.data, self.split, self.shuffle = data, split, shuffle
        self.batch_size = at_least_one("batch_size", batch_size)
        self._epoch = 0

    def __len__(self) -> int:
        return -(-self.data.count(self.split) // self.batch_size)

    def __iter__(self) -> Iterator[Tuple[Any, Any]]:
        if not self.shuffle:
            yield from self.data.split(self.split).batches(self.batch_size)
            return
        import numpy

        x, y = self.data.read(self.split)
        order = numpy.random.default_rng(self._epoch).permutation(len(x))
        self._epoch += 1
        for first in range(0, len(x), self.batch_size):
            part = order[first : first + self.batch_size]
            yield x[part], y[part]


class MaseDataModule:
    """A data set with loaders, as the original has it. Workers, tokenizers and caches do nothing."""

    def __init__(
        self,
        name: str,
        batch_size: int,
        num_workers: Optional[int] = None,
        max_token_len: Optional[int] = None,
        tokenizer: Any = None,
        load_from_cache_file: bool = True,
        model_name: Optional[str] = None,
        **options: Any,
    ) -> None:
        if tokenizer is not None:
            raise NotImplementedError("texts are no data of this library: tokenizer")
        self.name = name
        self.batch_size = at_least_one("batch_size", batch_size)
        self.model_name = model_name
        self._options = options
        self._data: Optional[Data] = None

    @property
    def dataset_info(self) -> DatasetInfo:
        return get_dataset_info(self.name)

    def prepare_data(self) -> None:
        """Open or make the data, so that setup finds them."""
        self._data = self._data or Data(self.name, **self._options)

    def setup(self, stage: Optional[str] = None) -> None:
        """Make all splits ready."""
        self.prepare_data()

    @property
    def data(self) -> Data:
        """The samples."""
        self.prepare_data()
        assert self._data is not None
        return self._data

    def train_dataloader(self) -> Loader:
        return Loader(self.data, "train", self.batch_size, shuffle=True)

    def val_dataloader(self) -> Loader:
        return Loader(self.data, "validation", self.batch_size)

    def test_dataloader(self) -> Loader:
        return Loader(self.data, "test", self.batch_size)

    pred_dataloader = test_dataloader


_LOADERS = {"train": "train", "val": "validation", "validation": "validation", "test": "test"}


class InputGenerator:
    """An iterator of inputs {"x": array} of a split, which begins anew when it has ended."""

    def __init__(
        self,
        data_module: MaseDataModule,
        model_info: Optional[ModelInfo] = None,
        task: str = "cls",
        which_dataloader: str = "train",
        max_batches: Optional[int] = None,
    ) -> None:
        if which_dataloader not in _LOADERS:
            raise ValueError(f"which_dataloader is one of train, val, test, not {which_dataloader}")
        self.split = _LOADERS[which_dataloader]
        self.data_module = data_module
        self.batch_size = data_module.batch_size
        self.max_batches = max_batches
        self._loader = Loader(data_module.data, self.split, self.batch_size, self.split == "train")
        self._batches: Optional[Iterator[Tuple[Any, Any]]] = None
        self._given = 0

    @property
    def data(self) -> Data:
        """The samples that it reads."""
        return self.data_module.data

    def __iter__(self) -> InputGenerator:
        return self

    def __next__(self) -> Dict[str, Any]:
        if self.max_batches is not None and self._given >= self.max_batches:
            self._given = 0
            raise StopIteration
        if self._batches is None:
            self._batches = iter(self._loader)
        batch = next(self._batches, None)
        if batch is None:
            self._batches = iter(self._loader)
            batch = next(self._batches)
        self._given += 1
        return {"x": batch[0]}


def get_dummy_input(
    model_info: Any, data_module: MaseDataModule, task: str = "cls", device: Any = None
) -> Dict[str, Any]:
    """The first sample that trains, as a batch of one."""
    return {"x": data_module.data.read("train", 0, 1)[0]}


def get_cf_args(model_info: Any = None, task: str = "cls", model: Any = None) -> Dict[str, Any]:
    """Arguments of forward that a graph fixes: none, of models that are graphs already."""
    return {}


# ---- models ----


class ModelInfo:
    """What is known of a model by name: name, class_name, task_type, dataset, help."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.name: str = row["name"]
        self.class_name: str = row["class"]
        self.task_type: str = row["task"]
        self.dataset: Optional[str] = row["dataset"]
        self.help: str = row["help"]
        self.is_fx_traceable = True

    def __repr__(self) -> str:
        return f"ModelInfo({self.name}: {self.help})"


def get_model_info(name: str) -> ModelInfo:
    """What is known of a model."""
    return ModelInfo(_row("models", name))


def get_model(
    name: str,
    task: str = "cls",
    dataset_info: Optional[DatasetInfo] = None,
    pretrained: bool = False,
    checkpoint: Optional[str] = None,
    quant_config: Any = None,
    seed: int = 0,
) -> MaseGraph:
    """A model by name, for samples of a data set, with weights from the seed or a checkpoint."""
    if pretrained and checkpoint is None:
        raise NotImplementedError(
            f"weights of a trained {name} do not come with the library; give checkpoint, a file"
        )
    if quant_config is not None:
        raise NotImplementedError("quant_config: models are quantised by the pass quantize")
    dataset = None if dataset_info is None else dataset_info.name
    return open_graph(name, dataset=dataset, task=task, seed=seed, weights=checkpoint)


def load_model(
    load_name: Union[str, os.PathLike[str], None],
    load_type: str = "mz",
    model: Optional[MaseGraph] = None,
) -> MaseGraph:
    """Weights from a file into the model, which is returned ("pl", "pt"); or a saved graph ("mz")."""
    if load_type not in ("pt", "pl", "mz", "hf"):
        raise ValueError(f"load_type is one of pt, pl, mz, not '{load_type}'")
    if load_type == "mz" or model is None:
        if load_name is None:
            raise ValueError("load_name is missing")
        return open_graph(load_name)
    return model if load_name is None else model.load(load_name)


# ---- nodes ----


def get_mase_op(node: Node) -> str:
    """The operation of a node: "linear"."""
    return node.mase_op


def get_mase_type(node: Node) -> str:
    """Its type: "module_related_func"."""
    return node.mase_type


def get_node_actual_target(node: Node) -> Any:
    """The layer that a node calls, else its target."""
    return node.module if node.op == "call_module" else node.target


def deepcopy_mase_graph(graph: MaseGraph) -> MaseGraph:
    """A second graph like it, with weights and metadata of its own."""
    return copy.deepcopy(graph)


# ---- the summary of two graphs ----


def summarize_quantization_analysis_pass(
    graph: MaseGraph, pass_args: Any = None, save_dir: Any = None
) -> Tuple[MaseGraph, Info]:
    """What quantisation changed, node by node and by type.

    As (original, graph, save_dir), or (graph, {"original_graph": original, "save_dir": folder}):
    compares the two. Without an original the graph is compared with itself before its newest
    transform. The summary is printed; quantize_table.csv and quantize_histogram.csv go to save_dir.
    """
    original = None
    if isinstance(pass_args, MaseGraph):
        original, graph = graph, pass_args
    elif pass_args:
        pass_args = dict(pass_args)
        original = pass_args.pop("original_graph", None)
        save_dir = pass_args.pop("save_dir", save_dir)
    if original is not None:
        call(lib.mase_net_set_original, graph._pointer, original._pointer)
    args = None if save_dir is None else {"save_dir": save_dir}
    graph, info = run_pass(graph, "summarize_quantization", args)
    print(info.text.rstrip("\n"))
    return graph, info
