/**
 * Section 5.1, figs. 3 (a, b) and 6: ten models, seven benchmarks as categories,
 * five offline queries of each, utility = Perf.
 *
 * The paper does not say how long a run is: all curves have 720 rounds, and
 * those of the main encoder, tuned longest, on the paper's form of the queries
 * go on to 3,000.
 */
import type { Bench } from "../reproduce/bench.ts";
import type { BenchEncoder } from "../reproduce/encoders.ts";
import {
  choicesExhibit,
  curvesExhibit,
  finalTable,
  geometryExhibit,
} from "../reproduce/exhibits.ts";
import type { Curve, Exhibit, Experiment } from "../reproduce/experiment.ts";
import { type Look, type Scene, weighted } from "../reproduce/scene.ts";
import {
  openScores,
  priceTable,
  radarExhibit,
  type Scores,
  utilityExhibit,
  weightingTable,
  without,
} from "../reproduce/score-tables.ts";
import { EXAMPLES, NAME, sceneOf, WEIGHTINGS } from "./routerbench-scene.ts";
import { variations } from "./routerbench-variations.ts";

export const routerbench: Experiment = {
  name: NAME,
  title: "RouterBench",
  async plan(bench) {
    const source = bench.data.routerbench;
    if ("missing" in source) return { notes: [source.missing], exhibits: [] };
    const all = await openScores(bench.data.paths[source.scores.sha256]!);
    const scores = without(all, ["gpt-4"]);
    const exhibits = [
      weightingTable(scores),
      priceTable(all),
      radarExhibit(scores),
      utilityExhibit(scores),
    ];
    for (const [i, form] of source.forms.entries()) {
      const data = { files: form.files, scores: source.scores, exclude: ["gpt-4"] };
      const scene = sceneOf(bench, form.name, data);
      // The second form is for the transformers, which the paper is about.
      const encoders = bench.encoders.filter(
        (encoder) => i === 0 || encoder.kind === "transformer" || encoder === bench.main,
      );
      const blocks = encoders.flatMap((encoder) => {
        const long = i === 0 && encoder === bench.main;
        return encoderBlocks(scene, encoder, long ? bench.size.long : bench.size.short);
      });
      exhibits.push(...figuresOf(scene, blocks, scores));
      if (i === 0) exhibits.push(...geometry(scene), ...variations(bench, data, form.name));
    }
    return { exhibits, notes: notesOf(bench, source.forms), standIn: source.standIn };
  },
};

/** The curves of one figure: an encoder after so many epochs, its control group, its prompts. */
interface Block {
  readonly encoder: BenchEncoder;
  readonly epochs: number;
  readonly rounds: number;
  readonly curves: readonly Curve[];
}

function encoderBlocks(scene: Scene, encoder: BenchEncoder, rounds: number): Block[] {
  const { scales } = scene.bench.size;
  const last = encoder.epochs.at(-1) ?? 0;
  return (encoder.epochs.length > 0 ? encoder.epochs : [0]).map((epochs) => {
    const curves = scales.flatMap((voteScale) =>
      curvesOf(scene, { encoder, epochs, voteScale, rounds, last }),
    );
    return { encoder, epochs, rounds: epochs === last ? rounds : scene.bench.size.short, curves };
  });
}

interface CurvesOptions {
  readonly encoder: BenchEncoder;
  readonly epochs: number;
  readonly voteScale: number;
  /** Of the longest curves. */
  readonly rounds: number;
  /** The epochs after which they are followed that long. */
  readonly last: number;
}

function curvesOf(
  scene: Scene,
  { encoder, epochs, voteScale, rounds, last }: CurvesOptions,
): Curve[] {
  const { short } = scene.bench.size;
  const length = epochs === last ? rounds : short;
  const look: Look = { encoder, epochs, rounds: length };
  // What is not tuned is the same runs whatever the epochs beside it.
  const original: Look = { encoder, epochs: 0, rounds };
  return [
    ...WEIGHTINGS.flatMap((weighting) => {
      const whole = LONG.includes(weighting);
      const common = { epochs, voteScale, models: weighted(weighting) };
      const ctrl = scene.line({
        look: original,
        group: "ctrl",
        rounds: whole ? rounds : short,
        ...common,
      });
      if (epochs === 0) return [ctrl];
      return [scene.line({ look, group: "exp", rounds: whole ? length : short, ...common }), ctrl];
    }),
    ...EXAMPLES.map((examples) =>
      scene.promptLine(
        { listing: "model", examples },
        { look: original, voteScale, rounds: examples === EXAMPLES.at(-1) ? rounds : short },
      ),
    ),
    ...scene.baselines(look, weighted("perf"), voteScale, { original }),
  ];
}

/** The weightings that are followed longest. */
const LONG: readonly string[] = ["perf", "excel_perf_cost", "excel_mask"];

function isLong({ weighting, examples }: Curve): boolean {
  return LONG.includes(weighting) || examples === EXAMPLES.at(-1);
}

