"use strict";
/* What every page does beyond being read: tables are sorted, filtered and copied; figures tell their
   values to the pointer and the keyboard, and are saved with their numbers; words explain
   themselves. Own code, since it has 8 kB, where the smallest kept library of tables has 80 and none
   of them reads tables that are there without it. Nothing is loaded, nothing is sent. */
const spikemark = (() => {
  const FEWEST_TO_FILTER = 8; // rows
  const MOST_ON_PAPER = 200; // rows of a table that is folded on the screen
  const PIXELS = 3; // of a picture, for each point of its drawing
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  const status = document.createElement("p");
  status.className = "status";
  status.setAttribute("role", "status");
  const keys = document.createElement("p");
  keys.id = "keys";
  keys.hidden = true;
  keys.textContent = "arrow keys read the values";
  document.body.append(tip, status, keys);

  function button(words, description, action) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = words;
    made.setAttribute("aria-label", description);
    made.addEventListener("click", action);
    return made;
  }

  function toolbar(...parts) {
    const bar = document.createElement("div");
    bar.className = "tools";
    bar.append(...parts);
    return bar;
  }

  /* Pop-ups */

  function show(words, box) {
    tip.textContent = words;
    tip.hidden = false;
    const width = document.documentElement.clientWidth;
    const left = box.left + box.width / 2 - tip.offsetWidth / 2;
    const below = box.top < tip.offsetHeight + 12;
    tip.style.left = `${Math.max(6, Math.min(left, width - tip.offsetWidth - 6))}px`;
    tip.style.top = `${below ? box.bottom + 8 : box.top - tip.offsetHeight - 8}px`;
  }

  function hide() {
    tip.hidden = true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  document.addEventListener("scroll", hide, { passive: true });

  for (const word of document.querySelectorAll("a.term")) {
    const meaning = document.getElementById(word.hash.slice(1)).textContent;
    const tell = () => show(meaning, word.getBoundingClientRect());
    word.addEventListener("pointerenter", tell);
    word.addEventListener("focus", tell);
    word.addEventListener("pointerleave", hide);
    word.addEventListener("blur", hide);
    word.addEventListener("click", (event) => {
      event.preventDefault();
      tell();
    });
  }

  /* Files */

  function save(content, type, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    status.textContent = `saved ${name}`;
  }

  function nameOf(words, end) {
    const plain = words.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
    return `${plain || "table"}.${end}`;
  }

  function copy(text, words) {
    const done = () => { status.textContent = words; };
    const field = document.createElement("textarea");
    const byHand = () => { // where a browser gives pages from files no clipboard
      field.value = text;
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
      done();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, byHand);
    else byHand();
  }

  /* Tables */

  const headOf = (cell) => cell.dataset.head;
  /* Words as other programs compare them: spaces that keep a number beside its unit are plain ones. */
  const plain = (words) => words.replace(/[\u00a0\u202f]/g, " ").trim();
  const size = (table) => Number(table.dataset.rows);

  /* Rows beyond the first ones lie beside a long table as data, and are drawn when somebody wants
     them: a page of 5000 runs opens as fast as one of 100. */
  function linesOf(table) {
    const further = table.parentElement.querySelector("script");
    if (further) {
      further.remove();
      const heads = Array.from(table.tHead.rows[0].cells);
      const lines = JSON.parse(further.textContent).map((row) => lineOf(heads, row));
      table.tBodies[0].append(...lines);
    }
    return Array.from(table.tBodies[0].rows);
  }

  function lineOf(heads, [id, ...cells]) {
    const line = document.createElement("tr");
    if (id) line.id = `run-${id}`;
    cells.forEach((content, index) => {
      const [text, v, l, h] = Array.isArray(content) ? content : [content];
      const head = heads[index];
      const cell = document.createElement(index ? "td" : "th");
      if (!index) cell.scope = "row";
      cell.className = head.className;
      for (const [name, digits] of Object.entries({ v, l, h })) if (digits) cell.dataset[name] = digits;
      if (text && head.dataset.path !== undefined) {
        const link = document.createElement("a");
        link.href = `./${text.split("/").map(encodeURIComponent).join("/")}`;
        link.textContent = text;
        cell.append(link);
      } else {
        cell.textContent = text;
      }
      line.append(cell);
    });
    return line;
  }

  function content(table) {
    const heads = Array.from(table.tHead.rows[0].cells);
    const lines = linesOf(table).filter((line) => !line.hidden);
    const spans = heads.map((_, index) => lines.some((line) => line.cells[index].dataset.l));
    const first = [];
    heads.forEach((head, index) => {
      const words = plain(headOf(head));
      first.push(words);
      if (spans[index]) first.push(`${words}: from`, `${words}: to`);
    });
    const rows = lines.map((line) => {
      const row = [];
      Array.from(line.cells).forEach((cell, index) => {
        row.push(cell.dataset.v ?? plain(cell.textContent));
        if (spans[index]) row.push(cell.dataset.l ?? "", cell.dataset.h ?? "");
      });
      return row;
    });
    return [first, ...rows];
  }

  const quoted = (cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const csv = (table) => content(table).map((row) => `${row.map(quoted).join(",")}\n`).join("");
  const tabs = (table) => content(table).map((row) => row.join("\t").replaceAll("\n", " ")).join("\n");

  function order(table, index, falling) {
    const key = (line) => {
      const cell = line.cells[index];
      const text = cell.textContent.trim();
      if (cell.dataset.v !== undefined) return [0, Number(cell.dataset.v)];
      return [text ? 1 : 2, text];
    };
    const keyed = linesOf(table).map((line) => [key(line), line]);
    const words = new Intl.Collator("en", { numeric: true });
    keyed.sort(([[a, one]], [[b, other]]) => {
      if (a !== b || a === 2) return a - b; // numbers, words, nothing: whatever the direction
      const difference = a === 0 ? one - other : words.compare(one, other);
      return falling ? -difference : difference;
    });
    table.tBodies[0].append(...keyed.map(([, line]) => line));
  }

  function sortable(table) {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, index) => {
      const sort = button("", `sort by ${headOf(head)}`, () => {
        const falling = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        order(table, index, falling);
        status.textContent = `sorted by ${headOf(head)}, ${falling ? "falling" : "rising"}`;
      });
      sort.className = "sort";
      head.firstElementChild.after(sort); // without a space, at which a line could break
    });
  }

  function filterOf(table, words) {
    let lines; // read when they are first looked through: a table may have thousands of rows
    let texts;
    const field = document.createElement("input");
    field.type = "search";
    field.placeholder = "filter rows";
    field.setAttribute("aria-label", `filter rows: ${words}`);
    const count = document.createElement("span");
    field.addEventListener("input", () => {
      lines ??= linesOf(table);
      texts ??= lines.map((line) => line.textContent.toLowerCase());
      const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      lines.forEach((line, index) => {
        line.hidden = !wanted.every((word) => texts[index].includes(word));
        shown += !line.hidden;
      });
      count.textContent = wanted.length ? `${shown} of ${lines.length}` : "";
      status.textContent = `${shown} of ${lines.length} rows`;
    });
    return [field, count];
  }

  function equipTable(region) {
    const table = region.querySelector("table");
    const words = region.getAttribute("aria-label");
    const tools = [
      button("Copy", `copy ${words}`, () => copy(tabs(table), "copied")),
      button("CSV", `save ${words} as CSV`, () => save(csv(table), "text/csv", nameOf(words, "csv"))),
    ];
    if (size(table) > 1) sortable(table);
    const isLong = size(table) >= FEWEST_TO_FILTER;
    const folded = region.closest("details");
    if (folded) folded.addEventListener("toggle", () => linesOf(table));
    else linesOf(table);
    if (isLong) tools.unshift(...filterOf(table, words));
    region[isLong ? "prepend" : "append"](toolbar(...tools));
  }
  document.querySelectorAll(".scroll").forEach(equipTable);

  /* Paper has the folded tables, too, apart from those of many pages and the numbers of figures. */

  let opened = [];
  addEventListener("beforeprint", () => {
    const folded = Array.from(document.querySelectorAll("section > details:not([open])"));
    opened = folded.filter((at) => size(at.querySelector("table")) <= MOST_ON_PAPER);
    for (const at of opened) {
      linesOf(at.querySelector("table"));
      at.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const at of opened) at.open = false;
  });

  /* A link to a run opens the table that holds it. */

  function reveal() {
    const id = decodeURIComponent(location.hash.slice(1));
    if (id.startsWith("run-")) document.querySelectorAll("table").forEach(linesOf);
    const target = document.getElementById(id);
    if (!target) return;
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();

  /* Figures */

  /* A saved figure goes into a text, on white: its colours are those of the light scheme, which the
     first rule of the page's style has, whatever the screen shows. */
  function drawn(svg) {
    const isLight = (rule) => rule.selectorText === ":root";
    const { style } = Array.from(document.styleSheets[0].cssRules).find(isLight);
    const clone = svg.cloneNode(true);
    const { width, height } = svg.viewBox.baseVal;
    clone.querySelectorAll(".picked").forEach((mark) => mark.classList.remove("picked"));
    clone.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    clone.setAttribute("width", width);
    clone.setAttribute("height", height);
    clone.setAttribute("font-family", "sans-serif");
    const text = new XMLSerializer().serializeToString(clone);
    const paper = `<rect width="100%" height="100%" fill="${style.getPropertyValue("--paper").trim()}"/>`;
    return text
      .replace(/>/, `>${paper}`)
      .replace(/var\((--[\w-]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
  }

  function savePicture(svg, name) {
    const { width, height } = svg.viewBox.baseVal;
    const picture = new Image();
    picture.addEventListener("load", () => {
      const canvas = document.createElement("canvas");
      canvas.width = PIXELS * width;
      canvas.height = PIXELS * height;
      canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, "image/png", name));
    });
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn(svg))}`;
  }

  function values(svg) {
    const marks = [];
    for (const title of svg.querySelectorAll("title")) {
      const mark = title.parentElement;
      const words = title.textContent;
      title.remove(); // the browser's own pop-up would cover this one
      marks.push([mark, words]);
      mark.addEventListener("pointerenter", () => show(words, mark.getBoundingClientRect()));
      mark.addEventListener("pointerleave", hide);
    }
    if (!marks.length) return;
    let at = -1;
    const pick = (index) => {
      if (at >= 0) marks[at][0].classList.remove("picked");
      at = (index + marks.length) % marks.length;
      const [mark, words] = marks[at];
      mark.classList.add("picked");
      show(words, mark.getBoundingClientRect());
      status.textContent = words;
    };
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("aria-describedby", keys.id);
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      pick(at < 0 && step < 0 ? marks.length - 1 : at + step);
    });
    svg.addEventListener("blur", () => {
      if (at >= 0) marks[at][0].classList.remove("picked");
      hide();
    });
  }

  function equipFigure(figure) {
    const svg = figure.querySelector("svg");
    const title = figure.querySelector("h3").textContent;
    const table = figure.querySelector("table");
    values(svg);
    const tools = [
      button("SVG", `save ${title} as SVG`, () =>
        save(drawn(svg), "image/svg+xml", nameOf(title, "svg"))),
      button("PNG", `save ${title} as PNG`, () => savePicture(svg, nameOf(title, "png"))),
    ];
    if (table) {
      tools.push(button("CSV", `save the numbers of ${title} as CSV`, () =>
        save(csv(table), "text/csv", nameOf(title, "csv"))));
    }
    figure.querySelector("figcaption").append(toolbar(...tools));
  }
  document.querySelectorAll("figure").forEach(equipFigure);

  return { equipFigure, equipTable, linesOf };
})();
