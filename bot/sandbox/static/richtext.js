// rich_text blocks. Leaves are shown as they are: never read as mrkdwn, never decoded.
import { formatted } from "./dates.js";
import { el } from "./dom.js";
import { emoji } from "./emoji.js";
import { anchor, mention } from "./mrkdwn.js";
import { channelNamed, groupNamed, person } from "./store.js";

const STYLES = { bold: "strong", italic: "em", strike: "s", code: "code", underline: "u", highlight: "mark" };

const LEAVES = {
  text: (leaf) => leaf.text,
  link: (leaf) => anchor(leaf.url, leaf.text || leaf.url),
  emoji: (leaf) => emoji(leaf.name),
  user: (leaf) => mention(`@${person(leaf.user_id)?.name || leaf.user_id}`, leaf.user_id),
  usergroup: (leaf) => mention(`@${groupNamed(leaf.usergroup_id)?.handle || leaf.usergroup_id}`),
  channel: (leaf) => mention(`#${channelNamed(leaf.channel_id)?.name || leaf.channel_id}`),
  broadcast: (leaf) => mention(`@${leaf.range}`, null, "broadcast"),
  date: (leaf) => {
    const words = formatted(leaf.timestamp, leaf.format, leaf.fallback);
    return leaf.url ? anchor(leaf.url, words) : el("time", { title: leaf.fallback }, words);
  },
  color: (leaf) => leaf.value,
};

function leafNode(leaf) {
  let node = (LEAVES[leaf.type] || ((other) => `[${other.type}]`))(leaf);
  for (const [style, tag] of Object.entries(STYLES)) if (leaf.style?.[style]) node = el(tag, {}, node);
  return node;
}

const leafNodes = (part) => part.elements.map(leafNode);

const PARTS = {
  rich_text_section: (part) => el("p", {}, leafNodes(part)),
  rich_text_preformatted: (part) => el("pre", { "data-language": part.language }, el("code", {}, leafNodes(part))),
  rich_text_quote: (part) => el("blockquote", {}, leafNodes(part)),
  rich_text_list: (part) => {
    const list = el(part.style === "ordered" ? "ol" : "ul", { class: `indent-${part.indent || 0}` });
    if (part.offset) list.start = part.offset + 1;
    list.append(...part.elements.map((section) => el("li", {}, leafNodes(section))));
    return list;
  },
};

export function richText(block) {
  return el("div", { class: "rich" }, block.elements.map((part) => PARTS[part.type](part)));
}
