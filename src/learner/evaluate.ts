import { winOf } from "../core/bandit/policy.ts";
import { Random } from "../core/random/random.ts";
import { type Decision, weightOf } from "../store/decision.ts";
import type { Configured, Logged, Voted } from "../store/events.ts";
import type { Store } from "../store/store.ts";
import { Estimator, type Evaluation, type Sample } from "./estimates.ts";
import type { FindPolicy } from "./fold.ts";
import { History } from "./history.ts";
import { decisionsInPages } from "./pages.ts";
import { lastConfiguration } from "./vote-schedule.ts";

/**
 * A policy to evaluate. `adapt` replaces the policy in a logged configuration; without
 * it, the logged policy is evaluated.
 */
export interface Target {
  readonly name: string;
  readonly adapt?: ((configuration: Logged<Configured>) => Logged<Configured>) | undefined;
}

interface EvaluateOptions {
  readonly findPolicy: FindPolicy;
  /** Evaluate only decisions since this time, in milliseconds since 1970. Default 0. */
  readonly from?: number | undefined;
  /** Evaluate only decisions up to this time. Default: all. */
  readonly until?: number | undefined;
}

export interface LogEvaluation extends Evaluation {
  /** Mean cost per decision of each target in US dollars, as estimated at the decision; undefined if costs were not logged. */
  readonly costs: readonly (number | undefined)[];
}

/**
 * Evaluates policies on the stored decisions. At each decision, a policy chooses with what it has
 * learned from the votes logged before. A decision of a sample counts as many times as the number
 * of decisions that it stands for. Each model alone is evaluated too, as "always MODEL": a router
 * is only useful if it beats the best of them. Where a model was not a candidate, the choice of the
 * first target replaces it.
 */
export async function evaluate(
  store: Store,
  router: string,
  targets: readonly Target[],
  votes: ReadonlyMap<string, DuelVotes>,
  { findPolicy, from = 0, until = Infinity }: EvaluateOptions,
): Promise<LogEvaluation | undefined> {
  const start = from > 0 ? await store.positionAt(router, from - 1) : 0;
  const histories = targets.map(({ adapt }) => {
    // Saved snapshots belong to the configured policy.
    const snapshots = start > 0 && !adapt;
    return new History(store, router, { findPolicy, snapshots, from: start, adapt });
  });
  if (start > 0) for (const history of histories) await history.open();
  const end = until === Infinity ? Infinity : await store.positionAt(router, until);
  const models = lastConfiguration(await store.controls(router), end)?.pool.models ?? [];
  const names = [...targets.map(({ name }) => name), ...models.map((name) => `always ${name}`)];
  const estimator = new Estimator(names);
  const costs = names.map(() => 0);
  let hasCosts = true;
  let count = 0;
  for await (const decision of decisionsOf(store, router, from, until)) {
    for (const history of histories) while (await history.advance(decision.at));
    const chosen = histories.map((history) => choose(history, decision));
    if (chosen.includes(undefined)) continue;
    const pairs = [
      ...(chosen as Pair[]),
      ...models.map((name): Pair => {
        const k = decision.candidates.indexOf(name);
        return k < 0 ? chosen[0]! : [k, k];
      }),
    ];
    const size = decision.candidates.length;
    const sample = sampleOf(decision, votes.get(decision.id));
    const weight = weightOf(decision);
    estimator.add(
      sample,
      pairs.map((pair) => sharesOf(pair, size)),
      weight,
    );
    count += weight;
    const logged = decision.costs;
    if (!logged) hasCosts = false;
    pairs.forEach(([a, b], t) => {
      costs[t]! += weight * ((logged?.[a] ?? 0) + (a === b ? 0 : (logged?.[b] ?? 0)));
    });
  }
  if (count === 0) return undefined;
  return { ...estimator.result(), costs: costs.map((sum) => (hasCosts ? sum / count : undefined)) };
}

/** The votes on one duel. */
export interface DuelVotes {
  readonly models: readonly string[];
  /** Wins of the answer shown first; a tie counts 1/2. */
  readonly wins: number;
  readonly votes: number;
}

/** Adds a vote on a duel to the votes on its decision. Ratings and rankings are ignored. */
export function addDuelVote(votes: Map<string, DuelVotes>, vote: Logged<Voted>): void {
  const { decision, models, verdict } = vote;
  if (!("outcome" in verdict)) return;
  const before = votes.get(decision) ?? { models, wins: 0, votes: 0 };
  const wins = before.wins + winOf(verdict.outcome);
  votes.set(decision, { models, wins, votes: before.votes + 1 });
}

/** Indices into the candidates of a decision. */
type Pair = readonly [number, number];

function choose(history: History, decision: Decision): Pair | undefined {
  const { router, configuration } = history.fold;
  const { x, candidates, costs, lambda, seed, encoder } = decision;
  if (!router || !configuration || encoder !== configuration.encoder) return undefined;
  const { models } = configuration.pool;
  const indices = candidates.map((name) => models.indexOf(name));
  if (indices.includes(-1)) return undefined;
  const penalty = costs && lambda > 0 ? new Float64Array(models.length) : undefined;
  for (const [i, k] of indices.entries()) if (penalty) penalty[k] = lambda * costs![i]!;
  const { pair } = router.policy.choose(
    { x, candidates: indices, penalty },
    Random.seeded(seed).split("choose"),
  );
  return [indices.indexOf(pair[0]), indices.indexOf(pair[1])];
}

function sharesOf([a, b]: Pair, size: number): Float64Array {
  const shares = new Float64Array(size);
  shares[a]! += 0.5;
  shares[b]! += 0.5;
  return shares;
}

function sampleOf(decision: Decision, duelVotes: DuelVotes | undefined): Sample {
  const { pair, candidates, values, propensity } = decision;
  const [a, b] = [candidates.indexOf(pair[0]), candidates.indexOf(pair[1])];
  // Votes do not count if, after a fallback, other models answered than were chosen.
  const isAsChosen = duelVotes?.models[0] === pair[0] && duelVotes.models[1] === pair[1];
  const win = isAsChosen ? duelVotes.wins / duelVotes.votes : undefined;
  return { size: candidates.length, values, duel: a === b ? undefined : { a, b, propensity, win } };
}

/** The decisions that could have become a duel. */
async function* decisionsOf(
  store: Store,
  router: string,
  from: number,
  until: number,
): AsyncGenerator<Decision> {
  for await (const decision of decisionsInPages(store, router, from)) {
    if (decision.at > until) return;
    const { answers, mode, candidates } = decision;
    const canDuel = answers === 2 || answers === "any";
    const counts = weightOf(decision) > 0;
    if (counts && canDuel && mode === "apply" && candidates.length > 1) yield decision;
  }
}
