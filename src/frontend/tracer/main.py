"""main.py - read the request from standard input, trace the model, answer on standard output.

Request:  {"file", "class" or null, "info": {...}, "seconds", "filter": [steps], "ops": [rows of
          ops.def]}
Answer:   {"name", "modules", "attrs", "nodes", "defaults", "training", "confined"}
          or {"error": {"message", "path", "line", ...}}

The graph is that of evaluation. Where training computes something else, "training" has its modules,
attrs and nodes, or its error; else it is null. "confined" says whether the kernel keeps the file from
other processes. "defaults" lists arguments of forward that were left
to their defaults.
"""

FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
             "pty.spawn")


# Names of constructor parameters that the data set answers.
ANSWERS = {
    "info": None, "config": None, "cfg": None, "dataset_info": None, "data_info": None,
    "num_classes": "num_classes", "n_classes": "num_classes", "classes": "num_classes",
    "out_features": "num_classes", "output_dim": "num_classes", "out_dim": "num_classes",
    "num_features": "num_features", "n_features": "num_features", "in_features": "num_features",
    "input_dim": "num_features", "in_dim": "num_features", "image_size": "image_size",
    "in_channels": "in_channels",
}


def confine(steps):
    """From here on the kernel refuses what the filter says. False: it does not filter, or this Python
    cannot ask it to."""
    try:
        import ctypes
    except ImportError:
        return False

    class Program(ctypes.Structure):
        _fields_ = [("count", ctypes.c_ushort), ("steps", ctypes.c_char_p)]
    code = b"".join(struct.pack("=HBBI", op, yes, no, os.getpid() if k is None else k)
                    for op, yes, no, k in steps)
    no_new_privileges, set_filter, by_program = 38, 22, 2
    prctl = ctypes.CDLL(None).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    program = Program(len(steps), code)
    return bool(steps) and prctl(no_new_privileges, 1, 0, 0, 0) == 0 and prctl(
        set_filter, by_program, ctypes.addressof(program), 0, 0) == 0


def guard(event, args):
    """No network and no other programs: as the kernel has it, in words and with a place."""
    if event.startswith(FORBIDDEN):
        raise Fault("%s is not allowed while a model is read" % event)


def on_alarm(signum, frame):
    raise Fault("still running after %g s: a loop without end? --trace-seconds gives it more"
                % REQUEST["seconds"])


def load(path):
    """The file as a module; where it lies in a package, as a part of it."""
    folder, name = os.path.split(os.path.abspath(path))
    parts = [os.path.splitext(name)[0]]
    sys.path[:0] = [folder]
    sys.path.append(os.getcwd())  # models/net.py may say: from models.blocks import Block
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        parts.insert(0, name)
    if len(parts) > 1:
        sys.path.insert(1, folder)
        importlib.import_module(".".join(parts[:-1]))
    with open(path, "rb") as f:
        code = compile(f.read(), path, "exec")
    module = types.ModuleType(".".join(parts))
    module.__file__ = path
    module.__package__ = ".".join(parts[:-1])
    sys.modules[module.__name__] = module
    exec(code, module.__dict__)
    return module


def choose(module, name):
    own = {n: v for n, v in vars(module).items()
           if isinstance(v, type) and issubclass(v, Module) and v.__module__ == module.__name__}
    if name is None:
        if len(own) != 1:
            raise Fault("say which: FILE:CLASS with one of %s" % (", ".join(own) or "(no class)"))
        return next(iter(own.values()))
    if not callable(getattr(module, name, None)):
        import difflib
        near = difflib.get_close_matches(name, list(own), 1)
        raise Fault("no class '%s' in it; it has %s%s" % (
            name, ", ".join(own) or "none", "; did you mean '%s'?" % near[0] if near else ""))
    return getattr(module, name)


