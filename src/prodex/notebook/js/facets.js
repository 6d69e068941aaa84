// The facets of an explorer: values with counts; a press selects one, a second button excludes it.

const SIGN = { chosen: "☑", excluded: "☒", none: "☐" };

function valueRow(facet, value, place, tell) {
  const key = `${facet.name}/${value.key}`;
  const act = (action) => () => tell(action, { facet: facet.name, key: value.key });
  const keys = (event) => {
    const rows = [...event.currentTarget.closest(".facet").querySelectorAll("button.value")];
    if (roving(event, rows)) return;
    if (event.key === "-" || event.key === "Delete") {
      event.preventDefault();
      tell("exclude", { facet: facet.name, key: value.key });
    }
  };
  const state = value.state || "none";
  const words = { chosen: ", selected", excluded: ", excluded", none: "" }[state];
  return el(
    "li",
    { class: `facet-row ${state === "none" ? (value.count ? "" : "is-empty") : `is-${state}`}`, style: value.level ? `--level: ${value.level}` : null },
    el(
      "button",
      {
        type: "button", class: "value", "data-key": key, "data-group": facet.name, tabindex: place ? "-1" : "0",
        "aria-pressed": state === "chosen" ? "true" : "false",
        "aria-label": `${value.label}: ${whole(value.count)}${words}`,
        title: `${value.label} (- excludes it)`,
        onclick: act("toggle"), onkeydown: keys,
      },
      el("span", { class: "sign", "aria-hidden": "true" }, SIGN[state]),
      el("span", { class: "label" }, typed(value.label)),
      el("span", { class: "n", "aria-hidden": "true" }, whole(value.count)),
    ),
    el(
      "button",
      {
        type: "button", class: "not", tabindex: "-1", "data-key": `${key}/not`, "data-fallback": key,
        "aria-pressed": state === "excluded" ? "true" : "false",
        "aria-label": state === "excluded" ? `Include ${value.label} again` : `Exclude ${value.label}`,
        title: state === "excluded" ? "Include again" : "Exclude", onclick: act("exclude"),
      },
      "≠",
    ),
  );
}

function rangeFields(facet, tell) {
  const field = (side, label) =>
    el("label", { class: "limit" }, `${label} `,
      el("input", {
        type: facet.range.kind === "date" ? "date" : "number", value: facet.range[side] ?? "", step: "any",
        "data-key": `${facet.name}/${side}`, min: facet.range.min, max: facet.range.max,
        onchange: (event) => tell("limit", { facet: facet.name, side, value: event.target.value }),
      }));
  return el("div", { class: "limits" }, field("least", "from"), field("greatest", "to"));
}

function facetSection(facet, tell) {
  const head = el(
    "button",
    {
      type: "button", class: "facet-head", "data-key": `head/${facet.name}`, "aria-expanded": String(facet.open),
      onclick: () => tell("fold", { facet: facet.name }),
    },
    el("span", { "aria-hidden": "true" }, facet.open ? "▾ " : "▸ "), typed(facet.title),
    facet.active ? el("span", { class: "active" }, ` · ${facet.active}`) : null,
  );
  const section = el("div", { class: "facet", role: "group", "aria-label": facet.title }, el("h3", {}, head));
  if (facet.removable) {
    section.firstChild.append(el("button", {
      type: "button", class: "not shown", "data-key": `remove/${facet.name}`, "aria-label": `Remove the facet ${facet.title}`,
      title: "Remove this facet", onclick: () => tell("remove", { facet: facet.name }),
    }, "✕"));
  }
  if (!facet.open) return section;
  if (facet.range) section.append(rangeFields(facet, tell));
  if (facet.find !== null && facet.find !== undefined) {
    let waiting = null;
    section.append(el("input", {
      type: "search", class: "find", "data-key": `find/${facet.name}`, value: facet.find, placeholder: `in ${whole(facet.distinct)} values`,
      "aria-label": `Find in ${facet.title}`,
      oninput: (event) => {
        clearTimeout(waiting);
        const text = event.target.value;
        waiting = setTimeout(() => tell("find", { facet: facet.name, text }), 200);
      },
    }));
  }
  if (facet.values.length) section.append(el("ul", {}, ...facet.values.map((value, place) => valueRow(facet, value, place, tell))));
  const more = (action, label) => section.append(el("button", {
    type: "button", class: "facet-more", "data-key": `${action}/${facet.name}`, "data-fallback": `head/${facet.name}`,
    onclick: () => tell(action, { facet: facet.name }),
  }, label));
  if (facet.more) more("more", `Show more (${whole(facet.shown)} of ${whole(facet.shown + facet.more)})`);
  if (facet.zeros) more("zeros", facet.zerosOpen ? "Hide values without products" : `${whole(facet.zeros)} without products`);
  if (facet.note) section.append(el("p", { class: "muted" }, facet.note));
  return section;
}

function drawFacets(root, view, tell) {
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", "Filters");
  root.replaceChildren(...(view.facets ?? []).map((facet) => facetSection(facet, tell)));
}

export default live("facet-list", drawFacets);
