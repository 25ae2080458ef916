"""distributions.py - torch.distributions, as far as variational networks use it: a normal distribution by its parameters."""


class Normal:
    """rsample() is loc + scale noise, drawn anew for each sample; sample() the same without gradients."""

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = loc, scale
        self.mean = self.mode = loc
        self.stddev = scale

    @property
    def variance(self):
        return self.scale * self.scale

    def rsample(self, sample_shape=()):
        if tuple(sample_shape):
            raise Fault("Normal.rsample(%r): several for each sample are not followed" % (tuple(sample_shape),))
        if not isinstance(self.loc, Proxy) and not isinstance(self.scale, Proxy):
            raise Fault("a Normal that no sample decides is not followed")
        center = self.loc + self.scale * 0 if isinstance(self.scale, Proxy) else self.loc  # broadcast to the shape of both
        return self.loc + sys.modules["torch"].randn_like(center) * self.scale

    def sample(self, sample_shape=()):
        with no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value):
        log = sys.modules["torch"].log(self.scale) if isinstance(self.scale, (Proxy, Tensor)) else math.log(self.scale)
        return -((value - self.loc) ** 2) / (2 * self.variance) - log - math.log(math.sqrt(2 * math.pi))

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + sys.modules["torch"].log(self.scale)


def kl_divergence(p, q):
    if not isinstance(p, Normal) or not isinstance(q, Normal):
        raise Fault("kl_divergence is known of normals only")
    ratio = (p.scale / q.scale) ** 2
    log = sys.modules["torch"].log(ratio) if isinstance(ratio, (Proxy, Tensor)) else math.log(ratio)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - log)
