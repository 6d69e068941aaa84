// A table of products: heads that sort and show how values are distributed, rows that open a card, and boxes that select.

/** How many products have a value; marks keep the direction of the value apart from that of the sentence. */
const has = (label, count) => `\u2068${label}\u2069: ${products(count)}`;

/** The most frequent values, longest first; values in an order, such as grades, as one bar. A press selects a value. */
function values(column, tell) {
  const { total, values: shown, ordered } = column.head;
  const share = (value) => value.count / Math.max(1, total);
  const along = ordered ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  const made = shown.map((value, place) => el(
    "button",
    {
      type: "button", class: value.chosen ? "is-chosen" : null, tabindex: place ? "-1" : "0", style: `--share: ${share(value)}`,
      "data-key": `value/${column.name}/${value.key}`, title: has(value.label, value.count),
      "aria-label": `${column.title} ${value.label}: ${products(value.count)}`, "aria-pressed": String(value.chosen),
      onclick: () => tell("pick", { column: column.name, key: value.key }),
      onkeydown: (event) => roving(event, made, { along }),
    },
    typed(value.label), ordered ? null : el("span", { class: "n" }, whole(value.count)),
  ));
  return el("div", { class: ordered ? "shares" : "frequent", role: "group", "aria-label": `${column.title}: most frequent values` }, ...made);
}

function head(column, tell, state) {
  const arrow = { ascending: " ▲", descending: " ▼" }[column.sort] ?? "";
  return el(
    "th",
    // Named by its title alone: screen readers say the name of a column at every cell.
    { scope: "col", class: column.align, "aria-sort": column.sort || "none", "aria-label": column.title },
    el("button", {
      type: "button", class: "sort", "data-key": `sort/${column.name}`, onclick: () => tell("sort", { column: column.name }),
      title: `Sort by ${column.title}`,
    }, typed(column.title), el("span", { "aria-hidden": "true" }, arrow)),
    column.head?.bins?.length ? bars(column, tell, state) : column.head?.values?.length ? values(column, tell) : null,
    column.head?.note ? el("small", { class: "muted" }, column.head.note) : null,
  );
}

function productRow(row, place, view, tell, rows) {
  const isOpen = row.id === view.open;
  const cells = row.cells.map((cell, at) => {
    const column = view.columns[at];
    const inside = cell.missing ? el("span", { class: "muted" }, cell.text) : typed(cell.text);
    return el("td", { class: `${column.align}${column.name === "name" ? " name" : ""}`, title: cell.text.length > 24 ? cell.text : null }, inside);
  });
  const box = el("input", {
    type: "checkbox", tabindex: "-1", "data-key": `box/${row.id}`, "aria-label": `Select ${row.label}`,
    onclick: (event) => { event.stopPropagation(); tell("select", { id: row.id, through: event.shiftKey }); },
  });
  box.checked = row.selected;
  const first = el("td", { class: "box" }, box);
  const thumb = view.thumbs ? el("td", { class: "thumb" }, row.thumb ? el("img", { src: row.thumb, alt: "" }) : el("span", { class: "muted", "aria-hidden": "true" }, "·")) : null;
  return el(
    "tr",
    {
      class: `${row.selected ? "selected" : ""}${isOpen ? " is-open" : ""}`, tabindex: place === rows.active ? "0" : "-1",
      "data-key": `row/${row.id}`, "data-group": "row", "aria-selected": String(row.selected), "aria-current": isOpen ? "true" : null,
      onclick: (event) => { tell("open", { id: row.id }); onSecond(event, () => tell("edit", { id: row.id })); },
    },
    first, thumb, ...cells,
  );
}

/** Scroll the table, and not the page around it, until a row is in sight below the heads. */
function intoSight(row) {
  const scroll = row?.closest(".scroll");
  if (!scroll) return;
  const [top, bottom] = [row.offsetTop - scroll.querySelector("thead").offsetHeight, row.offsetTop + row.offsetHeight];
  if (top < scroll.scrollTop) scroll.scrollTop = top;
  else if (bottom > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = bottom - scroll.clientHeight;
}

/** The keys of a row: arrows open the next card, Space selects, Return opens, "e" corrects, Escape closes. */
function rowKeys(event, body, view, tell) {
  const row = event.target.closest("tr");
  if (!row || event.target !== row) return;
  const rows = [...body.querySelectorAll("tr")];
  const place = rows.indexOf(row);
  const id = view.rows[place]?.id;
  const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 };
  if (event.key in steps) {
    event.preventDefault();
    const next = place + steps[event.key];
    if (next < 0 || next >= rows.length) { tell("turn", { by: steps[event.key], follow: true }); return; }
    rows[next].focus({ preventScroll: true });
    intoSight(rows[next]);
    if (view.open) tell("open", { id: view.rows[next].id });
  } else if (event.key === "Enter") { event.preventDefault(); tell("open", { id }); }
  else if (event.key === "e") { event.preventDefault(); tell("edit", { id }); }
  else if (event.key === " ") { event.preventDefault(); tell("select", { id, through: event.shiftKey }); }
  else if (event.key === "Escape") { event.preventDefault(); tell("close"); }
  else if (event.key === "PageDown" || event.key === "PageUp") { event.preventDefault(); tell("turn", { by: event.key === "PageDown" ? 1 : -1 }); }
  else if (event.key === "Home" || event.key === "End") { event.preventDefault(); rows[event.key === "Home" ? 0 : rows.length - 1].focus(); }
}

