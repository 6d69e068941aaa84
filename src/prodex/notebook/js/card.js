// The card of a product: its parts, and its texts by language, of which each can be corrected in place.

register("part", (block, act, page) => h(
  "section", { class: classes("part", block.look) },
  h("h4", {}, content(block.title, page), block.note ? [" ", h("small", { class: "muted" }, content(block.note))] : null), page.draw(block.blocks),
));

register("facts", (block) => h(
  "dl", { class: classes("facts", block.look) },
  block.rows.map((one) => h("div", {}, h("dt", {}, content(one.term)), h("dd", {}, content(one.value), one.note ? [" ", h("small", { class: "muted" }, content(one.note))] : null))),
));

register("mark", (block, act, page) => h("span", { class: block.tone || null }, content(block.words, page)));

register("details", (block, act, page) => h(
  // Whether it is open belongs to the page; `open` is said once.
  "details", { drawn: (element) => { if (block.open && !element.dataset.began) { element.open = true; element.dataset.began = "true"; } } },
  h("summary", {}, content(block.title, page)), page.draw(block.blocks),
));

/** A text to copy: a field, since a keyboard reaches no other text. */
register("copy", (block) => h("label", {}, h("span", { class: "muted" }, block.label), " ", h("input", {
  type: "text", class: "copy", readonly: true, size: "15", dir: "auto", value: block.text, onfocus: (event) => event.target.select(),
})));

register("record", (block) => h("pre", { class: "raw", role: "region", "aria-label": block.label, tabindex: "0" }, block.text));

register("picture", (block, act, page) => h(
  "div", { class: "image" }, block.image ? h("img", { alt: block.alt, ...page.picture(block.image) }) : h("div", { class: "problem" }, content(block.problem)),
));

/** What happened to values: of each its steps, the newest first. */
register("timeline", (block) => h("div", { class: "timeline", role: "group", "aria-label": block.label }, block.places.map((place) => [
  h("h5", { key: `name/${place.key}` }, content(place.attribute), place.place ? [" ", h("span", { class: "lang" }, content(place.place))] : null),
  h("ol", { key: `steps/${place.key}`, class: "steps" }, place.steps.map((step) => h(
    "li", {},
    h(
      "div", {}, h("span", { class: "when" }, step.when), ` · ${step.event}`, step.sent ? [" · ", h("span", { class: "mark" }, "sent from here")] : null,
      step.by ? [step.sent ? " by " : " · ", content(step.by)] : null,
    ),
    h("div", { class: "value" }, content(step.value)),
    step.how ? h("small", { class: "muted" }, content(step.how)) : null, step.note ? h("small", { class: "muted" }, step.note) : null,
  ))),
])));

/** The card in its pane: its bar stays in sight, Escape closes it. */
register("card", (block, act, page) => h(
  "div",
  {
    class: classes("card", block.alone && "is-alone"), role: block.alone ? "region" : null, "aria-label": block.alone ? "Product card" : null,
    onkeydown: (event) => {
      if (event.key !== "Escape" || block.alone || event.defaultPrevented) return;
      event.preventDefault();
      event.stopPropagation();
      act("card.close", { product_id: block.product });
    },
  },
  h("div", { class: "card-bar" }, page.draw(block.bar)), page.draw(block.blocks),
));

// Texts by language.

/** Characters as Python counts them: a character beyond U+FFFF is one. */
const countCharacters = (text) => [...text].length;

/** A button of the table; one of them is reached with Tab, the others with the arrow keys. */
const textTarget = (key, sign, label, press) => h("button", {
  type: "button", key, class: "act", "data-target": true, tabindex: "-1", title: label, "aria-label": label, onclick: press,
}, h("span", { "aria-hidden": "true" }, sign));

/** The text after this one: below it, as in a spreadsheet, or the first of the next column. */
function nextText(place) {
  const [cell, row] = [place.closest("td"), place.closest("tr")];
  const inCell = [...cell.querySelectorAll("li")];
  const after = inCell[inCell.indexOf(place.closest("li")) + 1]?.querySelector("[data-target]");
  if (after) return after;
  const rows = [...row.parentElement.rows];
  const below = rows.slice(rows.indexOf(row) + 1).map((one) => one.cells[cell.cellIndex]?.querySelector("[data-target]"));
  const beside = rows.map((one) => one.cells[cell.cellIndex + 1]?.querySelector("[data-target]"));
  return [...below, ...beside].find(Boolean) ?? null;
}

/** What the length of a text says; a text that is too long is said to be. */
function showLength(area, limit) {
  const many = countCharacters(area.value.trim());
  const [counter, said] = [area.parentElement.querySelector(".count"), area.parentElement.querySelector(".too-long")];
  counter.textContent = `${whole(many)} of ${whole(limit)} characters`;
  counter.classList.toggle("over", many > limit);
  area.setAttribute("aria-invalid", String(many > limit));
  const words = many > limit ? "Longer than the service takes." : "";
  if (said.textContent !== words) said.textContent = words;
}

