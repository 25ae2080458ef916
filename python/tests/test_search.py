"""Searches: studies that do not depend on who runs them, metrics in Python, networks of trials."""

from __future__ import annotations

import json
import math
import os
import pathlib
import subprocess
import sys
import typing

import pytest

import mase

CH = os.environ.get("MASE_CH", "")
LAB = pathlib.Path(__file__).resolve().parents[2] / "configs" / "examples" / "jsc_toy_by_type.toml"


def section(**changes: typing.Any) -> typing.Dict[str, typing.Any]:
    """A [search] section: widths of fc1 and fc2, two objectives."""
    layer = {
        "name": ["integer"],
        "data_in_width": [4, 8],
        "data_in_frac_width": [3],
        "weight_width": [2, 3, 4, 8],
        "weight_frac_width": [1],
        "bias_width": [8],
        "bias_frac_width": [4],
    }
    strategy = {
        "name": "optuna",
        "setup": {"sampler": "random", "n_trials": 30},
        "sw_runner": {"basic_evaluation": {}},
        "hw_runner": {"average_bitwidth": {"compare_to": 32}},
        "metrics": {
            "accuracy": {"direction": "maximize"},
            "average_bitwidth": {"direction": "minimize", "scale": 0.2},
        },
    }
    seed = {"default": {"config": {"name": [None]}}, "fc1": {"config": layer}, "fc2": {"config": layer}}
    space = {"name": "graph/quantize/mixed_precision_ptq", "setup": {"by": "name"}, "seed": seed}
    return {"search_space": space, "strategy": {**strategy, **changes}}


def one_metric(name: str, direction: str = "minimize") -> typing.Dict[str, typing.Any]:
    return section(metrics={name: {"direction": direction}})


@pytest.fixture
def trained(small: mase.MaseGraph, xor: mase.Data) -> mase.MaseGraph:
    mase.train(small, xor, max_epochs=20, batch_size=32, learning_rate=0.02, progress=False)
    return small


def test_a_study_has_trials_and_columns(trained: mase.MaseGraph, xor: mase.Data) -> None:
    before = trained.text("mg")
    study = mase.search(trained, xor, section(), seed=1)
    assert trained.text("mg") == before
    assert len(study) == 30 and [t.number for t in study] == list(range(30))
    assert [(o.name, o.direction) for o in study.objectives] == [
        ("accuracy", "maximize"),
        ("average_bitwidth", "minimize"),
    ]
    columns = study.columns
    assert {len(column) for column in columns.values()} == {30}
    assert columns["values_average_bitwidth"] == [0.2 * bits for bits in study["metrics_average_bitwidth"]]
    assert set(study["params_fc1/config/weight_width"]) == {2, 3, 4, 8}
    trial = study[3]
    assert trial.state == "COMPLETE" and trial.feasible and trial.seconds is not None
    assert trial.values == [columns["values_accuracy"][3], columns["values_average_bitwidth"][3]]
    assert trial.config["fc1"]["config"]["weight_width"] == trial.params["fc1/config/weight_width"]
    assert study[2:4] == study.trials[2:4]
    with pytest.raises(KeyError):
        study["values_speed"]


def test_best_trials_are_those_that_no_other_dominates(trained: mase.MaseGraph, xor: mase.Data) -> None:
    study = mase.search(trained, xor, section())
    points = {(-t.values[0], t.values[1]) for t in study if t.values}
    front = {p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)}
    assert sorted((-t.values[0], t.values[1]) for t in study.best_trials if t.values) == sorted(front)
    with pytest.raises(ValueError, match="2 objectives"):
        study.best_trial
    one = mase.search(trained, xor, one_metric("loss"))
    losses = [t.value for t in one]
    assert one.best_value == min(losses) == one.best_trial.value
    assert one.best_params == one.best_trial.params
    assert one.best_so_far() == [min(losses[: i + 1]) for i in range(30)]


def test_tables_show_what_varies(trained: mase.MaseGraph, xor: mase.Data) -> None:
    study = mase.search(trained, xor, section())
    assert study.table.columns[:3] == ["number", "accuracy", "average_bitwidth"]
    assert "fc1/config/weight_width" in study.table.columns
    assert "fc1/config/bias_width" not in study.table.columns
    assert len(study.table) == 30 and study.front["number"] == [t.number for t in study.best_trials]
    assert repr(study).startswith("Study(small: 30 trials") and "maximize accuracy" in repr(study)
    assert "<table>" in study._repr_html_() and "| number" in study._repr_markdown_()


