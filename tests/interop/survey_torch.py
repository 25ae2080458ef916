"""One network of a stranger's under PyTorch itself: its graph by torch.fx, its weights, inputs and outputs.

usage: survey_torch.py, with a line of JSON for each network on standard input: [FOLDER, REPOSITORY, PATH, EXPRESSION,
INPUTS, PARAMETERS, SLOWER]. It answers with a line when that is done; each runs in a process of its own.

Writes to FOLDER weights.pt, x0.npy ..., y0.npy ... and answer.json: the text of the graph, or why there is none; and where
one tensor goes in and one comes out trained.json and trained.npz: samples, random targets, and weights after two steps
of descent. The file runs as its author wrote it, except that statements of its top level that fail are passed over and
packages that are not installed stand empty. Networks of more PARAMETERS are not trained.
SLOWER: trained again only, from other samples by shorter steps, to slower.json and slower.npz.
"""
import __future__
import ast
import copy
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
import types

import numpy as np
import torch
import torch.fx
from survey_runs import apart
from torch_models import fed

sys.dont_write_bytecode = True
BATCH = 3
ROWS, STEPS = 10, 2  # of training; a dataset has so many rows at least
KEPT = 4096  # numbers of a tensor after training
SHARES = 1e-2, 3e-4  # of the weights that a step may move
SLOWER = 30  # as short, where a kink may lie within a step
SECONDS = 240


class Nothing:
    """A name of a package that is not here."""

    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __call__(self, *args, **kwargs):
        is_decorated = len(args) == 1 and not kwargs and callable(args[0])
        return args[0] if is_decorated else Nothing()

    def __mro_entries__(self, bases):
        return (torch.nn.Module,)


class Empty(types.ModuleType):
    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


def is_guarded():
    """Does whoever imports expect that it may fail?"""
    frame = sys._getframe(2)
    while frame and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    try:
        with open(frame.f_code.co_filename, encoding="utf-8", errors="replace") as f:
            tree = ast.parse(f.read())
    except (OSError, SyntaxError, AttributeError):
        return True
    return any(t.body[0].lineno <= frame.f_lineno <= t.body[-1].end_lineno
               for t in ast.walk(tree) if isinstance(t, ast.Try) and t.handlers)


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in sys.stdlib_module_names or is_guarded():
            return None
        return importlib.machinery.ModuleSpec(name, Finder, is_package=True)

    @staticmethod
    def create_module(spec):
        return Empty(spec.name)

    @staticmethod
    def exec_module(module):
        pass


def load(path):
    """The file as a module of the package that it lies in; an installed module by its name."""
    if not path.endswith(".py"):
        return importlib.import_module(path)
    folder, name = os.path.split(os.path.abspath(path))
    parts = [os.path.splitext(name)[0]]
    sys.path[:0] = [folder, os.getcwd()]
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    sys.path.insert(1, folder)
    while os.path.dirname(folder) != folder and len(folder) >= len(os.getcwd()):  # run from folders above, or from src there
        sys.path += [folder, os.path.join(folder, "src")]
        folder = os.path.dirname(folder)
    if len(parts) > 1:
        try:
            importlib.import_module(".".join(parts[:-1]))
        except Exception as e:
            print("passed over:", e, file=sys.stderr)
    full = ".".join(parts)
    if full in sys.modules:
        return sys.modules[full]
    module = types.ModuleType(full)
    module.__file__, module.__package__ = path, ".".join(parts[:-1])
    sys.modules[full] = module
    with open(path, "rb") as f:
        tree = ast.parse(f.read(), path)
    flags = 0
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                flags |= getattr(__future__, alias.name).compiler_flag
        try:
            exec(compile(ast.Module([statement], []), path, "exec", flags, True), module.__dict__)
        except (Exception, SystemExit) as e:
            print(f"passed over: line {statement.lineno}: {e}", file=sys.stderr)
    return module


def samples(text, batch=BATCH, seed=7):
    """A batch of each: "3x32x32, i50:8, =2x4"; i50: integers below 50, =: as it is, without a batch."""
    rng = np.random.RandomState(seed)
    for part in text.split(","):
        kinds = [one.strip() for one in part.split()]
        made = []
        for kind in kinds or [""]:
            top = None
            if kind.startswith("i"):
                top, _, kind = kind[1:].partition(":")
            shape = [int(n) for n in kind.lstrip("=").split("x") if n]
            if not kind.startswith("="):
                shape.insert(0, batch)
            made.append(torch.from_numpy(rng.randint(0, int(top), shape) if top else
                                         rng.randn(*shape).astype("<f4")))
        yield tuple(made) if len(made) > 1 else made[0]


def tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict) or hasattr(value, "to_tuple"):
        for v in value.values():
            yield from tensors(v)
    elif isinstance(value, (tuple, list)):
        for v in value:
            yield from tensors(v)


def traced(make):
    """In evaluation and, where it differs, in training; parameters of forward with a default, except for the first, are
    no inputs."""
    texts = []
    for mode in (False, True):
        net = make().train(mode)
        forward = type(net).forward
        type(net).forward = fed(forward)
        try:
            texts.append(str(torch.fx.Tracer().trace(net)))
        finally:
            type(net).forward = forward
    trained = texts[1].replace("training: True", "training: self.training")
    if trained == texts[0].replace("training: False", "training: self.training"):
        return trained
    return f"{texts[0]}\n\nwhile training\n{texts[1]}"


def outputs(make, xs):
    """In float64 where the network lets us, and how far float32 is from that."""
    def wide(x):
        if isinstance(x, tuple):
            return tuple(wide(t) for t in x)
        return x.double() if x.dtype.is_floating_point else x
    with torch.no_grad():
        try:
            narrow = [y.double().numpy() for y in tensors(make().eval()(*xs))]
        except (RuntimeError, TypeError):
            narrow = None
        try:
            got = [y.double().numpy() for y in tensors(make().double().eval()(*map(wide, xs)))]
        except (RuntimeError, TypeError):
            if narrow is None:
                raise
            return narrow, 0.0
    apart = [np.abs(a - b) / np.maximum(1, np.abs(b)) for a, b in zip(narrow or [], got)]
    return got, max((float(np.nan_to_num(d, posinf=0).max(initial=0)) for d in apart), default=0.0)


class Names(dict):
    """Of a module, which may make them when they are asked for."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def __missing__(self, name):
        if not hasattr(self.module, name):
            raise KeyError(name)
        return getattr(self.module, name)


def drawn(make, xs, mode):
    """Does the network draw numbers? What it gives then depends on the seed."""
    made = []
    for seed in (11, 12):
        net = make().train(mode)
        torch.manual_seed(seed)
        with torch.no_grad():
            made.append([y.clone() for y in tensors(net(*xs))])
    return any(a.shape != b.shape or not torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(*made))


# ---- training ----

def descent(make, x, y, rate, kind):
    """Weights after some steps, by name, in the order of the state dict."""
    net = (make().double() if kind == torch.float64 else make()).train()
    x, y = x.to(kind) if x.dtype.is_floating_point else x, y.to(kind)
    for _ in range(STEPS):
        net.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                if p.grad is not None:
                    p -= rate * p.grad
    return {name: t.detach().double().numpy() for name, t in net.state_dict().items()}


def natural_rate(make, x, y):
    """With which a step moves the weights by about their size."""
    net = make().train()
    torch.nn.functional.mse_loss(net(x), y).backward()
    with torch.no_grad():
        moving = [p for p in net.parameters() if p.grad is not None]
        size = sum(p.square().sum().item() for p in moving)
        slope = sum(p.grad.square().sum().item() for p in moving)
    return (size / slope) ** 0.5 if slope > 0 else 1.0


def kept_of(parts):
    """Of large tensors every so many numbers."""
    kept = {}
    for name, t in parts["start"].items():
        kept["stride/" + name] = max(1, t.size // KEPT)
        kept.update({f"{part}/{name}": v[name].reshape(-1)[::kept["stride/" + name]] for part, v in parts.items()})
    return kept


def descents(make, x, y, shares):
    """By steps so large that float32 does not round them away, and so small that deep networks do not part in float32:
    the rate with which PyTorch's float32 is the nearest to its float64."""
    natural, best = natural_rate(make, x, y), None
    start = {name: t.detach().double().numpy() for name, t in make().state_dict().items()}
    for share in shares:
        rate = float(f"{share * natural:.0e}")
        kept = kept_of(dict(start=start, narrow=descent(make, x, y, rate, torch.float32),
                            end=descent(make, x, y, rate, torch.float64)))
        far, _ = apart(np, {name: kept["narrow/" + name] for name in start}, kept)
        if best is None or far < best[0]:
            best = far, rate, kept
        if far <= 1e-3:
            break
    return best[1:]


