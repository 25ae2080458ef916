"""compute.py - functions of tensors while a model is built: tables of positions, masks, grids, initial values."""

REAL = DTYPES["float32"]


# ---- elementwise ----

def sign(v):
    return (v > 0) - (v < 0)


def even_round(v, decimals=0):
    return builtins.round(v * 10.0 ** decimals) / 10.0 ** decimals


def divided(a, b):
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def power(a, b):
    try:
        return a ** b
    except ZeroDivisionError:
        return math.inf
    except OverflowError:
        return math.inf


def at_least_exp(v):
    try:
        return math.exp(v)
    except OverflowError:
        return math.inf


def erfinv(y):
    """Newton's method."""
    if abs(y) >= 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    a, ln = 0.147, math.log(1 - y * y) if y else 0.0
    first = 2 / (math.pi * a) + ln / 2
    x = math.copysign(math.sqrt(max(0.0, math.sqrt(first * first - ln / a) - first)), y)
    for _ in range(4):
        x -= (math.erf(x) - y) / (2 / math.sqrt(math.pi) * math.exp(-x * x))
    return x


MAX_DRAWN = 1 << 16  # values drawn one by one for a truncated distribution; larger tensors keep the few outliers


def is_even_uniform(start):
    """Does erfinv of it give a normal distribution, truncated on both sides?"""
    return isinstance(start, tuple) and start[0] == "uniform" and 0.5 < start[1] <= 1 and abs(start[2]) < 1e-4


def cut_deviation(kept):
    """The deviation of a standard normal distribution truncated to its middle; reported, since it is approximate."""
    if kept > 0.9999:
        return 1.0
    note(here(), "a normal that is cut starts as a normal of the same deviation, which is not cut")
    z = math.sqrt(2) * erfinv(kept)
    return math.sqrt(1 - 2 * z * math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / kept)


REAL_FUNCTIONS = {  # of one number, with a float result
    "exp": at_least_exp, "log": lambda v: math.log(v) if v > 0 else (-math.inf if v == 0 else math.nan),
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "atan": math.atan, "asin": math.asin, "acos": math.acos,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "erf": math.erf, "erfinv": erfinv,
    "sqrt": lambda v: math.sqrt(v) if v >= 0 else math.nan, "log2": math.log2, "log10": math.log10,
    "log1p": math.log1p, "expm1": math.expm1,
    "rsqrt": lambda v: divided(1.0, math.sqrt(v)) if v >= 0 else math.nan,
    "reciprocal": lambda v: divided(1.0, v), "sigmoid": lambda v: 1 / (1 + at_least_exp(-v)),
    "deg2rad": math.radians, "rad2deg": math.degrees,
}
SAME_FUNCTIONS = {  # of one number, with a result of its type
    "abs": builtins.abs, "sign": sign, "square": lambda v: v * v, "relu": lambda v: max(v, 0), "neg": operator.neg,
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": even_round,
    "negative": operator.neg, "absolute": builtins.abs,
}
TESTS = {"isnan": lambda v: v != v, "isinf": lambda v: abs(v) == math.inf,
         "isfinite": lambda v: v == v and abs(v) != math.inf, "logical_not": lambda v: not v}


def of_one(fn, real):
    def method(self, *args, out=None, **more):
        if fn is erfinv and is_even_uniform(self.start):
            return self.like(self.shape, ("normal", cut_deviation(self.start[1]) * math.sqrt(0.5), 0.0))
        kind = self.dtype if self.dtype.is_floating_point or not real else REAL
        if self.is_unknown:
            return self.like(self.shape, UNKNOWN, kind)
        return self.like(self.shape, [fn(v, *args, **more) for v in self.numbers()], kind)
    return method


def tested(fn):
    def method(self):
        return self.like(self.shape, [fn(v) for v in self.numbers()], DTYPES["bool"])
    return method


def of_two(op):
    def method(self, other, alpha=None, rounding_mode=None, **_):
        if alpha not in (None, 1):
            other = other * alpha
        if rounding_mode:
            return self // other if rounding_mode == "floor" else op(self, other).trunc()
        return op(self, other)
    return method


TWO = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "pow": operator.pow,
       "divide": operator.truediv, "multiply": operator.mul, "subtract": operator.sub, "true_divide": operator.truediv,
       "floor_divide": operator.floordiv, "remainder": operator.mod, "eq": operator.eq, "ne": operator.ne,
       "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "bitwise_and": operator.and_}


