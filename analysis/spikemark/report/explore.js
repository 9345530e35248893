
/* What the page of a sweep does besides: a page for each run, at #page-ID, and a figure whose axes the
   reader chooses. Both are made of the table in #runs-data, which run_pages.py describes. */
(() => {
  const MAX_LINES = 4; // of a panel; beyond, each has a panel of its own
  const MAX_PANELS = 12;
  const MAX_DOTS = 60; // of a line of dots; of more, some evenly, the extremes included
  const MAX_WORD = 30; // letters below an axis
  const WIDE_AXIS = 8; // largest over smallest value, from which an axis is logarithmic
  const SPARE = ["update", "deliver", "jitter", "other-2", "collocate", "exchange", "other-1", "other-3"];
  const SVG = "http://www.w3.org/2000/svg";
  const { results, columns, rows, shared, colours } = JSON.parse(
    document.getElementById("runs-data").textContent);
  const FIRST = 3; // columns of a row before those that `columns` names: id, folder, cycle times
  const place = (name) => FIRST + columns.findIndex((column) => column.name === name);
  const headOf = (name) => columns[place(name) - FIRST].head;
  const used = (use) => columns.filter((column) => column.use === use);
  const isNumber = (value) => typeof value === "number";
  const shown = (value) => {
    if (value === null) return "";
    if (!isNumber(value)) return value;
    const text = Math.abs(value) >= 1000
      ? Math.round(value).toLocaleString("en").replaceAll(",", "\u202f") : String(Number(value.toPrecision(3)));
    return text.replace("-", "\u2212");
  };
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

  function element(name, attributes, ...content) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...content);
    return made;
  }

  function drawn(name, attributes, ...content) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...content);
    return made;
  }

  /* A table as the template writes it: heads, then rows whose cells are words or numbers. */
  function tableOf(words, heads, lines) {
    const areNumbers = heads.map((_, index) => lines.every((line) => isNumber(line[index]) || line[index] === null));
    const head = element("tr", {}, ...heads.map((text, index) => {
      const cell = element("th", { scope: "col", "data-head": text }, element("span", {}, text));
      cell.className = areNumbers[index] ? "number" : "";
      return cell;
    }));
    const body = lines.map((line) => element("tr", {}, ...line.map((value, index) => {
      const cell = element(index ? "td" : "th", index ? {} : { scope: "row" });
      cell.className = areNumbers[index] ? "number" : "";
      if (isNumber(value)) cell.dataset.v = value;
      cell.append(value instanceof Node ? value : shown(value));
      return cell;
    })));
    const table = element("table", { "data-rows": lines.length },
      element("thead", {}, head), element("tbody", {}, ...body));
    return element("div", { class: "scroll", role: "region", "aria-label": words, tabindex: "0" }, table);
  }

  /* The page of a run */

  const view = element("section", { id: "run-page", tabindex: "-1", hidden: "" });
  document.querySelector("main").after(view);
  const byId = new Map(rows.map((row) => [row[0], row]));
  const order = new Map(rows.map((row, index) => [row[0], index]));

  /* All values of one kind as dots on a line, that of this run filled. */
  function strip(values, value, words) {
    const sorted = [...values].sort((a, b) => a - b);
    const [low, high] = [sorted[0], sorted.at(-1)];
    const x = (at) => (high > low ? 6 + (108 * (at - low)) / (high - low) : 60);
    const few = values.length > MAX_DOTS
      ? Array.from({ length: MAX_DOTS }, (_, step) => sorted[Math.round((step * (sorted.length - 1)) / (MAX_DOTS - 1))])
      : sorted;
    const dots = few.map((at) => drawn("circle", { cx: x(at), cy: 7, r: 3, fill: "none", stroke: "var(--muted)" }));
    dots.push(drawn("circle", { cx: x(value), cy: 7, r: 4, fill: "var(--structure-aware)" }));
    return drawn("svg", { viewBox: "0 0 120 14", class: "strip", role: "img", "aria-label": words }, ...dots);
  }

  function compared(row) {
    const configuration = place("configuration");
    const alike = rows.filter((other) => other !== row
      && (configuration < FIRST || other[configuration] === row[configuration]));
    return used("measured").filter(({ name }) => isNumber(row[place(name)])).map(({ name, head }) => {
      const value = row[place(name)];
      const others = alike.map((other) => other[place(name)]).filter(isNumber);
      if (!others.length) return [head, value, null, null, ""];
      const usual = mean(others);
      const words = `${head}: ${shown(value)}; ${others.length} others from ${shown(Math.min(...others))} to ${shown(Math.max(...others))}`;
      const percent = usual ? Number((100 * (value / usual - 1)).toPrecision(2)) : null;
      return [head, value, usual, percent, strip([...others, value], value, words)];
    });
  }

  /* What the page of the sweep is called, and its network: a page of a run is sent on, too. */
  function about() {
    const names = Array.from(document.querySelectorAll(".facts dt"));
    const network = names.find((name) => name.textContent === "network");
    const title = document.querySelector("h1").textContent;
    return network ? `${title}: ${network.nextElementSibling.textContent}` : title;
  }

  function pageOf(row) {
    const [id, folder, hasCycles] = row;
    const at = order.get(id);
    const links = [["all runs", "#checks"]];
    if (at > 0) links.push(["previous run", `#page-${rows[at - 1][0]}`]);
    if (at < rows.length - 1) links.push(["next run", `#page-${rows[at + 1][0]}`]);
    const nav = element("nav", { class: "contents", "aria-label": "Runs" },
      element("ul", {}, ...links.map(([words, href]) => element("li", {}, element("a", { href }, words)))));
    const where = `./${folder.split("/").map(encodeURIComponent).join("/")}`;
    const facts = [
      ["folder", element("a", { href: where }, folder)],
      ...[...used("set"), ...used("said")].map(({ name, head }) => [head, row[place(name)]]),
      ...Object.entries(shared),
    ].filter(([, value]) => value !== null);
    const heading = element("h2", {}, `Run ${id}`);
    const number = element("p", {}, `Run ${at + 1} of ${rows.length}, in the order of configurations.`);
    const parts = [nav, element("p", { class: "what" }, about()), heading, number];
    if (hasCycles) {
      const command = `spikemark waiting ${results}/${folder}`;
      parts.push(element("p", {}, "Why its ranks waited: ", element("code", {}, command)));
    }
    const heads = ["measured", "this run", "mean of its like", "difference (%)", "this run among its like"];
    const values = tableOf("Measured", heads, compared(row));
    const settings = tableOf("Settings and origin", ["item", "value"], facts.map(
      ([head, value]) => [head, value instanceof Node ? value : String(value)]));
    parts.push(element("h3", {}, "Beside the other runs of its configuration"), values,
      element("h3", {}, "Settings and origin"), settings);
    view.replaceChildren(...parts);
    spikemark.equipTable(values);
    spikemark.equipTable(settings);
  }

  function route() {
    const hash = decodeURIComponent(location.hash);
    const row = hash.startsWith("#page-") ? byId.get(hash.slice("#page-".length)) : undefined;
    view.hidden = !row;
    document.body.classList.toggle("one-run", Boolean(row));
    if (!row) return;
    pageOf(row);
    scrollTo(0, 0);
    view.focus({ preventScroll: true });
  }
  addEventListener("hashchange", route);
  route();

  /* The first cell of each row of a run leads to its page. */
  function link(table) {
    for (const line of spikemark.linesOf(table)) {
      const id = line.id.replace(/^run-/, "");
      const cell = line.cells[0];
      if (!line.id || !byId.has(id) || cell.querySelector("a")) continue;
      cell.replaceChildren(element("a", { href: `#page-${id}` }, ...cell.childNodes));
    }
  }
  for (const table of document.querySelectorAll("table:has(tr[id^='run-'])")) {
    const folded = table.closest("details");
    if (folded && !folded.open) folded.addEventListener("toggle", () => link(table), { once: true });
    else link(table);
  }

  /* So does its name in a sentence. */
  for (const name of document.querySelectorAll("p > code")) {
    const id = name.textContent;
    if (byId.has(id)) name.replaceChildren(element("a", { href: `#page-${id}` }, id));
  }

  /* A figure of chosen axes */

  const values = used("measured");
  const settings = used("set");
  if (!values.length || !settings.length) return;

  function chooser(words, options, chosen) {
    const select = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
    select.value = chosen;
    return [element("label", {}, `${words} `, select), select];
  }

  /* Means over runs, by what is compared and then along the axis. */
  function series(y, x, by) {
    const lines = new Map();
    for (const row of rows) {
      const [value, at] = [row[place(y)], row[place(x)]];
      if (!isNumber(value) || at === null) continue;
      const group = by ? row[place(by)] ?? "none" : "all runs";
      const name = isNumber(group) ? `${headOf(by)} ${shown(group)}` : group;
      if (!lines.has(name)) lines.set(name, new Map());
      const line = lines.get(name);
      line.set(at, [...(line.get(at) ?? []), value]);
    }
    for (const [name, line] of lines) {
      const points = [...line].map(([at, all]) => ({
        at, mean: mean(all), low: Math.min(...all), high: Math.max(...all), runs: all.length }));
      if (points.every(({ at }) => isNumber(at))) points.sort((a, b) => a.at - b.at);
      lines.set(name, points);
    }
    return lines;
  }

  function ticks(low, high) {
    const step = 10 ** Math.floor(Math.log10((high - low) / 4 || 1));
    const wide = [1, 2, 5, 10].map((factor) => factor * step).find((size) => (high - low) / size <= 5);
    const made = [];
    for (let at = Math.ceil(low / wide) * wide; at <= high + 1e-9 * wide; at += wide) made.push(Number(at.toPrecision(6)));
    return made;
  }

  function draw(y, x, by) {
    const lines = series(y, x, by);
    const points = [...lines.values()].flat();
    const spots = [...new Set(points.map(({ at }) => at))];
    const areNumbers = spots.every(isNumber);
    if (areNumbers) spots.sort((a, b) => a - b);
    const isLog = areNumbers && spots.length > 3 && spots[0] > 0 && spots.at(-1) / spots[0] >= WIDE_AXIS;
    const isSplit = lines.size > MAX_LINES;
    const panels = isSplit ? [...lines].slice(0, MAX_PANELS).map((line) => [line]) : [[...lines]];
    const colourOf = (name) => {
      return colours[name] ?? (isSplit ? SPARE[0] : SPARE[[...lines.keys()].indexOf(name) % SPARE.length]);
    };
    const [width, left, right] = [338, 52, isSplit || lines.size < 2 ? 12 : 104];
    const [gap, height] = [isSplit ? 26 : 14, isSplit ? 74 : 150];
    const inner = width - left - right;
    const scale = (at) => (isLog ? Math.log(at) : at);
    const xOf = (at) => {
      if (!areNumbers || spots.length < 2) return left + inner * ((spots.indexOf(at) + 0.5) / spots.length);
      return left + 8 + (inner - 16) * ((scale(at) - scale(spots[0])) / (scale(spots.at(-1)) - scale(spots[0])));
    };
    let [low, high] = [Math.min(...points.map((p) => p.low)), Math.max(...points.map((p) => p.high))];
    const room = 0.08 * (high - low) || 0.1 * Math.abs(high) || 1;
    [low, high] = [low >= 0 && low < 0.3 * high ? 0 : low - room, high + room];
    const words = spots.map((at) => shown(at));
    const turned = !areNumbers && words.join("").length * 6 > inner - 10 * words.length;
    const bottom = turned ? 20 + 5.8 * Math.min(MAX_WORD, Math.max(...words.map((word) => word.length))) : 34;
    const total = panels.length * (height + gap) + bottom;
    const title = `${headOf(y)} over ${headOf(x)}${by ? `, by ${headOf(by)}` : ""}`;
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${total}`, role: "img", "aria-label": title });
    const text = (at, words_, attributes = {}) => drawn("text", {
      x: at[0], y: at[1], "font-size": 10, fill: "var(--ink)", ...attributes }, words_);
    panels.forEach((panel, index) => {
      const top = gap + index * (height + gap);
      const yOf = (value) => top + height - (height * (value - low)) / (high - low);
      for (const tick of ticks(low, high).filter((_, number) => !isSplit || number % 2 === 0)) {
        svg.append(drawn("line", { x1: left, x2: left + inner, y1: yOf(tick), y2: yOf(tick), stroke: "var(--rule)" }));
        svg.append(text([left - 6, yOf(tick) + 3.5], shown(tick), { "text-anchor": "end" }));
      }
      svg.append(drawn("line", { x1: left, x2: left + inner, y1: top + height, y2: top + height, stroke: "var(--muted)" }));
      if (isSplit) svg.append(text([left, top - 6], panel[0][0], { "font-weight": "bold" }));
      const ends = [];
      panel.forEach(([name, line], number) => {
        const stroke = `var(--${colourOf(name)})`;
        const dodge = areNumbers ? 0 : 7 * (number - (panel.length - 1) / 2);
        const path = line.map((p) => `${xOf(p.at) + dodge},${yOf(p.mean)}`).join(" ");
        if (areNumbers) svg.append(drawn("polyline", { points: path, fill: "none", stroke, "stroke-width": 1.6 }));
        for (const p of line) {
          const across = xOf(p.at) + dodge;
          const tip = `${name}: ${headOf(x)} ${shown(p.at)}, ${headOf(y)} ${shown(p.mean)}, ${shown(p.low)} to ${shown(p.high)} (${p.runs} runs)`;
          svg.append(drawn("line", { x1: across, x2: across, y1: yOf(p.low), y2: yOf(p.high), stroke, "stroke-width": 1.4 }));
          svg.append(drawn("circle", { cx: across, cy: yOf(p.mean), r: 3, fill: stroke }, drawn("title", {}, tip)));
        }
        ends.push([name, yOf(line.at(-1).mean), stroke]);
      });
      if (right > 12) nameLines(svg, ends, left + inner, top + height, text);
    });
    const base = total - bottom;
    spots.forEach((at, index) => {
      const spot = [xOf(at), base + 14];
      const turn = turned ? { transform: `rotate(-90 ${spot[0]} ${spot[1]})`, "text-anchor": "end", dy: 3 } : { "text-anchor": "middle" };
      svg.append(text(spot, words[index].slice(0, MAX_WORD), turn));
    });
    if (!turned) svg.append(text([left + inner, total - 4], headOf(x), { "text-anchor": "end", "font-size": 10.5 }));
    const heads = [...(by ? [headOf(by)] : []), headOf(x), headOf(y), "smallest", "largest", "runs"];
    const numbers = [...lines].flatMap(([name, line]) => line.map(
      (p) => [...(by ? [name] : []), p.at, p.mean, p.low, p.high, p.runs]));
    const note = lines.size > MAX_PANELS ? ` Drawn: the first ${MAX_PANELS} of ${lines.size}; the numbers have all.` : "";
    const caption = `Upwards: ${headOf(y)}. Means over runs; whiskers: smallest to largest run.${note}`;
    return [title, svg, caption, tableOf(title, heads, numbers)];
  }

  /* Names beside the ends of lines, from the lowest one upwards, none over another. */
  function nameLines(svg, ends, edge, base, text) {
    let highest = base + 13;
    for (const [name, end, stroke] of ends.sort((a, b) => b[1] - a[1])) {
      const lines = name.length > 17 && name.includes(" (") ? name.split(/ (?=\()/) : [name];
      const at = Math.min(end, highest - 13 - 12 * (lines.length - 1));
      highest = at;
      svg.append(drawn("line", { x1: edge, x2: edge + 7, y1: end, y2: at, stroke }));
      lines.forEach((words, index) => svg.append(text([edge + 10, at + 3.5 + 12 * index], words)));
    }
  }

  const numeric = settings.filter(({ name }) => rows.every((row) => row[place(name)] === null || isNumber(row[place(name)])));
  const spread = numeric.find(({ name }) => !["seed", "repetition"].includes(name));
  const firstX = spread ? spread.name : settings[0].name;
  const firstBy = settings.find(({ name }) => name === "schedule" && name !== firstX) ?? settings.find(({ name }) => name !== firstX);
  const options = (list) => list.map(({ name, head }) => [name, head]);
  const [upwards, chosenY] = chooser("upwards", options(values), values[0].name);
  const [along, chosenX] = chooser("along", options(settings), firstX);
  const [compare, chosenBy] = chooser("compare", [["", "nothing"], ...options(settings)], firstBy ? firstBy.name : "");
  const choices = element("div", { class: "tools choices", role: "group", "aria-label": "Axes of the figure" }, upwards, along, compare);
  const figure = element("figure", { id: "chosen" });
  function redraw() {
    const [title, svg, caption, numbers] = draw(chosenY.value, chosenX.value, chosenBy.value);
    figure.replaceChildren(element("h3", {}, title), element("div", { class: "drawing" }, svg),
      element("figcaption", {}, caption), element("details", {}, element("summary", {}, "The numbers"), numbers));
    spikemark.equipTable(numbers);
    spikemark.equipFigure(figure);
  }
  [chosenY, chosenX, chosenBy].forEach((select) => select.addEventListener("change", redraw));
  redraw();
  const explore = element("section", { id: "explore" }, element("h2", {}, "Choose what to draw"),
    choices, element("div", { class: "figures" }, figure));
  const speed = document.getElementById("speed");
  if (speed) speed.after(explore);
  else document.querySelector("main").append(explore);
})();
