#!/usr/bin/env python3
"""The pages of ch report in a real browser: report_page.py CH [PICTURE.png]

Nothing may be said on the console, forbidden by the page's own policy or loaded from elsewhere;
nothing may stick out sideways on a phone; text must have contrast in light and dark; tables sort,
charts tell values, the drawing moves and leads to the table. Status 77 where there is no Chromium. With a second argument
the page of a training is only photographed, for docs/report.png.
"""

import os
import subprocess
import sys
import tempfile

from browser import Browser

SKIPPED = 77

# Text whose contrast with its ground is too small, by WCAG AA. The ground of a text in a box of the
# drawing is the box.
CONTRAST = """
(() => {
    const rgba = (text) => {
        const m = text.match(/[\\d.]+/g).map(Number);
        return { c: m.slice(0, 3), a: m.length > 3 ? m[3] : 1 };
    };
    const light = (c) => {
        const [r, g, b] = c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92
            : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const groundOf = (e) => {
        const box = e.closest("g.node") && e.closest("g.node").querySelector(".box");
        if (box)
            return rgba(getComputedStyle(box).fill).c;
        for (; e; e = e.parentElement) {
            const g = rgba(getComputedStyle(e).backgroundColor);
            if (g.a === 1)
                return g.c;
        }
        return [255, 255, 255];
    };
    const bad = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let n; (n = walker.nextNode());) {
        const e = n.parentElement;
        if (!n.data.trim() || e.closest("script, style, title"))
            continue;
        const s = getComputedStyle(e);
        const ink = rgba(e.ownerSVGElement ? s.fill : s.color).c, ground = groundOf(e);
        const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        const large = parseFloat(s.fontSize) >= 24;
        if (ratio < (large ? 3 : 4.5))
            bad.push(`${n.data.trim().slice(0, 30)}: ${ratio.toFixed(2)}`);
    }
    return bad;
})()
"""

COLUMN = """
Array.from(document.querySelectorAll("#layers tbody tr"),
           (row) => Number(row.children[%d].dataset.v))
"""


SEARCH = """
model = "jsc-toy"
dataset = "jsc"
project = "s"
load_name = "mase_output/t/software/training_ckpts/best.ckpt"
[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
[search.search_space.setup]
by = "type"
[search.search_space.seed.default.config]
name = ["NA"]
[search.search_space.seed.linear.config]
name = ["integer"]
data_in_width = [4, 8]
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
num_samples = 4096
[search.strategy.hw_runner.average_bitwidth]
compare_to = 32
[search.strategy.setup]
n_trials = 50
sampler = "random"
sum_scaled_metrics = false
[search.strategy.metrics]
accuracy.scale = 1.0
accuracy.direction = "maximize"
average_bitwidth.scale = 0.2
average_bitwidth.direction = "minimize"
"""


def ch(program, folder, *args):
    done = subprocess.run([program, *args], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "MASE_DATA": "", "XDG_CACHE_HOME": folder})
    if done.returncode:
        sys.exit(f"ch {' '.join(args)}: {done.stderr}")
    return done.stdout.strip()


