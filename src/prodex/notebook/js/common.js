// What the scripts of all live widgets share. What suppliers typed only ever becomes textContent, so it cannot run.

/** Make an element. Attributes that are null or false are left out; texts become text and nothing else. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** A text that somebody else typed, in its own direction. */
const typed = (text) => el("bdi", { dir: "auto" }, text);

/** A text as `shown` of Python describes it: in full, folded, empty, or why there is none. */
function shownText(shown) {
  if (shown.gap) return [shown.text ? typed(shown.text) : null, el("span", { class: "gap", lang: "en" }, shown.gap)];
  if (!shown.note) return [typed(shown.text)];
  if (!shown.begin) return [typed(shown.text), el("small", { class: "muted", lang: "en" }, ` (${shown.note})`)];
  return [el(
    "details", { class: "typed" },
    el("summary", {}, el("span", { class: "begin" }, typed(shown.begin), " … "), el("span", { class: "muted", lang: "en" }, shown.note)),
    el("div", { class: "long", role: "group", "aria-label": "The whole text", tabindex: "0" }, typed(shown.text)),
  )];
}

/** A whole number with separators, as everywhere in prodex. */
const whole = (number) => number.toLocaleString("en-US");

/**
 * Draw, and leave the focus where it was: on the element of the same key, or of the first key there that is still shown.
 * Where drawing itself has put it somewhere else, it stays there.
 */
function keepingFocus(root, draw) {
  const before = root.contains(document.activeElement) ? document.activeElement : null;
  const key = before?.dataset.key;
  const [start, end] = [before?.selectionStart, before?.selectionEnd];
  draw();
  const now = document.activeElement;
  if (!key || (now !== before && root.contains(now))) return;
  const group = before.dataset.group;
  const find = (name, value) => (value ? root.querySelector(`[data-${name}="${CSS.escape(value)}"]`) : null);
  const after = find("key", key) ?? find("group", group) ?? find("key", before.dataset.fallback ?? "");
  after?.focus({ preventScroll: true });
  // What somebody is typing is newer than what Python has drawn; a field of another key is another field.
  if (before.matches("input:not([type=checkbox])") && after?.dataset.key === key) after.value = before.value;
  if (after && start !== undefined && start !== null && after.setSelectionRange) after.setSelectionRange(start, end);
}

/**
 * Show the card of another product from its beginning, and scroll the page to it where it is out of sight: below a table
 * in a narrow panel, or above the rows that somebody has scrolled to.
 */
function showCard(root, open, state) {
  if (!open || open === state.carded) { state.carded = open; return; }
  state.carded = open;
  const pane = root.closest(".sides")?.querySelector(".pane");
  if (!pane) return;
  pane.scrollTop = 0;
  // The pane is shown by Python a moment after its row is marked.
  const look = (left) => requestAnimationFrame(() => {
    const box = pane.getBoundingClientRect();
    if (!box.height) { if (left) look(left - 1); return; }
    pane.scrollTop = 0;
    if (box.top > window.innerHeight * 0.7 || box.bottom < 80) pane.scrollIntoView({ block: "start" });
  });
  look(60);
}

/** Have Tab reach this one of the elements, and none of the others. */
const moveTabStop = (elements, to) => elements.forEach((one) => one.setAttribute("tabindex", one === to ? "0" : "-1"));

/** Move the focus among elements with the arrow keys: one of them is reached with Tab. Returns whether the key was used. */
function roving(event, elements, { along = ["ArrowUp", "ArrowDown"] } = {}) {
  const place = elements.indexOf(event.target);
  const step = { [along[0]]: -1, [along[1]]: 1, Home: -Infinity, End: Infinity }[event.key];
  if (place < 0 || step === undefined || !elements.length) return false;
  const next = Math.max(0, Math.min(elements.length - 1, place + step));
  moveTabStop(elements, elements[next]);
  elements[next].focus();
  event.preventDefault();
  return true;
}

const products = (count) => `${whole(count)} ${count === 1 ? "product" : "products"}`;

