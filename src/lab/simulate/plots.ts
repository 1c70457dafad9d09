/** The figures of a result: regret by round, and regret against cost. */
import {
  axisCap,
  type ChartPoint,
  chartPicture,
  type LineStyle,
  niceEnd,
  type Series,
} from "../report/chart.ts";
import { shorten } from "../report/labels.ts";
import { GREY, INK, type Picture } from "../report/svg.ts";
import { decimalsOf, fixed } from "../report/table.ts";
import type { Result } from "./result.ts";
import { isOracle, kindOf, type Ranked, ranked, regretOf } from "./result-table.ts";

export interface PolicyStyle extends Omit<LineStyle, "band"> {
  /** Whether the line stands out: with a band, a larger label and a color. */
  readonly highlighted: boolean;
}

/** Eight styles. No two have the same dash or color. */
export const STYLES: readonly (PolicyStyle & { readonly kind?: string })[] = [
  { color: 1, dash: "none", kind: "joust", width: 2.75, highlighted: true },
  { color: 0, dash: "9 3", kind: "fgts-cdb", width: 1.9, highlighted: true },
  { color: INK, dash: "1.5 3", kind: "zero-feedback", width: 1.9, highlighted: true },
  { color: 2, dash: "10 3 2 3", kind: "best-fixed", width: 1.9, highlighted: true },
  { color: 4, dash: "4 3", kind: "random", width: 1.9, highlighted: true },
  { color: 3, dash: "14 3", width: 1.9, highlighted: true },
  { color: 5, dash: "9 2 2 2 2 2", width: 1.9, highlighted: true },
  { color: 6, dash: "6 2 6 6", width: 1.9, highlighted: true },
];

const PLAIN: PolicyStyle = { color: GREY, dash: "none", width: 1, highlighted: false };

/**
 * A style per name. `names` are sorted, the best first. The five policies of every comparison
 * keep their own styles, the best of the others get the rest, and further ones are grey.
 */
export function lineStyles(names: readonly string[]): Map<string, PolicyStyle> {
  const styles = new Map<string, PolicyStyle>();
  for (const own of STYLES.filter(({ kind }) => kind !== undefined)) {
    const name = names.find((n) => n === own.kind) ?? names.find((n) => kindOf(n) === own.kind);
    if (name !== undefined) styles.set(name, own);
  }
  const taken = new Set(styles.values());
  const left = STYLES.filter((one) => !taken.has(one));
  const free = [
    ...left.filter(({ kind }) => kind === undefined),
    ...left.filter(({ kind }) => kind !== undefined),
  ];
  const rest = names.filter((name) => !styles.has(name));
  for (const name of [...rest.filter((n) => !isOracle(n)), ...rest.filter(isOracle)]) {
    styles.set(name, free.shift() ?? PLAIN);
  }
  return styles;
}

/** Cumulative regret by round: a line per policy with its 95% band, its name and its last value. */
export function regretPicture(result: Result): Picture {
  const whole = linesOf(ranked(result));
  const cap = axisCap(whole.map((line) => endOf(line).y));
  // The best policy lies above the others, and grey lines below all.
  const lines = whole.map((line) => cutAt(cap, line)).reverse();
  const order = [
    ...lines.filter(({ style }) => !style.band),
    ...lines.filter(({ style }) => style.band),
  ];
  const values = lines.flatMap(({ points, style }) =>
    points.flatMap(({ y, lo, hi }) => (style.band ? [y, lo, hi] : [y])),
  );
  const highest = Math.max(0, ...values);
  return chartPicture({
    title: titleOf(result, lines.length),
    series: order,
    x: { label: "Round", to: Math.max(1, ...whole.map((line) => endOf(line).x)) },
    y: {
      label: "Cumulative regret (lower is better)",
      from: Math.min(0, ...values),
      to: cap === Infinity ? niceEnd(highest) : highest,
    },
    width: 560,
    height: 380,
  });
}

/** Regret is 0 before the first round, so every line starts there. Policies without rounds are left out. */
function linesOf(policies: readonly Ranked[]): Series[] {
  const styles = lineStyles(policies.map(({ name }) => name));
  const decimals = Math.max(1, decimalsOf(policies.map(({ curve }) => curve.mean.at(-1) ?? 0)));
  return policies.flatMap(({ name, curve, regret }) => {
    const all = curve.t.map((x, i): ChartPoint => {
      const [y, lo, hi] = [curve.mean[i]!, curve.lo[i], curve.hi[i]];
      return { x, y, lo: lo ?? Number.NaN, hi: hi ?? Number.NaN };
    });
    const known = all.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
    const end = known.at(-1);
    if (!end) return [];
    const points = [{ x: 0, y: 0, lo: 0, hi: 0 }, ...known.filter(({ x }) => x > 0)];
    const { highlighted, ...style } = styles.get(name)!;
    const band =
      highlighted && regret.runs.length > 1 && points.every((p) => Number.isFinite(p.hi - p.lo));
    const label = `${shorten(name)} ${fixed(end.y, decimals)}`;
    const fontSize = highlighted ? 12 : 10;
    return [{ name, label, fontSize, style: { ...style, band }, points }];
  });
}

