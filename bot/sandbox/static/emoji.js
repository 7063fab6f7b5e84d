// The few emoji names an office uses; unknown names stay as they were typed.

const NAMES = {
  white_check_mark: "✅", heavy_check_mark: "✔️", x: "❌", no_entry: "⛔", no_entry_sign: "🚫", warning: "⚠️",
  hourglass: "⌛", hourglass_flowing_sand: "⏳", clock1: "🕐", alarm_clock: "⏰", stopwatch: "⏱️", bell: "🔔",
  lock: "🔒", unlock: "🔓", key: "🔑", eyes: "👀", wave: "👋", raised_hand: "✋", hand: "✋", thumbsup: "👍",
  "+1": "👍", thumbsdown: "👎", "-1": "👎", tada: "🎉", rocket: "🚀", fire: "🔥", moneybag: "💰", money_with_wings: "💸",
  email: "📧", envelope: "✉️", wastebasket: "🗑️", pencil: "✏️", pencil2: "✏️", memo: "📝", clipboard: "📋",
  bar_chart: "📊", mag: "🔍", robot_face: "🤖", question: "❓", grey_question: "❔", exclamation: "❗",
  information_source: "ℹ️", rotating_light: "🚨", red_circle: "🔴", large_yellow_circle: "🟡", large_green_circle: "🟢",
  large_blue_circle: "🔵", white_circle: "⚪", black_circle: "⚫", arrow_right: "➡️", repeat: "🔁", link: "🔗",
  bust_in_silhouette: "👤", busts_in_silhouette: "👥", package: "📦", scroll: "📜", shield: "🛡️", zzz: "💤",
  arrows_counterclockwise: "🔄", leftwards_arrow_with_hook: "↩️", black_square_for_stop: "⏹️", octagonal_sign: "🛑",
};

// For machines without an emoji font: signs that any text font has; other names stay readable as names.
const SIGNS = {
  white_check_mark: "✔", heavy_check_mark: "✔", x: "✘", warning: "⚠", hourglass: "⌛", hourglass_flowing_sand: "⌛",
  arrow_right: "→", envelope: "✉", email: "✉", pencil: "✎", pencil2: "✎", memo: "✎", information_source: "ℹ",
  exclamation: "❗", question: "?", red_circle: "●", large_blue_circle: "●", white_circle: "○", black_circle: "●",
};

function drawn(text) {
  const pen = new OffscreenCanvas(24, 24).getContext("2d", { willReadFrequently: true });
  pen.font = "16px sans-serif";
  pen.fillText(text, 2, 18);
  return pen.getImageData(0, 0, 24, 24).data.join();
}

const hasFont = drawn("👍") !== drawn("💸"); // two missing glyphs look the same

export const emoji = (name) => (hasFont ? NAMES[name] : SIGNS[name]) || `:${name}:`;
export const withEmoji = (text) => text.replace(/:([a-z0-9_+-]+):/g, (whole, name) => (NAMES[name] ? emoji(name) : whole));
