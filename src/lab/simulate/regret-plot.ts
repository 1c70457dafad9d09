import * as Plot from "@observablehq/plot";
import { dodge, shorten, textWidth } from "../report/labels.ts";
import { axisCap, drawSvg, INK, pixelScale } from "../report/svg.ts";
import { decimalsOf, fixed } from "../report/table.ts";
import { type LineStyle, lineStyles } from "./lines.ts";
import type { Result } from "./result.ts";
import { type Ranked, ranked } from "./result-table.ts";

const PLOT = { width: 560, height: 380, left: 54, top: 36, bottom: 44 };
const LEADER = 28; // from the last round to the labels
const MOST_POINTS = 200; // a curve; the page is not much wider in pixels

interface Point {
  readonly t: number;
  readonly mean: number;
  readonly lo: number;
  readonly hi: number;
}

interface Curve {
  readonly name: string;
  readonly label: string;
  readonly style: LineStyle;
  readonly points: readonly Point[];
  readonly end: Point;
  readonly banded: boolean;
  /** Leaves the figure at its top. */
  readonly cut: boolean;
}

/** Cumulative regret by round: a line a policy, its 95% band, its name and last value at its end. */
export function regretSvg(result: Result): string {
  const whole = curvesOf(ranked(result));
  const rounds = Math.max(1, ...whole.map(({ end }) => end.t));
  const cap = axisCap(whole.map(({ end }) => end.mean));
  const curves = whole.map((curve) => cut(curve, cap));
  const values = curves.flatMap(({ points, banded }) =>
    points.flatMap(({ mean, lo, hi }) => (banded ? [mean, lo, hi] : [mean])),
  );
  const lowest = Math.min(0, ...values);
  const highest = Math.max(0, ...values);

  const stack = curves.reduce((sum, { style }) => sum + fontSize(style) + 3, 0);
  const bottom = PLOT.top + Math.max(PLOT.height, stack);
  const right = PLOT.left + PLOT.width;
  const x = pixelScale([0, rounds], [PLOT.left, right], { nice: false });
  const y = pixelScale(lowest < highest ? [lowest, highest] : [0, 1], [bottom, PLOT.top], {
    nice: cap === Infinity,
  });

  // Label positions are found in pixels and handed back to Plot as data.
  const sorted = curves.toReversed().sort((a, b) => b.end.mean - a.end.mean);
  const centers = dodge(
    sorted.map(({ end }) => y.toPixel(end.mean)),
    sorted.map(({ style }) => fontSize(style) + 3),
    PLOT.top - 8,
    bottom + 8,
  );
  const ends = sorted.map((curve, i) => ({ ...curve, at: y.toData(centers[i]!) }));
  const labelX = x.toData(right + LEADER);
  const labelWidth = Math.max(40, ...curves.map((c) => textWidth(c.label, fontSize(c.style))));

  const back = curves.filter(({ style }) => !style.highlighted);
  const front = curves.filter(({ style }) => style.highlighted).reverse(); // the best on top
  return drawSvg(titleOf(result, curves.length), {
    width: Math.ceil(right + LEADER + labelWidth + 8),
    height: bottom + PLOT.bottom,
    marginLeft: PLOT.left,
    marginRight: Math.ceil(LEADER + labelWidth + 8),
    marginTop: PLOT.top,
    marginBottom: PLOT.bottom,
    x: x.options,
    y: y.options,
    style: { fontSize: "12px" },
    marks: [
      Plot.gridY({ ticks: 6, stroke: INK, strokeOpacity: 0.1 }),
      Plot.axisY({ ticks: 6, tickSize: 0, label: "Cumulative regret (lower is better)", ...AXIS }),
      Plot.axisX({
        ticks: 8,
        tickSize: 4,
        label: "Round",
        labelAnchor: "center",
        labelOffset: 36,
        ...AXIS,
      }),
      Plot.ruleY([0], { x1: 0, x2: rounds, stroke: INK, strokeOpacity: 0.5 }),
      ...front.filter(({ banded }) => banded).map(bandOf),
      ...[...back, ...front].map(lineOf),
      Plot.link(
        ends.filter((end) => !end.cut),
        {
          x1: (d: Curve) => d.end.t,
          y1: (d: Curve) => d.end.mean,
          x2: x.toData(right + LEADER - 4),
          y2: "at",
          stroke: (d: Curve) => d.style.color,
          strokeWidth: 0.75,
        },
      ),
      ...[true, false].map((highlighted) =>
        Plot.text(
          ends.filter(({ style }) => style.highlighted === highlighted),
          {
            x: labelX,
            y: "at",
            text: "label",
            fill: (d: Curve) => d.style.ink,
            fontSize: highlighted ? 12 : 10,
            textAnchor: "start",
            title: "name",
            className: "label",
          },
        ),
      ),
      ...(curves.length === 0
        ? [Plot.text(["No rounds to show"], { frameAnchor: "middle", fontSize: 14 })]
        : []),
    ],
  });
}

