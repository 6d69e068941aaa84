// The texts of a product by language. Each can be corrected in place: Return or "e" on its button, or a double click.

/** Characters as Python counts them: a character beyond U+FFFF is one. */
const count = (text) => [...text].length;

/** A button of the table; one of them is reached with Tab, the others with the arrow keys. */
function target(key, sign, label, press, fallback = null) {
  return el("button", {
    type: "button", class: "act", "data-key": key, "data-fallback": fallback, "data-target": true, tabindex: "-1",
    title: label, "aria-label": label, onclick: press,
  }, el("span", { "aria-hidden": "true" }, sign));
}

/** The editor of a text. It lives in `state`, so that it stays as it is while the table around it is drawn anew. */
let editors = 0;
function editorOf(item, text, state, tell) {
  // Not of `crypto`, which a page that comes without TLS has only in part.
  const id = `prodex-editor-${Date.now()}-${editors += 1}`;
  const lines = text.split("\n").reduce((sum, line) => sum + Math.ceil(line.length / 40 || 1), 0);
  const area = el("textarea", {
    id, rows: String(Math.max(2, Math.min(12, lines + 1))), dir: "auto", lang: item.lang, "data-key": "editor",
    "aria-describedby": `${id}-count ${id}-hint`,
  });
  area.value = text;
  // What the browser made of it: it has line ends of its own, and what nobody changed is no correction.
  const before = area.value;
  const counter = el("span", { class: "count muted", id: `${id}-count` });
  const said = el("div", { class: "said", role: "alert" });
  const show = () => {
    const many = count(area.value.trim());
    const over = many - item.limit;
    counter.textContent = `${whole(many)} of ${whole(item.limit)} characters`;
    counter.classList.toggle("over", over > 0);
    area.setAttribute("aria-invalid", String(over > 0));
    const words = over > 0 ? "Longer than the service takes." : "";
    if (said.textContent !== words) said.textContent = words;
  };
  const close = (back) => {
    const isAsked = state.isAsked;
    Object.assign(state, { editor: null, isAsked: false });
    state.redraw();
    // Back to where it was asked for: the row of the product, or the button beside the text.
    if (back && isAsked) tell("done");
    else if (back) state.root.querySelector(`[data-key="${CSS.escape(item.key)}"]`)?.focus();
  };
  /** Collect what was typed. Whoever goes on elsewhere has finished, as in a spreadsheet. */
  const save = (leaving) => {
    const written = area.value;
    const isWhole = written.isWellFormed?.() ?? true;
    if (written === before || (leaving && !written.trim())) close(!leaving);
    else if (!written.trim()) said.textContent = item.was ? "Write a text, or press Delete text." : "Write a text, or press Cancel.";
    else if (!isWhole) said.textContent = "The text has half of a character, which cannot be sent. Type it again.";
    // What cannot be kept stays in the editor, from where it can be copied.
    else if (!tell("save", { key: item.key, text: written })) said.textContent = "Not saved: the kernel was restarted or stopped. Copy the text, and run the cell of this panel again.";
    else close(!leaving);
    if (!leaving && state.editor) area.focus();
  };
  const act = (label, press, kind = "") => el("button", { type: "button", class: `plain ${kind}`, onclick: press }, label);
  const node = el(
    "div",
    {
      class: "editor", role: "group", "aria-label": `Correct ${item.name}`,
      onkeydown: (event) => {
        event.stopPropagation();
        if (event.key === "Escape") { event.preventDefault(); close(true); }
        // While a word is composed of several keys, as in Japanese, Return ends the word.
        else if (event.target === area && event.key === "Enter" && !event.shiftKey && !event.altKey && !event.isComposing) { event.preventDefault(); save(false); }
      },
      onfocusout: () => setTimeout(() => {
        if (state.editor?.node === node && !state.isDrawing && document.hasFocus() && !node.contains(document.activeElement)) save(true);
      }),
      ondblclick: (event) => event.stopPropagation(),
    },
    el("label", { for: id }, typed(item.name)), area,
    el("div", { class: "counts" }, counter, el("span", { class: "hint muted", id: `${id}-hint` }, "Return saves, Escape cancels, Shift+Return breaks the line.")),
    said,
    el("div", { class: "acts" }, act("Save", () => save(false), "primary"), act("Cancel", () => close(true)),
      item.was ? act("Delete text", () => { if (tell("delete", { key: item.key })) close(true); }) : null),
  );
  area.addEventListener("input", show);
  show();
  return { key: item.key, node, area, save };
}