def picked_by(fn):
    def method(self, other):
        other = other if isinstance(other, Tensor) else self.beside(other)
        return self.combined(other, fn, True)
    return method


def logical(fn):
    def method(self, other):
        return self.compared(other, lambda a, b: fn(builtins.bool(a), builtins.bool(b)))
    return method


def clamp(self, min=None, max=None):
    low, high = plain_number(min), plain_number(max)
    if isinstance(self.start, tuple) and self.start[0] == "normal":
        _, spread, centre = self.start
        cut = 4 if self.numel() <= MAX_DRAWN else 2
        if (low is None or centre - low >= cut * spread) and (high is None or high - centre >= cut * spread):
            return self.like(self.shape, self.start)
    fits = [v if low is None or v >= low else low for v in self.numbers()]
    real = any(isinstance(bound, builtins.float) for bound in (low, high)) and not self.dtype.is_floating_point
    return self.like(self.shape, [v if high is None or v <= high else high for v in fits], REAL if real else None)


def masked_fill(self, mask, value):
    shape = broadcast(self.shape, mask.shape)
    value = plain_number(value)
    return self.like(shape, [value if m else v for m, v in zip(mask.stretched(shape).numbers(),
                                                               self.stretched(shape).numbers())])


def where(condition, a=None, b=None):
    if a is None:
        return tuple(condition.nonzero().unbind(1))
    a = a if isinstance(a, Tensor) else from_numbers(a)
    b = b if isinstance(b, Tensor) else from_numbers(b)
    shape = broadcast(broadcast(a.shape, b.shape), condition.shape)
    kind = a.dtype if a.dtype.is_floating_point or not b.dtype.is_floating_point else b.dtype
    return Tensor(shape, [x if c else y for c, x, y in zip(*(t.stretched(shape).numbers()
                                                             for t in (condition, a, b)))], kind)


# ---- along dimensions ----

def lines(self, dims, keepdim):
    """The elements along dims for each position of the other dimensions, and the remaining shape."""
    dims = range(self.ndim) if dims is None else [dims] if is_whole(dims) else dims
    dims = {builtins.int(d) % max(self.ndim, 1) for d in dims} if self.ndim else set()
    kept = [d for d in range(self.ndim) if d not in dims]
    rest = math.prod(self.shape[d] for d in kept)
    numbers = self.permute(kept + sorted(dims)).numbers() if self.ndim else self.numbers()
    n = len(numbers) // rest if rest else 0
    shape = [1 if d in dims else m for d, m in enumerate(self.shape)] if keepdim else [self.shape[d] for d in kept]
    return [numbers[i * n:(i + 1) * n] for i in range(rest)], shape


def reduced(fn, kind):
    def method(self, dim=None, keepdim=False, dtype=None, axis=None, **_):
        rows, shape = lines(self, dim if axis is None else axis, keepdim)
        return Tensor(shape, [fn(r) for r in rows], dtype or kind(self.dtype))
    return method


def deviation(root):
    def method(self, dim=None, unbiased=True, keepdim=False, correction=None, **_):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        less = (1 if unbiased else 0) if correction is None else correction

        def of(r):
            mean = math.fsum(r) / len(r)
            v = divided(math.fsum((x - mean) ** 2 for x in r), len(r) - less)
            return math.sqrt(v) if root else v
        rows, shape = lines(self, dim, keepdim)
        return Tensor(shape, [of(r) for r in rows], self.dtype)
    return method


def norm(self, p=2, dim=None, keepdim=False, ord=None, **_):
    p = ord if ord is not None else p
    rows, shape = lines(self, dim, keepdim)
    if p in ("fro", 2, None):
        return Tensor(shape, [math.sqrt(math.fsum(v * v for v in r)) for r in rows], self.dtype)
    if p in (math.inf, -math.inf):
        return Tensor(shape, [(max if p > 0 else min)(map(abs, r)) for r in rows], self.dtype)
    if p == 0:
        return Tensor(shape, [sum(v != 0 for v in r) for r in rows], self.dtype)
    return Tensor(shape, [math.fsum(abs(v) ** p for v in r) ** (1 / p) for r in rows], self.dtype)


class Pair(tuple):
    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


def extreme(best, choose):
    def method(self, dim=None, keepdim=False, **_):
        if isinstance(dim, Tensor):
            return choose(self, dim)
        rows, shape = lines(self, dim, keepdim)
        values = Tensor(shape, [best(r) for r in rows], self.dtype)
        if dim is None:
            return values
        return Pair((values, Tensor(shape, [r.index(best(r)) for r in rows], DTYPES["int64"])))
    return method


