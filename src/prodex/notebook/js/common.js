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

/** A whole number with separators, as everywhere in prodex. */
const whole = (number) => number.toLocaleString("en-US");

/** Draw, and leave the focus where it was: on the element of the same key, or of the first key there that is still shown. */
function keepingFocus(root, draw) {
  const before = root.contains(document.activeElement) ? document.activeElement : null;
  const key = before?.dataset.key;
  const [start, end] = [before?.selectionStart, before?.selectionEnd];
  draw();
  if (!key) return;
  const group = before.dataset.group;
  const find = (name, value) => (value ? root.querySelector(`[data-${name}="${CSS.escape(value)}"]`) : null);
  const after = find("key", key) ?? find("group", group) ?? find("key", before.dataset.fallback ?? "");
  after?.focus({ preventScroll: true });
  if (after && start !== undefined && start !== null && after.setSelectionRange) after.setSelectionRange(start, end);
}

/** Move the focus among elements with the arrow keys: one of them is reached with Tab. Returns whether the key was used. */
function roving(event, elements, { along = ["ArrowUp", "ArrowDown"] } = {}) {
  const place = elements.indexOf(event.target);
  const step = { [along[0]]: -1, [along[1]]: 1, Home: -Infinity, End: Infinity }[event.key];
  if (place < 0 || step === undefined || !elements.length) return false;
  const next = Math.max(0, Math.min(elements.length - 1, place + step));
  elements.forEach((one, at) => one.setAttribute("tabindex", at === next ? "0" : "-1"));
  elements[next].focus();
  event.preventDefault();
  return true;
}

/** Show `view` now and whenever Python changes it. JupyterLab leaves the keys pressed inside to the widget. */
function live(name, draw) {
  return {
    render({ model, el: place }) {
      const root = el("div", { class: `live ${name}`, "data-lm-suppress-shortcuts": "true" });
      place.append(root);
      const tell = (action, values = {}) => model.send({ do: action, ...values });
      const state = {};
      const show = () => keepingFocus(root, () => draw(root, model.get("view"), tell, state));
      model.on("change:view", show);
      show();
      return () => model.off("change:view", show);
    },
  };
}
