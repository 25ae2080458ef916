// What a report does when it is touched: tables sort, charts tell their values, the drawing moves.
// Without it everything is still there to be read.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

// ---- tables ----

// A cell's number if it has one; else its text. Cells with nothing to say come last either way.
function keyOf(row, column) {
    const cell = row.children[column];
    if (cell.dataset.v !== undefined)
        return Number(cell.dataset.v);
    const text = cell.textContent.trim();
    return text === "–" || text === "-" || text === "" ? null : text;
}

function compare(a, b) {
    return typeof a === "number" && typeof b === "number" ? a - b
        : String(a).localeCompare(String(b), "en", { numeric: true });
}

function sortBy(table, header, column) {
    const numbers = header.classList.contains("n");
    const was = header.getAttribute("aria-sort");
    const ascending = was ? was === "descending" : !numbers;
    const rows = Array.from(table.tBodies[0].rows, (row) => ({ row, key: keyOf(row, column) }));
    rows.sort((a, b) => a.key === null || b.key === null ? (a.key === null) - (b.key === null)
        : ascending ? compare(a.key, b.key) : compare(b.key, a.key));
    for (const other of header.parentNode.children)
        other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    table.tBodies[0].append(...rows.map((r) => r.row));
}

for (const table of document.querySelectorAll("table.sortable")) {
    const headers = Array.from(table.tHead.rows[0].cells);
    headers.forEach((header, column) => {
        header.firstChild.addEventListener("click", () => sortBy(table, header, column));
    });
}

// ---- charts ----

function toPixel(axis, value) {
    const [from, to, lo, hi, logarithmic] = axis;
    return from + ((logarithmic ? Math.log10(value) : value) - lo) / (hi - lo) * (to - from);
}

function nearest(series, axis, pixel) {
    let best = -1, distance = Infinity;
    series.x.forEach((x, i) => {
        const d = Math.abs(toPixel(axis, x) - pixel);
        if (series.y[i] !== null && d < distance)
            [best, distance] = [i, d];
    });
    return best;
}

function short(value) {
    return Number(value.toPrecision(5)).toString();
}

function chart(svg) {
    const data = JSON.parse(svg.dataset.plot);
    const readout = svg.parentNode.querySelector(".readout");
    const label = svg.parentNode.querySelector("h3").textContent;
    const cursor = document.createElementNS(SVG, "g");
    cursor.setAttribute("aria-hidden", "true");
    svg.append(cursor);

    function mark(series, i, colour) {
        const dot = document.createElementNS(SVG, "circle");
        dot.setAttribute("class", "m" + colour % 7);
        dot.setAttribute("r", 4.5);
        dot.setAttribute("cx", toPixel(data.x, series.x[i]));
        dot.setAttribute("cy", toPixel(data.y, series.y[i]));
        cursor.append(dot);
    }

    function show(pixel) {
        const line = document.createElementNS(SVG, "path");
        const told = [];
        let at = null;
        cursor.replaceChildren(line);
        data.series.forEach((series, colour) => {
            const i = nearest(series, data.x, pixel);
            if (i < 0)
                return;
            if (at === null || Math.abs(toPixel(data.x, series.x[i]) - pixel) < at.distance)
                at = { x: series.x[i], distance: Math.abs(toPixel(data.x, series.x[i]) - pixel) };
            mark(series, i, colour);
            told.push((data.series.length > 1 ? series.name : label.toLowerCase()) + " " + short(series.y[i]));
        });
        if (at === null)
            return null;
        const x = toPixel(data.x, at.x);
        line.setAttribute("class", "cursor");
        line.setAttribute("d", `M${x} ${data.y[0]}V${data.y[1]}`);
        const name = data.names ? data.names[at.x] : short(at.x);
        readout.textContent = (data.label ? data.label + " " : "") + name + ": " + told.join(" · ");
        return x;
    }

    svg.addEventListener("pointermove", (event) => {
        const box = svg.getBoundingClientRect();
        show((event.clientX - box.left) / box.width * svg.viewBox.baseVal.width);
    });
    svg.addEventListener("pointerleave", () => {
        cursor.replaceChildren();
        readout.textContent = "";
    });

    // The arrow keys go from point to point.
    const stops = Array.from(new Set(data.series.flatMap((s) => s.x))).sort((a, b) => a - b);
    let stop = -1;
    svg.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1, Home: -stops.length, End: stops.length }[event.key];
        if (!step)
            return;
        event.preventDefault();
        stop = Math.max(0, Math.min(stops.length - 1, stop + step));
        show(toPixel(data.x, stops[stop]));
    });
}

document.querySelectorAll("svg[data-plot]").forEach(chart);

// ---- the drawing ----

