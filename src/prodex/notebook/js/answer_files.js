// Files that are chosen in a page: sent piece by piece, in their order, as all that is typed and pressed.

/** Bytes of a piece: a multiple of three, so that pieces in base64 can be put together. */
const PIECE = 600_000;

async function sendFiles(files, block, page) {
  const batch = `${page.id}-${Date.now()}`;
  const chosen = await Promise.all(files.map(async (one) => ({ name: one.name, bytes: new Uint8Array(await one.arrayBuffer()) })));
  const total = chosen.reduce((sum, one) => sum + one.bytes.length, 0);
  chosen.forEach(({ name, bytes }, file) => {
    for (let at = 0; at === 0 || at < bytes.length; at += PIECE) {
      const letters = Array.from(bytes.subarray(at, at + PIECE), (byte) => String.fromCharCode(byte));
      const isLast = file === chosen.length - 1 && at + PIECE >= bytes.length;
      page.post(block.do, { batch, file, name, content: btoa(letters.join("")), total, is_last: isLast });
    }
  });
}

/** A button like all others; the field behind it can be reached by screen readers and the keyboard as well. */
register("files", (block, act, page) => h(
  "label", { class: "files button" }, content(block.label),
  h("input", {
    type: "file", key: `${block.key}/input`, class: "sr", multiple: true, accept: block.accept, "aria-label": plain(block.label),
    onchange: (event) => {
      const files = [...event.target.files];
      event.target.value = ""; // the same files can be chosen again, once they were changed
      if (files.length) sendFiles(files, block, page);
    },
  }),
));
