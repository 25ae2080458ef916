"""random_parts.py - what the statements of random_source.py are made of, by kind."""
from random_source import ROWS, Nothing, makes

# ---- layers ----

OF_ANY = ["nn.ReLU()", "nn.Tanh()", "nn.Sigmoid()", "nn.GELU()", "nn.SiLU()", "nn.LeakyReLU(0.2)", "nn.ELU()", "nn.Softplus()",
          "nn.Hardswish()", "nn.Hardtanh()", "nn.Mish()", "nn.PReLU()", "nn.Softmax(dim=-1)", "nn.LogSoftmax(dim=1)", "nn.Identity()",
          "nn.Dropout(0.0)", "nn.CELU(0.5)", "nn.Softsign()", "nn.Tanhshrink()", "nn.ReLU6()", "nn.Hardsigmoid()", "nn.SELU()",
          "nn.LogSigmoid()", "nn.Threshold(0.1, 0.3)", "nn.GELU(approximate='tanh')", "nn.Softshrink(0.2)", "nn.Hardshrink(0.2)",
          "nn.Flatten()", "nn.Softmin(dim=-1)", "nn.RReLU(0.1, 0.1)"]


@makes("layer", 2)
def activation(s):
    return f"{s.attribute('m', s.one(*OF_ANY))}({s.floats()})"


@makes("layer", 2)
def linear(s):
    x = s.floats(2, 3, 4)
    bias = s.one("", "", ", bias=False")
    return f"{s.attribute('l', f'nn.Linear({s.size(x, -1)}, {s.one(3, 5, 6, 8)}{bias})')}({x})"


@makes("layer", 1.5)
def norm(s):
    x = s.floats(2, 3, 4)
    shape = s.shape(x)
    channels, rank = shape[1], len(shape)
    which = {2: [f"nn.BatchNorm1d({channels})", f"nn.BatchNorm1d({channels}, affine=False)", f"nn.LayerNorm({channels})"],
             3: [f"nn.BatchNorm1d({channels}, momentum=0.3)", f"nn.LayerNorm({shape[-1]})", f"nn.InstanceNorm1d({channels}, affine=True)",
                 f"nn.LayerNorm({list(shape[1:])}, elementwise_affine=False)", f"nn.BatchNorm1d({channels}, track_running_stats=False)"],
             4: [f"nn.BatchNorm2d({channels})", f"nn.BatchNorm2d({channels}, eps=1e-3)",
                 f"nn.GroupNorm({1 + (channels % 2 == 0)}, {channels})",
                 f"nn.InstanceNorm2d({channels})", f"nn.BatchNorm2d({channels}, momentum=None)", f"nn.LocalResponseNorm(2)"]}[rank]
    return f"{s.attribute('n', s.one(*which))}({x})"


@makes("layer", 2)
def convolution(s):
    x = s.floats(3, 4)
    shape = s.shape(x)
    n, c = len(shape) - 2, shape[1]
    groups = s.one(1, 1, c)
    kernel = s.one(1, 2, 3)
    more = s.one("", ", padding=1", ", stride=2, padding=1", ", padding='same'", ", padding=2, dilation=2", ", bias=False",
                 ", padding=1, padding_mode='circular'", ", padding=1, padding_mode='replicate'")
    if s.rng.random() < 0.25:
        more = s.one("", ", stride=2", ", stride=2, padding=1, output_padding=1", ", padding=1, dilation=2")
        layer = f"nn.ConvTranspose{n}d({c}, {s.one(2, 3)}, {kernel}{more})"
    else:
        layer = f"nn.Conv{n}d({c}, {groups * s.one(1, 2, 4)}, {kernel}{more}, groups={groups})"
    return f"{s.attribute('c', layer)}({x})"


@makes("layer", 1)
def pool(s):
    x = s.floats(3, 4)
    n = len(s.shape(x)) - 2
    layer = s.one(f"nn.MaxPool{n}d(2)", f"nn.AvgPool{n}d(2)", f"nn.MaxPool{n}d(3, 2, 1)", f"nn.AvgPool{n}d(3, 1, 1)",
                  f"nn.AvgPool{n}d(3, 2, 1, count_include_pad=False)", f"nn.AdaptiveAvgPool{n}d({s.one(1, 2, 3)})",
                  f"nn.AdaptiveMaxPool{n}d(2)", f"nn.MaxPool{n}d(2, ceil_mode=True)", f"nn.MaxPool{n}d(2, 1, dilation=2)",
                  "nn.Upsample(scale_factor=2)", "nn.Upsample(scale_factor=2, mode='bilinear')", f"nn.AvgPool{n}d(2, ceil_mode=True)",
                  f"nn.LPPool{n}d(2, 2)", f"nn.ConstantPad{n}d(1, 0.5)", f"nn.ReplicationPad{n}d(1)", f"nn.ReflectionPad{n}d(1)")
    return f"{s.attribute('q', layer)}({x})"


@makes("layer", 0.8)
def recurrent(s):
    x = s.floats(3)
    layer = s.one("RNN", "LSTM", "GRU")
    more = s.one("", ", bidirectional=True", ", num_layers=2")
    name = s.attribute("r", f"nn.{layer}({s.size(x, -1)}, {s.one(3, 4)}, batch_first=True{more})")
    return s.one(f"{name}({x})[0]", f"{name}({x})[0][:, -1]", f"{name}({x})[1]{'[0]' if layer == 'LSTM' else ''}[-1]")


