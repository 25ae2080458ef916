"""layers.py - stand-ins for the layers of torch.nn, made from the rows of ops.def."""

GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}  # gates, whose weights are stacked in rows


def recurrent_shapes(cls, v):
    """Shapes of the parameters of a recurrent layer or cell."""
    gates, hidden = GATES[cls.replace("Cell", "")] * v["hidden_size"], v["hidden_size"]
    state, sides = v.get("proj_size") or hidden, 2 if v.get("bidirectional") else 1
    for layer in range(v.get("num_layers", 1)):
        width = state * sides if layer else v["input_size"]
        for side in range(sides):
            end = "" if cls.endswith("Cell") else "_l%d%s" % (layer, "_reverse" if side else "")
            yield "_parameters", "weight_ih" + end, (gates, width)
            yield "_parameters", "weight_hh" + end, (gates, state)
            if v["bias"]:
                yield "_parameters", "bias_ih" + end, (gates,)
                yield "_parameters", "bias_hh" + end, (gates,)
            if state != hidden:
                yield "_parameters", "weight_hr" + end, (state, hidden)


WITHOUT_BIAS = ("Embedding", "EmbeddingBag", "PReLU", "RMSNorm")


def parameter_shapes(cls, v):
    """Shapes of parameters and buffers by the constructor's values, for use in __init__."""
    weight = None
    if "hidden_size" in v:
        yield from recurrent_shapes(cls, v)
    elif "out_features" in v:
        weight = (v["out_features"],) + tuple(v[k] for k in ("in_features", "in1_features",
                                                             "in2_features") if k in v)
        bias = (v["out_features"],)
    elif "out_channels" in v:
        ends = v["out_channels"], v["in_channels"] // v["groups"]
        if "output_padding" in v:
            ends = v["in_channels"], v["out_channels"] // v["groups"]
        weight, bias = ends + v["kernel_size"], (v["out_channels"],)
    elif "num_embeddings" in v:
        weight, bias = (v["num_embeddings"], v["embedding_dim"]), None
    elif "num_parameters" in v:
        weight = (v["num_parameters"],)
    elif v.get("affine", v.get("elementwise_affine")):
        weight = bias = v.get("normalized_shape") or (v.get("num_features", v.get("num_channels")),)
    if weight:
        yield "_parameters", "weight", weight
        if cls not in WITHOUT_BIAS:
            yield "_parameters", "bias", bias if v.get("bias", True) else None
    if v.get("track_running_stats"):
        yield "_buffers", "running_mean", (v["num_features"],)
        yield "_buffers", "running_var", (v["num_features"],)
        yield "_buffers", "num_batches_tracked", ()


NO_PART = "this layer is not part of the model: assign it to self, or to a ModuleList, in __init__"


