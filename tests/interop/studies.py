#!/usr/bin/env python3
"""Studies and Optuna 5: it loads ours, draws them and goes on with them; we go on with its own.

usage: studies.py STUDY_TOOL
"""
import math
import os
import subprocess
import sys
import tempfile
import warnings

from checks import ask, check, finish

try:
    import optuna
    import sqlalchemy  # noqa: F401

    if int(optuna.__version__.split(".")[0]) < 5:
        raise ImportError(f"Optuna is {optuna.__version__}, not 5 or later")
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)
tool = os.path.abspath(sys.argv[1])
State = optuna.trial.TrialState
folder = tempfile.TemporaryDirectory()


def url(name):
    return f"sqlite:///{folder.name}/{name}"


def load(place, name="s"):
    return optuna.load_study(study_name=name, storage=place)


def digest(text):
    return text.split()[1]


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


# ---- what ours is to Optuna

def check_loaded(place, kind):
    ask(tool, place, "s", "--trials", "100", "--workers", "2")
    study = load(place)
    trials = study.get_trials()
    check(f"{kind}: all trials, by number", [t.number for t in trials] == list(range(100)))
    check(f"{kind}: directions", [d.name for d in study.directions] == ["MINIMIZE", "MAXIMIZE"])
    check(f"{kind}: names of metrics", study.metric_names == ["loss", "gain"])
    check(f"{kind}: failures are failures, with their sentence",
          all((t.state == State.FAIL) == (t.number % 31 == 30) for t in trials)
          and trials[30].user_attrs == {"failure": "trial 30 fails"})
    for t in trials:
        if t.state != State.COMPLETE:
            continue
        x, w, c = t.params["rate"], t.params["width"], t.params["name"]
        loss = (x - 0.3) * (x - 0.3) + w / 100 + (0 if c == "integer" else 1)
        gain = math.inf if t.number % 13 == 12 else 1 - x
        if t.values != [loss, gain] or t.constraints != {"wide": w - 6.5}:
            check(f"{kind}: trial {t.number} has {t.values}, {t.constraints}", False)
        if t.intermediate_values != {1: 2 * x, 2: x if t.number % 3 else math.inf}:
            check(f"{kind}: trial {t.number} has readings {t.intermediate_values}", False)
        if not t.datetime_start <= t.datetime_complete or t.datetime_start.year < 2020:
            check(f"{kind}: trial {t.number} has times", False)
    d = trials[0].distributions
    check(f"{kind}: distributions", d == {
        "rate": optuna.distributions.FloatDistribution(0, 1),
        "width": optuna.distributions.IntDistribution(2, 8),
        "name": optuna.distributions.CategoricalDistribution(["integer", None])})
    best = study.best_trials
    check(f"{kind}: there is a front", best and all(t.constraints["wide"] <= 0 for t in best))


def objective(trial):
    x = trial.suggest_float("rate", 0, 1)
    w = trial.suggest_int("width", 2, 8)
    c = trial.suggest_categorical("name", ["integer", None])
    trial.set_constraint("wide", w - 6.5)
    return (x - 0.3) ** 2 + w / 100 + (0 if c == "integer" else 1), 1 - x


def check_continued(place, kind):
    for sampler in (optuna.samplers.TPESampler(seed=1), optuna.samplers.NSGAIISampler(seed=1)):
        study = optuna.load_study(study_name="s", storage=place, sampler=sampler)
        before = len(study.trials)
        study.optimize(objective, n_trials=30)
        check(f"{kind}: goes on with {type(sampler).__name__}",
              [t.state for t in study.trials[before:]] == [State.COMPLETE] * 30)
    last = ask(tool, place, "s", "--trials", "200").strip()
    check(f"{kind}: and we after it", last.endswith(" 200") and len(load(place).trials) == 200)


def check_drawn(place, name, options):
    """Every function of optuna.visualization; options of some, None: it is not for such a study."""
    try:
        import plotly  # noqa: F401
        from optuna import visualization
    except ImportError as lacking:
        print(f"left out: pictures: {lacking}")
        return
    study = load(place, name)
    for function in sorted(f for f in visualization.__all__ if f.startswith("plot_")):
        given = options.get(function, options["any"])
        if given is None:
            continue
        try:
            check(f"{name}: {function}", getattr(visualization, function)(study, **given).to_json())
        except ImportError as lacking:
            print(f"left out: {function}: {lacking}")


