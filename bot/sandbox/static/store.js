// The page's own state: who you are, where you are, and the last snapshot.

const query = new URLSearchParams(location.search);

export const state = {
  me: query.get("as") || "U0005",
  team: query.get("team"), // somebody of another company who may bear a colleague's id
  channel: query.get("channel") || "C_REFUNDS",
  thread: query.get("thread"),
  target: query.get("ts"),
  snap: null,
  born: Date.now() / 1000,
  mine: new Set(), // messages sent from this tab: their thread opens with the first reply
};

/** Put the place into the address bar, so that a reload comes back to it. */
export function remember(push = false) {
  const next = new URLSearchParams({ as: state.me, channel: state.channel });
  if (state.team) next.set("team", state.team);
  if (state.thread) next.set("thread", state.thread);
  history[push ? "pushState" : "replaceState"](null, "", `/?${next}`);
}

/** Read the place back after the browser's Back button. */
export function recall() {
  const now = new URLSearchParams(location.search);
  state.me = now.get("as") || state.me;
  state.team = now.get("team");
  state.channel = now.get("channel") || state.channel;
  state.thread = now.get("thread");
}

export const person = (id) => state.snap?.people.find((one) => one.id === id);
export const channelNamed = (id) => state.snap?.channels.find((one) => one.id === id);
export const groupNamed = (id) => state.snap?.usergroups.find((one) => one.id === id);

const seen = new Map(Object.entries(JSON.parse(sessionStorage.getItem("threads") || "{}")));
/** The newest reply of a thread this person has looked at. */
export const threadSeen = (ts) => seen.get(`${state.me}/${ts}`) || "0";
export function markThread(ts, latest) {
  seen.set(`${state.me}/${ts}`, latest);
  sessionStorage.setItem("threads", JSON.stringify(Object.fromEntries(seen)));
}
