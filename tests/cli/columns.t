# Columns of a table of one's own: which are features, which is the label, what is left out; the checkpoint
# remembers.
cat >net.py <<'END'
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)
END
# left where a > b; id and name are no features, one b is missing.
awk 'BEGIN { print "id,a,name,b,side"
    for (i = 0; i < 120; i++) { a = i * 7 % 120; b = i * 11 % 113
        print i "," a ",n" i "," (i == 5 ? "" : b) "," (a > b ? "left" : "right") } }' >t.csv
awk -F, '{ print $4 "," $5 "," $2 }' t.csv >turned.csv # b,side,a
run convert net.py:Net net.mg --input-shape 2
succeeds "a network"

run data info t.csv --label side --features a,b
refuses "a missing value" t.csv:7:9 --drop-nan
run data info t.csv --label side --features a,b --drop-nan
succeeds "or left out"
out_has "and counted" '^rows +119 \(1 with a missing value left out\)$'
out_has "the label is shown" '^label +side$'
run data info t.csv:side --features '!id,name' --drop-nan --json
out_has "all but some" '"name": "b"'
run data info t.csv --label side --features a,bb
fails "no such column" <<'END'
t.csv:1:1: there is no column 'bb' for the features; is 'b' meant?; the first line names the columns
    1 | id,a,name,b,side
      | ^~
END
run data info t.csv --label 'side,a'
refused "classes have one label" '--label names 2 columns'
run data info t.csv --features 'a,,b'
refused "an empty name" "--features 'a,,b' has an empty name"
run data info jsc --features a
refuses "not of named data" ch --features h5 jsc

run train net.mg t.csv --label side --features a,b --drop-nan --scaling standard --learning-rate 0.1 \
    --max-epochs 3 --project p --batch-size 16
succeeds "trained"
err_has "what was left out is said" '1 rows with a missing value are left out'
load=$(find mase_output/p -name best.ckpt)
run test net.mg t.csv --load "$load" --json --project t --all-rows
succeeds "tested without being told again"
grep -o '"test_acc_epoch": [0-9.]*' "$T/out" >"$T/expected"
run test net.mg turned.csv --load "$load" --json --project t --all-rows
succeeds "columns in another order"
grep -o '"test_acc_epoch": [0-9.]*' "$T/out" >"$T/shown"
same "are found by their names" "$T/expected" "$T/shown"
run test net.mg t.csv --load "$load" --features b,a --json --project t --all-rows
err_has "other features are told" 'was trained on the features a, b; it is given b, a'
sed '1s/b,/c,/' turned.csv >renamed.csv
run test net.mg renamed.csv --load "$load" --project t
refused "a feature that is missing" "there is no column 'b' for the features.* was trained on it; --features says which column stands for it"
run test net.mg renamed.csv --load "$load" --features a,c --project t
succeeds "and which column stands for it"

printf '[passes.report_graph]\n' >c.toml
run transform net.mg t.csv --load "$load" --config c.toml --project s
succeeds "a folder"
run test net.mg turned.csv --load mase_output/s/software/transform/transformed_ckpt --json --project t --all-rows
succeeds "remembers, too"
grep -o '"test_acc_epoch": [0-9.]*' "$T/out" >"$T/shown"
same "to the same numbers" "$T/expected" "$T/shown"

run train net.mg t.csv --label side --features b,a --drop-nan --scaling standard --learning-rate 0.1 \
    --max-epochs 4 --project p --batch-size 16 --resume
refused "not resumed with other columns" 'cannot resume: the run read other columns'

# Splits: shares of each class, or by a column; a checkpoint is tested on rows that it has not seen.
run data info t.csv --label side --features a,b --drop-nan --split 0.5,0.25,0.25
out_has "shares are shown" '^split +0\.5,0\.25,0\.25$'
out_has "of each class" '^train +59 +30 +29$'
run data info t.csv --label side --split 0.8,0.3
refuses "shares that do not sum to 1" ch 0.8,0.3 0 1 0.8,0.1,0.1 0.9,0.1
run train net.mg t.csv --label side --features a,b --drop-nan --split 0.5,0.25,0.25 --split-seed 3 --project q \
    --max-epochs 1 --json
succeeds "trained so"
load=$(find mase_output/q -name best.ckpt)
run test net.mg t.csv --load "$load" --json --project t
succeeds "tested so"
out_has "on the rows that are left" '"samples": 30,'
run test net.mg t.csv --load "$load" --split 0.8,0.1,0.1 --project t
refused "not on others" 'the split 0\.8,0\.1,0\.1 contradicts .*best\.ckpt, which was trained with the split 0\.5,0\.25,0\.25, seed 3 of this data'
run test net.mg t.csv --load "$load" --split held-out --project t
refused "nor on the usual ones" 'the split held-out contradicts'
run test net.mg turned.csv --load "$load" --split 0.8,0.1,0.1 --drop-nan --project t
succeeds "but other data is split as one likes"
run transform net.mg t.csv --load "$load" --config c.toml --project s2
run test net.mg t.csv --load mase_output/s2/software/transform/transformed_ckpt --json --project t
out_has "a folder remembers, too" '"samples": 30,'
run train net.mg t.csv --label side --features a,b --drop-nan --split 0.5,0.25,0.25 --project q --max-epochs 2 --resume
refused "not resumed with other rows" 'cannot resume: the run split the rows of .* otherwise'
run data info t.csv --label side --features a,b --drop-nan --split-by name --json
out_has "by a column" '"test": 12'
