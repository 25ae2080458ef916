# Lab 2, tasks 5 to 7, with a network of one's own and its checkpoint: quantised from the command
# line, its weights shown to be quantised, and tested. The transcript is golden.
. "$HERE/transcript.sh"
write_jetnet
cp "$SOURCE/examples/own_network/quantize.toml" .
{
    cat quantize.toml
    printf '[passes.quantize.relu.config]\nname = "integer"\ndata_in_width = 8\ndata_in_frac_width = 4\n'
} >relu.toml

run train jetnet.py:JetNet jsc --max-steps 100 --batch-size 256 --learning-rate 1e-3 --project jetnet
succeeds "trained as in lab 1"
best=mase_output/jetnet/software/training_ckpts/best.ckpt

say explain jetnet.py:JetNet --dataset jsc --config quantize.toml
say transform jetnet.py:JetNet jsc --config quantize.toml --load $best --load-type pl --project q
say transform jetnet.py:JetNet jsc --config relu.toml --load $best --project relu
say weights mase_output/q
say weights mase_output/q --node seq_blocks_8 --format csv
say diff jetnet.py:JetNet mase_output/q --dataset jsc --load $best
say test jetnet.py:JetNet jsc --load mase_output/q/software/transform/transformed_ckpt --project q
same "the transcript" "$HERE/expected/labs/lab2_own.txt" "$T/transcript"

awk '/^\[/ { place = $0 } /^precision/ && place ~ /args/ && !/32/ { print place, $0 }' \
    mase_output/q/software/transform/transformed_ckpt/node_meta_param.toml >"$T/shown"
for layer in 2 5 8; do
    for operand in data_in_0 weight bias; do
        echo "[seq_blocks_$layer.common.args.$operand] precision = [8, 4]"
    done
done >"$T/expected"
same "the metadata has the widths" "$T/expected" "$T/shown"
holds "the table of the screen is there as CSV" grep -qx \
    '3,seq_blocks_2,seq_blocks_2,module_related_func,linear,Linear,LinearInteger,True' \
    mase_output/q/software/transform/quantize/quantize_table.csv
