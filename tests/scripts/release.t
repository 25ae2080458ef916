# scripts/release, in a checkout of its own: commits what it writes, packs it, and leaves the rest to people.
if ! command -v git >/dev/null; then
    skip "a release" "no git here"
    return
fi
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1 DIST_LEVEL=0
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
unset MASE_BUILD SOURCE_DATE_EPOCH || :
mkdir -p tree/scripts tree/debian
for script in dist epoch release sources version; do
    cp "$SOURCE/scripts/$script" tree/scripts/
done
cp "$SOURCE/CMakeLists.txt" "$SOURCE/.gitignore" tree/
cp "$SOURCE/debian/changelog" tree/debian/
printf '# Changelog\n\n## 0.9.0 (unreleased)\n\n- New.\n' >tree/CHANGELOG.md
cd tree || exit 2
git init -q . && git add -A && git commit -q -m begin

CH=scripts/release
echo "# more" >>CMakeLists.txt
run 1.0.0
refused "not with changes that are not committed" '^release: some files are not as they were committed$'
git checkout -q CMakeLists.txt
run 1.0 2027-01-31
refused "not without a version" "'1.0' is no version"
run 1.0.0 yesterday
refused "nor with any date" "^release: 'yesterday' is no date"
holds "nothing has changed" git diff --quiet

run 1.0.0 2027-01-31
succeeds "a release"
out_has "says how it is tagged" '^    git tag -a v1\.0\.0 -m "mase 1\.0\.0"$'
holds "it is committed" test "$(git log -1 --format=%s)" = "release: 1.0.0"
holds "all of it" test -z "$(git status --porcelain)"
holds "there is no tag yet" test -z "$(git tag)"
tar -xOf build/dist/mase-1.0.0.tar.xz mase-1.0.0/CHANGELOG.md >"$T/out"
out_has "the tarball has it" '^## 1\.0\.0 \(2027-01-31\)$'
mkdir ../other
scripts/dist ../other >/dev/null
holds "and is that of the commit" cmp build/dist/mase-1.0.0.tar.xz ../other/mase-1.0.0.tar.xz
run 1.0.1
refused "nothing is unreleased now" '^release: CHANGELOG.md has nothing that is unreleased$'
