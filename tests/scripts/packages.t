# scripts/packages installs what is missing, asks when it must, and says so. dpkg-query, apt-get, id
# and sudo are stand-ins that read and write files here.
mkdir fake
cat >fake/dpkg-query <<'END'
#!/bin/sh
shift 3
for p; do grep -qx "$p" installed && echo "$p ii "; done
END
cat >fake/apt-get <<'END'
#!/bin/sh
case "$*" in
*--assume-no*) echo "Need to get 80.1 MB of archives."
    echo "After this operation, 305 MB of additional disk space will be used." ;;
*) echo "$*" >>calls
    [ -e broken ] && { echo "E: out of luck"; exit 100; }
    exit 0 ;;
esac
END
printf '#!/bin/sh\ncat uid\n' >fake/id
chmod +x fake/*
for tool in sh sed tail grep tr date mktemp rm cat env; do
    ln -s "$(command -v $tool)" fake/
done
everything=$(sh "$SOURCE/scripts/packages" list build test)
CH=$SOURCE/scripts/packages
SYSTEM=$PATH

offered()
{
    PATH=$PWD/fake run "$@"
    PATH=$SYSTEM
}
echo 0 >uid

run list test
out_has "a group is listed" '^libcmocka-dev$'
out_lacks "and no other" '^cmake$'

echo "$everything" >installed
offered install build test
succeeds "all is there"
err_is "nothing is said" </dev/null
holds "nothing is run" test ! -e calls

echo "$everything" | grep -vx -e cmake -e zlib1g-dev >installed
offered install build test
succeeds "as root"
err_has "what is missing is named" '^packages: not installed yet: cmake zlib1g-dev$'
err_has "with its size" '^  on disk: 305 MB$'
holds "and that alone is installed" grep -q 'install --no-install-recommends cmake zlib1g-dev$' calls

offered missing build
out_is "missing lists them" <<'END'
cmake
zlib1g-dev
END

rm -f calls
echo 1000 >uid
offered install build
refused "neither root nor sudo" \
    '^    apt-get update && apt-get install -y --no-install-recommends cmake zlib1g-dev$'
holds "installs nothing" test ! -e calls

printf '#!/bin/sh\necho "sudo $*" >>calls\n' >fake/sudo
chmod +x fake/sudo
offered install build
refused "sudo without a terminal" '^    sudo apt-get update && sudo apt-get install'
holds "does not run sudo" test ! -e calls

echo 0 >uid
touch broken
offered install build
refused "a failing apt-get" '^E: out of luck$'
err_has "shows the command" "^packages: apt-get failed; the command was: "

run install nonsense
refused "an unknown group" '^usage: '
