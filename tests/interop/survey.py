#!/usr/bin/env python3
"""Networks of strangers: what is captured, whether torch.fx's graph is ours, how far the outputs are apart, also quantised, and
weights after training.

usage: survey.py BUILD CHECKOUTS [--python PYTHON] [--only TEXT] [--markdown FILE] [--jobs N] [--cached] [--results FILE]

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

from survey_runs import NARROW, WIDE, farthest, given_samples, quantised, run_quietly, trained

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


def is_large(path, most):
    """What is known of it tells."""
    if not os.path.exists(path):
        return False
    with open(path) as f:
        return json.load(f).get("parameters", 0) > most


def reference(args, row):
    """What PyTorch says, computed once: of evaluation, and of training."""
    repository, commit, path, expression, inputs = row
    folder = os.path.join(args.checkouts, ".reference", hashlib.sha1(repr(row).encode()).hexdigest()[:16])
    files = [os.path.join(folder, name) for name in ("answer.json", "trained.json")]
    if not all(map(os.path.exists, files)) and not args.cached and not is_large(files[0], args.largest):
        os.makedirs(folder, exist_ok=True)
        args.torch.ask(folder, top_of(args, repository), path, expression, inputs, args.largest, False)
    answers = []
    for file, none in zip(files, ({"failed": "no answer", "untraced": "no answer"}, {"failed": "no answer"})):
        answers.append({} if args.cached else none)
        if os.path.exists(file):
            with open(file) as f:
                answers[-1] = json.load(f)
    return (folder, *answers)


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


def shapes(inputs):
    """Of a sample of each input, as trace_tool takes them, up to one that is a tuple or has no batch."""
    told = []
    for part in inputs.split(",") if inputs != "dict" else []:
        shape = re.fullmatch(r"(i\d+:)?([\dx]*)", part.strip())
        if not shape:
            break
        told += [";", *filter(None, shape[2].split("x"))]
    return told[1:] if told else ["16"]


def compute(args, np, spec, folder, answer, inputs, names, scratch):
    """Our outputs by ch predict, where a row of samples goes in and comes out; else by the reference."""
    x = np.load(os.path.join(folder, "x0.npy"))
    y = np.load(os.path.join(folder, "y0.npy"))
    weights = os.path.join(folder, "weights.pt") if answer.get("tensors", 1) else "-"
    if weights != "-" and answer["outputs"] == 1 and len(names) == answer["inputs"] and y.shape[:1] == x.shape[:1]:
        given, out = given_samples(np, folder, names, scratch), os.path.join(scratch, "out.npy")
        run = run_quietly([args.ch, "predict", spec, "--load", weights, "--input", given, "--output", out], 3 * SECONDS, cwd=scratch)
        if run.returncode == 0:
            return [np.load(out)], ""
        if len(names) == 1:
            return [], run.stderr
    run = run_quietly([args.tool, spec, "10", *shapes(inputs), "--", weights, os.path.join(scratch, "out"),
                       *(os.path.join(folder, f"x{i}.npy") for i in range(answer["inputs"]))], 3 * SECONDS, cwd=scratch)
    files = [os.path.join(scratch, f"out{i}.npy") for i in range(answer["outputs"])]
    return [np.load(f) for f in files if os.path.exists(f)], run.stderr


PYTHONS = ("torch", "operator", "_operator", "builtins", "math")


def targets(kind, text):
    return set(re.findall(rf"{kind}\[target=([\w.]+)\]", text))


def evaluated(text):
    return text.partition("\n\nwhile training")[0]


def kept_whole(ours, theirs):
    """Why the two differ, where it is that one keeps whole what the other writes out, or has what is not used; else ""."""
    modules = targets("call_module", theirs) - targets("call_module", ours), targets("call_module", ours) - targets("call_module", theirs)
    functions = {t for t in targets("call_function", theirs) - targets("call_function", ours)
                 if t.partition(".")[0] not in PYTHONS or t.endswith("multi_head_attention_forward")}
    if "_torchbind_obj" in theirs:
        return "torch.fx calls compiled modules"
    if functions:
        return f"torch.fx keeps `{sorted(functions)[0].rpartition('.')[2]}` whole"
    if "placeholder[target=**" in theirs:
        return "torch.fx takes ** for an input"
    if modules[0] and all(f"get_attr[target={path}." in ours for path in modules[0]):
        return "torch.fx keeps a layer whole"
    if modules[1] and all(f"get_attr[target={path}.weight]" in theirs for path in modules[1]):
        return "a layer that is derived from torch's is whole here"
    if "\nwhile training" in ours and "\nwhile training" not in theirs and numbered(
            evaluated(ours).replace("training: False", "training: self.training")) == numbered(theirs):
        return "training changes a buffer, which torch.fx does not record"
    if "\nwhile training" in theirs and numbered(ours) == numbered(evaluated(theirs)):
        return "training is another graph, and refused"
    return ""


def compare_graphs(result, text, answer, folder):
    result["equal"] = numbered(text) == numbered(answer["graph"])
    if result["equal"]:
        return
    result["whole"] = kept_whole(text, answer["graph"])
    for name, of in (("ours.txt", text), ("theirs.txt", answer["graph"] + "\n")):
        with open(os.path.join(folder, name), "w") as f:
            f.write(of)
    print("graph differs:", folder, file=sys.stderr)


def trained_slower(args, np, result, spec, folder, scratch):
    """Where the weights are elsewhere, once more from other samples by shorter steps: a value at the kink of a ReLU, which a rounding of
    float32 decides, is one of these; a wrong gradient is wrong with any."""
    repository, commit, path, expression, inputs = result["row"]
    file = os.path.join(folder, "slower.json")
    if not os.path.exists(file) and not args.cached:
        args.torch.ask(folder, top_of(args, repository), path, expression, inputs, args.largest, True)
    if os.path.exists(file):
        with open(file) as f:
            told = json.load(f)
        if "rate" in told:
            again = trained(args.ch, np, spec, folder, told, scratch, "slower")
            if again["far"] is not None:
                result["trained"] = dict(again, slower=True)


def run_further(args, np, result, spec, folder, answer, told, names, scratch, top):
    """Quantised and trained, where there are numbers to compare with and parameters."""
    if answer.get("parameters", 0) > args.largest:
        result["large"] = True
        return
    if answer.get("tensors") and len(names) == answer["inputs"] and not answer.get("draws"):
        result["quantised"] = quantised(args.ch, np, spec, folder, answer, names, scratch)
    if "rate" in told:
        result["trained"] = trained(args.ch, np, spec, folder, told, scratch)
        if is_trained(result) and not weights_are_near(result):
            trained_slower(args, np, result, spec, folder, scratch)
    for part in ("quantised", "trained"):
        if part in result:
            result[part]["why"] = reason(result[part]["why"], top)


def examined(args, row):
    """A fault of the survey is one of its row."""
    try:
        return examine(args, row)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as e:
        return dict(row=row, captured=False, equal=None, far=None, why=f"the survey fails: {e!r}", asked=True, torch=False, draws=False,
                    failed=None, told={}, how="direct")


def examine(args, row):
    import numpy as np
    repository, commit, path, expression, inputs = row
    folder, answer, told = reference(args, row)
    top = top_of(args, repository)
    result = dict(row=row, captured=False, equal=None, far=None, why="", asked=bool(answer), torch="graph" in answer,
                  draws=answer.get("draws", False), failed=answer.get("failed"), told=told)
    with tempfile.TemporaryDirectory() as scratch:
        spec, result["how"] = specification(os.path.join(top, path), expression, scratch)
        run = run_quietly([args.tool, spec, "10", *shapes(inputs)], SECONDS, cwd=top)
        if run.returncode:
            result["why"] = reason(run.stderr, top)
            return result
        result["captured"] = True
        if "graph" in answer:
            compare_graphs(result, run.stdout, answer, folder)
        if "outputs" in answer and answer["inputs"]:
            names = re.findall(r"placeholder\[target=(\w+)\]", run.stdout.partition("\n\nwhile training")[0])
            outputs, said = compute(args, np, spec, folder, answer, inputs, names, scratch)
            result["far"] = farthest(np, folder, outputs, answer["outputs"])
            result["own"] = answer.get("own", 0.0)
            result["near"] = result["far"] is not None and result["far"] <= max(1e-5, answer.get("own", 0.0))
            if result["far"] is None:
                result["why"] = reason(said, top) or "other outputs"
            else:
                run_further(args, np, result, spec, folder, answer, told, names, scratch, top)
        elif "failed" in answer:
            result["why"] = result["why"] or "PyTorch: " + answer["failed"]
    return result


# ---- what is told ----

def shown(far):
    return "-" if far is None else f"{far:.0e}" if far else "0"


def output_cell(r):
    return "draws" if r["draws"] and r["far"] is not None else shown(r["far"])


def quantised_cell(r):
    q = r.get("quantised")
    if r.get("large"):
        return "large"
    return "-" if q is None or q["far"] is None else f"{q['nodes']}: {shown(q['far'])}"


def trained_cell(r):
    t = r.get("trained")
    if r.get("large"):
        return "large"
    if t is None:
        return r["told"].get("unfit", "-")
    return "-" if t["far"] is None else "draws" if t["draws"] else shown(t["far"])


def is_trained(r):
    t = r.get("trained")
    return t is not None and t["far"] is not None and not t["draws"]


def weights_are_near(r):
    return is_trained(r) and r["trained"]["far"] <= max(1e-3, 4 * r["trained"]["own"])


def is_quantised(r):
    return r.get("quantised") is not None and r["quantised"]["far"] is not None and r["quantised"]["nodes"] > 0


def remark(r):
    if not r["captured"]:
        return ("PyTorch fails, too: " + r["failed"] if r["failed"] else "refused: " + r["why"])
    said = [r["whole"]] if r.get("whole") else []
    if r["equal"] is False and not said:
        said.append("torch.fx has another graph")
    if r["far"] is None:
        said.append("PyTorch fails: " + r["failed"] if r["failed"] else r["why"])
        return "; ".join(said)
    if r["far"] > 1e-5 and not r["draws"]:
        said.append("PyTorch in float32 is " + ("farther away" if r["near"] else f"{shown(r['own'])} away"))
    said += [f"{part}: {r[part]['why']}" for part in ("quantised", "trained") if part in r and r[part]["why"]]
    if is_trained(r) and not weights_are_near(r):
        said.append(f"trained: `{r['trained']['worst']}` is elsewhere")
    elif is_trained(r) and r["trained"]["far"] > 1e-3:
        said.append("trained: PyTorch in float32 is as far away")
    if is_trained(r) and r["trained"].get("slower"):
        said.append("trained from other samples: of the first, one lies so near a kink that float32 decides")
    return "; ".join(said)


def cells(r):
    repository, commit, path, expression, inputs = r["row"]
    equal = {None: "-", True: "yes", False: "no"}[r["equal"]]
    return [repository, path, expression, "yes" if r["captured"] else "no", equal, output_cell(r), quantised_cell(r),
            trained_cell(r), remark(r) or r["why"]]


PAGE = """# Networks that were tried

