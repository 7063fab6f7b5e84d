// Controls that act at once: buttons, menus, selects outside of inputs.
import { confirmed } from "./confirm.js";
import { el } from "./dom.js";
import { entry } from "./inputs.js";
import { textNodes } from "./mrkdwn.js";
import { state } from "./store.js";

const marks = (element, block) => ({
  "data-testid": element.action_id,
  "data-action-id": element.action_id,
  "data-block-id": block.block_id,
});

/** Ask first where the app wants that, then press; the control is busy until the app has answered. */
async function press(node, element, block, surface, chosen) {
  if (node.classList.contains("busy")) return false;
  if (element.confirm && !(await confirmed(element.confirm))) return false;
  node.classList.add("busy");
  node.setAttribute("aria-busy", "true");
  await surface.press({ action_id: element.action_id, block_id: block.block_id, value: element.value, chosen });
  node.classList.remove("busy");
  node.removeAttribute("aria-busy");
  return true;
}

function button(element, block, surface) {
  const node = el(
    "button",
    {
      type: "button",
      class: `button ${element.style || ""}`,
      "aria-label": element.accessibility_label,
      "data-value": element.value,
      ...marks(element, block),
      onclick: () => {
        if (element.url && /^https?:/.test(element.url)) window.open(element.url, "_blank", "noopener");
        press(node, element, block, surface);
      },
    },
    textNodes(element.text),
  );
  return node;
}

function overflow(element, block, surface) {
  const menu = el("div", { class: "menu", role: "menu", hidden: true });
  const toggle = el(
    "button",
    {
      type: "button",
      class: "button more",
      "aria-label": "More actions",
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      ...marks(element, block),
      onclick: () => show(menu.hidden),
    },
    "⋯",
  );
  const show = (open) => {
    menu.hidden = !open;
    toggle.setAttribute("aria-expanded", String(open));
    if (open) menu.firstElementChild.focus();
  };
  menu.append(
    ...element.options.map((option) =>
      el(
        "button",
        {
          type: "button",
          role: "menuitem",
          "data-value": option.value,
          onclick: () => {
            show(false);
            press(toggle, element, block, surface, option.value);
          },
        },
        textNodes(option.text),
      ),
    ),
  );
  const wrap = el("span", { class: "overflow" }, toggle, menu);
  wrap.addEventListener("keydown", (event) => event.key === "Escape" && (show(false), toggle.focus()));
  wrap.addEventListener("focusout", (event) => wrap.contains(event.relatedTarget) || show(false));
  return wrap;
}

/** One element of an actions block or a section's accessory. */
export function control(element, block, surface) {
  if (element.visible_to_user_ids && !element.visible_to_user_ids.includes(state.me)) return null;
  if (element.type === "button") return button(element, block, surface);
  if (element.type === "overflow") return overflow(element, block, surface);
  const held = surface.held?.(block.block_id, element.action_id);
  const made = entry(element, held, { label: element.placeholder?.text || element.action_id });
  Object.entries(marks(element, block)).forEach(([name, value]) => made.node.setAttribute(name, value));
  made.node.addEventListener("change", () => press(made.node, element, block, surface, made.value()));
  return made.node;
}
