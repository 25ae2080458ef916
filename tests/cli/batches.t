# A batch norm without running statistics goes by those of the batch also in evaluation, as PyTorch's does: it is the
# batch that the user asks for, and that is said.
cat >bn.mg <<'END'
mase-graph 1
module bn = BatchNorm1d(num_features=2, track_running_stats=False)
%x = placeholder[target=x]
%y = call_module[target=bn](args = (%x,), kwargs = {})
return %y
END
# 2 500 rows to test on, more than a plan takes by itself; the mean wanders, so that each batch has statistics of its own.
awk 'BEGIN { print "a,b,p,q"
    for (i = 0; i < 5000; i++) { a = i * 7 % 20 / 10 + i / 200; b = i * 11 % 17 / 10 - i / 1000
        printf "%s,%s,%s,%s\n", a, b, a / 10, b + 1 } }' >t.csv
# loss_of BATCH: the mean squared error of the normalised batches, from the definition
loss_of()
{
    awk -F, -v batch="$1" '
    BEGIN { n = 0 }
    function finish(  k, i, mean, square, d) {
        for (k = 1; k <= 2; k++) {
            mean = square = 0
            for (i = 0; i < n; i++) mean += x[k, i] / n
            for (i = 0; i < n; i++) square += (x[k, i] - mean) ^ 2 / n
            for (i = 0; i < n; i++) { d = (x[k, i] - mean) / sqrt(square + 1e-5) - y[k, i]; sum += d * d; count++ }
        }
        n = 0
    }
    $1 == "test" { x[1, n] = $2; x[2, n] = $3; y[1, n] = $4; y[2, n] = $5; if (++n == batch) finish() }
    END { if (n) finish(); printf "%.6f\n", sum / count }' rows.csv
}
# is LOSS: that of the last test, but for rounding
is() { awk -v wanted="$1" '/"test_loss_epoch"/ { gsub(/[^0-9.e-]/, "", $2); off = $2 / wanted - 1; found = 1 }
    END { print wanted; exit !(found && off < 1e-4 && off > -1e-4) }' "$T/out"; }
data="bn.mg t.csv --task reg --label p,q --features a,b --split 0.3,0.2,0.5"
printf '[passes.report_graph]\n' >c.toml
# shellcheck disable=SC2086 # words
{
run data export t.csv rows.csv ${data#bn.mg t.csv }
succeeds "the rows in the order of the splits"
run transform $data --config c.toml --project w
succeeds "weights to load"
load="--load mase_output/w/software/transform/transformed_ckpt/state_dict.safetensors"

for batch in 128 1000 2000 5000; do
    run test $data $load --batch-size $batch --project t --json
    succeeds "tested in batches of $batch"
    holds "by the statistics of these" is "$(loss_of $batch)"
    [ $batch = 5000 ] && batch=2500
    err_has "which is said" "WARNING .*depends on the others of its batch; they are taken $batch at a time"
done
run test $data $load --project t --json
holds "by default in those of training" is "$(loss_of 128)"
run test $data $load --threads 2 --batch-size 1000 --project t --json
holds "whatever the threads" is "$(loss_of 1000)"
run test $data $load --batch-size 833 --project t --json
refused "a batch of one sample has no statistics" \
    'y: the statistics of a batch are those of more than one value for each channel, and the last batch has 1: take batches of another size'
run sweep $data --max-epochs 0 --batch-size 100,250 --learning-rate 0.1 --project s
succeeds "a sweep"
awk -F, 'NR > 1 { print $(NF - 3) }' mase_output/s/software/sweep/sweep.csv >losses
holds "tests in batches of each" sh -c 'test "$(sort -u losses | wc -l)" = 2'
}

# What the reference runs goes by all samples, too, where the first few give what they give alone.
cat >spikes.py <<'EOF'
import torch
from torch import nn
class Plan(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(2, track_running_stats=False, affine=False)
    def forward(self, x):
        return (self.bn(x.reshape(-1, 2, 3)).flatten(1) > 5.5).float()
class Reference(Plan):
    def forward(self, x):
        return (self.bn(x.reshape(-1, 2, 3)).flatten(1) > 5.5).to(torch.float64).to(torch.float32)
EOF
awk 'BEGIN { print "a,b,c,d,e,f"
    for (i = 0; i < 2000; i++) print "0,1," (i >= 1500 && i < 1600 ? 10 : 2) ",0,1,2" }' >spikes.csv
for class in Plan Reference; do
    run predict spikes.py:$class --input-shape 6 --input spikes.csv --output $class.npy --project $class
    succeeds "$class: spikes among 2 000 samples"
done
holds "are found alike" cmp Plan.npy Reference.npy
holds "and are found" sh -c 'tail -c +129 Plan.npy | od -An -tf4 | grep -q "[1-9]"'
