// What only the form of a query has: a date with its time, and code to copy.

/** A date and a time in UTC: without a zone, since a browser shows a time with one in its own. */
CONTROLS.moment = (form, field, page, attributes) => {
  const read = (element) => (element.validity.badInput ? HALF_DATE : element.value);
  const typing = page.typing.attributes(attributes.key, valueOf(form, field, page), teller(form, field, page), { pause: null, read });
  return h("input", { type: "datetime-local", step: "any", ...attributes, ...typing, value: /^\d{4,}-/.test(typing.value) ? typing.value : "" });
};

/** Lines of a field for code at first; the others are reached by scrolling. */
const MOST_LINES = 18;

/** Text that is copied: Tab leads into it, and Ctrl+A selects all of it. */
register("code", (block) => h("textarea", {
  class: "code", readonly: true, dir: "ltr", spellcheck: "false", "aria-label": block.label,
  rows: String(Math.min(block.text.split("\n").length, MOST_LINES)), value: block.text,
}));
