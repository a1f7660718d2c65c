// States and durations, written as the server writes them.
const STATUSES = ["IN_PROGRESS", "COMPLETE", "FAILED"];

/** Split CREATE_IN_PROGRESS into its action and status. */
export function split(state) {
  const status = STATUSES.find((known) => state.endsWith(`_${known}`)) ?? "";
  return [state.slice(0, state.length - status.length - 1), status];
}

/** Return the badge of a state. */
export function badge(state) {
  const [action, status] = split(state);
  const words = `${action} ${status}`.replaceAll("_", " ").toLowerCase();
  const span = document.createElement("span");
  span.className = "state";
  span.dataset.status = status;
  span.textContent = words.charAt(0).toUpperCase() + words.slice(1);
  return span;
}

/** Return a duration in seconds in words. */
export function duration(seconds) {
  if (seconds < 1) {
    return "< 1 s";
  }
  const whole = Math.floor(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours) {
    return `${hours} h ${minutes} min`;
  }
  return minutes ? `${minutes} min ${rest} s` : `${rest} s`;
}
