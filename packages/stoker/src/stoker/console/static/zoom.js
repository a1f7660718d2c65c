// The size of the graph: by buttons, by Ctrl and the wheel, and by + - 0 while the graph has the focus.

const STEPS = [0.1, 0.17, 0.25, 0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3];

/** Return the next larger (or smaller) step. */
function next(scale, larger) {
  const found = larger ? STEPS.find((step) => step > scale + 0.01) : STEPS.findLast((step) => step < scale - 0.01);
  return found ?? (larger ? STEPS.at(-1) : STEPS[0]);
}

/** Make `canvas`, which scrolls a drawing, larger and smaller with `controls`. The drawing may be replaced. */
export function zoomable(canvas, controls, { announce }) {
  const shown = controls.querySelector("output");
  let scale = 1;

  /** Set the scale; the point (x, y) of the canvas stays where it is. */
  function change(wanted, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
    const ratio = wanted / scale;
    const [left, top] = [(canvas.scrollLeft + x) * ratio - x, (canvas.scrollTop + y) * ratio - y];
    scale = wanted;
    canvas.style.setProperty("--zoom", String(scale));
    canvas.scrollTo(left, top);
    shown.textContent = `${Math.round(scale * 100)} %`;
  }

  /** Show the whole width of the drawing, if that does not enlarge it. */
  function fit() {
    const { width } = canvas.querySelector("svg").viewBox.baseVal;
    const style = getComputedStyle(canvas);
    change(Math.min(1, Math.max(STEPS[0], (canvas.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)) / width)));
  }

  const actions = { in: () => change(next(scale, true)), out: () => change(next(scale, false)), fit, whole: () => change(1) };
  controls.hidden = false;
  controls.addEventListener("click", (event) => {
    const button = event.target.closest("[data-zoom]");
    if (button) {
      actions[button.dataset.zoom]();
      announce(`Zoom ${shown.textContent}`);
    }
  });
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault(); // instead of the zoom of the whole page
      const frame = canvas.getBoundingClientRect();
      change(next(scale, event.deltaY < 0), event.clientX - frame.left, event.clientY - frame.top);
    }
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const action = { "+": "in", "=": "in", "-": "out", 0: "whole" }[event.key];
    if (action && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      actions[action]();
      announce(`Zoom ${shown.textContent}`);
    }
  });
}
