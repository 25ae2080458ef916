"""Data of tests/unit/train/t_tasks.c and tests/cli/tasks.t, and what scikit-learn and PyTorch say of it.

X of an answers file is what a network is taken to have answered, y what was right. Prints the metrics as t_tasks.c
has them.
"""
import numpy as np
import torch
from sklearn import metrics as m

rows = 40
random = np.random.default_rng(12)


def write(name, x, y=None):
    arrays = {"X": x} if y is None else {"X": x, "y": y}
    np.savez_compressed(name, **arrays)


def said(name, **values):
    print(name, " ".join(f"{k} {float(v):.15g}" for k, v in values.items()))


def loss(kind, x, y, **options):
    f = getattr(torch.nn.functional, kind)
    return f(torch.tensor(x, dtype=torch.float64), torch.tensor(y), **options).item()


# one of two classes
x = np.round(random.normal(size=(rows, 1)), 3).astype("f4")
y = (x[:, 0] + random.normal(size=rows) > 0).astype("i8")
x[3] = x[7] = 0
write("answers_binary.npz", x, y)
said("binary", loss=loss("binary_cross_entropy_with_logits", x[:, 0], y.astype("f8")),
     score=m.accuracy_score(y, x[:, 0] > 0), auc=m.roc_auc_score(y, x[:, 0]), f1=m.f1_score(y, x[:, 0] > 0),
     precision=m.precision_score(y, x[:, 0] > 0), recall=m.recall_score(y, x[:, 0] > 0))

# several labels
x = np.round(random.normal(size=(rows, 3)), 3).astype("f4")
y = (x + random.normal(size=x.shape) > 0.3).astype("f4")
write("answers_multilabel.npz", x, y)
said("multilabel", loss=loss("binary_cross_entropy_with_logits", x, y.astype("f8")),
     score=m.f1_score(y, x > 0, average="micro"), f1_macro=m.f1_score(y, x > 0, average="macro"),
     auc_macro=m.roc_auc_score(y, x, average="macro"), exact_match=m.accuracy_score(y, x > 0))

# numbers
x = np.round(random.normal(size=(rows, 2)) * [1, 5] + [0, 10], 3).astype("f4")
y = (x + random.normal(size=x.shape) * [0.5, 2]).astype("f4")
write("answers_regression.npz", x, y)
said("regression", loss=loss("mse_loss", x, y.astype("f8")), l1=loss("l1_loss", x, y.astype("f8")),
     huber=loss("huber_loss", x, y.astype("f8"), delta=0.75),
     score=m.r2_score(y, x, multioutput="variance_weighted"), mae=m.mean_absolute_error(y, x),
     rmse=np.sqrt(((x.astype("f8") - y) ** 2).mean()), r2_mean=m.r2_score(y, x))

# a class at each position, of some none
x = np.round(random.normal(size=(rows, 3, 2, 2)), 3).astype("f4")
y = (x + 0.7 * random.normal(size=x.shape)).argmax(1)
y[::5, 0, 0], y[::7, 1, 1] = -100, -1
write("answers_segmentation.npz", x, y)
keep, best = y >= 0, x.argmax(1)
said("segmentation", loss=loss("cross_entropy", x, np.where(keep, y, -100)),
     score=m.accuracy_score(y[keep], best[keep]), mean_iou=m.jaccard_score(y[keep], best[keep], average="macro"))

# to train on: rows of x, and what follows from them
x = np.round(random.normal(size=(240, 4)), 3).astype("f4")
write("numbers.npz", x, np.stack([x[:, 0] - 2 * x[:, 1], x[:, 2] * x[:, 3]], 1).astype("f4"))
write("labels.npz", x, (x[:, :2] > 0).astype("i8"))
x = np.round(random.normal(size=(120, 1, 4, 3)), 3).astype("f4")
write("maps.npz", x, np.digitize(x[:, 0], [-0.5, 0.5]))
tokens = random.integers(0, 7, size=(200, 1))
for _ in range(7):
    follows = np.where(random.random(200) < 0.9, (tokens[:, -1] * 3 + 1) % 7, random.integers(0, 7, 200))
    tokens = np.concatenate([tokens, follows[:, None]], 1)
write("tokens.npz", tokens.astype("i4"))
np.save("points.npy", np.array([[0.5, 1], [1, 0], [0, 0]], dtype="f4"))
