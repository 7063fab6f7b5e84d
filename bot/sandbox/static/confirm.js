// The "are you sure" of a control.
import { el } from "./dom.js";
import { textNodes } from "./mrkdwn.js";

const label = (object, otherwise) => (object ? textNodes(object) : otherwise);

/** Resolves to whether the person agreed. */
export function confirmed(asked) {
  return new Promise((resolve) => {
    const dialog = el("dialog", { class: "dialog confirm", "data-testid": "confirm", "aria-label": asked.title?.text || "Are you sure?" });
    const done = (answer) => () => dialog.close(answer);
    dialog.append(
      el("h2", {}, label(asked.title, "Are you sure?")),
      el("div", { class: "dialog-body" }, textNodes(asked.text)),
      el(
        "footer",
        {},
        el("button", { class: "button", type: "button", "data-testid": "confirm-deny", onclick: done("") }, label(asked.deny, "Cancel")),
        el("button", { class: `button ${asked.style || "primary"}`, type: "button", "data-testid": "confirm-yes", onclick: done("yes") }, label(asked.confirm, "Confirm")),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