@makes("layer", 0.7)
def attention(s):
    x = s.pick(lambda t: t.dim() == 3 and t.shape[0] == ROWS and t.is_floating_point() and t.shape[-1] % 2 == 0)
    width = s.size(x, -1)
    if s.rng.random() < 0.5:
        return f"{s.attribute('a', f'nn.MultiheadAttention({width}, 2, batch_first=True)')}({x}, {x}, {x}, need_weights=False)[0]"
    more = s.one("", ", norm_first=True", ", activation='gelu'")
    return f"{s.attribute('t', f'nn.TransformerEncoderLayer({width}, 2, 6, 0.0, batch_first=True{more})')}({x})"


@makes("layer", 0.8)
def container(s):
    x = s.floats(2, 3)
    a, b = s.size(x, -1), s.one(4, 6)
    if s.rng.random() < 0.5:
        return f"{s.attribute('s', f'nn.Sequential(nn.Linear({a}, {b}), {s.one(*OF_ANY)}, nn.Linear({b}, {s.one(3, a)}))')}({x})"
    name = s.attribute("i", f"nn.ModuleList([nn.Linear({a}, {a}) for _ in range({s.one(1, 2, 3)})])")
    return s.one(f"!for layer in {name}:\n    {x} = torch.tanh(layer({x}))", f"sum(layer({x}) for layer in {name})",
                 f"torch.cat([layer({x}) for layer in {name}], -1)")


@makes("layer", 0.4)
def called_twice(s):
    x = s.floats(2, 3)
    name = s.attribute("l", f"nn.Linear({s.size(x, -1)}, {s.size(x, -1)})")
    return s.one(f"{name}({name}({x}).relu())", f"{name}({x}) + {name}({x} * 0.5)", f"F.linear({x}, {name}.weight.t(), {name}.bias)")


# ---- functions and methods ----

UNARY = ["torch.tanh({0})", "torch.sigmoid({0})", "F.relu({0})", "F.gelu({0})", "F.silu({0})", "F.softplus({0})", "torch.sin({0})",
         "torch.cos({0})", "torch.exp({0}.clamp(max=2))", "torch.abs({0})", "torch.square({0})", "torch.erf({0})", "torch.atan({0})",
         "F.elu({0})", "F.leaky_relu({0}, 0.1)", "F.hardswish({0})", "F.relu6({0} * 4)", "F.mish({0})", "torch.log1p({0}.abs())",
         "torch.sqrt({0}.abs() + 0.1)", "torch.rsqrt({0} * {0} + 0.5)", "torch.sign({0})", "torch.floor({0} * 3)", "torch.round({0} * 2)",
         "torch.trunc({0} * 2)", "torch.ceil({0})", "torch.frac({0})", "torch.expm1({0}.clamp(-2, 2))", "torch.neg({0})", "F.softsign({0})",
         "F.logsigmoid({0})", "F.hardtanh({0}, -0.5, 0.5)", "F.softshrink({0}, 0.1)", "F.threshold({0}, 0.1, 0.3)", "torch.nan_to_num({0})",
         "torch.asinh({0})", "torch.sinc({0})", "torch.lgamma({0}.abs() + 1)", "torch.erfc({0})", "torch.exp2({0}.clamp(-3, 3))",
         "torch.log2({0}.abs() + 0.2)", "torch.reciprocal({0}.abs() + 0.3)", "torch.clamp({0}, -0.5, 0.7)", "torch.clip({0}, min=-0.2)",
         "torch.logit({0}.sigmoid() * 0.9 + 0.05)", "torch.deg2rad({0})", "F.softmax({0}, dim=-1)", "F.log_softmax({0}, dim=-1)",
         "F.normalize({0}, dim=-1)", "torch.positive({0})", "torch.acos({0}.tanh() * 0.9)", "torch.digamma({0}.abs() + 0.5)",
         "F.dropout({0}, 0.0)", "F.glu({0}, dim=-1)", "F.layer_norm({0}, {0}.shape[-1:])", "torch.special.expit({0})", "torch.cosh({0})",
         "torch.fix({0} * 1.5)", "F.prelu({0}, torch.tensor([0.3]))", "torch.clone({0})", "torch.zeros_like({0})",
         "torch.full_like({0}, 0.5)"]
METHODS = ["{0}.tanh()", "{0}.sigmoid()", "{0}.relu()", "{0}.abs()", "{0}.square()", "{0}.sin()", "{0}.clamp(-0.5, 0.5)",
    "{0}.clamp_min(0.1)",
           "{0}.pow(2)", "{0}.neg()", "{0}.exp().clamp(max=5)", "{0}.sign()", "{0}.mul(1.5)", "{0}.add({0}, alpha=0.5)",
           "{0}.sub(1, alpha=2)",
           "{0}.div(3)", "{0}.softmax(-1)", "{0}.round()", "{0}.floor()", "{0}.clone()", "{0}.contiguous()", "{0}.detach()", "{0}.rsub(1)",
           "{0}.div(0.7, rounding_mode='floor')", "{0}.lerp({0}.tanh(), 0.3)", "{0}.type_as({0})", "{0}.cumsum(-1)",
           "{0}.tril() if {0}.dim() > 2 else {0}",
           "{0}.remainder(0.7)", "{0}.fmod(0.7)", "{0}.expm1().tanh()", "{0}.new_ones({0}.shape)", "{0}.logcumsumexp(-1)",
           "{0}.cummax(-1)[0]",
           "{0}.sort(-1)[0]", "{0}.sort(dim=-1, descending=True).values", "{0}.topk(2, dim=-1)[0]", "{0}.flip(-1)", "{0}.roll(1, -1)",
           "torch.msort({0}.t()).t() if {0}.dim() == 2 else {0}", "{0}.renorm(2, 0, 1.0)", "{0}.masked_fill({0} > 0.2, 0.1)",
           "{0}.kthvalue(2, -1)[0]",
           "{0}.median(-1)[0]", "{0}.triu() if {0}.dim() > 2 else {0}", "{0}.cumprod(-1).clamp(-3, 3)", "{0}.diff(dim=-1)",
           "{0}.copysign({0}.cos())",
           "{0}.nan_to_num(0.5)", "{0}.prod(-1).clamp(-4, 4)", "{0}.std(-1)", "{0}.var(-1, unbiased=False)", "{0}.norm(dim=-1)",
           "{0}.where({0} > 0, {0} * 0.1)"]


