"""The cells of the original's lab 2, in its own words, which run as they are.

What a student's notebook has beside the text: calls, their arguments, and the code that the questions ask
for. docs/lab2_original.md shows the same cells as they run here.
"""

from __future__ import annotations

import pathlib
import re
import typing

import numpy
import pytest

import mase

CELLS = {
    "imports": """
from pprint import pprint

from chop.dataset import MaseDataModule, get_dataset_info
from chop.ir.graph.mase_graph import MaseGraph
from chop.models import get_model, get_model_info
from chop.passes.graph import (
    add_common_metadata_analysis_pass,
    add_software_metadata_analysis_pass,
    init_metadata_analysis_pass,
    profile_statistics_analysis_pass,
    report_node_meta_param_analysis_pass,
    save_node_meta_param_interface_pass,
)
from chop.tools.checkpoint_load import load_model
from chop.tools.get_input import InputGenerator
from chop.tools.logger import set_logging_verbosity

set_logging_verbosity("warning")
""",
    "data": """
batch_size = 8
model_name = "jsc-tiny"
dataset_name = "jsc"

data_module = MaseDataModule(
    name=dataset_name,
    batch_size=batch_size,
    model_name=model_name,
    num_workers=0,
)
data_module.prepare_data()
data_module.setup()
""",
    "model": """
CHECKPOINT_PATH = "mase_output/lab1/software/training_ckpts/best.ckpt"
model_info = get_model_info(model_name)
model = get_model(model_name, task="cls", dataset_info=data_module.dataset_info, pretrained=False)
model = load_model(load_name=CHECKPOINT_PATH, load_type="pl", model=model)
""",
    "input": """
input_generator = InputGenerator(
    data_module=data_module,
    model_info=model_info,
    task="cls",
    which_dataloader="train",
)
dummy_in = next(iter(input_generator))
_ = model(**dummy_in)
""",
    "graph": """
mg = MaseGraph(model=model)
""",
    "metadata": """
mg, _ = init_metadata_analysis_pass(mg, None)
mg, _ = add_common_metadata_analysis_pass(mg, {"dummy_in": dummy_in})
mg, _ = add_software_metadata_analysis_pass(mg, None)
""",
    "report": """
from chop.passes.graph.analysis import report_graph_analysis_pass

_ = report_graph_analysis_pass(mg)
""",
    "profile": """
pass_args = {
    "by": "type",
    "target_weight_nodes": ["linear"],
    "target_activation_nodes": ["relu"],
    "weight_statistics": {
        "variance_precise": {"device": "cpu", "dims": "all"},
    },
    "activation_statistics": {
        "range_quantile": {"device": "cpu", "dims": "all", "quantile": 0.97},
    },
    "input_generator": input_generator,
    "num_samples": 32,
}
mg, _ = profile_statistics_analysis_pass(mg, pass_args)
mg, _ = report_node_meta_param_analysis_pass(mg, {"which": ("software",)})
""",
    "quantise": """
from chop.passes.graph.transforms import quantize_transform_pass, summarize_quantization_analysis_pass

pass_args = {
    "by": "type",
    "default": {"config": {"name": None}},
    "linear": {
        "config": {
            "name": "integer",
            "data_in_width": 8,
            "data_in_frac_width": 4,
            "weight_width": 8,
            "weight_frac_width": 4,
            "bias_width": 8,
            "bias_frac_width": 4,
        }
    },
}
ori_mg = MaseGraph(model=model)
ori_mg, _ = init_metadata_analysis_pass(ori_mg, None)
ori_mg, _ = add_common_metadata_analysis_pass(ori_mg, {"dummy_in": dummy_in})

mg, _ = quantize_transform_pass(mg, pass_args)
summarize_quantization_analysis_pass(ori_mg, mg, save_dir="quantize_summary")
""",
    "traverse": """
from chop.passes.graph.utils import get_mase_op, get_mase_type, get_node_actual_target

for ori_node, node in zip(ori_mg.fx_graph.nodes, mg.fx_graph.nodes):
    was, now = get_node_actual_target(ori_node), get_node_actual_target(node)
    if type(was) != type(now):
        print(node.name, get_mase_type(node), get_mase_op(node), type(was).__name__, type(now).__name__)
""",
    "weights": """
for node in mg.fx_graph.nodes:
    if get_mase_op(node) == "linear":
        layer = get_node_actual_target(node)
        pprint(node.meta["mase"].parameters["common"]["args"]["weight"]["precision"])
        print(layer.w_quantizer(layer.weight)[0, :4], layer.weight[0, :4])
""",
    "save": """
mg, _ = save_node_meta_param_interface_pass(mg, "node_meta_param.toml")
""",
}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> typing.Iterator[typing.Dict[str, typing.Any]]:
    """All cells are run in order; what they named, and under "printed" what each printed."""
    import contextlib
    import io

    folder = tmp_path_factory.mktemp("lab2")
    found: typing.Dict[str, typing.Any] = {"printed": {}}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        mase.train(
            mase.open("jsc-tiny"), mase.Data("jsc"), max_epochs=2, batch_size=256, learning_rate=1e-3,
            checkpoint_dir="mase_output/lab1/software/training_ckpts", progress=False,
        )
        for name, cell in CELLS.items():
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(cell, name, "exec"), found)
            found["printed"][name] = out.getvalue()
        yield found


