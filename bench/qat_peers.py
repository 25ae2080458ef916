"""qat_peers.py - the others' side of bench/qat: quantisation-aware training of 16-64-32-32-5.

    qat_peers.py PEER TABLE.npz          PEER: jax, brevitas or hgq2; the table is bench/table's

Answers one line for each line of standard input, so that a script can take turns with ours:

    train BITS EPOCHS                    samples a second, after an epoch that warms up and compiles
    recipe BITS EPOCHS SEED WEIGHTS.npz  percent of the test rows right, trained on from float weights
    front BETA EPOCHS SEED               hgq2 with learned widths: "EBOPS PERCENT"; others: "-"

Everywhere: one processor, batches of 256, Adam with a rate of 1e-3, weights of each output channel with a scale of
their own, activations with one scale, BITS for weights and hidden activations, 8 bits for the input,
biases in float (hgq2: 12 bits). "recipe" lets the rate fall as a cosine and tests the last epoch.

jax is LSQ in plain JAX, a whole epoch compiled as one scan: nothing from Python is faster.
brevitas learns its scales too, from statistics (PARAMETER_FROM_STATS), as its users do at few bits.
hgq2 has scales that are powers of two; fixed widths here, set to fit the float network, then learnt.
"""
import os
import sys
import time

# Before anything is imported that counts processors and starts a thread for each.
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
os.environ.update(OMP_NUM_THREADS="1", KERAS_BACKEND="jax", JAX_PLATFORMS="cpu",
                  XLA_FLAGS="--xla_cpu_multi_thread_eigen=false")
import numpy

BATCH, RATE, FREE_RATE, INPUT_BITS = 256, 1e-3, 3e-3, 8
WIDTHS = (16, 64, 32, 32, 5)
LAYERS = len(WIDTHS) - 1


def bounds(bits, signed):
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def act_format(layer, bits):
    """Bits and sign of what a layer reads: the input has both signs, behind a ReLU there is one."""
    return (INPUT_BITS, True) if layer == 0 else (bits, False)


def float_weights(path, seed):
    """(weight, bias) of each layer, weights (out, in): from a file, or uniform as PyTorch begins."""
    if path:
        arrays = numpy.load(path)
        return [(arrays[w], arrays[w[:-len("weight")] + "bias"])
                for w in arrays.files if w.endswith("weight")]
    rng = numpy.random.default_rng(seed)
    return [tuple(rng.uniform(-1, 1, shape).astype(numpy.float32) / numpy.float32(i**.5)
                  for shape in ((o, i), (o,)))
            for i, o in zip(WIDTHS, WIDTHS[1:])]


def hidden(x, weights):
    """What each layer of the float network reads."""
    read = [x]
    for w, b in weights[:-1]:
        read.append(numpy.maximum(read[-1] @ w.T + b, 0))
    return read


class Peer:
    def __init__(self, table):
        self.x, self.y, self.xte, self.yte = (table[k] for k in ("xtr", "ytr", "xte", "yte"))
        self.steps = len(self.x) // BATCH

    def order(self, rng):
        return rng.permutation(len(self.x))[:self.steps * BATCH].reshape(self.steps, BATCH)

    def front(self, beta, epochs, seed):
        return "-"

    def train(self, bits, epochs):
        samples = int(epochs) * self.steps * BATCH
        return round(samples / self.fit(int(bits), int(epochs), 0, None)[0])

    def recipe(self, bits, epochs, seed, path):
        logits = self.fit(int(bits), int(epochs), int(seed), path)[1](self.xte)
        return f"{100 * (numpy.asarray(logits).argmax(1) == self.yte).mean():.3f}"


