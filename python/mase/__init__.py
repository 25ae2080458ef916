"""mase: networks as graphs, opened, looked at, changed, quantised, measured, trained and run.

    import mase

    graph = mase.open("jsc-tiny")
    data = mase.Data("jsc")
    mase.train(graph, data, max_epochs=5, learning_rate=1e-2)
    mase.quantize(graph, {"by": "type", "linear": {"config": {"name": "integer", ...}}})
    print(mase.evaluate(graph, data))

All of it is libmase, called by ctypes; NumPy is imported when the first array is wanted.
"""

from __future__ import annotations

import importlib

from . import _library as _library  # finds the library, or says why not
from ._errors import (
    MaseError,
    MaseFileError,
    MaseFileNotFoundError,
    MaseInternalError,
    MaseLimitError,
    MaseMemoryError,
    MaseParseError,
    MaseUnsupportedError,
    MaseValueError,
)

TYPE_CHECKING = False  # as type checkers know it; typing itself takes its time to import
if TYPE_CHECKING:  # the same as _LAZY below; tests compare them
    from typing import Any, List

    from . import compat as compat
    from . import passes as passes
    from ._own import analysis_pass as analysis_pass
    from ._own import transform_pass as transform_pass
    from ._session import listing as listing
    from .compat import InputGenerator as InputGenerator
    from .compat import MaseDataModule as MaseDataModule
    from .compat import deepcopy_mase_graph as deepcopy_mase_graph
    from .compat import get_dataset_info as get_dataset_info
    from .compat import get_dummy_input as get_dummy_input
    from .compat import get_mase_op as get_mase_op
    from .compat import get_mase_type as get_mase_type
    from .compat import get_model as get_model
    from .compat import get_model_info as get_model_info
    from .compat import get_node_actual_target as get_node_actual_target
    from .compat import load_model as load_model
    from .compat import set_logging_verbosity as set_logging_verbosity
    from .data import Data as Data
    from .data import Split as Split
    from .display import Table as Table
    from .emitting import emit as emit
    from .fx import FxGraph as FxGraph
    from .graph import MaseGraph as MaseGraph
    from .graph import open as open
    from .graph import trace as trace
    from .module import Module as Module
    from .node import Metadata as Metadata
    from .node import Node as Node
    from .passes import Info as Info
    from .passes import Profile as Profile
    from .passes import calibrate as calibrate
    from .passes import explain as explain
    from .passes import profile as profile
    from .passes import quantize as quantize
    from .passes import run_pass as run_pass
    from .passes import transform as transform
    from .running import Evaluation as Evaluation
    from .running import Runner as Runner
    from .running import Verification as Verification
    from .running import evaluate as evaluate
    from .running import predict as predict
    from .running import round as round
    from .running import verify as verify
    from .searching import search as search
    from .study import Objective as Objective
    from .study import Study as Study
    from .study import Trial as Trial
    from .study import studies as studies
    from .sweeping import Run as Run
    from .sweeping import Sweep as Sweep
    from .sweeping import sweep as sweep
    from .training import Epoch as Epoch
    from .training import TrainingResult as TrainingResult
    from .training import train as train

__version__: str = _library.lib.mase_version().decode()

# What is imported when it is first asked for, so that `import mase` takes no time.
_LAZY = {
    "_own": "analysis_pass transform_pass",
    "_session": "listing",
    "compat": "InputGenerator MaseDataModule deepcopy_mase_graph get_dataset_info get_dummy_input "
    "get_mase_op get_mase_type get_model get_model_info get_node_actual_target load_model "
    "set_logging_verbosity",
    "data": "Data Split",
    "display": "Table",
    "emitting": "emit",
    "fx": "FxGraph",
    "graph": "MaseGraph open trace",
    "module": "Module",
    "node": "Metadata Node",
    "passes": "Info Profile calibrate explain profile quantize run_pass transform",
    "running": "Evaluation Runner Verification evaluate predict round verify",
    "searching": "search",
    "study": "Objective Study Trial studies",
    "sweeping": "Run Sweep sweep",
    "training": "Epoch TrainingResult train",
}
_HOME = {name: home for home, names in _LAZY.items() for name in names.split()}
_MODULES = ("compat", "passes")

__all__ = [
    "MaseError",
    "MaseFileError",
    "MaseFileNotFoundError",
    "MaseInternalError",
    "MaseLimitError",
    "MaseMemoryError",
    "MaseParseError",
    "MaseUnsupportedError",
    "MaseValueError",
    "__version__",
    *(name for name in _HOME if name not in ("open", "round")),  # which Python has
    *_MODULES,
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'mase' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted({*__all__, *_HOME})
