# A run that is killed, or whose disk is full, goes on to the same bits.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME
train="train jsc-toy jsc-sim --max-epochs 6 --batch-size 512 --learning-rate 1e-2 --seed 5"
weights() { echo "mase_output/$1/software/training_ckpts/$2.ckpt"; }

# shellcheck disable=SC2086 # words
run $train --project whole
succeeds "a whole run"

# shellcheck disable=SC2086
run $train --project anew --resume
succeeds "a run that left no checkpoint begins again"
err_has "and says so" 'WARNING +nothing to resume from, starting at the beginning: no file .*last\.ckpt'
holds "to the same weights" cmp "$(weights whole best)" "$(weights anew best)"

# Killed at moments spread over the run.
n=0
for wait in 0.1 0.2 0.25 0.3 0.4; do
    n=$((n + 1))
    # shellcheck disable=SC2086
    "$CH" $train --project k$n >/dev/null 2>&1 &
    pid=$!
    sleep $wait
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    # shellcheck disable=SC2086
    run $train --project k$n --resume
    succeeds "after a kill at $wait s"
    holds "the last checkpoint has the same bytes" cmp "$(weights whole last)" "$(weights k$n last)"
    holds "and the best one" cmp "$(weights whole best)" "$(weights k$n best)"
    cut -d, -f1-9 "mase_output/k$n/software/metrics.csv" >"$T/got"
    cut -d, -f1-9 mase_output/whole/software/metrics.csv >"$T/expected"
    same "and the metrics go on" "$T/expected" "$T/got"
done

# Stopped in the middle of an epoch.
# shellcheck disable=SC2086
run $train --project steps --max-steps 3000
succeeds "stopped by a number of steps"
# shellcheck disable=SC2086
run $train --project steps --resume
succeeds "goes on"
# Counters differ, since a validation more was done: compare the weights by what they answer.
answers()
{
    run predict jsc-toy --load "$1" --input x.npy --output "$2"
    succeeds "predict with $1"
}
{
    printf '\223NUMPY\001\000\166\000'
    printf "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 16), }%80s" '' | head -c 117
    echo
    head -c 128 /dev/zero | tr '\000' '?'
} >x.npy
answers "$(weights whole last)" a.npy
answers "$(weights steps last)" b.npy
holds "to the same answers" cmp a.npy b.npy

# Options that would change the numbers are refused; limits are not.
run train jsc-toy jsc-sim --max-epochs 6 --batch-size 512 --learning-rate 1e-2 --seed 6 --project whole --resume
refuses "another seed" "$PWD/mase_output/whole/software/training_ckpts/last.ckpt" seed 5
run train jsc-tiny jsc-sim --max-epochs 6 --batch-size 512 --learning-rate 1e-2 --seed 5 --project whole --resume
refused "another network" 'is missing or of another shape'
# shellcheck disable=SC2086
run $train --project whole --resume
succeeds "a run that is done"
err_has "has nothing left to do" 'nothing left to train'

# A checkpoint that cannot be written: the one before it survives.
cp "$(weights whole last)" "$T/before"
(ulimit -f 160 && trap '' XFSZ && "$CH" train jsc-test jsc-sim --project whole --max-epochs 1 >"$T/out" 2>"$T/err")
status=$?
refused "a full disk" 'training_ckpts/best\.ckpt'
holds "leaves the checkpoint before it" cmp "$T/before" mase_output/whole/version_0/software/training_ckpts/last.ckpt
holds "and nothing half written" test -z "$(ls -A mase_output/whole/software/training_ckpts)"

# Every optimiser's moments are in the checkpoint, and what a plateau has seen: stopped within an epoch, a run
# goes on to the same weights.
for o in nadam rmsprop adagrad lion plateau onecycle; do
    small="train jsc-tiny jsc-sim --max-epochs 3 --batch-size 4096 --learning-rate 1e-3 --training-optimizer $o"
    [ $o != onecycle ] || small="${small%onecycle}nadam --lr-schedule onecycle"
    [ $o != plateau ] || small="${small%plateau}adam --lr-schedule plateau --lr-patience 0 --learning-rate 1"
    # shellcheck disable=SC2086 # words
    run $small --project $o
    succeeds "$o"
    # shellcheck disable=SC2086
    run $small --project $o-parts --max-steps 101
    # shellcheck disable=SC2086
    run $small --project $o-parts --resume
    succeeds "$o goes on"
    run convert "$(weights $o last)" $o.safetensors
    run convert "$(weights $o-parts last)" $o-parts.safetensors
    holds "$o: to the same weights" cmp $o.safetensors $o-parts.safetensors
done

# ---- what an earlier version wrote ----
older=$SOURCE/tests/data/train/older
mkdir -p mase_output/older/software/training_ckpts
cp "$older.ckpt" mase_output/older/software/training_ckpts/last.ckpt
run train "$older.mg" toy_tiny --max-epochs 4 --batch-size 512 --learning-rate 0.01 --seed 3 --project older --resume
succeeds "a checkpoint from before some of what is kept now"
err_has "goes on where it stood" 'Resuming after epoch 2, step 40'
run convert "$(weights older last)" older.safetensors --plain
holds "to the weights that the earlier version came to" cmp older.safetensors "${older}_4.safetensors"
