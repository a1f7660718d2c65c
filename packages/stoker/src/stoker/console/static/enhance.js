// Times since, buttons that copy and save, menus, and files that are read into a field.
import { remember } from "./patch.js";

const EVERY = 15_000; // milliseconds
const UNITS = [["day", 86_400], ["hour", 3_600], ["minute", 60]];
const local = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });
const words = new Intl.RelativeTimeFormat("en", { numeric: "always" });

function since(seconds) {
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ["second", 1];
  return seconds < 5 ? "just now" : words.format(-Math.floor(seconds / size), unit);
}

/** Show the times in a part of the page as the time since then; the exact times, here and in UTC, are in their titles. */
function showTimes(part) {
  part.querySelectorAll("time:not([title])").forEach((item) => {
    const row = item.closest("tr");
    if (row) {
      remember(row);
    }
    item.title = local.format(Date.parse(item.dateTime)) + (item.matches(".ago") ? ` · ${item.textContent}` : "");
  });
  part.querySelectorAll("time.ago").forEach((item) => {
    const text = since(Math.max(0, (Date.now() - Date.parse(item.dateTime)) / 1000));
    if (item.textContent !== text) {
      item.textContent = text;
    }
  });
}

/** Prepare a part of the page that the server has sent. */
export function enhance(part) {
  showTimes(part);
  part.querySelectorAll("[data-copy][hidden], [data-read-into][hidden]").forEach((item) => {
    item.hidden = false;
  });
}

async function copy(button, announce) {
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
    announce("Copied");
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  } catch {
    getSelection().selectAllChildren(source); // without a secure connection, the user copies the selection
    announce("Selected: copy it with the keyboard");
  }
}

function save(button) {
  const text = document.getElementById(button.dataset.save).textContent;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  link.download = button.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Prepare the whole page. */
export function enhancePage(announce) {
  enhance(document);
  setInterval(() => showTimes(document), EVERY);
  document.addEventListener("click", (event) => {
    const [copying, saving] = ["[data-copy]", "[data-save]"].map((kind) => event.target.closest(kind));
    if (copying) {
      copy(copying, announce);
    }
    if (saving) {
      save(saving);
    }
    document.querySelectorAll("details.menu[open]").forEach((menu) => {
      if (!menu.contains(event.target)) {
        menu.open = false;
      }
    });
  });
  document.addEventListener("keydown", (event) => {
    const menu = event.target.closest?.("details.menu[open]");
    if (event.key === "Escape" && menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
  document.addEventListener("change", async (event) => {
    const into = event.target.closest("[data-read-into]")?.dataset.readInto;
    if (into && event.target.files.length) {
      document.getElementById(into).value = await event.target.files[0].text();
    }
  });
}
