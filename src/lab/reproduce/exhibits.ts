/** Figures and tables that several experiments have. */

import type { JobId } from "../jobs/job.ts";
import { type HeatMap, heatMapsSvg, largest } from "../report/heat-map.ts";
import type { Cell, Column } from "../report/table.ts";
import { mean, meanInterval } from "../statistics.ts";
import { fullName, worldOf } from "./curve-name.ts";
import { type CurvesFigure, curvesSvg } from "./curves.ts";
import type { Curve, Exhibit } from "./experiment.ts";
import type { Results } from "./results.ts";
import type { Scores } from "./score-tables.ts";
import { byEncoder, byWeighting, inTurn } from "./style.ts";

type Head = Omit<Exhibit, "draw">;

export interface CurvesExhibit extends Head {
  /** A panel for each vote scale among them. */
  readonly curves: readonly Curve[];
  /** Rounds shown, all unless said. */
  readonly rounds?: number;
  /** What colors tell apart; weightings unless said. */
  readonly colors?: "curves" | "encoders";
  /** What happens in the middle of a run. */
  readonly event?: CurvesFigure["event"];
  /** What parts the panels; the vote scale unless said. */
  panelOf?(curve: Curve): string;
}

export function curvesExhibit(exhibit: CurvesExhibit): Exhibit {
  const { id, title, caption, rounds, colors, event, panelOf = scaleOf } = exhibit;
  // The same curve may have been asked for twice.
  const curves = [...new Map(exhibit.curves.map((c) => [`${panelOf(c)} ${c.name}`, c])).values()];
  const names = [...new Set(curves.map(panelOf))];
  const panels = names.map((name) => ({
    title: name,
    curves: curves.filter((curve) => panelOf(curve) === name),
  }));
  const styleOf = (curve: Curve) => {
    const own = panels.find((panel) => panel.curves.includes(curve))!;
    if (colors === "curves") return inTurn(own.curves)(curve);
    return colors === "encoders" ? byEncoder(own.curves)(curve) : byWeighting(curve);
  };
  return {
    id,
    title,
    caption,
    withoutQueries: exhibit.withoutQueries,
    draw: (results) => ({
      kind: "figure",
      svg: curvesSvg({ title, panels, styleOf, rounds, event }, results),
    }),
  };
}

function scaleOf({ voteScale }: Curve): string {
  return `vote scale ${voteScale}`;
}

interface FinalOptions {
  readonly curves: readonly Curve[];
  readonly rounds: readonly number[];
  /** Votes are verdicts that are there, and have no scale. */
  readonly stored?: boolean;
}

