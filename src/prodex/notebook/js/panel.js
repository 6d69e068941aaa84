// One open page of a panel: it shows the view that the kernel sends, and tells the kernel what was typed and pressed.
//
// Each action has a number and is kept until the kernel has taken it, so that nothing is lost or done twice, whatever
// happens to messages on their way. Each patch names the revision that it changes; who has another asks for everything.

/** Milliseconds: until an action is sent again, until silence is said, and that a patch waits for the one before it. */
const AGAIN = 3000, SILENCE = 10_000, GAP = 400;
const GONE = "Nothing was done: the kernel was restarted or stopped. Run the cell of this panel again.";
const SILENT = "Nothing was done yet: the kernel does not answer. If it was restarted or stopped, run the cell of this panel again.";
const LOST = "This was not done, because it did not reach the kernel. Press it again.";
/** JupyterLab marks panels that its kernel does not know any more. */
const DISCONNECTED = ".jupyter-widgets-disconnected, .jp-widgets-disconnected";
const DARK = '[data-jp-theme-light="false"], .dark, [data-theme="dark"], body.vscode-dark, body.vscode-high-contrast, [data-vscode-theme-kind="vscode-dark"], [data-vscode-theme-kind="vscode-high-contrast"]';
const ENDS_OF_A_PRESS = ["pointerup", "pointercancel", "dragend", "contextmenu"];

const COMPONENTS = {};

/** Draw blocks of a kind with a component: a function of the block, `act` and the page that returns an element. */
const register = (kind, component) => { COMPONENTS[kind] = component; };

/** A view with one change. What does not change stays the same object, and is not drawn again. */
function changedAt(value, [name, ...rest], change) {
  if (name === undefined) return change[1];
  const copy = Array.isArray(value) ? [...value] : { ...value };
  if (rest.length || change.length > 1) copy[name] = changedAt(value[name], rest, change);
  else if (Array.isArray(copy)) copy.splice(name, 1);
  else delete copy[name];
  return copy;
}

/** The element in whose shadow or frame another one stands; null where there is none, or the frame is of another origin. */
const outsideOf = (one) => one.getRootNode().host ?? one.ownerDocument.defaultView?.frameElement ?? null;

class Page {
  constructor(model, place) {
    this.model = model;
    this.place = place;
    // Not of `crypto`, which a page that comes without TLS has only in part.
    this.id = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
    Object.assign(this, { view: null, revision: null, number: 0, isPressed: false, isLate: false });
    Object.assign(this, { kept: new Map(), early: new Map(), pieces: new Map(), pictures: new Map(), states: new Map() });
    Object.assign(this, { drawn: [], made: new WeakMap(), pressed: null, heard: Date.now(), asked: 0, asks: 0, said: null });
    this.act = (action, args = {}) => {
      this.typing.flush();
      return this.post(action, args) > 0;
    };
    this.root = document.createElement("div");
    this.root.className = "prodex mathjax_ignore";
    this.root.dataset.lmSuppressShortcuts = "true"; // JupyterLab leaves keys pressed inside to the panel
    this.typing = new Typing(() => this.tellState());
    place.append(this.root);
    place.classList.add("prodex-place");
    this.endings = [this.listen(), this.followTheme(), this.noticeDeath(model.widget_manager?.kernel)];
    this.open();
  }

  // What goes to the kernel.

  open() {
    this.asked = Date.now();
    this.asks += 1;
    this.model.send({ type: "open", page: this.id });
  }

  /** Send an action, without what was typed before. Returns its number, or 0 where it is certain that nobody is there. */
  post(action, args) {
    if (this.isGone()) {
      this.sayBeside(this.pressed, GONE);
      return 0;
    }
    this.unsay();
    this.wish = this.view?.focus?.wish ?? this.wish;
    const message = { type: "act", page: this.id, number: (this.number += 1), do: action, args, revision: this.revision };
    this.kept.set(message.number, { message, since: Date.now(), sent: Date.now(), beside: this.pressed });
    this.model.send(message);
    this.tellState();
    return message.number;
  }

  /** Whether the kernel is known to be gone. */
  isGone() {
    return this.place.closest(DISCONNECTED) !== null;
  }

