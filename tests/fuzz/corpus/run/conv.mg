mase-graph 1
module c = Conv2d(in_channels=2, out_channels=3, kernel_size=2, padding=1)
module n = LayerNorm(normalized_shape=(5,))
%x = placeholder[target=x]
%c = call_module[target=c](args = (%x,), kwargs = {})
%r = call_function[target=torch.relu](args = (%c,), kwargs = {})
%n = call_module[target=n](args = (%r,), kwargs = {})
%p = call_function[target=torch.nn.functional.max_pool2d](args = (%n, 2), kwargs = {})
%f = call_function[target=torch.flatten](args = (%p, 1), kwargs = {})
return %f
