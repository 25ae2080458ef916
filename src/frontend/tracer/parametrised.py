"""parametrised.py - layers whose weight is computed from other parameters each time: weight_norm.

A graph has what they compute, and their parameters under PyTorch's names; the weight itself is none.
"""


class WeightNormed(Module):
    """What a Linear or convolution becomes: weight = v g / |v|, the norm over all dimensions but one."""

    def __getattr__(self, name):
        values = self.__dict__.get("values", {})
        if name in values and name not in self.__dict__["_parameters"]:
            return values[name]
        if name == "weight":  # computed at the next call: what is written into it is lost, as in PyTorch
            return Tensor(self.__dict__["normed"]["shape"])
        return super().__getattr__(name)

    def _factors(self):
        home = self
        if self.normed["new"]:
            home = self._modules["parametrizations"]._modules["weight"]
        return getattr(home, self.normed["g"]), getattr(home, self.normed["v"])

    def _weight(self):
        g, v = self._factors()
        dim, rank = self.normed["dim"], len(self.normed["shape"])
        others = tuple(d for d in range(rank) if d != dim)
        norm = sys.modules["torch"].norm(v, 2, others, True)
        return v * (g / norm)

    def forward(self, x):
        torch, values = sys.modules["torch"], self.values
        bias = self.bias if self._parameters.get("bias") is not None else None
        weight = self._weight()
        if "in_features" in values:
            return sys.modules["torch.nn.functional"].linear(x, weight, bias)
        dims = len(values["kernel_size"])
        if "output_padding" in values:
            return getattr(torch, "conv_transpose%dd" % dims)(
                x, weight, bias, values["stride"], values["padding"], values["output_padding"],
                values["groups"], values["dilation"])
        return getattr(torch, "conv%dd" % dims)(x, weight, bias, values["stride"], values["padding"],
                                                values["dilation"], values["groups"])


def start_of(shape, values):
    """The bound of a layer's weight by default, and the mean norm of what is drawn within it."""
    bound = 1 / math.sqrt(max(1, math.prod(shape[1:])))
    return bound, lambda count: bound * math.sqrt(count / 3)


def make_normed(module, name, dim, new):
    values = module.__dict__.get("values", {})
    known_layer = isinstance(module, Layer) and ("in_features" in values or "out_channels" in values)
    if not known_layer or name != "weight":
        raise Fault("weight_norm of %s's %s is not supported: it takes the weight of Linear and convolutions"
                    % (type(module).__name__, name))
    if values.get("padding_mode", "zeros") != "zeros":
        raise Fault("weight_norm of a convolution with padding_mode=%r is not supported" % values["padding_mode"])
    weight = module._parameters["weight"]
    shape = tuple(weight.shape)
    dim = None if dim is None or dim == -1 else dim % len(shape)
    sizes = tuple(n if d == dim else 1 for d, n in enumerate(shape)) if dim is not None else ()
    bound, norm = start_of(shape, values)
    v, g = Parameter(Tensor(shape)), Parameter(Tensor(sizes))
    v.uniform_(-bound, bound)
    g.fill_(norm(math.prod(shape) // (shape[dim] if dim is not None else 1)))
    names = ("original0", "original1") if new else ("weight_g", "weight_v")
    bias = module._parameters.get("bias")
    if bias is not None and bias.initial is None:
        bias.uniform_(-bound, bound)
        bias.maker = None
    del module._parameters["weight"]
    module.__class__ = WeightNormed
    module.__dict__["normed"] = {"dim": dim, "shape": shape, "g": names[0], "v": names[1], "new": new}
    home = module
    if new:
        outer, home = Module(), Module()
        module.add_module("parametrizations", outer)
        outer.add_module("weight", home)
    home._parameters[names[0]], home._parameters[names[1]] = g, v
    return module


def weight_norm(module, name="weight", dim=0):
    return make_normed(module, name, dim, False)


def new_weight_norm(module, name="weight", dim=0):
    return make_normed(module, name, dim, True)