  sendAgain(from, after = 0) {
    for (const [number, one] of this.kept) {
      if (number < from || Date.now() - one.sent < after) continue;
      one.sent = Date.now();
      this.model.send(one.message);
    }
  }

  /** Look after what was not answered. */
  look() {
    const now = Date.now();
    // A large catalogue takes its time: who asks more often only makes it longer.
    if (this.asked && now - this.asked >= AGAIN * Math.min(8, 2 ** (this.asks - 1))) this.open();
    this.sendAgain(0, AGAIN);
    const oldest = [...this.kept.values()][0];
    const isSilent = oldest && now - Math.max(oldest.since, this.heard) >= SILENCE;
    if (this.kept.size && this.isGone()) this.giveUp();
    else if (isSilent && !this.said) this.sayBeside(oldest.beside, SILENT);
  }

  giveUp() {
    const beside = [...this.kept.values()][0]?.beside ?? null;
    this.kept.clear();
    this.sayBeside(beside, GONE);
    this.tellState();
  }

  // What comes from the kernel.

  hear(message, buffers = []) {
    if (message.type === "piece") return this.takePiece(message);
    if (message.type === "picture") return this.takePicture(message, buffers[0]);
    if (message.type === "file") return this.takeFile(message, buffers[0]);
    if (message.type === "patch") return this.takePatch(message);
    if (message.type === "selected") return this.tellSelected(message.count);
    if (message.page !== this.id) return undefined;
    this.heard = Date.now();
    if (message.type === "all") this.takeAll(message);
    else if (message.type === "again") this.sendAgain(message.from);
    else if (message.type === "lost") this.takeLost(message.number);
    return undefined;
  }

  /** Change something of the widget: marimo runs the cells that use it when its page does, and not when Python does. */
  tellSelected(count) {
    if (this.model.get("told") >= count) return;
    this.model.set("told", count);
    this.model.save_changes();
  }

  takePiece({ id, at, of, text }) {
    const known = this.pieces.get(id) ?? new Map();
    this.pieces.set(id, known.set(at, text));
    if (known.size === of) {
      this.pieces.delete(id);
      this.hear(JSON.parse(Array.from({ length: of }, (_, place) => known.get(place)).join("")));
    } else if (this.pieces.size > 8) this.pieces.delete(this.pieces.keys().next().value);
  }

  takePicture({ id, mime }, buffer) {
    if (this.pictures.has(id)) return;
    this.pictures.set(id, URL.createObjectURL(new Blob([buffer], { type: mime })));
    this.root.querySelectorAll(`img[data-picture="${CSS.escape(id)}"]`).forEach((one) => { one.src = this.pictures.get(id); });
  }