@makes("function", 4)
def unary(s):
    return s.one(*UNARY).format(s.floats())


@makes("method", 4)
def method(s):
    return s.one(*METHODS).format(s.floats())


REDUCTIONS = ["{0}.sum({1}{2})", "{0}.mean({1}{2})", "torch.mean({0}, dim={1}{2})", "{0}.amax({1}{2})", "{0}.amin({1}{2})",
    "{0}.max({1}{2})[0]",
              "{0}.min({1}{2}).values", "torch.logsumexp({0}, {1}{2})", "torch.std({0}, dim={1}{2})", "{0}.norm(p=1, dim={1}{2})",
              "torch.sum({0}, ({1},){2})", "torch.linalg.vector_norm({0}, dim={1}{2})", "{0}.var({1}{2})", "torch.prod({0}.tanh(), {1}{2})"]


@makes("function", 2)
def reduction(s):
    x = s.floats(2, 3, 4, 5)
    return s.one(*REDUCTIONS).format(x, s.dim(x), s.one("", ", keepdim=True"))


@makes("function", 0.8)
def reduction_of_all(s):
    x = s.floats(3, 4, 5)
    dims = tuple(range(1, len(s.shape(x))))
    return s.one("{0}.mean({1})", "{0}.sum(dim={1}, keepdim=True)", "{0}.flatten(1).sum(1)", "{0}.amax(dim={1})", "torch.var({0}, {1})",
                 "{0}.std(dim={1}, keepdim=True)").format(x, dims)


BINARY = ["{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / ({1}.abs() + 0.5)", "torch.maximum({0}, {1})", "torch.minimum({0}, {1})",
          "torch.atan2({0}, {1})", "torch.hypot({0}, {1})", "torch.add({0}, {1}, alpha=0.3)", "torch.sub({0}, {1})", "torch.mul({0}, {1})",
          "torch.where({0} > {1}, {0}, {1} * 0.5)", "torch.lerp({0}, {1}, 0.25)", "torch.logaddexp({0}, {1})", "torch.copysign({0}, {1})",
          "torch.div({0}, {1}.square() + 1)", "torch.pow({0}.abs() + 0.1, {1}.tanh())", "torch.fmax({0}, {1})",
          "torch.xlogy({0}, {1}.abs() + 1)",
          "torch.addcmul({0}, {1}, {1}, value=0.3)", "torch.addcdiv({0}, {1}, {1}.abs() + 1)", "torch.dist({0}, {0}) + {1}",
          "torch.remainder({0}, {1}.abs() + 0.5)", "torch.fmod({0}, {1}.abs() + 0.5)", "torch.heaviside({0}, {1})",
          "{0}.expand_as({1}) + {1}",
          "F.cosine_similarity({0}, {1}, dim=-1)", "F.pairwise_distance({0}, {1})", "torch.stack([{0}, {1}], 1)",
          "torch.cat([{0}, {1}], -1)",
          "torch.cat(({0}, {1}), dim=1)", "torch.stack(({0}, {1}), dim=-1)", "F.mse_loss({0}, {1}, reduction='none')",
          "F.smooth_l1_loss({0}, {1}, reduction='none')",
          "torch.clamp({0}, max={1})", "torch.max({0}, {1})", "torch.rsub({0}, {1})", "torch.float_power({0}.abs() + 0.5, 2).float() * {1}"]


@makes("function", 3)
def binary(s):
    return s.one(*BINARY).format(s.floats(), s.floats())


@makes("operator", 3)
def operator(s):
    a, b, c = s.floats(), s.floats(), s.number()
    return s.one(f"{a} + {c}", f"{c} - {a}", f"{a} * {c}", f"{a} / 1.7", f"{c} / ({a}.abs() + 0.6)", f"{a} ** 2",
                 f"({a}.abs() + 0.1) ** {abs(c) + 0.1:.2f}",
                 f"-{a}", f"{a} // 0.5", f"{a} % 0.7", f"{a} * ({a} > {c})", f"({a} > {b}) * {a}", f"{a} + {b} * {c}", f"abs({a})",
                 f"2 ** {a}.clamp(-2, 2)",
                 f"{a} * {a} - {b}", f"({a} >= {c}).float()", f"+{a}", f"1 - {a} if {a}.dim() > 1 else {a}", f"{a} @ {b}",
                 f"{a} * True + {b} * False",
                 f"round({c}) * {a}", f"{a} - {a}.mean(-1, keepdim=True)", f"{c} ** {a}.tanh().abs()" if c > 0 else f"{a} - 1")


