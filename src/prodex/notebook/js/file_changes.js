// What changed between two catalogues, in a file: by cause, by attribute and by group, with old and new values.

function changesKernel(data) {
  const values = new FileParts("values", data.each);
  const choiceOf = ({ what }) => data.choices.find((one) => JSON.stringify(one.value) === what) ?? data.choices[0];

  const lines = (choice, first) => {
    if (choice.products) return choice.products.slice(first, first + data.size);
    const read = choice.rows.slice(first, first + data.size).map((at) => values.get(at, () => kernel.show()));
    return read.includes(null) ? null : read.map((make) => make());
  };

  const valuesBlocks = (session) => {
    const choice = choiceOf(session);
    const many = (choice.products ?? choice.rows).length;
    const noun = choice.products ? "product" : "changed value";
    const rows = lines(choice, session.first);
    const options = data.choices.map(({ value, label }) => ({ value, label }));
    const field = { kind: "choice", key: "what", label: "Changes of", value: choice.value, options, do: "comparison.show" };
    const turn = (label, key, first, off) => fileButton(label, "comparison.turn", { key, off }, { first });
    const [last, more] = [Math.min(session.first + data.size, many), many < choice.every ? ` (${whole(choice.every)} in all)` : ""];
    return [
      { kind: "heading", key: "values-title", text: "Changed values", level: 2 },
      fileRow("values-bar", "", [
        fileForm("changes", "", [field]),
        fileRow("values-pages", "pager", [
          fileText(many ? `${whole(session.first + 1)} to ${whole(last)} of ${plural(many, noun)}${more}` : `no ${noun}s`, { key: "summary", tone: "status" }),
          many > data.size ? turn("Previous", "previous", Math.max(0, session.first - data.size), session.first ? "" : "This is the first page") : null,
          many > data.size ? turn("Next", "next", session.first + data.size, last < many ? "" : "This is the last page") : null,
        ]),
      ]),
      rows === null
        ? fileText(values.problem || "Reading the values …", { key: "reading", tone: values.problem ? "problem" : "muted" })
        : { kind: "table", key: "values", label: "Old and new values", columns: choice.columns ?? data.columns, rows, empty: "No value has changed.", sort: "", look: "" },
    ];
  };

  const view = (session) => {
    const groups = { kind: "switch", key: "by", label: "Groups", value: session.by, options: Object.entries(data.by).map(([name, title]) => ({ name, title })), do: "comparison.by", argument: "by" };
    return {
      section: "changes", title: "What changed", focus: session.focus, head: data.head,
      blocks: [...data.blocks, ...valuesBlocks(session), ...data.audits, { kind: "heading", key: "groups-title", text: "Groups with most changes", level: 2 }, groups, data.groups[session.by]],
    };
  };

  const kernel = new FileKernel({ what: "", first: 0, by: Object.keys(data.by)[0], focus: { key: "", wish: 0 } }, {
    // Whoever presses a cause, far above, is brought to its values.
    "comparison.show": ({ focus }, { value }) => ({ what: JSON.stringify(value), first: 0, focus: { key: "values-bar", wish: focus.wish + 1 } }),
    "comparison.turn": (_, { first }) => ({ first }),
    "comparison.by": (_, { by }) => ({ by }),
  }, view);
  return kernel;
}
