# ch show: what models and files hold, and pictures of graphs.
ln -s "$SOURCE/tests/data" d
ln -s "$SOURCE/configs/examples" c

# networks
shown "a model by name" model.txt show jsc-tiny
shown "with statistics of its weights" stats.txt show jsc-toy --seed 3 --stats
shown "for programs" model.json show jsc-tiny --format json
shown "as CSV" model.csv show jsc-tiny --format csv
shown "for GitHub" model_github.txt show toy_tiny --format github
shown "a graph in a file" graph.txt show d/ir/res_mlp.mg
run show d/ir/res_mlp.mg jsc
out_has "a dataset gives it shapes" '^fc1 +call_module +Linear +bn_in +\[1, 24\] +408$'
run show d/source/test.py:Test jsc
succeeds "a class of one's own"
out_has "traced" '^python +Test +[0-9]+ +[0-9]+ +11015 '
run show d/source/test.py:Test --dataset jsc
succeeds "an option names the data, too"
run transform --config c/jsc_toy_full_by_type.toml --project t --log-level error
run show mase_output/t
succeeds "what transform made of it"
out_has "says the formats" '^seq_blocks_2 +call_module +LinearInteger +seq_blocks_1 +\[1, 8\] +136 +integer\(8, 4\)'
out_has "and what was run" '^action +transform'
run show mase_output/t/software/transform/transformed_ckpt --format csv
succeeds "the saved folder by itself"
out_has "is of that kind" '^saved,jsc-toy,'
rm mase_output/t/software/transform/transformed_ckpt/state_dict.safetensors
run show mase_output/t/software/transform/transformed_ckpt
succeeds "a graph that lost its weights"
holds "is shown all the same, and no weights are made up" sh -c "! grep -q initialised '$T/err'"

# programs
shown "what a network computes" program.txt show jsc-tiny --program
run transform --config c/jsc_toy_by_type.toml --project q --log-level error
shown "and a quantised one" program_quantised.txt show mase_output/q --program
shown "and what its gradients are made of" program_backward.txt show mase_output/q --program --backward
run show jsc-tiny --backward
refused "gradients without the program" "--backward: gradients are shown as a program; add --program"
run show jsc-tiny --program --json
out_has "also as JSON" '"program": "mase-program 1'
run show d/ir/res_mlp.mg --program
refused "without the shape of a sample" "--program: the shape of a sample is not known; name the data, as in 'ch show d/ir/res_mlp.mg DATASET --program'"
run show d/torch/jsc-tiny.pt --program
refused "of what is no network" "--program: 'd/torch/jsc-tiny.pt' is a PyTorch file, no network"
run show d/ir/res_mlp.mg jsc --program
out_has "which the data give" '^%0 : f32\[N, 16\] = input x$'

# files of tensors
shown "a state dict" state.txt show d/torch/jsc-tiny.pt
shown "a Lightning checkpoint" lightning.txt show d/torch/jsc-tiny.ckpt
shown "types and views of every kind" mixed.txt show d/torch/mixed.pt --stats
run show d/torch/mixed_legacy.pt --stats
out_has "the older format" '^torch_old +2877 +17 +129 +492 +model_state_dict$'
tail -n +6 "$T/out" >"$T/got"
tail -n +6 "$HERE/expected/show/mixed.txt" >"$T/expected"
same "the older format holds the same" "$T/expected" "$T/got"
shown "safetensors" safetensors.txt show d/safetensors/types.safetensors
shown "an archive of arrays" npz.txt show d/data/own.npz --stats
shown "one array" npy.txt show d/npy/f2_big.npy --stats

# others
shown "a table of samples" hdf5.txt show d/data/own.h5
cat >own.toml <<'END'
model = "jsc-toy"
max_epochs = 3
[passes.quantize]
by = "type"
linear.config = { name = "integer", weight_width = 8 }
END
shown "a configuration" toml.txt show own.toml
run train toy_tiny toy_tiny --max-epochs 1 --project r --log-level error
run show mase_output/r
succeeds "a run"
out_has "says what was trained" '^model.name +toy_tiny'
run show mase_output/r/software/tensorboard/*/*/events* --format csv
succeeds "its curves"
out_has "by tag" '^train_loss_step,[0-9]+,[0-9]+,[0-9]+,'
run show mase_output/r/software/training_ckpts/last.ckpt
succeeds "its checkpoint"
out_has "says the options" '^hyper_parameters.max_epochs +integer +1$'
rm -r mase_output

