"""checkpoints.py - checkpoints as people save them, made with PyTorch: what becomes of each.

A network of a few layers is saved in every way that is common, `ch` loads it, and the numbers that
it then has are compared with those that were saved. What cannot be loaded must be refused with
status 2 and a message that says why. The table of docs/checkpoints.md is what --table prints.

    checkpoints.py CH [--table]
"""
import argparse
import collections
import copy
import dataclasses
import datetime
import enum
import functools
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
import zipfile

warnings.filterwarnings("ignore")
try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as e:
    print(f"skipped: {e}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
table = "--table" in sys.argv
NEW = {"_use_new_zipfile_serialization": True}
OLD = {"_use_new_zipfile_serialization": False}

GRAPH = """mase-graph 1
name Net

module fc1 = Linear(in_features=4, out_features=3)
module bn = BatchNorm1d(num_features=3)
module act = ReLU(inplace=False)
module fc2 = Linear(in_features=3, out_features=2)

%x = placeholder[target=x]
%fc1 = call_module[target=fc1](args = (%x,), kwargs = {})
%bn = call_module[target=bn](args = (%fc1,), kwargs = {})
%act = call_module[target=act](args = (%bn,), kwargs = {})
%fc2 = call_module[target=fc2](args = (%act,), kwargs = {})
return %fc2
"""


class Net(nn.Module):
    def __init__(self, outputs=2):
        super().__init__()
        self.fc1 = nn.Linear(4, 3)
        self.bn = nn.BatchNorm1d(3)
        self.act = nn.ReLU()
        self.fc2 = nn.Linear(3, outputs)

    def forward(self, x):
        return self.fc2(self.act(self.bn(self.fc1(x))))


class WithBuffer(Net):
    def __init__(self):
        super().__init__()
        self.register_buffer("scratch", torch.ones(3), persistent=False)
        self.owner = [self]
        self.settings = argparse.Namespace(parent=self)


@dataclasses.dataclass
class Settings:
    rate: float = 0.1
    names: list = dataclasses.field(default_factory=list)


class Colour(enum.Enum):
    RED = 1


class Wrapper(nn.Module):
    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


def make(seed=0, outputs=2):
    torch.manual_seed(seed)
    net = Net(outputs)
    with torch.no_grad():
        for t in list(net.parameters()) + [net.bn.running_mean, net.bn.running_var]:
            t.copy_(torch.randn_like(t).abs() + 0.1)
        net.bn.num_batches_tracked.fill_(7)
    return net.eval()


net, other = make(0), make(1)
state = net.state_dict()
prefixed = lambda p, d=state: collections.OrderedDict((p + k, v) for k, v in d.items())
optimizer = torch.optim.Adam(net.parameters())
net(torch.randn(8, 4)).sum().backward()
state = copy.deepcopy(state)
optimizer.step()  # so that it has a state of its own
net.load_state_dict(state)
optimizer.zero_grad()
args = argparse.Namespace(lr=0.1, path=pathlib.Path("runs/a"), when=datetime.datetime(2024, 1, 2))

variants = []  # (name, group, function(path) that saves, suffix, options, expectation)


def variant(group, name, save, suffix=".pt", options=(), wanted="same"):
    """wanted: "same", a dict of numbers that must be there, or a text of the message."""
    variants.append((group, name, save, suffix, list(options), wanted))


def saved(obj, **how):
    return lambda path: torch.save(obj, path, **how)


# ---- containers ----
variant("files", "state dict", saved(state))
variant("files", "state dict, before zip", saved(state, **OLD))
for protocol in 3, 4, 5:
    variant("files", f"pickle protocol {protocol}", saved(state, pickle_protocol=protocol))
variant("files", "pickle protocol 4, before zip", saved(state, pickle_protocol=4, **OLD))
variant("files", ".pth", saved(state), ".pth")
variant("files", ".pth.tar", saved({"epoch": 3, "state_dict": state, "best_acc1": torch.tensor(1.)}), ".pth.tar")
variant("files", ".bin", saved(state), ".bin")
variant("files", ".ckpt", saved({"state_dict": state}), ".ckpt")
variant("files", "no suffix", saved(state), "")
variant("files", "another suffix", saved(state), ".model")
variant("files", "plain dict", saved(dict(state)))
variant("files", "parameters, not tensors", saved({k: nn.Parameter(v, False) for k, v in state.items()}))
variant("files", "float64", saved({k: v.double() if v.is_floating_point() else v for k, v in state.items()}))
halves = {k: v.half().float() if v.is_floating_point() else v for k, v in state.items()}
variant("files", "float16", saved({k: v.half() if v.is_floating_point() else v for k, v in state.items()}), wanted=halves)
brains = {k: v.bfloat16().float() if v.is_floating_point() else v for k, v in state.items()}
variant("files", "bfloat16", saved({k: v.bfloat16() if v.is_floating_point() else v for k, v in state.items()}), wanted=brains)
variant("files", "views of one storage", saved({k: torch.stack([v, v])[1] for k, v in state.items()}))
variant("files", "transposed", saved({k: v.t().contiguous().t() if v.dim() == 2 else v for k, v in state.items()}))


def jit(trace):
    def save(path):
        m = torch.jit.trace(net, torch.zeros(2, 4)) if trace else torch.jit.script(net)
        torch.jit.save(m, path)
    return save


variant("files", "TorchScript, scripted", jit(False))
variant("files", "TorchScript, traced", jit(True))
if hasattr(torch, "export") and hasattr(torch.export, "save"):
    variant("files", "torch.export.save", lambda path: torch.export.save(
        torch.export.export(net, (torch.zeros(2, 4),)), path), ".pt2")
variant("files", ".npz of NumPy", lambda path: np.savez(path, **{k: v.numpy() for k, v in state.items()}), ".npz")


def safetensors(tensors, path):
    """The format is simple enough to be written by hand where the package is missing."""
    header, data = {}, b""
    for k, (kind, shape, raw) in tensors.items():
        header[k] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + data)


