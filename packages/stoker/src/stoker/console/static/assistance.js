// Completion and descriptions in the editor. The list belongs to the field: the focus never leaves it.

import { sizeOf } from "./documents.js";

const AFTER_TYPING = 120; // milliseconds
const AFTER_POINTING = 500;
const OPENS = /[\w.:!$[{/-]$|: $/u;

/** Return the number of characters (as the service counts them) before a place in a string. */
function characters(text, place) {
  return [...text.slice(0, place)].length;
}

/** Return the place in a string that has a number of characters before it. */
function placeOf(text, count) {
  return [...text].slice(0, count).join("").length;
}

/** Return nodes for a line of Markdown: code, bold and emphasis. */
function inline(line) {
  return line.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*]+\*)/u).map((part) => {
    const [mark, tag] = [["`", "code"], ["**", "strong"], ["*", "em"]].find(([edge]) => part.length > 2 && part.startsWith(edge) && part.endsWith(edge)) ?? [];
    if (!tag) {
      return document.createTextNode(part);
    }
    const node = document.createElement(tag);
    node.textContent = part.slice(mark.length, -mark.length);
    return node;
  });
}

function markdown(text) {
  return text.split("\n\n").map((paragraph) => {
    const code = /^```\w*\n([\s\S]*?)\n?```$/u.exec(paragraph);
    const node = document.createElement(code ? "pre" : "p");
    node.append(...(code ? [code[1]] : inline(paragraph)));
    return node;
  });
}

/** Return measures of the characters of a field; all have the same width. */
function measures(text) {
  const style = getComputedStyle(text);
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.font = `${style.fontSize} ${style.fontFamily}`;
  return {
    width: canvas.measureText("0".repeat(100)).width / 100,
    height: parseFloat(style.lineHeight),
    left: parseFloat(style.paddingLeft),
    top: parseFloat(style.paddingTop),
  };
}

/** Place a box below a character of a field, or above it. */
function anchor(box, text, place) {
  const [size, frame] = [measures(text), text.getBoundingClientRect()];
  const before = text.value.slice(0, place).split("\n");
  const x = frame.left + size.left + before.at(-1).length * size.width - text.scrollLeft;
  const y = frame.top + size.top + before.length * size.height - text.scrollTop;
  const above = y + box.offsetHeight > innerHeight - 8 && y - size.height > box.offsetHeight;
  box.style.left = `${Math.max(8, Math.min(x, innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${above ? y - size.height - box.offsetHeight : y + 2}px`;
}

/** Return the place in a field below the pointer; -1 if there is no text. */
function pointed(text, event) {
  const [size, frame] = [measures(text), text.getBoundingClientRect()];
  const line = Math.floor((event.clientY - frame.top - size.top + text.scrollTop) / size.height);
  const column = Math.floor((event.clientX - frame.left - size.left + text.scrollLeft) / size.width);
  const lines = text.value.split("\n");
  if (line < 0 || column < 0 || column >= (lines[line]?.length ?? 0)) {
    return -1;
  }
  return lines.slice(0, line).reduce((sum, row) => sum + row.length + 1, 0) + column;
}

function part(tag, attributes) {
  const node = document.createElement(tag);
  Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
  return node;
}

