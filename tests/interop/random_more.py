"""random_more.py - further statements for random_source.py: arguments by position and by name, functions of layers, odd numbers, what
methods of one's own, loops and containers do, and what only training shows."""
from random_source import ROWS, Nothing, makes

# ---- arguments in all their forms ----

FORMS = ["{0}.sum({1}, True)", "{0}.sum(dim=({1},))", "torch.sum({0}, [{1}], keepdim=True)", "{0}.mean([{1}])", "{0}.std({1}, False)",
         "torch.std({0}, {1}, True, True)", "{0}.var(dim={1}, unbiased=False, keepdim=True)", "torch.var({0}, dim={1}, unbiased=True)",
         "torch.norm({0}, 2, {1})", "{0}.norm(1, {1}, True)", "torch.norm({0}, p=float('inf'), dim={1})",
         "{0}.norm(p=3, dim={1}, keepdim=True)",
         "F.softmax({0}, {1})", "torch.softmax({0}, dim={1})", "{0}.log_softmax(dim={1})", "F.softmin({0}, dim={1})",
         "F.normalize({0}, p=1, dim={1})",
         "F.normalize({0}, 2.0, {1}, 1e-6)", "torch.clamp({0}, max=0.4, min=-0.3)", "{0}.clamp(-0.2)", "{0}.clamp(max=0.5)",
         "torch.clip({0}, -0.4, 0.6)",
         "torch.max({0}, {1})[0]", "torch.max({0}, dim={1}, keepdim=True).values", "torch.min({0}, {1}, True)[0]",
         "torch.amax({0}, dim=({1},))",
         "torch.cumsum({0}, dim={1})", "torch.flip({0}, dims=[{1}])", "{0}.flip(({1},))", "torch.roll({0}, shifts=1, dims={1})",
         "{0}.roll(-1, {1})",
         "torch.roll({0}, (1,), ({1},))", "torch.topk({0}, 2, {1}, False)[0]", "{0}.topk(k=2, dim={1}, largest=False).values",
         "{0}.sort({1}, True)[0]",
         "torch.sort({0}, dim={1}, descending=True)[0]", "torch.split({0}, 1, {1})[0]", "torch.chunk({0}, 2, {1})[-1]",
         "{0}.unsqueeze({1}).squeeze({1})",
         "torch.logsumexp({0}, dim=[{1}], keepdim=True)", "torch.cumprod({0}.tanh(), {1})", "torch.var_mean({0}, {1}, False)[0]",
         "torch.std_mean({0}, dim={1})[1]",
         "torch.quantile({0}, 0.5, dim={1})", "torch.addcmul({0}, {0}, {0}, value=-0.5)", "{0}.addcdiv({0}, {0}.abs() + 1, value=0.3)",
         "torch.add({0}, 2, alpha=0.5)",
         "torch.sub({0}, {0}, alpha=2)", "{0}.add(1.5)", "torch.mul({0}, 3)", "torch.pow({0}, 3)", "torch.pow(2, {0}.clamp(-2, 2))",
         "{0}.pow(2.0)",
         "torch.lerp({0}, {0} * 2, weight=0.3)", "torch.where({0} > 0, {0}, torch.tensor(0.1))", "torch.where({0} > 0, 1.0, 0.0) * {0}",
         "{0}.masked_fill(mask={0} < 0, value=2)",
         "F.leaky_relu({0}, negative_slope=0.3)", "F.elu({0}, 0.7)", "F.gelu({0}, approximate='tanh')", "F.softplus({0}, 2, 1)",
         "F.softplus({0}, beta=0.5, threshold=2)",
         "F.hardtanh({0}, min_val=-0.3, max_val=0.8)", "F.celu({0}, alpha=0.4)", "F.threshold({0}, threshold=0, value=-1)",
         "F.hardshrink({0}, lambd=0.3)", "F.rrelu({0}, 0.2, 0.2)",
         "F.dropout({0}, p=0.5, training=self.training and False)", "F.layer_norm({0}, [{0}.shape[-1]], eps=1e-3)",
         "torch.nan_to_num({0} / 0, nan=0.3, posinf=2, neginf=-2)",
         "F.logsigmoid({0})", "torch.heaviside({0}, torch.tensor(0.5))", "F.relu6({0} * 8) / 6", "torch.argmax({0}, {1}, True).float()",
         "{0}.argmin(dim={1}).float()",
         "{0}.repeat_interleave(2, dim={1})", "torch.repeat_interleave({0}, 2, {1})", "torch.unbind({0}, dim={1})[-1]",
         "{0}.narrow(dim={1}, start=0, length=1)",
         "torch.select({0}, {1}, 0)", "torch.index_select({0}, dim={1}, index=torch.tensor([0, 0, 1]))",
         "torch.gather({0}, {1}, torch.zeros_like({0}).long())", "{0}.where({0} > 0.1, 0.5)",
         "{0}.where({0} > 0, torch.zeros_like({0}))", "torch.count_nonzero({0}.relu(), {1}).float()", "{0}.unflatten({1}, (-1, 1))",
         "{0}.nansum({1})", "torch.nanmean({0}, {1})", "{0}.logcumsumexp({1})",
         "{0}.median(dim={1}).values", "torch.aminmax({0}, dim={1})[0]", "{0}.cummin({1}).values", "F.glu({0}, {1})",
         "torch.diff({0}, dim={1})", "{0}.div({0}.abs() + 1, rounding_mode='trunc')",
         "torch.div({0}, 0.3, rounding_mode='floor')", "torch.remainder({0}, -0.6)", "torch.fmod({0}, -0.6)",
         "torch.remainder(0.7, {0}.abs() + 0.2)", "{0} % -0.5", "{0} // -0.5", "-1.5 // ({0}.abs() + 0.3)",
         "0.7 % ({0}.abs() + 0.2)", "torch.floor_divide({0}, 0.4)", "torch.round({0} * 100, decimals=-1) / 100",
         "torch.round({0}, decimals=1)", "torch.ldexp({0}, torch.tensor(2))", "torch.trapezoid({0}, dim={1})"]


