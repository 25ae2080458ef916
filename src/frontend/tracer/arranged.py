"""arranged.py - views, copies and parts of a tensor."""


class Arranged:
    """Methods of Tensor that view or rearrange its elements."""

    def view(self, *size):
        if contains_proxy(size):
            return Proxy.record("call_method", "view", (self,) + size, {})
        if len(size) == 1 and isinstance(size[0], (tuple, list)):
            size = size[0]
        known = math.prod(n for n in size if n != -1)
        size = [self.numel() // known if n == -1 and known else n for n in size]
        if math.prod(size) != self.numel():
            raise Fault("%s cannot be viewed as %s" % (list(self.shape), list(size)))
        if self.own_strides() != strides_of(self.shape):
            return self.clone().view(*size)
        return self.viewed(size, strides_of(size), self.offset)

    reshape = view

    def flatten(self, start_dim=0, end_dim=-1):
        end = end_dim % max(self.ndim, 1) + 1
        middle = (math.prod(self.shape[start_dim:end]),)
        return self.view(self.shape[:start_dim] + middle + self.shape[end:])

    def unsqueeze(self, dim):
        at = dim % (self.ndim + 1)
        return self.view(self.shape[:at] + (1,) + self.shape[at:])

    def squeeze(self, dim=None):
        drop = range(self.ndim) if dim is None else [dim % self.ndim]
        return self.view([n for d, n in enumerate(self.shape) if not (d in drop and n == 1)])

    def permute(self, *dims):
        dims = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
        steps = self.own_strides()
        return self.viewed([self.shape[d] for d in dims], [steps[d] for d in dims], self.offset)

    def transpose(self, dim0, dim1):
        dims = list(range(self.ndim))
        dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
        return self.permute(dims)

    def t(self):
        return self.transpose(0, 1) if self.ndim == 2 else self

    def expand(self, *size):
        if contains_proxy(size):
            return Proxy.record("call_method", "expand", (self,) + size, {})
        size = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
        lead = len(size) - self.ndim
        return self.stretched([self.shape[d - lead] if n == -1 else n
                               for d, n in enumerate(size)])

    def repeat(self, *sizes):
        if contains_proxy(sizes):
            return Proxy.record("call_method", "repeat", (self,) + sizes, {})
        sizes = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
        own = (1,) * (len(sizes) - self.ndim) + tuple(self.shape)
        places = [0]
        for n, k, step in zip(own, sizes, strides_of(own)):
            places = [p + i % n * step for p in places for i in range(n * k)]
        return self.moved([n * k for n, k in zip(own, sizes)], places)

    def nonzero(self):
        """(positions, dimensions)"""
        places = [at for at, v in zip(itertools.product(*[range(n) for n in self.shape]),
                                      self.numbers()) if v]
        return Tensor((len(places), self.ndim), [i for at in places for i in at], DTYPES["int64"])

    def picked(self, index):
        """self[index] for one tensor along the first dimension: a mask, or positions."""
        if index.dtype.name == "bool":
            if index.shape != self.shape[:index.ndim]:
                raise Fault("a mask of %s does not fit a tensor of %s" % (list(index.shape),
                                                                         list(self.shape)))
            rows = [i for i, v in enumerate(index.numbers()) if v]
            shape, width = self.shape[index.ndim:], math.prod(self.shape[index.ndim:])
        else:
            rows, shape = index.numbers(), self.shape[1:]
            width = math.prod(shape)
            if any(not -self.shape[0] <= i < self.shape[0] for i in rows):
                raise Fault("an index of %r does not fit a tensor of %s" % (rows, list(self.shape)))
            rows = [i % self.shape[0] for i in rows]
        lead = (len(rows),) if index.dtype.name == "bool" else tuple(index.shape)
        return self.moved(lead + tuple(shape), [i * width + k for i in rows for k in range(width)])

    def chosen(self, index, steps, offset):
        """The shape, strides and offset of self[index]: integers, slices, None and ..."""
        index = index if isinstance(index, tuple) else (index,)
        used = sum(1 for i in index if i is not None and i is not Ellipsis)
        if Ellipsis not in [i for i in index if i is Ellipsis]:
            index += (Ellipsis,)
        at = next(n for n, i in enumerate(index) if i is Ellipsis)
        index = index[:at] + (slice(None),) * (self.ndim - used) + index[at + 1:]
        shape, strides, d = [], [], 0
        for i in index:
            if i is None:
                shape.append(1)
                strides.append(0)
                continue
            if isinstance(i, slice):
                picked = range(*i.indices(self.shape[d]))
                shape.append(len(picked))
                strides.append(picked.step * steps[d])
                offset += picked.start * steps[d] if len(picked) else 0
            elif is_whole(i) and -self.shape[d] <= i < self.shape[d]:
                offset += builtins.int(i) % self.shape[d] * steps[d]
            else:
                raise Fault("index %r does not fit a tensor of %s" % (i, list(self.shape)))
            d += 1
        return shape, strides, offset

    def gathered(self, index):
        """The shape and the flat positions of an index with lists or tensors."""
        index = index if isinstance(index, tuple) else (index,)
        index = tuple(from_numbers(i) if isinstance(i, (list, range)) else i for i in index)
        if any(i is None or i is Ellipsis for i in index) or any(
                isinstance(i, Tensor) and i.dtype.name == "bool" for i in index):
            raise Fault("an index of tensors with None, ... or a mask cannot be computed while tracing")
        index += (slice(None),) * (self.ndim - len(index))
        places = [d for d, i in enumerate(index) if isinstance(i, Tensor)]
        if any(b != a + 1 for a, b in zip(places, places[1:])):
            raise Fault("tensors apart from each other in an index cannot be computed while tracing")
        common = Size()
        for d in places:
            common = broadcast(common, index[d].shape)
        steps, axes, shape, lists = strides_of(self.shape), [], [], None
        for d, i in enumerate(index):
            if isinstance(i, Tensor):
                at = [v % self.shape[d] * steps[d] for v in i.stretched(common).numbers()]
                if lists is None:
                    lists = at
                    axes.append(lists)
                    shape += common
                else:
                    lists[:] = [a + b for a, b in zip(lists, at)]
            else:
                picked = range(*i.indices(self.shape[d])) if isinstance(i, slice) else [i % self.shape[d]]
                shape += [len(picked)] if isinstance(i, slice) else []
                axes.append([p * steps[d] for p in picked])
        return shape, [sum(p) for p in itertools.product(*axes)]

    def __getitem__(self, index):
        if contains_proxy(index):
            return Proxy.record("call_function", "operator.getitem", (self, index), {})
        if isinstance(index, Tensor) and index.ndim:
            return self.picked(index)
        if any_tensor(index):
            return self.moved(*self.gathered(index))
        return self.viewed(*self.chosen(index, self.own_strides(), self.offset))

    def __setitem__(self, index, value):
        self.check_write()
        if isinstance(index, Tensor) and index.dtype.name == "bool":
            if isinstance(value, Tensor) and value.numel() != 1:
                self.take_masked(index, value)
            else:
                self.masked_fill_(index, value)
            return
        if any_tensor(index):
            shape, order = self.gathered(index)
        else:
            shape, strides, offset = self.chosen(index, strides_of(self.shape), 0)
            order = flat_positions(shape, strides, offset)
        if contains_proxy(value):
            raise Fault("a part of a tensor that exists already is given a traced value, which is not followed: make the "
                        "tensor of the sample's, as x.new_zeros(...) does")
        value = value if isinstance(value, Tensor) else Tensor((), [value], self.dtype)
        numbers = list(self.present())
        for i, v in zip(order, value.stretched(shape).numbers()):
            numbers[i] = v
        left = (self.unwritten or set()).difference(order)
        self.start = numbers
        self.unwritten = left or None

    def take_masked(self, mask, value):
        """t[mask] = u, where u has as many elements as the mask is true."""
        places = [i for i, chosen in enumerate(mask.numbers()) if chosen]
        if mask.shape != self.shape or value.numel() != len(places):
            raise Fault("%d numbers for %d places of a mask of %s" % (value.numel(), len(places), list(mask.shape)))
        numbers = list(self.numbers())
        for i, v in zip(places, value.numbers()):
            numbers[i] = v
        self.start = numbers
