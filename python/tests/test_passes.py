"""Passes as functions, those of one's own, and what they are given."""

from __future__ import annotations

import copy
import inspect
import pathlib
import typing

import numpy
import pytest

import mase
from conftest import BY_TYPE, LINEAR_8_4
from mase import passes


def test_there_is_a_function_for_each_pass() -> None:
    rows = mase.listing("passes")
    assert len(rows) >= 25
    for name, own in passes.names().items():
        function = getattr(passes, name)
        assert function.__name__ == name and own in name
        assert list(inspect.signature(function).parameters)[:2] == ["graph", "pass_args"]
        assert function.__doc__
        assert name in dir(passes)
    assert "file_name: " in str(passes.report_graph_analysis_pass.__doc__)
    with pytest.raises(AttributeError, match="did you mean quantize_transform_pass"):
        passes.quantise_transform_pass


def test_a_pass_changes_its_graph_and_not_its_arguments(graph: mase.MaseGraph) -> None:
    args = copy.deepcopy(BY_TYPE)
    for _ in range(2):
        changed, info = passes.quantize_transform_pass(graph, args)
        assert changed is graph and args == BY_TYPE
    layer = graph.modules["seq_blocks.2"]
    assert type(layer).__name__ == "LinearInteger"
    assert repr(layer) == "LinearInteger(in_features=16, out_features=5, bias=True)"
    assert isinstance(layer, type(mase.open("jsc-tiny").modules["seq_blocks.2"]))
    assert graph.quantised
    assert graph.node("seq_blocks_2").formats["weight"] == "integer(8, 4)"


def test_wrong_arguments_are_errors_and_change_nothing(graph: mase.MaseGraph) -> None:
    before = graph.text("mg")
    with pytest.raises(mase.MaseError, match="widht"):
        passes.quantize_transform_pass(graph, {**BY_TYPE, "linear": {"config": {"name": "integer", "data_in_widht": 8}}})
    with pytest.raises(TypeError, match="by: a object cannot"):
        passes.quantize_transform_pass(graph, {"by": object()})
    assert graph.text("mg") == before


def test_report_prints(graph: mase.MaseGraph, capsys: pytest.CaptureFixture[str]) -> None:
    _graph, info = passes.report_graph_analysis_pass(graph)
    out = capsys.readouterr().out
    assert out.startswith(str(graph.fx_graph))
    assert (
        "{'placeholder': 1, 'get_attr': 0, 'call_function': 0, 'call_method': 0, "
        "'call_module': 4, 'output': 1}" in out
    )
    assert "Linear(in_features=16, out_features=5, bias=True), ReLU(inplace=True)]" in out
    assert out.strip() == info.text.strip()


def test_files_are_named(graph: mase.MaseGraph, tmp_path: pathlib.Path) -> None:
    _graph, info = passes.report_graph_analysis_pass(graph, {"file_name": tmp_path / "r.txt"})
    assert info.files == [str(tmp_path / "r.txt")]
    assert "seq_blocks_2" in (tmp_path / "r.txt").read_text()
    passes.save_mase_graph_interface_pass(graph, str(tmp_path / "saved"))
    other = mase.open("jsc-toy")
    passes.load_mase_graph_interface_pass(other, {"load_dir": str(tmp_path / "saved")})
    assert len(other.nodes) == 6 and other.text("mg") == graph.text("mg")


def test_metadata_has_the_batch_of_dummy_in(graph: mase.MaseGraph) -> None:
    dummy = {"x": numpy.ones((8, 16), numpy.float32)}
    passes.init_metadata_analysis_pass(graph, None)
    assert graph.node("seq_blocks_2").meta["mase"]["common"] == {}
    passes.add_common_metadata_analysis_pass(graph, {"dummy_in": dummy})
    meta = graph.node("seq_blocks_2").meta["mase"]
    common = meta.parameters["common"]
    assert common is meta["common"]
    assert (common["mase_type"], common["mase_op"]) == ("module_related_func", "linear")
    assert common["args"]["data_in_0"]["shape"] == [8, 16]
    assert common["args"]["weight"]["shape"] == [5, 16]
    assert common["args"]["weight"]["precision"] == [32]
    assert common["results"]["data_out_0"]["shape"] == [8, 5]
    passes.add_software_metadata_analysis_pass(graph, None)
    assert set(meta["software"]["args"]) == {"data_in_0", "weight", "bias"}
    with pytest.raises(TypeError, match="filled in by passes"):
        common["args"]["weight"]["precision"] = [4]
    assert copy.deepcopy(common)["args"].pop("weight")
    assert "nodes_in" in graph.meta["mase"]["common"]