@makes("function", 5)
def form(s):
    x = s.floats(2, 3, 4)
    return s.one(*FORMS).format(x, s.dim(x))


@makes("function", 1.5)
def two_dims(s):
    x = s.floats(3, 4)
    d, e = s.rng.sample(range(1, len(s.shape(x))), 2)
    e = e - len(s.shape(x)) if s.rng.random() < 0.5 else e
    return s.one("{0}.sum(({1}, {2}))", "{0}.mean(dim=({1}, {2}), keepdim=True)", "torch.amax({0}, ({1}, {2}))", "{0}.flip({1}, {2})",
                 "{0}.roll((1, -1), ({1}, {2}))", "torch.norm({0}, dim=({1}, {2}))",
                 "{0}.std(({1}, {2}), keepdim=True)", "{0}.var(dim=({1}, {2}), unbiased=False)", "{0}.transpose({1}, {2})",
                 "torch.logsumexp({0}, ({1}, {2}))", "torch.linalg.norm({0}, dim=({1}, {2}))",
                 "{0}.transpose({1}, {2}).contiguous().view({0}.shape[0], -1)", "torch.swapaxes({0}, {1}, {2})", "{0}.movedim({1}, {2})",
                 "{0}.flatten(-2, -1)", "{0}.transpose({1}, {2}).reshape({0}.shape)",
                 "torch.rot90({0}, 1, [{1}, {2}])", "torch.linalg.vector_norm({0}, 2, ({1}, {2}))", "{0}.all(-1).float()",
                 "{0}.diagonal(dim1={1}, dim2={2})", "torch.var_mean({0}, ({1}, {2}))[1]").format(x, d, e)


