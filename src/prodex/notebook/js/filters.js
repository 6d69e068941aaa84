// The filters of the products: values with counts; a press selects one, a second button excludes it.

const SIGN = { chosen: "☑", excluded: "☒", "": "☐" };

/** A field for a number of a range: it counts when it is complete, at Return or on leaving. */
CONTROLS.limit = (form, field, page, attributes) => textField(form, field, page, { ...attributes, inputmode: "decimal" }, { pause: null });

/** The keys of a value: arrows move, to the right and to the left unfold and fold a tree, minus excludes. */
function valueKeys(value, unfold, exclude) {
  return (event) => {
    const rows = [...event.currentTarget.closest("ul").querySelectorAll("button.value")];
    if (roving(event, rows)) return;
    const wanted = { ArrowRight: "closed", ArrowLeft: "open" }[event.key];
    if (wanted && value.fold === wanted) unfold();
    else if (event.key === "ArrowLeft" && value.level) {
      const above = rows.slice(0, rows.indexOf(event.currentTarget)).reverse();
      above.find((row) => Number(row.dataset.level) < value.level)?.focus();
    } else if (event.key === "-" || event.key === "Delete") exclude();
    else return;
    event.preventDefault();
  };
}

function valueRow(facet, value, isStop, act) {
  const key = `${facet.key}/${value.key}`;
  const tell = (action, more = {}) => () => act(`facets.${action}`, { facet: facet.key, code: value.code, ...more });
  const [toggle, exclude, unfold] = [tell("toggle"), tell("exclude"), tell("unfold", { is_open: value.fold !== "open" })];
  const words = { chosen: ", selected", excluded: ", excluded" }[value.state] ?? "";
  const isTree = value.level !== undefined;
  const isExcluded = value.state === "excluded";
  const look = value.state ? `is-${value.state}` : value.count ? "" : "is-empty";
  const how = `${value.fold ? " (→ and ← show and fold what is below)" : ""} (- or Alt and a click excludes it)`;
  return h(
    "li", { key, class: classes("facet-row", look), style: value.level ? `--level: ${value.level}` : null },
    isTree ? h("button", {
      type: "button", key: `${key}/fold`, fallback: key, class: "twist", tabindex: "-1", disabled: !value.fold,
      "aria-expanded": value.fold ? String(value.fold === "open") : null, "aria-label": `Below ${value.label}`,
      title: value.fold === "open" ? "Fold" : "Show what is below", onclick: unfold,
    }, { open: "▾", closed: "▸" }[value.fold] ?? "") : null,
    h("button", {
      type: "button", key, group: facet.key, fallback: `head/${facet.key}`, class: "value", tabindex: isStop ? "0" : "-1",
      "data-level": isTree ? String(value.level) : null, "aria-pressed": String(value.state === "chosen"),
      "aria-label": `${value.label}: ${whole(value.count)}${words}`, title: `${value.label}${how}`,
      // JupyterLab keeps clicks with Shift to itself, other programs do not.
      onclick: (event) => (event.shiftKey || event.altKey ? exclude() : toggle()),
      onkeydown: valueKeys(value, unfold, exclude),
    },
    h("span", { class: "sign", "aria-hidden": "true" }, SIGN[value.state]), h("span", { class: "label" }, typed(value.label)),
    h("span", { class: "n", "aria-hidden": "true" }, whole(value.count))),
    h("button", {
      type: "button", key: `${key}/not`, fallback: key, class: "not", tabindex: "-1", "aria-pressed": String(isExcluded),
      "aria-label": isExcluded ? `Include ${value.label} again` : `Exclude ${value.label}`, title: isExcluded ? "Include again" : "Exclude",
      onclick: exclude,
    }, "not"),
  );
}

