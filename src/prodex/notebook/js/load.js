// What only the form of a query has: a date with its time, and code to copy.

/** A date and a time in UTC: without a zone, since a browser shows a time with one in its own. */
CONTROLS.moment = (...given) => {
  const input = CONTROLS.date(...given);
  Object.assign(input.attributes, { type: "datetime-local", step: "any" });
  return input;
};

/** Lines of a field for code at first; the others are reached by scrolling. */
const MOST_LINES = 18;

/** Text that is copied: Tab leads into it, and Ctrl+A selects all of it. */
register("code", (block) => h("textarea", {
  class: "code", readonly: true, dir: "ltr", spellcheck: "false", "aria-label": block.label,
  rows: String(Math.min(block.text.split("\n").length, MOST_LINES)), value: block.text,
}));
