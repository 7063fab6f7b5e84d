// Things a person fills in. Each entry has a node and a value(): text, an option's value, or a list of them.
import { el, uid } from "./dom.js";
import { decode, textNodes } from "./mrkdwn.js";

const offered = (element) => element.options || (element.option_groups || []).flatMap((group) => group.options);
/** More choices than this scroll in a box of their own, as Slack's select with many answers takes one field. */
const MANY = 8;
const shownText = (object) => decode(object.text);

function typed(element, held, { label, id, described }) {
  const many = element.type === "plain_text_input" && element.multiline;
  const node = el(many ? "textarea" : "input", {
    id,
    class: "typed",
    placeholder: element.placeholder ? shownText(element.placeholder) : "",
    value: held?.value ?? element.initial_value ?? "",
    maxLength: element.max_length,
    "aria-label": label,
    "aria-describedby": described,
  });
  if (many) node.rows = 4;
  if (element.type === "number_input") node.inputMode = element.is_decimal_allowed ? "decimal" : "numeric";
  return { node, value: () => node.value };
}

function select(element, held, { label, id, described }) {
  const now = held?.selected_option ?? element.initial_option;
  const option = (one) => el("option", { value: one.value, selected: one.value === now?.value }, shownText(one.text));
  const blank = element.placeholder ? shownText(element.placeholder) : "Choose…";
  const node = el("select", { id, class: "select", "aria-label": label, "aria-describedby": described }, el("option", { value: "" }, blank));
  node.append(
    ...(element.options || []).map(option),
    ...(element.option_groups || []).map((group) => el("optgroup", { label: shownText(group.label) }, group.options.map(option))),
  );
  return { node, value: () => node.value || null };
}

function choices(element, held, { label, described }, kind) {
  const name = uid();
  const now = held?.selected_options ?? element.initial_options ?? [held?.selected_option ?? element.initial_option].filter(Boolean);
  const node = el(
    "div",
    { class: offered(element).length > MANY ? "choices many" : "choices", role: kind === "radio" ? "radiogroup" : "group", "aria-label": label, "aria-describedby": described },
    offered(element).map((one) =>
      el(
        "label",
        { class: "choice" },
        el("input", { type: kind, name, value: one.value, checked: now.some((chosen) => chosen.value === one.value) }),
        el("span", {}, textNodes(one.text), one.description && el("small", {}, textNodes(one.description))),
      ),
    ),
  );
  const checked = () => [...node.querySelectorAll("input:checked")].map((one) => one.value);
  return { node, value: () => (kind === "radio" ? (checked()[0] ?? null) : checked()) };
}

function picker(element, held, { label, id, described }) {
  const kind = element.type === "datepicker" ? "date" : "time";
  const value = held?.[`selected_${kind}`] ?? element[`initial_${kind}`] ?? "";
  const node = el("input", { id, type: kind, class: "typed short", value, "aria-label": label, "aria-describedby": described });
  return { node, value: () => node.value || null };
}

const KINDS = {
  plain_text_input: typed,
  number_input: typed,
  email_text_input: typed,
  url_text_input: typed,
  static_select: select,
  multi_static_select: (element, held, names) => choices(element, held, names, "checkbox"),
  checkboxes: (element, held, names) => choices(element, held, names, "checkbox"),
  radio_buttons: (element, held, names) => choices(element, held, names, "radio"),
  datepicker: picker,
  timepicker: picker,
};

/** The part one can fill in, holding what was held before. */
export function entry(element, held, names) {
  const make = KINDS[element.type];
  return make ? make(element, held, names) : { node: el("span", { class: "quiet" }, `[${element.type}]`), value: () => null };
}

/** An input block: label, entry, hint and its own error line. */
export function field(block, surface) {
  const [id, hint, problem] = [uid(), uid(), uid()];
  const element = block.element;
  const label = shownText(block.label);
  const made = entry(element, surface.held?.(block.block_id, element.action_id), { label, id, described: `${hint} ${problem}` });
  made.node.dataset.actionId = element.action_id;
  made.node.dataset.blockId = block.block_id;
  made.node.dataset.testid = `input-${block.block_id}`;
  surface.register?.(block, made);
  return el(
    "div",
    { class: "field-block" },
    el("label", { class: "label", for: id }, label, block.optional && el("span", { class: "quiet" }, " (optional)")),
    made.node,
    el("p", { class: "hint", id: hint }, textNodes(block.hint)),
    el("p", { class: "problem", id: problem, role: "alert", "data-error-for": block.block_id }),
  );
}
