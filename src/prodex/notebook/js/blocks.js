// The blocks that all sections use: headings, texts, notices, buttons, tables, work that runs, folds, rows, boxes, tabs, lists, chips.

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
    type: "button", key: one.key ?? `${one.do}/${JSON.stringify(one.args ?? {})}`, class: classes("button", one.look, look),
    title: one.off || one.title || null, "aria-label": one.name ?? null, "aria-description": one.off || null,
    "aria-disabled": one.off ? "true" : null, "aria-pressed": one.pressed === undefined ? null : String(one.pressed),
    fallback: one.fallback, group: one.group, onclick: () => { if (!one.off) act(one.do, one.args); }, ...others,
  }, content(one.label));
}

/** What stands in a cell or an item: a text, a button, a block, or several of these. */
function inside(said, act, page) {
  if (Array.isArray(said)) return said.map((one) => inside(one, act, page));
  if (said?.kind) return page.draw([said]);
  return said?.do ? button(said, act) : content(said);
}

register("heading", (block, act, page) => h(
  "div", { class: classes("heading", block.look) },
  h(`h${block.level ?? 3}`, {}, content(block.text)), block.buttons?.map((one) => button(one, act)), page.draw(block.blocks),
));

register("text", (block) => h("p", { class: classes("text", block.look), lang: block.lang ?? null, role: block.role ?? null }, content(block.text)));

/** Screen readers interrupt for a problem, and wait their turn with a note. */
register("notice", (block, act) => {
  const isProblem = block.look === "problem";
  return h(
    "div", { class: isProblem ? "problem" : "note", role: isProblem ? "alert" : "status" }, h("span", {}, content(block.text)),
    block.lines?.length ? h("ul", {}, block.lines.map((one) => h("li", {}, content(one)))) : null,
    block.buttons?.map((one) => button(one, act)),
  );
});

register("buttons", (block, act) => h(
  "div", { class: classes("buttons", block.look), role: block.label ? "group" : null, "aria-label": block.label || null },
  block.buttons.map((one) => button(one, act)),
));

/** A row that acts is selected by a click, Return or Space. One of the rows is reached with Tab, the arrow keys move. */
function tableRow(row, block, act, page, isStop) {
  const attributes = {
    key: row.key, class: classes(row.look, row.selected && "is-selected"), group: `${block.key}/row`,
    "aria-selected": row.do ? String(Boolean(row.selected)) : null, tabindex: row.do ? (isStop ? "0" : "-1") : null,
    onclick: row.do ? (event) => { if (!event.target.closest("button, a, input, summary")) act(row.do, row.args); } : null,
    onkeydown: row.do ? (event) => {
      if (event.target !== event.currentTarget || !["Enter", " "].includes(event.key)) return;
      event.preventDefault();
      act(row.do, row.args);
    } : null,
  };
  return h("tr", attributes, row.cells.map((cell, at) => {
    const column = block.columns[at] ?? {};
    return h(column.head ? "th" : "td", { class: column.align ?? null, scope: column.head ? "row" : null }, inside(cell, act, page));
  }));
}

register("table", (block, act, page) => {
  const state = page.state(`table/${block.key}`);
  const acts = block.rows.some((row) => row.do);
  const stop = [state.at, block.rows.find((row) => row.selected)?.key, block.rows[0]?.key]
    .find((key) => block.rows.some((row) => row.key === key));
  const body = h("tbody", {
    onkeydown: rovingIn("tr[tabindex]"),
    onfocusin: (event) => {
      const row = event.target.closest("tr");
      if (!acts) return;
      moveTabStop([...event.currentTarget.querySelectorAll("tr[tabindex]")], row);
      state.at = row.dataset.key;
    },
  }, block.rows.map((row) => tableRow(row, block, act, page, row.key === stop)));
  const heads = block.columns.map((column) => h(
    "th", { scope: "col", class: column.align ?? null, "aria-sort": column.sorted ?? null },
    column.do ? button({ ...column, label: column.title }, act, { title: column.hint ?? null }) : content(column.title),
  ));
  return h(
    "div", { class: classes("scroll", block.look), role: "region", "aria-label": block.label ?? plain(block.caption), tabindex: "0" },
    h(
      "table",
      { class: "rows", role: acts ? "grid" : null, "aria-label": block.label ?? null, "aria-multiselectable": acts ? String(Boolean(block.multiple)) : null },
      block.caption ? h("caption", {}, content(block.caption)) : null,
      block.columns.some((column) => column.title) ? h("thead", {}, h("tr", {}, heads)) : null, body,
    ),
  );
});

/** Work that runs: what it does, how far it is, and how it is cancelled. */
register("work", (block, act) => h(
  "div", { class: "work" },
  h("progress", { max: "1", value: block.share ?? null, "aria-label": plain(block.title) }),
  h("span", { role: "status" }, content(block.title), block.words ? [" ", h("span", { class: "muted" }, content(block.words))] : null),
  block.cancel ? button(block.cancel, act) : null,
));

/** A part that opens and closes; the kernel knows it where it has to read something for it. */
register("fold", (block, act, page) => {
  const state = page.state(`fold/${block.key}`, { isOpen: Boolean(block.open) });
  const isOpen = block.do ? Boolean(block.open) : state.isOpen;
  const toggle = () => {
    if (block.do) return act(block.do, block.args);
    state.isOpen = !state.isOpen;
    return page.redraw();
  };
  return h(
    "div", { class: classes("fold", block.look) },
    h("button", { type: "button", key: `fold/${block.key}`, class: "button fold-head", "aria-expanded": String(isOpen), onclick: toggle },
      h("span", { "aria-hidden": "true" }, isOpen ? "▾ " : "▸ "), content(block.title)),
    isOpen ? h("div", { class: "fold-body" }, page.draw(block.blocks)) : null,
  );
});

const group = (kind) => (block, act, page) => h(
  "div", { class: classes(kind, block.look), role: block.label ? "group" : null, "aria-label": block.label || null }, page.draw(block.blocks),
);
register("row", group("row"));
register("box", group("box"));

/** One of several: one Tab stop, moved with the arrow keys. */
register("switch", (block, act) => {
  const chosen = Math.max(0, block.options.findIndex((one) => one.chosen));
  return h(
    "div", { class: classes("switch", block.look), role: "group", "aria-label": block.label ?? null, onkeydown: rovingIn("button", { along: ["ArrowLeft", "ArrowRight"] }) },
    block.options.map((one, at) => button(one, act, {
      "aria-pressed": String(Boolean(one.chosen)), class: one.chosen ? "is-chosen" : "", tabindex: at === chosen ? "0" : "-1",
    })),
  );
});

register("list", (block, act, page) => h(
  block.ordered ? "ol" : "ul", { class: classes("list", block.look), "aria-label": block.label ?? null },
  block.items.map((item) => h("li", {}, inside(item, act, page))),
));

/** What is removed by a press; the focus goes to the next of them. */
register("chips", (block, act) => h(
  "div", { class: classes("chips", block.look), role: "group", "aria-label": block.label ?? null },
  block.title ? h("span", { class: "muted" }, content(block.title)) : null,
  block.chips.map((one) => button({ group: `${block.key}/chip`, ...one }, act, { class: "chip" })),
));
