# What people type first who come from other programs: the answer names what it is called here.
says() { refused "$1" "^ch: unknown (option|command) '$1', did you mean '$2'\\?"; }
while read -r word ours; do
    run train jsc-tiny jsc "$word" 1
    says "$word" "$ours"
done <<WORDS
--lr --learning-rate
-lr --learning-rate
--epochs --max-epochs
--num_epochs --max-epochs
--optimizer --training-optimizer
--lr-scheduler --lr-schedule
--checkpoint --load
--batch --batch-size
WORDS
while read -r word ours; do
    run "$word" jsc-tiny jsc
    says "$word" "$ours"
done <<WORDS
quantize transform
eval test
export convert
info show
fit train
WORDS
echo 'lr = 0.1' >c.toml
run train jsc-tiny jsc --config c.toml
refused "in a file" "^c\\.toml:1:1: unknown key 'lr', did you mean 'learning_rate'\\?"
printf '[pass.quantize]\nby = "type"\n' >c.toml
run transform jsc-tiny jsc --config c.toml
refused "a section" "^c\\.toml:1:2: unknown key 'pass', did you mean 'passes'\\?"
printf '[passes.quantize]\nby = "type"\n[passes.quantize]\nby = "name"\n' >c.toml
run transform jsc-tiny jsc --config c.toml
refuses "a section twice" c.toml:3:9 quantize '[[passes.quantize]]'
