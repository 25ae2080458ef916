#!/usr/bin/env python3
"""Operations and layers in small networks: traced as torch.fx traces them, with PyTorch's outputs and gradients.

usage: operations.py CH TRACE_TOOL
"""
import os
import subprocess
import sys
import tempfile

from checks import check, finish

try:
    import numpy as np
    import torch
    from one_step import follow
    from torch_models import IS_OLD, graph_text
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch, trace_tool = map(os.path.abspath, sys.argv[1:3])
ROWS, FEATURES, CLASSES = 24, 16, 6
HEAD = """import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.utils import spectral_norm, weight_norm
from torch.nn.utils.parametrizations import spectral_norm as new_spectral_norm


class Scaled(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) * 2


"""
NETWORK = """class {name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 16)
        {init}
        self.out = nn.Linear({width}, 6)

    def forward(self, x):
        x = self.fc(x)
        {body}
        return self.out(x)


"""
NETWORKS = {  # by name: further layers, what comes to the last, the body of forward
    "Activations": ("self.p = nn.PReLU(16); self.m = nn.Mish(); self.g = nn.GLU()", 8,
                    "x = F.celu(self.m(self.p(x)), 0.5); x = self.g(x)"),
    "Functions": ("pass", 16, "x = torch.log1p(x.square()) * torch.sign(x); x = x.exp_(); x = torch.rsqrt(x + 1)"),
    "Logic": ("pass", 16, "m = (x > 0) & (x < 0.5) | torch.isnan(x); x = x.masked_fill(m, 0.25)"),
    "Norms": ("pass", 17, "n = torch.norm(x, dim=1, keepdim=True); x = torch.cat([F.normalize(x), n], 1)"),
    "Spread": ("pass", 16, "x = (x - x.mean(1, True)) / (x.std(1, keepdim=True) + 0.1) + torch.var(x, 1, keepdim=True)"),
    "Extremes": ("pass", 16, "x = x - x.amax(1, keepdim=True) + torch.logsumexp(x, 1, keepdim=True) * x.argmax(1, True) / 16"),
    "Several": ('self.register_buffer("i", torch.tensor([[0], [2]])); self.register_buffer("j", torch.tensor([3, 1, -1])); '
                'self.register_buffer("k", torch.tensor([1, 0, 1]))', 12,
                "y = x.view(-1, 2, 2, 4); x = x.view(-1, 4, 4)[:, self.i, self.j].flatten(1); "
                "x = torch.cat([x, y[:, self.k, :, self.j].permute(1, 0, 2).flatten(1)], 1)"),
    "Angles": ("pass", 1, "y = torch.flip(x, (1,)); x = F.cosine_similarity(x, y, dim=1).unsqueeze(1)"),
    "Gammas": ("pass", 16, "x = torch.lgamma(x.abs() + 1) - torch.digamma(x.square() + 1) + torch.erfc(x) * torch.erfinv(torch.tanh(x))"),
    "Parts": ("pass", 16, "x = torch.frac(x) + torch.sinc(x) + torch.copysign(x, x.flip(1)) + torch.xlogy(x, x.abs() + 1) + torch.fmax(x, x.roll(1, 1))"),
    "Vectors": ("pass", 15, "v = x[:, :15].view(-1, 5, 3); x = torch.cross(v, v.flip(1), dim=2).flatten(1)"),
    "Diagonals": ("pass", 16, "x = torch.diag_embed(x).sum(1) * torch.count_nonzero(F.relu(x), dim=1).unsqueeze(1)"),
    "Running": ("pass", 32, "x = torch.cat([torch.cumprod(x, 1), torch.logcumsumexp(x, 1)], 1)"),
    "Unpooled": ("self.p = nn.MaxPool2d(2, return_indices=True); self.u = nn.MaxUnpool2d(2)", 16,
                 "y, i = self.p(x.view(-1, 1, 4, 4)); x = self.u(y * 2, i).flatten(1)"),
    "Powers": ("self.p = nn.LPPool2d(2, 2); self.n = nn.LocalResponseNorm(2)", 4,
               "x = self.p(self.n(x.view(-1, 4, 2, 2))).flatten(1)"),
    "Volumes": ("self.n = nn.InstanceNorm3d(2, affine=True)", 16, "x = self.n(x.view(-1, 2, 2, 2, 2)).flatten(1)"),
    "Shuffled": ("self.s = nn.PixelShuffle(2); self.u = nn.PixelUnshuffle(4)", 16,
                 "x = self.u(self.s(x.view(-1, 4, 2, 2))).flatten(1); x = torch.roll(x, 3, 1)"),
    "Padded": ("self.r = nn.ReflectionPad2d(1); self.z = nn.ZeroPad2d((1, 0, 0, 1)); self.c = nn.Conv2d(1, 2, 3)", 50,
               "x = self.c(self.z(self.r(x.view(-1, 1, 4, 4)))); x = x.flatten(1)"),
    "Columns": ("self.u = nn.Unfold(2); self.f = nn.Fold((4, 4), 2)", 16,
                "x = self.f(self.u(x.view(-1, 1, 4, 4)).tanh()).flatten(1)"),
    "Volumes": ("self.t = nn.ConvTranspose3d(1, 2, 2); self.p = nn.MaxPool3d((1, 2, 2)); self.a = nn.AvgPool3d(1)", 12,
                "x = self.a(self.p(self.t(x.view(-1, 1, 2, 2, 4)))).flatten(1)"),
    "Larger": ("self.u = nn.Upsample(scale_factor=2, mode='bicubic'); self.t = nn.ConvTranspose1d(1, 1, 3, 2)", 129,
               "x = self.t(self.u(x.view(-1, 1, 4, 4)).view(-1, 1, 64)).flatten(1)"),
    "Masks": ("pass", 16, "x = torch.tril(x.view(-1, 4, 4)).flatten(1) + torch.zeros_like(x) + x.new_ones(16)"),
}
NETWORKS.update({
    "Einsum": ("self.w = nn.Parameter(torch.rand(2, 4, 3))", 6,
               "h = x.view(-1, 2, 2, 4); a = torch.einsum('bhid,bhjd->bhij', h, h); "
               "h = torch.einsum('bhij,bhjd->bihd', a.softmax(-1), h); x = torch.einsum('b i h d, h d e -> b h e', h, self.w).flatten(1)"),
    "Ordered": ("pass", 14, "v, i = torch.sort(x, dim=1, descending=True); t = torch.topk(x, 3, dim=1); "
                "x = torch.cat([v[:, :8], torch.gather(x, 1, i[:, 3:6]) * 2, t.values * t.indices], 1)"),
    "Placed": ("self.i = torch.tensor([0, 3, 3])", 22, "i = x.argmax(1, keepdim=True); m = torch.zeros_like(x).scatter_(1, i, 1.0); "
               "h = F.one_hot(i.squeeze(1), 16).float(); "
               "x = x * m - torch.scatter_add(x, 1, x.argsort(1)[:, :5], x.tanh()) + h; "
               "x = torch.cat([x, x[:, :6].index_add(1, self.i, x[:, 4:7], alpha=2)], 1)"),
    "Warped": ("self.l = nn.Linear(16, 6)", 16, "t = self.l(x).view(-1, 2, 3); y = x.view(-1, 1, 4, 4); "
               "x = F.grid_sample(y, F.affine_grid(t, y.size(), align_corners=False), padding_mode='border', align_corners=False).flatten(1)"),
    "Moments": ("pass", 16, "v, m = torch.var_mean(x, dim=1, keepdim=True); x = (x - m) / (v + 1)"),
})
OTHERWISE = {  # torch.fx has a layer, we have what it computes; or it cannot trace them
    "Put": ('self.register_buffer("i", torch.tensor([[0], [2]])); self.register_buffer("j", torch.tensor([3, 1]))', 16,
            "y = x.view(-1, 4, 4).clone(); y[:, self.i, self.j] = 0.5; x = x + y.flatten(1)"),
    "Copies": ('self.i = torch.tensor([3, 1, 2])', 19,
               "x = torch.cat([x, torch.tensor(x[:, :3]) * x.new_tensor(self.i)], 1)"),
    "Heads": ("self.q = nn.Linear(4, 4); self.k = nn.Linear(4, 4); self.v = nn.Linear(4, 4); self.c = nn.Linear(4, 3)", 9,
              "x = x.view(-1, 4, 4).transpose(0, 1); x = F.multi_head_attention_forward(x[:3], x, x, x.shape[-1], 2, None, "
              "torch.cat([self.q.bias, self.k.bias, self.v.bias]), None, None, False, 0, self.c.weight, self.c.bias, "
              "use_separate_proj_weight=True, q_proj_weight=self.q.weight, k_proj_weight=self.k.weight, "
              "v_proj_weight=self.v.weight, training=self.training)[0].transpose(0, 1).flatten(1)"),
    "Lengths": ("pass", 16, "n = len(x); x = x.view(int(n * 16 / (64 / 2 / 2)), 4, 4).reshape(int(n), 16); "
                "x = x + torch.linspace(0, 1, x.size(1), dtype=x.dtype) if torch.is_tensor(x) else x"),
    "Normed": ("self.c = weight_norm(nn.Conv1d(1, 3, 3, padding=1)); self.l = weight_norm(nn.Linear(48, 8), dim=None)", 8,
               "x = self.l(self.c(x.view(-1, 1, 16)).flatten(1))"),
    "Decoder": ("self.d = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, 0.0, 'gelu', batch_first=True), 2); "
                "self.e = nn.TransformerDecoderLayer(4, 1, 6, 0.0, norm_first=True); self.m = nn.Transformer.generate_square_subsequent_mask(4)", 16,
                "x = x.view(-1, 4, 4); y = self.d(x, x.tanh(), tgt_mask=self.m).permute(1, 0, 2); "
                "x = self.e(y, y[:2]).permute(1, 0, 2).flatten(1)"),
    "Whole": ("self.t = nn.Transformer(4, 2, 1, 1, 8, 0.0, batch_first=True); self.p = torch.tensor([[False, False, False, True]])", 16,
              "x = x.view(-1, 4, 4); x = self.t(x, x.relu(), memory_key_padding_mask=self.p.expand(x.size(0), 4)).flatten(1)"),
    "NormedEdges": ("self.c = weight_norm(nn.Conv2d(1, 3, 3, padding=1, padding_mode='reflect'))", 48,
                    "x = self.c(x.view(-1, 1, 4, 4)).flatten(1)"),
    "Middles": ("self.b = torch.tensor([-0.5, 0.1, 0.7])", 16, "m = x.median(dim=1, keepdim=True); k = torch.kthvalue(x, 3, dim=1, keepdim=True); "
                "x = x - m.values + k[0] * torch.bucketize(x, self.b) / 4"),
    "Products": ("self.w = nn.Parameter(torch.rand(4, 3, 2)); self.c = nn.Parameter(torch.randn(5, 4))", 26,
                 "h = x.view(-1, 4, 4); d = torch.cdist(h, self.c); t = torch.tensordot(h, self.w, dims=([1], [0])); "
                 "x = torch.cat([d.flatten(1)[:, :2], t.flatten(1)], 1)"),
    "Drawn": ("pass", 16, "n = torch.distributions.Normal(x, torch.exp(x) * 1e-9); x = n.rsample() + n.entropy() * 0.1"),
    "Chances": ("pass", 24, "d = torch.distributions.Normal(x[:, :8], F.softplus(x[:, 8:]) + 0.5); "
                "p = torch.distributions.Normal(torch.zeros_like(d.loc), torch.ones_like(d.scale)); "
                "x = torch.cat([d.log_prob(x[:, 8:]), torch.distributions.kl_divergence(d, p), p.log_prob(x[:, :8])], 1)"),
    "Derived": ("self.n = Scaled(16)", 16, "x = self.n(x)"),
    "Made": ("pass", 16, "x = nn.Softmax(dim=1)(nn.ReLU()(x)); x = nn.ReLU()(x - 0.1)"),
    "Types": ("pass", 16, "x = x.tanh() if x.dtype not in (torch.int64, torch.bool) else x.exp(); x = x * 2 if isinstance(x, torch.Tensor) else x; "
              "x = x + 1 if x.is_floating_point() else x; x = x.masked_fill(x > 1.5, torch.finfo(torch.float32).eps)"),
    "Grown": ("pass", 18, "x = torch.cat([torch.tensor([]), x, torch.FloatTensor([x.size(1), 2.5]).expand(x.size(0), 2)], 1)"),
    "Spectral": ("self.c = spectral_norm(nn.Conv1d(1, 3, 3)); self.t = spectral_norm(nn.ConvTranspose1d(3, 2, 2)); "
                 "self.l = new_spectral_norm(nn.Linear(30, 8))", 8,
                 "x = self.l(self.t(self.c(x.view(-1, 1, 16))).flatten(1))"),
}

