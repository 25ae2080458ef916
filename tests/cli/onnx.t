# An ONNX file is a model: shown, run, trained, tested, transformed and converted.
net=$SOURCE/tests/data/onnx

run show "$net/cnn_script.onnx"
succeeds "shown"
out_has "with its layers" 'conv +Conv2d\(3, 4, kernel_size=\(3, 3\)'
out_has "and its weights" 'fc.weight +parameter'

run predict "$net/mlp_dynamo.onnx" --input "$net/mlp_x.npy" --output y.npy
succeeds "it needs neither weights nor a data set"
run predict "$net/mlp_script.onnx" --input "$net/mlp_x.npy" --output y.npy
succeeds "whatever exporter wrote it"
run predict "$net/cnn_single.onnx" --input "$net/cnn_x.npy" --output c.npy
succeeds "one with a batch of one takes more"
run predict "$net/mixed_fixed.onnx" --input "$net/mixed_x.npy" --output mixed.npy
succeeds "one that mixes the samples of its batch takes so many at a time"
holds "and gives their numbers" cmp mixed.npy "$net/mixed_y.npy"
run convert "$net/mixed_fixed.onnx" mixed.mg
run predict mixed.mg --input "$net/mixed_x.npy" --output again.npy
holds "as does its graph" cmp again.npy mixed.npy
run trace "$net/mixed_fixed.onnx" --input "$net/mixed_x.npy"
refused "and nobody gives it fewer" 'the network takes batches of 2 samples alone, got 1'
run convert "$net/mixed_fixed.onnx" other.onnx
refused "nothing says it is for any batch" 'its shapes hold for batches of 2 alone'
run predict "$net/mlp_dynamo.onnx" --input "$net/cnn_x.npy" --output y.npy
refused "samples of another shape" 'it takes samples of \[16\], not of \[3, 8, 8\]'

run train "$net/mlp_script.onnx" jsc --max-steps 20 --project t
succeeds "trained"
run test "$net/mlp_script.onnx" jsc --load mase_output/t/software/training_ckpts/best.ckpt --project e
succeeds "its checkpoint is tested"
run test "$net/mlp_script.onnx" jsc --project o
succeeds "and so are its own weights"
run transform "$net/mlp_script.onnx" jsc --config "$SOURCE/examples/own_network/quantize.toml" --project q
succeeds "transformed"
run convert "$net/mlp_script.onnx" m.mg
succeeds "converted to a graph"
run convert "$net/mlp_script.onnx" folder
succeeds "and to a folder"
run convert folder w.safetensors
succeeds "which has its weights"
run convert "$net/mlp_script.onnx" v.safetensors
succeeds "and to a file of weights"
holds "which are the same" cmp w.safetensors v.safetensors
run predict "$net/mlp_script.onnx" --load v.safetensors --input "$net/mlp_x.npy" --output z.npy
succeeds "that it can be given again"
holds "without a difference" cmp y.npy z.npy

# Any width is said as QONNX, and read again as it was.
cat >six.toml <<'END'
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "integer"
data_in_width = 6
data_in_frac_width = 3
weight_width = 5
weight_frac_width = 4
bias_width = 7
bias_frac_width = 4
END
run transform "$net/mlp_script.onnx" jsc --config six.toml --project six
succeeds "quantised"
six=mase_output/six/software/transform/transformed_ckpt
run convert $six six.onnx --dialect qonnx
succeeds "and written as QONNX"
run show six.onnx --program
sed 1,2d "$T/out" >six.program
run show $six --program
sed 1,2d "$T/out" >was.program
holds "the same program" cmp six.program was.program
run predict six.onnx --input "$net/mlp_x.npy" --output six.npy --engine int
succeeds "computed in integers"
run predict $six --load $six --input "$net/mlp_x.npy" --output was.npy --engine int
holds "to the bit" cmp six.npy was.npy
run convert $six qdq.onnx
succeeds "QuantizeLinear can say it, too"
run predict qdq.onnx --input "$net/mlp_x.npy" --output qdq.npy --engine int
succeeds "which is read again"
holds "with the same numbers" cmp qdq.npy was.npy
sed 's/"integer"/"integer_floor"/' six.toml >floor.toml
run transform "$net/mlp_script.onnx" jsc --config floor.toml --project floor
floor=mase_output/floor/software/transform/transformed_ckpt
run convert $floor floor.onnx
succeeds "what only QONNX can say"
err_has "is said so" 'INFO .*floor.onnx is in QONNX: .* integer_floor is none of the roundings of QuantizeLinear'
run convert $floor other.onnx --dialect qdq
refused "unless the other is asked for" 'integer_floor is none of the roundings of QuantizeLinear'
holds "and nothing is left behind" test ! -e other.onnx
sed 's/"integer"/"fp8_e4m3"/; /_width = /d' six.toml >fp8.toml
run convert "$net/mlp_script.onnx" fp8.onnx --config fp8.toml --dialect qonnx
refused "what neither can say" 'fp8_e4m3 is no Quant of QONNX: its values are no multiples of a step'

head -c 700 "$net/mlp_script.onnx" >cut.onnx
run show cut.onnx
refused "half a file, with the place" 'cut.onnx@0x[0-9a-f]+: '