@makes("function", 2)
def of_layers(s):
    """F.* of what layers are made of, with parameters of one's own."""
    x = s.floats(2, 3, 4)
    shape = s.shape(x)
    n, c = len(shape) - 2, shape[1]
    if n == 0:
        return s.one(lambda: f"F.linear({x}, {s.parameter(3, c)})", lambda: f"F.linear({x}, {s.parameter(4, c)}, bias={s.parameter(4)})",
                     lambda: f"torch.addmm({s.parameter(4)}, {x}, {s.parameter(c, 4)}, beta=0.5, alpha=2)",
                     lambda: f"F.bilinear({x}, {x}, {s.parameter(3, c, c)})",
                         lambda: f"F.batch_norm({x}, {s.buffer(f'torch.zeros({c})', True)}, {s.buffer(f'torch.ones({c})', True)}, training=self.training)",
                     lambda: f"torch.outer({s.parameter(c)}, {s.parameter(c)})[0] * {x}",
                         lambda: f"{x}.addmm({x}, {s.parameter(c, c)}, beta=0.3)",
                         lambda: f"torch.mv({s.parameter(c, c)}, {s.parameter(c)}) + {x}",
                     lambda: f"torch.einsum('ni,oi->no', {x}, {s.parameter(3, c)})", lambda: f"torch.einsum('ni,nj->nij', {x}, {x})",
                         lambda: f"torch.chain_matmul({x}, {s.parameter(c, 3)})", lambda: f"torch.mm({x}, {s.parameter(c, 3)})",
                     lambda: f"F.batch_norm({x}, None, None, training=True)", lambda: f"F.embedding(({x} > 0).long(), {s.parameter(2, 3)})",
                         lambda: f"{x} @ {s.parameter(c)}", lambda: f"torch.matmul({s.parameter(3, c)}, {x}.T).T")()
    return s.one(lambda: f"F.conv{n}d({x}, {s.parameter(3, c, *[2] * n)})",
                 lambda: f"F.conv{n}d({x}, {s.parameter(2, c, *[3] * n)}, {s.parameter(2)}, 2, 1)",
                 lambda: f"F.conv{n}d({x}, {s.parameter(c, 1, *[3] * n)}, padding=1, groups={c})",
                 lambda: f"F.conv{n}d({x}, {s.parameter(2, c, *[2] * n)}, padding='same')",
                     lambda: f"F.conv_transpose{n}d({x}, {s.parameter(c, 2, *[2] * n)}, stride=2)", lambda: f"F.max_pool{n}d({x}, 2, 1)",
                     lambda: f"F.max_pool{n}d({x}, kernel_size=3, stride=2, padding=1, ceil_mode=True)",
                 lambda: f"F.avg_pool{n}d({x}, 2)", lambda: f"F.avg_pool{n}d({x}, 3, 1, 1, False, False)",
                     lambda: f"F.avg_pool{n}d({x}, 3, stride=2, padding=1, ceil_mode=True)", lambda: f"F.adaptive_avg_pool{n}d({x}, 2)",
                     lambda: f"F.adaptive_max_pool{n}d({x}, 1)",
                 lambda: f"F.group_norm({x}, 1, {s.parameter(c)}, None)", lambda: f"F.instance_norm({x})",
                     lambda: f"F.interpolate({x}, scale_factor=2)",
                     lambda: f"F.interpolate({x}, size={[3] * n}, mode='{['linear', 'bilinear'][n - 1]}', align_corners=True)",
                 lambda: f"F.interpolate({x}, scale_factor=1.5, mode='{['linear', 'bilinear'][n - 1]}')",
                         lambda: f"F.interpolate({x}, size={[5] * n}, mode='nearest')",
                         lambda: f"F.pad({x}, {[1, 1] * n}, mode='{s.one('reflect', 'replicate', 'circular')}')",
                         lambda: f"F.interpolate({x}, size={[5] * n}, mode='area')",
                 lambda: f"F.pad({x}, (1, 0, 0, 2), 'constant', 0.3)", lambda: f"F.lp_pool{n}d({x}, 2, 2)",
                     lambda: f"F.unfold({x}, 2)" if n == 2 else f"F.unfold({x}.unsqueeze(1), (1, 2))",
                     lambda: f"F.channel_shuffle({x}, {c})" if n == 2 else f"F.max_pool1d({x}, 2, dilation=2)",
                 lambda: f"F.batch_norm({x}, {s.buffer(f'torch.full(({c},), 0.2)', True)}, {s.buffer(f'torch.full(({c},), 1.5)', True)}, {s.parameter(c)}, None, False, 0.1, 1e-3)", lambda: f"F.pixel_shuffle({x}.repeat(1, 4, 1, 1), 2)" if n == 2 else f"F.local_response_norm({x}, 2)",
                 lambda: f"F.layer_norm({x}, {x}.shape[1:])", lambda: f"F.max_pool{n}d({x}, 2, return_indices=True)[1].float()",
                     lambda: f"F.interpolate({x}, scale_factor=0.5, recompute_scale_factor=True)",
                     lambda: f"F.interpolate({x}, size=4, mode='nearest-exact')",
                     lambda: f"F.upsample({x}, scale_factor=2, mode='nearest')",
                 lambda: f"F.conv{n}d({x}, {s.parameter(2, c, *[1] * n)}, stride={tuple([2] * n)}, dilation={tuple([1] * n)})",
                     lambda: f"F.scaled_dot_product_attention({x}, {x}, {x}, is_causal=True)",
                     lambda: f"F.interpolate({x}, size={[7] * n}, mode='bicubic')" if n == 2 else f"F.fold({x}, (1, 4), (1, 1)) if False else {x}")()


@makes("layer", 1.5)
def more_layers(s):
    x = s.floats(2, 3, 4)
    shape = s.shape(x)
    n, c, last = len(shape) - 2, shape[1], shape[-1]
    if n == 0:
        layer = s.one(f"nn.Unflatten(1, (1, {c}))", f"nn.Unflatten(1, ({c}, 1))",
                      f"nn.Sequential(nn.Linear({c}, 4), nn.BatchNorm1d(4), nn.ReLU())", f"nn.BatchNorm1d({c}, eps=0.01, momentum=0.5)",
                      f"nn.Sequential(nn.BatchNorm1d({c}), nn.Linear({c}, 3))", f"nn.Softmax(1)", f"nn.Linear({c}, {c}, bias=False)",
                      f"nn.Sequential(nn.Linear({c}, 6), nn.ReLU(), nn.Linear(6, 4), nn.ReLU(inplace=True))",
                      f"nn.Sequential(nn.Linear({c}, 5), nn.LeakyReLU(0.1), nn.Linear(5, 3, bias=False))",
                      f"nn.CosineSimilarity(dim=1)" if False else "nn.Hardswish()")
    elif n == 1:
        layer = s.one(f"nn.Conv1d({c}, 4, 3, 1, 1)",
                      f"nn.Sequential(nn.Conv1d({c}, 4, 3, padding=1, bias=False), nn.BatchNorm1d(4), nn.ReLU())",
                      f"nn.ConvTranspose1d({c}, {c}, 2, 2, groups={c})", f"nn.AdaptiveAvgPool1d(1)", f"nn.Flatten(start_dim=1)",
                      f"nn.Flatten(-2)", f"nn.BatchNorm1d({c})", f"nn.LayerNorm(({c}, {last}))",
                      f"nn.Sequential(nn.BatchNorm1d({c}), nn.Conv1d({c}, 2, 2))", f"nn.InstanceNorm1d({c}, track_running_stats=True)",
                      f"nn.GroupNorm({c}, {c})", f"nn.Upsample(size=5, mode='linear', align_corners=True)", f"nn.Dropout1d(0.0)",
                      f"nn.Softmax(dim=-2)", f"nn.ReflectionPad1d((1, 0))", f"nn.ConstantPad1d((2, -1), 0.25)",
                      "nn.FractionalMaxPool2d(2, 2)")
    else:
        layer = s.one(f"nn.Conv2d({c}, 4, (3, 1), (1, 2), (1, 0))",
                      f"nn.Sequential(nn.Conv2d({c}, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(inplace=True))",
                      f"nn.ConvTranspose2d({c}, 2, 3, 2, 1, 1)", f"nn.AdaptiveAvgPool2d((1, None))", f"nn.AdaptiveAvgPool2d((2, 3))",
                      f"nn.Flatten(1, 2)", f"nn.MaxPool2d((2, 1))",
                      f"nn.Conv2d({c}, {2 * c}, 3, groups={c}, dilation=(1, 2), padding=(1, 2))",
                      f"nn.Sequential(nn.BatchNorm2d({c}), nn.ReLU(), nn.Conv2d({c}, 2, 1))", f"nn.BatchNorm2d({c}, affine=False)",
                      f"nn.AvgPool2d((2, 1), stride=(1, 1))", f"nn.PixelUnshuffle(2)", f"nn.Upsample(scale_factor=(1, 2))",
                      f"nn.Dropout2d(0.0)", f"nn.Unfold(2, stride=2)",
                      f"nn.Upsample(size=(3, 5), mode='bilinear', align_corners=False)", f"nn.ZeroPad2d((1, 0, 2, 1))",
                      f"nn.AvgPool2d(2, divisor_override=3)", f"nn.Softmax2d()", f"nn.ChannelShuffle({c})",
                      f"nn.Conv2d({c}, 3, 3, padding=1, padding_mode='reflect')")
    return f"{s.attribute('g', layer)}({x})"