function valueList(facet, act, page) {
  const state = page.state(`values/${facet.key}`);
  const keys = facet.values.map((value) => value.key);
  const stop = keys.includes(state.at) ? state.at : keys[0];
  return h("ul", {
    onfocusin: (event) => {
      const row = event.target.closest("li")?.querySelector("button.value");
      if (!row) return;
      moveTabStop([...event.currentTarget.querySelectorAll("button.value")], row);
      state.at = row.dataset.key.slice(facet.key.length + 1);
    },
  }, facet.values.map((value) => valueRow(facet, value, value.key === stop, act)));
}

function facetHead(facet, act) {
  const beside = (key, label, words, title, press, fallback = null) => h("button", {
    type: "button", key: `${key}/${facet.key}`, fallback, class: "not shown", "aria-label": words, title, onclick: press,
  }, label);
  return h(
    "h3", {},
    h("button", {
      type: "button", key: `head/${facet.key}`, class: "facet-head", "aria-expanded": String(facet.open),
      onclick: () => act("facets.fold", { facet: facet.key, is_open: !facet.open }),
    }, h("span", { "aria-hidden": "true" }, facet.open ? "▾ " : "▸ "), typed(facet.title), facet.active ? h("span", { class: "active" }, ` · ${facet.active}`) : null),
    facet.gallery ? beside("gallery", "Gallery", `Gallery by ${facet.title}`, "Pictures, grouped by the values of this filter", () => act("gallery.by", { facet: facet.key })) : null,
    facet.removable ? beside("remove", "✕", `Remove the filter ${facet.title}`, "Remove this filter", () => act("facets.remove", { facet: facet.key }), "facets/add") : null,
  );
}

register("facet", (facet, act, page) => h(
  "div", { class: "facet", role: "group", "aria-label": facet.title },
  facetHead(facet, act),
  facet.form ? page.draw([facet.form]) : null,
  facet.bins?.length ? headBars({ key: facet.column, title: facet.title, head: facet }, act, page.state(`bars/${facet.key}`)) : null,
  facet.values?.length ? valueList(facet, act, page) : null,
  facet.buttons ? page.draw(facet.buttons) : null,
  facet.note ? h("p", { class: "muted" }, facet.note) : null,
  facet.problem ? h("p", { class: "problem", role: "alert" }, facet.problem) : null,
));

/** A field that adds a filter by the name of an attribute: what fits is listed below it, and reached with the arrow keys. */
register("facet_add", (block, act, page) => {
  const keys = (event) => {
    const { target, currentTarget, key } = event;
    if (event.isComposing) return;
    const offers = [...currentTarget.querySelectorAll(".offers button")];
    if (target.matches("input") && key === "Enter") act("facets.named", { text: target.value });
    else if (target.matches("input") && key === "ArrowDown" && offers.length) offers[0].focus();
    else if (key === "ArrowUp" && target === offers[0]) currentTarget.querySelector("input").focus();
    else {
      if (offers.includes(target)) roving(event, offers);
      return;
    }
    event.preventDefault();
  };
  return h(
    "div", { class: "facet add", role: "group", "aria-label": "Add a filter", onkeydown: keys },
    page.draw([block.form]),
    block.offers.length ? h("ul", { class: "offers", "aria-label": "Filters that can be added" }, block.offers.map((offer, place) => h("li", { key: offer.key }, h(
      "button",
      {
        type: "button", key: `offer/${offer.key}`, fallback: "facets/add", class: "value", tabindex: place ? "-1" : "0", title: offer.detail,
        onclick: () => act("facets.add", { facet: offer.key }),
      },
      h("span", { class: "label" }, typed(offer.label), offer.there ? " (shown)" : "", h("small", { class: "muted" }, typed(offer.detail))),
    )))) : null,
    h("p", { class: "muted", role: "status" }, block.note),
  );
});

/** Where there is no room for them beside the products, they are shown on request. */
register("facets", (block, act, page) => h(
  "div", { class: classes("facet-list", block.drawn && "is-drawn"), role: "region", "aria-label": "Filters" },
  h("div", { class: "facet-columns" }, page.draw(block.blocks)),
));
