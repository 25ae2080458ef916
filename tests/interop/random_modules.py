#!/usr/bin/env python3
"""Random networks, each by PyTorch and by us with the same weights: the same outputs at batches of 1, 5 and 1 025, the
same weights after three steps of descent, the same through the package, from saved folders, .mg, .py and ONNX, the
same behind passes that promise it, and costs as counted here. Anything may be refused; nothing may differ.

usage: random_modules.py CH [--seed N] [--count N] [--stage NAME,...] [--kind NAME,...] [--keep FOLDER] [--shrink]

Networks N, N + 1 ... of the seed; without --seed of a new one each time, which is printed. What differs is kept in
the folder, with the commands; --shrink drops statements as long as it still does.
"""
import argparse
import collections
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time

try:
    import numpy as np
    import torch
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

from random_source import generate, write

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python"))
STAGES = ["predict", "train", "python", "files", "onnx", "passes", "costs"]
SECONDS = 120  # of one network


# ---- one network, in a process of its own ----


def judged(case, stages, ch):
    """(stage, verdict, what is told) of each, from a child: what crashes there ends the child alone."""
    folder = tempfile.mkdtemp(prefix="random-")
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reading)
        os.chdir(folder)
        log = os.open("log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        signal.alarm(SECONDS)
        from random_checks import examine
        with os.fdopen(writing, "w") as out:
            for row in examine(case, stages, ch):
                out.write(json.dumps(row) + "\n")
                out.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as rows:
        told = [json.loads(line) for line in rows]
    _, status = os.waitpid(child, 0)
    if status:
        begun = told.pop()[0] if told and told[-1][1] == "begun" else "?"
        with open(os.path.join(folder, "log.txt"), errors="replace") as f:
            log = f.read()[-2000:]
        how = f"signal {status & 127}" if status & 127 else f"status {status >> 8}"
        told.append([begun, "crashed", f"{how}: {log}"])
    return folder, [row for row in told if row[1] != "begun"]


def faults(rows):
    return [row for row in rows if row[1] in ("differs", "crashed")]


# ---- shrinking ----


def shrunk(case, rows, ch):
    """The network with as few statements as fail in the stage in which it failed."""
    stage, verdict, _ = faults(rows)[0]
    if stage not in STAGES:
        return case
    shortened = True
    while shortened:
        shortened = False
        for part in ("body", "init"):
            for i in reversed(range(len(case[part]))):
                smaller = dict(case, **{part: case[part][:i] + case[part][i + 1:]})
                shortened |= fails(smaller, stage, verdict, ch)
                case = smaller if fails.last else case
        for name in [line.split(" = ")[0] for line in case["body"] if re.match(r"\w+ = ", line)]:
            if name != case["results"] and case["results"] != name:
                smaller = dict(case, results=name)
                if len(name) < len(case["results"]) and fails(smaller, stage, verdict, ch):
                    case, shortened = smaller, True
    return case


def fails(case, stage, verdict, ch):
    folder, rows = judged(case, [stage], ch)
    shutil.rmtree(folder, ignore_errors=True)
    fails.last = any(row[0] == stage and row[1] == verdict for row in rows)
    return fails.last


# ---- all of them ----


def source_of(case):
    return write(case["classes"], case["inputs"], case["init"], case["body"], case["results"])


def made(seed, kinds):
    s = generate(seed, kinds)
    return s and {"seed": seed, "classes": s.classes, "inputs": s.inputs, "init": s.init, "body": s.body, "results": s.results,
                  "draws": s.draws, "exact": s.exact, "kinds": sorted(s.kinds)}


def keep(case, rows, folder, options):
    """The folder of a network that failed, and what to type."""
    if options.shrink:
        case = shrunk(case, rows, options.ch)
        shutil.rmtree(folder, ignore_errors=True)
        folder, rows = judged(case, options.stage, options.ch)
    place = os.path.join(options.keep, str(case["seed"]))
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place)
    with open(os.path.join(place, "case.json"), "w") as f:
        json.dump(case, f)
    print(source_of(case))
    for stage, verdict, detail in faults(rows):
        print(f"{stage} {verdict}: {detail}")
    print(f"kept in {place}, commands in commands.txt; again: random_modules.py {options.ch} --seed {case['seed']} --count 1", flush=True)


def normal(text):
    """A refusal without its names and numbers."""
    text = re.sub(r"\S+\.(py|npz|mg|onnx|npy|pt)\b(:\d+)*", "FILE", text)
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'", "'...'", text))[:110]


def table(title, counts, columns):
    print(f"\n{title:28s}" + "".join(f"{c:>10s}" for c in columns))
    for name in sorted(counts):
        print(f"{name:28s}" + "".join(f"{counts[name][c]:10d}" for c in columns))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ch", type=os.path.abspath)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--stage", type=lambda s: s.split(","), default=STAGES)
    parser.add_argument("--kind", type=lambda s: s.split(","))
    parser.add_argument("--keep", type=os.path.abspath, default="random_modules.failed")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--refusals", action="store_true", help="print the source of what is refused")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = int.from_bytes(os.urandom(3), "big")
    library = os.path.join(os.path.dirname(options.ch), "libmase.so")
    if os.path.exists(library):
        os.environ.setdefault("MASE_LIBRARY", library)
    torch.set_num_threads(1)
    print(f"seed {options.seed}, PyTorch {torch.__version__}", flush=True)
    kinds, stages = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    refusals, examples, started, failed = collections.Counter(), {}, time.time(), 0
    for seed in range(options.seed, options.seed + options.count):
        case = made(seed, options.kind)
        if not case:
            kinds["(none made)"]["networks"] += 1
            continue
        folder, rows = judged(case, options.stage, options.ch)
        verdict = "differs" if faults(rows) else "refused" if any(r[:2] == ["predict", "refused"] for r in rows) else "equal"
        if not any(r[1] != "skipped" for r in rows):
            verdict = "skipped"
        for kind in [*case["kinds"], "(all)"]:
            kinds[kind]["networks"] += 1
            kinds[kind][verdict] += 1
        for stage, what, detail in rows:
            stages[stage]["networks"] += 1
            stages[stage][what] += 1
            if what in ("refused", "skipped"):
                refusals[f"{stage} {what}: {normal(detail)}"] += 1
                examples.setdefault(f"{stage} {what}: {normal(detail)}", f"{seed}: {detail}")
        if verdict == "differs":
            failed += 1
            keep(case, rows, folder, options)
        elif verdict == "refused" and options.refusals:
            print(source_of(case), rows)
        shutil.rmtree(folder, ignore_errors=True)
    table("kind", kinds, ["networks", "equal", "refused", "differs", "skipped"])
    table("stage", stages, ["networks", "equal", "refused", "differs", "crashed", "skipped"])
    print()
    for text, count in refusals.most_common():
        print(f"{count:5d} {text}\n      {examples[text]}" if options.refusals else f"{count:5d} {text}   ({examples[text].split(':')[0]})")
    print(f"\nseed {options.seed}: {options.count} networks in {time.time() - started:.0f} s, {failed} differ")
    sys.exit(1 if failed else 0)


np.seterr(all="ignore")
if __name__ == "__main__":
    main()
