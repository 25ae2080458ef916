# Help is complete: every command explains itself, the lab's three arguments are there, and the
# generated completion and manual page are well formed.
run --help
succeeds "help"
out_has "the main arguments: command" 'action to perform. One of'
out_has "the main arguments: model" 'name of a supported model. Required if'
out_has "the main arguments: dataset" 'name of a supported dataset. Required if'
out_lacks "actions of later versions are not offered" '^  simulate'
out_lacks "no line is longer than a terminal" '^.{81}'

for command in train test predict sweep data transform passes ops formats help completion man; do
    run "$command" --help
    succeeds "help of $command"
    out_has "usage of $command" "^usage: ch $command"
    cp "$T/out" "$T/first"
    run help "$command"
    same "ch help $command says the same" "$T/first" "$T/out"
done

run transform --help
for option in --config --task --load --load-type --batch-size --debug --log-level --report-to \
    --seed --quant-config --training-optimizer --trainer-precision --learning-rate \
    --weight-decay --max-epochs --max-steps --accumulate-grad-batches --log-every-n-steps --cpu \
    --num-workers --gpu --num-devices --nodes --accelerator --strategy --auto-requeue --github-ci \
    --disable-dataset-cache --target --num-targets --run-emit --skip-build --skip-test \
    --pretrained --max-token-len --project-dir --project --profile --no-warnings --dump-after \
    --set --help --version --info; do
    out_has "transform explains $option" "(^|[ ,])$option( |,|\$)"
done
out_lacks "no line is longer than a terminal" '^.{81}'

run --version
out_has "version" '^ch [0-9]+\.[0-9]+\.[0-9]+$'
run -V transform
out_has "version before a command" '^ch [0-9]'

run completion bash
succeeds "completion"
if command -v bash >/dev/null; then
    holds "bash accepts the completion script" bash -n "$T/out"
    cat >"$T/complete.sh" <<-'END'
	. "$1"
	shift
	COMP_WORDS=("$@")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_ch
	echo "${COMPREPLY[*]}"
	END
    cp "$T/out" "$T/completion"
    complete_is()
    {
        name=$1 expected=$2
        shift 2
        echo "$expected" >"$T/expected"
        bash "$T/complete.sh" "$T/completion" ch "$@" >"$T/got" 2>&1
        same "$name" "$T/expected" "$T/got"
    }
    complete_is "a command" "train transform trace" tr
    complete_is "an option" "--max-epochs" transform --max-e
    complete_is "a choice" "adam adamw adagrad" transform --training-optimizer ad
    complete_is "a model" "vgg7" transform vg
    complete_is "a pass" "quantize" passes qu
    complete_is "a format" "block_fp" formats block_f
else
    skip "bash accepts the completion script" "no bash"
fi

run man
succeeds "manual page"
if command -v groff >/dev/null; then
    groff -Tutf8 -mandoc -ww -z <"$T/out" >"$T/groff" 2>&1
    : >"$T/expected"
    same "groff has no complaint about it" "$T/expected" "$T/groff"
else
    skip "groff has no complaint about it" "no groff"
fi
