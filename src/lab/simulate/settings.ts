/** Everything that decides the numbers of a simulation, except data and policies. */
export interface Settings {
  /** T, the number of rounds of a run. */
  readonly rounds: number;
  readonly runs: number;
  readonly seed: number;
  /** Number of offline queries per category, at most half of the category. They are never streamed. */
  readonly offline: number;
  readonly told: Told;
  /** True category scores are the given ones plus noise N(0, truthSd). */
  readonly truthSd: number;
  /** s in P(a beats b) = sigmoid(s (utility_a - utility_b)). */
  readonly voteScale: number;
  /** Davidson's tie width; 0: no ties. */
  readonly ties: number;
  /** Rounds until a vote arrives. */
  readonly delay: number;
  readonly voters: Voters;
  /**
   * utility = score - lambda * cost, for votes and regret. lambda is the score that one unit of
   * cost is worth. The unit is that of the data, as in the paper; for a `RouteQuery` it is
   * `costUnit`, and for a logged decision a US dollar.
   */
  readonly lambda: number;
  /**
   * shuffled: every query once before any query twice. uniform: a category is drawn, then a query
   * of it. Sections: the given number of queries of each category, shuffled within the section; no
   * query occurs twice.
   */
  readonly stream: "shuffled" | "uniform" | readonly Section[];
}

/** Number of queries of each category in one section of the stream. */
export type Section = Readonly<Record<string, number>>;

/** The scores of the models that the router is told. */
export type Told =
  | { readonly kind: "scores" | "offline" | "bundle" | "none" | "permuted" }
  | { readonly kind: "noisy"; readonly sd: number };

export interface Voters {
  /** Number of voters. */
  readonly count: number;
  /** Share of voters who vote at random. */
  readonly noisy: number;
  /** Share of voters who vote for the worse answer. */
  readonly malicious: number;
  /** Number added to the logit of the answer shown first. */
  readonly position: number;
  /** A voter says both_bad if the utility of both answers is below this; 0: never. */
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
