"""random_checks.py - a network of random_source.py by PyTorch and by us, stage after stage; random_modules.py runs this
in a process of its own, whose folder is the one it is in."""
import copy
import importlib.util
import os
import shlex
import subprocess

import numpy as np
import torch

from random_source import Nothing, no_ties, samples, write

IS_OLD = int(torch.__version__.split(".")[0]) < 2
BATCHES, FEW, TRAINED, STEPS, RATE = (1, 5, 1025), 5, 24, 3, 0.05
SMALL, LARGE = 3e-7, 1e-5  # shares by which weights and samples are moved to see what rounding may do


class Refused(Exception):
    pass


class Differs(Exception):
    pass


class Skipped(Exception):
    pass


class Crashed(Exception):
    pass


# ---- by PyTorch ----


def load_class(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn(case, n):
    """Samples of every input, by name."""
    rng = np.random.default_rng(case["seed"] * 1000 + n)
    return {name: samples(rng, n, shape, case["exact"]) if what == "float" else rng.integers(0, 5, (n, *shape))
            for name, (what, shape) in case["inputs"].items()}


def tensors(arrays):
    return [torch.from_numpy(x.copy()) for x in arrays.values()]


def flat(result, name=""):
    """Results by the names that ch predict gives them."""
    if isinstance(result, dict):
        return {k: v for key, part in result.items() for k, v in flat(part, f"{name}_{key}" if name else key).items()}
    if isinstance(result, (tuple, list)):
        return {k: v for i, part in enumerate(result) for k, v in flat(part, f"{name or 'output'}_{i}").items()}
    return {name or "output": result.detach()}


def moved(net, inputs, share, seed, exact=False):
    """The same network and samples, but for a share of every number; exact samples stay."""
    torch.manual_seed(seed)
    other = copy.deepcopy(net)
    with torch.no_grad():
        for p in [*other.parameters(), *other.buffers()]:
            if p.is_floating_point():
                p.mul_(1 + share * torch.randn_like(p))
    return other, [x * (1 + share * torch.randn_like(x)) if x.is_floating_point() and not exact else x for x in inputs]


def evaluated(net, inputs):
    with torch.no_grad():
        return flat(net.eval()(*[x.clone() for x in inputs]))


def doubled(net, inputs):
    """The same by PyTorch in float64, which rounds elsewhere: a list of it, or of nothing where it mixes types."""
    try:
        return [evaluated(copy.deepcopy(net).double(), [x.double() if x.is_floating_point() else x for x in inputs])]
    except Exception:
        return []


class Wanted:
    """What PyTorch gives for samples, and how far that may move by rounding."""

    def __init__(self, case, net, n):
        self.net, self.arrays = net, drawn(case, n)
        self.inputs = tensors(self.arrays)
        self.exact = case["exact"]
        with no_ties():
            self.results = evaluated(net, self.inputs)
        self.near = [evaluated(*moved(net, self.inputs, SMALL, i, self.exact)) for i in range(3)] + doubled(net, self.inputs)

    def wide(self, name):
        return [evaluated(*moved(self.net, self.inputs, LARGE, 100 + i))[name] for i in range(6)]

    def compare(self, what, ours, typed=True):
        """ours: arrays by name."""
        if list(ours) != list(self.results):
            raise Differs(f"{what}: results {list(ours)}, of PyTorch {list(self.results)}")
        for name, y in self.results.items():
            self.compare_one(f"{what}: {name}", name, ours[name], y.numpy(), typed)

    def compare_one(self, what, name, ours, theirs, typed):
        if ours.shape != theirs.shape:
            raise Differs(f"{what} is {ours.shape}, of PyTorch {theirs.shape}")
        if typed and ours.dtype != theirs.dtype:
            raise Differs(f"{what} is {ours.dtype}, of PyTorch {theirs.dtype}")
        off = far_off(ours, theirs, [w[name].numpy() for w in self.near])
        if not off.any():
            return
        rows = off.reshape(len(off), -1).any(1)
        if rows.sum() <= max(1, (0.1 if self.exact else 0.01) * len(rows)) and at_edges(ours, theirs, rows, [w.numpy() for w in self.wide(name)]):
            return
        i = np.argwhere(off)[0]
        raise Differs(f"{what} differs in {off.sum()} of {off.size}, first at {i.tolist()}: {ours[tuple(i)]} and PyTorch {theirs[tuple(i)]}")


def far_off(ours, theirs, moved_ones):
    a, b = ours.astype("f8"), theirs.astype("f8")
    spread = np.max([np.abs(m.astype("f8") - b) for m in moved_ones], axis=0) if b.size else b
    spread = np.where(np.isfinite(spread), spread, 0)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    bound = 2e-5 * np.maximum(1, np.abs(b)) if theirs.dtype.kind == "f" else 0
    return ~(same | (np.abs(a - b) <= bound + 30 * spread))


def at_edges(ours, theirs, rows, moved_ones):
    """Do rows that differ jump by themselves where numbers move a little?"""
    jumps = np.max([np.abs(m.astype("f8") - theirs.astype("f8")) for m in moved_ones], axis=0)
    gap = np.abs(ours.astype("f8") - theirs.astype("f8"))
    return all(jumps[i].max() >= 0.3 * gap[i].max() for i in np.flatnonzero(rows))


# ---- by us ----


def ch_run(ch, *words):
    with open("commands.txt", "a") as f:
        f.write(shlex.join(["ch", *words]) + "\n")
    done = subprocess.run([ch, *words], capture_output=True, text=True, errors="replace", timeout=100)
    if done.returncode == 2:
        raise Refused(told(done.stderr))
    if done.returncode:
        raise Crashed(f"{shlex.join(words)}: status {done.returncode}: {done.stderr[-1500:]}")


def told(log):
    """The line that says what is wrong."""
    lines = [line for line in log.splitlines() if line.strip() and not line.startswith(("INFO", "WARNING", " "))]
    return (lines or [log[-300:]])[0]


class Stages:
    def __init__(self, case, ch):
        self.case, self.ch = case, ch
        with open("net.py", "w") as f:
            f.write(write(case["classes"], case["inputs"], case["init"], case["body"], case["results"]))
        self.cls = load_class("net.py").Net
        torch.manual_seed(case["seed"])
        self.net = self.cls()
        torch.save(self.net.state_dict(), "start.pt")
        self.wanted = {n: Wanted(case, self.net, n) for n in BATCHES}
        for n, w in self.wanted.items():
            if any(y.dim() < 1 or len(y) != n for y in w.results.values()):
                raise Skipped(f"a result has no row for each of {n} samples")
        self.single = list(self.wanted[1].results) == ["output"]
        self.shape = ";".join(",".join(map(str, s)) for _, s in case["inputs"].values())
        self.few = self.wanted[FEW]
        self.save_data()

    def save_data(self):
        rng = np.random.default_rng(1)
        y = self.few.results["output"] if self.single else torch.zeros(FEW, 1)
        targets = rng.normal(size=(TRAINED, *y.shape[1:])).astype("f4")
        rows = drawn(self.case, TRAINED)
        parts = {f"{k}_{part}": x for k, x in rows.items() for part in ("train", "test")}
        if list(rows) == ["x"]:
            parts = {"X_train": rows["x"], "X_test": rows["x"]}
        np.savez("data.npz", **parts, y_train=targets, y_test=targets)
        self.rows, self.targets = tensors(rows), torch.from_numpy(targets)
        self.given = ["--features", ",".join(rows)] if len(rows) > 1 else []

    # ---- stages ----

    def predict(self):
        for n, w in self.wanted.items():
            words = []
            for name, x in w.arrays.items():
                np.save(f"{name}{n}.npy", x)
                words += ["--input", f"{name}{n}.npy"]
            out = f"y{n}." + ("npy" if self.single else "npz")
            ch_run(self.ch, "predict", "net.py:Net", "--load", "start.pt", *words, "--output", out)
            y = np.load(out)
            w.compare(f"predict of {n}", {"output": y} if self.single else dict(y))

    def train(self):
        if not self.single or self.case["draws"]:
            raise Skipped("several results" if not self.single else "chance")
        y = self.few.results["output"]
        if y.dtype != torch.float32 or y.dim() != 2:
            raise Skipped("no row of numbers")
        wanted = self.descend(self.net)
        near = [self.descend(moved(self.net, [], SMALL, i)[0]) for i in range(3)] + self.descend_doubled()
        ch_run(self.ch, "train", "net.py:Net", "npz:data.npz", *self.given, "--load", "start.pt", "--split", "mase", "--scaling", "none",
               "--task", "reg", "--batch-size", str(TRAINED), "--max-steps", str(STEPS), "--max-epochs", str(STEPS), "--learning-rate",
               str(RATE), "--weight-decay", "0", "--momentum", "0", "--lr-schedule", "constant", "--training-optimizer", "sgd",
               "--project", "p")
        saved = torch.load("mase_output/p/software/training_ckpts/last.ckpt", weights_only=not IS_OLD)["state_dict"]
        ours = {k[len("model."):]: v for k, v in saved.items()}
        if set(ours) != set(wanted):
            raise Differs(f"train: {sorted(ours)} and PyTorch {sorted(wanted)}")
        for k, v in wanted.items():
            off = far_off(ours[k].numpy(), v.numpy(), [m[k].numpy() for m in near])
            if off.any():
                i = tuple(np.argwhere(off)[0])
                raise Differs(f"train: {k} differs in {off.sum()} of {off.size}, first {ours[k][i]} and PyTorch {v[i]}; before {self.net.state_dict()[k][i]}")

    def descend_doubled(self):
        try:
            return [self.descend(self.net, torch.float64)]
        except Exception:
            return []

    def descend(self, start, dtype=torch.float32):
        net = copy.deepcopy(start).to(dtype).train()
        trained = [p for p in net.parameters() if p.requires_grad]
        if not trained:
            raise Skipped("no parameters")
        optimiser = torch.optim.SGD(trained, lr=RATE)
        try:
            for _ in range(STEPS):
                optimiser.zero_grad()
                y = net(*[x.to(dtype, copy=True) if x.is_floating_point() else x.clone() for x in self.rows])
                torch.nn.functional.mse_loss(y, self.targets.to(dtype)).backward()
                optimiser.step()
        except RuntimeError as e:
            raise Skipped(f"PyTorch does not train it: {e}") from None
        state = net.state_dict()
        if not all(torch.isfinite(v).all() for v in state.values()):
            raise Skipped("weights are no numbers")
        return state

    # ---- the package ----

    def open(self, spec="net.py:Net", **options):
        import mase
        mase.set_logging_verbosity("error")
        if len(self.case["inputs"]) > 1:
            return mase.open(spec, dataset="npz:data.npz", task="reg", **options)
        return mase.open(spec, shape=self.case["inputs"]["x"][1], **options)

    def same(self, what, graph, n=FEW, typed=False):
        w = self.wanted[n]
        w.compare(f"{what} of {n}", {"output": graph(*w.arrays.values())}, typed)

    def python(self):
        if not self.single:
            raise Skipped("several results")
        self.graph = self.open(weights="start.pt")
        for n in BATCHES:
            self.same("python", self.graph, n, True)

    def files(self):
        self.need_graph()
        self.graph.save("saved")
        self.same("saved", self.open("saved"))
        self.graph.write("net.mg")
        self.same("mg", self.open("net.mg", weights="start.pt"))
        self.graph.write("written.py")
        module = load_class("written.py")
        written = [c for c in vars(module).values() if isinstance(c, type) and issubclass(c, torch.nn.Module) and c.__module__ == "written"][-1]()
        written.load_state_dict(self.net.state_dict())
        self.few.compare("py", {k: v.numpy() for k, v in evaluated(written, self.few.inputs).items()}, False)

    def need_graph(self):
        if not self.single:
            raise Skipped("several results")
        if not hasattr(self, "graph"):
            self.graph = self.open(weights="start.pt")

    def onnx(self):
        self.need_graph()
        try:
            import onnxruntime
        except ImportError:
            raise Skipped("no ONNX Runtime") from None
        self.graph.write("net.onnx")
        options = onnxruntime.SessionOptions()
        options.log_severity_level, options.intra_op_num_threads = 3, 1
        session = onnxruntime.InferenceSession("net.onnx", options, providers=["CPUExecutionProvider"])
        for n in BATCHES[:2]:
            w = self.wanted[n]
            y = session.run(None, {i.name: x for i, x in zip(session.get_inputs(), w.arrays.values())})[0]
            w.compare(f"onnx of {n}", {"output": y}, False)

    def passes(self):
        self.need_graph()
        from mase.passes import run_pass
        for name in ("remove_dropout", "fold_batch_norm", "equalise"):
            graph = self.graph.copy()
            graph = run_pass(graph, name, {})[0]
            self.same(name, graph)
        graph = run_pass(self.graph.copy(), "prune", {"sparsity": 0.5})[0]
        state = graph.state_dict()
        pruned = copy.deepcopy(self.net)
        pruned.load_state_dict({k: torch.from_numpy(np.array(state[k])) if k in state else v for k, v in pruned.state_dict().items()})
        other = Wanted(self.case, pruned, FEW)
        other.compare("prune", {"output": graph(*other.arrays.values())}, False)

    def costs(self):
        self.need_graph()
        from random_costs import counted
        import mase.passes
        _, info = mase.passes.run_pass(self.graph.copy(), "count_flops", {})
        for what, ours, theirs in counted(self.net, [x[:1] for x in self.few.inputs], info, self.graph):
            if ours != theirs:
                raise Differs(f"costs: {what} is {ours}, counted {theirs}")


def examine(case, stages, ch):
    """Rows of stage, verdict and what is told."""
    yield ["prepare", "begun", ""]
    try:
        run = Stages(case, ch)
    except Exception as e:
        yield ["prepare", "skipped", f"PyTorch: {type(e).__name__}: {e}"]
        return
    for stage in stages:
        yield [stage, "begun", ""]
        verdict, detail = tried(getattr(run, stage))
        yield [stage, verdict, detail]
        if verdict == "refused" and stage in ("predict", "python"):
            return


def tried(stage):
    try:
        stage()
        return "equal", ""
    except Refused as e:
        return "refused", str(e)
    except (Skipped, Nothing) as e:
        return "skipped", str(e)
    except (Differs, Crashed) as e:
        return ("differs" if isinstance(e, Differs) else "crashed"), str(e)
    except Exception as e:
        if type(e).__module__.startswith("mase") and "Bug" not in type(e).__name__:
            return "refused", f"{e}"
        import traceback
        return "crashed", f"{type(e).__name__}: {e}\n{traceback.format_exc()[-900:]}"
