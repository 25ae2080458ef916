"""random_costs.py - what networks cost, counted from PyTorch's own layers as they run: docs/costs.md once more."""
from math import prod

import torch
from torch import nn

EACH = {1: (nn.ReLU, nn.Tanh, nn.Sigmoid, nn.GELU, nn.SiLU, nn.ELU, nn.LeakyReLU, nn.Hardtanh, nn.Hardswish, nn.Mish, nn.Softplus, nn.CELU,
            nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d),
        4: (nn.BatchNorm1d, nn.BatchNorm2d), 5: (nn.LayerNorm, nn.GroupNorm, nn.InstanceNorm1d, nn.InstanceNorm2d, nn.Softmax, nn.LogSoftmax),
        0: (nn.Identity, nn.Dropout, nn.Flatten, nn.Embedding)}
POOLS = (nn.MaxPool1d, nn.MaxPool2d, nn.AvgPool1d, nn.AvgPool2d)


def of_layer(layer, x, y):
    """Products that are summed, and operations, for one sample; None: this page does not say."""
    if isinstance(layer, nn.Linear):
        return y.numel() * layer.in_features, 0
    if isinstance(layer, (nn.Conv1d, nn.Conv2d)):
        return y.numel() * layer.in_channels // layer.groups * prod(layer.kernel_size), 0
    if isinstance(layer, (nn.ConvTranspose1d, nn.ConvTranspose2d)):
        return x.numel() * layer.out_channels // layer.groups * prod(layer.kernel_size), 0
    if isinstance(layer, POOLS):
        kernel = layer.kernel_size
        n = 1 if isinstance(layer, (nn.MaxPool1d, nn.AvgPool1d)) else 2
        return 0, y.numel() * (prod(kernel) if isinstance(kernel, tuple) else kernel ** n)
    for each, kinds in EACH.items():
        if type(layer) in kinds:
            return 0, each * x.numel()
    return None


def counted(net, inputs, info, graph):
    """(what, ours, counted) for every layer that the network calls once, and for its parameters."""
    calls = {}
    hooks = [layer.register_forward_hook(lambda _, x, y, path=path: calls.setdefault(path, []).append((x[0].clone(), y)))
             for path, layer in net.named_modules() if not list(layer.children())]
    with torch.no_grad():
        net.eval()(*[x.clone() for x in inputs])
    for hook in hooks:
        hook.remove()
    of = dict(net.named_modules())
    for node in graph.nodes:
        path = str(node.target)
        if node.op != "call_module" or len(calls.get(path, [])) != 1 or type(of[path]).__module__.startswith("net"):
            continue
        wanted = of_layer(of[path], *calls[path][0])
        row = info["nodes"][node.name]
        if wanted:
            yield f"MACs of {path}", row["macs"], wanted[0]
            yield f"FLOPs of {path}", row["flops"], 2 * wanted[0] + wanted[1]
        own = list(of[path].parameters(recurse=False))
        yield f"parameters of {path}", row["params"], sum(p.numel() for p in own)
    read = [str(node.target) for node in graph.nodes if node.op in ("call_module", "get_attr")]
    used = {id(p): p for name, p in net.named_parameters() if any(name == path or name.startswith(path + ".") for path in read)}
    yield "parameters", info["total"]["params"], sum(p.numel() for p in used.values())
