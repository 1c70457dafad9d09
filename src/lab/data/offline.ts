import type { HeldOut, OfflineQueries } from "../../core/calibrate/calibrate.ts";
import { bestModels, type ScoreTable } from "../../core/calibrate/models.ts";
import { scoreErrors } from "../../core/calibrate/score-errors.ts";
import type { Random } from "../../core/random/random.ts";
import type { Dataset } from "./dataset.ts";
import { groupQueries } from "./groups.ts";

/**
 * Draws the queries that `joust fit` learns from: `count` of each category, or all if it has
 * fewer. The scores of the models are the table's, or else means over these queries. The
 * other queries are held out. `members` are the indices of the offline queries by category.
 */
export function takeOffline(
  dataset: Dataset,
  count: number,
  random: Random,
): { offline: OfflineQueries; heldOut: HeldOut; members: readonly (readonly number[])[] } {
  const groups = groupQueries(dataset);
  const shuffled = groups.map(({ members }) => random.shuffle([...members]));
  const chosen = shuffled.map((members) => members.slice(0, count));
  const rest = shuffled.map((members) => members.slice(count));
  const table = tableOf(dataset, chosen);
  const bestOf = (i: number, m: number) =>
    bestModels(dataset.queries[i]!.scores ?? Float64Array.from(table.scores, (row) => row[m]!));
  return {
    offline: {
      ...list(dataset, chosen),
      ids: chosen.flat().map((i) => dataset.queries[i]!.id),
      best: chosen.flatMap((members, m) => members.map((i) => bestOf(i, m))),
      categoryNames: groups.map(({ name }) => name),
      models: dataset.models,
      ...table,
    },
    heldOut: list(dataset, rest),
    members: chosen,
  };
}

function list({ queries }: Dataset, parts: readonly (readonly number[])[]): HeldOut {
  return {
    texts: parts.flat().map((i) => queries[i]!.text),
    categories: parts.flatMap((members, m) => members.map(() => m)),
  };
}

function tableOf(
  { scores, queries, models }: Dataset,
  parts: readonly (readonly number[])[],
): ScoreTable {
  if (scores) return { scores: scores.perf, costs: scores.cost, errors: scores.errors };
  const means = (of: (i: number) => Float64Array) =>
    models.map((_, k) =>
      Float64Array.from(
        parts,
        (members) => members.reduce((sum, i) => sum + of(i)[k]!, 0) / members.length,
      ),
    );
  const priced = queries.every(({ costs }) => costs);
  return {
    scores: means((i) => queries[i]!.scores!),
    // Queries without scores have no models.
    errors:
      models.length > 0
        ? scoreErrors(parts.map((members) => members.map((i) => queries[i]!.scores!)))
        : [],
    ...(priced && { costs: means((i) => queries[i]!.costs!) }),
  };
}
