import { shorten } from "../report/labels.ts";
import { type LinePoint, linePlotSvg, type PlotLine } from "../report/line-plot.ts";
import { axisCap } from "../report/svg.ts";
import { decimalsOf, fixed } from "../report/table.ts";
import { lineStyles } from "./line-styles.ts";
import type { Result } from "./result.ts";
import { type Ranked, ranked } from "./result-table.ts";

const MOST_POINTS = 200; // per line; the page has hardly more pixels

/** Cumulative regret by round: a line per policy with its 95% band, its name and its last value. */
export function regretSvg(result: Result): string {
  const whole = linesOf(ranked(result));
  const cap = axisCap(whole.map((line) => endOf(line).mean));
  const lines = whole.map((line) => cutAt(cap, line));
  // The best policy lies above the others, and grey lines below all.
  const order = lines.toReversed();
  const isGrey = ({ style }: PlotLine) => !style.band;
  return linePlotSvg({
    title: titleOf(result, lines.length),
    panels: [
      { title: "", lines: [...order.filter(isGrey), ...order.filter((line) => !isGrey(line))] },
    ],
    rounds: Math.max(1, ...whole.map((line) => endOf(line).t)),
    xLabel: "Round",
    yLabel: "Cumulative regret (lower is better)",
    width: 560,
    height: 380,
    nice: cap === Infinity,
  });
}

/** Regret is 0 before the first round, so every line starts there. Policies without rounds are left out. */
function linesOf(policies: readonly Ranked[]): PlotLine[] {
  const styles = lineStyles(policies.map(({ name }) => name));
  const decimals = Math.max(1, decimalsOf(policies.map(({ curve }) => curve.mean.at(-1) ?? 0)));
  return policies.flatMap(({ name, curve, regret }) => {
    const all = curve.t.map((t, i): LinePoint => {
      const [mean, lo, hi] = [curve.mean[i]!, curve.lo[i], curve.hi[i]];
      return { t, mean, lo: lo ?? Number.NaN, hi: hi ?? Number.NaN };
    });
    const known = all.filter(({ t, mean }) => Number.isFinite(t) && Number.isFinite(mean));
    const end = known.at(-1);
    if (!end) return [];
    const points = thin(known);
    if (points[0]!.t > 0) points.unshift({ t: 0, mean: 0, lo: 0, hi: 0 });
    const { highlighted, ...style } = styles.get(name)!;
    const band =
      highlighted && regret.runs.length > 1 && points.every((p) => Number.isFinite(p.hi - p.lo));
    const label = `${shorten(name)} ${fixed(end.mean, decimals)}`;
    return [{ name, label, labelSize: highlighted ? 12 : 10, style: { ...style, band }, points }];
  });
}

function endOf({ points }: PlotLine): LinePoint {
  return points.at(-1)!;
}

/** The line up to the point where it leaves the figure. */
function cutAt(cap: number, line: PlotLine): PlotLine {
  const { points, label, style } = line;
  const after = points.findIndex(({ mean }) => mean > cap);
  if (endOf(line).mean <= cap || after < 1) return line;
  const [from, to] = [points[after - 1]!, points[after]!];
  const share = (cap - from.mean) / (to.mean - from.mean);
  const end = { t: from.t + share * (to.t - from.t), mean: cap, lo: cap, hi: cap };
  return {
    ...line,
    points: [...points.slice(0, after), end],
    label: `${label} (off scale)`,
    style: { ...style, band: false },
    cut: true,
  };
}

/** At most MOST_POINTS of the points, evenly spaced, with both ends. */
function thin(points: readonly LinePoint[]): LinePoint[] {
  const step = Math.max(1, (points.length - 1) / (MOST_POINTS - 1));
  const count = Math.min(points.length, MOST_POINTS);
  return Array.from({ length: count }, (_, i) => points[Math.round(i * step)]!);
}

function titleOf({ policies }: Result, shown: number): string {
  const runs = Math.max(0, ...Object.values(policies).map(({ regret }) => regret.runs.length));
  const band = runs > 1 ? `mean of ${runs} runs with 95% band` : "one run";
  return `Cumulative regret of ${shown} ${shown === 1 ? "policy" : "policies"}, ${band}`;
}
