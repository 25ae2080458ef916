# Nothing that a run made is overwritten by another, two do not write to one place at once, and what a
# kill left is removed.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME
p=mase_output/p
ckpts=$p/software/training_ckpts
train="train jsc-tiny jsc-sim --batch-size 2048 --project p"
sum() { sha256sum "$1" | cut -c1-64; }

# shellcheck disable=SC2086 # words
{
run $train --max-epochs 1 --seed 1
succeeds "a first training"
first=$(sum $ckpts/best.ckpt)
run test jsc-tiny jsc-sim --load $ckpts/best.ckpt --project p
succeeds "its test"
tested=$(sum $p/software/test/run.json)
record=$(sum $p/run.json)
run $train --max-epochs 1 --seed 2
succeeds "a second training"
}
err_has "says where the first one is" "What an earlier train left in .*/p is now in .*/p/version_0"
holds "the newest is where it always is" test "$(sum $ckpts/best.ckpt)" != "$first"
holds "the first one is kept" test "$(sum $p/version_0/software/training_ckpts/best.ckpt)" = "$first"
holds "with its record" test "$(sum $p/version_0/run.json)" = "$record"
holds "and its test" test "$(sum $p/version_0/software/test/run.json)" = "$tested"
holds "which the second has not" test ! -e $p/software/test/run.json
for f in metrics.csv training_curve.svg tensorboard/lightning_logs/version_0/hparams.yaml; do
    holds "its $f" test -s $p/version_0/software/$f
    holds "and a new $f" test -s $p/software/$f
done
run test $p/version_0 jsc-sim --project t
succeeds "the first one is a run like any other"
run report $p/version_0 --test never --samples 0
succeeds "with a report"
run report $p --test never --samples 0
succeeds "like the second"

# shellcheck disable=SC2086
{
run $train --max-epochs 2 --seed 2 --resume
succeeds "a run that goes on"
}
holds "is the same run" test ! -e $p/version_1

# A test before and one after quantising; a transform beside the training; two of them.
printf 'model = "jsc-tiny"\ndataset = "jsc-sim"\nproject = "p"\n' >c.toml
run test jsc-tiny jsc-sim --load $p --project p
succeeds "a test"
versions=$(ls -d $p/version_*)
run test jsc-tiny jsc-sim --load $p --project p
holds "a test with the results that are there takes their place" test "$(ls -d $p/version_*)" = "$versions"
a=$(sum $p/software/test/run.json)
trained=$(sum $p/run.json)
run transform --config c.toml --load $ckpts/best.ckpt
succeeds "a transform in the same project"
holds "keeps the record of the training" test "$(sum $ckpts/run.json)" = "$trained"
run test jsc-tiny jsc-sim --load $p/software/transform/transformed_ckpt --project p
succeeds "a second test"
holds "leaves the first" test "$(sum $p/version_1/software/test/run.json)" = "$a"
t=$(sum $p/run.json)
run transform --config c.toml --load $p/software/transform/transformed_ckpt
succeeds "a second transform, of what the first made"
holds "leaves the first" test "$(sum $p/version_2/run.json)" = "$t"
holds "knows what it was made of" grep -q '"weights": ".*/p/version_2/software/transform/transformed_ckpt"' $p/run.json
holds "and by what sum" grep -q "\"weights_sha256\": \"$(sum $p/version_2/software/transform/transformed_ckpt/state_dict.safetensors)\"" $p/run.json
holds "the test of it went with it" test -e $p/version_2/software/test/run.json
# shellcheck disable=SC2086
{
run $train --max-epochs 1 --seed 3
succeeds "a third training"
}
holds "leaves the second, whose record was elsewhere" test "$(sum $p/version_3/run.json)" = "$trained"
holds "and the record of the transform" grep -q '"action": "transform"' $p/software/transform/run.json

# Sweeps.
sweep="sweep toy toy_tiny --max-epochs 1 --project s"
s=mase_output/s
# shellcheck disable=SC2086
{
run $sweep --batch-size 32,64
succeeds "a sweep"
one=$(sum $s/software/sweep/sweep.csv)
run $sweep --batch-size 32,64
succeeds "again"
holds "is the same sweep" test ! -e $s/version_0
run $sweep --batch-size 64,128
succeeds "another"
err_has "uses what is known" '2 configurations, 1 done before'
run $sweep --learning-rate 1e-2,1e-3
succeeds "a third"
}
holds "leaves the table of the first" test "$(sum $s/version_0/software/sweep/sweep.csv)" = "$one"
holds "and that of the second" grep -q '^128\|,128,' $s/version_1/software/sweep/sweep.csv
run report $s/version_0
succeeds "each has a report"

# Two at once.
# shellcheck disable=SC2086
"$CH" $train --max-epochs 1000 --seed 4 >/dev/null 2>&1 &
pid=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    test -e $p/version_4 -a -e $ckpts && break
    sleep 0.5
done
# shellcheck disable=SC2086
run $train --max-epochs 1
refused "a second run at once" 'p/software/training_ckpts: another train is writing there: wait for it, or give --project another name'
run test jsc-tiny jsc-sim --load $p/version_0 --project p
succeeds "a test meanwhile"
kill -KILL $pid
wait $pid 2>/dev/null
: >$ckpts/.mase-$pid-7.tmp
mkdir $p/software/.mase-$pid-save.tmp
: >$p/software/.mase-$pid-save.tmp/graph_module.mg
: >$ckpts/.mase-$$-7.tmp
# shellcheck disable=SC2086
run $train --max-epochs 1
succeeds "after a kill"
holds "nothing half written stays" test -z "$(find $p -name ".mase-$pid-*")"
holds "but what a living process writes" test -n "$(find $p -name ".mase-$$-*")"

# What is recorded.
isa=$(sed -n 's/.*"isa": "\(.*\)",/\1/p' $p/run.json)
holds "a transform says what it computes with" grep -q "\"isa\": \"$isa\"" $p/version_2/run.json
MASE_ISA=scalar run transform --config c.toml --project scalar
holds "which is not always the same" grep -q '"isa": "scalar"' mase_output/scalar/run.json
file_is "hparams.yaml" $p/version_0/software/tensorboard/lightning_logs/version_0/hparams.yaml <<END
model: "jsc-tiny"
dataset: "jsc-sim"
$(sed 1,2d $p/version_0/software/tensorboard/lightning_logs/version_0/hparams.yaml)
END
run train toy toy_tiny --max-epochs 1 --learning-rate 1e-5 --weight-decay 0.1 --project h
cp mase_output/h/software/tensorboard/lightning_logs/version_0/hparams.yaml "$T/out"
out_has "numbers as they were given" '^learning_rate: 1\.0e-05$'
out_has "in few digits" '^weight_decay: 0\.1$'

# An interrupt.
# shellcheck disable=SC2086
"$CH" $train --max-epochs 1000 --project i >/dev/null 2>"$T/err" &
pid=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    test -e mase_output/i/software/training_ckpts/last.ckpt && break
    sleep 0.5
done
kill -TERM $pid
wait $pid
status=$?
holds "an interrupted run ends by its signal" test $status -eq 143
err_has "and says how to go on" '^ch: interrupted; the same command with --resume goes on after the last epoch$'
