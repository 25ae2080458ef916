# Operands of several types as ONNX, which has no promotion: what is written is checked before it is there.
cat >net.py <<'END'
import torch
from torch import nn

class Arange(nn.Module):
    def forward(self, x):
        return x * torch.arange(16)

class Doubles(nn.Module):
    def forward(self, x):
        return x + torch.tensor([0.1] * 16, dtype=torch.float64)

class Whole(nn.Module):
    def forward(self, x):
        return torch.sigmoid((x > 0).long()) - 1 if False else x / 3 - torch.ones(16, dtype=torch.int32)

class Parts(nn.Module):
    def forward(self, x):
        return torch.cat([x, x.long()], 1)

class Samples(nn.Module):
    def forward(self, x):
        return x * x.size(0)

class Integers(nn.Module):
    def forward(self, x):
        return (x * 2e9).int() / 3

class Bytes(nn.Module):
    def forward(self, x):
        return (x.to(torch.uint8) + 250).float()
END
net=$SOURCE/tests/data/onnx
for class in Arange Doubles Whole Integers Bytes Parts; do
    run convert net.py:$class $class.onnx --input-shape 16
    succeeds "$class is written"
    run predict net.py:$class --input-shape 16 --input "$net/mlp_x.npy" --output net.npy
    run predict $class.onnx --input "$net/mlp_x.npy" --output file.npy
    holds "with the numbers of the network" cmp net.npy file.npy
done
run convert net.py:Samples samples.onnx --input-shape 16
refused "the number of samples as a number" 'net.py:22:[0-9]+: mul: cannot be written as ONNX: an operand that follows the number of samples'
holds "and nothing is left behind" test ! -e samples.onnx