def place_of_best(best):
    def method(self, dim=None, keepdim=False):
        rows, shape = lines(self, dim, keepdim)
        return Tensor(shape, [r.index(best(r)) for r in rows], DTYPES["int64"])
    return method


def running(fn):
    def method(self, dim, **_):
        rows, shape = lines(self, dim, False)
        back = list(range(self.ndim))
        back.insert(dim % self.ndim, back.pop())
        total = [v for r in rows for v in itertools.accumulate(r, fn)]
        return Tensor(shape + [self.shape[dim]], total, wholes(self.dtype)).permute(back).clone()
    return method


def ordered(self, dim=-1, descending=False, **_):
    rows, shape = lines(self, dim, False)
    back = list(range(self.ndim))
    back.insert(dim % self.ndim, back.pop())
    places = [sorted(range(len(r)), key=r.__getitem__, reverse=descending) for r in rows]
    whole = shape + [self.shape[dim]]
    return Pair((Tensor(whole, [r[i] for r, p in zip(rows, places) for i in p], self.dtype).permute(back).clone(),
                 Tensor(whole, [i for p in places for i in p], DTYPES["int64"]).permute(back).clone()))


def softmax(self, dim=-1, **_):
    exps = (self - self.max(dim, keepdim=True)[0]).exp()
    return exps / exps.sum(dim, keepdim=True)


# ---- rearranged ----

def split(self, split_size_or_sections, dim=0):
    n, sizes = self.shape[dim], split_size_or_sections
    if is_whole(sizes):
        sizes = [min(sizes, n - i) for i in range(0, n, sizes)]
    ends = list(itertools.accumulate(sizes))
    return tuple(self.narrow(dim, e - s, s) for e, s in zip(ends, sizes))


