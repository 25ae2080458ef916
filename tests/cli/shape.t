# Where no data is needed, none is asked for: the shape of a sample is given, or the samples have it.
cat >conv.mg <<'END'
mase-graph 1
module c = Conv2d(in_channels=2, out_channels=3, kernel_size=(3, 3))
%x = placeholder[target=x]
%c = call_module[target=c](args = (%x,), kwargs = {})
%relu = call_function[target=torch.relu](args = (%c,), kwargs = {})
return %relu
END
run show conv.mg --input-shape 2,8,9
succeeds "a network is shown"
out_has "with its shapes" '^relu +call_function +relu +c +\[1, 3, 6, 7\]'
run show conv.mg shape:2,5,5
out_has "the same as the name of a dataset" '^relu +call_function +relu +c +\[1, 3, 3, 3\]'
run show jsc-tiny --input-shape 16
out_has "a network by name has the classes of its usual data" '^seq_blocks_2 .* \[1, 5\]'
run show jsc-tiny --input-shape 16:3
out_has "or as many as are said" '^seq_blocks_2 .* \[1, 3\]'
printf 'model = "conv.mg"\ninput_shape = "2,8,9"\n[passes.quantize]\nby = "type"\n[passes.quantize.default.config]\nname = "fp8_e4m3"\n' >q.toml
run transform --config q.toml --project q
succeeds "quantised without data, by a file"
saved=mase_output/q/software/transform/transformed_ckpt

# samples SHAPE COUNT: zeros in a NumPy file.
samples()
{
    printf '\223NUMPY\001\000\166\000'
    printf "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }%80s" "$1" '' | head -c 117
    echo
    head -c $(($2 * 4)) /dev/zero
}
samples '5, 2, 8, 9' 720 >x.npy
run predict conv.mg --load $saved --input x.npy --output y.npy
succeeds "samples have a shape"
holds "results have theirs" grep -aq "'shape': (5, 3, 6, 7)" y.npy
samples '5, 3, 8, 9' 1080 >z.npy
run predict conv.mg --load $saved --input z.npy --output n.npy
refused "samples that the network cannot take" 'has 3 channels, the weight .* takes 2'
holds "nothing is written" test ! -e n.npy

for bad in 2,x 0 2,,3 -1 1,2,3,4,5,6,7,8 2,3:0 2,3:x 99999999999; do
    run show conv.mg --input-shape "$bad"
    refused "no shape: $bad" "^ch: '$bad' is no shape of a sample; expected up to 7 whole numbers above 0, separated by commas"
done
run show conv.mg cifar10 --input-shape 2,8,9
refused "two shapes" 'input_shape = 2,8,9 beside dataset = cifar10, which has a shape of its own: give one of them'
run train conv.mg --input-shape 2,8,9
refused "training needs data" 'the train split of shape:2,8,9 is empty'
sed 's/quantize.*/profile_statistics]/; /^by/,$d' q.toml >p.toml
cat >>p.toml <<'END'
by = "type"
target_activation_nodes = ["conv2d"]
[passes.profile_statistics.activation_statistics.range_min_max]
abs = false
END
run transform --config p.toml --load $saved --project p
refused "and so do statistics" 'split of shape:2,8,9 is empty'

# ---- several inputs ----
cat >both.py <<'END'
import torch
from torch import nn


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.table = nn.Conv2d(3, 4, 3), nn.Linear(10, 4)

    def forward(self, image, table):
        if table.size(1) % 2:
            table = table[:, 1:]
        return self.image(image).mean((2, 3)) + self.table(table)
END
run show both.py:Both --input-shape 3,8,8 --input-shape 11
succeeds "a shape for each input"
out_has "of the second" '^table +placeholder +table +\[1, 11\]'
out_has "by which Python decided" '^getitem .*\[1, 10\]'
out_has "to the end" '^output .*\[1, 4\]'
run show both.py:Both --input-shape '3,8,8;10' --program
out_has "in one text" '^%1 : f32\[N, 10\] = input table'
printf 'model = "both.py:Both"\ninput_shape = "3,8,8;10"\n' >both.toml
run show --config both.toml
out_has "in a configuration" '^table +placeholder +table +\[1, 10\]'
cat >>both.py <<'END'


class Timed(nn.Module):
    """Numbers and indices."""

    def __init__(self):
        super().__init__()
        self.image, self.table = nn.Conv2d(3, 4, 3), nn.Embedding(10, 4)

    def forward(self, image, step):
        x = self.image(image) + self.table(step).mean(1)[:, :, None, None]
        b, c, h, w = x.shape
        return (x * int(c) ** -0.5).view(b, c, -1)
END
run show both.py:Timed --input-shape '3,8,8;2'
succeeds "numbers, and indices behind them"
out_has "by which Python decides, too" '^view .*\[1, 4, 36\]'
run show both.py:Both --input-shape '3,8,8;'
refused "an empty one" "'3,8,8;' is no shape of a sample; .* those of at most 7 further inputs behind semicolons"
