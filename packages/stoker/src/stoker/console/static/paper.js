// A field with colored text: line numbers, colors and marks behind a text field whose own text is transparent.

import { START, colored } from "./colors.js";

const SPARE = 20; // lines that are drawn above and below what is visible

/** Return a line as nodes; `marks` are columns (from 0) at which something is wrong. */
function lineNodes(parts, marks) {
  const nodes = [];
  let column = 0;
  for (const [kind, text] of parts) {
    const end = column + text.length;
    const cuts = [...new Set([column, ...marks.filter((place) => place > column && place < end), end])].sort((a, b) => a - b);
    for (let place = 0; place + 1 < cuts.length; place += 1) {
      const piece = text.slice(cuts[place] - column, cuts[place + 1] - column);
      const classes = [kind && `c-${kind}`, marks.includes(cuts[place]) && piece.trim() && "c-mark"].filter(Boolean).join(" ");
      const node = classes ? document.createElement("span") : document.createTextNode(piece);
      if (classes) {
        node.className = classes;
        node.textContent = piece;
      }
      nodes.push(node);
    }
    column = end;
  }
  return nodes;
}

/** Color the text of a panel's field. Return functions that set the marks, and find those at a place. */
export function paper(panel) {
  const [text, numbers] = [panel.querySelector("textarea"), panel.querySelector(".lines")];
  const layer = document.createElement("pre");
  const sheet = document.createElement("code");
  layer.className = "colors";
  layer.setAttribute("aria-hidden", "true");
  layer.append(sheet);
  text.before(layer);
  text.closest(".editor").classList.add("colored");
  let lines = [];
  let states = [START]; // the state before each line, as far as it is known
  let marks = []; // { line, column, message }, both from 1
  let scheduled = false;

  /** Take the text as it is now; marks below a change move with their lines. */
  function read() {
    const fresh = text.value.split("\n");
    let same = 0;
    while (same < lines.length && same < fresh.length && lines[same] === fresh[same]) {
      same += 1;
    }
    const added = fresh.length - lines.length;
    if (added && lines.length) {
      marks = marks.map((mark) => (mark.line > same + 1 ? { ...mark, line: mark.line + added } : mark));
    }
    lines = fresh;
    states.length = Math.min(states.length, same + 1);
  }

  function number() {
    const bad = new Set(marks.map((mark) => mark.line));
    const nodes = [];
    let plain = "";
    for (let line = 1; line <= lines.length; line += 1) {
      if (bad.has(line)) {
        const node = document.createElement("span");
        node.className = "bad-line";
        node.textContent = String(line);
        nodes.push(document.createTextNode(plain), node);
        plain = "\n";
      } else {
        plain += `${line}\n`;
      }
    }
    numbers.replaceChildren(...nodes, document.createTextNode(`${plain}\n\n`));
    numbers.scrollTop = text.scrollTop;
  }

  function draw() {
    scheduled = false;
    const height = parseFloat(getComputedStyle(text).lineHeight);
    const first = Math.max(0, Math.floor(text.scrollTop / height) - SPARE);
    const last = Math.min(lines.length, Math.ceil((text.scrollTop + text.clientHeight) / height) + SPARE);
    const nodes = [];
    for (let place = states.length - 1; place < last; place += 1) {
      states[place + 1] = colored(lines[place], states[place]).next;
    }
    for (let place = first; place < last; place += 1) {
      const wrong = marks.filter((mark) => mark.line === place + 1).map((mark) => start(mark));
      nodes.push(...lineNodes(colored(lines[place], states[place]).parts, wrong), document.createTextNode("\n"));
    }
    sheet.replaceChildren(...nodes);
    sheet.style.transform = `translate(${-text.scrollLeft}px, ${first * height - text.scrollTop}px)`;
    numbers.scrollTop = text.scrollTop;
  }

  /** Return the column of a mark, from 0: at the end of a line, that of the line's first character. */
  function start(mark) {
    const line = lines[mark.line - 1] ?? "";
    return mark.column - 1 < line.trimEnd().length ? mark.column - 1 : Math.max(0, line.search(/\S/u));
  }

  function drawSoon() {
    if (!scheduled) {
      scheduled = true;
      requestAnimationFrame(draw);
    }
  }

  text.addEventListener("input", () => {
    read();
    number();
    drawSoon();
  });
  text.addEventListener("scroll", draw);
  new ResizeObserver(drawSoon).observe(text);
  read();
  number();
  drawSoon();
  return {
    mark(found) {
      marks = found;
      number();
      drawSoon();
    },
    /** Return the messages of the marks at a place of the text. */
    messagesAt(place) {
      const before = text.value.slice(0, place).split("\n");
      const line = before.length;
      const column = before.at(-1).length;
      return marks.filter((mark) => {
        const begin = start(mark);
        const word = /^[^\s,{}[\]]*/u.exec((lines[line - 1] ?? "").slice(begin))[0].length;
        return mark.line === line && column >= begin && column <= begin + word;
      }).map((mark) => mark.message);
    },
  };
}
