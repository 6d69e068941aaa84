// The products of a file: its filters, its table and its cards, as blocks like those that Python makes for a panel.

const FEW_VALUES = 8, MORE_VALUES = 20;
const FOLDED = { open: false, most: FEW_VALUES, find: "", zeros: false, unfolded: [] };

// What is chosen.

const NO_CONDITIONS = { groups: {}, excluded: {}, ranges: {}, words: "" };

/** Conditions with other codes of a facet; without codes the facet is no condition. */
function withCodes(conditions, kind, facet, codes) {
  const { [facet]: _, ...others } = conditions[kind];
  return { ...conditions, [kind]: codes.length ? { ...others, [facet]: codes } : others };
}

/** A code is selected, or excluded, or neither: one press brings it, the next takes it away. */
function toggledCode(conditions, kind, facet, code) {
  const [own, other] = [conditions[kind][facet] ?? [], kind === "groups" ? "excluded" : "groups"];
  const isThere = own.includes(code);
  const cleared = withCodes(conditions, other, facet, (conditions[other][facet] ?? []).filter((one) => one !== code));
  return withCodes(cleared, kind, facet, isThere ? own.filter((one) => one !== code) : [...own, code]);
}

const withRange = (conditions, facet, limits) => {
  const { [facet]: _, ...others } = conditions.ranges;
  const isOpen = limits.least === null && limits.greatest === null;
  return { ...conditions, ranges: isOpen ? others : { ...others, [facet]: limits } };
};

/** The session with other conditions, of which those of now can be gone back to; the table begins anew. */
const filtered = (session, conditions) => (JSON.stringify(conditions) === JSON.stringify(session.conditions) ? {} : {
  conditions, before: [...session.before, session.conditions], after: [], first: 0, errors: {},
});

/** Each condition in words, with the conditions that are left without it. */
function saidConditions(filter, conditions) {
  const called = (name, code) => {
    const facet = filter.facet(name, conditions);
    const label = facet.labels[facet.codes.indexOf(code)] ?? facet.without ?? filter.data.missing.labels[code] ?? code;
    return `${facet.title.toLowerCase()}: ${isolated(label)}`;
  };
  const said = [];
  for (const [kind, sign] of [["groups", ""], ["excluded", "not "]]) {
    for (const [name, codes] of Object.entries(conditions[kind])) {
      codes.forEach((code) => said.push([sign + called(name, code), toggledCode(conditions, kind, name, code)]));
    }
  }
  for (const [name, limits] of Object.entries(conditions.ranges)) {
    const facet = filter.facets.get(name);
    said.push([`${facet.title.toLowerCase()}: ${rangeWords(facet, limits)}`, withRange(conditions, name, { least: null, greatest: null })]);
  }
  if (conditions.words) said.push([`words: ${isolated(conditions.words)}`, { ...conditions, words: "" }]);
  return said;
}

/** A moment is in microseconds. */
const momentText = (value) => new Date(Math.floor(value / 1000)).toISOString();

function limitWords(facet, value, isEnd) {
  if (facet.measure === "date") {
    const moment = momentText(value);
    return moment.slice(11, 16) === (isEnd ? "23:59" : "00:00") ? moment.slice(0, 10) : moment.slice(0, 16).replace("T", " ");
  }
  return facet.key === "range:score" ? `${(Math.min(value, 1) * 100).toFixed(1)} %` : String(value);
}

function rangeWords(facet, { least, greatest }) {
  const [from, to] = [least === null ? "" : limitWords(facet, least, false), greatest === null ? "" : limitWords(facet, greatest, true)];
  if (!from) return `up to ${to}`;
  return to ? (from === to ? from : `${from} to ${to}`) : `from ${from}`;
}

// The filters.

/** The numbers of the values of a facet in their order: the largest counts first, in a tree each before those below it. */
function orderedValues(facet, counts, active) {
  const numbers = facet.codes.map((_, number) => number);
  const isFirst = (number) => Number(active.includes(facet.codes[number]));
  if (!facet.ordered) numbers.sort((one, other) => isFirst(other) - isFirst(one) || counts[other] - counts[one] || one - other);
  if (!facet.above) return numbers;
  const below = (above) => numbers.filter((number) => facet.above[number] === above).flatMap((number) => [number, ...below(number)]);
  return below(-1);
}

function withAbove(facet, numbers) {
  const found = new Set();
  for (let number of numbers) for (; number >= 0 && !found.has(number); number = facet.above?.[number] ?? -1) found.add(number);
  return found;
}

