// Which products of a file meet conditions: what `ProductFilter` of Python answers, of what Python has computed for it.

/** White space as Python knows it. */
const SPACE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const MARKS = "\u201c\u201d\u201e\u201f\u00ab\u00bb";
/** A phrase in quotation marks, of which the last may still be missing, or a word; a minus may precede either. */
const TOKEN = new RegExp(`(?<minus>-(?=[^${SPACE}]))?(?:"(?<phrase>[^"]*)"?|[${MARKS}](?<marked>[^${MARKS}]*)[${MARKS}]?|(?<word>[^${SPACE}]+))`, "gu");
const SPACES = new RegExp(`[${SPACE}]+`, "u");
/** What may be between two words of a phrase, in a text that is searched. */
const BETWEEN = /[\t\n\f\r \p{Z}\x0b\x1c-\x1f\x85]+/gu;
const UNIT_FACETS = ["unit", "packaging"];
const NAMES_UNITS = [...UNIT_FACETS, "column:is_consumer_unit", "column:packaging_code", "column:packaging"];

const wordsOf = (text) => text.split(SPACES).filter(Boolean);
const countOf = (mask) => mask.reduce((sum, one) => sum + one, 0);

/** The terms of a search, group by group: a product has to meet one term of each. */
function readSearch(typed) {
  const tokens = [];
  for (const { groups: { minus, phrase, marked, word } } of typed.matchAll(TOKEN)) {
    const quoted = phrase ?? marked;
    if (quoted === undefined && minus === undefined && ["AND", "OR", "NOT"].includes(word)) tokens.push(word);
    else {
      const text = quoted === undefined ? word : wordsOf(quoted).join(" ");
      if (text) tokens.push({ text, not: minus !== undefined });
    }
  }
  const groups = [];
  let [isJoined, isNegated] = [false, false];
  for (const token of tokens) {
    if (token === "NOT") isNegated = !isNegated;
    else if (typeof token === "string") [isJoined, isNegated] = [token === "OR", false];
    else {
      if (!groups.length || !isJoined) groups.push([]);
      groups.at(-1).push({ ...token, not: token.not !== isNegated });
      [isJoined, isNegated] = [false, false];
    }
  }
  return groups.length ? groups : tokens.map((one) => [{ text: one, not: false }]);
}

/** Returns whether a folded text has what somebody looks for. */
function holds(text, fold) {
  if (/\p{Surrogate}/u.test(text)) return () => false; // half of a character, which no text holds
  const folded = fold(text);
  if (!text.includes(" ")) return (one) => one.includes(folded);
  const phrase = wordsOf(folded).join(" ");
  return (one) => one.replace(BETWEEN, " ").includes(phrase);
}

class FileFilter {
  constructor(data) {
    this.data = data;
    this.size = data.ids.length;
    this.facets = new Map(data.facets.map((one) => [one.key, one]));
    this.masks = new Map();
    this.searched = { words: "", mask: null };
  }

  /** Text as it is compared: small letters without accents. */
  fold = (text) => {
    let folded = Array.from(text.normalize("NFKD"), (one) => one.toLowerCase()).join("");
    for (const [letter, letters] of this.data.letters) folded = folded.replaceAll(letter, letters);
    return folded.replace(/\p{M}+/gu, "");
  };

  /** A mask that Python has written as a text of 0 and 1. */
  mask(text) {
    if (!this.masks.has(text)) this.masks.set(text, Uint8Array.from(text, Number));
    return this.masks.get(text);
  }

  // What has words.

  /** Whether each of some labels has all words. */
  labelsWith(labels, words) {
    const folded = labels.map(this.fold);
    const groups = readSearch(words).map((group) => group.map((term) => [holds(term.text, this.fold), term.not]));
    return folded.map((label) => groups.every((group) => group.some(([has, not]) => has(label) !== not)));
  }

  found(words) {
    if (this.searched.words !== words) this.searched = { words, mask: this.search(words) };
    return this.searched.mask;
  }

  search(words) {
    const groups = readSearch(words).map((group) => group.map((term) => [this.containing(term.text), term.not]));
    return Uint8Array.from({ length: this.size }, (_, at) => Number(groups.every((group) => group.some(([mask, not]) => Boolean(mask[at]) !== not))));
  }

  containing(text) {
    const { texts, of, gtins } = this.data.search;
    const has = holds(text, this.fold);
    const hits = texts.map(has);
    const number = /^[0-9]+$/.test(text) ? text.replace(/^0+/, "") : "";
    return of.map((own, at) => own.some((one) => hits[one]) || Boolean(number && gtins[at]?.includes(number)));
  }

  // What products lack, which depends on the language and the units that other conditions name.

  /** Whether conditions say of which units they speak; that all but other units count says nothing new. */
  namesUnits({ groups, excluded }) {
    const isUsual = excluded.unit?.length === 1 && excluded.unit[0] === "false";
    return NAMES_UNITS.some((name) => groups[name] || (excluded[name] && !(name === "unit" && isUsual)));
  }