def make_pages(program, folder):
    """A training, a transformation of it, a network with a name that is markup, a training that
    learns bits, a search, a comparison of two of them, and an index of all."""
    with open(f"{folder}/q.toml", "w") as f:
        f.write('model = "jsc-toy"\ndataset = "jsc"\nproject = "q"\n'
                'load_name = "mase_output/t/software/training_ckpts/best.ckpt"\n'
                '[passes.quantize]\nby = "type"\n'
                '[passes.quantize.default.config]\nname = "NA"\n'
                '[passes.quantize.linear.config]\nname = "integer"\n'
                'data_in_width = 8\ndata_in_frac_width = 4\nweight_width = 6\n'
                'weight_frac_width = 4\nbias_width = 8\nbias_frac_width = 4\n')
    with open(f"{folder}/x.toml", "w") as f:
        f.write('dataset = "toy_tiny"\nproject = "x"\nmax_epochs = 1\n[model]\n'
                'name = "<img src=x onerror=\'document.title=1\'>\\"</script><b>"\n'
                'layers = ["Flatten()", "Linear(4, 2)"]\n')
    with open(f"{folder}/b.toml", "w") as f:
        f.write('model = "toy"\ndataset = "toy_tiny"\nproject = "b"\nmax_epochs = 3\n'
                'learning_rate = 0.01\nebops_weight = 0.001\n[passes.quantize]\nby = "type"\n'
                '[passes.quantize.default.config]\nname = "NA"\n'
                '[passes.quantize.linear.config]\nname = "hgq"\ndata_in_width = 6\n'
                'weight_width = 6\nweight_block_size = 1\nbias_width = 6\n')
    with open(f"{folder}/s.toml", "w") as f:
        f.write(SEARCH)
    ch(program, folder, "train", "--config", "b.toml")
    ch(program, folder, "train", "jsc-toy", "jsc", "--max-epochs", "3", "--batch-size", "512",
       "--learning-rate", "1e-2", "--project", "t")
    ch(program, folder, "transform", "--config", "q.toml")
    ch(program, folder, "train", "--config", "x.toml")
    ch(program, folder, "search", "--config", "s.toml")
    operands = [["mase_output/" + name] for name in "tqxbs"]
    operands += [["mase_output/t", "mase_output/s"], ["mase_output"]]
    return ["file://" + folder + "/" + ch(program, folder, "report", *o) for o in operands]


class Check:
    def __init__(self, browser):
        self.b, self.failed = browser, 0

    def that(self, name, holds, why=""):
        print(f"{'ok' if holds else 'not ok'} - {name}{'' if holds else ': ' + str(why)}")
        self.failed += not holds

    def same(self, name, got, expected):
        self.that(name, got == expected, f"{got!r}, expected {expected!r}")


