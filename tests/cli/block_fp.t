# A format with blocks, and one of its own kind for each operand, through the whole program.
ln -s "$SOURCE/configs/examples" c
config=c/jsc_toy_block_fp.toml

run transform --config $config --project p --log-level error
succeeds "transform"
saved=mase_output/p/software/transform/transformed_ckpt
holds "the graph says both formats" grep -q "name: 'block_fp', data_in_width: 8, data_in_exponent_width: 8, data_in_exponent_bias: None, data_in_block_size: \[1, 16\], weight_name: 'integer', weight_width: 8, weight_frac_width: 6" $saved/graph_module.mg
run show $saved/graph_module.mg
succeeds "and reads back"
run weights mase_output/p
succeeds "all weights lie on their grids"
out_has "those of blocks" '^seq_blocks\.2\.bias +block_fp\(8, 8, NA, \[16\]\) +- '
out_has "those of fixed point" '^seq_blocks\.2\.weight +integer\(8, 6\) +0\.015625 '
run trace mase_output/p --sample 3
succeeds "trace"
run report mase_output/p
succeeds "report"

run test jsc-toy jsc --load $saved --batch-size 1000
succeeds "test with a large batch"
grep -E 'accuracy|loss' "$T/out" >large
run test jsc-toy jsc --load $saved --batch-size 7
succeeds "and with a small one"
grep -E 'accuracy|loss' "$T/out" >small
same "no sample sees its neighbours" large small

run transform --config $config --project q --set 'passes.quantize.linear.config.data_in_skip_first_dim=false'
refused "blocks across samples" 'the blocks of data_in would span the samples of a batch'
run transform --config $config --project q --set 'passes.quantize.linear.config.data_in_block_size=[]'
refuses "an empty block" --set:1:50 data_in_block_size 1 8 -1..1073741824 '[]'
run transform --config $config --project q --set 'passes.quantize.linear.config.weight_name="intger"'
refused "a format that is not there" "no number format is called 'intger'"
