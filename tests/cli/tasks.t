# What a network is trained for: --task decides loss, metrics and what is read of the data.
data=$SOURCE/tests/data/tasks
# linear IN OUT: a network of one layer
linear()
{
    cat <<END
mase-graph 1
module fc = Linear(in_features=$1, out_features=$2)
%x = placeholder[target=x]
%y = call_module[target=fc](args = (%x,), kwargs = {})
return %y
END
}
linear 2 1 >one.mg
linear 2 2 >two.mg
linear 4 2 >labels.mg
cat >maps.mg <<'END'
mase-graph 1
module c = Conv2d(in_channels=1, out_channels=3, kernel_size=3, padding=1)
%x = placeholder[target=x]
%y = call_module[target=c](args = (%x,), kwargs = {})
return %y
END
cat >tokens.mg <<'END'
mase-graph 1
module e = Embedding(num_embeddings=7, embedding_dim=7)
%x = placeholder[target=x]
%i = call_method[target=long](args = (%x,), kwargs = {})
%y = call_module[target=e](args = (%i,), kwargs = {})
return %y
END
# price = 2 a - b + 1, rent = a / 4; side is left where a > b
awk 'BEGIN { print "a,b,price,rent,side"
    for (i = 0; i < 200; i++) { a = i * 7 % 20 / 10; b = i * 11 % 17 / 10
        print a "," b "," 2 * a - b + 1 "," a / 4 "," (a > b ? "left" : "right") } }' >t.csv
quick='--learning-rate 0.1 --batch-size 16 --max-epochs 6 --log-level error'

# ---- regression ----
run train one.mg t.csv:price --task reg --features a,b --project reg $quick
succeeds "a regression trains"
out_has "its table has R2" '\| train_loss \| train_r2 +\| val_loss \| +val_r2 +\|'
out_lacks "and no accuracy" '_acc'
holds "metrics.csv has R2" grep -q '^epoch,lr-Adam,step,train_r2_step,train_loss_step,val_r2_epoch,' mase_output/reg/software/metrics.csv
run test one.mg t.csv:price --load mase_output/reg --project test --json
succeeds "it is tested without being told its task"
out_has "R2" '"test_r2_epoch": 0\.[789]'
out_has "by output" '"rmse": [0-9.e-]+'
out_has "by the column's name" '"name": "price"'
out_lacks "no accuracy" 'acc'
run test one.mg t.csv:price --load mase_output/reg --project test --task cls
refused "not as another task" '--task cls contradicts .*, which was trained for task regression'
run test one.mg t.csv:price --load mase_output/reg --project reg --log-level error
run report mase_output/reg --log-level error
succeeds "its report"
holds "shows R2" grep -q 'Test R2' mase_output/reg/report.html
holds "and no accuracy" sh -c '! grep -qi accuracy mase_output/reg/report.html'
run train two.mg t.csv --label price,rent --features a,b --task reg --loss huber --loss-delta 0.5 --project both $quick
succeeds "two numbers by Huber's loss"
run test two.mg t.csv --load mase_output/both --project test --format csv --log-level error
out_has "each is told" '^rent,[0-9.]+,[0-9.e-]+,[0-9.e-]+$'
run predict two.mg --load mase_output/both --input "$data/points.npy" --output y.npy --project test
succeeds "numbers are predicted"
run sweep one.mg t.csv:price --task reg --features a,b --loss mse --learning-rate 0.1,0.01 --project sweep --max-epochs 2 \
    --log-level error
succeeds "a sweep"
out_has "by R2" '\| test_r2 \|'
run report mase_output/sweep --log-level error
succeeds "and its report"
run train one.mg t.csv:price --task reg --features a,b --project reg --resume $quick --loss l1
refuses "a run goes on with its loss" "$PWD/mase_output/reg/software/training_ckpts/last.ckpt" loss None
cat >q.toml <<'END'
[passes.quantize]
by = "type"
default.config = { name = "integer", data_in_width = 8, data_in_frac_width = 5, weight_width = 8, weight_frac_width = 5, bias_width = 8, bias_frac_width = 5 }
END
run calibrate --config q.toml one.mg t.csv:price --load mase_output/reg --project calibrated --measure test --log-level error
succeeds "calibration"
out_has "compares R2" '^Network +Split +Samples +R2 +Loss$'

