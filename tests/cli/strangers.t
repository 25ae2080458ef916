# Files of others as they lie: scripts, packages, arguments. What the network does not need is no obstacle.
cat >script.py <<'END'
import argparse
import os

import missing_package as mp
import torch
import torch.nn as nn
from missing_package.sub import Thing, helper
from torch.optim.lr_scheduler import _LRScheduler
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms

try:
    import faster_attention
except ImportError:
    faster_attention = None

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--width", type=int, default=24)
args = parser.parse_args()
torch.backends.cudnn.benchmark = True
torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = DataLoader(datasets.MNIST("data", transform=transforms.ToTensor()), batch_size=4)


DEPTH = 2


class Rows(Dataset[int]):
    pass


class Warm(_LRScheduler):
    pass


@torch.jit.script
def shifted(x):
    return x + 1


class Net(nn.Module):
    width: torch.jit.Final[int]

    def __init__(self, depth=1, act="relu"):
        super().__init__()
        self.fc1 = nn.Linear(16, args.width)
        self.mid = nn.ModuleList(nn.Linear(args.width, args.width) for _ in range(depth))
        self.act = {"relu": nn.ReLU, "gelu": nn.GELU}[act]()
        self.fc2 = nn.Linear(args.width, 5)
        self.apply(self.start)
        self.fc2.register_forward_hook(lambda module, given, out: out * 2)

    @torch.no_grad()
    def start(self, m):
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight)
            m.bias.data.fill_(0.1)

    @torch.jit.ignore
    def unused(self):
        return mp.anything(self)

    def forward(self, x):
        if torch.jit.is_scripting() or faster_attention is not None:
            return x
        x = self.act(self.fc1(shifted(x)))
        for layer in self.mid:
            x = self.act(layer(x))
        return self.fc2(x)


def deep(depth=3, **more):
    return Net(depth, **more)


model = Net().to(device)
model = torch.compile(model)
optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        loss = nn.CrossEntropyLoss()(model(x), y)
        loss.backward()
torch.save(model.state_dict(), "model.pt")
print("trained for", epoch)
END
run show script.py:Net jsc
succeeds "a training script"
err_has "what fails in it is passed over, in one line" '^WARNING +script\.py:8[0-9] was passed over: '
out_has "its arguments have their defaults" '^fc1 +Linear\(in_features=16, out_features=24, bias=True\)'
out_has "its hook is a part of it" '^mul +call_function +mul +fc2'
run show 'script.py:Net(depth=2, act="gelu")' jsc
succeeds "arguments"
out_has "that count" '^mid\.1 +Linear'
out_has "and are texts, too" '^act +GELU'
run show 'script.py:deep(act="gelu")' jsc
succeeds "a function that makes a network"
out_has "as deep as it says" '^mid\.2 +Linear'
printf 'dataset = "jsc"\nmodel = "script.py:Net(depth=2)"\n[passes.report_graph]\n' >c.toml
run transform --config c.toml --project p
succeeds "arguments in a configuration"
run train 'script.py:Net(2)' jsc --max-steps 2 --batch-size 8 --project q
succeeds "and in training"
run show 'script.py:Net(depth=DEPTH)' jsc
succeeds "names of the file"
run show 'script.py:Net(depth=[1 for _ in range(3)])' jsc
refused "but no code" "^script\.py: 'Net\(depth=.*', column 11: '.*' is no plain value; numbers, texts"
run show 'script.py:Net(depth=' jsc
refused "nor half of it" "^script\.py: 'Net\(depth=' is neither a name nor NAME\(ARGUMENTS\)"
run show 'script.py:Net(size=3)' jsc
refused "nor what it does not take" "TypeError: .*unexpected keyword argument 'size'"
run show script.py:model jsc
succeeds "a network that the file has made"

cat >lost.py <<'END'
import torch.nn as nn

WIDTH = 8
WIDTH = int(open("settings.txt").read())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, WIDTH)

    def forward(self, x):
        return self.fc(x)
