# transcript.sh - what a user would see of a session, for comparison with a golden file. Sourced by
# scenarios; lines go to $T/transcript.
#
#     say ARGS...      run ch and keep its command line, its log and its results, without times,
#                      speeds, the instruction set, the configuration table and the project's path
say()
{
    echo "\$ ch $*" >>"$T/transcript"
    run "$@"
    succeeds "ch $1 $2"
    grep -v '^INFO  *\(Project will be\|Saved mase graph\)' "$T/err" |
        sed -E 's/, [0-9.]+ s, [0-9]+ samples\/s//; s/, [a-z0-9]+ with [0-9]+ threads?$//' \
            >>"$T/transcript"
    sed '/^| Name  *|  *Default /,/^| dataset /d' "$T/out" |
        grep -Ev '^(\+(-{25}|-{28})\+|\| (Also|samples|standard error|macro accuracy) )' \
            >>"$T/transcript" || :
}

# A network of one's own, ten times as large as jsc-toy, in jetnet.py.
write_jetnet()
{
    cat >jetnet.py <<'END'
import torch.nn as nn


class JetNet(nn.Module):
    def __init__(self, info, hidden=(64, 28)):
        super().__init__()
        widths = [info.num_features, *hidden, info.num_classes]
        layers = [nn.BatchNorm1d(widths[0]), nn.ReLU()]
        for n_in, n_out in zip(widths, widths[1:]):
            layers += [nn.Linear(n_in, n_out), nn.BatchNorm1d(n_out), nn.ReLU()]
        self.seq_blocks = nn.Sequential(*layers)

    def forward(self, x):
        return self.seq_blocks(x)


class Small(JetNet):
    def __init__(self, info):
        super().__init__(info, hidden=(8, 8))
END
}
