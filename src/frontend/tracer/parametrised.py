"""parametrised.py - layers whose weight is computed from other parameters in each call: weight_norm, spectral_norm.

The graph has the computation, and the parameters under PyTorch's names; the weight itself is not a parameter.
"""


def padded(x, values):
    """Pad for a convolution's padding_mode; also returns the remaining padding."""
    mode, padding = values["padding_mode"], values["padding"]
    if mode == "zeros":
        return x, padding
    if isinstance(padding, str):
        raise Fault("a parametrised convolution with padding=%r and padding_mode=%r is not supported" % (padding, mode))
    widths = tuple(n for p in reversed(padding) for n in (p, p))
    return sys.modules["torch.nn.functional"].pad(x, widths, mode), (0,) * len(padding)


class ParametrisedLayer(Module):
    """Replaces a Linear or convolution; rule computes its weight."""

    def __getattr__(self, name):
        values = self.__dict__.get("values", {})
        if name in values and name not in self.__dict__["_parameters"]:
            return values[name]
        if name == "weight":  # computed in the next call: writes into it are lost, as in PyTorch
            return Tensor(self.__dict__["rule"].shape)
        return super().__getattr__(name)

    def forward(self, x):
        torch, values = sys.modules["torch"], self.values
        bias = self.bias if self._parameters.get("bias") is not None else None
        weight = self.rule.weight(self)
        if "in_features" in values:
            return sys.modules["torch.nn.functional"].linear(x, weight, bias)
        dims = len(values["kernel_size"])
        if "output_padding" in values:
            return getattr(torch, "conv_transpose%dd" % dims)(
                x, weight, bias, values["stride"], values["padding"], values["output_padding"],
                values["groups"], values["dilation"])
        x, padding = padded(x, values)
        return getattr(torch, "conv%dd" % dims)(x, weight, bias, values["stride"], padding,
                                                values["dilation"], values["groups"])


class WeightNorm:
    """weight = v g / |v|, the norm over all dimensions but one."""

    def __init__(self, shape, dim, new):
        self.shape, self.new = shape, new
        self.dim = None if dim is None or dim == -1 else dim % len(shape)
        self.names = ("original0", "original1") if new else ("weight_g", "weight_v")

    def make(self, module, home, bound):
        count = math.prod(self.shape) // (self.shape[self.dim] if self.dim is not None else 1)
        sizes = tuple(n if d == self.dim else 1 for d, n in enumerate(self.shape)) if self.dim is not None else ()
        g, v = Parameter(Tensor(sizes)), Parameter(Tensor(self.shape))
        v.uniform_(-bound, bound)
        g.fill_(bound * math.sqrt(count / 3))  # the mean norm of the default initialisation
        home._parameters[self.names[0]], home._parameters[self.names[1]] = g, v

    def weight(self, module):
        home = module._modules["parametrizations"]._modules["weight"] if self.new else module
        g, v = (getattr(home, name) for name in self.names)
        others = tuple(d for d in range(len(self.shape)) if d != self.dim)
        return v * (g / sys.modules["torch"].norm(v, 2, others, True))


class SpectralNorm:
    """weight = original / (u W v), W being the original as a matrix: u and v approach its first singular vectors in training,
    where each call iterates them, and are constant in evaluation."""

    def __init__(self, shape, dim, new, iterations, eps):
        if len(shape) < 2:
            raise Fault("spectral_norm of a weight of %s is not supported: it takes matrices" % list(shape))
        self.shape, self.new, self.dim = shape, new, dim % len(shape)
        self.iterations, self.eps = iterations, eps

    def make(self, module, home, bound):
        original = Parameter(Tensor(self.shape))
        original.uniform_(-bound, bound)
        home._parameters["original" if self.new else "weight_orig"] = original
        rows = self.shape[self.dim]
        if self.new:
            vectors = Module()
            home.add_module("0", vectors)
        for name, n in (("u", rows), ("v", math.prod(self.shape) // rows)):
            t = Tensor((n,))
            t.normal_(0.0, 1 / math.sqrt(n))
            if self.new:
                vectors.register_buffer("_" + name, t)
            else:
                module.register_buffer("weight_" + name, t)

    def iterated(self, matrix, home, names):
        """The old implementation starts the iteration with v, the new one with u. The buffers get copies, since the next call
        overwrites them."""
        torch, normalize = sys.modules["torch"], sys.modules["torch.nn.functional"].normalize
        now = [getattr(home, name) for name in names]
        sides = [(1, matrix.t()), (0, matrix)]
        with no_grad():
            for _ in range(self.iterations):
                for k, m in reversed(sides) if self.new else sides:
                    now[k] = normalize(torch.matmul(m, now[1 - k]), dim=0, eps=self.eps)
            for name, vector in zip(names, now):
                home._buffers[name].copy_(vector)
        return now

    def weight(self, module):
        torch = sys.modules["torch"]
        home, original, names = module, None, ("weight_u", "weight_v")
        if self.new:
            inner = module._modules["parametrizations"]._modules["weight"]
            home, original, names = inner._modules["0"], inner.original, ("_u", "_v")
        original = module.weight_orig if original is None else original
        matrix, rows = original, self.shape[self.dim]
        if self.dim:
            matrix = matrix.permute(self.dim, *(d for d in range(len(self.shape)) if d != self.dim))
        matrix = matrix.reshape(rows, math.prod(self.shape) // rows)
        iterates = TRACER.mode and module.training
        u, v = self.iterated(matrix, home, names) if iterates else [getattr(home, name) for name in names]
        return original / (torch.matmul(matrix, v) * u).sum()


def parametrise(kind, what, module, name, dim, new, *more):
    values = module.__dict__.get("values", {})
    known_layer = isinstance(module, Layer) and ("in_features" in values or "out_channels" in values)
    if not known_layer or name != "weight":
        raise Fault("%s of %s's %s is not supported: it takes the weight of Linear and convolutions"
                    % (what, type(module).__name__, name))
    shape = tuple(module._parameters["weight"].shape)
    rule = kind(shape, dim, new, *more)
    bound = 1 / math.sqrt(max(1, math.prod(shape[1:])))  # default bound of a layer's weight
    bias = module._parameters.get("bias")
    if bias is not None and bias.initial is None:
        bias.uniform_(-bound, bound)
        bias.maker = None
    del module._parameters["weight"]
    module.__class__ = ParametrisedLayer
    module.__dict__["rule"] = rule
    home = module
    if new:
        outer, home = Module(), Module()
        module.add_module("parametrizations", outer)
        outer.add_module("weight", home)
    rule.make(module, home, bound)
    return module


def weight_norm(module, name="weight", dim=0):
    return parametrise(WeightNorm, "weight_norm", module, name, dim, False)


def new_weight_norm(module, name="weight", dim=0):
    return parametrise(WeightNorm, "weight_norm", module, name, dim, True)


def spectral_dim(module, dim):
    """The output dimension: 1 for transposed convolutions, else 0."""
    return dim if dim is not None else int("output_padding" in module.__dict__.get("values", {}))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    return parametrise(SpectralNorm, "spectral_norm", module, name, spectral_dim(module, dim), False,
                       n_power_iterations, eps)


def new_spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    return parametrise(SpectralNorm, "spectral_norm", module, name, spectral_dim(module, dim), True,
                       n_power_iterations, eps)
