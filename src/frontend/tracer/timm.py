"""timm.py - the parts of timm that networks use most, in case timm is not installed."""


class DropPath(Module):
    """In training some samples become zero, at random, and the others are scaled up."""

    def __init__(self, drop_prob=0.0, scale_by_keep=True):
        super().__init__()
        self.drop_prob, self.scale_by_keep = drop_prob, scale_by_keep

    def forward(self, x):
        return drop_path(x, self.drop_prob, self.training, self.scale_by_keep)


def drop_path(x, drop_prob=0.0, training=False, scale_by_keep=True):
    if not drop_prob or not training:
        return x
    keep = 1 - drop_prob
    kept = x.new_empty((x.shape[0],) + (1,) * (x.ndim - 1)).bernoulli_(keep)
    if keep > 0 and scale_by_keep:
        kept = kept / keep
    return x * kept


def to_ntuple(n):
    def repeated(x):
        return tuple(x) if hasattr(x, "__iter__") and not isinstance(x, (str, Proxy)) else (x,) * n
    return repeated


def make_divisible(v, divisor=8, min_value=None, round_limit=0.9):
    near = max(min_value or divisor, int(v + divisor / 2) // divisor * divisor)
    return near + divisor if near < round_limit * v else near


def register_model(function):
    return function


TIMM = {"DropPath": DropPath, "drop_path": drop_path, "to_ntuple": to_ntuple, "make_divisible": make_divisible,
        "register_model": register_model, **{"to_%dtuple" % n: to_ntuple(n) for n in (1, 2, 3, 4)}}
