// Elements as values, and the document changed in place to look like them: elements that stay keep focus, scroll and selection.
// Nothing here ever parses markup. A text is a text node, whoever typed it.

const SVG = "http://www.w3.org/2000/svg";
/** What a person changes, too: it is compared with what the element has now, and not with what was drawn last. */
const CHANGED_BY_PEOPLE = new Set(["value", "checked", "selected", "indeterminate", "tabindex"]);
/** What can have the focus. */
const REACHED = "button, input, select, textarea, summary, a[href], [tabindex]";
const HANDLERS = Symbol("handlers"), BORN = Symbol("born"), ASSIGNED = Symbol("assigned");
/** True while the document is changed: events that this causes are not those of a person. */
let isDrawing = false;
/** What is called when all of it is in the document, where it can be measured. */
const whenDrawn = [];

const textOf = (text) => ({ tag: null, key: null, text: String(text), node: null });

/**
 * Say what an element should be. Attributes that are null or false are left out, and so are children.
 *
 * `key` finds the same element again among its siblings, and `fallback` and `group` name where the focus goes if it is gone.
 * A handler is `onclick` and so on. `drawn(element)` is called after each drawing, `gone(element)` before it is removed.
 */
function h(tag, attributes, ...children) {
  const { key = null, ...rest } = attributes ?? {};
  if (key !== null) rest["data-key"] = key;
  for (const name of ["group", "fallback"]) {
    if (rest[name] !== undefined) rest[`data-${name}`] = rest[name];
    delete rest[name];
  }
  const inside = children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false && one !== true);
  return { tag, key, attributes: rest, children: inside.map((one) => (typeof one === "object" ? one : textOf(one))), node: null };
}

function setHandler(node, name, handler) {
  const handlers = (node[HANDLERS] ??= {});
  if (!(name in handlers)) {
    node.addEventListener(name, (event) => (isDrawing ? undefined : handlers[name]?.(event)));
  }
  handlers[name] = typeof handler === "function" ? handler : null;
}

/** Give a field its value, unless it has it: assigning would move the caret. A browser has its own line ends and dates. */
function setValue(node, value) {
  const [given, got] = node[ASSIGNED] ?? [];
  if (given === value && node.value === got) return;
  if (node.value !== value) node.value = value;
  node[ASSIGNED] = [value, node.value];
}

function setAttribute(node, name, value) {
  const isAbsent = value === null || value === undefined || value === false;
  if (name.startsWith("on")) setHandler(node, name.slice(2), value);
  else if (name === "drawn" || name === "gone") return;
  else if (name === "value" && "selectionStart" in node) setValue(node, isAbsent ? "" : String(value));
  else if (name === "value" && node.localName === "select") setValue(node, isAbsent ? "" : String(value));
  else if (["checked", "selected", "indeterminate"].includes(name)) node[name] = !isAbsent;
  // A rule of security of a host may forbid the attribute, but not the property.
  else if (name === "style") node.style.cssText = isAbsent ? "" : value;
  // Addresses come from suppliers as well.
  else if (isAbsent || (name === "href" && !/^(https?:|mailto:|blob:|#)/i.test(value))) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value === true ? "" : value)) node.setAttribute(name, value === true ? "" : value);
}

function setAttributes(node, before, after) {
  for (const name of Object.keys(before)) if (!(name in after)) setAttribute(node, name, null);
  for (const [name, value] of Object.entries(after)) {
    if (value !== before[name] || CHANGED_BY_PEOPLE.has(name)) setAttribute(node, name, value);
  }
}

/** A list has its value only once it has its options, so children are first. */
function fill(node, before, after) {
  patchChildren(node, before?.children ?? [], after.children);
  setAttributes(node, before?.attributes ?? {}, after.attributes);
  if (after.attributes.drawn) whenDrawn.push(() => after.attributes.drawn(node));
}

function create(wanted, parent) {
  if (wanted.tag === null) return (wanted.node = document.createTextNode(wanted.text));
  const isDrawn = wanted.tag === "svg" || (parent.namespaceURI === SVG && parent.localName !== "foreignObject");
  const node = isDrawn ? document.createElementNS(SVG, wanted.tag) : document.createElement(wanted.tag);
  wanted.node = node;
  node[BORN] = performance.now();
  // The kind of a field decides which values it takes.
  if (wanted.attributes.type) node.setAttribute("type", wanted.attributes.type);
  fill(node, null, wanted);
  return node;
}

function patch(before, after) {
  if (before === after) return;
  const node = (after.node = before.node);
  if (after.tag !== null) fill(node, before, after);
  else if (before.text !== after.text) node.data = after.text;
}

function remove(drawn) {
  const leave = (one) => {
    one.attributes?.gone?.(one.node);
    one.children?.forEach(leave);
  };
  leave(drawn);
  drawn.node.remove();
}

const identity = (one) => (one.key === null ? one.tag : `${one.tag} ${one.key}`);

/** The places of the longest run of rising numbers: what has these places stays, and all else is moved around it. */
function risingRun(numbers) {
  const ends = [], before = [];
  numbers.forEach((number, at) => {
    if (number < 0) return;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]] < number) low = middle + 1;
      else high = middle;
    }
    before[at] = ends[low - 1];
    ends[low] = at;
  });
  const run = new Set();
  for (let at = ends.at(-1); at !== undefined; at = before[at]) run.add(at);
  return run;
}