@makes("operator", 1)
def product(s):
    x = s.floats(3)
    shape = s.shape(x)
    name = s.parameter(shape[-1], s.one(2, 4))
    return s.one(f"{x} @ {name}", f"torch.matmul({x}, {name})", f"torch.bmm({x}, {x}.transpose(1, 2))", f"{x} @ {x}.mT",
                 f"torch.einsum('nij,nkj->nik', {x}, {x})",
                 f"torch.einsum('bij,jk->bik', {x}, {name})", f"torch.einsum('...j,jk', {x}, {name})",
                 f"torch.baddbmm({x} @ {x}.mT, {x}, {x}.mT, alpha=0.5)",
                 f"F.scaled_dot_product_attention({x}, {x}, {x})", f"torch.tensordot({x}, {name}, 1)",
                 f"torch.tensordot({x}, {name}, dims=([2], [0]))",
                 f"torch.cdist({x}, {x})", f"torch.einsum('nij->nji', {x})", f"torch.einsum('nij,nij->n', {x}, {x})")


# ---- views ----

@makes("view", 3)
def view(s):
    x = s.pick(lambda t: t.dim() > 1 and t.shape[0] == ROWS)
    shape = list(s.shape(x))
    rank, d, e = len(shape), s.dim(x), s.dim(x)
    last = shape[-1]
    half = f"{x}.reshape({s.rows_of(x)}, {', '.join(map(str, shape[1:-1] + [2, last // 2]))})" if last % 2 == 0 else f"{x}.unsqueeze(-1)"
    return s.one(f"{x}.flatten(1)", f"{x}.view(-1, {', '.join(map(str, shape[1:]))})", f"{x}.reshape({x}.shape[0], -1)", half, half,
                 f"{x}.unflatten(-1, (1, {last}))", f"{x}.transpose({d}, {e})", f"{x}.unsqueeze({d})", f"{x}.squeeze({d})",
                 f"{x}.movedim({d}, {e})",
                 f"{x}.permute({', '.join(map(str, [0] + s.rng.sample(range(1, rank), rank - 1)))})", f"{x}.view({x}.size(0), -1)",
                 f"torch.flatten({x}, start_dim=1)", f"{x}.swapaxes({d}, {e})",
                 f"{x}[:, None].expand(-1, 2, {', '.join(['-1'] * (rank - 1))})",
                 f"{x}.chunk(2, {d})[0]", f"{x}.split(2, {d})[-1]", f"torch.unbind({x}, {d})[0]",
                 f"{x}.narrow({d}, 0, {max(1, shape[d] // 2)})",
                 f"{x}.select({d}, -1)", f"{x}.repeat({', '.join(['1'] * (rank - 1))}, 2)", f"{x}.tile(2)",
                 f"{x}.repeat_interleave(2, {d})",
                 f"{x}.mT" if rank > 2 else f"{x}[..., None]", f"torch.diagonal({x}, 0, 1, 2)", f"F.pad({x}, (1, 2))",
                 f"F.pad({x}, (1, 0), value=0.5)",
                 f"{x}.unfold(-1, 2, 1)", f"{x}.tensor_split(2, {d})[1]",
                 f"torch.rot90({x}, 1, ({rank - 2}, {rank - 1}))" if rank > 2 else f"{x}.fliplr()",
                 f"{x}.view_as({x})", f"{x}.expand({x}.shape)", f"torch.hstack([{x}, {x}])", f"{x}.reshape({x}.shape[:1] + (-1,))",
                 f"F.pad({x}, (-1, 1))",
                 f"torch.broadcast_to({x}, {x}.shape)", f"{x}.flatten(-2)", f"{x}.T.T" if rank == 2 else f"{x}.transpose(-1, -2)",
                 f"{x}.ravel().view({x}.shape)")


@makes("view", 1)
def unpacked(s):
    x = s.floats(2, 3, 4)
    d = s.dim(x)
    if s.size(x, d) % 2:
        raise Nothing
    return s.one(f"!a, b = {x}.chunk(2, {d})\n{x} = torch.cat([b, a], {d})",
                 f"!a, b = torch.split({x}, {s.size(x, d) // 2}, dim={d})\n{x} = a * b",
                 f"!a, *rest = {x}.unbind({d})\n{x} = a + sum(rest)")


# ---- indices ----

@makes("index", 2.5)
def index(s):
    x = s.pick(lambda t: t.dim() > 1 and t.shape[0] == ROWS)
    shape = s.shape(x)
    n = shape[1]
    many = "[:, :, 0]" if len(shape) > 2 else "[:, -1]"
    both = f"[:, {s.indices(n, 2)}, {s.indices(shape[2], 2)}]" if len(shape) > 2 else f"[:, {n - 1}]"
    buffer = s.buffer(f"torch.tensor({s.indices(n)})") if s.rng.random() < 0.2 else "[0]"
    return x + s.one("[:, 0]", "[:, 1:3]", "[..., -1]", "[:, ::2]", "[:, None]", f"[:, {s.indices(n)}]",
                     f"[:, torch.tensor({s.indices(n)})]", f"[:, {buffer}]",
                     many, "[:, -2:]", "[:, :-1]", "[..., 0:2]", "[..., None]", "[:]", "[:, 0:1]", both, "[..., ::2]", f"[:, -{n}:]",
                         f"[:, ({s.rng.randrange(n)},)]",
                     f"[:, slice(0, 2)]", f"[..., {s.indices(shape[-1])}]", "[None][0]", "[:, range(2)]",
                     "[:, 5:2:1]" if n > 9 else "[:, 1:]",
                     f".index_select(1, torch.tensor({s.indices(n)}))", f".take_along_dim(torch.zeros_like({x}).long(), 1)",
                     f"[:, [{'True, ' * n}]]")