@makes("layer", 0.8)
def sequence(s):
    """Recurrent layers with states, two layers, cells in loops."""
    x = s.floats(3)
    n = s.size(x, -1)
    kind = s.one("lstm", "gru", "rnn", "cell", "lstm cell", "time first", "mha", "decoder")
    if kind == "lstm":
        name = s.attribute("r",
                f"nn.LSTM({n}, 3, num_layers=2, batch_first=True{s.one('', ', bidirectional=True', ', bias=False', ', proj_size=2')})")
        return s.one(f"!a, (h, c) = {name}({x})\n{x} = torch.cat([a[:, -1], h[-1], c[0]], 1)",
                     f"!a, (h, c) = {name}({x})\n{x} = h.transpose(0, 1).flatten(1)", f"!a, _ = {name}({x})\n{x} = a.mean(1)")
    if kind == "gru":
        name = s.attribute("r", f"nn.GRU({n}, 3, batch_first=True)")
        return s.one(f"{name}({x}, torch.ones(1, {x}.shape[0], 3))[0]", f"!a, h = {name}({x})\n{x} = h.squeeze(0) + a[:, 0]",
                     f"{name}({x}.flip(1))[0].flip(1)")
    if kind == "rnn":
        return f"{s.attribute('r', f'nn.RNN({n}, 3, nonlinearity={chr(39)}relu{chr(39)}, batch_first=True)')}({x})[0]"
    if kind == "time first":
        return f"{s.attribute('r', f'nn.{s.one(chr(71) + chr(82) + chr(85), chr(82) + chr(78) + chr(78))}({n}, 4)')}({x}.transpose(0, 1))[0].transpose(0, 1)"
    if kind == "mha":
        if n % 2:
            raise Nothing
        name = s.attribute("a",
                f"nn.MultiheadAttention({n}, 2, batch_first=True{s.one('', ', bias=False', ', add_bias_kv=True', ', add_zero_attn=True')})")
        t = s.size(x, 1)
        return s.one(f"{name}({x}, {x}, {x})[1]", f"{name}({x}[:, :1], {x}, {x})[0]",
                     f"{name}({x}, {x}, {x}, attn_mask=torch.triu(torch.ones({t}, {t}), 1).bool())[0]",
                     f"{name}({x}, {x}, {x}, average_attn_weights=False)[1].flatten(1)")
    if kind == "decoder":
        if n % 2:
            raise Nothing
        return f"{s.attribute('t', f'nn.TransformerDecoderLayer({n}, 2, 4, 0.0, batch_first=True)')}({x}, {x}.tanh())"
    if kind == "cell":
        name = s.attribute("r", f"nn.{s.one('GRUCell', 'RNNCell')}({n}, 4)")
        return f"!h = torch.zeros({x}.size(0), 4)\nfor j in range({x}.shape[1]):\n    h = {name}({x}[:, j], h)\n{x} = h"
    name = s.attribute("r", f"nn.LSTMCell({n}, 3)")
    return f"!h = c = {x}.new_zeros({x}.size(0), 3)\nfor j in range({x}.shape[1]):\n    h, c = {name}({x}[:, j], (h, c))\n{x} = torch.cat([h, c], 1)"


# ---- odd numbers ----

