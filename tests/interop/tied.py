#!/usr/bin/env python3
"""Parameters and layers under more than one name: one parameter, as in PyTorch. The same outputs, the
same gradients, the same weights after steps of Adam, one optimiser state; state dicts go both ways.

usage: tied.py CH
"""
import os
import subprocess
import sys
import tempfile

from checks import check, finish, run

try:
    import numpy as np
    import torch
    from torch_models import IS_OLD, SOURCE, build, load
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
ROWS, FEATURES, CLASSES = 40, 16, 5
NETS = os.path.join(SOURCE, "tied.py")
TRAIN = ["--split", "mase", "--scaling", "none", "--batch-size", str(ROWS), "--lr-schedule", "constant",
         "--max-epochs", "8", "--seed", "1"]


def checkpoint(project):
    return torch.load(f"mase_output/{project}/software/training_ckpts/last.ckpt", weights_only=not IS_OLD)


def state_of(saved):
    return {k[len("model."):]: v for k, v in saved["state_dict"].items()}


def apart(ours, theirs):
    return max(((ours[k].double() - theirs[k].double()).abs() / theirs[k].double().abs().clamp(min=1)).max().item()
               for k in theirs)


def descend(net, x, y, optimiser, steps):
    """What PyTorch makes of the network, in float64."""
    net = net.double().train()
    o = optimiser(net.parameters())
    for _ in range(steps):
        o.zero_grad()
        torch.nn.functional.cross_entropy(net(torch.from_numpy(x).double()), torch.from_numpy(y)).backward()
        o.step()
    return net.state_dict()


def copied(make, state):
    net = make()
    net.load_state_dict(state)
    return net


def train(name, project, *options):
    ok = run(ch, "train", f"{NETS}:{name}", "npz:data.npz", "--load", "start.pt", "--project", project, *TRAIN,
             *options)
    check(f"{name} is trained", ok)
    return checkpoint(project) if ok else None


def compare_training(name, make, start, x, y):
    saved = train(name, name + "-sgd", "--training-optimizer", "sgd", "--momentum", "0", "--weight-decay", "0",
                  "--learning-rate", "0.5", "--max-steps", "1")
    far = apart(state_of(saved), descend(copied(make, start), x, y, lambda p: torch.optim.SGD(p, 0.5), 1))
    check(f"{name}: the same gradients, {far:.1e} apart", far <= 1e-5)
    saved = train(name, name + "-adam", "--training-optimizer", "adam", "--weight-decay", "0.01", "--learning-rate",
                  "0.01", "--max-steps", "4")
    # Adam divides by the size of gradients: what is nothing but rounding error becomes a whole step
    wanted = descend(copied(make, start), x, y, lambda p: torch.optim.Adam(p, 0.01, eps=1e-8, weight_decay=0.01), 4)
    far = apart(state_of(saved), wanted)
    check(f"{name}: the same weights after four steps of Adam, {far:.1e} apart", far <= 2e-4)
    return saved


def compare_files(name, make, saved):
    net = make()
    state = state_of(saved)
    check(f"{name}: PyTorch's names in its order", list(state) == list(net.state_dict()))
    net.load_state_dict(state, strict=True)
    o = torch.optim.Adam(net.parameters(), 0.01)
    o.load_state_dict(saved["optimizer_states"][0])
    check(f"{name}: a moment for every parameter that is trained", all(
        o.state[p]["exp_avg"].shape == p.shape if p.requires_grad else p not in o.state for p in net.parameters()))
    names = {id(v): k for k, v in net.named_parameters()}
    first = {k: names.get(id(v)) for k, v in net.named_parameters()}
    check(f"{name}: names of one parameter hold the same numbers",
          all(torch.equal(v, net.state_dict()[k]) for k, v in state.items()) and len(first) < len(state))


def outputs(name, path):
    done = subprocess.run([ch, "predict", f"{NETS}:{name}", "npz:data.npz", "--load", path, "--input", "x.npy",
                           "--output", "y.npy"], capture_output=True, text=True)
    return np.load("y.npy") if done.returncode == 0 else done.stderr


def compare_loading(name, net, second):
    """A file may lack a name of a parameter, and must not contradict itself."""
    with torch.no_grad():
        theirs = net.double().eval()(torch.from_numpy(np.load("x.npy")).double()).numpy()
    ours = outputs(name, "start.pt")
    far = np.abs(ours - theirs).max() if not isinstance(ours, str) else np.inf
    check(f"{name}: the same outputs, {far:.1e} apart", far <= 1e-5)
    state = torch.load("start.pt")
    for lacks in [second] + [k for k in state if k != second and torch.equal(state[k], state[second])][:1]:
        torch.save({k: v for k, v in state.items() if k != lacks}, "less.pt")
        check(f"{name}: loads without {lacks}",
              not isinstance(ours, str) and np.array_equal(outputs(name, "less.pt"), ours))
    torch.save({k: v + 1 if k == second else v for k, v in state.items()}, "contrary.pt")
    said = outputs(name, "contrary.pt")
    check(f"{name}: two values for one parameter are refused",
          isinstance(said, str) and second in said and "tied to" in said)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rng = np.random.RandomState(3)
    x = (4 * rng.randn(ROWS, FEATURES)).astype("<f4")
    y = np.arange(ROWS) % CLASSES
    np.savez("data.npz", X_train=x, y_train=y, X_test=x, y_test=y)
    np.save("x.npy", x)
    module = load("tied.py")
    for name, second in (("Words", "head.weight"), ("HeadFirst", "embed.weight"), ("Places", "blocks.2.bias"),
                         ("Direct", "fc.weight"), ("FrozenTable", "up.weight")):
        def make(cls=getattr(module, name)):
            return build(cls, CLASSES, FEATURES)
        torch.manual_seed(2)
        net = make()
        start = {k: v.clone() for k, v in net.state_dict().items()}
        torch.save(net.state_dict(), "start.pt")
        compare_loading(name, net, second)
        compare_files(name, make, compare_training(name, make, start, x, y))
finish()
