"""einops.py - einops in terms of reshape, permute, expand and reductions, so that a graph has these."""


class Pattern:
    """"b c (h p) -> b h (p c)": groups of names on both sides."""

    def __init__(self, text):
        left, arrow, right = text.partition("->")
        if not arrow:
            raise Fault("einops: '%s' has no arrow" % text)
        self.text, self.left, self.right = text, self.groups(left), self.groups(right)

    @staticmethod
    def groups(side):
        """"(h p)" is a group of two names; "1" and "()" are empty groups."""
        parts = re.findall(r"\([^()]*\)|[^\s()]+", side)
        return [[n for n in p.strip("()").split() if n != "1"] if p != "1" else [] for p in parts]


def spelt_out(x, text):
    """The pattern with names in place of ..., one for each remaining dimension."""
    if "..." not in text:
        return text
    rank = len(x.shape) if isinstance(x, Tensor) else decided(x, lambda v: len(v.shape))
    if rank is None:
        raise Fault("einops: '%s' is not followed: how many dimensions stand for ... is not known while tracing" % text)
    count = rank - len(Pattern.groups(text.partition("->")[0])) + 1
    return text.replace("...", " ".join("dots%d" % i for i in range(count)))


class Lengths:
    """The length of each name on the left side; shapes are asked for only if needed."""

    def __init__(self, x, pattern, given):
        self.x, self.pattern, self.known = x, pattern, dict(given)
        for group in pattern.left:
            unknown = [n for n in group if n not in given]
            if len(unknown) > 1:
                raise Fault("einops: '%s' leaves the lengths of %s open" % (pattern.text, ", ".join(unknown)))

    def __getitem__(self, name):
        if name not in self.known:
            i, group = next((i, g) for i, g in enumerate(self.pattern.left) if name in g)
            rest = math.prod(self.known[n] for n in group if n != name)
            size = self.x.shape[i] if isinstance(self.x, Tensor) else self.x.size(i)
            self.known[name] = size if len(group) == 1 else size // rest
        return self.known[name]


def product(values):
    total = 1
    for v in values:
        total = v if isinstance(total, int) and total == 1 else total * v
    return total


def rearranged(x, text, lengths, reduction=None, is_repeat=False):
    pattern = Pattern(spelt_out(x, text))
    names = [n for group in pattern.left for n in group]
    wanted = [n for group in pattern.right for n in group]
    sizes = Lengths(x, pattern, lengths)
    if any(len(g) != 1 for g in pattern.left):
        x = x.reshape(*[sizes[n] for n in names])
    kept = [n for n in wanted if n in names]
    gone = [n for n in names if n not in wanted]
    new = [n for n in wanted if n not in names]
    if (gone and not reduction) or (new and not is_repeat) or len(set(wanted)) < len(wanted):
        raise Fault("einops: '%s' does not have the same names on both sides" % text)
    if kept + gone != names:
        x = x.permute(*[names.index(n) for n in kept + gone])
    if gone:
        x = getattr(x, {"max": "amax", "min": "amin"}.get(reduction, reduction))(
            dim=tuple(range(len(kept), len(names))))
    for i, n in enumerate(wanted):
        if n in new:
            x = x.unsqueeze(i)
    if new:
        x = x.expand(*[sizes[n] if n in new else -1 for n in wanted])
    if any(len(g) != 1 for g in pattern.right):
        shape = [product(sizes[n] for n in g) for g in pattern.right]
        x = x.reshape(*shape)
    return x


def rearrange(tensor, pattern, **lengths):
    if isinstance(tensor, (list, tuple)):
        tensor = sys.modules["torch"].stack(list(tensor))
    return rearranged(tensor, pattern, lengths)


def repeat_axes(tensor, pattern, **lengths):
    return rearranged(tensor, pattern, lengths, is_repeat=True)


def reduce_axes(tensor, pattern, reduction, **lengths):
    return rearranged(tensor, pattern, lengths, reduction)


def pack_parts(text):
    """The number of axes before and after the star."""
    names = text.split()
    if names.count("*") != 1 or len(set(names)) < len(names):
        raise Fault("einops: '%s' needs one * among names that differ" % text)
    return names.index("*"), len(names) - 1 - names.index("*")


def rank_of(x):
    rank = x.ndim if isinstance(x, Tensor) else decided(x, lambda v: len(v.shape))
    if rank is None:
        raise Fault("einops: how many dimensions a tensor has is not known while tracing")
    return rank


def pack(tensors, pattern):
    """Reshape each to (before, one axis, behind) and join; also returns the shapes of the joined axes."""
    before, behind = pack_parts(pattern)
    flat, shapes = [], []
    for x in tensors:
        sizes = [x.shape[d] if isinstance(x, Tensor) else x.size(d) for d in range(rank_of(x))]
        if len(sizes) < before + behind:
            raise Fault("einops: pack(..., '%s') of a tensor of %d dimensions" % (pattern, len(sizes)))
        end = len(sizes) - behind
        shapes.append(tuple(sizes[before:end]))
        flat.append(x.reshape(*sizes[:before], product(sizes[before:end]), *sizes[end:]))
    return sys.modules["torch"].cat(flat, dim=before), shapes


def unpack(tensor, packed_shapes, pattern):
    before, behind = pack_parts(pattern)
    lengths = [product(shape) for shape in packed_shapes]
    if any(isinstance(n, int) and n == -1 for shape in packed_shapes for n in shape):
        raise Fault("einops: unpack with a length of -1 is not followed")
    sizes = [tensor.shape[d] if isinstance(tensor, Tensor) else tensor.size(d) for d in range(rank_of(tensor))]
    parts = sys.modules["torch"].split(tensor, lengths, dim=before)
    return [parts[i].reshape(*sizes[:before], *shape, *sizes[before + 1:]) for i, shape in enumerate(packed_shapes)]


class Rearrange(Module):
    def __init__(self, pattern, **lengths):
        super().__init__()
        self.pattern, self.lengths = pattern, lengths

    def forward(self, x):
        return rearrange(x, self.pattern, **self.lengths)


class Reduce(Module):
    def __init__(self, pattern, reduction, **lengths):
        super().__init__()
        self.pattern, self.reduction, self.lengths = pattern, reduction, lengths

    def forward(self, x):
        return reduce_axes(x, self.pattern, self.reduction, **self.lengths)


def einsum_axes(*args):
    """einops.einsum(a, b, "row inner, inner col -> row col") with names replaced by letters."""
    *operands, text = args
    if not isinstance(text, str):
        raise Fault("einops: the pattern of einsum stands last and is a text")
    names = [n for n in dict.fromkeys(re.findall(r"\w+", text))]
    letters = dict(zip(names, string.ascii_letters))
    if len(names) > len(letters):
        raise Fault("einops: '%s' has more than %d names" % (text, len(letters)))
    equation = re.sub(r"\w+", lambda m: letters[m[0]], text).replace(" ", "")
    return sys.modules["torch"].einsum(equation, *operands)


EINOPS = {
    "einops": {"pack": pack, "unpack": unpack, "rearrange": rearrange, "repeat": repeat_axes, "reduce": reduce_axes,
               "einsum": einsum_axes},
    "einops.layers": {}, "einops.layers.torch": {"Rearrange": Rearrange, "Reduce": Reduce},
}