function drawing(figure) {
    const port = figure.querySelector(".viewport");
    const svg = port.querySelector("svg");
    const whole = { width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height };
    const view = { x: 0, y: 0, scale: 1 }; // the corner in the drawing, and pixels to its unit
    const CLOSEST = 4;

    function fitScale() {
        return Math.min(port.clientWidth / whole.width, port.clientHeight / whole.height);
    }

    function farthest() {
        return Math.min(fitScale(), 1);
    }

    // Some of the drawing stays in sight.
    function apply() {
        const width = port.clientWidth / view.scale, height = port.clientHeight / view.scale;
        const centred = (extent, seen, at) => seen >= extent ? (extent - seen) / 2
            : Math.max(-seen / 4, Math.min(extent - seen * 3 / 4, at));
        view.x = centred(whole.width, width, view.x);
        view.y = centred(whole.height, height, view.y);
        svg.setAttribute("viewBox", `${view.x} ${view.y} ${width} ${height}`);
        port.classList.toggle("near", view.scale > fitScale() * 1.01);
    }

    // By a factor, around a point of the viewport in pixels.
    function zoom(factor, px = port.clientWidth / 2, py = port.clientHeight / 2) {
        const scale = Math.max(farthest(), Math.min(CLOSEST, view.scale * factor));
        view.x += px / view.scale - px / scale;
        view.y += py / view.scale - py / scale;
        view.scale = scale;
        apply();
    }

    function move(dx, dy) {
        view.x -= dx / view.scale;
        view.y -= dy / view.scale;
        apply();
    }

    function fit() {
        view.scale = farthest();
        view.x = view.y = 0;
        apply();
    }

    // At first in a size that can be read, from the top.
    function start() {
        view.scale = Math.max(farthest(), Math.min(1, Math.max(0.8, port.clientWidth / whole.width)));
        view.x = (whole.width - port.clientWidth / view.scale) / 2;
        view.y = 0;
        apply();
    }

    const buttons = { in: () => zoom(1.4), out: () => zoom(1 / 1.4), fit };
    for (const button of figure.querySelectorAll("[data-zoom]"))
        button.addEventListener("click", buttons[button.dataset.zoom]);

    const keys = {
        "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(1 / 1.25), "0": fit,
        ArrowLeft: () => move(60, 0), ArrowRight: () => move(-60, 0),
        ArrowUp: () => move(0, 60), ArrowDown: () => move(0, -60),
    };
    port.addEventListener("keydown", (event) => {
        if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey)
            return;
        event.preventDefault();
        keys[event.key]();
    });

    // The wheel scrolls the page, unless Ctrl is held (touch pads say so when pinched) or the
    // drawing was clicked into.
    port.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey && document.activeElement !== port)
            return;
        event.preventDefault();
        const box = port.getBoundingClientRect();
        zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), event.clientX - box.left,
            event.clientY - box.top);
    }, { passive: false });

    // One pointer drags, two pinch. What was dragged was not clicked.
    const held = new Map();
    let dragged = false;
    const spread = ([a, b]) => Math.hypot(a.x - b.x, a.y - b.y);
    port.addEventListener("pointerdown", (event) => {
        held.set(event.pointerId, { x: event.clientX, y: event.clientY });
        if (held.size === 1)
            dragged = false;
    });
    port.addEventListener("pointermove", (event) => {
        const was = held.get(event.pointerId);
        if (!was)
            return;
        const is = { x: event.clientX, y: event.clientY };
        if (!dragged && held.size === 1 && Math.hypot(is.x - was.x, is.y - was.y) < 5)
            return;
        if (!dragged)
            port.setPointerCapture(event.pointerId);
        dragged = true;
        port.classList.add("held");
        const before = held.size === 2 ? spread([...held.values()]) : 0;
        held.set(event.pointerId, is);
        if (before) {
            const box = port.getBoundingClientRect(), [a, b] = held.values();
            zoom(spread([a, b]) / before, (a.x + b.x) / 2 - box.left, (a.y + b.y) / 2 - box.top);
            move((is.x - was.x) / 2, (is.y - was.y) / 2);
        } else {
            move(is.x - was.x, is.y - was.y);
        }
    });
    for (const end of ["pointerup", "pointercancel"])
        port.addEventListener(end, (event) => {
            held.delete(event.pointerId);
            port.classList.toggle("held", held.size > 0);
        });
    port.addEventListener("click", (event) => {
        if (dragged)
            event.preventDefault();
    }, true);
    port.addEventListener("dragstart", (event) => event.preventDefault());

    // A row leads to its box: bring it to the middle.
    function reveal() {
        const id = decodeURIComponent(location.hash.slice(1));
        const target = id && document.getElementById(id);
        if (!target || !svg.contains(target))
            return;
        const box = target.getBBox();
        view.scale = Math.max(view.scale, Math.min(1, CLOSEST));
        view.x = box.x + box.width / 2 - port.clientWidth / view.scale / 2;
        view.y = box.y + box.height / 2 - port.clientHeight / view.scale / 2;
        apply();
        figure.scrollIntoView({ block: "nearest" });
    }
    window.addEventListener("hashchange", reveal);
    window.addEventListener("resize", apply);
    window.addEventListener("beforeprint", fit);
    start();
    reveal();
}

document.querySelectorAll(".drawing").forEach(drawing);

// ---- paper ----

window.addEventListener("beforeprint", () => {
    for (const cards of document.querySelectorAll("details:has(.cards)"))
        cards.open = true;
});

document.documentElement.dataset.ready = "yes";
