// The answers that need confirmation: each with its question, and a button that says it is meant.

function askedRow(row, tell) {
  return el(
    "tr", {},
    el("th", { scope: "row" }, typed(row.product), row.gtin ? el("small", { class: "muted" }, ` ${row.gtin}`) : null),
    el("td", {}, typed(row.attribute), ...(row.language ? [" ", el("span", { class: "lang" }, typed(row.language))] : []),
      row.place ? el("small", { class: "muted" }, ` ${row.place}`) : null),
    el("td", { lang: row.lang }, el("ins", {}, ...shownText(row.answer))),
    el("td", {}, el("p", {}, typed(row.question))),
    el("td", { class: "acts" }, el("button", {
      type: "button", class: "plain", "data-key": `confirm/${row.key}`, "data-group": "asked", "aria-label": `It is meant as it is: ${row.label}`, onclick: () => tell("confirm", { key: row.key }),
    }, "It is meant")),
  );
}

function drawAsked(root, view, tell) {
  if (!view.rows?.length) {
    root.replaceChildren();
    return;
  }
  const heads = ["Product", "Field", "Answer", "What is asked"].map((one) => el("th", { scope: "col" }, one));
  const table = el(
    "table", {}, el("caption", {}, view.caption),
    el("thead", {}, el("tr", {}, ...heads, el("td", {}))), el("tbody", {}, ...view.rows.map((row) => askedRow(row, tell))),
  );
  const all = view.all ? el("button", { type: "button", class: "plain", "data-key": "all", onclick: () => tell("all") }, view.all) : null;
  root.replaceChildren(el("div", { class: "prodex card mathjax_ignore" }, el("div", { class: "scroll", role: "region", "aria-label": "Needs confirmation", tabindex: "0" }, table), all));
}

export default live("corrections", drawAsked);
