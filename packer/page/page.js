"use strict";
(() => {
  const known = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const card = (row) => find(`c${row}`);

  // -- relations: what a chunk speaks of lights up with it ------------------------------------

  const cards = [...document.querySelectorAll("details.chunk")];
  let lit = [];
  function light(row) {
    for (const one of lit) one.classList.remove("lit");
    lit = [];
    if (row === undefined) return;
    const own = card(row);
    const rows = [row, ...((own && own.dataset.near) || "").split(" ").filter(Boolean)];
    for (const near of rows) {
      lit.push(...document.querySelectorAll(`.pieces [data-row="${near}"]`));
      if (card(near)) lit.push(card(near));
    }
    for (const one of lit) one.classList.add("lit");
  }
  const rowAt = (event) => event.target.closest?.("[data-row]")?.dataset.row;
  document.addEventListener("pointerover", (event) => light(rowAt(event)));
  document.addEventListener("focusin", (event) => light(rowAt(event)));
  document.addEventListener("focusout", () => light(undefined));

  // -- ways to a chunk ------------------------------------------------------------------------

  function show(row) {
    const found = card(row);
    if (!found) return;
    found.open = true;
    found.scrollIntoView({ block: "start" });
    found.querySelector("summary").focus({ preventScroll: true });
  }
  document.addEventListener("click", (event) => {
    const piece = event.target.closest?.(".pieces [data-row], a[data-row]");
    if (!piece) return;
    event.preventDefault();
    show(piece.dataset.row);
  });

  // -- find, open, close ----------------------------------------------------------------------

  find("tools").hidden = false;
  find("find").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    let count = 0;
    for (const one of cards) {
      const matches = one.textContent.toLowerCase().includes(wanted);
      one.parentElement.hidden = !matches;
      count += matches;
    }
    for (const group of document.querySelectorAll(".group")) {
      group.hidden = !group.querySelector("li:not([hidden]) > .chunk");
    }
    find("matches").textContent = wanted ? `${count} of ${cards.length} chunks have it` : "";
  });
  for (const [id, open] of [["open", true], ["close", false]]) {
    find(id).addEventListener("click", () => {
      for (const one of cards) one.open = open && !one.parentElement.hidden;
    });
  }

  // -- other budgets --------------------------------------------------------------------------

  const slider = find("slider");
  if (!slider) return;
  find("controls").hidden = false;
  const written = (count) => count.toLocaleString("en");
  const names = (rows) => rows.map((row) => known.chunks[row][0]);
  const listed = (ids) =>
    ids.length > 5 ? `${ids.slice(0, 5).join(", ")} and ${ids.length - 5} more` : ids.join(", ");
  const bar = document.querySelector(".bar");
  const first = { pieces: bar.querySelector(".pieces"), name: bar.getAttribute("aria-label") };
  const dots = document.querySelectorAll("#curve .dot");
  const lines = document.querySelectorAll(".points tbody tr");

  function drawn(name, attributes, words) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (words !== undefined) made.textContent = words;
    return made;
  }
  function pieces(point, own) {
    const parts = point.rows.map((row, place) => {
      const [id, tokens, colour, score] = known.chunks[row];
      const length = point.lengths[row] ?? tokens;
      const told = `${place}. ${id}: ${written(length)} tokens, score ${score}`;
      const enters = own.has(row) ? "" : " enters";
      return { row, place, id, length, told, kind: `chunk ${colour}${enters}` };
    });
    const around = point.used - parts.reduce((sum, part) => sum + part.length, 0);
    const left = point.budget - point.used;
    if (around > 0) parts.push({ length: around, told: `overhead: ${written(around)} tokens`, kind: "around" });
    if (left > 0) parts.push({ length: left, told: `unused: ${written(left)} tokens`, kind: "rest", words: `${written(left)} left` });
    const whole = parts.reduce((sum, part) => sum + part.length, 0) || 1;
    const group = drawn("g", { class: "pieces" });
    let at = 0;
    for (const part of parts) {
      const width = (100 * part.length) / whole;
      const piece = drawn("svg", { x: `${(100 * at) / whole}%`, width: `${width}%`, height: "100%", class: `piece ${part.kind}` });
      at += part.length;
      piece.append(drawn("rect", { width: "100%", height: "100%" }), drawn("title", {}, part.told));
      if (part.row !== undefined) {
        piece.dataset.row = part.row;
        if (width >= 2.5) piece.append(drawn("text", { x: 8, y: 26, class: "number" }, part.place));
        if (width >= 9) piece.append(drawn("text", { x: 8, y: 47 }, part.id));
      } else if (part.words && width >= 5.5) piece.append(drawn("text", { x: 8, y: 37 }, part.words));
      group.append(piece);
    }
    return group;
  }
  function mark(rows, kind, words) {
    for (const row of rows) {
      const found = card(row);
      if (!found) continue;
      found.classList.toggle(kind, Boolean(words));
      found.querySelector(".change").textContent = words;
    }
  }
  let changed = { enter: [], leave: [] };
  function move(place, speak = true) {
    const point = known.points[place];
    const base = known.points[known.own];
    const isOwn = place === known.own;
    const own = new Set(base.rows);
    const now = new Set(point.rows);
    mark(changed.enter, "enters", "");
    mark(changed.leave, "leaves", "");
    changed = {
      enter: point.rows.filter((row) => !own.has(row)),
      leave: base.rows.filter((row) => !now.has(row)),
    };
    mark(changed.enter, "enters", `in at ${written(point.budget)}`);
    mark(changed.leave, "leaves", `out at ${written(point.budget)}`);
    const count = `${written(point.rows.length)} ${point.rows.length === 1 ? "chunk" : "chunks"}`;
    const sum = `${count}, ${written(point.used)} tokens, total score ${point.value}`;
    const moves = [
      changed.enter.length ? `adds ${listed(names(changed.enter))}` : "",
      changed.leave.length ? `drops ${listed(names(changed.leave))}` : "",
    ].filter(Boolean).join("; ");
    const told = point.refused ?? `${sum}. ${isOwn ? "This is the result." : moves ? `It ${moves}.` : "The same chunks."}`;
    slider.value = place;
    slider.setAttribute("aria-valuetext", `${written(point.budget)} tokens`);
    find("budget").textContent = `${written(point.budget)} tokens`;
    if (speak) find("said").textContent = told;
    bar.querySelector(".pieces").replaceWith(isOwn ? first.pieces : pieces(point, own));
    bar.setAttribute("aria-label", isOwn ? first.name : `The window at ${written(point.budget)} tokens: ${sum}`);
    dots.forEach((dot, at) => dot.classList.toggle("now", at === place));
    lines.forEach((line, at) => line.classList.toggle("now", at === place));
  }
  slider.addEventListener("input", () => move(Number(slider.value)));
  find("back").addEventListener("click", () => move(known.own));
  dots.forEach((dot, at) => dot.addEventListener("click", () => move(at)));
  move(known.own);
})();
