// The connection, the totals and the list of turns.
import { $, clock, colorOf, count, el, seconds, spanOf, svg, words } from "./dom.js";
import { takeStops } from "./chart.js";
import { chosen, close, open, refresh } from "./detail.js";

const MOST_ROWS = 200;
const SAY_EVERY_MS = 5000;
const turns = new Map();
const rows = new Map();
let said = 0;
let losing = null;

// A token in the address has become a cookie by now, and should be in no screenshot or bookmark.
const here = new URL(location.href);
if (here.searchParams.has("token")) {
  here.searchParams.delete("token");
  history.replaceState(null, "", here);
}

// --- the connection ---------------------------------------------------------------------------

function connect() {
  const source = new EventSource("api/stream");
  source.addEventListener("open", connected);
  source.addEventListener("message", (message) => {
    connected();
    take(JSON.parse(message.data));
  });
  source.addEventListener("error", () => {
    // A stream ends every minute and is taken up at once; only what lasts is told.
    losing ??= setTimeout(() => {
      $("connection").textContent = "The connection is lost. Trying again…";
      $("connection").className = "lost";
    }, 4000);
    // After a refusal the browser does not come again by itself.
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 5000);
  });
}

function connected() {
  clearTimeout(losing);
  losing = null;
  if ($("connection").textContent !== "Live") $("connection").textContent = "Live";
  $("connection").className = "";
}

function take(changes) {
  if (changes.whole) turns.clear();
  for (const turn of changes.gone) turns.delete(turn);
  for (const turn of changes.turns) turns.set(turn.turn, turn);
  showTotals(changes.totals);
  takeStops(changes.stops, changes.whole);
  showNotes(changes.notes);
  showTurns();
  if (changes.turns.some((turn) => turn.turn === chosen())) refresh();
  document.documentElement.dataset.sequence = changes.sequence; // for tests: what is shown
}

// --- totals -----------------------------------------------------------------------------------

const NAMES = {
  running: "running", turns: "turns ended", complete: "complete", partial: "partial", failed: "failed", unread: "unread",
  attempts: "attempts", recovered: "recovered", gave_up: "given up", continuations: "continuations",
  truncation_exits: "left cut", faults: "faults", stalls: "stalls", unknown_stops: "unknown stops",
  input_tokens: "tokens in", output_tokens: "tokens out", recovery_input_tokens: "recovery tokens in",
  recovery_output_tokens: "recovery tokens out",
};

function showTotals(totals) {
  const box = $("totals");
  for (const [key, name] of Object.entries(NAMES)) {
    let value = box.querySelector(`[data-key="${key}"]`);
    if (!value) {
      value = el("dd", { "data-key": key });
      box.append(el("div", {}, el("dt", {}, name), value));
    }
    const now = count(totals[key]);
    if (value.textContent !== now) value.textContent = now;
  }
  if (Date.now() - said > SAY_EVERY_MS) {
    said = Date.now();
    $("said").textContent = `${totals.turns} turns ended: ${totals.complete} complete, ${totals.partial} partial, ` +
      `${totals.failed} failed; ${totals.running} running`;
  }
}

function showNotes(notes) {
  const all = Object.entries(notes);
  $("notes").hidden = !all.length;
  $("notes").replaceChildren(...all.map(([what, times]) => el("li", {}, times > 1 ? `${what} (${count(times)} times)` : what)));
}

// --- the list ---------------------------------------------------------------------------------

function showTurns() {
  const state = $("state").value, find = $("find").value.trim().toLowerCase(), recovered = $("recovered").checked;
  const fits = (turn) => (!state || turn.state === state) && (!recovered || turn.recoveries.length) &&
    (!find || [turn.turn, turn.model, turn.provider, turn.reason, turn.stop].some((word) => word?.toLowerCase().includes(find)));
  const fitting = [...turns.values()].filter(fits).reverse();
  const wanted = fitting.slice(0, MOST_ROWS);
  $("shown").textContent = turns.size
    ? `${count(wanted.length)} of the latest ${count(turns.size)} turns are shown.` : "No turn has been seen yet.";
  const body = $("list").tBodies[0];
  const ids = new Set(wanted.map((turn) => turn.turn));
  for (const [id, row] of rows) if (!ids.has(id)) { row.node.remove(); rows.delete(id); }
  // Rows that are there stay the same elements: the keyboard's focus must not jump.
  wanted.forEach((turn, place) => {
    let row = rows.get(turn.turn);
    if (!row) {
      row = made(turn);
      rows.set(turn.turn, row);
    }
    if (row.of !== turn) fill(row, turn);
    if (body.rows[place] !== row.node) body.insertBefore(row.node, body.rows[place] ?? null);
  });
  markChosen();
}

function made(turn) {
  const button = el("button", { type: "button", class: "link mono", onclick: () => open(turn.turn, button) },
    `${clock(turn.started)} ${turn.turn.slice(-12)}`);
  button.setAttribute("aria-label", `Turn ${turn.turn.slice(-12)} of ${clock(turn.started)}`);
  const node = el("tr", {}, el("th", { scope: "row" }, button), ...Array.from({ length: 6 }, () => el("td")));
  node.cells[1].className = node.cells[2].className = node.cells[4].className = "wrap";
  node.cells[5].className = node.cells[6].className = "number";
  return { node, button, of: null };
}

function fill(row, turn) {
  row.of = turn;
  const cells = row.node.cells;
  cells[1].replaceChildren(turn.model || "–", turn.provider === "unknown" ? "" : el("span", { class: "soft" }, ` ${turn.provider}`));
  cells[2].replaceChildren(el("span", { class: `state ${turn.state}` }, turn.state),
    turn.reason && turn.reason !== "completed" ? el("span", { class: "soft" }, ` ${words(turn.reason)}`) : "");
  cells[3].textContent = turn.stop ? words(turn.stop) : "–";
  cells[4].replaceChildren(strip(turn), count(turn.attempts),
    turn.recoveries.length ? el("span", { class: "soft" }, ` ${[...new Set(turn.recoveries)].map(words).join(", ")}`) : "");
  cells[5].textContent = seconds(turn.duration_s);
  cells[6].textContent = turn.input_tokens === null && turn.output_tokens === null ? "–" : `${count(turn.input_tokens)}, ${count(turn.output_tokens)}`;
}

function strip(turn) {
  const width = 90, all = spanOf(turn);
  const scale = (time) => Math.max(0, Math.min(width, (width * time) / all));
  const bars = turn.bars.map((bar) => {
    const rect = svg("rect", { x: scale(bar.at_s), y: 1, height: 10, rx: 2,
      width: Math.max(2, scale(bar.duration_s ?? all - bar.at_s) - 1) });
    rect.style.fill = bar.duration_s === null ? "var(--accent)" : colorOf(bar.stop ?? "unread");
    return rect;
  });
  return svg("svg", { class: "strip", width, height: 12, viewBox: `0 0 ${width} 12`, "aria-hidden": "true" }, ...bars);
}

function markChosen() {
  for (const [id, { node, button }] of rows) {
    node.classList.toggle("chosen", id === chosen());
    if (id === chosen()) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

document.addEventListener("chosen", markChosen);
document.addEventListener("keydown", (key) => { if (key.key === "Escape" && chosen() !== null) close(); });
for (const id of ["state", "recovered"]) $(id).addEventListener("change", showTurns);
$("find").addEventListener("input", showTurns);
connect();