def test_profile(graph: mase.MaseGraph) -> None:
    x = numpy.random.default_rng(3).standard_normal((33, 16)).astype(numpy.float32)
    found = mase.profile(
        graph,
        mase.Data(x[:32], train=32),
        by="type",
        target_weight_nodes=["linear"],
        target_activation_nodes=["relu"],
        weight_statistics={"variance_precise": {"device": "cpu", "dims": "all"}},
        activation_statistics={"range_min_max": {"device": "cpu", "dims": "all"}},
        num_samples=32,
    )
    weight = graph.modules["seq_blocks.2"].weight.astype(float)
    stat = found["seq_blocks_2"]["weight"]["variance_precise"]
    assert stat["count"] == 80 and stat["variance"] == pytest.approx(weight.var(ddof=1), rel=1e-5)
    relu = found["seq_blocks_1"]["data_in_0"]["range_min_max"]
    assert relu["count"] == 512 and relu["max"] == pytest.approx(float(x[:32].max()), rel=1e-4)
    kept = graph.node("seq_blocks_2").meta["mase"]["software"]["args"]["weight"]["stat"]
    assert kept["variance_precise"]["count"] == 80
    assert "variance_precise" in str(found.table) and "<table>" in found._repr_html_()


def test_quantise_by_decisions(graph: mase.MaseGraph) -> None:
    mase.quantize(graph, {"seq_blocks_2": LINEAR_8_4})
    layer = graph.modules["seq_blocks.2"]
    rounded = layer.w_quantizer(layer.weight)
    assert (rounded == numpy.clip(numpy.rint(layer.weight * 16), -128, 127) / 16).all()
    assert (rounded != layer.weight).any() and repr(layer.w_quantizer) == "integer(8, 4)"
    mase.quantize(graph, {"seq_blocks_2": None})
    assert not graph.quantised
    with pytest.raises(ValueError, match="no_such"):
        mase.quantize(graph, {"seq_blocks_2": LINEAR_8_4, "no_such": LINEAR_8_4})
    assert not graph.quantised


def test_explain(graph: mase.MaseGraph) -> None:
    table = mase.explain(graph, BY_TYPE)
    rows = {row[0]: row[1:] for row in table}
    assert rows["seq_blocks_2"][:3] == ["linear", True, "matched by type 'linear'"]
    assert "weight integer(8, 4)" in rows["seq_blocks_2"][3]
    assert rows["seq_blocks_1"] == ["relu", False, "default says NA", ""]
    assert rows["x"][2] == "placeholder is not quantisable"
    assert not graph.quantised


def test_tab_shows_passes_and_no_tools() -> None:
    shown = dir(passes)
    assert "quantize_transform_pass" in shown and "explain" in shown
    space: typing.Dict[str, typing.Any] = {}
    exec("from mase.passes import *", space)
    assert "quantize_transform_pass" in space and "json" not in space
    assert not {"json", "ctypes", "lib", "call", "Any"} & set(shown)


