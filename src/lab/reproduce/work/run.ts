import type { PolicyKind } from "../../../core/bandit/policy.ts";
import type { Dataset } from "../../data/dataset.ts";
import type { Context, Result } from "../../jobs/job.ts";
import { type Arrival, createEnvironment } from "../../simulate/environment.ts";
import { curveRounds, runPolicy } from "../../simulate/run.ts";
import { openDraw, settingsOf, streamedTexts } from "./draw.ts";
import type { RunSpec, RunValue } from "./specs.ts";
import { tell } from "./tell.ts";
import { vectorsOf } from "./vectors.ts";

/** One run of one policy, as `joust simulate` has it. */
export async function run(spec: RunSpec, kind: PolicyKind, context: Context): Promise<Result> {
  const draw = await openDraw(spec.draw, context);
  const vector = await vectorsOf(spec.vectors, context);
  const { offline, online, random } = draw;
  const dataset = { ...online, calibration: tell(offline, spec.told, vector) };
  const settings = {
    ...settingsOf(spec.stream, online, spec.draw.seed),
    voteScale: spec.voteScale,
    lambda: spec.lambda,
  };
  const streamed = new Set(streamedTexts(draw, spec.stream));
  const embeddings = online.queries.map(({ text }) => (streamed.has(text) ? vector(text) : NONE));
  const environment = createEnvironment(dataset, embeddings, settings, random.split("environment"));
  const contender = { kind, options: { ...kind.defaults, ...spec.policy.options } };
  const watch = new Watch(dataset, settings.rounds, spec.price);
  const measured = runPolicy(
    environment,
    contender,
    settings,
    random.split("policy"),
    (t, arrival, pair) => {
      if (t % 32 === 0) context.check(t / settings.rounds);
      watch.see(t, arrival, pair);
    },
  );
  const value: RunValue = {
    t: curveRounds(settings.rounds),
    regret: measured.curve,
    priced: watch.priced,
    score: measured.scorePerQuery,
    cost: measured.costPerQuery,
    agreement: measured.agreement,
    choices: watch.choices,
  };
  return { value };
}

/** Queries that do not come are not embedded. */
const NONE = new Float64Array(0);

/** What is measured besides the simulator's own figures. */
class Watch {
  /** Cumulative regret under score - price * cost. */
  readonly priced: number[] = [];
  readonly choices: number[][];
  readonly #rounds: number;
  readonly #price: number;
  readonly #points: readonly number[];
  #regret = 0;

  constructor({ categories, models }: Dataset, rounds: number, price: number) {
    this.#rounds = rounds;
    this.#price = price;
    this.#points = curveRounds(rounds);
    this.choices = categories.map(() => models.map(() => 0));
  }

  see(t: number, { query, scores, costs }: Arrival, pair: readonly [number, number]): void {
    const worth = (k: number) => scores[k]! - this.#price * (costs?.[k] ?? 0);
    let best = -Infinity;
    for (let k = 0; k < scores.length; k++) best = Math.max(best, worth(k));
    this.#regret += best - (worth(pair[0]) + worth(pair[1])) / 2;
    if (t === this.#points[this.priced.length]) this.priced.push(this.#regret);
    const counts = this.choices[query.category];
    if (counts && t > (2 / 3) * this.#rounds) for (const k of pair) counts[k]! += 0.5;
  }
}
