# ch prune, the prune pass, and training that prunes: what they print, leave and refuse.
cat >c.toml <<'END'
model = "toy"
dataset = "toy_tiny"
batch_size = 512
max_epochs = 4
learning_rate = 0.02
lr_schedule = "constant"

[passes.prune]
sparsity = 0.75
scope = "global"
begin = 1
end = 3
END

cat >v.toml <<'END'
model = "toy"
dataset = "toy_tiny"
[passes.prune.weight]
sparsity = 0.5
method = "l1-norm"
scope = "local"
granularity = "elementwise"
[passes.prune.activation]
sparsity = 0.0
[passes.count_flops]
END
# what is refused
run prune toy toy_tiny
fails "without a share" <<'END'
ch: ch prune needs --sparsity S, the share of the weights that become zero, or a configuration with [passes.prune]
END
run transform --config v.toml --set passes.prune.weight.sparsity=1.5
refuses "too much" --set:1:30 sparsity 1.5 1 0
run transform --config v.toml --set passes.prune.weight.method=magnetude
refuses "a method that is not there" --set:1:28 method magnetude random
run transform --config v.toml --set passes.prune.activation.sparsity=0.5
refuses "activations" v.toml:8:15 0
run transform --config v.toml --set passes.prune.weight.method=movement
refused "movement without training" 'movement is a matter of training'
run transform --config c.toml --set passes.prune.sparsity.seq_blocks_3=0.5
refused "shares of a global scope" 'has one sparsity for all layers, not a table'
cat >w.toml <<'END'
model = "toy"
dataset = "toy_tiny"
[passes.prune]
sparsity = { default = 0.5, seq_block_2 = 0.9 }
END
run transform --config w.toml
fails "a layer that is not there" <<'END'
w.toml:4:29: pass prune: no node with weights to prune is called 'seq_block_2', did you mean 'seq_blocks_2'? allowed: default, seq_blocks_0, seq_blocks_2, seq_blocks_4
    4 | sparsity = { default = 0.5, seq_block_2 = 0.9 }
      |                             ^~~~~~~~~~~
END
run transform --config w.toml --set 'passes.prune={sparsty=0.5}'
refused "a key that is not there" "'sparsty'"

# training
run train --config c.toml --project all
succeeds "train and prune"
err_has "what each epoch has of it" '^INFO +Epoch 1/4: sparsity 0\.0000$'
err_has "the target at the end" '^INFO +Epoch 4/4: sparsity 0\.7500$'
holds "the pass is no news to training" sh -c "! grep 'pass prune is not run' $T/err"
run show mase_output/all/software/training_ckpts/last.ckpt --stats
out_has "its zeros" '^model\.seq_blocks\.2\.weight .* [1-9][0-9]*$'

# a run that is stopped and gone on with
run train --config c.toml --project half --max-epochs 2 --log-level error
run train --config c.toml --project half --resume --log-level error
succeeds "resumed"
holds "the same bits as without a break" cmp mase_output/all/software/training_ckpts/last.ckpt \
    mase_output/half/software/training_ckpts/last.ckpt
run train --config c.toml --project half --resume --set passes.prune.sparsity=0.5 --log-level error
refuses "resumed with another section" "$PWD/mase_output/half/software/training_ckpts/last.ckpt" '[passes.prune]' 0.75

# the command
run prune toy toy_tiny --load mase_output/all --sparsity 0.9 --project more --log-level error
succeeds "prune more"
out_has "a row of each layer" '^seq_blocks\.2\.weight +64 +58 +0\.9062 '
out_has "and of all" '^total +112 +101 '
run prune toy toy_tiny --load mase_output/all --sparsity 0.5 --granularity channel --project c --log-level error
out_has "channels, with their bias" '^seq_blocks\.2\.bias +8 +4 +0\.5000 +4 of 8'
run show mase_output/c
succeeds "what it saved is a network"
run report mase_output/c --log-level error
succeeds "with a report"
run prune --config c.toml --prune-method random --project r --log-level error
out_has "by a section, and options over it" '^total +112 +84 +0\.7500 '
run transform --config c.toml --set passes.prune.end=0 --project t --log-level error
succeeds "as a pass"
run transform --config v.toml --project v --log-level error
succeeds "the original's sections"
out_has "costs know of zeros" '^seq_blocks_2 +linear +64 +128 +384 +72 +2304 +256 +256 +352 +32 +65536 +32768 '


# ---- a sweep ----
# prunes as training does: the same loss from the same file, and another share is another configuration
run train --config c.toml --project one --log-level error
succeeds "a run that prunes"
run sweep --config c.toml --project swept --log-level error
succeeds "a sweep of it"
file=$(ls mase_output/swept/software/sweep/runs/*.json)
number() { sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" "$2" | head -n 1; }
err_lacks "nothing of it is left out" 'pass prune is not run'
holds "comes to the same loss" test "$(number val_loss "$file")" = "$(number val_loss_epoch mase_output/one/run.json)"
holds "and says how" grep -q '"prune": "global elementwise l1-norm sparsity 0.75, ' "$file"
run sweep --config c.toml --set passes.prune.sparsity=0.5 --project swept
err_has "another share is not done before" '1 configurations, 0 done before'
run sweep --config c.toml --set passes.prune.sparsity=0.0 --project swept --log-level error
holds "and comes to another loss" test "$(cut -d, -f3 mase_output/swept/software/sweep/sweep.csv | tail -n 1)" != \
    "$(sed -n 's/.*"train_loss": *\([0-9.]*\).*/\1/p' "$file")"
