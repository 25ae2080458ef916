# Formats that training learns: steps (lsq), offsets, bounds, bits (hgq) and their cost.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME
config() {
    printf 'model = "jsc-tiny"\ndataset = "jsc-sim"\nbatch_size = 1024\nmax_epochs = 2\n'
    printf 'learning_rate = 0.01\n[passes.quantize]\nby = "type"\n'
    printf 'default = { config = { name = "NA" } }\n[passes.quantize.linear.config]\n%s\n' "$1"
}
config 'name = "lsq"
data_in_width = 4
weight_width = 3
weight_axis = 0
bias_name = "NA"' >lsq.toml
config 'name = "hgq"
data_in_width = 6
data_in_axis = 1
weight_width = 6
weight_block_size = 1
bias_width = 6' >hgq.toml
ckpts=software/training_ckpts
acc() { sed -n 's/.*"test_acc_epoch": //p' "mase_output/$1/software/test/run.json"; }

run train --config lsq.toml --project lsq
succeeds "a network learns its steps"
err_has "and says in what" 'Quantised, 1 node: data_in lsq\(4\), weight lsq\(3, 0\)'
run show mase_output/lsq/$ckpts/last.ckpt
out_has "they lie among its parameters" 'seq_blocks.2.weight_scale'
run test --config lsq.toml --load mase_output/lsq --project t1
succeeds "tested with its configuration"
run test jsc-tiny jsc-sim --load mase_output/lsq --project t2
succeeds "and without"
holds "alike" test "$(acc t1)" = "$(acc t2)"
run test --config lsq.toml --load mase_output/lsq --cpu 2 --project t3
holds "by two threads, too" test "$(acc t1)" = "$(acc t3)"
run weights mase_output/lsq/$ckpts/last.ckpt
succeeds "weights are shown"

# What was never trained has nothing to round by.
run train jsc-tiny jsc-sim --max-steps 1 --batch-size 1024 --project float
run test --config lsq.toml --load mase_output/float --project never
refuses "an untrained one" ch seq_blocks.2.data_in_scale

# The same bits after a pause, and by any number of threads.
run train --config lsq.toml --max-epochs 1 --project half
run train --config lsq.toml --project half --resume
succeeds "resumed"
holds "to the same bytes" cmp mase_output/half/$ckpts/last.ckpt mase_output/lsq/$ckpts/last.ckpt
run train --config lsq.toml --cpu 2 --project two
holds "and with two threads" cmp mase_output/two/$ckpts/last.ckpt mase_output/lsq/$ckpts/last.ckpt

# An average of the weights is what is measured and kept; training goes on with the weights.
run train --config lsq.toml --average-weights 0.9 --project average
succeeds "averaged"
holds "it is another network" sh -c "! cmp -s mase_output/average/$ckpts/last.ckpt mase_output/lsq/$ckpts/last.ckpt"
run train --config lsq.toml --max-epochs 1 --average-weights 0.9 --project half2
run train --config lsq.toml --average-weights 0.9 --project half2 --resume
succeeds "resumed"
holds "to the same bytes" cmp mase_output/half2/$ckpts/last.ckpt mase_output/average/$ckpts/last.ckpt

# The float network that it was teaches it, and is kept beside it.
taught() { run train --config lsq.toml --load mase_output/float --max-steps 6 --distill 0.5 "$@"; }
taught --project taught
succeeds "taught by the float network"
run train --config lsq.toml --load mase_output/float --max-steps 6 --distill 0 --project alone1
run train --config lsq.toml --load mase_output/float --max-steps 6 --project alone2
holds "a share of 0 is none" cmp mase_output/alone1/$ckpts/last.ckpt mase_output/alone2/$ckpts/last.ckpt
holds "and half of it another network" sh -c "! cmp -s mase_output/taught/$ckpts/last.ckpt mase_output/alone1/$ckpts/last.ckpt"
taught --max-steps 3 --project half3
taught --project half3 --resume
succeeds "resumed"
holds "to the same bytes" cmp mase_output/half3/$ckpts/last.ckpt mase_output/taught/$ckpts/last.ckpt
taught --cpu 2 --project two3
holds "and with two threads" cmp mase_output/two3/$ckpts/last.ckpt mase_output/taught/$ckpts/last.ckpt
taught --project half3 --resume --distill 0.25
refuses "another share" "$PWD/mase_output/half3/$ckpts/last.ckpt" distill 0.5
run train --config lsq.toml --distill 0.5 --max-steps 1 --project untrained
err_has "a teacher who has learned nothing is told" 'distill: the float network to learn from has initial weights'
run train jsc-tiny jsc-sim --distill 0.5
refuses "none" ch 0.5 '[passes.quantize]'
printf 'model = "jsc-tiny"\ndataset = "jsc-sim"\ndistill = 0.5\n' >none.toml
run train --config none.toml
refuses "none in a file" none.toml:3:11 0.5 '[passes.quantize]'
run train --config lsq.toml --distill 1.5
refuses "more than all" ch --distill 1.5 0.0..1.0
run train --config lsq.toml --distill 0.5 --distill-temperature 0
refuses "no temperature" ch --distill-temperature 0.0 0.01..1000.0

