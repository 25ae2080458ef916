#!/bin/sh
# run.sh - run one scenario of the command line and say what held, as TAP.
#
#     CH=build/ch SOURCE=. sh tests/cli/run.sh tests/cli/lab.t
#
# A scenario is a piece of shell that uses the words below. It runs in an empty folder W, which is
# removed at the end; $SOURCE is the repository, $CH the program.
#
#     run ARGS...           ch ARGS: stdout to $T/out, stderr to $T/err, its status to $status
#     succeeds NAME         status 0
#     fails NAME            status 2, stderr exactly as standard input says, and nothing written
#     refuses NAME PLACE WORD...    status 2 and an error at PLACE, a file with its line and column or ch, that has
#                           these words: the offending name and value, and what was allowed, not the sentence
#     refused NAME REGEX    status 2, a line of stderr matches
#     out_is NAME           stdout exactly as standard input says; so err_is
#     out_has NAME REGEX    a line of stdout matches; so err_has; out_lacks and err_lacks when none may
#     file_is NAME FILE     a file exactly as standard input says
#     holds NAME CMD...     a command succeeds
#     shown NAME FILE ARGS  ch ARGS succeeds and prints expected/SCENARIO/FILE; BLESS=1 writes it
#     skip NAME WHY
set -u

case $CH in /*) ;; *) CH=$PWD/$CH ;; esac
SOURCE=$(cd "$SOURCE" && pwd) || exit 2
case $1 in /*) scenario=$1 ;; *) scenario=$PWD/$1 ;; esac
HERE=${scenario%/*}
export CH SOURCE HERE
export LC_ALL=C TZ=UTC
unset NO_COLOR || :

T=$(mktemp -d "${TMPDIR:-/tmp}/ch_scenario_XXXXXXXXXXXX") || exit 2
trap 'rm -rf "$T"' EXIT
export XDG_CACHE_HOME="$T/cache" # data sets that were imported here are not everyone's
unset MASE_DATA || :
export OMP_WAIT_POLICY=passive # tests run side by side: threads that wait must not spin
W=$T/work
mkdir "$W" && cd "$W" || exit 2

tests=0
failed=0

report()
{
    tests=$((tests + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tests - $2"
    else
        failed=$((failed + 1))
        echo "not ok $tests - $2"
        if [ -s "$T/why" ]; then sed 's/^/#   /' "$T/why"; fi
    fi
    : >"$T/why"
}

run()
{
    "$CH" "$@" >"$T/out" 2>"$T/err" </dev/null
    status=$?
}

same()
{
    diff -u "$2" "$3" >"$T/why" 2>&1
    report $? "$1"
}

succeeds()
{
    cp "$T/err" "$T/why"
    [ "$status" -eq 0 ]
    report $? "$1"
}

# Log lines are not part of an error.
fails()
{
    cat >"$T/expected"
    grep -v '^INFO ' "$T/err" >"$T/message" || :
    diff -u "$T/expected" "$T/message" >"$T/why" 2>&1
    if [ "$status" -ne 2 ]; then echo "status $status, expected 2" >>"$T/why"; fi
    if [ -e mase_output ]; then echo "mase_output was written" >>"$T/why"; fi
    ! [ -s "$T/why" ]
    report $? "$1"
}

refuses()
{
    name=$1 place=$2
    shift 2
    awk -v at="$place: " 'index($0, at) == 1' "$T/err" >"$T/message"
    if [ "$status" -ne 2 ]; then echo "status $status, expected 2" >>"$T/why"; fi
    if ! [ -s "$T/message" ]; then echo "no error at $place" >>"$T/why"; fi
    for word; do
        grep -Fqw -e "$word" "$T/message" || echo "$word is not named" >>"$T/why"
    done
    if [ -s "$T/why" ]; then cat "$T/err" >>"$T/why"; fi
    ! [ -s "$T/why" ]
    report $? "$name"
}

refused()
{
    cp "$T/err" "$T/why"
    [ "$status" -eq 2 ] && grep -Eq -e "$2" "$T/err"
    report $? "$1"
}

out_is()
{
    cat >"$T/expected"
    same "$1" "$T/expected" "$T/out"
}

err_is()
{
    cat >"$T/expected"
    same "$1" "$T/expected" "$T/err"
}

out_has()
{
    cp "$T/out" "$T/why"
    grep -Eq -e "$2" "$T/out"
    report $? "$1"
}

out_lacks()
{
    cp "$T/out" "$T/why"
    ! grep -Eq -e "$2" "$T/out"
    report $? "$1"
}

err_has()
{
    cp "$T/err" "$T/why"
    grep -Eq -e "$2" "$T/err"
    report $? "$1"
}

err_lacks()
{
    cp "$T/err" "$T/why"
    ! grep -Eq -e "$2" "$T/err"
    report $? "$1"
}

file_is()
{
    cat >"$T/expected"
    same "$1" "$T/expected" "$2"
}

holds()
{
    name=$1
    shift
    "$@" >"$T/why" 2>&1
    report $? "$name"
}

shown()
{
    label=$1 expected=$HERE/expected/$(basename "$scenario" .t)/$2
    shift 2
    run "$@"
    succeeds "$label"
    if [ -n "${BLESS-}" ]; then mkdir -p "${expected%/*}" && cp "$T/out" "$expected"; fi
    same "$label: what it prints" "$expected" "$T/out"
}

skip()
{
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}

# shellcheck source=/dev/null
. "$scenario"
echo "1..$tests"
[ "$failed" -eq 0 ]