Networks of public repositories, each as it lies there, and of installed packages (`site`): named directly, `FILE:NAME(ARGUMENTS)`, or, where its arguments
are objects, made by a file of a few lines around it (`wrapped`). PyTorch {torch} ran the same code with the same weights, which are random.

- **captured**: the network is read and becomes a graph.
- **torch.fx**: the graph is the one that torch.fx traces, node by node; `parts`: but for what one of the two keeps whole and the other writes out, such as attention and
  what `weight_norm` was put on, as the last column says; `-`: torch.fx cannot trace it.
- **outputs**: the largest difference from what PyTorch computes in float64, relative to the output where that is above 1; `draws`: the network draws random
  numbers even where it is not trained; `-`: not compared, because PyTorch itself fails or because what goes in is no tensor.
- **quantised**: how many nodes compute in integers of {wide} bits, all that have such a form, and how far the outputs are from PyTorch's float64 then: so wide, next to nothing
  is lost if the quantised network is the same network. With {narrow} bits each of these gives finite numbers, unless something else is said.
- **trained**: the largest difference of a weight or a running statistic from PyTorch's in float64 after two steps of SGD onto random numbers, as a share of the way that its tensor went;
  `draws`: the network draws random numbers in training, so it was trained and nothing compared. Where the task does not fit, the table says why.
