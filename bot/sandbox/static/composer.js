// Where one writes: mentions, slash commands, prompts to begin with.
import { act } from "./api.js";
import { el } from "./dom.js";
import { channelNamed, state } from "./store.js";
import { toast } from "./toast.js";

async function send(text, thread) {
  const channel = state.channel;
  if (text.startsWith("/")) {
    if (thread) return toast("Slash commands do not work in threads; write them in the channel."), false;
    const [command, ...rest] = text.split(" ");
    return Boolean(await act("slash", { user: state.me, channel, command, text: rest.join(" ") }));
  }
  const said = await act("say", { user: state.me, channel, text, ...(thread ? { thread_ts: thread } : {}) });
  if (said && !thread) state.mine.add(said.ts);
  if (said && /@vobo\b/.test(text) && !channelNamed(channel)?.has_bot) toast("vobo is not a member of this channel, so it does not hear this.");
  return Boolean(said);
}

/** A composer; `thread` is a function that gives the thread's ts, or nothing in the channel. */
export function composer({ label, thread = () => null, prompts = () => [] }) {
  const area = el("textarea", { rows: 1, class: "typed", "aria-label": label, placeholder: label, "data-testid": thread() === null ? "composer" : "thread-composer" });
  const button = el("button", { class: "button primary send", type: "submit", "aria-label": "Send" }, "Send");
  const chips = el("div", { class: "chips", "aria-label": "Examples" });
  const grow = () => {
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight + 2, 180)}px`;
    chips.hidden = area.value !== "" || chips.children.length === 0;
    button.disabled = area.value.trim() === "";
  };
  const submit = async (event) => {
    event?.preventDefault();
    const text = area.value.trim();
    if (!text) return;
    area.value = "";
    grow();
    if (!(await send(text, thread()))) area.value ||= text;
    grow();
  };
  area.addEventListener("input", grow);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  });
  const node = el("form", { class: "composer", onsubmit: submit }, chips, el("div", { class: "composer-row" }, area, button));
  const refresh = (options) => {
    area.placeholder = options.label;
    area.setAttribute("aria-label", options.label);
    area.disabled = Boolean(options.closed);
    const wanted = options.closed ? [] : prompts();
    if (chips.dataset.for !== wanted.join("|")) {
      chips.dataset.for = wanted.join("|");
      chips.replaceChildren(
        ...wanted.map((text) =>
          el("button", { class: "chip", type: "button", "data-testid": "prompt", onclick: () => ((area.value = text), submit()) }, text),
        ),
      );
    }
    grow();
  };
  return { node, refresh, focus: () => area.focus() };
}
