#!/usr/bin/env python3
"""Studies for Optuna 3.0 and 3.1, whose schema is another: it loads them and goes on with them.

usage: studies_older.py STUDY_TOOL CH
"""
import os
import sys
import tempfile

from checks import ask, check, finish

try:
    import optuna

    if optuna.__version__[:3] not in ("3.0", "3.1"):
        raise ImportError(f"Optuna is {optuna.__version__}, not 3.0 or 3.1")
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

optuna.logging.set_verbosity(optuna.logging.ERROR)
tool, ch = (os.path.abspath(path) for path in sys.argv[1:])


def objective(trial):
    name = trial.suggest_categorical("name", ["integer", None])
    return trial.suggest_float("rate", 0, 1) + trial.suggest_int("width", 2, 8) + (name is None)


with tempfile.TemporaryDirectory() as folder:
    ours, theirs = f"{folder}/ours.db", f"{folder}/theirs.db"
    for name, kind in (("two", []), ("one", ["--one"])):
        ask(tool, ours, name, "--trials", "60", *kind)
        ask(ch, "study", "export", ours, theirs, name, "--optuna", "3.1")
    two = optuna.load_study(study_name="two", storage=f"sqlite:///{theirs}")
    check("all trials", len(two.trials) == 60)
    check("the front", len(two.best_trials) > 0)
    check("constraints as a list", all(t.system_attrs["constraints"] == [t.params["width"] - 6.5]
                                       for t in two.trials if t.values))
    one = optuna.load_study(study_name="one", storage=f"sqlite:///{theirs}")
    one.optimize(objective, n_trials=20)
    check("it goes on", len(one.trials) == 80 and one.best_value <= min(
        t.value for t in one.trials[:60] if t.value is not None))
    out = ask(tool, theirs, "one", "--trials", "90", "--one")
    check("and we after it", out.strip().endswith(" 90"))
    check("and it after us", len(optuna.load_study(
        study_name="one", storage=f"sqlite:///{theirs}").trials) == 90)
finish()