def test_the_document_shows_these_cells() -> None:
    page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "lab2_original.md"
    shown = re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), flags=re.M | re.S)
    assert shown == [cell.lstrip("\n") for cell in CELLS.values()]


def test_shapes(names: typing.Dict[str, typing.Any]) -> None:
    assert names["dummy_in"]["x"].shape == (8, 16)
    assert names["_"] is not None and names["model"](**names["dummy_in"]).shape == (8, 5)
    common = names["mg"].node("seq_blocks_2").meta["mase"].parameters["common"]
    assert common["args"]["data_in_0"]["shape"] == [8, 16]
    assert common["results"]["data_out_0"]["shape"] == [8, 5]


def test_reports(names: typing.Dict[str, typing.Any]) -> None:
    printed = names["printed"]
    counts = {"placeholder": 1, "get_attr": 0, "call_function": 0, "call_method": 0, "call_module": 4, "output": 1}
    assert str(counts) in printed["report"]
    assert "Linear(in_features=16, out_features=5, bias=True)" in printed["report"]
    for count in (512, 160, 80, 5):
        assert f"'count': {count}," in printed["profile"]
    assert re.search(r"\| Linear +\| linear +\| +1 \| +1 \| +0 \|", printed["quantise"])
    assert sorted(path.name for path in pathlib.Path("quantize_summary").iterdir()) == [
        "quantize_histogram.csv", "quantize_table.csv",
    ]


def test_one_node_changed(names: typing.Dict[str, typing.Any]) -> None:
    assert names["printed"]["traverse"] == "seq_blocks_2 module_related_func linear Linear LinearInteger\n"


def test_weights_are_quantised(names: typing.Dict[str, typing.Any]) -> None:
    assert names["printed"]["weights"].startswith("[8, 4]\n")
    layer = names["layer"]
    rounded = layer.w_quantizer(layer.weight)
    assert (rounded * 16 == numpy.rint(rounded * 16)).all()
    assert rounded.min() >= -8 and rounded.max() <= 7.9375
    assert (rounded != layer.weight).any() and abs(rounded - layer.weight).max() <= 1 / 32


def test_arguments_are_as_before(names: typing.Dict[str, typing.Any]) -> None:
    assert names["pass_args"]["by"] == "type"  # the original takes it out
    again = names["MaseGraph"](model=names["model"])
    again, _ = names["quantize_transform_pass"](again, names["pass_args"])
    x = names["dummy_in"]["x"]
    assert (again(x) == names["mg"](x)).all() and (again(x) != names["ori_mg"](x)).any()


