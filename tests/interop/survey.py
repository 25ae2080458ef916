#!/usr/bin/env python3
"""Networks of strangers: what is captured, whether torch.fx's graph is ours, how far the outputs are apart.

usage: survey.py BUILD CHECKOUTS [--python PYTHON] [--only TEXT] [--markdown FILE] [--jobs N] [--cached]

BUILD is a folder with ch and trace_tool. CHECKOUTS has a folder owner+name for each repository of networks.list, at
the commit that is named there; nothing of them is in this repository. PYTHON has PyTorch; what it computes is
kept in CHECKOUTS/.reference and computed once. A network is named directly, FILE:NAME(ARGUMENTS), where its
arguments are plain values; else a file of a few lines makes it. [site:PACKAGE VERSION] is a package that is installed
beside PYTHON, whose networks are named by their module, MODULE:NAME(ARGUMENTS).
"""
import argparse
import ast
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 120


def rows(path):
    """(repository, commit, file, expression, inputs)"""
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.strip()
            if line.startswith("["):
                repository, commit = line[1:-1].split()
            elif line and not line.startswith("#"):
                yield (repository, commit, *(part.strip() for part in line.split("|")))


def is_plain(expression):
    """NAME, or NAME(ARGUMENTS) of literals."""
    try:
        call = ast.parse(expression, mode="eval").body
        if isinstance(call, ast.Call):
            for value in call.args + [k.value for k in call.keywords]:
                ast.literal_eval(value)
            call = call.func
        return isinstance(call, ast.Name)
    except (ValueError, SyntaxError):
        return False


def package_of(path):
    """The folder that import starts from, and the dotted name of a file."""
    folder, name = os.path.split(os.path.abspath(path))
    parts = [os.path.splitext(name)[0]]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    return folder, ".".join(parts)


def is_site(repository):
    return repository.startswith("site:")


def top_of(args, repository):
    return args.checkouts if is_site(repository) else os.path.join(args.checkouts, repository.replace("/", "+"))


def specification(path, expression, folder):
    """The network as ch is told of it, and how: directly or wrapped."""
    if not path.endswith(".py"):
        return f"{os.path.basename(path)}:{expression}", "direct"
    if is_plain(expression):
        return f"{path}:{re.sub('[(][)]$', '', expression)}", "direct"
    root, name = package_of(path)
    wrapper = os.path.join(folder, "wrapper.py")
    with open(wrapper, "w") as f:
        f.write(f"import importlib\nimport sys\nsys.path[:0] = [{root!r}, {os.path.dirname(path)!r}]\n"
                f"globals().update(vars(importlib.import_module({name!r})))\n\n\n"
                f"def network():\n    return {expression}\n")
    return f"{wrapper}:network", "wrapped"


class Torch:
    """PyTorch, started once, without a network."""

    def __init__(self, python):
        self.lock = threading.Lock()
        self.process = subprocess.Popen(["unshare", "-rn", python, os.path.join(HERE, "survey_torch.py")], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, *request):
        with self.lock:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            self.process.stdout.readline()


def reference(args, row):
    """What PyTorch says, computed once."""
    repository, commit, path, expression, inputs = row
    folder = os.path.join(args.checkouts, ".reference", hashlib.sha1(repr(row).encode()).hexdigest()[:16])
    answer = os.path.join(folder, "answer.json")
    if not os.path.exists(answer) and not args.cached:
        os.makedirs(folder, exist_ok=True)
        args.torch.ask(folder, top_of(args, repository), path, expression, inputs)
    if not os.path.exists(answer):
        return folder, {} if args.cached else {"failed": "no answer", "untraced": "no answer"}
    with open(answer) as f:
        return folder, json.load(f)


def run_quietly(command, seconds=SECONDS, **more):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              timeout=seconds, stdin=subprocess.DEVNULL, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"still running after {seconds} s")


