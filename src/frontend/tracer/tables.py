"""tables.py - the operations of ops.def and the dataset, from the request."""


class Info(dict):
    """info.num_classes and info["num_classes"]."""

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError("there is no '%s'; there is %s" % (name, ", ".join(self) or "nothing"))


class Signature:
    """"input:x, weight:w, bias:b=None": names, marks and defaults."""

    def __init__(self, text):
        self.names, self.marks, self.defaults, self.star = [], {}, {}, None
        for part in text.split(", ") if text else ():
            name, eq, default = part.partition("=")
            name, _, mark = name.partition(":")
            if name.startswith("*"):
                self.star = name[1:]
                continue
            self.names.append(name)
            self.marks[name] = mark
            if eq:
                self.defaults[name] = default

    def default(self, name, bound):
        text = self.defaults[name]
        return bound[text] if text in bound else ast.literal_eval(text)

    def bind(self, what, args, kwargs):
        """Values by name, in the order of the signature, as Python binds a call."""
        bound = {}
        if len(args) > len(self.names):
            raise Fault("%s takes at most %d arguments, got %d"
                        % (what, len(self.names), len(args)))
        for name, value in zip(self.names, args):
            bound[name] = value
        for name, value in kwargs.items():
            if name not in self.names:
                raise Fault("%s has no parameter '%s'; it takes %s"
                            % (what, name, ", ".join(self.names) or "none"))
            if name in bound:
                raise Fault("%s got its parameter '%s' twice" % (what, name))
            bound[name] = value
        for name in self.names:
            if name not in bound and name not in self.defaults:
                raise Fault("%s needs its parameter '%s'" % (what, name))
        for name in self.names:
            if name not in bound:
                bound[name] = self.default(name, bound)
        return {name: bound[name] for name in self.names}


class Tables:
    def __init__(self, ops):
        self.functions, self.methods, self.layers = {}, set(), {}
        self.first = {}  # name in torch.nn.functional -> torch.fx's target
        for op in ops:
            names = (op["functions"] or "").split()
            for name in names:
                self.functions[name] = Signature(op["call"] or "")
                if name.startswith("torch.nn.functional."):
                    self.first[name] = names[0]
            self.methods.update((op["methods"] or "").split())
            if op["module"]:
                self.layers[op["module"]] = Signature(op["ctor"])
