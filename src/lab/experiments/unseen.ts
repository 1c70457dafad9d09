/**
 * Section 5.1.1, figs. 3 (c, d) and 7: ARC is unknown until the second section of the
 * stream. MT-Bench is left out. The first section has 300 queries, 60 of each of five
 * benchmarks; the second has 300 others of these benchmarks and 120 of ARC, shuffled.
 *
 * exp and ctrl are told of five benchmarks and fine-tuned on 15 queries of each; ideal is
 * also told of ARC and has 15 of its queries.
 */
import { type Curve, WITHOUT_VECTORS } from "../reproduce/curve.ts";
import type { Experiment, ReportItem } from "../reproduce/experiment.ts";
import { laterName } from "../reproduce/jobs/draw.ts";
import type { DataSpec } from "../reproduce/jobs/specs.ts";
import type { Planner } from "../reproduce/planner.ts";
import { curvesFigure, curvesTable } from "../reproduce/report-items.ts";
import { openScores, type Scores, without } from "../reproduce/score-tables.ts";
import {
  type EncoderState,
  EXAMPLES,
  EXCEL,
  fgts,
  Setting,
  weighted,
} from "../reproduce/setting.ts";

const NAME = "unseen";
const KNOWN = ["mmlu", "mbpp", "hellaswag", "winogrande", "gsm8k"];
const ARC = "arc-challenge";
const OFFLINE = 15;
/** Number of offline queries per benchmark in the RouterBench experiment. */
const FEWER = 5;

export const unseen: Experiment = {
  name: NAME,
  title: "Unseen benchmark",
  async plan(planner) {
    const source = planner.data.routerbench;
    if ("missing" in source) return { notes: [source.missing], items: [] };
    const { scores } = source;
    const { encoders, size } = planner;
    const share = size.quick ? 0.5 : 1;
    const known = Math.floor(share * source.section.known);
    const arc = Math.floor(share * source.section.arc);
    // RouterBench's prompt for ARC has the wording of HellaSwag's, so ARC would hardly be unseen.
    const { name: form, files, note } = source.forms.at(-1)!;
    const data = { files, scores, exclude: ["gpt-4"], categories: [...KNOWN, ARC] };
    const first = each(KNOWN, known);
    const stream = [first, { ...first, [ARC]: arc }];
    const rounds = 2 * KNOWN.length * known + arc;
    const settingWith = (offline: number) =>
      new Setting(planner, {
        experiment: NAME,
        form,
        data,
        texts: { files },
        offline,
        models: 10,
        queries: 7470,
        categories: 6,
        streamOf: (rounds) => ({ rounds, stream }),
      });
    const setting = settingWith(OFFLINE);
    const confusion = confusionText(await openScores(planner.data.paths[scores.sha256]!));
    const figures = encoders.map((encoder) => {
      const state = { encoder, epochs: encoder.epochs.at(-1) ?? 0, rounds };
      const curves = size.scales.flatMap((s) => curvesOf(setting, state, s));
      planFewerOffline(settingWith(FEWER), state);
      return figureOf(state, curves, known * KNOWN.length, confusion);
    });
    const curves = planner.curves.filter(({ experiment }) => experiment === NAME);
    return {
      standIn: source.standIn,
      items: [
        ...figures,
        curvesTable(`${NAME}-table`, "Unseen benchmark: every curve", { curves, rounds: [rounds] }),
        ...changeItems(planner, data, form, known),
      ],
      notes: [
        `On form "${form}" of the RouterBench queries. ${note}`,
        `Besides the paper's ${OFFLINE} offline queries per benchmark the ideal curves are run with ${FEWER}, in the table only. These curves test with fine-tuned encoders whether ${FEWER} queries suffice.`,
        `The first section has ${known} queries of each of ${KNOWN.join(", ")}; the second has ${known} others of each and ${arc} of ${ARC}. The environment always uses ARC's Perf.`,
        ...(size.quick
          ? []
          : [
              "Transformers are fine-tuned for four epochs only: with 15 queries per benchmark a fit takes minutes.",
            ]),
      ],
    };
  },
};

function curvesOf(setting: Setting, all: EncoderState, voteScale: number): Curve[] {
  const { epochs } = all;
  const { quick } = setting.planner.size;
  const five: EncoderState = { ...all, categories: KNOWN };
  const original = { ...five, epochs: 0 };
  return [
    ...EXCEL.flatMap((weighting) => {
      const common = { voteScale, epochs, models: weighted(weighting) };
      const ctrl = { state: original, group: "ctrl", ...common } as const;
      const groups =
        epochs === 0
          ? [ctrl]
          : ([
              { state: five, group: "exp", ...common },
              ctrl,
              { state: all, group: "ideal", ...common },
            ] as const);
      const policy = fgts({ metadata: "raw" });
      return groups.flatMap((options) => [
        setting.curve(options),
        ...(quick ? [] : [setting.curve({ ...options, policy, variant: "metadata raw" })]),
        ...(options.group === "ideal" ? [] : setting.bestThetas(options, ["votes"])),
      ]);
    }),
    setting.onCategories({ state: five, voteScale, models: weighted("perf") }),
    ...EXAMPLES.map((examples) =>
      setting.promptCurve({ listing: "model", examples }, { state: original, voteScale }),
    ),
    ...setting.baselines(five, weighted("perf"), voteScale),
    setting.curve({
      state: all,
      group: "baseline",
      voteScale,
      models: weighted("perf"),
      policy: { kind: "zero-feedback", options: {} },
      name: "zero-feedback (ideal)",
      variant: "ideal",
    }),
  ];
}