/** The numbers of the values to show, and how many more no product has under the conditions. */
function fittingValues(filter, facet, counts, active, folding) {
  if (!facet.asked) return [[], 0];
  let numbers = orderedValues(facet, counts, active);
  const chosen = numbers.filter((number) => active.includes(facet.codes[number]));
  const kept = withAbove(facet, chosen);
  if (folding.find.trim()) {
    const found = filter.labelsWith(facet.labels, folding.find);
    const wanted = withAbove(facet, [...chosen, ...numbers.filter((number) => found[number])]);
    numbers = numbers.filter((number) => wanted.has(number));
  } else if (facet.above) {
    const shown = new Set();
    facet.above.forEach((above, number) => {
      if (kept.has(number) || above < 0 || (shown.has(above) && folding.unfolded.includes(facet.codes[above]))) shown.add(number);
    });
    numbers = numbers.filter((number) => shown.has(number));
  }
  const zeros = numbers.filter((number) => !counts[number] && !kept.has(number));
  return [folding.zeros ? numbers : numbers.filter((number) => counts[number] || kept.has(number)), zeros.length];
}

function valuesOfFacet(filter, facet, session, left) {
  const { conditions } = session;
  const folding = { ...FOLDED, ...session.foldings[facet.key] };
  const counts = filter.counts(facet, left.without(facet.key));
  const [chosen, excluded] = [conditions.groups[facet.key] ?? [], conditions.excluded[facet.key] ?? []];
  const [fitting, zeros] = fittingValues(filter, facet, counts, [...chosen, ...excluded], folding);
  const shown = fitting.slice(0, folding.most);
  const more = fitting.length - shown.length;
  const parents = new Set(facet.above ?? []);
  const entry = (number) => {
    const code = facet.codes[number];
    const state = chosen.includes(code) ? "chosen" : excluded.includes(code) ? "excluded" : "";
    const tree = facet.above ? { level: facet.depths[number], fold: parents.has(number) ? (folding.unfolded.includes(code) ? "open" : "closed") : "" } : {};
    return { key: code === null ? "none" : `=${code}`, code, label: facet.labels[number], count: counts[number], state, ...tree };
  };
  const press = (label, act, args = {}) => fileButton(label, `facets.${act}`, { key: act, look: "more", to: `head/${facet.key}` }, { facet: facet.key, ...args });
  const isLong = facet.codes.length > MORE_VALUES || folding.find;
  const find = { kind: "search", key: `${facet.key}/find`, label: `Find in ${facet.title}`, value: folding.find, placeholder: `find in ${whole(facet.codes.length)} values`, do: "facets.find", args: { facet: facet.key } };
  const none = !facet.asked ? "not asked for" : !facet.codes.length ? "no products" : fitting.length || zeros ? "" : "no matching value";
  return {
    values: shown.map(entry),
    note: facet.key === "missing" ? `Of ${countedUnits(filter, conditions, left.without("missing"))}, needed or not.` : facet.note || none,
    form: isLong ? fileForm("facets", "find", [find]) : null,
    buttons: [
      more ? press(`Show ${whole(Math.min(MORE_VALUES, more))} more (${whole(shown.length)} of ${whole(fitting.length)})`, "more") : null,
      shown.length > FEW_VALUES ? press("Show fewer", "fewer") : null,
      zeros ? press(folding.zeros ? "Hide unused values" : `Show ${plural(zeros, "unused value")}`, "zeros", { is_shown: !folding.zeros }) : null,
    ].filter(Boolean),
  };
}

/** Of how many products it is counted what they lack. */
function countedUnits(filter, conditions, among) {
  const { consumer, unknown, asked } = filter.data.units;
  const counted = filter.counted(conditions);
  const [mask, doubtful] = [filter.mask(consumer), filter.mask(unknown)];
  const every = countOf(among);
  if (!counted) return plural(every, "product");
  const [known, unclear] = [countOf(among.map((one, at) => one & mask[at])), countOf(among.map((one, at) => one & mask[at] & doubtful[at]))];
  if (!asked && unclear >= known) return `${plural(known, "product")} (consumer units were not asked for)`;
  if (!known && every) return `no consumer unit, only ${plural(every, "other unit")}`;
  return `${plural(known, "consumer unit")}${unclear ? `, ${whole(unclear)} of unknown kind` : ""}`;
}

