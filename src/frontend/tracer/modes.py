"""modes.py - one graph for training and evaluation where both are equal: forward is called once in each mode."""

FLAGS = ("training", "use_input_stats")  # arguments that tell the mode of a call
FOLLOWS = {"atom": "self.training"}


def placeless(v):
    """A recorded value without places in the source."""
    if isinstance(v, dict):
        return {k: placeless(i) for k, i in v.items() if k != "at"}
    return [placeless(i) for i in v] if isinstance(v, list) else v


def one_call(trained, evaluated):
    """A call that equals each of these in its mode, or None. Only training has detached gradients."""
    modes = {("follows", "follows"): "follows", ("eval", "follows"): "eval",
             ("follows", "train"): "train"}
    mode = modes.get((trained["mode"], evaluated["mode"]))
    follows = {k for (k, t), (name, e) in zip(trained["kwargs"], evaluated["kwargs"])
               if k == name and k in FLAGS and t is True and e is False}
    both, hers = (dict(node, mode=mode, no_grad=trained["no_grad"], kwargs=[
        [k, FOLLOWS if k in follows else v] for k, v in node["kwargs"]])
        for node in (evaluated, trained))
    return both if mode and placeless(both) == placeless(hers) else None


def one_graph(trained, evaluated):
    """A graph that equals each of these in its mode, or None."""
    if len(trained["nodes"]) != len(evaluated["nodes"]) or any(
            placeless(trained[k]) != placeless(evaluated[k]) for k in ("modules", "attrs")):
        return None
    nodes = [one_call(t, e) for t, e in zip(trained["nodes"], evaluated["nodes"])]
    return None if None in nodes else dict(evaluated, nodes=nodes)
