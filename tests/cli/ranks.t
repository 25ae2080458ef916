# mpirun -n N ch train: the bits of one process, however many there are and whatever is trained; one voice; a process
# that is killed ends the job, which goes on from its checkpoint with any number of processes.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # in a container the tests may be root's
export OMPI_MCA_mpi_yield_when_idle=1                            # tests run side by side
unset OMP_NUM_THREADS || :
command -v mpirun >/dev/null || {
    skip "processes share a training" "mpirun is not installed (scripts/packages install scale)"
    return 0
}

# ranks N ARGS...: ch ARGS in N processes, as `run`
ranks()
{
    n=$1
    shift
    mpirun --oversubscribe --bind-to none -n "$n" "$CH" "$@" >"$T/out" 2>"$T/err" </dev/null
    status=$?
}
ckpt() { echo "mase_output/$1/software/training_ckpts/last.ckpt"; }
quick="--max-steps 12 --max-epochs 2 --batch-size 2000 --learning-rate 1e-2 --seed 5"

# shellcheck disable=SC2086 # words
ranks 2 train jsc-toy jsc-sim $quick --project two
if grep -q 'built without Open MPI' "$T/err"; then
    skip "processes share a training" "ch was built without Open MPI"
    return 0
fi
succeeds "two processes"
out_has "the table of one run" 'jsc-toy on jsc-sim, validated on 64000 rows'
holds "is printed once" test "$(grep -c 'validated on' "$T/out")" = 1
holds "and so are the lines of the log" test "$(grep -c 'Epoch 1/2: ' "$T/err")" = 1
err_has "which say how many take part" '^INFO +2 processes share each batch$'
holds "and run.json" grep -q '"processes": 2' mase_output/two/run.json
holds "one set of files" test "$(find mase_output/two -name 'events*' | wc -l)" = 1

# ---- what is trained ----

cat >nets.py <<'END'
import torch
import torch.nn as nn
import torch.nn.functional as F


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 6, 3)
        self.bn = nn.BatchNorm1d(6, momentum=None)
        self.drop = nn.Dropout(0.2)
        self.sn = torch.nn.utils.spectral_norm(nn.Linear(84, 8))
        self.w = nn.Parameter(torch.ones(8))
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.drop(torch.relu(self.bn(self.conv(x.unsqueeze(1))))).flatten(1)
        return self.fc(torch.tanh(self.sn(x)) * torch.exp(self.w))


def half(output, target):
    return 0.5 * F.cross_entropy(output, target) + 0.01 * output.pow(2).mean()


def mixing(output, target):
    return F.cross_entropy(output, target) - 0.1 * torch.softmax(output, 1).std(0).mean()
END
quantised() { printf '[passes.quantize]\nby = "type"\ndefault = { config = { name = "NA" } }\n[passes.quantize.linear.config]\n%s\n' "$1"; }
quantised 'name = "hgq"
data_in_width = 6
data_in_axis = 1
weight_width = 6
weight_block_size = 1
bias_width = 6' >hgq.toml
quantised 'name = "lsq"
data_in_width = 4
weight_width = 3
bias_name = "NA"' >lsq.toml
printf '[passes.prune]\nscope = "global"\nmethod = "movement"\nsparsity = 0.5\nbegin = 1\nend = 2\n' >prune.toml

# equal NAME "N..." ARGS...: the checkpoint of one process, and of so many
equal()
{
    what=$1 counts=$2
    shift 2
    # shellcheck disable=SC2086
    run train $quick "$@" --project "$what"
    succeeds "$what: one process"
    for count in $counts; do
        # shellcheck disable=SC2086
        ranks "$count" train $quick "$@" --project "$what$count"
        holds "$what: $count processes have its bits" cmp "$(ckpt "$what")" "$(ckpt "$what$count")"
    done
}
equal tiny "2 4" jsc-tiny jsc-sim
equal toy "1 2 4" jsc-toy jsc-sim
equal jsc_s "2 4" jsc-s jsc-sim
equal conv "2 4" nets.py:Conv jsc-sim
equal hgq "2 4" jsc-s jsc-sim --config hgq.toml --ebops-weight 0.001
equal accumulated 3 jsc-s jsc-sim --accumulate-grad-batches 3
equal averaged 3 jsc-toy jsc-sim --average-weights 0.9
equal clipped 3 jsc-toy jsc-sim --clip-norm 0.5 --class-weights balanced --label-smoothing 0.1
equal own 3 jsc-toy jsc-sim --loss nets.py:half
equal mixing 3 jsc-toy jsc-sim --loss nets.py:mixing
equal idle 4 jsc-toy jsc-sim --batch-size 1000
err_has "some have nothing to do, which is said" \
    'WARNING +a batch of 1000 samples has work for 2 of 4 processes: one takes 512 or fewer'
