# The original's own text of this graph and its layers is in jsc-s.txt.
mase-graph 1
name jsc-s

module module_list.0 = BatchNorm1d(16)
module module_list.1 = ReLU()
module module_list.2 = Linear(in_features=16, out_features=64)
module module_list.3 = BatchNorm1d(64)
module module_list.4 = ReLU()
module module_list.5 = Linear(in_features=64, out_features=32)
module module_list.6 = ReLU()
module module_list.7 = Linear(in_features=32, out_features=32)
module module_list.8 = ReLU()
module module_list.9 = Linear(in_features=32, out_features=32)
module module_list.10 = ReLU()
module module_list.11 = Linear(in_features=32, out_features=5)
module module_list.12 = BatchNorm1d(5)
module module_list.13 = ReLU()

%x = placeholder[target=x]
%module_list_0 = call_module[target=module_list.0](args = (%x,), kwargs = {})
%module_list_1 = call_module[target=module_list.1](args = (%module_list_0,), kwargs = {})
%module_list_2 = call_module[target=module_list.2](args = (%module_list_1,), kwargs = {})
%module_list_3 = call_module[target=module_list.3](args = (%module_list_2,), kwargs = {})
%module_list_4 = call_module[target=module_list.4](args = (%module_list_3,), kwargs = {})
%module_list_5 = call_module[target=module_list.5](args = (%module_list_4,), kwargs = {})
%module_list_6 = call_module[target=module_list.6](args = (%module_list_5,), kwargs = {})
%module_list_7 = call_module[target=module_list.7](args = (%module_list_6,), kwargs = {})
%module_list_8 = call_module[target=module_list.8](args = (%module_list_7,), kwargs = {})
%module_list_9 = call_module[target=module_list.9](args = (%module_list_8,), kwargs = {})
%module_list_10 = call_module[target=module_list.10](args = (%module_list_9,), kwargs = {})
%module_list_11 = call_module[target=module_list.11](args = (%module_list_10,), kwargs = {})
%module_list_12 = call_module[target=module_list.12](args = (%module_list_11,), kwargs = {})
%module_list_13 = call_module[target=module_list.13](args = (%module_list_12,), kwargs = {})
return %module_list_13
