// Texts as Python describes them. What a supplier typed stands in its own direction, apart from our sentences.

const typed = (text) => h("bdi", { dir: "auto" }, text);

/** A text as `shown` of Python describes it: in full, folded, empty, or why there is none. */
function shownText(shown) {
  if (shown.gap) return [shown.text ? typed(shown.text) : null, h("span", { class: "gap", lang: "en" }, shown.gap)];
  if (!shown.note) return [typed(shown.text)];
  if (!shown.begin) return [typed(shown.text), h("small", { class: "muted", lang: "en" }, ` (${shown.note})`)];
  return [h(
    "details", { class: "typed" },
    h("summary", {}, h("span", { class: "begin" }, typed(shown.begin), " … "), h("span", { class: "muted", lang: "en" }, shown.note)),
    h("div", { class: "long", role: "group", "aria-label": "The whole text", tabindex: "0" }, typed(shown.text)),
  )];
}

/** What a view has as a text: a sentence of ours, a text of a supplier, or several of them in a row, also with buttons. */
function content(said, page = null) {
  if (said === null || said === undefined) return [];
  if (Array.isArray(said)) return said.flatMap((one) => content(one, page));
  if (typeof said !== "object") return [String(said)];
  return said.kind ? page.draw([said]) : shownText(said);
}

/** The same as one string, for labels that only screen readers and hints have. */
function plain(said) {
  if (said === null || said === undefined) return "";
  if (Array.isArray(said)) return said.map(plain).join("");
  return typeof said === "object" ? said.begin ?? said.text ?? said.gap : String(said);
}

/** A whole number with separators, as everywhere in prodex. */
const whole = (number) => number.toLocaleString("en-US");
