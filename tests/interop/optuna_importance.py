#!/usr/bin/env python3
"""The importance of parameters, beside Optuna 5: optuna_importance.py IMPORTANCE_TOOL

Random studies of all kinds of parameters, some of them missing from a part of the trials, with
values that tie and trials that failed. Status 77 where there is no Optuna 5.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

try:
    import optuna
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.trial import TrialState, create_trial
except ImportError:
    optuna = None

from checks import check, finish

SKIPPED = 77


def random_dimension(r):
    kind = r.choice(["float", "int", "choice", "log", "stepped", "log int"])
    if kind == "choice":
        return dict(kind="choice", low=0, high=r.randint(0, 6), step=1, log=False)
    if kind == "int":
        low = r.randint(-5, 5)
        return dict(kind="int", low=low, high=low + r.choice([0, 1, 7, 200]), step=1, log=False)
    if kind == "log int":
        return dict(kind="int", low=1, high=r.choice([2, 64, 5000]), step=1, log=True)
    if kind == "log":
        return dict(kind="float", low=1e-5, high=r.choice([1e-3, 1.0]), step=0, log=True)
    if kind == "stepped":
        return dict(kind="float", low=0, high=r.choice([1.0, 30.0]), step=0.25, log=False)
    return dict(kind="float", low=-1, high=2, step=0, log=False)


def draw(r, d):
    if d["log"]:
        x = min(d["high"], max(d["low"], d["low"] * (d["high"] / d["low"]) ** r.random()))
        return round(x) if d["kind"] == "int" else x
    if d["step"]:
        return d["low"] + d["step"] * r.randint(0, round((d["high"] - d["low"]) / d["step"]))
    return r.uniform(d["low"], d["high"])


def distribution(d):
    if d["kind"] == "choice":
        return CategoricalDistribution([f"c{i}" for i in range(d["high"] + 1)])
    kind = IntDistribution if d["kind"] == "int" else FloatDistribution
    return kind(d["low"], d["high"], log=d["log"], step=d["step"] or None)


def random_study(seed):
    r = random.Random(seed)
    space = [random_dimension(r) for _ in range(r.randint(1, 5))]
    trials = []
    for _ in range(r.choice([1, 2, 9, 30, 137, 400])):
        x = [draw(r, d) for d in space]
        value = sum((i + 1) * v for i, v in enumerate(x)) + r.random()
        missing = r.random() < 0.3 and len(space) > 1
        trials.append(dict(x=x[:-1] + [None] if missing else x,
                           value=None if r.random() < 0.05 else round(value, r.choice([0, 6]))))
    return dict(maximize=r.random() < 0.5, space=space, trials=trials)


def optuna_study(study):
    s = optuna.create_study(direction="maximize" if study["maximize"] else "minimize")
    for t in study["trials"]:
        has = [(f"x{i}", x, d) for i, (x, d) in enumerate(zip(t["x"], study["space"])) if x is not None]
        s.add_trial(create_trial(
            params={n: f"c{x}" if d["kind"] == "choice" else x for n, x, d in has},
            distributions={n: distribution(d) for n, _, d in has}, value=t["value"],
            state=TrialState.FAIL if t["value"] is None else TrialState.COMPLETE))
    return s


def wanted(study):
    """None where a parameter occurs in no complete trial: Optuna does not know it."""
    complete = [t["x"] for t in study["trials"] if t["value"] is not None]
    if not complete or any(all(x is None for x in column) for column in zip(*complete)):
        return None
    found = optuna.importance.get_param_importances(optuna_study(study))
    return [found[f"x{i}"] for i in range(len(study["space"]))]


def agree(program, folder, seed):
    study = random_study(seed)
    expected = wanted(study)
    if expected is None:
        return True
    path = os.path.join(folder, "study.json")
    with open(path, "w") as f:
        json.dump(study, f)
    done = subprocess.run([program, path], capture_output=True, text=True, check=True)
    got = [float(line) for line in done.stdout.split()]
    near = all(abs(a - b) <= 1e-6 for a, b in zip(got, expected)) and len(got) == len(expected)
    if not near:
        print(seed, got, expected, file=sys.stderr)
    return near


def main():
    if optuna is None or int(optuna.__version__.split(".")[0]) < 5:
        print("skipped: there is no Optuna 5")
        return SKIPPED
    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="mase-importance-") as folder:
        seeds = range(200)
        agreed = sum(agree(sys.argv[1], folder, seed) for seed in seeds)
    check(f"importances of {agreed} of {len(seeds)} random studies are Optuna's", agreed == len(seeds))
    finish()


if __name__ == "__main__":
    sys.exit(main())
