"""Parameters and layers under more than one name, as PyTorch has them."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Words(nn.Module):
    """A language model whose head is its table of words."""

    def __init__(self, info):
        super().__init__()
        self.embed = nn.Embedding(10, 8, padding_idx=2)
        self.mix = nn.Linear(8, 8)
        self.head = nn.Linear(8, 10, bias=False)
        self.head.weight = self.embed.weight
        self.out = nn.Linear(10, info.num_classes)

    def forward(self, x):
        x = self.embed(x.abs().clamp(max=9).long())
        x = torch.tanh(self.mix(x)).mean(1)
        return self.out(self.head(x))


class HeadFirst(nn.Module):
    """The head is registered first, so the table is known by its name; it starts as a table does."""

    def __init__(self, info):
        super().__init__()
        self.head = nn.Linear(8, 10)
        self.embed = nn.Embedding(10, 8)
        self.head.weight = self.embed.weight
        self.out = nn.Linear(10, info.num_classes)

    def forward(self, x):
        return self.out(self.head(self.embed(x.abs().clamp(max=9).long()).mean(1)))


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.g = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * self.g


class Places(nn.Module):
    """Layers and containers under two names, one twice in a list, a norm with its statistics."""

    def __init__(self, info):
        super().__init__()
        self.scale = Scale(8)
        self.a = nn.Linear(8, 8)
        self.b = self.a
        self.norm = nn.BatchNorm1d(8)
        layer = nn.Linear(8, 8)
        self.blocks = nn.ModuleList([layer, nn.ReLU(), layer])
        self.again = nn.Sequential(self.norm, self.a)
        self.stem = nn.Linear(info.num_features, 8)
        self.other = self.scale
        self.last = nn.Linear(8, info.num_classes)

    def forward(self, x):
        x = self.stem(x)
        x = self.scale(self.b(torch.tanh(self.norm(self.a(x)))))
        for block in self.blocks:
            x = block(x)
        return self.last(self.other(self.again(x)))


class Direct(nn.Module):
    """A layer's weight as an attribute under two more names, and two layers that share a bias."""

    def __init__(self, info):
        super().__init__()
        self.fc = nn.Linear(info.num_features, info.num_features)
        self.w = self.fc.weight
        self.w2 = self.w
        self.left = nn.Linear(info.num_features, info.num_classes)
        self.right = nn.Linear(info.num_features, info.num_classes)
        self.right.bias = self.left.bias

    def forward(self, x):
        x = F.linear(torch.tanh(self.fc(x)), self.w2 * 0.5)
        return self.left(x) - torch.sigmoid(self.right(x))


class FrozenTable(nn.Module):
    """One name is frozen, so all are."""

    def __init__(self, info):
        super().__init__()
        self.down = nn.Linear(info.num_features, info.num_features, bias=False)
        self.up = nn.Linear(info.num_features, info.num_features)
        self.up.weight = self.down.weight
        self.up.weight.requires_grad = False
        self.out = nn.Linear(info.num_features, info.num_classes)

    def forward(self, x):
        return self.out(torch.relu(self.up(self.down(x))))
