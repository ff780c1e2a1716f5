// Why attempts stopped, by the minute: stacked bars, and the same as a table.
/* global uPlot */
import { $, clock, colorOf, count, el, inOrder, swatch, words } from "./dom.js";

const MINUTES = 60;
const cells = new Map(); // "minute model stop" → {minute, model, stop, count}
let plot = null;
let drawn = "";

export function takeStops(stops, whole) {
  if (whole) cells.clear();
  for (const each of stops) cells.set(JSON.stringify([each.minute, each.model, each.stop]), each);
  if (stops.length || whole) draw();
}

function draw() {
  const all = [...cells.values()];
  chooseModels(new Set(all.map((cell) => cell.model)));
  const model = $("chart-model").value;
  const newest = all.reduce((latest, cell) => Math.max(latest, cell.minute), 0);
  const shown = all.filter((c) => c.minute > newest - MINUTES * 60 && (!model || c.model === model));
  const stops = inOrder(new Set(shown.map((cell) => cell.stop)));
  drawBars(shown, stops, newest);
  const sums = stops.map((stop) => shown.filter((c) => c.stop === stop).reduce((sum, c) => sum + c.count, 0));
  $("chart-words").textContent = stops.length
    ? `In the ${MINUTES} minutes up to ${clock(newest, false)}: ` +
      stops.map((stop, i) => `${words(stop)} ${count(sums[i])}`).join(", ") + "."
    : "No attempt has ended yet.";
  $("chart-key").replaceChildren(...stops.map((stop) => el("li", {}, swatch(stop), words(stop))));
  shown.sort((a, b) => b.minute - a.minute || a.model.localeCompare(b.model) || a.stop.localeCompare(b.stop));
  $("chart-table").tBodies[0].replaceChildren(
    ...shown.map((cell) =>
      el("tr", {},
        el("th", { scope: "row" }, clock(cell.minute, false)), el("td", {}, cell.model || "–"),
        el("td", {}, words(cell.stop)), el("td", { class: "number" }, count(cell.count)))));
}

function drawBars(shown, stops, newest) {
  const minutes = Array.from({ length: MINUTES }, (_, i) => newest - (MINUTES - 1 - i) * 60);
  const levels = minutes.map(() => 0);
  const stacks = stops.map((stop) => {
    for (const cell of shown) if (cell.stop === stop) levels[MINUTES - 1 - (newest - cell.minute) / 60] += cell.count;
    return [...levels];
  });
  // The highest level is drawn first, and the ones below cover it: so the bars look stacked.
  const order = stops.map((_, i) => stops.length - 1 - i);
  const values = [minutes, ...order.map((i) => stacks[i])];
  const now = stops.join();
  if (plot && now === drawn) return plot.setData(values);
  plot?.destroy();
  plot = null;
  drawn = now;
  if (stops.length) plot = new uPlot(options(order.map((i) => stops[i])), values, $("chart"));
}

function options(stops) {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(name).trim();
  const axis = { stroke: color("--soft"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1 } };
  const bars = uPlot.paths.bars({ size: [0.8, 40] });
  return {
    ...size(),
    cursor: { show: false },
    legend: { show: false },
    scales: { x: { range: (_, low, high) => [low - 30, high + 30] }, y: { range: (_, low, high) => [0, Math.max(high, 1)] } },
    axes: [
      { ...axis, values: (_, times) => times.map((time) => clock(time, false)) },
      { ...axis, size: 45, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 1e5, 1e6] },
    ],
    series: [
      {},
      ...stops.map((stop) => {
        const fill = color(colorOf(stop).slice(4, -1));
        return { fill, stroke: fill, width: 0, paths: bars, points: { show: false } };
      }),
    ],
  };
}

const size = () => ({ width: Math.max($("chart").clientWidth, 200), height: 220 });

function chooseModels(models) {
  const box = $("chart-model");
  const known = new Set([...box.options].map((option) => option.value));
  for (const model of [...models].sort()) if (!known.has(model)) box.append(el("option", { value: model }, model));
}

function again() {
  drawn = "";
  plot?.destroy();
  plot = null;
  draw();
}

$("chart-model").addEventListener("change", again);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
new ResizeObserver(() => plot?.setSize(size())).observe($("chart"));