def trained(make, inputs, folder, name="trained", shares=SHARES):
    """What became of it; the numbers go to NAME.npz."""
    xs = list(samples(inputs, ROWS, 7 if name == "trained" else 9))
    if len(xs) != 1 or not isinstance(xs[0], torch.Tensor) or "=" in inputs:
        return {"unfit": "several inputs"}
    with torch.no_grad():
        given = make().train()(*xs)
    if not isinstance(given, torch.Tensor):
        return {"unfit": "several outputs"}
    if given.dim() < 1 or len(given) != ROWS or not given.dtype.is_floating_point:
        return {"unfit": "no numbers for each sample"}
    if not any(p.requires_grad for p in make().parameters()):
        return {"unfit": "no parameters"}
    y = torch.from_numpy(np.random.RandomState(8).randn(*given.shape).astype("<f4"))
    told = {"draws": drawn(make, xs, True), "steps": STEPS, "rate": 1e-3}
    kept = {}
    if not told["draws"]:
        told["rate"], kept = descents(make, xs[0], y, shares)
    np.savez(os.path.join(folder, name + ".npz"), x=xs[0].numpy(), y=y.reshape(ROWS, -1).numpy(), **kept)
    return told


def attempt(what, *args):
    try:
        return what(*args)
    except Exception as e:
        return {"failed": f"{type(e).__name__}: {e}"[:300]}


# ---- a network ----

def largest(net, xs):
    """Of what goes into and comes out of its modules, and of its parameters."""
    seen = [0.0]

    def look(module, given, made):
        for t in tensors([given, made]):
            if t.dtype.is_floating_point and t.numel():
                seen.append(t.detach().nan_to_num(posinf=0, neginf=0).abs().max().item())
    hooks = [m.register_forward_hook(look) for m in net.modules()]
    with torch.no_grad():
        net(*xs)
    for hook in hooks:
        hook.remove()
    return max(seen), max((p.abs().max().item() for p in net.parameters() if p.numel()), default=0.0)


def parameters(net):
    return sum(p.numel() for p in net.parameters())


def answered(make, inputs, folder):
    net = make().eval()
    torch.save(net.state_dict(), os.path.join(folder, "weights.pt"))
    xs = list(samples(inputs)) if inputs != "dict" else []
    flat = list(tensors(xs))
    for i, x in enumerate(flat):
        np.save(os.path.join(folder, f"x{i}.npy"), x.numpy())
    answer = {"inputs": len(flat), "tensors": len(net.state_dict()), "parameters": parameters(net)}
    try:
        ys, answer["own"] = outputs(make, xs)
        for i, y in enumerate(ys):
            np.save(os.path.join(folder, f"y{i}.npy"), y)
        answer["outputs"], answer["draws"] = len(ys), drawn(make, xs, False)
        answer["largest"], answer["largest weight"] = largest(make().eval(), xs)
    except Exception as e:
        answer["failed"] = f"{type(e).__name__}: {e}"[:300]
    try:
        answer["graph"] = traced(make)
    except Exception as e:
        answer["untraced"] = f"{type(e).__name__}: {e}"[:300]
    return answer


def write(folder, name, value):
    with open(os.path.join(folder, name), "w") as f:
        json.dump(value, f)


def main(folder, repository, path, expression, inputs, most, slower):
    if path.endswith(".py"):
        sys.meta_path.append(Finder)
    sys.argv = [path]
    os.chdir(repository)
    module = load(path)

    def make():
        torch.manual_seed(1)
        net = eval(expression, dict(module.__dict__), Names(module))
        net = net if "(" in expression else copy.deepcopy(net)  # one that the file has made
        torch.manual_seed(2)
        stored = net.state_dict()  # others cannot be told
        for name, p in list(net.named_parameters()) + list(net.named_buffers()):
            if name in stored and p.dtype.is_floating_point and p.dim() == 1 and not name.endswith("running_var"):
                p.data.add_(0.05 * torch.randn(p.shape))  # zeros and ones would hide much
        return net
    if slower:
        write(folder, "slower.json", attempt(trained, make, inputs, folder, "slower", [s / SLOWER for s in SHARES]))
        return
    if not os.path.exists(os.path.join(folder, "answer.json")):
        write(folder, "answer.json", answered(make, inputs, folder))
    fails = {"unfit": "what goes in is no tensor"} if inputs == "dict" else None
    if parameters(make()) > most:
        return
    write(folder, "trained.json", fails or attempt(trained, make, inputs, folder))


def isolated(request):
    """In a process of its own, which has so many seconds; what it prints is not an answer."""
    child = os.fork()
    if child == 0:
        os.dup2(2, 1)
        signal.alarm(SECONDS)
        try:
            main(*request)
        except BaseException as e:
            said = f"{type(e).__name__}: {e}"[:300]
            if not os.path.exists(os.path.join(request[0], "answer.json")):
                write(request[0], "answer.json", {"failed": said, "untraced": said})
            write(request[0], "slower.json" if request[-1] else "trained.json", {"failed": said})
        os._exit(0)
    os.waitpid(child, 0)


torch.set_num_threads(1)
for line in sys.stdin:
    isolated(json.loads(line))
    print("done", flush=True)
