# Outputs for samples in a NumPy file: scaled or raw, float or quantised.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME
run train jsc-toy jsc-sim --max-epochs 1 --batch-size 512 --learning-rate 1e-2 --project p
best=mase_output/p/software/training_ckpts/best.ckpt
rm mase_output/p/run.json

# A NumPy file of this shape with so many values, all 0.5 (bytes 00 00 00 3f).
samples()
{
    printf '\223NUMPY\001\000\166\000'
    printf "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }%80s" "$1" '' | head -c 117
    echo
    i=0
    while [ $i -lt "$2" ]; do printf '\000\000\000\077'; i=$((i + 1)); done
}
samples '3, 16' 48 >x.npy
run predict jsc-toy --load $best --input x.npy --output y.npy
succeeds "predict"
holds "3 samples of 5 outputs" grep -q "'shape': (3, 5)" y.npy
record=$(echo mase_output/jsc-toy_classification_jsc-sim_*/software/predict/run.json)
for line in '"action": "predict"' '"samples": 3' '"outputs": 5' '"name": "jsc-sim"' 'y.npy",$' "\"sha256\": \"$(sha256sum y.npy | cut -d ' ' -f 1)\""; do
    holds "run.json: $line" grep -q "$line" "$record"
done
run predict jsc-toy jsc --load $best --input x.npy --output z.npy --threads 2
holds "the same with the dataset named and two threads" cmp y.npy z.npy
run predict jsc-toy --load $best --input x.npy --output raw.npy --raw
succeeds "raw samples"
holds "are scaled" sh -c '! cmp -s y.npy raw.npy'

# Files of data: columns by their names, scaled as in training, with labels or without.
K=$SOURCE/tests/data/data/kinds
cat >linear.mg <<'END'
mase-graph 1
name linear
module l = Linear(in_features=3, out_features=3)
%x : f32[1, 3] = placeholder[target=x]
%l : f32[1, 3] = call_module[target=l](args = (%x,), kwargs = {})
return %l
END
awk 'BEGIN { print "a,b,c,kind"; for (i = 0; i < 60; i++) print i % 7 "," i % 5 / 4 "," i % 11 - 3 "," substr("xyz", i % 3 + 1, 1) }' >train.csv
run train linear.mg train.csv:kind --scaling standard --max-epochs 2 --learning-rate 1e-2 --project d
succeeds "trained on columns"
load=mase_output/d/software/training_ckpts/best.ckpt
awk -F, 'NR > 1 { print NR "," $3 "," $2 "," $1 }
    NR == 1 { print "id,c,b,a" }' train.csv >other.csv
run predict linear.mg --load $load --input train.csv --output d1.npy
succeeds "a table"
err_has "is scaled, which is said" '^INFO +The features are scaled as in training$'
run predict linear.mg --load $load --input other.csv --output d2.npy
succeeds "columns in another order, without labels"
holds "give the same" cmp d1.npy d2.npy
holds "for all rows" grep -q "'shape': (60, 3)" d2.npy
head -n 2 other.csv >one.csv
run predict linear.mg --load $load --input one.csv --output d3.npy
succeeds "a single row"
printf 'a,b\n1,2\n' >short.csv
run predict linear.mg --load $load --input short.csv --output no.npy
refused "a column that is not there" "short.csv:1:1: there is no column 'c' for the features"
printf 'a,b,c\n1,2,3\n1,,3\n' >empty.csv
run predict linear.mg --load $load --input empty.csv --output no.npy
refuses "an empty cell" "$PWD/empty.csv:3:3" b --drop-nan
run predict linear.mg --load $load --input empty.csv --output d4.npy --drop-nan
err_has "left out, which is said" 'WARNING +.*1 row with a missing value is left out: there are fewer outputs than rows$'
run train linear.mg "$K/records.h5" --scaling minmax --max-epochs 1 --learning-rate 1e-2 --project h
load=mase_output/h/software/training_ckpts/best.ckpt
run predict linear.mg --load $load --input "$K/records.h5" --output h1.npy
succeeds "a table of HDF5"
run predict linear.mg --load $load --input "$K/records_text.h5" --output h2.npy
succeeds "another with the same columns"
holds "gives the same" cmp h1.npy h2.npy
# A quantised network that transform saved.
cat >q.toml <<'END'
model = "jsc-toy"
dataset = "jsc"
[passes.quantize]
by = "type"
default.config.name = "NA"
linear.config = { name = "integer", data_in_width = 8, data_in_frac_width = 4, weight_width = 8, weight_frac_width = 4, bias_width = 8, bias_frac_width = 4 }
END
run transform --config q.toml --load $best --project q
succeeds "quantise"
run predict jsc-toy --load mase_output/q/software/transform/transformed_ckpt --input x.npy --output q.npy
succeeds "a quantised network"
holds "computes with its formats" sh -c '! cmp -s y.npy q.npy'
run predict jsc-toy --load mase_output/q/software/transform/transformed_ckpt --input x.npy --output qraw.npy --raw
succeeds "raw samples, scaled as the folder says"
rm mase_output/q/software/transform/transformed_ckpt/scaling.json
run predict jsc-toy --load mase_output/q/software/transform/transformed_ckpt --input x.npy --output qraw.npy --raw
refused "raw samples without a scaling" 'does not say how its training data was scaled'

