"""Products of activations: matmul, bmm, and views of a size that is known only when it runs."""
import torch
from torch import nn


class MatmulNet(nn.Module):
    def __init__(self, in_features, num_classes):
        super().__init__()
        for name in ("q", "k", "v"):
            setattr(self, name, nn.Linear(in_features, 32))
        self.out = nn.Linear(32, num_classes)

    def forward(self, x):
        q = self.q(x).view(x.size(0), 4, 8)
        k = self.k(x).view(x.size(0), 8, 4)
        v = self.v(x).view(x.size(0), 4, 8)
        y = torch.bmm(torch.matmul(q, k), v)
        y *= q
        y = y - v
        return self.out(y.view(y.size(0), -1))