run sweep --config lsq.toml --distill 0.5 --max-steps 2 --set passes.quantize.linear.config.weight_width=2,3 --project swept
succeeds "in a sweep the float network has no teacher"

# Steps that come on later start then.
run train --config lsq.toml --quantize-after 1 --project later
succeeds "after an epoch in float"
run test jsc-tiny jsc-sim --load mase_output/later --project t4
succeeds "which is tested as it was trained"

# Bits: a cost draws them down.
run train --config hgq.toml --project free
succeeds "bits are learned"
err_has "and counted" 'Epoch 2/2: .*ebops [0-9]+,'
run train --config hgq.toml --ebops-weight 0.001 --bits-hold 0 --project dear
err_has "dear ones go" 'Epoch 2/2: .*ebops [0-9]{1,3},'
run test jsc-tiny jsc-sim --load mase_output/dear --project t5
succeeds "what is left computes"

# No step comes to nothing, trained as the tutorial does, or with a rate beyond reason.
config 'name = "lsq"
data_in_width = 4
weight_width = 4
weight_axis = 0' >kept.toml
all_above_zero() { # the column Min of what formats have learned
    run show mase_output/$1/$ckpts/last.ckpt --stats
    holds "$2" sh -c "awk '/_(scale|bound) /{n++; bad += !(\$6 > 1e-12)} END{exit !(n && !bad)}' '$T/out'"
}
run train --config kept.toml --model jsc-s --learning-rate 3e-3 --batch-size 256 --project kept
succeeds "a network learns its steps"
all_above_zero kept "none is lost"
run train --config kept.toml --learning-rate 3 --batch-size 16384 --project lost
all_above_zero lost "with a rate of 3 neither"
holds "and of none is warned" sh -c "! grep -q 'trained to 0' '$T/err'"

# An older release could train steps to 0 or below: such a checkpoint loads as it is, and when training
# goes on these begin anew.
if python3 -c '' 2>/dev/null; then
    run convert mase_output/kept/$ckpts/last.ckpt kept.safetensors
    python3 - mase_output/kept/$ckpts/last.ckpt old.ckpt <<'END'
import json, struct, sys, zipfile
data = open("kept.safetensors", "rb").read()
size = struct.unpack("<Q", data[:8])[0]
steps = [v for k, v in json.loads(data[8 : 8 + size]).items() if k.endswith("2.weight_scale")][0]["data_offsets"]
steps = data[8 + size + steps[0] : 8 + size + steps[1]]
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2], "w") as new:
    for name in old.namelist():
        new.writestr(name, old.read(name).replace(steps, struct.pack("<2f", -0.01, 0) + steps[8:]))
END
    run test --config kept.toml --model jsc-s --load old.ckpt
    succeeds "it is tested as it is"
    run train --config kept.toml --model jsc-s --load old.ckpt --learning-rate 1e-3 --max-steps 20 --project old
    err_has "said" "'module_list.2.weight_scale' is 0 or below in 2 of 64 blocks, which start anew"
    all_above_zero old "and trained"
else
    skip "older checkpoints" "no python3"
fi

# What cannot be.
config 'name = "lsq"
data_in_width = 4
weight_width = 0
bias_name = "NA"' >bad.toml
run train --config bad.toml
refuses "no bits" bad.toml:12:16 weight_width 0 1..24
config 'name = "lsq"
data_in_width = 4
weight_width = 4
weight_axis = 2
bias_name = "NA"' >bad.toml
run train --config bad.toml
refused "an axis that is none" 'weight: axis = 2 is no dimension of a tensor with 2'
run train --config hgq.toml --ebops-weight 2
refuses "a weight beyond 1" ch --ebops-weight 2.0 0.0..1.0

# Operands of one format share what it learns, so they have as many blocks.
joined()
{
    printf "mase-graph 1\nname joined\n\nmodule a = Linear(in_features=4, out_features=3)\nmodule b = Linear(in_features=4, out_features=%s)\n" "$1"
    printf "%s" "$2"
    printf "\n%%x = placeholder[target=x]\n%%a = call_module[target=a](args = (%%x,), kwargs = {})\n%%b = call_module[target=b](args = (%%x,), kwargs = {})\n"
    printf "%%cat = call_function[target=torch.cat](args = ([%%a, %%b], 1), kwargs = {})%s\nreturn %%cat\n" "$3"
}
printf '[passes.quantize]\nby = "type"\n[passes.quantize.default.config]\nname = "NA"\n[passes.quantize.cat.config]\nname = "lsq"\ndata_in_width = 4\ndata_in_axis = 1\n' >cat.toml
joined 5 "" "" >joined.mg
run convert joined.mg out.mg --input-shape 4 --config cat.toml
refused "joined channels of different numbers" 'cat: lsq learns for 3 blocks, but its data_in_1 has 5'
joined 3 "" "" >joined.mg
run convert joined.mg out.mg --input-shape 4 --config cat.toml
succeeds "and of one number"
joined 5 "attr cat.data_in_scale = f32[3] init unset
" " quantized {name: 'lsq', data_in_width: 4, data_in_axis: 1}" >stored.mg
run show stored.mg --input-shape 4 --program
refuses "a file that says so" stored.mg:11:29 cat.data_in_scale 3 5