function rangeOfFacet(filter, facet, session, left) {
  const limits = session.conditions.ranges[facet.key] ?? { least: null, greatest: null };
  const among = left.without(facet.key);
  const counts = filter.counts(facet, among);
  const isInside = (bin) => session.conditions.ranges[facet.key] && (limits.greatest === null || bin.least <= limits.greatest) && (limits.least === null || bin.greatest >= limits.least);
  const typed = (value) => (value === null ? "" : facet.measure === "date" ? momentText(value).slice(0, 10) : String(value));
  const field = (side, label) => ({
    kind: facet.measure === "date" ? "date" : "limit", key: `${facet.key}/${side}`, label, value: typed(limits[side]), do: "facets.limit",
    args: { facet: facet.key, side }, error: session.errors[`${facet.key}/${side}`] ?? "",
  });
  const without = countOf(among) - counts.reduce((sum, one) => sum + one, 0);
  const isCrossed = limits.least !== null && limits.greatest !== null && limits.least > limits.greatest;
  return {
    form: fileForm("facets", "limits", [field("least", "from"), field("greatest", "to")], facet.title),
    column: facet.key, bins: facet.bins.map((bin, at) => ({ ...bin, count: counts[at], inside: Boolean(isInside(bin)) })),
    note: !facet.asked ? "not asked for" : isCrossed ? "“from” is above “to”, so that no product fits" : without ? `${plural(without, "product")} without a value` : "",
  };
}

function facetBlock(filter, name, session, left) {
  const facet = filter.facet(name, session.conditions);
  const [chosen, excluded] = ["groups", "excluded"].map((kind) => session.conditions[kind][name]?.length ?? 0);
  const isOpen = Boolean(session.foldings[name]?.open);
  const active = facet.measure ? (session.conditions.ranges[name] ? "1 selected" : "") : [chosen && `${chosen} selected`, excluded && `${excluded} excluded`].filter(Boolean).join(", ");
  const block = { kind: "facet", key: name, title: facet.title, open: isOpen, active };
  if (!isOpen || facet.problem) return { ...block, problem: isOpen ? facet.problem : null };
  return { ...block, ...(facet.measure ? rangeOfFacet : valuesOfFacet)(filter, facet, session, left) };
}

// What is shown.

function conditionsBlock(filter, session) {
  const said = saidConditions(filter, session.conditions).map(([words]) => words);
  const chip = (words, at) => {
    const near = said[at + 1] ?? said[at - 1];
    return fileButton(`${words} ✕`, "conditions.remove", { key: `chip/${words}`, look: "chip", title: "Remove this filter", to: near ? `chip/${near}` : "search/words" }, { said: words });
  };
  const turn = (label, act, title, off) => fileButton(label, `conditions.${act}`, { key: act, look: "quiet", title, off });
  return fileRow("conditions", "", [fileRow("bar", "selection", [
    turn("← Back", "back", "Back to the filters before", session.before.length ? "" : "There are no filters before these."),
    turn("Forward →", "forward", "Forward again", session.after.length ? "" : "There are no filters after these."),
    fileRow("chips", "chips", [...said.map(chip), said.length > 1 ? fileButton("Clear all", "conditions.clear", { key: "clear", look: "chip", to: "search/words" }) : null]),
  ])], "box");
}

function searchBlock(data, session) {
  const field = { kind: "search", key: "words", label: "Search", value: session.conditions.words, placeholder: "words in texts, brand or owner, or a GTIN", do: "search.set" };
  return fileRow("search", "", [
    fileRow("row", "search", [
      fileButton("Filters", "facets.drawer", { key: "drawer", look: "drawer", pressed: session.drawn }, { is_open: !session.drawn }),
      fileForm("search", "", [field]),
      fileButton("?", "search.help", { key: "help", title: "How to search", pressed: session.help }, { is_open: !session.help }),
      data.search.hint ? fileText(data.search.hint, { key: "hint", tone: "muted" }) : null,
    ]),
    session.help ? fileText(data.search.help, { key: "help-text", tone: "muted" }) : null,
  ], "box");
}

function pagerBlock(session, key, total, every) {
  const { first, size } = session;
  const more = total === every ? "" : ` (${whole(every)} in all)`;
  const shown = total > 1 ? `${whole(first + 1)} to ${whole(Math.min(first + size, total))} of ` : "";
  const turn = (label, name, to, off) => fileButton(label, "table.page", { key: name, off }, { first: to });
  return fileRow(key, "pager", [
    fileText(total ? `${shown}${plural(total, "product")}${more}` : `no products${more}`, { key: "summary", tone: "status" }),
    total > size ? turn("Previous", "previous", Math.max(0, first - size), first ? "" : "This is the first page") : null,
    total > size ? turn("Next", "next", first + size, first + size < total ? "" : "This is the last page") : null,
  ]);
}