  /** A file that the browser saves; as what kind, is said by its name alone: nothing of it is shown. */
  takeFile({ name }, buffer) {
    const href = URL.createObjectURL(new Blob([buffer], { type: "application/octet-stream" }));
    Object.assign(document.createElement("a"), { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
  }

  takeAll({ view, revision, taken }) {
    // An older answer may come after a newer one.
    if (this.revision !== null && revision < this.revision) return;
    Object.assign(this, { view, revision, asked: 0, asks: 0 });
    this.pieces.clear();
    this.forget(taken);
    this.takeEarly();
    this.show();
  }

  takePatch(patch) {
    if (this.revision !== null && patch.revision < this.revision) return;
    this.heard = Date.now();
    // Of the patches on one revision, the one that changes something is the one to go on with.
    if (patch.changes.length || !this.early.has(patch.base)) this.early.set(patch.base, patch);
    if (this.takeEarly()) this.show();
    // What is missing may only be late.
    if (this.early.size && !this.asked) setTimeout(() => { if (this.early.size && !this.asked) this.open(); }, GAP);
  }

  /** Apply the patches that fit, and forget those that come too late. */
  takeEarly() {
    let [patch, isTaken] = [null, false];
    while (this.revision !== null && (patch = this.early.get(this.revision))) {
      this.early.delete(this.revision);
      this.view = patch.changes.reduce((view, change) => changedAt(view, change[0], change), this.view);
      this.revision = patch.revision;
      this.forget(patch.taken?.[this.id] ?? 0);
      isTaken = true;
    }
    if (this.revision !== null) for (const base of this.early.keys()) if (base < this.revision) this.early.delete(base);
    return isTaken;
  }

  /** Forget the actions that were taken. */
  forget(taken) {
    for (const number of this.kept.keys()) if (number <= taken) this.kept.delete(number);
    // What was typed there is drawn from the view again, also where the view has not changed.
    if (this.typing.taken(taken)) this.made = new WeakMap();
    if (this.said?.textContent === SILENT) this.unsay();
  }

  takeLost(last) {
    const lost = [...this.kept].filter(([number]) => number <= last);
    lost.forEach(([number]) => this.kept.delete(number));
    const pressed = lost.filter(([number]) => !this.typing.lost(number));
    if (pressed.length) this.sayBeside(pressed[0][1].beside, LOST);
    this.tellState();
  }

  // What is shown.

  /** Draw, unless somebody is pressing: what is replaced between the two halves of a click is not clicked. */
  show() {
    this.isLate = this.isPressed;
    if (!this.isPressed && this.view !== null) {
      const before = this.drawn;
      this.drawn = [
        h("div", { key: "head", class: "page-head" }, this.draw(this.view.head)),
        h("div", { key: `section/${this.view.section}`, class: `page-body section-${this.view.section}` }, this.draw(this.view.blocks)),
      ];
      drawInto(this.root, before, this.drawn);
      this.fulfil();
    }
    this.tellState();
  }

  /** Put the focus into the block where the kernel wishes it: once, and not any more after something else was pressed. */
  fulfil() {
    const { key, wish } = this.view.focus ?? {};
    // What was wished before this page was open was for another one.
    this.wish ??= wish ?? 0;
    const block = wish > this.wish ? this.root.querySelector(`[data-block="${CSS.escape(key)}"]`) : null;
    if (!block) return;
    this.wish = wish;
    const place = block.querySelector("[data-wished]") ?? block;
    (place.querySelector('[tabindex="0"]') ?? place.querySelector(REACHED) ?? place).focus();
  }

  /** Draw everything again, with what only the browser knows: which fold is open, which row was reached. */
  redraw() {
    this.made = new WeakMap();
    this.show();
  }

  /** Elements of blocks. One that has not changed is the one that was drawn before. */
  draw(blocks) {
    return (blocks ?? []).map((block) => {
      if (!this.made.has(block)) this.made.set(block, this.make(block));
      return this.made.get(block);
    });
  }

  make(block) {
    let made = null;
    try {
      const component = COMPONENTS[block.kind];
      if (!component) throw new Error(`no component draws "${block.kind}"`);
      made = component(block, this.act, this);
    } catch (error) { // one part that cannot be drawn takes nothing else with it
      console.error(error);
      made = h("p", { class: "problem", role: "alert" }, `This part could not be drawn: ${error.message}.`);
    }
    if (made === null) return null;
    made.key = `${block.kind}/${block.key}`;
    made.attributes["data-block"] = block.key ?? "";
    return made;
  }

  /** What only the browser knows of a part of this name, to be changed at will. */
  state(name, begin = {}) {
    if (!this.states.has(name)) this.states.set(name, begin);
    return this.states.get(name);
  }

  /** Attributes of an <img> that shows a picture which the kernel has sent, or will send. */
  picture(id) {
    return { "data-picture": id, src: this.pictures.get(id) ?? null };
  }

  /** Say something beside what was pressed, outside of what is drawn. */
  sayBeside(pressed, sentence) {
    this.unsay();
    this.said = document.createElement("div");
    this.said.className = "problem is-beside";
    this.said.setAttribute("role", "alert");
    const near = pressed?.isConnected ? pressed.closest("[data-block]") ?? pressed : null;
    if (near && near !== this.root) near.after(this.said);
    else this.root.prepend(this.said);
    this.said.textContent = sentence;
    this.said.scrollIntoView({ block: "nearest" });
  }

  unsay() {
    this.said?.remove();
    this.said = null;
  }

  /** Say in the document how much is under way, for styles and tests. */
  tellState() {
    const underWay = this.kept.size + this.typing.unsent + Number(this.isLate) + Number(this.view === null);
    this.root.dataset.underWay = String(underWay);
    this.root.dataset.revision = String(this.revision);
  }

  // What the page listens to.

  listen() {
    const hear = (message, buffers) => this.hear(message, buffers);
    const timer = setInterval(() => this.look(), 500);
    const released = () => setTimeout(() => {
      this.isPressed = false;
      if (this.isLate) this.show();
    });
    const left = (event) => {
      this.typing.flush();
      // A page that the browser keeps to go back to is still there.
      if (!event.persisted) this.model.send({ type: "closed", page: this.id });
    };
    let firstClick = 0;
    this.root.addEventListener("pointerdown", (event) => {
      this.pressed = event.target;
      // A list that opens hears nothing of the end of the press.
      this.isPressed = event.button === 0 && !event.target.closest("select");
    }, true);
    this.root.addEventListener("mousedown", (event) => {
      // Nor does it take the focus away from what the first one has opened.
      if (event.detail > 1 && focused(this.root)?.[BORN] > firstClick) event.preventDefault();
    }, true);
    let held = null;
    this.root.addEventListener("keydown", (event) => {
      this.pressed = event.target;
      if (!event.repeat) held = event.target;
      // A key that is held presses what it was pressed on, and never what has the focus since then: "Yes, send" after "Send".
      else if (["Enter", " "].includes(event.key) && event.target !== held) {
        event.stopPropagation();
        event.preventDefault();
      }
    }, true);
    this.root.addEventListener("click", (event) => {
      if (event.detail === 1) firstClick = performance.now();
      // The second half of a double click never presses what the first one has brought under the pointer.
      const button = event.target.closest("button, a, input");
      if (event.detail > 1 && button?.[BORN] > firstClick) {
        event.stopPropagation();
        event.preventDefault();
      }
    }, true);
    ENDS_OF_A_PRESS.forEach((name) => document.addEventListener(name, released, true));
    window.addEventListener("blur", released);
    window.addEventListener("pagehide", left);
    this.model.on("msg:custom", hear);
    return () => {
      clearInterval(timer);
      ENDS_OF_A_PRESS.forEach((name) => document.removeEventListener(name, released, true));
      window.removeEventListener("blur", released);
      window.removeEventListener("pagehide", left);
      this.model.off("msg:custom", hear);
    };
  }

  /** Follow the theme of the notebook, also out of a shadow (marimo) and a frame (VS Code), where selectors do not see it. */
  followTheme() {
    const follow = () => {
      let dark = false;
      for (let one = this.root; one && !dark; one = outsideOf(one)) dark = one.closest(DARK) !== null;
      this.root.classList.toggle("is-dark", dark);
    };
    const watch = new MutationObserver(follow);
    const attributes = { attributes: true, attributeFilter: ["class", "data-theme", "data-jp-theme-light", "data-vscode-theme-kind"] };
    for (let one = this.place; one; one = outsideOf(one)) {
      const { documentElement, body } = one.ownerDocument;
      [documentElement, body].forEach((other) => watch.observe(other, attributes));
    }
    follow();
    return () => watch.disconnect();
  }

  /** JupyterLab marks not all panels of a kernel that somebody restarts, and none of one that has died and is restarted. */
  noticeDeath(kernel) {
    const watch = (_, status) => {
      if (["restarting", "autorestarting", "dead"].includes(status)) this.place.classList.add("jupyter-widgets-disconnected");
    };
    kernel?.statusChanged?.connect(watch);
    return () => kernel?.statusChanged?.disconnect(watch);
  }

  close() {
    this.typing.flush();
    if (!this.isGone()) {
      this.sendAgain(0);
      this.model.send({ type: "closed", page: this.id });
    }
    this.endings.forEach((end) => end());
    this.pictures.forEach((url) => URL.revokeObjectURL(url));
    this.root.remove();
  }
}

/** What a widget has as its script: drawing it once for each place where it is shown. */
const panel = {
  render({ model, el }) {
    const page = new Page(model, el);
    return () => page.close();
  },
};