@makes("computed index", 2.5)
def computed_index(s):
    x = s.floats(2, 3, 4)
    shape = s.shape(x)
    n = shape[1]
    flat = x if len(shape) == 2 else f"{x}.flatten(2).mean(2)"
    p = s.parameter(n) if s.rng.random() < 0.3 else None
    if p:
        return s.one(f"{x}[:, {p}.argsort()]", f"{x}[:, {p}.topk(2)[1]]", f"{x}[:, {p}.argmax()]",
                     f"{x}.index_select(1, {p}.argsort()[:2])")
    return s.one(f"{x}[torch.arange({s.rows_of(x)}), {flat}.argmax(1)]", f"{flat}.gather(1, {flat}.argsort(1))",
                 f"{flat}.gather(1, {flat}.topk(2, 1)[1])",
                 f"{x}[torch.arange(len({x}))[:, None], {flat}.topk(2, dim=1)[1]]",
                 f"torch.gather({flat}, 1, {flat}.argmax(1, keepdim=True))",
                 f"{flat}.take_along_dim({flat}.argsort(dim=1, descending=True), dim=1)", f"F.one_hot({flat}.argmax(1), {n}).float()",
                 f"torch.zeros_like({flat}).scatter(1, {flat}.argmax(1, keepdim=True), 1.0)", f"{x}[:, {flat}.mean(0).topk(2)[1]]",
                 f"{flat}.scatter_add(1, {flat}.argsort(1), {flat} * 0.5)", f"torch.arange({n})[{flat}.argmax(1)].float()",
                 f"torch.bucketize({flat}, torch.tensor([-0.5, 0.05, 0.6])).float()",
                 f"torch.searchsorted(torch.tensor([-0.5, 0.1, 0.6]), {flat}).float()",
                 f"torch.where({flat} > {flat}.mean(1, keepdim=True), {flat}, {flat} * 0)", f"{flat}.sort(1).indices.float()",
                 f"{flat}.argmin(1, True).float()",
                 f"{x}[:, torch.arange({n} - 1, -1, -1)]", f"{x}[:, torch.arange({x}.shape[1]) % 2 == 0]", f"{flat}.max(1).indices.float()",
                 f"torch.eye({n})[{flat}.argmax(1)]", f"{x}[torch.arange({s.rows_of(x)}).flip(0)].flip(0)")


@makes("computed index", 0.7)
def embedded(s):
    x = s.floats(2, 3)
    table = s.attribute("e", f"nn.Embedding(4, {s.one(3, 5)})")
    return s.one(f"{table}({x}.argmax(1) % 4)", f"{table}(({x} > 0).long())", f"F.embedding(({x} > 0.2).long(), {table}.weight)",
                 f"{table}.weight[({x}.abs() * 2).long().clamp(0, 3)]", f"{table}(({x} > 0).sum(-1).clamp(max=3))")


@makes("index", 0.8)
def into(s):
    x = s.floats(2, 3)
    n = s.size(x, 1)
    i = f"torch.tensor({s.rng.sample(range(n), 2) if n > 1 else [0, 0]})"
    return s.one(f"{x}.index_fill(1, {i}, 0.5)", f"{x}.index_add(1, {i}, {x}[:, :2])", f"{x}.index_copy(1, {i}, {x}[:, -2:])",
                 f"{x}.index_add(1, {i}, {x}[:, :2], alpha=-2)",
                 f"{x}.slice_scatter({x}[:, :1] * 2, 1, 0, 1)", f"{x}.select_scatter({x}.select(1, 0), 1, -1)")


# ---- writing in place ----

@makes("write in place", 2.5)
def in_place(s):
    x, y = s.floats(), s.floats()
    c = s.number()
    return "!" + s.one(f"{x}.add_({c})", f"{x}.mul_({y})", f"{x} += {y}", f"{x} *= {c}", f"{x} -= {y} * 0.5", f"{x}.relu_()",
                       f"{x}.clamp_(-0.5, 0.5)", f"F.relu({x}, inplace=True)",
                       f"{x} = {x}.clone()\n{x}.zero_()", f"{x}.masked_fill_({x} > 0.3, {c})", f"torch.sigmoid_({x})", f"{x}.copy_({y})",
                       f"{x}.tanh_()",
                       f"{x} = {x}.add_({y}).mul_(0.5)", f"{x} /= 2", f"{x}.sub_({y}, alpha=0.3)", f"{x} **= 2", f"{x}.fill_({c})",
                       f"{x}.neg_()",
                       f"w = {x}\nw = w * 1\nw.add_({c})", f"w = {x}.clone()\nw.mul_({c})\n{x} = {x} + w",
                       f"{x}.lerp_({y}, 0.5)")