END
run show lost.py:Net jsc
refused "what a line would have set is not guessed" "^lost\.py:4:[0-9]+: 'WIDTH' is needed, and this line, which decides it, fails: FileNotFoundError"

# decides WIDTH LINES: a network of that width, which the lines decide.
decides()
{
    cat >decided.py <<END
import argparse
import logging
import random
import missing
import torch
import torch.nn as nn
args = argparse.Namespace(width=4, device="cuda")
logger = logging.getLogger()
cfg, hidden, device = {}, [4], torch.device("cpu")
class Cfg: width = 4
WIDTH = 4
$2
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        logger.debug("made")
        self.fc = nn.Linear(16, $1)
    def forward(self, x):
        return self.fc(x.to(device))
END
    run show decided.py:Net jsc
}

# What a failing line would have changed is as lost as what it would have set.
while IFS='|' read -r width lines; do
    decides "$width" "$(printf %b "$lines")"
    refused "not guessed: $lines" "^decided\.py:1[2-9]:[0-9]+: '.*' is needed"
done <<'END'
cfg.get("width", 4)|cfg.update(missing.load())
cfg.get("width", 4)|also = cfg\nalso["width"] = int(open("none").read())
cfg.get("width", 4)|also = {"a": cfg}\ncfg["width"] = 2 * missing.width
hidden[-1]|hidden.append(undefined())
hidden[0]|random.shuffle(hidden, undefined())
args.width|args.width = missing.width // 2
args.width|setattr(args, "width", missing.width // 2)
args.width|def main(given):\n    given.width = 8 // missing.x\nmain(args)
args.width|def inner(a):\n    a.width = 1 / 0\ndef main(given):\n    inner(given)\nmain(args)
Cfg.width|Cfg.width = undefined()
WIDTH|def setup():\n    global WIDTH\n    WIDTH = undefined()\nsetup()
WIDTH|WIDTH = int(\n    undefined())
WIDTH|for WIDTH in missing.widths: pass
WIDTH|try:\n    WIDTH = missing.load()["w"]\nexcept Exception:\n    WIDTH = 5
WIDTH|if missing.mode == "wide": WIDTH = 8
WIDTH|WIDTH = {"wide": 8}.get(missing.mode, 4)
Cfg.width|class Run:\n    def go(self):\n        Cfg.width = undefined()\nRun().go()
END

# What it leaves alone is no obstacle.
while IFS='|' read -r width lines; do
    decides "$width" "$(printf %b "$lines")"
    succeeds "no obstacle: $lines"
done <<'END'
args.width|def main(given):\n    given.device = undefined()\nmain(args)
args.width|torch.save(args, missing.path / "net.pt")
args.width|print(args, undefined())
hidden[0]|for batch in missing.loader: print(batch.to(device), hidden)
Cfg.width|logger.info(missing.version + 1)
WIDTH|net = nn.Linear(2, 2)\nnet.load_state_dict(torch.load("none.pt"))
END

cat >sizes.py <<'END'
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange, reduce, repeat
from einops.layers.torch import Rearrange


@dataclass
class Both:
    logits: torch.Tensor
    extra: object = None


class Counted(nn.Module):
    """Finds out how long its rows are by a call while it is built."""

    def __init__(self, num_classes=10):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, stride=2, ceil_mode=True),
                                      nn.ConvTranspose2d(4, 2, 2, stride=2), nn.AvgPool2d(2))
        with torch.no_grad():
            n = F.max_pool2d(self.features(torch.zeros(1, 1, 28, 28)), 2).flatten(1).shape[1]
        self.fc = nn.Linear(n, num_classes)

    def forward(self, x):
        return Both(self.fc(F.max_pool2d(self.features(x), 2).flatten(1)))


