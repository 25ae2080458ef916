#!/bin/sh
# trial.sh - run in a minimal Debian in which nothing of mase is: installs the packages of the folder that
# it lies in by apt, does with them what their users do, and removes them.
#
#     trial.sh [notebooks]        with notebooks: executes those of mase-doc, too, for which it installs Jupyter
set -eu
here=$(cd "${0%/*}" && pwd)
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 NO_COLOR=1 TERM=dumb

touch /tmp/out
trap '[ $? = 0 ] || { say "the last output was:" && tail -n 20 /tmp/out; }' EXIT

say()
{
    echo "trial: $*"
}

apt()
{
    apt-get -y -q --no-install-recommends "$@" >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log && exit 1; }
}

# As one without rights, in a folder of their own.
user()
{
    su -s /bin/sh -c "cd /home/student && $1" student
}

find / -xdev \( -path /proc -o -path "$here" \) -prune -o -name '*mase*' -print | grep . && say "there is mase already" && exit 1
useradd -m student
apt update

say "the program"
apt install "$here"/mase_*.deb
user 'ch transform --config /usr/share/doc/mase/configs/examples/jsc_toy_by_type.toml --task cls --cpu=0' >/tmp/out 2>/tmp/log
grep -q '| seq_blocks_2 | seq_blocks_2 | module_related_func | linear       | Linear          | LinearInteger    | True      |' /tmp/out
user 'test -s mase_output/jsc-tiny/run.json'
user 'ch train jsc-tiny jsc --max-epochs 1 --batch-size 256 --project first' >/tmp/out 2>&1
user 'ch test jsc-tiny jsc --load mase_output/first/software/training_ckpts/best.ckpt' >/tmp/out 2>&1
grep -q test_acc /tmp/out
test -s /usr/share/man/man1/ch.1.gz
test -s /usr/share/bash-completion/completions/ch
if ldd /usr/bin/ch | grep -E 'not found|libmase'; then exit 1; fi

say "what it says where Python and HDF5 are not"
user 'printf "import torch\n" >net.py; ch show net.py:Net jsc' >/tmp/out 2>&1 && exit 1
grep -q python3 /tmp/out

say "the documents and examples"
apt install "$here"/mase-doc_*.deb
for document in README.md docs/tutorial.md examples/own_network/net.py; do
    test -s /usr/share/doc/mase/$document
done

say "a program in C, and one in C++"
apt install "$here"/libmase0_*.deb "$here"/libmase-dev_*.deb gcc g++ libc6-dev pkg-config cmake make
program=/usr/share/doc/mase/examples/embed/embed.c
[ -f $program ] || program=/usr/share/doc/mase/examples/traverse/traverse.c
user "cc -std=c17 $program \$(pkg-config --cflags --libs mase) -o embed && ./embed" >/tmp/out
test -s /tmp/out
user "readelf -d embed | grep -q 'libmase\.so\.0'"
user "cc -std=c17 $program \$(pkg-config --static --cflags --libs mase | sed s/-lmase/-l:libmase.a/) -o fixed && ./fixed" >/tmp/again
cmp /tmp/out /tmp/again
user "cp -r $here/install . && cmake -S install/cxx -B cxx && cmake --build cxx && cxx/shared && cxx/static" >/tmp/out 2>&1

say "a pass of one's own"
user "cc -std=c17 -shared -fPIC \$(pkg-config --cflags mase) /usr/share/doc/mase/examples/own_pass/own_pass.c -o libown_pass.so"
user 'ch passes small_weights --plugin ./libown_pass.so' | grep -q threshold

say "Python, and networks in it"
apt install "$here"/python3-mase_*.deb
user 'python3 -c "import mase; print(mase.__version__)"' >/tmp/out
user "ch --version" | grep -qF " $(cat /tmp/out)"
user 'ch show /usr/share/doc/mase/examples/own_network/net.py:Test jsc' >/tmp/out 2>&1
[ -f "$here/trial.py" ] && user "python3 $here/trial.py"

if [ "${1-}" = notebooks ] && [ -d /usr/share/doc/mase/docs/notebooks ]; then
    say "the notebooks"
    apt install jupyter-nbconvert python3-ipykernel python3-matplotlib
    for notebook in /usr/share/doc/mase/docs/notebooks/*.ipynb; do
        user "cp $notebook . && jupyter nbconvert --to notebook --execute --output done.ipynb ${notebook##*/}" >/tmp/out 2>&1
    done
fi

say "all of it removed"
apt purge mase mase-doc libmase0 libmase-dev python3-mase
find / -xdev \( -path /proc -o -path "$here" -o -path /home -o -path /tmp \) -prune -o -name '*mase*' -print >/tmp/left
if grep -v '^/var/l' /tmp/left; then
    say "this is left" && exit 1
fi
say "everything went well"
