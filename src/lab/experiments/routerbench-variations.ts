/** RouterBench with one thing changed at a time: what the paper leaves open, and what its claims rest on. */
import { type Bench, fgts, PRICE } from "../reproduce/bench.ts";
import { curvesExhibit, finalTable } from "../reproduce/exhibits.ts";
import type { Curve, Exhibit } from "../reproduce/experiment.ts";
import { BLIND, type LineOptions, type Look, weighted } from "../reproduce/scene.ts";
import type { DataSpec } from "../reproduce/work/specs.ts";
import { EXCEL, NAME, sceneOf, type WEIGHTINGS } from "./routerbench-scene.ts";

interface Choice {
  /** Weights of cost in the weighting besides the paper's 0.05. */
  readonly lambdas: readonly number[];
  /** Of the feel-good term, besides that of theory. */
  readonly mus: readonly number[];
  readonly raw: readonly Weighting[];
  readonly scaled: readonly Weighting[];
  readonly priced: readonly Weighting[];
  readonly gpt4: readonly Weighting[];
  readonly offline: readonly Weighting[];
  readonly sharper: boolean;
}

type Weighting = (typeof WEIGHTINGS)[number];

const ALL: Choice = {
  lambdas: [0, 0.2],
  mus: [0, 0.1, 1],
  raw: ["perf_cost", ...EXCEL],
  scaled: EXCEL,
  priced: ["perf", ...EXCEL],
  gpt4: ["perf", "excel_perf_cost"],
  offline: EXCEL,
  sharper: true,
};

const FEW: Choice = {
  lambdas: [0, 0.2],
  mus: [0, 1],
  raw: ["excel_perf_cost"],
  scaled: [],
  priced: EXCEL,
  gpt4: ["excel_perf_cost"],
  offline: ["excel_perf_cost"],
  sharper: false,
};

