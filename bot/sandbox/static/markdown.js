// The simple half of Markdown: headings, lists, quotes, fences, emphasis, code, links.
import { el } from "./dom.js";
import { anchor } from "./mrkdwn.js";

const INLINE = /`([^`]+)`|\*\*(.+?)\*\*|(?<!\w)[*_](?=\S)(.+?)(?<=\S)[*_](?!\w)|~~(.+?)~~|\[([^\]]+)\]\(([^)\s]+)\)/;

function inline(text) {
  const found = INLINE.exec(text);
  if (!found) return text ? [text] : [];
  const [whole, code, bold, italic, strike, label, href] = found;
  let node;
  if (code) node = el("code", {}, code);
  else if (bold) node = el("strong", {}, inline(bold));
  else if (italic) node = el("em", {}, inline(italic));
  else if (strike) node = el("s", {}, inline(strike));
  else node = anchor(href, label);
  const before = text.slice(0, found.index);
  return [...(before ? [before] : []), node, ...inline(text.slice(found.index + whole.length))];
}

function block(lines) {
  const [first] = lines;
  const heading = /^(#{1,6})\s+(.*)/.exec(first);
  if (heading) return el("h4", {}, inline(heading[2]));
  if (lines.every((line) => /^\s*[-*]\s/.test(line))) return list("ul", lines, /^\s*[-*]\s/);
  if (lines.every((line) => /^\s*\d+[.)]\s/.test(line))) return list("ol", lines, /^\s*\d+[.)]\s/);
  if (lines.every((line) => line.startsWith(">"))) return el("blockquote", {}, inline(lines.map((l) => l.slice(1).trim()).join("\n")));
  return el("p", {}, inline(lines.join("\n")));
}

const list = (tag, lines, mark) => el(tag, {}, lines.map((line) => el("li", {}, inline(line.replace(mark, "")))));

export function markdown(text) {
  const parts = text.split(/^```.*$/m).flatMap((part, index) => {
    if (index % 2) return [el("pre", {}, el("code", {}, part.replace(/^\n|\n$/g, "")))];
    return part.split(/\n{2,}|(?=^#{1,6} )/m).map((chunk) => chunk.trim()).filter(Boolean).flatMap((chunk) => {
      const [first, ...rest] = chunk.split("\n");
      return /^#{1,6} /.test(first) && rest.length ? [block([first]), block(rest)] : [block(chunk.split("\n"))];
    });
  });
  return el("div", { class: "rich" }, parts);
}