def reason(text, top):
    """The line that says what is wrong, without the place where the checkouts lie."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("INFO", "WARN", " "))]
    placed = [line for line in lines if re.match(r"(ERROR +)?\S[^:]*\.(py|npz|pt|mg)(:\d+)*: ", line)]
    said = (placed or lines or [text.strip()[-200:]])[-1 if placed else 0]
    said = re.sub(r"\S*/site-packages/", "", said)
    said = re.sub(r"\S*/wrapper\.py", "wrapper.py", re.sub(r"\S*/weights\.pt", "weights.pt", said))
    return re.sub(r"^(ERROR\s+)?", "", said).replace(top + "/", "")[:220]


def numbered(text):
    """The text of a graph with its nodes numbered: versions of torch.fx count names that are taken differently."""
    names = {}
    for name in re.findall(r"^    %(\w+) :", text, re.M):
        names.setdefault(name, f"n{len(names)}")
    text = re.sub(r"%(\w+)", lambda m: "%" + names.get(m[1], m[1]), text.rstrip("\n"))
    return re.sub(r"(?<=^    return ).*", lambda m: re.sub(r"\w+", lambda w: names.get(w[0], w[0]), m[0]), text,
                  flags=re.M)


def farthest(np, folder, outputs, count):
    """The largest relative distance of the outputs that are there; None: they are not."""
    most = 0.0
    for i in range(count):
        theirs = np.load(os.path.join(folder, f"y{i}.npy"))
        if i >= len(outputs):
            return None
        ours = outputs[i]
        if ours.size != theirs.size:
            return None
        ours = ours.reshape(theirs.shape).astype("f8")
        with np.errstate(invalid="ignore"):
            apart = np.abs(ours - theirs) / np.maximum(1, np.abs(theirs))
        apart[(ours == theirs) | (np.isnan(ours) & np.isnan(theirs))] = 0
        most = max(most, float(np.nan_to_num(apart, nan=np.inf).max(initial=0)))
    return most


def compute(args, np, spec, folder, answer, scratch):
    """Our outputs by ch predict where one sample goes in and one tensor comes out, else by the reference."""
    x = np.load(os.path.join(folder, "x0.npy"))
    y = np.load(os.path.join(folder, "y0.npy"))
    weights = os.path.join(folder, "weights.pt") if answer.get("tensors", 1) else "-"
    if answer.get("tensors", 1) and answer["inputs"] == 1 and answer["outputs"] == 1 and x.dtype == "f4" and len(y) == len(x):
        np.savez(os.path.join(scratch, "data.npz"), X=np.concatenate([x] * 4), y=np.arange(4 * len(x)) % 2)
        run = run_quietly([os.path.join(args.build, "ch"), "predict", spec, "npz:data.npz", "--load",
                           os.path.join(folder, "weights.pt"), "--input", os.path.join(folder, "x0.npy"),
                           "--output", "out.npy"], 3 * SECONDS, cwd=scratch)
        if run.returncode == 0:
            return [np.load(os.path.join(scratch, "out.npy"))], ""
        return [], run.stderr
    dims = [str(n) for n in x.shape[1:]]
    run = run_quietly([os.path.join(args.build, "tests/unit/frontend/trace_tool"), spec, "10", *dims, "--",
                       weights, os.path.join(scratch, "out"),
                       *(os.path.join(folder, f"x{i}.npy") for i in range(answer["inputs"]))], 3 * SECONDS,
                      cwd=scratch)
    files = [os.path.join(scratch, f"out{i}.npy") for i in range(answer["outputs"])]
    return [np.load(f) for f in files if os.path.exists(f)], run.stderr


def examine(args, row):
    import numpy as np
    repository, commit, path, expression, inputs = row
    folder, answer = reference(args, row)
    top = top_of(args, repository)
    result = dict(row=row, captured=False, equal=None, far=None, why="", asked=bool(answer))
    x = os.path.join(folder, "x0.npy")
    dims = [str(n) for n in np.load(x).shape[1:]] if os.path.exists(x) else ["16"]
    with tempfile.TemporaryDirectory() as scratch:
        spec, result["how"] = specification(os.path.join(top, path), expression, scratch)
        tool = os.path.join(args.build, "tests/unit/frontend/trace_tool")
        run = run_quietly([tool, spec, "10", *dims], cwd=top)
        if run.returncode:
            result["why"] = reason(run.stderr, top)
            result["torch"] = "graph" in answer
            return result
        result["captured"] = True
        if "graph" in answer:
            result["equal"] = numbered(run.stdout) == numbered(answer["graph"])
            if not result["equal"]:
                with open(os.path.join(folder, "ours.txt"), "w") as f:
                    f.write(run.stdout)
                with open(os.path.join(folder, "theirs.txt"), "w") as f:
                    f.write(answer["graph"] + "\n")
                result["why"] = "graph differs: " + folder
        if "outputs" in answer and answer["inputs"]:
            outputs, said = compute(args, np, spec, folder, answer, scratch)
            result["far"] = farthest(np, folder, outputs, answer["outputs"])
            result["near"] = result["far"] is not None and result["far"] <= max(1e-5, answer.get("own", 0.0))
            if result["far"] is None:
                result["why"] = reason(said, top) or "other outputs"
        elif "failed" in answer:
            result["why"] = result["why"] or "PyTorch: " + answer["failed"]
    return result


def cells(r):
    repository, commit, path, expression, inputs = r["row"]
    far = "" if r["far"] is None else f"{r['far']:.0e}" if r["far"] else "0"
    equal = {None: "", True: "yes", False: "no"}[r["equal"]]
    why = r["why"] if not r["captured"] or r["far"] is None else ""
    if r["captured"] and r["equal"] is False:
        why = "graph differs"
    return [repository, commit[:10], f"{path}", expression, "yes" if r["captured"] else "no", equal, far, why]


PAGE = """# Networks that were tried

