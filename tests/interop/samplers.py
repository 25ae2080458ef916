#!/usr/bin/env python3
"""Our samplers find what Optuna's find: the best of a study, beside those of 20 of Optuna's.

usage: samplers.py SAMPLER_TOOL [--seeds N] [SAMPLER...]     status 77: no Optuna here, skipped

The median of our studies must not be worse than the lower quartile of Optuna's, each sampler with its own defaults; that
of random and even points, which do not learn, not worse than the worst. For problems of two objectives the hypervolume is
compared. Ours are asked one after the other (window 1), as Optuna's are; what a window of 64 costs is printed beside it.
"""
import math
import statistics
import subprocess
import sys
import warnings

from checks import check, finish

try:
    import numpy as np
    import optuna
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)
if int(optuna.__version__.split(".")[0]) < 5:
    print(f"skipped: Optuna {optuna.__version__} is older than 5")
    sys.exit(77)

optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.filterwarnings("ignore")
TABLE = np.random.default_rng(1).normal(size=(10, 7))
PAIRS = np.random.default_rng(2).normal(size=(9, 7, 7))


# ---- problems: dimensions as sampler_tool takes them, and what is minimised

def sphere(x):
    return (sum((v - 1) ** 2 for v in x),)


def branin(x):
    a, b = x
    return ((b - 5.1 / (4 * math.pi ** 2) * a * a + 5 / math.pi * a - 6) ** 2
            + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10,)


def choices(x):
    c = [int(v) for v in x]
    return (sum(TABLE[i][c[i]] for i in range(10)) + sum(PAIRS[i][c[i]][c[i + 1]] for i in range(9)),)


def widths(x):
    """Integers: each has its own best, and costs what it is."""
    return (sum((v - 2 - i % 5) ** 2 / (1 + i) for i, v in enumerate(x)) + sum(x) / 100,)


def zdt(shape):
    def f(x):
        g = 1 + 9 * sum(x[1:]) / (len(x) - 1)
        return x[0], g * shape(x[0] / g, x[0])
    return f


PROBLEMS = {
    "sphere": (sphere, ["float:-5:5"] * 5),
    "branin": (branin, ["float:-5:10", "float:0:15"]),
    "choices": (choices, ["choice:7"] * 10),
    "widths": (widths, ["int:2:8"] * 10),
    "zdt1": (zdt(lambda r, _: 1 - math.sqrt(r)), ["float:0:1"] * 8),
    "zdt2": (zdt(lambda r, _: 1 - r * r), ["float:0:1"] * 8),
    "zdt3": (zdt(lambda r, a: 1 - math.sqrt(r) - r * math.sin(10 * math.pi * a)), ["float:0:1"] * 8),
}
OF_ONE = ["sphere", "branin", "choices", "widths"]
OF_TWO = ["zdt1", "zdt2", "zdt3"]
REFERENCE = (1, 10)

SAMPLERS = {  # Optuna's, trials, problems
    "random": (lambda seed: optuna.samplers.RandomSampler(seed=seed), 100, OF_ONE + OF_TWO),
    "qmc": (lambda seed: optuna.samplers.QMCSampler(seed=seed, scramble=True), 100, OF_ONE + OF_TWO),
    "tpe": (lambda seed: optuna.samplers.TPESampler(seed=seed), 100, OF_ONE + OF_TWO),
    "nsgaii": (lambda seed: optuna.samplers.NSGAIISampler(seed=seed), 200, OF_TWO + ["widths"]),
    "nsgaiii": (lambda seed: optuna.samplers.NSGAIIISampler(seed=seed), 200, OF_TWO),
    "cmaes": (lambda seed: optuna.samplers.CmaEsSampler(seed=seed, with_margin=True), 200, ["sphere", "branin", "widths"]),
}
OPTIONS = {"qmc": '{"scramble": true}'}


# ---- studies

def score(values):
    """The less, the better: the least loss, or minus the hypervolume."""
    if len(values[0]) == 1:
        return min(v[0] for v in values)
    volume, height = 0, REFERENCE[1]
    for a, b in sorted(values):
        if a < REFERENCE[0] and b < height:
            volume += (REFERENCE[0] - a) * (height - b)
            height = b
    return -volume


def suggest(trial, i, dimension):
    kind, *ends = dimension.split(":")
    if kind == "choice":
        return trial.suggest_categorical(f"x{i}", range(int(ends[0])))
    if kind == "int":
        return trial.suggest_int(f"x{i}", int(ends[0]), int(ends[1]))
    return trial.suggest_float(f"x{i}", float(ends[0]), float(ends[1]))


def theirs(make, problem, trials, seed):
    f, dimensions = PROBLEMS[problem]
    values = []

    def objective(trial):
        values.append(f([suggest(trial, i, d) for i, d in enumerate(dimensions)]))
        return values[-1]
    count = 2 if problem in OF_TWO else 1
    study = optuna.create_study(directions=["minimize"] * count, sampler=make(seed))
    study.optimize(objective, n_trials=trials)
    return score(values)


def ours(tool, sampler, problem, trials, seed, window):
    f, dimensions = PROBLEMS[problem]
    directions = "min,min" if problem in OF_TWO else "min"
    words = [tool, sampler, OPTIONS.get(sampler, "{}"), str(seed), str(window), str(trials), directions, *dimensions]
    values = []
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            values.append(f([float(v) for v in line.split()]))
            process.stdin.write(" ".join(repr(float(v)) for v in values[-1]) + "\n")
            process.stdin.flush()
    if process.returncode or len(values) != trials:
        sys.exit(f"{' '.join(words)}: status {process.returncode} after {len(values)} trials")
    return score(values)


def compare(tool, sampler, problem, seeds):
    make, trials, _ = SAMPLERS[sampler]
    their = sorted(theirs(make, problem, trials, seed) for seed in range(seeds))
    our = sorted(ours(tool, sampler, problem, trials, seed, 1) for seed in range(seeds))
    wide = statistics.median(ours(tool, sampler, problem, trials, seed, 64) for seed in range(seeds))
    median = statistics.median(our)
    limit = their[-1] if sampler in ("random", "qmc") else their[math.ceil(0.75 * (seeds - 1))]
    check(f"{sampler:8} {problem:8} ours {median:10.4g} [{our[0]:.4g} .. {our[-1]:.4g}], window 64 {wide:10.4g}; "
          f"Optuna's {statistics.median(their):10.4g} [{their[0]:.4g} .. {their[-1]:.4g}]", median <= limit)


words = sys.argv[2:]
count = int(words.pop(words.index("--seeds") + 1)) if "--seeds" in words else 20
named = [w for w in words if w in SAMPLERS] or SAMPLERS
print(f"Optuna {optuna.__version__}, {count} seeds, medians; the less, the better")
for name in named:
    for title in SAMPLERS[name][2]:
        compare(sys.argv[1], name, title, count)
finish()