/** The card of a product, whose blocks are unpacked when it is opened for the first time. */
function cardPane(data, cards, session, places, onRead) {
  const at = data.ids.indexOf(session.open);
  const close = fileButton("✕ Close", "card.close", { key: "close-card", look: "quiet", title: "Close the card (Escape)" }, { product_id: session.open });
  const apart = places.includes(at) ? null : fileText("This product is not in the list beside it.", { key: "apart", tone: "note" });
  const card = {
    kind: "card", key: `card ${session.open}`, product: session.open, alone: false,
    bar: [fileRow("card-keys", "card-keys", [fileText("", { key: "space" }), close]), apart].filter(Boolean), blocks: cards(at, onRead),
  };
  return { ...fileRow("pane", "pane", [card], "box"), label: "Product card" };
}

function productsView(data, filter, cards, session, onRead) {
  const left = filter.narrow(session.conditions);
  const places = filter.ordered(left.mask, session.sort);
  const facets = { kind: "facets", key: "facets", drawn: session.drawn, blocks: data.names.map((name) => facetBlock(filter, name, session, left)) };
  const shown = places.slice(session.first, session.first + session.size);
  const table = {
    kind: "product_table", key: "table", label: "Products", look: data.look, open: session.open, first: session.first, total: places.length, selected: null, pictures: null,
    columns: data.columns.map(({ key, title, align, priority }) => ({ key, title, align, priority, sort: session.sort.column === key ? (session.sort.descending ? "descending" : "ascending") : "", head: null })),
    rows: shown.map((at) => ({
      key: data.ids[at], label: data.columns[data.label].texts[data.columns[data.label].of[at]],
      cells: data.columns.map(({ texts, of, gaps }) => (gaps.includes(of[at]) ? { gap: texts[of[at]] } : texts[of[at]])),
    })),
    empty: shown.length ? "" : "No products to show.",
  };
  const pager = (key) => pagerBlock(session, key, places.length, filter.size);
  const main = fileRow("main", "main", [fileRow("table-head", "table-head", [pager("pager")]), table, places.length > session.size ? pager("pager-below") : null], "box");
  const card = session.open === null ? null : cardPane(data, cards, session, places, onRead);
  return [searchBlock(data, session), conditionsBlock(filter, session), fileRow("sides", card ? "sides with-card" : "sides", [facets, main, card], "box")];
}

// What can be done.

