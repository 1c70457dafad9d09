import { sigmoid } from "../src/core/bandit/btl.ts";
import { createPolicy } from "../src/core/bandit/options.ts";
import { highestMeanCost } from "../src/core/bandit/pacer.ts";
import { joust } from "../src/core/bandit/policies/joust.ts";
import type { Policy, Pool } from "../src/core/bandit/policy.ts";
import { Random } from "../src/core/random/random.ts";
import { type RoutedChoice, Router, type RouterSettings } from "../src/core/router.ts";
import {
  type Arrival,
  createEnvironment,
  type Environment,
} from "../src/lab/simulate/environment.ts";
import { SETTINGS, type Settings } from "../src/lab/simulate/settings.ts";
import { castVote } from "../src/lab/simulate/voter.ts";
import type { BenchDataset } from "./datasets.ts";
import {
  drawTraits,
  judgeVote,
  type SimulatedJudge,
  type SimulatedSignal,
  signalRating,
} from "./simulated-kinds.ts";

/** The conditions of an episode. Every field has a default. */
export interface Scenario {
  readonly settings?: Partial<Settings>;
  /** Exchange the utilities of the models halfway. */
  readonly exchange?: boolean;
  /** The last model of the pool joins halfway, without told scores. */
  readonly joins?: boolean;
  /** Probability that a single answer gets a rating, and how strongly ratings follow utility. */
  readonly ratings?: { readonly share: number; readonly slope: number };
  /** Share of rounds in which a duel is allowed; in the others the better model of the pair answers alone. */
  readonly duelShare?: number;
  /** Two more models answer, and the voter ranks all four answers. */
  readonly ranked?: boolean;
  /** Share of the duels that a person votes on. Default: 1. */
  readonly people?: number;
  /** A judge votes on every duel. */
  readonly judge?: SimulatedJudge;
  /** Share of the categories whose queries are steps of agents: the judge votes only on these, and people never. */
  readonly agents?: number;
  /** An implicit signal about single answers. */
  readonly signal?: SimulatedSignal;
  /**
   * A metric of sessions: the number of rounds of each session, and how strongly the metric follows their
   * mean utility.
   */
  readonly sessions?: { readonly rounds: number; readonly slope: number };
  /** utility = score - lambda * cost, with the mean cost of the most expensive model as unit. */
  readonly lambda?: number;
}

/** The features that are switched on or off. */
export interface Variant {
  readonly options?: Partial<typeof joust.defaults>;
  readonly router?: Partial<RouterSettings>;
  /** Learn from whole rankings, not only from the two models of the duel. */
  readonly rankings?: boolean;
  /** Votes of the judge: learned as its own kind (default), learned as half a person's, or not learned. */
  readonly judged?: "kind" | "person" | "ignored";
  /** Whether the signal, or the metric of sessions, is learned. */
  readonly signals?: boolean;
  /** Tell the router the prices and lambda. */
  readonly priced?: boolean;
  /** When a model joins, keep what was learned instead of starting again. */
  readonly keep?: boolean;
}

export interface Episode {
  readonly regret: number;
  /** Regret of the second half. */
  readonly late: number;
  /** Mean number of answers per query, from 1 to 2. */
  readonly answers: number;
  /** Mean cost per query, with the mean cost of the most expensive model as unit. */
  readonly cost: number;
}

export const ROUNDS = 1000;
/** Scenarios and options were chosen on seeds 1, 2, 3, 77 and 78. */
const SEED = 4;