/**
 * The editor of a text. What is typed is kept by the kernel as it is in any form; the text is collected with Return, with
 * Save, and by whoever goes on elsewhere. It has the key of the button in whose place it stands, so that the focus
 * moves from one to the other.
 */
function textEditor(item, block, act, page) {
  const { editor } = item;
  const state = page.state("card_texts");
  const id = `prodex-${page.id}-text-${item.key}`.replace(/[^\w-]/g, "_");
  const at = { product_id: block.product, place: item.key };
  const tell = (value) => page.post("form.set", { form: `card ${block.product}`, field: item.key, value });
  const areaIn = (event) => event.currentTarget.querySelector("textarea") ?? event.currentTarget.closest(".editor").querySelector("textarea");
  const save = (area, isLeaving = false) => {
    state.next = isLeaving ? null : state.from ?? nextText(area)?.dataset.key ?? null;
    act("card.correct", { ...at, before: editor.before, text: area.value, is_leaving: isLeaving });
  };
  const leave = () => {
    state.next = state.from ?? null;
    act("card.leave", at);
  };
  const lines = editor.value.split("\n").reduce((sum, line) => sum + Math.ceil(line.length / 40 || 1), 0);
  const plainButton = (label, press, look) => h("button", { type: "button", class: classes("button", look), onclick: press }, label);
  return h(
    "div",
    {
      class: "editor", role: "group", "aria-label": `Correct ${item.name}`, key: `editor/${item.key}`,
      onkeydown: (event) => {
        event.stopPropagation();
        if (event.key === "Escape") { event.preventDefault(); leave(); }
        // While a word is composed of several keys, as in Japanese, Return ends the word.
        else if (event.target.localName === "textarea" && event.key === "Enter" && !event.shiftKey && !event.altKey && !event.isComposing) {
          event.preventDefault();
          save(event.target);
        }
      },
      onfocusout: (event) => {
        const place = event.currentTarget;
        // Whoever goes on elsewhere has finished, as in a spreadsheet.
        setTimeout(() => { if (place.isConnected && document.hasFocus() && !place.contains(focused(page.root))) save(place.querySelector("textarea"), true); });
      },
      ondblclick: (event) => event.stopPropagation(),
    },
    h("label", { for: id }, typed(item.name)),
    h("textarea", {
      id, key: item.key, rows: String(Math.max(2, Math.min(12, lines + 1))), dir: "auto", lang: editor.lang ?? null, "data-limit": editor.limit,
      "aria-describedby": `${id}-count ${id}-hint ${id}-error`,
      ...page.typing.attributes(`card/${block.product}/${item.key}`, editor.value, tell, { isLong: true }),
      drawn: (area) => {
        showLength(area, editor.limit);
        if (state.turn === block.turn) return;
        const isHere = state.turn !== undefined || document.hasFocus();
        state.turn = block.turn;
        const active = focused(page.root);
        // Asked for elsewhere, in the list beside the card: whoever has finished goes on there. Of two pages, only the
        // one in which somebody is moves the focus.
        state.from = active && !active.closest(".card") ? active.dataset.key ?? null : null;
        if (isHere && active && document.hasFocus()) area.focus();
        // Its buttons below as well, where there is room; the text in any case.
        if (isHere) [area.closest(".editor"), area].forEach((one) => one?.scrollIntoView({ block: "nearest", inline: "nearest" }));
      },
      // The focus goes to what has this key, and so does Tab from then on.
      gone: (area) => {
        area.dataset.key = state.next ?? item.key;
        Object.assign(state, { at: area.dataset.key, next: null });
      },
    }),
    h(
      "div", { class: "counts" }, h("span", { class: "count muted", id: `${id}-count` }),
      h("span", { class: "hint muted", id: `${id}-hint` }, "Return keeps it and moves on, Escape leaves it, Shift+Return breaks the line."),
    ),
    h("div", { class: "too-long", role: "alert" }),
    h("div", { class: "said", id: `${id}-error`, role: "alert" }, editor.error || null),
    h(
      "div", { class: "acts" }, plainButton("Save", (event) => save(areaIn(event)), "is-main"), plainButton("Cancel", leave),
      editor.can_delete ? plainButton("Delete text", () => act("card.correct", { ...at, before: editor.before, text: null }), "") : null,
    ),
  );
}

