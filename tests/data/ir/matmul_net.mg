# The original's own text of this graph and its layers is in matmul_net.txt.
mase-graph 1
name matmul_net

module q = Linear(in_features=16, out_features=32)
module k = Linear(in_features=16, out_features=32)
module v = Linear(in_features=16, out_features=32)
module out = Linear(in_features=32, out_features=5)

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
%matmul = call_function[target=torch.matmul](args = (%view, %view_1), kwargs = {})
%bmm = call_function[target=torch.bmm](args = (%matmul, %view_2), kwargs = {})
%mul = call_function[target=operator.mul](args = (%bmm, %view), kwargs = {})
%sub = call_function[target=operator.sub](args = (%mul, %view_2), kwargs = {})
%size_3 = call_method[target=size](args = (%sub, 0), kwargs = {})
%view_3 = call_method[target=view](args = (%sub, %size_3, -1), kwargs = {})
%out = call_module[target=out](args = (%view_3,), kwargs = {})
return %out
