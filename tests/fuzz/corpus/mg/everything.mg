mase-graph 1
name 'all of it'

module '0' = Conv2d(in_channels=3, out_channels=4, kernel_size=(3, 3), padding='same')
module pool = MaxPool2d(kernel_size=2, stride=3)
module up = Upsample(scale_factor=2.0, mode='bilinear')
module emb = Embedding(num_embeddings=10, embedding_dim=4, padding_idx=9) init {weight: uniform(0.5)}
attr scale = f32[1, 4] init normal(0.019999999552965164)
attr _tensor_constant0 = i64[] buffer

%x : torch.Tensor f32[8, 3, 4, 4] = placeholder[target=x]
%y : 'Optional[Tensor]' = placeholder[target=y](default=None)
%scale = get_attr[target=scale]
%_tensor_constant0 = get_attr[target=_tensor_constant0]
%_0 : f32[8, 4, 4, 4] = call_module[target='0'](args = (%x,), kwargs = {})
%getitem = call_function[target=operator.getitem](args = (%_0, (slice(None, 2, -1), Ellipsis, [%scale, 1.5], {'a b': inf, c: -inf})), kwargs = {})
%to = call_method[target=to](args = (%getitem, torch.float32, atom('<class \'x\'>'), 'it\'s\n\x01'), kwargs = {})
%add = call_function[target=operator.add](args = (%to, 1e-05), kwargs = {alpha: True}) quantized {name: 'fixed', data_in_width: 16, data_in_frac_width: None}
%last : torch.Tensor = return {out: (%add, ()), pair: (%x,)}
