import type { Bench } from "../reproduce/bench.ts";
import { Scene } from "../reproduce/scene.ts";
import type { DataSpec } from "../reproduce/work/specs.ts";

export const NAME = "routerbench";
/** The paper's, in its order. */
export const WEIGHTINGS = ["perf", "perf_cost", "excel_perf_cost", "excel_mask"] as const;
export const EXCEL = ["excel_perf_cost", "excel_mask"] as const;
/** Example queries in a prompt. */
export const EXAMPLES = [1, 3, 5];

/** A round's benchmark is drawn uniformly, its query with replacement. */
export function sceneOf(bench: Bench, form: string, data: DataSpec, offline = 5): Scene {
  return new Scene(bench, {
    experiment: NAME,
    form,
    data,
    offline,
    models: data.exclude?.length ? 10 : 11,
    queries: 7550,
    categories: 7,
    streamOf: (rounds) => ({ rounds, stream: "uniform" }),
  });
}
