// The facets of an explorer: values with counts; a press selects one, a second button excludes it.

const SIGN = { chosen: "☑", excluded: "☒", none: "☐" };

/** The keys of a value: arrows move, to the right and to the left unfold and fold a tree, minus excludes. */
function valueKeys(facet, value, act) {
  return (event) => {
    const rows = [...event.currentTarget.closest(".facet").querySelectorAll("button.value")];
    if (roving(event, rows)) return;
    const wanted = { ArrowRight: "closed", ArrowLeft: "open" }[event.key];
    if (wanted && value.fold === wanted) {
      event.preventDefault();
      act("unfold")();
    } else if (event.key === "ArrowLeft" && value.level) {
      event.preventDefault();
      const above = rows.slice(0, rows.indexOf(event.currentTarget)).reverse();
      above.find((row) => Number(row.dataset.level) < value.level)?.focus();
    } else if (event.key === "-" || event.key === "Delete") {
      event.preventDefault();
      act("exclude")();
    }
  };
}

function valueRow(facet, value, place, tell) {
  const key = `${facet.name}/${value.key}`;
  const act = (action) => () => tell(action, { facet: facet.name, key: value.key });
  const state = value.state || "none";
  const words = { chosen: ", selected", excluded: ", excluded", none: "" }[state];
  const isTree = value.level !== undefined;
  return el(
    "li",
    { class: `facet-row ${state === "none" ? (value.count ? "" : "is-empty") : `is-${state}`}`, style: value.level ? `--level: ${value.level}` : null },
    isTree ? el(
      "button",
      {
        type: "button", class: "twist", tabindex: "-1", "data-key": `${key}/fold`, "data-fallback": key, disabled: !value.fold,
        "aria-expanded": value.fold ? String(value.fold === "open") : null,
        "aria-label": `Below ${value.label}`, title: value.fold === "open" ? "Fold" : "Show what is below", onclick: act("unfold"),
      },
      { open: "▾", closed: "▸" }[value.fold] ?? "",
    ) : null,
    el(
      "button",
      {
        type: "button", class: "value", "data-key": key, "data-group": facet.name, tabindex: place ? "-1" : "0",
        "data-level": isTree ? String(value.level) : null,
        "aria-pressed": state === "chosen" ? "true" : "false",
        "aria-label": `${value.label}: ${whole(value.count)}${words}`,
        title: `${value.label}${value.fold ? " (→ and ← show and fold what is below)" : ""} (- or Alt and a click excludes it)`,
        // JupyterLab keeps clicks with Shift to itself, other programs do not.
        onclick: (event) => act(event.shiftKey || event.altKey ? "exclude" : "toggle")(),
        onkeydown: valueKeys(facet, value, act),
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
      "not",
    ),
  );
}

/** Two fields for the least and the greatest value. What is typed counts when it is complete: at Return, or on leaving. */
function rangeFields(facet, tell) {
  const field = (side, label) => {
    const sent = facet.range[side];
    let isTyping = false;
    const commit = (input) => {
      isTyping = false;
      if (input.value !== sent) tell("limit", { facet: facet.name, side, value: input.value });
    };
    return el("label", { class: "limit" }, `${label} `,
      el("input", {
        // Not of the type "number": a browser drops "0,5" without a word where its language writes a point.
        ...(facet.range.kind === "date" ? { type: "date" } : { type: "text", inputmode: "decimal" }), value: sent,
        "data-key": `${facet.name}/${side}/${sent}`, "data-fallback": `${facet.name}/${side}`, "data-group": `${facet.name}/${side}`,
        "aria-label": `${facet.title} ${label}`,
        onkeydown: (event) => { isTyping = event.key !== "Enter"; if (!isTyping) commit(event.target); },
        // A date is complete at every digit of its year; one that is picked from the calendar is so at once.
        onchange: (event) => { if (!isTyping) commit(event.target); },
        onblur: (event) => { if (event.target.isConnected) commit(event.target); },
      }));
  };
  return el("div", { class: "limits" }, field("least", "from"), field("greatest", "to"));
}

/** Tell what is typed once it pauses. */
function paused(send) {
  let waiting = null;
  return (event) => {
    clearTimeout(waiting);
    const text = event.target.value;
    waiting = setTimeout(() => send(text), 200);
  };
}

function facetHead(facet, tell) {
  const head = el(
    "button",
    {
      type: "button", class: "facet-head", "data-key": `head/${facet.name}`, "aria-expanded": String(facet.open),
      onclick: () => tell("fold", { facet: facet.name }),
    },
    el("span", { "aria-hidden": "true" }, facet.open ? "▾ " : "▸ "), typed(facet.title),
    facet.active ? el("span", { class: "active" }, ` · ${facet.active}`) : null,
  );
  const gallery = !facet.open || !facet.values.length ? null : el("button", {
    type: "button", class: "not shown", "data-key": `gallery/${facet.name}`, "aria-label": `Gallery by ${facet.title}`,
    title: "Pictures, grouped by the values of this filter", onclick: () => tell("gallery", { facet: facet.name }),
  }, "Gallery");
  const remove = !facet.removable ? null : el("button", {
    type: "button", class: "not shown", "data-key": `remove/${facet.name}`, "data-group": "add", "aria-label": `Remove the filter ${facet.title}`,
    title: "Remove this filter", onclick: () => tell("remove", { facet: facet.name }),
  }, "✕");
  return el("h3", {}, ...[head, gallery, remove].filter(Boolean));
}

function facetSection(facet, tell, state) {
  const section = el("div", { class: "facet", role: "group", "aria-label": facet.title }, facetHead(facet, tell));
  if (!facet.open) return section;
  if (facet.range) section.append(rangeFields(facet, tell));
  if (facet.bins?.length) section.append(bars({ name: facet.name, title: facet.title, head: { bins: facet.bins } }, tell, state));
  if (facet.find !== null && facet.find !== undefined) {
    section.append(el("input", {
      type: "search", class: "find", "data-key": `find/${facet.name}`, value: facet.find, placeholder: `find in ${whole(facet.distinct)} values`,
      "aria-label": `Find in ${facet.title}`, oninput: paused((text) => tell("find", { facet: facet.name, text })),
    }));
  }
  if (facet.values.length) section.append(el("ul", {}, ...facet.values.map((value, place) => valueRow(facet, value, place, tell))));
  const more = (action, label) => section.append(el("button", {
    type: "button", class: "facet-more", "data-key": `${action}/${facet.name}`, "data-fallback": `head/${facet.name}`,
    onclick: () => tell(action, { facet: facet.name }),
  }, label));
  if (facet.more) more("more", `Show ${whole(facet.next)} more (${whole(facet.shown)} of ${whole(facet.shown + facet.more)})`);
  if (facet.fewer) more("fewer", "Show fewer");
  if (facet.zeros) more("zeros", facet.zerosOpen ? "Hide unused values" : `Show ${whole(facet.zeros)} unused value${facet.zeros === 1 ? "" : "s"}`);
  if (facet.note) section.append(el("p", { class: "muted" }, facet.note));
  return section;
}

/** A field that adds a filter by the name of an attribute: what fits is listed below it, and reached with the arrow keys. */
function adding(add, tell) {
  const key = `add/${add.number}`;
  const field = el("input", {
    type: "search", class: "find", "data-key": key, "data-group": "add", value: add.typed, placeholder: "Filter by any attribute …",
    "aria-label": "Filter by any attribute: type its name",
    oninput: paused((text) => tell("offer", { text })),
    onkeydown: (event) => {
      const first = event.currentTarget.closest(".add").querySelector(".offers button");
      if (event.key === "Enter") { event.preventDefault(); tell("named", { text: event.target.value }); }
      else if (event.key === "ArrowDown" && first) { event.preventDefault(); first.focus(); }
    },
  });
  const languages = el("select", {
    "data-key": "add-language", "aria-label": "Language of its texts",
    onchange: (event) => tell("speak", { language: event.target.value }),
  }, el("option", { value: "" }, "any language"), ...add.languages.map((one) => el("option", { value: one.code, selected: one.code === add.language }, one.label)));
  const offers = add.offers.map((offer, place) => el("li", {}, el(
    "button",
    {
      type: "button", class: "value", "data-key": `offer/${offer.facet}`, "data-group": "add", tabindex: place ? "-1" : "0", title: offer.detail,
      onclick: () => tell("add", { facet: offer.facet }),
      onkeydown: (event) => {
        const rows = [...event.currentTarget.closest(".offers").querySelectorAll("button")];
        if (event.key === "ArrowUp" && event.currentTarget === rows[0]) { event.preventDefault(); field.focus(); }
        else roving(event, rows);
      },
    },
    el("span", { class: "label" }, typed(offer.label), offer.there ? " (shown)" : "", el("small", { class: "muted" }, typed(offer.detail))),
  )));
  return el(
    "div", { class: "facet add", role: "group", "aria-label": "Add a filter" },
    el("div", { class: "naming" }, field, add.typed || add.language ? languages : null),
    offers.length ? el("ul", { class: "offers", "aria-label": "Filters that can be added" }, ...offers) : null,
    el("p", { class: "muted", role: "status" }, add.note),
  );
}

function drawFacets(root, view, tell, state) {
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", "Filters");
  if (!view.facets) return;
  const added = view.facets.filter((facet) => facet.removable);
  const others = view.facets.filter((facet) => !facet.removable);
  const section = (facet) => facetSection(facet, tell, state);
  root.replaceChildren(adding(view.add, tell), ...added.map(section), ...others.map(section));
}

export default live("facet-list", drawFacets);
