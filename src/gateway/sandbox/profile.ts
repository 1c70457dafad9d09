import { readScores } from "../../core/input/scores.ts";
import type { Capabilities } from "../providers/capabilities.ts";

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
  "wizardlm-13b": {
    openings: ["Certainly! ", "Let's see. ", "Here you go. "],
    closings: [" I hope this helps!", ""],
    firstTokenMs: 220,
    tokensPerSecond: 75,
    capabilities: { context: 4096, tools: false, json_schema: false },
  },
  "mistral-7b": {
    openings: [""],
    closings: [""],
    firstTokenMs: 150,
    tokensPerSecond: 110,
    capabilities: { context: 32_768, tools: false },
  },
  "mixtral-8x7b": {
    openings: ["Here is the answer. ", "In short: "],
    closings: [""],
    firstTokenMs: 240,
    tokensPerSecond: 85,
    capabilities: { context: 32_768 },
  },
  "code-llama-34b": {
    openings: ["Answer: ", "Solution: "],
    closings: [""],
    firstTokenMs: 280,
    tokensPerSecond: 55,
    capabilities: { context: 16_384, tools: false },
  },
  "yi-34b": {
    openings: ["Thank you for your question. ", "Of course. "],
    closings: [" Please ask if anything is unclear.", ""],
    firstTokenMs: 300,
    tokensPerSecond: 50,
    capabilities: { context: 4096, tools: false },
  },
  "gpt-3.5": {
    openings: ["Sure! ", "Sure, here it is: ", ""],
    closings: [" Let me know if you need anything else!", ""],
    firstTokenMs: 350,
    tokensPerSecond: 80,
    capabilities: { context: 16_385 },
  },
  "claude-instant-v1": {
    openings: ["Here is my answer:\n\n", "Okay. "],
    closings: [""],
    firstTokenMs: 400,
    tokensPerSecond: 90,
    capabilities: { context: 100_000 },
  },
  "llama-70b": {
    openings: ["Great question! ", "I'd be happy to help! "],
    closings: [
      " Please keep in mind that I may be mistaken.",
      " I hope this answers your question!",
    ],
    firstTokenMs: 450,
    tokensPerSecond: 40,
    capabilities: { context: 4096, tools: false },
  },
  "claude-v1": {
    openings: ["Let me think about this. ", "In my view: "],
    closings: ["\n\nDoes that make sense to you?", ""],
    firstTokenMs: 700,
    tokensPerSecond: 35,
    capabilities: { context: 100_000 },
  },
  "claude-v2": {
    openings: ["Here is how I would put it:\n\n", "Let me explain.\n\n"],
    closings: ["\n\nI would be glad to go into more detail.", ""],
    firstTokenMs: 800,
    tokensPerSecond: 30,
    capabilities: { context: 100_000 },
  },
};

export function voiceOf(model: string): Voice {
  return VOICES[model] ?? PLAIN;
}
