/** RouterBench with one thing changed at a time: what the paper leaves open, and what its claims rest on. */
import { type Curve, WITHOUT_VECTORS } from "../reproduce/curve.ts";
import type { ReportItem } from "../reproduce/experiment.ts";
import type { DataSpec } from "../reproduce/jobs/specs.ts";
import { type Planner, PRICE } from "../reproduce/planner.ts";
import { curvesFigure, curvesTable } from "../reproduce/report-items.ts";
import {
  type CurveOptions,
  type EncoderState,
  EXCEL,
  fgts,
  type WEIGHTINGS,
  weighted,
} from "../reproduce/setting.ts";
import { NAME, settingOf } from "./routerbench-setting.ts";

type Weighting = (typeof WEIGHTINGS)[number];

/** The variants to run, and the weightings of those that have several. */
interface Choice {
  /** Values of lambda in the weighting, in addition to the paper's 0.05. */
  readonly lambdas: readonly number[];
  /** Weights of the feel-good term, in addition to the weight of the theory. */
  readonly mus: readonly number[];
  readonly scaled: readonly Weighting[];
  readonly priced: readonly Weighting[];
  readonly gpt4: readonly Weighting[];
  readonly offline: readonly Weighting[];
  readonly sharper: boolean;
}

const ALL: Choice = {
  lambdas: [0, 0.2],
  mus: [0, 0.1, 1],
  scaled: EXCEL,
  priced: ["perf", ...EXCEL],
  gpt4: ["perf", "excel_perf_cost"],
  offline: EXCEL,
  sharper: true,
};

const FEW: Choice = {
  lambdas: [0, 0.2],
  mus: [0, 1],
  scaled: [],
  priced: EXCEL,
  gpt4: ["excel_perf_cost"],
  offline: ["excel_perf_cost"],
  sharper: false,
};

