#!/usr/bin/env python3
"""The page of a study that Optuna 5 made: optuna_report.py CH

Trials that are complete, pruned, failed and under way, parameters of every kind, one of them
conditional, and names that are markup. Status 77 where there is no Optuna 5.
"""

import html
import os
import re
import subprocess
import sys
import tempfile
import warnings

try:
    import optuna
except ImportError:
    optuna = None

from checks import ask, check, finish

SKIPPED = 77
NAME = "<b>study</b> & \"more\""


def objective(trial):
    x = trial.suggest_float("x <i>", -1, 2)
    n = trial.suggest_int("n", 1, 64, log=True)
    kind = trial.suggest_categorical("kind", ["a", "<script>alert(1)</script>", None, 2.5])
    if kind == "a":
        trial.suggest_float("only of a", 1e-4, 1, log=True)
    if trial.number % 7 == 3:
        raise ValueError("no")
    if trial.number % 7 == 5:
        trial.study._storage.set_trial_intermediate_value(trial._trial_id, 4, trial.number + 0.5)
        raise optuna.TrialPruned()
    return 1 - (x - 0.5) ** 2, n * (1 + abs(x))


def make_study(path):
    study = optuna.create_study(storage=f"sqlite:///{path}", study_name=NAME,
                                directions=["maximize", "minimize"],
                                sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(objective, n_trials=60, catch=(ValueError,))
    study.ask()
    return study


def section(page, name):
    return re.search(f'<section id="{name}".*?</section>', page, re.S).group(0)


def rows(text, label):
    table = re.search(f'aria-label="{label}".*?</table>', text, re.S).group(0)
    return [re.findall(r'<t[hd][^>]*>(?:<a[^>]*>)?([^<]*)', row) for row in
            re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", table, re.S)]


def main():
    if optuna is None or int(optuna.__version__.split(".")[0]) < 5:
        print("skipped: there is no Optuna 5")
        return SKIPPED
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="mase-optuna-") as folder:
        path = os.path.join(folder, "study.db")
        study = make_study(path)
        with open(ask(sys.argv[1], "report", path).strip(), encoding="utf-8") as f:
            page = f.read()
    check("the page has the name as text", f"<h1>{html.escape(NAME)}</h1>" in html_names(page))
    search = section(page, "search")
    check("states are counted", "61 trials: 43 complete, 8 pruned, 9 failed, 1 under way." in search)
    front = [int(row[0]) for row in rows(search, "The best trials")]
    check("the front is Optuna's", sorted(front) == sorted(t.number for t in study.best_trials))
    early = {int(row[0]): row[1:3] for row in rows(search, "Trials that ended early")}
    check("trials that failed are listed", [n for n, row in early.items() if row[0] == "failed"]
          == list(range(3, 60, 7)))
    check("and those that were pruned, with their last reading", {n: row[1] for n, row in early.items()
          if row[0] == "pruned"} == {n: f"after step 4, at {n}.5" for n in range(5, 60, 7)})
    for i, name in enumerate(("values_0", "values_1")):
        sign = -1 if i == 0 else 1
        wanted = optuna.importance.get_param_importances(study, target=lambda t: sign * t.values[i])
        got = {html.unescape(row[0]): float(row[1 + i].split()[0])
               for row in rows(section(page, "parameters"), "Importance of parameters")}
        check(f"importances for {name} are Optuna's", got.keys() == wanted.keys()
              and all(abs(got[k] - 100 * wanted[k]) < 0.051 for k in got))
    check("no script but ours", page.count("<script") == 1)
    finish()


def html_names(page):
    """References to characters as Python writes them."""
    return page.replace("&#60;", "&lt;").replace("&#62;", "&gt;").replace("&#38;", "&amp;").replace("&#34;", "&quot;")


if __name__ == "__main__":
    sys.exit(main())
