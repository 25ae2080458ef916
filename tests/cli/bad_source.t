# A .py file that is wrong, hangs, or wants more than a model needs: its line is shown, status 2.
cat >net.py <<EOF
import ctypes, os, socket, time
import torch
import torch.nn as nn
from torch.nn import functional as F


class Misfit(nn.Module):
    def __init__(self, num_features, num_classes):
        super().__init__()
        self.fc1 = nn.Linear(num_features, 32)
        self.fc2 = nn.Linear(64, num_classes)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


class Deep(nn.Module):
    def __init__(self, depth, width):
        super().__init__()


class Raises(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, {"small": 8}["large"])


class Branches(nn.Module):
    def forward(self, x):
        if x.max() > 1:
            return x / 2
        return x


class Waits(nn.Module):
    def forward(self, x):
        while True: time.sleep(1)


class Greedy(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = [0] * (1 << 32)


class Calls(nn.Module):
    def forward(self, x):
        os.system("touch called")
        return x


class Downloads(nn.Module):
    def forward(self, x):
        return torch.hub.load("pytorch/vision", "resnet18")(x)


class Sends(nn.Module):
    def forward(self, x):
        if ctypes.CDLL(None).socket(socket.AF_INET, socket.SOCK_DGRAM, 0) >= 0:
            return x
        raise RuntimeError("no socket")


class Forks(nn.Module):
    def forward(self, x):
        child = ctypes.CDLL(None).fork()
        if child == 0:
            while True: time.sleep(1)
        with open("child", "w") as f: f.write(str(child))
        return nn.Linear(16, 5)(x)
EOF
printf '[passes.report_graph]\n' >c.toml
read_it()
{
    run transform net.py:$1 jsc --config c.toml --trace-seconds 2
}

read_it Misfit
refused "layers that do not fit" "^net\.py:11:20: .*fc2: linear: input \[1, 32\] must end in the weight's 64 features"
err_has "with the line" '^ +11 \| +self\.fc2 = nn\.Linear\(64, num_classes\)$'
rm -rf mase_output
read_it Deep
refused "a parameter that no data set tells" "^net\.py: Deep needs 'depth', which no data set tells: give it a default, or say FILE:Deep\(depth=\.\.\.\)"
read_it Raises
refused "an exception in __init__" "^net\.py:25:[0-9]+: KeyError: 'large'"
read_it Branches
refused "control flow on data" '^net\.py:30:[0-9]+: control flow on data'
read_it Waits
refused "a forward without end" '^net\.py:37:[0-9]+: still running after 2 s'
read_it Greedy
refused "more memory than there may be" '^net\.py:43:[0-9]+: MemoryError'
read_it Calls
refused "another program" '^net\.py:48:[0-9]+: os\.system is not allowed'
holds "which did not run" test ! -e called
read_it Downloads
refused "a download" "^net\.py:54:[0-9]+: .*torch\.hub\.load"
read_it Sends
refused "no network, by whatever way" '^net\.py:61:[0-9]+: RuntimeError: no socket'
read_it Forks
refused "a process left behind" '^net\.py:70:[0-9]+: this layer is not part of the model'
holds "was never started" test "$(cat child)" = -1
read_it Misfitt
refused "a class that is not there" "^net\.py: no class 'Misfitt' in it; .*did you mean 'Misfit'\?"

printf 'import torch.nn as nn\nclass Net(nn.Module):\n    def forward(self, x)\n        return x\n' >syntax.py
run transform syntax.py:Net jsc --config c.toml
refused "a syntax error" '^syntax\.py:3:[0-9]+: SyntaxError'
err_has "with its line" '^ +3 \|     def forward\(self, x\)$'
printf 'import nowhere_at_all\nimport torch.nn as nn\nclass Net(nn.Module):\n    def forward(self, x): return nowhere_at_all.scale(x)\n' >imports.py
run transform imports.py:Net jsc --config c.toml
refused "a package that is missing" "^imports\.py:4:[0-9]+: 'nowhere_at_all\.scale' is not read here"
printf 'while True: pass\n' >endless.py
run train endless.py:Net jsc --trace-seconds 1
refused "an import without end" '^endless\.py:1:[0-9]+: still running after 1 s'

cat >layers.toml <<EOF
dataset = "jsc"
[model]
layers = ["Linear(16, 64)", "ReLU()",
    "Linear(32, 5)"]
EOF
run transform --config layers.toml --seed 1
refused "layers of a list that do not fit" '^layers\.toml:4:5: .*must end in the weight.s 32 features'
rm -rf mase_output
printf "mase-graph 1\nname 'n'\nmodule fc = Linear(8, 5)\n%%x = placeholder[target=x]\n%%fc = call_module[target=fc](args = (%%x,), kwargs = {})\nreturn %%fc\n" >net.mg
run train net.mg jsc
refused "a graph file that does not fit" '^net\.mg:5:26: fc: linear: .*must end in the weight.s 8 features'

# First mistakes: what is meant is said, or given.
awk 'BEGIN { for (i = 0; i < 16; i++) printf "f%d,", i; print "label"; for (r = 0; r < 20; r++) { for (i = 0; i < 16; i++) printf "%d,", r; print r % 5 } }' >first.csv
cat >first.py <<'EOF'
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 5)
        self.s = torch.ones(5) * float(np.sqrt(4.0))

    def forward(self, x):
        return F.relu(self.fc(x)) * self.s


class Spelt(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.Relu()


class Silent(Net):
    def forward(self, x):
        self.fc(x)


class Narrow(Net):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 5, 3)

    def forward(self, x):
        return self.conv(self.fc(x).unsqueeze(1)).mean(2)
EOF
run show first.py:Net jsc
succeeds "a class that is pasted without its imports"
err_has "and says so" "^INFO +first\.py does not import torch\.nn\.functional as F, torch\.nn as nn, numpy as np, torch: that is given$"
run show first.py:Spelt jsc
refused "a name that is spelt otherwise" "^first\.py:14:20: unknown layer 'Relu'; did you mean 'ReLU'\?"
run show first.py:Silent jsc
refused "forward without a return" "^first\.py:18:5: forward returns nothing"
run train first.py:Narrow csv:first.csv --max-steps 1
refused "channels that do not fit" "^first\.py:25:21: conv: "

# A number that is traced finds no key; the exception names a value whose trace is over.
cat >keys.py <<'EOF'
import torch
import torch.nn as nn


class Keys(nn.Module):
    def forward(self, x):
        return {2: torch.tanh, 3: torch.sin}[x.dim()](x)


class Ints(nn.Module):
    def forward(self, x):
        return {2: torch.tanh, 3: torch.sin}[int(x.dim())](x)
EOF
run show keys.py:Keys --input-shape 4,5
refused "a traced value as a key" '^keys\.py:7:[0-9]+: KeyError: a traced value finds no key'
run show keys.py:Ints --input-shape 4,5
succeeds "int() of it"
