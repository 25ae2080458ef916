# How many threads compute: what the user allows, by the affinity mask or OMP_NUM_THREADS, unless he
# asks for a number. A batch of 4096 could use eight.
# with_threads PROJECT ARGS...: one step of training, whose messages are in $T/err
with_threads()
{
    project=$1
    shift
    run train jsc-tiny jsc --max-steps 1 --batch-size 4096 --project "$project" "$@"
}

export OMP_NUM_THREADS=3
with_threads three
err_has "OMP_NUM_THREADS allows three" ' with 3 threads$'
export OMP_NUM_THREADS=1
with_threads one
err_has "or one" ' with 1 thread$'
with_threads two --threads 2
err_has "a number asked for goes before" ' with 2 threads$'
unset OMP_NUM_THREADS
if command -v taskset >/dev/null; then
    first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    taskset -cp "$first" $$ >/dev/null
    with_threads bound
    err_has "one CPU, one thread" ' with 1 thread$'
else
    skip "one CPU, one thread" "there is no taskset"
fi
holds "results are the same" cmp "$(find . -path '*three*' -name 'last.ckpt')" \
    "$(find . -path '*one*' -name 'last.ckpt')"
