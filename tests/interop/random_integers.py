"""Random quantised networks in integers: the engine, emitted C and exported files beside Python's own integers.

    random_integers.py CH [--count N] [--seed S] [--only KIND,...] [--keep FOLDER] [--no-onnx]

A network of a kind is drawn: its layers (convolutions with strides, padding, groups, dilation; sums of branches,
joins, pools, values of one element, layouts, activations) and the number formats of its operands. Each is computed by
ch predict --engine int, by the C of ch emit c (as it is, unrolled or with codes, by gcc with sanitizers) and by the
oracle; random_integers_onnx.py does the exported files. Each result is equal, refused or wrong. Without --seed each
run draws others and says which; network I of a seed depends on nothing else: --seed S --first I --count 1.
"""
import argparse
import collections
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError:
    print("numpy is not installed: skipped")
    sys.exit(77)

import integer_oracle as oracle
import random_networks

GCC = ["gcc", "-O0", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsanitize=undefined,address", "-fno-sanitize-recover=all"]
TOGETHER = 20  # networks in one program


def ch(args, folder, *words):
    """Status and what it complains of, the last line that names a reason."""
    run = subprocess.run([args.ch, *words], capture_output=True, text=True, cwd=folder, check=False, errors="replace")
    said = [line for line in run.stderr.splitlines() if line and not line.startswith(("INFO", " ", "WARNING"))]
    return run.returncode, said[0] if said else run.stderr[-200:]


def kind_of(number):
    return random_networks.KINDS[number % len(random_networks.KINDS)]


class Case:
    """A network with its files, and what became of it."""

    def __init__(self, args, number):
        self.number = number
        self.rng = np.random.default_rng([args.seed, number])
        self.kind = kind_of(number)
        self.net = random_networks.draw(self.rng, self.kind, "n%d" % number)
        self.folder = os.path.join(args.work, self.net.name)
        self.results = {}
        self.notes = []
        os.mkdir(self.folder)
        self.net.write(self.folder)
        self.words = ["--input-shape", ",".join(str(n) for n in self.net.x.shape[1:]), "--load", "w.npz"]

    def is_(self, stage, result, note=""):
        self.results[stage] = result
        if note:
            self.notes.append("%s: %s" % (stage, note))

    def load(self, name):
        return np.load(os.path.join(self.folder, name)).reshape(len(self.net.x), -1)

    def compare(self, stage, y, wanted):
        """NaN is none of the oracle's."""
        differ = int((y != wanted).sum()) if y.shape == wanted.shape else -1
        self.is_(stage, "wrong" if differ else "equal", "%d of %d outputs differ" % (differ, wanted.size) if differ else "")


def run_engine(args, case):
    status, said = ch(args, case.folder, "predict", "net.mg", *case.words, "--engine", "int", "--input", "x.npy", "--output", "y.npy", "--project", "p")
    case.wanted = None
    if status == 2:  # such as integers of more than 62 bits, which the oracle need not have
        case.is_("engine", "refused", said)
        return False
    try:
        case.wanted = oracle.run(case.net.nodes, case.net.x)
    except (oracle.Refused, OverflowError) as why:
        case.unknown = str(why)
    if status:
        case.is_("engine", "wrong", "status %d: %s" % (status, said))
    elif case.wanted is None:
        case.is_("engine", "wrong", "the oracle has no integers: " + case.unknown)
    else:
        case.compare("engine", case.load("y.npy"), case.wanted)
        case.got = case.load("y.npy")
        return True
    return False


def emit(args, case):
    case.style = ("", "unrolled", "codes")[int(case.rng.integers(3))]
    more = {"": [], "unrolled": ["--style", "unrolled"], "codes": ["--codes"]}[case.style]
    status, said = ch(args, case.folder, "emit", "c", "net.mg", *case.words, "--output", "c", "--vectors", "6", *more)
    if status:
        case.is_("C", "refused" if status == 2 else "wrong", said)
    return status == 0


MAIN = """
#include <stdio.h>
#include <string.h>
#include "%(folder)s/c/net.h"
#define main %(name)s_test
#include "%(folder)s/c/net_test.c"
#undef main
int %(name)s_run(void);
int %(name)s_run(void)
{
    %(run)s
    return 0;
}
"""
RUN = """static float x[%(inputs)d], y[%(outputs)d];
    FILE *in = fopen("%(folder)s/x.bin", "rb"), *out = fopen("%(folder)s/y.bin", "wb");
    while (in && out && fread(x, sizeof x, 1, in) == 1) {
        %(name)s(x, y);
        fwrite(y, sizeof y, 1, out);
    }
    if (out)
        fclose(out);
    if (in)
        fclose(in);"""


def write_program(case):
    """A file that has a network's test vectors and a run over all samples; codes are tested by their vectors alone."""
    case.net.x.astype(np.float32).tofile(os.path.join(case.folder, "x.bin"))
    facts = {"folder": case.folder, "name": case.net.name, "inputs": case.net.x[0].size, "outputs": case.wanted.shape[1]}
    facts["run"] = "" if case.style == "codes" else RUN % facts
    path = os.path.join(case.folder, "run.c")
    with open(path, "w", encoding="utf-8") as f:
        f.write(MAIN % facts)
    return [path, os.path.join(case.folder, "c", "net.c")]


def compile_cases(args, cases, program):
    """Several networks in a program, which takes the name of one; its complaint."""
    main = program + "_main.c"
    with open(main, "w", encoding="utf-8") as f:
        f.write("#include <string.h>\n")
        for c in cases:
            f.write("int %s_test(void);\nint %s_run(void);\n" % (c.net.name, c.net.name))
        f.write("int main(int n, char **name)\n{\n    (void)n;\n")
        for c in cases:
            f.write('    if (strcmp(name[1], "%s") == 0)\n        return %s_test() || %s_run();\n' % ((c.net.name,) * 3))
        f.write("    return 3;\n}\n")
    done = subprocess.run(GCC + [main] + [f for c in cases for f in c.files] + ["-o", program], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else None


def told(said):
    """What matters of a sanitizer's report or of test vectors."""
    lines = [line for line in said.splitlines() if "ERROR" in line or "error" in line or "wanted" in line or line.startswith("    #")]
    return " | ".join(lines[:4])[:400] or said[:300]


def run_emitted(args, cases):
    """All in one program; where that does not compile, each in its own, which tells which."""
    if not cases:
        return
    program = os.path.join(args.work, "program")
    if compile_cases(args, cases, program):
        if len(cases) > 1:
            for c in cases:
                run_emitted(args, [c])
            return
        cases[0].is_("C", "wrong", "does not compile: " + compile_cases(args, cases, program)[:300])
        return
    for c in cases:
        done = subprocess.run([program, c.net.name], capture_output=True, text=True, check=False, errors="replace")
        if done.returncode:
            c.is_("C", "wrong", c.style + " " + told(done.stdout + done.stderr))
        elif c.style == "codes":
            c.is_("C", "equal")
        else:
            y = np.fromfile(os.path.join(c.folder, "y.bin"), dtype=np.float32).reshape(len(c.net.x), -1)
            c.compare("C", y, c.wanted)


def tell(args, case):
    """What reproduces it: the files' text and the commands."""
    print("\n==== %s, network %d of seed %d (%s): %s" % (case.net.name, case.number, args.seed, case.kind, "; ".join(case.notes)))
    print("again: random_integers.py CH --seed %d --first %d --count 1 --keep FOLDER" % (args.seed, case.number))
    with open(os.path.join(case.folder, "net.mg"), encoding="utf-8") as f:
        print(f.read().strip())
    print("---- ch predict net.mg %s --engine int --input x.npy --output y.npy" % " ".join(case.words), flush=True)


def finish(args, case, counts, reasons):
    for stage, result in case.results.items():
        counts[case.kind, stage, result] += 1
    for note in case.notes:
        stage, why = note.split(": ", 1)
        if case.results[stage] == "refused":
            reasons[stage, why.split(": ")[-1].split(" of ")[0][:70]] += 1
    bad = "wrong" in case.results.values()
    if bad:
        tell(args, case)
    if args.keep and bad:
        shutil.copytree(case.folder, os.path.join(args.keep, "%d-%s" % (args.seed, case.net.name)), dirs_exist_ok=True)
    shutil.rmtree(case.folder)
    return bad


def table(args, counts, reasons, seconds):
    stages = [s for s in ("engine", "C", *args.onnx_stages) if any(k[1] == s for k in counts)]
    print("\neach: equal, near, refused, wrong\n%-11s%s" % ("kind", "".join("  %-19s" % s for s in stages)))
    for kind in args.only + ["all"]:
        cells = [["%d" % sum(n for (k, s, r), n in counts.items() if s == stage and r == result and kind in (k, "all"))
                  for result in ("equal", "near", "refused", "wrong")] for stage in stages]
        print("%-11s%s" % (kind, "".join("  %5s%5s%5s%4s" % tuple(c) for c in cells)))
    print("\nrefused, and why:")
    for (stage, why), n in sorted(reasons.items(), key=lambda k: -k[1])[:25]:
        print("%6d  %-8s %s" % (n, stage, why))
    print("%.0f s" % seconds, flush=True)


def arguments():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("ch")
    p.add_argument("--count", type=int, default=100)
    p.add_argument("--seed", type=int)
    p.add_argument("--first", type=int, default=0)
    p.add_argument("--only", default=",".join(random_networks.KINDS))
    p.add_argument("--keep", help="folder that the files of wrong ones are left in")
    p.add_argument("--no-onnx", action="store_true")
    args = p.parse_args()
    args.ch = os.path.abspath(args.ch)
    args.only = args.only.split(",")
    for kind in args.only:
        if kind not in random_networks.KINDS:
            p.error("no kind %s: %s" % (kind, ", ".join(random_networks.KINDS)))
    if args.seed is None:
        args.seed = int.from_bytes(os.urandom(3), "big")
    if args.keep:
        args.keep = os.path.abspath(args.keep)
        os.makedirs(args.keep, exist_ok=True)
    return args


def main():
    args = arguments()
    if not shutil.which("gcc"):
        print("gcc is not installed: skipped")
        sys.exit(77)
    print("seed %d, %d networks" % (args.seed, args.count), flush=True)
    args.onnx_stages, onnx_stage = (), None
    if not args.no_onnx:
        import random_integers_onnx as onnx_stage

        args.onnx_stages = onnx_stage.STAGES
        print(onnx_stage.ABOUT)
    started, wrong = time.time(), 0
    counts, reasons = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as args.work:
        numbers = [k for k in itertools.islice((n for n in itertools.count(args.first) if kind_of(n) in args.only), args.count)]
        for at in range(0, len(numbers), TOGETHER):
            cases = [Case(args, k) for k in numbers[at : at + TOGETHER]]
            ran = [c for c in cases if run_engine(args, c)]
            emitted = [c for c in ran if emit(args, c)]
            for c in emitted:
                c.files = write_program(c)
            run_emitted(args, emitted)
            for c in ran if onnx_stage else ():
                onnx_stage.run(args, c, ch)
            wrong += sum(finish(args, c, counts, reasons) for c in cases)
    table(args, counts, reasons, time.time() - started)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
