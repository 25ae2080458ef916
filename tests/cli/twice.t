# A pass that stands several times in a file: all runs, in the order of the file, and none takes the
# place of another.
cat >c.toml <<'END'
model = "jsc-toy"
dataset = "jsc-sim"
project = "p"
[[passes.report_graph]]
[passes.report_node_type]
[[passes.quantize]]
by = "type"
default.config.name = "NA"
linear.config = { name = "integer", data_in_width = 8, data_in_frac_width = 4, weight_width = 8, weight_frac_width = 4, bias_width = 8, bias_frac_width = 4 }
[[passes.report_graph]]
[passes.count_flops]
[[passes.quantize]]
by = "name"
default.config.name = "NA"
seq_blocks_2.config = { name = "integer", data_in_width = 4, data_in_frac_width = 2, weight_width = 4, weight_frac_width = 2, bias_width = 4, bias_frac_width = 2 }
[[passes.report_graph]]
END
run transform --config c.toml
succeeds "passes that stand twice"
dir=mase_output/p
grep -o '"pass": "[a-z_]*"' $dir/run.json | grep -Ev 'metadata|summar|save' | cut -d'"' -f4 >order
file_is "run in the order of the file" order <<'END'
report_graph
report_node_type
quantize
report_graph
count_flops
quantize
report_graph
END
for n in '' _2 _3; do
    holds "report_graph$n.txt is there" [ -s "$dir/software/transform/report_graph$n.txt" ]
done
holds "the first is of the network as it was" sh -c '! grep -q Integer "$1"' sh $dir/software/transform/report_graph.txt
holds "the second of what the first quantising made" grep -q LinearInteger $dir/software/transform/report_graph_2.txt
for n in '' _2; do
    holds "the summary of each is kept" [ -s "$dir/software/transform/quantize$n/quantize_table.csv" ]
    holds "and its result" grep -q "\"summarize_quantization$n\"" $dir/run.json
done
run show $dir
out_has "the second quantising changed its node" 'seq_blocks_2 .*integer\(4, 2\)'
out_has "and left what the first did to others" 'seq_blocks_5 .*integer\(8, 4\)'
run diff jsc-toy --config c.toml --json
cp "$T/out" one
run diff jsc-toy $dir --json
holds "diff does all of it, too" grep -q 'integer(4, 2)' one
run transform --config c.toml --json
holds "for programs each table has its key" grep -q '"report_node_type"' "$T/out"
run explain jsc-toy --config c.toml
refused "explain explains one" 'c.toml:6:.* the file quantises 2 times, and ch explain explains one of them'
run transform --config c.toml --set passes.quantize.by=name
refused "--set cannot tell them apart" "^--set:1:8: 'quantize' stands 2 times in the file: --set cannot say which is meant"
run transform --config c.toml --set passes.report_node_type=[]
refused "a list of none" 'pass report_node_type: the list of its runs is empty'
run transform --config c.toml --set 'passes.report_node_type=[{}, {x = 1}]'
refused "each is checked" "pass report_node_type: unknown option 'x'"
printf 'model = "toy"\ndataset = "toy_tiny"\nproject = "q"\n[[passes.report_graph]]\nfile_name = "a.txt"\n[[passes.report_graph]]\nfile_name = "a.txt"\n' >same.toml
run transform --config same.toml
refused "one file for two" "same.toml:6:.*pass report_graph: a pass before has written .*/a.txt: give another name"
