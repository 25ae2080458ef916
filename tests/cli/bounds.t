# Sizes that a file only claims: every command says which node is too large, and takes no memory for
# it first.
# An address sanitizer takes more than that for its own books.
(ulimit -v 4000000 && "$CH" --version) >/dev/null 2>&1 && ulimit -v 4000000

# doubled N LENGTH: a network of N calls, each of which doubles its input
doubled()
{
    awk -v n="$1" -v first="$2" 'BEGIN {
        print "mase-graph 1\nname doubled\n\n%x = placeholder[target=x]"
        print "%cat = call_function[target=torch.cat](args = ([%" first ", %" first "], 1), kwargs = {})"
        for (i = 1; i < n; i++) {
            before = i == 1 ? "cat" : "cat_" (i - 1)
            printf "%%cat_%d = call_function[target=torch.cat](args = ([%%%s, %%%s], 1), kwargs = {})\n",
                i, before, before
        }
        print "return %cat_" (n - 1)
    }'
}

layer()
{
    printf 'mase-graph 1\nname wide\n\nmodule fc = %s\n\n%%x = placeholder[target=x]\n' "$1"
    printf '%%fc = call_module[target=fc](args = (%%x,), kwargs = {})\nreturn %%fc\n'
}

# ---- values that grow ----
doubled 70 x >long.mg
doubled 16 x >short.mg
too_many='the result f32\[[0-9]+, [0-9]+\] has more than 2\^31 values$'
run diff long.mg long.mg --dataset jsc
refused "diff does not run it" "^long.mg:25:32: running 'long.mg': cat_20: cat: $too_many"
run trace long.mg jsc
refused "nor does trace" "^long.mg:32:32: running 'long.mg': cat_27: cat: $too_many"
run train long.mg jsc --project t
refused "nor train" "^long.mg:[0-9]+:32: .*cat_[0-9]+: cat: $too_many"
run show long.mg jsc
succeeds "show needs no values"
err_has "and says why it has no shapes" "^WARNING .*cat_27: cat: $too_many"
printf 'model = "long.mg"\ndataset = "jsc"\n[passes.profile_statistics]\n' >profile.toml
run transform --config profile.toml
refused "nor do passes" "^long.mg:32:32: .*cat_27: cat: $too_many"
export MASE_MEMORY=200M
over='takes [0-9.]+ [MG]iB; a network may take 200.0 MiB here, which MASE_MEMORY sets$'
run diff short.mg short.mg --dataset jsc
refused "the reference keeps to the limit" "^short.mg:18:32: .*cat_13: its result, with all before it, $over"
run train short.mg jsc --project t
refused "and so do plans" "^short.mg:20:32: .*cat_15: running batches of [0-9]+ samples, with its result .*, $over"
unset MASE_MEMORY

# nothing, of a length that overflows
doubled 70 none | sed '4a %none = call_function[target=operator.getitem](args = (%x, slice(0, 0, None)), kwargs = {})' >none.mg
run show none.mg jsc
err_has "an empty value may not grow either" 'cat_27: cat: the result f32\[0, 4294967296\] has more than 2\^31 values$'

# ---- names ----
layer 'Linear(in_features=16, out_features=5)' |
    awk 'BEGIN { p = sprintf("%1000s", ""); gsub(/ /, "fc.", p) } { gsub(/fc/, p "fc"); print }' >deep.mg
run show deep.mg
refused "a tree is not deeper than its walks" "^deep.mg:4:8: the path 'fc.fc.*' has 1001 parts; at most 100 are possible$"

# ---- layers ----
layer 'Linear(in_features=2147483647, out_features=1)' >wide.mg
run train wide.mg jsc --project t
refused "the data are compared with a layer before it gets memory" '^wide.mg:7:26: .*fc: linear: '
cat >wide.py <<'END'
from torch import nn
class Wide(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2147483647, 1)
    def forward(self, x):
        return self.fc(x)
END
run train wide.py:Wide jsc --project t
refused "in Python, too" '^wide.py:5:[0-9]+: .*fc: linear: '
printf 'dataset = "jsc"\n[model]\nname = "Wide"\nlayers = ["Linear(2147483647, 1)"]\n' >wide.toml
run train --config wide.toml --project t
refused "and in a list of layers" '^(wide.toml:[0-9:]+|ch): .*linear: '
layer 'Linear(in_features=16, out_features=130000000)' >fits.mg
for action in "train fits.mg jsc --project t" "diff fits.mg fits.mg" "trace fits.mg jsc"; do
    MASE_MEMORY=2G run $action
    refused "what fits the data may still be too large: ${action%% *}" \
        "the memory of its weights, 'fc.weight' of \\[130000000, 16\\] above all, takes 8.2 GiB; a network may take 2.0 GiB here, which MASE_MEMORY sets$"
done
holds "nothing was written" sh -c '! [ -e mase_output ]'
