# docs/dependencies.md agrees with the program, the library and the list of packages, and says where not.
CH=$SOURCE/scripts/dependencies
run check "$BUILD"
succeeds "the page is true"
[ "$status" = 0 ] || cat "$T/out"

mkdir -p tree/docs tree/scripts
cp "$SOURCE/scripts/dependencies" "$SOURCE/scripts/packages" "$SOURCE/scripts/version" "$SOURCE/scripts/epoch" tree/scripts/
cp "$SOURCE/CHANGELOG.md" "$SOURCE/CMakeLists.txt" tree/
sed -e '/^| PCRE2 /d' -e 's/libhdf5_serial/libhdf6/' -e '/^| valgrind /d' "$SOURCE/docs/dependencies.md" >tree/docs/dependencies.md
CH=tree/scripts/dependencies
run check "$BUILD"
holds "a page that is not is refused" test "$status" = 1
out_has "with what is linked" 'what is linked lacks: libpcre2-8\.so\.0$'
out_has "what is loaded" 'what is loaded lacks: libhdf5[a-z_]*\.so$'
out_has "what is not any more" 'what is loaded has what is not there: libhdf6\.so$'
out_has "and what is installed" 'the list of packages lacks: valgrind$'

CH=$SOURCE/scripts/dependencies
run sbom "$BUILD"
succeeds "for machines"
out_has "a library, its package and its licence" '"purl": "pkg:deb/debian/libpcre2-8-0@'
if command -v python3 >/dev/null; then
    holds "is JSON" python3 -m json.tool "$T/out"
fi
