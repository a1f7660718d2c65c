// Colors of a template: keys, functions, types, strings, numbers and comments of a line of YAML or JSON.

const FUNCTIONS = new Set((
  "get_param get_attr get_resource get_file get_condition str_replace str_replace_strict str_replace_vstrict list_join str_split " +
  "repeat digest resource_facade map_merge map_replace yaql if equals not and or filter contains list_concat list_concat_unique " +
  "make_url Ref Condition"
).split(" "));
const QUOTED = { '"': /(?:[^"\\]|\\.)*"/uy, "'": /(?:[^']|'')*'(?!')/uy };
const KEY = /(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#'"{}[\],&*!|>%@`-][^#{}[\],]*?|-[^\s#{}[\],]+?)(?=\s*:(?:\s|$))/uy;
const PLAIN = /[^\s'"{}[\],#][^{}[\],]*?(?=\s+#|\s*$|\s*[{}[\],])|[^\s]/uy;
const BLOCK = /[|>][-+\d]{0,2}(?=\s*(?:#.*)?$)/uy;
const CONSTANT = /^(?:true|false|yes|no|on|off|null|~|[-+]?(?:\d[\d_]*)(?:\.\d+)?(?:e[-+]?\d+)?)$/iu;

export const START = Object.freeze({ block: -1, quote: "" });

function kindOfKey(word) {
  const plain = word.replace(/^["']|["']$/gu, "");
  return FUNCTIONS.has(plain) || plain.startsWith("Fn::") ? "function" : "key";
}

function kindOfPlain(word) {
  return CONSTANT.test(word) ? "constant" : /^\w+::/u.test(word) ? "type" : "string";
}

/**
 * Return the parts of a line, each with its kind, and the state for the next line.
 *
 * `state` says what continues from the line before: a block scalar below the column `block`, or a quoted string.
 */
export function colored(line, state) {
  const indent = line.search(/\S/u);
  if (state.block >= 0 && (indent < 0 || indent > state.block)) {
    return { parts: [["string", line]], next: state };
  }
  const parts = [];
  let [place, quote, block, column, atKey] = [0, state.quote, -1, -1, true];
  const match = (pattern) => {
    pattern.lastIndex = place;
    return pattern.exec(line)?.[0] ?? "";
  };
  const take = (kind, text) => {
    parts.push([kind, text]);
    place += text.length;
  };
  const takeQuoted = (opening) => {
    place += opening.length;
    const rest = match(QUOTED[quote]);
    place -= opening.length;
    take("string", rest ? opening + rest : line.slice(place));
    quote = rest ? "" : quote;
  };
  if (quote) {
    takeQuoted("");
    atKey = false;
  }
  while (place < line.length) {
    const letter = line[place];
    const alone = /^\s|^$/u.test(line.slice(place + 1, place + 2));
    let word;
    if (/\s/u.test(letter)) {
      take("", /^\s+/u.exec(line.slice(place))[0]);
    } else if (letter === "#" && (place === 0 || /\s/u.test(line[place - 1]))) {
      take("comment", line.slice(place));
    } else if ((letter === "-" || letter === "?") && alone && atKey) {
      column = place;
      take("", letter);
    } else if (atKey && (word = match(KEY))) {
      column = place;
      take(kindOfKey(word), word);
      atKey = false;
    } else if (letter === ":" || letter === "{" || letter === "[" || letter === "," || letter === "}" || letter === "]") {
      atKey = letter === "{" || letter === "," || letter === "[";
      take("", letter);
    } else if (letter === "!" || letter === "&" || letter === "*") {
      take(letter === "!" ? "function" : "type", /^\S+?(?=[\s,\]}]|$)/u.exec(line.slice(place))?.[0] ?? letter);
      atKey = false;
    } else if ((letter === "|" || letter === ">") && (word = match(BLOCK))) {
      take("", word);
      block = Math.max(column, 0);
    } else if (letter === '"' || letter === "'") {
      quote = letter;
      takeQuoted(letter);
      atKey = false;
    } else {
      word = match(PLAIN) || letter;
      take(kindOfPlain(word), word);
      atKey = false;
    }
  }
  return { parts, next: quote || block >= 0 ? { block, quote } : START };
}
