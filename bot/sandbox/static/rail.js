// Channels on the left, people at the top.
import { el, sync } from "./dom.js";
import { avatar } from "./messages.js";
import { state } from "./store.js";

function entry(channel, go) {
  const here = channel.id === state.channel;
  const mark = channel.is_direct ? el("span", { class: "rail-mark stamp-mark", "aria-hidden": "true" }, "✓") : el("span", { class: "rail-mark", "aria-hidden": "true" }, channel.is_archived ? "▤" : "#");
  return el(
    "button",
    {
      class: `rail-entry${here ? " here" : ""}${channel.unread ? " unread" : ""}`,
      type: "button",
      "aria-current": here ? "page" : undefined,
      "data-testid": `channel-${channel.id}`,
      onclick: () => go(channel.id),
    },
    mark,
    el("span", { class: "rail-name" }, channel.is_direct ? "vobo" : channel.name),
    channel.unread > 0 && el("span", { class: `badge${channel.mentions ? " urgent" : ""}`, "aria-label": `${channel.unread} unread` }, String(channel.unread)),
  );
}

/** The list of channels, the direct message with the bot, and its home. */
export function drawRail(rail, go) {
  const { channels } = state.snap;
  const section = (title, entries) => [el("h2", {}, title), el("div", { class: "rail-group" }, entries)];
  const home = el(
    "button",
    { class: `rail-entry${state.channel === "home" ? " here" : ""}`, type: "button", "data-testid": "channel-home", onclick: () => go("home") },
    el("span", { class: "rail-mark", "aria-hidden": "true" }, "⌂"),
    el("span", { class: "rail-name" }, "vobo home"),
  );
  const focused = document.activeElement?.dataset?.testid;
  rail.replaceChildren(
    ...section("Channels", channels.filter((one) => !one.is_direct).map((one) => entry(one, go))),
    ...section("Direct messages", channels.filter((one) => one.is_direct).map((one) => entry(one, go))),
    ...section("Apps", [home]),
    el("p", { class: "rail-note" }, "A stand-in for Slack on this machine. Switch person above to see the office through other eyes."),
  );
  if (focused?.startsWith("channel-")) rail.querySelector(`[data-testid="${focused}"]`)?.focus();
  const total = channels.reduce((sum, one) => sum + (one.id === state.channel ? 0 : one.unread), 0);
  const badge = document.getElementById("rail-badge");
  badge.hidden = total === 0;
  badge.textContent = String(total);
  document.title = `${total ? `(${total}) ` : ""}vobo sandbox`;
}

/** Who you are; everybody who could sit at a keyboard. */
export function drawPeople(container, become) {
  const people = state.snap.people.filter((one) => !one.is_bot && !one.deleted);
  sync(
    container,
    people.map((one) => [one.id, `${one.id === state.me}`, () => pill(one, become)]),
  );
}

function pill(one, become) {
  const here = one.id === state.me;
  const node = el(
    "button",
    {
      class: `person${here ? " here" : ""}`,
      type: "button",
      role: "radio",
      "aria-checked": String(here),
      "aria-label": `${one.real_name}, ${one.role}: ${one.blurb}`,
      title: `${one.real_name} · ${one.blurb}`,
      "data-testid": `person-${one.id}`,
      onclick: () => become(one.id),
    },
    avatar(one, "small"),
    el("span", { class: "person-words" }, el("strong", {}, one.real_name.split(" ")[0]), el("small", {}, one.role)),
  );
  if (here) requestAnimationFrame(() => node.scrollIntoView({ inline: "nearest", block: "nearest" }));
  return node;
}