def check_looks(check, url, name, charts=True):
    b = check.b
    for scheme in ("light", "dark"):
        for width in (1280, 400):
            what = f"{name}, {scheme}, {width} px"
            b.complaints.clear()
            b.open(url, width=width, scheme=scheme)
            check.same(f"{what}: the script came to its end",
                       b.evaluate("document.documentElement.dataset.ready"), "yes")
            check.same(f"{what}: no complaints", b.complaints, [])
            wide = b.evaluate("document.documentElement.scrollWidth")
            check.that(f"{what}: nothing sticks out", wide <= width, wide)
            check.same(f"{what}: contrast", b.evaluate(CONTRAST), [])
    b.look(media="print", scheme="dark")
    check.same(f"{name}, on paper: black on white", b.evaluate(
        "getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
    if not charts:
        return
    check.same(f"{name}, on paper: charts, too", b.evaluate(
        'getComputedStyle(document.querySelector(".plot text, .histogram text")).fill')
        in ("rgb(36, 41, 47)", "rgb(87, 96, 106)"), True)
    check.that(f"{name}, on paper: no contents to click", b.evaluate(
        'Array.from(document.querySelectorAll("nav"), (n) => getComputedStyle(n).display)') in ([], ["none"]))


def check_tables(check, url):
    b = check.b
    b.open(url)
    column = b.evaluate('Array.from(document.querySelectorAll("#layers thead th"),'
                        '(h) => h.textContent).indexOf("Parameters")')
    header = f'document.querySelectorAll("#layers thead th")[{column}]'
    before = b.evaluate(COLUMN % column)
    b.evaluate(f"{header}.firstChild.click()")
    check.same("a click sorts, largest first", b.evaluate(COLUMN % column),
               sorted(before, reverse=True))
    check.same("and says so", b.evaluate(f'{header}.getAttribute("aria-sort")'), "descending")
    b.evaluate(f"{header}.firstChild.focus()")
    b.key("Enter")
    check.same("the Enter key turns the order, as numbers", b.evaluate(COLUMN % column),
               sorted(before))
    check.that("which is not that of text", sorted(before) != sorted(before, key=str))
    b.evaluate('document.querySelector("#layers thead button").click()')
    check.same("another column takes over",
               b.evaluate(f'{header}.getAttribute("aria-sort")'), None)
    names = b.evaluate('Array.from(document.querySelectorAll("#layers tbody th"),'
                       '(h) => h.textContent)')
    check.that("text sorts with its numbers as numbers",
               names.index("seq_blocks_2") < names.index("seq_blocks_10")
               if "seq_blocks_10" in names else names == sorted(names), names)


def check_charts(check, url):
    b = check.b
    b.open(url)
    x, y = b.evaluate('(() => { const r = document.querySelector("svg[data-plot]")'
                      '.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()')
    b.mouse("mouseMoved", x, y)
    told = 'document.querySelector(".readout").textContent'
    check.that("a chart tells its values", "validation 0." in b.evaluate(told)
               or "validation 1." in b.evaluate(told), b.evaluate(told))
    b.evaluate('document.querySelector("svg[data-plot]").focus()')
    b.key("End")
    check.that("and by keys", b.evaluate(told).startswith("epoch 3: validation"), b.evaluate(told))


def check_bits(check, url):
    b = check.b
    b.open(url)
    plots = b.evaluate('Array.from(document.querySelectorAll("#bits svg[data-plot]"), (p) => [p.parentNode.'
                       'querySelector("h3").textContent, JSON.parse(p.dataset.plot).series.map((s) => s.x)])')
    epochs = [[1, 2, 3]]
    check.same("bits of three layers over three epochs", plots[:3],
               [[f"Mean bits of {what}", epochs * 3] for what in ("weights", "data", "biases")])
    check.same("EBOPs over the epochs", plots[3], ["EBOPs", epochs])
    check.same("and accuracy against them, from left to right", plots[4][1][0], sorted(plots[4][1][0]))
    check.same("a row for each layer", b.evaluate(
        'Array.from(document.querySelectorAll("#bits tbody th"), (h) => h.textContent)'),
        ["seq_blocks_0", "seq_blocks_2", "seq_blocks_4"])
    check.same("that leads to it", b.evaluate(
        'Array.from(document.querySelectorAll("#bits tbody a"), (a) => !!document.querySelector(a.hash))'),
        [True] * 3)


def check_search(check, url):
    b = check.b
    b.open(url)
    plots = b.evaluate('Array.from(document.querySelectorAll("#search svg[data-plot]"), (p) => '
                       'JSON.parse(p.dataset.plot).series.map((s) => [s.name, s.x, s.y, s.spread]))')
    trials, front, before = plots[0]
    check.same("a point for each trial", len(trials[1]), 50)
    front_points = list(zip(front[1], front[2]))
    best = [p for p in zip(trials[1], trials[2])
            if not any(q != p and q[0] <= p[0] and q[1] >= p[1] for q in zip(trials[1], trials[2]))]
    check.same("the front is what no trial dominates", sorted(set(front_points)), sorted(set(best)))
    check.that("its points have error bars", all(s > 0 for s in front[3]), front[3])
    check.that("the network before is a level", before[0].startswith("before the search, ")
               and len(set(before[2])) == 1, before)
    check.same("one for both objectives' courses", [p[1][0] for p in plots[1:]], ["best so far"] * 2)
    check.that("accuracy only gets better", plots[1][1][2] == sorted(plots[1][1][2]), plots[1][1])
    check.same("a line for each trial", b.evaluate('document.querySelectorAll(".parallel path.line").length'), 50)
    shares = b.evaluate('Array.from(document.querySelectorAll("#parameters tbody tr"), '
                        '(r) => Array.from(r.querySelectorAll("td"), (c) => Number(c.dataset.v)))')
    check.that("importances sum to 1", all(abs(sum(column) - 1) < 1e-9 for column in zip(*shares)), shares)
    check.that("there are shades of bits", b.evaluate('document.querySelectorAll("#chosen td[class]").length') > 8)


def check_drawing(check, url):
    b = check.b
    b.open(url)
    port = 'document.querySelector(".viewport")'
    view = 'document.querySelector(".viewport > svg").getAttribute("viewBox").split(" ").map(Number)'
    b.evaluate(f'{port}.scrollIntoView({{ block: "center" }})')
    x, y, w, h = b.evaluate(f"(() => {{ const r = {port}.getBoundingClientRect();"
                            "return [r.x, r.y, r.width, r.height]; })()")
    first = b.evaluate(view)
    b.mouse("mouseWheel", x + w / 2, y + h / 2, deltaX=0, deltaY=-100, modifiers=2)
    closer = b.evaluate(view)
    check.that("the wheel zooms", closer[2] < first[2], (first, closer))
    b.mouse("mousePressed", x + 40, y + 40, button="left", buttons=1, clickCount=1)
    b.mouse("mouseMoved", x + 80, y + 20, buttons=1)
    b.mouse("mouseReleased", x + 80, y + 20, button="left", clickCount=1)
    moved = b.evaluate(view)
    check.that("the mouse drags", moved[:2] != closer[:2] and moved[2:] == closer[2:],
               (closer, moved))
    b.evaluate(f"{port}.focus()")
    b.key("-")
    check.that("keys zoom", b.evaluate(view)[2] > moved[2], b.evaluate(view))
    b.key("ArrowDown")
    b.evaluate('document.querySelector("[data-zoom=in]").click()')
    near = b.evaluate(view)
    b.evaluate('document.querySelector("[data-zoom=fit]").click()')
    check.that("buttons zoom and fit", b.evaluate(view)[3] > near[3], (near, b.evaluate(view)))
    x, y = b.evaluate('(() => { const r = document.querySelector("g.node .box")'
                      '.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()')
    for kind in ("mousePressed", "mouseReleased"):
        b.mouse(kind, x, y, button="left", clickCount=1)
    name = b.evaluate('document.querySelector("g.node").dataset.node')
    check.same("a box leads to its row", b.evaluate("location.hash"), "#layer-" + name)
    b.evaluate('document.querySelector("#layers tbody tr:last-child a").click()')
    b.evaluate("new Promise((done) => setTimeout(done, 100))")
    check.that("and a row to its box", b.evaluate(
        "(() => { const r = document.querySelector(':target').getBoundingClientRect(), "
        f"p = {port}.getBoundingClientRect(); return r.top >= p.top && r.bottom <= p.bottom; }})()"))


def check_policy(check, url):
    b = check.b
    b.complaints.clear()
    b.open(url)
    check.same("markup in a name is text", b.evaluate('document.querySelectorAll("img, h1 b").length'), 0)
    check.that("and the title is whole", b.evaluate("document.title").startswith("<img src=x"))
    check.same("without complaints", b.complaints, [])
    b.evaluate('(() => { const s = document.createElement("script"); s.textContent = '
               '"document.title = 2"; document.body.append(s); })()')
    b.evaluate("new Promise((done) => setTimeout(done, 50))")
    check.that("a script of others would be stopped, and we would hear of it",
               b.complaints and b.evaluate("document.title") != "2", b.complaints)


def main():
    program = os.path.abspath(sys.argv[1])
    if not Browser.find():
        print("skipped: there is no chromium")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="mase-pages-") as folder, Browser() as b:
        pages = make_pages(program, folder)
        training, transformation, hostile, bits, search, comparison, index = pages
        if len(sys.argv) > 2:
            b.open(training, width=1180, height=1240)
            b.screenshot(sys.argv[2])
            return 0
        check = Check(b)
        check_looks(check, training, "a training")
        check_looks(check, transformation, "a transformation")
        check_tables(check, transformation)
        check_charts(check, training)
        check_looks(check, bits, "learned bits")
        check_looks(check, search, "a search")
        check_search(check, search)
        check_looks(check, comparison, "a comparison")
        check_looks(check, index, "an index", charts=False)
        check_bits(check, bits)
        check_drawing(check, transformation)
        check_policy(check, hostile)
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
