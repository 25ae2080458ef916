mase-graph 1
module l = LSTM(input_size=4, hidden_size=3, num_layers=2, bidirectional=True, proj_size=2)
module g = GRU(input_size=4, hidden_size=3, batch_first=True)
%x = placeholder[target=x]
%t = call_method[target=transpose](args = (%x, 0, 1), kwargs = {})
%l = call_module[target=l](args = (%t,), kwargs = {})
%s = call_function[target=operator.getitem](args = (%l, 1), kwargs = {})
%c = call_function[target=operator.getitem](args = (%s, 1), kwargs = {})
%h = call_function[target=operator.getitem](args = (%c, -1), kwargs = {})
%g = call_module[target=g](args = (%x,), kwargs = {})
%o = call_function[target=operator.getitem](args = (%g, 0), kwargs = {})
%m = call_method[target=mean](args = (%o, 1), kwargs = {})
%a = call_function[target=operator.add](args = (%h, %m), kwargs = {})
return %a
