// Building elements. Text is only ever set as text; nothing here reads HTML.

/** An element with properties, `data-*`/`aria-*` attributes, `on*` listeners and children (null is skipped). */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name.includes("-") || name === "role" || name === "for" || name === "list") node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Bring a container's children in line with `wanted` ([key, revision, make]); unchanged ones keep their node. */
export function sync(container, wanted) {
  const known = new Map([...container.children].map((child) => [child.dataset.key, child]));
  let place = container.firstElementChild;
  for (const [key, revision, make] of wanted) {
    let node = known.get(key);
    known.delete(key);
    if (!node || node.dataset.revision !== String(revision)) {
      const fresh = make();
      fresh.dataset.key = key;
      fresh.dataset.revision = revision;
      if (node) {
        if (node === place) place = fresh;
        const focus = node.contains(document.activeElement) && document.activeElement.dataset;
        node.replaceWith(fresh);
        if (focus) refocus(fresh, focus);
      }
      node = fresh;
    }
    if (node === place) place = place.nextElementSibling;
    else container.insertBefore(node, place);
  }
  for (const gone of known.values()) gone.remove();
}

/** Whoever uses the keyboard stays where they were: on the same control, or on the message that lost it. */
function refocus(fresh, { actionId, blockId, value }) {
  const same = [...fresh.querySelectorAll("[data-action-id]")].find(
    ({ dataset }) => dataset.actionId === actionId && dataset.blockId === blockId && dataset.value === value,
  );
  (same || fresh).focus({ preventScroll: true });
}

/** A stable id for labels, unique in the page. */
let last = 0;
export const uid = () => `u${(last += 1)}`;
