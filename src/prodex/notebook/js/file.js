// A file for a colleague: the page of a panel, and in the place of its kernel what answers from the data of the file.

/** The JSON of a part of the file, which is compressed; null where the file has no such part. */
async function partOfFile(name) {
  const find = () => document.getElementById(`prodex-${name}`);
  // The first rows are shown while the browser still reads the rest of the file.
  if (!find() && document.readyState === "loading") await new Promise((done) => { document.addEventListener("DOMContentLoaded", done); });
  if (!find()) return null;
  const bytes = Uint8Array.from(atob(find().textContent), (one) => one.charCodeAt(0));
  const read = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(read).text());
}

/**
 * A value that was packed: what repeats is written once, and made anew for each place where it is. What is inside of it
 * has a number, or is so many before it.
 */
function unpacked(root, shapes, nodes) {
  const node = nodes(root);
  if (typeof node === "string") return node;
  if (!Array.isArray(node)) return node.v;
  const [shape, ...inside] = node;
  const made = inside.map((one) => unpacked(one < 0 ? root + one : one, shapes, nodes));
  return shape < 0 ? made : Object.fromEntries(shapes[shape].map((name, at) => [name, made[at]]));
}

/** What is packed in parts of the file, of which each is read when something of it is wanted. */
class FileParts {
  constructor(name, each) {
    Object.assign(this, { name, each, read: new Map(), common: null, problem: "" });
  }

  /** A function that makes what has a place; null until it is read: `onRead` is called then. */
  get(at, onRead) {
    const number = Math.floor(at / this.each);
    if (!this.read.has(number)) {
      this.read.set(number, null);
      this.load(number).catch((error) => { this.problem = `This part of the file cannot be read: ${error.message}.`; }).then(onRead);
    }
    return this.read.get(number)?.[at % this.each] ?? null;
  }

  async load(number) {
    this.common ??= partOfFile(this.name);
    const [{ shapes, nodes }, own] = await Promise.all([this.common, partOfFile(`${this.name}-${number}`)]);
    const node = (at) => (at < nodes.length ? nodes[at] : own.nodes[at - nodes.length]);
    this.read.set(number, own.roots.map((root) => () => unpacked(root, shapes, node)));
  }
}

/** What a widget has as its model: it takes actions in their order, and answers each with the view of now. */
class FileKernel {
  constructor(session, deeds, view) {
    Object.assign(this, { session, deeds, view, hearers: new Set(), revision: 0, taken: 0, page: "" });
  }

  send(message) {
    if (message.type === "open") this.page = message.page;
    else if (message.type === "act" && message.number > this.taken) {
      this.taken = message.number;
      this.change((session) => this.deeds[message.do]?.(session, message.args) ?? session);
    } else return;
    // Later, as the answer of a kernel is: whoever has pressed goes on first.
    setTimeout(() => this.show());
  }

  change(function_) {
    this.session = { ...this.session, ...function_(this.session) };
  }

  show() {
    this.revision += 1;
    const message = { type: "all", page: this.page, view: this.view(this.session), revision: this.revision, taken: this.taken };
    this.hearers.forEach((hear) => hear(message));
  }

  on(_, hear) { this.hearers.add(hear); }

  off(_, hear) { this.hearers.delete(hear); }
}

/** The theme of the system, which a panel has of its notebook; what is printed is light. */
function followSystem() {
  const dark = matchMedia("screen and (prefers-color-scheme: dark)");
  const follow = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; };
  dark.addEventListener("change", follow);
  follow();
}

async function openFile() {
  followSystem();
  const el = document.getElementById("prodex");
  try {
    const data = await partOfFile("data");
    panel.render({ model: { products: productsKernel, changes: changesKernel }[data.kind](data), el });
  } catch (error) {
    el.textContent = `This file cannot be shown: it is damaged, or this browser is older than 2023 (${error.message}).`;
  }
}

// Blocks, as Python makes them.

const fileButton = (label, act, more = {}, args = {}) => ({ kind: "button", key: more.key ?? act, label, do: act, args, ...more });
const fileText = (text, more = {}) => ({ kind: "text", key: more.key ?? "text", text, tone: "", ...more });
const fileRow = (key, look, blocks, kind = "row") => ({ kind, key, look, blocks: blocks.filter(Boolean) });
const fileForm = (key, look, fields, label = "") => ({ kind: "form", key, look, label, fields, buttons: [] });
const plural = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
const isolated = (text) => `\u2068${text}\u2069`;
