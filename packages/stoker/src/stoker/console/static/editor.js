// The editor: the template, the environment and files in tabs, and what the service complains about while the user writes.
import { assist } from "./assistance.js";
import { documents, sizeOf } from "./documents.js";
import { replaceElement } from "./patch.js";

const AFTER_TYPING = 700; // milliseconds
const ENDED = "The session of this page has ended. Plan… continues after you have logged in; what you have entered is kept.";
const TOO_LARGE = "The template and its files are too large to be sent from here: make them smaller, or use `stoker deploy`.";
const SILENT = "The service does not answer: the problems shown here may be out of date.";

/** Put the caret where a problem is. */
function goTo(text, line, column) {
  const before = text.value.split("\n").slice(0, line - 1);
  const place = before.reduce((sum, row) => sum + row.length + 1, 0) + column - 1;
  text.focus();
  text.setSelectionRange(place, place);
  const height = parseFloat(getComputedStyle(text).lineHeight);
  text.scrollTop = Math.max(0, (line - 5) * height);
  const y = text.getBoundingClientRect().top + line * height - text.scrollTop;
  if (y < 2 * height || y > innerHeight - 2 * height) {
    scrollBy({ top: y - innerHeight / 3 });
  }
}

/** Ask before a page with changes that are not sent is left. */
function keepChanges(form) {
  let changed = false;
  form.addEventListener("input", () => {
    changed = true;
  });
  form.addEventListener("submit", (event) => {
    changed &&= event.defaultPrevented;
  });
  addEventListener("beforeunload", (event) => {
    if (changed) {
      event.preventDefault();
    }
  });
}

/** Make a form for templates helpful. */
export function edit(form, { announce }) {
  let timer = null;
  let latest = 0;
  const holder = form.querySelector("#documents");
  const notChecked = form.querySelector("#not-checked");

  /** Say so if the form is too large to be sent. */
  function tooLarge() {
    const large = sizeOf(new FormData(form)) > Number(holder.dataset.largest);
    if (large) {
      notChecked.textContent = TOO_LARGE;
      notChecked.hidden = false;
    }
    return large;
  }

  async function check() {
    const number = (latest += 1);
    if (tooLarge()) {
      return;
    }
    const body = new URLSearchParams(new FormData(form));
    body.set("do", "check");
    const response = await fetch(form.action, { method: "POST", body, headers: { "X-Fragment": "1" } }).catch(() => null);
    if (number !== latest) {
      return;
    }
    notChecked.hidden = Boolean(response?.ok);
    if (!response?.ok) {
      notChecked.textContent = { 401: ENDED, 403: ENDED, 413: TOO_LARGE }[response?.status] ?? SILENT;
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
    markProblems();
    follow(fresh.querySelector("#parameters"));
  }

  /** Mark what the list of problems names in the documents. */
  function markProblems() {
    tabs.mark([...form.querySelectorAll("#problems [data-line]")].map((link) => ({
      document: link.dataset.in,
      line: Number(link.dataset.line),
      column: Number(link.dataset.column),
      message: link.parentElement.querySelector(".message").textContent,
    })));
  }

  /** Show the form for the parameters that are declared now, with what is entered; none are known of a broken template. */
  function follow(fresh) {
    const shown = form.querySelector("#parameters");
    if (!fresh.dataset.declared || fresh.dataset.declared === shown.dataset.declared) {
      return;
    }
    const values = new Map([...shown.querySelectorAll("[name]")].map((item) => [item.name, item.value]));
    replaceElement(shown, fresh).querySelectorAll("[name]").forEach((item) => {
      const value = values.get(item.name);
      if (value && (!item.options || [...item.options].some((option) => option.value === value))) {
        item.value = value;
      }
    });
  }

  function checkSoon() {
    clearTimeout(timer);
    timer = setTimeout(check, AFTER_TYPING);
  }

  const tabs = documents(holder, { announce, changed: checkSoon });
  assist(form, holder, { announce, messagesAt: tabs.messagesAt });
  markProblems();
  form.addEventListener("submit", (event) => {
    if (tooLarge()) {
      event.preventDefault();
      notChecked.scrollIntoView({ block: "nearest" });
    }
  });
  keepChanges(form);
  holder.addEventListener("input", checkSoon);
  form.addEventListener("click", (event) => {
    const link = event.target.closest("[data-line]");
    if (link) {
      event.preventDefault();
      goTo(tabs.select(link.dataset.in), Number(link.dataset.line), Number(link.dataset.column));
    }
  });
}
