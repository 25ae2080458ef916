# ch explain, diff, weights and trace on jsc-toy quantised three ways: by type, by name, by pattern.
ln -s "$SOURCE/configs/examples" c
by_type=c/jsc_toy_full_by_type.toml by_name=c/jsc_toy_by_name.toml by_regex=c/jsc_toy_by_regex_name.toml

shown "explain by type" explain_type.txt explain --config $by_type
shown "explain by name" explain_name.txt explain --config $by_name
shown "explain by pattern" explain_regex.txt explain --config $by_regex
run explain vgg7 --config $by_type
succeeds "a configuration for one network explains another"
out_has "of other data" '^feature_layers_0 +conv2d +False +default says NA'
shown "explain a bypass, a rule that says NA and a default" explain_mixed.txt explain jsc-toy \
    --config $by_name --set 'passes.quantize.seq_blocks_5.config.bypass=true' \
    --set 'passes.quantize.seq_blocks_8.config.name="NA"' \
    --set 'passes.quantize.default.config={name="integer",data_in_width=8,data_in_frac_width=4,weight_width=8,weight_frac_width=4,bias_width=8,bias_frac_width=4}'
shown "explain for GitHub" explain_github.txt explain --config $by_regex --format github
shown "explain as CSV" explain.csv explain --config $by_regex --format csv
shown "explain as JSON" explain.json explain --config $by_type --format json

for way in type name regex; do
    eval "config=\$by_$way"
    run transform --config $config --project $way --log-level error
    succeeds "transform by $way"
    shown "diff by $way" diff_$way.txt diff jsc-toy mase_output/$way --seed 42
    shown "weights by $way" weights_$way.txt weights mase_output/$way
    shown "trace by $way" trace_$way.txt trace mase_output/$way --sample 3
done
saved=mase_output/type/software/transform/transformed_ckpt

shown "all numbers of one layer" weights_node.txt weights mase_output/regex --node seq_blocks_8
shown "all values of one node in a grid" trace_node.txt trace mase_output/regex --node seq_blocks_10 --format grid
run diff jsc-toy --config $by_type --seed 42
sed '1s/B is [^:]*/B is mase_output\/type/' "$T/out" >"$T/got"
same "a configuration is a network, too" "$HERE/expected/inspect/diff_type.txt" "$T/got"
run trace jsc-toy --config $by_type --seed 0 --load $saved/state_dict.safetensors --sample 3
same "and traces as the saved one" "$HERE/expected/inspect/trace_type.txt" "$T/out"

run diff mase_output/type $saved/graph_module.mg --format csv
succeeds "a folder and its graph"
out_is "are the same" <<'END'
Node,A,B,Formats A,Formats B,Difference

Parameter,Shape A,Shape B,Values that differ,Max error,Mean error,SQNR dB

Node,A,B,Max error,Mean error,SQNR dB,Argmax flips,Rows
END
run transform jsc-toy jsc --config $by_type --project other --seed 7 --log-level error
run diff $saved/state_dict.safetensors mase_output/other/software/transform/transformed_ckpt/state_dict.safetensors
succeeds "two files of weights"
out_has "by their parameters" '^6 of 26 parameters differ$'
out_lacks "and nothing else" 'nodes differ'
run diff jsc-toy $saved/state_dict.safetensors --seed 42
out_has "weights alone take the other's graph" '^for 128 samples drawn from seed 42 every output is the same$'
run diff jsc-toy jsc-tiny
out_has "networks that are not alike" '^seq_blocks_10 .*only in A$'

# Values quantised by someone else: the layer's own floats are none.
run weights mase_output/type $saved/state_dict.safetensors
refused "floats that pose as quantised values" '^ch: [0-9]+ of 253 values are off their grid or out of range$'
run weights jsc-toy mase_output/type --seed 42
succeeds "floats of one, formats of the other"
same "are those of the folder" "$HERE/expected/inspect/weights_type.txt" "$T/out"

# Samples from a file: two rows of 16 numbers, here zeros.
{
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 16), }"
    head -c 128 /dev/zero
} >x.npy
run trace jsc-toy --input x.npy --sample 1 --node x
succeeds "a sample of a file"
out_has "named as such" '^sample 1 of .*x\.npy at x$'
run diff jsc-toy mase_output/type --seed 42 --input x.npy
out_has "all samples of a file" '^for 2 samples of '

run diff jsc-toy mase_output/type --seed 42 --batch-size 7
out_has "as many samples as asked for" '^for 7 samples drawn from seed 42 '
run diff jsc-toy mase_output/type --seed 42 --input x.npy --batch-size 1
out_has "of a file as well" '^for sample 0 of '
run trace jsc-toy --sample 1000000 --node x
succeeds "a sample far away takes no longer"

