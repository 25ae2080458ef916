# The other example configurations: each changes what it says it changes.
example()
{
    run transform --config "$SOURCE/configs/examples/$1.toml"
    succeeds "$1"
    cut -d, -f3,7,8 "mase_output/$2/software/transform/quantize/quantize_table.csv" |
        grep ',True$' >"$T/got"
}

example jsc_toy_by_type_widths jsc-tiny-widths
holds "one layer changed" [ "$(cat "$T/got")" = "seq_blocks_2,LinearInteger,True" ]
toml=mase_output/jsc-tiny-widths/software/transform/transformed_ckpt/node_meta_param.toml
for row in 'data_in_0 16, *8' 'weight 8, *8' 'bias 8, *4'; do
    operand=${row%% *} widths=${row#* }
    sed -n "/^\[seq_blocks_2\.common\.args\.$operand\]/,/^\[/p" "$toml" >"$T/out"
    out_has "precision of $operand" "^precision = \[ *$widths,? *\]"
done

example jsc_toy_full_by_type jsc-toy
file_is "three linear layers" "$T/got" <<'END'
seq_blocks_2,LinearInteger,True
seq_blocks_5,LinearInteger,True
seq_blocks_8,LinearInteger,True
END
file_is "their histogram" mase_output/jsc-toy/software/transform/quantize/quantize_histogram.csv <<'END'
Original type,OP,Total,Changed,Unchanged
BatchNorm1d,batch_norm1d,4,0,4
Linear,linear,3,3,0
ReLU,relu,4,0,4
output,output,1,0,1
x,placeholder,1,0,1
END

example jsc_toy_by_type_relu jsc-toy-relu
file_is "and the ReLUs" "$T/got" <<'END'
seq_blocks_1,ReLUInteger,True
seq_blocks_2,LinearInteger,True
seq_blocks_4,ReLUInteger,True
seq_blocks_5,LinearInteger,True
seq_blocks_7,ReLUInteger,True
seq_blocks_8,LinearInteger,True
seq_blocks_10,ReLUInteger,True
END

example jsc_toy_by_name jsc-toy-by-name
file_is "by name" "$T/got" <<'END'
seq_blocks_2,LinearInteger,True
seq_blocks_5,LinearInteger,True
END

example jsc_toy_by_regex_name jsc-toy-by-regex-name
file_is "by pattern" "$T/got" <<'END'
seq_blocks_2,LinearInteger,True
seq_blocks_5,LinearInteger,True
seq_blocks_7,ReLUInteger,True
seq_blocks_8,LinearInteger,True
seq_blocks_10,ReLUInteger,True
END

example jsc_s_by_type jsc-s
file_is "the larger network" "$T/got" <<'END'
module_list_2,LinearInteger,True
module_list_5,LinearInteger,True
module_list_7,LinearInteger,True
module_list_9,LinearInteger,True
module_list_11,LinearInteger,True
END