def chunk(self, chunks, dim=0):
    return split(self, -(-self.shape[dim] // chunks), dim)


def narrow(self, dim, start, length):
    index = [slice(None)] * self.ndim
    index[dim] = slice(start, start + length)
    return self[tuple(index)]


def select(self, dim, index):
    places = [slice(None)] * self.ndim
    places[dim] = index
    return self[tuple(places)]


def unbind(self, dim=0):
    return tuple(select(self, dim, i) for i in range(self.shape[dim]))


def flip(self, *dims):
    dims = dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims
    for d in dims:
        self = self.index_select(d, Tensor((self.shape[d],), list(range(self.shape[d]))[::-1], DTYPES["int64"]))
    return self


def roll(self, shifts, dims=None):
    if dims is None:
        return roll(self.flatten(), shifts, 0).view(self.shape)
    for n, d in zip(*((v,) if is_whole(v) else v for v in (shifts, dims))):
        size = self.shape[d]
        self = self.index_select(d, Tensor((size,), [(i - n) % size for i in range(size)], DTYPES["int64"]))
    return self


def index_select(self, dim, index):
    places = [slice(None)] * self.ndim
    places[dim] = index
    return self[tuple(places)]


def repeat_interleave(self, repeats, dim=None):
    if dim is None:
        self, dim = self.flatten(), 0
    n = self.shape[dim]
    counts = repeats.tolist() if isinstance(repeats, Tensor) else [repeats] * n
    return self.index_select(dim, from_numbers([i for i in range(n) for _ in range(counts[i])]))


def gather(self, dim, index):
    return place_along(self, dim, index)


def places_along(shape, dim, index):
    steps, dim = strides_of(shape), dim % len(shape)
    for at, v in zip(itertools.product(*[range(n) for n in index.shape]), index.numbers()):
        yield sum((v if d == dim else i) * steps[d] for d, i in enumerate(at))


def place_along(self, dim, index):
    return self.moved(index.shape, places_along(self.shape, dim, index)) if isinstance(
        self.start, list) else self.like(index.shape, [self.numbers()[i] for i in places_along(
            self.shape, dim, index)])


def scatter(self, dim, index, src=None, value=None, **_):
    numbers = list(self.numbers())
    src = value if src is None else src
    if isinstance(src, Tensor):  # the first elements of src, as many as there are positions
        given = src[tuple(slice(n) for n in index.shape)].numbers()
    else:
        given = itertools.repeat(src)
    for i, v in zip(places_along(self.shape, dim, index), given):
        numbers[i] = v
    return self.like(self.shape, numbers)


def movedim(self, source, destination):
    dims = [d for d in range(self.ndim) if d != source % self.ndim]
    dims.insert(destination % self.ndim, source % self.ndim)
    return self.permute(dims)


def expand_as(self, other):
    return self.expand(*other.shape)


def view_as(self, other):
    return self.view(*other.shape)


def unfold(self, dimension, size, step):
    count = (self.shape[dimension] - size) // step + 1
    parts = [self.narrow(dimension, i * step, size).movedim(dimension, -1) for i in range(count)]
    return stacked(parts, dimension)


def diagonal(self, offset=0, dim1=0, dim2=1):
    """A view of diagonals, along a new last dimension."""
    dim1, dim2 = dim1 % self.ndim, dim2 % self.ndim
    down, along = max(-offset, 0), max(offset, 0)
    steps = self.own_strides()
    count = max(0, min(self.shape[dim1] - down, self.shape[dim2] - along))
    kept = [d for d in range(self.ndim) if d not in (dim1, dim2)]
    start = self.offset + (down * steps[dim1] + along * steps[dim2] if count else 0)
    return self.viewed([self.shape[d] for d in kept] + [count], [steps[d] for d in kept] + [steps[dim1] + steps[dim2]], start)


def diag(self, diagonal_=0, **more):
    """The matrix of a vector, or a copy of the diagonal of a matrix."""
    offset = more.get("diagonal", diagonal_)
    if self.ndim != 1:
        return diagonal(self, offset).clone()
    n = self.shape[0] + abs(offset)
    made = Tensor((n, n), ("uniform", 0.0, 0.0), self.dtype)
    diagonal(made, offset).copy_(self)
    return made


def meshgrid(*tensors, indexing="ij"):
    tensors = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else tensors
    shape = [t.numel() for t in tensors]
    grids = [t.view([-1 if i == d else 1 for i in range(len(shape))]).stretched(shape)
             for d, t in enumerate(tensors)]
    return tuple(g.transpose(0, 1).clone() for g in grids) if indexing == "xy" and len(shape) > 1 else tuple(grids)


def broadcast_tensors(*tensors):
    shape = Size()
    for t in tensors:
        shape = broadcast(shape, t.shape)
    return tuple(t.stretched(shape) for t in tensors)


def pad(self, pad, mode="constant", value=None):
    """Constant padding only."""
    if not any(pad):
        return self
    if mode != "constant":
        raise Fault("pad(mode=%r) cannot be computed while tracing" % mode)
    for i in range(len(pad) // 2):
        d = self.ndim - 1 - i
        ends = [full([n if k == d else m for k, m in enumerate(self.shape)], value or 0, dtype=self.dtype)
                for n in (max(pad[2 * i], 0), max(pad[2 * i + 1], 0))]
        inner = self.narrow(d, max(-pad[2 * i], 0), self.shape[d] + min(pad[2 * i], 0) + min(pad[2 * i + 1], 0))
        self = joined([ends[0], inner, ends[1]], d)
    return self


# ---- products ----

def einsum(equation, *operands):
    operands = operands[0] if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else operands
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    names = inputs.split(",")
    if "." in equation or any(len(n) != t.ndim for n, t in zip(names, operands)):
        raise Fault("einsum('%s') cannot be computed while tracing" % equation)
    sizes = {c: n for name, t in zip(names, operands) for c, n in zip(name, t.shape)}
    if not arrow:
        output = "".join(sorted(c for c in sizes if inputs.count(c) == 1))
    summed = [c for c in sizes if c not in output]
    if math.prod(sizes.values()) > MAX_NUMBERS:
        raise Fault("einsum('%s') of this size is too large to compute while tracing" % equation)
    data = [(t.numbers(), list(zip(name, strides_of(t.shape)))) for name, t in zip(names, operands)]
    out = []
    for at in itertools.product(*[range(sizes[c]) for c in output]):
        where_ = dict(zip(output, at))
        total = []
        for over in itertools.product(*[range(sizes[c]) for c in summed]):
            where_.update(zip(summed, over))
            total.append(math.prod(v[sum(where_[c] * s for c, s in steps)] for v, steps in data))
        out.append(math.fsum(total) if operands[0].dtype.is_floating_point else sum(total))
    return Tensor([sizes[c] for c in output], out, operands[0].dtype)


def matmul(a, b):
    left, right = "ij"[-a.ndim:] if a.ndim < 3 else None, "jk"[:b.ndim] if b.ndim < 3 else None
    if a.ndim == 1:
        left = "j"
    if left and right:
        return einsum("%s,%s->%s" % (left, right, (left + right).replace("j", "")), a, b)
    lead = broadcast(a.shape[:-2], b.shape[:-2])
    a, b = (t.stretched(tuple(lead) + tuple(t.shape[-2:])) for t in (a, b))
    n = math.prod(lead)
    parts = [matmul(x, y) for x, y in zip(a.view(n, *a.shape[-2:]).unbind(), b.view(n, *b.shape[-2:]).unbind())]
    return stacked(parts).view(*lead, a.shape[-2], b.shape[-1])


def outer(a, b):
    return a.unsqueeze(1) * b.unsqueeze(0)


def solved(rows, right):
    """Least squares by normal equations and Gaussian elimination; undetermined unknowns are zero."""
    n, m = len(rows[0]), len(right[0])
    a = [[math.fsum(r[i] * r[j] for r in rows) for j in range(n)] + [
        math.fsum(r[i] * b[k] for r, b in zip(rows, right)) for k in range(m)] for i in range(n)]
    for i in range(n):
        best = max(range(i, n), key=lambda j: abs(a[j][i]))
        a[i], a[best] = a[best], a[i]
        if abs(a[i][i]) < 1e-12:
            a[i] = [0.0] * (n + m)
            continue
        a[i] = [v / a[i][i] for v in a[i]]
        for j in range(n):
            if j != i and a[j][i]:
                a[j] = [v - a[j][i] * w for v, w in zip(a[j], a[i])]
    return [v for row in a for v in row[n:]]


class Solution:
    def __init__(self, solution):
        self.solution = solution


def lstsq(a, b, **_):
    lead, (rows, n), m = a.shape[:-2], a.shape[-2:], b.shape[-1]
    if math.prod(lead) * rows * n * n > 1 << 24:
        raise Fault("lstsq of %s is too large to compute while tracing" % list(a.shape))
    left, right = a.reshape(-1, rows, n).tolist(), b.reshape(-1, rows, m).tolist()
    numbers = [v for x, y in zip(left, right) for v in solved(x, y)]
    return Solution(Tensor(tuple(lead) + (n, m), numbers, a.dtype))


def difference(self, n=1, dim=-1, **_):
    for _ in range(n):
        size = self.shape[dim]
        self = self.narrow(dim, 1, size - 1) - self.narrow(dim, 0, size - 1)
    return self


def one_hot(t, num_classes=-1):
    n = max(t.numbers()) + 1 if num_classes == -1 else num_classes
    return Tensor(tuple(t.shape) + (n,), [int(v == i) for v in t.numbers() for i in range(n)], DTYPES["int64"])


# ---- in place ----

def written(name):
    """x.name_() as x.copy_(x.name())."""
    def method(self, *args, **kwargs):
        if TRACER and TRACER.may_change(self):
            return TRACER.change(self, name + "_", args, kwargs)
        if contains_proxy(args) or contains_proxy(kwargs):
            return self.take_traced(Proxy.record("call_method", name, (Proxy(TRACER.tensor(self)),) + args, kwargs))
        return self.take(getattr(self, name)(*args, **kwargs))
    return method


def reshaped(name):
    """x.name_() that changes the shape only."""
    def method(self, *args):
        made = getattr(self, name)(*args).clone()
        self.check_write()
        self.shape = made.shape
        return self.restart(made.start)
    return method


def nan_to_num(self, nan=0.0, posinf=None, neginf=None):
    most = limits(self.dtype).max if self.dtype.is_floating_point else 0
    ends = {math.inf: most if posinf is None else posinf, -math.inf: -most if neginf is None else neginf}
    return self.like(self.shape, [nan if v != v else ends.get(v, v) for v in self.numbers()])


def wholes(kind):
    return kind if kind.is_floating_point else DTYPES["int64"]


METHODS = {
    "sum": reduced(lambda r: math.fsum(r) if r and isinstance(r[0], float) else sum(r), wholes),
    "mean": reduced(lambda r: math.fsum(r) / len(r), lambda k: k), "prod": reduced(math.prod, wholes),
    "any": reduced(any, lambda k: DTYPES["bool"]), "all": reduced(all, lambda k: DTYPES["bool"]),
    "amax": reduced(max, lambda k: k), "amin": reduced(min, lambda k: k), "std": deviation(True),
    "var": deviation(False), "norm": norm, "max": extreme(max, picked_by(max)), "min": extreme(min, picked_by(min)),
    "argmax": place_of_best(max), "argmin": place_of_best(min), "cumsum": running(operator.add),
    "cumprod": running(operator.mul), "sort": ordered, "argsort": lambda t, *a, **k: ordered(t, *a, **k)[1],
    "softmax": softmax, "clamp": clamp, "clip": clamp, "masked_fill": masked_fill, "split": split, "chunk": chunk,
    "narrow": narrow, "select": select, "unbind": unbind, "flip": flip, "roll": roll, "index_select": index_select,
    "repeat_interleave": repeat_interleave, "gather": gather, "scatter": scatter, "movedim": movedim,
    "moveaxis": movedim, "expand_as": expand_as, "view_as": view_as, "reshape_as": view_as, "unfold": unfold,
    "pad": pad, "diag": diag, "diagonal": diagonal, "matmul": matmul, "mm": matmul, "bmm": matmul, "outer": outer,
    "ger": outer, "dot": matmul, "mv": matmul, "diff": difference,
    "tril": MAKERS["tril"], "triu": MAKERS["triu"], "maximum": picked_by(max), "minimum": picked_by(min),
    "logical_and": logical(lambda a, b: a and b), "logical_or": logical(lambda a, b: a or b),
    "logical_xor": logical(operator.ne), "ravel": Tensor.flatten, "nelement": Tensor.numel,
    "swapaxes": Tensor.transpose, "swapdims": Tensor.transpose,
    "is_floating_point": lambda t: t.dtype.is_floating_point, "is_complex": lambda t: False,
    "element_size": lambda t: t.dtype.itemsize, "is_contiguous": lambda t, **_: True, "get_device": lambda t: -1,
    "stride": lambda t, d=None: tuple(strides_of(t.shape)) if d is None else strides_of(t.shape)[d],
    "new_zeros": lambda t, *s, dtype=None, **_: MAKERS["zeros"](*s, dtype=dtype or t.dtype),
    "new_ones": lambda t, *s, dtype=None, **_: MAKERS["ones"](*s, dtype=dtype or t.dtype),
    "new_empty": lambda t, *s, dtype=None, **_: MAKERS["empty"](*s, dtype=dtype or t.dtype),
    "new_full": lambda t, s, v, dtype=None, **_: full(s, v, dtype=dtype or t.dtype),
    "new_tensor": lambda t, v, dtype=None, **_: from_numbers(v, dtype=dtype or t.dtype),
    "half": lambda t: t.cast(DTYPES["float16"]), "bfloat16": lambda t: t.cast(DTYPES["bfloat16"]),
    "nan_to_num": nan_to_num,
    "unflatten": lambda t, dim, sizes: t.view(t.shape[:dim % t.ndim] + tuple(sizes) + t.shape[dim % t.ndim + 1:]),
}
METHODS.update({n: of_one(fn, True) for n, fn in REAL_FUNCTIONS.items()})
METHODS.update({n: of_one(fn, False) for n, fn in SAME_FUNCTIONS.items()})
METHODS.update({n: tested(fn) for n, fn in TESTS.items()})
METHODS.update({n: of_two(fn) for n, fn in TWO.items()})
METHODS.update({n + "_": written(n) for n in list(REAL_FUNCTIONS) + list(SAME_FUNCTIONS) + list(TWO) + [
    "clamp", "masked_fill", "scatter", "tril", "triu", "softmax"]})
METHODS.update({n + "_": reshaped(n) for n in ("squeeze", "unsqueeze", "transpose", "t", "permute")})
for _name, _method in METHODS.items():
    if _name not in {**vars(Arranged), **vars(Tensor)}:
        setattr(Tensor, _name, _method)

# torch's functions of Tensors, beside those that are methods.
def unique(t, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if dim is not None:
        raise Fault("unique is computed of all numbers, not along a dimension")
    found = t.numbers()
    kept = builtins.sorted(set(found))
    place = {v: i for i, v in enumerate(kept)}
    out = [t.like((len(kept),), kept)]
    if return_inverse:
        out.append(Tensor(t.shape, [place[v] for v in found], DTYPES["int64"]))
    if return_counts:
        out.append(Tensor((len(kept),), [found.count(v) for v in kept], DTYPES["int64"]))
    return out[0] if len(out) == 1 else tuple(out)


FUNCTIONS = {"unique": unique, "meshgrid": meshgrid, "einsum": einsum, "where": where, "broadcast_tensors": broadcast_tensors,
             "diag": diag, "one_hot": one_hot, "numel": Tensor.numel, "flatten": Tensor.flatten,
             "norm": norm}
