# The original's own text of this graph and its layers is in toy_custom_fn_integer.txt.
mase-graph 1
name toy_custom_fn

module seq_blocks.0 = Linear(in_features=16, out_features=100) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}
module seq_blocks.1 = ReLU() quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
module conv2d = Conv2d(1, 100, kernel_size=(3, 3), stride=(1, 1), padding='same') quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}
module adaptive_pool = AdaptiveAvgPool2d(output_size=(1, 1))
module conv1d = Conv1d(1, 100, kernel_size=(1,), stride=(1,)) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}
attr _tensor_constant10 = f32[8, 8] constant

%x = placeholder[target=x]
%flatten = call_function[target=torch.flatten](args = (%x,), kwargs = {start_dim: 1})
%seq_blocks_0 = call_module[target=seq_blocks.0](args = (%flatten,), kwargs = {})
%seq_blocks_1 = call_module[target=seq_blocks.1](args = (%seq_blocks_0,), kwargs = {})
%relu = call_function[target=torch.nn.functional.relu](args = (%seq_blocks_1,), kwargs = {inplace: False}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%add = call_function[target=operator.add](args = (%relu, %relu), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%add_1 = call_function[target=operator.add](args = (%add, 2), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%mul = call_function[target=operator.mul](args = (%add_1, %add_1), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%mul_1 = call_function[target=operator.mul](args = (%mul, 2), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%sub = call_function[target=operator.sub](args = (%mul_1, %mul_1), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%sub_1 = call_function[target=operator.sub](args = (%sub, 2), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%size = call_method[target=size](args = (%sub_1, 0), kwargs = {})
%view = call_method[target=view](args = (%sub_1, %size, 1, 10, 10), kwargs = {})
%conv2d = call_module[target=conv2d](args = (%view,), kwargs = {})
%adaptive_pool = call_module[target=adaptive_pool](args = (%view,), kwargs = {})
%size_1 = call_method[target=size](args = (%adaptive_pool, 0), kwargs = {})
%size_2 = call_method[target=size](args = (%adaptive_pool, 1), kwargs = {})
%view_1 = call_method[target=view](args = (%adaptive_pool, %size_1, %size_2, -1), kwargs = {})
%conv1d = call_module[target=conv1d](args = (%view_1,), kwargs = {})
%size_3 = call_method[target=size](args = (%conv1d, 0), kwargs = {})
%view_2 = call_method[target=view](args = (%conv1d, %size_3, -1), kwargs = {})
%_tensor_constant10 = get_attr[target=_tensor_constant10]
%matmul = call_function[target=torch.matmul](args = (%_tensor_constant10, %view_2), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4}
%size_4 = call_method[target=size](args = (%matmul, 0), kwargs = {})
%size_5 = call_method[target=size](args = (%matmul, 1), kwargs = {})
%view_3 = call_method[target=view](args = (%matmul, 1, %size_4, %size_5), kwargs = {})
%bmm = call_function[target=torch.bmm](args = (%view_3, %view_3), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4}
return %bmm
