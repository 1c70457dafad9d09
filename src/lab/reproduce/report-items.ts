/** Figures and tables that several experiments have. */

import { mean, meanInterval } from "../../core/statistics.ts";
import type { JobId } from "../jobs/job.ts";
import { chartPicture, niceEnd, type Series } from "../report/chart.ts";
import { heatMapPicture, outlineLargest } from "../report/heat-map.ts";
import { shorten } from "../report/labels.ts";
import { GREY } from "../report/svg.ts";
import { type CellColumn, fixed, tableOf } from "../report/table.ts";
import { type Curve, fullName, settingText } from "./curve.ts";
import { namesIn, type Row, readableName, rowsOf, stylesOf } from "./curve-lines.ts";
import type { ReportItem } from "./experiment.ts";
import type { Choice, Results } from "./results.ts";
import type { Scores } from "./score-tables.ts";

type Head = Omit<ReportItem, "draw">;

export interface CurvesFigure extends Head {
  /** Curves of the figure. Each vote scale has its own column of panels. */
  readonly curves: readonly Curve[];
  /** Rounds shown; all by default. */
  readonly rounds?: number;
  /** Property that colors distinguish: curves (default) or encoders. Rows of panels then have one weighting or one encoder each. */
  readonly colors?: "curves" | "encoders";
  /** Marks an event in the middle of a run. */
  readonly event?: { readonly after: number; readonly text: string } | undefined;
  /** The title of a curve's column; the vote scale by default. */
  panelOf?(curve: Curve): string;
}

/** Cumulative regret by round, mean over runs, with the names and end values in each panel. */
export function curvesFigure(figure: CurvesFigure): ReportItem {
  const { curves, rounds, colors, event, panelOf = scaleOf, ...head } = figure;
  // The same curve may be given twice.
  const unique = [
    ...new Map(curves.map((c) => [`${panelOf(c)} ${fullName(c)} ${c.variant}`, c])).values(),
  ];
  return {
    ...head,
    draw: (results) => {
      const all = Math.max(1, ...unique.map((curve) => results.rounds(curve)));
      const shown = Math.min(rounds ?? all, all);
      const own = unique.filter(isOwn);
      const several = {
        encoders: new Set(own.map(({ encoder }) => encoder)).size > 1,
        epochs: new Set(own.filter(({ group }) => group === "exp").map((c) => c.epochs)).size > 1,
      };
      const columns = [...Map.groupBy(unique, panelOf)].map(([title, own]) => ({
        title,
        rows: rowsOf(own, colors === "encoders" ? "encoder" : "weighting"),
      }));
      const lineIn = (row: Row) => {
        const nameOf = namesIn(row, several);
        return (curve: Curve) => lineOf(curve, shown, results, nameOf(curve));
      };
      const lines = (row: Row) => {
        const styleOf = stylesOf(row.curves);
        const line = lineIn(row);
        return row.curves.map((curve): Series => {
          const style = styleOf(curve);
          return { ...line(curve), style: { ...style, band: style.band && curve.runs.length > 1 } };
        });
      };
      const panels = columns.flatMap(({ title, rows }) =>
        rows.map((row, r) => ({ title, row, r, lines: lines(row) })),
      );
      const points = panels.flatMap((panel) => panel.lines.flatMap((one) => one.points));
      const highest = Math.max(...points.map(({ y }) => y));
      const bands = panels.flatMap((panel) => panel.lines.filter(({ style }) => style.band));
      const widest = Math.max(0, ...bands.flatMap((one) => one.points.map(({ hi }) => hi)));
      // The bands of two or three runs would leave no room for the lines, so they are cut off.
      const to = niceEnd(Math.min(Math.max(highest, widest), BAND_ROOM * highest));
      const byRow = panels.sort((a, b) => a.r - b.r);
      const pictures = byRow.map(({ title, row, lines }) =>
        chartPicture({
          title: [title, row.title].filter(Boolean).join(": "),
          series: [
            ...row.marks.map(lineIn(row)).map((line) => markOf(line, to)),
            ...lines.map((one) => cutOff(one, to)).sort((a, b) => a.style.width - b.style.width),
          ],
          x: { label: "Round (one query each)", to: shown },
          y: { label: `Cumulative regret, ${runsText(row)}, lower is better`, to },
          width: 180,
          height: 190,
          events: event && [{ x: event.after, text: event.text }],
        }),
      );
      // Panels of one column stand exactly below each other.
      const width = Math.max(...pictures.map((picture) => picture.width));
      const equal = pictures.map((picture) => ({ ...picture, width }));
      // Panels of a single vote scale fill the rows.
      const fixed = columns.length > 1 && { columns: columns.length };
      return { kind: "figure", pictures: equal, ...fixed };
    },
  };
}

function isOwn({ group, encoder }: Curve): boolean {
  return group !== "baseline" && encoder !== "";
}

function scaleOf({ voteScale }: Curve): string {
  return `vote scale ${voteScale}`;
}

