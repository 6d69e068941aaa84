// A table of rows of texts: a click, Return or Space selects a row or takes that back. One Tab stop; arrow keys move between rows.

function selectableRow(row, view, tell, active) {
  const isSelected = view.selected.includes(row.key);
  return el(
    "tr",
    {
      class: isSelected ? "selected" : null, tabindex: row.key === active ? "0" : "-1", "data-key": `row/${row.key}`, "data-group": "row",
      "aria-selected": String(isSelected), onclick: () => tell("select", { row: row.key }),
    },
    ...row.cells.map((text, at) => el("td", { class: view.columns[at].align }, typed(text))),
  );
}

function drawRows(root, view, tell, state) {
  if (!view.columns) return;
  const keys = view.rows.map((row) => row.key);
  const active = [state.active, view.selected[0], keys[0]].find((key) => keys.includes(key));
  const body = el("tbody", {}, ...view.rows.map((row) => selectableRow(row, view, tell, active)));
  const rows = [...body.rows];
  body.addEventListener("keydown", (event) => {
    const row = event.target.closest("tr");
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      tell("select", { row: keys[rows.indexOf(row)] });
    } else roving(event, rows);
  });
  body.addEventListener("focusin", (event) => {
    const row = event.target.closest("tr");
    moveTabStop(rows, row);
    state.active = keys[rows.indexOf(row)];
  });
  const heads = view.columns.map((column) => el("th", { scope: "col", class: column.align }, column.title));
  const table = el("table", { class: "rows", role: "grid", "aria-label": view.label, "aria-multiselectable": String(view.multiple) },
    el("thead", {}, el("tr", {}, ...heads)), body);
  const left = root.querySelector(".scroll")?.scrollLeft ?? 0;
  const scroll = el("div", { class: "scroll" }, table);
  root.replaceChildren(scroll);
  scroll.scrollLeft = left;
}

export default live("row-table", drawRows);