/** For the claim that 35 offline queries suffice: a third of them, with all six benchmarks known. */
function planFewerOffline(setting: Setting, state: EncoderState): void {
  if (state.epochs === 0) return;
  const variant = `${FEWER} offline`;
  for (const voteScale of setting.planner.size.scales) {
    for (const weighting of EXCEL) {
      setting.curve({ state, group: "ideal", voteScale, variant, models: weighted(weighting) });
    }
  }
}

/** Why a router that is told of ARC may do worse: ARC lies near MMLU, and confusing them has two prices. */
function confusionText(all: Scores): string {
  const { models, categories, perf } = without(all, ["gpt-4"]);
  const [mmlu, arc] = [categories.indexOf("mmlu"), categories.indexOf(ARC)];
  const bestOn = (m: number) => perf.reduce((a, own, k) => (own[m]! > perf[a]![m]! ? k : a), 0);
  const [ofMmlu, ofArc] = [bestOn(mmlu), bestOn(arc)];
  const loss = (m: number, k: number) => (perf[bestOn(m)]![m]! - perf[k]![m]!).toFixed(3);
  return `zero-feedback (ideal) can do worse than zero-feedback. Without ARC, zero-feedback takes queries of ARC for queries of MMLU and sends them to ${models[ofMmlu]}, which is ${loss(arc, ofMmlu)} below ARC's best model. When it is told of ARC, it takes some queries of MMLU for queries of ARC and sends them to ${models[ofArc]}, which is ${loss(mmlu, ofArc)} below MMLU's best model.`;
}

function figureOf(
  { encoder, epochs }: EncoderState,
  curves: readonly Curve[],
  shift: number,
  confusion: string,
): ReportItem {
  const name = epochs > 0 ? `${encoder.name}_E${epochs}` : encoder.name;
  return curvesFigure({
    id: `${NAME}-${name}`,
    title: `Unseen benchmark, ${name}`,
    caption: `ARC is added after ${shift} rounds. Color: the weighting. Solid: exp, told of five benchmarks. Dotted: ideal, also told of ARC. Dashed: ctrl. Dash-dotted: prompts. zero-feedback and joust are told of five, zero-feedback (ideal) of six. ${confusion}`,
    curves,
    event: { after: shift, text: "ARC is added" },
  });
}

/**
 * Not in the paper, for its claim that adaptivity is inherent: half-way every model gets the
 * scores of another model. `restart` has only the second half, so it has nothing to unlearn
 * but what it was told.
 */
function changeItems(planner: Planner, data: DataSpec, form: string, known: number): ReportItem[] {
  const { main, size } = planner;
  const later = each(KNOWN.map(laterName), known);
  const half = KNOWN.length * known;
  const curvesIn = (
    stream: readonly Readonly<Record<string, number>>[],
    rounds: number,
    variant: string,
  ) => {
    const setting = new Setting(planner, {
      experiment: NAME,
      form,
      data: { ...data, categories: KNOWN },
      texts: { files: data.files },
      offline: 5,
      change: true,
      models: 10,
      queries: 6000,
      categories: 5,
      streamOf: (rounds) => ({ rounds, stream }),
    });
    return size.scales.flatMap((voteScale) =>
      LEARNERS.map(({ name, ...policy }) =>
        setting.curve({
          state: { encoder: main, epochs: 0, rounds },
          group: policy.kind === "fgts-cdb" ? "ctrl" : "baseline",
          voteScale,
          models: weighted("excel_perf_cost"),
          policy,
          name,
          variant,
        }),
      ),
    );
  };
  const changed = curvesIn([each(KNOWN, known), later], 2 * half, "change");
  const restarted = curvesIn([later], half, "restart");
  return [
    curvesFigure({
      id: `${NAME}-change`,
      title: `A change after ${half} rounds: every model gets the scores of another`,
      caption: `Five benchmarks, the original ${main.name}, Excel_perf_cost for FGTS.CDB. Which model's scores a model gets is drawn for each run. drift: the share of its knowledge that joust considers still true one vote later. Not in the paper: a test of its claim that bandits adapt to change by themselves.`,
      curves: changed,
      colors: "curves",
      event: { after: half, text: "scores change" },
    }),
    curvesTable(
      `${NAME}-change-table`,
      "A change half-way, and a restart with the second half only",
      { curves: [...changed, ...restarted], rounds: [half, 2 * half] },
    ),
  ];
}

const LEARNERS = [
  { ...fgts(), name: "FGTS.CDB" },
  { kind: "joust", options: {}, name: "joust" },
  { kind: "joust", options: { drift: 0.995 }, name: "joust drift=0.995" },
  ...["zero-feedback", ...WITHOUT_VECTORS].map((kind) => ({ kind, options: {}, name: kind })),
];

function each(categories: readonly string[], count: number): Record<string, number> {
  return Object.fromEntries(categories.map((name) => [name, count]));
}
