from torch import nn

from .blocks import block
from .settings import WIDTH


class Net(nn.Module):
    def __init__(self, info):
        super().__init__()
        self.blocks = nn.Sequential(*[block() for _ in range(2)])
        self.head = nn.Linear(WIDTH, info.num_classes)

    def forward(self, x):
        return self.head(self.blocks(x))
