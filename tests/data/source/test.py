"""The network of lab 1: eleven thousand parameters for the 16 features of a jet."""
import torch.nn as nn


class Test(nn.Module):
    def __init__(self, info):
        super(Test, self).__init__()
        self.seq_blocks = nn.Sequential(
            nn.BatchNorm1d(info["num_features"]),
            nn.ReLU(16),
            nn.Linear(16, 64),
            nn.BatchNorm1d(64),
            nn.ReLU(64),
            nn.Linear(64, 128),
            nn.BatchNorm1d(128),
            nn.ReLU(128),
            nn.Linear(128, 8),
            nn.BatchNorm1d(8),
            nn.ReLU(8),
            nn.Linear(8, 8),
            nn.BatchNorm1d(8),
            nn.ReLU(8),
            nn.Linear(8, info.num_classes),
            nn.BatchNorm1d(5),
            nn.ReLU(5),
        )

    def forward(self, x):
        return self.seq_blocks(x)