/** Variants of the curves on the main encoder with most epochs. They reuse its vectors. */
export function variations(planner: Planner, data: DataSpec, form: string): ReportItem[] {
  const { main, size } = planner;
  const rounds = size.short;
  const choice = size.quick ? FEW : ALL;
  const setting = settingOf(planner, form, data);
  const epochs = main.epochs.at(-1) ?? 0;
  const tuned: EncoderState = { encoder: main, epochs, rounds: size.long };
  const original: EncoderState = { ...tuned, epochs: 0 };
  const group = epochs > 0 ? "exp" : "ctrl";
  const tag = `${main.name}_E${epochs}`;
  const itsName = `${tag}_Excel_perf_cost_${group}`;
  const overScales = (make: (voteScale: number) => readonly Curve[]) => size.scales.flatMap(make);

  /** Excel_perf_cost with something changed. */
  const changed = (voteScale: number, variant: string, rest: Partial<CurveOptions>) =>
    setting.curve({
      state: tuned,
      group,
      voteScale,
      rounds,
      variant,
      models: weighted("excel_perf_cost"),
      name: `${itsName} ${variant}`,
      ...rest,
    });
  /** The fine-tuned and the control group under several weightings. */
  const pairs = (
    voteScale: number,
    variant: string,
    weightings: readonly Weighting[],
    { ownLambda = PRICE, ...options }: Partial<CurveOptions> & { readonly ownLambda?: number },
  ) =>
    weightings.flatMap((weighting) => {
      const models = weighted(weighting, { lambda: ownLambda });
      const common = { voteScale, rounds, variant, epochs, models, ...options };
      const ctrl = setting.curve({ state: original, group: "ctrl", ...common });
      return epochs > 0 ? [setting.curve({ state: tuned, group: "exp", ...common }), ctrl] : [ctrl];
    });

  const scaled = overScales((s) =>
    pairs(s, "metadata scaled", choice.scaled, { policy: fgts({ metadata: "scaled" }) }),
  );
  const single = overScales((s) => [
    ...choice.mus.map((mu) => changed(s, `mu=${mu}`, { policy: fgts({ mu }) })),
    changed(s, "equation 2", { policy: fgts({ exact: true }) }),
    changed(s, "added", { policy: fgts({ features: "addition" }) }),
    ...(choice.sharper
      ? [
          changed(s, "centred", { policy: fgts({ centred: true }) }),
          changed(s, "temperature=0.1", {
            models: weighted("excel_perf_cost", { temperature: 0.1 }),
          }),
        ]
      : []),
  ]);
  const lambdas = overScales((s) =>
    choice.lambdas.map((lambda) =>
      changed(s, `lambda=${lambda}`, { models: weighted("excel_perf_cost", { lambda }) }),
    ),
  );
  const pointwise = overScales((s) =>
    ["mixllm", "metallm"].map((kind) =>
      changed(s, `${kind} on likes`, {
        policy: { kind, options: {}, feedback: "likes" },
        name: `${kind} on likes (${tag})`,
      }),
    ),
  );
  const countingCost = { lambda: PRICE, variant: "votes count cost", rounds };
  const priced = overScales((s) => [
    // Told scores are Perf - lambda * Cost already, so the weighting subtracts nothing more.
    ...pairs(s, countingCost.variant, choice.priced, { lambda: PRICE, ownLambda: 0 }),
    ...setting.baselines(tuned, weighted("perf"), s, countingCost),
  ]);
  const eleven = settingOf(planner, form, { ...data, exclude: [] });
  const withGpt4 = { variant: "with gpt-4", rounds };
  const gpt4 = overScales((voteScale) => [
    ...choice.gpt4.map((weighting) => {
      const models = weighted(weighting);
      const state = original;
      return eleven.curve({ state, epochs, group: "ctrl", voteScale, models, ...withGpt4 });
    }),
    ...eleven.baselines(original, weighted("perf"), voteScale, withGpt4),
  ]);
  const offline = moreOffline(planner, data, form, original, choice.offline);

  const main720 = planner.curves.filter(
    (curve) =>
      curve.experiment === NAME &&
      curve.form === form &&
      curve.variant === "" &&
      curve.encoder === main.name &&
      (curve.epochs === epochs || WITHOUT_VECTORS.includes(curve.policy)),
  );
  const baselines = main720.filter(({ group }) => group === "baseline");
  const itself = main720.filter((c) => c.weighting === "excel_perf_cost" && c.group === group);
  const figure = (id: string, title: string, caption: string, curves: Curve[], colors?: "curves") =>
    curvesFigure({
      id: `${NAME}-${id}`,
      title: `RouterBench (${form}): ${title}, ${rounds} rounds`,
      caption,
      curves,
      rounds,
      ...(colors && { colors }),
    });
  return [
    ...(scaled.length > 0
      ? [
          figure(
            "metadata-scaled",
            `${tag} with Perf and Cost appended, z-scored and scaled`,
            "The same 14 numbers, z-scored over models and scaled to the mean length of x o a_k.",
            [...scaled, ...baselines],
          ),
        ]
      : []),
    figure(
      "single",
      `one thing changed in ${itsName}`,
      "The weight mu of the feel-good term (otherwise 1 / (10 e sqrt(720)) = 0.0014), equation 2 to the letter (no cap, rounds without a duel kept, a^1 and a^2 in the order of the chains), addition in place of the Hadamard product (added), model embeddings minus their mean (centred), a sharper softmax (temperature).",
      [...itself, ...single, ...baselines],
      "curves",
    ),
    figure(
      "lambda",
      `lambda in the weighting of ${itsName}`,
      "lambda decides which models excel in a benchmark; 0.05 is the paper's. Costs are in the table below.",
      [...itself, ...lambdas, ...baselines],
      "curves",
    ),
    figure(
      "priced",
      `${tag} if voters count cost`,
      "The utility is Perf - 0.05 Cost for votes, told scores and regret. The weightings use these told scores with lambda 0. Everything else is as in the main figure.",
      priced,
    ),
    figure(
      "gpt4",
      `${tag}'s control group with GPT-4 as an eleventh model`,
      "With GPT-4 in the pool one fixed model is nearly the best for every query.",
      gpt4,
    ),
    figure(
      "pointwise",
      "learners of likes and dislikes",
      "MixLLM and MetaLLM show one answer per round and learn whether it was liked, on the same vectors: LinUCB for each model on the query's vector (MetaLLM), or on that and its cosines to the categories (MixLLM). An answer is liked with the probability that it beats an average answer to the query in a duel, so there is one label per round, as noisy as a vote.",
      [...itself, ...pointwise, ...baselines],
      "curves",
    ),
    curvesTable(`${NAME}-variations`, `RouterBench (${form}): everything varied`, {
      curves: [itself, scaled, single, lambdas, pointwise, priced, gpt4, offline].flat(),
      rounds: [rounds],
    }),
  ];
}

/** 15 offline queries per benchmark instead of 5: the original main encoder, and small ones fine-tuned. */
function moreOffline(
  planner: Planner,
  data: DataSpec,
  form: string,
  original: EncoderState,
  weightings: readonly Weighting[],
): Curve[] {
  const { encoders, size } = planner;
  const rounds = size.short;
  const setting = settingOf(planner, form, data, 15);
  const small = encoders.filter(({ kind, epochs }) => kind !== "transformer" && epochs.length > 0);
  const states = [
    { state: original, group: "ctrl" } as const,
    ...small.map((encoder) => {
      const state = { encoder, epochs: encoder.epochs.at(-1)!, rounds };
      return { state, group: "exp" } as const;
    }),
  ];
  return size.scales.flatMap((voteScale) =>
    states.flatMap(({ state, group }) =>
      weightings.map((weighting) =>
        setting.curve({
          state,
          group,
          epochs: state.encoder.epochs.at(-1) ?? 0,
          voteScale,
          rounds,
          models: weighted(weighting),
          variant: "15 offline",
        }),
      ),
    ),
  );
}
