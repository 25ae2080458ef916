# The original's own text of this graph and its layers is in toy_testmodel.txt.
mase-graph 1
name toy_testmodel

module seq_blocks.0 = Conv2d(3, 16, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
module seq_blocks.1 = ReLU()
module seq_blocks.2 = Conv2d(16, 32, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
module seq_blocks.3 = ReLU()
module seq_blocks.4 = AvgPool2d(kernel_size=2, stride=2, padding=0)
module conv1d = Conv1d(32, 64, kernel_size=(3,), stride=(1,), padding=(1,))
module fc = Linear(in_features=64, out_features=100)
module relu = ReLU()
module fc2 = Linear(in_features=100, out_features=10)

%x = placeholder[target=x]
%seq_blocks_0 = call_module[target=seq_blocks.0](args = (%x,), kwargs = {})
%seq_blocks_1 = call_module[target=seq_blocks.1](args = (%seq_blocks_0,), kwargs = {})
%seq_blocks_2 = call_module[target=seq_blocks.2](args = (%seq_blocks_1,), kwargs = {})
%seq_blocks_3 = call_module[target=seq_blocks.3](args = (%seq_blocks_2,), kwargs = {})
%seq_blocks_4 = call_module[target=seq_blocks.4](args = (%seq_blocks_3,), kwargs = {})
%size = call_method[target=size](args = (%seq_blocks_4, 0), kwargs = {})
%view = call_method[target=view](args = (%seq_blocks_4, %size, 32, -1), kwargs = {})
%conv1d = call_module[target=conv1d](args = (%view,), kwargs = {})
%size_1 = call_method[target=size](args = (%conv1d, 0), kwargs = {})
%view_1 = call_method[target=view](args = (%conv1d, %size_1, -1), kwargs = {})
%fc = call_module[target=fc](args = (%view_1,), kwargs = {})
%add = call_function[target=operator.add](args = (%fc, %fc), kwargs = {})
%sub = call_function[target=operator.sub](args = (%add, %add), kwargs = {})
%mul = call_function[target=operator.mul](args = (%sub, %sub), kwargs = {})
%relu = call_module[target=relu](args = (%mul,), kwargs = {})
%fc2 = call_module[target=fc2](args = (%relu,), kwargs = {})
return %fc2