/** Make the children what they should be. Nodes that a host has put between them (anchors into headings) are left alone. */
function patchChildren(parent, before, after) {
  const free = new Map();
  before.forEach((one, at) => {
    if (free.has(identity(one))) free.get(identity(one)).push(at);
    else free.set(identity(one), [at]);
  });
  for (const places of free.values()) places.reverse();
  const from = after.map((one) => free.get(identity(one))?.pop() ?? -1);
  let next = before.at(-1)?.node.nextSibling ?? null;
  for (const places of free.values()) places.forEach((at) => remove(before[at]));
  const staying = risingRun(from);
  for (let at = after.length - 1; at >= 0; at -= 1) {
    const wanted = after[at];
    if (from[at] < 0) create(wanted, parent);
    else patch(before[from[at]], wanted);
    // A host may have taken a node out as well.
    if (!staying.has(at) || wanted.node.parentNode !== parent) {
      parent.insertBefore(wanted.node, next?.parentNode === parent ? next : null);
    }
    next = wanted.node;
  }
}

/** The element with the focus, which a page inside a shadow keeps to itself. */
const focused = (root) => {
  const active = root.getRootNode().activeElement;
  return active && active !== root && root.contains(active) ? active : null;
};

/** Where the focus goes whose element is gone: what it named, nearest first, or what is left of the block around it. */
function successor(gone, trail, root) {
  const { key, fallback, group } = gone.dataset;
  const named = [["key", key], ["key", fallback], ["block", fallback], ["group", group]].filter(([, value]) => value);
  const left = trail.filter((one) => root.contains(one));
  const found = left.flatMap((place) => named.map(([name, value]) => place.querySelector(`[data-${name}="${CSS.escape(value)}"]`)));
  const next = found.find(Boolean) ?? left.find((one) => one.dataset.block !== undefined) ?? root;
  const reached = next.matches(REACHED) ? next : found.includes(next) ? next.querySelector(REACHED) ?? next : next;
  if (!reached.matches(REACHED)) reached.setAttribute("tabindex", "-1");
  return reached;
}

/** Draw the children of a root; whoever types, reads or stands somewhere in it stays there. */
function drawInto(root, before, after) {
  const active = focused(root);
  const trail = [];
  for (let one = active?.parentElement; one && trail.at(-1) !== root; one = one.parentElement) trail.push(one);
  // A field for dates has no selection.
  const [start, end] = [active?.selectionStart ?? null, active?.selectionEnd ?? null];
  // A part that draws its own inside, such as the rows of a table, does so while the page is drawn.
  const wasDrawing = isDrawing;
  isDrawing = true;
  try {
    patchChildren(root, before, after);
    whenDrawn.splice(0).forEach((call) => call());
    if (active && !focused(root)) {
      const to = root.contains(active) ? active : successor(active, trail, root);
      to.focus({ preventScroll: true });
      if (to === active && start !== null) active.setSelectionRange(start, end);
    }
  } finally {
    isDrawing = wasDrawing;
  }
}
