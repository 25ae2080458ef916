# The folder of a run is its best checkpoint, with the network it was trained as.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME
cat >q.toml <<'END'
model = "jsc-tiny"
dataset = "jsc-sim"
[passes.quantize]
by = "type"
default = { config = { name = "NA" } }
[passes.quantize.linear.config]
name = "integer"
data_in_width = 3
data_in_frac_width = 1
weight_width = 3
weight_frac_width = 1
bias_width = 3
bias_frac_width = 1
END
quick="--max-epochs 1 --batch-size 1024"
acc() { sed -n 's/.*"test_acc_epoch": //p' "mase_output/$1/software/test/run.json"; }

# shellcheck disable=SC2086 # words
{
run train jsc-tiny jsc-sim $quick --project float
succeeds "a training run"
run transform --config q.toml --project q --load mase_output/float
succeeds "transform of its folder"
run train jsc-tiny jsc-sim $quick --project qat --load mase_output/q
succeeds "training of a quantised network"
}
best=mase_output/qat/software/training_ckpts/best.ckpt

# Whatever names it, it is measured quantised.
run test jsc-tiny jsc-sim --load $best --project t1
succeeds "test of its checkpoint"
err_has "says that formats are used" 'best\.ckpt was trained quantised: its number formats are used'
run test jsc-tiny jsc-sim --load mase_output/qat --project t2
succeeds "of its folder"
run test mase_output/qat jsc-sim --project t3
succeeds "of its folder as the model"
cp $best moved.ckpt
run test moved.ckpt jsc-sim --project t4
succeeds "of the file alone, elsewhere"
run convert mase_output/qat qat.folder --force
refused "a name that says nothing" 'cannot tell what'
run convert mase_output/qat saved
succeeds "convert to a folder"
run test saved jsc-sim --project t5
succeeds "test of that folder"
for i in 2 3 4 5; do
    holds "measure $i is the same" test "$(acc t1)" = "$(acc t$i)"
done
run convert $best alone.safetensors
succeeds "its weights alone"
run test jsc-tiny jsc-sim --load alone.safetensors --project t6
succeeds "are those of the float network"
holds "which measures otherwise" test "$(acc t1)" != "$(acc t6)"
run test jsc-tiny-127 jsc-sim --load $best
refused "in another network it is refused" 'jsc-tiny|seq_blocks|model'
run diff jsc-tiny $best
succeeds "diff with the float network"
out_has "shows the formats" 'integer'
run train jsc-tiny jsc-sim --max-epochs 2 --batch-size 1024 --project qat --resume
refuses "resumed without its formats" "$PWD/mase_output/qat/software/training_ckpts/last.ckpt" seq_blocks.2
run train jsc-tiny jsc-sim --max-epochs 2 --batch-size 1024 --project qat --load mase_output/q --resume
succeeds "resumed with them"

# Conversions of a run.
for out in x.mg x.py x.pt x.ckpt x.npz x.safetensors folder; do
    run convert mase_output/float $out
    succeeds "a run to $out"
    run convert mase_output/float/software/training_ckpts/best.ckpt "2$out"
    succeeds "its checkpoint to $out"
    case $out in folder) continue ;; esac
    holds "the same" cmp $out 2$out
done
holds "the same folder" diff -r folder 2folder
holds "which says how its data was scaled" grep -q '"scaling"' folder/scaling.json
run convert jsc-tiny folder --force
succeeds "another network into it"
holds "which nobody scaled" test ! -e folder/scaling.json
run convert 2x.ckpt folder --force
succeeds "the weights of the run into that"
holds "the same folder again" diff -r folder 2folder
run convert mase_output/qat q.mg
succeeds "a quantised run to .mg"
holds "keeps its formats" grep -q "quantized {name: 'integer'" q.mg
run convert jsc-tiny none.mg
holds "a float one has none" cmp none.mg x.mg
for word in show trace weights; do
    case $word in weights) net=mase_output/qat ;; *) net=mase_output/float ;; esac
    run $word $net
    succeeds "$word of a run"
done

# --load reaches a network whatever file it comes from.
run convert x.mg loaded --dataset jsc-sim --load mase_output/float
succeeds "a .mg file with --load"
holds "has those weights" cmp loaded/state_dict.safetensors folder/state_dict.safetensors
run convert folder again --load mase_output/float
refused "weights for what has some" "--load gives a network its weights; 'folder' holds weights"