/** Open the editor; a text that is not shown letter by letter is asked for first. */
function edit(item, state, tell) {
  if (state.editor?.key === item.key) { state.editor.area.focus(); return; }
  state.editor?.save(true);
  if (state.editor) { state.editor.area.focus(); return; } // what was typed there could not be saved
  if (item.text === null) { state.wanted = item.key; tell("open", { key: item.key }); return; }
  open(item, item.text, state, tell);
}

function open(item, text, state, tell) {
  state.editor = editorOf(item, text, state, tell);
  state.redraw();
  state.editor?.area.focus();
  // Of an editor that is seen in part the focus alone shows no more.
  state.editor?.node.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** A text, or the place of one that is missing: what is there, what it will be, and what can be done. */
function itemOf(item, state, tell) {
  if (state.editor?.key === item.key) return [state.editor.node];
  const made = [];
  const tag = item.tag ? [el("span", { class: "lang", lang: "en" }, item.tag), " "] : [];
  if (!item.mark) made.push(...tag, ...(item.was ? shownText(item.was) : []));
  else {
    if (item.was) made.push(...tag, el("del", {}, el("span", { class: "sr", lang: "en" }, "Old: "), ...shownText(item.was)));
    if (item.now) made.push(el("ins", {}, el("span", { class: "sr", lang: "en" }, "New: "), ...shownText(item.now)));
    made.push(el("span", { class: "mark unsent", lang: "en" }, item.mark));
  }
  if (!item.key) return made;
  const isText = Boolean(item.was || item.now);
  const word = isText ? "Edit" : "Add";
  made.push(target(item.key, isText ? "✎" : "+", `${word} ${item.name}`, () => edit(item, state, tell)));
  if (item.undo) made.push(target(`undo/${item.key}`, "↶", `Undo the correction of ${item.name}`, () => tell("undo", { key: item.key }), item.key));
  return made;
}

function cellOf(cell, state, tell) {
  const gap = cell.gap ? [el("span", { class: "gap", lang: "en" }, cell.gap)] : [];
  const made = cell.items.map((item) => itemOf(item, state, tell));
  const inside = made.length > 1 ? [el("ol", {}, ...made.map((one) => el("li", {}, ...one)))] : made.flat();
  const isEditing = cell.items.some((item) => item.key === state.editor?.key);
  const isGap = cell.gap && !cell.items.some((item) => item.mark);
  return el(
    "td",
    {
      class: [isGap ? "missing" : "", isEditing ? "editing" : ""].join(" ").trim() || null, lang: cell.lang,
      onclick: (event) => {
        if (!event.target.closest("button, summary, textarea, .editor") && !String(getSelection())) event.currentTarget.querySelector("[data-target]")?.focus();
      },
      ondblclick: (event) => {
        const place = event.target.closest("li") ?? event.currentTarget;
        if (event.target.closest("button, summary, .editor")) return;
        getSelection().removeAllRanges();
        place.querySelector("[data-target]")?.click();
      },
    },
    ...(isGap && !isEditing ? gap : []), ...inside, ...cell.problems.map((one) => el("div", { class: "found", lang: "en" }, el("span", { class: `severity ${one.severity}` }, one.title))),
  );
}

/** Move among the buttons as among the cells of a spreadsheet; "e" edits. */
function move(event, table, state) {
  const from = event.target;
  if (!("target" in from.dataset)) return;
  const [row, cell] = [from.closest("tr"), from.closest("td")];
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
  const list = cell.querySelectorAll("li");
  const within = (step) => (list.length ? [...list][[...list].indexOf(from.closest("li")) + step]?.querySelector("[data-target]") : null);
  const to = {
    ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), ArrowUp: () => within(-1) ?? below(-1), ArrowDown: () => within(1) ?? below(1),
    Home: () => inRow[0], End: () => inRow.at(-1),
  }[event.key]?.();
  if (to) { event.preventDefault(); to.focus(); }
  else if (event.key === "e" && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    const key = from.dataset.key.replace(/^undo\//, "");
    table.querySelector(`[data-key="${CSS.escape(key)}"]`)?.click();
  }
}

/** Make a button the one that is reached with Tab. */
function reach(button, table, state) {
  moveTabStop(table.querySelectorAll("[data-target]"), button);
  state.active = button?.dataset.key;
}

function drawTexts(root, view, tell, state) {
  Object.assign(state, { root, redraw: () => {} });
  const items = new Map((view.rows ?? []).flatMap((row) => row.cells.flatMap((cell) => cell.items.map((item) => [item.key, item]))));
  // Another product is shown: what was typed for the one before is collected, not lost.
  if (state.editor && !items.has(state.editor.key)) state.editor.save(true);
  state.redraw = () => keepingFocus(root, () => drawTexts(root, view, tell, state));
  if (!view.rows) { root.replaceChildren(); return; }
  state.isDrawing = true;
  const heads = view.languages.map((one) => el("th", { scope: "col" }, ...shownText(one.name), " ", one.required ? el("span", { class: "required" }, "required") : null));
  const body = view.rows.map((row) => el(
    "tr", {}, el("th", { scope: "row", title: row.path }, ...shownText(row.attribute)),
    ...(row.gap ? [el("td", { colspan: String(view.languages.length), class: "missing" }, el("span", { class: "gap" }, row.gap))] : row.cells.map((cell) => cellOf(cell, state, tell))),
  ));
  const table = el(
    "table", { class: "texts", role: "grid", "aria-label": "Texts by language" },
    el("caption", {}, view.caption), el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Attribute"), ...heads)), el("tbody", {}, ...body),
  );
  table.addEventListener("keydown", (event) => move(event, table, state));
  table.addEventListener("focusin", (event) => { if ("target" in event.target.dataset) reach(event.target, table, state); });
  const scroll = el("div", { class: "scroll", role: "region", "aria-label": "Texts by language", tabindex: "0" }, table);
  const left = root.querySelector(".scroll")?.scrollLeft ?? 0;
  const folds = new Set([...root.querySelectorAll("details[open]")].map((one) => one.textContent));
  root.replaceChildren(el("div", { class: "prodex card mathjax_ignore" }, el("section", {}, el("h4", {}, "Texts by language"), scroll, ...view.others.map((words) => el("p", { class: "none" }, words)))));
  // What was unfolded, and where it was scrolled to, stays so.
  root.querySelectorAll("details").forEach((one) => { one.open = folds.has(one.textContent); });
  root.querySelector(".scroll").scrollLeft = left;
  const first = table.querySelector(state.active ? `[data-key="${CSS.escape(state.active)}"]` : null) ?? table.querySelector("[data-target]");
  if (first) reach(first, table, state);
  state.isDrawing = false;
  if (view.opened && view.opened.key === state.wanted && items.has(state.wanted)) {
    state.wanted = null;
    open(items.get(view.opened.key), view.opened.text, state, tell);
  }
  if (view.edit && view.edit.turn !== state.turn) {
    state.turn = view.edit.turn;
    if (items.has(view.edit.key)) { edit(items.get(view.edit.key), state, tell); state.isAsked = true; }
  }
}

export default live("texts-by-language", drawTexts);
