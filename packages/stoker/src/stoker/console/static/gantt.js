// The timeline of an operation while it is in progress: bars grow, and end when their actions do.
import { replaceContent } from "./patch.js";
import { split } from "./states.js";

/** Return whether the page is a timeline. */
export function isTimeline(live) {
  return "timeline" in live.dataset;
}

/** Return whether the operation is still in progress: only then do events concern it. */
function isGrowing(live) {
  return "growing" in live.dataset;
}

function barOf(row) {
  return row.querySelector(".bars svg");
}

/** Return the row of the action that an event is about; null if there is none yet. */
export function rowOf(live, key, event) {
  return isGrowing(live) ? document.getElementById(`b-${key}-${split(event.resource_status)[0]}`) : null;
}

/** Return whether only the server can show an event: a further action, or the reason of a failure. */
export function isNews(live, row, event) {
  const status = split(event.resource_status)[1];
  const begins = status === "IN_PROGRESS" && row && barOf(row).dataset.status !== "IN_PROGRESS";
  return isGrowing(live) && (!row || begins || status === "FAILED");
}

/** End a bar at a time; return whether that is on the axis. */
function stretch(live, bar, when) {
  const { began, seconds } = live.dataset;
  const [rect, place] = [bar.querySelector("rect"), (100 * (when - Number(began))) / Number(seconds)];
  const width = Math.min(place, 100) - Number(rect.getAttribute("x"));
  rect.setAttribute("width", String(Math.max(width, Number(rect.getAttribute("width")))));
  return place < 100;
}

/** Show the state of an event in the bar of its row. */
export function changeBar(row, event) {
  const bar = barOf(row);
  bar.dataset.status = split(event.resource_status)[1];
  stretch(row.closest("[data-timeline]"), bar, Date.parse(event.timestamp) / 1000);
}

/** Extend the bars of the actions in progress until now; return whether the axis is too short for that. */
export function grow(live, now) {
  if (!isTimeline(live) || !isGrowing(live)) {
    return false;
  }
  live.querySelectorAll(".bars [data-status=IN_PROGRESS]").forEach((bar) => stretch(live, bar, now));
  return now - Number(live.dataset.began) > Number(live.dataset.seconds);
}

/** Change what is around the rows; return false if the page shows another operation, which has other rows. */
export function updateFrame(live, fresh) {
  const same = fresh.dataset.operation === live.dataset.operation;
  if (!("growing" in fresh.dataset)) {
    delete live.dataset.growing;
  }
  Object.assign(live.dataset, fresh.dataset);
  const parts = ["#operations", "#period", ".axis"].map((part) => [live, fresh].map((page) => page.querySelector(part)));
  if (!same || parts.flat().includes(null)) {
    return false;
  }
  parts.filter(([old, now]) => old.innerHTML !== now.innerHTML).forEach(([old, now]) => replaceContent(old, now));
  return true;
}