run train jsc-toy jsc-sim --load mase_output/q/software/transform/transformed_ckpt --max-epochs 1 --batch-size 512 --project qat
succeeds "train it in its formats"
run predict jsc-toy --load mase_output/qat --input x.npy --output t.npy
succeeds "it is saved with them"
err_has "and says so" 'best\.ckpt was trained quantised: its number formats are used'
holds "and has learnt" sh -c '! cmp -s q.npy t.npy'

rm -f y.npy
run predict jsc-toy --load $best --input x.npy
refused "no output" 'predict needs --output FILE'
run predict jsc-toy --input x.npy --output y.npy
refused "no weights" 'predict needs --load PATH'
samples '3, 15' 45 >bad.npy
run predict jsc-toy --load $best --input bad.npy --output y.npy
refused "samples of another shape" 'bad\.npy: its shape is \[3, 15\]; expected a row of samples, each \[16\]'
run train jsc-tiny jsc-sim --input x.npy
refuses "an option of predict only" ch --input X.npy train
holds "nothing was written" test ! -e y.npy

# Results are of the type that the network computes, by plans and by the reference, and scores are of their values.
run convert jsc-toy net.mg --dataset jsc-sim
# ends METHOD ARGUMENTS [METHOD ARGUMENTS]: the network with these methods behind it, in typed.mg.
ends()
{
    sed '$d' net.mg >typed.mg
    of=seq_blocks_10
    while [ $# -gt 1 ]; do
        echo "%of_$of = call_method[target=$1](args = (%$of$2), kwargs = {})" >>typed.mg
        of=of_$of
        shift 2
    done
    echo "return %$of" >>typed.mg
    run predict typed.mg jsc-sim --load $best --input x.npy --output typed.npy
}
reference='the plain reference runs the network'
ends argmax ', 1' # 0.5 everywhere: the same class three times
succeeds "classes by a plan"
holds "are integers" grep -q "'<i8'.*(3,)" typed.npy
ends cumsum ', 0' argmax ', 1'
err_has "classes by the reference" "$reference"
holds "are integers, too" grep -q "'<i8'.*(3,)" typed.npy
mv typed.npy classes.npy
ends argmax ', 1'
holds "and the same ones" cmp classes.npy typed.npy
ends gt ', 0.0'
holds "truth values are such" grep -q "'|b1'.*(3, 5)" typed.npy
ends to ', torch.float64'
err_has "doubles" "$reference"
holds "are doubles" grep -q "'<f8'.*(3, 5)" typed.npy
ends to ', torch.float64' float ','
holds "and back floats" grep -q "'<f4'.*(3, 5)" typed.npy
ends to ', torch.float64'
run test jsc-toy jsc-sim --load $best --project float
grep test_acc "$T/out" >accuracy
run test typed.mg jsc-sim --load $best --project double
succeeds "doubles are tested"
grep test_acc "$T/out" >double
holds "with the accuracy of floats" cmp accuracy double
