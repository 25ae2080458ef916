"""Networks whose forward takes several tensors."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Weighted(nn.Module):
    """Numbers, and weights of the same shape."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.last = nn.Linear(8, 3)

    def forward(self, x, mask):
        return self.last(torch.relu(self.first(x * mask)))


class Siamese(nn.Module):
    """Two pictures through one network."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.head = nn.Linear(4 * 5 * 5, 3)

    def embed(self, x):
        return F.relu(self.conv(x)).flatten(1)

    def forward(self, left, right):
        return self.head((self.embed(left) - self.embed(right)).abs())


class Categories(nn.Module):
    """Numbers of a table, categories of it, and one category by itself."""

    def __init__(self):
        super().__init__()
        self.cities = nn.Embedding(10, 4)
        self.kinds = nn.Embedding(5, 3)
        self.last = nn.Linear(6 + 2 * 4 + 3, 3)

    def forward(self, numbers, cities, kind):
        return self.last(torch.cat([numbers, self.cities(cities).flatten(1), self.kinds(kind)], 1))


class Hidden(nn.Module):
    """Values that a mask of truth values hides."""

    def __init__(self):
        super().__init__()
        self.score = nn.Linear(6, 6)
        self.last = nn.Linear(6, 3)

    def forward(self, x, hidden):
        weight = self.score(x).masked_fill(hidden, -1e9).softmax(1)
        return self.last(weight * x)


class Decoder(nn.Module):
    """An encoder and a decoder of tokens."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(12, 8)
        self.encoder = nn.GRU(8, 8, batch_first=True)
        self.decoder = nn.GRU(8, 8, batch_first=True)
        self.last = nn.Linear(8, 3)

    def forward(self, source, target):
        memory, state = self.encoder(self.words(source))
        out, _ = self.decoder(self.words(target), state)
        weight = torch.softmax(out @ memory.transpose(1, 2), -1)
        return self.last((out + weight @ memory).mean(1))


class Centred(nn.Module):
    """What a sample gives depends on the others of its batch."""

    def __init__(self):
        super().__init__()
        self.last = nn.Linear(6, 3)

    def forward(self, x, kind, mask):
        return self.last((x - x.mean(0)) * mask + kind.float().unsqueeze(1))
