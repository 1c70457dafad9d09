import { expectedGain, pick } from "../../core/bandit/pair-rule.ts";
import type { Outcome, Policy } from "../../core/bandit/policy.ts";
import { mean } from "../../core/linalg/linalg.ts";
import type { Random } from "../../core/random/random.ts";
import type { PairChooser, PromptPair } from "./compare-answers.ts";
import { ordered, UsedPairs } from "./random-pairs.ts";

/** The prompts of an active evaluation. */
export interface ActivePrompts {
  /** Embeddings of the prompts. */
  readonly embeddings: readonly Float64Array[];
  /** Membership of each prompt in the router's categories. */
  readonly memberships: readonly Float64Array[];
}

/** Prompts of the same category, between which the choice is random. */
interface Group {
  readonly prompts: readonly number[];
  /** Mean membership. */
  readonly w: Float64Array;
}

/** Two models of a group, and how often to compare them. */
interface Doubt {
  readonly group: Group;
  readonly leader: number;
  readonly challenger: number;
  readonly weight: number;
}

/**
 * The pairs whose comparison can change most which model is chosen. In each category, the model
 * with the highest posterior mean leads. A challenger j is worth
 *
 *   share of the category * E max(0, u_j - u_leader)
 *
 * the quality that is lost by choosing the leader instead of j. Pairs are drawn in proportion to
 * the square of their worth, so that comparisons at the same time differ
 * (docs/decisions/0036-evaluations.md).
 */
export class ActivePairs implements PairChooser {
  readonly #policy: Policy;
  readonly #prompts: ActivePrompts;
  readonly #models: readonly number[];
  readonly #groups: readonly Group[];
  readonly #random: Random;
  readonly #isUsable: (model: number) => boolean;
  readonly #used = new UsedPairs();
  #doubts: readonly Doubt[] | undefined;
  /** Models that the doubts are about. */
  #usable: readonly number[] = [];
  #rounds = 0;

  constructor(
    policy: Policy,
    prompts: ActivePrompts,
    models: number,
    random: Random,
    isUsable: (model: number) => boolean = () => true,
  ) {
    this.#policy = policy;
    this.#prompts = prompts;
    this.#models = Array.from({ length: models }, (_, k) => k);
    this.#groups = groupsOf(prompts.memberships);
    this.#random = random;
    this.#isUsable = isUsable;
  }

  next(): PromptPair | undefined {
    const usable = this.#models.filter(this.#isUsable);
    if (usable.join() !== this.#usable.join()) this.#doubts = undefined;
    this.#usable = usable;
    this.#doubts ??= this.#findDoubts();
    const random = this.#random.split("choose").split(this.#rounds++);
    let left = this.#doubts;
    while (left.length > 0) {
      const doubt = drawn(left, random.uniform());
      const prompt = this.#promptFor(doubt, random);
      if (prompt !== undefined) {
        const pair = ordered(doubt.leader, doubt.challenger, random);
        return this.#used.take({ prompt, ...pair });
      }
      left = left.filter((other) => other !== doubt);
    }
    return undefined;
  }

  learn(pair: PromptPair, outcome: Outcome): void {
    this.#used.take(pair);
    const x = this.#prompts.embeddings[pair.prompt]!;
    const random = this.#random.split("learn").split(this.#rounds);
    this.#policy.learn({ kind: "duel", x, pair: [pair.a, pair.b], outcome }, random);
    this.#doubts = undefined;
  }

  /** A prompt of the group on which the pair was not compared, of those with the fewest comparisons. */
  #promptFor({ group, leader, challenger }: Doubt, random: Random): number | undefined {
    const free = group.prompts.filter(
      (prompt) => !this.#used.has({ prompt, a: leader, b: challenger }),
    );
    if (free.length === 0) return undefined;
    const fewest = Math.min(...free.map((prompt) => this.#used.count(prompt)));
    const best = free.filter((prompt) => this.#used.count(prompt) === fewest);
    return best[random.integer(best.length)];
  }

  #findDoubts(): Doubt[] {
    if (this.#usable.length < 2) return [];
    const all = this.#prompts.embeddings.length;
    return this.#groups.flatMap((group) => {
      const { mean: means, sd } = this.#policy.estimate!(group.w);
      const leader = this.#usable.reduce((a, b) => (means[b]! > means[a]! ? b : a));
      const share = group.prompts.length / all;
      return this.#usable.flatMap((challenger) => {
        if (challenger === leader) return [];
        const spread = Math.hypot(sd[leader]!, sd[challenger]!);
        const gain = share * expectedGain(means[leader]! - means[challenger]!, spread);
        return [{ group, leader, challenger, weight: gain ** 2 }];
      });
    });
  }
}

function groupsOf(memberships: readonly Float64Array[]): Group[] {
  const indices = memberships.map((_, i) => i);
  const byCategory = Map.groupBy(indices, (i) => {
    const w = memberships[i]!;
    return w.indexOf(Math.max(...w));
  });
  return [...byCategory.values()].map((prompts) => ({
    prompts,
    w: mean(prompts.map((i) => memberships[i]!)),
  }));
}

/** A doubt, drawn in proportion to its weight. */
function drawn(doubts: readonly Doubt[], u: number): Doubt {
  const total = doubts.reduce((sum, { weight }) => sum + weight, 0);
  return pick(doubts, u * total);
}
