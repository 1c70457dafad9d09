import { readScores } from "../../core/input/scores.ts";

/**
 * True quality and cost of the sandbox's models in each category. The quality is the probability
 * of a right answer. Both come from the paper's table. Its costs are taken as US dollars per
 * thousand answers, which fits categories of long prompts and short answers: 0.408 for gpt-3.5
 * on mmlu is 408 tokens at its price of 1 dollar per million.
 */
export class Profile {
  readonly models: readonly string[];
  readonly categories: readonly string[];
  readonly #scores: ReadonlyMap<string, ReadonlyMap<string, Score>>;

  constructor(scores: ReadonlyMap<string, ReadonlyMap<string, Score>>) {
    this.#scores = scores;
    this.models = [...scores.keys()];
    this.categories = [...(scores.values().next().value?.keys() ?? [])];
  }

  /** Reads the paper's candidates: all models of the table except gpt-4. */
  static async read(file: string): Promise<Profile> {
    const { models } = await readScores(file);
    return new Profile(new Map([...models].filter(([model]) => model !== "gpt-4")));
  }

  quality(model: string, category: string): number {
    return this.#at(model, category).perf;
  }

  /** Mean cost of an answer in US dollars. */
  cost(model: string, category: string): number {
    return this.#at(model, category).cost / 1000;
  }

  #at(model: string, category: string): Score {
    const score = this.#scores.get(model)?.get(category);
    if (!score) throw new RangeError(`the sandbox has no score of ${model} on ${category}`);
    return score;
  }
}

interface Score {
  readonly perf: number;
  readonly cost: number;
}
