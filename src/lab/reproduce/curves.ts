import * as Plot from "@observablehq/plot";
import { drawCompact } from "../report/compact.ts";
import { dodge, shorten, textWidth } from "../report/labels.ts";
import { INK, pixelScale } from "../report/svg.ts";
import { meanInterval } from "../statistics.ts";
import type { Curve } from "./experiment.ts";
import type { Results } from "./results.ts";
import type { Style } from "./style.ts";

export interface CurvesFigure {
  readonly title: string;
  /** Side by side, with one axis; the names stand at the last one. */
  readonly panels: readonly Panel[];
  styleOf(curve: Curve): Style;
  /** Rounds shown, all unless said. */
  readonly rounds?: number | undefined;
  /** A line from top to bottom, after so many rounds. */
  readonly event?: { readonly after: number; readonly text: string } | undefined;
}

interface Panel {
  readonly title: string;
  readonly curves: readonly Curve[];
}

interface Point {
  /** Rounds as a share of the panel, panels one after another. */
  readonly x: number;
  readonly mean: number;
  readonly lo: number;
  readonly hi: number;
}

interface Line {
  readonly curve: Curve;
  readonly style: Style;
  readonly points: readonly Point[];
}

const HEIGHT = 300;
const MARGIN = { left: 44, top: 34, bottom: 40 };
const GAP = 0.07; // between panels, in panels
const LEADER = 22;
const FONT = 10;
const POINTS = 50; // a line

/** Cumulative regret by round, one panel a world, mean over runs. */
export function curvesSvg(figure: CurvesFigure, results: Results): string {
  const rounds = Math.max(
    1,
    ...figure.panels.flatMap(({ curves }) => curves.map((c) => results.rounds(c))),
  );
  const shown = Math.min(figure.rounds ?? rounds, rounds);
  const panels = figure.panels.map((panel, i) => ({
    ...panel,
    lines: linesOf(panel, i, shown, figure, results),
  }));
  const width = panels.length === 1 ? 520 : panels.length === 2 ? 340 : 250;
  const span = panels.length * (1 + GAP) - GAP;
  const right = MARGIN.left + span * width;
  const lines = panels.flatMap((panel) => panel.lines);
  const values = lines.flatMap(({ points, style }) =>
    points.flatMap((p) => (style.band ? [p.mean, p.lo, p.hi] : [p.mean])),
  );
  const highest = Math.max(1e-9, ...values.filter(Number.isFinite));

  const names = panels.at(-1)?.lines ?? [];
  const bottom = MARGIN.top + Math.max(HEIGHT, names.length * (FONT + 2.5));
  const x = pixelScale([0, span], [MARGIN.left, right], { nice: false });
  const y = pixelScale([0, highest], [bottom, MARGIN.top]);
  const sorted = names.toSorted((a, b) => endOf(b).mean - endOf(a).mean);
  const centers = dodge(
    sorted.map((line) => y.toPixel(endOf(line).mean)),
    sorted.map(() => FONT + 2.5),
    MARGIN.top - 8,
    bottom + 8,
  );
  const labels = sorted.map((line, i) => ({
    ...line,
    text: `${shorten(line.curve.name, 52)} ${endOf(line).mean.toFixed(1)}`,
    from: endOf(line),
    at: y.toData(centers[i]!),
  }));
  const labelWidth = Math.max(40, ...labels.map(({ text }) => textWidth(text, FONT)));
  const edges = panels.map((panel, i) => ({
    ...panel,
    from: i * (1 + GAP),
    to: i * (1 + GAP) + 1,
  }));
  const ticks = edges.flatMap(({ from }, i) =>
    roundTicks(shown)
      .filter((t) => i === edges.length - 1 || t < 0.93 * shown) // not upon the next panel's 0
      .map((t) => ({ x: from + t / shown, text: String(t) })),
  );
  return drawCompact(figure.title, {
    width: Math.ceil(right + LEADER + labelWidth + 6),
    height: bottom + MARGIN.bottom,
    marginLeft: MARGIN.left,
    marginRight: Math.ceil(LEADER + labelWidth + 6),
    marginTop: MARGIN.top,
    marginBottom: MARGIN.bottom,
    x: { ...x.options, axis: null },
    y: y.options,
    style: { fontSize: `${FONT + 1}px` },
    marks: [
      ...edges.flatMap(({ from, to }) => [
        Plot.gridY({ ticks: 6, x1: from, x2: to, stroke: INK, strokeOpacity: 0.1 }),
        Plot.ruleY([0], { x1: from, x2: to, stroke: INK, strokeOpacity: 0.5 }),
      ]),
      Plot.axisY({
        ticks: 6,
        tickSize: 0,
        label: `Cumulative regret in units of utility, ${runsText(lines, results)} (lower is better)`,
        labelArrow: "none",
      }),
      Plot.tickX(ticks, {
        x: "x",
        y: null,
        insetTop: bottom - MARGIN.top,
        insetBottom: -4,
        stroke: INK,
        strokeOpacity: 0.5,
      }),
      Plot.text(ticks, { x: "x", text: "text", frameAnchor: "bottom", dy: 16 }),
      Plot.text(edges, {
        x: (edge: (typeof edges)[number]) => (edge.from + edge.to) / 2,
        text: "title",
        frameAnchor: "top",
        dy: -14,
        fontWeight: "600",
      }),
      ...(figure.event ? eventOf(figure.event, edges, shown) : []),
      Plot.text(["Round (one query each)"], { x: span / 2, frameAnchor: "bottom", dy: 33 }),
      ...lines.filter(({ style }) => style.band).map(bandOf),
      ...lines.toSorted((a, b) => a.style.width - b.style.width).map(lineOf),
      Plot.link(labels, {
        x1: (label: (typeof labels)[number]) => label.from.x,
        y1: (label: (typeof labels)[number]) => label.from.mean,
        x2: x.toData(right + LEADER - 3),
        y2: "at",
        stroke: (label: (typeof labels)[number]) => label.style.color,
        strokeWidth: 0.6,
      }),
      Plot.text(labels, {
        x: x.toData(right + LEADER),
        y: "at",
        text: "text",
        fill: (label: (typeof labels)[number]) => label.style.color,
        fontSize: FONT,
        textAnchor: "start",
      }),
    ],
  });
}