cp -r $saved bare && rm bare/state_dict.safetensors
run diff jsc-toy bare --seed 42
refused "a folder that lost its weights" 'bare/state_dict\.safetensors: .*is missing'
rm bare/SHA256SUMS
run diff jsc-toy bare --seed 42
refused "a folder without weights" '^bare: has no state_dict\.safetensors: the weights of its graph are missing$'
run show bare
succeeds "whose graph can be looked at"

own=$SOURCE/examples/own_network
run explain "$own/net.py" --dataset jsc --config "$own/quantize.toml"
out_has "a network of one's own" '^5 of 19 nodes change$'
run diff "$own/net.py" --dataset jsc --config "$own/quantize.toml"
out_has "and what it becomes" ': 5 of 19 nodes differ$'
run trace "$own/net.py" jsc --config "$own/quantize.toml" --sample 5
out_has "one sample of its data" '^sample 5 of the test split of jsc '

# A training run: its folder stands for its best weights, whose names Lightning's module wraps.
run train toy_tiny toy_tiny --max-epochs 1 --max-steps 3 --project run --log-level error
run diff toy_tiny mase_output/run
succeeds "the folder of a training run"
out_has "is its best weights" '^[1-9][0-9]* of [0-9]+ parameters differ$'
printf 'model = "toy_tiny"\ndataset = "toy_tiny"\nproject = "kept"\n' >keep.toml
run transform --config keep.toml --load mase_output/run/software/training_ckpts/best.ckpt --log-level error
run diff mase_output/run mase_output/kept/software/transform/transformed_ckpt/state_dict.safetensors
out_has "files of weights with and without a wrapper's names" '^0 of [0-9]+ parameters differ$'
run trace mase_output/run
succeeds "and its network"

mv mase_output saved
mkdir empty
run diff empty jsc-toy
fails "a folder with nothing in it" <<'END'
ch: 'empty' has no graph_module.mg, and no run of train or transform left anything in it
END
run trace vgg7 cifar10 --data-dir empty
refuses "a dataset that is not in the folder named" "$PWD/empty" data_batch_1.bin cifar10
run trace jsc-toy --input x.npy --sample 2
refused "a sample that the file does not have" 'x\.npy: has 2 samples, counted from 0; there is no sample 2$'
run trace vgg7 --input x.npy
refused "a file for another network" 'x\.npy: has the shape \[2, 16\], expected \[2, 3, 32, 32\]$'
run explain --config $by_type jsc-toyy
refused "a network that is not there" "^ch: 'jsc-toyy' is no file or folder: there is no model 'jsc-toyy'; is 'jsc-toy' meant"
run explain jsc-toy
refuses "nothing to explain" ch --config
printf 'model = "jsc-toy"\ndataset = "jsc"\n[passes.report_graph]\n' >none.toml
run explain --config none.toml
fails "a configuration that quantises nothing" <<'END'
ch: none.toml has no section [passes.quantize]
END
run diff
refused "nothing to compare" '^ch: no network given; usage: ch diff A \[B\]$'
run diff jsc-toy jsc-toy jsc-toy
refuses "too much to compare" ch jsc-toy diff '[B]'
run weights jsc-toy
refused "nothing is quantised" "^ch: no parameter of 'jsc-toy' is quantised: "
run weights saved/type --node seq_blocks_3
refused "a layer that is not quantised" "^ch: --node: no quantised layer is called 'seq_blocks_3'; did you mean"
run trace jsc-toy --node nothing_like_it
refused "a node that is not there" "^ch: --node: no node is called 'nothing_like_it'"
run trace saved/type/software/transform/transformed_ckpt/state_dict.safetensors
refused "weights cannot be traced" 'holds weights alone'
printf 'not a graph\n' >bad.mg
run diff bad.mg jsc-toy
refused "a file that is no graph" '^bad\.mg:1:'
printf 'class Net: pass\n' >net.py
run trace net.py
refused "a network of one's own without data" "^ch: 'net\.py' does not say what data it takes: give --dataset NAME"
run trace jsc-toy --sample -1
refused "a sample before the first" '--sample'
run explain --config $by_type --format html
refused "a format that is not there" 'text, grid, github, csv, json'
run explain --config $by_type --max-epochs 3
refuses "an option of training" ch --max-epochs explain
run transform --config $by_type --sample 3
refuses "and the other way round" ch --sample transform
