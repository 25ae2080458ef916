# ARCHITECTURE.md names functions and files that exist.
cd "$SOURCE" || exit 2

# The words in backquotes outside of code blocks.
words=$(sed '/^```/,/^```/d' ARCHITECTURE.md | grep -o '`[^` ]*`' | tr -d '`' | sort -u)

# A definition begins its line.
missing=
for w in $(printf '%s\n' $words | grep -E '^mase_[a-z0-9_]+$'); do
    grep -rqE "^([a-z].*[ *]|#define )$w\(" src include --include='*.c' --include='*.h' || missing="$missing $w"
done
holds "every function exists:$missing" test -z "$missing"

missing=
for w in $(printf '%s\n' $words | grep -E '^[a-z0-9_/]+\.(c|h|def|py|t)$'); do
    [ -n "$(find src include tests -path "*/$w" -print -quit)" ] || [ -e "$w" ] ||
        missing="$missing $w"
done
holds "every file exists:$missing" test -z "$missing"

count=$(sed -n '/^## The life of/,/^## Everything/p' ARCHITECTURE.md | grep -c '^| `mase_')
holds "both lives are listed" test "$count" -gt 20
