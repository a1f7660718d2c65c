// Changing a part of the page without losing the focus.

const sources = new WeakMap(); // row → its content as the server sent it, before scripts changed it

/** Remember a row as the server sent it. */
export function remember(row) {
  if (!sources.has(row)) {
    sources.set(row, row.innerHTML);
  }
}

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";

/** Do work that replaces a part of the page; what has the focus in the old part gets it in the new one. */
function keepFocus(old, work) {
  if (!old.contains(document.activeElement)) {
    return work();
  }
  const items = (part) => [...part.querySelectorAll(FOCUSABLE)];
  const place = items(old).indexOf(document.activeElement);
  const label = document.activeElement?.textContent;
  const fresh = work();
  if (place >= 0) {
    const found = items(fresh);
    (found.find((item) => item.textContent === label) ?? found[place] ?? fresh).focus({ preventScroll: true });
  }
  return fresh;
}

/** Put an element of another document in the place of one; its open menus stay open, its folded branch folded. */
export function replaceElement(old, fresh) {
  return keepFocus(old, () => {
    const copy = document.importNode(fresh, true);
    old.querySelectorAll("details[open][id]").forEach((item) => {
      copy.querySelector(`#${item.id}`)?.setAttribute("open", "");
    });
    const [fold, freshFold] = [old, copy].map((part) => part.querySelector(".fold"));
    if (fold && freshFold) {
      freshFold.setAttribute("aria-expanded", fold.getAttribute("aria-expanded"));
    }
    old.replaceWith(copy);
    return copy;
  });
}

/** Give an element the content of an element of another document. */
export function replaceContent(old, fresh) {
  keepFocus(old, () => {
    old.replaceChildren(...[...fresh.childNodes].map((node) => document.importNode(node, true)));
    return old;
  });
}

/** Make the rows of one table body like those of another, by ID; rows that did not change are kept. */
export function patchRows(old, fresh) {
  const wanted = [...fresh.children];
  wanted.forEach((row, place) => {
    const known = row.id ? document.getElementById(row.id) : null;
    let kept = known;
    if (!known) {
      kept = document.importNode(row, true);
    } else if ((sources.get(known) ?? known.innerHTML) !== row.innerHTML) {
      kept = replaceElement(known, row);
      kept.hidden = known.hidden;
    }
    if (old.children[place] !== kept) {
      old.insertBefore(kept, old.children[place] ?? null);
    }
  });
  while (old.children.length > wanted.length) {
    old.lastElementChild.remove();
  }
}
