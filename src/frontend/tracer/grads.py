"""grads.py - torch.no_grad, detach and other ways to stop gradients."""


class Grad:
    """torch.no_grad() and similar: as a context, decorator or call. A call that is recorded while gradients are off detaches
    its result."""
    enabled = True

    def __new__(cls, mode=None):
        if callable(mode) and not isinstance(mode, Proxy):  # @torch.no_grad without parentheses
            return cls()(mode)
        return super().__new__(cls)

    def __init__(self, mode=True):
        self.mode, self.before = bool(mode), []

    def __enter__(self):
        self.before.append(Grad.enabled)
        Grad.enabled = self.wanted()
        return self

    def __exit__(self, *_):
        Grad.enabled = self.before.pop()
        return False

    def __call__(self, fn):
        if isinstance(fn, type):
            raise Fault("%s is put on a class: put it on its methods" % type(self).__name__)

        @functools.wraps(fn)
        def wrapped(*args, **kwargs):
            with type(self)(self.mode):
                return fn(*args, **kwargs)
        return wrapped


class no_grad(Grad):
    def wanted(self):
        return False


class enable_grad(Grad):
    def wanted(self):
        return True


class inference_mode(Grad):
    def wanted(self):
        return Grad.enabled and not self.mode  # inference_mode(False) changes nothing


class set_grad_enabled(Grad):
    """Takes effect when called; as a context, until its end."""

    def __init__(self, mode):
        super().__init__(Grad.enabled if isinstance(mode, Proxy) else mode)  # x.requires_grad
        self.before.append(Grad.enabled)
        Grad.enabled = self.mode

    def __enter__(self):
        return self

    def __call__(self, fn):
        self.__exit__()
        return super().__call__(fn)
