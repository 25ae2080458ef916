"""Lab 2's notebook of the original, step by step: only the imports are ours."""

from __future__ import annotations

import pathlib
import typing

import numpy
import pytest

import mase
from mase.compat import (
    InputGenerator,
    MaseDataModule,
    deepcopy_mase_graph,
    get_dataset_info,
    get_mase_op,
    get_mase_type,
    get_model,
    get_model_info,
    get_node_actual_target,
    load_model,
    set_logging_verbosity,
)
from mase.graph import MaseGraph
from mase.passes import (
    add_common_metadata_analysis_pass,
    add_software_metadata_analysis_pass,
    calculate_avg_bits_mg_analysis_pass,
    init_metadata_analysis_pass,
    profile_statistics_analysis_pass,
    quantize_transform_pass,
    report_graph_analysis_pass,
    report_node_meta_param_analysis_pass,
    summarize_quantization_analysis_pass,
)


@pytest.fixture(scope="module")
def data_module() -> MaseDataModule:
    set_logging_verbosity("warning")
    module = MaseDataModule(name="jsc", batch_size=8, model_name="jsc-tiny", num_workers=0)
    module.prepare_data()
    module.setup()
    return module


def test_lab_2(
    data_module: MaseDataModule, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model_name = "jsc-tiny"
    checkpoint = tmp_path / "ckpt" / "best.ckpt"
    trained = get_model(model_name, task="cls", dataset_info=data_module.dataset_info, pretrained=False)
    mase.train(
        trained, data_module.data, max_epochs=1, batch_size=1024, learning_rate=1e-2,
        checkpoint_dir=checkpoint.parent, progress=False,
    )

    model_info = get_model_info(model_name)
    model = get_model(model_name, task="cls", dataset_info=data_module.dataset_info, pretrained=False)
    model = load_model(load_name=str(checkpoint), load_type="pl", model=model)
    input_generator = InputGenerator(
        data_module=data_module, model_info=model_info, task="cls", which_dataloader="train"
    )
    dummy_in = next(iter(input_generator))
    assert dummy_in["x"].shape == (8, 16)
    assert model(**dummy_in).shape == (8, 5)

    mg = MaseGraph(model=model)
    mg, _ = init_metadata_analysis_pass(mg, None)
    mg, _ = add_common_metadata_analysis_pass(mg, {"dummy_in": dummy_in})
    mg, _ = add_software_metadata_analysis_pass(mg, None)
    capsys.readouterr()
    _ = report_graph_analysis_pass(mg)
    out = capsys.readouterr().out
    assert "'call_module': 4, 'output': 1}" in out and "BatchNorm1d(16" in out

    pass_args: typing.Dict[str, typing.Any] = {
        "by": "type",
        "target_weight_nodes": ["linear"],
        "target_activation_nodes": ["relu"],
        "weight_statistics": {"variance_precise": {"device": "cpu", "dims": "all"}},
        "activation_statistics": {"range_quantile": {"device": "cpu", "dims": "all", "quantile": 0.97}},
        "input_generator": input_generator,
        "num_samples": 32,
    }
    mg, _ = profile_statistics_analysis_pass(mg, pass_args)
    mg, _ = report_node_meta_param_analysis_pass(mg, {"which": ("software",)})
    out = capsys.readouterr().out
    for count in ("512", "160", "80", "5"):
        assert f"'count': {count}" in out

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
    summarize_quantization_analysis_pass(ori_mg, mg, save_dir=str(tmp_path / "quantize_summary"))
    assert "Linear" in (tmp_path / "quantize_summary" / "quantize_histogram.csv").read_text()

    changed = []
    for ori_node, node in zip(ori_mg.fx_graph.nodes, mg.fx_graph.nodes):
        assert get_mase_op(ori_node) == get_mase_op(node)
        assert get_mase_type(ori_node) == get_mase_type(node)
        was, now = get_node_actual_target(ori_node), get_node_actual_target(node)
        if type(was) is not type(now):
            changed.append((node.name, type(was).__name__, type(now).__name__))
    assert changed == [("seq_blocks_2", "Linear", "LinearInteger")]

    for node in mg.fx_graph.nodes:
        if get_mase_op(node) == "linear":
            args = node.meta["mase"].parameters["common"]["args"]
            assert args["weight"]["precision"] == [8, 4]
            assert args["weight"]["type"] == "integer"
            layer = mg.modules["seq_blocks.2"]
            rounded = layer.w_quantizer(layer.weight)
            assert ((rounded * 16) % 1 == 0).all() and abs(rounded).max() < 8
            assert (rounded != ori_mg.modules["seq_blocks.2"].weight).any()
    _, bits = calculate_avg_bits_mg_analysis_pass(mg, {})
    assert bits["w_avg_bit"] == 8 and bits["data_avg_bit"] == 8

    other = deepcopy_mase_graph(mg)
    other.modules["seq_blocks.2"].weight[...] = 0
    assert (mg.modules["seq_blocks.2"].weight != 0).any()


def test_the_bigger_network(data_module: MaseDataModule) -> None:
    mg = MaseGraph(model=get_model("jsc-toy", task="cls", dataset_info=data_module.dataset_info))
    config = {"name": "integer", "data_in_width": 16, "data_in_frac_width": 8, "weight_width": 8,
              "weight_frac_width": 8, "bias_width": 8, "bias_frac_width": 4}
    mg, _ = add_common_metadata_analysis_pass(mg, None)
    mg, _ = quantize_transform_pass(
        mg, {"by": "type", "default": {"config": {"name": None}}, "linear": {"config": config}}
    )
    classes = [type(layer).__name__ for layer in mg.modules.values()]
    assert len(classes) == 11 and classes.count("LinearInteger") == 3
    args = mg.node("seq_blocks_2").meta["mase"].parameters["common"]["args"]
    assert [args[k]["precision"] for k in ("data_in_0", "weight", "bias")] == [[16, 8], [8, 8], [8, 4]]


def test_generators_of_others_are_taken(data_module: MaseDataModule) -> None:
    mg = get_model("jsc-tiny", task="cls", dataset_info=data_module.dataset_info)
    batches = [{"x": numpy.full((4, 16), i, numpy.float32)} for i in range(5)]
    mg, _ = profile_statistics_analysis_pass(mg, {
        "by": "type", "target_weight_nodes": [], "target_activation_nodes": ["batch_norm1d"],
        "weight_statistics": {}, "activation_statistics": {"range_min_max": {"dims": "all"}},
        "input_generator": iter(batches), "num_samples": 12,
    })
    stat = mg.node("seq_blocks_0").meta["mase"]["software"]["args"]["data_in_0"]["stat"]
    assert stat["range_min_max"]["max"] == 2 and stat["range_min_max"]["count"] == 12 * 16


def test_names_of_the_original() -> None:
    info = get_dataset_info("jsc")
    assert (info.num_classes, info.num_features) == (5, 16)
    assert get_model_info("jsc-tiny").name == "jsc-tiny"
    with pytest.raises(ValueError, match="jsc-tinny"):
        get_model_info("jsc-tinny")
    with pytest.raises(NotImplementedError):
        get_model("jsc-tiny", pretrained=True)
    with pytest.raises(ValueError, match="pickle"):
        load_model("x", load_type="pickle")


def test_input_generator_begins_anew(data_module: MaseDataModule) -> None:
    generator = InputGenerator(data_module=data_module, which_dataloader="test", max_batches=2)
    assert len(list(generator)) == 2 and len(list(generator)) == 2
    with pytest.raises(ValueError, match="tset"):
        InputGenerator(data_module=data_module, which_dataloader="tset")
