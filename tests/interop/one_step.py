"""A network of nets.py with the weights of PyTorch's: are outputs the same, and the gradients of a step of descent?"""
import subprocess

import numpy as np
import torch

from checks import check, run
from torch_models import IS_OLD


def predict(ch, name):
    return subprocess.run([ch, "predict", f"nets.py:{name}", "npz:data.npz", "--load", "start.pt", "--input", "x.npy",
                           "--output", "y.npy"], capture_output=True, text=True)


def gradients(ch, name, net, start, x, y):
    """A step of descent, where PyTorch takes one: it may need what was written over."""
    net = net.double().train()
    try:
        torch.nn.functional.cross_entropy(net(x.double()), y).backward()
    except RuntimeError:
        return
    ok = run(ch, "train", f"nets.py:{name}", "npz:data.npz", "--load", "start.pt", "--split", "mase", "--scaling", "none",
             "--batch-size", str(len(x)), "--max-steps", "1", "--max-epochs", "1", "--learning-rate", "1",
             "--weight-decay", "0", "--momentum", "0", "--lr-schedule", "constant", "--training-optimizer", "sgd",
             "--project", name)
    saved = torch.load(f"mase_output/{name}/software/training_ckpts/last.ckpt", weights_only=not IS_OLD) if ok else {}
    ours = saved.get("state_dict", {})
    far = max((ours["model." + k].double() - start[k].double() + p.grad).abs().max().item()
              for k, p in net.named_parameters()) if ok else np.inf
    check(f"{name}: the same gradients, {far:.1e} apart", far <= 1e-5)


def follow(ch, name, nets, x, y, trains=True):
    torch.manual_seed(4)
    net = getattr(nets, name)()
    torch.save(net.state_dict(), "start.pt")
    start = {k: v.clone() for k, v in net.state_dict().items()}
    done = predict(ch, name)
    with torch.no_grad():
        theirs = net.eval()(x.clone()).numpy()
    far = np.abs(np.load("y.npy") - theirs).max() if done.returncode == 0 else np.inf
    check(f"{name}: the same outputs, {far:.1e} apart {done.stderr if done.returncode else ''}", far <= 1e-5)
    if trains:
        gradients(ch, name, net, start, x, y)
