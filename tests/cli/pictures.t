# A folder of pictures by class: trained with what training does to pictures, tested and predicted as it was.
P=$SOURCE/tests/data/pictures
for k in 0 1 2 3 4 5; do
    mkdir -p photos/left photos/right
    cp "$P/colour.png" "photos/left/c$k.png"
    cp "$P/palette.png" "photos/left/p$k.png"
    cp "$P/grey.png" "photos/right/g$k.png"
    cp "$P/grey.JPG" "photos/right/j$k.JPG"
done
cat >c.toml <<'END'
dataset = "photos"
batch_size = 8
max_epochs = 2
learning_rate = 0.01
seed = 7
lr_schedule = "constant"
normalize = "auto"
augment = "flip,crop=1"
image_size = "5,8"
[model]
layers = ["Conv2d(3, 4, 3)", "ReLU()", "Flatten()", "Linear(72, 2)"]
[passes.report_graph]
END

run data info photos
succeeds "a folder"
out_has "its classes" '^Split +Rows +left +right$'
out_has "its pixels" '^features +p / 255$'
run data info photos --normalize auto --augment flip --image-size 5,8 --json
out_has "in another size" '"name": "photos"'
holds "which is shown" grep -Pzq '"sample": \[\s*3,\s*5,\s*8\s*\]' "$T/out"
run data info photos --image-size 5x8
refused "no size" "image size '5x8': expected height and width"
run data info photos --augment spin
refused "no augmentation" "augment 'spin': expected none, flip, crop=N"
for levels in 1e39/1 0.5/1e-46 0/1e-39 -1e39/1; do
    run data info photos --normalize="$levels"
    refused "beyond floats: $levels" "normalize: with a mean of [-0-9e.+]+ and a deviation of [-0-9e.+]+ pixels are beyond 32-bit floats"
done
run data info photos --normalize 1/0
refused "no deviation" "normalize '1/0': expected auto, imagenet"
run data info photos --image-channels 2
refused "no channels" 'pictures have 1 channel or 3'
run data info jsc-sim --augment flip
refuses "no pictures" ch --augment jsc-sim
run data info nowhere
refused "what is understood" 'or a file whose name ends in one of .*\.npz .*, a folder of pictures by class, or shape:3,224,224'

# weights PROJECT NAME: of its checkpoint, in PROJECT.npz
weights()
{
    run convert "$(find "mase_output/$1" -name "$2.ckpt")" "$1.npz" --force
}

run train --config c.toml --project one --threads 1
succeeds "trained"
one=$(find mase_output/one -name best.ckpt)
run train --config c.toml --project two --threads 2
weights one last
weights two last
holds "the same with two threads" cmp one.npz two.npz
run train --config c.toml --project halves --max-epochs 1
run train --config c.toml --project halves --max-epochs 2 --resume
weights halves last
holds "and in two halves" cmp one.npz halves.npz
run train --config c.toml --project halves --max-epochs 3 --resume --augment flip
refused "not resumed with another augmentation" 'cannot resume: the run did otherwise with the pictures'
run train --config c.toml --project plain --augment none
weights plain last
holds "augmentation counts" sh -c '! cmp -s one.npz plain.npz'

run convert "$one" net.mg
run test net.mg photos --load "$one" --project t --json
succeeds "tested without being told again"
grep -o '"test_loss_epoch": [0-9.]*' "$T/out" >"$T/expected"
run test net.mg photos --load "$one" --project t --normalize imagenet
refused "normalised as then" '--normalize contradicts .*best\.ckpt, which was trained with pixels normalised otherwise'
run transform --config c.toml --load "$one" --project s
succeeds "a folder is saved"
run test net.mg photos --load mase_output/s/software/transform/transformed_ckpt --project t --json
grep -o '"test_loss_epoch": [0-9.]*' "$T/out" >"$T/shown"
same "which remembers, too" "$T/expected" "$T/shown"

# What a network is given, and what was read: both written out, and read back.
run data export photos given.npz --image-size 5,8 --normalize auto
succeeds "exported"
run data export photos raw.npz --raw --image-size 5,8
succeeds "and raw"
run data info given.npz
out_has "with its splits" '^train +17 '
run data export photos x.csv
refused "no table" 'samples of photos have 3 dimensions, a \.csv file has one'
run data export photos x.txt
refused "no such file" 'ends in \.npz or \.csv'
run data export photos
refused "export where?" 'ch data export needs a dataset and a file'
printf 'a,b,kind\n' >t.csv
for k in 0 1 2 3 4 5 6 7 8 9; do printf '%s,1.25,%s\n%s,0.1,"a ""b"", c"\n' $k x $k; done >>t.csv
run data export t.csv:kind out.csv --raw --scaling standard
holds "numbers as they were" grep -qx 'train,.*,0.100000001,"a ""b"", c"' out.csv
run data info out.csv --split-by split --json
out_has "read back" '"test": 4'

run data export t.csv reg.npz --task reg --label a --features b
succeeds "numbers to predict"
run data info reg.npz --task reg --json
out_has "are read back" '"test": 4'

printf 'damaged' >photos/left/x.png
run data info photos
refused "a damaged file" '^photos/left/x\.png@0x0: neither a PNG nor a JPEG file'
