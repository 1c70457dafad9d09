import type { DataSpec } from "../reproduce/jobs/specs.ts";
import type { Planner } from "../reproduce/planner.ts";
import { Setting } from "../reproduce/setting.ts";

export const NAME = "routerbench";
/** The variant in which Perf and Cost are appended to the model embeddings, as in the paper. */
export const METADATA = "metadata raw";

/** The benchmark of a round is drawn uniformly, its query with replacement. */
export function settingOf(
  planner: Planner,
  form: string,
  data: DataSpec,
  offline = 5,
  rest: { readonly experiment?: string; readonly seed?: number } = {},
): Setting {
  return new Setting(planner, {
    experiment: NAME,
    form,
    data,
    offline,
    models: data.exclude?.length ? 10 : 11,
    queries: 7550,
    categories: 7,
    streamOf: (rounds) => ({ rounds, stream: "uniform" }),
    ...rest,
  });
}
