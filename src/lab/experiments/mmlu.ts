/**
 * Section 4.1 and appendix A, figs. 1, 2 and 5: five topics of MMLU, ten offline queries of
 * each, five experts. The utility of expert k on topic m is the cosine between the mean
 * vectors of topics k and m: one matrix for all curves, from the original MiniLM over all
 * queries (from the first encoder if there is no MiniLM). Every other query comes once: 595
 * with the paper's data.
 */
import type { JobId } from "../jobs/job.ts";
import { pointsPicture } from "../report/points.ts";
import type { Curve } from "../reproduce/curve.ts";
import type { FoundEncoder } from "../reproduce/encoders.ts";
import type { Experiment, ReportItem } from "../reproduce/experiment.ts";
import type { DataSpec, ProjectValue } from "../reproduce/jobs/specs.ts";
import type { Planner } from "../reproduce/planner.ts";
import { curvesFigure, curvesTable, geometryFigure } from "../reproduce/report-items.ts";
import { type EncoderState, fgts, Setting } from "../reproduce/setting.ts";
import { linearWorlds } from "./linear.ts";

const NAME = "mmlu";
const ONCE = { rounds: "once", stream: "shuffled" } as const;
/** Rounds with the paper's data, for estimates of time. */
const ROUNDS = 595;

export const mmlu: Experiment = {
  name: NAME,
  title: "MMLU: general-purpose embeddings and experts",
  async plan(planner) {
    const source = planner.data.mmlu;
    if ("missing" in source) return { notes: [source.missing], items: [] };
    const { encoders } = planner;
    const { setting, judge } = mmluSetting(planner)!;
    const figures = encoders.map((encoder) => figureOf(encoder, curvesOf(setting, encoder)));
    for (const encoder of encoders) {
      for (const epochs of statesOf(encoder)) {
        const runs = describeRuns(setting, encoder, epochs);
        planner.descriptions.push({ experiment: NAME, encoder: encoder.name, epochs, runs });
      }
    }
    const curves = planner.curves.filter(({ experiment }) => experiment === NAME);
    return {
      standIn: source.standIn,
      items: [
        ...figures,
        curvesTable(`${NAME}-table`, "MMLU: every curve", { curves, rounds: [] }),
        ...pictures(setting),
        ...linearWorlds(planner),
      ],
      notes: [
        source.note,
        `Utilities are cosines between topic means of the original ${judge.name}, over all queries.`,
        "mean: a_k is the mean of topic k's ten offline queries. prompt: the encoder's vector of the paper's listing 2. centred: like mean, minus the mean over the experts. added: phi(x, a) = x + a in place of the Hadamard product. Told scores are the utilities themselves.",
      ],
    };
  },
};

/** The five topics with their experts; undefined if the data is missing. */
export function mmluSetting(
  planner: Planner,
  rest: { readonly experiment?: string; readonly seed?: number } = {},
): { setting: Setting; judge: FoundEncoder; rounds: number } | undefined {
  const { encoders } = planner;
  const source = planner.data.mmlu;
  if ("missing" in source) return undefined;
  const texts: DataSpec = { files: source.files, categories: source.topics };
  const judge = encoders.find(({ name }) => name === "MiniLM") ?? encoders[0]!;
  const all = { of: "data", data: planner.load(texts) } as const;
  const setting = new Setting(planner, {
    experiment: NAME,
    form: "five topics",
    data: { ...texts, experts: planner.embed(judge, all, 645, NAME) },
    offline: 10,
    models: 5,
    queries: 645,
    categories: 5,
    streamOf: () => ONCE,
    ...rest,
  });
  return { setting, judge, rounds: ROUNDS };
}

