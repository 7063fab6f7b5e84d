// Slack's date tokens, in the reader's own time zone.

const LONG = { weekday: "long", year: "numeric", month: "long", day: "numeric" };
const MIDDLE = { year: "numeric", month: "long", day: "numeric" };
const SHORT = { year: "numeric", month: "short", day: "numeric" };

function pretty(when, options) {
  const day = (date) => Math.floor((date.getTime() - date.getTimezoneOffset() * 60000) / 86400000);
  const away = day(when) - day(new Date());
  const near = { "-1": "yesterday", 0: "today", 1: "tomorrow" }[away];
  return near || when.toLocaleDateString("en", options);
}

function ago(when) {
  const seconds = Math.round((when.getTime() - Date.now()) / 1000);
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= size) return words.format(Math.round(seconds / size), unit);
  }
  return words.format(seconds, "second");
}

const TOKENS = {
  date_num: (when) => when.toLocaleDateString("sv"),
  date: (when) => when.toLocaleDateString("en", MIDDLE),
  date_short: (when) => when.toLocaleDateString("en", SHORT),
  date_long: (when) => when.toLocaleDateString("en", LONG),
  date_pretty: (when) => pretty(when, MIDDLE),
  date_short_pretty: (when) => pretty(when, SHORT),
  date_long_pretty: (when) => pretty(when, LONG),
  time: (when) => when.toLocaleTimeString("en", { hour: "numeric", minute: "2-digit" }),
  time_secs: (when) => when.toLocaleTimeString("en", { hour: "numeric", minute: "2-digit", second: "2-digit" }),
  ago,
};

/** `{date_short_pretty} at {time}` filled in; the fallback when the timestamp is not one. */
export function formatted(timestamp, format, fallback) {
  const when = new Date(Number(timestamp) * 1000);
  if (Number.isNaN(when.getTime())) return fallback || "";
  return format.replace(/\{(\w+)\}/g, (token, name) => (TOKENS[name] ? TOKENS[name](when) : token));
}

export const clock = (ts) => TOKENS.time(new Date(Number(ts) * 1000));
export const full = (ts) => new Date(Number(ts) * 1000).toLocaleString("en", { dateStyle: "full", timeStyle: "medium" });
export const dayOf = (ts) => pretty(new Date(Number(ts) * 1000), LONG);
