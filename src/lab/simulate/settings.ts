/** Everything that decides a simulation's numbers besides data, policies and seed. */
export interface Settings {
  /** T, the length of a run. */
  readonly rounds: number;
  readonly runs: number;
  readonly seed: number;
  /** Queries a category set aside for centroids and told scores, never streamed; half of a small one. */
  readonly offline: number;
  readonly told: Told;
  /** Added to every category score to make the truth: N(0, truthSd). */
  readonly truthSd: number;
  /** s in P(a beats b) = sigmoid(s (utility_a - utility_b)). */
  readonly voteScale: number;
  /** Davidson's tie width; 0: no ties. */
  readonly ties: number;
  /** Rounds until a vote arrives. */
  readonly delay: number;
  readonly voters: Voters;
  /**
   * utility = score - lambda * cost, for truth, votes and regret alike. The cost is
   * in the data's own unit, as in the paper, and part of what is true here. The
   * router's lambda is another: a wish of one request, in the dearest model's mean cost.
   */
  readonly lambda: number;
  /**
   * shuffled: every query once before any twice; uniform: category first, then a
   * query of it; sections: so many queries of each category, shuffled, then the
   * next section's, no query twice.
   */
  readonly stream: "shuffled" | "uniform" | readonly Section[];
}

/** How many queries of each category a part of the stream has. */
export type Section = Readonly<Record<string, number>>;

/** What the router is told of the models' scores. */
export type Told =
  | { readonly kind: "scores" | "offline" | "bundle" | "none" | "permuted" }
  | { readonly kind: "noisy"; readonly sd: number };

export interface Voters {
  /** How many different voters there are. */
  readonly count: number;
  /** Share of voters who vote at random. */
  readonly noisy: number;
  /** Share of voters who vote for the worse answer. */
  readonly malicious: number;
  /** Added to the logit of the answer shown first. */
  readonly position: number;
  /** Below this utility of both answers a voter says both_bad; 0: never. */
  readonly bothBad: number;
}

export const SETTINGS: Settings = {
  rounds: 1000,
  runs: 5,
  seed: 1,
  offline: 5,
  told: { kind: "scores" },
  truthSd: 0,
  voteScale: 3,
  ties: 0,
  delay: 0,
  voters: { count: 1, noisy: 0, malicious: 0, position: 0, bothBad: 0 },
  lambda: 0,
  stream: "shuffled",
};