function curvesOf(setting: Setting, encoder: FoundEncoder): Curve[] {
  const original: EncoderState = { encoder, epochs: 0, rounds: ROUNDS };
  const last: EncoderState = { ...original, epochs: encoder.epochs.at(-1) ?? 0 };
  const named = (name: string, variant: string) =>
    `${encoder.name}_${name}${variant && ` ${variant}`}`;
  return setting.planner.size.scales.flatMap((voteScale) => {
    const mean = (epochs: number, variant: string, policy: ReturnType<typeof fgts>) =>
      setting.curve({
        state: { ...original, epochs },
        group: epochs > 0 ? "exp" : "ctrl",
        models: "means",
        voteScale,
        policy,
        variant,
        name: named(epochs > 0 ? `E${epochs}_mean` : "mean", variant),
      });
    return [
      ...Object.entries(FEATURES).flatMap(([features, variant]) => {
        const policy = fgts({ features });
        const common = { state: original, voteScale, policy, variant };
        return [
          mean(0, variant, policy),
          setting.promptCurve(
            { listing: "topic", examples: 2 },
            { ...common, name: named("prompt", variant) },
          ),
          ...encoder.epochs.map((epochs) => mean(epochs, variant, policy)),
        ];
      }),
      mean(0, "centred", fgts({ centred: true })),
      ...[original, last].flatMap((state) =>
        setting.bestThetas({ state, group: "baseline", models: "means", voteScale }, [
          "votes",
          "regret",
        ]),
      ),
      setting.onCategories({ state: last, models: "means", voteScale }),
      ...setting.baselines(last, "means", voteScale),
      setting.curve({
        state: original,
        group: "baseline",
        models: "means",
        voteScale,
        policy: { kind: "zero-feedback", options: {} },
        variant: "original",
        name: "zero-feedback (original)",
      }),
    ];
  });
}

/** The Hadamard product and the feature map that it is compared with, by variant. */
const FEATURES = { hadamard: "", addition: "added" };

function figureOf({ name, epochs }: FoundEncoder, curves: readonly Curve[]): ReportItem {
  const last = epochs.at(-1);
  return curvesFigure({
    id: `${NAME}-${name}`,
    title: `MMLU, ${name}`,
    caption: `The paper's fig. 1 with ${name}. Dashed: the original encoder. Solid: after fine-tuning (E). Dash-dotted: a_k from a prompt; otherwise a_k is a topic's mean (mean). Features are Hadamard products, or sums (added). zero-feedback and joust on ${last ? `${name}_E${last}` : name}.`,
    curves,
    colors: "curves",
  });
}

/** Fig. 5, and the cosines between topics, before and after fine-tuning, in the first run. */
function pictures(setting: Setting): ReportItem[] {
  const { planner } = setting;
  const { main } = planner;
  // Fine-tuned on the left, as in the paper.
  const projected = statesOf(main)
    .toReversed()
    .map((epochs) => {
      const vectors = [setting.vectors({ encoder: main, epochs, rounds: ROUNDS }, 0)];
      const title = titleOf(main, epochs);
      const spec = { data: setting.allTexts(), vectors, seed: planner.seed };
      return { title, job: planner.project(spec, `${NAME}, ${title}`) };
    });
  const described = statesOf(main).map((epochs) => ({
    title: titleOf(main, epochs),
    job: describeRuns(setting, main, epochs)[0]!,
  }));
  return [
    pointsFigure(projected),
    geometryFigure(
      {
        id: `${NAME}-categories`,
        title: "MMLU: cosines between topic embeddings",
        caption:
          "cos(xi_m, xi_n) of the first run's offline queries, before and after fine-tuning. Nearest-category accuracy: share of the streamed queries whose nearest xi_m is that of their own topic.",
      },
      "byCategory",
      described,
    ),
  ];
}

/** The jobs that describe each run's queries in the vectors of an encoder. */
function describeRuns(setting: Setting, encoder: FoundEncoder, epochs: number): JobId[] {
  const { planner } = setting;
  return planner.runs("mmlu").map((run) => {
    const spec = {
      draw: setting.draw(run),
      told: { models: "means" } as const,
      vectors: [setting.vectors({ encoder, epochs, rounds: ROUNDS }, run)],
      stream: ONCE,
    };
    return planner.describe(spec, `${NAME}, ${titleOf(encoder, epochs)}, run ${run + 1}`);
  });
}

/** The original encoder, and the one with most epochs. */
function statesOf({ epochs }: FoundEncoder): number[] {
  return [0, ...epochs.slice(-1)];
}

function titleOf({ name }: FoundEncoder, epochs: number): string {
  return epochs > 0 ? `${name}_E${epochs}` : `${name}, original`;
}

function pointsFigure(
  panels: readonly { readonly title: string; readonly job: JobId }[],
): ReportItem {
  const title = "MMLU: queries in three dimensions, by t-SNE";
  return {
    id: `${NAME}-tsne`,
    title,
    caption:
      "The paper's fig. 5: the vectors of all queries, including the offline ones, in the first run. Perplexity 30, exact t-SNE.",
    draw: (results) => ({
      kind: "figure",
      pictures: panels.map(({ title, job }) =>
        pointsPicture({ title, ...results.value<ProjectValue>(job) }),
      ),
    }),
  };
}
