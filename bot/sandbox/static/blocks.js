// Block Kit. A surface gives each control what it needs: press(), values, errors and where typed values go.
import { el, uid } from "./dom.js";
import { control } from "./elements.js";
import { field } from "./inputs.js";
import { markdown } from "./markdown.js";
import { textNodes } from "./mrkdwn.js";
import { richText } from "./richtext.js";
import { table } from "./table.js";

const words = (object, name = "text", tag = "div") => object && el(tag, { class: name }, textNodes(object));
const picture = (image) => el("span", { class: "picture", role: "img", "aria-label": image.alt_text }, "▧ ", image.alt_text);

const RENDER = {
  header: (block) => el("h3", { class: "block-header" }, textNodes(block.text)),
  divider: () => el("hr"),
  section: (block, surface) =>
    el(
      "div",
      { class: "section" },
      el("div", { class: "section-words" }, words(block.text), block.fields && el("div", { class: "fields" }, block.fields.map((one) => words(one, "field")))),
      block.accessory && el("div", { class: "accessory" }, block.accessory.type === "image" ? picture(block.accessory) : control(block.accessory, block, surface)),
    ),
  context: (block) => el("div", { class: "context" }, block.elements.map((one) => (one.type === "image" ? picture(one) : words(one, "context-words", "span")))),
  actions: (block, surface) => el("div", { class: "actions", role: "group" }, block.elements.map((one) => control(one, block, surface))),
  input: (block, surface) => field(block, surface),
  rich_text: (block) => richText(block),
  markdown: (block) => markdown(block.text),
  table: (block) => table(block),
  image: (block) => el("figure", {}, block.title && el("figcaption", {}, textNodes(block.title)), picture(block)),
  alert: (block) => el("div", { class: `alert ${block.level || "default"}`, role: "note" }, textNodes(block.text)),
  container: (block, surface) => container(block, surface),
  card: (block, surface) =>
    el("div", { class: "card" }, words(block.title, "card-title"), words(block.subtitle, "quiet"), words(block.body), words(block.subtext, "quiet"),
      block.actions && el("div", { class: "actions" }, block.actions.map((one) => control(one, block, surface)))),
};

function container(block, surface) {
  const inside = renderBlocks(block.child_blocks, surface);
  const title = [textNodes(block.title), block.subtitle && el("span", { class: "quiet" }, " ", textNodes(block.subtitle))];
  if (block.is_collapsible === false) return el("section", { class: "container" }, el("h4", {}, title), inside);
  return el("details", { class: "container", open: !block.default_collapsed }, el("summary", {}, title), inside);
}

/** All blocks of a surface, each in a wrapper that bears its id. */
export function renderBlocks(blocks, surface) {
  return blocks.map((block) => {
    const render = RENDER[block.type] || ((other) => el("div", { class: "quiet" }, `[${other.type}]`));
    return el("div", { class: `block block-${block.type}`, "data-block": block.block_id, id: uid() }, render(block, surface));
  });
}
