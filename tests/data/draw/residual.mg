# What t_draw.c draws: a way around, a constant, a convolution, formats of two kinds.
mase-graph 1
name residual

module conv = Conv2d(in_channels=2, out_channels=4, kernel_size=[3, 3], stride=[2, 2], padding=[1, 1])
module bn = BatchNorm2d(4)
module act = ReLU() quantized {name: integer, data_in_width: 8, data_in_frac_width: 4}
module head = Linear(in_features=64, out_features=5) quantized {name: integer, data_in_width: 8, data_in_frac_width: 4, weight_width: 4, weight_frac_width: 3, bias_width: 8, bias_frac_width: 4}

%x = placeholder[target=x]
%conv = call_module[target=conv](args = (%x,), kwargs = {})
%bn = call_module[target=bn](args = (%conv,), kwargs = {})
%act = call_module[target=act](args = (%bn,), kwargs = {})
%add = call_function[target=operator.add](args = (%act, %conv), kwargs = {})
%flatten = call_function[target=torch.flatten](args = (%add, 1), kwargs = {})
%head = call_module[target=head](args = (%flatten,), kwargs = {})
return %head
