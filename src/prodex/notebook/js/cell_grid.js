// A grid of cells that can be pressed, with heads that can be pressed, too. One Tab stop; arrow keys move between cells.

/** A button of the grid: a head or a cell. One that lists nothing can be reached and read, and does nothing. */
function gridButton(what, classes, key, place, press, ...inside) {
  const names = [...classes, what.pressed ? "is-pressed" : "", what.disabled ? "is-mute" : ""];
  return el(
    "button",
    {
      type: "button", class: names.filter(Boolean).join(" "), tabindex: "-1", "data-key": key,
      "data-row": String(place[0]), "data-column": String(place[1]), "aria-label": what.say, title: what.hint || null,
      "aria-pressed": what.disabled ? null : String(Boolean(what.pressed)), "aria-disabled": what.disabled ? "true" : null,
      onclick: what.disabled ? null : press,
    },
    what.pressed ? el("span", { "aria-hidden": "true" }, "✓ ") : null, ...inside,
  );
}

function headButton(head, key, place, press) {
  const detail = head.detail ? el("small", { class: "muted" }, typed(head.detail)) : null;
  return gridButton(head, ["head"], key, place, press, typed(head.text), detail);
}

/** Move the focus to the next cell that there is in a direction, or to an end of the row or of the grid. */
function moveInGrid(event, table) {
  const from = event.target.closest("button[data-row]");
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (!from || event.altKey || event.metaKey || !(step || event.key === "Home" || event.key === "End")) return;
  event.preventDefault();
  const every = [...table.querySelectorAll("button[data-row]")];
  const at = (row, column) => every.find((one) => Number(one.dataset.row) === row && Number(one.dataset.column) === column);
  const [row, column] = [Number(from.dataset.row), Number(from.dataset.column)];
  const own = event.ctrlKey ? every : every.filter((one) => Number(one.dataset.row) === row);
  const next = step ? at(row + step[0], column + step[1]) : own[event.key === "Home" ? 0 : own.length - 1];
  if (!next) return;
  next.focus();
}

function gridRow(row, place, tell) {
  const head = headButton(row, `row/${row.key}`, [place, 0], () => tell("row", { row: row.key }));
  const cells = row.cells.map((cell, at) => {
    const shade = cell.shade === null || cell.shade === undefined ? "none" : `h${cell.shade}`;
    const press = () => tell("cell", { row: row.key, column: cell.key });
    return el("td", {}, gridButton(cell, ["cell", shade], `cell/${row.key}/${cell.key}`, [place, at + 1], press, typed(cell.text)));
  });
  return el("tr", { class: row.total ? "total" : null }, el("th", { scope: "row" }, head), ...cells);
}

function drawCells(root, view, tell, state) {
  const before = root.querySelector(".scroll");
  const [left, top] = [before?.scrollLeft ?? 0, before?.scrollTop ?? 0];
  if (!view.rows?.length || !view.columns?.length) {
    root.replaceChildren(el("p", { class: "muted empty", role: "status" }, view.empty ?? ""));
    return;
  }
  const heads = view.columns.map((column, at) => el("th", { scope: "col" },
    headButton(column, `column/${column.key}`, [0, at + 1], () => tell("column", { column: column.key }))));
  const table = el("table", { class: "cells", role: "grid", "aria-label": view.label },
    el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "corner" }, typed(view.corner)), ...heads)),
    el("tbody", {}, ...view.rows.map((row, place) => gridRow(row, place + 1, tell))));
  const buttons = table.querySelectorAll("button[data-key]");
  table.addEventListener("keydown", (event) => moveInGrid(event, table));
  table.addEventListener("focusin", (event) => {
    const button = event.target.closest("button[data-key]");
    if (!button) return;
    state.active = button.dataset.key;
    moveTabStop(buttons, button);
  });
  const scroll = el("div", { class: "scroll" }, table);
  root.replaceChildren(scroll);
  [scroll.scrollLeft, scroll.scrollTop] = [left, top];
  const active = state.active ? table.querySelector(`[data-key="${CSS.escape(state.active)}"]`) : null;
  moveTabStop(buttons, active ?? table.querySelector("td button"));
}

export default live("cell-grid", drawCells);
