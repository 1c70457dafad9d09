import * as Plot from "@observablehq/plot";
import {
  type Box,
  type Placed,
  placeAround,
  type Spot,
  shorten,
  textWidth,
} from "../report/labels.ts";
import { axisCap, drawSvg, INK, PAPER, type PixelScale, pixelScale } from "../report/svg.ts";
import { lineStyles, type PolicyStyle } from "./line-styles.ts";
import type { Result } from "./result.ts";
import { isOracle, ranked, regretOf } from "./result-table.ts";

const FRAME = { width: 680, height: 440 };
const PLOT: Box = { left: 60, top: 36, width: 600, height: 360 };
const RADIUS = 4.5;
const FONT_SIZE = 11;

interface Point {
  readonly name: string;
  readonly label: string;
  readonly style: PolicyStyle;
  readonly cost: number;
  /** Mean regret per query and its 95% interval; without an interval both bounds are the mean. */
  readonly regret: number;
  readonly lo: number;
  readonly hi: number;
}

/**
 * Mean regret per query over mean cost per query. A line joins the policies that no other
 * policy beats in both. Undefined if the data has no costs.
 */
export function paretoSvg(result: Result): string | undefined {
  const points = pointsOf(result);
  if (points.length === 0) return undefined;
  const x = costScale(points.map(({ cost }) => cost));
  const y = pixelScale(extent([0, ...points.flatMap(({ lo, hi }) => [lo, hi])]), [
    PLOT.top + PLOT.height,
    PLOT.top,
  ]);
  const front = paretoFront(points);
  const oracle = points.some(({ name }) => isOracle(name));
  const labels = labelsOf(points, front, x, y);
  return drawSvg(`Regret against cost per query of ${points.length} policies`, {
    ...FRAME,
    marginLeft: PLOT.left,
    marginRight: FRAME.width - PLOT.left - PLOT.width,
    marginTop: PLOT.top,
    marginBottom: FRAME.height - PLOT.top - PLOT.height,
    style: { fontSize: "12px" },
    x: x.options,
    y: y.options,
    marks: [
      Plot.gridY({ ticks: 6, stroke: INK, strokeOpacity: 0.1 }),
      Plot.axisY({
        ticks: 6,
        tickSize: 0,
        label: "Mean regret per query (lower is better)",
        ...AXIS,
      }),
      Plot.axisX({
        ticks: 7,
        tickSize: 4,
        label: "Mean cost per query, in the data's unit",
        labelAnchor: "center",
        labelOffset: 36,
        ...(x.options.type === "log" ? { tickFormat: logTick } : {}),
        ...AXIS,
      }),
      Plot.line(front, {
        x: "cost",
        y: "regret",
        curve: "step-after",
        stroke: INK,
        strokeOpacity: 0.45,
        strokeWidth: 1.25,
        strokeDasharray: "5 3",
      }),
      Plot.link(points, {
        x1: "cost",
        x2: "cost",
        y1: "lo",
        y2: "hi",
        stroke: (d: Point) => d.style.color,
        strokeOpacity: 0.6,
      }),
      Plot.dot(points, {
        x: "cost",
        y: "regret",
        r: RADIUS,
        fill: (d: Point) => (front.includes(d) ? d.style.color : PAPER),
        stroke: (d: Point) => d.style.color,
        strokeWidth: 1.5,
        title: "name",
      }),
      Plot.link(
        labels.filter(({ line }) => line.length > 0),
        {
          x1: "cost",
          y1: "regret",
          x2: (d: Label) => x.toData(d.at.x + GAP[d.anchor]),
          y2: (d: Label) => y.toData(d.at.y),
          stroke: (d: Label) => d.style.color,
          strokeWidth: 0.5,
        },
      ),
      ...(["start", "middle", "end"] as const).map((anchor) =>
        Plot.text(
          labels.filter((label) => label.anchor === anchor),
          {
            x: (d: Label) => x.toData(d.at.x),
            y: (d: Label) => y.toData(d.at.y),
            text: "label",
            fill: (d: Label) => d.style.ink,
            fontSize: FONT_SIZE,
            textAnchor: anchor,
            title: "name",
          },
        ),
      ),
      Plot.text(
        [`Filled: no policy is both cheaper and better${oracle ? ", the oracle aside" : ""}`],
        {
          frameAnchor: "top-right",
          dy: -26,
          fill: "#6a6a6a",
          fontSize: FONT_SIZE,
        },
      ),
    ],
  });
}

