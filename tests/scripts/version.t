# One version: CHANGELOG.md says it, the other files agree, and scripts/version writes them all.
CH=$SOURCE/scripts/version
run check
succeeds "every file says the version of CHANGELOG.md"
out_is "and nothing is to be said" </dev/null
run
holds "the program has it" sh -c '"$1" --version | grep -qF " $(cat "$2")"' - "$PROGRAM" "$T/out"

mkdir -p tree/scripts tree/debian
cp "$SOURCE/scripts/version" "$SOURCE/scripts/epoch" tree/scripts/
cp "$SOURCE/CMakeLists.txt" tree/
cp "$SOURCE/debian/changelog" tree/debian/
printf '# Changelog\n\nWords.\n\n## 1.4.0 (unreleased)\n\n- New.\n\n## 1.3.0 (2026-12-24)\n\n- Old.\n' >tree/CHANGELOG.md
CH=tree/scripts/version
run
out_is "the first heading counts" <<'END'
1.4.0
END
run check
holds "other versions are a failure" test "$status" = 1
out_has "one is named" '^CMakeLists.txt: says version [0-9.]*, but CHANGELOG.md says 1.4.0$'
out_has "and another" '^debian/changelog: says version [0-9.]*, but CHANGELOG.md says 1.4.0$'

run set 1.5.0 2027-01-31
succeeds "a release"
file_is "has its date" tree/CHANGELOG.md <<'END'
# Changelog

Words.

## 1.5.0 (2027-01-31)

- New.

## 1.3.0 (2026-12-24)

- Old.
END
run check
succeeds "all files say so"
holds "Debian's, too" grep -q '^mase (1.5.0) unstable; urgency=medium$' tree/debian/changelog
holds "with the date" grep -q 'Sun, 31 Jan 2027 00:00:00 +0000$' tree/debian/changelog
run set 1.6.0
succeeds "the next one"
holds "begins a section" grep -q '^## 1.6.0 (unreleased)$' tree/CHANGELOG.md
holds "above the last" grep -q '^## 1.5.0 (2027-01-31)$' tree/CHANGELOG.md
run set 1.6
refused "what is no version" "'1.6' is no version"
