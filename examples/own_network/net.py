"""A network of your own, as you would write it for PyTorch.

    ch train examples/own_network/net.py:Test jsc
    ch transform examples/own_network/net.py:Test jsc --config examples/own_network/quantize.toml

PyTorch need not be installed. The file is executed by python3 to record what the model does; info is
filled from the data set.
"""
import torch.nn as nn


class Test(nn.Module):
    def __init__(self, info):
        super().__init__()
        widths = [info.num_features, 64, 128, 8, 8, info.num_classes]
        layers = [nn.BatchNorm1d(widths[0]), nn.ReLU()]
        for width_in, width_out in zip(widths, widths[1:]):
            layers += [nn.Linear(width_in, width_out), nn.BatchNorm1d(width_out), nn.ReLU()]
        self.seq_blocks = nn.Sequential(*layers)

    def forward(self, x):
        return self.seq_blocks(x)
