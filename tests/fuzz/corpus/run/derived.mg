mase-graph 1
attr w = f32[5, 4] init uniform(0.5)
attr b = f32[5] init normal(0.5)
%x = placeholder[target=x]
%w = get_attr[target=w]
%b = get_attr[target=b]
%n = call_function[target=torch.exp](args = (%w,), kwargs = {})
%m = call_function[target=operator.mul](args = (%b, 100.0), kwargs = {})
%l = call_function[target=torch.nn.functional.linear](args = (%x, %n, %m), kwargs = {})
%v = call_method[target=view](args = (%l, -1, 5), kwargs = {})
return %v
