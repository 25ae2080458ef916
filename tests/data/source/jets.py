"""Networks for jets as physicists write them."""
import itertools
import math
from dataclasses import dataclass, field
from typing import List, NamedTuple, Optional

import numpy as np
import pytorch_lightning as pl
import torch
import torchmetrics
from torch import nn
from torch.nn import functional as F


class DeepSets(nn.Module):
    """The 16 numbers as a set of 4 particles of 4."""

    def __init__(self, num_classes=5, phi_sizes=(16, 8), f_sizes=(12,), aggregate="sum"):
        super().__init__()
        self.phi = self._mlp((4,) + tuple(phi_sizes))
        self.f = self._mlp((phi_sizes[-1],) + tuple(f_sizes) + (num_classes,), last=False)
        self.aggregate = aggregate

    @classmethod
    def _mlp(cls, sizes, last=True):
        layers = []
        for n, (i, o) in enumerate(zip(sizes[:-1], sizes[1:])):
            layers.append(nn.Linear(i, o))
            if last or n < len(sizes) - 2:
                layers.append(nn.ReLU())
        return nn.Sequential(*layers)

    def forward(self, x):
        x = x.reshape(-1, 4, 4)
        x = self.phi(x)
        if self.aggregate == "sum":
            x = x.sum(dim=1)
        elif self.aggregate == "mean":
            x = torch.mean(x, dim=1)
        else:
            x, _ = torch.max(x, dim=1)
        return self.f(x)


class InteractionNetwork(nn.Module):
    """Relations between all pairs of particles, by fixed matrices of receivers and senders."""

    def __init__(self, n_constituents=4, n_targets=5, params=4, hidden=8):
        super(InteractionNetwork, self).__init__()
        self.P = params
        self.N = n_constituents
        self.Nr = self.N * (self.N - 1)
        self.De, self.Do = 5, 6
        self.assign_matrices()
        self.fr1 = nn.Linear(2 * self.P, hidden)
        self.fr2 = nn.Linear(hidden, int(hidden / 2))
        self.fr3 = nn.Linear(int(hidden / 2), self.De)
        self.fo1 = nn.Linear(self.P + self.De, hidden)
        self.fo2 = nn.Linear(hidden, self.Do)
        self.fc_fixed = nn.Linear(self.Do, n_targets)

    def assign_matrices(self):
        self.Rr = torch.zeros(self.N, self.Nr)
        self.Rs = torch.zeros(self.N, self.Nr)
        receiver_sender_list = [i for i in itertools.product(range(self.N), range(self.N))
                                if i[0] != i[1]]
        for i, (r, s) in enumerate(receiver_sender_list):
            self.Rr[r, i] = 1
            self.Rs[s, i] = 1

    def tmul(self, x, y):
        x_shape = x.size()
        y_shape = y.size()
        return torch.mm(x.reshape(-1, x_shape[2]), y).view(-1, x_shape[1], y_shape[1])

    def forward(self, x):
        x = x.view(-1, self.P, self.N)
        Orr = self.tmul(x, self.Rr)
        Ors = self.tmul(x, self.Rs)
        B = torch.cat([Orr, Ors], 1)
        B = torch.transpose(B, 1, 2).contiguous()
        B = F.relu(self.fr1(B.view(-1, 2 * self.P)))
        B = F.relu(self.fr2(B))
        E = F.relu(self.fr3(B).view(-1, self.Nr, self.De))
        E = torch.transpose(E, 1, 2).contiguous()
        Ebar = self.tmul(E, torch.transpose(self.Rr, 0, 1).contiguous())
        C = torch.cat([x, Ebar], 1)
        C = torch.transpose(C, 1, 2).contiguous()
        C = F.relu(self.fo1(C.view(-1, self.P + self.De)))
        O = F.relu(self.fo2(C).view(-1, self.N, self.Do))
        return self.fc_fixed(O.sum(1))


@dataclass
class TaggerConfig:
    features: int = 16
    classes: int = 5
    widths: List[int] = field(default_factory=lambda: [32, 16])
    dropout: float = 0.1
    residual: bool = True

    @property
    def sizes(self):
        return [self.features, *self.widths]


class HParams(NamedTuple):
    lr: float = 1e-3
    momentum: Optional[float] = None


class LossMixin:
    """Knows how to score; makes no layers."""

    def score(self, logits, y):
        return F.cross_entropy(logits, y)

    def describe(self):
        return f"{type(self).__name__} with {self.cfg.widths!r} and lr {self.hp.lr:.1e}"


class BaseTagger(nn.Module):
    def __init__(self, cfg: Optional[TaggerConfig] = None, hp: HParams = HParams()):
        super().__init__()
        self.cfg = cfg or TaggerConfig()
        self.hp = hp
        self.body = nn.ModuleList(self.make_block(i, o)
                                  for i, o in zip(self.cfg.sizes, self.cfg.sizes[1:]))
        self.head = nn.Linear(self.cfg.sizes[-1], self.cfg.classes)
        self.reset_parameters()

    def make_block(self, i, o):
        raise NotImplementedError

    @torch.no_grad()
    def reset_parameters(self):
        for name, p in self.named_parameters():
            if name.endswith("bias"):
                p.zero_()
            elif p.dim() > 1:
                nn.init.orthogonal_(p) if False else nn.init.xavier_normal_(p, gain=math.sqrt(2))

    @property
    def num_parameters(self) -> int:
        return sum(p.numel() for p in self.parameters() if p.requires_grad)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.body:
            x = block(x)
        return self.head(x)


class GatedBlock(nn.Module):
    def __init__(self, i, o, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(i)
        self.up = nn.Linear(i, 2 * o)
        self.skip = nn.Linear(i, o, bias=False) if i != o else nn.Identity()
        self.dropout = nn.Dropout(dropout)
        self.alpha = nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        a, b = self.up(self.norm(x)).chunk(2, dim=-1)
        return self.skip(x) + self.alpha * self.dropout(a * torch.sigmoid(b))


class GatedTagger(LossMixin, BaseTagger):
    def make_block(self, i, o):
        return GatedBlock(i, o, self.cfg.dropout)


class KANLayer(nn.Module):
    """Hat functions on a grid, their weights learnt."""

    def __init__(self, in_features, out_features, grid=5):
        super().__init__()
        h = 2.0 / (grid - 1)
        self.h = h
        self.register_buffer("grid", torch.linspace(-1, 1, grid).view(1, 1, -1))
        self.coef = nn.Parameter(torch.randn(out_features, in_features * grid) * 0.1)
        self.base = nn.Parameter(torch.empty(out_features, in_features))
        nn.init.kaiming_uniform_(self.base, a=math.sqrt(5))

    def forward(self, x):
        hat = F.relu(1 - (x.unsqueeze(-1) - self.grid).abs() / self.h)
        return F.linear(F.silu(x), self.base) + F.linear(hat.flatten(1), self.coef)


class KAN(nn.Module):
    def __init__(self, layers=(16, 8, 5)):
        super().__init__()
        self.layers = nn.Sequential(*(KANLayer(i, o) for i, o in zip(layers, layers[1:])))

    def forward(self, x):
        x = torch.tanh(x)
        return self.layers(x)


class LitTagger(pl.LightningModule):
    def __init__(self, input_dim=16, hidden=16, n_classes=5, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.model = nn.Sequential(nn.Linear(input_dim, hidden), nn.ReLU(),
                                   nn.Linear(hidden, n_classes))
        self.accuracy = torchmetrics.Accuracy(task="multiclass", num_classes=n_classes)
        self.loss_fn = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.model(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = self.loss_fn(self(x), y)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)
