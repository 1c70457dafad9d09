import { categoryMembership } from "../../core/bandit/features.ts";
import { createPolicy } from "../../core/bandit/options.ts";
import { joust } from "../../core/bandit/policies/joust.ts";
import { type Outcome, winOf } from "../../core/bandit/policy.ts";
import { Random } from "../../core/random/random.ts";
import { Router } from "../../core/router.ts";
import { Estimator } from "../../learner/estimates.ts";
import { ALL_MODELS, type Counts, noCounts } from "../../store/tally.ts";
import { toFloat32 } from "../../store/vector.ts";
import { Calibrations, poolOf } from "../routing/calibration.ts";
import { costWeightOf } from "../routing/choose.ts";
import type { RecentQuery } from "../routing/recent.ts";
import { DATA, paperPrice, paperSandbox } from "../sandbox/sandbox.fixture.ts";
import { SLIP, verdictOn } from "../sandbox/voters.ts";
import { numbersOf, windowOf } from "./numbers.ts";

/**
 * Simulated voters in the sandbox without a gateway: the same questions, qualities, prices,
 * votes, encoder and policy, and the page's numbers at the end. Each run has its own models and
 * mix of categories and so its own truth, because coverage is defined over different truths.
 */
export interface Run {
  readonly numbers: ReturnType<typeof numbersOf>;
  /** Value of always serving the first model, estimated from votes on explored duels. */
  readonly estimates: ReturnType<Estimator["result"]>["targets"][number];
  readonly truth: {
    readonly regret: number;
    /** The best single model for these queries. */
    readonly best: string;
    readonly savings: number;
    /** Value of always serving the first model, by the judgement of the voters. */
    readonly value: number;
  };
}

const { profile, questions } = paperSandbox;
const places = { search: [], download: "", hubCache: "" };
const encoders = { models: places, openai: { apiKey: undefined }, embeddingCache: "" };
const calibration = await new Calibrations({ data: DATA, encoders }).open({});
const { encoderName: encoder } = calibration;
const vectors = await calibration.encoder.encode(questions.map(({ query }) => query));
const embedded = questions.map((question, i) => ({ ...question, x: toFloat32(vectors[i]!) }));
const prices = new Map(profile.models.map((model) => [model, paperPrice(model)]));

export function runSandbox(seed: number, rounds: number, explore: number): Run {
  const random = Random.seeded(seed);
  const models = shuffled(profile.models, random).slice(0, 2 + random.integer(9));
  const mix = profile.categories.map(() => -Math.log(1 - random.uniform()));
  const pool = poolOf(calibration, models);
  const costs = Float64Array.from(models, (model) => prices.get(model)!.input);
  const costUnit = Math.max(...costs);
  const settings = { explore, costUnit, weighVoters: true };
  const router = new Router(createPolicy(joust, pool), settings);
  const candidates = models.map((_, k) => k);
  const estimator = new Estimator(["always the first"]);
  const always = Float64Array.from(models, (_, k) => Number(k === 0));
  const recent: RecentQuery[] = [];
  const counts: Counts = noCounts();
  const means = new Float64Array(models.length);
  const alone = new Float64Array(models.length);
  let regret = 0;
  for (let t = 0; t < rounds; t++) {
    const drawnCategory = profile.categories[drawn(mix, random)]!;
    const own = embedded.filter(({ category }) => category === drawnCategory);
    const { x } = own[random.integer(own.length)]!;
    const quality = models.map((model) => profile.quality(model, drawnCategory));
    const lambda = costWeightOf(TRADEOFF);
    const decision = router.route({ x, candidates, costs, lambda, answers: 2 }, random.split(t));
    const { pair, values, propensity } = decision;
    const right = pair.map((k) => random.uniform() < quality[k]!);
    const verdict = verdictOn(right, random);
    const outcome: Outcome = verdict === 0 ? "a" : verdict === 1 ? "b" : verdict;
    router.vote(decision, outcome, random, `voter ${random.integer(VOTERS)}`);

    const [a, b] = pair;
    const duel = { a, b, propensity, win: winOf(outcome) };
    estimator.add({ size: models.length, values: [...values!], duel }, [always]);
    const names = [models[a]!, models[b]!] as const;
    recent.push({ at: t, encoder, x, candidates: models, pair: names });
    counts.shown++;
    counts.answers += 2;
    counts.priced++;
    for (const k of candidates) alone[k]! += profile.cost(models[k]!, drawnCategory);
    for (const k of pair) counts.cost += profile.cost(models[k]!, drawnCategory);
    regret += (Math.max(...quality) - (quality[a]! + quality[b]!) / 2) / rounds;
    for (const k of candidates) means[k]! += quality[k]! / rounds;
  }
  const posterior = {
    pool,
    encoder,
    router,
    version: rounds,
    membership: categoryMembership(pool.centroids),
  };
  const rows = models.map((model, k): [string, Counts] => [
    model,
    { ...noCounts(), priced: rounds, always_cost: alone[k]! },
  ]);
  const tallies = [[ALL_MODELS, counts] as const, ...rows].map(([model, sums]) => ({
    router: "auto",
    bucket: 0,
    model,
    counts: sums,
  }));
  const own = new Map(models.map((model) => [model, prices.get(model)!]));
  const best = models[means.indexOf(Math.max(...means))]!;
  const middle = means.reduce((sum, mean) => sum + mean / models.length, 0);
  return {
    numbers: numbersOf({ posterior, recent, window: windowOf(1, rounds), tallies, prices: own }),
    estimates: estimator.result().targets[0]!,
    truth: {
      regret,
      best,
      savings: alone[models.indexOf(best)]! - counts.cost,
      // If only one answer is right, it is preferred, except for errors of the voter; otherwise
      // each is preferred half of the time.
      value: 1 / 2 + (1 / 2 - SLIP) * (means[0]! - middle),
    },
  };
}

const TRADEOFF = 3;
const VOTERS = 5;

function shuffled<T>(values: readonly T[], random: Random): T[] {
  const keys = new Map(values.map((value) => [value, random.uniform()]));
  return values.toSorted((a, b) => keys.get(a)! - keys.get(b)!);
}

function drawn(weights: readonly number[], random: Random): number {
  let rest = random.uniform() * weights.reduce((sum, weight) => sum + weight, 0);
  const found = weights.findIndex((weight) => {
    rest -= weight;
    return rest < 0;
  });
  return Math.max(0, found);
}
