# ch report: the page of every kind of run, what is in it and what is not, and damaged folders.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME

has() { holds "$1" grep -qF -e "$2" "$page"; }
lacks() { holds "$1" sh -c '! grep -qF -e "$1" "$2"' sh "$2" "$page"; }
section() { has "has the section $1" "<section id=\"$1\""; }
no_section() { lacks "has no section $1" "<section id=\"$1\""; }

# ---- training ----

run train toy toy_tiny --max-epochs 3 --project t
run report mase_output/t
succeeds "a training"
page=mase_output/t/report.html
out_is "tells where the page is" <<END
$page
END
for s in training testing graph layers costs spreads configuration record; do section $s; done
for s in sweep quantised; do no_section $s; done
has "names what was run" '<h1>toy on toy_tiny</h1>'
has "measures the test split" 'Measured for this report.'
has "draws the loss for a script to read" '{&#34;x&#34;:['
has "shows best.ckpt" 'Parameters: best.ckpt.'
has "shows the command" 'ch train toy toy_tiny --max-epochs 3 --project t</pre>'
holds "draws every node once" test "$(grep -o 'data-node=' $page | wc -l)" -eq "$(grep -c '<tr id="layer-' $page)"
holds "loads nothing" sh -c '! grep -Eq "(src|href)=\"[^#]|@import|url\(" "$1"' sh $page
has "forbids everything but itself" "content=\"default-src 'none'; script-src 'sha256-"
lacks "has no script in an attribute" ' onclick='
lacks "has no style in an attribute" ' style='
for kind in script style; do
    sum=$(awk -v RS="</$kind>" -v tag="<$kind>" '{ i = index($0, tag); if (i) { printf "%s", substr($0, i + length(tag)); exit } }' $page |
        openssl dgst -sha256 -binary 2>"$T/why" | base64)
    if command -v openssl >/dev/null; then
        has "the policy has the hash of the $kind" "$kind-src 'sha256-$sum'"
    else
        skip "the policy has the hash of the $kind" "there is no openssl"
    fi
done

cp $page first.html
run report mase_output/t --output again.html --log-level error
out_is "writes where it is told" <<END
again.html
END
err_is "and says nothing else when asked to" </dev/null
holds "the same page for the same run" cmp first.html again.html
run report mase_output/t --samples 0 --test never
no_section testing
lacks "measures no activations" 'data_in_0</h4>'

run test toy toy_tiny --load mase_output/t/software/training_ckpts/last.ckpt --project t
run report mase_output/t --test never
section testing
has "a test of the same project is shown" 'weights: software/training_ckpts/last.ckpt.'
lacks "and not measured again" 'Measured for this report.'

# ---- the others ----

run test toy toy_tiny --load mase_output/t/software/training_ckpts/best.ckpt --project alone
run report mase_output/alone
succeeds "a test alone"
page=mase_output/alone/report.html
section testing
section spreads
no_section training

cat >q.toml <<'END'
model = "toy"
dataset = "toy_tiny"
load_name = "mase_output/t/software/training_ckpts/best.ckpt"
project = "q"
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.linear.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 4
weight_frac_width = 3
bias_width = 8
bias_frac_width = 4
END
run transform --config q.toml
run report mase_output/q
succeeds "a transformation"
page=mase_output/q/report.html
for s in testing graph layers quantised costs spreads; do section $s; done
no_section training
has "shows the types before and after" 'Linear → LinearInteger'
has "shows formats" 'data_in, bias integer(8, 4)'
has "draws the values of a format" 'class="code"'
has "shows costs before and after" 'class="was"'
has "compares the test with that before" 'Before the transforms the accuracy was'
has "shows the configuration file" 'weight_frac_width = 3'
echo '# changed' >>q.toml
run report mase_output/q
has "which must be the same still" 'The configuration file has changed since'
mv mase_output/t elsewhere
run report mase_output/q
succeeds "weights that are gone are no obstacle"
has "but the page says so" 'the weights that the run began with are gone: '
section costs
mv elsewhere mase_output/t

run sweep toy toy_tiny --max-epochs 1 --batch-size 32,64 --training-optimizer adam,sgd --project s
run report mase_output/s
succeeds "a sweep"
page=mase_output/s/report.html
section sweep
section graph
no_section spreads
no_section testing
holds "has a row for each configuration" test "$(grep -c '^<tr><td>' $page)" -eq 4
has "and a line for each batch size" 'batch_size 64</span>'

# ---- text that would be markup ----

cat >x.toml <<'END'
dataset = "toy_tiny"
project = "x"
max_epochs = 1
[model]
name = "<script>alert(1)<script>"
layers = ["Flatten()", "Linear(4, 8)", "ReLU()", "Linear(8, 2)"]
END
run train --config x.toml
succeeds "a network of an evil name"
run report mase_output/x
succeeds "and its page"
page=mase_output/x/report.html
has "shows the name" '<h1>&#60;script&#62;alert(1)&#60;script&#62; on toy_tiny</h1>'
holds "has no script but ours" test "$(grep -c '<script' $page)" -eq 1
lacks "the name is nowhere markup" '<script>alert'

# ---- sizes ----

run train jsc-s jsc --max-epochs 1 --batch-size 1024 --project jsc-s
run report mase_output/jsc-s
page=mase_output/jsc-s/report.html
succeeds "a training of jsc-s"
has "the stand-in is named" '<strong>Simulated data:</strong> simulated stand-in, not the CERN file'
holds "takes less than 2 MB" test "$(wc -c <$page)" -lt 2000000
cat >r.toml <<'END'
model = "resnet18"
dataset = "cifar10"
project = "r"
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.conv2d.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 8
weight_frac_width = 6
bias_width = 8
bias_frac_width = 4
END
run transform --config r.toml
run report mase_output/r
page=mase_output/r/report.html
succeeds "a transformation of resnet18"
has "says what it lacks" 'nothing is measured on data: dataset cifar10 is read from files'
section spreads
holds "takes less than 10 MB" test "$(wc -c <$page)" -lt 10000000
rm -rf mase_output/r mase_output/jsc-s

