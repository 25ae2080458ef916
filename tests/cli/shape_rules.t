# How often the shape rules of operations run: at most three times for an operation in any command,
# in the batches that stand for any.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME
lab=$SOURCE/configs/examples/jsc_toy_by_type.toml
best=mase_output/run/software/training_ckpts/best.ckpt
saved=mase_output/lab/software/transform/transformed_ckpt
sed "s/_frac_width = 4/_frac_width = \"auto\"/" "$lab" >auto.toml
printf '[passes.prune]\nsparsity = 0.5\n' >prune.toml
{
    printf '\223NUMPY\001\000\166\000'
    printf "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 16), }%80s" '' | head -c 117
    printf '\n'
    head -c 256 /dev/zero
} >x.npy

# The words of a command on jsc-tiny, which has four operations, behind the least of rules it runs.
while read -r least command; do
    eval "run $command --log-level debug"
    succeeds "ch $command"
    rules=$(sed -n 's/.*counted: \([0-9]*\) shape rules.*/\1/p' "$T/err")
    echo "$rules shape rules" >"$T/why"
    holds "asks at most three shape rules for an operation" test "${rules:-13}" -le 12 -a "${rules:-0}" -ge "$least"
done <<'END'
12 transform --config "$lab" --task cls --cpu=0 --project lab
12 train jsc-tiny jsc-sim --max-epochs 1 --max-steps 4 --project run
12 train jsc-tiny jsc-sim --config "$lab" --load $saved --max-epochs 1 --max-steps 4 --project qat
12 test jsc-tiny jsc-sim --load $best
12 test jsc-tiny jsc-sim --load $saved
12 predict jsc-tiny --load $best --input x.npy --output y.npy
12 show jsc-tiny
12 show jsc-tiny --program
0 show $best
12 emit c jsc-tiny jsc-sim --load $best --output floats
12 emit c jsc-tiny jsc-sim --load $saved --output integers
12 convert jsc-tiny net.onnx --load $best
12 convert jsc-tiny qnet.onnx --load $saved
12 show net.onnx
12 test net.onnx jsc-sim
12 verify jsc-tiny jsc-sim --load $saved
12 calibrate jsc-tiny jsc-sim --load $best --config auto.toml --output auto
12 sweep jsc-tiny jsc-sim --max-epochs 1 --max-steps 2 --learning-rate 0.01
12 prune jsc-tiny jsc-sim --load $best --config prune.toml --project pruned
12 trace jsc-tiny jsc-sim --load $saved
12 diff jsc-tiny --dataset jsc-sim --load $best --config "$lab"
0 explain jsc-tiny --config "$lab"
0 weights jsc-tiny --load $saved
END