def raw(d):
    kinds = {torch.float32: "F32", torch.int64: "I64"}
    return {k: (kinds[v.dtype], list(v.shape), v.numpy().tobytes()) for k, v in d.items()}


variant("files", ".safetensors", functools.partial(safetensors, raw(state)), ".safetensors")
variant("files", ".safetensors with an fp8 tensor beside", functools.partial(
    safetensors, {**raw(state), "extra": ("F8_E4M3", [4], b"abcd")}), ".safetensors")
variant("files", ".safetensors, an fp8 tensor needed", functools.partial(
    safetensors, {**raw(state), "fc2.bias": ("F8_E4M3", [2], b"ab")}), ".safetensors",
    wanted="fc2.bias (a tensor of F8_E4M3 in the file)")
if importlib.util.find_spec("safetensors"):
    from safetensors.torch import save_file
    variant("files", ".safetensors of the package", lambda path: save_file(state, path, {"format": "pt"}), ".safetensors")


def narrow(kind, dtype):
    """The floats in another type, as bytes."""
    def save(path):
        safetensors({k: (kind, list(v.shape), v.to(dtype).view(torch.int16).numpy().tobytes()) if v.is_floating_point()
                     else ("I64", list(v.shape), v.numpy().tobytes()) for k, v in state.items()}, path)
    return save


variant("files", ".safetensors of bfloat16", narrow("BF16", torch.bfloat16), ".safetensors", wanted=brains)
variant("files", ".safetensors of float16", narrow("F16", torch.float16), ".safetensors", wanted=halves)
variant("files", ".safetensors, another fp8 tensor beside", functools.partial(
    safetensors, {**raw(state), "b": ("F8_E5M2", [2], b"ab")}), ".safetensors")


