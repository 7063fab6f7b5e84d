// The app's home tab.
import { act } from "./api.js";
import { renderBlocks } from "./blocks.js";
import { el, sync } from "./dom.js";
import { state } from "./store.js";

const empty = () => el("div", { class: "empty" }, el("h2", {}, "Nothing here yet"), el("p", {}, "vobo has not published a home for you. Is the bot running?"));

function drawn(view) {
  const surface = {
    press: (pressed) => act("click_view", { user: state.me, home: true, ...pressed }),
    held: (blockId, actionId) => view.state.values[blockId]?.[actionId],
  };
  return el("div", { class: "home", "data-testid": "home" }, renderBlocks(view.blocks, surface));
}

export function drawHome(container) {
  const view = state.snap.home;
  sync(container, [view ? [`home-${state.me}`, view.hash, () => drawn(view)] : ["empty", state.me, empty]]);
}
