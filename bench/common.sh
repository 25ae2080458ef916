# common.sh - what the benchmarks share: the peers' process, taking turns, and the summary.
# shellcheck shell=bash

scratch=$(mktemp -d) || exit 2
build=${MASE_BUILD:-build}
repetitions=${BENCH_QUICK:+2}
repetitions=${repetitions:-7}

# The first python that has torch: the one asked for, or one of the usual.
find_python()
{
    local python
    for python in "${MASE_BENCH_PYTHON:-python3}" /usr/bin/python3; do
        "$python" -c 'import torch, numpy' 2>/dev/null && echo "$python" && return
    done
    return 1
}

# start_peer PYTHON SCRIPT WORDS...: a script that says its versions, then answers by ask.
start_peer()
{
    local python=$1
    coproc PEERS { exec "$@" 2>"$scratch/peers.log"; }
    read -r versions <&"${PEERS[0]}" || { cat "$scratch/peers.log" >&2 && exit 2; }
    echo "peers: $versions ($python)"
}

# Start bench/peers.py.
start_peers()
{
    local python
    if ! python=$(find_python); then
        echo "peers: no python3 with torch and numpy here; MASE_BENCH_PYTHON names one. Ours alone:"
        return 1
    fi
    start_peer "$python" bench/peers.py
}

# ask WORDS...: one question to the peers, their answer; "-" when there are none.
ask()
{
    local answer
    [ -n "${PEERS_PID-}" ] || { echo - && return; }
    echo "$*" >&"${PEERS[1]}"
    read -r answer <&"${PEERS[0]}" || { cat "$scratch/peers.log" >&2 && exit 2; }
    echo "$answer"
}

stop_peers()
{
    [ -z "${PEERS_PID-}" ] || { kill "$PEERS_PID" && wait "$PEERS_PID"; } 2>/dev/null
}

finish()
{
    stop_peers
    rm -rf "$scratch"
}
trap finish EXIT

# Both sides must measure the same network.
check_same()
{
    local net=$1 dataset=$2 ours theirs
    read -r ours _ < <("$build/bench/infer" "$net" "$dataset") || exit 2
    theirs=$(ask params "$net") || exit 2
    [ "$theirs" = - ] || [ "$theirs" = "$ours" ] ||
        { echo "$net has $ours parameters here and $theirs there" >&2 && exit 2; }
}

# Lines "OURS THEIRS" of all repetitions: median rates, median ratio and its range.
summary()
{
    awk '
    function median(v, n,    i, j, t) {
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        return (v[int((n + 1) / 2)] + v[int(n / 2) + 1]) / 2
    }
    { a[++n] = $1 }
    $2 != "-" { b[++m] = $2; r[m] = $1 / $2 }
    END {
        printf "%12d ", median(a, n)
        middle = median(r, m) # sorts them
        if (m)
            printf "%12d  %7.2fx  [%.2f .. %.2f]\n", median(b, m), middle, r[1], r[m]
        else
            printf "%12s\n", "-"
    }'
}
