"""masked.py - forward writes zeros into a parameter's .data, as masked convolutions do: self.weight.data *= self.mask.

Since every call of forward writes the zeros again before the parameter is read, the network is one that multiplies the
parameter by the mask. Any other write into a parameter is refused.
"""


class Data(Proxy):
    """parameter.data, and views of it."""

    def __init__(self, parameter, places, index=()):
        self.parameter, self.places, self.index = parameter, places, index
        self.tracer, self.made = TRACER, None

    @property
    def node(self):
        if self.made is None or self.tracer is not TRACER:
            self.tracer = TRACER
            value = Proxy(TRACER.tensor(self.parameter)).detach()
            for i in self.index:
                value = Proxy.record("call_function", "operator.getitem", (value, i), {})
            self.made = value.node
        return self.made

    shape = property(lambda self: self.places.shape)
    dtype = property(lambda self: self.parameter.dtype)
    ndim = property(lambda self: self.places.ndim)

    def size(self, dim=None):
        return self.places.size(dim)

    def dim(self):
        return self.places.ndim

    def __getitem__(self, index):
        if contains_proxy(index) or any_tensor(index):
            return super().__getitem__(index)
        return Data(self.parameter, self.places[index], self.index + (index,))

    def __setitem__(self, index, value):
        """data[i] *= mask also assigns its result, which has taken effect already."""
        if isinstance(value, Data):
            return
        if contains_proxy(index) or not is_number(value) or value != 0:
            super().__setitem__(index, value)
        else:
            self[index].zero_()

    def zero_(self):
        write_mask(self.parameter, set(self.places.numbers()))
        return self

    def fill_(self, value):
        return self.zero_() if is_number(value) and value == 0 else Proxy.__getattr__(self, "fill_")(value)

    def mul_(self, other):
        mask = mask_of(other)
        if mask is None:
            return Proxy.__getattr__(self, "mul_")(other)
        kept = mask.stretched(self.places.shape).numbers()
        write_mask(self.parameter, {p for p, k in zip(self.places.numbers(), kept) if not k},
                    mask if not self.index and mask.shape == self.places.shape else None)
        return self

    __imul__ = mul_


def write_mask(parameter, zeros, mask=None):
    """From now on the parameter has zeros at these positions."""
    if mask is None:
        mask = Tensor(parameter.shape, [int(i not in zeros) for i in range(parameter.numel())])
    enabled, Grad.enabled = Grad.enabled, True  # .data does not detach what the layer computes
    made = Proxy.record("call_function", "operator.mul", (Proxy(TRACER.tensor(parameter)), mask), {})
    Grad.enabled = enabled
    TRACER.changed[id(parameter)] = made
    TRACER.read_before.append(TRACER.read.get(id(parameter), (parameter, made)))
    TRACER.read[id(parameter)] = parameter, made


def read_at(arg):
    """The path that a node's argument reads."""
    node = TRACER.nodes[arg["node"]] if isinstance(arg, dict) and "node" in arg else {"kind": ""}
    return node["target"] if node["kind"] == "get_attr" else None


def buffer_read(arg):
    path = read_at(arg)
    return next((t for p, _, t in TRACER.buffers.values() if p == path), None)


def reads_data(arg, path):
    node = TRACER.nodes[arg["node"]] if isinstance(arg, dict) and "node" in arg else {"target": ""}
    return node["target"] == "detach" and read_at(node["args"][0]) == path


def mask_of(value):
    """A constant tensor of zeros and ones; the graph depends on its values from now on."""
    if is_number(value) and value in (0, 1):
        return Tensor((), [value])
    if isinstance(value, Tensor) and id(value) not in TRACER.changed and set(value.numbers()) <= {0, 1}:
        return value
    return None


def data_of(proxy):
    parameter = TRACER.parameter_of(proxy)
    if parameter is None:
        return None
    return Data(parameter, Tensor(parameter.shape, list(range(parameter.numel())), DTYPES["int64"]))


def set_data(proxy, value):
    """w.data = w.data * mask; for w.data *= mask the effect has taken place."""
    parameter = TRACER.parameter_of(proxy)
    if isinstance(value, Data) and value.parameter is parameter and not value.index:
        return parameter is not None
    made = TRACER.nodes[value.node] if isinstance(value, Proxy) else {"target": "", "args": []}
    if parameter is None or made["target"] not in ("operator.mul", "torch.mul", "mul") or len(made["args"]) != 2:
        return False
    home = TRACER.home(parameter)
    masks = [mask_of(t) for t in map(buffer_read, made["args"]) if t is not None]
    if not any(reads_data(a, home) for a in made["args"]) or not masks or masks[0] is None:
        return False
    Data(parameter, Tensor(parameter.shape, list(range(parameter.numel())), DTYPES["int64"])).mul_(masks[0])
    return True