# ---- folders ----
def folder(index, shards):
    def save(path):
        os.mkdir(path)
        pathlib.Path(path, "config.json").write_text('{"model_type": "net"}')
        names = list(state)
        half = {0: names[:4], 1: names[4:]} if shards > 1 else {0: names}
        files = [f"{index.split('.')[0]}-{i}.{index.split('.', 1)[1]}" for i in half] if shards > 1 else [index]
        for i, part in half.items():
            tensors = {k: state[k] for k in part}
            where = os.path.join(path, files[i])
            torch.save(tensors, where) if index.endswith(".bin") else safetensors(raw(tensors), where)
        if shards > 1:
            weights = {k: files[i] for i, part in half.items() for k in part}
            pathlib.Path(path, index + ".index.json").write_text(json.dumps({"weight_map": weights}))
    return save


for name in "model.safetensors", "pytorch_model.bin":
    variant("folders", f"Hugging Face, {name}", folder(name, 1), "")
    variant("folders", f"Hugging Face, {name}, sharded", folder(name, 2), "")
def accelerated(path):
    """As accelerator.save_state leaves it."""
    os.mkdir(path)
    safetensors(raw(state), os.path.join(path, "model.safetensors"))
    torch.save(optimizer.state_dict(), os.path.join(path, "optimizer.bin"))
    torch.save({"step": 3, "random_state": 5}, os.path.join(path, "random_states_0.pkl"))


variant("folders", "accelerate's save_state", accelerated, "")
variant("folders", "without weights", os.mkdir, "", wanted="is a folder without weights")


# ---- where the weights are ----
for key in ("state_dict", "model_state_dict", "model", "net", "network", "module", "model_state", "weights",
            "params", "ema", "ema_state_dict", "state_dict_ema", "model_ema"):
    variant("keys", f"under '{key}'", saved({key: state, "epoch": 3, "optimizer": optimizer.state_dict()}))
variant("keys", "under a key of one's own", saved({"my weights": state, "loss": 0.5}))
variant("keys", "beside the epoch", saved({**state, "epoch": 3}))
variant("keys", "nested twice", saved({"model": {"state_dict": state}, "iter": 9}))
variant("keys", "'state_dict' and 'state_dict_ema' (timm)", saved({"state_dict": state, "state_dict_ema": other.state_dict()}))
variant("keys", "the average of the two", saved({"state_dict": other.state_dict(), "state_dict_ema": state}),
        options=["--load-key", "state_dict_ema"])
variant("keys", "'model' and 'model_ema' (torchvision)", saved(
    {"model": state, "model_ema": {"n_averaged": torch.tensor(5), **prefixed("module.", other.state_dict())}, "args": args}))
variant("keys", "two networks", saved({"generator": state, "discriminator": other.state_dict()}),
        wanted="several state dicts: 'generator', 'discriminator'; --load-key says which")
variant("keys", "one of two networks", saved({"generator": state, "discriminator": other.state_dict()}),
        options=["--load-key", "generator"])
variant("keys", "an optimiser alone", saved(optimizer.state_dict()), wanted="there is no state dict in the file")
variant("keys", "a list of tensors", saved(list(state.values())), wanted="there is no state dict in the file: it holds a list")
variant("keys", "no tensor at all", saved({}), wanted="these are not the model's weights: 9 missing")

variant("keys", "timm with arguments and metric", saved(
    {"epoch": 9, "arch": "net", "state_dict": state, "optimizer": optimizer.state_dict(), "version": 2, "args": args,
     "metric": 81.5}), ".pth.tar")
