import { resolve } from "node:path";
import { createPolicy } from "../src/core/bandit/options.ts";
import { joust } from "../src/core/bandit/policies/joust.ts";
import type { Outcome } from "../src/core/bandit/policy.ts";
import { Random } from "../src/core/random/random.ts";
import { Router } from "../src/core/router.ts";
import { CONFIG } from "../src/gateway/config/config.ts";
import { Calibrations, poolOf } from "../src/gateway/routing/calibration.ts";
import { costWeightOf } from "../src/gateway/routing/choose.ts";
import { Profile } from "../src/gateway/sandbox/profile.ts";
import { Questions } from "../src/gateway/sandbox/questions.ts";
import { verdictOn } from "../src/gateway/sandbox/voters.ts";
import { toFloat32 } from "../src/store/vector.ts";
import type { Bench } from "./bench.ts";

const DATA = resolve(import.meta.dirname, "../data");
const CHECKPOINTS = [0, 100, 250, 500, 1000];
const VOTERS = 5;

/** True quality and cost per thousand requests on all questions of the sandbox. */
interface Point {
  readonly quality: number;
  readonly cost: number;
}

/**
 * Measures quality and cost of routing in the sandbox, without a gateway: the default policy and settings,
 * the sandbox's questions and voters. After some numbers of votes each question is routed once more.
 */
export const sandbox: Bench = async (_, { seeds = 100 }) => {
  const profile = await Profile.read(resolve(DATA, "scores/sandbox.csv"));
  const { all: questions } = await Questions.read(resolve(DATA, "queries.jsonl"));
  const places = { search: [], download: "", hubCache: "" };
  const encoders = { models: places, openai: { apiKey: undefined }, embeddingCache: "" };
  const calibration = await new Calibrations({ data: DATA, encoders }).open({});
  const { models } = profile;
  const defaults = CONFIG.parse({ routers: { auto: {} } }).routers.auto!;

  const pointOf = (chosen: readonly string[]): Point => ({
    quality: mean(questions.map(({ category }, i) => profile.quality(chosen[i]!, category))),
    cost: 1000 * mean(questions.map(({ category }, i) => profile.cost(chosen[i]!, category))),
  });
  const alone = new Map(models.map((model) => [model, pointOf(questions.map(() => model))]));

  const play = async (seed: number): Promise<Point[]> => {
    const random = Random.seeded(seed);
    const embed = async (text: string) => {
      const [x] = await calibration.encoder.encode([`${text} (${random.integer(1_000_000)})`]);
      return toFloat32(x!);
    };
    const costs = Float64Array.from(models, (model) => alone.get(model)!.cost);
    const { explore, cost_quality_tradeoff: tradeoff } = defaults;
    const router = new Router(createPolicy(joust, poolOf(calibration, models)), {
      explore,
      costUnit: Math.max(...costs),
      weighVoters: true,
    });
    const candidates = models.map((_, k) => k);
    const common = { candidates, costs, lambda: costWeightOf(tradeoff) };
    const points: Point[] = [];
    for (let t = 0; t <= CHECKPOINTS.at(-1)!; t++) {
      if (CHECKPOINTS.includes(t)) {
        const chosen: string[] = [];
        for (const { id, query } of questions) {
          const x = await embed(query);
          const own = random.split(`${t} ${id}`);
          chosen.push(models[router.route({ ...common, x, answers: 1 }, own).pair[0]]!);
        }
        points.push(pointOf(chosen));
      }
      const { query, category } = questions[random.integer(questions.length)]!;
      const x = await embed(query);
      const decision = router.route({ ...common, x, answers: 2 }, random.split(t));
      const right = decision.pair.map(
        (k) => random.uniform() < profile.quality(models[k]!, category),
      );
      const verdict = verdictOn(right, random);
      const outcome: Outcome = verdict === 0 ? "a" : verdict === 1 ? "b" : verdict;
      router.vote(decision, outcome, random, `voter ${random.integer(VOTERS)}`);
    }
    return points;
  };

  const runs: Point[][] = [];
  for (let seed = 1; seed <= seeds; seed++) runs.push(await play(seed));
  await calibration.encoder.close();

  const best = alone.get(profile.best())!;
  const last = runs.map((points) => points.at(-1)!);
  const figures: Record<string, number> = {};
  for (const [model, { quality, cost }] of alone) {
    figures[`always ${model}: quality`] = quality;
    figures[`always ${model}: cost`] = cost;
  }
  for (const [i, votes] of CHECKPOINTS.entries()) {
    const points = runs.map((run) => run[i]!);
    figures[`${votes} votes: quality`] = mean(points.map(({ quality }) => quality));
    figures[`${votes} votes: lowest quality`] = Math.min(...points.map(({ quality }) => quality));
    figures[`${votes} votes: cost`] = mean(points.map(({ cost }) => cost));
    figures[`${votes} votes: highest cost`] = Math.max(...points.map(({ cost }) => cost));
  }
  const share = (test: (point: Point) => boolean) => last.filter(test).length / seeds;
  return {
    figures,
    ratios: {
      "cost relative to the best model": mean(last.map(({ cost }) => cost)) / best.cost,
      "seeds with higher quality at lower cost than the best model": share(
        ({ quality, cost }) => quality > best.quality && cost < best.cost,
      ),
      "seeds in which a single model is as good and as cheap": share(({ quality, cost }) =>
        [...alone.values()].some((one) => one.quality >= quality && one.cost <= cost),
      ),
      "seeds above every mix of two single models": share(({ quality, cost }) =>
        isAboveMixes({ quality, cost }, [...alone.values()]),
      ),
    },
  };
};

/** Whether no random choice between two single models has the same cost and at least this quality. */
function isAboveMixes({ quality, cost }: Point, single: readonly Point[]): boolean {
  return single.every((a) =>
    single.every((b) => {
      if (a.cost > cost || b.cost < cost || a.cost === b.cost) return true;
      const share = (cost - a.cost) / (b.cost - a.cost);
      return (1 - share) * a.quality + share * b.quality < quality;
    }),
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value / values.length, 0);
}