/** All on the main encoder as tuned longest, whose vectors serve here too. */
export function variations(bench: Bench, data: DataSpec, form: string): Exhibit[] {
  const { main, size } = bench;
  const rounds = size.short;
  const choice = size.quick ? FEW : ALL;
  const scene = sceneOf(bench, form, data);
  const epochs = main.epochs.at(-1) ?? 0;
  const tuned: Look = { encoder: main, epochs, rounds: size.long };
  const original: Look = { ...tuned, epochs: 0 };
  const group = epochs > 0 ? "exp" : "ctrl";
  const tag = `${main.name}_E${epochs}`;
  const overScales = (make: (voteScale: number) => readonly Curve[]) => size.scales.flatMap(make);

  /** Excel_perf_cost with something changed. */
  const changed = (voteScale: number, variant: string, rest: Partial<LineOptions>) =>
    scene.line({
      look: tuned,
      group,
      voteScale,
      rounds,
      variant,
      models: weighted("excel_perf_cost"),
      name: `${tag}_Excel_perf_cost_${group} ${variant}`,
      ...rest,
    });
  /** Fine-tuned and control group under several weightings. */
  const pairs = (
    voteScale: number,
    variant: string,
    weightings: readonly Weighting[],
    rest: Partial<LineOptions> & { readonly ownLambda?: number },
  ) =>
    weightings.flatMap((weighting) => {
      const { ownLambda = PRICE, ...options } = rest;
      const models = weighted(weighting, { lambda: ownLambda });
      const common = { voteScale, rounds, variant, epochs, models, ...options };
      const ctrl = scene.line({ look: original, group: "ctrl", ...common });
      return epochs > 0 ? [scene.line({ look: tuned, group: "exp", ...common }), ctrl] : [ctrl];
    });

  const raw = overScales((s) =>
    pairs(s, "metadata raw", choice.raw, {
      policy: fgts({ metadata: "raw" }),
    }),
  );
  const scaled = overScales((s) =>
    pairs(s, "metadata scaled", choice.scaled, { policy: fgts({ metadata: "scaled" }) }),
  );
  const single = overScales((s) => [
    ...choice.mus.map((mu) => changed(s, `mu=${mu}`, { policy: fgts({ mu }) })),
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
      changed(s, kind, { policy: { kind, options: {} }, name: `${kind} (${tag})` }),
    ),
  );
  const countingCost = { lambda: PRICE, variant: "votes count cost", rounds };
  const priced = overScales((s) => [
    // What is told is Perf - lambda * Cost already, so that the weighting takes off nothing more.
    ...pairs(s, countingCost.variant, choice.priced, { lambda: PRICE, ownLambda: 0 }),
    ...scene.baselines(tuned, weighted("perf"), s, countingCost),
  ]);
  const eleven = sceneOf(bench, form, { ...data, exclude: [] });
  const withGpt4 = { variant: "with gpt-4", rounds };
  const gpt4 = overScales((voteScale) => [
    ...choice.gpt4.map((weighting) =>
      eleven.line({
        look: original,
        epochs,
        group: "ctrl",
        voteScale,
        models: weighted(weighting),
        ...withGpt4,
      }),
    ),
    ...eleven.baselines(original, weighted("perf"), voteScale, withGpt4),
  ]);
  const offline = moreOffline(bench, data, form, original, choice);

  const main720 = bench.curves.filter(
    (curve) =>
      curve.experiment === NAME &&
      curve.form === form &&
      curve.variant === "" &&
      curve.encoder === main.name &&
      (curve.epochs === epochs || BLIND.includes(curve.policy)),
  );
  const baselines = main720.filter(({ group }) => group === "baseline");
  const itself = main720.filter((c) => c.weighting === "excel_perf_cost" && c.group === group);
  const figure = (id: string, title: string, caption: string, curves: Curve[], colors?: "curves") =>
    curvesExhibit({
      id: `${NAME}-${id}`,
      title: `RouterBench (${form}): ${title}, ${rounds} rounds`,
      caption,
      curves,
      rounds,
      ...(colors && { colors }),
    });
  return [
    figure(
      "metadata-raw",
      `${tag} with Perf and Cost appended as they are`,
      "The paper's letter: 14 numbers appended to a_k, x padded with ones. They are many times as long as x o a_k, so that the query hardly counts.",
      [...raw, ...baselines],
    ),
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
      `one thing changed in ${tag}_Excel_perf_cost_${group}`,
      "The weight mu of the feel-good term (otherwise 1 / (10 e sqrt(720)) = 0.0014), addition in place of the Hadamard product (added), model embeddings less their mean (centred), a sharper softmax (temperature).",
      [...itself, ...single, ...baselines],
      "curves",
    ),
    figure(
      "lambda",
      `lambda in the weighting of ${tag}_Excel_perf_cost_${group}`,
      "lambda decides which models excel in a benchmark; 0.05 is the paper's. Costs are in the table below.",
      [...itself, ...lambdas, ...baselines],
      "curves",
    ),
    figure(
      "priced",
      `${tag} where voters count cost`,
      "Votes, told scores and regret all go by Perf - 0.05 Cost, the weightings by told scores as they are (lambda 0); otherwise as in the main figure.",
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
      "MixLLM and MetaLLM read a vote as a like of the winner and a dislike of the loser, on the same vectors: LinUCB for each model on the query's vector (MetaLLM), or on that and its nearness to the categories (MixLLM).",
      [...itself, ...pointwise, ...baselines],
      "curves",
    ),
    finalTable(`${NAME}-variations`, `RouterBench (${form}): everything varied`, {
      curves: [
        ...itself,
        ...raw,
        ...scaled,
        ...single,
        ...lambdas,
        ...pointwise,
        ...priced,
        ...gpt4,
        ...offline,
      ],
      rounds: [rounds],
    }),
  ];
}

/** 15 offline queries a benchmark in place of 5: the main encoder as it was, and small ones fine-tuned. */
function moreOffline(
  bench: Bench,
  data: DataSpec,
  form: string,
  original: Look,
  { offline }: Choice,
): Curve[] {
  const { encoders, size } = bench;
  const scene = sceneOf(bench, form, data, 15);
  const small = encoders.filter(({ kind, epochs }) => kind !== "transformer" && epochs.length > 0);
  const looks = [
    { look: original, group: "ctrl" } as const,
    ...small.map((encoder) => {
      const look = { encoder, epochs: encoder.epochs.at(-1)!, rounds: size.short };
      return { look, group: "exp" } as const;
    }),
  ];
  const epochs = (look: Look) => look.encoder.epochs.at(-1) ?? 0;
  return size.scales.flatMap((voteScale) =>
    looks.flatMap(({ look, group }) =>
      offline.map((weighting) =>
        scene.line({
          look,
          group,
          epochs: epochs(look),
          voteScale,
          rounds: size.short,
          models: weighted(weighting),
          variant: "15 offline",
        }),
      ),
    ),
  );
}