def test_summary_of_two_graphs(
    graph: mase.MaseGraph, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = copy.deepcopy(graph)
    passes.quantize_transform_pass(graph, BY_TYPE)
    capsys.readouterr()
    passes.summarize_quantization_analysis_pass(original, graph, save_dir=tmp_path / "s")
    assert (tmp_path / "s" / "quantize_histogram.csv").read_text() == (
        "Original type,OP,Total,Changed,Unchanged\nBatchNorm1d,batch_norm1d,1,0,1\n"
        "Linear,linear,1,1,0\nReLU,relu,2,0,2\noutput,output,1,0,1\nx,placeholder,1,0,1\n"
    )
    rows = (tmp_path / "s" / "quantize_table.csv").read_text().split("\n")
    assert rows[0] == ",Ori name,New name,MASE_TYPE,Mase_OP,Original type,Quantized type,Changed"
    assert rows[4] == "3,seq_blocks_2,seq_blocks_2,module_related_func,linear,Linear,LinearInteger,True"
    assert "Quantized graph histogram" in capsys.readouterr().out


# ---- passes of one's own ----


def test_own_analysis_runs_in_the_manager(graph: mase.MaseGraph) -> None:
    seen: typing.List[typing.Any] = []

    @mase.analysis_pass
    def count_ops_analysis_pass(graph: mase.MaseGraph, pass_args: typing.Dict[str, typing.Any]) -> typing.Any:
        """Count the nodes of each operation."""
        seen.append(pass_args)
        found: typing.Dict[str, int] = {}
        for node in graph.nodes:
            found[node.mase_op] = found.get(node.mase_op, 0) + 1
        return graph, found

    same, info = count_ops_analysis_pass(graph, {"deep": [1, None]})
    assert same is graph and seen == [{"deep": [1, None]}]
    assert info == {"placeholder": 1, "batch_norm1d": 1, "relu": 2, "linear": 1, "output": 1}
    assert passes.count_ops_analysis_pass is count_ops_analysis_pass
    _graph, info = mase.transform(graph, {"passes": {"report_graph": {}, "count_ops": {}}})
    assert info["count_ops"]["relu"] == 2

    @mase.analysis_pass("count_ops")  # a cell that is run again
    def other(graph: mase.MaseGraph, pass_args: typing.Dict[str, typing.Any]) -> typing.Any:
        return {"again": True}

    assert other(graph)[1] == {"again": True}


def test_own_transform_edits(graph: mase.MaseGraph) -> None:
    @mase.transform_pass("drop_last_relu")
    def drop(graph: mase.MaseGraph, pass_args: typing.Dict[str, typing.Any]) -> mase.MaseGraph:
        last = graph.node("seq_blocks_3")
        last.replace_all_uses_with(last.all_input_nodes[0])
        graph.erase_node(last)
        return graph

    drop(graph)
    graph.lint()
    assert [node.name for node in graph.nodes][-2:] == ["seq_blocks_2", "output"]


def test_exceptions_of_own_passes_reach_the_caller(graph: mase.MaseGraph) -> None:
    class Mine(Exception):
        pass

    kept: typing.List[mase.MaseGraph] = []

    @mase.transform_pass("fails")
    def fails(graph: mase.MaseGraph, pass_args: typing.Dict[str, typing.Any]) -> None:
        kept.append(graph)
        graph.call_function("torch.relu", (graph.node("x"),))
        raise Mine("on purpose")

    before = graph.text("mg")
    with pytest.raises(Mine, match="on purpose"):
        mase.transform(graph, "[passes.remove_dropout]\n[passes.fails]\n")
    assert graph.text("mg") == before
    with pytest.raises(RuntimeError, match="while it runs"):
        kept[0].text()


def test_own_passes_may_run_the_network_and_change_weights(graph: mase.MaseGraph) -> None:
    x = numpy.ones((1, 16), numpy.float32)
    arrays: typing.List[typing.Any] = []

    @mase.transform_pass("fill")
    def fill(graph: mase.MaseGraph, pass_args: typing.Dict[str, typing.Any]) -> typing.Any:
        before = graph(x)
        arrays.append(graph.modules["seq_blocks.2"].bias)
        arrays[-1][...] = pass_args["value"]
        return {"changed": bool((graph(x) != before).any())}

    bias = graph.state_dict()["seq_blocks.2.bias"]
    assert fill(graph, {"value": 3})[1] == {"changed": True}
    assert (bias == 3).all() and (arrays[0] == 3).all()
    assert (graph.modules["seq_blocks.2"].bias == 3).all()


def test_own_analysis_must_not_edit(graph: mase.MaseGraph) -> None:
    @mase.analysis_pass("edits")
    def edits(graph: mase.MaseGraph, pass_args: typing.Dict[str, typing.Any]) -> None:
        graph.call_function("torch.relu", (graph.node("x"),))

    with pytest.raises(mase.MaseError, match="must not change"):
        edits(graph)
    assert len(graph.nodes) == 6


def test_names_that_are_taken_are_refused() -> None:
    with pytest.raises(ValueError):
        mase.analysis_pass("quantize")(lambda graph, pass_args: None)


def test_transform_from_file(graph: mase.MaseGraph, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(
        'model = "jsc-tiny"\n[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\n'
        "[passes.quantize.linear.config]\nname = 'integer'\ndata_in_width = 8\n"
        "data_in_frac_width = 4\nweight_width = 8\nweight_frac_width = 4\nbias_width = 8\n"
        "bias_frac_width = 4\n"
    )
    assert mase.transform(graph, path)[0] is graph and graph.quantised
    path.write_text("[passes.quantize]\nby = 'tpye'\n")
    with pytest.raises(mase.MaseError) as wrong:
        mase.transform(graph, str(path))
    assert wrong.value.line == 2


def test_an_exception_of_the_log_hides_no_change(graph: mase.MaseGraph) -> None:
    """What was changed when a hook raised has changed: the next look and the next run see it."""
    import logging

    class Fails(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise KeyboardInterrupt

    logger, handler = logging.getLogger("mase"), Fails()
    x = numpy.random.default_rng(3).normal(0, 3, (4, 16)).astype(numpy.float32)
    before = graph(x)
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.DEBUG)
    try:
        with pytest.raises(KeyboardInterrupt):
            mase.quantize(graph, {"seq_blocks_2": {**LINEAR_8_4, "weight_width": 3, "weight_frac_width": 1}})
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert graph.quantised and (graph(x) != before).any()


def test_a_dummy_input_has_the_names_of_the_inputs(graph: mase.MaseGraph) -> None:
    x = numpy.ones((3, 16), numpy.float32)
    passes.add_common_metadata_analysis_pass(graph, {"dummy_in": {"x": x}})
    assert graph.node("x").meta["mase"]["common"]["results"]["data_out_0"]["shape"] == [3, 16]
    for wrong in ({"y": x}, {"x": x, "y": x}, {}, x, [x]):
        with pytest.raises(TypeError, match="for each input, x"):
            passes.add_common_metadata_analysis_pass(graph, {"dummy_in": wrong})
        with pytest.raises(TypeError, match="for each input, x"):
            passes.profile_statistics_analysis_pass(graph, {"input_generator": iter([wrong]), "num_samples": 1})
