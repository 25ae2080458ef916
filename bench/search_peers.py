"""search_peers.py - rustuna's side of bench/search: "SAMPLER OBJECTIVES TRIALS SEED" is answered by trials per second of
the processor, for the objective of search.c."""
import sys
import time

import rustuna
from importlib.metadata import version

WIDTHS = list(range(2, 9))
SAMPLERS = {
    "random": rustuna.samplers.RandomSampler,
    "tpe": rustuna.samplers.TPESampler,
    "nsgaii": rustuna.samplers.NSGAIISampler,
}


def one(trial):
    return float(sum((trial.suggest_categorical(f"w{i}", WIDTHS) - 4) ** 2 for i in range(10)))


def two(trial):
    v = [trial.suggest_categorical(f"w{i}", WIDTHS) for i in range(10)]
    return float(sum((x - 5) ** 2 for x in v)), sum(v) / 10


print(f"rustuna {version('rustuna')}", flush=True)
for line in sys.stdin:
    sampler, objectives, trials, seed = line.split()
    study = rustuna.create_study(sampler=SAMPLERS[sampler](seed=int(seed)), directions=["minimize"] * int(objectives))
    start = time.process_time()
    study.optimize(two if objectives == "2" else one, n_trials=int(trials))
    print(round(int(trials) / (time.process_time() - start)), flush=True)