def check_pictures(place):
    check_drawn(place, "s", {
        "any": {"target": lambda t: t.values[0], "target_name": "loss"},
        "plot_hypervolume_history": {"reference_point": [3, -1]},
        "plot_pareto_front": {}, "plot_timeline": {}, "plot_intermediate_values": {},
        "plot_terminator_improvement": None})
    ask(tool, place, "one", "--trials", "40", "--one")
    study = load(place, "one")
    best = min((t for t in study.trials if t.state == State.COMPLETE), key=lambda t: t.value)
    check("one objective: the best trial", study.best_trial.number == best.number)
    check_drawn(place, "one", {"any": {}, "plot_hypervolume_history": None,
                               "plot_pareto_front": None})


# ---- what Optuna's are to us

def check_read(place):
    """Our hash is over what we have read; written again by the tool's run it stays."""
    study = optuna.create_study(study_name="s", storage=place,
                                sampler=optuna.samplers.RandomSampler(seed=2))
    study.set_user_attr("who", {"am": [1, None, "ü"]})
    study.set_user_attr("wide", math.inf)
    study.enqueue_trial({"rate": 0.125, "width": 3})
    study.enqueue_trial({"rate": 0.25})

    def pruned(trial):
        x = trial.suggest_float("rate", 0, 1)
        trial.report(x, 3)
        if trial.number == 4:
            raise optuna.TrialPruned()
        if trial.number == 5:
            raise ValueError("no")
        if trial.number != 6:  # spaces differ between trials
            trial.suggest_int("width", 2, 8 + trial.number % 2)
        trial.suggest_categorical("name", ["integer", None])
        trial.set_user_attr("note", ["a", math.nan])
        return math.inf if trial.number == 3 else -x

    study.optimize(pruned, n_trials=8, catch=ValueError)
    for fixed in ({"rate": 0.5, "width": 7, "name": None}, {"width": 5}):
        study.enqueue_trial(fixed)
    left = study.ask()  # somebody was killed here
    left.suggest_float("rate", 0, 1)
    before = [(t.state, t.params, t.values, t.user_attrs) for t in study.get_trials()][:8]
    out = ask(tool, place, "s", "--trials", "60", "--workers", "2", "--one").split()
    trials = load(place).get_trials()
    check("its own: finished trials are as they were",
          repr([(t.state, t.params, t.values, t.user_attrs) for t in trials[:8]]) == repr(before))
    check("its own: enqueued ones were measured",
          trials[8].params == {"rate": 0.5, "width": 7, "name": None}
          and trials[9].params["width"] == 5 and len(trials[9].params) == 3
          and trials[8].state == trials[9].state == State.COMPLETE)
    check("its own: the one that was left, too", len(trials) == 60
          and all(t.state.is_finished() for t in trials))
    check("its own: attributes of the study are kept",
          load(place).user_attrs == {"who": {"am": [1, None, "ü"]}, "wide": math.inf})
    check("its own: read again, it is the same",
          digest(ask(tool, place, "s", "--trials", "0", "--one")) == out[1])


def check_old_names(place):
    """Distributions as Optuna 2 named them."""
    d = optuna.distributions
    study = optuna.create_study(study_name="s", storage=place)
    for n in range(3):
        study.add_trial(optuna.trial.create_trial(
            value=n, params={"u": 0.5, "l": 0.1, "q": 0.5, "i": 3, "il": 4},
            distributions={"u": d.UniformDistribution(0, 1), "l": d.LogUniformDistribution(0.01, 1),
                           "q": d.DiscreteUniformDistribution(0, 1, 0.25),
                           "i": d.IntUniformDistribution(1, 9, 2),
                           "il": d.IntLogUniformDistribution(1, 64)}))
    done = subprocess.run([tool, place, "s", "--trials", "0", "--one"], capture_output=True)
    check("old names of distributions are read", done.returncode == 0)


with folder:
    check_loaded(url("ours.db"), "SQLite")
    check_pictures(url("ours.db"))
    check_continued(url("ours.db"), "SQLite")
    check_read(url("theirs.db"))
    check_old_names(url("old.db"))
    check("nothing lies beside the databases",
          sorted(os.listdir(folder.name)) == ["old.db", "ours.db", "theirs.db"])
finish()
