#!/usr/bin/env python3
"""What a constructor computes of tensors, which no file of weights holds: PyTorch's numbers, or a refusal. Never others.

usage: computed.py CH
"""
import os
import subprocess
import sys
import tempfile

from checks import check, finish

try:
    import numpy as np
    import torch
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
HEAD = """import math

import torch
from torch import nn
import torch.nn.functional as F


"""
NETWORK = """class Net{name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 6)
        self.parts = []
        a = torch.tensor([[0.5, -1.25, 2.0], [3.5, 0.0, -0.75]])
        b = torch.tensor([[1, -2, 3], [4, 0, -6]])
        c, q = torch.arange(24.0).view(2, 3, 4).sin(), torch.arange(12.0).view(3, 4) / 3 - 1.7
        m, v = a > 0, torch.tensor([3.0, 1.0, 2.0])
        {body}

    def forward(self, x):
        return self.fc(x)[:, :1] * 0 + torch.cat(self.parts)[None]


"""
TOGETHER = 16  # expressions of a network
EXPRESSIONS = (
    'torch.diag(q, 1)',
    'torch.diag(q)',
    'q.diagonal(1)',
    'q.diagonal(-1)',
    'torch.diag(v, 1)',
    'torch.diag(v)',
    'torch.diag(v, -1)',
    'torch.tril(q, 1)',
    'torch.triu(q, -1)',
    'torch.tensor([1.0, float("inf"), float("nan"), -float("inf")]).nan_to_num()',
    'a.clamp(-0.5, 1)',
    'a.clamp(min=0.25)',
    'b.clamp(0, 3)',
    'b.clamp(max=2.5)',
    'a.round()',
    'torch.round(q)',
    'torch.round(q, decimals=1)',
    'q.trunc() + q.floor() * 10 + q.ceil() * 100',
    'torch.sign(b)',
    'b / 2',
    'b // 2',
    'b % 4',
    'b % -4',
    'a // 0.3',
    'a % 0.4',
    'a % -0.4',
    'torch.remainder(b, 4)',
    'torch.floor_divide(b, 4)',
    'torch.div(b, 4, rounding_mode="trunc")',
    'torch.div(a, 0.3, rounding_mode="floor")',
    'b ** 2',
    '2 ** b.abs()',
    'a ** 2',
    'a.abs() ** 0.5',
    'torch.pow(2.0, b)',
    'a.sum() + a.sum(0)',
    'a.sum(1, keepdim=True)',
    'b.sum()',
    'm.sum(1)',
    'm.float().mean(0)',
    'a.mean(dim=(0, 1))',
    'c.sum((0, 2))',
    'c.mean(-1)',
    'c.std()',
    'c.std(1)',
    'c.std(False)',
    'c.std(dim=1, unbiased=False)',
    'c.std((0, 1), correction=0)',
    'c.var(2, keepdim=True)',
    'c.var(unbiased=False)',
    'torch.std(c, 1, True, True)',
    'a.prod(1)',
    'a.max(1)[0]',
    'a.max(1).indices',
    'a.min(0).values',
    'a.max()',
    'torch.max(a, -a)',
    'torch.maximum(a, -a)',
    'a.amax(0)',
    'a.amax((0, 1))',
    'a.argmax()',
    'a.argmax(1)',
    'a.argmin(0, keepdim=True)',
    'a.cumsum(1)',
    'a.cumsum(0)',
    'b.cumsum(-1)',
    'a.cumprod(1)',
    'm.cumsum(1)',
    'm.long().cumsum(0)',
    'c.sort(1)[0]',
    'c.sort(2, descending=True)[1]',
    'c.argsort(-1)',
    'torch.sort(v)[1]',
    'v.softmax(0)',
    'c.softmax(1)',
    'F.softmax(v, dim=0)',
    'v.norm()',
    'c.norm(dim=1)',
    'c.norm(1, 2)',
    'c.norm(p=3, dim=(0, 1))',
    'torch.norm(c, p=float("inf"), dim=1)',
    'torch.norm(a, p=1)',
    'torch.norm(c)',
    'torch.linalg.norm(a)',
    'torch.linalg.norm(a, dim=1)',
    'a.norm(float("-inf"), 1)',
    'torch.outer(v, v)',
    'a @ a.T',
    'torch.einsum("ij,kj->ik", a, a)',
    'torch.einsum("bij->bji", c)',
    'torch.einsum("ii", q[:, :3])',
    'torch.bmm(c, c.transpose(1, 2))',
    'torch.cat([a, a], 1)',
    'torch.stack([a, b.float()], -1)',
    'torch.cat([b, a])',
    'a.repeat(2, 2)',
    'a.repeat_interleave(2, 1)',
    'a.repeat_interleave(2)',
    'torch.repeat_interleave(v, torch.tensor([1, 2, 0]))',
    'a.expand(2, 2, 3)',
    'a.unfold(1, 2, 1)',
    'a.roll(1)',
    'a.roll(1, 1)',
    'a.roll((1, 2), (0, 1))',
    'a.flip(0)',
    'a.flip(0, 1)',
    'torch.flip(a, [1])',
    'a.permute(1, 0)',
    'c.permute(2, 0, 1)',
    'c.transpose(0, 2).reshape(4, -1)',
    'c.transpose(0, 2).contiguous().view(-1)',
    'c.movedim(0, 2)',
    'c.swapaxes(0, 1)',
    'c.flatten(1)',
    'c.flatten(0, 1)',
    'c.unflatten(2, (2, 2))',
    'c.unsqueeze(1).squeeze()',
    'c[..., 1]',
    'c[:, None, 1]',
    'c[:, ::2, 1:3]',
    'c[:, [0, 2]]',
    'c[:, torch.tensor([0, 2]), 1]',
    'c[torch.tensor([0, 1]), torch.tensor([2, 0])]',
    'c[c > 0]',
    'a[m]',
    'a.masked_fill(m, 9.0)',
    'torch.where(m, a, b.float())',
    'torch.where(m, 1.0, 0.0)',
    'torch.where(m, a, 0)',
    'a.gather(1, torch.tensor([[2, 0], [1, 1]]))',
    'torch.zeros(2, 4).scatter(1, torch.tensor([[2, 0], [1, 1]]), a)',
    'torch.zeros(2, 4).scatter_(1, torch.tensor([[2, 0], [1, 3]]), 1.5)',
    'a.index_select(1, torch.tensor([2, 0]))',
    'F.one_hot(torch.tensor([1, 0, 2]))',
    'F.one_hot(torch.tensor([[1], [0]]), 4)',
    'torch.arange(0, 1, 0.3)',
    'torch.arange(5, 0, -2)',
    'torch.arange(1, 4) / 3',
    'torch.arange(0.5, 3)',
    'torch.linspace(0, 1, 7)',
    'torch.linspace(-3, 2, 4)',
    'torch.linspace(1, 10, 1)',
    'torch.logspace(0, 2, 5)',
    'torch.logspace(-1, 1, 3, base=2)',
    'torch.eye(3)',
    'torch.eye(2, 4)',
    'torch.full((2, 2), 3)',
    'torch.full((2,), 2.5)',
    'torch.full_like(b, 2)',
    'torch.ones_like(a) * 2',
    'torch.zeros(2, 3) + v',
    'torch.meshgrid(v, torch.arange(2.0), indexing="ij")[0]',
    'torch.meshgrid(v, torch.arange(2.0), indexing="xy")[1]',
    'torch.meshgrid(torch.arange(2.0), v)[1]',
    'torch.unique(torch.tensor([3, 1, 3, 2]))',
    'torch.unique(torch.tensor([3, 1, 3, 2]), return_counts=True)[1]',
    'torch.diff(q, dim=1)',
    'torch.diff(q, n=2, dim=1)',
    'torch.bitwise_and(b, 3)',
    'b & 3',
    'b | 1',
    '~b',
    'm & ~m',
    'm | (a < 0)',
    'torch.logical_not(a)',
    'torch.logical_xor(m, a < 1)',
    'torch.isnan(a)',
    '(a == 0).any(1)',
    '(a != 0).all(0)',
    'a.any()',
    'a.all(1)',
    'm.all()',
    'a.exp() + a.log().nan_to_num(0.0)',
    'a.sin() + a.cos() + a.tan()',
    'a.tanh() + a.sigmoid()',
    'a.erf() + a.abs().sqrt()',
    'a.abs().rsqrt().clamp(max=5)',
    'a.reciprocal().clamp(-9, 9)',
    'torch.log1p(a.abs()) + torch.expm1(a)',
    'torch.log2(a.abs() + 1) + torch.log10(a.abs() + 1)',
)


