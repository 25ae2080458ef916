# Networks of integers as ONNX: what is written as codes, and what stays a float.
cat >net.mg <<'END'
mase-graph 1
name net

module fc1 = Linear(in_features=16, out_features=8)
module fc2 = Linear(in_features=8, out_features=5)

%x = placeholder[target=x]
%fc1 = call_module[target=fc1](args = (%x,), kwargs = {})
%relu = call_function[target=torch.relu](args = (%fc1,), kwargs = {})
%fc2 = call_module[target=fc2](args = (%relu,), kwargs = {})
return %fc2
END
net=$SOURCE/tests/data/onnx
shape="--input-shape 16 --seed 4"
run convert net.mg w $shape
run convert w w.npz
weights="--load w.npz"
config() { # the lines of a layer's formats
    {
        printf '[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\n[passes.quantize.linear.config]\n'
        printf '%s\n' "$@"
    } >config.toml
}
# What the file that was written has, and its nodes.
in_file() { grep -qa -- "$1" "$2"; }
nodes() { grep -ao 'DequantizeLinear\|QuantizeLinear\|Clip\|Gemm\|Relu\|Max\|Add' "$1" | tr '\n' ' '; }
# The file gives what the network gives.
equal_to_network() {
    run predict net.mg $shape $weights --config config.toml --input "$net/mlp_x.npy" --output net.npy ${3:-}
    run predict "$1" --input "$net/mlp_x.npy" --output file.npy ${3:-}
    holds "$2" cmp net.npy file.npy
}

# A bias that is no whole number at the scale of the products is no code.
config 'name = "integer"' 'data_in_width = 8' 'data_in_frac_width = 3' 'weight_width = 8' \
    'weight_frac_width = 3' 'bias_width = 16' 'bias_frac_width = 12'
run convert net.mg bias.onnx $shape $weights --config config.toml
succeeds "a bias with a finer step than the products"
err_has "is said to stay a float" 'INFO .*biases of 2 layers stay floats'
equal_to_network bias.onnx "and is not rounded"
equal_to_network bias.onnx "nor in integers" "--engine int"

# Beside scales that are no powers of two a bias is rounded as --engine int does.
config 'name = "int"' 'data_in_width = 3' 'data_in_scale = 0.6' 'weight_width = 3' 'weight_scale = 0.3' 'bias_name = "NA"'
run convert net.mg scaled.onnx $shape $weights --config config.toml
succeeds "a float bias beside other scales"
err_has "is rounded and said to be" 'WARNING .*biases of 2 layers are rounded to the scale of their products, by up to 0\.0[0-9]+'

# Weights are codes whatever their format is called.
config 'name = "int"' 'data_in_width = 8' 'data_in_scale = 0.05' 'weight_width = 8' 'bias_name = "NA"'
run convert net.mg values.onnx $shape $weights --config config.toml
succeeds "int without a scale"
holds "has codes" in_file fc2.weight_codes values.onnx
run convert net.mg values_q.onnx $shape $weights --config config.toml --dialect qonnx
succeeds "and as QONNX"
holds "a Quant" in_file fc2.weight_rounded_bits values_q.onnx
config 'name = "int"' 'data_in_width = 8' 'data_in_scale = 0.05' 'weight_name = "ternary"' 'weight_width = 2' \
    'weight_scaling_factor = true' 'weight_mean = "NA"' 'weight_median = "NA"' 'weight_max = "NA"' 'bias_name = "NA"'
run convert net.mg ternary.onnx $shape $weights --config config.toml
succeeds "one magnitude for each output"
holds "has codes, too" in_file fc2.weight_codes ternary.onnx

# Weights without codes are parted from the rounding of what they give: ONNX Runtime would round them anew.
config 'name = "int"' 'data_in_width = 8' 'data_in_scale = 0.05' 'weight_name = "minifloat_ieee"' 'weight_width = 8' \
    'weight_exponent_width = 4' 'weight_exponent_bias = 7' 'bias_name = "NA"'
run convert net.mg floats.onnx $shape $weights --config config.toml
succeeds "weights of minifloats"
err_has "are said to stay floats" 'INFO .*weights of 2 layers stay floats'
holds "apart from what is rounded next" test "$(nodes floats.onnx)" = \
    "QuantizeLinear DequantizeLinear Gemm Max Relu QuantizeLinear DequantizeLinear Gemm Max "
equal_to_network floats.onnx "and are what they are"

# Codes from a zero point on have a type of eight bits; those of twelve are cut before they are rounded.
config 'name = "int"' 'data_in_width = 8' 'data_in_signed = false' 'data_in_scale = 0.05' 'data_in_zero_point = 100' \
    'weight_width = 8' 'weight_scale = 0.01' 'bias_name = "NA"'
run convert net.mg zero.onnx $shape $weights --config config.toml
succeeds "data with a zero point"
holds "is of eight bits, cut by its type" test -z "$(nodes zero.onnx | grep Clip)"
run show zero.onnx --program
out_has "and read so" 'to int\(8, 0\.05[0-9]*, 100, NA, NA, true, false, false, false\) signed data from fc1'
config 'name = "int"' 'data_in_width = 12' 'data_in_scale = 0.003' 'weight_width = 12' 'weight_scale = 0.001' 'bias_name = "NA"'
run convert net.mg twelve.onnx $shape $weights --config config.toml
succeeds "twelve bits"
holds "are cut before they are rounded, since ONNX Runtime cuts no 16-bit integers" test \
    "$(nodes twelve.onnx | cut -d' ' -f1-2)" = "Clip QuantizeLinear"
