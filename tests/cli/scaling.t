# How features are scaled: as --scaling says; else as those were that the weights were trained on.

# Other people's weights on raw data: a file says how the features were scaled, and the classes.
cat >net.py <<EOF
import torch
from torch import nn


class Net(nn.Module):
    """The larger of the two scaled features wins."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2)])
        self.layers[0].weight.data.copy_(torch.eye(2))
        nn.init.zeros_(self.layers[0].bias)

    def forward(self, x):
        return self.layers[0](x)
EOF
# Scaled by mean 10, 100 and deviation 2, 50, the first is the larger one in every row of "left".
awk 'BEGIN { print "a,b,side"
    for (i = 0; i < 40; i++) {
        a = 10 + 2 * (i % 7) - 6; b = 100 + 50 * ((i % 7) - 3 + (i % 2 ? 0.5 : -0.5))
        print a "," b "," (i % 2 ? "right" : "left") } }' >sides.csv
printf '[passes.report_graph]\n' >c.toml
run transform net.py csv:sides.csv:side --config c.toml --project w
succeeds "weights to load"
w=mase_output/w/software/transform/transformed_ckpt/state_dict.safetensors
printf '{"mean": [10, 100.0], "scale": [2, 50]}\n' >s.json
accuracy()
{
    run test net.py csv:sides.csv:side --load $w --all-rows --project t --json "$@"
    sed -n 's/.*"test_acc_epoch": *\([0-9.]*\).*/\1/p' "$T/out" >"$T/acc"
}

printf '{"mean": [10, 100.0], "scale": [2, 1e-45]}\n' >tiny.json
run test net.py csv:sides.csv:side --load $w --all-rows --project t --scaling tiny.json
refused "a scaling beyond floats" 'b: a value less 100, divided by 1e-45, is -?inf; 32-bit floats end at 3\.40282e\+38'

accuracy --scaling s.json
succeeds "tested with the scaling of a file"
err_has "which is said" 'INFO +The features are scaled as .*s\.json says'
holds "every row is right" grep -qx '1\(\.0*\)\?' "$T/acc"
printf '{"mean": [10, 0], "std": [2, 50]}\n' >other.json
accuracy --scaling other.json
holds "with another scaling they are not" grep -q '^0\.5' "$T/acc"
printf '{"classes": ["right", "left"], "mean": [10, 100], "scale": [2, 50]}\n' >swapped.json
accuracy --scaling swapped.json
holds "classes are matched by name" grep -q '^0\(\.0*\)\?$' "$T/acc"
err_has "which is said too" 'Classes are matched by their names'
rm -rf mase_output/t

printf '{"mean": [10, 100]}\n' >bad.json
run test net.py csv:sides.csv:side --load $w --scaling bad.json
refused "no scale" 'bad\.json: it has no scale \(or std\) of the features'
printf '{"mean": [10, 100], "scale": [2, "x"]}\n' >bad.json
run test net.py csv:sides.csv:side --load $w --scaling bad.json
refused "a text among the numbers" 'bad\.json:1:[0-9]+: expected a number, got string'
printf '{"mean": [10, 100], "scale": [2, 0]}\n' >bad.json
run test net.py csv:sides.csv:side --load $w --scaling bad.json
refused "a scale of 0" 'bad\.json: feature 1: mean 100 and scale 0'
printf '{"mean": [10], "scale": [2, 1]}\n' >bad.json
run test net.py csv:sides.csv:side --load $w --scaling bad.json
refused "more scales than means" 'bad\.json: 1 means do not go with 2 scales'
printf '{"mean": [1], "scale": [2]}\n' >bad.json
run test net.py csv:sides.csv:side --load $w --scaling bad.json
refuses "too few features" ch 1 2
run test net.py csv:sides.csv:side --load $w --scaling $w
refused "tensors of other names" 'state_dict\.safetensors: it has no mean of the features'
run test net.py csv:sides.csv:side --load $w --scaling nowhere.json
refused "a missing file" 'nowhere\.json'
run test net.py csv:sides.csv:side --load $w --scaling standrad
refused "neither a word nor a file" "--scaling: 'standrad' is neither of none, standard, minmax, nor a file"

# A table of one's own is left as it is; what was done is said, and by which rows.
run data info csv:sides.csv:side
succeeds "a table"
out_has "as it is" '^features +as stored$'
out_has "its own least number" '^a +4 +16 '
run data info csv:sides.csv:side --scaling standard
out_has "or standardised by the rows that train" '^features +standardised: mean 0, deviation 1, over the 29 rows that train$'
out_has "which changes nothing of what the file holds" '^a +4 +16 '
run data info csv:sides.csv:side --scaling minmax --json
holds "to 0..1, in JSON" grep -q '"scaling": "minmax"' "$T/out"
holds "by how many rows" grep -q '"scaling_rows": 29' "$T/out"
run data info jsc-sim
out_has "jsc as published" '^features +standardised: mean 0, deviation 1, over the 640000 rows that train or validate$'
run data info toy_tiny --scaling standard
refuses "what is no table" ch toy_tiny

# Whole numbers reach an embedding as they are.
cat >tokens.py <<EOF
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(4, 2)
        self.out = nn.Linear(6, 2)

    def forward(self, x):
        return self.out(self.table(x.long()).flatten(1))
EOF
awk 'BEGIN { print "a,b,c,label"; for (i = 0; i < 60; i++) print i % 4 "," int(i / 4) % 4 "," 3 "," i % 4 % 2 }' >tokens.csv
run train tokens.py csv:tokens.csv --project tokens --max-epochs 30 --learning-rate 0.05 --batch-size 16
succeeds "train on tokens"
err_has "as they are" 'INFO +Features are as stored'
run test tokens.py csv:tokens.csv --project tokens --load mase_output/tokens/software/training_ckpts/last.ckpt --json
out_has "which can be learnt" '"test_acc_epoch": 1(\.0+)?,'

# What a network was trained with is what it is tested with, without being said again.
loss()
{
    sed -n 's/.*"test_loss_epoch": *\([-0-9.e]*\).*/\1/p' "$T/out"
}
run train net.py csv:sides.csv:side --scaling standard --project std --max-epochs 3 --batch-size 8
succeeds "train on standardised features"
holds "which run.json says" grep -q '"scaling": "standard"' mase_output/std/run.json
best=mase_output/std/software/training_ckpts/best.ckpt
run test net.py csv:sides.csv:side --load $best --json --project t
succeeds "test"
err_has "as it was trained" 'The features are scaled as those of csv:sides.csv:side, on which'
loss >"$T/first"
run test net.py csv:sides.csv:side --load $best --json --project t --scaling standard
loss >"$T/second"
same "saying the same changes nothing" "$T/first" "$T/second"
run test net.py csv:sides.csv:side --load $best --scaling none
refused "another word contradicts" '--scaling none contradicts .*best\.ckpt, which was trained with scaling standard'
run transform net.py csv:sides.csv:side --config c.toml --load $best --project folder
folder=mase_output/folder/software/transform/transformed_ckpt
holds "a saved folder keeps it" grep -q '"scaling": "standard"' $folder/scaling.json
holds "and its sum" sh -c "cd $folder && sha256sum -c SHA256SUMS >sums.log && grep -q '^scaling.json: OK' sums.log && rm sums.log"
run test net.py csv:sides.csv:side --load $folder --json --project t
loss >"$T/second"
same "and is tested with it" "$T/first" "$T/second"
run test net.py csv:sides.csv:side --load $folder --scaling standard --json --project t
loss >"$T/second"
same "also when that is said" "$T/first" "$T/second"
run test net.py csv:sides.csv:side --load $folder --scaling none --json --project t
refused "but not otherwise" '--scaling none contradicts .*transformed_ckpt'
cp -r $folder changed
sed -i 's/standard/minmax/' changed/scaling.json
run test net.py csv:sides.csv:side --load changed --json --project t
refused "nor when the file was changed" 'changed/scaling\.json: .*was not saved together'
run train net.py csv:sides.csv:side --load $best --project on --max-epochs 1 --batch-size 8
succeeds "train on"
err_has "with the same scaling" 'The features are scaled as those of csv:sides'
run train net.py csv:sides.csv:side --load $best --project on --max-epochs 1 --batch-size 8 --scaling minmax
err_has "or another, with a word" 'WARNING .*best\.ckpt was trained with scaling standard; from here on it is minmax'
run train net.py csv:sides.csv:side --project std --max-epochs 4 --batch-size 8 --resume
refused "resume it otherwise" 'cannot resume: the run scaled the features otherwise \(standard\) than this one \(none\)'
run train net.py csv:sides.csv:side --scaling standard --project std --max-epochs 4 --batch-size 8 --resume
succeeds "resume it"
run test net.py csv:sides.csv:side --load $w --all-rows --project t
err_has "weights that do not say are used with a warning" 'WARNING .*state_dict\.safetensors does not say how the features were scaled'

# Trained without any, also where the dataset has a way of its own.
run train jsc-tiny jsc-sim --scaling none --project raw --max-steps 3
err_has "jsc as stored" 'INFO +Features are as stored'
raw=mase_output/raw/software/training_ckpts/last.ckpt
run test jsc-tiny jsc-sim --load $raw --json --project t
loss >"$T/first"
run test jsc-tiny jsc-sim --load $raw --json --project t --scaling none
loss >"$T/second"
same "is tested so" "$T/first" "$T/second"
run test jsc-tiny jsc-sim --load $raw --scaling standard
refused "and not otherwise" '--scaling standard contradicts .*last\.ckpt, which was trained with scaling none'
