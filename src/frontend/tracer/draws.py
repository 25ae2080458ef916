"""draws.py - functions whose result differs at each call: random, NumPy's random numbers, clocks, the system's entropy.

While a network is built they work as usual. In forward they are refused by name: a graph has no such numbers, and would
keep those of the trace as constants. torch.rand and similar functions are operations of the graph.
"""

CLOCKS = ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time",
          "process_time_ns", "thread_time", "clock_gettime", "ctime", "localtime", "gmtime", "strftime")


def refuse_draw(name, frame, deep=False):
    """Fail if the user's forward calls it; deep: also through Python's own modules."""
    while deep and frame and frame.f_code.co_filename.startswith(STDLIB):
        frame = frame.f_back
    if TRACER is not None and frame and is_users(frame.f_code.co_filename):
        raise looked("forward takes a number from %s, which is another for each call: that is not followed%s" % (
            name, "" if "time" in name else "; torch.rand and torch.randn are"), here())


def guarded(fn, name, deep=False):
    @functools.wraps(fn)
    def function(*args, **kwargs):
        refuse_draw(name, sys._getframe(1), deep)
        return fn(*args, **kwargs)
    return function


def watch(module, names, deep=False):
    for name in names:
        fn = getattr(module, name, None)
        if callable(fn):
            setattr(module, name, guarded(fn, "%s.%s" % (module.__name__, name), deep))


class Generator:
    """A generator of NumPy, or of random, that the file holds."""

    def __init__(self, generator, name):
        self.__dict__.update(_generator=generator, _name=name, _made_by=TRACER)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if self._made_by is not TRACER:
            refuse_draw("%s.%s" % (self._name, name), sys._getframe(1))
        return getattr(self._generator, name)


def making(make, name):
    """random.Random(0) made in forward with a seed gives equal numbers in each call."""
    def function(*seed, **more):
        if not seed and not more:
            refuse_draw(name, sys._getframe(1))
        return Generator(make(*seed, **more), name)
    return function


def watch_numpy(module):
    makers = ("default_rng", "RandomState", "Generator")
    watch(module, [n for n in vars(module) if n[:1].islower() and n not in makers and not isinstance(
        vars(module)[n], types.ModuleType)])
    for name in makers:
        setattr(module, name, making(getattr(module, name), "numpy.random." + name))


class WatchedLoader:
    """Loads NumPy's module, and watches it afterwards."""

    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        watch_numpy(module)


def watch_draws():
    import datetime
    import time
    watch(time, CLOCKS)
    watch(random, [n for n in random.__all__ if n[:1].islower() and n != "getstate"])
    watch(os, ("urandom", "getrandom"), deep=True)
    random._urandom = os.urandom
    random.Random, random.SystemRandom = making(random.Random, "random.Random"), making(random.SystemRandom, "random.SystemRandom")

    day, moment = datetime.date, datetime.datetime

    class Date(day):
        today = classmethod(guarded(lambda cls: day.today(), "datetime.date.today"))

    class DateTime(moment):
        now = classmethod(guarded(lambda cls, tz=None: moment.now(tz), "datetime.datetime.now"))
        utcnow = classmethod(guarded(lambda cls: moment.utcnow(), "datetime.datetime.utcnow"))
        today = classmethod(guarded(lambda cls: moment.today(), "datetime.datetime.today"))
    datetime.date, datetime.datetime = Date, DateTime