function linesOf(
  { curves }: Panel,
  panel: number,
  shown: number,
  figure: CurvesFigure,
  results: Results,
): Line[] {
  const at = (t: number) => panel * (1 + GAP) + t / shown;
  return curves.map((curve) => {
    const runs = results.runs(curve);
    const { t } = runs[0]!;
    const kept = t.flatMap((round, i) => (round <= shown ? [i] : []));
    const step = Math.max(1, kept.length / POINTS);
    const chosen = kept.filter((_, n) => Math.floor((n + 1) / step) > Math.floor(n / step));
    const points = chosen.map((i) => {
      const { mean, lo, hi } = meanInterval(runs.map(({ regret }) => regret[i]!));
      // Regret is never negative, whatever Student's t makes of a few runs.
      return { x: at(t[i]!), mean, lo: Math.max(0, lo), hi };
    });
    const start = { x: at(0), mean: 0, lo: 0, hi: 0 };
    const style = figure.styleOf(curve);
    const band = style.band && runs.length > 1;
    return { curve, points: [start, ...points], style: { ...style, band } };
  });
}

/** Over how many runs lines are means, and what bands are if there are any. */
function runsText(lines: readonly Line[], results: Results): string {
  const runs = results.bench.size.runs;
  if (runs === 1) return "one run";
  const bands = lines.some(({ style }) => style.band) ? ", bands 95% intervals" : "";
  return `mean of ${runs} runs${bands}`;
}

function eventOf(
  { after, text }: NonNullable<CurvesFigure["event"]>,
  edges: readonly { readonly from: number }[],
  shown: number,
) {
  const places = edges.map(({ from }) => ({ x: from + after / shown, text }));
  return [
    Plot.ruleX(places, { x: "x", stroke: INK, strokeOpacity: 0.35, strokeWidth: 0.8 }),
    Plot.text(places, {
      x: "x",
      text: "text",
      frameAnchor: "top",
      textAnchor: "end",
      dx: -4,
      dy: 6,
      fontSize: FONT - 1,
      fill: "#555555",
    }),
  ];
}

function endOf({ points }: Line): Point {
  return points.at(-1)!;
}

function bandOf({ points, style }: Line) {
  return Plot.areaY(points, { x: "x", y1: "lo", y2: "hi", fill: style.color, fillOpacity: 0.1 });
}

function lineOf({ curve, points, style }: Line) {
  return Plot.lineY(points, {
    x: "x",
    y: "mean",
    stroke: style.color,
    strokeWidth: style.width,
    strokeDasharray: style.dash,
    strokeLinecap: "butt",
    title: () => curve.name,
  });
}

/** A few whole numbers of rounds from 0. */
function roundTicks(rounds: number): number[] {
  const step =
    [20, 50, 60, 100, 200, 240, 500, 1000, 2000].find((one) => rounds / one <= 4) ?? rounds / 3;
  return Array.from({ length: Math.floor(rounds / step) + 1 }, (_, i) => i * step);
}