/** Which columns go when the table is too wide by so many pixels: the least important first, and of these the rightmost. */
function columnsToHide(columns, widths, over) {
  const order = columns.map((_, at) => at).filter((at) => columns[at].priority > 1)
    .sort((one, other) => columns[other].priority - columns[one].priority || other - one);
  const out = [];
  for (const at of order) {
    if (over <= 0) break;
    over -= widths[at];
    out.push(at);
  }
  return out.sort((one, other) => one - other);
}

/** Hide the columns that do not fit, say which, and offer to show all of them: the table can then be scrolled sideways. */
function fit(root, columns, state) {
  const scroll = root.querySelector(".scroll");
  const rows = [...scroll.querySelectorAll("tr")];
  const cells = (at) => rows.map((row) => row.cells[row.cells.length - columns.length + at]);
  const show = (at, isShown) => cells(at).forEach((cell) => { cell.hidden = !isShown; });
  columns.forEach((_, at) => show(at, true));
  const over = scroll.scrollWidth - scroll.clientWidth;
  const widths = columns.map((_, at) => cells(at)[0].offsetWidth);
  const out = state.isWhole ? [] : columnsToHide(columns, widths, over);
  out.forEach((at) => show(at, false));
  const change = () => {
    state.isWhole = !state.isWhole;
    fit(root, columns, state);
    root.querySelector(".no-room button")?.focus();
  };
  const press = (text) => el("button", { type: "button", class: "link", "data-key": "room", onclick: change }, text);
  const titles = out.map((at) => `\u2068${columns[at].title}\u2069`).join(", ");
  const note = out.length ? [`No room here for ${titles}. `, press("Show all columns")]
    : state.isWhole && over > 0 ? [press("Show only the columns that fit")] : [];
  root.querySelector(".no-room").replaceChildren(...note);
}

/** Fit the columns again whenever the table becomes wider or narrower: a card is opened, a sidebar, the window. */
function watchWidth(root, state) {
  state.watching ??= new ResizeObserver(() => {
    const width = root.clientWidth;
    if (width === state.width) return;
    // A section that is hidden has no width: what was drawn there meanwhile is fitted when it is shown again.
    state.width = width;
    if (width) state.fit();
  });
  state.watching.observe(root);
}

/** All of a view but which row is open and which one has the focus, to compare with the next one. */
const contents = ({ open, focus, focusRow, ...others }) => JSON.stringify(others);

/** Mark the row whose card is open, and leave the table as it is: most often nothing else changes. */
function markOpen(root, view, state) {
  const rows = [...root.querySelectorAll("tbody tr")];
  rows.forEach((row, place) => {
    const isOpen = view.rows[place].id === view.open;
    row.classList.toggle("is-open", isOpen);
    if (isOpen) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  });
  const open = root.querySelector("tr.is-open");
  if (open) moveTabStop(rows, open);
  if (view.open !== state.open) intoSight(open);
  state.open = view.open;
  showCard(root, view.open, state);
}

function drawGrid(root, view, tell, state) {
  if (!view.columns) return;
  const [before, now] = [state.contents, contents(view)];
  Object.assign(state, { view, contents: now });
  if (before === now && state.focus === view.focus) { markOpen(root, view, state); return; }
  const held = root.querySelector(".scroll");
  const at = held && state.page === view.page ? held.scrollTop : 0;
  const wanted = view.focus !== (state.focus ?? view.focus) ? view.rows.at(view.focusRow) : null;
  const active = Math.max(0, view.rows.indexOf(wanted ?? view.rows.find((row) => row.id === (view.open ?? state.active))));
  const body = el("tbody", {}, ...view.rows.map((row, place) => productRow(row, place, view, tell, { active })));
  body.addEventListener("keydown", (event) => rowKeys(event, body, state.view, tell));
  body.addEventListener("focusin", (event) => {
    const row = event.target.closest("tr");
    if (!row) return;
    moveTabStop([...body.rows], row);
    state.active = row.dataset.key.slice(4);
  });
  const heads = [el("th", { scope: "col", class: "box" }, el("span", { class: "sr" }, "Selected")), view.thumbs ? el("th", { scope: "col", class: "thumb" }, el("span", { class: "sr" }, "Picture")) : null];
  const table = el("table", { class: view.dense ? "dense" : "roomy", role: "grid", "aria-label": view.label, "aria-rowcount": String(view.total + 1) },
    el("thead", {}, el("tr", {}, ...heads.filter(Boolean), ...view.columns.map((column) => head(column, tell, state)))), body);
  const scroll = el("div", { class: "scroll" }, table);
  const note = el("p", { class: "muted no-room" });
  root.replaceChildren(scroll, note, ...(view.rows.length ? [] : [el("p", { class: "muted empty", role: "status" }, view.empty)]));
  state.fit = () => fit(root, view.columns, state);
  state.fit();
  watchWidth(root, state);
  scroll.scrollTop = at;
  Object.assign(state, { page: view.page, focus: view.focus });
  if (view.open !== state.open) intoSight(root.querySelector("tr.is-open"));
  state.open = view.open;
  showCard(root, view.open, state);
  if (wanted) root.querySelectorAll("tbody tr")[active].focus();
}

export default live("product-grid", drawGrid);
