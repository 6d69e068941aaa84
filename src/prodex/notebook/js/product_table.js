// The table of products: heads that sort and show how values are distributed, rows that open a card, and boxes that select.
//
// Of a long page only the rows near those in sight are elements. They are drawn into the body of the table by themselves,
// so that scrolling draws nothing else.

/** Rows that are all drawn, and how many more than are seen are drawn of a longer page, above and below. */
const ALL_ROWS = 60, MORE_ROWS = 12;
/** Pixels of a row that was not measured yet. */
const ROW_HEIGHT = 27;

const productsIn = (count) => `${whole(count)} ${count === 1 ? "product" : "products"}`;
/** How many products have a value; marks keep the direction of the value apart from that of the sentence. */
const hasValue = (label, count) => `\u2068${label}\u2069: ${productsIn(count)}`;

/** The most frequent values, longest first; values in an order, such as grades, as one bar. A press selects a value. */
function headValues(column, act) {
  const { total, values, ordered } = column.head;
  const along = ordered ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
  return h(
    "div", { class: ordered ? "shares" : "frequent", role: "group", "aria-label": `${column.title}: most frequent values`, onkeydown: rovingIn("button", { along }) },
    values.map((value, place) => h("button", {
      type: "button", key: `value/${column.key}/${value.code}`, group: `values/${column.key}`, class: value.chosen ? "is-chosen" : null, tabindex: place ? "-1" : "0",
      style: `--share: ${value.count / Math.max(1, total)}`, title: hasValue(value.label, value.count),
      "aria-label": `${column.title} ${value.label}: ${productsIn(value.count)}`, "aria-pressed": String(value.chosen),
      onclick: () => act("table.pick", { column: column.key, code: value.code }),
    }, typed(value.label), ordered ? null : h("span", { class: "n" }, whole(value.count)))),
  );
}

/** Bars of a histogram: a press keeps one bar, a drag or Shift with the arrow keys a range of them. */
function headBars(column, act, state) {
  const { bins } = column.head;
  const most = Math.max(1, ...bins.map((bin) => bin.count));
  const keep = (one, other) => {
    const [first, last] = one < other ? [one, other] : [other, one];
    act("table.range", { column: column.key, least: bins[first].least, greatest: bins[last].greatest });
  };
  const onkeydown = (event) => {
    const made = [...event.currentTarget.children];
    const place = made.indexOf(event.target);
    // The bars are drawn anew after each step, and the range still begins where Shift was pressed first.
    const from = state.anchor?.column === column.key ? state.anchor.place : place;
    if (!roving(event, made, { along: ["ArrowLeft", "ArrowRight"] })) return;
    state.anchor = event.shiftKey ? { column: column.key, place: from } : null;
    if (event.shiftKey) keep(from, made.findIndex((one) => one.getAttribute("tabindex") === "0"));
  };
  return h("div", { class: "bins", role: "group", "aria-label": `${column.title}: distribution`, onkeydown }, bins.map((bin, place) => h("button", {
    type: "button", key: `bin/${column.key}/${place}`, class: classes("bin", bin.inside && "is-chosen"), tabindex: place ? "-1" : "0",
    style: `--share: ${bin.count / most}`, "aria-pressed": String(bin.inside),
    title: `${bin.label}: ${productsIn(bin.count)}`, "aria-label": `${column.title} ${bin.label}: ${productsIn(bin.count)}`,
    onpointerdown: () => { state.from = { column: column.key, place }; },
    onpointerup: () => {
      if (state.from?.column === column.key) keep(state.from.place, place);
      state.from = null;
    },
    // By keyboard or by a screen reader; a pointer has been answered already.
    onclick: (event) => { if (event.detail === 0) keep(place, place); },
  })));
}

function productHead(column, act, state) {
  const arrow = { ascending: " ▲", descending: " ▼" }[column.sort] ?? "";
  const { head } = column;
  return h(
    // Named by its title alone: screen readers say the name of a column at every cell.
    "th", { key: column.key, scope: "col", class: column.align, "aria-sort": column.sort || "none", "aria-label": column.title },
    h("button", {
      type: "button", class: "sort", key: `sort/${column.key}`, onclick: () => act("table.sort", { column: column.key }), title: `Sort by ${column.title}`,
    }, typed(column.title), h("span", { "aria-hidden": "true" }, arrow)),
    head?.bins?.length ? headBars(column, act, state) : head?.values?.length ? headValues(column, act) : null,
    head?.note ? h("small", { class: "muted" }, head.note) : null,
  );
}