@makes("odd numbers", 1.5)
def odd(s):
    x = s.floats(2, 3)
    n = s.size(x, -1)
    k = f"torch.arange({n}, dtype=torch.float32)"
    return s.one(f"F.softmax({x}.masked_fill({x} < 0, float('-inf')), -1).nan_to_num(0.5)", f"torch.round({k} / 2 - 1) * {x}",
                 f"({k} - 2).remainder(3) + {x}", f"({k} - 2).fmod(3) + {x}", f"(torch.arange({n}) - 2) // 2 + {x}",
                 f"(torch.arange({n}) - 3) % 2 + {x}",
                 f"torch.where({x} > 0, ({x}).log(), {x})", f"torch.where({x} > 0, {x}.abs().sqrt(), torch.zeros_like({x}))",
                 f"({x} / torch.zeros_like({x})).clamp(-1, 1)", f"torch.sign({k} - 1) * {x}", f"{x}.relu().sqrt()", f"{x}.relu().pow(0.5)",
                 f"({x} - {x}).abs() + {x}",
                 f"{x}.relu().norm(dim=-1, keepdim=True) + {x}", f"torch.exp({x} * 100).clamp(max=3)", f"torch.sigmoid({x} * 200) + {x}",
                 f"torch.log_softmax({x} * 100, -1).clamp(min=-5)", f"torch.logsumexp({x} * 100, -1) / 100", f"F.softplus({x} * 50) / 50",
                 f"torch.tanh({x} * 100)", f"({x} * 0).exp()",
                 f"torch.atan2({x} * 0, {x})", f"torch.hypot({x} * 0, {x})", f"{x}.clamp(0.5, -0.5)", f"({x} * 1e20 * 1e-20)",
                 f"({x} + 1e6) - 1e6", f"torch.maximum({x}, {x} * 0)", f"torch.minimum({x}.abs(), {x})", f"{x}.relu().prod(-1)",
                 f"{x}.relu().cumprod(-1)", f"{x}.relu() ** 0", f"{x}.relu().std(-1)",
                 f"torch.full_like({x}, 3).var(-1) + {x}.sum(-1)",
                 f"torch.copysign({k} * 0, {x}) + 1 / (torch.copysign(torch.ones_like({x}), {x}))", f"torch.nan_to_num({x}.log())",
                 f"{x}.masked_fill(torch.isnan({x}.sqrt()), 0.25)", f"torch.isinf(1 / {x}.relu()).float()",
                 f"torch.xlogy({x}.relu(), {x}.relu())", f"F.cosine_similarity({x} * 0, {x}, dim=-1)",
                 f"F.normalize({x} * 0, dim=-1) + {x}", f"F.gelu({x} * 30) / 30", f"torch.erfc({x} * 5)", f"({k} * 0.5).round() + {x}",
                 f"torch.floor({k} - 1.5) * {x}", f"{x}.argmax(-1, keepdim=True) * {x}", f"(-{k}).relu() + {x}",
                 f"F.smooth_l1_loss({x}, torch.zeros_like({x}), reduction='none', beta=0.5)",
                 f"F.huber_loss({x}, {x} * 0, reduction='none', delta=0.3)")


@makes("element type", 2)
def promoted(s):
    x = s.floats(2, 3)
    n = s.size(x, -1)
    i = f"torch.arange({n})"
    return s.one(f"{i} / 2 + {x}", f"({i} + 0.5) * {x}", f"{i} * True + {x}", f"({i} > 2) + {x}", f"({i} > 2) * ({i} < 4) * {x}",
                 f"({i} ** 2) / 4 + {x}", f"torch.tensor(2.5, dtype=torch.float64) * {x}", f"{x} + torch.tensor(3)",
                 f"torch.ones({n}, dtype=torch.int32) * {i} + {x}", f"{i}.float().mean() + {x}",
                 f"({i} == 2).sum() * {x}", f"({x} > 0).sum(-1, keepdim=True) / {n} + {x}", f"({x} > 0).float().mean(-1)",
                 f"({x} > 0) == ({x} > 0.5)", f"({x} * 2).long() * 0.5", f"({x} * 2).int() / 2", f"({x} * 2).int() // 2",
                 f"-({x} > 0).int()", f"({x} > 0).int() - 2", f"torch.where({x} > 0, {i}, 0)", f"torch.where({x} > 0, 1, 2)",
                 f"torch.where({x} > 0, {i}, {x})", f"torch.where({x} > 0, {x}, 0)", f"torch.stack([{i}.float(), {i} * 2.0]).sum(0) + {x}",
                 f"torch.cat([({x} > 0).float(), {x}], -1)", f"torch.cat([{x}, ({x} > 0)], -1)",
                 f"torch.zeros({n}, dtype=torch.bool) | ({x} > 0)", f"({x} > 0).to({x}.dtype) * {x}", f"{x}.new_full(({n},), 2) + {x}",
                 f"{x} * torch.ones_like({x}, dtype=torch.int64)", f"torch.full(({n},), 2) * {x}", f"torch.full(({n},), True) & ({x} > 0)",
                 f"torch.linspace(0, 1, {n}) + {x}", f"torch.arange(0, {n} / 2, 0.5) * {x}", f"torch.tensor([[1, 2]]).float().sum() * {x}",
                 f"torch.arange({n} - 1, -1, -1) + {x}", f"{x}.sum(-1).long()", f"{x}.mean(-1, dtype=torch.float64)",
                 f"torch.maximum({i}, torch.tensor(2)) * {x}", f"({x}.abs() * 100).to(torch.uint8) + 100",
                 f"({x}.abs() * 100).to(torch.uint8) * 3", f"({x} * 1e5).int() * 100000", f"({x} * 1e5).long() * 100000",
                 f"({x}.abs() * 50).to(torch.uint8) - 60", f"({x} > 0).prod(-1)", f"({x} > 0).cumsum(-1)", f"torch.sum({x} > 0, -1)",
                 f"torch.mul({x} > 0, 2)",
                 f"torch.add(({x} > 0), ({x} > 0.5))", f"({x} * 3).long().float().sqrt().nan_to_num(0)", f"torch.pow(({x} * 3).long(), 2)",
                 f"({x} * 2).long().bool()", f"(({x} * 3).long() % 4) * {x}", f"(({x} * 3).long() & 1).bool()",
                 f"torch.div(({x} * 5).long(), 2, rounding_mode='floor')", f"torch.fmod(({x} * 5).long(), 3)",
                 f"({x} * 5).long().remainder(-3)",
                 f"torch.clamp(({x} * 5).long(), -2, 2)", f"({x} * 5).long().clamp(min=0.5)",
                 f"({x} * 5).round().long().abs().float().log1p()", f"~({x} * 3).long()", f"({x} * 3).long() ^ 5", f"({x} * 3).long() << 2",
                 f"({x} * 9).long() >> 1")


