# Integers in a network: 8 bits without sign wrap around, and what float32 does not hold is refused by a plan, computed in
# 64 bits by the reference.
{
    printf '\223NUMPY\001\000\166\000'
    printf "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }%80s" '' | head -c 117
    echo
    printf '\000\000@@\000\000\000@'
} >x.npy # 3 and 2
# network NAME NODES: of integers i
network()
{
    printf 'mase-graph 1\n%%x = placeholder[target=x]\n%s\n%%y = call_method[target=float](args = (%%i,), kwargs = {})\nreturn %%y\n' \
        "$2" >"$1.mg"
}
function() { printf '%%%s = call_function[target=%s](args = (%s,), kwargs = {})\n' "$1" "$2" "$3"; }
method() { printf '%%%s = call_method[target=%s](args = (%s,), kwargs = {})\n' "$1" "$2" "$3"; }
# gives NAME VALUES
gives()
{
    run predict "$1.mg" --input x.npy --output y.npy --project p --log-level error
    succeeds "$1"
    od -An -v -t f4 -j 128 y.npy | xargs >got; holds "$1: as PyTorch has it" sh -c "cat got; test \"\$(cat got)\" = \"$2\""
}
network bytes "$(method u to '%x, torch.uint8'; function i operator.mul '%u, 100')"
gives bytes "44 200"
network negative "$(method u to '%x, torch.uint8'; function i operator.neg '%u')"
gives negative "253 254"
network narrowed "$(method l long %x; function k operator.mul '%l, 100'; method i to '%k, torch.uint8')"
gives narrowed "44 200"
network wide "$(method l long %x; function i operator.mul '%l, 5000')"
gives wide "15000 10000"
network beyond "$(method l long %x; function k operator.mul '%l, 3001'; function i operator.mul '%k, 3001')"
run predict beyond.mg --input x.npy --output y.npy --project p
refused "a product that float32 does not hold" '^beyond\.mg:5:[0-9]+: i: sample 0 comes to an integer of [0-9]+; a plan'
network sums "$(method l long %x; function k operator.mul '%l, 4000000'; function i torch.sum '%k, 1, True')"
run predict sums.mg --input x.npy --output y.npy --project p
refused "nor a sum" '^sums\.mg:5:[0-9]+: i: sample 0 comes to an integer of 20000000; '
# what mixes the samples of a batch is run by the reference
network exact "$(method l int %x; function k operator.mul '%l, 1000000000'; function t torch.flip '%k, [0]'; function i operator.mul '%t, 3')"
gives exact "4.100654e+08 1.7050327e+09"
# A sum of truth values is one.
network either "$(function a operator.gt '%x, 0'; function b operator.gt '%x, 2.5'; function i operator.add '%a, %b')"
gives either "1 1"
network counted "$(function a operator.gt '%x, 2.5'; function k operator.add '%a, True'; function b operator.lt '%x, 0'; function i operator.add '%k, %b')"
gives counted "1 1"