/** A limit as it was typed: null where there is none, undefined where nobody can read it. */
function typedLimit(facet, text, isEnd) {
  if (!text.trim()) return null;
  const value = facet.measure === "date" ? Date.parse(`${text.trim()}T00:00:00Z`) * 1000 + (isEnd ? 86_399_999_999 : 0) : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

function productsDeeds(filter) {
  const { data } = filter;
  const folded = (session, facet, change) => ({ foldings: { ...session.foldings, [facet]: { ...FOLDED, ...session.foldings[facet], ...change } } });
  const toggle = (kind) => (session, { facet, code }) => filtered(session, toggledCode(session.conditions, kind, facet, code));
  const close = (session) => (session.open === null ? {} : { open: null, focus: { key: "table", wish: session.focus.wish + 1 } });
  const placesOf = (session) => filter.ordered(filter.narrow(session.conditions).mask, session.sort);
  const ofCheck = (session, { check }) => ({ ...filtered(session, toggledCode(session.conditions, "groups", "check", check)), section: "products" });
  return {
    "section.open": (session, { name }) => ({ section: name }),
    "facets.toggle": toggle("groups"),
    "facets.exclude": toggle("excluded"),
    "facets.fold": (session, { facet, is_open }) => folded(session, facet, { open: is_open }),
    "facets.find": (session, { facet, value }) => folded(session, facet, { find: value, most: FEW_VALUES }),
    "facets.more": (session, { facet }) => folded(session, facet, { most: (session.foldings[facet]?.most ?? FEW_VALUES) + MORE_VALUES }),
    "facets.fewer": (session, { facet }) => folded(session, facet, { most: FEW_VALUES }),
    "facets.zeros": (session, { facet, is_shown }) => folded(session, facet, { zeros: is_shown }),
    "facets.unfold": (session, { facet, code, is_open }) => {
      const others = (session.foldings[facet]?.unfolded ?? []).filter((one) => one !== code);
      return folded(session, facet, { unfolded: is_open ? [...others, code] : others });
    },
    "facets.drawer": (session, { is_open }) => ({ drawn: is_open }),
    "facets.limit": (session, { facet, side, value }) => {
      const limit = typedLimit(filter.facets.get(facet), value, side === "greatest");
      const { [`${facet}/${side}`]: _, ...errors } = session.errors;
      if (limit === undefined) return { errors: { ...errors, [`${facet}/${side}`]: `${isolated(value)} is not understood. Write it as 1234.5.` } };
      const limits = { least: null, greatest: null, ...session.conditions.ranges[facet], [side]: limit };
      return { ...filtered(session, withRange(session.conditions, facet, limits)), errors };
    },
    // The bars of a facet, which is named as a column is.
    "table.range": (session, { column, least, greatest }) => {
      const now = session.conditions.ranges[column];
      const isThere = now && now.least === least && now.greatest === greatest;
      return filtered(session, withRange(session.conditions, column, isThere ? { least: null, greatest: null } : { least, greatest }));
    },
    "search.set": (session, { value }) => filtered(session, { ...session.conditions, words: value }),
    "search.help": (session, { is_open }) => ({ help: is_open }),
    "conditions.remove": (session, { said }) => filtered(session, saidConditions(filter, session.conditions).find(([words]) => words === said)?.[1] ?? session.conditions),
    "conditions.clear": (session) => filtered(session, NO_CONDITIONS),
    "conditions.back": ({ before, after, conditions }) => (before.length ? { conditions: before.at(-1), before: before.slice(0, -1), after: [...after, conditions], first: 0 } : {}),
    "conditions.forward": ({ before, after, conditions }) => (after.length ? { conditions: after.at(-1), before: [...before, conditions], after: after.slice(0, -1), first: 0 } : {}),
    "table.sort": ({ sort }, { column }) => ({ first: 0, sort: sort.column !== column ? { column, descending: false } : sort.descending ? { column: "", descending: false } : { column, descending: true } }),
    "table.page": (session, { first }) => ({ first }),
    "table.turn": (session, { by, follow }) => {
      const first = session.first + by * session.size;
      const places = placesOf(session);
      if (first < 0 || first >= places.length) return {};
      const next = data.ids[places[by > 0 ? first : Math.min(first + session.size, places.length) - 1]];
      return { first, open: follow && session.open !== null ? next : session.open };
    },
    "table.open": (session, { product_id }) => ({ open: product_id }),
    "table.edit": (session, { product_id }) => ({ open: product_id }),
    "table.close": close,
    "card.close": close,
    "quality.check": ofCheck,
    "checks.open": ofCheck,
    "quality.grade": (session, { grade }) => ({ ...filtered(session, toggledCode(session.conditions, "groups", "grade", grade)), section: "products" }),
    "quality.failing": (session, { which }) => ({
      ...filtered(session, which === "any" ? toggledCode(session.conditions, "excluded", "check", null) : withCodes(session.conditions, "groups", "check", data.blockers)), section: "products",
    }),
  };
}

/** The blocks of cards: of the one that is open, and until it is read, that it is. */
function cardReader(data) {
  const cards = new FileParts("cards", data.cards.each);
  let made = { at: null, blocks: null };
  return (at, onRead) => {
    if (at >= data.cards.count) return [fileText(data.cards.why, { key: "no-card", tone: "note" })];
    const card = cards.get(at, onRead);
    if (!card) return [fileText(cards.problem || "Reading the product …", { key: "reading", tone: cards.problem ? "problem" : "muted" })];
    // What stays the same is not drawn again.
    if (made.at !== at) made = { at, blocks: card() };
    return made.blocks;
  };
}

function productsKernel(data) {
  const filter = new FileFilter(data);
  const cards = cardReader(data);
  const titles = { products: "Products", ...(data.quality ? { quality: "Quality" } : {}) };
  const session = {
    section: "products", conditions: NO_CONDITIONS, before: [], after: [], first: 0, size: data.size, sort: data.sort, open: null,
    foldings: Object.fromEntries(data.open.map((name) => [name, { ...FOLDED, open: true }])), drawn: false, help: false, errors: {}, focus: { key: "", wish: 0 },
  };
  // Screen readers go from heading to heading; others see which section is open.
  const titleOf = (name) => fileRow("title-of-section", "sr", [{ kind: "heading", key: name, text: titles[name], level: 2 }], "box");
  const sections = { kind: "switch", key: "sections", label: "Sections", do: "section.open", argument: "name", options: Object.entries(titles).map(([name, title]) => ({ name, title })) };
  const kernel = new FileKernel(session, productsDeeds(filter), (now) => ({
    section: now.section, title: titles[now.section], focus: now.focus,
    head: [...data.head, data.quality ? { ...sections, value: now.section } : null].filter(Boolean),
    blocks: [titleOf(now.section), ...(now.section === "quality" ? data.quality : productsView(data, filter, cards, now, () => kernel.show()))],
  }));
  return kernel;
}
