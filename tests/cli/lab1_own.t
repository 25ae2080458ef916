# Lab 1, tasks 4 and 5, with a file of one's own: a network with ten times the parameters, trained,
# tested and varied by its name. The transcript is golden: same seed, same bits, on any machine.
. "$HERE/transcript.sh"
write_jetnet

options='--max-steps 100 --batch-size 256 --learning-rate 1e-3'
say train jetnet.py:Small jsc $options --project small
say train jetnet.py:JetNet jsc $options --project jetnet
say test jetnet.py:JetNet jsc --load mase_output/jetnet/software/training_ckpts/best.ckpt \
    --project jetnet
same "the transcript" "$HERE/expected/labs/lab1_own.txt" "$T/transcript"
grep -h '"parameters"' mase_output/*/run.json | tr -dc '0-9\n' >"$T/shown"
printf '3279\n327\n' >"$T/expected"
same "ten times as many parameters" "$T/expected" "$T/shown"

run sweep jetnet.py:JetNet jsc --max-steps 20 --batch-size 128,256 --learning-rate 1e-2,1e-3 --project vary
succeeds "varied"
cut -d, -f1-8 mase_output/vary/software/sweep/sweep.csv >"$T/shown"
same "with these results" "$HERE/expected/labs/lab1_own.csv" "$T/shown"
