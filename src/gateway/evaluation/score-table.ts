import { scoreErrors } from "../../core/calibrate/score-errors.ts";
import { COLUMNS, type ScoreTable } from "../../core/input/scores.ts";
import type { ScoredPrompt } from "./score-answers.ts";

/** A line of a score table. */
export interface ScoreLine {
  readonly model: string;
  readonly category: string;
  readonly perf: number;
  /** Mean cost of an answer in US dollars. */
  readonly cost: number;
  /** Standard error of perf, NaN if it is unknown. */
  readonly se: number;
}

/** The prompts that all of these models have answered. Only these allow a fair comparison. */
export function completePrompts(
  scored: readonly ScoredPrompt[],
  models: readonly string[],
): ScoredPrompt[] {
  return scored.filter(({ answers }) => models.every((model) => answers.has(model)));
}

/**
 * Mean score and cost of each model in each category, with standard errors that leave out the
 * difficulty of the prompts (docs/decisions/0027-told-scores-with-errors.md). `categoryOf` returns
 * the router's category of a prompt. Even if all models score the same, an error is not 0, but at least that of
 * `leastVariance`.
 */
export function scoreLines(
  complete: readonly ScoredPrompt[],
  models: readonly string[],
  categoryOf: (scored: ScoredPrompt) => string,
): ScoreLine[] {
  if (complete.length === 0) return [];
  const groups = Map.groupBy(complete, categoryOf);
  const categories = [...groups.keys()].toSorted();
  const rows = categories.map((category) => groups.get(category)!);
  const errors = scoreErrors(
    rows.map((prompts) =>
      prompts.map(({ answers }) => Float64Array.from(models, (model) => answers.get(model)!.score)),
    ),
  );
  const least = leastVariance(complete.length);
  return models.flatMap((model, k) =>
    categories.map((category, m) => {
      const answers = rows[m]!.map((scored) => scored.answers.get(model)!);
      const mean = (of: (one: { score: number; cost: number }) => number) =>
        answers.reduce((sum, one) => sum + of(one), 0) / answers.length;
      const perf = mean(({ score }) => score);
      const se = Math.max(errors[k]![m]!, Math.sqrt(least / answers.length));
      return { model, category, perf, cost: mean(({ cost }) => cost), se };
    }),
  );
}

/** Lower bound of the variance of n scores, even if they are equal: as if one of n + 2 had turned out differently. */
export function leastVariance(n: number): number {
  const rare = 1 / (n + 2);
  return rare * (1 - rare);
}

/** Whether the scores say nothing about which model is better: all models have the same in every category. */
export function areAllEqual(lines: readonly ScoreLine[]): boolean {
  const first = new Map<string, number>();
  return lines.every(({ category, perf }) => {
    if (!first.has(category)) first.set(category, perf);
    return first.get(category) === perf;
  });
}

/** The lines of an existing table that the new lines do not replace. */
export function otherLines(table: ScoreTable, lines: readonly ScoreLine[]): ScoreLine[] {
  const keyOf = (model: string, category: string) => JSON.stringify([model, category]);
  const replaced = new Set(lines.map(({ model, category }) => keyOf(model, category)));
  return [...table.models].flatMap(([model, scores]) =>
    [...scores].flatMap(([category, { perf, cost, error }]) =>
      replaced.has(keyOf(model, category)) ? [] : [{ model, category, perf, cost, se: error }],
    ),
  );
}

/** The csv file of a score table. */
export function scoreFile(lines: readonly ScoreLine[]): string {
  const rows = lines.map(({ model, category, perf, cost, se }) =>
    [
      cell(model),
      cell(category),
      rounded(perf),
      rounded(cost),
      Number.isNaN(se) ? "" : rounded(se),
    ].join(),
  );
  return `${[[...COLUMNS, "se"].join(), ...rows].join("\n")}\n`;
}

function cell(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(6)));
}
