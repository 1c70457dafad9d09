/**
 * Section 5.1, figs. 3 (a, b) and 6: ten models, seven benchmarks as categories, five
 * offline queries of each, utility = Perf.
 *
 * The paper does not say how long a run is. Here all curves have 720 rounds, and those of
 * the main encoder with most epochs, on the paper's form of the queries, have 3,000.
 */
import type { Curve } from "../reproduce/curve.ts";
import type { FoundEncoder } from "../reproduce/encoders.ts";
import type { Experiment, ReportItem } from "../reproduce/experiment.ts";
import type { Planner } from "../reproduce/planner.ts";
import {
  choicesFigure,
  curvesFigure,
  curvesTable,
  geometryFigure,
} from "../reproduce/report-items.ts";
import {
  openScores,
  priceTable,
  radarFigure,
  type Scores,
  utilityFigure,
  weightingTable,
  without,
} from "../reproduce/score-tables.ts";
import {
  type EncoderState,
  EXAMPLES,
  fgts,
  type Setting,
  WEIGHTINGS,
  weighted,
} from "../reproduce/setting.ts";
import { METADATA, NAME, settingOf } from "./routerbench-setting.ts";
import { variations } from "./routerbench-variations.ts";

export const routerbench: Experiment = {
  name: NAME,
  title: "RouterBench",
  async plan(planner) {
    const source = planner.data.routerbench;
    if ("missing" in source) return { notes: [source.missing], items: [] };
    const { size, main } = planner;
    const all = await openScores(planner.data.paths[source.scores.sha256]!);
    const scores = without(all, ["gpt-4"]);
    const items = [
      weightingTable(scores),
      priceTable(all),
      radarFigure(scores),
      utilityFigure(scores),
    ];
    for (const [i, form] of source.forms.entries()) {
      const data = { files: form.files, scores: source.scores, exclude: ["gpt-4"] };
      const setting = settingOf(planner, form.name, data);
      // The second form is for transformers, which the paper is about.
      const encoders = planner.encoders.filter(
        (encoder) => i === 0 || encoder.kind === "transformer" || encoder === main,
      );
      const blocks = encoders.flatMap((encoder) =>
        blocksOf(setting, encoder, i === 0 && encoder === main ? size.long : size.short),
      );
      items.push(...itemsOf(setting, blocks, scores));
      if (i === 0)
        items.push(...geometry(setting, scores), ...variations(planner, data, form.name));
    }
    return { items, notes: notesOf(planner, source.forms), standIn: source.standIn };
  },
};

/** The curves of one figure: an encoder with its number of epochs, the control group, the prompts. */
interface Block {
  readonly encoder: FoundEncoder;
  readonly epochs: number;
  readonly rounds: number;
  readonly curves: readonly Curve[];
}

function blocksOf(setting: Setting, encoder: FoundEncoder, longest: number): Block[] {
  const { scales, short } = setting.planner.size;
  return (encoder.epochs.length > 0 ? encoder.epochs : [0]).map((epochs) => {
    const rounds = epochs === lastEpochs(encoder) ? longest : short;
    const state: EncoderState = { encoder, epochs, rounds };
    // Curves of the original encoder are the same runs in every block.
    const original: EncoderState = { encoder, epochs: 0, rounds: longest };
    const curves = scales.flatMap((voteScale) => curvesOf(setting, state, original, voteScale));
    return { encoder, epochs, rounds, curves };
  });
}

function curvesOf(
  setting: Setting,
  state: EncoderState,
  original: EncoderState,
  voteScale: number,
): Curve[] {
  const { short, quick } = setting.planner.size;
  const { epochs } = state;
  return [
    ...WEIGHTINGS.flatMap((weighting) => {
      const models = weighted(weighting);
      const optionsOf = (group: "exp" | "ctrl") => {
        const own = group === "exp" ? state : original;
        const rounds = LONG.includes(weighting) ? own.rounds : short;
        return { state: own, group, rounds, epochs, voteScale, models };
      };
      const groups = epochs > 0 ? (["exp", "ctrl"] as const) : (["ctrl"] as const);
      const withMetadata = !quick || weighting === "excel_perf_cost";
      return groups.flatMap((group) => {
        const options = optionsOf(group);
        const appended = { ...options, variant: METADATA, policy: fgts({ metadata: "raw" }) };
        return [
          setting.curve(options),
          ...setting.bestThetas(options, ["votes", "regret"]),
          ...(withMetadata
            ? [setting.curve(appended), ...setting.bestThetas(appended, ["votes"])]
            : []),
        ];
      });
    }),
    setting.onCategories({ state, voteScale, models: weighted("perf") }),
    ...EXAMPLES.map((examples) =>
      setting.promptCurve(
        { listing: "model", examples },
        {
          state: original,
          voteScale,
          rounds: examples === MOST_EXAMPLES ? original.rounds : short,
        },
      ),
    ),
    ...setting.baselines(state, weighted("perf"), voteScale, { original }),
  ];
}

/** The weightings with the longest curves. */
const LONG: readonly string[] = ["perf", "excel_perf_cost", "excel_mask"];
const MOST_EXAMPLES = EXAMPLES.at(-1);

function lastEpochs({ epochs }: FoundEncoder): number {
  return epochs.at(-1) ?? 0;
}

function stateName({ encoder, epochs }: Pick<Block, "encoder" | "epochs">): string {
  return epochs > 0 ? `${encoder.name}_E${epochs}` : encoder.name;
}