class Jax(Peer):
    def __init__(self, table):
        import jax
        import optax
        super().__init__(table)
        self.jax, self.optax, self.version = jax, optax, f"JAX {jax.__version__}"

    def start(self, bits, seed, path):
        """Steps as in the paper: twice the mean size over the root of the largest integer."""
        net = []
        weights = float_weights(path, seed)
        for k, (x, (w, b)) in enumerate(zip(hidden(self.x[:2048], weights), weights)):
            top_x, top_w = bounds(*act_format(k, bits))[1], bounds(bits, True)[1]
            net.append({"w": w.T, "b": b, "sx": numpy.float32(2 * abs(x).mean() / top_x**.5),
                        "sw": 2 * abs(w).mean(1) / numpy.float32(top_w**.5)})
        return self.jax.tree.map(self.jax.numpy.asarray, net)

    def fit(self, bits, epochs, seed, path):
        jax, np, optax = self.jax, self.jax.numpy, self.optax
        stop = jax.lax.stop_gradient
        x, y = np.asarray(self.x), np.asarray(self.y)

        def quantise(v, step, low, high, share):
            step = share * step + stop((1 - share) * step)
            level = np.clip(v / step, low, high)
            return (level + stop(np.round(level) - level)) * step

        def forward(net, v):
            for k, p in enumerate(net):
                low, high = bounds(*act_format(k, bits))
                v = quantise(v, p["sx"], low, high, (BATCH * v.shape[1] * high)**-.5)
                low, high = bounds(bits, True)
                w = quantise(p["w"], p["sw"], low, high, (p["w"].shape[0] * high)**-.5)
                v = v @ w + p["b"]
                v = jax.nn.relu(v) if k < LAYERS - 1 else v
            return v

        def loss(net, rows):
            logits = forward(net, x[rows])
            return optax.softmax_cross_entropy_with_integer_labels(logits, y[rows]).mean()

        rate = optax.cosine_decay_schedule(RATE, epochs * self.steps) if path else RATE
        adam = optax.adam(rate)

        def step(state, rows):
            value, slope = jax.value_and_grad(loss)(state[0], rows)
            change, memory = adam.update(slope, state[1])
            return (optax.apply_updates(state[0], change), memory), value

        epoch = jax.jit(lambda state, order: jax.lax.scan(step, state, order))
        rng = numpy.random.default_rng(seed)
        net = self.start(bits, seed, path)
        state, taken = (net, adam.init(net)), 0
        jax.block_until_ready(epoch(state, np.asarray(self.order(rng)))) # compiles; result unused
        for _ in range(epochs):
            order = np.asarray(self.order(rng))
            begin = time.perf_counter()
            state, _ = jax.block_until_ready(epoch(state, order))
            taken += time.perf_counter() - begin
        return taken, lambda rows: forward(state[0], np.asarray(rows))


class Brevitas(Peer):
    def __init__(self, table):
        import brevitas
        import torch
        super().__init__(table)
        torch.set_num_threads(1)
        self.torch = torch
        self.version = f"Brevitas {brevitas.__version__} (torch {torch.__version__})"

    def net(self, bits):
        import brevitas.nn as qnn
        from brevitas.inject.enum import ScalingImplType
        from brevitas.quant import (Int8ActPerTensorFloat, Int8WeightPerChannelFloat,
                                    Uint8ActPerTensorFloat)
        modules = [qnn.QuantIdentity(act_quant=Int8ActPerTensorFloat, bit_width=INPUT_BITS)]
        for i, o in zip(WIDTHS, WIDTHS[1:]):
            if i != WIDTHS[0]:
                modules.append(qnn.QuantReLU(act_quant=Uint8ActPerTensorFloat, bit_width=bits))
            modules.append(qnn.QuantLinear(
                i, o, bias=True, weight_quant=Int8WeightPerChannelFloat, weight_bit_width=bits,
                weight_scaling_impl_type=ScalingImplType.PARAMETER_FROM_STATS))
        return self.torch.nn.Sequential(*modules)

    def fit(self, bits, epochs, seed, path):
        torch = self.torch
        torch.manual_seed(seed)
        net = self.net(bits).train()
        linear = [m for m in net if hasattr(m, "weight")]
        with torch.no_grad():
            for m, (w, b) in zip(linear, float_weights(path, seed)):
                m.weight.copy_(torch.from_numpy(w))
                m.bias.copy_(torch.from_numpy(b))
                if hasattr(m.weight_quant, "init_tensor_quant"):
                    m.weight_quant.init_tensor_quant() # scales from these weights
        x, y = torch.from_numpy(self.x), torch.from_numpy(self.y).long()
        with torch.no_grad():
            net(x[:1024]) # begins the statistics of activations
        adam = torch.optim.Adam(net.parameters(), lr=RATE)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, epochs * self.steps)
        rng = numpy.random.default_rng(seed)

        def epoch(order):
            for rows in torch.from_numpy(order):
                adam.zero_grad(set_to_none=True)
                torch.nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
                adam.step()
                if path:
                    schedule.step()

        if not path:
            epoch(self.order(rng)[:100])
        begin = time.perf_counter()
        for _ in range(epochs):
            epoch(self.order(rng))
        taken = time.perf_counter() - begin
        net.eval()

        def logits(rows):
            with torch.no_grad():
                return torch.cat([net(part) for part in torch.from_numpy(rows).split(5000)]).numpy()
        return taken, logits


