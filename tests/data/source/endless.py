"""Never read to its end."""
import signal, torch.nn as nn

n = 0
while n >= 0: signal.raise_signal(signal.SIGALRM)


class Net(nn.Module):
    pass
