#!/usr/bin/env python3
"""One linear layer, its inputs, and what gptq makes of its weights and bias: NumPy's own inverse and
Cholesky factor, column by column as the paper has it. Run it here to write the .npy files anew."""
import numpy as np

rng = np.random.default_rng(7)
n, inputs, outputs = 96, 8, 6
mixed = rng.normal(size=(inputs, inputs))
x = (rng.normal(size=(n, inputs)) @ mixed + rng.normal(size=inputs)).astype(np.float32)
w = (0.4 * rng.normal(size=(outputs, inputs))).astype(np.float32)
b = rng.normal(size=outputs).astype(np.float32)


def fixed(v, width, fraction):
    v = np.asarray(v, np.float32).astype(np.float64)
    low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    return np.clip(np.rint(v * 2.0**fraction), low, high) / 2.0**fraction


def columns(weights, hessian, damping):
    """GPTQ: the upper Cholesky factor of the inverse says who takes over which error."""
    h = hessian + damping * np.diag(hessian).mean() * np.eye(len(hessian))
    upper = np.linalg.cholesky(np.linalg.inv(h)).T
    rest, out = weights.astype(np.float64).copy(), np.zeros(weights.shape)
    for i in range(weights.shape[1]):
        out[:, i] = fixed(rest[:, i], 3, 2)
        error = (rest[:, i] - out[:, i]) / upper[i, i]
        rest[:, i:] -= np.outer(error, upper[i, i:])
    return out


xf = x.astype(np.float64)
xq = fixed(x, 4, 0)
df, dq = xf - xf.mean(0), xq - xq.mean(0)
qq, fq = dq.T @ dq, df.T @ dq
damped = qq + 0.01 * np.diag(qq).mean() * np.eye(inputs)
wd = w.astype(np.float64)
refit = (wd + wd @ (fq - qq) @ np.linalg.inv(damped)).astype(np.float32)
q = columns(refit, qq, 0.01)
nearest = fixed(w, 3, 2)
error = lambda v: float(np.mean((df @ wd.T - dq @ v.T) ** 2))
bias = b + (xf @ wd.T).mean(0) - (xq @ q.T).mean(0)
print("errors: to nearest", error(nearest), "gptq", error(q))
for name, value in dict(x=x, w=w, b=b, q=q, bias=bias, errors=[error(nearest), error(q)]).items():
    np.save(name + ".npy", np.asarray(value, np.float32))
