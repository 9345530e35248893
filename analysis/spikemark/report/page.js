// Lets a person look into drawings: the words of the nearest point, and zoom. look.py writes what this reads, a list
// of panels. Marks tables that are wider than their place as `more`. Without the script, and on paper, a page says the
// same in pictures, words and tables.
"use strict";
const HOW = "Or pinch, or turn the wheel with Ctrl. A mouse drags; a double click shows all.";
const widths = new ResizeObserver((seen) => {
  for (const { target } of seen) target.classList.toggle("more", target.scrollWidth > target.clientWidth + 1);
});
for (const table of document.querySelectorAll(".scroll")) widths.observe(table);
for (const svg of document.querySelectorAll(".drawing > svg")) {
  const told = svg.querySelector("metadata");
  if (told) enliven(svg.parentNode, svg, JSON.parse(told.textContent));
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
function html(parent, tag, attributes) {
  return parent.appendChild(set(document.createElement(tag), attributes));
}
function draw(parent, tag, attributes) {
  return parent.appendChild(set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes));
}
function within([left, top, right, bottom], [x, y]) {
  return x > left - 6 && x < right + 6 && y > top - 6 && y < bottom + 6;
}

// Shows the words of the point under the pointer, or of the one that arrow keys reach.
function enliven(frame, svg, panels) {
  const zooms = panels.flatMap((panel, i) => (panel.zoom ? [(panel.zoomed = zoomable(svg, panel, i))] : []));
  const zoom = zooms.length && together(zooms);
  const points = panels.flatMap((panel) => panel.series.flatMap((of) => of.points.map((at) => ({ panel, of, at }))));
  const ring = draw(svg, "circle", { r: 7, class: "ring" }), tip = html(frame, "div", { class: "tip", role: "status" });
  const { width, height } = svg.viewBox.baseVal, keys = zoom ? ", plus and minus zoom, escape shows all" : "";
  set(frame, { tabindex: 0, role: "group", "aria-label": `Drawing: arrow keys read its points${keys}` });
  const place = ({ panel, at }) => (panel.zoom ? panel.zoomed.at(at) : at);
  let chosen = -1;

  function show(index) {
    chosen = index;
    frame.classList.toggle("shown", index >= 0);
    if (index < 0) return;
    const { panel, of, at } = points[index], [x, y] = place(points[index]);
    const said = ["x", "y"].map((name, i) => [panel[name].label, at[2 + i]].filter(Boolean).join(": "));
    tip.textContent = [of.name + (of.kind && ` (${of.kind})`), ...said].filter(Boolean).join("\n");
    set(ring, { cx: x, cy: y });
    const side = x > width / 2 ? `right: ${100 - (100 * x) / width}%` : `left: ${(100 * x) / width}%`;
    tip.style.cssText = `top: ${(svg.clientHeight * y) / height}px; ${side}`;
  }
  function nearest([x, y]) {
    let best = -1, least = 40;
    points.forEach((point, index) => {
      const at = place(point), away = Math.hypot(x - at[0], y - at[1]);
      if (away < least && within(point.panel.box, at)) [best, least] = [index, away];
    });
    return best;
  }
  function local(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [at.x, at.y];
  }

  svg.addEventListener("pointermove", (event) => show(nearest(local(event))));
  svg.addEventListener("pointerleave", () => show(-1));
  frame.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: points.length - 1 }[event.key];
    if (step && points.length) {
      const next = points[Math.max(0, chosen + step) % points.length];
      if (next.panel.zoom && !within(next.panel.box, place(next))) next.panel.zoomed.centre(next.at);
      show(points.indexOf(next));
    } else if (event.key === "Escape") {
      if (zoom) zoom.reset();
      show(-1);
    } else if (zoom && "+=-".includes(event.key)) {
      zoom.by(event.key === "-" ? 1 / 1.5 : 1.5, chosen < 0 ? undefined : place(points[chosen]));
      show(chosen);
    } else return;
    event.preventDefault();
  });
  if (zoom) steer(frame, svg, zoom, local, () => show(-1));
}

// Two fingers, the wheel with Ctrl, or buttons zoom; a mouse drags.
function steer(frame, svg, zoom, local, hide) {
  const held = new Map(), sum = (i) => [...held.values()].reduce((all, at) => all + at[i], 0);
  const middle = () => [sum(0) / held.size, sum(1) / held.size];
  const apart = ([a, b] = [...held.values()]) => (b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 1);
  svg.classList.add("zooms");
  svg.addEventListener("pointerdown", (event) => {
    if (event.button === 0) held.set(event.pointerId, local(event));
    if (event.pointerType === "mouse") svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!held.has(event.pointerId) || (event.pointerType === "touch" && held.size < 2)) return;
    const before = middle(), distance = apart();
    held.set(event.pointerId, local(event));
    const now = middle();
    zoom.shift(now[0] - before[0], now[1] - before[1]);
    zoom.by(apart() / distance, now);
    hide();
  });
  for (const end of ["pointerup", "pointercancel", "pointerleave"])
    svg.addEventListener(end, (event) => held.delete(event.pointerId));
  svg.addEventListener("dblclick", zoom.reset);
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
    event.preventDefault();
    zoom.by(Math.exp(-event.deltaY / 300), local(event));
    hide();
  }, { passive: false });
  const tools = html(frame, "div", { class: "tools" });
  const button = (text, what, act) => {
    const made = html(tools, "button", { type: "button", "aria-label": what, title: `${what}. ${HOW}` });
    made.textContent = text;
    made.addEventListener("click", () => (act(), hide()));
  };
  button("+", "Zoom in", () => zoom.by(1.5));
  button("\u2212", "Zoom out", () => zoom.by(1 / 1.5));
  button("Reset", "Show all", zoom.reset);
}