const POINTS_PER_LINE = 30;
/** Largest ratio of the end of the axis to the highest line. */
const BAND_ROOM = 1.25;

/** A line whose band ends where the axis ends. */
function cutOff(line: Series, to: number): Series {
  const points = line.points.map((point) => ({ ...point, hi: Math.min(point.hi, to) }));
  return { ...line, points };
}

/** The mean of a curve's runs by round, up to `shown`. */
function lineOf(curve: Curve, shown: number, results: Results, name: string): Series {
  const runs = results.runs(curve);
  const { t } = runs[0]!;
  const kept = t.flatMap((round, i) => (round <= shown ? [i] : []));
  const step = Math.max(1, kept.length / POINTS_PER_LINE);
  const chosen = kept.filter((_, n) => Math.floor((n + 1) / step) > Math.floor(n / step));
  const points = chosen.map((i) => {
    const { mean, lo, hi } = meanInterval(runs.map(({ regret }) => regret[i]!));
    // Regret is never negative, but Student's interval of a few runs can be.
    return { x: t[i]!, y: mean, lo: Math.max(0, lo), hi };
  });
  return {
    name: tooltipOf(curve),
    label: `${shorten(name, 40)} ${fixed(points.at(-1)!.y, 1)}`,
    style: { color: GREY, dash: "none", width: 1, band: false },
    points: [{ x: 0, y: 0, lo: 0, hi: 0 }, ...points],
  };
}

/** The end of a line as a circle. An arrow marks a value above `to`, where the axis ends. */
function markOf(line: Series, to: number): Series {
  const { x, y } = line.points.at(-1)!;
  const end = { x, y: Math.min(y, to), lo: Number.NaN, hi: Number.NaN };
  const label = y > to ? `${line.label} \u2191` : line.label;
  return { ...line, label, hollow: true, points: [end] };
}

/** The paper's name and the setting. */
function tooltipOf(curve: Curve): string {
  const setting = settingText(curve);
  return `${fullName(curve)}${setting && ` (${setting})`}`;
}

/** `mean of 20 runs (best theta: 5)`: policies with another number of runs than the lines are named. */
function runsText({ curves, marks }: Row): string {
  const counts = curves.map((curve) => curve.runs.length);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const others = marks.filter(({ runs }) => runs.length < least || runs.length > most);
  const texts = others.map(({ policy, runs }) => `${policy.replace("-", " ")}: ${runs.length}`);
  const rest = texts.length > 0 ? ` (${[...new Set(texts)].join(", ")})` : "";
  if (most === 1) return `one run${rest}`;
  return `mean of ${least === most ? most : `${least} to ${most}`} runs${rest}`;
}

interface TableOptions {
  readonly curves: readonly Curve[];
  /** Rounds at which regret is shown; if empty, at the end of each curve. */
  readonly rounds: readonly number[];
  /** Whether votes are stored verdicts, which have no vote scale. */
  readonly stored?: boolean;
}

/** One row per curve: regret under Perf at each of the rounds and under Perf - lambda Cost, cost, score, agreement. */
export function curvesTable(
  id: string,
  title: string,
  { curves, rounds, stored = false }: TableOptions,
): ReportItem {
  const points = rounds.length > 0 ? rounds : [undefined];
  const [first] = points;
  const caption = [
    "Means over runs and, where there are several, their 95% intervals by Student's t. Setting: the form of the queries, and what else was changed.",
    stored ? "Votes are stored verdicts, without a vote scale." : "s: the vote scale.",
    "Score, cost and agreement are means over all rounds of a curve; if the curves differ in length, Over rounds says how many.",
    "Costs are in the unit of the table of Perf and Cost, and a duel costs both answers; agreement is the share of rounds answered by a best model, where each answer of a duel counts half.",
  ].join(" ");
  return {
    id,
    title,
    caption,
    draw: (results) => {
      const unique = longest(results, curves);
      const hasCosts = unique.some((curve) =>
        results.runs(curve).some(({ cost }) => cost !== null && cost > 0),
      );
      const uneven = new Set(unique.map((curve) => results.rounds(curve))).size > 1;
      const regret = (curve: Curve, t?: number, measure: "regret" | "priced" = "regret") => {
        const values = results.regrets(curve, t, measure);
        return values ? meanInterval(values) : null;
      };
      const meanOf = (curve: Curve, of: "score" | "cost" | "agreement") => {
        const values = results.runs(curve).flatMap((run) => run[of] ?? []);
        return values.length > 0 ? mean(values) : null;
      };
      const at = (t: number | undefined) => (t === undefined ? "" : `, T = ${t}`);
      const columns: CellColumn<Curve>[] = [
        { key: "curve", title: "Curve", kind: "text", cell: fullName },
        { key: "setting", title: "Setting", kind: "text", cell: settingText },
        { key: "vote_scale", title: "s", kind: "number", cell: ({ voteScale }) => voteScale },
        ...points.map((t) => ({
          key: t === undefined ? "regret" : `regret_${t}`,
          title: `Regret${at(t)}`,
          kind: "interval" as const,
          cell: (curve: Curve) => regret(curve, t),
        })),
        {
          key: "regret_priced",
          title: `under Perf \u2212 0.05 Cost${at(first)}`,
          kind: "interval",
          cell: (curve) => regret(curve, first, "priced"),
        },
        { key: "runs", title: "Runs", kind: "whole", cell: ({ runs }) => runs.length },
        { key: "rounds", title: "Over rounds", kind: "whole", cell: (one) => results.rounds(one) },
        {
          key: "cost",
          title: "Cost per query",
          kind: "number",
          cell: (one) => meanOf(one, "cost"),
        },
        { key: "score", title: "Score", kind: "number", cell: (one) => meanOf(one, "score") },
        {
          key: "agreement",
          title: "Agreement",
          kind: "percent",
          cell: (one) => meanOf(one, "agreement"),
        },
      ];
      const left = [
        ...(stored ? ["vote_scale"] : []),
        ...(hasCosts ? [] : ["regret_priced", "cost"]),
        ...(uneven ? [] : ["rounds"]),
      ];
      const shown = columns.filter(({ key }) => !left.includes(key));
      return { kind: "table", table: tableOf(title, unique, shown) };
    },
  };
}

