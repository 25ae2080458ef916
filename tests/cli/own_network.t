# One network four ways, .py, .mg, a list of layers and C: trained, tested and quantised, they are the
# same to the last bit.
own=$SOURCE/examples/own_network
cp "$own/layers.toml" layers.toml
cat "$own/layers.toml" "$own/quantize.toml" >quantised.toml

"$OWN_NETWORK" 50 "$own/quantize.toml" c >"$T/out" 2>"$T/err"
status=$?
succeeds "in C"
out_has "of this size" '^11015 parameters$'
float=$(sed -n 's/^float: .* test_acc //p' "$T/out")
quantised=$(sed -n 's/^quantised: .* test_acc //p' "$T/out")
holds "which learns something" awk "BEGIN { exit !($float > 0.5) }"
holds "and changes when quantised" test "$float" != "$quantised"

# What ch test came to, as the program in C prints it.
accuracy()
{
    awk '/test_acc_epoch/ { printf "%.4f", $4 }' "$T/out"
}

# same_as_c NAME MODEL...: the rest of the command line
same_as_c()
{
    way=$1
    shift
    best=mase_output/$way/software/training_ckpts/best.ckpt
    saved=mase_output/$way/software/transform/transformed_ckpt
    run train "$@" --max-steps 50 --batch-size 256 --learning-rate 1e-3 --project $way
    succeeds "$way: trained"
    holds "$way: to the same checkpoint" cmp c/best.ckpt $best
    run test "$@" --load $best --project $way
    holds "$way: of the same accuracy" test "$(accuracy)" = "$float"
    if [ "$1" = --config ]; then
        set -- --config quantised.toml
    else
        set -- "$@" --config "$own/quantize.toml"
    fi
    run transform "$@" --load $best --project $way
    succeeds "$way: quantised"
    holds "$way: to the same graph, weights and metadata" diff -r -x scaling.json -x SHA256SUMS c/saved_mase_graph $saved
    run test "$@" --load $saved --project $way
    holds "$way: of the same accuracy again" test "$(accuracy)" = "$quantised"
}

same_as_c py "$own/net.py:Test" jsc
same_as_c mg "$own/net.mg" jsc
same_as_c layers --config layers.toml

"$OWN_NETWORK" 50 missing.toml d >"$T/out" 2>"$T/err"
status=$?
refused "no such configuration" '^missing\.toml: '
"$OWN_NETWORK" >"$T/out" 2>"$T/err"
status=$?
refused "nothing asked for" '^usage: own_network STEPS CONFIG\.toml FOLDER$'
