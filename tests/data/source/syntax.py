"""A file that is not Python."""
import torch.nn as nn


class Net(nn.Module):
    def forward(self, x):
        return x +