function endOf({ points }: Series): ChartPoint {
  return points.at(-1)!;
}

/** The line up to the point where it leaves the figure. */
function cutAt(cap: number, line: Series): Series {
  const { points, label, style } = line;
  const after = points.findIndex(({ y }) => y > cap);
  if (endOf(line).y <= cap || after < 1) return line;
  const [from, to] = [points[after - 1]!, points[after]!];
  const share = (cap - from.y) / (to.y - from.y);
  const end = { x: from.x + share * (to.x - from.x), y: cap, lo: cap, hi: cap };
  return {
    ...line,
    points: [...points.slice(0, after), end],
    label: `${label} (off scale)`,
    style: { ...style, band: false },
  };
}

function titleOf({ policies }: Result, shown: number): string {
  const runs = Math.max(0, ...Object.values(policies).map(({ regret }) => regret.runs.length));
  const band = runs > 1 ? `mean of ${runs} runs with 95% band` : "one run";
  return `Cumulative regret of ${shown} ${shown === 1 ? "policy" : "policies"}, ${band}`;
}

/**
 * Mean regret per query over mean cost per query. A line joins the policies that no other
 * policy beats in both; their dots are filled. Undefined if the data has no costs.
 */
export function paretoPicture(result: Result): Picture | undefined {
  const dots = dotsOf(result);
  if (dots.length === 0) return undefined;
  const front = paretoFront(dots);
  const costs = dots.map(({ cost }) => cost);
  const [least, most] = [Math.min(...costs), Math.max(...costs)];
  const logarithmic = least > 0 && most > 20 * least;
  const regrets = dots.flatMap(({ points: [p] }) => [p!.y, p!.lo, p!.hi]).filter(Number.isFinite);
  const aside = dots.some(({ name }) => isOracle(name)) ? ", the oracle aside" : "";
  return chartPicture({
    title: `Regret against cost per query of ${dots.length} policies. Filled: no other policy is both cheaper and better${aside}`,
    series: dots.map((dot) => ({ ...dot, hollow: !front.includes(dot) })),
    front: front.map(({ cost, regret }) => ({ x: cost, y: regret })),
    x: {
      label: "Mean cost per query, in the data's unit",
      from: logarithmic ? least / 1.2 : 0,
      to: (logarithmic ? 1.2 : 1.05) * most || 1,
      logarithmic,
    },
    y: {
      label: "Mean regret per query (lower is better)",
      from: Math.min(0, ...regrets),
      to: niceEnd(Math.max(0, ...regrets)),
    },
    width: 560,
    height: 360,
  });
}

interface Dot extends Series {
  readonly cost: number;
  readonly regret: number;
}

function dotsOf(result: Result): Dot[] {
  const policies = ranked(result);
  const styles = lineStyles(policies.map(({ name }) => name));
  const known = policies.flatMap((policy) => {
    const { mean, lo, hi } = regretOf(policy);
    const rounds = policy.curve.t.at(-1);
    if (!rounds || policy.costPerQuery === null || !Number.isFinite(mean)) return [];
    const { name, costPerQuery: cost } = policy;
    return [{ name, cost, regret: mean / rounds, lo: lo / rounds, hi: hi / rounds }];
  });
  const cap = axisCap(known.map(({ regret }) => regret));
  return known.map(({ name, cost, regret, lo, hi }): Dot => {
    const off = regret > cap;
    const point = off ? { y: cap, lo: cap, hi: cap } : { y: regret, lo, hi };
    return {
      name,
      label: `${shorten(name, 36)}${off ? ` ${regret.toPrecision(3)} (off scale)` : ""}`,
      style: { ...styles.get(name)!, band: false },
      points: [{ x: cost, ...point }],
      cost,
      regret: point.y,
    };
  });
}

/** The policies that no other equals or beats in both cost and regret, cheapest first. The oracle does not count. */
export function paretoFront<P extends Pick<Dot, "name" | "cost" | "regret">>(
  dots: readonly P[],
): P[] {
  const sorted = dots
    .filter(({ name }) => !isOracle(name))
    .sort((a, b) => a.cost - b.cost || a.regret - b.regret);
  let least = Infinity;
  return sorted.filter(({ regret }) => {
    const better = regret < least;
    if (better) least = regret;
    return better;
  });
}