class Layer(Module):
    signature = None

    @property
    def _asks_mode(self):
        """Does the layer compute something else in training?"""
        return bool(any(word in type(self).__name__ for word in ("Dropout", "BatchNorm", "RReLU")) or
                    self.values.get("track_running_stats") or self.values.get("dropout"))

    def flatten_parameters(self):
        """Recurrent layers: places parameters in one block of memory, which has no effect here."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        for name in ("device", "dtype"):  # the last two parameters of every layer
            kwargs.pop(name, None)
        if self._layer_class() == "Identity":  # accepts any arguments
            args, kwargs = (), {}
        if len(self.signature.names) < len(args) <= len(self.signature.names) + 2:
            args = args[:len(self.signature.names)]
        values = self.signature.bind(type(self).__name__, args, kwargs)
        for name, mark in self.signature.marks.items():
            value = values[name]
            if isinstance(value, Tensor) and not value.ndim:
                value = values[name] = value.item()
            if mark in tuple("12346n") and isinstance(value, numbers.Integral):
                values[name] = (int(value),) * (1 if mark == "n" else int(mark))
            elif mark in tuple("12346n") and isinstance(value, list):
                values[name] = tuple(value)
        self.__dict__["values"] = values
        self.__dict__["at"] = here()
        try:
            for kind, name, shape in parameter_shapes(type(self).__name__, values):
                if TRACER is not None:
                    raise Fault(NO_PART)
                self.__dict__[kind][name] = self._own(kind, name, shape)
        except TypeError as e:
            raise Fault("%s(%s): %s" % (type(self).__name__, ", ".join(
                "%s=%r" % i for i in values.items()), e))

    def _own(self, kind, name, shape):
        """A parameter or buffer as the layer creates it; None: the layer has none."""
        if shape is None:
            return None
        counts = name == "num_batches_tracked"
        t = Tensor(shape, None, DTYPES["int64" if counts else "float32"])
        t = Parameter(t) if kind == "_parameters" else t
        t.maker, t.persistent = (self, name), True
        return t

    def __getattr__(self, name):
        values = self.__dict__.get("values", {})
        if name in values and name not in self._parameters:
            return values[name]
        return super().__getattr__(name)

    def __setattr__(self, name, value):
        if name in self.__dict__.get("values", {}) and name not in self._parameters and not isinstance(value, Parameter):
            self.values[name] = value
        else:
            super().__setattr__(name, value)

    def reset_parameters(self):
        """Set the initial values of the layer."""
        for name in self._own_names():
            p = self._parameters.get(name)
            if p is not None:
                p.check_write()
                p.start, p.maker = None, (self, name)

    def _computed(self, input):
        """Call the function instead of the layer: for masked parameters, or a network that is a single layer."""
        held = {name: TRACER.parameter(p) for name, p in self._parameters.items() if p is not None}
        weight, bias, v = held.get("weight"), held.get("bias"), self.values
        if self._layer_class() == "Linear":
            return sys.modules["torch.nn.functional"].linear(input, weight, bias)
        if self._layer_class() in ("Conv1d", "Conv2d", "Conv3d"):
            return self._conv_forward(input, weight, bias)
        if "output_padding" in v:
            conv = getattr(sys.modules["torch"], "conv_transpose%dd" % len(v["kernel_size"]))
            return conv(input, weight, bias, v["stride"], v["padding"], v["output_padding"], v["groups"], v["dilation"])
        raise Fault("%s: a layer that is the network itself, or whose parameters forward masks, is followed of Linear and "
                    "convolutions" % type(self).__name__)

    def _conv_forward(self, input, weight, bias):
        """PyTorch's convolutions: derived classes call it with another weight."""
        v = self.values
        if "padding_mode" not in v or "output_padding" in v:
            raise AttributeError("_conv_forward")
        x, padding = padded(input, v)
        conv = getattr(sys.modules["torch"], "conv%dd" % len(v["kernel_size"]))
        return conv(x, weight, bias, v["stride"], padding, v["dilation"], v["groups"])

    def forward(self, *args, **kwargs):
        """super().forward(x) of a class derived from a layer."""
        if TRACER is None:
            raise Fault("%s is called while the model is built, which is not followed: only forward is" % type(self).__name__)
        return TRACER.layer(self, args, kwargs)

    def _own_names(self):
        """Names of parameters and buffers of PyTorch's layer; a derived class may have more."""
        return {name for _, name, shape in parameter_shapes(self._layer_class(), self.values) if shape is not None}

    def _follow_given(self):
        """Follow assignments that add or remove the bias."""
        if "bias" in self._parameters and "bias" in self.values:
            self.values["bias"] = self._parameters["bias"] is not None
        for flag in ("affine", "elementwise_affine"):
            given = [self._parameters.get(n) for n in ("weight", "bias")[:2 - (self._layer_class() == "RMSNorm")]]
            if self.values.get(flag) is False and any(p is not None for p in given):
                self.values[flag] = all(p is not None for p in given)
        for kind, name, shape in parameter_shapes(self._layer_class(), self.values):
            if shape is not None and self._parameters.get(name) is None and self._buffers.get(name) is None:
                raise Fault("%s has no '%s' any more, which is not followed" % (type(self).__name__, name), self.at)

    def _layer_class(self):
        return next(c for c in type(self).__mro__ if c.__module__ == LAYERS).__name__

    def _describe(self, path, homes):
        """homes: the first name of each parameter and buffer."""
        starts, tied = {}, {}
        self._follow_given()
        own = self._own_names()
        shapes = {name: shape for _, name, shape in parameter_shapes(self._layer_class(), self.values)}
        for name, p in itertools.chain(self._parameters.items(), self._buffers.items()):
            if p is None or name not in own:
                continue
            if tuple(p.shape) != tuple(shapes.get(name) or p.shape):
                raise Fault("%s.%s is given a tensor of %s, the layer computes with %s"
                            % (path, name, list(p.shape), list(shapes[name])), self.at)
            if homes(p) != path + "." + name:
                tied[name] = homes(p)
            elif p.initial is not None or p.maker != (self, name):
                starts[name] = start_json(p)
        values = [[k, TRACER.arg(v)] for k, v in self.values.items()]
        held = itertools.chain(self._parameters.items(), self._buffers.items())
        learned = {name for kind, name, _ in parameter_shapes(self._layer_class(), self.values) if kind == "_parameters"}
        frozen = [name for name, p in held if p is not None and name in learned and not p.requires_grad]
        return {"path": path, "class": self._layer_class(), "values": values, "start": starts,
                "frozen": frozen, "tied": tied, "at": self.at}


class Table(Layer):
    """Embedding and EmbeddingBag."""

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, **more):
        if embeddings.ndim != 2:
            raise Fault("from_pretrained takes a table, got a tensor of %s" % list(embeddings.shape))
        made = cls(*embeddings.shape, **more)
        made._parameters["weight"] = Parameter(embeddings.clone(), not freeze)
        return made


def missing_layer(name, layers):
    """A class that fails when it is instantiated, since files import more than a model uses. A loss may be instantiated, as
    training needs it, and fails when forward calls it."""
    def refuse(self, *args, **kwargs):
        known(name, layers, "layer")

    def make(self, *args, **kwargs):
        Module.__init__(self)
    is_loss = name.endswith("Loss")
    return type(name, (Module,), {"__init__": make if is_loss else refuse, "forward": refuse,
                                  "__module__": LAYERS})