# ---- Python around them ----

@makes("python", 2.5)
def python(s):
    x, y = s.floats(2, 3), s.floats()
    n = s.size(x, 1)
    return "!" + s.one(f"def inner(a, b=2, *, c=1.0):\n    return a * b + c\n{x} = inner({x}, c=0.5)",
                       f"{x} = (lambda t: t.tanh() * 2)({x})", f"a = [{x}, {x} * 2]\na.append({x}.relu())\n{x} = sum(a)",
                       f"d = dict(a={x}, b=-{x})\n{x} = d['a'] * 0.5 + d.get('b')",
                       f"for j, part in enumerate({x}.unbind(1)):\n    {x} = {x} + part.unsqueeze(1) * j * 0.1",
                       f"{x} = torch.stack([p * j for j, p in enumerate({x}.unbind(1))], 1)",
                       f"for a, b in zip({x}.chunk(2, 1), {x}.chunk(2, 1)):\n    {x} = {x} + (a * b).mean(1, keepdim=True)",
                       f"*first, last = {x}.split(1, 1)\n{x} = last.flatten(1)",
                       f"with torch.no_grad():\n    w = {x} * 2\n{x} = {x} + w", f"w = {x}.detach()\n{x} = {x} - w.mean(-1, keepdim=True)",
                       f"w = {x}.data\n{x} = {x} + w * 0.5", f"{x} = {x} if {x}.requires_grad or True else -{x}",
                       f"w, i = {x}.max(1)\n{x} = {x} - w.unsqueeze(1) + i.unsqueeze(1)", f"w, i = torch.sort({x}, 1)\n{x} = w * 0.1 + {x}",
                       f"w = torch.topk({x}, 2, dim=1)\n{x} = w.values + w[1]",
                       f"v, m = torch.var_mean({x}, dim=1, keepdim=True)\n{x} = ({x} - m) / (v + 1).sqrt()",
                       f"if isinstance({x}, torch.Tensor) and {x}.is_floating_point():\n    {x} = {x} * 3",
                       f"try:\n    {x} = {x}.view(-1, {n * 1000})\nexcept RuntimeError:\n    {x} = {x} + 1" if s.rng.random() < 0.1 else f"{x} = +({x} * 2)",
                       f"f = getattr(torch, '{s.one('tanh', 'relu', 'sin')}')\n{x} = f({x})",
                       f"{x} = getattr({x}, '{s.one('exp', 'abs')}')().clamp(max=4)",
                       f"acts = [torch.tanh, F.relu, torch.sigmoid]\nfor f in acts[::-1]:\n    {x} = f({x})",
                       f"{x} = {x}.__mul__(2).__add__(1)", f"size = {x}.size()\n{x} = {x}.reshape(size[0], size[1:].numel())",
                       f"{x} = F.relu({x}) if {x}.shape[-1] % 2 else F.elu({x})", f"k = max({x}.shape[1:])\n{x} = {x} / k",
                       f"k = [d for d in {x}.shape[1:] if d > 3]\n{x} = {x} + len(k)", f"{x} = torch.cat([*{x}.chunk(2, 1), {x}], 1)",
                       f"{x}, w = {x} * 2, {x}\n{x} = {x} - w", f"if self.training:\n    {x} = {x} * 0.5",
                       f"if not self.training:\n    {x} = {x} + 0.25",
                       f"p = 0.0 if self.training else 0.5\n{x} = {x} + p",
                       f"w = {x}.mean(1, keepdim=True)\nw = w.expand_as({x})\n{x} = {x} * w",
                       f"{x} = {x}.to({x}.device).to(dtype={x}.dtype)", f"{x} = {x}.type({x}.dtype).cpu()",
                       f"{x} = {x}.requires_grad_(False) * 1 if False else {x} * 1",
                       f"b, c = {x}.shape[:2]\n{x} = {x}.reshape(b, c, -1).sum(-1)",
                       f"{x} = torch.tensor([1.0, 2.0])[{n} % 2] * {x}", f"w = {x}\nw = w + 1\n{x} = {x} * w",
                       f"{x} = {x}[:, :]\n{x} = {x}[..., :]", f"{x} = {x}[:, {n} // 2:]", f"{x} = {x}[:, max(0, {x}.size(1) - 2):]",
                       f"{x} = {x}[:, slice(None, None, 2)]", f"idx = (slice(None), 0)\n{x} = {x}[idx]", f"{x} = {x}[:, -1, None]",
                       f"{x} = {x}[:, [-1, 0]]",
                       f"global_scale = 0.5\n{x} = {x} * global_scale", f"assert not torch.jit.is_scripting()\n{x} = {x} * 2",
                       f"w = [{x}] * 2\n{x} = torch.stack(w, -1).sum(-1)", f"{x} = torch.add(input={x}, other={x}, alpha=0.5)",
                       f"{x} = torch.mul(other={x}, input={x})", f"{x} = torch.sub({x}, other=1)",
                       f"{x} = F.linear(input={x}, weight=torch.eye({s.size(x, -1)}))")


