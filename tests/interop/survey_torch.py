"""One network of a stranger's under PyTorch itself: its graph by torch.fx, its weights, inputs and outputs.

usage: survey_torch.py, with a line of JSON for each network on standard input: [FOLDER, REPOSITORY, PATH, EXPRESSION,
INPUTS]. It answers with a line when that is done; each runs in a process of its own.

Writes to FOLDER weights.pt, x0.npy ..., y0.npy ... and answer.json: the text of the graph, or why there is none,
and whether the samples of a batch go their own ways. The file runs as its author wrote it, except that
statements of its top level that fail are passed over and packages that are not installed stand empty.
"""
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
from torch_models import fed

sys.dont_write_bytecode = True
BATCH = 3
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
    for statement in tree.body:
        try:
            exec(compile(ast.Module([statement], []), path, "exec"), module.__dict__)
        except (Exception, SystemExit) as e:
            print(f"passed over: line {statement.lineno}: {e}", file=sys.stderr)
    return module


def samples(text):
    """A batch of each: "3x32x32, i50:8, =2x4"; i50: integers below 50, =: as it is, without a batch."""
    rng = np.random.RandomState(7)
    for part in text.split(","):
        kinds = [one.strip() for one in part.split()]
        made = []
        for kind in kinds or [""]:
            top = None
            if kind.startswith("i"):
                top, _, kind = kind[1:].partition(":")
            shape = [int(n) for n in kind.lstrip("=").split("x") if n]
            if not kind.startswith("="):
                shape.insert(0, BATCH)
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


def main(folder, repository, path, expression, inputs):
    if path.endswith(".py"):
        sys.meta_path.append(Finder)
    sys.argv = [path]
    os.chdir(repository)
    module = load(path)

    def make():
        torch.manual_seed(1)
        net = copy.deepcopy(eval(expression, dict(module.__dict__), Names(module)))  # which may be one that the file has made
        torch.manual_seed(2)
        for name, p in list(net.named_parameters()) + list(net.named_buffers()):
            if p.dtype.is_floating_point and p.dim() == 1 and not name.endswith("running_var"):
                p.data.add_(0.05 * torch.randn(p.shape))  # zeros and ones would hide much
        return net
    answer = {}
    net = make().eval()
    torch.save(net.state_dict(), os.path.join(folder, "weights.pt"))
    xs = list(samples(inputs)) if inputs != "dict" else []
    flat = list(tensors(xs))
    for i, x in enumerate(flat):
        np.save(os.path.join(folder, f"x{i}.npy"), x.numpy())
    answer["inputs"], answer["tensors"] = len(flat), len(net.state_dict())
    try:
        ys, answer["own"] = outputs(make, xs)
        for i, y in enumerate(ys):
            np.save(os.path.join(folder, f"y{i}.npy"), y)
        answer["outputs"] = len(ys)
    except Exception as e:
        answer["failed"] = f"{type(e).__name__}: {e}"[:300]
    try:
        answer["graph"] = traced(make)
    except Exception as e:
        answer["untraced"] = f"{type(e).__name__}: {e}"[:300]
    with open(os.path.join(folder, "answer.json"), "w") as f:
        json.dump(answer, f)



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
            with open(os.path.join(request[0], "answer.json"), "w") as f:
                json.dump({"failed": said, "untraced": said}, f)
        os._exit(0)
    os.waitpid(child, 0)


torch.set_num_threads(1)
for line in sys.stdin:
    isolated(json.loads(line))
    print("done", flush=True)
