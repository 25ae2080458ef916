# Every number format of the original, and those of standards, through the whole program: transform,
# read back, weights, trace, report, test, and training through one of them.
config()
{
    cat >c.toml <<END
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.linear.config]
name = "$1"
END
    for operand in data_in weight bias; do
        for pair in $2; do
            echo "${operand}_$(echo "$pair" | sed 's/=/ = /')" >>c.toml
        done
    done
}

while read -r name params; do
    config "$name" "$params"
    rm -rf mase_output
    run transform --config c.toml --log-level error
    succeeds "$name: transform"
    saved=mase_output/p/software/transform/transformed_ckpt
    run show $saved/graph_module.mg
    succeeds "$name: the graph reads back"
    if [ "$name" != logicnets ]; then # which rounds none
        run weights mase_output/p
        succeeds "$name: weights lie on their grid"
    fi
    run trace mase_output/p --sample 3
    succeeds "$name: trace"
    run test jsc-tiny jsc --load $saved --batch-size 1000
    succeeds "$name: test"
    grep -E 'accuracy|loss' "$T/out" >large
    run test jsc-tiny jsc --load $saved --batch-size 7
    grep -E 'accuracy|loss' "$T/out" >small
    same "$name: no sample sees its neighbours" large small
done <<'END'
integer_floor width=8 frac_width=4
fixed_floor width=8 frac_width=4
minifloat_denorm width=8 exponent_width=4 exponent_bias="NA"
minifloat_ieee width=8 exponent_width=4 exponent_bias=7
log width=8 exponent_bias="NA"
block_minifloat width=8 exponent_width=4 exponent_bias_width=8 block_size=[16]
block_log width=8 exponent_bias_width=8 block_size=[16]
scale_integer width=8
mxint block_size=1 element_bits=8
mxfp block_size=1 element_exp_bits=4 element_frac_bits=3
mxint_hardware width=12 exponent_width=6 parallelism=[1,1]
binary width=1 stochastic=false bipolar=true
binary_residual width=1 stochastic=false bipolar=true levels=2
ternary width=2 scaling_factor=true mean="NA" median="NA" max="NA"
logicnets width=8 frac_width=4
integer width=8 frac_width=4 rounding="nearest_away"
minifloat width=8 exponent_width=3 exponent_bias="NA" specials="none" rounding="stochastic"
fp8_e4m3
mx element="fp4_e2m1"
nvfp4
posit width=8
END

config ternary 'width=2 scaling_factor=true mean="NA" median="NA" max="NA"'
rm -rf mase_output
run transform --config c.toml --log-level error
run show mase_output/p/software/transform/transformed_ckpt/graph_module.mg --program
out_has "a program says which operands are rounded" 'round\(.*\) to ternary\(2, true, NA, NA, NA\) signed weight'
out_lacks "and that data is not" 'to ternary.* data'
run report mase_output/p
succeeds "report"

config mxint 'block_size=3 element_bits=8'
rm -rf mase_output
run transform --config c.toml --log-level error
refused "blocks that do not fill a layer's data" '^c\.toml:.*seq_blocks_2 \(linear\): data_in: blocks of 3 values along dimension -1 do not fill samples of \[16\]'
