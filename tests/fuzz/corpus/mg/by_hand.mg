# my network
mase-graph 1
module fc = Linear(16, 5, bias=False) # 80 weights
%input: f32[8,16] = placeholder[target=input]
%y = call_module[target=fc](
    args = (%input,))
return %y
