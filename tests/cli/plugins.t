# Passes of one's own: loaded by option or configuration, explained, checked, run; and refused when
# there is something wrong with them.
ln -s "$OWN_PASS" libown_pass.so
run passes small_weights --plugin ./libown_pass.so
succeeds "a plugin's pass explains itself"
out_is "from its schema" <<'END'
small_weights (analysis): count the weights of each layer that are nearly zero

[passes.small_weights]

Option     Allowed       Default    Meaning
---------  ------------  ---------  ---------------------------------------
threshold  number 0.0..  0.01       values of less than this size are small
buffers    boolean       False      count running means and variances, too
END
run passes --plugin libown_pass.so
out_has "and is listed" '^small_weights +analysis '

printf 'model = "jsc-tiny"\ndataset = "jsc"\nproject = "p"\nseed = 1\n[passes.small_weights]\nthreshold = 0.1\n' >c.toml
run transform --config c.toml --plugin libown_pass.so
succeeds "it runs among the passes"
sed -n '/^Parameter/,$p' "$T/out" >"$T/shown"
cat >"$T/expected" <<'END'
Parameter              Values    Small
-------------------  --------  -------
seq_blocks.0.weight        16        0
seq_blocks.0.bias          16       16
seq_blocks.2.weight        80       35
seq_blocks.2.bias           5        3
54 of 117 values are below 0.1
END
same "and prints" "$T/expected" "$T/shown"
holds "its result is recorded" grep -q '"seq_blocks.2.weight": 35' mase_output/p/run.json
run transform --config c.toml --plugin libown_pass.so --format csv --log-level error
out_is "in the format asked for, and nothing else" <<'END'
Parameter,Values,Small
seq_blocks.0.weight,16,0
seq_blocks.0.bias,16,16
seq_blocks.2.weight,80,35
seq_blocks.2.bias,5,3
END
run transform --config c.toml --plugin libown_pass.so --json --log-level error
out_has "JSON by its key" '^  "small_weights": \[$'
rm -r mase_output

{ echo 'plugins = ["libown_pass.so"]'; cat c.toml; } >d.toml
run transform --config d.toml --plugin libown_pass.so
succeeds "named in the configuration, and a second time"
rm -r mase_output
run transform --config c.toml
fails "without its plugin" <<'END'
c.toml:5:9: no pass is called 'small_weights': 'ch passes' lists them
    5 | [passes.small_weights]
      |         ^~~~~~~~~~~~~
END
sed 's/threshold = 0.1/threshhold = 0.1/' d.toml >e.toml
run transform --config e.toml
refused "its options are checked" "e.toml:7:1: pass small_weights: .*'threshold'"
sed 's/\["libown_pass.so"\]/"libown_pass.so"/' d.toml >e.toml
run transform --config e.toml
refused "plugins are a list" '^e.toml:1:11: plugins must be a list, got string$'

printf 'not a shared object\n' >text.so
run passes --plugin text.so
refused "a text" '^.*/text\.so: --plugin: cannot be loaded as a plugin: .*'
run passes --plugin missing.so
refused "a file that is not there" "^ch: --plugin: file not found: 'missing\.so'$"
run passes --plugin "$ODD/libodd_none.so"
refused "a shared object that is no plugin" 'libodd_none\.so: --plugin: a shared object, but no plugin: it defines no mase_plugin$'
run passes --plugin "$ODD/libodd_old.so"
refused "another API" 'a plugin for API version 0, but this is version [1-9][0-9]*; compile it against'
run passes --plugin "$ODD/libodd_small.so"
refused "passes of another size" 'a plugin whose passes have 8 bytes instead of [0-9]+; compile it against'
run passes --plugin "$ODD/libodd_lost.so"
refused "a function that is not there" 'libodd_lost\.so: --plugin: cannot be loaded as a plugin: .*mase_that_does_not_exist'
run passes --plugin .
refused "a folder" "^ch: --plugin: expected path to file, got directory '\.'$"
head -c 2000 "$ODD/libodd_failing.so" >cut.so
run passes --plugin cut.so
refused "half a shared object" 'cut\.so: --plugin: cannot be loaded as a plugin: it is cut short$'
for size in 1 40 64 300 1000; do
    head -c $size "$ODD/libodd_failing.so" >cut.so
    run passes --plugin cut.so
    refused "$size bytes of it" 'cut\.so: --plugin: cannot be loaded as a plugin: '
done
: >empty.so
run passes --plugin empty.so
refused "an empty file" 'empty\.so: --plugin: cannot be loaded as a plugin: '
run passes --plugin "$ODD/libodd_taken.so"
refused "a name that is taken" 'pass quantize: there is one of this name already$'
run passes --plugin "$ODD/libodd_empty.so"
refused "a pass that does nothing" 'pass odd must have one of analyse and transform, and has none$'
printf 'model = "jsc-tiny"\ndataset = "jsc"\n[passes.odd]\n' >odd.toml
run transform --config odd.toml --plugin "$ODD/libodd_failing.so"
fails "a pass that fails, before anything is written" <<'END'
odd.toml:3:9: pass odd: it was never going to work
    3 | [passes.odd]
      |         ^~~
END
run transform --config odd.toml --plugin "$ODD/libodd_silent.so"
fails "a pass that does not say why" <<'END'
odd.toml:3:9: pass odd: failed without a message
    3 | [passes.odd]
      |         ^~~
END
run transform --config odd.toml --plugin "$ODD/libodd_looking.so"
refused "an analysis that fails" '^odd\.toml:3:9: pass odd: x: there is nothing to see$'
run transform --config odd.toml --plugin "$ODD/libodd_counting.so"
succeeds "a transform with effects of its own"
holds "runs once" test "$(grep -c '^counted$' "$T/out")" = 1
