#!/usr/bin/env python3
"""Networks of one's own go to PyTorch and come back: strict loading, the same outputs.

usage: own_network.py CH
"""
import os
import sys
import tempfile

from checks import check, finish, run

try:
    import numpy as np
    import torch
    from torch_models import IS_OLD, MODELS, SOURCE, build, load
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
TRAINED = {"Test", "Small", "ResMLP", "MatmulNet", "Mixed", "Transformer", "Wide", "DeepSets",
           "GatedTagger", "KAN", "LitTagger", "Net", "ConvBN", "MobileNet", "SENet", "ConvNeXt"}
# Taken from PyTorch alone: the first two do not keep the samples of a batch in front.
TAKEN = {"InteractionNetwork", "VisionTransformer", "LeNet", "DenseNet", "SqueezeNet", "UNet", "vgg_bn"}


def write_data(classes, *sample):
    """A small data set of that shape; its name for ch, and samples to predict."""
    rng = np.random.RandomState(3)
    x = rng.randn(64, *sample).astype("<f4")
    np.savez("data.npz", X=x, y=np.arange(64) % classes)
    np.save("x.npy", x[:20])
    return "npz:data.npz", torch.from_numpy(x[:20])


def distance(net, x, spec, data, weights):
    """Between our outputs and those of PyTorch in float64, as far from which its float32 is."""
    if not run(ch, "predict", spec, data, "--load", weights, "--input", "x.npy", "--output", "y.npy"):
        return np.inf
    y = np.load("y.npy")
    with torch.no_grad():
        try:
            theirs = net.double().eval()(x.double()).numpy()
        except RuntimeError:  # a tensor that is no buffer stays what it was
            theirs = net.float().eval()(x).numpy()
    return (np.abs(theirs - y) / np.maximum(1, np.abs(theirs))).max()


def to_pytorch(name, cls, spec, data, sample, x):
    if not run(ch, "train", spec, data, "--max-steps", "6", "--batch-size", "16", "--learning-rate", "1e-3",
               "--project", name):
        check(f"{name} is trained", False)
        return
    path = f"mase_output/{name}/software/training_ckpts/last.ckpt"
    state = torch.load(path, weights_only=not IS_OLD)["state_dict"]  # before 2.0 it knew no floats
    net = build(cls, *sample)
    net.load_state_dict({k[len("model."):]: v for k, v in state.items()}, strict=True)
    far = distance(net, x, spec, data, path)
    check(f"{name}: ours in PyTorch, {far:.1e} apart", far <= 1e-5)


def from_pytorch(name, cls, spec, data, sample, x):
    torch.manual_seed(5)
    net = build(cls, *sample)
    net.train()
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-2)
    for _ in range(3):
        optimiser.zero_grad()
        net(x).square().mean().backward()
        optimiser.step()
    torch.save({"epoch": 3, "model_state_dict": net.state_dict(),
                "optimizer_state_dict": optimiser.state_dict()}, "theirs.pt")
    far = distance(net, x, spec, data, "theirs.pt")
    check(f"{name}: PyTorch's here, {far:.1e} apart", far <= 1e-5)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for file, sample, classes in MODELS:
        wanted = [c for c in classes if c in TRAINED | TAKEN]
        if not wanted:
            continue
        data, x = write_data(*sample)
        module = load(file)
        for name in wanted:
            spec = os.path.join(SOURCE, file) + ":" + name
            if name in TRAINED:
                to_pytorch(name, getattr(module, name), spec, data, sample, x)
            from_pytorch(name, getattr(module, name), spec, data, sample, x)
finish()
