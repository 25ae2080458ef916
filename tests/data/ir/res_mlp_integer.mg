# The original's own text of this graph and its layers is in res_mlp_integer.txt.
mase-graph 1
name res_mlp

module bn_in = BatchNorm1d(16)
module fc1 = Linear(in_features=16, out_features=24) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}
module relu1 = ReLU() quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
module fc2 = Linear(in_features=24, out_features=24) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}
module bn2 = BatchNorm1d(24)
module fc3 = Linear(in_features=24, out_features=24, bias=False) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}
module relu3 = ReLU(inplace=True) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
module head = Linear(in_features=24, out_features=5) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}

%x = placeholder[target=x]
%bn_in = call_module[target=bn_in](args = (%x,), kwargs = {})
%fc1 = call_module[target=fc1](args = (%bn_in,), kwargs = {})
%relu1 = call_module[target=relu1](args = (%fc1,), kwargs = {})
%fc2 = call_module[target=fc2](args = (%relu1,), kwargs = {})
%bn2 = call_module[target=bn2](args = (%fc2,), kwargs = {})
%add = call_function[target=torch.add](args = (%bn2, %relu1), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%fc3 = call_module[target=fc3](args = (%add,), kwargs = {})
%relu3 = call_module[target=relu3](args = (%fc3,), kwargs = {})
%add_1 = call_function[target=operator.add](args = (%add, %relu3), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%relu = call_function[target=torch.nn.functional.relu](args = (%add_1,), kwargs = {inplace: False}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%head = call_module[target=head](args = (%relu,), kwargs = {})
return %head
