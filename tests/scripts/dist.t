# The source tarball: the same bytes from a checkout and from itself, and enough to build and to test,
# without git and without a network. (make distcheck builds all of it.)
export DIST_LEVEL=0
unset MASE_BUILD || :
CH=$SOURCE/scripts/dist
run "$PWD/one"
succeeds "a tarball"
release=mase-$("$SOURCE/scripts/version")
tar -tvf "one/$release.tar.xz" >"$T/out"
holds "is not small" test "$(wc -l <"$T/out")" -gt 1000
grep -vE "^-rwx?r-xr-x 0/0 |^-rw-r--r-- 0/0 " "$T/out" >"$T/others"
holds "files are nobody's, and may be read by all" test ! -s "$T/others"
awk '{ print $4, $5 }' "$T/out" | sort -u >"$T/dates"
holds "they have one date" test "$(wc -l <"$T/dates")" = 1
out_lacks "products of a build stay out" "$release/(build|mase_output|\.git/)|__pycache__|\.pyc$"
tar -xf "one/$release.tar.xz"
cd "$release" || exit 2
export GIT_CEILING_DIRECTORIES="$PWD"
CH=scripts/dist
run "$W/two"
succeeds "one made from what was unpacked"
holds "has the same bytes" cmp "$W/one/$release.tar.xz" "$W/two/$release.tar.xz"

# offline CMD...: without a network where that is allowed
offline()
{
    if unshare -n true 2>/dev/null; then unshare -n "$@"; elif unshare -rn true 2>/dev/null; then unshare -rn "$@"; else "$@"; fi
}
holds "it is configured" offline cmake -G Ninja -S . -B build -DMASE_TESTS=ON "-DMASE_ONLY=base;value"
holds "it builds" offline ninja -C build
holds "its tests pass" offline ctest --test-dir build -E '^t_(toml|table)$' --no-tests=error
scripts/sources >"$T/out"
out_has "its files are known without git" '^src/base/arena\.c$'
out_lacks "those of the build are no part of it" '^build'
