// The template editor: line numbers, and what the service complains about while the user writes.

const AFTER_TYPING = 700; // milliseconds

/** Number the lines, and scroll the numbers with the text. */
function numberLines(text, lines) {
  const draw = () => {
    const count = text.value.split("\n").length;
    lines.textContent = Array.from({ length: count }, (_, place) => place + 1).join("\n") + "\n\n\n";
  };
  text.addEventListener("input", draw);
  text.addEventListener("scroll", () => {
    lines.scrollTop = text.scrollTop;
  });
  draw();
}

/** Put the caret where a problem is. */
function goTo(text, line, column) {
  const before = text.value.split("\n").slice(0, line - 1);
  const place = before.reduce((sum, row) => sum + row.length + 1, 0) + column - 1;
  text.focus();
  text.setSelectionRange(place, place);
  text.scrollTop = Math.max(0, (line - 5) * parseFloat(getComputedStyle(text).lineHeight));
}

/** Make a form for templates helpful. */
export function edit(form, { announce }) {
  const text = form.querySelector("#template");
  let timer = null;
  let latest = 0;

  async function check() {
    const number = (latest += 1);
    const body = new URLSearchParams(new FormData(form));
    body.set("do", "check");
    const response = await fetch(form.action, { method: "POST", body, headers: { "X-Fragment": "1" } }).catch(() => null);
    if (!response?.ok || number !== latest) {
      return;
    }
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
    const [problems, known] = [fresh, form].map((part) => part.querySelector("#problems"));
    if (!problems) {
      return;
    }
    if (problems.innerHTML !== known.innerHTML) {
      announce(problems.querySelector("h2").textContent);
      known.replaceChildren(...[...problems.childNodes].map((node) => document.importNode(node, true)));
    }
    const [parameters, shown] = [fresh, form].map((part) => part.querySelector("#parameters"));
    if (!problems.querySelector("li") && parameters.dataset.names !== shown.dataset.names) {
      const values = new Map([...shown.querySelectorAll("[name]")].map((item) => [item.name, item.value]));
      shown.replaceWith(document.importNode(parameters, true));
      form.querySelectorAll("#parameters [name]").forEach((item) => {
        item.value = values.get(item.name) || item.value;
      });
    }
  }

  numberLines(text, form.querySelector("#lines"));
  text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(check, AFTER_TYPING);
  });
  form.addEventListener("click", (event) => {
    const link = event.target.closest("[data-line]");
    if (link) {
      event.preventDefault();
      goTo(text, Number(link.dataset.line), Number(link.dataset.column));
    }
  });
}
