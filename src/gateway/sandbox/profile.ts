import { readScores } from "../../lab/data/scores.ts";

/**
 * What is true in the sandbox: each model's quality on each kind, the chance
 * that its answer is right, and what an answer costs. The paper's table gives
 * both; its costs are taken as dollars for a thousand answers, which for kinds
 * of long prompts and short answers they are (0.408 for gpt-3.5 on mmlu is 408
 * tokens at its price of 1 dollar for a million).
 */
export class Profile {
  readonly models: readonly string[];
  readonly kinds: readonly string[];
  readonly #scores: ReadonlyMap<string, ReadonlyMap<string, Score>>;

  constructor(scores: ReadonlyMap<string, ReadonlyMap<string, Score>>) {
    this.#scores = scores;
    this.models = [...scores.keys()];
    this.kinds = [...(scores.values().next().value?.keys() ?? [])];
  }

  /** The paper's candidates: all models of the table but gpt-4. */
  static async read(file: string): Promise<Profile> {
    const { models } = await readScores(file);
    return new Profile(new Map([...models].filter(([model]) => model !== "gpt-4")));
  }

  quality(model: string, kind: string): number {
    return this.#at(model, kind).perf;
  }

  /** US dollars of an answer, in the mean. */
  cost(model: string, kind: string): number {
    return this.#at(model, kind).cost / 1000;
  }

  #at(model: string, kind: string): Score {
    const score = this.#scores.get(model)?.get(kind);
    if (!score) throw new RangeError(`the sandbox has no ${model} on ${kind}`);
    return score;
  }
}

interface Score {
  readonly perf: number;
  readonly cost: number;
}
