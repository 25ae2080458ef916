"""main.py - read the request from standard input, trace the model, write the answer to standard output.

Request:  {"file" or module, "call" or null, "loss": is it a loss, "info": {...}, "seconds", "filter": [instructions],
          "ops": [rows of ops.def]}
Answer:   {"name", "modules", "attrs", "nodes", "defaults", "given", "passed", "decided", "training", "confined"}
          or {"error": {"message", "path", "line", ...}}

The graph is that of evaluation. If training differs, "training" has its modules, attrs and nodes, or its error; else it
is null. "confined": does the kernel keep the file from other processes? "defaults" lists arguments of forward that keep
their defaults; "given" names that the file uses without importing them; "passed" the statements that were skipped, as
{"path", "line", "message"}; "decided" the places that depended on the shape of a sample.
"""

FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork",
             "pty.spawn")


def confine(steps):
    """Install the seccomp filter. False: not supported by the kernel, or by this Python."""
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
    """Audit hook: refuse network and subprocesses, as the kernel does, but with a message and a place."""
    if event.startswith(FORBIDDEN):
        raise Fault("%s is not allowed while a model is read" % event)


def on_alarm(signum, frame):
    raise Late("still running after %g s: a loop without end? --trace-seconds gives it more"
               % REQUEST["seconds"])


def text_of(e):
    """The text of an exception. Traced values in it may have lost their names."""
    if isinstance(e, KeyError) and any(isinstance(a, Proxy) for a in e.args):
        return "a traced value finds no key while tracing; int() makes a number of it where it is known"
    try:
        return str(e)
    except Exception:
        return "about a traced value"


def fault_of(e):
    """The message, and the innermost place in the user's code."""
    if isinstance(e, SyntaxError):
        return {"message": "SyntaxError: %s" % e.msg, "path": e.filename, "line": e.lineno or 0,
                "col": e.offset or 0, "span": 0}
    text = text_of(e)
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


def traced_in_training(root, kept, evaluated):
    """The graph for training, or None if it equals that for evaluation, which then serves both modes. And whether calls
    change state, which they may do before they fail."""
    trained, graph, both = None, None, None
    stirs = kept.changed()
    try:
        kept.restore()
        root.train(True)
        kept.mark()
        trained = recorded(root, True)
        stirs = stirs or kept.changed()
        graph = trained.graph()
        both = one_graph(graph, evaluated.graph())
        if not both:
            kept.restore()
            root.train(True)
            graph = recorded(root, True, evaluated.constants).graph()
    except Exception as e:
        answer_for(e)
        trained, graph = None, {"error": fault_of(e)}
        stirs = stirs or kept.changed()
    fault = Calls(root, kept, evaluated, trained).check() if stirs else None
    if both:
        evaluated.nodes = both["nodes"]
    return fault or (None if both else graph)


def decisions(tracer):
    """Places where shapes decided the control flow of forward."""
    places = []
    for at in tracer.decisions:
        if at and not any(p["path"] == at["path"] and p["line"] == at["line"] for p in places):
            places.append(at)
    return places


SAMPLE = None  # shape of a sample


def answer():
    info = Info(REQUEST["info"])
    global SAMPLE
    SAMPLE = info["image_size"] if info["num_features"] is None else [info["num_features"]]
    if info["image_size"] is not None:
        info["image_size"] = tuple(info["image_size"])
    root, name = build(choose(load(REQUEST["file"]), REQUEST["call"]), info)
    kept = State(root)
    root.train(False)
    kept.mark()
    evaluated = recorded(root, False)
    check_layers(evaluated)
    training = traced_in_training(root, kept, evaluated)
    if LOOKED:
        raise LOOKED[0]
    return dict(evaluated.graph(), name=name, defaults=evaluated.defaults, passed=PASSED,
                decided=decisions(evaluated), given=GIVEN,
                training=training, confined=CONFINED)


def question(asked):
    """Send a question to the parent process."""
    reply.write("?%s\n" % json.dumps(asked, allow_nan=False))
    reply.flush()
    return json.loads(replies.readline())


REQUEST = json.loads(sys.stdin.readline())
replies = os.fdopen(os.dup(0), encoding="ascii")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # user code reads nothing
TABLES = Tables(REQUEST["ops"])
reply = os.fdopen(os.dup(1), "w", encoding="ascii")
os.dup2(2, 1)  # output of user code goes to stderr
install(TABLES)
CONFINED = confine(REQUEST["filter"])
sys.addaudithook(guard)
sys.setrecursionlimit(2000)
reply.write("\n")  # from here on both time limits run
reply.flush()
signal.signal(signal.SIGALRM, on_alarm)
signal.setitimer(signal.ITIMER_REAL, REQUEST["seconds"])
faulthandler.enable(reply)  # a crash, or a loop that no alarm interrupts, reports its place
faulthandler.dump_traceback_later(REQUEST["seconds"] + 1, file=reply, exit=True)
try:
    result = answer()
except BaseException as e:  # SystemExit too, so that the error is reported
    result = {"error": fault_of(e)}
signal.setitimer(signal.ITIMER_REAL, 0)
faulthandler.cancel_dump_traceback_later()
json.dump(result, reply, allow_nan=False)
reply.close()
sys.stdout.flush()
os._exit(0)
