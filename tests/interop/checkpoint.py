#!/usr/bin/env python3
"""PyTorch goes on from our checkpoints: strict loading, the same outputs, the same next step.

usage: checkpoint.py CH
"""
import copy
import glob
import os
import sys
import tempfile

from checks import ask, check, finish

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

# weights_only refused every float before version 2.0.
KNOWS_FLOATS = int(torch.__version__.split(".")[0]) >= 2
ch = os.path.abspath(sys.argv[1])


def linear(i, o):
    return [nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU(True)]


class Wrapper(nn.Module):
    """What Lightning saves: the network is its attribute model."""

    def __init__(self):
        super().__init__()
        self.model = nn.Module()
        self.model.seq_blocks = nn.Sequential(
            nn.BatchNorm1d(16), nn.ReLU(True), *linear(16, 8), *linear(8, 8), *linear(8, 5))

    def forward(self, x):
        return self.model.seq_blocks(x)


OPTIMISERS = {
    "adam": lambda p: torch.optim.Adam(p, lr=1e-2, weight_decay=1e-3),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-2, weight_decay=1e-3),
    "sgd": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9, nesterov=True, weight_decay=1e-3),
}


def outputs(net, x):
    """In float64, which PyTorch's own float32 is as far from as ours."""
    net = copy.deepcopy(net).double().eval()
    with torch.no_grad():
        return net(torch.from_numpy(x).double()).numpy()


CONFIGURATION = """
model = "jsc-toy"
dataset = "jsc-sim"
batch_size = 4096
learning_rate = 1e-2
max_epochs = 2
[passes.quantize]
by = "type"
default.config.name = "NA"
[passes.quantize.linear.config]
name = "integer"
data_in_width = 6
data_in_frac_width = 3
weight_width = 6
weight_frac_width = 3
bias_width = 6
bias_frac_width = 3
"""


def rounded(x):
    """To integer(6, 3)."""
    return torch.clamp(torch.round(x * 8), -32, 31) / 8


def quantised(net, x):
    for layer in net.model.seq_blocks:
        if isinstance(layer, nn.Linear):
            x = nn.functional.linear(rounded(x), rounded(layer.weight), rounded(layer.bias))
        else:
            x = layer(x)
    return x


