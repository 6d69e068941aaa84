// The blocks that all sections use: headings, sentences, buttons, tables, work that runs, folds, rows, boxes, switches, lists.

/** Have Tab reach this one of the elements, and none of the others. */
const moveTabStop = (elements, to) => elements.forEach((one) => one.setAttribute("tabindex", one === to ? "0" : "-1"));

/** Move the focus among elements with the arrow keys: one of them is reached with Tab. Returns whether the key was used. */
function roving(event, elements, { along = ["ArrowUp", "ArrowDown"] } = {}) {
  const place = elements.indexOf(event.target);
  const step = { [along[0]]: -1, [along[1]]: 1, Home: -Infinity, End: Infinity }[event.key];
  if (place < 0 || step === undefined || !elements.length) return false;
  const next = Math.max(0, Math.min(elements.length - 1, place + step));
  moveTabStop(elements, elements[next]);
  elements[next].focus();
  event.preventDefault();
  return true;
}

/** Arrow keys among all elements of the same role around the one with the focus. */
const rovingIn = (selector, options) => (event) => roving(event, [...event.currentTarget.querySelectorAll(selector)], options);

/** Act on the second click of a double click, wherever it falls: what the first one opens may be under the pointer by then. */
function onSecond(first, act) {
  if (first.detail !== 1) return;
  const hear = (second) => {
    document.removeEventListener("click", hear, true);
    if (second.detail !== 2) return;
    second.stopPropagation();
    second.preventDefault();
    act();
  };
  document.addEventListener("click", hear, true);
  setTimeout(() => document.removeEventListener("click", hear, true), 600);
}

const classes = (...names) => names.flat().filter(Boolean).join(" ");

/** A button of a view. One that is off says why; it keeps the focus, which a browser takes from one that is disabled. */
function button(one, act, attributes = {}) {
  const { class: look, ...others } = attributes;
  return h("button", {
    type: "button", key: one.key, class: classes("button", one.look && `is-${one.look}`, look), fallback: one.to,
    title: one.off || one.title || null, "aria-description": one.off || null,
    "aria-disabled": one.off ? "true" : null, "aria-pressed": one.pressed === undefined ? null : String(one.pressed),
    onclick: () => { if (!one.off) act(one.do, one.args); }, ...others,
  }, content(one.label));
}
register("button", (block, act) => button(block, act));

register("heading", (block, act, page) => h(`h${block.level ?? 3}`, {}, content(block.text, page)));

/** Screen readers interrupt for a problem; they wait their turn with a note or a status. */
const ROLES = { problem: "alert", note: "status", status: "status" };
register("text", (block, act, page) => h(
  "div", { class: classes("text", block.tone), role: ROLES[block.tone] ?? null, lang: block.lang ?? null }, content(block.text, page),
));

register("list", (block, act, page) => h(
  "ul", { class: classes("list", block.tone) },
  block.items.map((item) => h("li", {}, content(item, page))),
));

/** What stands in a cell of a table. */
function cellOf(said, act, page) {
  if (typeof said !== "object" || said === null || Array.isArray(said) || said.kind) return content(said, page);
  if (said.parts) return said.parts.map((one) => cellOf(one, act, page));
  if (said.button) return page.draw([said.button]);
  if (said.share !== undefined) return [h("span", { class: "share", style: `--share: ${Number(said.share)}`, "aria-hidden": "true" }), content(said.words)];
  return said.words === undefined ? content(said) : h("span", { class: said.tone || null, title: said.title || null, lang: said.lang || null }, content(said.words, page));
}

/** A row that can be pressed is so by a click, Return or Space. One of the rows is reached with Tab, the arrow keys move. */
function tableRow(row, block, act, page, isStop) {
  const press = () => act(row.do, row.args);
  const pressed = !row.do ? {} : {
    group: `${block.key}/row`, "aria-selected": String(Boolean(row.selected)), tabindex: isStop ? "0" : "-1",
    onclick: (event) => { if (!event.target.closest("button, a, input, summary")) press(); },
    onkeydown: (event) => {
      if (event.target !== event.currentTarget || !["Enter", " "].includes(event.key)) return;
      event.preventDefault();
      press();
    },
  };
  return h("tr", { key: row.key, class: classes(row.look, row.selected && "is-selected"), ...pressed }, row.cells.map((cell, at) => {
    const { head, align } = block.columns[at] ?? {};
    return h(head ? "th" : "td", { class: align ?? null, scope: head ? "row" : null }, cellOf(cell, act, page));
  }));
}

