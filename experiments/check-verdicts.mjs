// Repeats every verdict of a reproduce.json with nothing but this file, and exits with 1 if one differs:
//   node experiments/check-verdicts.mjs experiments/expected/quick/reproduce.json
import { readFileSync } from "node:fs";

const sum = (values) => values.reduce((total, value) => total + value, 0);
const mean = (values) => sum(values) / values.length;
const variance = (values) => sum(values.map((v) => (v - mean(values)) ** 2)) / (values.length - 1);

/** P(|T| <= t). With t = sqrt(df) tan(x) the density of x is proportional to cos(x)^(df-1). */
function central(t, df) {
  const steps = Array.from({ length: 20000 }, (_, i) => (i + 0.5) / 20000);
  const integral = (to) => to * sum(steps.map((step) => Math.cos(step * to) ** (df - 1)));
  return integral(Math.atan(t / Math.sqrt(df))) / integral(Math.PI / 2);
}

/** The t with P(|T| <= t) = 0.95, by bisection. */
function quantile(df, low = 0, high = 20) {
  const middle = (low + high) / 2;
  if (high - low < 1e-7) return middle;
  return central(middle, df) < 0.95 ? quantile(df, middle, high) : quantile(df, low, middle);
}
const QUANTILES = new Map();
function interval(center, error, df) {
  if (!QUANTILES.has(df)) QUANTILES.set(df, quantile(df));
  return [center, center - QUANTILES.get(df) * error, center + QUANTILES.get(df) * error];
}

/** The mean of the cells' means. Runs are independent, cells are not: variances add over runs. */
function pooled(cells) {
  const lengths = [...new Set(cells.map((runs) => runs.length))].sort((a, b) => a - b);
  const strata = lengths.map((to, i) => {
    const own = cells.filter((runs) => runs.length >= to);
    const runs = [...own[0].keys()].slice(lengths[i - 1] ?? 0, to);
    return runs.map((r) => sum(own.map((cell) => cell[r] / cell.length)) / cells.length);
  });
  const parts = strata.map((u) => u.length * variance(u));
  const df = sum(parts) ** 2 / sum(parts.map((part, i) => part ** 2 / (strata[i].length - 1)));
  return interval(mean(cells.map(mean)), Math.sqrt(sum(parts)), Math.floor(df + 1e-9) || 1);
}

/** Number of cells that are below 0 after Holm's correction for all of them. */
function exceptions(cells) {
  const t = cells.map((runs) => Math.abs(mean(runs)) / Math.sqrt(variance(runs) / runs.length));
  const p = t.map((value, i) => 1 - central(value, cells[i].length - 1));
  const order = [...p.keys()].sort((i, j) => p[i] - p[j]);
  const failed = order.findIndex((i, rank) => p[i] * (p.length - rank) >= 0.05);
  return order.slice(0, failed < 0 ? p.length : failed).filter((i) => mean(cells[i]) < 0).length;
}

function partVerdict({ rule, margin, cells }) {
  const all = cells.map(({ runs }) => runs);
  if (all.length === 0) return "not testable here";
  if (rule === "number") return all[0][0] <= 0 ? "holds" : "refuted";
  if (all.some((runs) => runs.length < 2 || runs.includes(null))) return "not testable here";
  const intervals = all.map((runs) => pooled([runs]));
  const most = (test) => 3 * intervals.filter(test).length >= 2 * all.length;
  if (rule === "equivalence") {
    if (most(([, lo, hi]) => lo <= 0 && hi >= 0 && Math.max(-lo, hi) < margin)) return "holds";
    return most(([, lo, hi]) => lo > margin || hi < -margin) ? "refuted" : "open";
  }
  if (most(([, , hi]) => hi < 0) || (rule === "exception" && exceptions(all) > 0)) return "holds";
  return rule !== "bound" && most(([, lo]) => lo > 0) ? "refuted" : "open";
}

function claimVerdict({ parts, enough }) {
  const found = parts.map(partVerdict);
  const is = (verdict) => (one) => one === verdict;
  const settled = found.some(is("open")) || found.some(is("refuted")) || found.every(is("holds"));
  if (!settled || found.length === 0) return "not testable here";
  if (found[enough](is("holds"))) return "holds";
  return found[enough === "every" ? "some" : "every"](is("refuted")) ? "refuted" : "open";
}
const { schema, claims, curves } = JSON.parse(readFileSync(process.argv[2], "utf8"));
if (schema !== 2) throw new Error(`the schema is ${schema}, but only schema 2 records every run`);
const problems = [];
function compare(what, printed, found, scale = Math.abs(printed)) {
  if (printed === found || Math.abs(printed - found) <= 1e-4 * Math.max(1e-3, scale)) return;
  problems.push(`${what}: ${printed} is printed, ${found} is found`);
}
for (const { id, verdict, standIn, ...claim } of claims) {
  compare(`claim ${id}`, standIn?.verdict ?? verdict, claimVerdict(claim));
  for (const { name, cells, pooled: printed } of claim.parts) {
    const found = printed.lo === null ? [] : pooled(cells.map(({ runs }) => runs));
    for (const i of found.keys())
      compare(`claim ${id} ${name}, pooled`, Object.values(printed)[i], found[i]);
    for (const { label, runs, curves: pair, t, measure } of cells.filter((cell) => cell.curves)) {
      const at = ({ earlier, ...whole }) => (whole.rounds === t ? whole : earlier)[measure].runs;
      const [a, b] = pair.map((i) => at(curves[i]));
      for (const [r, d] of runs.entries())
        compare(`claim ${id}, ${label}, run ${r}`, d, a[r] - b[r], a[r]);
    }
  }
  console.log(`${id}: ${verdict}${standIn ? ` (on the stand-in: ${standIn.verdict})` : ""}`);
}
console.log(problems.length === 0 ? "Every verdict is the same." : problems.join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;
