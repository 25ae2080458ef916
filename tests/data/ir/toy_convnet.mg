# The original's own text of this graph and its layers is in toy_convnet.txt.
mase-graph 1
name toy_convnet

module block_1.0 = Conv2d(3, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
module block_1.1 = ReLU()
module maxpool = MaxPool2d(kernel_size=2, stride=2)
module block_2.0 = Conv2d(4, 6, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
module block_2.1 = ReLU()
module block_3.0 = Conv1d(6, 8, kernel_size=(3,), stride=(1,), padding=(1,))
module block_3.1 = ReLU()
module block_4.0 = Conv1d(8, 12, kernel_size=(3,), stride=(1,), padding=(1,))
module block_4.1 = ReLU()
module avgpool = AdaptiveAvgPool1d(output_size=1)
module linear = Linear(in_features=12, out_features=10)

%x = placeholder[target=x]
%block_1_0 = call_module[target=block_1.0](args = (%x,), kwargs = {})
%block_1_1 = call_module[target=block_1.1](args = (%block_1_0,), kwargs = {})
%maxpool = call_module[target=maxpool](args = (%block_1_1,), kwargs = {})
%block_2_0 = call_module[target=block_2.0](args = (%maxpool,), kwargs = {})
%block_2_1 = call_module[target=block_2.1](args = (%block_2_0,), kwargs = {})
%size = call_method[target=size](args = (%block_2_1, 0), kwargs = {})
%view = call_method[target=view](args = (%block_2_1, %size, 6, -1), kwargs = {})
%block_3_0 = call_module[target=block_3.0](args = (%view,), kwargs = {})
%block_3_1 = call_module[target=block_3.1](args = (%block_3_0,), kwargs = {})
%block_4_0 = call_module[target=block_4.0](args = (%block_3_1,), kwargs = {})
%block_4_1 = call_module[target=block_4.1](args = (%block_4_0,), kwargs = {})
%avgpool = call_module[target=avgpool](args = (%block_4_1,), kwargs = {})
%size_1 = call_method[target=size](args = (%avgpool, 0), kwargs = {})
%view_1 = call_method[target=view](args = (%avgpool, %size_1, -1), kwargs = {})
%linear = call_module[target=linear](args = (%view_1,), kwargs = {})
return %linear