print(f"PyTorch {torch.__version__}")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    # The jets' features depend on each other, and a trained network takes small differences of
    # large sums: on samples unlike jets these would measure rounding.
    base = np.random.RandomState(0).randn(1000, 4)
    x = (base @ np.random.RandomState(1).randn(4, 16) / 2).astype("<f4")
    x[:, 8] = x[:, 6]  # two features are the same number
    np.save("x.npy", x)
    for name, make in OPTIMISERS.items():
        train = ["train", "jsc-toy", "jsc-sim", "--batch-size", "4096", "--learning-rate", "1e-2",
                 "--weight-decay", "1e-3", "--training-optimizer", name, "--project", name,
                 "--lr-schedule", "constant", "--max-epochs", "2"]
        ask(ch, *train)
        for which in ("best", "last"):
            path = f"mase_output/{name}/software/training_ckpts/{which}.ckpt"
            c = torch.load(path, weights_only=KNOWS_FLOATS)
            net = Wrapper()
            net.load_state_dict(c["state_dict"], strict=True)
            ask(ch, "predict", "jsc-toy", "--load", path, "--input", "x.npy", "--output", "y.npy")
            y = np.load("y.npy")
            far = (np.abs(outputs(net, x) - y) / np.maximum(1, np.abs(y))).max()
            check(f"{name}: the same outputs of {which}.ckpt, {far:.1e} apart", far <= 1e-5)

        optimiser = make(net.parameters())
        optimiser.load_state_dict(c["optimizer_states"][0])
        state = optimiser.state_dict()["state"]
        check(f"{name}: a state for every parameter", len(state) == len(list(net.parameters())))
        group = optimiser.param_groups[0]
        check(f"{name}: the rate and the decay",
              abs(group["lr"] - 1e-2) < 1e-12 and group["weight_decay"] == 1e-3)
        check(f"{name}: counters", c["epoch"] == 1 and c["global_step"] == 2 * 141)
        if name != "sgd":
            check(f"{name}: steps", all(float(s["step"]) == c["global_step"] for s in state.values()))
        net.train()
        nn.functional.cross_entropy(net(torch.from_numpy(x)), torch.zeros(1000, dtype=torch.long)).backward()
        optimiser.step()
        check(f"{name}: PyTorch takes the next step",
              all(torch.isfinite(p).all() for p in net.parameters()))
    events = glob.glob("mase_output/adam/software/tensorboard/lightning_logs/version_0/events*")
    check("TensorBoard's file", len(events) == 1)

    # Trained through number formats: the checkpoint says which, and its weights are still floats.
    with open("q.toml", "w", encoding="utf-8") as f:
        f.write(CONFIGURATION)
    start = "mase_output/adam/software/training_ckpts/last.ckpt"
    ask(ch, "train", "--config", "q.toml", "--load", start, "--distill", "0.5", "--project", "quantised")
    path = "mase_output/quantised/software/training_ckpts/last.ckpt"
    c = torch.load(path, weights_only=KNOWS_FLOATS)
    net = Wrapper()
    net.load_state_dict(c["state_dict"], strict=True)
    teacher, was = c["teacher_state_dict"], torch.load(start, weights_only=KNOWS_FLOATS)["state_dict"]
    check("quantised: beside them lie those of the float network that taught it",
          list(teacher) == list(was) and all(torch.equal(teacher[k], was[k]) for k in was))
    check("quantised: which are others",
          not any(torch.equal(p, teacher[k]) for k, p in net.named_parameters()))
    check("quantised: the graph in the checkpoint has its formats",
          "quantized {name: 'integer'" in c["mase"]["graph"])
    weights = torch.cat([p.flatten() for p in net.parameters()])
    check("quantised: the weights are not rounded", bool((weights != rounded(weights)).any()))
    ask(ch, "predict", "jsc-toy", "--load", path, "--input", "x.npy", "--output", "y.npy")
    y = np.load("y.npy")
    with torch.no_grad():
        far = np.abs(quantised(net.eval(), torch.from_numpy(x)).numpy() - y).max(axis=1)
    # A value near the middle of two numbers may be rounded either way.
    check(f"quantised: {np.mean(far < 1e-4):.1%} of the answers are PyTorch's",
          np.mean(far < 1e-4) > 0.99)
    with torch.no_grad():
        far = np.abs(net.eval()(torch.from_numpy(x)).numpy() - y).max(axis=1)
    check("quantised: and not those of the floats", np.mean(far < 1e-4) < 0.5)

    # What formats learn does not decay: a group of its own.
    with open("lsq.toml", "w", encoding="utf-8") as f:
        f.write(CONFIGURATION.replace("integer", "lsq").replace("data_in_frac_width", "# ")
                .replace("weight_frac_width", "# ").replace("bias_frac_width", "# "))
    ask(ch, "train", "--config", "lsq.toml", "--weight-decay", "1e-3", "--max-steps", "3", "--project", "lsq")
    c = torch.load("mase_output/lsq/software/training_ckpts/last.ckpt", weights_only=KNOWS_FLOATS)
    trained = {k: v for k, v in c["state_dict"].items() if not k.endswith(("mean", "var", "tracked"))}
    optimiser = torch.optim.Adam([
        {"params": [v for k, v in trained.items() if not k.endswith("_scale")], "weight_decay": 1e-3},
        {"params": [v for k, v in trained.items() if k.endswith("_scale")], "weight_decay": 0}])
    optimiser.load_state_dict(c["optimizer_states"][0])
    check("lsq: two groups, of which one decays",
          [g["weight_decay"] for g in optimiser.param_groups] == [1e-3, 0])
    check("lsq: with moments of their parameters",
          all(optimiser.state[p]["exp_avg"].shape == p.shape for g in optimiser.param_groups for p in g["params"]))

finish()
