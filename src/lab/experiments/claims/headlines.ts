/**
 * What the paper is read for, beside numbers: of each such claim the curves that
 * it compares, in one typical world, at every vote scale. The encoder is the one
 * that is followed longest, as it was tuned longest; the weighting, where the
 * claim leaves it open, Excel_perf_cost.
 */
import type { Curve, Headline, HeadlineLine } from "../../reproduce/experiment.ts";
import type { Results } from "../../reproduce/results.ts";
import { BASELINES, BLIND } from "../../reproduce/scene.ts";
import { EXAMPLES } from "../routerbench-scene.ts";
import { regretAfter } from "./cells.ts";
import { SHIFT } from "./unseen.ts";

type Pick = Partial<Omit<Curve, "runs">>;

const EXCEL = { weighting: "excel_perf_cost", group: "exp" } as const;
const CTRL = { ...EXCEL, group: "ctrl" } as const;
const IDEAL = { ...EXCEL, group: "ideal" } as const;
const promptOf = (examples: number): Pick => ({ group: "prompt", examples });

/** By the claim's number. */
export const headlines: ReadonlyMap<number, Headline> = new Map([
  [9, onRouterbench("Fine-tuned encoders (exp) beat the original ones (ctrl)", [EXCEL, CTRL])],
  [
    10,
    onRouterbench("The Excel exp curves beat OpenAItext_5", [
      EXCEL,
      { ...EXCEL, weighting: "excel_mask" },
      promptOf(5),
    ]),
  ],
  [
    12,
    onRouterbench("Excel_perf_cost beats Perf_cost", [EXCEL, { ...EXCEL, weighting: "perf_cost" }]),
  ],
  [18, onUnseen("An unseen benchmark: exp beats ctrl", [EXCEL, CTRL])],
  [20, onUnseen("Knowing it in advance (ideal) is not always better", [EXCEL, IDEAL])],
  [21, onUnseen("The method adapts to the unseen benchmark", [EXCEL, IDEAL], SHIFT)],
  [23, onMixinstruct("Eq. 6 beats OpenAItext's prompts on MixInstruct")],
]);

function onRouterbench(says: string, picks: readonly Pick[]): Headline {
  return {
    says,
    show: (results) => {
      const { short } = results.bench.size;
      const [form = ""] = formsOf(results, "routerbench");
      const of = linesOf(results, { experiment: "routerbench", form }, (curve) =>
        results.regrets(curve, short),
      );
      return { world: `RouterBench (${form}), T = ${short}${scales(results)}`, ...of(picks) };
    },
  };
}

/** `after`: the regret that comes after this share of the rounds. */
function onUnseen(says: string, picks: readonly Pick[], after = 0): Headline {
  return {
    says,
    show: (results) => {
      const [form = ""] = formsOf(results, "unseen");
      const of = linesOf(results, { experiment: "unseen", form }, (curve) =>
        regretAfter(results, curve, after),
      );
      const [own] = results.curves({ experiment: "unseen", form, variant: "", group: "exp" });
      const last = own ? results.rounds(own) : 0;
      const when =
        after > 0 ? `rounds ${Math.round(after * last) + 1} to ${last}, with ARC` : `T = ${last}`;
      return { world: `Unseen benchmark, ${when}${scales(results)}`, ...of(picks) };
    },
  };
}

/** Stored verdicts have no vote scale: a number for each pool of models. */
function onMixinstruct(says: string): Headline {
  return {
    says,
    show: (results) => {
      const forms = formsOf(results, "mixinstruct").filter((form) => form.endsWith("15% dropped"));
      const own = forms.map((form) =>
        linesOf(results, { experiment: "mixinstruct", form }, (curve) => results.regrets(curve))([
          { group: "exp" },
          ...EXAMPLES.map(promptOf),
        ]),
      );
      const merge = (part: "lines" | "beside"): HeadlineLine[] =>
        (own[0]?.[part] ?? []).map(({ name }) => ({
          name,
          regrets: own.map((one) => one[part].find((line) => line.name === name)?.regrets[0]),
        }));
      const stoodIn = "standIn" in results.bench.data.mixinstruct ? "'s stand-in" : "";
      const pools = forms.map((form) => form.split(", ")[0]).join(" / ");
      return {
        world: `MixInstruct${stoodIn}, 15% dropped; models: ${pools}`,
        lines: merge("lines"),
        beside: merge("beside"),
      };
    },
  };
}

/** The lines of some curves of a world, and of the baselines: at each vote scale one number. */
function linesOf(results: Results, world: Pick, measure: (curve: Curve) => number[] | undefined) {
  const { main } = results.bench;
  const epochs = main.epochs.at(-1) ?? 0;
  const line = (pick: Pick): HeadlineLine[] => {
    // A prompt is embedded by the encoder as it was, whatever epochs its curve is filed under.
    const own = pick.group === "prompt" ? pick : { epochs, ...pick };
    const found = results.curves({ ...world, variant: "", encoder: main.name, ...own });
    const byScale = [...Map.groupBy(found, ({ voteScale }) => voteScale).values()];
    const [first] = found;
    return first ? [{ name: first.name, regrets: byScale.map(([own]) => measure(own!)) }] : [];
  };
  return (picks: readonly Pick[]) => ({
    lines: picks.flatMap(line),
    beside: BASELINES.flatMap((policy) =>
      line({ policy, ...(BLIND.includes(policy) && { epochs: 0 }) }),
    ),
  });
}

function formsOf(results: Results, experiment: string): string[] {
  const own = results.curves({ experiment, variant: "", group: "exp" });
  return [...new Set(own.map(({ form }) => form))];
}

function scales({ bench: { size } }: Results): string {
  return `; vote scale ${size.scales.join(" / ")}`;
}
