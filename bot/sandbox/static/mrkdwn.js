// Slack's mrkdwn. Tokens and code are cut out first, emphasis is read on what remains, and entities are decoded
// last, leaf by leaf, so that a decoded `<` can never become a token.
import { formatted } from "./dates.js";
import { el } from "./dom.js";
import { withEmoji } from "./emoji.js";
import { channelNamed, groupNamed, person, state } from "./store.js";

const OPEN = "\uE000";
const CLOSE = "\uE001";
const CUT = /```([\s\S]+?)```|`([^`\n]+)`|<([^<>\n]+)>/g;
const PIECE = new RegExp(`${OPEN}(\\d+)${CLOSE}`);
const EMPHASIS = /(^|[\s([{"'“‘_~*>—–/-])([*_~])(?=[^\s*_~])([^\n]*?[^\s])\2(?=$|[\s).,!?:;\]}"'’”_~*—–/-])/;
const TAGS = { "*": "strong", _: "em", "~": "s" };
const BARE_URL = /https?:\/\/(?:(?!&[lg]t;)[^\s<>|])*[^\s<>|.,!?:;&)\]}"']/;

export const decode = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");

/** Nodes for a mrkdwn text. */
export function mrkdwn(text, verbatim = false) {
  const pieces = [];
  const cut = text.replaceAll(OPEN, "").replaceAll(CLOSE, "").replace(CUT, (whole, block, code, token) => {
    const node = block ? preformatted(block) : code ? el("code", {}, decode(code)) : tokenNode(token);
    if (!node) return whole;
    pieces.push(node);
    return `${OPEN}${pieces.length - 1}${CLOSE}`;
  });
  return lines(cut, { pieces, verbatim });
}

/** A text object: mrkdwn or plain. */
export function textNodes(object) {
  if (!object) return [];
  return object.type === "mrkdwn" ? mrkdwn(object.text, object.verbatim) : plain(object.text);
}

/** Plain text: line breaks and emoji names, nothing else. */
export const plain = (text) => [document.createTextNode(withEmoji(decode(text)))];

const preformatted = (text) => el("pre", {}, el("code", {}, decode(text.replace(/^\n|\n$/g, ""))));

function lines(text, context) {
  const nodes = [];
  let quote = null;
  text.split("\n").forEach((line, index, all) => {
    const quoted = /^(?:&gt;|>) ?/.exec(line);
    const parts = emphasised(quoted ? line.slice(quoted[0].length) : line, context);
    if (quoted) {
      if (quote) quote.append("\n");
      else nodes.push((quote = el("blockquote")));
      quote.append(...parts);
      return;
    }
    const last = nodes.at(-1);
    if (index && !quote && last?.tagName !== "PRE") nodes.push("\n");
    quote = null;
    nodes.push(...(index < all.length || line ? parts : []));
  });
  return nodes;
}

function emphasised(text, context) {
  const found = EMPHASIS.exec(text);
  if (!found) return leaves(text, context);
  const start = found.index + found[1].length;
  const end = start + found[3].length + 2;
  return [
    ...leaves(text.slice(0, start), context),
    el(TAGS[found[2]], {}, emphasised(found[3], context)),
    ...emphasised(text.slice(end), context),
  ];
}

function leaves(text, context) {
  return text.split(new RegExp(`(${OPEN}\\d+${CLOSE})`)).flatMap((part) => {
    const piece = PIECE.exec(part);
    if (piece) return [context.pieces[Number(piece[1])]];
    if (!part) return [];
    const url = context.verbatim ? null : BARE_URL.exec(part);
    if (!url) return plain(part);
    const after = part.slice(url.index + url[0].length);
    return [...plain(part.slice(0, url.index)), anchor(decode(url[0]), decode(url[0])), ...leaves(after, context)];
  });
}

function tokenNode(token) {
  const [target, label] = token.split(/\|(.*)/s);
  if (target.startsWith("@")) return mention(`@${person(target.slice(1))?.name || label || target.slice(1)}`, target.slice(1));
  if (target.startsWith("#")) return mention(`#${channelNamed(target.slice(1))?.name || label || target.slice(1)}`);
  if (target.startsWith("!date^")) {
    const [, stamp, format, href] = target.split("^");
    const words = formatted(stamp, decode(format || ""), label && decode(label));
    const shown = el("time", { title: label && decode(label) }, words);
    return href ? anchor(decode(href), words) : shown;
  }
  if (target.startsWith("!subteam^")) {
    const id = target.slice(9);
    return mention(`@${groupNamed(id)?.handle || label?.replace(/^@/, "") || id}`);
  }
  if (/^!(here|channel|everyone)$/.test(target)) return mention(`@${target.slice(1)}`, null, "broadcast");
  if (target.startsWith("!")) return el("span", {}, `<${decode(label || target)}>`);
  return /^(https?:|mailto:)/.test(target) ? anchor(decode(target), decode(label || target)) : null;
}

/** A mention pill; your own stands out. */
export function mention(text, id = null, kind = "") {
  const mine = id === state.me || kind === "broadcast";
  return el("span", { class: `mention${mine ? " mine" : ""}`, "data-mention": id || text }, text);
}

/** A link that leads only where http, https or mailto can. */
export function anchor(href, text) {
  if (!/^(https?:|mailto:)/.test(href)) return el("span", {}, text);
  return el("a", { href, rel: "noopener noreferrer nofollow", target: "_blank" }, text);
}
