# Layers that files derive from PyTorch's, and writes into parameters. What they compute is compared elsewhere (interop own_layers).
awk 'BEGIN { srand(1)
    for (i = 0; i < 8; i++) printf "f%d,", i
    print "label"
    for (r = 0; r < 40; r++) {
        for (i = 0; i < 8; i++) printf "%.4f,", rand()
        print r % 3 } }' >d.csv
cat >net.py <<'EOF'
import torch
import torch.nn.functional as F
from torch import nn


class Masked(nn.Linear):
    def __init__(self, i, o):
        super().__init__(i, o, bias=False)
        self.bias = nn.Parameter(torch.zeros(o))
        self.register_buffer("mask", torch.ones(o, i).tril())

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


class Masks(nn.Linear):
    def forward(self, x):
        self.weight.data[:, 0].zero_()
        return super().forward(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = Masked(8, 6), Masks(6, 3)

    def forward(self, x):
        return self.b(self.a(x))


class Halves(Net):
    def forward(self, x):
        self.b.weight.data.mul_(0.5)
        return super().forward(x)


class Where(Net):
    def forward(self, x):
        x = super().forward(x)
        return x.where(x > 0, x * 0.1)


class Permutes(Net):
    def forward(self, x):
        return super().forward(x[:, torch.randperm(8)])


class Unwritten(Net):
    def forward(self, x):
        return super().forward(x) + torch.empty(3)
EOF
best=mase_output/p/software/training_ckpts/best.ckpt
run train net.py:Net csv:d.csv --max-steps 2 --project p
succeeds "a network of derived layers is trained"
run test net.py:Net csv:d.csv --load $best --project p
succeeds "and tested with what was saved"
run show net.py:Net csv:d.csv
out_has "its own buffer is in the graph" "a_mask|a\.mask"
out_has "and the mask that forward writes" "mul"
run test net.py:Where csv:d.csv --load $best --project p
succeeds "a method whose condition comes second"
run test net.py:Halves csv:d.csv --load $best --project p
refused "no other write into a parameter" "^net\.py:33:9: forward changes 'b\.weight' in place"
run test net.py:Unwritten csv:d.csv --load $best --project p
refused "numbers that nothing has written" "^net\.py:50:16: forward reads numbers of torch\.empty"
run test net.py:Permutes csv:d.csv --load $best --project p
refused "an index that is drawn, which no plan has" "^net\.py:45:32: .*indices and masks that are constant"
cat >alone.py <<'EOF'
from torch import nn


class Line(nn.Linear):
    def __init__(self):
        super().__init__(8, 3)

    def forward(self, x):
        return super().forward(x) * 2


class Norm(nn.LayerNorm):
    def __init__(self):
        super().__init__(8)

    def forward(self, x):
        return super().forward(x) * 2
EOF
run train alone.py:Line csv:d.csv --max-steps 2 --project p
succeeds "a network that is one layer"
run show alone.py:Norm csv:d.csv
refused "of the kinds that are known" "^alone\.py:17:16: Norm: a layer that is the network itself"
