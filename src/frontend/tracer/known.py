"""known.py - names of torch that compute nothing: compilation, scripting, devices, seeds."""


def itself(fn=None, *_, **__):
    return fn


def decorator(*args, **_):
    """@name, @name() and @name(reason)."""
    return args[0] if len(args) == 1 and is_plain_code(args[0]) else itself


def compiled(model=None, **_):
    """torch.compile(net), and as a decorator with settings."""
    return itself if model is None else model


def nothing(*_, **__):
    return None


def no(*_, **__):
    return False


def seed(*_, **__):
    """Seeds are set by --seed."""
    if TRACER is not None:
        raise looked("forward seeds PyTorch's random numbers, which are drawn by --seed here: that is not followed", here())


class Context:
    """A context and decorator without effect."""

    def __init__(self, *_, **__):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __call__(self, fn):
        return fn


class CustomOp:
    """torch.library.custom_op: its function is traced."""

    def __init__(self, fn):
        self.fn = fn

    def __call__(self, *args, **kwargs):
        return self.fn(*args, **kwargs)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return decorator  # register_fake, register_autograd


def custom_op(name, fn=None, **_):
    return CustomOp if fn is None else CustomOp(fn)


class autocast(Context):
    def __init__(self, device_type="cuda", dtype=None, enabled=True, **_):
        if enabled and str(device_type).startswith("cpu"):
            raise Fault("autocast on the cpu computes in bfloat16, which is not followed")


class Subscripted:
    """Final[int] and similar, in annotations."""

    def __class_getitem__(cls, item):
        return cls


