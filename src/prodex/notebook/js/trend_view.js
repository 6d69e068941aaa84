// Charts of numbers that the kernel sends: a course in steps, and bars of shares. Places are from 0 to 1, words are ready to show.

const [WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM] = [640, 210, 64, 24, 18, 26];
const across = (x) => LEFT + x * (WIDE - LEFT - RIGHT);
const above = (y) => HIGH - BOTTOM - y * (HIGH - TOP - BOTTOM);

/** A picture of its own for screen readers; its data is in the table below it. */
const chartOf = (title, high, ...inside) => h(
  "svg", { class: "chart", viewBox: `0 0 ${WIDE} ${high}`, role: "img", "aria-label": `${title}; the data is in the table below` }, inside,
);

/** Between two moments a number stays the same. Of labels that would meet, the newer one is written. */
register("steps", (block) => {
  const course = block.points.map((one, at) => (at ? `H${across(one.x)}V${above(one.y)}` : `M${across(one.x)} ${above(one.y)}`)).join("");
  let next = Infinity;
  const labelled = block.points.map((one, at) => ({ ...one, at })).reverse().filter((one) => {
    const half = one.words.length * 4;
    if (!one.words || across(one.x) + half > next) return false;
    next = across(one.x) - half;
    return true;
  });
  const last = block.along.length - 1;
  return chartOf(
    block.title, HIGH,
    block.up.map((tick) => h("g", { key: `up ${tick.words}` },
      h("line", { class: "rule", x1: LEFT, x2: WIDE - RIGHT, y1: above(tick.at), y2: above(tick.at) }),
      h("text", { x: LEFT - 8, y: above(tick.at) + 4, "text-anchor": "end" }, tick.words))),
    block.along.map((tick, at) => h(
      "text", { x: across(tick.at), y: HIGH - 6, "text-anchor": last && at === last ? "end" : at ? "middle" : "start" }, tick.words,
    )),
    h("path", { class: "course", d: course }),
    block.points.map((one) => h("circle", { class: "point", cx: across(one.x), cy: above(one.y), r: 4 }, h("title", {}, one.hint))),
    labelled.map((one) => h("text", { key: `label ${one.at}`, class: "label", x: across(one.x), y: above(one.y) - 8, "text-anchor": "middle" }, one.words)),
  );
});

/** All bars have the same length: they show shares. */
register("stacks", (block) => {
  const [line, begin] = [30, 120];
  const wide = WIDE - begin - RIGHT;
  const high = block.rows.length * line + 26;
  return chartOf(
    block.title, high,
    block.rows.map((row, place) => {
      let left = begin;
      return h("g", { key: row.key },
        h("text", { x: begin - 8, y: place * line + 19, "text-anchor": "end" }, row.label),
        row.parts.map((part, at) => {
          const [x, width] = [left, part.share * wide];
          left += width;
          return h("g", {},
            h("rect", { class: `grade g${at}`, x, y: place * line + 4, width, height: line - 8 }, h("title", {}, part.hint)),
            part.words ? h("text", { class: `on g${at}`, x: x + width / 2, y: place * line + 19, "text-anchor": "middle" }, part.words) : null);
        }));
    }),
    block.names.map((name, at) => h("g", { key: `name ${name}` },
      h("rect", { class: `grade g${at}`, x: begin + at * 60, y: high - 18, width: 14, height: 12 }),
      h("text", { x: begin + at * 60 + 20, y: high - 8 }, name))),
  );
});
