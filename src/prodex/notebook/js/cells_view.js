// A grid of cells that can be pressed, with heads that can be pressed, too. One Tab stop; arrow keys move between cells.

/** A head or a cell. One that lists nothing can be reached and read, and does nothing. */
function cellButton(what, look, key, place, press, ...inside) {
  const isMute = Boolean(what.mute) || !press;
  return h("button", {
    type: "button", key, class: classes(look, what.pressed && "is-pressed", isMute && "is-mute"), tabindex: "-1",
    "data-row": String(place[0]), "data-column": String(place[1]), "aria-label": what.say, title: what.hint || null,
    "aria-pressed": isMute ? null : String(Boolean(what.pressed)), "aria-disabled": isMute ? "true" : null,
    onclick: isMute ? null : press,
  }, what.pressed ? h("span", { "aria-hidden": "true" }, "✓ ") : null, inside);
}

const cellHead = (head, key, place, press) => cellButton(
  head, "head", key, place, press, content(head.text), head.detail ? h("small", { class: "muted" }, content(head.detail)) : null,
);

/** What sorts the columns by a row. */
function sortButton(row, place, press) {
  const order = { ascending: "lowest first", descending: "highest first" }[row.sort] ?? "as they are listed";
  const name = `Sort the columns by ${plain(row.text)}; now ${order}`;
  return h("button", {
    type: "button", key: `sort/${row.key}`, class: classes("sort", row.sort && "is-on"), tabindex: "-1",
    "data-row": String(place), "data-column": "1", "aria-label": name, title: name, onclick: press,
  }, h("span", { "aria-hidden": "true" }, { ascending: "▲", descending: "▼" }[row.sort] ?? "⇅"));
}

/** Move the focus to the next cell that there is in a direction, or to an end of the row or of the grid. */
function moveInCells(event) {
  const from = event.target.closest("button[data-row]");
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!from || event.altKey || event.metaKey || !(step || event.key === "Home" || event.key === "End")) return;
  event.preventDefault();
  const every = [...event.currentTarget.querySelectorAll("button[data-row]")];
  const [row, column] = [Number(from.dataset.row), Number(from.dataset.column)];
  const line = step?.[0]
    ? every.filter((one) => Number(one.dataset.column) === column)
    : every.filter((one) => Number(one.dataset.row) === row);
  const own = event.ctrlKey && !step ? every : line;
  const at = { Home: 0, End: own.length - 1 }[event.key] ?? own.indexOf(from) + step[0] + step[1];
  own[at]?.focus();
}

function cellRow(row, place, block, act) {
  const press = (what, args) => (block.do[what] ? () => act(block.do[what], args) : null);
  const canSort = row.sort !== undefined && block.do.sort;
  return h("tr", { key: row.key, class: row.total ? "total" : null },
    h("th", { scope: "row", "aria-sort": row.sort || null }, h("div", { class: "row-head" },
      cellHead(row, `row/${row.key}`, [place, 0], press("row", { row: row.key })),
      canSort ? sortButton(row, place, press("sort", { row: row.key })) : null)),
    row.cells.map((cell, at) => h("td", { key: cell.key }, cellButton(
      cell, classes("cell", cell.shade === undefined ? "none" : `shaded h${cell.shade}`), `cell/${row.key}/${cell.key}`,
      [place, at + 2], press("cell", { row: row.key, column: cell.key }), content(cell.text),
    ))));
}

register("cells", (block, act, page) => {
  if (!block.rows.length || !block.columns.length) return h("div", { class: "text muted", role: "status" }, content(block.empty));
  const state = page.state(`cells/${block.key}`);
  const stop = (table) => {
    const buttons = [...table.querySelectorAll("button[data-row]")];
    moveTabStop(buttons, buttons.find((one) => one.dataset.key === state.active) ?? table.querySelector("td button"));
  };
  const column = (head) => (block.do.column ? () => act(block.do.column, { column: head.key }) : null);
  return h("div", { class: "cells-view" }, h("div", { class: "scroll" }, h(
    "table", {
      class: "cells", role: "grid", "aria-label": block.label, drawn: stop, onkeydown: moveInCells,
      onfocusin: (event) => {
        const pressed = event.target.closest("button[data-row]");
        if (!pressed) return;
        state.active = pressed.dataset.key;
        stop(event.currentTarget);
      },
    },
    h("thead", {}, h("tr", {}, h("th", { key: "corner", scope: "col", class: "corner" }, content(block.corner)),
      block.columns.map((head, at) => h("th", { key: head.key, scope: "col" }, cellHead(head, `column/${head.key}`, [0, at + 2], column(head)))))),
    h("tbody", {}, block.rows.map((row, place) => cellRow(row, place + 1, block, act))),
  )));
});
