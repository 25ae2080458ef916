# Lab 1's training: the tables, the files, the notice of simulated data, and what can go wrong.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME

run train jsc-tiny jsc --max-epochs 2 --batch-size 256
succeeds "the lab's command"
out_has "the configuration table" '^\| batch_size +\| +128 +\| +256 +\| +256 +\|$'
sed -n '/^  | Name/,/model params size/p' "$T/out" >"$T/shown"
cat >"$T/expected" <<'END'
  | Name      | Type               | Params
-------------------------------------------------
0 | model     | JSC_Tiny           | 117
1 | loss_fn   | CrossEntropyLoss   | 0
2 | acc_train | MulticlassAccuracy | 0
3 | acc_val   | MulticlassAccuracy | 0
4 | acc_test  | MulticlassAccuracy | 0
5 | loss_val  | MeanMetric         | 0
6 | loss_test | MeanMetric         | 0
-------------------------------------------------
117       Trainable params
0         Non-trainable params
117       Total params
0.000     Total estimated model params size (MB)
END
same "the model summary" "$T/expected" "$T/shown"
err_has "one line per epoch" '^INFO +Epoch 2/2: train_loss [0-9.]+, train_acc [0-9.]+, val_loss [0-9.]+, val_acc [0-9.]+'
err_has "the stand-in is named in the log" 'simulated stand-in, not the CERN file'
out_has "and beside the result" '^simulated stand-in, not the CERN file$'
p=$(echo mase_output/jsc-tiny_classification_jsc_*)
for f in software/training_ckpts/best.ckpt software/training_ckpts/last.ckpt software/metrics.csv \
    software/training_curve.svg software/tensorboard/lightning_logs/version_0/hparams.yaml run.json; do
    holds "writes $f" test -s "$p/$f"
done
holds "writes events" sh -c 'ls "$1"/software/tensorboard/lightning_logs/version_0/events.out.tfevents.*' sh "$p"
holds "run.json has the notice" grep -q '"notice": "simulated stand-in, not the CERN file"' "$p/run.json"
holds "run.json has the hash of every file" test "$(grep -c '"sha256"' "$p/run.json")" -eq 7
holds "metrics.csv has Lightning's columns" grep -q \
    '^epoch,lr-Adam,step,train_acc_step,train_loss_step,val_acc_epoch,val_loss_epoch,' "$p/software/metrics.csv"
holds "a row every 50 steps and one per epoch" test "$(wc -l <"$p/software/metrics.csv")" -eq 93

# Counts of the lab's networks.
summary()
{
    run train "$1" jsc --debug --batch-size 64
    succeeds "$1: one batch"
    out_has "$1 has $2 parameters" "^$2 +Trainable params\$"
    err_has "$1 has $3 parameters exactly" "^INFO +$3 trainable parameters"
}
rm -rf mase_output
summary jsc-tiny-127 127 127
summary jsc-toy 327 327
summary jsc-s '5\.6 K' 5615
summary jsc-test '11\.0 K' 11015
holds "a debug run writes nothing" test ! -e mase_output

# From a file; every schedule and way to hold gradients together.
cat >c.toml <<'END'
model = "jsc-toy"
dataset = "jsc"
project = "toml"
max_epochs = 2
batch_size = 1024
learning_rate = 1e-2
training_optimizer = "sgd"
lr_schedule = "step"
lr_step_size = 1
warmup_steps = 100
clip_norm = 1.0
clip_value = 0.5
label_smoothing = 0.1
class_weights = "balanced"
accumulate_grad_batches = 2
log_every_n_steps = "NA"
END
run train --config c.toml
succeeds "from a configuration file"
out_has "options beyond the original's are shown when set" '^\| lr_schedule +\| +cosine +\| +step +\| +\| +step +\|$'
err_has "the step schedule cut the rate" 'Epoch 2/2: .* lr 0\.001,'
run train --config c.toml --max-steps 100 --project steps
succeeds "so many steps"
holds "and not more" grep -q '"steps": 100,' mase_output/steps/run.json
run train --config c.toml --learning-rate 0 --lr-schedule constant --min-delta 1 --patience 1 \
    --max-epochs 9 --project patience
succeeds "early stopping"
holds "says why it stopped" grep -q '"stopped": "no better validation loss"' mase_output/patience/run.json
holds "after the second epoch" grep -q '"epochs": 2,' mase_output/patience/run.json

# Weights to start from.
w=mase_output/toml/software/training_ckpts/last.ckpt
run train --config c.toml --load $w --learning-rate 0 --max-epochs 1 --project loaded
succeeds "start from a checkpoint"
loss() { tail -1 "mase_output/$1/software/metrics.csv" | cut -d, -f7 | cut -c1-4; }
holds "it starts where that ended" test "$(loss loaded)" = "$(loss toml)"

rm -rf mase_output
run train jsc-tiny jsc --require-real-data
refused "a stand-in that is not wanted" 'jsc'
run train jsc-tiny --max-steps 1 --project usual
succeeds "a model's usual dataset"
err_has "it is said" '^INFO +No dataset is named: jsc, the usual one of jsc-tiny$'
holds "and recorded" grep -q '"dataset": "jsc"' mase_output/usual/run.json
rm -rf mase_output
run train jsc-tiny mnist
refuses "samples that the model cannot take, whose files are not here" ch jsc-tiny mnist '[1, 28, 28]'
rm -rf mase_output
run train jsc-tiny jsc --class-weights 1,2
refuses "class weights that do not fit" ch class_weights 1,2 2 5
run train jsc-tiny jsc --batch-size 1
refuses "batches too small for batch norm" ch batch 2
run train jsc-tiny jsc --batch-size 64,128
refuses "a list, which only sweep takes" ch --batch-size 64,128 1..16777216
run train vgg7 jsc
refuses "a network for other data" ch vgg7 3 jsc '[16]'
holds "nothing was written" test ! -e mase_output

# One colour for training and one for validation, in the picture and on the page.
run train toy toy_tiny --max-epochs 3 --project colours
svg=$(find mase_output/colours -name training_curve.svg)
holds "a curve and a page" "$CH" report mase_output/colours
colour_of()
{
    # the class of the line whose legend says this
    tr '\n' ' ' <"$1" | grep -oE "line c[0-9]\"[^>]*/>(</svg>| <text[^>]*>)$2<" | grep -oE 'c[0-9]' | head -1
}
for what in training validation; do
    colour_of "$svg" "$what loss" >picture
    colour_of mase_output/colours/report.html "$what" >page
    holds "$what: there is a colour" [ -s picture ]
    same "$what: it is the same" picture page
done