@makes("python", 1.2)
def nested(s):
    """A class with a method of one's own, several results, a loop over children, frozen or tied parts."""
    x = s.floats(2, 3)
    n = s.size(x, -1)
    name = f"Own{len(s.classes)}"
    way = s.one("pair", "dict", "method", "children", "numbered", "tied", "frozen", "sequence", "modules", "default", "static", "property",
                "kept")
    head = f"class {name}(nn.Module):\n    def __init__(self, n, depth=2):\n        super().__init__()\n        self.depth = depth\n"
    body = {
        "pair": "        self.a = nn.Linear(n, 4)\n\n    def forward(self, x):\n        y = self.a(x)\n        return y, y.mean(-1, keepdim=True)",
        "dict": "        self.a = nn.Linear(n, 4)\n\n    def forward(self, x, scale=1.0):\n        return {'out': self.a(x) * scale, 'in': x}",
        "method": "        self.a = nn.Linear(n, n)\n\n    def step(self, x, k=1):\n        return torch.tanh(self.a(x)) * k\n\n    def forward(self, x):\n        for k in range(self.depth):\n            x = self.step(x, k=k + 1)\n        return x",
        "children": "        self.a = nn.Linear(n, n)\n        self.b = nn.ReLU()\n\n    def forward(self, x):\n        for child in self.children():\n            x = child(x) + x\n        return x",
        "numbered": "        for i in range(depth):\n            setattr(self, f'fc{i}', nn.Linear(n, n))\n\n    def forward(self, x):\n        for i in range(self.depth):\n            x = getattr(self, f'fc{i}')(x).relu()\n        return x",
        "tied": "        self.a = nn.Linear(n, n)\n        self.b = nn.Linear(n, n)\n        self.b.weight = self.a.weight\n\n    def forward(self, x):\n        return self.b(torch.tanh(self.a(x)))",
        "frozen": "        self.a = nn.Linear(n, n)\n        self.b = nn.Linear(n, 4)\n        for p in self.a.parameters():\n            p.requires_grad = False\n\n    def forward(self, x):\n        return self.b(self.a(x))",
        "sequence": "        self.s = nn.Sequential(nn.Linear(n, n), nn.Tanh(), nn.Linear(n, 4))\n\n    def forward(self, x):\n        y = self.s[:2](x)\n        return self.s[-1](y) * len(self.s)",
        "modules": "        self.d = nn.ModuleDict({'one': nn.Linear(n, n), 'two': nn.Tanh()})\n\n    def forward(self, x):\n        for key in self.d:\n            x = self.d[key](x)\n        return self.d['one'](x)",
        "default": "        self.a = nn.Linear(n, n)\n\n    def forward(self, x, mask=None, scale=2):\n        y = self.a(x) * scale\n        if mask is not None:\n            y = y * mask\n        return y",
        "static": "        self.a = nn.Linear(n, n)\n\n    @staticmethod\n    def act(x):\n        return x * torch.sigmoid(x)\n\n    def forward(self, x):\n        return self.act(self.a(x))",
        "property": "        self.a = nn.Linear(n, n)\n\n    @property\n    def scale(self):\n        return self.a.in_features ** -0.5\n\n    def forward(self, x):\n        return self.a(x) * self.scale",
        "kept": "        self.a = nn.Linear(n, n)\n        nn.init.constant_(self.a.bias, 0.5)\n        self.register_buffer('m', torch.ones(n).cumsum(0))\n\n    def forward(self, x):\n        return self.a(x * self.m) / self.m.sum()",
    }[way]
    s.classes.append(head + body)
    call = f"{s.attribute('o', f'{name}({n})')}({x})"
    return {"pair": f"!a, b = {call}\n{x} = a + b", "dict": f"{call}['out']",
            "default": call[:-1] + s.one("", f", mask=({x} > 0)", f", {x}.abs(), 0.5", ", scale=3") + ")"}.get(way, call)