/** Distance between a label and the line to it. */
const GAP = { start: -2, middle: 0, end: 2 };
const AXIS = { labelArrow: "none" } as const;

function pointsOf(result: Result): Point[] {
  const policies = ranked(result);
  const styles = lineStyles(policies.map(({ name }) => name));
  const points = policies.flatMap((policy) => {
    const { name, curve, costPerQuery } = policy;
    const { mean, lo, hi } = regretOf(policy);
    const rounds = curve.t.at(-1);
    if (!rounds || costPerQuery === null || !Number.isFinite(mean)) return [];
    const spread = Number.isFinite(hi - lo);
    return [
      {
        name,
        label: shorten(name, 36),
        style: styles.get(name)!,
        cost: costPerQuery,
        regret: mean / rounds,
        lo: (spread ? lo : mean) / rounds,
        hi: (spread ? hi : mean) / rounds,
      },
    ];
  });
  const cap = axisCap(points.map(({ regret }) => regret));
  return points.map((point) => {
    if (point.regret <= cap) return point;
    const label = `${point.label} ${point.regret.toPrecision(3)} (off scale)`;
    return { ...point, label, regret: cap, lo: cap, hi: cap };
  });
}

/** The policies that no other equals or beats in both cost and regret, cheapest first. The oracle does not count. */
export function paretoFront<P extends Pick<Point, "name" | "cost" | "regret">>(
  points: readonly P[],
): P[] {
  const sorted = points
    .filter(({ name }) => !isOracle(name))
    .sort((a, b) => a.cost - b.cost || a.regret - b.regret);
  let least = Infinity;
  return sorted.filter(({ regret }) => {
    const better = regret < least;
    if (better) least = regret;
    return better;
  });
}

/** Linear from 0, or logarithmic if the most expensive policy costs more than 20 times the cheapest. */
function costScale(costs: readonly number[]): PixelScale {
  const range = [PLOT.left, PLOT.left + PLOT.width] as const;
  const [low, high] = [Math.min(...costs), Math.max(...costs)];
  return low > 0 && high > 20 * low
    ? pixelScale([low / 1.2, high * 1.2], range, { type: "log", nice: false })
    : pixelScale(extent([0, ...costs.map((cost) => cost * 1.05)]), range, { nice: false });
}

/** Labels 1, 2 and 5 of each decade with plain numbers. */
function logTick(value: number): string {
  return /^[125]/.test(value.toExponential(2)) ? String(Number(value.toPrecision(2))) : "";
}

function extent(values: readonly number[]): readonly [number, number] {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low < high ? [low, high] : [low, low + 1];
}

interface Label extends Point, Pick<Placed, "at" | "anchor" | "line"> {}

function labelsOf(
  points: readonly Point[],
  front: readonly Point[],
  x: PixelScale,
  y: PixelScale,
): Label[] {
  const spot = (cost: number, regret: number) => ({ x: x.toPixel(cost), y: y.toPixel(regret) });
  const wanted = points.map(({ label, cost, regret }) => ({
    ...spot(cost, regret),
    width: textWidth(label, FONT_SIZE),
    height: FONT_SIZE + 2,
  }));
  const dots = wanted.map((at) => between(at, at, RADIUS + 1));
  const whiskers = points.map(({ cost, lo, hi }) => between(spot(cost, lo), spot(cost, hi), 1));
  const steps = front.slice(1).flatMap((to, i) => {
    const from = front[i]!;
    const corner = spot(to.cost, from.regret);
    return [
      between(spot(from.cost, from.regret), corner, 1),
      between(corner, spot(to.cost, to.regret), 1),
    ];
  });
  const placed = placeAround(wanted, PLOT, [...dots, ...whiskers, ...steps]);
  return points.map((point, i) => ({ ...point, ...placed[i]! }));
}

/** The box around two spots, with a margin. */
function between(a: Spot, b: Spot, room: number): Box {
  return {
    left: Math.min(a.x, b.x) - room,
    top: Math.min(a.y, b.y) - room,
    width: Math.abs(a.x - b.x) + 2 * room,
    height: Math.abs(a.y - b.y) + 2 * room,
  };
}