const AXIS = { labelArrow: "none" } as const;

function bandOf({ points, style }: Curve) {
  return Plot.areaY(points, {
    x: "t",
    y1: "lo",
    y2: "hi",
    fill: style.color,
    fillOpacity: 0.14,
  });
}

function lineOf({ name, points, style }: Curve) {
  return Plot.lineY(points, {
    x: "t",
    y: "mean",
    stroke: style.color,
    strokeWidth: style.width,
    strokeDasharray: style.dash,
    strokeLinecap: "butt",
    title: () => name,
  });
}

function fontSize({ highlighted }: LineStyle): number {
  return highlighted ? 12 : 10;
}

/** Regret before the first round is 0, so every curve starts there; one without rounds is left out. */
function curvesOf(policies: readonly Ranked[]): Curve[] {
  const styles = lineStyles(policies.map(({ name }) => name));
  const decimals = Math.max(1, decimalsOf(policies.map(({ curve }) => curve.mean.at(-1) ?? 0)));
  return policies.flatMap(({ name, curve, regret }) => {
    const all = curve.t.map((t, i): Point => {
      const mean = curve.mean[i]!;
      return { t, mean, lo: curve.lo[i] ?? Number.NaN, hi: curve.hi[i] ?? Number.NaN };
    });
    const known = all.filter(({ t, mean }) => Number.isFinite(t) && Number.isFinite(mean));
    const end = known.at(-1);
    if (!end) return [];
    const points = thin(known);
    if (points[0]!.t > 0) points.unshift({ t: 0, mean: 0, lo: 0, hi: 0 });
    const banded =
      regret.runs.length > 1 && points.every((p) => Number.isFinite(p.lo) && Number.isFinite(p.hi));
    const label = `${shorten(name)} ${fixed(end.mean, decimals)}`;
    return [{ name, label, style: styles.get(name)!, points, end, banded, cut: false }];
  });
}

/** The curve up to where it leaves the figure, if it does. */
function cut(curve: Curve, cap: number): Curve {
  const after = curve.points.findIndex(({ mean }) => mean > cap);
  if (curve.end.mean <= cap || after < 1) return curve;
  const [from, to] = [curve.points[after - 1]!, curve.points[after]!];
  const share = (cap - from.mean) / (to.mean - from.mean);
  const end = { t: from.t + share * (to.t - from.t), mean: cap, lo: cap, hi: cap };
  const points = [...curve.points.slice(0, after), end];
  const label = `${curve.label} (off scale)`;
  return { ...curve, end, points, label, banded: false, cut: true };
}

/** At most MOST_POINTS of them, evenly, with both ends. */
function thin(points: readonly Point[]): Point[] {
  const step = Math.max(1, (points.length - 1) / (MOST_POINTS - 1));
  const count = Math.min(points.length, MOST_POINTS);
  return Array.from({ length: count }, (_, i) => points[Math.round(i * step)]!);
}

function titleOf({ policies }: Result, shown: number): string {
  const runs = Math.max(0, ...Object.values(policies).map(({ regret }) => regret.runs.length));
  const band = runs > 1 ? `mean of ${runs} runs with 95% band` : "one run";
  return `Cumulative regret of ${shown} ${shown === 1 ? "policy" : "policies"}, ${band}`;
}