/** One run of joust in a scenario. Run r has the same environment for every variant. */
export function playEpisode(
  { source, base }: BenchDataset,
  scenario: Scenario,
  variant: Variant,
  run: number,
): Episode {
  const settings: Settings = {
    ...SETTINGS,
    ...base,
    rounds: ROUNDS,
    voteScale: 3,
    seed: SEED,
    ...scenario.settings,
  };
  const random = Random.seeded(settings.seed).split(run);
  const { dataset, embeddings } = source;
  const environment = createEnvironment(dataset, embeddings, settings, random.split("environment"));
  const K = environment.pool.models.length;
  const costUnit = highestMeanCost(environment.pool.costs);
  const permutation = random.split("switch").derangement(K);
  const joining = scenario.joins ? K - 1 : -1;
  const traits = drawTraits(K, random.split("traits"));
  const session: { decision: RoutedChoice; model: number; quality: number }[] = [];

  let pool = scenario.joins ? withoutModel(environment.pool, K - 1) : environment.pool;
  let policy = create(pool, variant);
  const start = (policy: Policy) => new Router(policy, { costUnit, ...variant.router });
  let router = start(policy);
  const pendingVotes: { due: number; cast: () => void }[] = [];
  const total = { regret: 0, late: 0, answers: 0, cost: 0 };

  for (let t = 0; t < ROUNDS; t++) {
    const half = t >= ROUNDS / 2;
    if (t === ROUNDS / 2 && scenario.joins) {
      pool = withoutScores(environment.pool, K - 1);
      const next = create(pool, variant);
      if (variant.keep) next.restore(policy.snapshot());
      policy = next;
      router = start(policy);
    }
    const round = random.split("round").split(t);
    const arrival = arrivalAt(environment, t, scenario.exchange && half ? permutation : undefined);
    const { costs } = arrival;
    const lambda = scenario.lambda ?? 0;
    // Voters judge only the answers. Their cost counts for the regret.
    const priced = (k: number) => (lambda * (costs?.[k] ?? 0)) / costUnit;
    const utilities = arrival.utilities.map((u, k) => u - priced(k));
    const open = utilities.map((u, k) => (k === joining && !half ? -Infinity : u));
    const candidates = pool.models.map((_, k) => k);
    const price = variant.priced ? lambda : 0;
    const query = { x: arrival.x, candidates, costs, lambda: price };
    const decision = router.route(query, round.split("route"));
    const [a, b] = served(decision, scenario.duelShare ?? 1, round.split("duel"));
    // The utility of a duel is the mean of its two answers, but both answers cost money.
    const second = a === b ? 0 : (priced(a) + priced(b)) / 2;
    const regret = Math.max(...open) - (utilities[a]! + utilities[b]!) / 2 + second;
    total.regret += regret;
    if (half) total.late += regret;
    total.answers += (a === b ? 1 : 2) / ROUNDS;
    const paid = (costs?.[a] ?? 0) + (a === b ? 0 : (costs?.[b] ?? 0));
    total.cost += paid / costUnit / ROUNDS;
    const teacher = router;
    pendingVotes.push({ due: t + settings.delay, cast: () => teach(teacher) });
    while (pendingVotes[0] && pendingVotes[0].due <= t) pendingVotes.shift()!.cast();

    function teach(teacher: Router): void {
      const learn = round.split("learn");
      const truth = arrival.utilities;
      if (scenario.ranked) {
        const order = rank(truth, [a, b], candidates, settings.voteScale, round.split("rank"));
        const outcome = order.indexOf(a) < order.indexOf(b) ? "a" : "b";
        if (variant.rankings) teacher.rank(decision, order, learn);
        else if (a !== b) teacher.vote(decision, outcome, learn);
      } else if (a !== b) {
        const isAgent = arrival.query.category < (scenario.agents ?? 0) * pool.categories.length;
        const isVoted = round.split("person").uniform() < (scenario.people ?? 1);
        if (isVoted && !isAgent) {
          const own = castVote(arrival, decision.pair, settings, round.split("vote"));
          teacher.vote(decision, own.outcome, learn, own.voter);
        }
        const isJudged = scenario.agents === undefined || isAgent;
        if (scenario.judge && isJudged && variant.judged !== "ignored") {
          const world = { utilities: truth, voteScale: settings.voteScale };
          const vote = judgeVote(
            scenario.judge,
            traits,
            decision.pair,
            world,
            round.split("judge"),
          );
          const [weight, origin] =
            variant.judged === "person" ? [0.5, undefined] : [1, vote.origin];
          teacher.vote(decision, vote.outcome, learn, undefined, weight, origin);
        }
      } else if (scenario.ratings && round.split("thumb").uniform() < scenario.ratings.share) {
        const typical = truth.reduce((sum, u) => sum + u / K, 0);
        const like = sigmoid(scenario.ratings.slope * (truth[a]! - typical));
        const rating = round.split("like").uniform() < like ? 1 : -1;
        teacher.rate(decision, a, rating, learn);
      } else {
        teacher.dismiss(decision);
      }
      if (scenario.sessions && variant.signals) rateSession(teacher, scenario.sessions);
      if (scenario.signal && variant.signals && a === b) {
        const own = round.split("signal");
        if (own.uniform() >= scenario.signal.share) return;
        const rating = signalRating(scenario.signal, traits, a, truth, own);
        teacher.rate(decision, a, rating, learn, undefined, 1, { kind: "signal:simulated" });
      }
    }

    /** Adds a single answer to the session. The last round credits the metric to all of them. */
    function rateSession(
      teacher: Router,
      { rounds, slope }: NonNullable<Scenario["sessions"]>,
    ): void {
      const truth = arrival.utilities;
      const typical = truth.reduce((sum, u) => sum + u / K, 0);
      if (a === b) session.push({ decision, model: a, quality: truth[a]! - typical });
      if ((t + 1) % rounds !== 0) return;
      const answers = session.splice(0);
      const mean = answers.reduce((sum, { quality }) => sum + quality / answers.length, 0);
      const rating = round.split("session").uniform() < sigmoid(slope * mean) ? 1 : -1;
      const weight = 1 / answers.length;
      for (const { decision: own, model } of answers) {
        const origin = { kind: "metric:solved" };
        teacher.rate(own, model, rating, round.split("learn"), undefined, weight, origin);
      }
    }
  }
  return total;
}