variant("keys", "mmcv, of a backbone", saved({"meta": {"epoch": 3, "time": "now"}, "state_dict": prefixed("backbone."), "optimizer": {}}))
variant("keys", "DeepSpeed's module", saved({"module": state, "buffer_names": ["bn.running_mean"], "dp_world_size": 1}))
variant("keys", "fairseq", saved({"args": args, "model": state, "optimizer_history": [{"num_updates": 1}], "last_optimizer_state": None}))
variant("keys", "fastai's learner", saved({"model": state, "opt": optimizer.state_dict()}), ".pth")
variant("keys", "two state dicts in a tuple", saved((state, optimizer.state_dict())), wanted="there is no state dict in the file: it holds a tuple")
variant("keys", "pairs of names and tensors", saved(list(state.items())), wanted="there is no state dict in the file: it holds a list")
variant("keys", "arrays of NumPy (detectron2)", saved({"model": {k: v.numpy() for k, v in state.items()}, "__author__": "me"}),
        wanted="no state dict")
variant("keys", "an average of Lightning beside", saved(
    {"pytorch-lightning_version": "2.0", "state_dict": {**prefixed("model."), **prefixed("ema_model.", other.state_dict())}}), ".ckpt")

# ---- wrappers ----
for prefix in ("module.", "model.", "net.", "network.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module.",
               "model._orig_mod.", "module.model.", "ema_model."):
    variant("wrappers", f"names begin with '{prefix}'", saved(prefixed(prefix)))
variant("wrappers", "torch.compile of a part", saved(
    collections.OrderedDict((k.replace("fc1.", "fc1._orig_mod."), v) for k, v in state.items())))
variant("wrappers", "AveragedModel (SWA)", saved(torch.optim.swa_utils.AveragedModel(net).state_dict()))
variant("wrappers", "DataParallel", saved(nn.DataParallel(net).state_dict()))
variant("wrappers", "no num_batches_tracked", saved({k: v for k, v in state.items() if "num_batches" not in k}),
        wanted={**state, "bn.num_batches_tracked": torch.tensor(0)})
variant("wrappers", "Lightning with metrics", saved(
    {"pytorch-lightning_version": "2.0", "state_dict": {**prefixed("model."), "acc.total": torch.zeros(2)},
     "hyper_parameters": {"lr": 0.1}, "callbacks": {}}), ".ckpt")
try:
    import lightning as L
except Exception:  # whatever it misses
    L = None
if L:
    def lightning(path):
        import logging
        logging.getLogger("lightning").setLevel(logging.ERROR)

        class Module(L.LightningModule):
            def __init__(self):
                super().__init__()
                self.save_hyperparameters({"lr": 0.1, "where": pathlib.Path("x")})
                self.model = net

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)

        trainer = L.Trainer(max_epochs=0, logger=False, enable_progress_bar=False, enable_model_summary=False,
                            enable_checkpointing=False, accelerator="cpu")
        trainer.strategy.connect(Module())
        trainer.save_checkpoint(path)
    variant("wrappers", "Lightning itself", lightning, ".ckpt")

# ---- whole modules ----
variant("modules", "torch.save(model)", saved(net))
variant("modules", "torch.save(model), before zip", saved(net, **OLD))
hidden = WithBuffer()
hidden.load_state_dict(state)
variant("modules", "with a non-persistent buffer and a cycle", saved(hidden))
variant("modules", "DataParallel(model)", saved(nn.DataParallel(net)))
variant("modules", "under 'model', beside its average", saved({"model": net, "ema": other, "epoch": 1}))
variant("modules", "in a module of one's own", saved(Wrapper(net=net)))
variant("modules", "AveragedModel(model)", saved(torch.optim.swa_utils.AveragedModel(net)))
variant("modules", "torch.fx graph", saved(torch.fx.symbolic_trace(net)))
twice = Wrapper(first=net, second=net)
variant("modules", "one module under two names", saved(twice), wanted="these are not the model's weights")

