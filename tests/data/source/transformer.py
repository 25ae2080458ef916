"""A small transformer: attention by hand, layer norms, GELU, a parameter and a buffer."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads, self.head_dim = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("mask", torch.tril(torch.ones(4, 4)).view(1, 1, 4, 4))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).split(c, dim=2)
        q = q.view(b, t, self.heads, self.head_dim).transpose(1, 2)
        k = k.view(b, t, self.heads, self.head_dim).transpose(1, 2)
        v = v.view(b, t, self.heads, self.head_dim).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        scores = scores.masked_fill(self.mask == 0, float("-inf"))
        weights = self.dropout(F.softmax(scores, dim=-1))
        y = (weights @ v).transpose(1, 2).contiguous().view(b, t, c)
        return self.proj(y)


class Block(nn.Module):
    def __init__(self, dim, heads=2):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.ModuleDict({"up": nn.Linear(dim, 4 * dim), "act": nn.GELU(),
                                  "down": nn.Linear(4 * dim, dim)})

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        h = self.mlp["down"](self.mlp["act"](self.mlp["up"](self.norm2(x))))
        return x + h


class Transformer(nn.Module):
    """The 16 features of a jet as 4 tokens of 4 numbers."""

    def __init__(self, num_classes, dim=8, depth=2):
        super().__init__()
        self.embed = nn.Linear(4, dim)
        self.position = nn.Parameter(torch.randn(1, 4, dim) * 0.02)
        self.blocks = nn.ModuleList([Block(dim) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, num_classes)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
            if module.bias is not None:
                torch.nn.init.zeros_(module.bias)

    def forward(self, x):
        x = self.embed(x.view(x.size(0), 4, 4)) + self.position
        for i, block in enumerate(self.blocks):
            x = block(x)
        return self.head(self.norm(x).mean(dim=1))
