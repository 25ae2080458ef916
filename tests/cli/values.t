# Values that a network cannot compute with, and networks that the engine cannot plan: the right number
# or a refusal that says why, whoever runs it.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME

# net NAME INDEX...: an embedding of four rows, picked by what INDEX makes of the input x.
net()
{
    {
        printf 'mase-graph 1\nmodule e = Embedding(num_embeddings=4, embedding_dim=5)\n'
        printf '%%x = placeholder[target=x]\n'
        cat
        printf '%%e = call_module[target=e](args = (%%i,), kwargs = {})\n'
        printf '%%y = call_method[target=mean](args = (%%e, 1), kwargs = {})\nreturn %%y\n'
    } >"$1"
}
net good.mg <<'END'
%a = call_function[target=torch.abs](args = (%x,), kwargs = {})
%c = call_function[target=torch.clamp](args = (%a, 0.0, 3.0), kwargs = {})
%i = call_method[target=long](args = (%c,), kwargs = {})
END
net raw.mg <<'END'
%i = call_method[target=long](args = (%x,), kwargs = {})
END
net mixing.mg <<'END'
%m = call_function[target=torch.mean](args = (%x, 0), kwargs = {})
%z = call_function[target=operator.mul](args = (%m, 0.0), kwargs = {})
%s = call_function[target=operator.add](args = (%x, %z), kwargs = {})
%i = call_method[target=long](args = (%s,), kwargs = {})
END

# samples BYTES: two samples of sixteen 1.0, but for the last value, which is these four bytes.
samples()
{
    printf '\223NUMPY\001\000\166\000'
    printf "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 16), }%80s" '' | head -c 117
    echo
    i=0
    while [ $i -lt 31 ]; do printf '\000\000\200\077'; i=$((i + 1)); done
    printf "$1"
}
samples '\000\000\100\100' >three.npy
samples '\000\000\200\277' >minus.npy
samples '\000\000\306\102' >large.npy
samples '\000\000\300\177' >nan.npy

run train good.mg jsc-sim --max-epochs 1 --max-steps 5 --project p
succeeds "train an embedding"
best=mase_output/p/software/training_ckpts/best.ckpt

for model in raw mixing; do
    run predict $model.mg jsc-sim --load $best --input three.npy --output y_$model.npy
    succeeds "$model: indices in range"
    [ $model = raw ] || err_has "$model: the log says why it takes long" 'm: mean mixes the samples of a batch.*reference'
    for bad in 'minus -1' 'large 99' 'nan -9223372036854775808 \(what NaN becomes\)'; do
        run predict $model.mg jsc-sim --load $best --input ${bad%% *}.npy --output n.npy
        refused "$model: ${bad%% *}" "e: embedding: index ${bad#* } of sample [01] \(counted from 0\) is outside 0\.\.3"
        holds "$model: ${bad%% *} writes nothing" test ! -e n.npy
    done
done
run test raw.mg jsc-sim --load $best
refused "test" 'e: embedding: index -?[0-9]+ of sample [0-9]+ \(counted from 0\) is outside 0\.\.3'
run train raw.mg jsc-sim --max-epochs 1 --project q
refused "train" 'e: embedding: index -?[0-9]+ of sample [0-9]+ \(counted from 0\) is outside 0\.\.3'
run train mixing.mg jsc-sim --max-epochs 1 --project q
refused "train what cannot be planned" 'm: mean mixes the samples of a batch'

# Attention over what are samples, not positions.
cat >attention.mg <<'END'
mase-graph 1
module l = Linear(in_features=16, out_features=5)
%x = placeholder[target=x]
%a = call_function[target=torch.nn.functional.scaled_dot_product_attention](args = (%x, %x, %x), kwargs = {})
%l = call_module[target=l](args = (%a,), kwargs = {})
return %l
END
run train attention.mg jsc-sim --max-epochs 1 --project a
refused "attention on two dimensions" 'attention.mg:4:.*attends within samples.*has 2'
