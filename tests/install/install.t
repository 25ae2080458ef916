# Programs of others against an installed library, in a tree that was moved after it was installed.
if [ -n "${CXX-}" ] && ! command -v "$CXX" >/dev/null; then
    echo "install: no program in C++ is compiled: no $CXX here (Debian: g++)"
    exit 77
fi
cmake --install "$BUILD" --prefix "$PWD/first" >"$T/out" 2>&1 || cat "$T/out"
mv first tree
libdir=$(dirname "$(find tree -name libmase.a)")
holds "both libraries, their name and their interface" \
    test -f "$libdir/libmase.a" -a -f "$libdir/libmase.so" -a -f "$libdir/libmase.so.0"
export PKG_CONFIG_PATH="$PWD/$libdir/pkgconfig"

# Debian's packages share out what is installed: no file is forgotten, none is looked for in vain. Their lists
# name folders of the distribution, usr/lib/*/; here it is lib/.
if [ -d "$SOURCE/debian" ] && [ -z "${CXX-}" ]; then
    cat "$SOURCE"/debian/*.install | sed -n 's|^usr/||p' | sed 's|^lib/\*/|lib*/|; s| .*||' >"$T/lists"
    (cd tree && find . ! -type d | sed 's|^\./||' | sort) >"$T/installed"
    : >"$T/covered"
    : >"$T/in_vain"
    while read -r pattern; do
        (cd tree && eval "find $pattern ! -type d" 2>/dev/null) >"$T/found"
        [ -s "$T/found" ] || echo "$pattern" >>"$T/in_vain"
        cat "$T/found" >>"$T/covered"
    done <"$T/lists"
    sort -u "$T/covered" | comm -13 - "$T/installed" >"$T/forgotten"
    holds "Debian's packages have every file" sh -c '! grep . "$1"' - "$T/forgotten"
    holds "and name none that is not there" sh -c '! grep . "$1"' - "$T/in_vain"
fi

# answers NAME PROGRAM: it runs with the library of the tree, and says what it should
answers()
{
    CH=$PWD/$2
    LD_LIBRARY_PATH=$PWD/$libdir run
    succeeds "$1 runs"
    out_is "$1 has the library's answer" <<'END'
placeholder batch_norm1d relu linear relu output of 117 parameters
END
}

# needs PROGRAM: does it load libmase.so?
needs()
{
    readelf -dW "$1" | grep -q 'NEEDED.*libmase'
}

# cmake_project FOLDER OPTIONS...
cmake_project()
{
    folder=$1
    shift
    CH=cmake
    run -G Ninja -S "$HERE/$folder" -B "$folder" -DCMAKE_PREFIX_PATH="$PWD/tree" "$@"
    [ "$status" = 0 ] || cat "$T/out" "$T/err"
    run --build "$folder"
    [ "$status" = 0 ] || cat "$T/out" "$T/err"
    answers "$folder: mase::mase" "$folder/shared"
    answers "$folder: mase::mase_static" "$folder/static"
    holds "$folder: one loads the library" needs "$folder/shared"
    holds "$folder: the other has it" eval "! needs $folder/static"
}

if [ -n "${CXX-}" ]; then
    cmake_project cxx -DCMAKE_CXX_COMPILER="$CXX"
    return
fi
cmake_project cmake -DCMAKE_C_COMPILER="$CC" -DWANTED="$VERSION"
CH=cmake
run -G Ninja -S "$HERE/cmake" -B later -DCMAKE_PREFIX_PATH="$PWD/tree" -DWANTED=99.0
holds "a later version is not found" test "$status" != 0
err_has "and it is said which there is" "$VERSION"

mkdir make
holds "programs by pkg-config" make -s -C "$HERE/make" CC="$CC" OUT="$PWD/make"
answers "pkg-config" make/shared
answers "pkg-config --static" make/static
holds "one loads the library" needs make/shared
holds "the other has it" eval '! needs make/static'

# A program that keeps to mase.h goes with every libmase.so.0, one that calls the engine with that of its version.
nm -D --undefined-only make/shared >"$T/out"
out_has "a program needs the stable part" ' mase_net_open@MASE_0$'
out_lacks "and no more" '@MASE_ENGINE'
holds "another one calls the engine" "$CC" -std=c17 "$HERE/engine.c" -Itree/include -L"$libdir" -lmase -o engine
answer=$(LD_LIBRARY_PATH=$PWD/$libdir ./engine)
holds "and gets its answer" test "$answer" = "one table"
nm -D --undefined-only engine >"$T/out"
out_has "from the version that it was compiled for" " mase_zoo_find@MASE_ENGINE_${VERSION%.*}\$"

holds "a program that loads the library by name" "$CC" -std=c17 -Itree/include "$HERE/late.c" -o late
holds "a plugin finds its functions there" ./late "$PWD/$libdir/libmase.so.0" "$OWN_PASS"