@makes("write in place", 1.5)
def more_writes(s):
    x = s.floats(2, 3)
    n = s.size(x, 1)
    c = s.number()
    return "!" + s.one(f"w = torch.zeros({x}.shape[0], {n})\nfor j in range({n}):\n    w[:, j] = {x}.flatten(1)[:, j]\n{x} = w",
                       f"w = {x}.clone()\nw[:, 0] = w[:, 1]\nw[:, 1] = {x}[:, 0]\n{x} = w",
                       f"w = torch.empty_like({x})\nw[:] = {x} * 2\n{x} = w",
                       f"w = {x} * 1\nw[..., 0::2] = torch.sin({x}[..., 0::2])\n{x} = w",
                       f"w = {x} * 1\nw[:, [0, {n - 1}]] += {c}\n{x} = w",
                       f"w = {x} * 1\nw[w < 0] *= 0.1\n{x} = w", f"w = {x} * 1\nw[:, 1:] += w[:, :-1].clone()\n{x} = w",
                       f"w = {x} * 1\nw[:, 1:] -= {x}[:, :-1]\n{x} = w",
                       f"w = {x}.new_zeros({x}.shape)\nw[:, :-1] = {x}[:, 1:]\n{x} = w + {x}",
                       f"w = {x} * 1\nw.scatter_(1, {x}.argmax(1, keepdim=True), {c})\n{x} = w",
                       f"w = torch.zeros_like({x}).scatter_(1, {x}.flatten(1).argmax(1, keepdim=True) % {n}, 1)\n{x} = {x} * w" if len(s.shape(x)) == 2 else f"{x} = {x}.contiguous().mul_(1)",
                       f"w = {x} * 1\nw.index_add_(1, torch.tensor([0]), {x}[:, :1])\n{x} = w",
                       f"w = {x} * 1\nw.masked_fill_(w > w.mean(-1, keepdim=True), 0.0)\n{x} = w",
                       f"w = {x} * 1\nw[:, 0].mul_({c})\n{x} = w" if s.rng.random() < 0.3 else f"w = {x} * 1\nw[:, 0] *= {c}\n{x} = w",
                       f"w = {x}.exp().clamp_(max=3)\nw.add_({x}).mul_(0.5)\n{x} = w", f"{x} = {x}.clone().fill_({c}) + {x}",
                       f"w = {x} * 1\nw.sqrt_() if False else w.abs_()\n{x} = w",
                       f"w = {x} * 1\nw[torch.arange(len(w)), w.flatten(1).argmax(1) % {n}] = {c}\n{x} = w",
                       f"w = {x} * 1\nfor row in w.unbind(1):\n    row.add_({c})\n{x} = w",
                       f"w = torch.ones({n})\nw[0] = {c}\n{x} = {x} * w.view(-1{', 1' * (len(s.shape(x)) - 2)})",
                       f"w = torch.zeros({n}, {n})\nw.fill_diagonal_(2)\n{x} = {x} + w[0].view(-1{', 1' * (len(s.shape(x)) - 2)})",
                       f"w = {x} * 1\nw.clamp_(min={c}).neg_()\n{x} = w",
                       f"a = {x} * 1\nb = a\nb += 1\n{x} = a * b", f"a = {x} * 1\nb = a.add(1)\nb.mul_(2)\n{x} = a + b",
                       f"a = {x} * 1\nb = a.relu_()\n{x} = a + b", f"{x} = F.relu({x} * 1, inplace=True) + {x}",
                       f"{x} = torch.where({x} > 0, {x}, {x} * {c}).mul_(2)", f"w = {x} * 1\nw.swapaxes(0, 1)\n{x} = w",
                       f"w = {x} * 1\nw.copy_(w.flip(1))\n{x} = w")


@makes("index", 1.5)
def more_indices(s):
    x = s.floats(3, 4)
    shape = s.shape(x)
    a, b = shape[1], shape[2]
    i, j = s.indices(a, 2), s.indices(b, 2)
    return x + s.one(f"[:, 0, 1:]", f"[:, :, -1]", f"[:, {i}, :]", f"[:, :, {j}]",
                     f"[..., {i}, {j}]" if len(shape) == 3 else f"[:, {i}, {j}, 0]", f"[:, 1:, :-1]", f"[:, ::2, ::2]", f"[:, None, :, 0]",
                     f"[:, :, None]", f"[:, 0][:, 0]", f"[:, torch.tensor({i})][:, :, 0]",
                     f"[:, torch.tensor({i})[:, None], torch.tensor({j})]",
                     f"[:, torch.tensor({i}), 0]", f"[:, 0, torch.tensor({j})]", f"[:, -1, ::2]", f"[:, {i}][..., {j}]",
                     f"[:, :, torch.arange({b}).flip(0)]", f"[:, torch.tensor([{i}, {i}])]", f"[:, torch.triu_indices({a}, {b})[0] % {a}]",
                     f"[:, 0:1, None, 0]", f"[:, {a - 1}::-1]" if False else f"[:, {a - 1}:]",
                     f"[:, torch.arange({a}) > 0]", f"[:, torch.tensor({[v % 2 == 0 for v in range(a)]})]",
                     f"[:, torch.ones({a}, {b}).bool()]" if len(shape) == 3 else "[:, 0]", f"[:, torch.tensor(0)]",
                     f"[:, torch.tensor([1]), torch.tensor({j})]", f"[:, {i}, None]", f"[torch.arange({x}.shape[0]), 0]",
                     f"[:, torch.arange({min(a, b)}), torch.arange({min(a, b)})]")
