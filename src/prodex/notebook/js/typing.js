// What is typed belongs to the browser until the kernel has taken it: a patch that comes meanwhile does not overwrite it.

/** Milliseconds after the last key. */
const PAUSE = 300;

class Typing {
  /** @param {() => void} changed called when there is more or less to be sent. */
  constructor(changed) {
    this.changed = changed;
    this.fields = new Map();
    this.isByKey = false;
  }

  /** How many fields hold something that was not sent. */
  get unsent() {
    return [...this.fields.values()].filter((one) => one.number === null).length;
  }

  /** What a field shows: what was typed in it, and otherwise what the view has. */
  shown(name, value) {
    return this.fields.has(name) ? this.fields.get(name).value : value;
  }

  /** Keep what was typed; `send` tells it to the kernel, and returns the number of its message (0: nobody is there). */
  typed(name, value, send, pause = PAUSE) {
    clearTimeout(this.fields.get(name)?.timer);
    const timer = pause === null ? null : setTimeout(() => this.send(name), pause);
    this.fields.delete(name); // what was typed last is sent last
    this.fields.set(name, { value, send, timer, number: null });
    this.changed();
  }

  send(name) {
    const field = this.fields.get(name);
    if (!field || field.number !== null) return;
    clearTimeout(field.timer);
    field.number = field.send(field.value) || null;
    this.changed();
  }

  /** Send all that was typed: before anything is pressed, so that a press sees it. */
  flush() {
    [...this.fields.keys()].forEach((name) => this.send(name));
  }

  /** Whether the kernel has taken something since: then the view has it, or has made something else of it. */
  taken(number) {
    const done = [...this.fields].filter(([, field]) => field.number !== null && field.number <= number);
    done.forEach(([name]) => this.fields.delete(name));
    return done.length > 0;
  }

  /** Send again what has not arrived; whether it was something typed. */
  lost(number) {
    const name = [...this.fields].find(([, field]) => field.number === number)?.[0];
    if (name === undefined) return false;
    this.fields.get(name).number = null;
    this.send(name);
    return true;
  }

  /**
   * The attributes of a field in which somebody types: it tells at a pause, at Return and when it is left.
   *
   * `read` makes a value of the element. With `pause` null it waits for Return, leaving or a choice by pointer:
   * a date is complete at every digit of its year. With `isLong`, Return is a new line.
   */
  attributes(name, value, send, { pause = PAUSE, isLong = false, read = (element) => element.value } = {}) {
    const note = (event) => this.typed(name, read(event.target), send, event.isComposing ? null : pause);
    return {
      value: this.shown(name, value),
      oninput: note,
      oncompositionend: note,
      onkeydown: (event) => {
        this.isByKey = event.key !== "Enter";
        if (event.key === "Enter" && !isLong && !event.isComposing) this.send(name);
      },
      onpointerdown: () => { this.isByKey = false; },
      onchange: () => { if (pause !== null || !this.isByKey) this.send(name); },
      onblur: () => this.send(name),
    };
  }
}