equal alone 2 jsc-toy jsc-sim --batch-size 500

# Over whole epochs, the last batch of which is smaller: phases, a teacher, masks.
quick="--max-epochs 3 --batch-size 100000 --learning-rate 1e-2 --seed 5"
equal taught 3 jsc-toy jsc-sim --config lsq.toml --distill 0.5 --quantize-after 1 \
    --freeze-bn-stats-after 2 --average-weights 0.9
equal pruned 3 jsc-toy jsc-sim --config prune.toml

for threads in 1 2; do
    for count in 1 2 4; do
        # shellcheck disable=SC2086
        OMP_NUM_THREADS=$threads ranks $count train jsc-toy jsc-sim $quick --project "t$threads$count"
        holds "$count processes of $threads threads" cmp "$(ckpt t11)" "$(ckpt "t$threads$count")"
    done
done

# ---- failures ----

# once NAME REGEX: status 2, and one line of ours
once()
{
    cp "$T/err" "$T/why"
    [ "$status" -eq 2 ] && [ "$(grep -Ec -e "$2" "$T/err")" = 1 ]
    report $? "$1"
}
ranks 3 train jsc-toy jsc-sim --bogus
once "a bad option is told once" "unknown option '--bogus'"
ranks 3 train jsc-toi jsc-sim
once "so is a model that there is not" "jsc-toi"
holds "nothing is written" test ! -e mase_output/jsc-toi_jsc-sim
# differing ARGS...: one of three processes has others
differing()
{
    # shellcheck disable=SC2016 # of the inner shell
    mpirun --oversubscribe --bind-to none -n 3 sh -c \
        'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then set -- "$@" '"$1"'; fi; exec "$CH" "$@"' sh \
        train jsc-toy jsc-sim --max-steps 4 --batch-size 2000 --project apart >"$T/out" 2>"$T/err"
    status=$?
}
differing '--loss absent.py:loss'
once "what one process has not" 'absent\.py: file not found \(on rank 1 of 3\)'
differing '--seed 6'
once "what one process has otherwise" 'rank 1 does not train what rank 0 does, since the start'

# shellcheck disable=SC2086
OMPI_COMM_WORLD_SIZE=2 run train jsc-toy jsc-sim $quick
refuses "a launcher that Open MPI does not know" ch 2 'srun --mpi=pmix'

# ---- a process is killed ----

train="train jsc-toy jsc-sim --max-epochs 6 --batch-size 2000 --learning-rate 1e-2 --seed 5"
# shellcheck disable=SC2086
run $train --project whole
for victim in 0 1; do
    rm -f pid.*
    # shellcheck disable=SC2016,SC2086
    mpirun --oversubscribe --bind-to none -n 2 sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$@"' sh \
        "$CH" $train --project killed$victim >"$T/out" 2>"$T/err" </dev/null &
    job=$!
    while ! [ -e "$(ckpt killed$victim)" ] && kill -0 $job 2>/dev/null; do sleep 0.05; done
    kill -KILL "$(cat pid.$victim)"
    wait $job
    status=$?
    holds "rank $victim is killed, and the job ends" test $status -ne 0
    run test jsc-toy jsc-sim --load "$(ckpt killed$victim)" --project killed$victim --log-level error
    succeeds "its checkpoint is whole"
    # shellcheck disable=SC2086
    ranks $((3 + victim)) $train --project killed$victim --resume
    succeeds "others go on"
    err_has "from there" 'Resuming after epoch [1-5]'
    holds "to the same bits" cmp "$(ckpt whole)" "$(ckpt killed$victim)"
done