/** Act on the second click of a double click, wherever it falls: what the first one opens may be under the pointer by then. */
function onSecond(first, act) {
  if (first.detail !== 1) return;
  const page = first.currentTarget.ownerDocument;
  const end = () => page.removeEventListener("click", hear, true);
  const hear = (second) => {
    end();
    if (second.detail !== 2) return;
    second.stopPropagation();
    second.preventDefault();
    act();
  };
  page.addEventListener("click", hear, true);
  setTimeout(end, 600);
}

/** Bars of a histogram: a press keeps one bar, a drag or Shift with the arrow keys a range of them. */
function bars(column, tell, state) {
  const most = Math.max(1, ...column.head.bins.map((bin) => bin.count));
  const pick = (first, last) => tell("range", { column: column.name, first: Math.min(first, last), last: Math.max(first, last) });
  const along = ["ArrowLeft", "ArrowRight"];
  const made = column.head.bins.map((bin, place) => el(
    "button",
    {
      type: "button", class: `bin${bin.inside ? " is-chosen" : ""}`, tabindex: place ? "-1" : "0", style: `--share: ${bin.count / most}`,
      "data-key": `bin/${column.name}/${place}`, "aria-pressed": String(bin.inside),
      title: `${bin.label}: ${products(bin.count)}`, "aria-label": `${column.title} ${bin.label}: ${products(bin.count)}`,
      onpointerdown: () => { state.from = { column: column.name, place }; },
      onpointerup: () => { if (state.from?.column === column.name) pick(state.from.place, place); state.from = null; },
      // By keyboard or by a screen reader; a pointer has been answered already.
      onclick: (event) => { if (event.detail === 0) pick(place, place); },
      onkeydown: (event) => {
        // The table is drawn anew after each step, and the range still begins where Shift was pressed first.
        const from = state.anchor?.column === column.name ? state.anchor.place : place;
        const moved = roving(event, made, { along });
        if (moved) state.anchor = event.shiftKey ? { column: column.name, place: from } : null;
        if (moved && event.shiftKey) pick(from, made.indexOf(document.activeElement));
      },
    },
  ));
  return el("div", { class: "bins", role: "group", "aria-label": `${column.title}: distribution` }, ...made);
}

/** Whether the kernel knows the widget in this place; JupyterLab marks those that it does not know any more. */
const isConnected = (place) => !place.closest(".jupyter-widgets-disconnected");

/** JupyterLab notices that somebody restarts the kernel, but not that it has died, in which case it is restarted, too. */
function noticeDeath(manager) {
  const watch = (_, status) => { if (status === "autorestarting" || status === "dead") manager.disconnect?.(); };
  manager?.kernel?.statusChanged?.connect(watch);
  return () => manager?.kernel?.statusChanged?.disconnect(watch);
}

/** Show `view` now and whenever Python changes it. JupyterLab leaves the keys pressed inside to the widget. */
function live(name, draw) {
  return {
    render({ model, el: place }) {
      const root = el("div", { class: `live ${name}`, "data-lm-suppress-shortcuts": "true" });
      const lost = el("div", { role: "alert" });
      place.append(lost, root);
      // Returns whether the kernel can hear it. Where it cannot, that is said beside what was pressed.
      const tell = (action, values = {}) => {
        if (!isConnected(place)) {
          lost.className = "problem";
          lost.textContent = "Nothing was done: the kernel was restarted or stopped. Run the cell of this panel again.";
          lost.scrollIntoView({ block: "nearest" });
          return false;
        }
        model.send({ do: action, ...values });
        return true;
      };
      const state = {};
      const show = () => keepingFocus(root, () => draw(root, model.get("view"), tell, state));
      // An element that is replaced between the two halves of a click is not clicked, so drawing waits for the second.
      let [isPressed, isLate] = [false, false];
      const changed = () => { isLate = isPressed; if (!isPressed) show(); };
      const released = () => setTimeout(() => { isPressed = false; if (isLate) changed(); });
      root.addEventListener("pointerdown", () => { isPressed = true; });
      const ends = ["pointerup", "pointercancel"];
      ends.forEach((name) => document.addEventListener(name, released, true));
      const forget = noticeDeath(model.widget_manager);
      model.on("change:view", changed);
      show();
      return () => {
        forget();
        model.off("change:view", changed);
        ends.forEach((name) => document.removeEventListener(name, released, true));
      };
    },
  };
}
