"""numpy.py - a substitute if NumPy is not installed: numbers and small arrays, as models use to compute sizes."""


def array_of(v, dtype=None, **_):
    made = from_numbers(v) if not isinstance(v, Tensor) else v.clone()
    if dtype is None and made.dtype.name == "float32":
        return made.cast(DTYPES["float64"])
    return made if dtype is None else made.cast(as_dtype(dtype))


def of_numbers(scalar, method):
    """Apply a function to a number, or to each element of an array."""
    def function(v, *args, **kwargs):
        v = numbers_of(v)
        if is_number(v):
            return scalar(v, *args)
        return getattr(array_of(v), method)(*args, **kwargs)
    return function


def wide(make):
    def function(*args, dtype=None, **kwargs):
        made = make(*args, **kwargs)
        plain = DTYPES["float64"] if made.dtype.is_floating_point else made.dtype
        return made.cast(as_dtype(dtype) if dtype is not None else plain)
    return function


def prod(v, **kwargs):
    return math.prod(v) if isinstance(v, (tuple, list)) and all(map(is_number, v)) else array_of(v).prod(**kwargs)


def numpy_content():
    content = {name: of_numbers(fn, name) for name, fn in itertools.chain(REAL_FUNCTIONS.items(),
                                                                         SAME_FUNCTIONS.items())}
    content.update({
        "array": array_of, "asarray": array_of, "eye": wide(eye), "zeros": wide(MAKERS["zeros"]),
        "ones": wide(MAKERS["ones"]), "arange": wide(arange), "linspace": wide(linspace), "prod": prod,
        "floor": of_numbers(lambda v: builtins.float(math.floor(v)), "floor"),
        "ceil": of_numbers(lambda v: builtins.float(math.ceil(v)), "ceil"),
        "power": lambda a, b: a ** b if is_number(a) and is_number(b) else (
            a if isinstance(a, Tensor) else array_of(a)) ** b,
        "sum": lambda v, **k: sum(v) if isinstance(v, (tuple, list)) and all(map(is_number, v)) else
        array_of(v).sum(**k), "cumsum": lambda v: array_of(v).cumsum(0),
        "mean": lambda v, **k: array_of(v).mean(**k), "max": lambda v, **k: array_of(v).max(**k),
        "min": lambda v, **k: array_of(v).min(**k), "triu": MAKERS["triu"], "tril": MAKERS["tril"],
        "clip": lambda v, low, high: min(max(v, low), high) if is_number(v) else array_of(v).clamp(low, high),
        "concatenate": lambda v, axis=0: joined(list(v), axis), "stack": lambda v, axis=0: stacked(list(v), axis),
        "transpose": lambda v, *a: array_of(v).permute(*a) if a else array_of(v).T, "ndarray": Exposed,
        "pi": math.pi, "inf": math.inf, "nan": math.nan, "e": math.e, "newaxis": None, "integer": int,
        "float32": DTYPES["float32"], "float64": DTYPES["float64"], "int64": DTYPES["int64"], "int32": DTYPES["int32"],
        "uint8": DTYPES["uint8"], "bool_": DTYPES["bool"], "float": DTYPES["float64"], "int": DTYPES["int64"],
        "sign": of_numbers(sign, "sign"), "isscalar": is_number, "log2": of_numbers(math.log2, "log2"),
    })
    return content
