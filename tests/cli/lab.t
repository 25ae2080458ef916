# The lab's own command, end to end: the configuration table, the graph, the proof of what changed.
run transform --config "$SOURCE/configs/examples/jsc_toy_by_type.toml" --task cls --cpu=0
succeeds "the lab's command"

# What varies: the folder, which is long enough to fill its column, and the number of CPUs.
sed -e '/^| num_workers /d' -e '/^| project_dir /,/^| project  /{/^| project  /!d;}' "$T/out" >"$T/shown"
same "what it prints" "$HERE/expected/lab.out" "$T/shown"
grep '^| num_workers ' "$T/out" | tr -s ' ' | cut -d'|' -f4-6 >"$T/got"
echo ' | 0 | 0 ' >"$T/expected"
same "the number of workers given" "$T/expected" "$T/got"

sed "s|$W|DIR|" "$T/err" >"$T/log"
same "what it logs" "$HERE/expected/lab.err" "$T/log"

cp -r mase_output "$T/first"
run transform --config "$SOURCE/configs/examples/jsc_toy_by_type.toml" --task cls --cpu=0
succeeds "a second time"
rm "$T/first/jsc-tiny/run.json" mase_output/jsc-tiny/run.json
holds "the same seed gives the same files" diff -r -x version_0 "$T/first" mase_output
run transform --config "$SOURCE/configs/examples/jsc_toy_by_type.toml" --seed 43
succeeds "another seed"
ckpt=jsc-tiny/software/transform/transformed_ckpt
holds "gives other weights" sh -c '! cmp -s "$1/state_dict.safetensors" "$2/state_dict.safetensors"' \
    sh "$T/first/$ckpt" "mase_output/$ckpt"
