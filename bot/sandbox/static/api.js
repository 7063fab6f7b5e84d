// Talking to the workspace: verbs, snapshots, and the stream that says when to look again.
import { state } from "./store.js";
import { toast } from "./toast.js";

/** Do one control verb; null (and a toast with the reason) when it cannot be done. */
export async function act(verb, args) {
  try {
    const answer = await fetch(`/_control/${verb}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(state.team ? { ...args, team_id: state.team } : args),
    });
    const told = await answer.json();
    if (answer.ok) return told;
    toast(told.error);
  } catch {
    toast("The workspace does not answer. Is it still running?");
  }
  return null;
}

/** What one person sees now. */
export async function look(me, channel) {
  const answer = await fetch(`/_page/snapshot?${new URLSearchParams({ as: me, channel, ...(state.team && { team: state.team }) })}`);
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer.json();
}

/** Call `changed` after every burst of changes, `lost` when the workspace is gone. */
export function listen(changed, lost) {
  const stream = new EventSource("/_page/stream");
  stream.addEventListener("change", changed);
  stream.addEventListener("error", lost);
}