def fitting_bits(v, bits, signed, axis=None):
    """Integer bits with the least squared error, for a tensor or each slice along an axis."""
    low, high = bounds(bits, signed)
    over = None if axis is None else tuple(d for d in range(v.ndim) if d != axis)
    best, least = None, None
    for integer in range(-8, 8):
        step = 2.0**(integer - bits + signed)
        error = ((numpy.clip(numpy.round(v / step), low, high) * step - v)**2).sum(axis=over,
                                                                                  keepdims=True)
        better = error < least if best is not None else numpy.ones_like(error, bool)
        best = numpy.where(better, integer, best if best is not None else 0)
        least = numpy.where(better, error, least if least is not None else error)
    return best.astype(numpy.float32)


class Seconds:
    """Times epochs but the first, in which everything is compiled."""
    def __new__(cls, keras):
        class Timer(keras.callbacks.Callback):
            taken = 0

            def on_epoch_begin(self, epoch, logs=None):
                self.begin = time.perf_counter()

            def on_epoch_end(self, epoch, logs=None):
                self.taken += time.perf_counter() - self.begin if epoch else 0
        return Timer()


class Hgq2(Peer):
    def __init__(self, table):
        import keras
        from importlib.metadata import version
        super().__init__(table)
        self.keras = keras
        self.together = int(os.environ.get("STEPS_PER_EXECUTION", "10"))
        self.steps = self.steps // self.together * self.together
        self.version = (f"HGQ2 {version('hgq2')} (Keras {keras.__version__}, JAX {version('jax')},"
                        f" steps_per_execution {self.together})")

    def fixed(self, bits, weights):
        from hgq.config import QuantizerConfig, QuantizerConfigScope
        from hgq.constraints import Constant
        from hgq.layers import QDense

        def width(place, bits, signed, **more):
            return dict(place=place, k0=signed, b0=bits - signed, bc=Constant(bits - signed),
                        overflow_mode="sat", **more)
        tensor = dict(heterogeneous_axis=(), homogeneous_axis=None, default_q_type="kbi")
        channel = dict(heterogeneous_axis=(-1,), homogeneous_axis=None, default_q_type="kbi")
        with (QuantizerConfigScope(**width("weight", bits, 1, i0=0, **channel)),
              QuantizerConfigScope(**width("bias", 12, 1, i0=3, **tensor)),
              QuantizerConfigScope(**width("datalane", bits, 0, i0=3, **tensor))):
            first = QuantizerConfig(**width("datalane", INPUT_BITS, 1, i0=3))
            net = self.keras.Sequential([self.keras.layers.Input((WIDTHS[0],))] + [
                QDense(o, activation="relu" if k < LAYERS - 1 else None, beta0=0,
                       **({"iq_conf": first} if k == 0 else {}))
                for k, o in enumerate(WIDTHS[1:])])
        for k, (layer, x, (w, b)) in enumerate(
                zip(net.layers, hidden(self.x[:2048], weights), weights)):
            layer._kernel.assign(w.T)
            layer.bias.assign(b)
            for quantizer, i in ((layer.kq, fitting_bits(w.T, bits, 1, 1)),
                                 (layer.iq, fitting_bits(x, *act_format(k, bits)))):
                variable = quantizer.quantizer._i
                variable.assign(i.reshape(variable.shape))
        return net

    def free(self, beta):
        """Widths of every weight and activation learnt, by the settings of HGQ2's own example."""
        from hgq.config import QuantizerConfig, QuantizerConfigScope
        from hgq.layers import QDense
        from hgq.regularizers import MonoL1
        with (QuantizerConfigScope(place="all", k0=1, b0=3, i0=0, default_q_type="kbi",
                                   overflow_mode="sat_sym"),
              QuantizerConfigScope(place="datalane", k0=0, default_q_type="kif",
                                   overflow_mode="wrap", f0=3, i0=3)):
            first = {"iq_conf": QuantizerConfig(place="datalane", k0=1)}
            last = {"enable_oq": True,
                    "oq_conf": QuantizerConfig(place="datalane", k0=1, fr=MonoL1(1e-3))}
            return self.keras.Sequential([self.keras.layers.Input((WIDTHS[0],))] + [
                QDense(o, activation="relu" if k < LAYERS - 1 else None, beta0=beta,
                       **(first if k == 0 else last if k == LAYERS - 1 else {}))
                for k, o in enumerate(WIDTHS[1:])])

    def run(self, net, epochs, schedule, callbacks):
        from hgq.utils.dataset import Dataset
        keras, n = self.keras, self.steps * BATCH
        net.compile(keras.optimizers.Adam(schedule),
                    keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=True,
                    steps_per_execution=self.together)
        rows = Dataset(self.x[:n], self.y[:n], batch_size=BATCH, device="cpu:0", shuffle=True)
        net.fit(rows, epochs=epochs, verbose=0, callbacks=callbacks)

    def predict(self, net):
        return lambda rows: net.predict(rows, batch_size=10000, verbose=0)

    def fit(self, bits, epochs, seed, path):
        keras = self.keras
        keras.utils.set_random_seed(seed)
        net, seconds = self.fixed(bits, float_weights(path, seed)), Seconds(keras)
        rate = keras.optimizers.schedules.CosineDecay(RATE, epochs * self.steps) if path else RATE
        self.run(net, epochs if path else epochs + 1, rate, [seconds])
        return seconds.taken, self.predict(net)

    def front(self, beta, epochs, seed):
        from hgq.utils import trace_minmax
        from hgq.utils.sugar import FreeEBOPs
        self.keras.utils.set_random_seed(int(seed))
        net = self.free(float(beta))
        self.run(net, int(epochs), FREE_RATE, [FreeEBOPs()])
        trace_minmax(net, self.x, batch_size=10000, verbose=0)
        right = 100 * (self.predict(net)(self.xte).argmax(1) == self.yte).mean()
        return f"{sum(int(layer.ebops) for layer in net.layers)} {right:.3f}"


PEERS = {"jax": Jax, "brevitas": Brevitas, "hgq2": Hgq2}

if __name__ == "__main__":
    answers, sys.stdout = sys.stdout, sys.stderr # what libraries print is no answer
    peer = PEERS[sys.argv[1]](numpy.load(sys.argv[2]))
    print(peer.version, file=answers, flush=True)
    for line in sys.stdin:
        verb, *arguments = line.split()
        print(getattr(peer, verb)(*arguments), file=answers, flush=True)
