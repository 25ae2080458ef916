mase-graph 1
module l = Linear(in_features=4, out_features=5)
%x = placeholder[target=x]
%a = call_function[target=torch.nn.functional.scaled_dot_product_attention](args = (%x, %x, %x), kwargs = {})
%s = call_function[target=torch.softmax](args = (%a, 0), kwargs = {})
%l = call_module[target=l](args = (%s,), kwargs = {})
return %l