def test_a_data_frame_if_there_is_pandas(
    trained: mase.MaseGraph, xor: mase.Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = mase.search(trained, xor, section())
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert study.trials_dataframe() == study.columns
    monkeypatch.undo()
    pandas = pytest.importorskip("pandas")
    frame = study.trials_dataframe()
    assert isinstance(frame, pandas.DataFrame) and list(frame.columns) == list(study.columns)


def test_workers_change_nothing(trained: mase.MaseGraph, xor: mase.Data) -> None:
    hashes = {mase.search(trained, xor, section(), workers=w, seed=5).hash for w in (1, 2, 4)}
    assert len(hashes) == 1
    assert mase.search(trained, xor, section(), seed=6).hash not in hashes


def test_a_trial_has_its_network(trained: mase.MaseGraph, xor: mase.Data) -> None:
    study = mase.search(trained, xor, section())
    for trial in (study[0], study.best_trials[-1]):
        graph = study.graph(trial)
        again = mase.evaluate(graph, xor, split="validation")
        assert again.accuracy == trial.metrics["accuracy"] and again.loss == trial.metrics["loss"]
        quantised = trained.copy()
        mase.run_pass(quantised, "quantize", {**trial.config, "by": "name"})
        assert mase.evaluate(quantised, xor, split="validation").loss == again.loss
    with pytest.raises(ValueError, match="no trial 30"):
        study.graph(30)


def test_metrics_of_ones_own(trained: mase.MaseGraph, xor: mase.Data) -> None:
    points: typing.List[typing.Any] = []

    def bits(graph: mase.MaseGraph, point: typing.Dict[str, typing.Any]) -> float:
        points.append(point)
        graph.node("fc1").module.weight[...] = 0  # of a copy
        widths = [graph.node(name).module.config["weight_width"] for name in ("fc1", "fc2")]
        return float(sum(widths))

    config = section(metrics={"bits": {"direction": "minimize"}, "loss": {"direction": "minimize"}})
    study = mase.search(trained, xor, config, metrics={"bits": bits}, workers=3)
    plain = mase.search(trained, xor, one_metric("loss"))
    for trial in study:
        widths = [trial.params[f"{name}/config/weight_width"] for name in ("fc1", "fc2")]
        assert trial.metrics["bits"] == sum(widths)
    assert study["metrics_loss"] == plain["metrics_loss"]
    points.clear()
    mase.search(trained, xor, config, metrics={"bits": bits}, workers=1)
    assert len(points) == len({tuple(t.params.values()) for t in study})  # each point once
    assert {"sampled_config"} == set(points[0])
    with pytest.raises(ValueError, match="two metrics 'loss'"):
        mase.search(trained, xor, one_metric("loss"), metrics={"loss": bits})
    with pytest.raises(ValueError, match="unknown metric 'bits'"):
        mase.search(trained, xor, one_metric("bits"))


@pytest.mark.parametrize("kind", [ZeroDivisionError, KeyboardInterrupt])
@pytest.mark.parametrize("workers", [1, 3])
def test_exceptions_travel_through_c(
    trained: mase.MaseGraph, xor: mase.Data, kind: typing.Type[BaseException], workers: int
) -> None:
    def fail(*_arguments: typing.Any) -> typing.Any:
        raise kind("on purpose")

    for wrong in ({"metrics": {"mine": fail}}, {"metrics": {"mine": lambda *_: 1}, "on_trial": fail}):
        with pytest.raises(kind, match="on purpose"):
            mase.search(trained, xor, one_metric("mine"), workers=workers, **wrong)
    with pytest.raises(TypeError, match="a number is wanted"):
        mase.search(trained, xor, one_metric("mine"), metrics={"mine": lambda *_: "much"})  # type: ignore
    assert len(mase.search(trained, xor, section())) == 30  # nothing is left behind


def test_on_trial_may_stop(trained: mase.MaseGraph, xor: mase.Data) -> None:
    seen: typing.List[mase.Trial] = []

    def watch(trial: mase.Trial) -> bool:
        seen.append(trial)
        return len(seen) < 4

    study = mase.search(trained, xor, section(), on_trial=watch, workers=1)
    assert study.trials == seen and len(seen) == 4


def test_a_study_is_gone_on_with(trained: mase.MaseGraph, xor: mase.Data, tmp_path: pathlib.Path) -> None:
    store = tmp_path / "study.db"
    whole = mase.search(trained, xor, section())
    assert len(mase.search(trained, xor, section(), storage=store, study="mine", trials=10)) == 10
    opened = mase.Study(store)
    assert len(opened) == 10 and opened.name == "mine" and opened.trials[4].params == whole[4].params
    with pytest.raises(ValueError, match="from a store"):
        opened.graph(0)
    study = mase.search(trained, xor, section(), storage=store, study="mine")
    assert study.hash == whole.hash == mase.Study(store, "mine").hash
    study.graph(29)
    with pytest.raises(ValueError, match="another search"):
        mase.search(trained, xor, section(), storage=store, study="mine", seed=3)
    mase.search(trained, xor, section(), storage=store, study="other", trials=1)
    assert mase.studies(store) == ["mine", "other"]
    with pytest.raises(ValueError, match="there are 2 studies"):
        mase.Study(store)
    with pytest.raises(ValueError, match="'mien'"):
        mase.Study(store, "mien")
    with pytest.raises(OSError):
        mase.Study(tmp_path / "none.db")


def test_studies_are_written(trained: mase.MaseGraph, xor: mase.Data, tmp_path: pathlib.Path) -> None:
    study = mase.search(trained, xor, section())
    for name in ("copy.json", "copy.db"):
        study.write(tmp_path / name)
        again = mase.Study(tmp_path / name)
        assert again.hash == study.hash and again.trials == study.trials
    assert study.log()["3"]["number"] == 3
    assert [row["number"] for row in study.best().values()] == [t.number for t in study.best_trials]
    with pytest.raises(ValueError, match="copy.txt"):
        study.write(tmp_path / "copy.txt")


def test_trials_train_networks_of_other_arguments(xor: mase.Data) -> None:
    def wide(width: int = 2) -> mase.MaseGraph:
        graph = mase.MaseGraph.empty("wide", sample=(2,))
        graph.add_module("fc1", f"Linear(2, {width})")
        graph.add_module("act", "ReLU()")
        graph.add_module("fc2", f"Linear({width}, 2)")
        h = graph.call_module("act", (graph.call_module("fc1", (graph.placeholder("x"),)),))
        graph.output(graph.call_module("fc2", (h,)))
        graph.start(1)
        return graph

    config = one_metric("loss")
    config["search_space"] = {"name": "graph/quantize/mixed_precision_ptq", "model": {"width": [2, 16]}}
    config["strategy"]["sw_runner"] = {"basic_train": {"max_epochs": 20, "learning_rate": 0.02}}
    config["strategy"]["setup"] = {"sampler": "random", "n_trials": 6}
    del config["strategy"]["hw_runner"]
    study = mase.search(wide, xor, config, batch_size=32)
    assert study["params_model/width"] == [t.arguments["width"] for t in study]
    assert study.best_trial.arguments == {"width": 16}
    graph = study.graph(study.best_trial)
    assert graph.modules["fc1"].out_features == 16
    assert mase.evaluate(graph, xor, split="validation").loss == study.best_value
    with pytest.raises(ZeroDivisionError):
        mase.search(lambda width=2: wide(width) if width < 3 else 1 / 0, xor, config)  # type: ignore


def test_widths_of_layers_vary(trained: mase.MaseGraph, xor: mase.Data) -> None:
    config = one_metric("loss")
    config["search_space"] = {
        "name": "graph/quantize/mixed_precision_ptq",
        "channels": {"fc1": [0.5, 1, 2]},
    }
    config["strategy"]["sw_runner"] = {"basic_train": {"max_epochs": 2, "learning_rate": 0.02}}
    config["strategy"]["setup"] = {"sampler": "bruteforce", "n_trials": 9}
    study = mase.search(trained, xor, config, batch_size=32)
    assert [trial.channels["fc1"] for trial in study] == [0.5, 1, 2]
    for trial in study:
        graph = study.graph(trial)
        assert graph.modules["fc1"].out_features == graph.modules["fc2"].in_features == 16 * trial.channels["fc1"]
        assert mase.evaluate(graph, xor, split="validation").loss == trial.value


def test_a_section_that_is_wrong_has_its_place(
    trained: mase.MaseGraph, xor: mase.Data, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(LAB.read_text().replace('sampler = "tpe"', 'sampler = "sorcery"'))
    with pytest.raises(mase.MaseError, match="sorcery") as caught:
        mase.search(trained, xor, path)
    assert str(caught.value.path) == str(path)
    line = caught.value.line
    assert line is not None and "sorcery" in path.read_text().split("\n")[line - 1]
    with pytest.raises(ValueError, match="search_space"):
        mase.search(trained, xor, "[passes.report_graph]\n")
    with pytest.raises(ValueError, match="epochs"):
        mase.search(trained, xor, section(), epochs=3)
    with pytest.raises(ValueError, match="seconds"):
        mase.search(trained, xor, section(), seconds=math.nan)


@pytest.mark.skipif(not CH, reason="MASE_CH does not say where ch is")
def test_it_is_the_study_of_the_command(tmp_path: pathlib.Path) -> None:
    config = tmp_path / "lab.toml"
    config.write_text(LAB.read_text().replace('sampler = "tpe"', 'sampler = "random"'))
    graph, data = mase.open("jsc-tiny", seed=2), mase.Data("jsc")
    graph.write(tmp_path / "start.safetensors")
    command = [CH, "search", "--config", str(config), "--load", str(tmp_path / "start.safetensors")]
    command += ["--project-dir", str(tmp_path / "out"), "--project", "lab", "--log-level", "error"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    results = json.loads((tmp_path / "out" / "lab" / "run.json").read_text())["results"]
    study = mase.search(graph, data, config)
    assert study.hash == results["study_hash"]
    assert [t.number for t in study.best_trials] == [row["number"] for row in results["best"]]
    ((store,)) = (tmp_path / "out" / "lab").rglob("*.db")
    longer = mase.search(graph, data, config, storage=store, study="lab", trials=24)
    assert len(longer) == 24 and [t.values for t in longer[:20]] == [t.values for t in study]


def test_a_bar_counts_trials(
    trained: mase.MaseGraph, xor: mase.Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    err = io.StringIO()
    monkeypatch.setattr(sys, "stderr", err)
    mase.search(trained, xor, section(), progress=True)
    assert "search: 1 trials" in err.getvalue() and err.getvalue().endswith("\r")
