"""Float networks of many kinds written as ONNX: onnx.checker, and ONNX Runtime's outputs, with its optimiser and without, beside
PyTorch's; and what is read again. Each is equal, refused by ch, or without a kernel in ONNX Runtime; none is another number.

usage: onnx_modules.py CH    status 77: no PyTorch, onnx or ONNX Runtime here, skipped
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
    import torch
except ImportError as lacking:
    print("skipped: %s" % lacking)
    sys.exit(77)

CH = os.path.abspath(sys.argv[1])
NETWORKS = r'''
import math
import torch
import torch.nn.functional as F
from torch import nn

class N01(nn.Module):
    shape = (16,)
    def forward(self, x):
        return torch.where(x>0, x, x*0.1)

class N02(nn.Module):
    shape = (3,8,8)
    def __init__(self):
        super().__init__()
        self.c=nn.Conv2d(3,6,3,padding='same')
        self.b=nn.BatchNorm2d(6)
    def forward(self, x):
        return F.relu(self.b(self.c(x))).flatten(1)

class N03(nn.Module):
    shape = (10,)
    def __init__(self):
        super().__init__()
        self.l=nn.Linear(10,10)
    def forward(self, x):
        return self.l(x)+x.mean(-1,keepdim=True)

class N04(nn.Module):
    shape = (5,12)
    def __init__(self):
        super().__init__()
        self.l=nn.Linear(12,7)
        self.n=nn.LayerNorm(7)
    def forward(self, x):
        return self.n(self.l(x)).transpose(1,2)

class N05(nn.Module):
    shape = (16,)
    def forward(self, x):
        return (x*torch.arange(16)).sum(1,keepdim=True)/16

class N06(nn.Module):
    shape = (16,)
    def forward(self, x):
        return torch.cat([x.sin(),x.cos(),x.abs().sqrt()],1)

class N07(nn.Module):
    shape = (4,9)
    def __init__(self):
        super().__init__()
        self.c=nn.Conv1d(4,8,3,stride=2,padding=1,groups=2,bias=False)
    def forward(self, x):
        return F.gelu(self.c(x)).amax(-1)

class N08(nn.Module):
    shape = (16,)
    def forward(self, x):
        return x.softmax(0)

class N09(nn.Module):
    shape = (16,)
    def forward(self, x):
        return x.log_softmax(-1)-x.exp().clamp(max=3)

class N10(nn.Module):
    shape = (2,6,6)
    def forward(self, x):
        return F.avg_pool2d(x,3,stride=2,padding=1,count_include_pad=False)+F.max_pool2d(x,3,2,1)

class N11(nn.Module):
    shape = (2,6,6)
    def forward(self, x):
        return F.adaptive_avg_pool2d(x,(2,3))

class N12(nn.Module):
    shape = (2,7,7)
    def forward(self, x):
        return F.avg_pool2d(x,2,ceil_mode=True)

class N13(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.view(-1,3,4).permute(0,2,1).reshape(x.shape[0],12)

class N14(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.double()*2.5

class N15(nn.Module):
    shape = (12,)
    def forward(self, x):
        return (x>0.5).float()+x.ge(0).int()

class N16(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x**3-2**x

class N17(nn.Module):
    shape = (12,)
    def forward(self, x):
        return torch.floor(x)+torch.ceil(x)-torch.round(x)+torch.sign(x)+torch.trunc(x)

class N18(nn.Module):
    shape = (12,)
    def forward(self, x):
        return F.hardswish(x)+F.mish(x)+F.softsign(x)+F.elu(x,0.7)+F.selu(x)+F.hardsigmoid(x)+F.leaky_relu(x,.3)

class N19(nn.Module):
    shape = (12,)
    def __init__(self):
        super().__init__()
        self.w=nn.Parameter(torch.randn(12,5))
        self.r=nn.Parameter(torch.randn(5))
    def forward(self, x):
        return x@self.w+self.r

class N20(nn.Module):
    shape = (4,6)
    def __init__(self):
        super().__init__()
        self.q=nn.Linear(6,6)
        self.k=nn.Linear(6,6)
        self.v=nn.Linear(6,6)
    def forward(self, x):
        a=(self.q(x)@self.k(x).transpose(-2,-1)/math.sqrt(6)).softmax(-1)
        return a@self.v(x)

class N21(nn.Module):
    shape = (12,)
    def __init__(self):
        super().__init__()
        self.b=nn.BatchNorm1d(12,affine=False)
    def forward(self, x):
        return self.b(x)

class N22(nn.Module):
    shape = (3,5)
    def __init__(self):
        super().__init__()
        self.b=nn.BatchNorm1d(3)
    def forward(self, x):
        return self.b(x).sum((1,2))

class N23(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.chunk(2,1)[0]*x[:,6:]

class N24(nn.Module):
    shape = (12,)
    def forward(self, x):
        return torch.stack([x,x*2],1)

class N25(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.unsqueeze(1).expand(-1,3,-1)*torch.tensor([1.,2.,3.]).view(1,3,1)

class N26(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.min(1).values+x.argmax(1)

class N27(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x/torch.tensor(3)-torch.tensor(2.5,dtype=torch.float64)

class N28(nn.Module):
    shape = (12,)
    def forward(self, x):
        return torch.sub(x,1,alpha=2)+torch.div(x,2,rounding_mode='floor')

class N29(nn.Module):
    shape = (2,4,4,4)
    def __init__(self):
        super().__init__()
        self.c=nn.Conv3d(2,3,2,bias=True)
    def forward(self, x):
        return F.adaptive_max_pool3d(self.c(x),1).flatten(1)

class N30(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.norm(dim=1,keepdim=True)+x.var(1,keepdim=True)

class N31(nn.Module):
    shape = (12,)
    def forward(self, x):
        return torch.erf(x)*x.reciprocal()+x.neg().exp().log1p()

class N32(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.to(torch.int64).to(torch.uint8).float()+(x*3).int()

class N33(nn.Module):
    shape = (12,)
    def forward(self, x):
        return F.relu6(x)+F.hardtanh(x,-0.5,2)+x.clamp(-1,1)+x.clamp(min=0.25)

class N34(nn.Module):
    shape = (12,)
    def forward(self, x):
        return F.gelu(x,approximate='tanh')+F.silu(x)+F.softplus(x)+F.tanhshrink(x)

class N35(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.mean()+x

class N36(nn.Module):
    shape = (2,5,5)
    def forward(self, x):
        return F.pad(x,(1,2,0,1)).mean((2,3))

class N37(nn.Module):
    shape = (2,5,5)
    def __init__(self):
        super().__init__()
        self.c=nn.ConvTranspose2d(2,3,3)
    def forward(self, x):
        return self.c(x)

class N38(nn.Module):
    shape = (12,)
    def forward(self, x):
        return F.layer_norm(x,(12,),eps=0.1)+F.normalize(x,dim=1)

class N39(nn.Module):
    shape = (12,)
    def forward(self, x):
        return (x.double()+1).sigmoid().relu().float()

class N40(nn.Module):
    shape = (1,)
    def __init__(self):
        super().__init__()
        self.l=nn.Linear(1,1)
    def forward(self, x):
        return self.l(x).squeeze(-1)

class N41(nn.Module):
    shape = (12,)
    def forward(self, x):
        return F.gelu(x,approximate='tanh')+F.silu(x)

class N42(nn.Module):
    shape = (12,)
    def forward(self, x):
        return F.relu6(x)+F.hardtanh(x,-0.5,2)

class N43(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.log_softmax(-1)-x.exp()

class N44(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.to(torch.float64)*2.5

class N45(nn.Module):
    shape = (12,)
    def forward(self, x):
        return (x.to(torch.float64)+1).sigmoid().relu()

class N46(nn.Module):
    shape = (12,)
    def forward(self, x):
        return F.gelu(x.to(torch.float64))

class N47(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.to(torch.float64).round().float()+x.to(torch.float64).erf().float()

class N48(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.to(torch.int64).relu()

class N49(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.to(torch.int32).neg()*x.to(torch.int32).abs()

class N50(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.to(torch.int64).sum(1)

class N51(nn.Module):
    shape = (12,)
    def forward(self, x):
        return (x*10).to(torch.int64).amax(1)+(x*10).to(torch.uint8).amin(1)

class N52(nn.Module):
    shape = (12,)
    def forward(self, x):
        return (x*10).to(torch.int32)**2

class N53(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.to(torch.bool).sum(1)

class N54(nn.Module):
    shape = (12,)
    def forward(self, x):
        return torch.cat([x,x.to(torch.int64)],1)

class N55(nn.Module):
    shape = (12,)
    def forward(self, x):
        return torch.sigmoid((x*3).to(torch.int64))

class N56(nn.Module):
    shape = (12,)
    def forward(self, x):
        return (x*3).to(torch.int64)/2

class N57(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.reciprocal()*x.sqrt()

class N58(nn.Module):
    shape = (12,)
    def __init__(self):
        super().__init__()
        self.e=nn.Embedding(20,3)
    def forward(self, x):
        return self.e((x.abs()).long())

class N59(nn.Module):
    shape = (12,)
    def __init__(self):
        super().__init__()
        self.register_buffer("c",torch.arange(12,dtype=torch.int32))
    def forward(self, x):
        return (x*self.c-self.c).pow(2)

class N60(nn.Module):
    shape = (3,4,5)
    def forward(self, x):
        return x.mean((1,-1))+x.permute(0,3,1,2).amax((1,2,3)).unsqueeze(1)

class N61(nn.Module):
    shape = (6,8)
    def __init__(self):
        super().__init__()
        self.a=nn.Linear(8,8,bias=False)
        self.n=nn.LayerNorm((6,8),elementwise_affine=False)
    def forward(self, x):
        return self.n(self.a(x)+x)

class N62(nn.Module):
    shape = (6,8)
    def forward(self, x):
        return x@x.transpose(1,2)

class N63(nn.Module):
    shape = (12,)
    def forward(self, x):
        return 1/x-3//1+2-x

class N64(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.sin()+x.cos()+F.selu(x)*True

class N65(nn.Module):
    shape = (12,)
    def forward(self, x):
        return torch.tanh(x)*1e40

class N66(nn.Module):
    shape = (2,6)
    def forward(self, x):
        return F.max_pool1d(x,3,stride=1,padding=1,dilation=1)+F.avg_pool1d(x,3,1,1)

class N67(nn.Module):
    shape = (2,9)
    def forward(self, x):
        return F.max_pool1d(x,2,stride=2,dilation=3)

class N68(nn.Module):
    shape = (12,)
    def forward(self, x):
        return x.sum(-1).unsqueeze(-1)*x

class N69(nn.Module):
    shape = (1,)
    def forward(self, x):
        return torch.cat([x,x,x],-1).sum(1)

class N70(nn.Module):
    shape = (4,4)
    def forward(self, x):
        return x.flatten(1).reshape(-1,2,8).softmax(dim=1)
'''


def fill(module):
    """Weights, and statistics that are none of the default's."""
    for p in module.parameters():
        p.data.normal_(0, 0.5)
    for name, b in module.named_buffers():
        if name.endswith("running_var"):
            b.data.uniform_(0.5, 2)
        elif name.endswith("running_mean"):
            b.data.normal_()
    torch.save(module.state_dict(), "w.pt")
    return ["--load", "w.pt"] if len(module.state_dict()) else []


