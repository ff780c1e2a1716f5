// Elements and words. All text goes through textContent: what a provider wrote is never markup.

export const $ = (id) => document.getElementById(id);

export function el(name, given = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null).map((c) => (c instanceof Node ? c : String(c))));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(name, given, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const STOPS = [
  "end_turn", "tool_call", "stop_sequence", "max_tokens", "context_window_exceeded", "paused", "dropped",
  "error", "malformed_tool_call", "safety_blocked", "refusal", "cancelled", "unknown", "unread",
];

// The order in which stops are stacked and listed; a stop of a later version comes last.
export const inOrder = (stops) =>
  [...stops].sort((a, b) => (STOPS.indexOf(a) + 99) % 99 - (STOPS.indexOf(b) + 99) % 99 || a.localeCompare(b));

export const colorOf = (stop) => `var(--stop-${STOPS.includes(stop) ? stop : "unknown"})`;

export const words = (name) => String(name).replaceAll("_", " ");
export const count = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));
export const seconds = (value) => (value === null || value === undefined ? "–" : value.toFixed(value < 1 ? 3 : value < 100 ? 1 : 0));
export const clock = (time, long = true) =>
  new Date(time * 1000).toLocaleTimeString("en-GB", long ? {} : { hour: "2-digit", minute: "2-digit" });

// How many seconds a turn has taken so far; one that runs goes on until now.
export const spanOf = (turn) =>
  Math.max(turn.duration_s ?? Date.now() / 1000 - turn.started, turn.last - turn.started, 0.001);

export function swatch(stop) {
  const made = el("span", { class: "swatch", "aria-hidden": "true" });
  made.style.background = colorOf(stop);
  return made;
}
