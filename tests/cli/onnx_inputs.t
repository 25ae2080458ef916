# Every --input-shape is that of an input of its own.
cat >two.mg <<'END'
mase-graph 1
name two

module a = Linear(in_features=11, out_features=4)
module b = Linear(in_features=3, out_features=4)

%x = placeholder[target=x]
%y = placeholder[target=y]
%a = call_module[target=a](args = (%x,), kwargs = {})
%b = call_module[target=b](args = (%y,), kwargs = {})
%s = call_function[target=operator.add](args = (%a, %b), kwargs = {})
return %s
END
run convert two.mg two.onnx --input-shape 11 --input-shape 3
succeeds "a graph of two inputs"
run convert two.mg semicolon.onnx --input-shape '11;3'
succeeds "in one option"
holds "is one file" cmp two.onnx semicolon.onnx
run convert two.mg folder --input-shape 11 --input-shape 3
run convert folder folder.onnx --input-shape 11 --input-shape 3
succeeds "its folder"
holds "likewise" cmp two.onnx folder.onnx
run convert two.onnx again.onnx
succeeds "the file says what both are like"
run convert two.mg two.onnx --input-shape 11 --input-shape 4 --force
refused "a shape that does not fit the second" "b: linear: input \[[0-9]*, 4\] must end in the weight's 3 features"
