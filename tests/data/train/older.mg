mase-graph 1
name Old

module flat = Flatten(start_dim=1, end_dim=-1)
module fc1 = Linear(in_features=4, out_features=6)
module bn = BatchNorm1d(num_features=6)
module fc2 = Linear(in_features=6, out_features=2)

%x = placeholder[target=x]
%flat = call_module[target=flat](args = (%x,), kwargs = {})
%fc1 = call_module[target=fc1](args = (%flat,), kwargs = {})
%bn = call_module[target=bn](args = (%fc1,), kwargs = {})
%fc2 = call_module[target=fc2](args = (%bn,), kwargs = {})
return %fc2