# ---- objects beside ----
things = {
    "argparse.Namespace": args, "a dataclass": Settings(), "an enum": Colour.RED, "a class": Net, "a function": torch.relu,
    "functools.partial": functools.partial(torch.add, 1), "an optimiser": optimizer,
    "a scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 3), "numpy array": np.arange(6.).reshape(2, 3),
    "numpy scalars": [np.float32(1), np.int64(2), np.bool_(True), np.uint64(2**63 + 1), np.datetime64("2024-01-01")],
    "numpy dtype": np.dtype("float32"), "pathlib": pathlib.PurePosixPath("/a/b"), "datetime": datetime.timedelta(1),
    "collections": [collections.Counter("ab"), collections.deque([1], 3), collections.defaultdict(list, a=[1])],
    "a large integer": 2**100, "sets": [{1}, frozenset([2])], "complex number": 1j, "a device": torch.device("cpu"),
    "a generator's state": torch.get_rng_state(), "a loss": nn.CrossEntropyLoss(),
}
for name, thing in things.items():
    variant("objects", name, saved({"state_dict": state, "thing": thing, "more": [thing, {"a": thing}]}))
if importlib.util.find_spec("omegaconf"):
    from omegaconf import OmegaConf
    variant("objects", "OmegaConf", saved({"state_dict": state, "cfg": OmegaConf.create({"a": {"b": [1, "${a}"]}})}))


class Evil:
    def __reduce__(self):
        return (os.system, ("touch escaped",))


variant("objects", "a command to run (it is not)", saved({"state_dict": state, "x": Evil()}))

# ---- tensors of other kinds ----
kinds = {"complex": torch.zeros(2, dtype=torch.complex64), "sparse": torch.eye(3).to_sparse(),
         "sparse, CSR": torch.eye(3).to_sparse_csr(), "meta": torch.zeros(2, device="meta"),
         "quantised": torch.quantize_per_tensor(torch.rand(3), 0.1, 0, torch.qint8)}
if hasattr(torch, "float8_e4m3fn"):
    kinds["fp8"] = torch.zeros(2).to(torch.float8_e4m3fn)
for name, t in kinds.items():
    variant("tensors", f"{name}, beside", saved({**state, "extra.t": t}))
    variant("tensors", f"{name}, needed", saved({**state, "fc2.bias": t}), wanted="missing: fc2.bias (a ")

# ---- other networks ----
wide = make(2, 5).state_dict()
body = {k: v for k, v in wide.items() if not k.startswith("fc2.")}
variant("others", "another head", saved(wide), wanted="2 of another shape: fc2.weight ([2, 3] in the model, [5, 3] in the file)")
variant("others", "another head, --strict no", saved(wide), options=["--strict", "no"], wanted=body)
variant("others", "a tensor too many", saved({**state, "aux.weight": torch.zeros(1)}), wanted="1 unexpected: aux.weight")
variant("others", "a tensor too many, --strict no", saved({**state, "aux.weight": torch.zeros(1)}), options=["--strict", "no"])
less = {k: v for k, v in state.items() if k != "fc1.bias"}
variant("others", "a tensor missing", saved(less), wanted="1 missing: fc1.bias")
variant("others", "a tensor missing, --strict no", saved(less), options=["--strict", "no"], wanted=less)
variant("others", "nothing fits, --strict no", saved({"a.b": torch.zeros(2)}), options=["--strict", "no"], wanted="nothing in it fits the model")
variant("others", "other names, --map", saved(collections.OrderedDict((k.replace("fc1", "first"), v) for k, v in state.items())),
        options=["--map", "first=fc1"])


# ---- no checkpoints ----
def text(content):
    return lambda path: pathlib.Path(path).write_bytes(content)