@makes("write in place", 2.5)
def set_item(s):
    x = s.floats(2, 3, 4)
    n = s.size(x, 1)
    c = s.number()
    copied = f"{x} = {x}.clone()\n" if s.rng.random() < 0.5 else ""
    line = s.one(f"{x}[:, 0] = {c}", f"{x}[:, 1:3] = {x}[:, 0:1]", f"{x}[..., -1] = {x}[..., 0]", f"{x}[:, ::2] *= {c}",
                 f"{x}[:, 0] += {x}[:, -1]",
                 f"{x}[{x} > 0.3] = {c}", f"{x}[:, {s.indices(n, 2)}] = {c}", f"{x}[:, 0].add_(1)", f"{x}[:, :1] = {x}[:, 1:2] * 2",
                 f"{x}[:, torch.tensor({s.indices(n, 1)})] = 0",
                 f"{x}[:, -1] = {x}.flatten(1).mean(1).reshape({s.rows_of(x)}, {', '.join(['1'] * (len(s.shape(x)) - 2))}) if {x}.dim() > 2 else {x}[:, 0]",
                 f"{x}.select(1, 0).mul_({c})", f"{x}.narrow(1, 0, 1).zero_()", f"i = {x}.flatten(1).mean(0).argmax() % {n}\n{x}[:, i] = 0",
                 f"{x}[...] = {c}",
                 f"{x}[:, 0], {x}[:, -1] = {x}[:, -1].clone(), {x}[:, 0].clone()",
                 f"a, b = {x}[:, :1], {x}[:, 1:]\na.mul_(2)\n{x} = torch.cat([b, a], 1)",
                 f"w = {x}.view({s.rows_of(x)}, -1)\nw[:, 0] = {c}", f"w = torch.zeros_like({x})\nw[:, 1:] = {x}[:, :-1]\n{x} = w",
                 f"{x}.diagonal(0, -2, -1).fill_(0.5)" if len(s.shape(x)) > 2 else f"{x}[:, 0] = 0",
                 f"for j in range({n}):\n    {x}[:, j] = {x}[:, j] * j", f"w = {x}[:, 0]\n{x}[:, 1] = w\nw.add_(1)",
                 f"{x}.t()[0] = 1" if len(s.shape(x)) == 2 else f"{x}.transpose(1, 2)[:, 0] = 1")
    return "!" + copied + line


# ---- element types ----

@makes("element type", 2.5)
def element_type(s):
    x = s.floats()
    return s.one(f"{x}.to(torch.float64)", f"{x}.double()", f"({x} * 3).long()", f"({x} * 2).int()", f"{x} > 0",
                 f"({x} > 0.1).to(torch.float32)", f"{x}.bool().float()",
                 f"({x} * 3).round().to(torch.int64)", f"{x}.double().sum(-1).float()", f"({x} * 4).to(torch.int32).float() / 4",
                 f"{x}.type(torch.float64).mul(2).to({x}.dtype)",
                 f"torch.arange({s.size(x, -1)}) * {x}", f"torch.ones({s.size(x, -1)}, dtype=torch.int64) + {x}", f"({x} > 0).int() + 1",
                 f"{x}.argmax(-1)", f"({x} * 3).long() // 2",
                 f"torch.round({x} * 2).long() % 3", f"({x} > 0).sum(-1)", f"torch.count_nonzero({x} > 0, dim=-1)", f"({x} > 0).any(-1)",
                 f"({x} < 1).all(-1)", f"torch.isfinite({x})",
                 f"{x}.to(torch.long)", f"({x}.abs() * 5).to(torch.uint8)", f"({x} * 5).to(torch.int8)",
                 f"torch.logical_and({x} > 0, {x} < 0.5)", f"~({x} > 0.2)", f"({x} > 0) & ({x} < 1)", f"({x} > 0) ^ ({x} > 0.5)",
                 f"{x}.half().float()", f"{x}.bfloat16().float()",
                 f"{x}.sum(-1, dtype=torch.float64)", f"F.softmax({x}, -1, dtype=torch.float64)", f"{x}.argsort(-1)", f"{x} == {x}",
                 f"torch.ge({x}, 0.3)")


@makes("element type", 1.5)
def of_ints(s):
    a, b = s.ints(), s.ints()
    return s.one(f"{a} + {b}", f"{a} * 2 - 1", f"{a} / 2", f"{a} // 3", f"{a} % 3", f"-{a}", f"{a}.float()", f"{a} & 3", f"{a} | 4",
                 f"{a} << 1", f"{a}.abs()", f"{a}.clamp(0, 2)",
                 f"{a}.sum(-1)", f"{a}.max(-1)[0]", f"{a} * 0.5", f"{a}.float().mean(-1)", f"{a} > {b}", f"torch.where({a} > 0, {a}, {b})",
                 f"{a} ** 2", f"{a}.cumsum(-1)",
                 f"torch.div({a}, 2, rounding_mode='trunc')", f"torch.div({a}, 3)", f"{a}.remainder(3)", f"{a}.to(torch.float64)",
                 f"{a}.bool()", f"{a} == {b}", f"{a}.int()", f"{a}.sort(-1)[0]",
                 f"{a}.prod(-1)", f"torch.bitwise_xor({a}, {b})", f"{a}.fmod(3)", f"{a} >> 1", f"torch.sqrt({a}.abs())",
                 f"{a}.float() @ {a}.float().mT", f"{a}.mean(-1, dtype=torch.float32)",
                 f"torch.stack([{a}, {b}], -1)", f"torch.cat([{a}, {b}], -1)", f"1 - {a}", f"{a}.sign()", f"torch.maximum({a}, {b})",
                 f"torch.true_divide({a}, 4)", f"3 // ({a}.abs() + 1)", f"{a}.neg().long()")


@makes("element type", 1)
def of_bools(s):
    a, b, x = s.bools(), s.bools(), s.floats()
    return s.one(f"{a} & {b}", f"{a} | {b}", f"~{a}", f"{a}.float()", f"{a} * 2", f"{a}.sum(-1)", f"torch.where({a}, 1.0, -1.0)",
                 f"torch.where({a}, {x}, torch.zeros_like({x}))",
                 f"{a} ^ {b}", f"{a} + {b}", f"{a}.long()", f"{x}.masked_fill({a}, 0.0)", f"{x} * {a}", f"{a}.any(-1)",
                 f"{a}.int() - {b}.int()", f"{a} == {b}", f"{a}.float().mean(-1)", f"{a}.cumsum(-1)",
                 f"{a} * {b}", f"{a}.all(-1)", f"{a} > {b}", f"torch.cat([{a}, {b}], -1)", f"{a} / 2", f"{a}.double()",
                 f"torch.logical_not({a})", f"{a}.max(-1)[0]")


