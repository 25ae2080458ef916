# Operations in forward: what is counted of them, and what is refused of them.
# body LINES: a network whose forward is these, on 4 features.
body()
{
    {
        printf 'import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n'
        printf 'from torch.nn.utils import spectral_norm\n\n\nclass Net(nn.Module):\n    def __init__(self):\n'
        printf '        super().__init__()\n        self.fc = spectral_norm(nn.Linear(4, 4))\n        self.w = nn.Parameter(torch.rand(2, 3, 4))\n\n'
        printf '    def forward(self, x):\n'
        printf '        %s\n' "$@"
    } >net.py
}

body "return torch.einsum('bi,hji->bhj', x, self.w).flatten(1)"
run show net.py --input-shape 4
succeeds "einsum"
out_has "is a node" '^einsum +call_function +einsum +'
printf '[passes.count_flops]\n' >c.toml
run transform net.py --input-shape 4 --config c.toml --project q
out_has "6 sums of 4 products" '^einsum +einsum +24 '
body "return torch.einsum('bi,ji->bhj', x, self.w[0])"
run show net.py --input-shape 4
err_has "a letter from nowhere" "einsum: 'bi,ji->bhj': 'h' of the result is no operand's"
body "return torch.einsum('bi,ji,j->b', x, self.w[0])"
run show net.py --input-shape 4
err_has "terms without operands" "there are more terms than operands"
body "return torch.einsum('bi,j->b', x, self.w[0])"
run show net.py --input-shape 4
err_has "a term that is too short" "operand 2 is \[3, 4\], which has 2 dimensions"
cat >made.py <<'END'
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        widths = torch.diff(torch.divide(torch.tensor([2.0, 10.0, 22.0]), 2)).int().tolist()
        self.fc = nn.Linear(widths[0], widths[1])

    def forward(self, x):
        return self.fc(x)
END
run show made.py --input-shape 4
out_has "what a constructor computes with tensors" 'Linear\(in_features=4, out_features=6'
body "return self.fc(x)"
run show net.py --input-shape 4
succeeds "spectral_norm in evaluation"
out_has "its vectors are its own" 'weight_u'

# Buffers that a network changes in training are others for the next batch, whoever computes it.
cat >buffers.py <<'END'
import torch
import torch.nn as nn
from torch.nn.utils import spectral_norm


