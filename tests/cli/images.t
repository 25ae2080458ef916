# mnist and cifar10 files of a few hundred images, made here: training, testing, augmentation.
zeros() { head -c "$1" /dev/zero; }
# shellcheck disable=SC2059 # the format is the byte
octal() { printf "\\$(printf %03o "$1")"; }
# image CLASS SIZE STRIPE: black, but for one white stripe that tells the class.
image() { zeros $(($1 * $3)); zeros "$3" | tr '\0' '\377'; zeros $(($2 - ($1 + 1) * $3)); }
classes='0 1 2 3 4 5 6 7 8 9'
for c in $classes; do
    image "$c" 784 78 >"grey$c"
    { octal "$c"; image "$c" 3072 307; } >"colour$c"
done
cat grey[0-9] >ten_grey
cat colour[0-9] >ten_colour
for c in $classes; do octal "$c"; done >ten_labels
repeat() { for _ in $(seq "$1"); do cat "$2"; done; }
mkdir digits photographs
{ printf '\0\0\10\3\0\0\1\54\0\0\0\34\0\0\0\34'; repeat 30 ten_grey; } >digits/train-images-idx3-ubyte
{ printf '\0\0\10\1\0\0\1\54'; repeat 30 ten_labels; } >digits/train-labels-idx1-ubyte
{ printf '\0\0\10\3\0\0\0\144\0\0\0\34\0\0\0\34'; repeat 10 ten_grey; } | gzip >digits/t10k-images-idx3-ubyte.gz
{ printf '\0\0\10\1\0\0\0\144'; repeat 10 ten_labels; } | gzip >digits/t10k-labels-idx1-ubyte.gz
for b in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do
    repeat 4 ten_colour >photographs/$b.bin
done
ckpt() { echo "mase_output/$1/software/training_ckpts/last.ckpt"; }
column() { tail -n +2 "mase_output/$1/software/metrics.csv" | cut -d, -f"$2" | sort -u; }

for name in mnist fashion-mnist; do
    run train lfc $name --data-dir digits --max-epochs 4 --batch-size 30 --learning-rate 1e-2 --project $name
    succeeds "train on $name, plain and gzipped files"
    run test lfc $name --data-dir digits --load "$(ckpt $name)"
    succeeds "test on $name"
    out_has "which is learnt" '^\| test_acc_epoch +\| +1 '
done
out_has "classes have their names" '^\| Ankle boot +\| +10 '

train="train toy_convnet cifar10 --data-dir photographs --max-epochs 3 --batch-size 32 --lr-schedule constant"
# shellcheck disable=SC2086 # words
run $train --learning-rate 1e-3 --project one --threads 1
succeeds "train on cifar10"
# shellcheck disable=SC2086
run $train --learning-rate 1e-3 --project two --threads 2
for p in one two; do cut -d, -f1-9 "mase_output/$p/software/metrics.csv" >$p.csv; done
same "the same crops and flips on two threads" one.csv two.csv
# shellcheck disable=SC2086
run $train --learning-rate 1e-3 --project part --threads 1 --max-steps 8
# shellcheck disable=SC2086
run $train --learning-rate 1e-3 --project part --threads 1 --resume
succeeds "stopped within an epoch and resumed"
holds "the same again" cmp "$(ckpt one)" "$(ckpt part)"
run test toy_convnet cifar10 --data-dir photographs --load "$(ckpt one)"
succeeds "test on cifar10"
out_has "by class" '^\| automobile +\| +4 '

# Weights that stand still: what changes from epoch to epoch is the images.
# shellcheck disable=SC2086
run $train --learning-rate 1e-30 --project still
holds "training images are placed anew every epoch" test "$(column still 9 | wc -l)" -eq 3
holds "validation images never" test "$(column still 7 | wc -l)" -eq 1

run data info cifar10 --data-dir photographs
out_has "what becomes of the pixels is said" '^features +\(p / 255 - mean\) / deviation, by colour; '

# Folders as they are named: torchvision's own, by their files.
mkdir -p root/MNIST && ln -s "$PWD/digits" root/MNIST/raw && ln -s "$PWD/digits" fashion
run data info root/MNIST/raw
succeeds "MNIST/raw"
out_has "digits" '^Split +Rows +0 +1 +2 '
run data info mnist --data-dir root --split 0.8,0.2 --normalize auto
succeeds "the root above it"
out_has "other shares, and normalised" '^train +240 '
out_has "which is said" '^features +\(p / 255 - mean\) / deviation'
run data info fashion
out_has "clothes" '^Split +Rows +T-shirt'
run test lfc fashion --load "$(ckpt fashion-mnist)"
succeeds "tested by the folder's name"
holds "without a word about scaling" sh -c '! grep -q "does not say how" "$1"' sh "$T/err"
run data info photographs
out_has "cifar's binary files" '^Split +Rows +airplane'
run data info cifar10 --data-dir photographs --augment none
out_has "not augmented" '^features +\(p / 255 - mean\) / deviation, by colour$'
run data info mnist --data-dir digits --image-size 14,14
refused "a size that is known" 'size and channels are chosen of a folder of pictures'

ls mase_output >before
head -c 30000 digits/train-images-idx3-ubyte >short && mv short digits/train-images-idx3-ubyte
run train lfc mnist --data-dir digits
refuses "a file that was cut short" "$PWD/digits/train-images-idx3-ubyte@0x7530" 30000 235216
head -c 3000 photographs/test_batch.bin >>photographs/data_batch_2.bin
run train toy_convnet cifar10 --data-dir photographs
refuses "half a record" "$PWD/photographs/data_batch_2.bin@0x1e028" 3000 3073
octal 77 >wrong && dd if=wrong of=photographs/data_batch_1.bin bs=1 seek=3073 conv=notrunc 2>/dev/null
run train toy_convnet cifar10 --data-dir photographs
refuses "a label out of range" "$PWD/photographs/data_batch_1.bin@0xc01" 77 1 0..9
ls mase_output >after
holds "nothing is left behind" cmp before after