class Patches(nn.Module):
    def __init__(self, patch=7, dim=12, num_classes=10):
        super().__init__()
        self.cut = nn.Sequential(Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=patch, q=patch),
                                 nn.Linear(patch * patch, dim))
        self.token = nn.Parameter(torch.randn(1, 1, dim))
        self.fc = nn.Linear(dim, num_classes)

    def forward(self, x):
        x = self.cut(x)
        b, n, d = x.shape
        x = torch.cat([repeat(self.token, "1 1 d -> b 1 d", b=b), x], dim=1)
        x = rearrange(x, "b n (k h) -> b h n k", k=3)
        return self.fc(reduce(x, "b h n k -> b (k h)", "mean"))


class Unknown(nn.Module):
    def forward(self, x):
        return x if len(x) > 3 else x * 2


class Windows(nn.Module):
    """Asks for plain numbers where the batch decides: as many windows as samples have."""

    def __init__(self, num_classes=10):
        super().__init__()
        self.fc = nn.Linear(28 * 28, num_classes)

    def forward(self, x):
        n, h, w = len(x), x.shape[2], x.shape[3]
        x = x.view(n * 4, h // 2, w // 2)
        samples = int(x.shape[0] / (h * w / 14 / 14))
        x = x.reshape(int(samples), 4, -1)
        side = int(math.sqrt(x.shape[2]))
        ramp = torch.linspace(0, 1, side, device=x.device, dtype=x.dtype)
        x = x.reshape(samples, 4, side, side) * ramp
        if torch.is_tensor(x) and torch.is_floating_point(x):
            x = x + 1
        return self.fc(x.flatten(1))
END
sed -i '1i import math' sizes.py
run show sizes.py:Counted mnist
succeeds "layers that are called while a model is built"
out_has "give the right shape" '^fc +Linear\(in_features=98, out_features=10'
run show sizes.py:Patches mnist
succeeds "einops"
out_has "cut into patches" '^permute +call_method +permute +reshape +\[1, 4, 4, 7, 7, 1\]'
out_has "a token for each sample" '^cat +call_function +cat .* \[1, 17, 12\]'
out_has "reduced" '^fc +call_module +Linear .* \[1, 10\]'
run show sizes.py:Unknown mnist
refused "how many samples there are decides nothing" '^sizes\.py:[0-9]+:[0-9]+: control flow on data: whether this holds is not known'
cat >asserts.py <<'END'
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(16, 5)

    def forward(self, x):
        assert x.shape[1] == 16
        torch._assert(x.shape[1] == 16, f"{x.shape[1]} are not 16")
        return self.fc(x)


class Ranks(Net):
    def forward(self, x):
        torch._assert(x.ndim == 2, f"{x.ndim} are not 2")
        return self.fc(x)
END
run convert asserts.py:Net written.py --dataset jsc
holds "a message names what is traced, always the same" grep -q "torch._assert(eq_1, 'Proxy(getitem_2) are not 16')" written.py
run convert asserts.py:Ranks ranks.py --dataset jsc
holds "as torch.fx does, which avoids Python's own names" grep -q "torch._assert(eq, 'Proxy(getattr_2) are not 2')" ranks.py
holds "and an assert without one has one for PyTorch" grep -q "torch._assert(eq, '')" written.py
run convert asserts.py:Net one.mg --dataset jsc
run convert written.py two.mg --dataset jsc
holds "which is none when it is read" cmp one.mg two.mg
run show sizes.py:Windows mnist
succeeds "plain numbers of a batch"
out_has "len() is a size" '^size +call_method +size +x '
out_has "int() divides it" '^floordiv(_[0-9])? +call_function +floordiv '
out_has "what the shape of a sample decides is a number" '^reshape_1 +call_method +reshape .* \[1, 4, 14, 14\]'
out_has "and a traced value is a tensor" '^fc +call_module +Linear +flatten +\[1, 10\]'
out_has "of floating point" '^add +call_function +add +mul_?[0-9]* '
cat >asks.py <<'END'
import torch
import torch.nn as nn


class Net(nn.Module):
    def forward(self, x):
        return x if x.dim() == 2 else x.flatten(1)


class Even(nn.Module):
    """Every operation has a shape, whatever comes before."""

    def forward(self, x):
        x = torch.cat([x, x.flip(2)], 1).roll(1, 3).amax(1, keepdim=True)[:, :, 1:]
        if x.size(2) % 2:
            x = x[:, :, :-1]
        b, c, h, w = x.data.size()
        x = x.view(b, c, h, int(w / 4), 4)
        parts = [p.sum(-1) for p in x.chunk(2, 2)]
        assert parts[0].size(0) == b and len(parts) == 2
        return torch.stack(parts, 1).flatten(1)[:, :h]


class Batch(nn.Module):
    def forward(self, x):
        return x if x.size(0) > 1 else x * 2


class Squeezed(nn.Module):
    """With one sample it has a dimension less."""

    def forward(self, x):
        x = x[:, :, 0, 0].squeeze()
        return x if x.dim() == 1 else x * 2


class Devices(nn.Module):
    """There is one."""

    def __init__(self):
        super().__init__()
        self.mask = torch.ones(28)
        self.weight = nn.Parameter(torch.ones(28))

    def forward(self, x):
        if self.mask.device != x.device or x.device != self.mask.device or str(self.weight.device) != str(self.mask.device):
            x = x[:, :, 0]
        if x.device == torch.device("cpu") and x.device.index is None and self.weight.device.type != "cuda":
            x = x[:, :, 1:]
        return x * self.mask * self.weight


class Reads(nn.Module):
    def __init__(self):
        super().__init__()
        try:
            input()
            self.n = 1
        except EOFError:
            self.n = 2

    def forward(self, x):
        return x[:, 0, 0, :self.n]
END
run show asks.py:Net mnist
succeeds "an if on the number of dimensions"
err_has "which is told" '^INFO +The graph holds for samples of this shape, which decided at asks\.py:7$'
run show asks.py:Even mnist
succeeds "an if on what many operations make of a shape"
out_has "which is computed right" '^getitem_[0-9]+ .* \[1, 26\]'
run show asks.py:Batch mnist
refused "an if on the number of samples" '^asks\.py:26:[0-9]+: control flow on data'
run show asks.py:Squeezed mnist
refused "nor on what one sample alone changes" '^asks\.py:34:[0-9]+: control flow on data'
run show asks.py:Devices mnist
succeeds "an if on devices"
out_has "of which there is one" '^mul_1 .* \[1, 1, 27, 28\]'
run show asks.py:Reads mnist
succeeds "a file that reads finds nothing"
out_has "and goes on" '\[1, 2\]'

mkdir -p src/parts/deep
touch src/parts/__init__.py src/parts/deep/__init__.py
printf 'import nothing_here\nSIZE = 12\n' >src/parts/sizes.py
printf 'from ..sizes import SIZE\nfrom parts.deep.block import Block\nimport torch.nn as nn\n\n\nclass Net(nn.Sequential):\n    def __init__(self, num_classes=5):\n        super().__init__(nn.Linear(16, SIZE), Block(), nn.Linear(SIZE, num_classes))\n' >src/parts/deep/net.py
printf 'import torch.nn as nn\n\n\nclass Block(nn.Module):\n    def forward(self, x):\n        return x.relu()\n' >src/parts/deep/block.py
run show 'src/parts/deep/net.py:Net' jsc
succeeds "a file deep in a package"
out_has "whose input is called as in PyTorch" '^input_1 +placeholder'
run show 'parts.deep.net:Net(num_classes=7)' jsc
refused "a module that python3 does not find" "^parts\.deep\.net: no module 'parts': python3 looks in "
cd src || exit 2
run show 'parts.deep.net:Net(num_classes=7)' jsc
succeeds "a module by its name"
out_has "with arguments" '^ +2 +Linear\(in_features=12, out_features=7'

# What newer files say.
cat >new.py <<'END'
import importlib.util
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.attention.flex_attention import BlockMask

THERE = importlib.util.find_spec("nothing_here") is not None or torch.npu.is_available()


class Cache:
    """No tensor."""


class Net(nn.Module):
    def __init__(self, width=8, limit: torch.FloatTensor | None = None):
        super().__init__()
        self.mask = nn.Buffer(torch.ones(16), persistent=False)
        self.scale = nn.Buffer(torch.ones(16))
        self.q, self.k = nn.Linear(16, 4 * width), nn.Linear(16, 2 * width)
        self.scale._mark = THERE or hasattr(self.scale, "num_embeddings")

    def forward(self, x):
        assert not getattr(self.scale, "_mark", True) and not isinstance(x, BlockMask)
        x = x * self.mask * self.scale
        q, k = self.q(x).unflatten(1, (4, 1, -1)), self.k(x).unflatten(1, (2, 1, -1))
        y = F.scaled_dot_product_attention(q, k, k, enable_gqa=True).flatten(1)
        return {"y": y, "cache": Cache()}
END
if python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
    run show 'new.py:Net(width=4)' jsc
    succeeds "types of today"
    out_has "fewer heads of keys than of queries" '^repeat_interleave +call_method .* \[1, 4, 1, 4\]'
    out_has "a buffer" '^scale +buffer '
    err_has "what is no tensor is left out" "'cache' of what forward gives is a Cache, which is left out"
else
    skip "types of today" "an old Python"
fi
run show 'parts.deep.net:Net(parts.sizes.SIZE)' jsc
out_has "a package by its name among arguments" '^ +2 +Linear\(in_features=12, out_features=12'

cat >packed.py <<'END'
import torch
import torch.nn as nn
from einops import pack, unpack


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cls, self.out = nn.Parameter(torch.ones(1, 4)), nn.Linear(4, 3)

    def forward(self, x):
        x = x.view(-1, 2, 2, 4)
        y, shapes = pack([self.cls.expand(x.size(0), 4), x], "b * c")
        first, rest = unpack(self.out(y), shapes, "b * c")
        return first + rest.sum((1, 2))


class Loose(Net):
    def forward(self, x):
        return pack([x], "b c")[0]
END
run show packed.py:Net jsc
succeeds "einops packs and unpacks"
out_has "one token and four" '^cat +call_function .* \[1, 5, 4\]'
out_has "which come apart again" '^reshape_[0-9] +call_method .* \[1, 2, 2, 3\]'
run show packed.py:Loose jsc
refused "without a star" "einops: 'b c' needs one \* among names that differ"

# Names of torch that files reach by other ways, folders that are no packages, whatever numbers a model starts with.
mkdir -p study/models study/layers study/src/common
cat >study/models/blocks.py <<'END'
import torch
import torch.nn.functional as F
import torch.nn.utils.weight_norm as weight_norm
from torch.nn.modules.module import Module
from torch.nn.modules.utils import _pair
from torch.nn.parameter import Parameter


class Block(Module):
    def __init__(self, width):
        super().__init__()
        self.fc = weight_norm(torch.nn.Linear(16, width))
        self.scale = Parameter(torch.empty(size=(width, 1)))
        torch.nn.init.xavier_uniform_(self.scale)
        self.same = torch.nn.Identity(width, inplace=True)
        self.pair = _pair(3)

    def forward(self, x):
        return self.same(F.relu_(self.fc(x)) @ torch.diag(self.scale[:, 0]))
END
cat >study/models/net.py <<'END'
import torch
from common.sizes import WIDTH
from einops import einsum
from layers.head import Head

from .blocks import Block


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        stages = len(torch.unique(torch.tensor([1.0, 2.0, 1.0])))
        self.blocks = torch.nn.ModuleList([Block(WIDTH) for _ in range(stages)])
        angles = torch.arange(4)[:, None] * torch.ones(4)
        self.table = torch.nn.Embedding.from_pretrained(torch.sin(angles))
        self.head = Head()
        self.plain = [torch.nn.Linear(4, 4)]
        self.held = torch.nn.ParameterList(self.plain[0].parameters())
        start = torch.normal(torch.zeros(9), std=0.1)
        while torch.sum(torch.abs(start) > 0.2) > 0:
            start[torch.abs(start) > 0.2] = torch.normal(start[torch.abs(start) > 0.2] * 0, std=0.1)

    def forward(self, x):
        a, b = (block(x) for block in self.blocks)
        mixed = einsum(a, b, "row left, row right -> row left right")
        noise = torch.FloatTensor(a.size()).normal_()
        return self.head(torch.diagonal(mixed, 0, 1, 2) @ self.plain[0](self.table.weight) + noise * 0)
END
printf 'import torch\n\n\nclass Head(torch.nn.Linear):\n    def __init__(self):\n        super().__init__(4, 5)\n' >study/layers/head.py
printf 'WIDTH = 4\n' >study/src/common/sizes.py
run show study/models/net.py:Net jsc
succeeds "a folder of a study"
out_has "a table that is given is frozen" '^table\.weight +frozen +float32 +\[4, 4\]'
out_has "a layer in a list, whose parameters the network has" '^linear_[0-9] +call_function +linear .* \[4, 4\]'
out_has "in place" '^relu_ +call_function +relu_ .* \[1, 4\]'
out_has "a matrix of its diagonal" '^diag +call_function +diag .* \[4, 4\]'
out_has "names of einops are words" '^einsum +call_function +einsum .* \[1, 4, 4\]'
out_has "as many stages as there are numbers" '^blocks\.1\.fc\.bias'

# A package may have a file of its own name.
mkdir -p within/same
printf 'from same.parts import WIDTH\n' >within/same/__init__.py
printf 'WIDTH = 6\n' >within/same/parts.py
cat >within/same/same.py <<'END'
import torch
from same.parts import WIDTH
from torch.autograd.function import InplaceFunction


class Sign(InplaceFunction):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    def backward(ctx, g):
        return g


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(16, WIDTH)

    def forward(self, x):
        return Sign.apply(self.fc(x))
END
run show within/same/same.py:Net jsc
succeeds "a file named as its package"
out_has "of the width that the package says" '^fc +Linear\(in_features=16, out_features=6'
out_has "with a function of its own" '^sign +call_method +sign '

# What vision networks take of timm is here where timm is not.
cat >paths.py <<'END'
import torch
from torch import nn
from timm.models.layers import DropPath, to_2tuple, trunc_normal_


class Paths(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, to_2tuple(5)[0])
        self.back = nn.Linear(5, 5)
        self.drop_path = DropPath(0.5)
        trunc_normal_(self.fc.weight, std=0.02)

    def forward(self, x):
        x = self.fc(x)
        return x + self.drop_path(self.back(x))
END
run show paths.py:Paths --input-shape 16
succeeds "the parts of timm are known"
out_has "which drops nothing here" 'add +call_function +add +fc, back'
out_has "and draws in training" 'bernoulli_ +call_method'
run train paths.py:Paths jsc-sim --max-steps 20 --max-epochs 1 --project paths
succeeds "where it is trained"

# The halves of attention that people take from torch.
cat >packed.py <<'END'
import torch
from torch import nn
import torch.nn.functional as F


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(16, 48)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        q, k, v = F._in_projection_packed(x, x, x, self.project.weight, self.project.bias)
        return self.head(F.softmax(q * k, -1) * v)
END
run show packed.py:Packed --input-shape 16
succeeds "the packed projection is written out"
out_has "as one product" 'linear +call_function'

# int() goes towards zero, where // goes downwards.
cat >towards.py <<'END'
from torch import nn


class Towards(nn.Module):
    def forward(self, x):
        return x * int((x.size(0) - 10) / 4)
END
run show towards.py:Towards --input-shape 4
refused "a quotient that may be negative" "towards.py:6:20: a traced value is no plain number"

# NumPy's functions of lengths, with NumPy or without.
cat >padded.py <<'END'
import numpy as np
import torch
from torch import nn


class Padded(nn.Module):
    def forward(self, x):
        wide = int(np.ceil(x.shape[2] / 4)) * 4
        return x * torch.ones((1, 1, wide))[:, :, : x.shape[2]]
END
run show padded.py:Padded --input-shape 3,10
succeeds "they are known for the shape that is given"
