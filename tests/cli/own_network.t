# One network four ways, .py, .mg, a list of layers and C: trained, tested and quantised, they are the
# same to the last bit.
own=$SOURCE/examples/own_network
cat $own/layers.toml $own/quantize.toml >layers.toml

"$OWN_NETWORK" 50 $own/quantize.toml c >"$T/out" 2>"$T/err"
status=$?
succeeds "in C"
sed '/^|/d' "$T/out" >"$T/shown"
cat >"$T/expected" <<'END_OF_OUTPUT'
11015 parameters
step 50: train_loss 1.2857, val_loss 1.1475, val_acc 0.6369
float: test_loss 1.1493, test_acc 0.6360
Compare nodes:
Quantized graph histogram:
quantised: test_loss 1.2305, test_acc 0.5663
END_OF_OUTPUT
same "what it comes to" "$T/expected" "$T/shown"

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
    out_has "$way: of the same accuracy" '^\| test_acc_epoch +\| +0\.6360'
    [ "$1" = --config ] || set -- "$@" --config $own/quantize.toml
    run transform "$@" --load $best --project $way
    succeeds "$way: quantised"
    holds "$way: to the same graph, weights and metadata" diff -r c/saved_mase_graph $saved
    run test "$@" --load $saved --project $way
    out_has "$way: of the same accuracy again" '^\| test_acc_epoch +\| +0\.5663'
}

same_as_c py $own/net.py:Test jsc
same_as_c mg $own/net.mg jsc
same_as_c layers --config layers.toml

"$OWN_NETWORK" 50 missing.toml d >"$T/out" 2>"$T/err"
status=$?
refused "no such configuration" '^missing\.toml: '
"$OWN_NETWORK" >"$T/out" 2>"$T/err"
status=$?
refused "nothing asked for" '^usage: own_network STEPS CONFIG\.toml FOLDER$'
