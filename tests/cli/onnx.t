# An ONNX file is a model: shown, run, trained, tested, transformed and converted.
net=$SOURCE/tests/data/onnx

run show $net/cnn_script.onnx
succeeds "shown"
out_has "with its layers" 'conv +Conv2d\(3, 4, kernel_size=\(3, 3\)'
out_has "and its weights" 'fc.weight +parameter'

run predict $net/mlp_dynamo.onnx --input $net/mlp_x.npy --output y.npy
succeeds "it needs neither weights nor a data set"
run predict $net/mlp_script.onnx --input $net/mlp_x.npy --output y.npy
succeeds "whatever exporter wrote it"
run predict $net/cnn_single.onnx --input $net/cnn_x.npy --output c.npy
succeeds "one with a batch of one takes more"
run predict $net/mlp_dynamo.onnx --input $net/cnn_x.npy --output y.npy
refused "samples of another shape" 'it takes samples of \[16\], not of \[3, 8, 8\]'

run train $net/mlp_script.onnx jsc --max-steps 20 --project t
succeeds "trained"
run test $net/mlp_script.onnx jsc --load mase_output/t/software/training_ckpts/best.ckpt --project e
succeeds "its checkpoint is tested"
run test $net/mlp_script.onnx jsc --project o
succeeds "and so are its own weights"
run transform $net/mlp_script.onnx jsc --config $SOURCE/examples/own_network/quantize.toml --project q
succeeds "transformed"
run convert $net/mlp_script.onnx m.mg
succeeds "converted to a graph"
run convert $net/mlp_script.onnx folder
succeeds "and to a folder"
run convert folder w.safetensors
succeeds "which has its weights"
run convert $net/mlp_script.onnx v.safetensors
succeeds "and to a file of weights"
holds "which are the same" cmp w.safetensors v.safetensors
run predict $net/mlp_script.onnx --load v.safetensors --input $net/mlp_x.npy --output z.npy
succeeds "that it can be given again"
holds "without a difference" cmp y.npy z.npy

head -c 700 $net/mlp_script.onnx >cut.onnx
run show cut.onnx
refused "half a file, with the place" 'cut.onnx@0x[0-9a-f]+: '
