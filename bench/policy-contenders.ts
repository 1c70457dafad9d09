import { POLICIES } from "../src/core/bandit/policies/index.ts";
import type { Options } from "../src/core/bandit/policy.ts";
import type { PolicySpec } from "../src/core/policy-spec/policy-spec.ts";

/**
 * A policy in `bench policies` and the grid of options from which its configurations are drawn. All
 * policies get the same number of configurations; the defaults are always among them.
 */
export interface Contender {
  /** Name of the row in the tables. */
  readonly name: string;
  readonly kind: string;
  readonly fixed?: Options;
  readonly grid: Readonly<Record<string, readonly (number | string | boolean)[]>>;
}

const SCALE = [1, 3, 10];
const PAPER = {
  weighting: ["perf", "perf_cost", "excel_perf_cost", "excel_mask"],
  temperature: [1, 0.1],
  centred: [false, true],
};
const RANKING = { scale: [2, 5, 10], prior: [0.5, 1], rate: [0.3, 1, 2] };
const paper = { features: "hadamard" };
const category = { features: "category" };

export const CONTENDERS: readonly Contender[] = [
  { name: "random", kind: "random", grid: {} },
  { name: "best-fixed", kind: "best-fixed", grid: {} },
  { name: "zero-feedback", kind: "zero-feedback", grid: {} },
  // The policy with its defaults, as people run it.
  { name: "joust", kind: "joust", grid: {} },
  {
    name: "fgts-cdb",
    kind: "fgts-cdb",
    fixed: paper,
    grid: { ...PAPER, sd: [1, 2, 5] },
  },
  {
    name: "fgts-cdb (category)",
    kind: "fgts-cdb",
    fixed: category,
    grid: { scale: SCALE, eta: [0.5, 1, 2], step: [0.1, 0.2], steps: [5, 10] },
  },
  {
    name: "thompson (category)",
    kind: "thompson",
    fixed: category,
    grid: { scale: SCALE, eta: [0.5, 1, 2], step: [0.1, 0.2], steps: [5, 10] },
  },
  {
    name: "greedy",
    kind: "greedy",
    fixed: category,
    grid: { scale: SCALE, epsilon: [0, 0.1, 0.3], duels: [20, 50, 200] },
  },
  {
    name: "max-pair-ucb",
    kind: "max-pair-ucb",
    fixed: category,
    grid: { scale: SCALE, lambda: [1, 4, 10], beta: [0.5, 1, 2, 4] },
  },
  {
    name: "maxinp",
    kind: "maxinp",
    fixed: category,
    grid: { scale: SCALE, lambda: [1, 4, 10], c: [0.5, 1, 2] },
  },
  {
    name: "colstim",
    kind: "colstim",
    fixed: category,
    grid: { scale: SCALE, lambda: [1, 4, 10], c: [1, 2, 4], threshold: [0.5, 1, 2] },
  },
  {
    name: "vacdb",
    kind: "vacdb",
    fixed: category,
    grid: { scale: SCALE, lambda: [1, 4, 10], c: [0.0003, 0.001, 0.003], alpha: [0.05, 0.2] },
  },
  {
    name: "double-ts",
    kind: "double-ts",
    grid: { alpha: [0.51, 0.6, 1], prior: [3, 10, 30], scale: [2, 5, 10] },
  },
  {
    name: "eagle",
    kind: "eagle",
    grid: { ...RANKING, K: [8, 32, 64], N: [20, 100], P: [0.2, 0.5] },
  },
  {
    name: "matrix-factorization",
    kind: "matrix-factorization",
    grid: { ...RANKING, learningRate: [0.03, 0.1, 0.3], sd: [0.4, 0.75, 1.5] },
  },
  {
    name: "sw-bradley-terry",
    kind: "sw-bradley-terry",
    grid: { ...RANKING, gamma: [10, 100, 1000], sd: [0.4, 0.75, 1.5] },
  },
  {
    name: "knn-bradley-terry",
    kind: "knn-bradley-terry",
    grid: { ...RANKING, k: [30, 100, 300], sd: [0.4, 0.75, 1.5] },
  },
  {
    name: "cluster-bradley-terry",
    kind: "cluster-bradley-terry",
    grid: { ...RANKING, globalSd: [0.25, 0.5, 1], clusterSd: [0.4, 0.75, 1.5] },
  },
  {
    name: "mixllm",
    kind: "mixllm",
    grid: { alpha: [0.2, 0.4, 1], lambda: [1, 4, 10], prior: [0.5, 1], scale: [2, 5, 10] },
  },
  {
    name: "metallm",
    kind: "metallm",
    grid: { alpha: [0.2, 0.4, 1], lambda: [1, 4, 10], prior: [0.5, 1], scale: [2, 5, 10] },
  },
];

/** Routers that are trained on the evaluated queries and never learn from votes, with their defaults. */
export const STATIC_ROUTERS: readonly Contender[] = [
  "static-knn",
  "static-ridge",
  "static-mlp",
  "static-matrix-factorization",
  "static-bradley-terry",
].map((name) => ({ name, kind: name, grid: {} }));

export function specOf({ name, kind, fixed }: Contender, options: Options): PolicySpec {
  const found = POLICIES.find((policy) => policy.name === kind);
  if (!found) throw new Error(`no policy ${kind}`);
  return { name, kind, options: { ...found.defaults, ...fixed, ...options }, router: {} };
}
