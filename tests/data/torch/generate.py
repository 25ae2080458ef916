#!/usr/bin/env python3
"""Writes mixed*.pt: what PyTorch can put into a file, in both containers. Needs torch and numpy.

jsc-tiny.pt, jsc-tiny.ckpt are a state dict and a Lightning 2.6 checkpoint of the network of that
name; jsc-tiny.ckpt.safetensors holds the latter's weights.
"""
import collections

import numpy as np
import torch

base = torch.arange(24, dtype=torch.float32)
matrix = base.view(4, 6)
weights = collections.OrderedDict(
    plain=matrix,
    tied=matrix,
    part=matrix[1:3, 2:5],
    turned=matrix.t(),
    permuted=base.view(2, 3, 4).permute(2, 0, 1),
    repeated=torch.tensor([1.5, -2.0]).view(2, 1).expand(2, 3),
    half=torch.tensor([1.0, -0.5, 65504.0, 6e-8], dtype=torch.float16),
    bfloat=torch.tensor([1.0, -3.0, 1e30], dtype=torch.bfloat16),
    double=torch.tensor([0.1, -1e300], dtype=torch.float64),
    long=torch.tensor(-(2**62)),
    int=torch.tensor([[1], [-2]], dtype=torch.int32),
    short=torch.tensor([-300, 300], dtype=torch.int16),
    char=torch.tensor([-128, 127], dtype=torch.int8),
    byte=torch.tensor([0, 255], dtype=torch.uint8),
    bool=torch.tensor([True, False]),
    empty=torch.empty(0, 3),
    parameter=torch.nn.Parameter(torch.tensor([7.0])),
)
tree = {
    "model_state_dict": weights,
    "epoch": 5,
    "lr": np.float64(0.125),
    "best": np.int64(-7),
    "flag": np.bool_(True),
    "size": torch.Size([2, 3]),
    "dtype": torch.bfloat16,
    "device": torch.device("cpu"),
    "seen": {3},
    "raw": b"\x00\xff",
    "big": 2**40,
    0: (None, True, [-1, "\u00e9"]),
}

if __name__ == "__main__":
    torch.save(tree, "mixed.pt")
    torch.save(tree, "mixed4.pt", pickle_protocol=4)
    torch.save(tree, "mixed_legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(tree, "mixed_legacy4.pt", pickle_protocol=4, _use_new_zipfile_serialization=False)
    torch.save({"w": torch.tensor([1, 65535], dtype=torch.uint16)}, "untyped.pt")
