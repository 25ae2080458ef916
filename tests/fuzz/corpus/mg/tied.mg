mase-graph 1
name Places

attr scale.g = f32[8] init ones
module a = Linear(in_features=8, out_features=8)
attr b.weight = f32[8, 8] tied a.weight
attr b.bias = f32[8] tied a.bias
module norm = BatchNorm1d(num_features=8)
module blocks.0 = Linear(in_features=8, out_features=8)
module blocks.1 = ReLU()
attr blocks.2.weight = f32[8, 8] tied blocks.0.weight
attr blocks.2.bias = f32[8] tied blocks.0.bias
attr again.0.weight = f32[8] tied norm.weight
attr again.0.bias = f32[8] tied norm.bias
attr again.0.running_mean = f32[8] buffer tied norm.running_mean
attr again.0.running_var = f32[8] buffer tied norm.running_var
attr again.0.num_batches_tracked = i64[] buffer tied norm.num_batches_tracked
attr again.1.weight = f32[8, 8] tied a.weight
attr again.1.bias = f32[8] tied a.bias
module stem = Linear(in_features=6, out_features=8)
attr other.g = f32[8] tied scale.g
module last = Linear(in_features=8, out_features=3)

%x = placeholder[target=x]
%stem = call_module[target=stem](args = (%x,), kwargs = {})
%a = call_module[target=a](args = (%stem,), kwargs = {})
%tanh = call_function[target=torch.tanh](args = (%a,), kwargs = {})
%a_1 = call_module[target=a](args = (%tanh,), kwargs = {})
%scale_g = get_attr[target=scale.g]
%mul = call_function[target=operator.mul](args = (%a_1, %scale_g), kwargs = {})
%blocks_0 = call_module[target=blocks.0](args = (%mul,), kwargs = {})
%blocks_1 = call_module[target=blocks.1](args = (%blocks_0,), kwargs = {})
%blocks_2 = call_module[target=blocks.0](args = (%blocks_1,), kwargs = {})
%norm = call_module[target=norm](args = (%blocks_2,), kwargs = {})
%a_2 = call_module[target=a](args = (%norm,), kwargs = {})
%mul_1 = call_function[target=operator.mul](args = (%a_2, %scale_g), kwargs = {})
%last = call_module[target=last](args = (%mul_1,), kwargs = {})
return %last