ENDS = """class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 3), nn.Linear(2, 3)

    def forward(self, left, right, scale=2.0):
        return self.a(left) * scale + self.b(right)


class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(10, 4), nn.Linear(4, 3)

    def forward(self, ids, mask):
        h = self.table(ids) * mask.unsqueeze(-1)
        y = self.out(h.sum(1))
        return {"logits": y, "best": y.argmax(1), "states": (h, h.mean(1))}


class Chosen(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(5, 3)

    def forward(self, x):
        y = self.out(x)
        rows = torch.arange(len(x))
        return y[rows, y.argmax(1)], x[rows[:, None], [0, -1]]


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.EmbeddingBag(10, 4, padding_idx=0), nn.Linear(4, 3)

    def forward(self, ids):
        return self.out(self.table(ids))
"""


def named(y, name=""):
    """The tensors of a result, by the names under which they are written."""
    if isinstance(y, torch.Tensor):
        return {name or "output": y}
    pairs = y.items() if isinstance(y, dict) else ((str(i), v) for i, v in enumerate(y))
    head = name if name or isinstance(y, dict) else "output"
    return {k: v for key, part in pairs for k, v in named(part, head + "_" * bool(head) + key).items()}


def compare_ends(name, inputs, files):
    """Several inputs, integers, several results: all by their names."""
    net = getattr(nets, name)().eval()
    torch.save(net.state_dict(), "start.pt")
    with torch.no_grad():
        want = named(net(**inputs))
    np.savez("in.npz", **{k: v.numpy() for k, v in inputs.items()})
    np.save("in.npy", next(iter(inputs.values())).numpy())
    for file in files:
        out = "out.npz" if len(want) > 1 else "out.npy"
        done = subprocess.run([ch, "predict", f"nets.py:{name}", "--load", "start.pt", "--input", file, "--output", out],
                              capture_output=True, text=True)
        got = {} if done.returncode else np.load(out)
        got = {"output": got} if isinstance(got, np.ndarray) else dict(got)
        same = sorted(got) == sorted(want) and all(
            got[k].dtype == v.numpy().dtype and np.abs(got[k] - v.numpy()).max() <= 1e-5 for k, v in want.items())
        check(f"{name}: {file}, {', '.join(want)} {done.stderr if done.returncode else ''}", same)


