// One turn: its attempts as a timeline, what was decided after each, and its text where that is allowed.
import { $, clock, colorOf, count, el, seconds, spanOf, swatch, words } from "./dom.js";

let about = null;
let shown = null;
let asked = 0;
let opener = null;

const json = async (path) => {
  const answer = await fetch(path);
  if (!answer.ok && answer.status !== 404) throw new Error(`HTTP ${answer.status}`);
  return answer.ok ? answer.json() : null;
};

export const chosen = () => shown;

export async function open(turn, from) {
  opener = from ?? opener;
  shown = turn;
  await refresh();
  $("detail-title")?.focus();
}

export function close() {
  shown = null;
  $("detail").hidden = true;
  $("detail").replaceChildren();
  if (opener?.isConnected) opener.focus();
  else $("turns").focus();
  document.dispatchEvent(new Event("chosen"));
}

export async function refresh() {
  const turn = shown, number = ++asked;
  if (turn === null) return;
  const path = `api/turns/${encodeURIComponent(turn)}`;
  let told = null, text = null;
  try {
    about ??= await json("api/about");
    told = await json(path);
    if (told?.end && about.content) text = await json(`${path}/text`);
  } catch (error) {
    return show([title(turn), el("p", { role: "alert" }, `The turn cannot be shown: ${error.message}`)]);
  }
  if (number !== asked) return; // a later question was faster
  show(told ? page(told, text) : [title(turn), el("p", {}, "This turn is no longer kept.")]);
}

function show(parts) {
  const box = $("detail");
  const held = document.activeElement?.id === "detail-title";
  const unfolded = new Set([...box.querySelectorAll("details[open]")].map((each) => each.dataset.key));
  box.replaceChildren(...parts);
  box.hidden = false;
  for (const each of box.querySelectorAll("details")) each.open = unfolded.has(each.dataset.key);
  if (held) $("detail-title").focus();
  document.dispatchEvent(new Event("chosen"));
}

const title = (turn) =>
  el("div", { class: "bar" },
    el("h2", { id: "detail-title", tabindex: "-1" }, "Turn ", el("span", { class: "mono" }, turn)),
    el("button", { type: "button", onclick: close }, "Close"));

function page({ summary, attempts, recoveries, events, end }, text) {
  const longest = spanOf(summary);
  return [
    title(summary.turn),
    facts([
      ["State", el("span", { class: `state ${summary.state}` }, summary.state)],
      ["Why", end ? words(end.reason) : null],
      ["Advice", end?.advice],
      ["Began", clock(summary.started)],
      ["Seconds", end ? seconds(end.duration_s) : `${seconds(longest)} so far`],
      ["Model", `${summary.model || "–"} (${summary.provider})`],
      ["Wire", summary.wire && `${summary.wire}, ${summary.stream ? "stream" : "body"}`],
      ["Host", summary.host],
      ["Tokens", summary.input_tokens === null && summary.output_tokens === null ? null : `${count(summary.input_tokens)} in, ${count(summary.output_tokens)} out`],
      ["Of recoveries", end?.recovery_output_tokens || end?.recovery_input_tokens
        ? `${count(end.recovery_input_tokens)} in, ${count(end.recovery_output_tokens)} out` : null],
      ["Left out", end?.left_out?.join(", ")],
    ]),
    el("h3", {}, "Attempts"),
    el("ol", { class: "timeline" }, ...attempts.map((each) => attempt(each, longest))),
    ...(recoveries.length ? [el("h3", {}, "Recoveries"), table(
      ["Kind", "Because of", "Result", "Requests", "Seconds"],
      recoveries.map((r) => [words(r.kind), words(r.outcome), r.end ? `${words(r.end.result)} (${words(r.end.reason)})` : "running",
        count(r.end?.attempts), seconds(r.end?.duration_s)]))] : []),
    ...(text ? [el("h3", {}, "Text"), pieces(text.pieces)] : []),
    ...(events.length ? [unfold("events", "Other events", table(
      ["Seconds", "Event", "Attempt", "Fields"],
      events.map((e) => [seconds(e.at_s), words(e.name), count(e.attempt), fields(e.data)])))] : []),
  ];
}