def cut(n, **how):
    def save(path):
        torch.save(state, path, **how)
        data = pathlib.Path(path).read_bytes()
        pathlib.Path(path).write_bytes(data[:len(data) * n // 4])
    return save


variant("faults", "a Git LFS pointer", text(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"), wanted="a Git LFS pointer")
variant("faults", "an HTML page", text(b"<!DOCTYPE html>\n<html>"), ".safetensors", wanted="an HTML page")
variant("faults", "empty", text(b""), wanted="the file is empty")
variant("faults", "a cut file", cut(3), wanted="cut short: there is no end record in its")
variant("faults", "a cut file, before zip", cut(3, **OLD), wanted="file ends")
variant("faults", "a cut .safetensors", lambda path: (safetensors(raw(state), path), os.truncate(path, os.path.getsize(path) - 5)),
        ".safetensors", wanted="outside the")
variant("faults", "packed by gzip", text(b"\x1f\x8b\x08\0\0\0\0\0"), ".pth.tar", wanted="a tar or gzip archive")
variant("faults", "a tar archive", text(b"net.pt".ljust(257, b"\0") + b"ustar  \0".ljust(255, b"\0")), ".tar", wanted="tar")
variant("faults", "a Keras or HDF5 file", text(b"\x89HDF\r\n\x1a\n" + bytes(64)), ".h5", wanted="cannot tell what")
variant("faults", "an ONNX file", text(b"\x08\x08\x12\x07pytorch:\x00"), ".onnx", wanted="onnx")
variant("faults", "a pickle without PyTorch", text(b"\x80\x04]\x94."), wanted="no PyTorch file")
variant("faults", "a zip of something else", lambda path: zipfile.ZipFile(path, "w").writestr("a.txt", "x"), wanted="no PyTorch file")


def numbers(path):
    with zipfile.ZipFile(path) as z:
        return {n[:-4]: np.load(z.open(n)) for n in z.namelist()}


def attempt(number, save, suffix, options, wanted):
    """What became of it, and whether that is right."""
    path, out = f"v{number}{suffix}", f"out{number}"
    try:
        save(path)
    except Exception as e:  # whatever a version of PyTorch cannot write
        return f"not written by PyTorch {torch.__version__}: {e}", None
    done = subprocess.run([ch, "convert", "net.mg", out, "--dataset", "csv:data.csv", "--load", path, *options],
                          capture_output=True, text=True)
    said = done.stderr.strip().splitlines()
    if isinstance(wanted, str) and wanted != "same":
        return "refused: " + said[-1].split(": ", 1)[-1].replace(os.getcwd() + "/", ""), done.returncode == 2 and wanted in done.stderr
    if done.returncode:
        return "FAILED: " + done.stderr.strip(), False
    subprocess.run([ch, "convert", out, f"{out}.npz"], capture_output=True, check=True)
    found, expected = numbers(f"{out}.npz"), state if wanted == "same" else wanted
    same = all(np.array_equal(found[k], v.numpy().astype(found[k].dtype)) for k, v in expected.items())
    notes = [s.split(": ", 1)[1] for s in said if path + ": " in s and "Weights from" not in s]
    return "loaded" + (": " + "; ".join(notes) if notes else ""), same and not os.path.exists("escaped")


with tempfile.TemporaryDirectory() as temp:
    os.chdir(temp)
    pathlib.Path("net.mg").write_text(GRAPH)
    pathlib.Path("data.csv").write_text("a,b,c,d,label\n" + "1,2,3,4,0\n4,3,2,1,1\n" * 20)
    bad = tried = 0
    group = None
    for number, (part, name, save, suffix, options, wanted) in enumerate(variants):
        result, right = attempt(number, save, suffix, options, wanted)
        if right is None:
            print(f"skipped {part}: {name}: {result}", file=sys.stderr)
            continue
        tried += 1
        bad += not right
        if table:
            if part != group:
                print(f"\n**{part}**\n\n| file | what happens |\n|---|---|")
            group = part
            print(f"| {name} | {result.replace('|', '/')} |")
        if not right or not table:
            print(f"{'ok' if right else 'NOT OK'} {part}: {name}: {result}", file=sys.stderr if table else sys.stdout)
    print(f"\n{tried} files, {bad} not as they should be", file=sys.stderr if table else sys.stdout)
sys.exit(1 if bad or tried < 80 else 0)
