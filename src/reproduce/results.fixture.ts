/** Results made up for tests of figures and claims. */
import { Bench, QUICK, type Size } from "./bench.ts";
import { findDataSets } from "./data-sets.ts";
import type { BenchEncoder } from "./encoders.ts";
import type { Curve } from "./experiment.ts";
import { Results } from "./results.ts";
import type { RunValue } from "./work/specs.ts";

export const MINILM: BenchEncoder = {
  name: "MiniLM",
  ref: { name: "MiniLM", identity: "m" },
  kind: "transformer",
  dimension: 384,
  epochs: [2, 4],
};

export const STATIC: BenchEncoder = {
  name: "static",
  ref: { name: "static", identity: "s" },
  kind: "static",
  dimension: 256,
  epochs: [10],
};

/** On the project's own questions. */
export async function newBench(
  encoders: readonly BenchEncoder[] = [MINILM, STATIC],
  size: Partial<Size> = {},
): Promise<Bench> {
  return new Bench(await findDataSets(undefined), encoders, { ...QUICK, ...size }, 1);
}

export const CURVE: Curve = {
  experiment: "routerbench",
  name: "MiniLM_E4_Excel_perf_cost_exp",
  encoder: "MiniLM",
  epochs: 4,
  group: "exp",
  weighting: "excel_perf_cost",
  examples: 0,
  policy: "fgts-cdb",
  form: "own",
  voteScale: 10,
  variant: "",
  runs: [],
};

/** A run whose regret grows by slope(t) a round. */
export function runValue(rounds: number, slope: (t: number) => number, cost = 1): RunValue {
  const t = Array.from({ length: 10 }, (_, i) => ((i + 1) * rounds) / 10);
  let total = 0;
  const regret = t.map((round, i) => {
    for (let r = (t[i - 1] ?? 0) + 1; r <= round; r++) total += slope(r);
    return total;
  });
  return { t, regret, priced: regret, score: 0.5, cost, agreement: 0.5, choices: [] };
}

/** Curves with the given runs. */
export function resultsOf(
  bench: Bench,
  curves: readonly { readonly curve: Partial<Curve>; readonly runs: readonly RunValue[] }[],
): Results {
  const values = new Map<string, unknown>();
  for (const [c, { curve, runs }] of curves.entries()) {
    const ids = runs.map((run, r) => {
      values.set(`${c}.${r}`, run);
      return `${c}.${r}`;
    });
    bench.curves.push({ ...CURVE, ...curve, runs: ids });
  }
  return new Results(bench, values);
}
