# A saved folder: whole or refused, and never under another network's name.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME
printf 'model = "jsc-tiny"\ndataset = "jsc-sim"\nproject = "out"\n' >c.toml
run convert jsc-tiny tiny
succeeds "a folder"
run convert jsc-toy toys
succeeds "another"

{
    printf '\223NUMPY\001\000\166\000'
    printf "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 16), }%80s" '' | head -c 117
    echo
    head -c 128 /dev/zero | tr '\000' '?'
} >x.npy

# Every command that takes a model and --load.
each()
{
    what=$1 regex=$2
    shift 2
    run test "$@"
    refused "test: $what" "$regex"
    run predict "$@" --input x.npy --output y.npy
    refused "predict: $what" "$regex"
    run train "$@" --max-epochs 1 --debug
    refused "train: $what" "$regex"
    run transform "$@" --config c.toml
    refused "transform: $what" "$regex"
    holds "$what: nothing was written" test ! -e mase_output -a ! -e y.npy
}
each "a folder of another network" "/toys' holds the network jsc-toy and not jsc-tiny: .*name the folder as the model" \
    jsc-tiny jsc-sim --load toys
run trace jsc-tiny --load toys
refused "trace: a folder of another network" "holds the network jsc-toy and not jsc-tiny"

# Parts that are missing or were not saved together, with their sums and without, as earlier versions
# saved.
cp -r tiny partial
rm partial/state_dict.safetensors
each "no weights" '/partial/state_dict\.safetensors: .*is missing' jsc-tiny jsc-sim --load partial
run convert partial x.safetensors
refused "convert: no weights" 'partial/state_dict\.safetensors: '
rm partial/SHA256SUMS
each "no weights in an earlier save" '/partial: has no state_dict\.safetensors' jsc-tiny jsc-sim --load partial
run convert partial x.safetensors
refused "convert: no weights in an earlier save" 'partial/state_dict\.safetensors: '
rm -r partial
cp -r tiny partial
rm partial/node_meta_param.toml
each "no metadata" '/partial/node_meta_param\.toml: .*is missing' jsc-tiny jsc-sim --load partial
rm -r partial
run convert jsc-tiny other --seed 7
cp -r tiny mixed
cp other/state_dict.safetensors mixed
each "other weights" '/mixed/state_dict\.safetensors: .*was not saved together with' jsc-tiny jsc-sim --load mixed
rm mixed/SHA256SUMS
run test jsc-tiny jsc-sim --load mixed --project p
succeeds "an earlier save, whole"
holds "sums are what sha256sum says" sh -c 'cd tiny && sha256sum -c SHA256SUMS'

# A folder is a model.
rm -r mase_output
run test toys jsc-sim --project p
succeeds "a folder as the model"
holds "under its own name" grep -q '"name": "toys"' mase_output/p/software/test/run.json
run test jsc-toy jsc-sim --load toys --project q
succeeds "the same by name"
acc() { sed -n 's/.*"test_acc_epoch": //p' "mase_output/$1/software/test/run.json"; }
holds "measures the same" test "$(acc p)" = "$(acc q)"
run predict toys jsc-sim --input x.npy --output y.npy
succeeds "predict with a folder as the model"
run train toys/ jsc-sim --max-epochs 1 --project t
succeeds "train from a folder as the model"
run transform toys jsc-sim --config c.toml
succeeds "transform a folder as the model"
mkdir none
run test none jsc-sim
refuses "a folder without a network" ch none graph_module.mg
