"""transformer.py - attention, encoder and decoder layers of torch.nn, built from the layers and functions of ops.def, so that
each of their products is a node that can be quantised and counted.

Parameters have PyTorch's names and initial values. An option that is not supported is refused by its name.
"""


class Deferred(Proxy):
    """A result that is seldom used: recorded at its first use."""

    def __init__(self, make):
        self.make, self.made, self.tracer = make, None, TRACER

    @property
    def node(self):
        if self.made is None:
            self.made = self.make().node
        return self.made


def refuse_values(what, **given):
    """Options that are not supported must keep their defaults."""
    for name, value in given.items():
        if value:
            raise Fault("%s: %s=%r is not supported" % (what, name, value))


def masked(scores, mask, what):
    """Mask scores: true positions are excluded; a mask of numbers is added. A traced mask of unknown type is taken for a
    boolean one, and refused later if it is not."""
    if isinstance(mask, Tensor) and len(mask.shape) > 4:
        raise Fault("%s of %s: at most 4 dimensions" % (what, list(mask.shape)))
    if isinstance(mask, Tensor) and mask.dtype.is_floating_point:
        return scores + mask
    return scores.masked_fill(mask, -math.inf)


class MultiheadAttention(Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False,
                 kdim=None, vdim=None, batch_first=False, device=None, dtype=None):
        super().__init__()
        refuse_values("MultiheadAttention", add_bias_kv=add_bias_kv, add_zero_attn=add_zero_attn)
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise Fault("MultiheadAttention: embed_dim = %r must be a multiple of num_heads = %r"
                        % (embed_dim, num_heads))
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.head_dim, self.batch_first = embed_dim // num_heads, batch_first
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        if self._qkv_same_embed_dim:
            self.in_proj_weight = self.matrix(3 * embed_dim, embed_dim)
        else:
            self.q_proj_weight = self.matrix(embed_dim, embed_dim)
            self.k_proj_weight = self.matrix(embed_dim, self.kdim)
            self.v_proj_weight = self.matrix(embed_dim, self.vdim)
        if bias:
            self.in_proj_bias = Parameter(Tensor((3 * embed_dim,)))
        self.out_proj = sys.modules["torch.nn"].Linear(embed_dim, embed_dim, bias=bias)
        if bias:
            self.out_proj._parameters["bias"].fill_(0.0)
        self.__dict__["has_bias"] = bias

    @staticmethod
    def matrix(rows, columns):
        p = Parameter(Tensor((rows, columns)))
        INIT["xavier_uniform_"](p)
        return p

    def forward(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None,
                average_attn_weights=True, is_causal=False):
        if is_causal and attn_mask is None:
            raise Fault("MultiheadAttention: is_causal needs an attn_mask")
        bias = self.in_proj_bias if self.has_bias else None
        packed = self.in_proj_weight if self._qkv_same_embed_dim else None
        separate = None if packed is not None else (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        parts = projected(query, key, value, packed, separate, bias)
        out, weights = attended(parts, self.num_heads, self.head_dim, self.batch_first, attn_mask, key_padding_mask,
                                self.dropout, self.training)
        return self.out_proj(out), shown_weights(weights, need_weights, average_attn_weights)


def projected(query, key, value, packed, separate, bias):
    """Queries, keys and values; one product if they have one source."""
    F = sys.modules["torch.nn.functional"]
    if packed is not None and query is key and key is value:
        parts = F.linear(query, packed, bias).chunk(3, -1)
        return parts[0], parts[1], parts[2]
    if packed is not None:
        separate = packed.chunk(3)
        separate = separate[0], separate[1], separate[2]
    biases = (None, None, None)
    if bias is not None:
        parts = bias.chunk(3)
        biases = parts[0], parts[1], parts[2]
    return tuple(F.linear(x, w, b) for x, w, b in zip((query, key, value), separate, biases))


def attended(parts, heads, width, batch_first, attn_mask, padding_mask, dropout, training):
    """The result of all heads, concatenated, and the attention weights."""
    F = sys.modules["torch.nn.functional"]

    def split(x):
        """(N, L, E) or (L, N, E) as (N, heads, L, E / heads)."""
        x = x.view(x.size(0), -1, heads, width)
        return x.permute(0, 2, 1, 3) if batch_first else x.permute(1, 2, 0, 3)
    q, k, v = map(split, parts)
    scores = (q * (1.0 / math.sqrt(width))) @ k.transpose(-2, -1)
    if attn_mask is not None:
        if isinstance(attn_mask, Tensor) and len(attn_mask.shape) != 2:
            raise Fault("MultiheadAttention: an attn_mask of %s is not supported, one of (L, S) is"
                        % list(attn_mask.shape))
        scores = masked(scores, attn_mask, "attn_mask")
    if padding_mask is not None:
        scores = masked(scores, padding_mask.unsqueeze(1).unsqueeze(1), "key_padding_mask")
    weights = F.softmax(scores, dim=-1)
    if dropout:
        weights = F.dropout(weights, p=dropout, training=training)
    out = weights @ v
    out = out.permute(0, 2, 1, 3) if batch_first else out.permute(2, 0, 1, 3)
    return out.reshape(out.size(0), -1, heads * width), weights


def shown_weights(weights, are_needed, average):
    if not are_needed:
        return None
    return Deferred(lambda: weights.mean(1)) if average else weights


def in_projection_packed(q, k, v, w, b=None):
    return list(projected(q, k, v, w, None, b))


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
                                 add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None,
                                 need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None,
                                 k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
                                 average_attn_weights=True, is_causal=False):
    what = "multi_head_attention_forward"
    refuse_values(what, add_zero_attn=add_zero_attn, is_causal=is_causal)
    if any(v is not None for v in (bias_k, bias_v, static_k, static_v)):
        raise Fault("%s: bias_k, bias_v, static_k and static_v are not supported" % what)
    width = numbers_of(embed_dim_to_check)
    if isinstance(width, Proxy):
        raise Fault("%s: embed_dim_to_check is not known while tracing" % what)
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    parts = projected(query, key, value, None if use_separate_proj_weight else in_proj_weight, separate, in_proj_bias)
    out, weights = attended(parts, num_heads, width // num_heads, False, attn_mask, key_padding_mask, dropout_p, training)
    out = sys.modules["torch.nn.functional"].linear(out, out_proj_weight, out_proj_bias)
    return out, shown_weights(weights, need_weights, average_attn_weights)


def activation_of(what, activation):
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise Fault("%s: activation %r is neither 'relu' nor 'gelu'" % (what, activation))
    return getattr(sys.modules["torch.nn.functional"], activation)


class TransformerLayer(Module):
    """Common to encoder and decoder layers."""

    def make(self, d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, attentions):
        nn = sys.modules["torch.nn"]
        self.linear1 = nn.Linear(d_model, dim_feedforward, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.linear2 = nn.Linear(dim_feedforward, d_model, bias=bias)
        self.norm_first = norm_first
        for i in range(1, attentions + 2):
            setattr(self, "norm%d" % i, nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias))
        for i in range(1, attentions + 2):
            setattr(self, "dropout%d" % i, nn.Dropout(dropout))
        self.activation = activation_of(type(self).__name__, activation)

    def attended(self, x, mask, padding):
        out, _ = self.self_attn(x, x, x, attn_mask=mask, key_padding_mask=padding, need_weights=False)
        return self.dropout1(out)

    def fed_forward(self, x, last):
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(TransformerLayer):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu", layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first)
        self.make(d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, 1)

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        x = src
        if self.norm_first:
            x = x + self.attended(self.norm1(x), src_mask, src_key_padding_mask)
            return x + self.fed_forward(self.norm2(x), self.dropout2)
        x = self.norm1(x + self.attended(x, src_mask, src_key_padding_mask))
        return self.norm2(x + self.fed_forward(x, self.dropout2))


class TransformerDecoderLayer(TransformerLayer):
    def __init__(self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation="relu", layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first)
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first)
        self.make(d_model, dim_feedforward, dropout, activation, layer_norm_eps, norm_first, bias, 2)

    def looked_up(self, x, memory, mask, padding):
        out, _ = self.multihead_attn(x, memory, memory, attn_mask=mask, key_padding_mask=padding, need_weights=False)
        return self.dropout2(out)

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False):
        x, memory_masks = tgt, (memory_mask, memory_key_padding_mask)
        if self.norm_first:
            x = x + self.attended(self.norm1(x), tgt_mask, tgt_key_padding_mask)
            x = x + self.looked_up(self.norm2(x), memory, *memory_masks)
            return x + self.fed_forward(self.norm3(x), self.dropout3)
        x = self.norm1(x + self.attended(x, tgt_mask, tgt_key_padding_mask))
        x = self.norm2(x + self.looked_up(x, memory, *memory_masks))
        return self.norm3(x + self.fed_forward(x, self.dropout3))


class TransformerEncoder(Module):
    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
                memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False):
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                        tgt_key_padding_mask=tgt_key_padding_mask,
                        memory_key_padding_mask=memory_key_padding_mask)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    def __init__(self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048,
                 dropout=0.1, activation="relu", custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-5,
                 batch_first=False, norm_first=False, bias=True, device=None, dtype=None):
        super().__init__()
        nn = sys.modules["torch.nn"]
        values = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*values), num_encoder_layers, nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias))
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*values), num_decoder_layers, nn.LayerNorm(d_model, eps=layer_norm_eps, bias=bias))
        for p in self.parameters():
            if p.dim() > 1:
                INIT["xavier_uniform_"](p)
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None,
                tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, tgt_is_causal=None,
                memory_is_causal=False):
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask,
                            tgt_key_padding_mask=tgt_key_padding_mask,
                            memory_key_padding_mask=memory_key_padding_mask)

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        torch = sys.modules["torch"]
        return torch.triu(torch.full((sz, sz), -math.inf), diagonal=1)


COMPOSED = (MultiheadAttention, TransformerEncoderLayer, TransformerEncoder, TransformerDecoderLayer,
            TransformerDecoder, Transformer)
