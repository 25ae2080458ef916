#!/bin/sh
# ch - builds mase on first use and after a change of its sources, then runs build/ch.
#
# The check starts no process: every run pays for it. It compares the sources, and their folders
# (a file added or removed), with the stamp of the last build.
case $0 in */*) self=$0 ;; *) self=./$0 ;; esac
while [ -h "$self" ]; do
    link=$(readlink "$self")
    case $link in /*) self=$link ;; *) self=${self%/*}/$link ;; esac
done
root=${self%/*}
build=${MASE_BUILD:-$root/build}

fresh()
{
    [ -x "$build/ch" ] && [ -e "$build/.stamp" ] || return 1
    for f in "$root"/CMakeLists.txt "$root"/include/* "$root"/include/mase/* "$root"/src/* \
        "$root"/src/*/* "$root"/src/*/*/*; do
        # shellcheck disable=SC3013 # in every sh we know, and in POSIX since 2024
        [ "$f" -nt "$build/.stamp" ] && return 1
    done
    return 0
}

fresh || "$root/scripts/build" ch || exit 2
exec "$build/ch" "$@"
