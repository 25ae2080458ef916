"""Parts that are not trained, in the ways people keep them so."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Backbone(nn.Module):
    """Frozen parameter by parameter; batch norms go on measuring."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(num_features, 32), nn.BatchNorm1d(32), nn.ReLU(inplace=True),
                                      nn.Linear(32, 8))
        for p in self.backbone.parameters():
            p.requires_grad = False
        self.scale = nn.Parameter(torch.full((8,), 0.75), requires_grad=False)
        self.head = nn.Linear(8, num_classes)

    def forward(self, x):
        return self.head(torch.relu(self.backbone(x)) * self.scale)


class Halves(nn.Module):
    """A weight without its bias, a scale without its shift; what was frozen may thaw."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.a = nn.Linear(num_features, 24)
        self.norm = nn.BatchNorm1d(24)
        self.b = nn.Linear(24, 24)
        self.ln = nn.LayerNorm(24)
        self.c = nn.Linear(24, num_classes)
        self.requires_grad_(False)
        self.a.bias.requires_grad_(True)
        self.norm.weight.requires_grad = True
        self.b.weight.requires_grad_()
        self.ln.bias.requires_grad_(True)
        self.c.requires_grad_(True)

    def forward(self, x):
        x = F.gelu(self.norm(self.a(x)))
        return self.c(torch.tanh(self.ln(self.b(x))))


class Blocks(nn.Module):
    """Gradients stop in blocks, in a decorated method and at detach; the rest is trained."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.a = nn.Linear(num_features, 32)
        self.b = nn.Linear(32, 32)
        self.c = nn.Linear(32, num_classes)
        self.w = nn.Parameter(torch.ones(32))

    @torch.no_grad()
    def middle(self, x):
        with torch.enable_grad():
            x = x * self.w
        return torch.relu(self.b(x))

    def forward(self, x):
        x = torch.tanh(self.a(x))
        with torch.no_grad():
            y = x.view(-1, 4, 8).flatten(1)
        with torch.inference_mode():
            pass
        torch.set_grad_enabled(False)
        z = torch.sigmoid(x * 2)
        torch.set_grad_enabled(True)
        return self.c(self.middle(x) + y + x.detach() * 0.5 + z - x)


class Chooses(nn.Module):
    """A layer that is called with and without gradients; set_grad_enabled as a block."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.embed = nn.Conv1d(1, 4, 3, padding=1)
        self.fc = nn.Linear(4 * num_features, num_classes)

    @torch.no_grad()
    def look(self, x):
        return self.embed(x)

    def forward(self, x):
        with torch.set_grad_enabled(False):
            x = x.unsqueeze(1)
            x = self.look(x) + self.embed(x)
        return self.fc(F.relu(x).flatten(1))


class Untrained(nn.Module):
    """Nothing of it can be trained."""

    def __init__(self, num_features, num_classes):
        super().__init__()
        self.fc = nn.Linear(num_features, num_classes)

    @torch.inference_mode()
    def forward(self, x):
        return self.fc(x)