/**
 * Keeps the longest of equal curves, and of these the one with most runs. The same curve may be given twice, with
 * different lengths for different encoders, and with more runs in another experiment.
 */
function longest(results: Results, curves: readonly Curve[]): Curve[] {
  const found = new Map<string, Curve>();
  const sizeOf = (curve: Curve) => [results.rounds(curve), curve.runs.length] as const;
  const isMore = (a: readonly [number, number], b: readonly [number, number]) =>
    a[0] > b[0] || (a[0] === b[0] && a[1] > b[1]);
  for (const curve of curves) {
    const key = [settingText(curve), curve.voteScale, fullName(curve)].join("|");
    const known = found.get(key);
    if (!known || isMore(sizeOf(curve), sizeOf(known))) found.set(key, curve);
  }
  return [...found.values()];
}

/** Which model answers in which category towards the end: a map per curve. */
export function choicesFigure(
  head: Head,
  curves: readonly Curve[],
  { categories, models, perf }: Scores,
): ReportItem {
  const best = outlineLargest(
    categories.flatMap((row, m) =>
      models.map((column, k) => ({ row, column, value: perf[k]![m]! })),
    ),
  );
  const weightings = new Set(curves.map(({ weighting }) => weighting)).size > 1;
  return {
    ...head,
    draw: (results) => {
      const pictures = curves.map((curve) => {
        const runs = results.choices(curve).map(sharesOf);
        const cells = best.map(({ row, column, outlined }) => {
          const shares = runs.map((run) => run.get(row)?.get(column) ?? Number.NaN);
          return { row, column, value: mean(shares), outlined };
        });
        const rounds = results.rounds(curve);
        const first = Math.floor((2 / 3) * rounds) + 1;
        const title = `${readableName(curve, { weightings })}: rounds ${first} to ${rounds}, ${runs.length} ${runs.length === 1 ? "run" : "runs"}`;
        const note = tooltipOf(curve);
        return heatMapPicture({ title, note, rows: categories, columns: models, cells });
      });
      return { kind: "figure", pictures };
    },
  };
}

/** Each model's share of the answers in a category, by category and model. */
function sharesOf(choices: readonly Choice[]): Map<string, Map<string, number>> {
  const byCategory = [...Map.groupBy(choices, ({ category }) => category)];
  return new Map(
    byCategory.map(([category, own]) => {
      const total = own.reduce((sum, { count }) => sum + count, 0);
      return [category, new Map(own.map(({ model, count }) => [model, count / total]))];
    }),
  );
}

/** The names in the order of the first list; those that it does not have follow. */
function sortedLike(order: readonly string[] = [], names: readonly string[]): string[] {
  const known = order.filter((name) => names.includes(name));
  return [...new Set([...known, ...names])];
}

/** cos(xi, xi) or the mean cos(x, a_k), before and after fine-tuning. With scores, rows and columns have their order. */
export function geometryFigure(
  head: Head,
  of: "byCategory" | "byModel",
  jobs: readonly { readonly title: string; readonly job: JobId }[],
  order?: Pick<Scores, "categories" | "models">,
): ReportItem {
  return {
    ...head,
    draw: (results) => {
      const pictures = jobs.map(({ title, job }) => {
        const { accuracy, categories, models, [of]: values } = results.descriptions([job])[0]!;
        const columns = of === "byCategory" ? categories : models;
        const cells = categories.flatMap((row, m) =>
          columns.map((column, c) => ({ row, column, value: values[m]![c]! })),
        );
        const rows = sortedLike(order?.categories, categories);
        return heatMapPicture({
          title,
          note: `nearest-category accuracy ${accuracy.toFixed(2)}`,
          rows,
          columns: of === "byCategory" ? rows : sortedLike(order?.models, models),
          cells,
        });
      });
      return { kind: "figure", pictures };
    },
  };
}
