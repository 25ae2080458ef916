# The original's own text of this graph and its layers is in conv_bn.txt.
mase-graph 1
name conv_bn

module conv1 = Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
module bn1 = BatchNorm2d(8)
module relu1 = ReLU()
module pool = MaxPool2d(kernel_size=2, stride=2)
module conv2 = Conv2d(8, 12, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), groups=4, bias=False)
module bn2 = BatchNorm2d(12)
module relu2 = ReLU()
module avg = AdaptiveAvgPool2d(output_size=(1, 1))
module fc = Linear(in_features=12, out_features=10)

%x = placeholder[target=x]
%conv1 = call_module[target=conv1](args = (%x,), kwargs = {})
%bn1 = call_module[target=bn1](args = (%conv1,), kwargs = {})
%relu1 = call_module[target=relu1](args = (%bn1,), kwargs = {})
%pool = call_module[target=pool](args = (%relu1,), kwargs = {})
%conv2 = call_module[target=conv2](args = (%pool,), kwargs = {})
%bn2 = call_module[target=bn2](args = (%conv2,), kwargs = {})
%relu2 = call_module[target=relu2](args = (%bn2,), kwargs = {})
%avg = call_module[target=avg](args = (%relu2,), kwargs = {})
%flatten = call_function[target=torch.flatten](args = (%avg,), kwargs = {start_dim: 1})
%fc = call_module[target=fc](args = (%flatten,), kwargs = {})
return %fc