def network(name, expressions):
    lines = []
    for e in expressions:
        *before, last = [part.strip() for part in e.split(";")]
        lines += before + [f"r = {last}", "self.parts.append(r.float().flatten())"]
    return NETWORK.format(name=name, body="\n        ".join(lines))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    groups = [EXPRESSIONS[i:i + TOGETHER] for i in range(0, len(EXPRESSIONS), TOGETHER)]
    with open("nets.py", "w") as f:
        f.write(HEAD + "".join(network(i, g) for i, g in enumerate(groups)))
    sys.path.insert(0, folder)
    import nets
    x = np.random.RandomState(3).randn(20, 8).astype("<f4")
    np.savez("data.npz", X=x, y=np.arange(20) % 2)
    np.save("x.npy", x)
    for i, group in enumerate(groups):
        net = getattr(nets, f"Net{i}")()
        torch.save(net.state_dict(), "start.pt")
        done = subprocess.run([ch, "predict", f"nets.py:Net{i}", "npz:data.npz", "--load", "start.pt", "--input", "x.npy",
                               "--output", "y.npy"], capture_output=True, text=True)
        ours = np.load("y.npy")[0] if done.returncode == 0 else None
        at = 0
        for e, part in zip(group, net.parts):
            theirs, n = part.numpy(), part.numel()
            ok = ours is not None and np.allclose(ours[at:at + n], theirs, rtol=2e-5, atol=2e-5, equal_nan=True)
            check(f"{e}{'' if ok else ': ' + (done.stderr if ours is None else f'{ours[at:at + n]} and not {theirs}')}", ok)
            at += n
finish()