function productRow(row, place, block, act, page, state) {
  const isOpen = row.key === block.open;
  const isChosen = state.chosen.has(row.key);
  const isStop = row.key === state.active;
  // In a file nothing is selected.
  const box = block.selected && h("input", {
    type: "checkbox", tabindex: "-1", key: `box/${row.key}`, "aria-label": `Select ${row.label}`, checked: isChosen,
    onclick: (event) => {
      event.stopPropagation();
      // It is ticked once the kernel has selected the product.
      event.preventDefault();
      act("table.select", { product_id: row.key, through: event.shiftKey });
    },
  });
  const picture = block.pictures?.[row.key];
  return h(
    "tr", {
      key: `row/${row.key}`, group: "product-row", class: classes(isChosen && "selected", isOpen && "is-open"), tabindex: isStop ? "0" : "-1",
      "aria-rowindex": String(block.first + place + 2), "aria-selected": block.selected ? String(isChosen) : null, "aria-current": isOpen ? "true" : null,
      onclick: (event) => {
        act("table.open", { product_id: row.key });
        onSecond(event, () => act("table.edit", { product_id: row.key }));
      },
    },
    box ? h("td", { class: "tick-cell" }, box) : null,
    block.pictures ? h("td", { class: "thumb" }, picture ? h("img", { ...page.picture(picture), alt: "" }) : h("span", { class: "muted", "aria-hidden": "true" }, "·")) : null,
    row.cells.map((cell, at) => {
      const { key, align } = block.columns[at];
      const isText = typeof cell === "string";
      return h("td", { class: classes(align, key === "name" && "name"), title: isText && cell.length > 24 ? cell : null }, isText ? typed(cell) : h("span", { class: "muted" }, cell.gap));
    }),
  );
}

/** The places of the rows that are drawn: those in sight with some more, and the one that has the focus or would get it. */
function rowsToDraw(scroll, block, state) {
  const { rows } = block;
  if (rows.length <= ALL_ROWS) return rows.map((_, place) => place);
  const heights = rows.map((row) => state.heights.get(row.key) ?? state.height ?? ROW_HEIGHT);
  let [top, first, last] = [0, rows.length, 0];
  heights.forEach((height, place) => {
    if (top + height >= scroll.scrollTop && top <= scroll.scrollTop + scroll.clientHeight) {
      first = Math.min(first, place);
      last = place;
    }
    top += height;
  });
  if (first > last) [first, last] = [0, ALL_ROWS - 1];
  [first, last] = [first - MORE_ROWS, last + MORE_ROWS];
  return rows.map((_, place) => place).filter((place) => (place >= first && place <= last) || rows[place].key === state.active);
}

function drawProductRows(body, block, act, page, state) {
  const scroll = body.closest(".scroll");
  // Measured before they change: rows that are as high as needed differ.
  for (const row of body.querySelectorAll("tr[tabindex]")) state.heights.set(row.dataset.key.slice(4), row.offsetHeight);
  const known = [...state.heights.values()];
  state.height = known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : ROW_HEIGHT;
  const places = rowsToDraw(scroll, block, state);
  state.drawnPlaces = places.join();
  const height = (from, to) => block.rows.slice(from, to).reduce((sum, row) => sum + (state.heights.get(row.key) ?? state.height), 0);
  const wanted = [];
  let next = 0;
  const gap = (to) => {
    if (to > next) wanted.push(h("tr", { key: `gap/${next}`, class: "spacer", role: "none", "aria-hidden": "true" }, h("td", { style: `height: ${height(next, to)}px` })));
  };
  for (const place of places) {
    gap(place);
    wanted.push(productRow(block.rows[place], place, block, act, page, state));
    next = place + 1;
  }
  gap(block.rows.length);
  const before = state.rows;
  state.rows = wanted;
  drawInto(body, before, wanted);
}

const rowOf = (body, id) => body.querySelector(`[data-key="${CSS.escape(`row/${id}`)}"]`);

