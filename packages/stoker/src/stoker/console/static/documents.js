// The documents of the editor as tabs: the template, the environment, and files that are added or dropped.

import { paper } from "./paper.js";

/** Return the files below a dropped or chosen entry, each with its path. */
async function filesBelow(entry, path = "") {
  if (entry.isFile) {
    return [[`${path}${entry.name}`, await new Promise((done, failed) => entry.file(done, failed))]];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const entries = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!entries.length) {
      return found;
    }
    for (const inner of entries.filter((item) => !item.name.startsWith("."))) {
      found.push(...(await filesBelow(inner, `${path}${entry.name}/`)));
    }
  }
}

/** Return the number of bytes of a form in a request. */
export function sizeOf(entries) {
  return new URLSearchParams(entries).toString().length;
}

/** Remove the folder that was chosen from a path: the template's folder. */
function withoutTop(path) {
  return path.slice(path.indexOf("/") + 1);
}

/** Return the files that were dropped as one thing: a file, or a folder, which has an entry only. */
async function filesOf(entry, file) {
  return entry?.isDirectory ? (await filesBelow(entry)).map(([path, inner]) => [withoutTop(path), inner]) : [[file.name, file]];
}

/** Return the text of a file; undefined if it is none. */
async function decoded(file) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    return undefined;
  }
}

/** Make tabs of the panels in `holder`; `changed` is called when a document is added or removed. */
export function documents(holder, { announce, changed }) {
  const prefix = holder.dataset.prefix;
  const bar = holder.querySelector(".document-bar");
  const list = bar.querySelector("[role=tablist]");
  const blank = holder.querySelector("#new-document");
  const panels = () => [...holder.querySelectorAll(".document-panel")];
  const panelOf = (key) => panels().find((panel) => panel.dataset.document === key);
  const tabOf = (panel) => document.getElementById(panel.getAttribute("aria-labelledby"));
  const papers = new WeakMap(); // panel → its colors and marks
  let number = 0;

  /** Show a document; return its field. */
  function select(key) {
    const chosen = panelOf(key) ?? panels()[0];
    panels().forEach((panel) => {
      panel.hidden = panel !== chosen;
      const tab = tabOf(panel);
      tab.setAttribute("aria-selected", String(panel === chosen));
      tab.tabIndex = panel === chosen ? 0 : -1;
    });
    list.scrollTop = tabOf(chosen).offsetTop - list.offsetTop - list.clientHeight / 2;
    return chosen.querySelector("textarea");
  }

  function prepare(panel) {
    number += 1;
    panel.id = `document-${number}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", `tab-${number}`);
    const tab = document.createElement("button");
    Object.assign(tab, { type: "button", id: `tab-${number}`, textContent: panel.querySelector(".heading .field").textContent });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    tab.addEventListener("click", () => select(panel.dataset.document));
    list.append(tab);
    panel.querySelectorAll(".buttons[hidden]").forEach((item) => {
      item.hidden = false;
    });
    papers.set(panel, paper(panel));
  }

  function put(name, text) {
    const key = `${prefix}${name}`;
    let panel = panelOf(key);
    if (!panel) {
      panel = blank.content.firstElementChild.cloneNode(true);
      panel.dataset.document = key;
      panel.querySelector(".heading .field").textContent = name;
      const field = panel.querySelector("textarea");
      field.name = key;
      field.setAttribute("aria-label", name);
      blank.before(panel);
      prepare(panel);
    }
    const field = panel.querySelector("textarea");
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    return key;
  }

  function remove(panel) {
    tabOf(panel).remove();
    panel.remove();
    changed();
  }

  /** Add files: pairs of a name and a File. Files that are no text, or too large, are refused. */
  async function take(files) {
    const refused = [];
    let key = null;
    const largest = Number(holder.dataset.largest);
    let size = sizeOf(new FormData(holder.closest("form")));
    for (const [name, file] of files) {
      const text = file.size > largest ? "" : await decoded(file);
      const after = size + sizeOf([[`${prefix}${name}`, text]]);
      if (text === undefined) {
        refused.push(`${name} (not a text in UTF-8)`);
      } else if (file.size > largest || after > largest) {
        refused.push(`${name} (too large)`);
      } else {
        size = after;
        key = put(name, text);
      }
    }
    if (key) {
      select(key);
    }
    const added = files.length - refused.length;
    const sentence = `${added} ${added === 1 ? "file" : "files"} added.${refused.length ? ` Not added: ${refused.join(", ")}.` : ""}`;
    announce(sentence);
    message.textContent = sentence;
    message.hidden = false;
  }

  const message = document.createElement("p");
  message.className = "help";
  message.hidden = true;
  bar.after(message);
  bar.hidden = false;
  holder.classList.add("tabbed");
  panels().forEach(prepare);
  select("template");

  list.addEventListener("keydown", (event) => {
    const tabs = [...list.children];
    const place = tabs.indexOf(document.activeElement);
    const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (next !== undefined && place >= 0) {
      event.preventDefault();
      const tab = tabs.at(next % tabs.length);
      tab.click();
      tab.focus();
    }
  });
  holder.addEventListener("invalid", (event) => select(event.target.closest(".document-panel")?.dataset.document), true);
  holder.addEventListener("click", (event) => {
    const use = event.target.closest("[data-use]");
    if (!use) {
      return;
    }
    const panel = use.closest(".document-panel");
    const into = panelOf(use.dataset.use);
    if (into) {
      const field = into.querySelector("textarea");
      field.value = panel.querySelector("textarea").value;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    remove(panel);
    select(into ? use.dataset.use : "template").focus();
  });
  const close = () => {
    holder.querySelector("#add-file").open = false;
  };
  const name = holder.querySelector("#file-name");
  const create = () => {
    const wanted = name.value.trim();
    if (wanted) {
      const key = `${prefix}${wanted}`;
      select(panelOf(key) ? key : put(wanted, "")).focus();
      name.value = "";
      close();
    }
  };
  holder.querySelector("#new-file").addEventListener("click", create);
  name.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      create();
    }
  });
  ["#upload-files", "#upload-folder"].forEach((id) => {
    const field = holder.querySelector(id);
    field.addEventListener("change", async () => {
      await take([...field.files].map((file) => [file.webkitRelativePath ? withoutTop(file.webkitRelativePath) : file.name, file]));
      field.value = "";
      close();
    });
  });
  holder.addEventListener("dragover", (event) => {
    if ([...event.dataTransfer.types].includes("Files")) {
      event.preventDefault();
    }
  });
  holder.addEventListener("drop", async (event) => {
    const items = [...event.dataTransfer.items].filter((item) => item.kind === "file");
    if (items.length) {
      event.preventDefault();
      const dropped = items.map((item) => [item.webkitGetAsEntry?.(), item.getAsFile()]); // before the event has ended
      await take((await Promise.all(dropped.map(([entry, file]) => filesOf(entry, file)))).flat());
    }
  });
  return {
    select,
    /** Mark the places of problems: { document, line, column, message } of each. */
    mark(found) {
      panels().forEach((panel) => papers.get(panel).mark(found.filter((item) => item.document === panel.dataset.document)));
    },
    /** Return what is wrong at a place of a field. */
    messagesAt: (text, place) => papers.get(text.closest(".document-panel"))?.messagesAt(place) ?? [],
  };
}
