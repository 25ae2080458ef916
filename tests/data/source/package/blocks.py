import torch.nn as nn

from . import settings


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, *args, **kwargs):
        return x + self.fn(x, *args, **kwargs)


def block(width=settings.WIDTH):
    return Residual(nn.Sequential(nn.Linear(width, width), nn.ReLU()))
