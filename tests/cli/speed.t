# The program is quick. The bounds leave room for slow disks and sanitizers: only a real mistake
# trips them.
now()
{
    date +%s%N
}
# the best of five runs, in milliseconds
best()
{
    least=999999
    for _ in 1 2 3 4 5; do
        start=$(now)
        "$CH" "$@" >/dev/null 2>&1
        took=$((($(now) - start) / 1000000))
        if [ "$took" -lt "$least" ]; then least=$took; fi
    done
}
case $(now) in
*N) skip "quick" "no clock with nanoseconds" ;;
*)
    best --version
    holds "--version took $least ms" [ "$least" -lt 100 ]
    best transform --config "$SOURCE/configs/examples/jsc_toy_by_type.toml"
    holds "the lab's transform took $least ms" [ "$least" -lt 2000 ]
    best --info
    holds "--info took $least ms" [ "$least" -lt 2000 ]
    ;;
esac
