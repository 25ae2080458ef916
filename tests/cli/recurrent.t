# Networks over sequences, as one writes them for PyTorch: a classifier of words with an LSTM and one with a
# transformer encoder, trained for an epoch, quantised by type and by name, tested.
awk 'BEGIN {
    srand(5)
    print "c0,c1,c2,c3,c4,c5,label"
    for (n = 0; n < 600; n++) {
        vowels = 0
        line = ""
        for (i = 0; i < 6; i++) {
            c = int(rand() * 10)
            vowels += c < 3
            line = line c ","
        }
        print line (vowels > 1)
    }
}' >words.csv
cat >net.py <<'END'
import torch
from torch import nn
import torch.nn.functional as F


class CharRNN(nn.Module):
    def __init__(self, info):
        super().__init__()
        self.emb = nn.Embedding(10, 6)
        self.lstm = nn.LSTM(6, 8, num_layers=2, bidirectional=True, dropout=0.1)
        self.head = nn.Linear(32, info.num_classes)

    def forward(self, x):
        x = self.emb(x.long()).transpose(0, 1)  # (T, N, C)
        self.lstm.flatten_parameters()
        out, (h, c) = self.lstm(x)
        return self.head(torch.cat([out[-1], h[0], c[-1]], dim=1))


class Encoder(nn.Module):
    def __init__(self, info):
        super().__init__()
        self.emb = nn.Embedding(10, 8)
        self.place = nn.Parameter(torch.randn(6, 1, 8))
        layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(8, info.num_classes)

    def forward(self, x):
        x = self.emb(x.long()).transpose(0, 1) + self.place
        return self.head(self.encoder(x).mean(0))


class Derived(nn.Module):
    def __init__(self, info):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(info.num_classes, 6))

    def forward(self, x):
        return F.linear(x, self.w * 2)
END
format='{ name = "integer", data_in_width = 8, data_in_frac_width = 4, weight_width = 8, weight_frac_width = 5, bias_width = 8, bias_frac_width = 5 }'
cat >q.toml <<END
[passes.quantize]
by = "type"
default.config.name = "NA"
linear.config = $format
lstm.config = $format

[passes.count_flops]
[passes.calculate_avg_bits]
END
cat >name.toml <<END
[passes.quantize]
by = "name"
default.config.name = "NA"
lstm.config = $format
END

loss()
{
    awk '/test_loss_epoch/ { print $4 }' "$T/out"
}

for net in CharRNN Encoder; do
    run train net.py:$net csv:words.csv --max-epochs 1 --batch-size 32 --learning-rate 1e-2 --project $net
    succeeds "$net: trained for an epoch"
    best=mase_output/$net/software/training_ckpts/best.ckpt
    run test net.py:$net csv:words.csv --load $best --project $net
    succeeds "$net: tested"
    float=$(loss)
    run convert $best $net.npz
    for threads in 1 2; do
        run train net.py:$net csv:words.csv --max-epochs 1 --batch-size 32 --learning-rate 1e-2 --threads $threads \
            --project $net-$threads
        run convert mase_output/$net-$threads/software/training_ckpts/best.ckpt $net-$threads.npz
        holds "$net: the same bits with $threads threads" cmp $net.npz $net-$threads.npz
    done
    run transform net.py:$net csv:words.csv --load $best --config q.toml --project $net
    succeeds "$net: quantised by type"
    out_has "$net: with its bits" '^average bits: data_in 8, weight 8, both 8$'
    saved=mase_output/$net/software/transform/transformed_ckpt
    run test net.py:$net csv:words.csv --load $saved --project $net
    succeeds "$net: tested when quantised"
    holds "$net: and is another" test "$(loss)" != "$float"
    run train net.py:$net csv:words.csv --load $saved --max-steps 3 --batch-size 32 --project $net-q
    succeeds "$net: trained on when quantised"
done
run transform net.py:CharRNN csv:words.csv --config name.toml --project named
succeeds "an LSTM quantised by name"
out_has "as the only one" 'LSTMInteger'
out_lacks "and nothing else" 'LinearInteger'
run show net.py:CharRNN --dataset csv:words.csv
out_has "its parameters have PyTorch's names" '^lstm\.weight_hh_l1_reverse '

# What a parameter is used for only by way of another value is trained, too.
run train net.py:Derived csv:words.csv --max-steps 4 --batch-size 32 --learning-rate 1e-1 --project Derived
succeeds "a parameter that is doubled before its use"
run convert mase_output/Derived/software/training_ckpts/last.ckpt w.npz
holds "is no longer zero" python3 -c '
import struct, zipfile
with zipfile.ZipFile("w.npz") as file:
    values = [struct.unpack("<%df" % (len(data[128:]) // 4), data[128:]) for data in map(file.read, file.namelist())]
raise SystemExit(not all(any(v) for v in values))'

# Its results may have a format of their own; what cannot be is refused with its place.
lstm() { printf '[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\n[passes.quantize.lstm.config]\n%s\n' "$1" >lstm.toml; }
integer='name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 8
weight_frac_width = 5
bias_width = 8
bias_frac_width = 5'
lstm "$integer
data_out_width = 3
data_out_frac_width = 2"
run convert net.py:CharRNN rnn.mg --dataset csv:words.csv
succeeds "as text, which needs no python3"
best=mase_output/CharRNN/software/training_ckpts/best.ckpt
run test rnn.mg csv:words.csv --load $best --config name.toml --project r1
plain=$(loss)
run test rnn.mg csv:words.csv --load $best --config lstm.toml --project r2
succeeds "results of three bits"
err_has "it says so" 'data_out integer\(3, 2\)'
holds "and is another network" test "$(loss)" != "$plain"
run train rnn.mg csv:words.csv --config lstm.toml --max-steps 3 --batch-size 32 --project r3
succeeds "trained, too"
holds "its bits are told" grep -q '^0,lstm,data_out,[0-9]*,3,3,3,0,$' mase_output/r3/software/bits.csv
lstm "$integer
data_out_name = \"block_fp\"
data_out_width = 8
data_out_exponent_width = 8
data_out_exponent_bias = \"NA\"
data_out_block_size = [4]"
run train rnn.mg csv:words.csv --config lstm.toml --max-steps 1 --project r4
refused "blocks of states" '^lstm\.toml:4:23: .*lstm \(lstm\): data_out: block_fp has blocks, which would span samples'
lstm 'name = "lsq"
data_in_width = 4
weight_width = 4
bias_name = "NA"'
run train rnn.mg csv:words.csv --config lstm.toml --max-steps 1 --project r5
refused "steps that are learned" '^lstm\.toml:4:23: .*lstm \(lstm\): data_in: lsq cannot be learned in a recurrent layer, whose formats must be given'
lstm "$integer
data_out_name = \"hgq\"
data_out_width = 4"
run train rnn.mg csv:words.csv --config lstm.toml --max-steps 1 --project r6
refused "bits that are learned" '^lstm\.toml:4:23: .*lstm \(lstm\): data_out: hgq cannot be learned in a recurrent layer'