# ---- two classes, several labels, the input itself, positions, tokens ----
run train one.mg t.csv:side --task binary --features a,b --project binary $quick
succeeds "two classes by one output"
run test one.mg t.csv:side --load mase_output/binary --project test --json --log-level error
out_has "AUC" '"auc": [01]'
out_has "F1" '"f1": [01]'
run train labels.mg "$data/labels.npz" --task multilabel --project labels $quick
succeeds "several labels"
run test labels.mg "$data/labels.npz" --load mase_output/labels --project test --json --log-level error
out_has "exact matches" '"exact_match": 0\.[0-9]'
out_has "AUC of each" '"auc": [01]'
run train two.mg t.csv:side --task autoencode --features a,b --project auto $quick
succeeds "the input itself"
run train maps.mg "$data/maps.npz" --task seg --project maps $quick --log-level info
succeeds "a class at each position"
iou=$(grep -o 'val_mean_iou [0-9.]*' "$T/err" | tail -n 1)
run test maps.mg "$data/maps.npz" --load mase_output/maps --project test --json --log-level error
out_has "IoU" '"mean_iou": 0\.[0-9]'
holds "which every epoch tells of what validates" test -n "$iou"
run train tokens.mg "$data/tokens.npz" --task lm --project tokens $quick
succeeds "the next token"
out_has "perplexity" 'val_ppl'

# ---- what does not fit ----
run train one.mg t.csv:price --features a,b --project bad
refused "numbers are no classes" 'label 1\.3 is no class.*--task reg takes numbers of any kind'
run train one.mg jsc --task reg --project bad
refused "named data has no numbers" 'jsc has classes, and no numbers to predict'
run train two.mg t.csv:price --task reg --features a,b --project bad
refused "outputs and targets" 'the network has 2 outputs, but t.csv:price has 1 target for a sample'
run train one.mg t.csv:price --task multilabel --features a,b --project bad
refused "labels of 0 and 1" 'a value of target price is [-0-9.]+; labels of task multilabel are 0 or 1'
run train two.mg t.csv:side --task binary --features a,b --project bad
refused "one output for two classes" 'for task binary it has one, positive for class right'
run train one.mg t.csv:side --task reg --features a,b --project bad
refused "names are no numbers" "side is 'right', not a number"
run train maps.mg t.csv --task seg --project bad
refused "tables have no maps" 'task segmentation takes arrays X and y'
run train one.mg t.csv:price --task reg --loss bce --project bad
refused "a loss of another task" 'loss = bce: task regression has mse l1 huber'
run train one.mg t.csv:price --task reg --class-weights balanced --project bad
refused "class weights" 'class_weights is not for task regression'
run train one.mg t.csv:price --task tran --project bad
refused "a task that is not there" 'task tran is not trained or tested by this version'
sed '5s/,[^,]*,\([^,]*,[^,]*\)$/,nan,\1/' t.csv >nan.csv
run train one.mg nan.csv:price --task reg --features a,b --project bad
refused "no number" 'nan.csv:5:[0-9]+: '
run train one.mg t.csv:price,price --task reg --features a,b --project bad
refused "a column twice" "the labels name column 'price' twice"
run sweep one.mg t.csv:price --task reg,cls --features a,b --project bad
refuses "one task for a sweep" ch --task reg,cls classification
run data info t.csv:price --task reg --features a,b --split 0.5,0.25,0.25
succeeds "numbers are divided by shares"
out_has "as they are asked for" '^validation +50$'

