// One message, and lists of them.
import { act } from "./api.js";
import { renderBlocks } from "./blocks.js";
import { clock, dayOf, full } from "./dates.js";
import { el, sync } from "./dom.js";
import { emoji } from "./emoji.js";
import { mrkdwn } from "./mrkdwn.js";
import { person, state, threadSeen } from "./store.js";

export function avatar(who, size = "") {
  if (who?.is_bot) return el("span", { class: `avatar bot ${size}`, "aria-hidden": "true" }, "✓");
  const initials = (who?.real_name || "?").split(" ").map((word) => word[0]).join("").slice(0, 2);
  const hue = [...(who?.id || "?")].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 6;
  return el("span", { class: `avatar hue-${hue} ${size}`, "aria-hidden": "true" }, initials);
}

function surfaceOf(message) {
  const press = (pressed) => act("click", { user: state.me, channel: state.channel, ts: message.ts, ...pressed });
  return { press };
}

function content(message) {
  const parts = [];
  // As in Slack, text is only the summary for readers and notifications once there are blocks.
  if (message.blocks?.length && message.bot_id) parts.push(...renderBlocks(message.blocks, surfaceOf(message)));
  else parts.push(el("div", { class: "text" }, mrkdwn(message.text)));
  for (const attached of message.attachments || []) {
    parts.push(el("div", { class: "attachment" }, attached.title || attached.text || attached.fallback || ""));
  }
  for (const file of message.files || []) {
    parts.push(el("img", { class: "file", src: `/files/${file.id}`, alt: file.alt_txt || file.title }));
  }
  return parts;
}

function replyLine(message, openThread) {
  if (!message.reply_count) return null;
  const fresh = message.latest_reply > threadSeen(message.ts);
  const faces = message.reply_users.slice(0, 3).map((id) => avatar(person(id), "small"));
  const many = message.reply_count === 1 ? "1 reply" : `${message.reply_count} replies`;
  return el(
    "button",
    { class: `replies${fresh ? " fresh" : ""}`, type: "button", "data-testid": "open-thread", onclick: () => openThread(message.ts) },
    el("span", { class: "faces" }, faces),
    el("strong", {}, many),
    el("span", { class: "quiet" }, fresh ? "new" : `last at ${clock(message.latest_reply)}`),
  );
}

function reactions(message) {
  if (!message.reactions) return null;
  return el("div", { class: "reactions" }, message.reactions.map((one) => el("span", { class: "reaction" }, `${emoji(one.name)} ${one.count}`)));
}

/** A message; `openThread` is left out inside a thread. */
export function messageNode(message, openThread) {
  const who = person(message.user);
  const name = who?.real_name || message.user;
  const classes = ["message", message.is_ephemeral && "private", message.ts === state.target && "target"];
  return el(
    "article",
    { tabIndex: -1, class: classes.filter(Boolean).join(" "), "data-testid": "message", "data-ts": message.ts, "aria-label": `${name}, ${clock(message.ts)}` },
    avatar(who),
    el(
      "div",
      { class: "message-main" },
      el(
        "header",
        {},
        el("strong", {}, name),
        who?.is_bot && el("span", { class: "tag" }, "APP"),
        who?.is_stranger && el("span", { class: "tag outside" }, "OUTSIDE"),
        el("time", { class: "quiet", title: full(message.ts) }, clock(message.ts)),
        message.is_ephemeral && el("span", { class: "only-you" }, "Only visible to you"),
      ),
      el("div", { class: "content" }, content(message), message.edited && el("span", { class: "quiet edited" }, "(edited)")),
      reactions(message),
      openThread && replyLine(message, openThread),
    ),
    openThread && !message.is_ephemeral &&
      el("button", { class: "icon-button start-thread", type: "button", title: "Reply in thread", "aria-label": "Reply in thread", onclick: () => openThread(message.ts) }, "↩"),
  );
}

/** Fill a log with messages, a divider before each new day; stays at the end when it was there. */
export function fill(log, messages, openThread) {
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 80;
  const wanted = [];
  let day = null;
  for (const message of messages) {
    const today = dayOf(message.ts);
    if (today !== day) wanted.push([`day-${today}`, 0, () => el("div", { class: "day", role: "separator" }, el("span", {}, today))]);
    day = today;
    const fresh = openThread && message.latest_reply > threadSeen(message.ts);
    const revision = `${state.me}/${message.revision}/${Boolean(fresh)}`;
    wanted.push([message.ts, revision, () => messageNode(message, openThread)]);
  }
  sync(log, wanted);
  if (atEnd) log.scrollTop = log.scrollHeight;
}
