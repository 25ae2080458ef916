#!/usr/bin/env python3
"""Tensors that a model computes while it is built are PyTorch's: their numbers, shapes and types.

usage: built.py TRACE_TOOL
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

HEAD = """import math
import numpy as np
import torch
from torch import nn


def positions(n, d):
    pe = torch.zeros(n, d)
    at = torch.arange(0, n, dtype=torch.float).unsqueeze(1)
    rate = torch.exp(torch.arange(0, d, 2).float() * (-math.log(10000.0) / d))
    pe[:, 0::2] = torch.sin(at * rate)
    pe[:, 1::2] = torch.cos(at * rate)
    return pe.unsqueeze(0)


def written(fn):
    t = torch.arange(12.).view(3, 4)
    fn(t)
    return t


A = torch.arange(12.).view(3, 4) / 7 - 0.5
B = torch.tensor([[2, -1, 3], [0, 5, -4]])
M = A > 0


"""
BUILT = """
positions(12, 6)
torch.cat([A, A * 2], dim=1)
torch.stack([A, -A], 1)
torch.cat((B, B + 1))
torch.arange(3, 11, 2)
torch.arange(0, 1, 0.25)
torch.linspace(-1, 1, 7)
torch.linspace(-1, 1, 1)
torch.logspace(0, 2, 5)
torch.meshgrid(torch.arange(3), torch.arange(4), indexing="ij")[1]
torch.meshgrid([torch.arange(3.), torch.arange(4.)], indexing="xy")[0]
torch.stack(torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")).flatten(1)
torch.einsum("ij,kj->ik", A, A)
torch.einsum("ij->j", A)
torch.einsum("bij,bjk->bik", A.view(2, 2, 3), A.view(2, 3, 2))
A @ A.t()
A @ A[0]
torch.matmul(A.view(1, 3, 4), A.t())
torch.bmm(A.view(2, 2, 3), A.view(2, 3, 2))
torch.outer(A[0], A[1])
torch.tril(torch.ones(4, 4))
torch.triu(torch.full((4, 4), float("-inf")), diagonal=1)
torch.ones(3, 3).tril().view(1, 1, 3, 3)
A.masked_fill(M, 9.0)
A.masked_fill(A == A.max(), float("-inf"))
torch.where(M, A, -A)
torch.where(A > 0.2, 1.0, 0.0)
A.repeat(2, 1, 3)
torch.arange(3).repeat_interleave(2)
A.repeat_interleave(3, dim=1)
A.sum()
A.sum(1)
A.sum(dim=(0, 1), keepdim=True)
B.sum(0)
A.mean(-1, keepdim=True)
A.prod(1)
A.std()
A.var(1, unbiased=False)
A.norm()
A.norm(dim=1, keepdim=True)
A.pow(2)
A ** 3
2 ** torch.arange(5)
2.0 ** torch.linspace(0, 3, 4)
10000 ** (torch.arange(0, 8, 2).float() / 8)
1.0 / (10000 ** (torch.arange(0, 8, 2) / 8))
A.max(1)[0]
A.max(1).indices
B.min()
B.argmax(1)
A.amax(0)
torch.maximum(A, -A)
torch.cumsum(B, 1)
A.cumprod(0)
A.clamp(-0.2, 0.4)
torch.clamp(B, min=0)
A.abs().sqrt()
A.sign()
B.sign()
A.round()
A.floor()
(A * 3).ceil()
A.exp()
A.sigmoid()
A.tanh().erf()
torch.erfinv(A / 2)
A.abs().log1p()
A.rsqrt().nan_to_num(0.0)
A.relu()
torch.softmax(A, dim=-1)
B // 2
B % 3
torch.remainder(B, 4)
torch.div(B, 2, rounding_mode="floor")
B / 2
B & 3
~M
M & (A < 0.5)
M | (A < -0.4)
torch.logical_and(M, A < 0.5)
M.any(0)
M.all()
M.float().mean()
M.int()
A.long()
A.to(torch.int32)
A.double()
A.flip(0)
A.roll(1, 0)
torch.roll(A, (1, -1), (0, 1))
A[:, [2, 0]]
A[torch.tensor([0, 2]), torch.tensor([1, 3])]
A[1:, None, ::2]
A[..., -1]
A[M]
A.gather(1, torch.tensor([[0, 1], [3, 2], [1, 1]]))
torch.index_select(A, 1, torch.tensor([3, 0]))
torch.zeros(3, 4).scatter_(1, torch.tensor([[0], [2], [1]]), 1)
A.chunk(2, dim=1)[1]
A.split([1, 3], dim=1)[0]
A.unbind(1)[2]
A.permute(1, 0).contiguous().view(-1)
A.transpose(0, 1).reshape(2, 6)
A.T
A.movedim(0, 1)
A.expand(2, 3, 4)
A.narrow(1, 1, 2)
torch.eye(3) * 2
torch.unique(torch.tensor([5, 2, 5, 7]))
torch.unique(torch.tensor([[5, 2], [5, 7]]), return_inverse=True, return_counts=True)[1]
torch.unique(torch.tensor([5., 2., 5.]), return_counts=True)[1]
torch.diag(torch.tensor([1., 2., 3.]))
torch.nn.functional.one_hot(torch.tensor([0, 2, 1]), 4)
A.sort(1, descending=True)[0]
B.argsort(1)
A.unfold(1, 2, 1)
torch.full((2,), 3)
torch.full_like(A, 2.5)
A.new_zeros(2)
torch.zeros_like(B)
torch.Tensor([1, 2, 3])
torch.FloatTensor([[1, 2]])
torch.LongTensor([3, 4])
torch.tensor(1.5).item() * torch.ones(2)
torch.tensor([[True, False]])
torch.from_numpy(np.eye(3).flatten().astype(np.float32))
torch.from_numpy(np.array([[1., 2.], [3., 4.]]))
torch.tensor(np.array([0.5, 2]) * np.pi)
written(lambda t: t[0].fill_(7))
written(lambda t: t[:, 1].mul_(-1))
written(lambda t: t.view(-1)[5:7].zero_())
written(lambda t: t.t()[0].add_(100))
written(lambda t: t.data.copy_(torch.ones(3, 4)))
written(lambda t: t.masked_fill_(t > 5, 0))
written(lambda t: t.clamp_(2, 8))
written(lambda t: t.__setitem__(t > 6, -1.0))
written(lambda t: t.__setitem__((slice(None), [0, 2]), 5.0))
written(lambda t: t.exp_().sqrt_())
written(lambda t: setattr(t, "data", torch.ones(2)))
""".strip().splitlines()

body = "".join(f'        self.register_buffer("b{i}", ({expression}).clone(), persistent=False)\n'
               for i, expression in enumerate(BUILT))
TEXT = HEAD + f"""class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
{body}
    def forward(self, x):
        return self.fc(x), [{', '.join(f'self.b{i}' for i in range(len(BUILT)))}]
"""

tool = os.path.abspath(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("net.py", "w") as f:
        f.write(TEXT)
    scope = {}
    exec(TEXT, scope)
    net = scope["Net"]()
    torch.save(net.state_dict(), "w.pt")
    np.save("x.npy", np.zeros((2, 4), "<f4"))
    done = subprocess.run([tool, "net.py:Net", "2", "4", "--", "w.pt", "out", "x.npy"], capture_output=True, text=True)
    check("they are computed", done.returncode == 0)
    if done.returncode:
        print(done.stderr)
        finish()
    for i, expression in enumerate(BUILT):
        theirs, ours = getattr(net, f"b{i}").numpy(), np.load(f"out{i + 1}.npy")
        same = theirs.shape == ours.shape and theirs.dtype == ours.dtype and np.allclose(
            theirs, ours, rtol=1e-6, atol=1e-6, equal_nan=True)
        check(expression, same)
        if not same:
            print(theirs, ours, sep="\n")
finish()
