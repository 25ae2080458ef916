"""The original's names: what notebooks import is here under its name, and what is not says so."""

from __future__ import annotations

import importlib
import logging
import subprocess
import sys
import typing

import pytest

import mase
from test_library import python

# Import lines of notebooks, labs and scripts that were written for the original.
LINES = """
from chop.dataset import MaseDataModule, get_dataset_info
from chop.ir import MaseGraph
from chop.ir.graph.mase_graph import MaseGraph
from chop.ir.graph.mase_metadata import MaseMetadata
from chop.passes.graph.mase_graph import MaseGraph
from chop import MaseGraph
from chop.models import get_model_info, get_model
from chop.passes.graph import PASSES
from chop.passes.graph import save_node_meta_param_interface_pass, report_node_meta_param_analysis_pass
from chop.passes.graph import profile_statistics_analysis_pass, init_metadata_analysis_pass
from chop.passes.graph.analysis import report_graph_analysis_pass, calculate_avg_bits_mg_analysis_pass
from chop.passes.graph.analysis import verify_common_metadata_analysis_pass, report_node_type_analysis_pass
from chop.passes.graph.analysis.add_metadata.add_common_metadata import add_common_metadata_analysis_pass
from chop.passes.graph.analysis.init_metadata import init_metadata_analysis_pass
from chop.passes.graph.analysis.report.report_node import report_node_shape_analysis_pass
from chop.passes.graph.analysis.statistical_profiler import profile_statistics_analysis_pass
from chop.passes.graph.interface import load_mase_graph_interface_pass, save_mase_graph_interface_pass
from chop.passes.graph.transforms import prune_transform_pass, quantize_transform_pass
from chop.passes.graph.transforms import summarize_quantization_analysis_pass
from chop.passes.graph.transforms.quantize.quantize import quantize_transform_pass
from chop.passes.graph.utils import deepcopy_mase_graph, get_mase_op, get_mase_type, get_node_actual_target
from chop.passes.analysis import add_common_metadata_analysis_pass
from chop.tools import get_logger
from chop.tools.checkpoint_load import load_model
from chop.tools.get_input import InputGenerator, get_cf_args, get_dummy_input
from chop.tools.logger import get_logger, set_logging_verbosity
import chop
import chop as chop
import chop.passes as passes
import chop.passes.graph.transforms
"""


@pytest.mark.parametrize("line", LINES.strip().split("\n"))
def test_names_of_the_original_are_here(line: str) -> None:
    found: typing.Dict[str, typing.Any] = {}
    exec(line, found)
    names = line.partition(" import ")[2].split(", ")
    assert all(found[name] is not None for name in names if line.startswith("from"))
    assert found.get("MaseGraph", mase.MaseGraph) is mase.MaseGraph


MISSING = [
    ("from chop.models import get_tokenizer", "texts are no data"),
    ("from chop.tools import get_trainer", "mase.train"),
    ("from chop.actions import train", "mase.train"),
    ("from chop.actions.search.search_space.base import SearchSpaceBase", "mase.train"),
    ("import chop.plt_wrapper", "mase.train"),
    ("from chop.nn.quantized.modules import LinearInteger", "quantize_transform_pass"),
    ("from chop.passes.graph import quantize_tensorrt_transform_pass", "chop.passes.graph has no"),
    ("from chop.passes.graph.transforms import emit_verilog_top_transform_pass", "ch emit c"),
    ("from chop.passes.graph.transforms import quantise_transform_pass", "did you mean quantize_transform_pass"),
    ("from chop.passes.graph.utils import get_parent_name", "graph.modules"),
    ("from chop.passes.module import report_trainable_parameters_analysis_pass", "passes take graphs"),
    ("from chop.tools.config_load import load_config", "tomllib"),
    ("from chop.dataset import get_dataset_inf", "did you mean get_dataset_info"),
    ("import chop.no_such", "chop has no 'no_such' here"),
    ("from chop import AutoPipelineForCompression", "has no 'AutoPipelineForCompression' here"),
]


@pytest.mark.parametrize("line, said", MISSING)
def test_what_is_not_here_says_what_is(line: str, said: str) -> None:
    with pytest.raises(ImportError) as error:
        exec(line, {})
    assert said in str(error.value), str(error.value)


def test_attributes_that_are_not_here_say_so() -> None:
    chop = importlib.import_module("chop")
    with pytest.raises(AttributeError, match="texts are no data"):
        chop.models.get_tokenizer
    assert not hasattr(chop.models, "get_tokenizer") and hasattr(chop.models, "get_model")
    assert "get_model" in dir(chop.models) and "models" in dir(chop)
    assert chop.passes.graph.transforms.quantize_transform_pass is mase.passes.quantize_transform_pass
    everything: typing.Dict[str, typing.Any] = {}
    exec("from chop.passes.graph.analysis import *", everything)
    assert "report_graph_analysis_pass" in everything


def test_lists_of_passes_are_the_original_s(graph: mase.MaseGraph) -> None:
    from chop.passes.graph import ANALYSIS_PASSES, PASSES, TRANSFORM_PASSES

    assert PASSES["quantize"] is mase.passes.quantize_transform_pass
    assert "report_graph" in ANALYSIS_PASSES and "quantize" in TRANSFORM_PASSES
    assert set(ANALYSIS_PASSES) | set(TRANSFORM_PASSES) <= set(PASSES)
    assert PASSES["init_metadata"](graph, None)[0] is graph


def test_the_logger_is_ours() -> None:
    from chop.tools.logger import get_logger

    assert get_logger("chop") is logging.getLogger("mase") is get_logger("chop.passes")
    assert get_logger("notebook") is logging.getLogger("notebook")


def test_arguments_of_forward_are_none(graph: mase.MaseGraph) -> None:
    from chop.tools.get_input import get_cf_args

    args = get_cf_args(model_info=None, task="cls", model=graph)
    assert mase.MaseGraph(model=graph, cf_args=args).text() == graph.text()


def test_importing_it_imports_little() -> None:
    done = python(
        "import chop, sys; from chop.passes.graph import quantize_transform_pass;"
        "print([m for m in ('numpy', 'torch') if m in sys.modules])"
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_other_modules_are_found_as_before() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.path[:0] = sys.argv[1:]; import chop\ntry: import chopper\n"
         "except ModuleNotFoundError as error: print(error)", mase.__path__[0] + "/.."],
        capture_output=True, text=True, check=False,
    )
    assert done.stdout == "No module named 'chopper'\n", done.stderr