class FunctionContext:
    """The context that forward of a torch.autograd.Function gets, to save values for backward."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return nothing


class Function:
    """Its forward is traced; its own gradient is not."""

    @classmethod
    def apply(cls, *args):
        if TRACER and TRACER.mode and cls.backward is not Function.backward:
            raise Fault("%s has a gradient of its own, which is not followed in training" % cls.__name__)
        forward = cls.forward
        if hasattr(cls, "setup_context"):
            return forward(*args)
        return forward(FunctionContext(), *args)

    @staticmethod
    def backward(*_):
        raise Fault("a torch.autograd.Function without backward")


class Parametrised:
    """torch.nn.utils.weight_norm and others that reparametrise a layer."""

    def __init__(self, name):
        self.name = name

    def __call__(self, *_, **__):
        raise Fault("torch.nn.utils.%s is not supported" % self.name)


def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, context_fn=None,
               determinism_check=None, debug=False, **kwargs):
    """Checkpointing: the function is called."""
    return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, x, **_):
    for f in functions:
        x = f(x)
    return x


def set_default_dtype(d):
    if d is not DTYPES["float32"]:
        raise Fault("a default type of %r is not followed" % (d,))


def set_default_tensor_type(t):
    if "Float" not in str(getattr(t, "__name__", t)):
        raise Fault("a default type of tensors of %r is not followed" % (t,))


def assert_(condition, message=""):
    if contains_proxy(condition):
        Proxy.record("call_function", "torch._assert", (condition, message) if message else (condition,), {})
        return
    assert condition, message


def script_is(value, kind):
    return isinstance(value, kind)


def relax(parser):
    """A file that is imported has no command line: drop its required arguments."""
    for action in parser._actions:
        action.required = False
        action.nargs = {None: "?", "+": "*"}.get(action.nargs, action.nargs) if not action.option_strings \
            else action.nargs
    for group in parser._mutually_exclusive_groups:
        group.required = False


def watch_arguments():
    import argparse
    parse = argparse.ArgumentParser.parse_known_args

    def parse_known_args(self, args=None, namespace=None):
        relax(self)
        return parse(self, args, namespace)
    argparse.ArgumentParser.parse_known_args = parse_known_args


class Weights:
    """The result of torch.load, which is not read, because weights come with --load."""

    def __init__(self, at):
        self.at = at

    def __getitem__(self, _):
        return self

    get = pop = __getitem__

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: self

    def __iter__(self):
        return iter(())

    def __contains__(self, _):
        return True

    def __setitem__(self, *_):
        pass

    __delitem__ = __setitem__


def read_weights(*_, **__):
    return Weights(here())


NAMES = {
    "torch": {
        "compile": compiled, "_assert": assert_, "load": read_weights, "save": nothing,
        "set_num_threads": nothing, "set_num_interop_threads": nothing, "get_num_threads": lambda: 1,
        "set_printoptions": nothing, "use_deterministic_algorithms": nothing, "set_warn_always": nothing,
        "set_float32_matmul_precision": nothing, "set_default_device": nothing, "seed": seed,
        "set_default_dtype": set_default_dtype, "set_default_tensor_type": set_default_tensor_type,
        "get_default_dtype": lambda: DTYPES["float32"], "get_default_device": lambda: device("cpu"), "autocast": autocast, "manual_seed": seed,
        "is_autocast_enabled": no, "memory_format": Subscripted, "contiguous_format": None,
        "channels_last": None, "preserve_format": None, "strided": None, "initial_seed": lambda: 0,
        "get_rng_state": nothing, "set_rng_state": seed, "typename": lambda t: type(t).__name__,
        "_C": types.SimpleNamespace(_get_tracing_state=nothing, _log_api_usage_once=nothing,
                                    _jit_set_profiling_executor=nothing, _jit_set_profiling_mode=nothing),
    },
    "torch.jit": {
        "ignore": decorator, "unused": decorator, "export": decorator, "script": itself, "trace": itself,
        "script_method": itself, "interface": itself, "script_if_tracing": itself, "_overload": itself,
        "_overload_method": itself, "_script_if_tracing": itself, "is_scripting": no, "is_tracing": no,
        "Final": Subscripted, "Attribute": lambda value, kind: value, "ScriptModule": Module,
        "annotate": lambda kind, value: value, "isinstance": script_is, "optimize_for_inference": itself,
        "freeze": itself, "fork": lambda f, *a, **k: f(*a, **k), "wait": itself,
        "set_fusion_strategy": nothing, "enable_onednn_fusion": nothing, "ScriptFunction": Subscripted,
    },
    "torch._jit_internal": {"Final": Subscripted, "boolean_dispatch": nothing, "weak_module": itself,
                            "weak_script_method": itself, "_overload": itself,
                            "_overload_method": itself},
    "torch.compiler": {"disable": decorator, "is_compiling": no, "is_dynamo_compiling": no,
                       "allow_in_graph": itself, "assume_constant_result": itself, "reset": nothing,
                       "substitute_in_graph": decorator, "cudagraph_mark_step_begin": nothing},
    "torch._dynamo": {"disable": decorator, "allow_in_graph": itself, "is_compiling": no,
                      "optimize": decorator, "reset": nothing, "mark_dynamic": nothing,
                      "mark_static": nothing, "graph_break": nothing, "disallow_in_graph": itself,
                      "config": types.SimpleNamespace()},
    "torch.library": {"custom_op": custom_op, "register_fake": decorator, "impl": decorator, "define": nothing},
    "torch.fx": {"wrap": itself, "Proxy": Proxy},
    "torch.cuda": {"is_available": no, "device_count": lambda: 0, "manual_seed": seed,
                   "manual_seed_all": seed, "set_device": nothing, "empty_cache": nothing,
                   "synchronize": nothing, "is_bf16_supported": no, "is_initialized": no,
                   "get_device_capability": lambda *_: (0, 0)},
    "torch.cuda.amp": {"autocast": Context, "custom_fwd": decorator, "custom_bwd": decorator},
    "torch.amp": {"autocast": autocast, "custom_fwd": decorator, "custom_bwd": decorator},
    "torch.mps": {"is_available": no},
    "torch.accelerator": {"is_available": no, "device_count": lambda: 0, "current_accelerator": nothing},
    "torch.backends.mps": {"is_available": no, "is_built": no},
    "torch.backends.cudnn": {"is_available": no, "version": nothing},
    "torch.backends.cuda": {"is_built": no, "sdp_kernel": Context},
    "torch.backends": {}, "torch.xpu": {"is_available": no}, "torch.hub": {
        "load_state_dict_from_url": read_weights},
    "torch.utils.model_zoo": {"load_url": read_weights},
    "torch.utils.checkpoint": {"checkpoint": checkpoint, "checkpoint_sequential": checkpoint_sequential},
    "torch.autograd": {"Variable": itself, "Function": Function, "set_detect_anomaly": Context},
    "torch.autograd.function": {"Function": Function, "InplaceFunction": Function, "once_differentiable": itself},
    "torch.autograd.profiler": {"record_function": Context, "profile": Context},
    "torch.profiler": {"record_function": Context, "profile": Context},
    "torch.distributed": {"is_available": no, "is_initialized": no, "get_rank": lambda *_: 0,
                          "get_world_size": lambda *_: 1},
    "torch.overrides": {"has_torch_function": no, "has_torch_function_unary": no,
                        "has_torch_function_variadic": no, "is_tensor_like": no},
    "torch.onnx": {"is_in_onnx_export": no},
    "torch.distributions": {"Normal": Normal, "kl_divergence": kl_divergence},
    "torch.distributions.normal": {"Normal": Normal}, "torch.distributions.kl": {"kl_divergence": kl_divergence},
    "torch._utils": {}, "torch.types": {},
    "torch.utils._pytree": {"register_pytree_node": nothing, "_register_pytree_node": nothing},
    "torch.nn.utils": {"weight_norm": weight_norm, "spectral_norm": spectral_norm, **{
        n: Parametrised(n) for n in ("remove_weight_norm", "remove_spectral_norm")}},
    "torch.nn.utils.parametrizations": {"weight_norm": new_weight_norm, "spectral_norm": new_spectral_norm,
                                        "orthogonal": Parametrised("orthogonal")},
}
