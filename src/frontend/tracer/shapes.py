"""shapes.py - calls of layers while a model is built, often to compute a number of features: the result has a shape, but no values."""


BUILDING = False  # the requested network is being built


def each(v, n):
    return tuple(v) if isinstance(v, (tuple, list)) else (v,) * n


def windowed(n, size, stride, padding, dilation, ceil=False):
    span = n + 2 * padding - dilation * (size - 1) - 1
    out = -(-span // stride) + 1 if ceil else span // stride + 1
    return out - 1 if ceil and (out - 1) * stride >= n + padding else out


def convolved(shape, v):
    spatial = shape[2:]
    n = len(spatial)
    if v.padding == "same":
        return shape[:1] + (v.out_channels,) + tuple(spatial)
    padding = 0 if v.padding == "valid" else v.padding
    return shape[:1] + (v.out_channels,) + tuple(windowed(*a) for a in zip(
        spatial, each(v.kernel_size, n), each(v.stride, n), each(padding, n), each(v.dilation, n)))


def transposed(shape, v):
    spatial = shape[2:]
    n = len(spatial)
    return shape[:1] + (v.out_channels,) + tuple(
        (m - 1) * s - 2 * p + d * (k - 1) + o + 1 for m, k, s, p, d, o in zip(spatial, *(each(v[name], n) for name in (
            "kernel_size", "stride", "padding", "dilation", "output_padding"))))


def pooled(shape, v):
    n = len(each(v.kernel_size, 1)) if isinstance(v.kernel_size, (tuple, list)) else len(shape) - 2
    size = each(v.kernel_size, n)
    stride = each(v.stride, n) if v.stride else size
    return tuple(shape[:-n]) + tuple(windowed(*a, v.get("ceil_mode") or False) for a in zip(
        shape[-n:], size, stride, each(v.padding, n), each(v.get("dilation") or 1, n)))


def adaptive(shape, v):
    n = len(shape) - 2
    return tuple(shape[:2]) + tuple(m if o is None else o for m, o in zip(shape[2:], each(v.output_size, n)))


def same_shape(shape, v):
    return shape


SHAPES = {"Linear": lambda shape, v: tuple(shape[:-1]) + (v.out_features,),
          "Embedding": lambda shape, v: tuple(shape) + (v.embedding_dim,)}
for _n in "123":
    SHAPES.update({"Conv%sd" % _n: convolved, "ConvTranspose%sd" % _n: transposed, "MaxPool%sd" % _n: pooled,
                   "AvgPool%sd" % _n: pooled, "max_pool%sd" % _n: pooled, "avg_pool%sd" % _n: pooled,
                   "AdaptiveAvgPool%sd" % _n: adaptive, "AdaptiveMaxPool%sd" % _n: adaptive,
                   "adaptive_avg_pool%sd" % _n: adaptive, "BatchNorm%sd" % _n: same_shape,
                   "InstanceNorm%sd" % _n: same_shape, "Dropout%sd" % _n: same_shape})
SHAPES.update({name: same_shape for name in (
    "ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "GELU", "SiLU", "Sigmoid", "Tanh", "Softmax", "Hardswish", "Hardsigmoid",
    "Hardtanh", "Softplus", "Identity", "Dropout", "LayerNorm", "GroupNorm", "LogSoftmax", "CELU", "Mish", "relu", "leaky_relu",
    "dropout", "elu", "gelu", "silu", "relu6", "sigmoid", "tanh", "hardswish")})


def called_early(module, args, kwargs):
    """A call while the model is built: a user's module runs its forward, a layer its shape rule. Calls in scripts are not
    followed."""
    if not BUILDING:
        raise Fault("a network is run by the file itself: only its forward is followed")
    if not isinstance(module, Layer) or type(module).__module__ != LAYERS:
        return module.forward(*args, **kwargs)
    name = module._layer_class()
    if name == "Flatten":
        return args[0].flatten(module.start_dim, module.end_dim)
    if name not in SHAPES or len(args) != 1 or not isinstance(args[0], Tensor):
        raise Fault("%s is called while the model is built, which is not followed: only forward is" % name)
    return Tensor(SHAPES[name](tuple(args[0].shape), Info(module.values)), UNKNOWN)
