"""What cannot be traced. The lines are named in t_source.c."""
import ctypes, os, signal, time
import socket

import torch, torch.nn as nn
from nowhere_to_be_seen import models
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
        self.rnn = nn.FractionalMaxPool2d(3, 5)

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
        while True: signal.raise_signal(signal.SIGALRM)  # as the clock would


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(16, 16)
        self.drop = nn.Dropout()
        self.b = nn.Linear(16, 8)
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
        # No alarm ends it, and what
        # it waits for does not come.
        signal.setitimer(signal.ITIMER_REAL, 0)
        time.sleep(60)
        time.sleep(60)
        return x


class EndlessInit(nn.Module):
    def __init__(self):
        super().__init__()
        n = 0
        while n >= 0: signal.raise_signal(signal.SIGALRM)


class Sleeps(nn.Module):
    """Says nothing more, and stays."""

    def forward(self, x):
        os.closerange(3, 64)
        os.close(1)
        try:
            time.sleep(60)
        except BaseException:
            time.sleep(60)


class Crashes(nn.Module):
    def forward(self, x):
        return ctypes.string_at(0)


class Leaves(nn.Module):
    def forward(self, x):
        os._exit(3)


class Recurses(nn.Module):
    def forward(self, x):
        return self.forward(x)


class Reaches(nn.Module):
    """A socket without Python's knowledge."""

    def forward(self, x):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0) < 0:
            raise OSError(ctypes.get_errno(), "no socket")
        return x


class IfOnShape(nn.Module):
    def forward(self, x):
        if x.shape[0] > 1 and x.shape[1] > 1:
            return x
        return -x


class AllInputs(nn.Module):
    def forward(self, *inputs, **more):
        return inputs[0]


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.FractionalMaxPool2d(2, 4)


class Pretrained(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = models.resnet18(weights=None)
        self.body.fc = nn.Linear(512, 5)

    def forward(self, x):
        return self.body(x)


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = nn.CTCLoss()

    def forward(self, x):
        return self.loss(x, x)


class ParameterOfParameter(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 16)
        self.w = nn.Parameter(self.fc.weight)

    def forward(self, x):
        return self.fc(x) + self.w


class PaddingUnderAnotherName(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 10)
        self.embed = nn.Embedding(10, 8, padding_idx=0)
        self.head.weight = self.embed.weight

    def forward(self, x):
        return self.head(self.embed(x.long()))
