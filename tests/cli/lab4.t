# Lab 4 on the command line: layers with other numbers of channels. The networks are those of its tasks.
cat >lab4.py <<'PY'
import torch.nn as nn


class Relus(nn.Module):  # of task 4.1; widths may be given
    def __init__(self, first=16, second=16):
        super().__init__()
        self.seq_blocks = nn.Sequential(
            nn.BatchNorm1d(16), nn.ReLU(16),
            nn.Linear(16, first), nn.ReLU(16),
            nn.Linear(first, second), nn.ReLU(16),
            nn.Linear(second, 5), nn.ReLU(5),
        )

    def forward(self, x):
        return self.seq_blocks(x)
PY

# config MODEL NODE NODE NODE MULTIPLIERS LAST: the sections of the lab
config()
{
    cat <<TOML
model = "$1"
dataset = "jsc"

[passes.redefine_linear]
by = "name"
default.config.name = "NA"
$2.config = { name = "output_only", channel_multiplier = 2 }
$3.config = { name = "both", $5 }
$4.config = { name = "input_only", channel_multiplier = $6 }
[passes.report_graph]
TOML
}

# saved PROJECT FILE: what a transform saved
saved()
{
    echo "mase_output/$1/software/transform/transformed_ckpt/$2"
}

# linears: the linear layers that report_graph printed
linears()
{
    grep -o 'Linear([^)]*)' "$T/out" | sed 's/, bias=True//' >"$T/shown"
}

config jsc-three-linear seq_blocks_2 seq_blocks_3 seq_blocks_4 'channel_multiplier = 2' 2 >three.toml
cat >width.toml <<'TOML'
[passes.redefine_linear]
default.config.name = "NA"
seq_blocks_2.config = { name = "width", channel_multiplier = 2 }
seq_blocks_4.config = { name = "width", channel_multiplier = 4 }
TOML

# What is refused, before anything is written.
sed '/input_only/d' three.toml >short.toml
run transform --config short.toml --project short
fails "a neighbour that was forgotten" <<'END_OF'
short.toml:8:1: pass redefine_linear: seq_blocks_3 gives 32 channels, seq_blocks_4 takes 16
    8 | seq_blocks_3.config = { name = "both", channel_multiplier = 2 }
      | ^~~~~~~~~~~~
END_OF
sed '/default/d' three.toml >none.toml
run transform --config none.toml
fails "no default" <<'END_OF'
none.toml:4:9: pass redefine_linear: default value must be provided.
    4 | [passes.redefine_linear]
      |         ^~~~~~~~~~~~~~~
END_OF
run transform lab4.py:Relus jsc --config width.toml --set passes.redefine_linear.seq_blocks_4.config.channel_multiplier=0.3
refuses "a fraction of a channel" width.toml:4:1 seq_blocks_4 0.3 4.8
run transform lab4.py:Relus jsc --config width.toml \
    --set 'passes.redefine_linear.seq_blocks_6.config={name="width",channel_multiplier=2}'
refuses "other classes" --set:1:24 seq_blocks_6 5

# task 4.0
run transform --config three.toml --project three
succeeds "three linear layers are twice as wide"
linears
cat >"$T/expected" <<'END_OF'
Linear(in_features=16, out_features=32)
Linear(in_features=32, out_features=32)
Linear(in_features=32, out_features=5)
END_OF
same "16 -> 32 -> 32 -> 5" "$T/expected" "$T/shown"

# task 4.1: ReLUs between them have no widths to change
config lab4.py:Relus seq_blocks_2 seq_blocks_4 seq_blocks_6 'channel_multiplier = 2' 2 >relus.toml
run transform --config relus.toml --project relus
succeeds "with ReLUs between"
linears
same "the widths are the same" "$T/expected" "$T/shown"

# task 4.3
config lab4.py:Relus seq_blocks_2 seq_blocks_4 seq_blocks_6 \
    'channel_multiplier_in = 2, channel_multiplier_out = 4' 4 >apart.toml
run transform --config apart.toml --project apart
succeeds "inputs and outputs by numbers of their own"
linears
cat >"$T/expected" <<'END_OF'
Linear(in_features=16, out_features=32)
Linear(in_features=32, out_features=64)
Linear(in_features=64, out_features=5)
END_OF
same "16 -> 32 -> 64 -> 5" "$T/expected" "$T/shown"

# Another way to the same network: its constructor.
printf '[passes.report_graph]\n' >nothing.toml
run transform 'lab4.py:Relus(first=32, second=64)' jsc --config nothing.toml --project built
succeeds "a network that is built so"
holds "is the redefined one" cmp "$(saved built graph_module.mg)" "$(saved apart graph_module.mg)"
holds "and has its weights" cmp "$(saved built state_dict.safetensors)" "$(saved apart state_dict.safetensors)"

# One word for all of it.
run transform lab4.py:Relus jsc --config width.toml --project width
succeeds "readers follow a width"
holds "to the same network" cmp "$(saved width state_dict.safetensors)" "$(saved apart state_dict.safetensors)"
sed 's/config.name = "NA"/config = { name = "width", channel_multiplier = 2 }/' width.toml | head -n 2 >all.toml
run transform resnet18 cifar10 --config all.toml --project resnet
succeeds "a residual network, all of it"
out_has "its sums agree" '^layer4_1_conv2 *conv2d *512 *1024 *512 *1024 '
err_has "what stays is told" 'fc keeps its 10 channels: it gives the network.s outputs'

# What comes of it is a network like any other.
run train mase_output/apart jsc --max-epochs 1 --batch-size 256 --learning-rate 1e-2 --project trained
succeeds "it is trained"
out_has "and learns" '^| *best *| *1 *| .* 0\.[4-9]'
run train lab4.py:Relus jsc --load mase_output/apart --max-steps 5 --project loaded
succeeds "loaded into the network that it was made of, it keeps its widths"
run test mase_output/trained jsc
succeeds "it is tested"
