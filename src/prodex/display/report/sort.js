"use strict";
// Without this script the page is the same, only that its rule table keeps its order.
const key = (row, column) => {
  const cell = row.cells[column];
  const text = cell.dataset.order ?? cell.textContent.trim().replaceAll(",", "");
  const number = Number.parseFloat(text);
  return Number.isNaN(number) ? text : number;
};
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const sign = head.ariaSort === "descending" ? 1 : -1;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      const body = table.tBodies[0];
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort(([one], [other]) => sign * (one < other ? -1 : one > other ? 1 : 0));
      body.append(...rows.map(([, row]) => row));
    });
  });
}
// On paper nothing can be opened.
addEventListener("beforeprint", () => {
  if (!document.getElementById("print-all").checked) return;
  for (const folded of document.querySelectorAll("details")) folded.open = true;
});