# ---- what is wrong ----

run report
refused "no folder" '^ch: no folder given; usage: ch report DIR\|STUDY\.db \[DIR\|STUDY\.db \.\.\.\]$'
run report a b
refuses "two folders that are not there" a folder
run report nowhere
refused "no such folder" '^nowhere: no such folder$'
run report q.toml
refused "a file" '^q\.toml: is a file, expected the folder of a run$'
mkdir empty
run report empty
refused "no run" '^empty: is not the folder of a run: it has no run\.json\.'
holds "and nothing is written" test ! -e empty/report.html
run report mase_output/t --max-epochs 3
refuses "an option of training" ch --max-epochs report
run train toy toy_tiny --samples 5
refuses "an option of reports" ch --samples train
run report mase_output/t --output mase_output/t/run.json/page.html
refused "a page that cannot be written" 'mase_output/t/run\.json'
run report mase_output/t --test sometimes
refused "an unknown occasion" 'sometimes'

# damaged FILE SED-COMMAND NAME REGEX: FILE of mase_output/t changed, refused, and restored.
damaged()
{
    rm -f mase_output/t/report.html
    cp "mase_output/t/$1" kept
    sed "$2" kept >"mase_output/t/$1"
    run report mase_output/t
    refused "$3" "$4"
    holds "$3: nothing is written" test ! -e mase_output/t/report.html
    mv kept "mase_output/t/$1"
}
r='mase_output/t/run\.json'
damaged run.json '5s/.*/{/' "a record that is no JSON" "^$r:[0-9]+:[0-9]+: "
damaged run.json '$d' "a record that ends early" "^$r:[0-9]+:[0-9]+: "
damaged run.json 's/"action"/"acting"/' "no action" "^$r:1:1: 'action' is missing"
damaged run.json 's/"action": "train"/"action": 5/' "an action that is a number" "^$r:3:13: 'action': expected string, got integer"
damaged run.json 's/"action": "train"/"action": "predict"/' "another action" "^$r:3:13: 'predict' is no action that reports are made of"
damaged run.json 's/"classes": 2/"classes": -2/' "minus two classes" "^$r:[0-9]+:[0-9]+: classes = -2 is outside 0\.\."
damaged run.json 's/"seed": 0,/"seed": "x",/' "a seed that is none" "^$r:[0-9]+:[0-9]+: "
m='mase_output/t/software/metrics\.csv'
damaged software/metrics.csv '1s/step/stop/' "metrics without steps" "^$m:1:1: the header has no column 'step'"
damaged software/metrics.csv '3s/,/,x/3' "metrics with a letter" "^$m:3:[0-9]+: "
damaged software/metrics.csv '3s/,.*//' "metrics with a short line" "^$m:3:[0-9]+: has 1 fields, the header 10"
damaged software/test/run.json 's/"recall": [0-9.]*/"recall": "much"/' "a test with words for numbers" \
    "^mase_output/t/software/test/run\.json:[0-9]+:[0-9]+: 'recall': expected number, got string"
damaged software/test/run.json 's/"answers"/"replies"/' "a test without answers" \
    "^mase_output/t/software/test/run\.json:[0-9]+:[0-9]+: 'answers' is missing"
damaged software/training_ckpts/best.ckpt '1,$d' "an empty checkpoint" '^mase_output/t/software/training_ckpts/best\.ckpt'
sed -i '3s/,[^,]*,[^,]*,/,nan,-nan,/4' mase_output/t/software/metrics.csv
run report mase_output/t
succeeds "a loss that is no number is a gap"
sed -i '2s/^adam/lion/' mase_output/s/software/sweep/sweep.csv
run report mase_output/s
refused "a sweep's table of other options" '^mase_output/s/software/sweep/sweep\.csv:2:1: expected training_optimizer = adam here'

# ---- a model of one's own ----

# What a report shows comes from the folder: the file may be gone, or be someone else's.
rm -rf mase_output
cat >net.py <<'END'
import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
    def forward(self, x):
        return self.fc(x.flatten(1))
END
printf 'model = "net.py:Net"\ndataset = "toy_tiny"\nproject = "f"\n[passes.report_graph]\n' >f.toml
run train net.py:Net toy_tiny --max-epochs 1 --project t
succeeds "training of a file"
run transform --config f.toml --load mase_output/t
succeeds "its transform"
run test net.py:Net toy_tiny --load mase_output/t --project x
succeeds "its test"
run sweep net.py:Net toy_tiny --max-epochs 1 --batch-size 32,64 --project s
succeeds "its sweep"
printf 'import os\nopen("executed", "w").close()\n' | cat - net.py >evil.py
mv evil.py net.py
for f in t f x s; do
    run report mase_output/$f --samples 0 --test never
    succeeds "report $f"
    page=mase_output/$f/report.html
    section graph
    holds "executes nothing" test ! -e executed
done
holds "transform kept what it began with" test -s mase_output/f/software/transform/graph.mg
rm mase_output/s/software/sweep/graph.mg
run report mase_output/s --samples 0 --test never
succeeds "a run of an earlier version"
err_has "asks before it executes" 'the network is not shown: it is net\.py:Net, which would be executed to see it; --trust allows that'
holds "and does not" test ! -e executed
run report mase_output/s --samples 0 --test never --trust
succeeds "with --trust"
holds "it is executed" sh -c 'grep -q "<section id=\"graph\"" mase_output/s/report.html'
