# ch emit c: a network as C source, with the test vectors that it must give.
# fixed KIND...: layers of these kinds in 8 bits
fixed()
{
    printf '[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\n'
    for kind; do
        printf '[passes.quantize.%s.config]\nname = "integer"\n' "$kind"
        for operand in data_in weight bias; do
            printf '%s_width = 8\n%s_frac_width = 4\n' $operand $operand
        done
    done
}
fixed linear >c8.toml
strict='-std=c99 -Wall -Wextra -pedantic -Werror -ffreestanding'
"$CH" convert jsc-toy net >/dev/null 2>&1
net="jsc-toy jsc-sim --load net"

# compiles FOLDER: the strictest C there is, and the vectors are right
compiles()
{
    if ! command -v cc >/dev/null; then
        skip "$1 is compiled" "no C compiler"
        return
    fi
    holds "$1 is C99 that needs nothing" cc $strict -Os -c "$1/net.c" -o "$1/net.o"
    holds "$1 calls nothing" test -z "$(nm -u "$1/net.o" 2>/dev/null)"
    holds "$1 gives what the engine gives" make -s -C "$1" -f net.mk
}

run emit c $net --config c8.toml --output ints
succeeds "a quantised network becomes integers"
out_has "the types are as small as the bounds allow" '^\| seq_blocks_2 +\| sum +\| u?int8_t'
out_has "operations are counted" '^ints: jsc_toy\(\) in integers of 16 inputs and 5 outputs, [0-9]+ multiply-adds, 32 roundings a sample$'
out_has "so are bytes" '^constants [0-9]+ bytes, code about [0-9]+, static memory [0-9]+$'
out_has "samples are the dataset's" '^16 test vectors: test samples of jsc-sim; make -C ints -f net.mk checks them$'
holds "no header but two" test "$(grep -h '#include <' ints/net.c ints/net.h | sort)" = "$(printf '#include <stddef.h>\n#include <stdint.h>')"
holds "the header says what samples must be" grep -q '^ \* A sample is \[16\] as of jsc-sim' ints/net.h
compiles ints
run emit c $net --config c8.toml --output unrolled --style unrolled --vectors 3
succeeds "with the weights in the code"
holds "and none in tables" sh -c '! grep -q weight_ unrolled/net.c'
compiles unrolled
run emit c $net --output floats --json
succeeds "without number formats it becomes floats, for programs"
out_has "which is said" '"arithmetic": "floats"'
compiles floats
run emit c $net --config c8.toml --output none --vectors 0
holds "no vectors, no test" test ! -e none/net_test.c -a -e none/net.c

# a convolution; of data that is not there, samples are drawn
"$CH" convert toy_convnet conv --force >/dev/null 2>&1
fixed linear conv1d conv2d >conv.toml
run emit c toy_convnet cifar10 --load conv --config conv.toml --output conv2d --vectors 2
succeeds "a network of convolutions"
out_has "by loops over windows" '^2 test vectors: samples drawn from the seed'
compiles conv2d

# an ONNX file has its weights, formats and shapes
run emit c "$SOURCE/tests/data/onnx/qdq.onnx" --output qdq
succeeds "a quantised ONNX file"
out_has "in integers" '^qdq: qdq_onnx\(\) in integers'
compiles qdq
run emit c "$SOURCE/tests/data/onnx/attention_script.onnx" --output d
refused "an operation that has no C is named, not what its samples lack" 'the network: no C: it must have one input, of floats'

# so has a folder that was saved
run emit c conv --load conv --config conv.toml --output saved
succeeds "a saved folder"
holds "with the same sums" cmp saved/net.c conv2d/net.c

