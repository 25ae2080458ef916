"""Networks for images: convolutions, pooling, functions with constants."""
import math
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


class ConvBN(nn.Module):
    def __init__(self, info):
        super().__init__()
        self.conv1 = nn.Conv2d(info.image_size[0], 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.relu1 = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(8, 12, 3, stride=2, padding=1, groups=4, bias=False)
        self.bn2 = nn.BatchNorm2d(12)
        self.relu2 = nn.ReLU()
        self.avg = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(12, info.num_classes)

    def forward(self, x):
        x = self.pool(self.relu1(self.bn1(self.conv1(x))))
        x = self.avg(self.relu2(self.bn2(self.conv2(x))))
        return self.fc(torch.flatten(x, start_dim=1))


class Toy(nn.Module):
    def __init__(self, info):
        super().__init__()
        self.seq_blocks = nn.Sequential(OrderedDict([
            ("0", nn.Linear(math.prod(info["image_size"]), 8)),
            ("1", nn.ReLU()),
            ("2", nn.Linear(8, 8)),
            ("3", nn.ReLU()),
            ("4", nn.Linear(8, info["num_classes"])),
        ]))

    def forward(self, x):
        return self.seq_blocks(x.view(x.size(0), -1))


class ToyTiny(nn.Module):
    """l2 and relu_2 are never called."""

    def __init__(self, info):
        super().__init__()
        self.l1 = nn.Linear(math.prod(info.image_size), 2)
        self.relu_1 = nn.ReLU()
        self.l2 = nn.Linear(2, info.num_classes)
        self.relu_2 = nn.ReLU()

    def forward(self, x):
        x = self.l1(x.view(x.size(0), -1))
        return self.relu_1(x)


def block(conv, size_in, size_out):
    return nn.Sequential(conv(size_in, size_out, 3, 1, 1), nn.ReLU())


class ToyConvNet(nn.Module):
    def __init__(self, info, channels=(4, 6, 8, 12)):
        super().__init__()
        c = [info.image_size[0], *channels]
        self.block_1 = block(nn.Conv2d, c[0], c[1])
        self.maxpool = nn.MaxPool2d(2, 2)
        self.block_2 = block(nn.Conv2d, c[1], c[2])
        self.block_3 = block(nn.Conv1d, c[2], c[3])
        self.block_4 = block(nn.Conv1d, c[3], c[4])
        self.avgpool = nn.AdaptiveAvgPool1d(1)
        self.linear = nn.Linear(c[4], info.num_classes)
        self.channels = c

    def forward(self, x):
        x = self.block_2(self.maxpool(self.block_1(x)))
        x = x.view(x.size(0), self.channels[2], -1)
        x = self.avgpool(self.block_4(self.block_3(x)))
        x = x.view(x.size(0), -1)
        return self.linear(x)


class ToyTestModel(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.seq_blocks = nn.Sequential()
        for layer in (nn.Conv2d(3, 16, 3, 1, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 1, 1), nn.ReLU(),
                      nn.AvgPool2d(2)):
            self.seq_blocks.append(layer)
        self.conv1d = nn.Conv1d(32, 64, 3, 1, 1)
        self.fc = nn.Linear(64, 100)
        self.relu = nn.ReLU()
        self.fc2 = nn.Linear(100, num_classes)

    def forward(self, x):
        x = self.seq_blocks(x)
        x = self.conv1d(x.view(x.size(0), 32, -1))
        x = self.fc(x.view(x.size(0), -1))
        x = x + x
        x = x - x
        x = x * x
        return self.fc2(self.relu(x))


class ToyCustomFn(nn.Module):
    """A call that nobody uses, and a constant that is made in forward."""

    def __init__(self):
        super().__init__()
        self.seq_blocks = nn.Sequential(nn.Linear(16, 100), nn.ReLU())
        self.conv2d = nn.Conv2d(1, 100, 3, padding="same")
        self.adaptive_pool = nn.AdaptiveAvgPool2d((1, 1))
        self.conv1d = nn.Conv1d(1, 100, 1)

    def forward(self, x):
        x = F.relu(self.seq_blocks(torch.flatten(x, start_dim=1)))
        x += x
        x = x + 2
        x = x * x
        x = x * 2
        x = x - x
        x = x - 2
        x = x.view(x.size(0), 1, 10, 10)
        self.conv2d(x)
        x = self.adaptive_pool(x)
        x = self.conv1d(x.view(x.size(0), x.size(1), -1))
        x = torch.matmul(torch.ones(100, 8), x.view(x.size(0), -1))
        x = x.view(1, x.size(0), x.size(1))
        return torch.bmm(x, x)


class VGG7(nn.Module):
    def __init__(self, info):
        super().__init__()
        layers, channels = [], info.image_size[0]
        for width in (128, 256, 512):
            for _ in range(2):
                layers += [nn.Conv2d(channels, width, kernel_size=3, padding=1),
                           nn.BatchNorm2d(width, momentum=0.9), nn.ReLU(inplace=True)]
                channels = width
            layers.append(nn.MaxPool2d(2))
        self.feature_layers = nn.Sequential(*layers)
        self.classifier = nn.Sequential(
            nn.Linear(8192, 1024), nn.ReLU(inplace=True),
            nn.Linear(1024, 1024), nn.ReLU(inplace=True))
        self.last_layer = nn.Linear(1024, info.num_classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.feature_layers(x).view(-1, 8192)
        return self.last_layer(self.classifier(x))


class LFC(nn.Module):
    def __init__(self, info):
        super().__init__()
        widths = [math.prod(info.image_size)] + [256] * 4 + [info.num_classes]
        self.seq_blocks = nn.Sequential(
            *[m for i, o in zip(widths, widths[1:]) for m in (nn.Linear(i, o), nn.BatchNorm1d(o))],
            nn.Softmax())

    def forward(self, x):
        return self.seq_blocks(x.view(x.size(0), -1))


class CNV(nn.Module):
    def __init__(self, info):
        super().__init__()
        features, channels = [], info.image_size[0]
        for stage, width in enumerate((64, 128, 256)):
            for _ in range(2):
                features += [nn.Conv2d(channels, width, 3, stride=1, padding="valid"),
                             nn.BatchNorm2d(width)]
                channels = width
            if stage < 2:
                features.append(nn.MaxPool2d(2, stride=2))
        self.seq_blocks = nn.Sequential(*features)
        self.seq_blocks_1 = nn.Sequential(
            nn.Linear(256, 512), nn.BatchNorm1d(512), nn.Linear(512, 512), nn.BatchNorm1d(512),
            nn.Linear(512, info.num_classes), nn.BatchNorm1d(info.num_classes))

    def forward(self, x: torch.Tensor):
        x = torch.flatten(self.seq_blocks(x), start_dim=1, end_dim=-1)
        return self.seq_blocks_1(x)
