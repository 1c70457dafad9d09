/**
 * The claims that the paper is read for, with numbers: the curves that such a claim
 * compares, in one typical setting, at every vote scale. The encoder is the main one with
 * most epochs; the weighting, if the claim leaves it open, is Excel_perf_cost.
 */
import { BASELINES, type Curve, WITHOUT_VECTORS } from "../../reproduce/curve.ts";
import type { Headline, HeadlineLine } from "../../reproduce/experiment.ts";
import type { Results } from "../../reproduce/results.ts";
import { EXAMPLES } from "../../reproduce/setting.ts";
import { regretAfter } from "./cells.ts";

type Attributes = Partial<Omit<Curve, "runs">>;

export const EXCEL = { weighting: "excel_perf_cost", group: "exp" } as const;
export const CTRL = { ...EXCEL, group: "ctrl" } as const;
export const IDEAL = { ...EXCEL, group: "ideal" } as const;
export const promptOf = (examples: number): Attributes => ({ group: "prompt", examples });

export function onRouterbench(says: string, compared: readonly Attributes[]): Headline {
  return {
    says,
    show: (results) => {
      const { short } = results.planner.size;
      const [form = ""] = formsOf(results, "routerbench");
      const setting = { experiment: "routerbench", form };
      const lines = linesOf(results, setting, compared, (curve) => results.regrets(curve, short));
      return { setting: `RouterBench (${form}), T = ${short}${scales(results)}`, ...lines };
    },
  };
}

/** Regret is counted after the share `after` of the rounds. */
export function onUnseen(says: string, compared: readonly Attributes[], after = 0): Headline {
  return {
    says,
    show: (results) => {
      const [form = ""] = formsOf(results, "unseen");
      const lines = linesOf(results, { experiment: "unseen", form }, compared, (curve) =>
        regretAfter(results, curve, after),
      );
      const [own] = results.curves({ experiment: "unseen", form, variant: "", group: "exp" });
      const last = own ? results.rounds(own) : 0;
      const when =
        after > 0 ? `rounds ${Math.round(after * last) + 1} to ${last}, with ARC` : `T = ${last}`;
      return { setting: `Unseen benchmark, ${when}${scales(results)}`, ...lines };
    },
  };
}

/** Stored verdicts have no vote scale: there is a number for each pool of models instead. */
export function onMixinstruct(says: string): Headline {
  return {
    says,
    show: (results) => {
      const forms = formsOf(results, "mixinstruct").filter((form) => form.endsWith("15% dropped"));
      const compared = [{ group: "exp" } as const, ...EXAMPLES.map(promptOf)];
      const own = forms.map((form) =>
        linesOf(results, { experiment: "mixinstruct", form }, compared, (curve) =>
          results.regrets(curve),
        ),
      );
      const merge = (part: "lines" | "baselines"): HeadlineLine[] =>
        (own[0]?.[part] ?? []).map(({ name }) => ({
          name,
          regrets: own.map((one) => one[part].find((line) => line.name === name)?.regrets[0]),
        }));
      const stoodIn = "standIn" in results.planner.data.mixinstruct ? "'s stand-in" : "";
      const pools = forms.map((form) => form.split(", ")[0]).join(" / ");
      return {
        setting: `MixInstruct${stoodIn}, 15% dropped; models: ${pools}`,
        lines: merge("lines"),
        baselines: merge("baselines"),
      };
    },
  };
}

/** The compared curves of a setting and its baselines, each with one number per vote scale. */
function linesOf(
  results: Results,
  setting: Attributes,
  compared: readonly Attributes[],
  measure: (curve: Curve) => number[] | undefined,
) {
  const { main } = results.planner;
  const epochs = main.epochs.at(-1) ?? 0;
  const lineOf = (attributes: Attributes): HeadlineLine[] => {
    // Prompts are embedded by the original encoder, whatever the epochs of their curve.
    const own = attributes.group === "prompt" ? attributes : { epochs, ...attributes };
    const found = results.curves({ ...setting, variant: "", encoder: main.name, ...own });
    const byScale = [...Map.groupBy(found, ({ voteScale }) => voteScale).values()];
    const [first] = found;
    return first ? [{ name: first.name, regrets: byScale.map(([own]) => measure(own!)) }] : [];
  };
  return {
    lines: compared.flatMap(lineOf),
    baselines: BASELINES.flatMap((policy) =>
      lineOf({ policy, ...(WITHOUT_VECTORS.includes(policy) && { epochs: 0 }) }),
    ),
  };
}

function formsOf(results: Results, experiment: string): string[] {
  const own = results.curves({ experiment, variant: "", group: "exp" });
  return [...new Set(own.map(({ form }) => form))];
}

function scales({ planner: { size } }: Results): string {
  return `; vote scale ${size.scales.join(" / ")}`;
}
