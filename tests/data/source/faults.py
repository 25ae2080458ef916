"""What cannot be traced. The lines are named in t_source.c."""
import os
import socket

import torch
import torch.nn as nn
from torch.nn import functional as F


class IfOnData(nn.Module):
    def forward(self, x):
        y = x.sum()
        if y > 0:
            return x
        return -x


class LoopOnData(nn.Module):
    def forward(self, x):
        for row in x:
            x = x + row
        return x


class UnknownLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 5)
        self.rnn = nn.LSTM(16, 5)

    def forward(self, x):
        return self.rnn(x)


class UnknownFunction(nn.Module):
    def forward(self, x):
        return torch.fft(x, 1)


class UnknownMethod(nn.Module):
    def forward(self, x):
        return x.veiw(-1)


class Raises(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        raise ValueError("no such width")


class WrongArgument(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 5, biass=False)

    def forward(self, x):
        return self.fc(x)


class WrongValue(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(1.5, 5)

    def forward(self, x):
        return self.fc(x)


class NoSuper(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        return self.fc(x)


class Connects(nn.Module):
    def forward(self, x):
        socket.create_connection(("127.0.0.1", 9), 1)
        return x


class Spawns(nn.Module):
    def __init__(self):
        super().__init__()
        os.system("true")


class Greedy(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = bytearray(8 << 30)

    def forward(self, x):
        return x


class Endless(nn.Module):
    def forward(self, x):
        while True: x.later = 1


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(16, 16)
        self.drop = nn.Dropout()
        self.b = nn.Linear(16, 16)
        self.b.weight = self.a.weight

    def forward(self, x):
        return self.b(self.a(x))


class Exits(nn.Module):
    def __init__(self):
        super().__init__()
        raise SystemExit(3)


class NeedsWidth(nn.Module):
    def __init__(self, hidden_width):
        super().__init__()


class Deaf(nn.Module):
    def forward(self, x):
        while True:
            try:
                while True:
                    pass
            except Exception:
                pass