  /** The products that count where something is missing. */
  counted(conditions) {
    return this.namesUnits(conditions) ? null : this.mask(this.data.units.consumer);
  }

  missing(conditions, counted = this.counted(conditions)) {
    const { lists, labels, masks, titles } = this.data.missing;
    const spoken = conditions.groups.language ?? [];
    const language = spoken.length === 1 ? spoken[0] ?? "" : "";
    const asked = [...(conditions.groups.missing ?? []), ...(conditions.excluded.missing ?? [])];
    const codes = [...new Set([...(lists[language] ?? lists[""]), ...asked])].filter((code) => masks[code]);
    const own = codes.map((code) => this.mask(masks[code]).map((one, at) => (counted ? one & counted[at] : one)));
    const total = own.map(countOf);
    const there = codes.map((_, at) => at).filter((at) => total[at]).sort((one, other) => total[other] - total[one]);
    return {
      key: "missing", title: titles[language] ?? titles[""], codes: there.map((at) => codes[at]), labels: there.map((at) => labels[codes[at]]),
      asked: true, masks: there.map((at) => own[at]),
    };
  }

  /** The values of a facet under conditions. */
  facet(name, conditions) {
    return name === "missing" ? this.missing(conditions) : this.facets.get(name);
  }

  // What meets conditions.

  having(facet, codes) {
    const chosen = facet.codes.map((code) => codes.includes(code));
    if (facet.masks) return Uint8Array.from({ length: this.size }, (_, at) => Number(facet.masks.some((mask, number) => chosen[number] && mask[at])));
    return Uint8Array.from(facet.of, (own) => Number(typeof own === "number" ? chosen[own] : own.some((number) => chosen[number])));
  }

  /** Which products have one of the selected values, if there are any, and none of the excluded ones. */
  meeting(facet, { groups, excluded }) {
    const chosen = groups[facet.key] ? this.having(facet, groups[facet.key]) : new Uint8Array(this.size).fill(1);
    if (!excluded[facet.key]) return chosen;
    const out = this.having(facet, excluded[facet.key]);
    return chosen.map((one, at) => one & (1 - out[at]));
  }

  inRange(name, { least, greatest }) {
    const { values } = this.facets.get(name);
    return Uint8Array.from(values, (one) => Number(one !== null && (least === null || one >= least) && (greatest === null || one <= greatest)));
  }

  /**
   * The products that meet conditions; `without(name)` those that meet all but the ones of a facet: a product counts for
   * it when it misses no condition, or only that of the facet itself.
   */
  narrow(conditions) {
    const misses = new Int16Array(this.size);
    const missed = new Map();
    const add = (mask, name = null) => {
      mask.forEach((one, at) => { misses[at] += 1 - one; });
      if (name !== null) missed.set(name, mask.map((one) => 1 - one));
    };
    if (conditions.words) add(this.found(conditions.words));
    const names = new Set([...Object.keys(conditions.groups), ...Object.keys(conditions.excluded)]);
    names.forEach((name) => add(this.meeting(this.facet(name, conditions), conditions), name));
    Object.entries(conditions.ranges).forEach(([name, limits]) => add(this.inRange(name, limits), name));
    const mask = Uint8Array.from(misses, (one) => Number(one === 0));
    let ofAll = null;
    if (conditions.groups.missing && !this.namesUnits(conditions)) {
      // A kind of units that is chosen next is named then, so that what is missing is looked for in all of it.
      const lacking = this.meeting(this.missing(conditions, null), conditions);
      const own = missed.get("missing");
      ofAll = Uint8Array.from(misses, (one, at) => Number(one - own[at] + 1 - lacking[at] === 0));
    }
    const without = (name) => {
      if (ofAll && UNIT_FACETS.includes(name)) return ofAll;
      return missed.has(name) ? missed.get(name).map((one, at) => Number(misses[at] === one)) : mask;
    };
    return { mask, without };
  }

  /** The number of products with each value among some products. */
  counts(facet, among) {
    const width = facet.bins?.length ?? facet.codes.length;
    const counts = new Array(width).fill(0);
    if (facet.masks) return facet.masks.map((mask) => mask.reduce((sum, one, at) => sum + (one & among[at]), 0));
    facet.of.forEach((own, at) => {
      if (among[at]) for (const number of typeof own === "number" ? [own] : own) counts[number] += 1;
    });
    return counts;
  }

  /** The places of products in the order of the table: equal ones as in the catalogue, those without a value last. */
  ordered(mask, { column, descending }) {
    const places = [];
    mask.forEach((one, at) => { if (one) places.push(at); });
    const ranks = this.data.columns.find((one) => one.key === column)?.ranks;
    if (!ranks) return places;
    const last = (one, other) => Number(ranks[one] === 0) - Number(ranks[other] === 0);
    return places.sort((one, other) => last(one, other) || (descending ? ranks[other] - ranks[one] : ranks[one] - ranks[other]));
  }
}
