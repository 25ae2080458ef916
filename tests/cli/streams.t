# Results on stdout, the log on stderr, colours only for people, and nothing lost in silence.
config=$SOURCE/configs/examples/jsc_toy_by_type.toml
run transform --config "$config"
out_lacks "results carry no log" '^(INFO|WARNING|DEBUG) '
out_lacks "no colour in a file" "$(printf '\033')"
err_has "the log is on stderr" '^INFO     Transformation is completed$'

if script -qec true /dev/null >/dev/null 2>&1; then
    pty()
    {
        env "$1" TERM=xterm script -qec "$CH transform --config $config --seed 1" /dev/null \
            </dev/null >"$T/out" 2>"$T/err"
    }
    pty A=b
    out_has "on a terminal a value that lost is grey" "$(printf '\033')\\[38;5;8m42"
    out_has "and the level of a log line green" "$(printf '\033')\\[32mINFO"
    pty NO_COLOR=1
    out_lacks "unless NO_COLOR is set" "$(printf '\033')"
    pty NO_COLOR=
    out_has "to something" "$(printf '\033')"
else
    skip "colours on a terminal" "no script"
fi

"$CH" --help >&- 2>"$T/err"
status=$?
refused "stdout closed" '^ch: standard output: '
"$CH" transform --config "$config" --project closed >&- 2>"$T/err"
status=$?
refused "stdout closed during a transform" '^ch: standard output: '
holds "the files are whole all the same" cmp mase_output/closed/software/transform/report_graph.txt \
    mase_output/jsc-tiny/software/transform/report_graph.txt
if [ -c /dev/full ]; then
    "$CH" ops >/dev/full 2>"$T/err"
    status=$?
    refused "no space left" '^ch: standard output: No space left on device$'
    "$CH" transform --config "$config" --project full >/dev/full 2>"$T/err"
    status=$?
    refused "no space left when a log line wants room" \
        '^ch: standard output: No space left on device$'
fi

# A reader that stops reading: status 2, and no complaint about it.
{
    sleep 0.2
    "$CH" ops
    echo $? >"$T/status"
} 2>"$T/err" | true
sleep 0.4
status=$(cat "$T/status")
rm -r mase_output
fails "a broken pipe, in silence" </dev/null
