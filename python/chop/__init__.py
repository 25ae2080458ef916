"""chop, as the original is called: what was written for it imports its names, and finds ours.

    from chop.ir.graph.mase_graph import MaseGraph
    from chop.passes.graph.transforms import quantize_transform_pass

Each module of the original that notebooks import is a row of _TABLE, with its names and where they are
here. A name that is not here is an ImportError, or an AttributeError, that says what to use instead.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

# Module, where its names are, and those; * stands for all passes.
_TABLE = """
chop                                mase            MaseGraph
chop.dataset                        mase.compat     MaseDataModule get_dataset_info
chop.ir                             mase            MaseGraph
chop.ir.graph                       mase            MaseGraph
chop.ir.graph.mase_graph            mase            MaseGraph
chop.ir.graph.mase_metadata         mase.compat     MaseMetadata
chop.models                         mase.compat     get_model get_model_info
chop.passes                         mase.passes     *
chop.passes.analysis                mase.passes     *
chop.passes.graph                   mase.passes     * PASSES ANALYSIS_PASSES TRANSFORM_PASSES
chop.passes.graph.analysis          mase.passes     *
chop.passes.graph.interface         mase.passes     *
chop.passes.graph.mase_graph        mase            MaseGraph
chop.passes.graph.transforms        mase.passes     *
chop.passes.graph.utils             mase.compat     deepcopy_mase_graph get_mase_op get_mase_type get_node_actual_target
chop.passes.transforms              mase.passes     *
chop.passes.utils                   mase.compat     deepcopy_mase_graph get_mase_op get_mase_type get_node_actual_target
chop.tools                          mase.compat     get_logger set_logging_verbosity
chop.tools.checkpoint_load          mase.compat     load_model
chop.tools.get_input                mase.compat     InputGenerator get_cf_args get_dummy_input
chop.tools.logger                   mase.compat     get_logger set_logging_verbosity
"""

# Files of the original in which passes stand, below chop.passes.graph.
_FILES = """
analysis.add_metadata analysis.add_metadata.add_common_metadata analysis.add_metadata.add_hardware_metadata
analysis.add_metadata.add_software_metadata analysis.init_metadata analysis.quantization
analysis.quantization.calculate_avg_bits analysis.report analysis.report.report_graph
analysis.report.report_node analysis.statistical_profiler analysis.statistical_profiler.profile_statistics
analysis.verify analysis.verify.verify interface.save_and_load transforms.interface transforms.pruning
transforms.pruning.prune transforms.quantize transforms.quantize.quantize transforms.quantize.summary
"""

# What stands for a name, or for all that lies below a module, that is not here.
_INSTEAD = {
    "chop.actions": "mase.train, mase.evaluate and mase.transform, or ch on the command line",
    "chop.actions.search": "ch search on the command line",
    "chop.distributed": "one machine computes here",
    "chop.models": "get_model takes the name of a model; MaseGraph(model) one of your own",
    "chop.nn": "quantize_transform_pass makes quantised layers, type(layer).__name__ says which; mase.round "
    "rounds numbers",
    "chop.passes.graph": "dir(mase.passes) lists all passes; ch emit c writes a network in integers as C",
    "chop.passes.module": "passes take graphs here: those of chop.passes.graph",
    "chop.pipelines": "mase.transform runs the passes of a table in their order",
    "chop.plt_wrapper": "mase.train",
    "chop.tools.config_load": "mase.transform takes the path of a configuration; tomllib reads one",
    "get_parent_name": "graph.modules has layers by their whole paths; graph.model.NAME goes by containers",
    "get_tokenized_dataset": "texts are no data of this library",
    "get_tokenizer": "texts are no data of this library",
    "get_trainer": "mase.train",
    "plt_wrapper": "mase.train",
}


def _rows() -> Dict[str, Dict[str, str]]:
    """{module: {name: where it is}}."""
    rows: Dict[str, Dict[str, str]] = {}
    for line in _TABLE.strip().split("\n"):
        module, home, *names = line.split()
        rows[module] = {name: home for name in names}
    for file in _FILES.split():
        rows[f"chop.passes.graph.{file}"] = {"*": "mase.passes"}
    return rows


_MODULES = _rows()


def _names(module: str) -> List[str]:
    """What a module has."""
    found: List[str] = []
    for name, home in _MODULES[module].items():
        found += importlib.import_module(home).names() if name == "*" else [name]
    return sorted(found)


def _passes(name: str) -> Any:
    """The original's lists of passes: PASSES has functions by their short names."""
    passes: Any = importlib.import_module("mase.passes")
    if name == "PASSES":
        return {short: getattr(passes, long) for long, short in passes.names().items()}
    kind = name.split("_")[0].lower()
    return [short for long, short in passes.names().items() if long.endswith(f"_{kind}_pass")]


def _found(module: str, name: str) -> Any:
    """What a module's name stands for; AttributeError: it has none of this name."""
    if f"{module}.{name}" in _MODULES:
        return importlib.import_module(f"{module}.{name}")
    row = _MODULES[module]
    if name == "__all__":
        return _names(module)
    if name.endswith("PASSES") and name in row:
        return _passes(name)
    if name in row or ("*" in row and name.endswith("_pass")):
        try:
            return getattr(importlib.import_module(row.get(name) or row["*"]), name)
        except AttributeError:
            pass
    raise AttributeError(_why(module, name))


def _why(module: str, name: str) -> str:
    """Why a name is not here, and what is."""
    import difflib

    instead = _INSTEAD.get(name)
    above = f"{module}.{name}"
    while not instead and above:
        instead = _INSTEAD.get(above)
        above = above.rpartition(".")[0]
    near = difflib.get_close_matches(name, _names(module), 1, 0.85) if module in _MODULES else []
    if near:
        instead = f"did you mean {near[0]}?"
    return f"{module} has no '{name}' here" + (f": {instead}" if instead else "")


class _Module(types.ModuleType):
    """A module of the original. All are packages, so that importing what one lacks asks _Finder."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")
        value = _found(self.__name__, name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> List[str]:
        below = [m.rpartition(".")[2] for m in _MODULES if m.rpartition(".")[0] == self.__name__]
        return sorted({*super().__dir__(), *_names(self.__name__), *below})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes the modules; of others it says what to use instead."""

    def find_spec(
        self, fullname: str, path: Optional[Sequence[str]] = None, target: Any = None
    ) -> Optional[ModuleSpec]:
        if not fullname.startswith(__name__ + "."):
            return None
        if fullname not in _MODULES:
            module, _, name = fullname.rpartition(".")
            raise ImportError(_why(module, name), name=fullname)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> _Module:
        return _Module(spec.name, f"{spec.name} of the original; see chop.")

    def exec_module(self, module: types.ModuleType) -> None:
        pass


sys.modules[__name__].__class__ = _Module
sys.meta_path.insert(0, _Finder())