@makes("element type", 0.8)
def of_doubles(s):
    a = s.pick(lambda t: str(t.dtype) == "torch.float64" and t.shape[:1] == (ROWS,))
    x = s.floats()
    return s.one(f"{a}.float()", f"{a} + {x}", f"{a} * 0.5", f"{a}.sum(-1)", f"{a}.to({x}.dtype)", f"torch.tanh({a})", f"{a} > 0",
                 f"{a}.long()", f"{a} * {x}", f"{a}.mean(-1).to({x})")


# ---- what modules keep ----

@makes("buffer", 2)
def buffer(s):
    x = s.floats(2, 3, 4)
    n = s.size(x, -1)
    values = [s.number() for _ in range(n)]
    name = s.one(lambda: s.buffer(f"torch.tensor({values})"), lambda: s.buffer(f"torch.arange({n})"),
                 lambda: s.buffer(f"torch.linspace(-1, 1, {n})"),
                 lambda: s.attribute("u", f"torch.tensor({values})"), lambda: s.buffer(f"torch.tensor({[v > 0 for v in values]})"),
                     lambda: s.buffer(f"torch.eye({n})[0]"),
                 lambda: s.buffer(f"torch.full(({n},), 0.5)"), lambda: s.buffer(f"torch.randn({n})", True),
                     lambda: s.buffer(f"torch.tensor({values}, dtype=torch.float64)"),
                 lambda: s.buffer(f"torch.tensor({values[0]})"), lambda: s.attribute("u", repr(values[0])),
                     lambda: s.buffer(f"torch.tril(torch.ones({n}, {n}))[-1]"))()
    return s.one(f"{x} * {name}", f"{x} + {name}", f"torch.where({name} > 0, {x}, -{x})", f"{x} - {name} * 0.5", f"{name} * {x}",
                 f"torch.lerp({x}, {name} + {x}, 0.5)", f"({x} * {name}).to({x}.dtype)")


@makes("parameter", 2)
def parameter(s):
    x = s.floats(2, 3, 4)
    n = s.size(x, -1)
    if s.rng.random() < 0.2:
        i = s.attribute("h", f"nn.ParameterList([nn.Parameter(torch.randn({n})) for _ in range(2)])")
        return s.one(f"{x} * {i}[0] + {i}[1]", f"sum({x} * p for p in {i})")
    if s.rng.random() < 0.15:
        name = s.attribute("p", f"nn.Parameter(torch.randn({n}), requires_grad=False)")
        return f"{x} * {name}"
    name = s.parameter(n)
    square = s.parameter(n, n)
    return s.one(f"{x} * {name}", f"{x} + {name}", f"{x} * {name}.sigmoid()", f"{x} @ {square}", f"F.linear({x}, {square})",
                 f"F.linear({x}, {square}, {name})", f"{x} * {square}.softmax(0)[0]",
                 f"{x} * {name}.exp() + {square}[:, 0]", f"{x} / ({name}.abs() + 1)", f"{x} * {name}[0]",
                 f"{x} * torch.stack([{name}, {name}]).mean(0)", f"{x} + {square}.sum(0)",
                 f"torch.cat([{x}, {name}.expand(*{x}.shape[:-1], {n})], -1)", f"{x} * F.normalize({name}, dim=0)",
                 f"{x} @ ({square} * {square}.tril())", f"{x} - {name}.detach()",
                 f"{x} * F.dropout({name}, 0.0)", f"{x} * {name}.view(1, -1)", f"F.layer_norm({x}, ({n},), {name})",
                 f"F.prelu({x}, {name}[:1])")


# ---- chance whose result does not depend on it ----

@makes("random draw", 1)
def draw(s):
    x = s.floats()
    return s.one(f"{x} + torch.rand_like({x}).floor()", f"{x} * torch.bernoulli(torch.ones_like({x}))", f"{x} + torch.rand({x}.shape) * 0",
                 f"{x} * (torch.rand_like({x}) >= 0)",
                 f"{x} + torch.randint(2, 3, {x}.shape)", f"{x} + 0 * torch.randn_like({x})", f"F.dropout({x}, 0.5, training=False)",
                 f"{x} * torch.rand(3).ceil().clamp(1, 1)[0]",
                 f"{x} + torch.zeros_like({x}).uniform_(0, 0.5).floor()", f"{x} + torch.randn({x}.shape[-1]).mul(0)",
                 f"{x} + torch.normal(0.5, 0.0, {x}.shape)", f"{x} * torch.randperm({s.size(x, -1)}).sort()[0]")


@makes("random draw", 0.6)
def dropped(s):
    s.draws = True
    return f"{s.attribute('d', s.one('nn.Dropout(0.3)', 'nn.AlphaDropout(0.2)', 'nn.Dropout1d(0.5)'))}({s.floats()})"


# ---- classes of one's own ----

