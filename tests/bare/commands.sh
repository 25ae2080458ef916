#!/bin/sh
# commands.sh - run in a Debian on which nothing is installed, with the sources in /sources: README's two
# commands, first as root, then as an ordinary user without a network. The second time tests that only compute are left
# out: the sources are the same, and so is what they compute (tests/CMakeLists.txt says which these are).
set -eu
place='/srv/a place/mase'
start=$(date +%s)

say()
{
    echo "bare: after $(($(date +%s) - start)) s: $*"
}

# The commands stand in README.md; this finds them there.
first=$(grep -m 1 -o '^\./ch transform --config .*' /sources/README.md)
second=$(grep -m 1 -o '^make test\b' /sources/README.md)

# What the first command shows on any machine: the changed layers of the lab's network.
check_table()
{
    grep -q '| seq_blocks_2 | seq_blocks_2 | module_related_func | linear       | Linear          | LinearInteger    | True      |' "$1" ||
        { cat "$1" && echo "bare: the first command did not show its table" && exit 1; }
}

say "as root: $first"
mkdir -p "${place%/*}"
cp -r /sources "$place"
cd "$place"
sh -c "$first" >/tmp/out
check_table /tmp/out
say "as root: $second"
sh -c "$second"

say "as an ordinary user without a network: $first"
useradd --create-home --home-dir '/home/a student' student
cp -r /sources '/home/a student/mase'
chown -R student: '/home/a student'
as_student()
{
    unshare --net su -s /bin/sh -c "cd && cd mase && $1" student
}
as_student "$first" >/tmp/out
check_table /tmp/out
say "as an ordinary user without a network: $second, without tests that only compute"
as_student "MASE_PURE_TESTS=OFF $second"
say "done"
