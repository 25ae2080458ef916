# Parts of a network that are not trained: said, kept in every form, left alone by training.
own=$SOURCE/tests/data/source/frozen.py
# A small table: what is trained on matters little here.
awk 'BEGIN {
    srand(7)
    for (k = 0; k < 16; k++) printf "f%d,", k
    print "label"
    for (i = 0; i < 400; i++) {
        for (k = 0; k < 16; k++) printf "%.4f,", rand() * 2 - 1
        print i % 5
    }
}' >jets.csv
data=csv:jets.csv

weights() { echo "mase_output/$1/software/training_ckpts/$2.ckpt"; }

run show "$own:Backbone" jsc
out_has "trained and frozen values are counted" '^45 trainable values, 880 frozen, and 65 in buffers$'
out_has "a frozen layer" '^backbone\.0\.weight +frozen +float32'
out_has "a frozen parameter" '^scale +frozen +float32'
out_has "and what is trained" '^head\.weight +parameter +float32'
run show "$own:Blocks" jsc
out_has "calls that stop gradients" '^relu +call_function +relu \(no_grad\) '
out_has "and those that do not" '^mul_1 +call_function +mul +'

# One network in three forms trains to the same bits.
for form in mg py; do
    run convert "$own:Blocks" "Blocks.$form" --dataset jsc
    succeeds "written as .$form"
    run convert "Blocks.$form" again.mg --dataset jsc --force
    holds "and read back the same from .$form" sh -c "[ ! -e first.mg ] || cmp first.mg again.mg"
    cp again.mg first.mg
done
holds "with its blocks" grep -q '^        with torch\.no_grad():$' Blocks.py
train="$data --max-steps 20 --batch-size 64 --learning-rate 1e-2 --weight-decay 0.1 --seed 3"
for form in "$own:Blocks" Blocks.mg Blocks.py; do
    # shellcheck disable=SC2086 # words
    run train "$form" $train --project "$(basename "$form")"
    succeeds "$(basename "$form") is trained"
    holds "to the same bytes" cmp "$(weights frozen.py:Blocks last)" "$(weights "$(basename "$form")" last)"
done

run train "$own:Backbone" "$data" --max-steps 4 --batch-size 64 --project summary
out_has "the summary says what is trained" '^45 +Trainable params$'
out_has "and what is not" '^880 +Non-trainable params$'
err_has "so does the log" '45 trainable parameters, '
holds "and run.json" grep -q '"frozen_parameters": 880' mase_output/summary/run.json
run train "$own:Untrained" "$data" --max-steps 1 --project none
refused "nothing to train" '^ch: nothing to train: no gradient reaches a parameter'

# Stopped and resumed, it comes to the same bits; not with other parts frozen.
halves()
{
    project=$1
    shift
    run train "$own:Halves" "$data" --max-epochs 20 --batch-size 64 --learning-rate 1e-2 --seed 3 --project "$project" "$@"
}
halves whole
halves parts --max-steps 35
halves parts --resume
succeeds "resumed with frozen parts"
holds "to the same bytes" cmp "$(weights whole last)" "$(weights parts last)"
sed 's/self\.c\.requires_grad_(True)/self.c.weight.requires_grad_(True)/' "$own" >other.py
run train other.py:Halves "$data" --max-epochs 20 --batch-size 64 --learning-rate 1e-2 --seed 3 --project parts --resume
refused "resumed with more frozen" 'cannot resume: the run trained c\.bias, which is frozen now'
sed 's/self\.c\.requires_grad_(True)/self.requires_grad_(True)/' "$own" >other.py
run train other.py:Halves "$data" --max-epochs 20 --batch-size 64 --learning-rate 1e-2 --seed 3 --project parts --resume
refused "resumed with less frozen" 'exp_avg of a\.weight is missing'

# --freeze names what a run does not train.
freeze="jsc-tiny $data --max-steps 30 --batch-size 64 --learning-rate 1e-1 --weight-decay 0.1 --seed 3"
# shellcheck disable=SC2086
run train $freeze --project thawed
# shellcheck disable=SC2086
run train $freeze --freeze seq_blocks.2 --project layer
succeeds "a module is frozen by its name"
err_has "and counted" '^INFO +--freeze: 2 parameters are not trained, 85 values of 117; statistics of batch norms'
holds "and recorded" grep -q '"frozen_parameters": 85' mase_output/layer/run.json
# shellcheck disable=SC2086
run train $freeze --freeze '*.2.*' --project pattern
holds "a pattern is as good" cmp "$(weights layer last)" "$(weights pattern last)"
run convert "$(weights layer last)" layer.npz
run convert "$(weights thawed last)" thawed.npz
run convert jsc-tiny start --seed 3
run convert start start.npz
# same A.npz B.npz NAME: model.NAME of A is NAME of B
same()
{
    python3 - "$@" <<'END'
import sys, zipfile
a, b, name = sys.argv[1:]
read = lambda file, member: zipfile.ZipFile(file).read(member + ".npy")
sys.exit(read(a, "model." + name) != read(b, name))
END
}
differs() { ! same "$@"; }
holds "frozen weights do not move" same layer.npz start.npz seq_blocks.2.weight
holds "the others do" differs layer.npz start.npz seq_blocks.0.weight
holds "as all do without" differs thawed.npz start.npz seq_blocks.2.weight
# shellcheck disable=SC2086
run train $freeze --freeze seq_block.2 --project bad
refused "a name that is not there" "^ch: --freeze 'seq_block.2': no parameter .*; did you mean 'seq_blocks.2'"
# shellcheck disable=SC2086
run train $freeze --freeze '*' --project bad
refused "all of them" '^ch: nothing to train'
half="jsc-tiny $data --max-epochs 20 --batch-size 64 --learning-rate 1e-2 --seed 3 --project half"
# shellcheck disable=SC2086
run train $half --freeze seq_blocks.2 --max-steps 20
# shellcheck disable=SC2086
run train $half --resume
refused "resumed without" 'exp_avg of seq_blocks\.2\.weight is missing: the run did not train it; what --freeze named then'
# shellcheck disable=SC2086
run train $half --freeze seq_blocks.2 --resume
succeeds "resumed with the same"
run test mase_output/half "$data"
succeeds "and tested"

# What cannot be right is refused where it stands.
cat >bad.py <<'EOF'
import torch
from torch import nn


class Thaws(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        for p in self.fc.parameters():
            p.requires_grad = False
        return self.fc(x)


class Writes(Thaws):
    def forward(self, x):
        x.requires_grad = True
        return self.fc(x)


class Whole(Thaws):
    def __init__(self):
        super().__init__()
        self.n = nn.Parameter(torch.arange(5))

    def forward(self, x):
        return self.fc(x) + self.n


class InPlace(Thaws):
    @torch.no_grad
    def clear(self, x):
        return x.clamp_(0, 1)

    def forward(self, x):
        x = self.fc(x)
        self.clear(x)
        return x * 2
EOF
run show bad.py:Thaws jsc
refused "frozen in forward" '^bad\.py:12:13: requires_grad changes while forward runs: set it in __init__$'
run show bad.py:Writes jsc
refused "a traced value's flag" "^bad\.py:18:9: 'requires_grad' of a traced value cannot be set$"
run show bad.py:Whole jsc
refused "an integer that is trained" '^bad\.py:25:18: only tensors of floating point can require gradients'
run train bad.py:InPlace "$data" --max-steps 1 --project bad
refused "written in place without gradients" 'bad\.py:34:16: clamp_: clamp: writes under no_grad'