def test_metadata_are_saved(names: typing.Dict[str, typing.Any]) -> None:
    text = pathlib.Path("node_meta_param.toml").read_text("utf-8")
    assert "[seq_blocks_2.common.args.weight]" in text and "precision = [8, 4]" in text


# ---- what the document says differs ----


def profiled(names: typing.Dict[str, typing.Any], op: str, samples: int, **statistics: typing.Any) -> typing.Any:
    """What a profile of the inputs of an operation's node finds, in a new graph."""
    mg = names["MaseGraph"](model=names["model"])
    mg, _ = names["profile_statistics_analysis_pass"](mg, {
        "by": "type", "target_weight_nodes": [], "target_activation_nodes": [op], "weight_statistics": {},
        "activation_statistics": statistics, "input_generator": names["input_generator"], "num_samples": samples,
    })
    node = next(node for node in mg.fx_graph.nodes if node.mase_op == op)
    return node.meta["mase"].parameters["software"]["args"]["data_in_0"]["stat"]


def test_samples_are_counted_and_the_first(names: typing.Dict[str, typing.Any]) -> None:
    found = profiled(names, "batch_norm1d", 30, range_min_max={"dims": "all"})["range_min_max"]
    x = names["data_module"].data.train[:30][0]
    assert (found["count"], found["min"], found["max"]) == (30 * 16, x.min(), x.max())


def test_inputs_alone_and_lists_are_profiled(names: typing.Dict[str, typing.Any]) -> None:
    assert profiled(names, "linear", 32, range_n_sigma={"dims": "all"})["range_n_sigma"]["count"] == 512
    assert len(profiled(names, "linear", 32, range_min_max={"dims": [0]})["range_min_max"]["max"]) == 16


def test_passes_leave_running_statistics_alone(names: typing.Dict[str, typing.Any]) -> None:
    now, fresh = names["mg"].state_dict(), mase.open("jsc-tiny").load(names["CHECKPOINT_PATH"]).state_dict()
    assert all((now[name] == fresh[name]).all() for name in fresh)


def test_validation_is_held_out_unless_asked_for(names: typing.Dict[str, typing.Any]) -> None:
    held = names["data_module"].data
    assert held.count("train") + held.count("validation") == 640000
    both = names["MaseDataModule"](name="jsc", batch_size=8, split="mase").data
    assert both.count("train") == both.count("validation") == 640000


def test_a_function_that_is_quantised_has_changed(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "import torch.nn as nn\nimport torch.nn.functional as F\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(16, 5)\n\n"
        "    def forward(self, x):\n        return F.relu(self.fc(x))\n"
    )
    mg = mase.open(f"{file}:Net", dataset="jsc")
    config = {"name": "integer", "data_in_width": 8, "data_in_frac_width": 4}
    args = {"by": "type", "default": {"config": {"name": None}}, "relu": {"config": config}}
    ori_mg = mg.copy()
    mg, _ = mase.passes.quantize_transform_pass(mg, args)
    assert mase.passes.summarize_quantization_analysis_pass(ori_mg, mg)[1]["changed"] == ["relu"]


def test_bits_are_widths_and_metadata_are_read(names: typing.Dict[str, typing.Any]) -> None:
    _, bits = mase.passes.calculate_avg_bits_mg_analysis_pass(names["mg"], {})
    assert bits["data_avg_bit"] == bits["w_avg_bit"] == 8
    with pytest.raises(TypeError):
        names["mg"].node("seq_blocks_2").meta["mase"].parameters["common"]["mase_op"] = "relu"


def test_quantising_again_takes_the_weights_that_are_there(names: typing.Dict[str, typing.Any]) -> None:
    mg = names["mg"].copy()
    for _ in range(3):
        mg.modules["seq_blocks.2"].weight[...] *= 2
        mg, _info = names["quantize_transform_pass"](mg, names["pass_args"])
    once = names["ori_mg"].copy()
    once.modules["seq_blocks.2"].weight[...] *= 8
    once, _info = names["quantize_transform_pass"](once, names["pass_args"])
    x = names["dummy_in"]["x"]
    assert (mg(x) == once(x)).all()
