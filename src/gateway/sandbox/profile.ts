import { readScores } from "../../core/input/scores.ts";
import type { Capabilities } from "../providers/capabilities.ts";

/**
 * True quality and cost of the sandbox's models in each category. The quality is the probability of
 * a right answer; costs are US dollars per thousand answers.
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

  static async read(file: string): Promise<Profile> {
    return new Profile((await readScores(file)).models);
  }

  /** The model with the highest mean quality, if one model answers everything. */
  best(): string {
    const total = (model: string) =>
      this.categories.reduce((sum, category) => sum + this.quality(model, category), 0);
    return this.models.reduce((a, b) => (total(b) > total(a) ? b : a));
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

/** The style and the speed of a simulated model. The style must not reveal its name. */
export interface Voice {
  readonly openings: readonly string[];
  readonly closings: readonly string[];
  /** Typical time to the first token and typical speed after it of the real model. */
  readonly firstTokenMs: number;
  readonly tokensPerSecond: number;
  readonly capabilities: Capabilities;
}

const PLAIN: Voice = {
  openings: [""],
  closings: [""],
  firstTokenMs: 300,
  tokensPerSecond: 60,
  capabilities: {},
};

const VOICES: Readonly<Record<string, Voice>> = {
  "pebble-mini": {
    openings: [""],
    closings: [""],
    firstTokenMs: 150,
    tokensPerSecond: 110,
    capabilities: { context: 32_768, tools: false },
  },
  "forge-coder": {
    openings: ["Answer: ", "Solution: "],
    closings: [""],
    firstTokenMs: 280,
    tokensPerSecond: 80,
    capabilities: { context: 32_768, vision: false },
  },
  "abacus-14b": {
    openings: ["Let's see. ", "Here you go. ", "In short: "],
    closings: [" I hope this helps!", ""],
    firstTokenMs: 240,
    tokensPerSecond: 85,
    capabilities: { context: 16_384, vision: false },
  },
  "quill-32b": {
    openings: ["Great question! ", "I'd be happy to help! ", "Of course. "],
    closings: [" Please ask if anything is unclear.", " I hope this answers your question!", ""],
    firstTokenMs: 350,
    tokensPerSecond: 55,
    capabilities: { context: 4096, tools: false, json_schema: false },
  },
  "summit-pro": {
    openings: ["Here is how I would put it:\n\n", "Let me explain.\n\n"],
    closings: ["\n\nI would be glad to go into more detail.", ""],
    firstTokenMs: 800,
    tokensPerSecond: 35,
    capabilities: { context: 200_000 },
  },
};

export function voiceOf(model: string): Voice {
  return VOICES[model] ?? PLAIN;
}
