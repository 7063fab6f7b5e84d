// The page: where things are drawn, and what moves one from place to place.
import { act, listen, look } from "./api.js";
import { composer } from "./composer.js";
import { el } from "./dom.js";
import { drawHome } from "./home.js";
import { fill } from "./messages.js";
import { drawModal } from "./modal.js";
import { drawPeople, drawRail } from "./rail.js";
import { channelNamed, markThread, recall, remember, state } from "./store.js";
import { toast } from "./toast.js";

const at = (id) => document.getElementById(id);
const log = el("div", { class: "log", role: "log", "aria-label": "Messages", tabIndex: 0 });
const threadLog = el("div", { class: "log", role: "log", "aria-label": "Replies", tabIndex: 0 });
const heading = el("header", { class: "place" });
const homeArea = el("div", { class: "log home-log", hidden: true });
const write = composer({ label: "Message", prompts: () => (asks(channelNamed(state.channel)) ? state.snap.prompts : []) });
const reply = composer({ label: "Reply in thread", thread: () => state.thread || "" });
const asks = (channel) => channel?.has_bot && !channel.is_direct;
let toldNotice = 0;

at("main").append(heading, log, homeArea, write.node);
at("thread").append(
  el("header", { class: "place" }, el("h1", {}, "Thread"), el("button", { class: "icon-button", type: "button", "aria-label": "Close thread", "data-testid": "close-thread", onclick: () => openThread(null) }, "×")),
  threadLog,
  reply.node,
);

function openThread(ts) {
  state.thread = ts;
  remember(true);
  draw();
  if (ts) threadLog.scrollTop = threadLog.scrollHeight;
}

function go(channel) {
  state.channel = channel;
  state.thread = state.target = null;
  remember(true);
  showRail(false);
  lookHome();
  refresh();
}

/** Slack tells the app that its home is looked at, however one came there. */
function lookHome() {
  if (state.channel === "home") act("open_home", { user: state.me });
}

function become(me) {
  state.me = me;
  state.team = null;
  if (state.channel.startsWith("D")) state.channel = `D${me}`;
  remember(true);
  lookHome();
  refresh();
}

function showRail(open) {
  at("office").classList.toggle("rail-open", open);
  at("rail-shade").hidden = !open;
  at("rail-toggle").setAttribute("aria-expanded", String(open));
}

function drawPlace() {
  const channel = channelNamed(state.channel);
  const home = state.channel === "home";
  const name = home ? "vobo home" : channel?.is_direct ? "vobo" : channel?.name || state.channel;
  heading.replaceChildren(
    el("h1", {}, home || channel?.is_direct ? "" : el("span", { class: "quiet" }, "# "), name),
    el("p", { class: "quiet" }, home ? "What the app shows you alone" : channel?.topic || "Only you and the app"),
  );
  homeArea.hidden = !home;
  log.hidden = write.node.hidden = home;
  if (home) return drawHome(homeArea);
  const closed = channel?.is_archived;
  const hint = `Message ${channel?.is_direct ? "vobo" : `#${name}`}`;
  write.refresh({ label: closed ? "This channel is archived" : hint, closed });
  const visible = state.snap.messages.filter((one) => !one.thread_ts || one.thread_ts === one.ts);
  if (visible.length) fill(log, visible, openThread);
  else log.replaceChildren(welcome(channel));
}

function welcome(channel) {
  const stamp = el("span", { class: "big-stamp", "aria-hidden": "true" }, "✓");
  if (channel?.is_archived) return el("div", { class: "empty" }, stamp, el("h2", {}, "Archived"), el("p", {}, "Nobody can write here any more."));
  if (channel?.is_direct) return el("div", { class: "empty" }, stamp, el("h2", {}, "Only you and vobo"), el("p", {}, "Reminders and what concerns you alone arrive here."));
  if (!channel?.has_bot) return el("div", { class: "empty" }, stamp, el("h2", {}, "A quiet room"), el("p", {}, "Nobody has written here yet, and vobo is not a member."));
  const steps = [
    "As Rosa, ask @vobo for something. An example below does.",
    "What needs a yes comes back in the thread as a card.",
    "Become Bruno or Olga at the top, open the thread and decide.",
  ];
  const address = `SLACK_API_URL=${location.origin}/api/`;
  return el(
    "div",
    { class: "empty" },
    stamp,
    el("h2", {}, "Ask the agent for something"),
    el("ol", { class: "steps" }, steps.map((step) => el("li", {}, el("span", {}, step)))),
    !state.snap.connected && el("p", { class: "waiting" }, "The bot is not connected yet. It finds this workspace with ", el("code", {}, address)),
  );
}

