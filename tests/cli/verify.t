# ch verify and --engine int: a quantised network in float and in exact integers.
fixed()
{
    cat <<TOML
[passes.quantize]
by = "type"
default.config.name = "NA"
[passes.quantize.linear.config]
name = "integer"
data_in_width = $1
data_in_frac_width = $2
weight_width = $1
weight_frac_width = $2
bias_width = $1
bias_frac_width = $2
TOML
}
fixed 8 4 >c8.toml
fixed 16 8 >c16.toml
run train jsc-toy jsc-sim --max-epochs 1 --max-steps 200 --learning-rate 1e-2 --project net
succeeds "a network is trained"
net="jsc-toy jsc-sim --load mase_output/net"

run verify $net --config c8.toml
succeeds "eight bits are verified"
out_has "every value of a layer" '^\| seq_blocks_5 +\| +1[0-9] +\| 1280000 +\| +0 +\| +0 +\| +0 +\| exact'
out_has "what comes before the first rounding" '^\| seq_blocks_0 +\| float \|'
out_has "and what comes out" '^jsc-toy on 160000 samples of jsc-sim: 0 of 800000 outputs differ, 0 decisions change$'

run verify $net --config c16.toml --json
succeeds "sixteen bits, for programs"
out_has "how wide the sums are" '"bits": 2[0-9],'
out_has "where float32 is not exact, and why" '"why": "its (sums take [0-9]+ bits, of which float32 holds 25|data is rounded twice: to float32, then to its format)"'

run test $net --config c8.toml --engine float --json --project a
cp "$T/out" float.json
run test $net --config c8.toml --engine int --json --project b
succeeds "tested in integers"
holds "with the same accuracy" test "$(grep -o 'test_acc_epoch": [0-9.]*' float.json)" = "$(grep -o 'test_acc_epoch": [0-9.]*' "$T/out")"

printf '\223NUMPY\001\000\166\000' >x.npy
printf "{'descr': '<f4', 'fortran_order': False, 'shape': (100, 16), }%80s" '' | head -c 117 >>x.npy
echo >>x.npy
head -c 6400 /dev/zero | tr '\0' '?' >>x.npy # 0.747 each
for threads in 1 2; do
    run predict $net --config c8.toml --engine int --input x.npy --output y$threads.npy --threads $threads
    succeeds "predicted in integers with $threads threads"
done
run predict $net --config c8.toml --input x.npy --output y.npy
holds "the same as in float" cmp y.npy y1.npy
holds "with any number of threads" cmp y1.npy y2.npy

# what is refused
run verify $net
refused "a network without formats" 'jsc-toy has no number formats: give --config with \[passes\.quantize\], or load a quantised network'
run verify jsc-toy jsc-sim
refused "without weights" 'verify needs --load PATH'
run test $net --engine int
refused "nothing is rounded" 'seq_blocks_2: no exact integers: what comes in is not rounded to a format with integer codes'
printf '[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\nlinear.config.name = "fp8_e4m3"\n' >m.toml
run verify $net --config m.toml
refused "a format without integers" 'seq_blocks_2: no exact integers: the codes of fp8_e4m3 are no multiples of a step'
run predict $net --config c8.toml --engine integer --input x.npy --output z.npy
refuses "no engine" ch --engine integer float
holds "and nothing is written" test ! -e z.npy

# What was trained is what is deployed: where products have scales, a bias of which nothing is said has
# their steps in training, too. As the tutorial trains: the whole test set decides alike.
lsq()
{
    printf '[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\n[passes.quantize.linear.config]\n'
    printf 'name = "lsq"\ndata_in_width = 4\nweight_width = 4\nweight_axis = 0\n'
}
lsq >lsq.toml
{ lsq; echo 'bias_name = "NA"'; } >free.toml
learn() { run train jsc-toy jsc-sim --load mase_output/net --max-steps 300 --learning-rate 3e-3 --batch-size 256 "$@"; }
learn --config lsq.toml --project lsq
succeeds "a network learns its steps"
err_has "biases have those of the products" 'Quantised, 3 nodes: data_in lsq\(4\), weight lsq\(4, 0\), bias products$'
run verify jsc-toy jsc-sim --load mase_output/lsq --json
succeeds "it is verified"
out_has "on every test sample no decision changes" '"decisions": 0,'
out_has "and no bias is rounded by the integers alone" '"rounded_biases": 0,'
learn --config free.toml --project free
succeeds "a bias may be left in float"
run verify jsc-toy jsc-sim --load mase_output/free --json
out_has "which integers have to round" '"rounded_biases": 3,'
out_has "and that is measured to be the reason" '"why": "biases are rounded to the scale of products: else [0-9]+ would differ, by at most [0-9.]+e-0[67]'
out_has "of all decisions that change" '"decisions_float_biases": 0,'
run verify jsc-toy jsc-sim --load mase_output/free
out_has "which is said below the table" 'with float biases [0-9]+ outputs would differ, 0 decisions change$'
{ lsq; echo 'bias_name = "products"'; echo 'data_out_name = "products"'; } >bad.toml
run train jsc-toy jsc-sim --config bad.toml --project never
refused "a result has no such steps" 'products is for a bias, not for data_out'
{ lsq | sed 's/^name = "lsq"/name = "integer"\nweight_frac_width = 4\ndata_in_frac_width = 4/;/axis/d'; echo 'bias_name = "products"'; } >bad.toml
run train jsc-toy jsc-sim --config bad.toml --project never
refuses "products of fixed point have no scale" bad.toml:4:25 seq_blocks_2 linear data_in lsq_plus

# So it is with scales that calibration finds.
printf '[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\n[passes.quantize.linear.config]\nname = "int"\n' >int.toml
printf 'data_in_width = 8\ndata_in_scale = "auto"\nweight_width = 8\nweight_scale = "auto"\nweight_axis = 0\n' >>int.toml
run calibrate jsc-toy jsc-sim --load mase_output/net --config int.toml --output cal
succeeds "scales are found"
holds "and biases follow" grep -q products cal/calibrated.toml
run verify cal/network jsc-sim --load cal/network --json
out_has "no decision changes" '"decisions": 0,'
out_has "no bias either" '"rounded_biases": 0,'
run convert cal/network cal.onnx
succeeds "to ONNX"
holds "where no bias is rounded any more" sh -c "! grep -qi bias '$T/out' '$T/err'"
run verify cal.onnx jsc-sim --json
out_has "which has the same biases" '"decisions": 0,'