function attempt({ number, at_s, request, answer, decision }, longest) {
  const stop = answer ? answer.stop ?? "unread" : null;
  const bar = el("span");
  bar.style.left = `${Math.min(99, (100 * at_s) / longest)}%`;
  bar.style.width = `${Math.max(0, Math.min(100, (100 * (answer?.duration_s ?? longest - at_s)) / longest))}%`;
  bar.style.background = stop ? colorOf(stop) : "var(--accent)";
  const why = request?.recovery ? `${words(request.recovery)}, ` : "";
  return el("li", {},
    el("strong", {}, `${number}. `), why, stop ? swatch(stop) : null, stop ? words(stop) : "running",
    el("div", { class: "track", "aria-hidden": "true" }, bar),
    facts([
      ["Sent", request && [`at ${seconds(at_s)} s`, request.rung && `rung ${request.rung}`, request.prefill && "with a prefill",
        request.max_tokens !== null && `limit ${count(request.max_tokens)} tokens`,
        request.output_chars && `${count(request.output_chars)} characters kept`].filter(Boolean).join(", ")],
      ["Answered", answer && [answer.status === null ? "no response" : `HTTP ${answer.status}`, answer.lost && `lost: ${words(answer.lost)}`,
        `${seconds(answer.duration_s)} s`, answer.first_byte_s !== null && `head after ${seconds(answer.first_byte_s)} s`,
        answer.usage && `${count(answer.usage.input_tokens)} tokens in, ${count(answer.usage.output_tokens)} out`].filter(Boolean).join(", ")],
      ["Stop", decision && [words(decision.reason), decision.raw === null ? "the provider gave none" : `the provider's word: ${decision.raw}`,
        decision.detail && words(decision.detail), `${decision.confidence} confidence`,
        decision.anomalies.length && `odd: ${decision.anomalies.map(words).join(", ")}`].filter(Boolean).join(", ")],
      ["Outcome", decision && words(decision.outcome)],
      ["Then", decision && (rungOf(decision)?.sentence ?? (decision.rung || "nothing further"))],
    ]),
    decision ? ladder(decision, number) : null);
}

const rungOf = (decision) => about.ladders[decision.outcome]?.find((rung) => rung.rung === decision.rung);

function ladder(decision, number) {
  const rungs = about.ladders[decision.outcome];
  if (!rungs?.length) return null;
  return unfold(`ladder-${number}`, "Rungs and their guards",
    el("p", { class: "words" }, "The first rung whose guards all hold and whose budget is not spent is taken."),
    el("ol", { class: "ladder" }, ...rungs.map((rung) => {
      const taken = rung.rung === decision.rung;
      return el("li", { class: taken ? "taken" : null }, rung.sentence, taken ? " (taken)" : "",
        el("div", { class: "soft" }, rung.guards.length ? `if ${rung.guards.join("; ")}` : "always",
          rung.budget ? `; spends ${words(rung.budget)}` : ""));
    })));
}

function pieces(texts) {
  const parts = texts.flatMap((text, i) =>
    i ? [el("span", { class: "seam" }, "seam"), text] : [text]);
  return el("pre", { class: "text", tabindex: "0", role: "region", "aria-label": "Text of the turn" }, ...parts);
}

const facts = (rows) =>
  el("dl", { class: "facts" }, ...rows.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));

const unfold = (key, name, ...parts) => el("details", { "data-key": key }, el("summary", {}, name), ...parts);

const table = (heads, rows) =>
  el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": heads.join(", ") }, el("table", {},
    el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", { class: "wrap" }, cell)))))));

const fields = (data) => Object.entries(data)
  .map(([name, value]) => `${words(name)}: ${Array.isArray(value) ? value.join(", ") : value}`).join("; ");
