// All forms are data: a list of fields, each with its label tied to it and its error beside it.

/** What a field for dates is told to hold while it holds half of one: no browser says more. */
const HALF_DATE = "not a whole date";

/** Tell the kernel what a field holds: to the form, or to the action of the field itself. */
const teller = (form, field, page) => (value) => {
  page.state(`told/${form.key}/${field.key}`).value = value;
  return field.do ? page.post(field.do, { ...field.args, value }) : page.post("form.set", { form: form.key, field: field.key, value });
};

/** What stands in a field in which somebody types. What was refused stays there, to be corrected. */
const valueOf = (form, field, page) => (field.error && field.do ? page.state(`told/${form.key}/${field.key}`).value : null) ?? field.value ?? "";

/** A field that is complete with each change: it tells at once, and shows what was chosen until the kernel has it. */
function choose(name, value, tell, page) {
  page.typing.flush();
  page.typing.typed(name, value, tell);
  page.typing.send(name);
  page.redraw();
}

function textField(form, field, page, attributes, { type = "text", ...more } = {}) {
  const typing = page.typing.attributes(attributes.key, valueOf(form, field, page), teller(form, field, page), more);
  const list = field.suggestions?.length ? `${attributes.id}-list` : null;
  return [
    h("input", { type, list, autocomplete: "off", spellcheck: "false", placeholder: field.placeholder || null, dir: "auto", ...attributes, ...typing }),
    list ? h("datalist", { id: list }, field.suggestions.map((one) => h("option", { key: one, value: one }))) : null,
  ];
}

const CONTROLS = {
  text: textField,
  // Not of the type "number": a browser drops "0,5" without a word where its language writes a point.
  number: (form, field, page, attributes) => textField(form, field, page, { ...attributes, inputmode: "decimal" }),
  search: (form, field, page, attributes) => textField(form, field, page, attributes, { type: "search" }),
  folder: (form, field, page, attributes) => textField(form, field, page, { ...attributes, class: "path", dir: "ltr" }),
  date: (form, field, page, attributes) => {
    const read = (element) => (element.validity.badInput ? HALF_DATE : element.value);
    const [value, tell] = [valueOf(form, field, page), teller(form, field, page)];
    const typing = page.typing.attributes(attributes.key, value, tell, { pause: null, read });
    // A browser says nothing as long as only a part of a date is typed.
    const onblur = ({ target }) => {
      if (read(target) !== page.typing.shown(attributes.key, value)) page.typing.typed(attributes.key, read(target), tell, null);
      typing.onblur();
    };
    return h("input", { type: "date", ...attributes, ...typing, onblur, value: /^\d{4,}-/.test(typing.value) ? typing.value : "" });
  },
  long: (form, field, page, attributes) => h("textarea", {
    rows: "4", dir: "auto", placeholder: field.placeholder || null, ...attributes,
    ...page.typing.attributes(attributes.key, valueOf(form, field, page), teller(form, field, page), { isLong: true }),
  }),
  choice: (form, field, page, attributes) => {
    // A value of an option may be a number or none: what is told is the value itself.
    const options = field.options ?? [];
    const chosen = JSON.stringify(page.typing.shown(attributes.key, field.value));
    const at = options.findIndex((one) => JSON.stringify(one.value) === chosen);
    const change = (event) => choose(attributes.key, options[event.target.selectedIndex].value, teller(form, field, page), page);
    return h("select", { ...attributes, value: String(at), onchange: change }, options.map(
      (one, place) => h("option", { key: JSON.stringify(one.value), value: String(place) }, plain(one.label)),
    ));
  },
  /** Choices as buttons that stay pressed; a list of many is found by typing. */
  many: (form, field, page, attributes) => {
    const chosen = page.typing.shown(attributes.key, field.value) ?? [];
    const state = page.state(`many/${attributes.key}`, { sought: "" });
    const options = field.options ?? [];
    const fits = (one) => chosen.includes(one.value) || plain(one.label).toLowerCase().includes(state.sought.toLowerCase());
    const toggle = (value) => {
      const now = page.typing.shown(attributes.key, field.value) ?? [];
      const next = now.includes(value) ? now.filter((one) => one !== value) : [...now, value];
      choose(attributes.key, next, teller(form, field, page), page);
    };
    const find = options.length > 20 ? h("input", {
      type: "search", key: `${attributes.key}/find`, value: state.sought, placeholder: `find in ${whole(options.length)}`, "aria-label": `Find in ${field.label}`,
      oninput: (event) => { state.sought = event.target.value; page.redraw(); },
    }) : null;
    return h("div", { ...attributes, "aria-invalid": null, disabled: null, class: "many", role: "group", "aria-labelledby": `${attributes.id}-label` }, find, options.filter(fits).map((one) => h(
      "button",
      { type: "button", key: `${attributes.key}/${one.value}`, group: attributes.key, class: "button choice", "aria-pressed": String(chosen.includes(one.value)), disabled: attributes.disabled, onclick: () => toggle(one.value) },
      content(one.label),
    )));
  },
  tick: (form, field, page, attributes) => h("input", {
    type: "checkbox", ...attributes, checked: Boolean(page.typing.shown(attributes.key, field.value)),
    onchange: (event) => choose(attributes.key, event.target.checked, teller(form, field, page), page),
  }),
};

/** Ids tie labels, hints and errors to their field; they are unique among all panels of a document. */
function formField(form, field, page) {
  const key = `${form.key}/${field.key}`;
  const hint = field.off || field.hint;
  const id = `prodex-${page.id}-${key}`.replace(/[^\w-]/g, "_");
  const described = [hint ? `${id}-hint` : null, field.error ? `${id}-error` : null].filter(Boolean).join(" ");
  const attributes = {
    id, key, name: field.key, "aria-describedby": described || null, "aria-invalid": field.error ? "true" : null, disabled: Boolean(field.off),
  };
  const control = (CONTROLS[field.kind] ?? textField)(form, field, page, attributes);
  const isTick = field.kind === "tick";
  const label = h(field.kind === "many" ? "span" : "label", { class: "label", id: `${id}-label`, for: field.kind === "many" ? null : id }, content(field.label));
  return h(
    "div", { key: `field/${key}`, class: classes("field", `is-${field.kind}`, ["long", "many"].includes(field.kind) && "is-wide", field.look) },
    isTick ? h("div", { class: "tick" }, control, label) : [label, control],
    hint ? h("small", { class: "muted", id: `${id}-hint` }, content(hint)) : null,
    field.error ? h("div", { class: "problem", id: `${id}-error`, role: "alert" }, content(field.error)) : null,
  );
}

/** Return in a field of one line presses the first button of a form, where the form asks for it. */
const pressOnReturn = (block, act) => (event) => {
  const [first] = block.buttons;
  if (event.key === "Enter" && !event.isComposing && event.target.matches("input") && first && !first.off) act(first.do, first.args);
};

register("form", (block, act, page) => h(
  "div", {
    class: classes("form", block.look), role: "group", "aria-label": block.label || null,
    onkeydown: block.on_return ? pressOnReturn(block, act) : null,
  },
  block.fields.length ? h("div", { class: "fields" }, block.fields.map((field) => formField(block, field, page))) : null,
  block.buttons.length ? h("div", { class: "row" }, page.draw(block.buttons)) : null,
));