def build(cls, info):
    """The model, its required parameters answered from the data set."""
    given = {}
    for p in inspect.signature(cls).parameters.values():
        if p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        if p.name not in ANSWERS:
            raise Fault("%s needs '%s', which no data set tells: give it a default"
                        % (cls.__name__, p.name))
        field = ANSWERS[p.name]
        given[p.name] = info if field is None else info[field]
        if field and info[field] is None:
            raise Fault("%s needs '%s', which the data set '%s' does not have"
                        % (cls.__name__, p.name, info["name"]))
    model = cls(**given)
    if not isinstance(model, Module):
        raise Fault("%s gives %s and not a torch.nn.Module" % (cls.__name__, type(model).__name__))
    if "_modules" not in model.__dict__:
        raise Fault("%s does not call super().__init__()" % type(model).__name__)
    return model


def fault_of(e):
    """The message, and the innermost place in the user's own code."""
    if isinstance(e, SyntaxError):
        return {"message": "SyntaxError: %s" % e.msg, "path": e.filename, "line": e.lineno or 0,
                "col": e.offset or 0, "span": 0}
    text = str(e)
    if isinstance(e, MemoryError):
        text = text or "more than the limit of memory"
    message = text if isinstance(e, Fault) else ": ".join(filter(None, (type(e).__name__, text)))
    at, step = getattr(e, "at", None), e.__traceback__
    while step and not getattr(e, "at", None):
        code = step.tb_frame.f_code
        if is_users(code.co_filename):
            at = place(code.co_filename, step.tb_lineno, code, step.tb_lasti)
        step = step.tb_next
    return dict(at or {"path": REQUEST["file"], "line": 0, "col": 0, "span": 0}, message=message)


def traced(root, mode, constants=0):
    global TRACER
    root.train(mode)
    TRACER = Tracer(root, TABLES, mode, constants)
    try:
        TRACER.trace()
        return TRACER
    finally:
        TRACER = None


def traced_in_training(root, kept, evaluated):
    """None where it is what is evaluated; that graph then holds in both modes."""
    try:
        kept.restore()
        graph = traced(root, True).graph()
        both = one_graph(graph, evaluated.graph())
        if both:
            evaluated.nodes = both["nodes"]
            return None
        kept.restore()
        return traced(root, True, evaluated.constants).graph()
    except Exception as e:
        return {"error": fault_of(e)}


def answer():
    info = Info(REQUEST["info"])
    if info["image_size"] is not None:
        info["image_size"] = tuple(info["image_size"])
    cls = choose(load(REQUEST["file"]), REQUEST["class"])
    root = build(cls, info)
    kept = Kept(root)
    evaluated = traced(root, False)
    training = traced_in_training(root, kept, evaluated)
    return dict(evaluated.graph(), name=cls.__name__, defaults=evaluated.defaults,
                training=training, confined=CONFINED)


REQUEST = json.load(sys.stdin)
TABLES = Tables(REQUEST["ops"])
reply = os.fdopen(os.dup(1), "w", encoding="ascii")
os.dup2(2, 1)  # what the user's file prints is no part of the answer
install(TABLES)
CONFINED = confine(REQUEST["filter"])
sys.addaudithook(guard)
sys.setrecursionlimit(2000)
reply.write("\n")  # from here on time counts, ours and the parent's
reply.flush()
signal.signal(signal.SIGALRM, on_alarm)
signal.setitimer(signal.ITIMER_REAL, REQUEST["seconds"])
faulthandler.enable(reply)  # a crash, or a loop that no alarm ends, at least says where
faulthandler.dump_traceback_later(REQUEST["seconds"] + 1, file=reply, exit=True)
try:
    result = answer()
except BaseException as e:  # SystemExit too: a file must not end us unheard
    result = {"error": fault_of(e)}
signal.setitimer(signal.ITIMER_REAL, 0)
faulthandler.cancel_dump_traceback_later()
json.dump(result, reply, allow_nan=False)
reply.close()
sys.stdout.flush()
os._exit(0)