// Enlarges what lies within the axes of a panel, but neither marks nor lines, and gives the axes other ticks.
function zoomable(svg, panel, index) {
  const [left, top, right, bottom] = panel.box, [width, height] = [right - left, bottom - top];
  const axes = svg.querySelectorAll(".axes")[index], sides = axes.querySelectorAll(".axis");
  const clip = draw(svg, "clipPath", { id: `zoomed-${svg.closest("figure").id}-${index}` });
  draw(clip, "rect", { x: left, y: top, width, height });
  const pane = draw(axes, "g", { "clip-path": `url(#${clip.id})` });
  const moved = draw(pane, "g", {}), own = draw(axes, "g", {}), grid = draw(axes, "g", {});
  const data = [...axes.children].filter((g) => !g.matches(".axis") && g.querySelector("[clip-path]"));
  (data[0] || own).before(grid, pane);
  moved.append(...data, ...svg.querySelectorAll(".cells"));
  for (const one of moved.querySelectorAll("[clip-path]")) one.removeAttribute("clip-path");
  const size = (use) => Math.max(use.getBBox().width, use.getBBox().height); // a band is a use, too, but a large one
  const uses = [...moved.querySelectorAll("use")].filter((use) => size(use) < 20);
  const marks = uses.map((use) => [use, use.getAttribute("x"), use.getAttribute("y")]);
  const lines = [...moved.querySelectorAll("path")].filter((path) => !path.closest(".cells, defs"));
  const widths = lines.map((path) => [path, parseFloat(path.style.strokeWidth || 1)]);
  const ends = { x: [left, right], y: [bottom, top] };
  let k = 1, t = [0, 0];

  function update() {
    t = t.map((x, i) => Math.min(panel.box[i] * (1 - k), Math.max(panel.box[i + 2] * (1 - k), x)));
    set(moved, { transform: `matrix(${k} 0 0 ${k} ${t})` });
    for (const [use, x, y] of marks)
      set(use, { transform: `translate(${x} ${y}) scale(${1 / k}) translate(${-x} ${-y})` });
    for (const [path, wide] of widths) path.style.strokeWidth = wide / k;
    own.replaceChildren();
    grid.replaceChildren();
    sides.forEach((side, i) => {
      side.classList.toggle("aside", k > 1);
      if (k > 1) ticks("xy"[i], i, side);
    });
  }
  function ticks(name, i, side) {
    const axis = panel[name], f = axis.log ? Math.log : Number, back = axis.log ? Math.exp : Number;
    const [low, high] = axis.limits.map(f), [from, to] = ends[name];
    const value = (place) => back(low + (((place - t[i]) / k - from) / (to - from)) * (high - low));
    for (const [at, label] of axis.ticks || nice(axis, ...ends[name].map(value).sort((a, b) => a - b))) {
      const p = k * (from + ((f(at) - low) / (high - low)) * (to - from)) + t[i];
      if (p < Math.min(from, to) - 0.1 || p > Math.max(from, to) + 0.1) continue;
      const [x, y] = i ? [left, p] : [p, bottom];
      const line = i ? `M${left} ${p}H${right}` : `M${p} ${top}V${bottom}`;
      if (side.querySelector(".tick [clip-path]")) draw(grid, "path", { d: line, class: "grid" });
      draw(own, "path", { d: i ? `M${x} ${y}h-3.5` : `M${x} ${y}v3.5`, class: "mark" });
      const where = i ? { x: x + 3, y: y - 3, class: "up" } : { x, y: y + 14.6 }; // longer labels find room inside
      if (side.querySelector(".tick text")) draw(own, "text", where).textContent = label;
    }
  }
  return {
    panel,
    at: (point) => [k * point[0] + t[0], k * point[1] + t[1]],
    by(factor, about = [(left + right) / 2, (top + bottom) / 2]) {
      const next = Math.min(60, Math.max(1, k * factor));
      t = t.map((x, i) => about[i] - (next / k) * (about[i] - x));
      k = next;
      update();
    },
    shift(x, y) { t = [t[0] + x, t[1] + y]; update(); },
    centre(point) { t = [(left + right) / 2 - k * point[0], (top + bottom) / 2 - k * point[1]]; update(); },
    reset() { k = 1; update(); },
  };
}

// Panels of one drawing are zoomed as one, about the same place within each.
function together(zooms) {
  const each = (name) => (...values) => zooms.forEach((zoom) => zoom[name](...values));
  const by = (factor, about) => {
    const home = about && (zooms.find(({ panel }) => within(panel.box, about)) || zooms[0]).panel.box;
    for (const { by, panel } of zooms)
      by(factor, about && about.map((x, i) => x - home[i] + panel.box[i]));
  };
  return { by, shift: each("shift"), reset: each("reset") };
}

// Round numbers between two values: 1, 2, 5 of every decade, or about five at equal distances; `whole` ones only.
function nice({ log, whole }, low, high) {
  const found = [], decades = Math.log10(high / low);
  if (log && decades > 0.8) {
    for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++)
      found.push(...(decades > 2 ? [1] : [1, 2, 5]).map((digit) => digit * 10 ** e));
  } else {
    const rough = (high - low) / 5, ten = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(ten * [1, 2, 5, 10].find((digit) => digit * ten >= rough), whole ? 1 : 0);
    for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(i * step);
  }
  return found.map((value) => [value, String(Number(value.toPrecision(6)))]);
}