/** Replace a part of a field's text, so that the browser can undo it. */
function replace(text, start, end, insert) {
  text.setSelectionRange(start, end);
  if (!document.execCommand("insertText", false, insert)) {
    text.setRangeText(insert, start, end, "end");
    text.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

/** Complete what is typed into the fields of `holder`, and describe what they contain. */
export function assist(form, holder, { announce, messagesAt }) {
  const box = part("div", { class: "assist", hidden: "" });
  const list = part("ul", { role: "listbox", id: "assist-list", "aria-label": "Completion" });
  const about = part("div", { class: "assist-about" });
  const tip = part("div", { class: "assist assist-about", role: "tooltip", hidden: "" });
  box.append(list, about);
  form.append(box, tip);
  let shown = null; // the answer that the list shows, with its field and the place of the active item
  let timer = null;
  let latest = 0;
  let described = null; // the field and the place that the description is about
  let inserting = false;
  let pointer = {};

  async function ask(what, text, place, more = {}) {
    const body = new URLSearchParams(new FormData(form));
    Object.entries({ ask: what, document: text.name, offset: characters(text.value, place), ...more }).forEach(([key, value]) => body.set(key, value));
    if (sizeOf(body) > Number(holder.dataset.largest)) {
      return null;
    }
    const response = await fetch(holder.dataset.assistance, { method: "POST", body }).catch(() => null);
    return response?.ok ? response.json() : null;
  }

  function close() {
    latest += 1;
    clearTimeout(timer);
    tip.hidden = true;
    box.hidden = true;
    shown?.text.removeAttribute("aria-activedescendant");
    shown = null;
  }

  /** Keep the boxes at their places while the page or a field scrolls. */
  function follow() {
    if (shown) {
      anchor(box, shown.text, shown.from);
    }
    if (!tip.hidden) {
      anchor(tip, described.text, described.from);
    }
  }

  async function activate(place) {
    shown.active = place;
    [...list.children].forEach((option, index) => option.setAttribute("aria-selected", String(index === place)));
    about.replaceChildren();
    const item = shown.items[place];
    if (!item) {
      shown.text.removeAttribute("aria-activedescendant");
      return;
    }
    shown.text.setAttribute("aria-activedescendant", `assist-${place}`);
    list.children[place].scrollIntoView({ block: "nearest" });
    const answer = shown;
    if (item.described && !item.text) {
      item.text = (await ask("type", answer.text, 0, { name: item.label }))?.text ?? "";
    }
    if (shown === answer && answer.active === place) {
      about.replaceChildren(...markdown(item.text));
      anchor(box, answer.text, answer.from);
    }
  }

  function accept() {
    const { text, from, to, items, active } = shown;
    close();
    inserting = true;
    replace(text, from, to, items[active].insert);
    inserting = false;
  }

  async function open(text, asked) {
    const [number, place] = [(latest += 1), text.selectionStart];
    const answer = await ask("complete", text, place);
    if (number !== latest || document.activeElement !== text || text.selectionStart !== place) {
      return;
    }
    const [from, to] = [answer?.start ?? 0, answer?.end ?? 0].map((count) => placeOf(text.value, count));
    const typed = text.value.slice(from, to).trim();
    const items = answer?.items ?? [];
    if (!items.length || (!asked && items.length === 1 && items[0].label === typed)) {
      close();
      if (asked) {
        announce("No completion here");
      }
      return;
    }
    list.replaceChildren(
      ...items.map((item, index) => {
        const option = part("li", { role: "option", id: `assist-${index}`, "data-kind": item.kind });
        const [label, detail] = [part("span", { class: item.deprecated ? "label old" : "label" }), part("span", { class: "muted" })];
        label.textContent = item.label;
        detail.textContent = item.detail || item.kind;
        option.append(label, detail);
        return option;
      }),
    );
    tip.hidden = true;
    box.hidden = false;
    shown = { ...answer, items, text, from, to, active: -1 };
    anchor(box, text, from);
    const sure = asked || typed.length > 2 || (typed && items[0].label.toLowerCase().startsWith(typed.toLowerCase()));
    activate(sure ? 0 : -1);
    announce(`${answer.count} ${answer.count === 1 ? "completion" : "completions"}`);
  }

  async function describe(text, place, aloud) {
    const number = (latest += 1);
    const wrong = messagesAt(text, place).map((message) => {
      const node = part("p", { class: "bad-text" });
      node.textContent = message;
      return node;
    });
    const show = (content, from) => {
      tip.replaceChildren(...wrong, ...content);
      tip.hidden = false;
      described = { text, from };
      follow();
    };
    if (wrong.length) {
      show([], place);
    }
    const answer = await ask("describe", text, place);
    if (number !== latest) {
      return;
    }
    if (answer?.text) {
      show(markdown(answer.text), placeOf(text.value, answer.start));
    }
    if (aloud) {
      announce(answer?.text || wrong.length ? tip.textContent : "Nothing to describe here");
    }
  }

  function newLine(text) {
    const line = text.value.slice(text.value.lastIndexOf("\n", text.selectionStart - 1) + 1, text.selectionStart);
    const deeper = /:\s*$/u.test(line) ? "  " : "";
    replace(text, text.selectionStart, text.selectionEnd, `\n${/^ */u.exec(line)[0]}${deeper}`);
  }

  holder.addEventListener("keydown", (event) => {
    const text = event.target.closest("textarea");
    if (!text || event.isComposing) {
      return;
    }
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (event.key === " " && event.ctrlKey) {
      open(text, true);
    } else if (event.key === "F1") {
      describe(text, text.selectionStart, true);
    } else if (event.key === "Escape" && (shown || !tip.hidden)) {
      close();
    } else if (shown && step && plain) {
      const count = shown.items.length;
      const next = Math.abs(step) === 1 ? (shown.active + step + count) % count : Math.max(0, Math.min(count - 1, shown.active + step));
      activate(shown.active < 0 ? (step > 0 ? 0 : count - 1) : next);
    } else if (shown && shown.active >= 0 && plain && (event.key === "Enter" || event.key === "Tab")) {
      accept();
    } else if (event.key === "Enter" && plain) {
      close();
      newLine(text);
    } else {
      tip.hidden = true;
      return;
    }
    event.preventDefault();
  });
  holder.addEventListener("input", (event) => {
    const text = event.target.closest("textarea");
    if (!text || !event.isTrusted || inserting) {
      return;
    }
    const before = text.value.slice(text.value.lastIndexOf("\n", text.selectionStart - 1) + 1, text.selectionStart);
    clearTimeout(timer);
    if (OPENS.test(before) && !before.trimStart().startsWith("#")) {
      timer = setTimeout(() => open(text, false), AFTER_TYPING);
    } else {
      close();
    }
  });
  holder.addEventListener("mousemove", (event) => {
    const text = event.target.closest("textarea");
    if (event.clientX === pointer.x && event.clientY === pointer.y) {
      return; // what is below the pointer has moved
    }
    pointer = { x: event.clientX, y: event.clientY };
    clearTimeout(timer);
    tip.hidden = true;
    if (text && !shown && !event.buttons) {
      timer = setTimeout(() => {
        const place = pointed(text, event);
        if (place >= 0) {
          describe(text, place, false);
        }
      }, AFTER_POINTING);
    }
  });
  holder.addEventListener("mouseleave", () => {
    tip.hidden = true;
  });
  holder.addEventListener("focusout", close);
  holder.addEventListener("scroll", follow, true);
  addEventListener("scroll", follow, { passive: true });
  list.addEventListener("mousedown", (event) => {
    event.preventDefault(); // the field keeps the focus
    const place = [...list.children].indexOf(event.target.closest("li"));
    if (shown && place >= 0) {
      shown.active = place;
      accept();
    }
  });
  about.addEventListener("mousedown", (event) => event.preventDefault());
  const prepare = (root) => {
    root.querySelectorAll("textarea").forEach((text) => {
      text.setAttribute("aria-autocomplete", "list");
      text.setAttribute("aria-haspopup", "listbox");
      text.setAttribute("aria-controls", "assist-list");
    });
  };
  prepare(holder);
  new MutationObserver(() => prepare(holder)).observe(holder, { childList: true });
}
