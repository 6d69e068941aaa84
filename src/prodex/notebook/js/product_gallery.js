// Products by their pictures: tiles in even rows, in one list or in one for each group.

/** A tile: its picture, or words in place of it. */
function productTile(tile, group, block, act, page, state) {
  const isChosen = state.chosen.has(tile.key);
  const key = `tile/${group.key}/${tile.key}`;
  return h(
    "li", {
      key, class: classes("tile", isChosen && "selected", tile.key === block.open && "is-open"), role: "option", group: "tile", tabindex: key === state.active ? "0" : "-1",
      "aria-selected": String(isChosen), "aria-current": tile.key === block.open ? "true" : null, "data-product": tile.key,
      onclick: (event) => {
        if (event.target.closest(".pick")) act("gallery.select", { product_id: tile.key, through: event.shiftKey });
        else {
          act("table.open", { product_id: tile.key });
          onSecond(event, () => act("table.edit", { product_id: tile.key }));
        }
      },
    },
    tile.src
      ? h("span", { key: "frame", class: "frame is-shown" }, h("img", { ...page.picture(tile.src), alt: "" }))
      : h("span", { key: "frame", class: classes("frame", `is-${tile.state}`) }, typed(tile.words)),
    // Whoever uses the keyboard selects with Space; a button inside an option could not be reached.
    h("span", { class: "pick", "aria-hidden": "true", title: "Select" }, "✓"),
    h("span", { class: "name", title: tile.name || null }, tile.name ? typed(tile.name) : "no name"),
    h("span", { class: "gtin" }, typed(tile.gtin), tile.mark ? h("small", {}, typed(tile.mark)) : null),
  );
}

function tileGroup(group, block, act, page, state) {
  const list = h(
    "ul", { key: `tiles/${group.key}`, class: "tiles", role: "listbox", "aria-multiselectable": "true", "aria-label": group.label || "Products" },
    group.tiles.map((tile) => productTile(tile, group, block, act, page, state)),
  );
  if (!group.label) return group.tiles.length ? list : null;
  return h(
    "section", { key: `group/${group.key}` },
    h("h3", {},
      h("button", { type: "button", key: `keep/${group.key}`, class: "button is-link", title: "Show these products", onclick: () => act("gallery.keep", { facet: group.facet, code: group.code }) }, typed(group.label)),
      h("span", { class: "muted n" }, `${whole(group.tiles.length)} of ${whole(group.total)}`)),
    list,
  );
}

/** The tile above or below: the nearest one of the next row, whichever list it is in. */
function tileBeyond(tiles, place, by) {
  const own = tiles[place].getBoundingClientRect();
  const rows = tiles.map((tile, at) => ({ at, box: tile.getBoundingClientRect() }))
    .filter(({ box }) => (by > 0 ? box.top > own.top + 1 : box.top < own.top - 1));
  if (!rows.length) return null;
  const top = by > 0 ? Math.min(...rows.map(({ box }) => box.top)) : Math.max(...rows.map(({ box }) => box.top));
  const near = rows.filter(({ box }) => Math.abs(box.top - top) < 1);
  return near.reduce((best, one) => (Math.abs(one.box.left - own.left) < Math.abs(best.box.left - own.left) ? one : best)).at;
}

/** The keys of a tile: arrows move and open the next card if one is open, Return opens, "e" corrects, Space selects, Escape closes. */
function tileKeys(event, block, act, state) {
  const root = event.currentTarget;
  const tiles = [...root.querySelectorAll(".tile")];
  const place = tiles.indexOf(event.target);
  if (place < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
  const { product } = tiles[place].dataset;
  const go = (next) => {
    tiles[next].focus();
    if (block.open) act("table.open", { product_id: tiles[next].dataset.product });
  };
  const turn = (by) => {
    state.next = { first: block.first, by };
    act("gallery.turn", { by });
  };
  const isReversed = getComputedStyle(root).direction === "rtl" ? -1 : 1;
  const side = { ArrowLeft: -isReversed, ArrowRight: isReversed }[event.key];
  const row = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const keys = {
    PageUp: () => turn(-1),
    PageDown: () => turn(1),
    Home: () => go(0),
    End: () => go(tiles.length - 1),
    Enter: () => act("table.open", { product_id: product }),
    e: () => act("table.edit", { product_id: product }),
    " ": () => act("gallery.select", { product_id: product, through: event.shiftKey }),
    Escape: () => act("table.close"),
  };
  if (side) {
    if (tiles[place + side]) go(place + side);
    else turn(side);
  } else if (row) {
    const next = tileBeyond(tiles, place, row);
    if (next === null) turn(row);
    else go(next);
  } else if (keys[event.key]) keys[event.key]();
  else return;
  event.preventDefault();
}

register("product_gallery", (block, act, page) => {
  const state = page.state(`product_gallery/${block.key}`, { active: null, open: block.open, first: block.first });
  const keys = block.groups.flatMap((group) => group.tiles.map((tile) => `tile/${group.key}/${tile.key}`));
  const opened = keys.find((key) => key.endsWith(`/${block.open}`));
  const isTurned = state.next && state.next.first !== block.first;
  const wanted = isTurned ? (state.next.by > 0 ? keys[0] : keys.at(-1)) : null;
  const isKnown = keys.includes(state.active);
  if (wanted) state.active = wanted;
  // The open product may be in several groups: the tile that was reached stays the one.
  else if (!isKnown || (block.open !== state.open && opened && !state.active.endsWith(`/${block.open}`))) state.active = opened ?? keys[0] ?? null;
  state.chosen = new Set(block.selected);
  const drawn = (root) => {
    if (state.first !== block.first) root.scrollTop = 0;
    const focus = root.getRootNode().activeElement;
    if (wanted && (root.contains(focus) || focus === document.body)) root.querySelector(`[data-key="${CSS.escape(wanted)}"]`)?.focus();
    if (isTurned) state.next = null;
    Object.assign(state, { open: block.open, first: block.first });
    bringCard(root, block.open, state);
  };
  return h(
    "div", {
      class: "product-gallery", style: `--side: ${Number(block.side)}px`, "data-wished": true, drawn,
      onkeydown: (event) => tileKeys(event, block, act, state),
      onfocusin: (event) => {
        const tile = event.target.closest(".tile");
        if (!tile) return;
        state.active = tile.dataset.key;
        moveTabStop([...event.currentTarget.querySelectorAll(".tile")], tile);
      },
    },
    block.groups.map((group) => tileGroup(group, block, act, page, state)),
    block.empty ? h("p", { class: "muted empty", role: "status" }, block.empty) : null,
  );
});