def runtime(x, optimise):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    if not optimise:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession("net.onnx", options, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def differs(y, wanted):
    if y.shape != wanted.shape or y.dtype != wanted.dtype:
        return "%s %s, not %s %s" % (y.dtype, y.shape, wanted.dtype, wanted.shape)
    if not np.allclose(y, wanted, rtol=1e-4, atol=1e-5, equal_nan=True):
        return "off by %g" % np.nanmax(np.abs(y.astype(np.float64) - wanted))
    return None


def judge(name, module):
    """How it is, and what is wrong."""
    words = ["--input-shape", ",".join(map(str, module.shape))] + fill(module)
    x = np.random.default_rng(1).normal(0, 1.5, (7,) + module.shape).astype(np.float32)
    run = subprocess.run([CH, "convert", "nets.py:" + name, "net.onnx", "--force", *words], capture_output=True, text=True, check=False)
    if run.returncode == 2:
        return "refused", [line for line in run.stderr.splitlines() if "cannot be" in line or "unknown" in line][:1]
    if run.returncode:
        return "wrong", run.stderr[-300:]
    with torch.no_grad():
        wanted = module(torch.tensor(x)).numpy()
    try:
        onnx.checker.check_model(onnx.load("net.onnx"), full_check=True)
    except Exception as why:  # a class for each of its checks
        return "wrong", "the checker: %s" % str(why)[:200]
    try:
        found = [differs(runtime(x, optimise), wanted) for optimise in (False, True)]
    except Exception as why:  # a class for each of its faults
        return ("no kernel" if "NOT_IMPLEMENTED" in str(why) else "wrong"), str(why)[:150]
    np.save("x.npy", x)
    run = subprocess.run([CH, "predict", "net.onnx", "--input", "x.npy", "--output", "y.npy", "--project", "p"], capture_output=True, text=True, check=False)
    again = None if run.returncode == 2 else run.stderr[-300:] if run.returncode else differs(np.load("y.npy").reshape(wanted.shape).astype(wanted.dtype), wanted)
    wrong = [w for w in found + [again] if w]
    return ("wrong", wrong) if wrong else ("equal", "")


def main():
    os.chdir(tempfile.mkdtemp())
    with open("nets.py", "w", encoding="utf-8") as f:
        f.write(NETWORKS)
    spec = importlib.util.spec_from_file_location("nets", "nets.py")
    nets = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(nets)
    torch.manual_seed(0)
    counts = {}
    for name in sorted(n for n in dir(nets) if n[0] == "N" and n[1:].isdigit()):
        how, why = judge(name, getattr(nets, name)().eval())
        counts[how] = counts.get(how, 0) + 1
        if how != "equal":
            print("%s %s: %s" % (name, how, why), flush=True)
    print(counts)
    sys.exit(1 if "wrong" in counts or counts.get("equal", 0) < 40 else 0)


main()