def compare_graphs(name, cls):
    theirs = graph_text(cls)
    ours = subprocess.run([trace_tool, f"nets.py:{name}", str(CLASSES), str(FEATURES)], stdout=subprocess.PIPE, text=True)
    same = ours.stdout.rstrip("\n") == theirs
    check(f"{name}: the graph of torch.fx", same)
    if not same:
        print(ours.stdout, theirs, sep="\n")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    rng = np.random.RandomState(3)
    x = rng.randn(ROWS, FEATURES).astype("<f4")
    y = np.arange(ROWS) % CLASSES
    np.savez("data.npz", X_train=x, y_train=y, X_test=x, y_test=y)
    np.save("x.npy", x)
    with open("nets.py", "w") as f:
        f.write(HEAD + "".join(NETWORK.format(name=name, init=init.replace("; ", "\n        "), width=width,
                                              body=body.replace("; ", "\n        "))
                               for name, (init, width, body) in {**NETWORKS, **OTHERWISE}.items()) + ENDS)
    sys.path.insert(0, folder)
    import nets
    for name in {**NETWORKS, **OTHERWISE}:
        if name in NETWORKS and not IS_OLD:
            compare_graphs(name, getattr(nets, name))
        follow(ch, name, nets, torch.from_numpy(x), torch.from_numpy(y))
    torch.manual_seed(5)
    ids, mask = torch.randint(0, 10, (130, 5)), torch.rand(130, 5) > 0.5
    compare_ends("Two", {"left": torch.randn(130, 4), "right": torch.randn(130, 2)}, ["in.npz"])
    compare_ends("Masked", {"ids": ids, "mask": mask}, ["in.npz"])
    compare_ends("Chosen", {"x": torch.randn(130, 5)}, ["in.npz", "in.npy"])
    compare_ends("Tokens", {"ids": ids}, ["in.npz", "in.npy"])
finish()