function drawThread() {
  const mine = state.snap.messages.find((one) => state.mine.has(one.ts) && one.reply_count);
  if (mine) {
    state.mine.delete(mine.ts);
    if (!state.thread) state.thread = mine.ts;
  }
  const parent = state.snap.messages.find((one) => one.ts === state.thread);
  at("thread").hidden = !parent;
  at("office").classList.toggle("with-thread", Boolean(parent));
  if (!parent) return;
  const replies = state.snap.messages.filter((one) => one.thread_ts === parent.ts && one.ts !== parent.ts);
  fill(threadLog, [{ ...parent, reply_count: 0 }, ...replies]);
  reply.refresh({ label: "Reply in thread", closed: channelNamed(state.channel)?.is_archived });
  if (parent.latest_reply) markThread(parent.ts, parent.latest_reply);
}

function drawState() {
  const node = at("link-state");
  node.className = `link-state ${state.snap.connected ? "on" : "off"}`;
  node.replaceChildren(el("span", { class: "dot", "aria-hidden": "true" }), el("span", {}, state.snap.connected ? "bot connected" : "bot not connected"));
  for (const notice of state.snap.notices) {
    if (notice.at > Math.max(toldNotice, state.born)) toast(notice.text);
    toldNotice = Math.max(toldNotice, notice.at);
  }
}

function draw() {
  drawThread(); // first: it decides what counts as seen
  drawPlace();
  drawRail(at("rail"), go);
  drawPeople(at("people"), become);
  drawModal();
  drawState();
  flashTarget();
  const channel = channelNamed(state.channel);
  const newest = state.snap.messages.at(-1);
  if (channel?.unread && newest && !document.hidden) act("read", { user: state.me, channel: channel.id, ts: newest.ts });
}

function flashTarget() {
  const node = state.target && document.querySelector(`[data-ts="${CSS.escape(state.target)}"]`);
  if (!node) return;
  node.scrollIntoView({ block: "center" });
  node.classList.add("target");
  state.target = null;
}

let looking = false;
let again = false;

async function refresh() {
  if (looking) return void (again = true);
  looking = true;
  try {
    do {
      again = false;
      const [me, channel] = [state.me, state.channel];
      const snap = await look(me, channel);
      if (me !== state.me || channel !== state.channel) again = true;
      else {
        state.snap = snap;
        draw();
      }
    } while (again);
  } catch (problem) {
    toast(problem.message);
  } finally {
    looking = false;
  }
}

/** Links to messages of this workspace stay in this tab, and you stay who you are. */
function follow(event) {
  const link = event.target.closest?.("a[href]");
  const found = link && link.origin === location.origin && /^\/archives\/(\w+)\/p(\d+)(\d{6})$/.exec(link.pathname);
  if (!found) return;
  event.preventDefault();
  state.channel = found[1];
  state.target = `${found[2]}.${found[3]}`;
  state.thread = new URL(link.href).searchParams.get("thread_ts");
  remember(true);
  refresh();
}

at("rail-toggle").addEventListener("click", () => showRail(!at("office").classList.contains("rail-open")));
at("rail-shade").addEventListener("click", () => showRail(false));
document.addEventListener("click", follow);
document.addEventListener("keydown", (event) => event.key === "Escape" && showRail(false));
document.addEventListener("visibilitychange", () => document.hidden || refresh());
addEventListener("popstate", () => (recall(), lookHome(), refresh()));
listen(refresh, () => (at("link-state").className = "link-state off"));
lookHome();
refresh();