@makes("subclass", 2)
def subclass(s):
    x = s.floats(2, 3)
    n, m = s.size(x, -1), s.one(4, 6)
    name = f"Own{len(s.classes)}"
    bodies = {
        "Linear": ["return super().forward(x) * 2", "return F.linear(x, self.weight * 0.5, self.bias)",
        "return x @ self.weight.t() + self.bias", "return super().forward(x.tanh())",
                   "return torch.relu(F.linear(x, self.weight.abs()))", "y = super().forward(x)\n        y += 1\n        return y",
                   "return super().forward(x) if x.dim() > 1 else x",
                   "return F.linear(x, self.weight - self.weight.mean(1, keepdim=True), self.bias)"],
        "Module": ["return self.b(torch.tanh(self.a(x))) + x", "return self.a(x) * self.scale",
        "y = self.a(x)\n        return y.softmax(-1) @ self.a.weight", "return x + self.scale * self.b(self.a(x))",
                   "for _ in range(2):\n            x = x + self.b(self.a(x).relu())\n        return x"],
        "LayerNorm": ["return super().forward(x) + x", "return F.layer_norm(x, self.normalized_shape, self.weight, None, self.eps)"],
        "Sequential": ["return super().forward(x) + 1", "for layer in self:\n            x = layer(x) * 0.5\n        return x",
        "return self[1](self[0](x))"],
        "ReLU": ["return super().forward(x) - 0.5"],
    }
    base = s.one(*bodies)
    body = s.one(*bodies[base])
    init = ""
    if base == "Module":
        init = (f"    def __init__(self, n, m=4, scale=0.5):\n        super().__init__()\n        self.a = nn.Linear(n, m)\n        self.b = nn.Linear(m, n)\n"
                f"        self.scale = {s.one('scale', 'nn.Parameter(torch.tensor(scale))')}\n\n")
    s.classes.append(f"class {name}(nn.{base}):\n{init}    def forward(self, x):\n        {body}")
    arguments = {"Linear": f"{n}, {m}", "Module": s.one(f"{n}", f"{n}, m=3", f"{n}, 5, 2.0"), "LayerNorm": f"{n}",
            "Sequential": f"nn.Linear({n}, {m}), nn.Linear({m}, 4)", "ReLU": ""}[base]
    return f"{s.attribute('o', f'{name}({arguments})')}({x})"


# ---- control flow by shapes ----

@makes("control flow", 2)
def control(s):
    x = s.floats(2, 3, 4)
    n, rank = s.size(x, 1), len(s.shape(x))
    return "!" + s.one(f"if {x}.shape[1] > {s.one(2, 4, 6)}:\n    {x} = {x} * 2\nelse:\n    {x} = {x}.tanh()",
                       f"for j in range({x}.size(1)):\n    {x} = {x} + {x}[:, j:j + 1] * 0.1",
                       f"if {x}.dim() == {s.one(2, 3)}:\n    {x} = {x}.relu()", f"n = {x}.shape[-1]\n{x} = {x} / n ** 0.5",
                       f"b = {x}.size(0)\n{x} = {x}.reshape(b, -1)",
                       f"b, *rest = {x}.shape\n{x} = {x}.view(b, *rest) + len(rest)", f"{x} = sum({x}[:, j] for j in range({n}))",
                       f"n = {x}.shape[1] // 2\n{x} = torch.cat([{x}[:, n:], {x}[:, :n]], 1)",
                       f"k = 0\nwhile k < {x}.size(1):\n    {x} = {x} * 0.9\n    k += 2",
                       f"parts = []\nfor j in range({x}.shape[1]):\n    parts.append({x}[:, j] * j)\n{x} = torch.stack(parts, 1)",
                       f"if {x}.shape[0] > 0:\n    {x} = {x} + 1", f"if self.training:\n    {x} = {x} * 1\nelse:\n    {x} = {x} + 0",
                       f"{x} = {x}.view({x}.shape[0], {x}.shape[1], -1).mean(-1) if {x}.ndim > 2 else {x}",
                       f"assert {x}.shape[1] == {n}\n{x} = {x} * {x}.shape[1]", f"m = {x}.numel() // {x}.shape[0]\n{x} = {x} / m",
                       f"{x} = {x} * float({x}.shape[-1]) ** -0.5",
                       f"scale = {x}.new_tensor({x}.shape[1])\n{x} = {x} / scale",
                       f"{x} = {{2: torch.tanh, 3: torch.sin, 4: torch.cos}}[{x}.dim()]({x})", f"{x} = [{x}, -{x}][{rank} % 2]",
                       f"{x} = torch.zeros({x}.shape) + {x}", f"{x} = {x} + torch.ones(({x}.shape[0],) + tuple({x}.shape[1:]))",
                       f"b = len({x})\n{x} = {x} * torch.arange(1, {n} + 1).view(1, -1{', 1' * (rank - 2)}).expand(b, -1{', -1' * (rank - 2)})")


# ---- samples that know each other ----

@makes("mixed samples", 0.25)
def mixed(s):
    x = s.floats()
    return s.one(f"{x} - {x}.mean(0)", f"{x} - {x}[:1]", f"{x}.flip(0)", f"{x} / ({x}.std(0) + 1)", f"{x}.cumsum(0).clamp(-9, 9)",
                 f"{x} * {x}.mean()", f"{x} - {x}.max()", f"{x}.roll(1, 0)", f"torch.cat([{x}[1:], {x}[:1]])",
                 f"{x}.softmax(0)", f"{x} + {x}.sum(0, keepdim=True).tanh()", f"{x}[torch.arange(len({x})).flip(0)]",
                 f"{x} * ({x} > {x}.median())", f"{x}.argsort(0).float() / len({x})", f"{x} / {x}.shape[0]")
