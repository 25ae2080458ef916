"""One network for each thing that tracing must get right."""
import math
import operator

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Linear, Parameter


class Functions(nn.Module):
    """Functions with the defaults that torch.fx records, and those it does not."""

    def __init__(self):
        super().__init__()
        self.fc = Linear(16, 16)

    def forward(self, x):
        x = F.relu(self.fc(x))
        x = F.dropout(x, 0.25, training=self.training)
        x = F.leaky_relu(x, negative_slope=0.2)
        x = F.gelu(x)
        x = F.silu(x)
        x = F.elu(x, 0.5)
        x = F.hardtanh(x, -2.0, 2.0)
        x = F.sigmoid(x)
        x = torch.tanh(x)
        x = torch.relu(x)
        x = F.layer_norm(x, (16,))
        x = F.softplus(x)
        x = F.logsigmoid(x)
        return F.log_softmax(x, dim=1)


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, (3, 3), padding=(1, 1))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        x = F.avg_pool2d(x, 2, stride=1, padding=1)
        x = F.interpolate(x, scale_factor=2.0)
        x = F.adaptive_avg_pool2d(x, (2, 2))
        return torch.flatten(x, 1)


class Operators(nn.Module):
    """Every operator, from both sides."""

    def forward(self, x):
        y = 2 * x + 1 - x / 3.0
        y = 1 - y
        y = 1.5 / (y ** 2 + 1)
        y = -y
        z = operator.add(y, x)
        z = (z > 0) * z
        return torch.where(z >= x, z, x) @ torch.t(x)


class Pairs(nn.Module):
    """Functions of two values, by operator, function and method."""

    def __init__(self):
        super().__init__()
        self.register_buffer("step", torch.arange(16) % 3 + 1)

    def forward(self, x):
        b, n = x.shape
        y = x % 1.5 + 2 % self.step + 7 // self.step
        y %= 4
        y = torch.atan2(y, x).hypot(x // 0.5) + torch.fmod(x, self.step)
        return torch.remainder(x, y)[:, n % 5:]


class Shapes(nn.Module):
    def forward(self, x):
        b, n = x.shape
        y = x.reshape(b, 4, n // 4)
        y = y.permute(0, 2, 1)
        z = y[:, 1:, ..., None]
        z = z.squeeze(-1)
        z = torch.cat([z, y[:, 0].unsqueeze(1)], dim=1)
        z = torch.stack((z, z), 0).sum(0)
        first, second = torch.split(z, 2, dim=1)
        return (first * second).flatten(1), x.size()[0]


class Parameters(nn.Module):
    """Parameters, buffers and constants that forward reads."""

    def __init__(self, in_features, num_classes):
        super().__init__()
        self.weight = Parameter(torch.empty(num_classes, in_features))
        self.bias = Parameter(torch.zeros(num_classes))
        self.scales = nn.ParameterList([Parameter(torch.ones(1)), Parameter(torch.rand(1))])
        self.register_buffer("offset", torch.arange(num_classes, dtype=torch.float32) / 2)
        self.unused = Parameter(torch.randn(3))
        self.reset_parameters()

    def reset_parameters(self):
        bound = 1 / math.sqrt(self.weight.size(1))
        self.weight.data.uniform_(-bound, bound)

    def forward(self, x):
        x = F.linear(x, self.weight, self.bias)
        for s in self.scales:
            x = x * s
        x = x + self.offset
        x = x - self.offset
        c = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
        return x * c + self.bias + c


class Shared(nn.Module):
    """One module called twice, one under two names, a class of a user's own on a layer."""

    class Own(nn.Linear):
        def forward(self, x):
            return F.linear(x, self.weight * 2, self.bias)

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(16, 16)
        self.b = self.a
        self.act = nn.ReLU()
        self.own = Shared.Own(16, 16)
        self.head = nn.Sequential(nn.Linear(16, 4), self.act)

    def forward(self, x):
        x = self.act(self.a(x))
        x = self.act(self.b(x))
        return self.head(self.own(x))


class Inputs(nn.Module):
    """Defaults, annotations, keywords, several results in a dict."""

    def __init__(self, width: int = 16, *, scale: float = 0.5, **extra):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.scale = scale

    def forward(self, input: torch.Tensor, scale: float = 1.0, mask=None):
        x = self.fc(input) * self.scale
        if mask is not None:
            x = torch.mul(input=x, other=scale)
        return {"x": x, "pair": [x, (x, None)]}


class Positions(nn.Module):
    """The usual table of sines, made in __init__."""

    def __init__(self, length=4, dim=4):
        super().__init__()
        position = torch.arange(length).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        pe = torch.zeros(length, dim)
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        x = x.view(-1, 4, 4)
        return (x + self.pe[:, : 4]).flatten(1) * math.sqrt(16)


class Asserts(nn.Module):
    """Sizes that must be so: torch.fx records them when it is asked to."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        assert x.shape[1] == 16, "16 features"
        assert x.dim() == 2
        return self.fc(x)