- `large`: not quantised and trained here for want of time: above 8 million parameters, in the repositories from External-Attention-pytorch on above 1 million.
- `?`: PyTorch was not asked yet.

Of these last repositories 38 networks more were tried and are left out: 14 that were misnamed or whose files are at fault, all refused, and 24 that PyTorch itself did not run with the shapes or
packages at hand, of which 10 were refused. A row is not measured again with every change: its figures may be of a version shortly before.

| | |
|---|---|
{counts}

`tests/interop/survey.py` makes this page from checkouts at the commits named here, which `tests/interop/networks.list` lists with the shapes of their inputs.

{tables}"""


def cell(text):
    return text.replace("|", "\\|")


def line(r):
    repository, commit, path, expression, inputs = r["row"]
    short = expression if len(expression) < 70 else expression[:expression.index("(")] + "(...)"
    captured = ("directly" if r["how"] == "direct" else "wrapped") if r["captured"] else "no"
    equal = "parts" if r.get("whole") else {None: "-", True: "equal", False: "differs"}[r["equal"]]
    numbers = [equal, output_cell(r), quantised_cell(r), trained_cell(r)]
    if not r["captured"] or not r["asked"]:
        numbers = ["?" if r["captured"] else ""] * len(numbers)
    return " | ".join([f"| `{cell(path)}` `{cell(short)}`", captured, *numbers, cell(remark(r)) + " |"])


def page(results, version):
    counts = "\n".join(f"| {what} | {count} |" for what, count in summary(results).items())
    tables, last = [], None
    for r in results:
        repository, commit, *_ = r["row"]
        if repository != last:
            tables.append(f"\n## {repository}\n\nat `{commit}`\n\n| network | captured | torch.fx | outputs | quantised | trained | |\n"
                          "|---|---|---|---|---|---|---|")
            last = repository
        tables.append(line(r))
    return PAGE.format(torch=version, counts=counts, tables="\n".join(tables).strip(), wide=WIDE, narrow=NARROW) + "\n"


def markdown(results, path, python):
    version = run_quietly([python, "-c", "import torch; print(torch.__version__)"]).stdout.strip()
    with open(path, "w") as f:
        f.write(page(results, version))


def summary(results):
    n = collections.Counter()
    for r in results:
        n["networks"] += 1
        n["captured"] += r["captured"]
        n["not captured, and PyTorch fails, too"] += not r["captured"] and bool(r["failed"])
        n["direct"] += r["how"] == "direct"
        n["captured directly"] += r["how"] == "direct" and r["captured"]
        n["traced by torch.fx, too"] += r["equal"] is not None
        n["equal to torch.fx"] += r["equal"] is True
        n["equal but for what one of the two keeps whole"] += bool(r.get("whole"))
        n["refused, though torch.fx traces it"] += not r["captured"] and r["torch"]
        n["outputs compared"] += r["far"] is not None and not r["draws"]
        n["outputs within 1e-5, or nearer than PyTorch in float32"] += not r["draws"] and r.get("near", False)
        n["quantised"] += is_quantised(r)
        n[f"outputs of {WIDE} bits within 1e-3"] += is_quantised(r) and r["quantised"]["far"] <= 1e-3
        n[f"outputs of {NARROW} bits finite"] += is_quantised(r) and r["quantised"]["finite"]
        n["trained and compared"] += is_trained(r)
        n["weights within 1e-3 of their way, or about as near as PyTorch in float32"] += weights_are_near(r)
        n["trained, drawing random numbers"] += "trained" in r and r["trained"]["draws"] and r["trained"]["far"] is not None
        n["refused in training"] += "trained" in r and r["trained"]["far"] is None
    return n


class Results:
    """What earlier runs found, a line of JSON each: a survey takes hours."""

    def __init__(self, path):
        self.path, self.found = path, {}
        if path and os.path.exists(path):
            with open(path) as f:
                self.found = {tuple(r["row"]): r for r in map(json.loads, f)}

    def get(self, row):
        return self.found.get(row)

    def add(self, result):
        if self.path and tuple(result["row"]) not in self.found:
            with open(self.path, "a") as f:
                f.write(json.dumps(result) + "\n")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("checkouts")
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--list", default=os.path.join(HERE, "networks.list"))
    p.add_argument("--only", default="")
    p.add_argument("--cached", action="store_true", help="ask PyTorch nothing new")
    p.add_argument("--markdown")
    p.add_argument("--results", help="a file with a line of JSON for each network: those that it has are not examined again")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--largest", type=int, default=1 << 60, help="networks of more parameters are not quantised and trained")
    args = p.parse_args()
    args.build, args.checkouts = os.path.abspath(args.build), os.path.abspath(args.checkouts)
    args.ch, args.tool = (os.path.join(args.build, name) for name in ("ch", "tests/unit/frontend/trace_tool"))
    chosen = [row for row in rows(args.list) if args.only in " ".join(row)]
    args.torch = Torch(args.python)
    os.environ["PATH"] = os.path.dirname(os.path.abspath(args.python)) + os.pathsep + os.environ["PATH"]  # its packages
    results = []
    known = Results(args.results)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for r in pool.map(lambda row: known.get(row) or examined(args, row), chosen):
            results.append(r)
            known.add(r)
            print(" | ".join(cells(r)), flush=True)
    for what, count in summary(results).items():
        print(f"{count:5d} {what}")
    if args.markdown:
        markdown(results, args.markdown, args.python)


if __name__ == "__main__":
    main()