# ---- scaled targets ----
# sales = 1000 price + 5000: too large to be learnt as it is
awk -F, 'NR == 1 { print $0 ",sales" } NR > 1 { print $0 "," 1000 * $3 + 5000 }' t.csv >large.csv
run train one.mg large.csv:sales --task reg --features a,b --target-scaling standard --project large $quick
succeeds "scaled targets"
run test one.mg large.csv:sales --load mase_output/large --project test --json --log-level error
succeeds "are remembered"
out_has "R2" '"test_r2_epoch": 0\.[789]'
out_has "errors are in the measure of the data" '"rmse": [1-9][0-9][0-9]\.'
run train two.mg large.csv --label sales,rent --features a,b --task reg --target-scaling standard --project two $quick
run test two.mg large.csv --label sales,rent --load mase_output/two --project test --json --all-rows --log-level error
# of each output the squares are n rmse^2, the spread that divided by 1 - R2: all together are the score
holds "R2 of several is that of all differences in the measure of the data" awk '
    { gsub(/[",]/, "") }
    $1 == "test_r2_epoch:" { score = $2 }
    $1 == "r2:" { r2 = $2 }
    $1 == "rmse:" && r2 != "" { squares += $2 * $2; spread += $2 * $2 / (1 - r2) }
    END { all = 1 - squares / spread; off = score - all; print score, all
        exit !(spread > 0 && off < 1e-6 && off > -1e-6) }' "$T/out"
run predict one.mg --load mase_output/large --input "$data/points.npy" --output large.npy --project test --log-level error
if command -v python3 >/dev/null && python3 -c 'import numpy' 2>/dev/null; then
    holds "and so are predictions" python3 -c '
import numpy; y = numpy.load("large.npy"); assert abs(y[1, 0] - 8000) < 1000 and abs(y[2, 0] - 6000) < 1500, y'
else
    skip "and so are predictions" "no numpy"
fi
run test one.mg large.csv:sales --load mase_output/large --project test --target-scaling none
refused "and not undone" '--target-scaling none contradicts'
run train one.mg t.csv:side --task binary --target-scaling standard --project bad
refused "of numbers alone" '--target-scaling is for the numbers of task regression'
run transform --config q.toml one.mg large.csv:sales --load mase_output/large --project quantised --log-level error
succeeds "a network is saved"
saved=$(find mase_output/quantised -name graph_module.mg | head -n 1)
run test one.mg large.csv:sales --load "${saved%/*}" --project test --json --log-level error
succeeds "with its task and scaling"
out_has "errors stay in the measure of the data" '"rmse": [1-9][0-9]+[.0-9]*,'
run data info "$data/maps.npz" --task seg
succeeds "maps are shown"
out_has "by the positions of each class" '^train +87 +[0-9]+ +[0-9]+ +[0-9]+$'
run train maps.mg "$data/maps.npz" --task seg --class-weights balanced --project weighted $quick
succeeds "and may be weighted by class"

# ---- a loss of one's own ----
sgd="--task reg --features a,b --log-level warning --training-optimizer sgd --lr-schedule constant --learning-rate 0.05 --batch-size 48 --seed 1"
own='sqrt(mean((output - target) ** 2)) + 1e-3 * mean(abs(output))'
last=software/training_ckpts/last.ckpt
run train one.mg t.csv:price $sgd --loss "$own" --max-epochs 4 --threads 1 --project own1
succeeds "an expression"
run train one.mg t.csv:price $sgd --loss "$own" --max-epochs 4 --threads 2 --project own2
run convert mase_output/own1/$last own1.npz
run convert mase_output/own2/$last own2.npz
holds "the same bits with two threads" cmp own1.npz own2.npz
run train one.mg t.csv:price $sgd --loss "$own" --max-epochs 2 --project own3
run train one.mg t.csv:price $sgd --loss "$own" --max-epochs 4 --project own3 --resume
succeeds "goes on"
run convert mase_output/own3/$last own3.npz
holds "with the same bits" cmp own1.npz own3.npz
run train one.mg t.csv:price $sgd --loss 'mean(abs(output - target))' --max-epochs 6 --project own3 --resume
refuses "not with another" "$PWD/mase_output/own3/software/training_ckpts/last.ckpt" loss sqrt
holds "it is recorded" grep -q '"loss": "sqrt(mean' mase_output/own1/run.json
run test one.mg t.csv:price --load mase_output/own1 --features a,b --project test --json --log-level error
out_has "the test has it from the checkpoint" '"test_loss_epoch": [0-9]'
for loss in mse 'mean((output - target) ** 2)'; do
    run train one.mg t.csv:price $sgd --loss "$loss" --max-epochs 3 --project "same$((n += 1))"
    run test one.mg t.csv:price --load "mase_output/same$n" --features a,b --project test --json --log-level error
    grep -oE '"test_(loss|r2)_epoch": [-0-9]+.[0-9]{5}' "$T/out" >"same$n"
done
holds "that of the table, written out, is the same" cmp same1 same2
cat >own.py <<'END'
import torch


def quantile(output, target, q=0.5):
    d = target - output
    return torch.maximum(q * d, (q - 1) * d).mean()


class Learns(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))

    def forward(self, output, target):
        return (self.scale * (output - target)).abs().mean()
END
run train one.mg t.csv:price $sgd --loss 'own.py:quantile(q=0.9)' --max-epochs 2 --project own4
succeeds "a function of a file"
out_has "the summary names it" '^1 \| loss_fn +\| quantile '
run test one.mg t.csv:price --load mase_output/own4 --features a,b --project test --json --log-level error
succeeds "which the test asks again"
run sweep one.mg t.csv:price $sgd --loss "$own" --learning-rate 0.01,0.05 --max-epochs 1 --project swept
succeeds "sweeps take it"
run train one.mg t.csv:price $sgd --loss own.py:Learns --project bad
refused "it has nothing to learn" 'the loss has parameters of its own, which nothing would train: scale'
run train one.mg t.csv:price $sgd --loss 'output - target' --project bad
refused "one number" 'the loss is f32\[N, 1\]; it has to be one number for a batch'
run train one.mg t.csv:price $sgd --loss 'mean(target)' --project bad
refused "of the output" 'the loss does not follow the output'
run train one.mg t.csv:price $sgd --loss 'mean(rand_like(output))' --project bad
refused "by no chance" 'loss:1:6: rand_like: a loss draws no numbers'
run train one.mg t.csv:side --task binary --features a,b --loss 'mean(abs(output))' --label-smoothing 0.1 --project bad
refused "it says all" "label_smoothing is not for a loss of one's own"
run train tokens.mg "$data/tokens.npz" --task lm --loss 'mean(abs(output))' --project bad
refused "perplexity is of cross entropy" 'task language_modeling is judged by its perplexity'
printf 'task = "reg"\nloss = "mean(abs(outptu - target))"\n' >own.toml
run train --config own.toml one.mg t.csv:price --features a,b --project bad
refused "a fault has its place in the file" "own.toml:2:18: 'outptu' is neither output nor target"

# ---- a network whose samples depend on each other ----
cat >mix.mg <<'END'
mase-graph 1
name mix
module fc = Linear(2, 1)
%x = placeholder[target=x]
%fc = call_module[target=fc](args = (%x,), kwargs = {})
%mean = call_method[target=mean](args = (%fc, 0), kwargs = {})
%sub = call_function[target=operator.sub](args = (%fc, %mean), kwargs = {})
return %sub
END
run convert mase_output/own1/software/training_ckpts/last.ckpt mix.pt
for batch in 3 150; do
    run test mix.mg t.csv:price --task reg --features a,b --load mix.pt --batch-size $batch --project test --json --log-level warning
    succeeds "tested $batch at a time"
    grep -o '"test_loss_epoch": [0-9.]*' "$T/out" >"mix$batch"
done
holds "which makes a difference" sh -c '! cmp -s mix3 mix150'

# ---- several inputs ----
cat >both.mg <<'END'
mase-graph 1
%x = placeholder[target=x]
%y = placeholder[target=y]
%add = call_function[target=operator.add](args = (%x, %y), kwargs = {})
return %add
END
run train both.mg t.csv:price --task reg --features a,b --project bad
refused "columns for two inputs" "the network takes 2 inputs, x, y; t\.csv:price has columns: .*--features 'A,B;C' divides columns among them"
