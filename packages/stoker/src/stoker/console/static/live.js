// A stack's page while work is in progress: events from the server change rows, at most ten times a second.

import { enhance } from "./enhance.js";
import { changeBar, grow, isNews, isTimeline, rowOf, updateFrame } from "./gantt.js";
import { patchRows, replaceContent, replaceElement } from "./patch.js";
import { badge, duration, split } from "./states.js";

const BETWEEN_CHANGES = 100; // milliseconds
const BETWEEN_RELOADS = 2000;
const RELOADS_IN_TIME = 4; // a page that takes long is requested less often: a quarter of the time at most
const BROKEN = 5000;
const MARKS = { IN_PROGRESS: "…", COMPLETE: "✓", FAILED: "✗" };
function stackOf(event) {
  return event.links.find((link) => link.rel === "stack").href.split("/").at(-1);
}

/** Change one row as an event says. */
function change(row, event) {
  const [state, time, reason] = ["State", "Duration", "Reason"].map((name) => row.querySelector(`[data-label=${name}]`));
  const when = Date.parse(event.timestamp) / 1000;
  state.replaceChildren(badge(event.resource_status));
  if (reason) {
    const text = event.resource_status_reason ?? "";
    (reason.firstElementChild ?? reason).textContent = text === row.closest("#live").dataset.noReason ? "" : text;
  }
  if (event.resource_status.endsWith("_IN_PROGRESS")) {
    time.dataset.since ??= String(when);
  } else if (time.dataset.since) {
    time.textContent = duration(when - Number(time.dataset.since));
    delete time.dataset.since;
  }
  row.classList.remove("changed");
  row.classList.add("changed");
}

/** Change one resource of the graph. */
function color(node, state) {
  const status = split(state)[1];
  node.dataset.status = status;
  node.querySelector(".mark").textContent = MARKS[status] ?? "";
}

function count(live) {
  const numbers = { IN_PROGRESS: 0, COMPLETE: 0, FAILED: 0 };
  live.querySelectorAll("tbody .state").forEach((item) => {
    numbers[item.dataset.status] = (numbers[item.dataset.status] ?? 0) + 1;
  });
  const line = live.querySelector("#counts");
  if (line) {
    const named = [[numbers.COMPLETE, "complete"], [numbers.IN_PROGRESS, "in progress"], [numbers.FAILED, "failed"]];
    line.textContent = named.filter(([number]) => number).map(([number, name]) => `${number} ${name}`).join(" · ");
  }
}

/** Show the rows that match the filter and those that contain them; without a filter, those of unfolded branches. */
function showRows(live) {
  const filter = live.querySelector("#tree-filter");
  const words = filter?.value.trim().toLowerCase() ?? "";
  const status = live.querySelector("#tree-status")?.value ?? "";
  const rows = [...live.querySelectorAll("#tree tbody tr")];
  const shown = new Set();
  if (words || status) {
    const byId = new Map(rows.map((row) => [row.id, row]));
    rows.forEach((row) => {
      const matches = !status || row.querySelector(".state").dataset.status === status;
      if (matches && row.textContent.toLowerCase().includes(words)) {
        for (let item = row; item && !shown.has(item); item = byId.get(item.dataset.parent)) {
          shown.add(item);
        }
      }
    });
  } else {
    const folded = new Set();
    rows.forEach((row) => {
      const inside = folded.has(row.dataset.parent);
      if (!inside) {
        shown.add(row);
      }
      if (inside || row.querySelector(".fold")?.getAttribute("aria-expanded") === "false") {
        folded.add(row.id);
      }
    });
  }
  rows.forEach((row) => {
    row.hidden = !shown.has(row);
  });
  const line = live.querySelector("#matches");
  if (line) {
    line.textContent = words || status ? `${shown.size} of ${rows.length} rows shown` : "";
  }
}

function foldBranches(live) {
  const fold = (buttons, folded) => {
    buttons.forEach((button) => button.setAttribute("aria-expanded", String(!folded)));
    showRows(live);
  };
  live.addEventListener("click", (event) => {
    const button = event.target.closest(".fold");
    if (button) {
      fold([button], button.getAttribute("aria-expanded") === "true");
    }
    const all = event.target.closest("#fold-all");
    if (all) {
      fold(live.querySelectorAll(".fold"), all.textContent === "Fold all");
      all.textContent = all.textContent === "Fold all" ? "Unfold all" : "Fold all";
    }
  });
}

function filterRows(live) {
  live.addEventListener("input", (event) => {
    if (event.target.closest("#tree-filters")) {
      showRows(live);
    }
  });
  live.addEventListener("submit", (event) => {
    if (event.target.id === "tree-filters") {
      event.preventDefault();
    }
  });
}

/** Show the fields of the filter, and what they select: the browser may have kept them. */
function showFilter(live) {
  const form = live.querySelector("#tree-filters");
  if (form) {
    form.hidden = false;
    form.querySelector("#fold-all").hidden = !live.querySelector(".fold");
    showRows(live);
  }
}

