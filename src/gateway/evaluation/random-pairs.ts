import type { Random } from "../../core/random/random.ts";
import type { PairChooser, PromptPair } from "./compare-answers.ts";

/**
 * Random pairs of models, each on the next prompt of a random order. A pair is compared at most
 * once on a prompt.
 */
export class RandomPairs implements PairChooser {
  readonly #prompts: number;
  readonly #models: readonly number[];
  readonly #random: Random;
  readonly #isUsable: (model: number) => boolean;
  readonly #used = new UsedPairs();
  #order: number[] = [];

  constructor(
    prompts: number,
    models: number,
    random: Random,
    isUsable: (model: number) => boolean = () => true,
  ) {
    this.#prompts = prompts;
    this.#models = Array.from({ length: models }, (_, k) => k);
    this.#random = random;
    this.#isUsable = isUsable;
  }

  next(): PromptPair | undefined {
    const usable = this.#models.filter(this.#isUsable);
    for (let passes = 0; passes < 2; ) {
      const prompt = this.#order.pop();
      if (prompt === undefined) {
        this.#order = this.#random.shuffle(Array.from({ length: this.#prompts }, (_, i) => i));
        passes++;
        continue;
      }
      const free = this.#used.freePairs(prompt, usable);
      if (free.length === 0) continue;
      const [a, b] = free[this.#random.integer(free.length)]!;
      return this.#used.take({ prompt, ...ordered(a, b, this.#random) });
    }
    return undefined;
  }

  learn(pair: PromptPair): void {
    this.#used.take(pair);
  }
}

/** The pairs that were compared on each prompt. */
export class UsedPairs {
  readonly #used = new Map<number, Set<string>>();

  take(pair: PromptPair): PromptPair {
    const set = this.#used.get(pair.prompt) ?? new Set();
    this.#used.set(pair.prompt, set.add(keyOf(pair.a, pair.b)));
    return pair;
  }

  has({ prompt, a, b }: PromptPair): boolean {
    return this.#used.get(prompt)?.has(keyOf(a, b)) ?? false;
  }

  /** Number of pairs that were compared on a prompt. */
  count(prompt: number): number {
    return this.#used.get(prompt)?.size ?? 0;
  }

  freePairs(prompt: number, models: readonly number[]): (readonly [number, number])[] {
    return models.flatMap((a, i) =>
      models.slice(i + 1).flatMap((b) => (this.has({ prompt, a, b }) ? [] : [[a, b] as const])),
    );
  }
}

function keyOf(a: number, b: number): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}

/** The pair in a random order. */
export function ordered(
  a: number,
  b: number,
  random: Random,
): { readonly a: number; readonly b: number } {
  return random.uniform() < 0.5 ? { a, b } : { a: b, b: a };
}