function figuresOf(scene: Scene, blocks: readonly Block[], scores: Scores): Exhibit[] {
  const { bench } = scene;
  const { size, main } = bench;
  const { form } = scene.options;
  const own = blocks.flatMap(({ encoder, epochs, rounds, curves }) => {
    const name = epochs > 0 ? `${encoder.name}_E${epochs}` : encoder.name;
    const figure = (length: number, shown: readonly Curve[]) =>
      curvesExhibit({
        id: `${NAME}-${form}-${name}-${length}`,
        title: `RouterBench (${form}), ${name}, ${length} rounds`,
        caption:
          "Color: the weighting. Solid: fine-tuned on 35 offline queries (exp). Dashed: the encoder as it was (ctrl). Dash-dotted: model embeddings from prompts with 1, 3 and 5 example queries. zero-feedback and joust use the fine-tuned vectors where there are any. Regret under Perf; under Perf less 0.05 Cost it is in the table.",
        curves: shown,
        rounds: length,
      });
    const long = curves.filter((c) => c.group === "baseline" || isLong(c));
    return rounds > size.short
      ? [figure(size.short, curves), figure(rounds, long)]
      : [figure(rounds, curves)];
  });
  const longest = blocks.filter(({ encoder, epochs }) => epochs === (encoder.epochs.at(-1) ?? 0));
  const curves = longest.flatMap((block) => block.curves);
  const scale = size.scales.at(-1);
  return [
    ...own,
    curvesExhibit({
      id: `${NAME}-${form}-all`,
      title: `RouterBench (${form}), all encoders under the excel weightings, ${size.short} rounds`,
      caption: `Every encoder that is here, tuned longest. Color: the encoder. Solid: Excel_perf_cost. Dashed: Excel_mask. Dash-dotted: prompts with five queries. zero-feedback and joust on ${main.name}.`,
      curves: curves.filter(
        ({ weighting, encoder, examples, policy, group }) =>
          (weighting.startsWith("excel") && group !== "ctrl") ||
          examples === 5 ||
          (policy !== "fgts-cdb" && encoder === main.name),
      ),
      rounds: size.short,
      colors: "encoders",
    }),
    choicesExhibit(
      {
        id: `${NAME}-${form}-choices`,
        title: `RouterBench (${form}): who answers in the last third of a run, vote scale ${scale}`,
        caption:
          "Share of a benchmark's rounds that each model answered, mean over runs. Outlined: the benchmark's best model by Perf, two where two are equal. A router that has found the best model of each query has its dark cells inside the outlines.",
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
    finalTable(`${NAME}-${form}-table`, `RouterBench (${form}): every curve`, {
      curves: blocks.flatMap((block) => block.curves),
      rounds: [...new Set([size.short, ...blocks.map(({ rounds }) => rounds)])],
    }),
  ];
}

/** How categories and models lie to each other in the first run, before and after. */
function geometry(scene: Scene): Exhibit[] {
  const { bench, options } = scene;
  const { main, size } = bench;
  const last = main.epochs.at(-1) ?? 0;
  const jobs = (last > 0 ? [0, last] : [0]).map((epochs) => ({
    title: epochs === 0 ? `${main.name} as it was` : `${main.name}_E${epochs}`,
    job: bench.describe(
      {
        draw: scene.draw(0),
        told: { models: weighted("excel_perf_cost") },
        vectors: [scene.vectors({ encoder: main, epochs, rounds: size.long }, 0)],
        stream: options.streamOf(size.short),
      },
      `${NAME}, ${main.name} E${epochs}`,
    ),
  }));
  const head = (id: string, what: string, caption: string) => ({
    id: `${NAME}-${options.form}-${id}`,
    title: `RouterBench (${options.form}): ${what}`,
    caption,
  });
  return [
    geometryExhibit(
      head(
        "categories",
        "cosines between category embeddings",
        "cos(xi_m, xi_n) in the first run, before and after fine-tuning. Nearest-category accuracy: share of the streamed queries whose nearest xi_m is their own benchmark's.",
      ),
      "byCategory",
      jobs,
    ),
    geometryExhibit(
      head(
        "models",
        "cosines between queries and model embeddings",
        "Mean cos(x, a_k) over the streamed queries of each benchmark, a_k by Excel_perf_cost. Where the numbers of a row are nearly one, the models' embeddings point nearly one way, and the query hardly decides which of them is near. Each map has its own range of colors.",
      ),
      "byModel",
      jobs,
    ),
  ];
}

function notesOf(
  { size, main }: Bench,
  forms: readonly { name: string; note: string }[],
): string[] {
  const left = `Left out for time: ${size.long} rounds of all but ${main.name} at its most epochs on the first form, and there of Perf_cost and of prompts with 1 and 3 queries; small encoders on the second form; transformers fine-tuned on 15 queries a benchmark, which the unseen benchmark has; fine-tuned curves with GPT-4 in the pool.`;
  return [
    ...forms.map(({ name, note }) => `Form "${name}": ${note}`),
    "Five offline queries a benchmark are drawn anew for each run and never streamed; each run has its own fine-tuning. A round's benchmark is drawn uniformly, its query with replacement.",
    "Main curves append no metadata to a_k: prompts have none either, and as the paper writes it the metadata drowns the query. The figures with metadata say so. mu is that of T = 720 everywhere.",
    "The control group is the same whatever the epochs of the fine-tuned curves beside it.",
    ...(size.quick ? [] : [left]),
  ];
}