function served(
  { pair, values }: RoutedChoice,
  duelShare: number,
  random: Random,
): readonly [number, number] {
  if (random.uniform() < duelShare) return pair;
  const better = values![pair[0]]! >= values![pair[1]]! ? pair[0] : pair[1];
  return [better, better];
}

function create(pool: Pool, { options }: Variant): Policy {
  return createPolicy(joust, pool, options);
}

/** The query of round t, with the utilities of the models exchanged if there is a permutation. */
function arrivalAt(environment: Environment, t: number, permutation?: readonly number[]): Arrival {
  const arrival = environment.at(t);
  if (!permutation) return arrival;
  return {
    ...arrival,
    utilities: arrival.utilities.map((_, k) => arrival.utilities[permutation[k]!]!),
  };
}

/** The pair and two other models, in an order drawn from Plackett-Luce. */
function rank(
  utilities: Float64Array,
  pair: readonly number[],
  candidates: readonly number[],
  scale: number,
  random: Random,
): number[] {
  const others = random.shuffle(candidates.filter((k) => !pair.includes(k))).slice(0, 2);
  const noisy = new Map(
    [...new Set(pair), ...others].map((k) => [k, scale * utilities[k]! + random.gumbel()]),
  );
  return [...noisy.keys()].sort((p, q) => noisy.get(q)! - noisy.get(p)!);
}

function withoutModel(pool: Pool, model: number): Pool {
  const rest = <T>(rows: readonly T[]) => rows.filter((_, k) => k !== model);
  return {
    ...pool,
    models: rest(pool.models),
    told: pool.told && rest(pool.told),
    costs: pool.costs && rest(pool.costs),
    labels: pool.labels && rest(pool.labels),
  };
}

function withoutScores(pool: Pool, model: number): Pool {
  const told = pool.told?.map((row, k) => (k === model ? row.map(() => Number.NaN) : row));
  return { ...pool, told };
}
