// Behaviour of all pages. Pages work without it; with it they change while they are open.
import { edit } from "./editor.js";
import { enhance, enhancePage } from "./enhance.js";
import { follow } from "./live.js";
import { patchRows, replaceContent } from "./patch.js";
import { zoomable } from "./zoom.js";

const announcements = document.getElementById("announcements");

/** Have screen readers read a sentence. */
export function announce(sentence) {
  announcements.textContent = sentence;
}

/** Return the document that the server renders for the changing part of a page; null after an error. */
export async function fragment(url) {
  const response = await fetch(url, { headers: { "X-Fragment": "1" }, credentials: "same-origin" });
  if (response.status === 401 && !document.querySelector("dialog")) {
    location.reload(); // to log in; the form of a dialog keeps what is typed when it is sent
  }
  return response.ok ? new DOMParser().parseFromString(await response.text(), "text/html") : null;
}

function openDialogs() {
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-dialog]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    event.preventDefault();
    const content = await fragment(link.href);
    if (!content) {
      location.href = link.href;
      return;
    }
    const dialog = document.createElement("dialog");
    dialog.setAttribute("aria-labelledby", "question");
    dialog.append(...content.body.children);
    document.body.append(dialog);
    dialog.addEventListener("close", () => dialog.remove());
    dialog.querySelector("[data-close]").addEventListener("click", (close) => {
      close.preventDefault();
      dialog.close();
      link.focus();
    });
    dialog.showModal();
  });
}

/** Ask for a part of the page again every few seconds while it is visible, until it does not ask for that any more. */
function poll(list) {
  const seconds = Number(list.dataset.poll);
  const connection = document.getElementById("connection");
  const timer = setInterval(async () => {
    if (document.hidden) {
      return;
    }
    const fresh = (await fragment(location.href).catch(() => null))?.getElementById(list.id);
    if (connection) {
      connection.textContent = fresh ? "" : "The service does not answer: the list may be out of date.";
    }
    const [body, freshBody] = [list, fresh].map((part) => part?.querySelector("tbody"));
    if (body && freshBody) {
      patchRows(body, freshBody);
    } else if (fresh && (Boolean(body) !== Boolean(freshBody) || (!body && list.innerHTML !== fresh.innerHTML))) {
      replaceContent(list, fresh);
    }
    if (fresh && !fresh.dataset.poll) {
      clearInterval(timer);
    }
    enhance(list);
  }, seconds * 1000);
}

enhancePage(announce);
openDialogs();
document.querySelectorAll("[data-poll]").forEach(poll);
const form = document.getElementById("deploy");
if (form) {
  edit(form, { announce });
}
const graph = document.getElementById("graph");
if (graph) {
  zoomable(graph, document.getElementById("zoom"), { announce });
}
const live = document.getElementById("live");
if (live) {
  follow(live, { announce, fragment });
}
addEventListener("pageshow", (event) => {
  if (event.persisted) {
    location.reload(); // the page comes from the browser's memory: its connection is closed
  }
});