/** A text, or the place of one that is missing: what is there, what it will be, and what can be done. */
function textItem(item, block, act, page) {
  if (item.editor) return [textEditor(item, block, act, page)];
  const tag = item.tag ? [h("span", { class: "lang", lang: "en" }, item.tag), " "] : [];
  const made = [];
  if (!item.mark) made.push(...tag, content(item.was ?? null));
  else {
    if (item.was) made.push(...tag, h("del", {}, h("span", { class: "sr", lang: "en" }, "Old: "), content(item.was)), " ");
    if (item.now) made.push(h("ins", {}, h("span", { class: "sr", lang: "en" }, "New: "), content(item.now)), " ");
    made.push(h("span", { class: "mark unsent", lang: "en" }, item.mark));
  }
  if (!item.key) return made;
  const at = { product_id: block.product, place: item.key };
  const [sign, word] = item.was || item.now ? ["✎", "Edit"] : ["+", "Add"];
  made.push(" ", textTarget(item.key, sign, `${word} ${item.name}`, () => act("card.edit", at)));
  const undo = `undo/${item.key}`;
  if (item.undo) {
    made.push(" ", h("button", {
      type: "button", key: undo, class: "act undo", "data-target": true, fallback: item.key, tabindex: "-1",
      title: `Undo the correction of ${item.name}`, "aria-label": `Undo the correction of ${item.name}`, onclick: () => act("card.undo", at),
    }, "↶ undo"));
  }
  return made;
}

function textCell(cell, block, act, page) {
  const items = cell.items ?? [];
  const made = items.map((item) => textItem(item, block, act, page));
  const isEditing = items.some((item) => item.editor);
  const isGap = cell.gap && !items.some((item) => item.mark || item.editor);
  return h(
    "td",
    {
      class: classes(isGap && "missing", isEditing && "editing") || null, lang: cell.lang ?? null,
      onclick: (event) => {
        if (!event.target.closest("button, summary, textarea, .editor") && !String(getSelection())) event.currentTarget.querySelector("[data-target]")?.focus();
      },
      ondblclick: (event) => {
        if (event.target.closest("button, summary, .editor")) return;
        getSelection().removeAllRanges();
        (event.target.closest("li") ?? event.currentTarget).querySelector("[data-target]")?.click();
      },
    },
    isGap ? [h("span", { class: "gap", lang: "en" }, cell.gap), " "] : null,
    made.length > 1 ? h("ol", {}, made.map((one) => h("li", {}, one))) : made,
    (cell.problems ?? []).map((one) => h("div", { class: "found", lang: "en" }, h("span", { class: `severity ${one.severity}` }, one.title))),
  );
}

/** Move among the buttons as among the cells of a spreadsheet; "e" edits. */
function moveAmongTexts(event) {
  const from = event.target;
  if (!("target" in from.dataset)) return;
  const [table, row, cell] = [event.currentTarget, from.closest("tr"), from.closest("td")];
  const inRow = [...row.querySelectorAll("[data-target]")];
  const beside = (step) => inRow[inRow.indexOf(from) + step];
  const below = (step) => {
    const rows = [...table.tBodies[0].rows];
    for (let at = rows.indexOf(row) + step; rows[at]; at += step) {
      const found = rows[at].cells[cell.cellIndex]?.querySelector("[data-target]");
      if (found) return found;
    }
    return null;
  };
  const list = [...cell.querySelectorAll("li")];
  const within = (step) => list[list.indexOf(from.closest("li")) + step]?.querySelector("[data-target]");
  const to = {
    ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), ArrowUp: () => (list.length ? within(-1) : null) ?? below(-1),
    ArrowDown: () => (list.length ? within(1) : null) ?? below(1), Home: () => inRow[0], End: () => inRow.at(-1),
  }[event.key]?.();
  if (to) { event.preventDefault(); to.focus(); }
  else if (event.key === "e" && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    table.querySelector(`[data-key="${CSS.escape(from.dataset.key.replace(/^undo\//, ""))}"]`)?.click();
  }
}

register("card_texts", (block, act, page) => {
  const state = page.state("card_texts");
  const heads = block.columns.map((one) => h("th", { scope: "col" }, content(one.name), one.required ? [" ", h("span", { class: "required" }, "required")] : null));
  const rows = block.rows.map((row) => h(
    "tr", { key: row.key }, h("th", { scope: "row", title: row.key }, content(row.attribute)),
    row.gap
      ? h("td", { colspan: String(block.columns.length), class: "missing" }, h("span", { class: "gap" }, row.gap))
      : row.cells.map((cell) => textCell(cell, block, act, page)),
  ));
  return h("div", { class: "scroll", role: "region", "aria-label": block.label, tabindex: "0" }, h(
    "table",
    {
      class: "texts", role: "grid", "aria-label": block.label, onkeydown: moveAmongTexts,
      // One of the buttons is reached with Tab.
      drawn: (table) => {
        const targets = [...table.querySelectorAll("[data-target]")];
        moveTabStop(targets, targets.find((one) => one.dataset.key === state.at) ?? targets[0]);
      },
      oninput: (event) => { if (event.target.dataset.limit) showLength(event.target, Number(event.target.dataset.limit)); },
      onfocusin: (event) => {
        if (!("target" in event.target.dataset)) return;
        state.at = event.target.dataset.key;
        moveTabStop([...event.currentTarget.querySelectorAll("[data-target]")], event.target);
      },
    },
    h("caption", {}, block.caption), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Attribute"), heads)), h("tbody", {}, rows),
  ));
});
