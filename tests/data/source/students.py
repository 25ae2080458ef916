"""Networks as students write them: a script that also trains, old spellings, names made of strings."""
import argparse
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms
from tqdm import tqdm

torch.manual_seed(0)
np.random.seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH_SIZE = 64
transform = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])


class Jets(Dataset):
    def __init__(self, path):
        self.data = np.load(path)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return torch.from_numpy(self.data[i])


class LeNet(nn.Module):
    def __init__(self):
        super(LeNet, self).__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)
        self.criterion = nn.NLLLoss()

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), (2, 2))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(x.size()[0], -1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        x = self.fc3(x)
        return F.log_softmax(x, dim=1)

    def loss(self, x, y):
        return self.criterion(self(x), y)


class Digits(nn.Module):
    """Dropout through functions and modules; one module is used twice."""

    def __init__(self):
        super(Digits, self).__init__()
        self.conv1 = nn.Conv2d(1, 10, kernel_size=5)
        self.conv2 = nn.Conv2d(10, 20, kernel_size=5)
        self.conv2_drop = nn.Dropout2d()
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(self.pool(self.conv1(x)))
        x = F.relu(self.pool(self.conv2_drop(self.conv2(x))))
        x = x.view(-1, 320)
        x = F.relu(self.fc1(x))
        x = F.dropout(x, training=self.training)
        x = self.fc2(x)
        return x


class MLP(nn.Module):
    """Layers under names made of strings, an activation chosen by one, a plain list beside them."""

    def __init__(self, input_dim, output_dim, hidden=[32, 16], activation="relu", dropout=0.0,
                 batch_norm=True, *args, **kwargs):
        super(MLP, self).__init__(*args)
        self.names = []
        sizes = [input_dim] + hidden
        for i in range(len(hidden)):
            setattr(self, "fc%d" % (i + 1), nn.Linear(sizes[i], sizes[i + 1]))
            if batch_norm:
                self.add_module(f"bn{i + 1}", nn.BatchNorm1d(sizes[i + 1]))
            self.names.append("fc{}".format(i + 1))
        self.out = nn.Linear(hidden[-1], output_dim)
        self.activation = {"relu": F.relu, "tanh": torch.tanh}[activation]
        self.act = getattr(nn, "LeakyReLU")(0.1)
        self.dropout = nn.Dropout(dropout) if dropout > 0 else None
        print("made a network of", sum(p.numel() for p in self.parameters()), "parameters")

    def forward(self, x):
        if self.dropout is not None:
            x = self.dropout(x)
        for i, name in enumerate(self.names):
            x = getattr(self, name)(x)
            if hasattr(self, f"bn{i + 1}"):
                x = getattr(self, f"bn{i + 1}")(x)
            x = self.activation(x) if i % 2 == 0 else self.act(x)
        if not self.training:
            x = F.softmax(self.out(x), -1)
        else:
            x = self.out(x)
        return x


class Autoencoder(nn.Module):
    """encode and decode as methods, layers at the end of it all, tensors of numbers by old names."""

    def __init__(self, n_features, latent=4):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(n_features, 12), nn.ReLU(inplace=True), nn.Linear(12, 2 * latent))
        self.decoder = nn.Sequential(
            nn.Linear(latent, 12), nn.Tanh(), nn.Linear(12, n_features), nn.Sigmoid())
        self.weights = torch.FloatTensor([0.5] * latent)
        self.latent = latent
        self.init_weights()

    def init_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.xavier_uniform_(m.weight)
                m.bias.data.fill_(0.01)

    def encode(self, x):
        h = self.encoder(x)
        return h[:, :self.latent], h[:, self.latent:]

    @staticmethod
    def sample(mu, logvar, scale):
        std = torch.exp(0.5 * logvar)
        return mu + std * scale

    def decode(self, z):
        return self.decoder(z)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.sample(mu, logvar, self.weights)
        return self.decode(z), mu, logvar


def init_params(m):
    classname = m.__class__.__name__
    if classname.find("Linear") != -1:
        m.weight.data.normal_(0.0, 0.02)
    elif type(m) == nn.BatchNorm1d:
        torch.nn.init.constant_(m.weight.data, 1)
        nn.init.zeros_(m.bias)


class Wide(nn.Module):
    """Two branches and a sum of many; activations that are functions of one's own."""

    def __init__(self, num_features: int = 16, num_classes: int = 5) -> None:
        super().__init__()
        self.deep = nn.Sequential(*[
            nn.Sequential(nn.Linear(num_features, num_features), nn.BatchNorm1d(num_features))
            for _ in range(2)])
        self.wide = nn.Linear(num_features, num_classes, False)
        self.head = nn.Linear(2 * num_features, num_classes)
        self.apply(init_params)
        self.to(device)

    @staticmethod
    def swish(x):
        return x * torch.sigmoid(x)

    def forward(self, x):
        outs = []
        h = x
        for block in self.deep:
            h = self.swish(block(h))
            outs.append(h)
        outs = torch.cat(outs, dim=-1)
        return sum([self.head(outs), self.wide(x)])


def train(model, loader, epochs=10, lr=1e-3):
    optimizer = optim.Adam(model.parameters(), lr=lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        for x, y in tqdm(loader):
            optimizer.zero_grad()
            loss = criterion(model(Variable(x).to(device)), y.to(device))
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    args = parser.parse_args()
    data = datasets.MNIST("../data", train=True, download=True, transform=transform)
    train(LeNet().to(device), DataLoader(data, batch_size=BATCH_SIZE), args.epochs)
