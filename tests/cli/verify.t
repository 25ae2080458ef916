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
refused "no engine" "engine = \"integer\" is not one of float, int"
holds "and nothing is written" test ! -e z.npy
