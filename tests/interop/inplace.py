#!/usr/bin/env python3
"""Operations that write in place, with views around them: what PyTorch computes, or a refusal that says
where. Never another number.

usage: inplace.py CH
"""
import os
import re
import sys
import tempfile

from checks import check, finish

try:
    import numpy as np
    import torch
    from one_step import follow, predict
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])
ROWS, FEATURES, CLASSES = 24, 8, 6
HEAD = """import torch
from torch import nn
import torch.nn.functional as F


"""
NETWORK = """class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 6)
        self.relu = nn.ReLU(inplace=True)
        self.same = nn.Identity()
        self.drop = nn.Dropout(0.5)
        self.register_buffer("count", torch.ones(1))

    def forward(self, x):
        x = self.fc(x)
        {body}


"""
FOLLOWED = {  # by name: the body of forward
    "Residual": "y = x; x = F.relu(x, inplace=True); return x + y",
    "ResidualMethod": "y = x; x = x.relu_(); return x * 2 + y",
    "ResidualLayer": "y = x; x = self.relu(x); return x + torch.tanh(y)",
    "Function": "y = x; x = F.relu_(x); return x * 2 + y",
    "FunctionOfTwo": "torch.nn.functional.leaky_relu_(x, 0.2); y = torch.tanh_(x); return x + y",
    "Logic": "m = x > 0; n = m & (x < 1); k = m | (x < -1); return m * 1.0 + n * 2.0 + k * 4.0 + x",
    "Keyword": "F.relu(input=x, inplace=True); return x",
    "Dropped": "x.add_(1); x.mul_(3); return x",
    "Assigned": "y = x; x += 1; return x * y",
    "AssignedTwice": "x += 1; x *= 2; return x - 3",
    "AssignedLater": "z = x * 2; y = z; z /= 4; return z + y + x",
    "Apart": "a = x[:, :2]; b = x[:, 2:]; a.relu_(); return torch.cat([a, b], 1)",
    "ApartFromTheEnd": "a = x[:, :-2]; b = x[:, -2:]; b *= 3; return torch.cat([a, b], 1)",
    "ApartColumns": "a = x[:, 0]; b = x[:, 1]; a.mul_(2); return torch.stack([a, b, b, a, b, a], 1)",
    "Chunks": "a, b = x.chunk(2, 1); a.relu_(); return torch.cat([a, b], 1)",
    "Splits": "a, b, c = torch.split(x, 2, dim=1); b += 1; return torch.cat([c, b, a], 1)",
    "Cloned": "y = x.clone(); x.relu_(); return x - y",
    "ClonedView": "y = torch.clone(x[:, :3]); x.mul_(2); return torch.cat([x[:, :3], y], 1)",
    "LastView": "x = x.view(-1, 3, 2); x.relu_(); return x.flatten(1)",
    "NoView": "y = x[:, :2].sum(1, keepdim=True); x.relu_(); return x + y",
    "Masked": "x.masked_fill_(x > 0.1, 0.5); return x",
    "Sizes": "n = x.size(1); m = n; n += 1; return x * m + n",
    "SetItem": "x[..., 0] = 0; return x",
    "SetSlice": "y = x * 2; y[:, 1:3] = x[:, :2]; return y",
    "SetColumns": "x[:, ::2] = x[:, 1::2] * 2; return x",
    "SetPicked": "x[:, [0, 3]] = 1.5; return x",
    "SetHalves": "y = torch.zeros_like(x); y[:, :3] = x[:, 3:]; y[:, 3:] = x[:, :3].relu(); return y",
    "SetWhere": "x[x > 0.1] = 0.5; return x",
    "SetSum": "y = x * 1; y[..., -1] = x.sum(1); return y",
    "SetNew": "y = x.new_zeros(x.shape[0], 6); y[:, 1:] = x[:, 1:]; return y",
    "SetShifted": "x[:, 1:] = x[:, :-1].clone(); return x",
    "Picked": "y = x[:, [0, 2]]; x.add_(1); return torch.cat([x[:, :4], y], 1)",
}
MIXED = {  # what a sample gives depends on the others
    "SetRow": "y = x * 1; y[0] = 1; return y",
    "SetRows": "x[:20] = 0; return x",
    "CutRows": "return torch.cat([x[:10], x[10:] * 2])",
    "FirstRow": "return x - x[:1]",
    "LessMean": "return x - x.mean(0)",
    "Reversed": "return x.flip(0)",
}
REFUSED = {
    "Slice": "y = x[:, :2]; x.add_(1); return torch.cat([x, y], 1)",
    "View": "v = x.view(-1, 3, 2); x.mul_(2); return v.flatten(1) + x",
    "IntoSlice": "y = x[:, :2]; y.add_(1); return x",
    "IntoView": "y = x.view(-1, 3, 2); y.relu_(); return x",
    "IntoTransposed": "y = x.t(); y.mul_(2); return x",
    "IntoChunk": "a, b = x.chunk(2, 1); a.relu_(); return x",
    "IntoAssigned": "y = x[:, 1:3]; y += 1; return x",
    "Result": "y = x.add_(1); y.mul_(2); return x",
    "Overlap": "a = x[:, :3]; b = x[:, 2:]; a.relu_(); return torch.cat([a, b], 1)",
    "ThirdName": "y = x; x += 1; x *= 2; return x + y",
    "Contiguous": "y = x.contiguous(); x.relu_(); return y + 0 * x",
    "Flattened": "y = x.flatten(1); x.relu_(); return y",
    "Identity": "y = self.same(x); x.relu_(); return y",
    "Dropout": "y = self.drop(x); x.relu_(); return y",
    "Detached": "y = x.detach(); y.add_(1); return x",
    "SetViewed": "y = x[:, :2]; x[:, 0] = 0; return torch.cat([x, y], 1)",
    "SetChunk": "a, b = x.chunk(2, 1); a[:, 0] = 0; return x",
    "Buffer": "self.count.add_(1); return x * self.count",
    "BufferItem": "self.count[0] = 2; return x * self.count",
    "BufferAssigned": "self.count = self.count + 1; return x * self.count",
    "BufferAdded": "self.count += 1; return x * self.count",
    "Weight": "self.fc.weight.mul_(0.5); return x",
    "Powers": "y = x; x **= 2; return x + y",
}


def refuse(name, nets):
    torch.save(getattr(nets, name)().state_dict(), "start.pt")
    done = predict(ch, name)
    place = re.search(r"nets\.py:\d+:\d+: .*(in place|assigns)", done.stderr)
    check(f"{name}: refused with its place", done.returncode == 2 and place)
    if not place:
        print(done.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rng = np.random.RandomState(3)
    x = rng.randn(ROWS, FEATURES).astype("<f4")
    y = np.arange(ROWS) % CLASSES
    np.savez("data.npz", X_train=x, y_train=y, X_test=x, y_test=y)
    np.save("x.npy", x)
    with open("nets.py", "w") as f:
        f.write(HEAD + "".join(NETWORK.format(name=name, body=body.replace("; ", "\n        "))
                               for name, body in {**FOLLOWED, **MIXED, **REFUSED}.items()))
    sys.path.insert(0, folder)
    import nets
    for name in FOLLOWED:
        follow(ch, name, nets, torch.from_numpy(x), torch.from_numpy(y))
    for name in REFUSED:
        refuse(name, nets)
    many = rng.randn(2500, FEATURES).astype("<f4")  # more than are computed at a time elsewhere
    np.save("x.npy", many)
    for name in MIXED:
        follow(ch, name, nets, torch.from_numpy(many), None, trains=False)
finish()
