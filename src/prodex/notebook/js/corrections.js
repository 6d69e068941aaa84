// The corrections that were collected: old and new side by side, what becomes of each, and buttons to take one back.

function correctionRow(row, tell) {
  const act = (sign, label, action, fallback) => el("button", {
    type: "button", class: "plain", "data-key": `${action}/${row.key}`, "data-group": "correction", "aria-label": `${label}: ${row.label}`, onclick: () => tell(action, { key: row.key }),
  }, sign);
  return el(
    "tr", { class: `is-${row.state}` },
    el("th", { scope: "row" },
      el("button", { type: "button", class: "open", "data-key": `open/${row.key}`, "data-group": "correction", title: "Open its card", onclick: () => tell("open", { key: row.key }) }, typed(row.product)),
      row.gtin ? el("small", { class: "muted" }, ` ${row.gtin}`) : null),
    el("td", {}, typed(row.attribute), " ", el("span", { class: "lang" }, typed(row.language))),
    el("td", { lang: row.lang }, ...(row.was ? [el("del", {}, ...shownText(row.was))] : [el("span", { class: "gap", lang: "en" }, "none")])),
    el("td", { lang: row.lang }, ...(row.now ? [el("ins", {}, ...shownText(row.now))] : [el("span", { class: "gap", lang: "en" }, "deleted")])),
    el("td", {}, el("span", { class: `state ${row.state}` }, row.title), row.reason ? el("p", {}, typed(row.reason)) : null),
    el("td", { class: "acts" }, row.isSent ? act("Collect again", "Collect again", "again") : null, row.isAsked ? act("It is meant", "It is meant as it is", "confirm") : null, act("Remove", "Remove", "remove")),
  );
}

function drawCorrections(root, view, tell) {
  if (!view.rows?.length) {
    const shrinks = root.childElementCount > 0;
    root.replaceChildren();
    // A long list that is gone would leave whoever has scrolled down in front of an empty page.
    if (shrinks) requestAnimationFrame(() => root.closest(".prodex:not(.card)")?.scrollIntoView({ block: "nearest" }));
    return;
  }
  const heads = ["Product", "Text", "Now", "New", "What becomes of it"].map((one) => el("th", { scope: "col" }, one));
  const table = el(
    "table", {}, el("caption", {}, view.caption),
    el("thead", {}, el("tr", {}, ...heads, el("td", {}))), el("tbody", {}, ...view.rows.map((row) => correctionRow(row, tell))),
  );
  const folds = new Set([...root.querySelectorAll("details[open]")].map((one) => one.textContent));
  root.replaceChildren(el("div", { class: "prodex card mathjax_ignore" }, el("div", { class: "scroll", role: "region", "aria-label": "Corrections", tabindex: "0" }, table)));
  root.querySelectorAll("details").forEach((one) => { one.open = folds.has(one.textContent); });
}

export default live("corrections", drawCorrections);