run show twelve.onnx --program
out_has "and read as twelve" 'to int\(12, 0\.003'
run predict net.mg $shape $weights --config config.toml --input "$net/mlp_x.npy" --output net.npy --engine int
run predict twelve.onnx --input "$net/mlp_x.npy" --output file.npy --engine int
holds "with the numbers of the network" cmp net.npy file.npy

# Weights by values that use the whole range have a step that is found in them.
config 'name = "int"' 'data_in_width = 8' 'data_in_scale = 0.05' 'weight_width = 6' 'weight_symmetric = false' 'bias_name = "NA"'
run convert net.mg range.onnx $shape $weights --config config.toml
succeeds "int without a scale, from the least value to the largest"
holds "has codes" in_file fc2.weight_codes range.onnx

# ONNX Runtime joins scales for each channel to operations that take one scale.
config 'name = "int"' 'data_in_width = 8' 'data_in_axis = 1' \
    'data_in_scale = [0.1, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]' \
    'weight_width = 8' 'weight_scale = 0.01' 'bias_name = "NA"'
sed '/fc2 =/d; s/return.*/return %relu/' net.mg >one.mg
run convert one.mg channels.onnx $shape --config config.toml
succeeds "data with a scale for each channel"
holds "is parted from what is before and behind it" test "$(nodes channels.onnx)" = \
    "Max QuantizeLinear DequantizeLinear Max DequantizeLinear Gemm Add Relu "
run show channels.onnx --program
out_has "and read as it was" 'to int\(8, \[0\.1[^]]*\], 0, 1, .*data from'

# ONNX Runtime has no products with 32-bit codes.
config 'name = "int"' 'data_in_width = 8' 'data_in_scale = 0.05' 'weight_width = 20' 'weight_scale = 0.000001' 'bias_name = "NA"'
run convert net.mg wide.onnx $shape $weights --config config.toml
succeeds "weights of twenty bits"
err_has "stay floats" 'INFO .*weights of 2 layers stay floats'
holds "and have no codes" test "$(in_file fc2.weight_codes wide.onnx; echo $?)" = 1

# Of two roundings in a row ONNX Runtime makes one.
config 'name = "int"' 'data_in_width = 8' 'data_in_scale = 0.05' 'weight_width = 8' 'weight_scale = 0.01' 'bias_name = "NA"' \
    'data_out_name = "int"' 'data_out_width = 8' 'data_out_scale = 0.03'
sed 's/^%fc2 = .*/%fc2 = call_module[target=fc2](args = (%fc1,), kwargs = {})/; /relu/d' net.mg >twice.mg
run convert twice.mg twice.onnx $shape $weights --config config.toml
succeeds "what a layer gives is rounded, and what the next one takes"
holds "apart" test "$(nodes twice.onnx)" = "QuantizeLinear DequantizeLinear DequantizeLinear DequantizeLinear Gemm QuantizeLinear DequantizeLinear Max QuantizeLinear DequantizeLinear DequantizeLinear DequantizeLinear Gemm QuantizeLinear DequantizeLinear "

# What is rounded in one place and taken as it is in another is rounded there alone.
cat >both.mg <<'END'
mase-graph 1
name both

module fc1 = Linear(in_features=16, out_features=8)

%x = placeholder[target=x]
%fc1 = call_module[target=fc1](args = (%x,), kwargs = {})
%c = call_function[target=torch.cat](args = ([%fc1, %fc1], 1), kwargs = {})
%r = call_function[target=torch.relu](args = (%c,), kwargs = {})
%y = call_function[target=operator.add](args = (%r, %c), kwargs = {})
return %y
END
config 'name = "int"' 'data_in_width = 8' 'data_in_scale = 0.0625' 'weight_width = 8' 'weight_scale = 0.0625' 'bias_name = "NA"' \
    'data_out_name = "int"' 'data_out_width = 8' 'data_out_scale = 0.03125'
printf '[passes.quantize.%s.config]\nname = "int"\ndata_in_width = %s\ndata_in_scale = %s\n' relu 3 0.5 add 8 0.0625 >>config.toml
run convert both.mg both.onnx $shape --load w.npz --strict no --config config.toml
succeeds "a value with two roundings"
run predict both.mg $shape --load w.npz --strict no --config config.toml --input "$net/mlp_x.npy" --output net.npy
run predict both.onnx --input "$net/mlp_x.npy" --output file.npy
holds "read again" cmp net.npy file.npy

# Widths that outputs have learned: each keeps its step, since that is what integers round its bias by.
cat >learned.mg <<'END'
mase-graph 1
name learned

module fc = Linear(in_features=16, out_features=3) quantized {name: 'int', data_in_width: 4, data_in_scale: 0.3, weight_name: 'hgq', weight_width: 8, weight_axis: 0, weight_most: 13, bias_name: 'integer', bias_width: 16, bias_frac_width: 12}
attr fc.weight_frac_width = f32[3] init [1, 5, -2]
attr fc.weight_int_width = f32[3] init [1, 1, 1]

%x = placeholder[target=x]
%fc = call_module[target=fc](args = (%x,), kwargs = {})
return %fc
END
run convert learned.mg learned $shape
run convert learned.mg learned.onnx $shape --load learned --dialect qonnx
succeeds "weights of three widths"
run predict learned.mg --load learned --input "$net/mlp_x.npy" --output net.npy --engine int
run predict learned.onnx --input "$net/mlp_x.npy" --output file.npy --engine int
holds "have one in QONNX and their own steps" cmp net.npy file.npy