class Spectral(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.out = spectral_norm(nn.Linear(16, 8)), nn.Linear(8, 5)
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("mean", torch.zeros(8))

    def act(self, x):
        self.steps += 1

    def forward(self, x):
        x = self.fc(x)
        if self.training:
            self.act(x)
        return self.out(x)


class Mean(Spectral):
    def act(self, x):
        self.mean.mul_(0.9).add_(0.1 * x.mean(0))


class Part(Spectral):
    def act(self, x):
        self.mean[0] = 1


class Number(Spectral):
    def act(self, x):
        self.steps += 1
        return x * float(self.steps)


class Early(Spectral):
    def act(self, x):
        if self.steps < 3:
            self.steps += 1
END
for threads in 1 2; do
    run train buffers.py:Spectral jsc --max-steps 3 --batch-size 1024 --threads $threads --project b$threads
    succeeds "trained by $threads threads, in two tiles"
    run convert mase_output/b$threads/software/training_ckpts/last.ckpt b$threads.safetensors
done
holds "to the same bytes" cmp b1.safetensors b2.safetensors
run show b1.safetensors
out_has "with the buffer" '^model\.steps '
run train buffers.py:Mean jsc --max-steps 1 --project no
refused "what samples decide is no such buffer" "'mean' would take what the samples of a batch decide, which is not followed in training"
run train buffers.py:Part jsc --max-steps 1 --project no
refused "nor is a part" "forward changes 'mean' in place"
run train buffers.py:Number jsc --max-steps 1 --project no
refused "a number of what has changed" "a traced value is no plain number while tracing"
run train buffers.py:Early jsc --max-steps 1 --project no
refused "or that has decided" "forward changes .steps. in place, which the next call would find changed"

cat >drawn.py <<'END'
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.deviation = nn.Linear(16, 4), nn.Linear(16, 4)
        self.out = nn.Linear(4, 5)

    def forward(self, x):
        mean, deviation = self.mean(x), torch.exp(self.deviation(x) / 2)
        if self.training:
            mean = mean * torch.empty(x.size(0), 1).bernoulli_(0.9)
        return self.out(mean + torch.randn_like(deviation) * deviation)
END
run show drawn.py jsc
err_has "a network that draws is told of" '^INFO +randn_like draws numbers in evaluation too: results are random'
run train drawn.py jsc --max-steps 3 --batch-size 64 --threads 1 --project r1
succeeds "it can be trained"
run train drawn.py jsc --max-steps 3 --batch-size 64 --threads 2 --project r2
python3 - <<'END'
import struct
rows = struct.pack("<96000f", *((i * 37 % 101) / 50 - 1 for i in range(96000)))
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (6000, 16), }".ljust(117) + "\n"
open("x.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + rows)
END
last=mase_output/r1/software/training_ckpts/last.ckpt
# predicts FILE WEIGHTS [OPTIONS]: its outputs
predicts()
{
    out=$1 weights=$2
    shift 2
    run predict drawn.py jsc --load "$weights" --input x.npy --output "$out" --project s "$@"
}
predicts a.npy $last --threads 1
succeeds "its results are random"
err_has "which is said" 'decided by --seed'
predicts b.npy $last --threads 2
predicts c.npy mase_output/r2/software/training_ckpts/last.ckpt
predicts d.npy $last --seed 7
holds "the same numbers with more threads" cmp a.npy b.npy
holds "also in training" cmp a.npy c.npy
holds "and others with another seed" test "$(cksum <a.npy)" != "$(cksum <d.npy)"

cat >ends.py <<'END'
from drawn import Net


class Two(Net):
    def forward(self, left, right):
        return self.out(self.mean(left) + self.mean(right))


class Pair(Net):
    def forward(self, x):
        return self.mean(x), self.deviation(x)
END
run predict ends.py:Two jsc --load $last --input x.npy --output y.npy
refused "several inputs need names" 'x\.npy: the network has several inputs: give a \.npz file that has an array for each'
run predict ends.py:Pair jsc --load $last --input x.npy --output y.npy
refused "several results, too" 'y\.npy: the network has 2 results: name a file that ends with \.npz'
cat >>ends.py <<'END'


class Mean(Net):
    def forward(self, x):
        return self.mean(x)
END
cat >narrow.toml <<'END'
[passes.quantize]
by = "type"
default.config = { name = "integer", data_in_width = 6, data_in_frac_width = 3, weight_width = 6, weight_frac_width = 3, bias_width = 6, bias_frac_width = 3 }
END
run predict ends.py:Mean jsc --load $last --input x.npy --output mean.npy --config narrow.toml --project s
run predict ends.py:Pair jsc --load $last --input x.npy --output pair.npz --config narrow.toml --project s
succeeds "several results by number formats"
err_has "which is said" 'Quantised, 2 nodes'
holds "are those of one" python3 -c 'import zipfile
assert zipfile.ZipFile("pair.npz").read("output_0.npy") == open("mean.npy", "rb").read()'
run predict ends.py:Pair jsc --load $last --input x.npy --output pair.npz --config narrow.toml --engine int
refused "integers have one result" '^ch: --engine int is for networks of one input and one result'

# Under no_grad a value is written over, and its gradient passes all the same: that is not followed.
cat >over.py <<'END'
import torch
from torch import nn
class Filled(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(16, 8)
        self.b = nn.Linear(8, 5)
    def forward(self, x):
        y = self.a(x)
        with torch.no_grad():
            y.fill_(0.5)
        return self.b(y)
class Initialised(Filled):
    def forward(self, x):
        y = self.a(x)
        nn.init.constant_(y, 0.5)
        return self.b(y)
END
for class in Filled Initialised; do
    run train over.py:$class jsc --max-steps 1 --project no
    refused "$class: trained" '^over\.py:1[16]:[0-9]+: .*writes under no_grad over a value that has a gradient'
    run convert over.py:$class $class.mg --dataset jsc
    succeeds "$class: evaluated"
done