# values of one element lie side by side: a sum of two is none of the first alone
cat >one.py <<'EOF'
from torch import nn
class One(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(3, 1), nn.Linear(1, 1), nn.Linear(1, 2)
    def forward(self, x):
        a = self.a(x)
        return self.c(self.b(a) + a)
class Pixel(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(2, 1, 3), nn.Conv2d(1, 1, 1)
    def forward(self, x):
        a = self.a(x)
        return self.b(a) + a
EOF
fixed linear conv2d add >one.toml
for network in One:3 Pixel:2,3,3; do
    "$CH" convert one.py:${network%:*} one --input-shape ${network#*:} --force >/dev/null 2>&1
    run emit c one.py:${network%:*} --input-shape ${network#*:} --load one --config one.toml --output ${network%:*} --vectors 64
    succeeds "${network%:*}, a sum of two values of one element"
    compiles ${network%:*}
done

# values side by side, one of them as it is and cut at zero
cat >joined.py <<'EOF'
import torch
from torch import nn
class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(2, 3, 3, padding=1), nn.Conv2d(2, 1, 1), nn.Conv2d(10, 2, 3)
    def forward(self, x):
        a = self.a(x)
        return self.c(torch.cat([torch.relu(a), self.b(x), a, a], 1))
EOF
"$CH" convert joined.py:Joined joined --input-shape 2,4,4 >/dev/null 2>&1
for config in "" "--config one.toml"; do
    run emit c joined.py:Joined --input-shape 2,4,4 --load joined $config --output join
    succeeds "values are joined${config:+ in integers}"
    compiles join
done

# a layer that meets padding alone gives its bias, in integers with a scale, too
cat >edge.py <<'EOF'
from torch import nn
class Edge(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(1, 2, 1, stride=2, padding=1))
EOF
printf '[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\n[passes.quantize.conv2d.config]\nname = "int"\n' >edge.toml
printf 'data_in_width = 8\ndata_in_scale = 0.05\nweight_width = 8\nbias_name = "NA"\n' >>edge.toml
"$CH" convert edge.py:Edge edge --input-shape 1,1,1 >/dev/null 2>&1
run emit c edge.py:Edge --input-shape 1,1,1 --load edge --config edge.toml --output padding
succeeds "a convolution whose every window lies in the padding"
compiles padding
holds "no number of its C is infinite" sh -c '! grep -q inf padding/net.c'

# a folder of one's own keeps what is in it
mkdir own && echo all: >own/Makefile
run emit c $net --config c8.toml --output own
holds "among the files of others" test "$(cat own/Makefile)" = all: -a -e own/net.mk

# a wrong number is seen
sed 's/static const int8_t weight_\([0-9]*\)\[128\] = {/&\n    9,/' ints/net.c >ints/other.c
if command -v cc >/dev/null; then
    cc -std=c99 -w ints/other.c ints/net_test.c -o ints/other
    ints/other >ints/said
    holds "another weight is another result" test $? = 1
fi

# what is refused, and leaves nothing behind
run emit c $net --config c8.toml --output codes --codes
refused "codes behind a batch norm in floats" 'seq_blocks_2: no C: codes cannot be given: it is not what samples meet first'
run emit $net --output d
refused "what is emitted must be said" "emit what\? 'jsc-toy' is not there; ch emit c MODEL"
run emit c jsc-toy jsc-sim --output d
refused "without weights" 'emit needs --load PATH'
run emit c $net
refused "without a folder" 'emit needs --output DIR'
run emit c $net --codes --output d
refused "codes of floats" 'codes: the network has no number formats'
printf '[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\nlinear.config.name = "fp8_e4m3"\n' >m.toml
run emit c $net --config m.toml --output d
refused "a format without integers" 'seq_blocks_2: no exact integers: the codes of fp8_e4m3'
printf 'from torch import nn\nclass Soft(nn.Sequential):\n    def __init__(self):\n        super().__init__(nn.Linear(4, 3), nn.Softmax(1))\n' >soft.py
"$CH" convert soft.py:Soft soft --input-shape 4 >/dev/null 2>&1
run emit c soft.py:Soft --input-shape 4 --load soft --output d
refused "an operation without C, by its node" '_1: no C: softmax has none'
holds "and nothing is written" test ! -e d -a ! -e codes
: >file
run emit c $net --output file/d
refused "a folder that cannot be made" 'file'
run emit c $net --output d --style rolled
refuses "no such style" ch --style rolled tables