/** Scroll the table, and not the page around it, until a row is in sight below the heads. */
function rowIntoSight(row) {
  const scroll = row?.closest(".scroll");
  if (!scroll) return;
  const [top, bottom] = [row.offsetTop - scroll.querySelector("thead").offsetHeight, row.offsetTop + row.offsetHeight];
  if (top < scroll.scrollTop) scroll.scrollTop = top;
  else if (bottom > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = bottom - scroll.clientHeight;
}

/** Scroll to a row, and draw what is around it: rows that were never drawn may be higher than thought, and move it. */
function bringRow(body, id, block, state) {
  for (let left = 4; left; left -= 1) {
    rowIntoSight(rowOf(body, id));
    if (rowsToDraw(body.closest(".scroll"), block, state).join() === state.drawnPlaces) return;
    state.drawRows();
  }
  rowIntoSight(rowOf(body, id));
}

/** Make a row the one that is reached with Tab. */
function stopAtRow(body, id, state) {
  state.active = id;
  moveTabStop([...body.querySelectorAll("tr[tabindex]")], rowOf(body, id));
}

/** The keys of a row: arrows open the next card, Space selects, Return opens, "e" corrects, Escape closes. */
function productKeys(event, body, block, act, state) {
  const row = event.target;
  if (!row.matches("tr[tabindex]") || event.ctrlKey || event.metaKey || event.altKey) return;
  const id = row.dataset.key.slice(4);
  const place = block.rows.findIndex((one) => one.key === id);
  const go = (to) => {
    const next = block.rows[to].key;
    stopAtRow(body, next, state);
    if (!rowOf(body, next)) state.drawRows();
    const found = rowOf(body, next);
    found.focus({ preventScroll: true });
    bringRow(body, next, block, state);
    if (block.open) act("table.open", { product_id: next });
  };
  const turn = (by, follow) => {
    // The rows of the next page come from the kernel, and the focus goes on to the nearest of them.
    state.next = { first: block.first, by };
    act("table.turn", follow ? { by, follow } : { by });
  };
  const steps = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 };
  const keys = {
    Enter: () => act("table.open", { product_id: id }),
    e: () => act("table.edit", { product_id: id }),
    " ": () => act("table.select", { product_id: id, through: event.shiftKey }),
    Escape: () => act("table.close"),
    PageDown: () => turn(1),
    PageUp: () => turn(-1),
    Home: () => go(0),
    End: () => go(block.rows.length - 1),
  };
  if (event.key in steps) {
    const next = place + steps[event.key];
    if (block.rows[next]) go(next);
    else turn(steps[event.key], true);
  } else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
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
function fitColumns(root, block, state) {
  const { columns } = block;
  const scroll = root.querySelector(".scroll");
  const rows = [...scroll.querySelectorAll("tr:not(.spacer)")];
  const cells = (at) => rows.map((row) => row.cells[row.cells.length - columns.length + at]);
  const show = (at, isShown) => cells(at).forEach((cell) => { cell.hidden = !isShown; });
  columns.forEach((_, at) => show(at, true));
  const over = scroll.scrollWidth - scroll.clientWidth;
  const out = state.isWhole ? [] : columnsToHide(columns, columns.map((_, at) => cells(at)[0].offsetWidth), over);
  out.forEach((at) => show(at, false));
  const note = root.querySelector(".no-room");
  const titles = out.map((at) => `\u2068${columns[at].title}\u2069`).join(", ");
  const label = out.length ? "Show all columns" : state.isWhole && over > 0 ? "Show only the columns that fit" : "";
  note.firstElementChild.textContent = titles ? `No room here for ${titles}. ` : "";
  Object.assign(note.lastElementChild, { textContent: label, hidden: !label });
  note.hidden = !label;
}

/** Fit the columns again whenever the table becomes wider or narrower: a card is opened, a sidebar, the window. */
function watchTable(root, state) {
  if (state.watched === root) return;
  state.watching?.disconnect();
  state.watched = root;
  state.watching = new ResizeObserver(() => {
    // A section that is hidden has no width: what was drawn there meanwhile is fitted when it is shown again.
    if (root.clientWidth !== state.width && root.clientWidth) state.fit();
    state.width = root.clientWidth;
  });
  state.watching.observe(root);
}

/**
 * Show the card of another product from its beginning, and scroll the page to it where it is out of sight: below a table
 * in a narrow panel, or above the rows that somebody has scrolled to.
 */
function bringCard(root, open, state) {
  const isOther = open && open !== state.carded;
  state.carded = open;
  const pane = root.closest(".prodex")?.querySelector(".pane");
  if (!isOther || !pane) return;
  pane.scrollTop = 0;
  // A card that is still read is short, and the page cannot be scrolled to its beginning yet.
  const look = (left) => requestAnimationFrame(() => {
    const box = pane.getBoundingClientRect();
    const isOut = box.top > window.innerHeight * 0.7 || box.bottom < 80;
    if (!pane.isConnected || open !== state.carded || (box.height && !isOut)) return;
    if (box.height) pane.scrollIntoView({ block: "start" });
    if (left) look(left - 1);
  });
  look(60);
}

register("product_table", (block, act, page) => {
  const state = page.state(`product_table/${block.key}`, { heights: new Map(), rows: [], active: null, open: block.open, isWhole: false, first: block.first });
  const { rows } = block;
  const ids = rows.map((row) => row.key);
  const isTurned = state.next && state.next.first !== block.first;
  const wanted = isTurned ? (state.next.by > 0 ? ids[0] : ids.at(-1)) : null;
  const isOpened = block.open !== state.open;
  if (wanted) state.active = wanted;
  else if (isOpened && ids.includes(block.open)) state.active = block.open;
  else if (!ids.includes(state.active)) state.active = ids.includes(block.open) ? block.open : ids[0] ?? null;
  state.chosen = new Set(block.selected);
  const others = [block.selected ? h("th", { scope: "col", class: "tick-cell" }, h("span", { class: "sr" }, "Selected")) : null, block.pictures ? h("th", { scope: "col", class: "thumb" }, h("span", { class: "sr" }, "Picture")) : null];
  const drawBody = (body) => {
    if (state.body !== body) Object.assign(state, { body, rows: [] });
    state.drawRows = () => {
      drawProductRows(body, block, act, page, state);
      fitColumns(body.closest("[data-block]"), block, state);
    };
    if (state.first !== block.first) body.closest(".scroll").scrollTop = 0;
    drawProductRows(body, block, act, page, state);
  };
  const drawn = (root) => {
    state.fit = () => fitColumns(root, block, state);
    state.fit();
    watchTable(root, state);
    const active = state.body && rowOf(state.body, state.active);
    if (wanted || (isOpened && block.open)) rowIntoSight(active);
    // The focus goes on only if it is still where the key was pressed: somebody may have gone elsewhere meanwhile.
    const focus = root.getRootNode().activeElement;
    if (wanted && (root.contains(focus) || focus === document.body)) active?.focus({ preventScroll: true });
    if (isTurned) state.next = null;
    Object.assign(state, { open: block.open, first: block.first });
    bringCard(root, block.open, state);
  };
  let isWaiting = false;
  const onscroll = () => {
    if (isWaiting || rows.length <= ALL_ROWS) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      if (rowsToDraw(state.body.closest(".scroll"), block, state).join() !== state.drawnPlaces) state.drawRows();
    });
  };
  return h(
    "div", { class: "product-table", drawn, gone: () => { state.watching?.disconnect(); state.watched = null; } },
    h("div", { class: "scroll", onscroll }, h(
      "table", { class: block.look, role: "grid", "aria-label": block.label, "aria-rowcount": String(block.total + 1), "aria-multiselectable": block.selected ? "true" : null },
      h("thead", {}, h("tr", { "aria-rowindex": "1" }, others, block.columns.map((column) => productHead(column, act, state)))),
      h("tbody", {
        "data-wished": true,
        drawn: drawBody,
        onkeydown: (event) => productKeys(event, event.currentTarget, block, act, state),
        onfocusin: (event) => {
          const row = event.target.closest("tr[tabindex]");
          if (row) stopAtRow(event.currentTarget, row.dataset.key.slice(4), state);
        },
      }),
    )),
    h("p", { class: "muted no-room" }, h("span", {}), h("button", {
      type: "button", class: "button is-link", key: "room",
      onclick: () => {
        state.isWhole = !state.isWhole;
        state.fit();
      },
    })),
    block.empty ? h("p", { class: "muted empty", role: "status" }, block.empty) : null,
  );
});