/** Keep the page of a stack up to date. */
export function follow(live, { announce, fragment }) {
  const pending = new Map();
  const stack = live.dataset.stack;
  const behind = Date.now() / 1000 - Number(live.dataset.now); // this clock less the server's, in seconds
  let scheduled = false;
  let reloadAt = 0;
  let reloading = null;

  /** Change the state of the stack on the page; a change is announced. */
  function changeState(work) {
    const shown = () => document.getElementById("stack-state");
    const before = shown().textContent.trim();
    work(shown());
    const after = shown().textContent.trim();
    if (after !== before) {
      announce(`${document.querySelector("h1").textContent}: ${after}`);
    }
    return after !== before;
  }

  async function reload() {
    reloading = null;
    reloadAt = Date.now() + BETWEEN_RELOADS;
    const asked = Date.now();
    const fresh = await fragment(location.href).catch(() => null);
    if (!fresh) {
      return;
    }
    changeState(() => {
      replaceElement(document.getElementById("summary"), fresh.getElementById("summary"));
    });
    const [body, freshBody] = [live, fresh].map((part) => part.querySelector("#tree tbody"));
    const [graph, freshGraph] = [live, fresh].map((part) => part.querySelector("#graph"));
    if (isTimeline(live) && !updateFrame(live, fresh.getElementById("live"))) {
      replaceContent(live, fresh.getElementById("live"));
    } else if (body && freshBody) {
      patchRows(body, freshBody);
    } else if (!graph || !freshGraph) {
      replaceContent(live, fresh.getElementById("live"));
    } else if (graph.innerHTML !== freshGraph.innerHTML) {
      replaceContent(graph, freshGraph);
    }
    enhance(document);
    count(live);
    showFilter(live);
    reloadAt = Date.now() + Math.max(BETWEEN_RELOADS, RELOADS_IN_TIME * (Date.now() - asked));
  }

  function reloadSoon() {
    reloading ??= setTimeout(reload, Math.max(0, reloadAt - Date.now()));
  }

  /** Show the state of a resource; return whether the page lacks what the event is about. */
  function show(key, event) {
    if (isTimeline(live)) {
      const bar = rowOf(live, key, event);
      const news = isNews(live, bar, event);
      if (bar && !news) {
        change(bar, event);
        changeBar(bar, event);
      }
      return news;
    }
    const [row, node] = ["r", "n"].map((kind) => document.getElementById(`${kind}-${key}`));
    if (row) {
      change(row, event);
    }
    if (node) {
      color(node, event.resource_status);
    }
    return !row && !node && !event.resource_status.startsWith("DELETE");
  }

  function apply() {
    scheduled = false;
    for (const [key, event] of pending) {
      if (key === stack) {
        const changed = changeState((shown) => shown.replaceChildren(badge(event.resource_status)));
        document.getElementById("stack-reason").textContent = event.resource_status_reason ?? "";
        if (changed) {
          reloadSoon(); // the actions that are possible have changed
        }
        continue;
      }
      if (show(key, event)) {
        reloadSoon();
      }
      if (event.resource_status.endsWith("_FAILED")) {
        announce(`${event.resource_name}: ${badge(event.resource_status).textContent}`);
      }
    }
    pending.clear();
    count(live);
  }

  function take(event) {
    const within = stackOf(event);
    const itself = event.physical_resource_id === within;
    if (itself && within !== stack) {
      return;
    }
    const key = itself ? stack : `${within}/${event.resource_name}`;
    pending.delete(key); // only the latest event of a resource counts
    pending.set(key, event);
    if (!scheduled) {
      scheduled = true;
      setTimeout(() => requestAnimationFrame(apply), BETWEEN_CHANGES);
    }
  }

  function connect() {
    const line = () => live.querySelector("#connection");
    const source = new EventSource(live.dataset.stream);
    let broken = null; // the timer that begins when the connection is lost; short breaks are normal
    source.addEventListener("open", () => {
      clearTimeout(broken);
      broken = null;
      line()?.replaceChildren();
    });
    source.addEventListener("message", (message) => take(JSON.parse(message.data)));
    source.addEventListener("error", () => {
      if (source.readyState === EventSource.CLOSED) {
        clearTimeout(broken);
        line()?.replaceChildren("Live changes have stopped. Reload the page to continue.");
      } else {
        broken ??= setTimeout(() => line()?.replaceChildren("The service does not answer: trying again."), BROKEN);
      }
    });
    addEventListener("pagehide", () => source.close());
  }

  setInterval(() => {
    const now = Date.now() / 1000 - behind;
    live.querySelectorAll("[data-since]").forEach((cell) => {
      cell.textContent = duration(now - Number(cell.dataset.since));
    });
    if (grow(live, now)) {
      reloadSoon(); // for a longer axis
    }
  }, 1000);
  foldBranches(live);
  filterRows(live);
  showFilter(live);
  count(live);
  connect();
}
