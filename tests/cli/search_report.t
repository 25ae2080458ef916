# A search on the terminal and in its page; runs compared; a folder of projects; studies that show little.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME

has() { holds "$1" grep -qF -e "$2" "$page"; }
lacks() { holds "$1" sh -c '! grep -qF -e "$1" "$2"' sh "$2" "$page"; }
section() { has "has the section $1" "<section id=\"$1\""; }
no_section() { lacks "has no section $1" "<section id=\"$1\""; }

cat >two.toml <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "two"
load_name = "mase_output/t/software/training_ckpts/best.ckpt"
seed = 1
[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
[search.search_space.setup]
by = "name"
[search.search_space.seed.default.config]
name = ["NA"]
[search.search_space.seed.seq_blocks_2.config]
name = ["integer"]
data_in_width = [4, 6, 8]
data_in_frac_width = ["auto"]
weight_width = [2, 4, 8]
weight_frac_width = ["auto"]
bias_width = [4, 8]
bias_frac_width = ["auto"]
[search.strategy]
name = "optuna"
eval_mode = true
[search.strategy.sw_runner.basic_evaluation]
data_loader = "val_dataloader"
num_samples = 2048
[search.strategy.hw_runner.average_bitwidth]
compare_to = 32
[search.strategy.setup]
n_jobs = 1
n_trials = 40
timeout = 20000
sampler = "random"
sum_scaled_metrics = false
[search.strategy.metrics]
accuracy.scale = 1.0
accuracy.direction = "maximize"
average_bitwidth.scale = 0.2
average_bitwidth.direction = "minimize"
END
sed 's/project = "two"/project = "one"/; /^average_bitwidth/d' two.toml >one.toml
sed 's/project = "two"/project = "none"/; s/timeout = 20000/timeout = 1e-9/' two.toml >none.toml

# ---- two objectives ----

run train jsc-tiny jsc --max-epochs 1 --batch-size 1024 --learning-rate 0.01 --project t
succeeds "the network that is searched"
run search --config two.toml
succeeds "a search"
sed -n '/^40 trials/,$p' "$T/out" >shown
if [ "${BLESS:-}" ]; then cp shown "$HERE/expected/search_report/two.txt"; fi
holds "shows its front, what mattered, and bits" diff -u "$HERE/expected/search_report/two.txt" shown
run search --config two.toml --json --project json
succeeds "as JSON"
out_has "importance is a table" '"importance": \['
out_has "bits are one" '"bits": \['
out_lacks "charts are for people" '●'
rm -r mase_output/json

run report mase_output/two --test never --samples 0
succeeds "its page"
page=mase_output/two/report.html
for s in search parameters chosen graph layers configuration record; do section $s; done
for s in training sweep quantised testing; do no_section $s; done
has "tells how trials ended" '<p>40 trials: 40 complete.</p>'
has "draws the front" '<h3>accuracy over 0.2 x average_bitwidth</h3>'
has "with error bars" '&#34;spread&#34;:['
has "beside the network before" 'before the search, '
has "draws the course" '<h3>accuracy</h3>'
has "tests the best" '>Test accuracy</button>'
has "draws parallel coordinates" 'class="parallel"'
has "has a line for each trial" '40 of 40 complete trials, 3 of 3 parameters'
has "shades bits" '<td class="s9">8</td>'
holds "loads nothing" sh -c '! grep -Eq "(src|href)=\"[^#]|@import|url\(" "$1"' sh $page

run report mase_output/two/software/search_ckpts/study.db
succeeds "the page of the study alone"
page=mase_output/two/software/search_ckpts/study.html
out_is "lies beside it" <<END
$page
END
for s in search parameters chosen; do section $s; done
no_section configuration
has "is called as the study" '<h1>two</h1>'

# ---- one objective ----

run search --config one.toml
succeeds "a search for accuracy"
out_lacks "has no front" '● front'
out_has "but a course" '● best so far'
run report mase_output/one --test never --samples 0
page=mase_output/one/report.html
lacks "nor in its page" ' over '
has "which has the best" '<h3>The best</h3>'

# ---- elsewhere ----

run search --config two.toml --project far --storage far.db --study mine --trials 5
run report mase_output/far --test never --samples 0
page=mase_output/far/report.html
has "a study in another file is found" '<p>5 trials: 5 complete.</p>'
run search --config two.toml --project further --storage far.db --study other --trials 5
run report far.db
refuses "a file of two studies" far.db 2 mine other
mv far.db gone.db
run report mase_output/far --test never --samples 0
succeeds "one that is gone"
has "is missed" 'the trials are not shown: '
no_section search
has "and the rest is shown" '<section id="graph"'

# ---- little to show ----

run search --config none.toml
succeeds "a search of no trials"
out_has "says so" '^0 trials$'
run report mase_output/none --test never --samples 0
succeeds "has a page"
page=mase_output/none/report.html
has "which says so" '<p>0 trials.</p>'
no_section parameters
no_section chosen
head -c 3000 mase_output/two/software/search_ckpts/study.db >cut.db
run report cut.db
refused "a file that is cut off" '^cut\.db: '
holds "has no page" test ! -e cut.html
echo "not a study" >text.db
run report text.db
refused "a text" '^text\.db: '

# ---- several runs ----

run train jsc-tiny jsc --max-epochs 2 --batch-size 512 --learning-rate 0.01 --project u
run report mase_output/t mase_output/u
succeeds "two trainings"
page=mase_output/comparison.html
out_is "are compared beside the first" <<END
$page
END
for s in runs curves differences; do section $s; done
has "their curves share a chart" '<h3>Validation accuracy</h3>'
has "batch sizes differ" '<th scope="row">batch_size</th><td>1024</td><td>512</td>'
lacks "learning rates do not" '<th scope="row">learning_rate</th>'
lacks "names of projects say nothing" '<th scope="row">project</th>'
holds "has a script, and no other" test "$(grep -c '<script' $page)" -eq 1
run report mase_output/t mase_output/t --output same.html
page=same.html
has "a run is like itself" 'The configurations are the same.'
run report mase_output/one mase_output/t mase_output/two mase_output/two/software/search_ckpts/study.db --output all.html
succeeds "a training, searches and a study"
page=all.html
has "have best trials" '<th scope="row">best accuracy</th>'
has "and a chart of them" '<h3>Best accuracy so far</h3>'
run report mase_output/t nowhere
refuses "a run that is not there" nowhere folder
run report mase_output/t mase_output/u two.toml
refuses "a file among runs" two.toml file

# ---- a folder of projects ----

mkdir mase_output/empty mase_output/broken
echo '{ "action": ' >mase_output/broken/run.json
echo hello >mase_output/readme.txt
mkdir "mase_output/<b>?#%"
cp mase_output/t/run.json "mase_output/<b>?#%/"
cp mase_output/one/report.html "mase_output/<b>?#%/"
run report mase_output
succeeds "a folder of projects"
page=mase_output/index.html
out_is "has an index" <<END
$page
END
section projects
holds "with a line for each run" test "$(grep -c '<th scope="row">' $page)" -eq 9
has "pages are linked" '<a href="./two/report.html">two</a>'
has "a run without one is not" '<th scope="row">u</th>'
has "characters of names are no markup and no part of links" '<a href="./%3Cb%3E%3F%23%25/report.html">&#60;b&#62;?#%</a>'
has "a search has its numbers" 'trials 40, best test accuracy '
has "a training has its" 'validation accuracy '
has "a broken record says why" 'mase_output/broken/run.json: '
mkdir -p others/a/b others/c
echo text >others/c/notes.txt
run report others
refuses "a folder of other things" others run.json
holds "has no index" test ! -e others/index.html