# pictures
run show jsc-tiny --draw tiny.svg --log-level error
succeeds "a picture beside the tables"
holds "draws every node" sh -c '[ "$(grep -c "class=\"node " tiny.svg)" -eq 6 ]'
run show resnet18 --draw pictures/resnet18.svg --log-level error
succeeds "of a large network"
run show resnet18 --draw resnet18.dot --log-level error
holds "a text for Graphviz" grep -q '"maxpool" -> "layer1_0_conv1";' resnet18.dot
if command -v xmllint >/dev/null; then
    holds "well-formed" xmllint --noout tiny.svg pictures/resnet18.svg
else
    skip "well-formed" "no xmllint"
fi
if command -v dot >/dev/null; then
    holds "Graphviz reads it" dot -Tcanon resnet18.dot -o /dev/null
else
    skip "Graphviz reads it" "no dot"
fi
rm -r tiny.svg pictures resnet18.dot

# what cannot be shown
run show
refused "nothing to show" 'MODEL|model'
run show none.pt
refused "a name that is neither" "'none.pt' is no file or folder: there is no model 'none.pt'"
run show none/model.pt
refuses "a missing file" none/model.pt
run show d/source/test.py:Test
fails "a class without its data" <<'END'
ch: 'd/source/test.py:Test' does not say what data it takes: give --dataset NAME, or --input-shape N,N,... of a sample
END
mkdir empty
run show empty
refused "a folder of nothing" "^ch: 'empty' is a folder with neither graph_module.mg nor run.json, .* understood are: a PyTorch file \\(.pt .pth .ckpt\\), "
echo hello >hello.pt
run show hello.pt
refused "an unknown kind" "^ch: 'hello.pt' is a file of an unknown kind, .* understood are: "
for n in 1 100 2000 2816; do
    head -c $n d/torch/jsc-tiny.pt >cut.pt
    run show cut.pt
    refused "a file cut after $n bytes" '^cut.pt|^ch: .cut.pt. is a '
done
head -c 1000 d/safetensors/types.safetensors >cut.safetensors
run show cut.safetensors
refused "a file cut in its data" '^cut.safetensors@0x[0-9a-f]+: '
printf '\200\002cposix\nsystem\nU\004echo\205R.' >evil.pkl
run show evil.pkl
refused "a pickle of another kind" "is a pickle that is not PyTorch's"
# 80 keys of 1000 letters above 1000 values: every row would repeat them all
awk 'BEGIN { k = sprintf("%1000s", ""); gsub(/ /, "k", k); for (i = 0; i < 80; i++) printf "{\"%s\":", k
    printf "{"; for (i = 0; i < 1000; i++) printf "%s\"v%d\":1", i ? "," : "", i; printf "}"
    for (i = 0; i < 80; i++) printf "}" }' >deep.json
run show deep.json
refused "names that grow with depth and number" '^deep.json:1:[0-9]+: the keys, written out down to here, take more than 2.[0-9] MiB; MASE_MEMORY=4G allows more'
MASE_MEMORY=1G run show deep.json
succeeds "unless one allows it"
MASE_MEMORY=lots run show deep.json
fails "a limit that is none" <<'END'
ch: MASE_MEMORY: 'lots' is no size; allowed are bytes, or a number followed by K, M, G or T, as in 8G
END
run show jsc-tiny --draw tiny.png
fails "a picture of an unknown kind" <<'END'
ch: --draw: 'tiny.png' ends neither in .svg nor in .dot
END
run show d/torch/jsc-tiny.pt --draw tiny.svg
fails "tensors alone cannot be drawn" <<'END'
ch: --draw: 'd/torch/jsc-tiny.pt' is a PyTorch file: it has tensors and no graph
END
run explain --draw x.svg
refuses "only show draws" ch --draw FILE explain
