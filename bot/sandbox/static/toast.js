// Short notices at the bottom; they leave by themselves or by a click.
import { el } from "./dom.js";

export function toast(text) {
  const node = el("div", { class: "toast", "data-testid": "toast" }, el("p", {}, text));
  node.append(el("button", { class: "icon-button", "aria-label": "Dismiss", onclick: () => node.remove() }, "×"));
  const stack = document.getElementById("toasts");
  if (stack.matches(":popover-open")) stack.hidePopover();
  stack.append(node);
  stack.showPopover(); // anew each time, so that it is above a dialog opened since
  setTimeout(() => node.remove(), 8000);
}