function itemsOf(setting: Setting, blocks: readonly Block[], scores: Scores): ReportItem[] {
  const { size, main } = setting.planner;
  const { form } = setting.options;
  const figures = blocks.flatMap(({ encoder, epochs, rounds, curves }) => {
    const name = stateName({ encoder, epochs });
    const figure = (length: number, shown: readonly Curve[]) =>
      curvesFigure({
        id: `${NAME}-${form}-${name}-${length}`,
        title: `RouterBench (${form}), ${name}, ${length} rounds`,
        caption:
          "Color: the weighting; other colors if two curves of a panel would look the same, as with metadata. Solid: fine-tuned on 35 offline queries (exp). Dashed: the original encoder (ctrl). Dash-dotted: model embeddings from prompts with 1, 3 and 5 example queries. zero-feedback and joust use the fine-tuned vectors if there are any. Regret under Perf; the table has the regret under Perf - 0.05 Cost.",
        curves: shown,
        rounds: length,
      });
    const long = curves.filter(
      ({ group, weighting, examples }) =>
        group === "baseline" || LONG.includes(weighting) || examples === MOST_EXAMPLES,
    );
    return rounds > size.short
      ? [figure(size.short, curves), figure(rounds, long)]
      : [figure(rounds, curves)];
  });
  const tuned = blocks.filter(({ encoder, epochs }) => epochs === lastEpochs(encoder));
  const curves = tuned.flatMap((block) => block.curves);
  const scale = size.scales.at(-1);
  return [
    ...figures,
    curvesFigure({
      id: `${NAME}-${form}-all`,
      title: `RouterBench (${form}), all encoders under the excel weightings, ${size.short} rounds`,
      caption: `Every available encoder with most epochs: ${tuned.map(stateName).join(", ")}. Curves with metadata have panels of their own. Color: the weighting. Solid: fine-tuned. Dash-dotted: prompts with five queries. zero-feedback and joust on ${stateName(tuned.find(({ encoder }) => encoder === main)!)}.`,
      curves: curves.filter(
        ({ weighting, encoder, examples, policy, group }) =>
          (weighting.startsWith("excel") && group !== "ctrl") ||
          examples === 5 ||
          (policy !== "fgts-cdb" && encoder === main.name),
      ),
      rounds: size.short,
      colors: "encoders",
    }),
    choicesFigure(
      {
        id: `${NAME}-${form}-choices`,
        title: `RouterBench (${form}): models that answer in the last third of a run, vote scale ${scale}`,
        caption:
          "Share of a benchmark's answers that each model gave in these rounds, mean over runs; a duel counts half for each of its models. Outlined: the benchmark's best models by Perf. A router that has found the best model of each query has its dark cells inside the outlines.",
      },
      curves.filter(
        ({ voteScale, weighting, group, encoder, policy, epochs }) =>
          voteScale === scale &&
          encoder === main.name &&
          (policy === "joust" ||
            (weighting === "excel_perf_cost" && group === (epochs > 0 ? "exp" : "ctrl"))),
      ),
      scores,
    ),
    curvesTable(`${NAME}-${form}-table`, `RouterBench (${form}): every curve`, {
      curves: blocks.flatMap((block) => block.curves),
      rounds: [...new Set([size.short, ...blocks.map(({ rounds }) => rounds)])],
    }),
  ];
}

/** The geometry of categories and models in the first run, before and after fine-tuning. */
function geometry(setting: Setting, scores: Scores): ReportItem[] {
  const { planner, options } = setting;
  const { main, size } = planner;
  const jobs = [0, ...main.epochs.slice(-1)].map((epochs) => ({
    title: epochs === 0 ? `${main.name}, original` : `${main.name}_E${epochs}`,
    job: planner.describe(
      {
        draw: setting.draw(0),
        told: { models: weighted("excel_perf_cost") },
        vectors: [setting.vectors({ encoder: main, epochs, rounds: size.long }, 0)],
        stream: options.streamOf(size.short),
      },
      `${NAME}, ${main.name} E${epochs}`,
    ),
  }));
  const figure = (of: "byCategory" | "byModel", id: string, what: string, caption: string) =>
    geometryFigure(
      {
        id: `${NAME}-${options.form}-${id}`,
        title: `RouterBench (${options.form}): cosines between ${what}`,
        caption,
      },
      of,
      jobs,
      scores,
    );
  return [
    figure(
      "byCategory",
      "categories",
      "category embeddings",
      "cos(xi_m, xi_n) in the first run, before and after fine-tuning. Nearest-category accuracy: share of the streamed queries whose nearest xi_m is that of their own benchmark.",
    ),
    figure(
      "byModel",
      "models",
      "queries and model embeddings",
      "Mean cos(x, a_k) over the streamed queries of each benchmark, a_k by Excel_perf_cost. If the numbers of a row are nearly equal, the models' embeddings point in nearly the same direction, and the query hardly decides which of them is near. Each map has its own range of colors.",
    ),
  ];
}

function notesOf(
  { size, main }: Planner,
  forms: readonly { name: string; note: string }[],
): string[] {
  const left = `To save time, only curves of ${main.name} with most epochs on the first form have ${size.long} rounds, except Perf_cost and prompts with 1 and 3 queries. Not run at all: small encoders on the second form; transformers fine-tuned on 15 queries per benchmark, which the experiment with the unseen benchmark has; fine-tuned curves with GPT-4 in the pool.`;
  return [
    ...forms.map(({ name, note }) => `Form "${name}": ${note}`),
    "Five offline queries per benchmark are drawn for each run and never streamed; each run has its own fine-tuning. The benchmark of a round is drawn uniformly, its query with replacement.",
    "Curves with metadata append Perf and Cost to a_k, as the paper does. These 14 numbers form a vector many times as long as x o a_k, so only a theta with large coefficients makes the query count. Curves without metadata are shown too; to a prompt's embedding, nothing is appended. All curves use the mu of T = 720.",
    "The control group is the same for all epochs of the fine-tuned curves beside it.",
    ...(size.quick ? [] : [left]),
  ];
}
