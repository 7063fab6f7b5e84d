// The modal on top of a person's stack.
import { act } from "./api.js";
import { renderBlocks } from "./blocks.js";
import { el } from "./dom.js";
import { plain } from "./mrkdwn.js";
import { state } from "./store.js";
import { toast } from "./toast.js";

let shown = null; // { key, dialog, fields, view }

/** Show, change or close the dialog so that it is the top view of the snapshot. */
export function drawModal() {
  const views = state.snap.views;
  const view = views.at(-1);
  const key = view ? `${state.me}/${view.id}/${view.hash}` : null;
  if (shown && shown.key !== key) hide(view);
  if (view && !shown) show(view, key, views.length);
  if (shown) showErrors(view.errors);
}

/** What was typed so far, so that an update of the same view does not lose it. */
const drafts = new Map();

function hide(next) {
  if (next?.id === shown.view.id) for (const [block, made] of shown.fields) drafts.set(`${next.id}/${block.block_id}/${block.element.type}`, made.value());
  else drafts.clear();
  shown.dialog.close();
  shown.dialog.remove();
  shown = null;
}

function held(view) {
  return (blockId, actionId) => {
    const state_ = view.state.values[blockId]?.[actionId];
    const draft = state_ && drafts.get(`${view.id}/${blockId}/${state_.type}`);
    if (typeof draft === "string" && "value" in state_) return { ...state_, value: draft };
    if (Array.isArray(draft) && "selected_options" in state_) return { ...state_, selected_options: draft.map((value) => ({ value })) };
    if (typeof draft === "string" && "selected_option" in state_) return { ...state_, selected_option: { value: draft } };
    return state_;
  };
}

function show(view, key, depth) {
  const fields = [];
  const surface = {
    press: (pressed) => act("click_view", { user: state.me, ...pressed }),
    held: held(view),
    register: (block, made) => {
      fields.push([block, made]);
      if (block.dispatch_action) made.node.addEventListener("change", () => surface.press({ action_id: block.element.action_id, block_id: block.block_id, chosen: made.value() }));
    },
  };
  const blocks = renderBlocks(view.blocks, surface);
  const close = () => act("close_view", { user: state.me });
  const title = el("h2", { id: "modal-title" }, plain(view.title.text));
  const closeText = view.close?.text || (view.submit ? "Cancel" : "Close");
  const submit = view.submit && el("button", { class: "button primary", type: "submit", "data-testid": "modal-submit" }, plain(view.submit.text));
  const form = el(
    "form",
    { noValidate: true, onsubmit: (event) => (event.preventDefault(), send(fields, form)) },
    el(
      "header",
      {},
      depth > 1 && el("span", { class: "depth quiet" }, `${depth} of 3`),
      title,
      el("button", { class: "icon-button", type: "button", "aria-label": "Close", onclick: close }, "×"),
    ),
    el("div", { class: "dialog-body" }, el("div", { class: "alert error form-problem", role: "alert", hidden: true, "data-error-for": "" }), blocks),
    el("footer", {}, el("button", { class: "button", type: "button", "data-testid": "modal-close", onclick: close }, plain(closeText)), submit),
  );
  const dialog = el("dialog", { class: "dialog modal", "aria-labelledby": "modal-title", "data-testid": "modal", "data-callback-id": view.callback_id, "data-view-id": view.id }, form);
  dialog.addEventListener("cancel", (event) => (event.preventDefault(), close()));
  document.body.append(dialog);
  dialog.showModal();
  shown = { key, dialog, fields, view };
  (fields[0]?.[1].node ?? submit)?.focus?.();
}

async function send(fields, form) {
  if (form.classList.contains("busy")) return;
  const values = {};
  for (const [block, made] of fields) values[block.block_id] = { [block.element.action_id]: made.value() };
  form.classList.add("busy");
  form.querySelector("[type=submit]").disabled = true;
  const told = await act("submit", { user: state.me, values });
  form.classList.remove("busy");
  form.querySelector("[type=submit]").disabled = false;
  if (told?.problem) toast(`The app's answer was not usable: ${told.problem}`);
  if (told && shown?.dialog.contains(form)) showErrors(told.errors);
}

function showErrors(errors) {
  let first = null;
  for (const line of shown.dialog.querySelectorAll("[data-error-for]")) {
    const text = errors[line.dataset.errorFor] || "";
    if (text && line.textContent !== text) first ??= line;
    line.textContent = text;
    if (line.dataset.errorFor === "") line.hidden = !text;
    line.closest(".field-block")?.classList.toggle("wrong", Boolean(text));
    line.closest(".field-block")?.querySelector("[data-action-id]")?.setAttribute("aria-invalid", String(Boolean(text)));
  }
  first?.closest(".field-block, .form-problem")?.scrollIntoView({ block: "nearest" });
}
