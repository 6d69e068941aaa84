// All forms are data: a list of fields, each with its label tied to it and its error beside it.

/** What a field for dates is told to hold while it holds half of one: no browser says more. */
const HALF_DATE = "not a whole date";

/** Tell the kernel what a field holds: to the form, or to the action of the field itself. */
const teller = (form, field, page) => (value) => (
  field.do ? page.post(field.do, { ...field.args, value }) : page.post("form.set", { form: form.name, field: field.name, value })
);

const optionsOf = (field) => (field.options ?? []).map((one) => (Array.isArray(one) ? { value: one[0], label: one[1] } : one));

/** A field that is complete with each change: it tells at once, and shows what was chosen until the kernel has it. */
function choose(name, value, tell, page) {
  page.typing.flush();
  page.typing.typed(name, value, tell);
  page.typing.send(name);
  page.redraw();
}

function textField(form, field, page, attributes, { type = "text", ...more } = {}) {
  const typing = page.typing.attributes(attributes.key, field.value ?? "", teller(form, field, page), more);
  return h("input", { type, autocomplete: "off", spellcheck: "false", placeholder: field.placeholder || null, dir: "auto", ...attributes, ...typing });
}

const CONTROLS = {
  text: textField,
  // Not of the type "number": a browser drops "0,5" without a word where its language writes a point.
  number: (form, field, page, attributes) => textField(form, field, page, { ...attributes, inputmode: "decimal" }),
  search: (form, field, page, attributes) => textField(form, field, page, attributes, { type: "search" }),
  folder: (form, field, page, attributes) => textField(form, field, page, { ...attributes, class: "path", dir: "ltr" }),
  date: (form, field, page, attributes) => {
    const read = (element) => (element.validity.badInput ? HALF_DATE : element.value);
    const typing = page.typing.attributes(attributes.key, field.value ?? "", teller(form, field, page), { pause: null, read });
    const type = field.time ? "datetime-local" : "date";
    return h("input", { type, ...attributes, ...typing, value: /^\d{4,}-/.test(typing.value) ? typing.value : "" });
  },
  long: (form, field, page, attributes) => h("textarea", {
    rows: String(field.rows ?? 4), dir: "auto", placeholder: field.placeholder || null, ...attributes,
    ...page.typing.attributes(attributes.key, field.value ?? "", teller(form, field, page), { isLong: true }),
  }),
  choice: (form, field, page, attributes) => {
    // A value of an option may be a number or none: what is told is the value itself.
    const options = optionsOf(field);
    const chosen = page.typing.shown(attributes.key, field.value);
    const at = options.findIndex((one) => one.value === chosen);
    const change = (event) => choose(attributes.key, options[event.target.selectedIndex].value, teller(form, field, page), page);
    return h("select", { ...attributes, value: String(at), onchange: change }, options.map(
      (one, place) => h("option", { key: String(one.value), value: String(place), disabled: Boolean(one.off) }, plain(one.label)),
    ));
  },
  /** Choices as buttons that stay pressed; a list of many is found by typing. */
  many: (form, field, page, attributes) => {
    const chosen = page.typing.shown(attributes.key, field.value) ?? [];
    const state = page.state(`many/${attributes.key}`, { sought: "" });
    const options = optionsOf(field);
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
    return h("div", { ...attributes, "aria-invalid": null, class: "many", role: "group", "aria-labelledby": `${attributes.id}-label` }, find, options.filter(fits).map((one) => h(
      "button",
      { type: "button", key: `${attributes.key}/${one.value}`, group: attributes.key, class: "button choice", "aria-pressed": String(chosen.includes(one.value)), title: one.title ?? null, onclick: () => toggle(one.value) },
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
  const key = `${form.name}/${field.name}`;
  const id = `prodex-${page.id}-${form.name}-${field.name}`.replace(/[^\w-]/g, "_");
  const described = [field.hint ? `${id}-hint` : null, field.error ? `${id}-error` : null].filter(Boolean).join(" ");
  const attributes = {
    id, key, name: field.name, "aria-describedby": described || null, "aria-invalid": field.error ? "true" : null, "aria-disabled": field.off ? "true" : null,
  };
  const control = (CONTROLS[field.kind] ?? textField)(form, field, page, attributes);
  const isTick = field.kind === "tick";
  const label = h(field.kind === "many" ? "span" : "label", { class: "label", id: `${id}-label`, for: field.kind === "many" ? null : id }, content(field.label));
  return h(
    "div", { key: `field/${key}`, class: classes("field", `is-${field.kind}`, ["long", "many"].includes(field.kind) && "is-wide", field.look) },
    isTick ? h("div", { class: "tick" }, control, label) : [label, control],
    field.hint ? h("small", { class: "muted", id: `${id}-hint` }, content(field.hint)) : null,
    field.error ? h("div", { class: "problem", id: `${id}-error`, role: "alert" }, content(field.error)) : null,
  );
}

register("form", (block, act, page) => h(
  "div", { class: classes("form", block.look), role: "group", "aria-label": block.label ?? null },
  h("div", { class: "fields" }, block.fields.map((field) => formField(block, field, page))),
  block.buttons?.length ? h("div", { class: "buttons" }, block.buttons.map((one) => button(one, act))) : null,
));