/** The head of a column; where it sorts the table, it is a button. */
function columnHead(column, block, act) {
  if (!column.title) return h("td", {}); // a head without words would be read as one that is missing
  const canSort = block.sort && column.sort !== undefined;
  const sign = { ascending: " ▲", descending: " ▼" }[column.sort] ?? "";
  const sort = { key: `sort/${column.name}`, label: [column.title, sign], do: block.sort, args: { column: column.name }, look: "head", title: column.hint };
  return h("th", { scope: "col", class: column.align ?? null, "aria-sort": column.sort || null }, canSort ? button(sort, act) : content(column.title));
}

register("table", (block, act, page) => {
  if (!block.rows.length && block.empty) return h("div", { class: "text muted" }, content(block.empty));
  const state = page.state(`table/${block.key}`);
  const acts = block.rows.some((row) => row.do);
  const keys = block.rows.map((row) => row.key);
  const stop = [state.at, block.rows.find((row) => row.selected)?.key, keys[0]].find((key) => keys.includes(key));
  const body = h("tbody", acts ? {
    onkeydown: rovingIn("tr[tabindex]"),
    onfocusin: (event) => {
      const row = event.target.closest("tr");
      moveTabStop([...event.currentTarget.querySelectorAll("tr[tabindex]")], row);
      state.at = row.dataset.key;
    },
  } : {}, block.rows.map((row) => tableRow(row, block, act, page, row.key === stop)));
  return h("div", { class: classes("scroll", block.look), role: "region", "aria-label": block.label, tabindex: "0" }, h(
    "table", { class: "rows", role: acts ? "grid" : null, "aria-label": block.label },
    block.columns.some((one) => one.title) ? h("thead", {}, h("tr", {}, block.columns.map((one) => columnHead(one, block, act)))) : null, body,
  ));
});

/** Work that runs. Its phase is read out, and not each of its numbers. */
register("work", (block, act) => h(
  "div", { class: "work" },
  h("progress", { max: block.total || 1, value: block.total ? block.done : null, "aria-label": block.phase }),
  h("span", { class: "sr", role: "status" }, block.phase), h("span", { "aria-hidden": "true" }, content(block.words)), button(block.cancel, act),
));

register("fold", (block, act, page) => h(
  "div", { class: classes("fold", block.look) },
  h("button", {
    type: "button", key: `fold/${block.key}`, class: "button fold-head", "aria-expanded": String(block.open),
    onclick: () => act("fold.set", { key: block.key, is_open: !block.open }),
  }, h("span", { "aria-hidden": "true" }, block.open ? "▾ " : "▸ "), content(block.title)),
  block.open ? h("div", { class: "fold-body" }, page.draw(block.blocks)) : null,
));

const group = (kind) => (block, act, page) => h(
  "div", { class: classes(kind, block.look), role: block.label ? "group" : null, "aria-label": block.label || null }, page.draw(block.blocks),
);
register("row", group("row"));
register("box", group("box"));

/** One of several: one Tab stop, moved with the arrow keys. */
register("switch", (block, act) => h(
  "div", { class: classes("switch", block.look), role: "group", "aria-label": block.label, onkeydown: rovingIn("button", { along: ["ArrowLeft", "ArrowRight"] }) },
  block.options.map((one, at) => {
    const isChosen = one.name === block.value;
    const isStop = isChosen || (at === 0 && !block.options.some((other) => other.name === block.value));
    const press = { key: `${block.key}/${one.name}`, label: one.title, do: block.do, args: { ...block.args, [block.argument]: one.name }, pressed: isChosen };
    return button(press, act, { tabindex: isStop ? "0" : "-1" });
  }),
));