Networks of public repositories, each as it lies there, and of installed packages (`site`): named directly, `FILE:NAME(ARGUMENTS)`, or, where its arguments
are objects, made by a file of a few lines around it (`wrapped`). PyTorch {torch} ran the same code with the same weights, which are random.

- **captured**: the network is read and becomes a graph.
- **torch.fx**: the graph is the one that torch.fx traces, node by node; `-`: torch.fx cannot trace it.
- **outputs**: the largest difference from what PyTorch computes in float64, relative to the output where that is above 1; `-`: not compared, because PyTorch
  itself fails or because what goes in is no tensor.
- `?`: PyTorch was not asked yet.

| | |
|---|---|
{counts}

`tests/interop/survey.py` makes this page from checkouts at the commits named here, which `tests/interop/networks.list` lists with the shapes of their inputs.

{tables}"""


def cell(text):
    return text.replace("|", "\\|")


def remark(r):
    if not r["captured"]:
        return "refused: " + r["why"]
    if r["equal"] is False:
        return "torch.fx has another graph"
    if r["far"] is not None and r["far"] > 1e-5 and r["near"]:
        return "PyTorch in float32 is farther away"
    return r["why"] if r["far"] is None else ""


def page(results, version):
    counts = "\n".join(f"| {what} | {count} |" for what, count in summary(results).items())
    tables, last = [], None
    for r in results:
        repository, commit, path, expression, inputs = r["row"]
        if repository != last:
            tables.append(f"\n## {repository}\n\nat `{commit}`\n\n| network | captured | torch.fx | outputs | |\n"
                          "|---|---|---|---|---|")
            last = repository
        short = expression if len(expression) < 70 else expression[:expression.index("(")] + "(...)"
        captured = ("directly" if r["how"] == "direct" else "wrapped") if r["captured"] else "no"
        equal = {None: "-", True: "equal", False: "differs"}[r["equal"]]
        far = "-" if r["far"] is None else f"{r['far']:.0e}" if r["far"] else "0"
        if not r["captured"] or not r["asked"]:
            equal = far = "?" if r["captured"] else ""
        tables.append(f"| `{cell(path)}` `{cell(short)}` | {captured} | {equal} | {far} | {cell(remark(r))} |")
    return PAGE.format(torch=version, counts=counts, tables="\n".join(tables).strip()) + "\n"


def markdown(results, path, python):
    version = run_quietly([python, "-c", "import torch; print(torch.__version__)"]).stdout.strip()
    with open(path, "w") as f:
        f.write(page(results, version))


def summary(results):
    n = collections.Counter()
    for r in results:
        n["networks"] += 1
        n["captured"] += r["captured"]
        n["direct"] += r["how"] == "direct"
        n["captured directly"] += r["how"] == "direct" and r["captured"]
        n["traced by torch.fx, too"] += r["equal"] is not None
        n["equal to torch.fx"] += r["equal"] is True
        n["refused, though torch.fx traces it"] += not r["captured"] and r.get("torch", False)
        n["outputs compared"] += r["far"] is not None
        n["outputs within 1e-5, or nearer than PyTorch in float32"] += r.get("near", False)
    return n


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("checkouts")
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--list", default=os.path.join(HERE, "networks.list"))
    p.add_argument("--only", default="")
    p.add_argument("--cached", action="store_true", help="ask PyTorch nothing new")
    p.add_argument("--markdown")
    p.add_argument("--jobs", type=int, default=1)
    args = p.parse_args()
    args.build, args.checkouts = os.path.abspath(args.build), os.path.abspath(args.checkouts)
    chosen = [row for row in rows(args.list) if args.only in " ".join(row)]
    args.torch = Torch(args.python)
    os.environ["PATH"] = os.path.dirname(os.path.abspath(args.python)) + os.pathsep + os.environ["PATH"]  # its packages
    results = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for r in pool.map(lambda row: examine(args, row), chosen):
            results.append(r)
            print(" | ".join(cells(r)), flush=True)
    for what, count in summary(results).items():
        print(f"{count:5d} {what}")
    if args.markdown:
        markdown(results, args.markdown, args.python)


if __name__ == "__main__":
    main()
