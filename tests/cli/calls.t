# What a call of forward leaves behind in Python, and numbers that are others at each call: every later call of PyTorch's computes
# something else, so a graph of the first would be wrong. What no call reads, and what every call makes alike, is no obstacle.
awk 'BEGIN { srand(1)
    for (i = 0; i < 8; i++) printf "f%d,", i
    print "label"
    for (r = 0; r < 20; r++) {
        for (i = 0; i < 8; i++) printf "%.4f,", rand()
        print r % 3 } }' >d.csv

# network NAME INIT FORWARD: FORWARD has k, a number, and y, what the layer gives.
network()
{
    cat >"$1.py" <<EOF
import collections
import datetime
import functools
import itertools
import logging
import os
import random
import time

import torch
from torch import nn

CALLS, SEEN, KEPT = 0, [], {}
ENDLESS = itertools.count(1)
DICE = random.Random(3)


def counter():
    n = 0

    def count():
        nonlocal n
        n += 1
        return n
    return count


class Net(nn.Module):
    total = 0

    def __init__(self):
        super().__init__()
        self.fc, self.k, self.table, self.outs, self.count = nn.Linear(8, 3), 1, None, [], counter()
        self.limit = random.Random(1).randint(2, 5)

    def tick(self, marks=[]):
        marks.append(1)
        return len(marks)

    @functools.lru_cache(None)
    def ones(self, n):
        return torch.ones(n).tril() if n < 0 else torch.arange(float(n))

    def forward(self, x):
        y, k = self.fc(x), 1
        $2
        return y * k
EOF
}

while IFS='|' read -r name body where what; do
    network net "$body"
    run show net.py:Net csv:d.csv
    refused "not frozen: $name" "^net\.py:$where:[0-9]+: .*$what"
done <<'EOF'
a counter|self.k += 1; k = self.k|47|again, because of what a call leaves in 'k'
a counter that training alone moves|self.k += self.training; k = self.k|47|again, because of what a call leaves in 'k'
a counter that decides later|self.k += 1; k = 2 if self.k > 100 else 1|46|forward reads 'k', which its calls change
a global|global CALLS; CALLS += 1; k = CALLS|47|leaves in 'CALLS'
an attribute of the class|Net.total += 1; k = Net.total|47|leaves in 'total'
a list|SEEN.append(1); k = len(SEEN)|47|leaves in 'SEEN'
a list of values|self.outs.append(y); y = torch.stack(self.outs).sum(0)|46|a value of an earlier call of forward is used
a dict|KEPT["n"] = KEPT.get("n", 0) + 1; k = KEPT["n"]|47|leaves in 'n'
a closure|k = self.count()|47|leaves in 'n'
a default|k = self.tick()|47|leaves in 'marks'
an iterator|k = next(ENDLESS)|47|leaves in 'ENDLESS'
a state of its own|self.table = y if self.table is None else y + self.table; y = self.table|46|a value of an earlier call of forward
a flag|k = 0 if self.table is None else 1; self.table = True|47|leaves in 'table'
the environment|k = int(os.environ.get("N", 1)); os.environ["N"] = str(k + 1)|47|leaves in 'os.environ'
random|k = random.random()|46|takes a number from random.random, which is another for each call
random that is caught|k = (lambda: random.choice([1, 2]))()|46|takes a number from random.choice
a generator of the file's|k = DICE.gauss(0, 1)|46|takes a number from random.Random.gauss
a clock|k = time.time()|46|takes a number from time.time
a date|k = datetime.datetime.now().second|46|takes a number from datetime.datetime.now
the system's|k = os.urandom(1)[0]|46|takes a number from os.urandom
hash of a text|k = hash("a") % 7|46|computes with the hash of a str, which is another in each process
hash of what holds one|y = y * hash(("a", 1))|46|computes with the hash of a tuple
an address|k = -id(self.fc)|46|computes with id\(\), which is another in each process
an address as a scale|y = torch.tensor([id(y)]) * y|46|computes with id\(\)
hash by way of map|k = sum(map(hash, ("a", "b")))|46|computes with the hash of a str
EOF

while IFS='|' read -r name body; do
    network net "$body"
    run train net.py:Net csv:d.csv --max-steps 1 --project p
    succeeds "no obstacle: $name"
done <<'EOF'
a counter that nothing reads|self.k += 1; self.k = self.k + 1; KEPT["n"] = self.k
what is stored|self.last = y; SEEN.append(y.mean()); KEPT["y"] = y.detach()
a table that is made once|self.table = torch.arange(3.0) if self.table is None else self.table; y = y + self.table
one of a length|self.table = torch.arange(y.shape[1]) if self.table is None else self.table; y = y + self.table
a cached function|y = y + self.ones(3)
lists that begin anew|self.outs.clear(); self.outs.append(y); y = torch.cat(self.outs)
a generator that begins anew|k = random.Random(2).random() * self.limit
keys and comparisons|KEPT[id(self.fc)] = hash("a") == hash("a"); k = 2 if id(self.fc) in KEPT else 1
hash of numbers|k = hash((2, 0.5)) % 5
a log|logging.getLogger("net").debug("%s", 1)
EOF

network net 'if self.training: self.k += 1; y = y * (self.k / 10)'
run train net.py:Net csv:d.csv --max-steps 1 --project p
refused "training that counts" "in training, net\.py:46: forward computes something else when it is called again"
run show net.py:Net csv:d.csv
succeeds "where evaluation does not"
