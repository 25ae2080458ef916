"""Networks that are another while they are trained, in the ways people write it."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Follows(nn.Module):
    """One graph for both modes: it is told which by arguments."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.a = nn.Linear(num_features, 24)
        self.weight = nn.Parameter(torch.ones(24))
        self.bias = nn.Parameter(torch.zeros(24))
        self.register_buffer("mean", torch.zeros(24))
        self.register_buffer("var", torch.ones(24))
        self.drop = nn.Dropout(0.25)
        self.b = nn.Linear(24, num_classes)

    def forward(self, x):
        x = self.a(x)
        x = F.batch_norm(x, self.mean, self.var, self.weight, self.bias, self.training, 0.2)
        x = F.dropout(F.relu(x), p=0.5, training=self.training)
        return self.b(self.drop(x))


class Branches(nn.Module):
    """A branch each."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.a = nn.Linear(num_features, 24)
        self.aux = nn.Linear(24, 24)
        self.b = nn.Linear(24, num_classes)
        self.temperature = torch.tensor([2.0])

    def forward(self, x):
        x = torch.tanh(self.a(x))
        if self.training:
            x = x + 0.5 * torch.tanh(self.aux(x)) * torch.tensor([0.5])
            return self.b(x)
        x = self.b(x)
        return F.softmax(x / self.temperature, dim=-1)


class Pinned(nn.Module):
    """Batch norm and dropout of a part stay in evaluation; the same layer is called both ways."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(num_features, 24), nn.BatchNorm1d(24), nn.Dropout(0.9), nn.Tanh())
        self.norm = nn.BatchNorm1d(24)
        self.b = nn.Linear(24, num_classes)

    def train(self, mode=True):
        super().train(mode)
        self.stem.eval()
        return self

    def forward(self, x):
        x = self.norm(self.stem(x))
        y = self.norm.eval()(x)
        self.norm.train(self.training)
        return self.b(x + y)


class Remembers(nn.Module):
    """What the first call leaves behind decides the second."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.fc = nn.Linear(num_features, num_classes)
        self.cached = None
        self.calls = 0

    def forward(self, x):
        if self.cached is None:
            self.cached = self.fc.weight.sum(1)
        self.calls += 1
        return self.fc(x) * self.calls + self.cached


class Unsupported(nn.Module):
    """Only training needs what there is not."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.fc = nn.Linear(num_features, num_classes)

    def forward(self, x):
        if self.training:
            x = x + torch.linalg.svdvals(x).sum()
        return self.fc(x)


class AlwaysOn(nn.Module):
    """F.dropout without its argument is on in evaluation too."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.fc = nn.Linear(num_features, num_classes)

    def forward(self, x):
        return self.fc(F.dropout(x, 0.5))


class BatchStatistics(nn.Module):
    """A norm that always takes the batch's statistics."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.norm = nn.BatchNorm1d(num_features)
        self.fc = nn.Linear(num_features, num_classes)

    def train(self, mode=True):
        super().train(mode)
        self.norm.train()
        return self

    def forward(self, x):
        x = F.batch_norm(torch.tanh(self.norm(x)), None, None, training=True)
        return self.fc(x)


class Defaults(nn.Module):
    """Arguments that nobody feeds are what forward says."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.fc = nn.Linear(num_features, num_classes)

    def forward(self, x, mask=None, scale=2.0, *, flip=False, shift=(1, 2)):
        if mask is not None:
            x = x * mask
        x = self.fc(x) * scale
        return -x if flip else x + shift[0]


class CountingNorm(nn.BatchNorm1d):
    """With an activation in one class, as timm has it."""

    def forward(self, x):
        if self.training:
            self.num_batches_tracked.add_(1)
        return torch.tanh(F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, self.training,
                                       self.momentum, self.eps))


class Counts(nn.Module):
    """Buffers that change with every batch: who reads them before finds what was there."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.a = nn.Linear(num_features, 24)
        self.norm = CountingNorm(24)
        self.b = nn.Linear(24, num_classes)
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("heat", torch.full((24,), 2.0))
        self.register_buffer("last", torch.zeros(24))
        self.register_buffer("norms", torch.zeros(24))

    def forward(self, x):
        x = self.norm(self.a(x))
        if not self.training:
            return self.b(x * self.heat)
        before = x + self.heat
        self.steps += 1
        self.last.copy_(self.heat)
        self.heat.mul_(0.9).add_(0.05)
        with torch.no_grad():
            self.norms.copy_(self.b.weight.norm(dim=0))
        return self.b(before - x * self.heat + self.norms)


class Spectral(nn.Module):
    """Vectors that each call in training brings nearer; the old form and the new one."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.a = nn.utils.spectral_norm(nn.Linear(num_features, 24), n_power_iterations=2)
        self.b = nn.utils.parametrizations.spectral_norm(nn.Linear(24, 24), dim=1)
        self.c = nn.Linear(24, num_classes)

    def forward(self, x):
        x = torch.tanh(self.a(x))
        x = x + torch.tanh(self.b(x))
        return self.c(torch.tanh(self.b(x)))
