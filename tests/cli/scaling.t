# Other people's weights on raw data: --scaling says how the features were scaled, and the classes.
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
refused "too few features" 'a scaling of 1 features does not fit samples of 2'
run test net.py csv:sides.csv:side --load $w --scaling $w
refused "tensors of other names" 'state_dict\.safetensors: it has no mean of the features'
run test net.py csv:sides.csv:side --load $w --scaling nowhere.json
refused "a missing file" 'nowhere\.json'
