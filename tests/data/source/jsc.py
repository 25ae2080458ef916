"""The jet networks: a Sequential, one built by a loop, and jsc-s with its lists."""
from torch import nn


class Tiny(nn.Module):
    def __init__(self, info):
        super().__init__()
        self.seq_blocks = nn.Sequential(
            nn.BatchNorm1d(info.num_features),
            nn.ReLU(16),
            nn.Linear(16, info.num_classes),
            nn.ReLU(5),
        )

    def forward(self, x):
        return self.seq_blocks(x)


class Toy(nn.Module):
    def __init__(self, num_features, num_classes, widths=(8, 8)):
        nn.Module.__init__(self)
        sizes = [num_features, *widths, num_classes]
        layers = [nn.BatchNorm1d(sizes[0]), nn.ReLU(sizes[0])]
        for size_in, size_out in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(size_in, size_out), nn.BatchNorm1d(size_out), nn.ReLU(size_out)]
        self.seq_blocks = nn.Sequential(*layers)

    def forward(self, x):
        return self.seq_blocks(x)


class Small(nn.Module):
    def __init__(self, info):
        super().__init__()
        self.config = info
        self.num_features = self.config["num_features"]
        self.num_classes = self.config["num_classes"]
        hidden_layers = [64, 32, 32, 32]
        self.num_neurons = [self.num_features] + hidden_layers + [self.num_classes]
        layer_list = []
        for i in range(1, len(self.num_neurons)):
            in_features = self.num_neurons[i - 1]
            out_features = self.num_neurons[i]
            bn = nn.BatchNorm1d(out_features)
            layer = []
            if i == 1:
                layer.append(nn.BatchNorm1d(in_features))
                layer.append(nn.ReLU())
                layer.append(nn.Linear(in_features, out_features))
                layer.append(bn)
                layer.append(nn.ReLU())
            elif i == len(self.num_neurons) - 1:
                layer.append(nn.Linear(in_features, out_features))
                layer.append(bn)
                layer.append(nn.ReLU())
            else:
                layer.append(nn.Linear(in_features, out_features))
                layer.append(nn.ReLU())
            layer_list = layer_list + layer
        self.module_list = nn.ModuleList(layer_list)

    def forward(self, x):
        for layer in self.module_list:
            x = layer(x)
        return x
