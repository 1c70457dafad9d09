import { winOf } from "../core/bandit/policy.ts";
import { Random } from "../core/random/random.ts";
import type { Decision } from "../store/decision.ts";
import type { Configured, Logged, Voted } from "../store/events.ts";
import type { Store } from "../store/store.ts";
import { Estimator, type Evaluation, type Sample } from "./estimates.ts";
import type { Kinds } from "./fold.ts";
import { History } from "./history.ts";
import { inPages } from "./pages.ts";
import { lastConfiguration } from "./script.ts";

/** A policy to be judged: the configurations of the log, read as if they had named it. */
export interface Target {
  readonly name: string;
  readonly adapt?: ((configuration: Logged<Configured>) => Logged<Configured>) | undefined;
}

interface EvaluateOptions {
  readonly kinds: Kinds;
  /** The position after which decisions count; all do unless said. */
  readonly from?: number | undefined;
  /** The position of the last that may count. */
  readonly until?: number | undefined;
}

export interface LogEvaluation extends Evaluation {
  /** Mean cost a decision, in US dollars as estimated when it was made; undefined where costs are not logged. */
  readonly costs: readonly (number | undefined)[];
}

/**
 * Judges policies by the decisions of a log: at each they choose by what they
 * have learnt from the votes before it. Also judged is each model alone, "always
 * MODEL": a router that is not better than the best of them is not needed. Where
 * a model was no candidate the first target's choice stands for it.
 */
export async function evaluate(
  store: Store,
  router: string,
  targets: readonly Target[],
  votes: ReadonlyMap<string, Verdicts>,
  { kinds, from = 0, until = Infinity }: EvaluateOptions,
): Promise<LogEvaluation | undefined> {
  const histories = targets.map(({ adapt }) => {
    // Snapshots are of the policy that was configured.
    const snapshots = from > 0 && !adapt;
    return new History(store, router, { kinds, snapshots, from, adapt });
  });
  if (from > 0) for (const history of histories) await history.open();
  const models = lastConfiguration(await store.controls(router), until)?.pool.models ?? [];
  const names = [...targets.map(({ name }) => name), ...models.map((name) => `always ${name}`)];
  const estimator = new Estimator(names);
  const costs = names.map(() => 0);
  let priced = true;
  let count = 0;
  for await (const decision of decisionsOf(store, router, from, until)) {
    for (const history of histories) while (await history.advance(decision.position));
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
    estimator.add(
      sample,
      pairs.map((pair) => sharesOf(pair, size)),
    );
    count++;
    const prices = decision.costs;
    if (!prices) priced = false;
    pairs.forEach(([a, b], t) => {
      costs[t]! += (prices?.[a] ?? 0) + (a === b ? 0 : (prices?.[b] ?? 0));
    });
  }
  if (count === 0) return undefined;
  return { ...estimator.result(), costs: costs.map((sum) => (priced ? sum / count : undefined)) };
}

/** Wins of the answer shown first, ties half, and of how many votes. */
export interface Verdicts {
  readonly models: readonly string[];
  readonly wins: number;
  readonly votes: number;
}

/** Adds a vote on a duel to those on its decision; other votes say nothing about a pair. */
export function collectVerdict(votes: Map<string, Verdicts>, vote: Logged<Voted>): void {
  const { decision, models, verdict } = vote;
  if (!("outcome" in verdict)) return;
  const before = votes.get(decision) ?? { models, wins: 0, votes: 0 };
  const wins = before.wins + winOf(verdict.outcome);
  votes.set(decision, { models, wins, votes: before.votes + 1 });
}

/** Places in the list of candidates. */
type Pair = readonly [number, number];

function choose(history: History, decision: Logged<Decision>): Pair | undefined {
  const { router, configuration } = history.fold;
  const { x, candidates, costs, lambda, seed, encoder } = decision;
  if (!router || !configuration || encoder !== configuration.encoder) return undefined;
  const { models } = configuration.pool;
  const places = candidates.map((name) => models.indexOf(name));
  if (places.includes(-1)) return undefined;
  const penalty = costs && lambda > 0 ? new Float64Array(models.length) : undefined;
  for (const [i, k] of places.entries()) if (penalty) penalty[k] = lambda * costs![i]!;
  const { pair } = router.policy.choose(
    { x, candidates: places, penalty },
    Random.seeded(seed).split("choose"),
  );
  return [places.indexOf(pair[0]), places.indexOf(pair[1])];
}

function sharesOf([a, b]: Pair, size: number): Float64Array {
  const shares = new Float64Array(size);
  shares[a]! += 0.5;
  shares[b]! += 0.5;
  return shares;
}

function sampleOf(decision: Logged<Decision>, verdicts: Verdicts | undefined): Sample {
  const { pair, candidates, values, propensity } = decision;
  const [a, b] = [candidates.indexOf(pair[0]), candidates.indexOf(pair[1])];
  // After a fallback others answered than were chosen: then it is as if nobody had voted.
  const asChosen = verdicts?.models[0] === pair[0] && verdicts.models[1] === pair[1];
  const win = asChosen ? verdicts.wins / verdicts.votes : undefined;
  return { size: candidates.length, values, duel: a === b ? undefined : { a, b, propensity, win } };
}

/** Those in which a duel had a chance. */
async function* decisionsOf(
  store: Store,
  router: string,
  from: number,
  until: number,
): AsyncGenerator<Logged<Decision>> {
  const page = (after: number, limit: number) => store.routed(router, after, limit);
  for await (const decision of inPages(page, from)) {
    if (decision.position > until) return;
    const { answers, mode, candidates } = decision;
    const chance = answers === 2 || answers === "any";
    if (chance && mode === "apply" && candidates.length > 1) yield decision;
  }
}
