import type { Random } from "../../core/random/random.ts";
import type { Dataset } from "./dataset.ts";

/** The queries of one category. */
interface Group {
  readonly name: string;
  /** Indices of queries. */
  readonly members: number[];
}

/** Groups queries by category, or by best model (the first of several) if the data has no categories. */
export function groupQueries(dataset: Dataset): Group[] {
  const labelled = dataset.categories.length > 0;
  const names = labelled ? dataset.categories : dataset.models;
  const groups = names.map((name) => ({ name, members: [] as number[] }));
  dataset.queries.forEach((query, i) => {
    groups[labelled ? query.category : argBest(query.scores!)]!.members.push(i);
  });
  return groups.filter((group) => group.members.length > 0);
}

type Parts = readonly (readonly number[])[];

/**
 * Splits queries into offline ones, which are known in advance and never streamed, and online
 * ones. `count` offline queries of each category are drawn for each run; with a bundle, the
 * offline queries are those of the bundle, by its categories.
 */
export function setAside(
  { calibration }: Dataset,
  groups: readonly Group[],
  count: number,
  random: Random,
): { offline: Parts; online: Parts } {
  if (calibration) {
    const known = new Set(calibration.offline.flat());
    const online = groups.map(({ members }) => members.filter((i) => !known.has(i)));
    return { offline: calibration.offline, online };
  }
  const shuffled = groups.map((group) => random.shuffle([...group.members]));
  return {
    offline: shuffled.map((members) => members.slice(0, offlineCount(members, count))),
    online: shuffled.map((members) => members.slice(offlineCount(members, count))),
  };
}

/** Number of queries of a category, and of those that are set aside as offline. */
export interface Split {
  readonly category: string;
  readonly queries: number;
  readonly offline: number;
}

export function splitOf(dataset: Dataset, offline: number): Split[] {
  const fixed = dataset.calibration && new Set(dataset.calibration.offline.flat());
  return groupQueries(dataset).map(({ name, members }) => ({
    category: name,
    queries: members.length,
    offline: fixed ? members.filter((i) => fixed.has(i)).length : offlineCount(members, offline),
  }));
}

/** At most half of a small category goes offline, and at least one query. */
function offlineCount(members: readonly number[], count: number): number {
  return Math.max(1, Math.min(count, Math.floor(members.length / 2)));
}

function argBest(scores: Float64Array): number {
  return scores.indexOf(Math.max(...scores));
}
