// Table blocks. The first row is the header, as in Slack.
import { el } from "./dom.js";
import { richText } from "./richtext.js";

function cell(tag, value, column) {
  const content = value.type === "rich_text" ? richText(value) : String(value.text ?? value.value ?? "");
  return el(tag, { class: `to-${column?.align || "left"}`, scope: tag === "th" ? "col" : undefined }, content);
}

export function table(block) {
  const columns = block.column_settings || [];
  const row = (tag) => (cells) => el("tr", {}, cells.map((value, index) => cell(tag, value, columns[index])));
  const [head, ...rest] = block.rows;
  const shown = el("table", {}, el("thead", {}, row("th")(head)), el("tbody", {}, rest.map(row("td"))));
  return el("div", { class: "table", tabIndex: 0, role: "region", "aria-label": "Table" }, shown);
}
