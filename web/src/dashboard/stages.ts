import type { Stage } from "../../../src/client.ts";

/** Mean of some stages. Quality is the share of right answers; costs are US dollars per request. */
export type StageMean = Omit<Stage, "votes">;

/** Routing before it has learned and now, compared with the best single model on the same questions. */
interface BeforeAndNow {
  readonly before: StageMean;
  /** Undefined until there are requests after the first stage. */
  readonly now: StageMean | undefined;
}

export function beforeAndNow(stages: readonly Stage[]): BeforeAndNow | undefined {
  const [first, ...later] = stages;
  if (!first) return undefined;
  const newest: Stage[] = [];
  for (const stage of later.toReversed()) {
    if (total(newest) >= ENOUGH_REQUESTS) break;
    newest.push(stage);
  }
  return { before: meanOf([first]), now: newest.length === 0 ? undefined : meanOf(newest) };
}

/** Joins neighbouring stages until each has enough requests for its mean to say something. */
export function joined(stages: readonly Stage[]): Stage[] {
  const groups: Stage[][] = [];
  for (const stage of stages) {
    const last = groups.at(-1);
    if (last && total(last) < LEAST_REQUESTS) last.push(stage);
    else groups.push([stage]);
  }
  // A last group with few requests belongs to the one before it.
  const [before, last] = [groups.at(-2), groups.at(-1)];
  if (before && last && total(last) < LEAST_REQUESTS) groups.splice(-2, 2, [...before, ...last]);
  return groups.map((group) => ({ votes: group[0]!.votes, ...meanOf(group) }));
}

const LEAST_REQUESTS = 40;

/** Number of the newest requests that stand for the present. */
const ENOUGH_REQUESTS = 100;

/** Compares routing with the best single model in words: "gives 5 more right answers per 100 requests and costs 58% less". */
export function comparison({ quality, cost, best_quality, best_cost }: StageMean): string {
  const points = Math.round(100 * quality) - Math.round(100 * best_quality);
  const right =
    points === 0
      ? "as many right answers"
      : `${Math.abs(points)} ${points > 0 ? "more" : "fewer"} right answer${Math.abs(points) === 1 ? "" : "s"} per 100 requests`;
  const saved = Math.round(100 * (1 - cost / best_cost));
  const price = saved === 0 ? "the same" : `${Math.abs(saved)}% ${saved > 0 ? "less" : "more"}`;
  return `gives ${right} and costs ${price}`;
}

function total(stages: readonly Stage[]): number {
  return stages.reduce((sum, { requests }) => sum + requests, 0);
}

function meanOf(stages: readonly Stage[]): StageMean {
  const requests = total(stages);
  const mean = (of: (stage: Stage) => number) =>
    stages.reduce((sum, stage) => sum + (stage.requests / requests) * of(stage), 0);
  return {
    requests,
    quality: mean((stage) => stage.quality),
    cost: mean((stage) => stage.cost),
    best_quality: mean((stage) => stage.best_quality),
    best_cost: mean((stage) => stage.best_cost),
  };
}
