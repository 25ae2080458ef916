# The original's own text of this graph and its layers is in matmul_net_integer.txt.
mase-graph 1
name matmul_net

module q = Linear(in_features=16, out_features=32) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}
module k = Linear(in_features=16, out_features=32) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}
module v = Linear(in_features=16, out_features=32) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}
module out = Linear(in_features=32, out_features=5) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4, bias_width: 8, bias_frac_width: 4}

%x = placeholder[target=x]
%q = call_module[target=q](args = (%x,), kwargs = {})
%size = call_method[target=size](args = (%x, 0), kwargs = {})
%view = call_method[target=view](args = (%q, %size, 4, 8), kwargs = {})
%k = call_module[target=k](args = (%x,), kwargs = {})
%size_1 = call_method[target=size](args = (%x, 0), kwargs = {})
%view_1 = call_method[target=view](args = (%k, %size_1, 8, 4), kwargs = {})
%v = call_module[target=v](args = (%x,), kwargs = {})
%size_2 = call_method[target=size](args = (%x, 0), kwargs = {})
%view_2 = call_method[target=view](args = (%v, %size_2, 4, 8), kwargs = {})
%matmul = call_function[target=torch.matmul](args = (%view, %view_1), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4}
%bmm = call_function[target=torch.bmm](args = (%matmul, %view_2), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 8, weight_frac_width: 4}
%mul = call_function[target=operator.mul](args = (%bmm, %view), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%sub = call_function[target=operator.sub](args = (%mul, %view_2), kwargs = {}) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
%size_3 = call_method[target=size](args = (%sub, 0), kwargs = {})
%view_3 = call_method[target=view](args = (%sub, %size_3, -1), kwargs = {})
%out = call_module[target=out](args = (%view_3,), kwargs = {})
return %out
