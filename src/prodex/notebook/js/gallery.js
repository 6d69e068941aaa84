// Products by their pictures: tiles in even rows, in one list or in one for each group.

/** What a tile shows in its frame: a picture that Python made, or words in its place. */
function frame(tile) {
  return tile.src
    ? el("span", { class: "frame shown" }, el("img", { src: tile.src, alt: "" }))
    : el("span", { class: `frame ${tile.state}` }, typed(tile.words));
}

function makeTile(tile, tell) {
  const made = el(
    "li",
    { class: "tile", role: "option", "data-key": `tile/${tile.id}`, "data-group": "tile", onclick: (event) => {
      if (event.target.closest(".pick")) tell("select", { id: tile.id, through: event.shiftKey });
      else { tell("open", { id: tile.id }); onSecond(event, () => tell("edit", { id: tile.id })); }
    } },
    frame(tile),
    // Whoever uses the keyboard selects with Space; a button inside an option could not be reached.
    el("span", { class: "pick", "aria-hidden": "true", title: "Select" }, "✓"),
    el("span", { class: "name", title: tile.name }, tile.name ? typed(tile.name) : "no name"),
    el("span", { class: "gtin" }, typed(tile.gtin), tile.mark ? el("small", {}, typed(tile.mark)) : null),
  );
  return made;
}

/** Show what has changed of a tile that is there: its picture, whether it is selected, and whether its card is open. */
function updateTile(made, before, tile, open, active) {
  if (before && (before.src !== tile.src || before.words !== tile.words || before.mark !== tile.mark)) {
    made.querySelector(".frame").replaceWith(frame(tile));
    made.querySelector(".gtin").replaceChildren(...[typed(tile.gtin), tile.mark ? el("small", {}, typed(tile.mark)) : null].filter(Boolean));
  }
  made.setAttribute("aria-selected", String(tile.selected));
  made.classList.toggle("selected", tile.selected);
  made.classList.toggle("is-open", tile.id === open);
  if (tile.id === open) made.setAttribute("aria-current", "true");
  else made.removeAttribute("aria-current");
  made.setAttribute("tabindex", active ? "0" : "-1");
}

function makeGroup(group, state, tell) {
  const tiles = group.tiles.map((tile) => makeTile(tile, tell));
  state.tiles.push(...tiles);
  const label = group.label || "Products";
  const list = el("ul", { class: "tiles", role: "listbox", "aria-multiselectable": "true", "aria-label": label }, ...tiles);
  if (!group.label) return list;
  return el(
    "section",
    {},
    el("h3", {},
      el("button", { type: "button", class: "value", "data-key": `group/${group.key}`, title: "Show these products", onclick: () => tell("group", { key: group.key }) },
        typed(group.label)),
      el("span", { class: "muted n" }, `${whole(group.tiles.length)} of ${whole(group.total)}`)),
    list,
  );
}

/** The tile above or below: the nearest one of the next row, whichever list it is in. */
function beyond(tiles, place, by) {
  const own = tiles[place].getBoundingClientRect();
  const rows = tiles.map((tile, at) => ({ at, box: tile.getBoundingClientRect() }))
    .filter(({ box }) => (by > 0 ? box.top > own.top + 1 : box.top < own.top - 1));
  if (!rows.length) return null;
  const top = by > 0 ? Math.min(...rows.map(({ box }) => box.top)) : Math.max(...rows.map(({ box }) => box.top));
  const near = rows.filter(({ box }) => Math.abs(box.top - top) < 1);
  return near.reduce((best, one) => (Math.abs(one.box.left - own.left) < Math.abs(best.box.left - own.left) ? one : best)).at;
}

/** The keys of a tile: arrows move and open the next card if one is open, Return opens, "e" corrects, Space selects, Escape closes. */
function tileKeys(event, state, tell) {
  const { tiles, view } = state;
  const place = tiles.indexOf(event.target);
  if (place < 0) return;
  const ids = view.groups.flatMap((group) => group.tiles.map((tile) => tile.id));
  const go = (next) => {
    tiles[next].focus();
    if (view.open) tell("open", { id: ids[next] });
  };
  const side = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const row = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const page = { PageUp: -1, PageDown: 1 }[event.key];
  if (side) {
    if (tiles[place + side]) go(place + side);
    else tell("turn", { by: side });
  } else if (row) {
    const next = beyond(tiles, place, row);
    if (next === null) tell("turn", { by: row });
    else go(next);
  } else if (page) tell("turn", { by: page });
  else if (event.key === "Home") go(0);
  else if (event.key === "End") go(tiles.length - 1);
  else if (event.key === "Enter") tell("open", { id: ids[place] });
  else if (event.key === "e") tell("edit", { id: ids[place] });
  else if (event.key === " ") tell("select", { id: ids[place], through: event.shiftKey });
  else if (event.key === "Escape") tell("close");
  else return;
  event.preventDefault();
}

function drawGallery(root, view, tell, state) {
  if (!view.groups) return;
  const shown = view.groups.flatMap((group) => group.tiles);
  const layout = JSON.stringify(view.groups.map((group) => [group.key, group.label, group.total, group.tiles.map((tile) => tile.id)]));
  if (layout !== state.layout) {
    state.tiles = [];
    root.replaceChildren(...view.groups.map((group) => makeGroup(group, state, tell)));
    if (!shown.length) root.replaceChildren(el("p", { class: "muted empty", role: "status" }, view.empty));
    state.shown = null;
    root.scrollTop = 0;
  }
  if (!state.listens) {
    root.addEventListener("keydown", (event) => tileKeys(event, state, tell));
    root.addEventListener("focusin", (event) => {
      const place = state.tiles.indexOf(event.target.closest("li"));
      if (place < 0) return;
      moveTabStop(state.tiles, state.tiles[place]);
      state.active = state.view.groups.flatMap((group) => group.tiles)[place].id;
    });
    state.listens = true;
  }
  root.style.setProperty("--side", `${view.side}px`);
  const wanted = view.focus !== (state.focus ?? 0) ? state.tiles[view.place] : null;
  const active = Math.max(0, wanted ? state.tiles.indexOf(wanted) : shown.findIndex((tile) => tile.id === (state.active ?? view.open)));
  shown.forEach((tile, place) => updateTile(state.tiles[place], state.shown?.[place], tile, view.open, place === active));
  Object.assign(state, { layout, shown, view, focus: view.focus });
  showCard(root, view.open, state);
  wanted?.focus();
}

export default live("gallery", drawGallery);