/** One row a curve: regret under Perf at each of the rounds, under Perf - lambda Cost, and what a query costs. */
export function finalTable(
  id: string,
  title: string,
  { curves, rounds, stored = false }: FinalOptions,
): Exhibit {
  // The end, where runs go through all queries once.
  const points = rounds.length > 0 ? rounds : [undefined];
  const caption = [
    "Means over runs and, where there are several, their 95% intervals by Student's t. World: the form of the queries, and what else was changed.",
    stored ? "Votes are stored verdicts, without a vote scale." : "s: the vote scale.",
    "Score, cost and agreement are means over all rounds of a curve; where not all have as many, Over rounds says how many.",
    "Costs are in the unit of the table of Perf and Cost, a duel being charged both answers; agreement is the share of rounds answered by a best model, half each in a duel.",
  ].join(" ");
  return {
    id,
    title,
    caption,
    draw: (results) => {
      const unique = longest(results, curves);
      const [first] = points;
      const priced = unique.some((curve) => hasCosts(results, curve));
      const uneven = new Set(unique.map((curve) => results.rounds(curve))).size > 1;
      const columns: Column[] = [
        { key: "curve", title: "Curve", kind: "text" },
        { key: "world", title: "World", kind: "text" },
        ...(stored ? [] : [{ key: "vote_scale", title: "s", kind: "number" } as const]),
        ...points.map(
          (t): Column => ({
            key: t === undefined ? "regret" : `regret_${t}`,
            title: t === undefined ? "Regret" : `Regret, T = ${t}`,
            kind: "interval",
          }),
        ),
        ...(priced
          ? [
              {
                key: "regret_priced",
                title: `under Perf \u2212 0.05 Cost${first === undefined ? "" : `, T = ${first}`}`,
                kind: "interval",
              } as const,
            ]
          : []),
        ...(uneven ? [{ key: "rounds", title: "Over rounds", kind: "whole" } as const] : []),
        ...(priced ? [{ key: "cost", title: "Cost a query", kind: "number" } as const] : []),
        { key: "score", title: "Score", kind: "number" },
        { key: "agreement", title: "Agreement", kind: "percent" },
      ];
      const rows = unique.map((curve): Cell[] => {
        const runs = results.runs(curve);
        const at = (t: number | undefined, measure: "regret" | "priced" = "regret") => {
          const values = results.regrets(curve, t, measure);
          return values ? meanInterval(values) : null;
        };
        const costs = runs.map(({ cost }) => cost).filter((cost) => cost !== null);
        return [
          fullName(curve),
          worldOf(curve),
          ...(stored ? [] : [curve.voteScale]),
          ...points.map((t) => at(t)),
          ...(priced ? [at(first, "priced")] : []),
          ...(uneven ? [results.rounds(curve)] : []),
          ...(priced ? [costs.length > 0 ? mean(costs) : null] : []),
          mean(runs.map(({ score }) => score)),
          mean(runs.map(({ agreement }) => agreement)),
        ];
      });
      return { kind: "table", table: { title, columns, rows } };
    },
  };
}

/** A curve may have been asked for twice, and at two lengths where it is the same for several encoders. */
function longest(results: Results, curves: readonly Curve[]): Curve[] {
  const found = new Map<string, Curve>();
  for (const curve of curves) {
    const known = found.get(keyOf(curve));
    if (known && results.rounds(known) >= results.rounds(curve)) continue;
    found.set(keyOf(curve), curve);
  }
  return [...found.values()];
}

function keyOf(curve: Curve): string {
  return [curve.form, curve.variant, curve.voteScale, fullName(curve)].join("|");
}

function hasCosts(results: Results, curve: Curve): boolean {
  return results.runs(curve).some(({ cost }) => cost !== null && cost > 0);
}

/** Which model answers in which category towards the end: a map for each curve. */
export function choicesExhibit(
  head: Head,
  curves: readonly Curve[],
  { categories, models, perf }: Scores,
): Exhibit {
  const outlined = largest(categories.map((_, m) => models.map((_, k) => perf[k]![m]!)));
  return {
    ...head,
    draw: (results) => {
      const maps = curves.map((curve): HeatMap => {
        const runs = results.runs(curve).map(({ choices }) => choices.map(shares));
        const values = categories.map((_, m) =>
          models.map((_, k) => mean(runs.map((run) => run[m]?.[k] ?? Number.NaN))),
        );
        return { title: curve.name, rows: categories, columns: models, values, outlined };
      });
      return { kind: "figure", svg: heatMapsSvg(head.title, maps) };
    },
  };
}

function shares(counts: readonly number[]): number[] {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return counts.map((count) => count / total);
}

/** cos(xi, xi) and the mean cos(x, a_k), before and after fine-tuning. */
export function geometryExhibit(
  head: Head,
  of: "byCategory" | "byModel",
  jobs: readonly { readonly title: string; readonly job: JobId }[],
): Exhibit {
  return {
    ...head,
    draw: (results) => {
      const maps = jobs.map(({ title, job }): HeatMap => {
        const value = results.descriptions([job])[0]!;
        const columns = of === "byCategory" ? value.categories : value.models;
        const note = `nearest-category accuracy ${value.accuracy.toFixed(2)}`;
        return { title, note, rows: value.categories, columns, values: value[of] };
      });
      return { kind: "figure", svg: heatMapsSvg(head.title, maps) };
    },
  };
}
