/**
 * Section 5.2, figs. 4 and 8: no categories and no scores, only comparisons.
 * Model embeddings by eq. 6 from ten offline queries of each best-model label,
 * whose pairs of like label train the encoder. The most ambiguous 8% or 15% of
 * the queries are dropped; each of the others comes once. A vote is the stored
 * verdict on that pair, and where there is none BTL on the utilities.
 */

import type { Dataset } from "../data/dataset.ts";
import { loadDataset } from "../data/load.ts";
import type { Bench } from "../reproduce/bench.ts";
import type { MixInstructSource } from "../reproduce/data-sets.ts";
import { curvesExhibit, finalTable } from "../reproduce/exhibits.ts";
import type { Curve, Exhibit, Experiment } from "../reproduce/experiment.ts";
import { type Look, Scene, weighted } from "../reproduce/scene.ts";
import { EXAMPLES } from "./routerbench-scene.ts";
import { topShares, topSharesOf } from "./top-shares.ts";

const NAME = "mixinstruct";
/** Shares of the queries that are dropped. Offline queries come from what the larger leaves. */
const DROPS = [0.08, 0.15];
/** For the few pairs that were not judged. */
const VOTE_SCALE = 3;

export const mixinstruct: Experiment = {
  name: NAME,
  title: "MixInstruct",
  async plan(bench) {
    const source = bench.data.mixinstruct;
    if ("missing" in source) return { notes: [source.missing], exhibits: [] };
    const exhibits: Exhibit[] = [];
    let verdicts = "";
    for (const pool of source.pools) {
      const size = await sizeOf(bench, source, pool.exclude);
      if (source.verdicts === undefined) {
        exhibits.push(topShares(pool.name, source, size.dataset));
        const suffix = pool.exclude.length > 0 ? ` ${pool.name}` : "";
        bench.facts.set(`mixinstruct top share${suffix}`, topSharesOf(size.dataset)[0]!.share);
      }
      const scenes = scenesOf(bench, source, pool, size);
      const curves = bench.encoders.flatMap((encoder) =>
        scenes.flatMap((scene) => curvesOf(scene, encoder, size.queries)),
      );
      exhibits.push(...figuresOf(bench, source, pool.name, curves));
      if (pool.exclude.length === 0) verdicts = verdictsText(size.dataset);
    }
    return {
      exhibits,
      standIn: source.standIn,
      notes: [
        source.note,
        "A query's utility for a model is wins + 0.5 ties over the comparisons held, a Condorcet winner on top, divided by the largest. The ambiguity of a query is the share of pairs of models on which not all verdicts, in both orders, name one winner; the paper asks a language model instead.",
        "A name ends in _8 or _15 by the percentage of the most ambiguous queries that was dropped. Offline queries are drawn from what stays when 15% are dropped, so that both drops share them and the fine-tuning. Categories are best-model labels, and told scores means over the offline queries of a label.",
        `A vote is one of the stored verdicts on that query and pair, drawn at random, whichever order it was given in, so there is no vote scale to vary; a tie counts as half a win of each. A pair without a verdict is voted on by BTL with s = ${VOTE_SCALE}.${verdicts}`,
      ],
    };
  },
};

/** How many verdicts there are to vote with. */
function verdictsText({ queries, models }: Dataset): string {
  const pairs = (queries.length * models.length * (models.length - 1)) / 2;
  const all = queries.flatMap(({ comparisons = [] }) => comparisons);
  const judged = queries.map(
    ({ comparisons = [] }) =>
      new Set(comparisons.map(({ a, b }) => [a, b].sort((x, y) => x - y).join())).size,
  );
  const none = pairs - judged.reduce((sum, count) => sum + count, 0);
  const ties = all.filter(({ outcome }) => outcome !== "a" && outcome !== "b").length;
  return ` There are ${all.length} verdicts, ${ties} of them ties, and none on ${none} of the ${pairs} pairs.`;
}

/** How many queries stay, and what they are. */
async function sizeOf(bench: Bench, source: MixInstructSource, exclude: readonly string[]) {
  const paths = source.files.map(({ sha256 }) => bench.data.paths[sha256]!);
  const scores = source.scores && bench.data.paths[source.scores.sha256];
  const dataset = await loadDataset(paths, { exclude, scores });
  const queries = dataset.queries.length;
  return { dataset, queries, models: dataset.models.length };
}

function scenesOf(
  bench: Bench,
  source: MixInstructSource,
  pool: MixInstructSource["pools"][number],
  { queries, models }: { readonly queries: number; readonly models: number },
): Scene[] {
  const scenes: Scene[] = [];
  for (const ambiguous of DROPS) {
    const first = scenes[0];
    const { files, scores, verdicts } = source;
    scenes.push(
      new Scene(bench, {
        experiment: NAME,
        form: formOf(pool.name, ambiguous),
        data: {
          files,
          exclude: pool.exclude,
          ...(scores && { scores }),
          ...(verdicts !== undefined && { verdicts }),
          ambiguous,
        },
        offline: 10,
        offlineAmbiguous: DROPS.at(-1)!,
        models,
        queries,
        categories: models,
        streamOf: () => ({ rounds: "once", stream: "shuffled" }),
        ...(first && { vectorsOf: first }),
      }),
    );
  }
  return scenes;
}

function formOf(pool: string, ambiguous: number): string {
  return `${pool}, ${Math.round(100 * ambiguous)}% dropped`;
}

function curvesOf(scene: Scene, encoder: Look["encoder"], rounds: number): Curve[] {
  const { quick } = scene.bench.size;
  const suffix = `_${Math.round(100 * scene.options.data.ambiguous!)}`;
  const epochs = encoder.epochs.at(-1) ?? 0;
  const look: Look = { encoder, epochs, rounds };
  const original = { ...look, epochs: 0 };
  const models = weighted("labels");
  const common = { voteScale: VOTE_SCALE, epochs };
  const named = (name: string) => `${encoder.name}_${name}${suffix}`;
  return [
    ...(epochs > 0
      ? [
          scene.line({
            look,
            group: "exp",
            models,
            ...common,
            name: named(`E${epochs}_Labels_exp`),
          }),
        ]
      : []),
    scene.line({
      look: original,
      group: "ctrl",
      models,
      ...common,
      name: named(`E${epochs}_Labels_ctrl`),
    }),
    ...(quick ? EXAMPLES.slice(-1) : EXAMPLES).map((examples) =>
      scene.promptLine(
        { listing: "plain", examples },
        { look: original, ...common, name: named(String(examples)) },
      ),
    ),
    ...scene.baselines(look, models, VOTE_SCALE),
  ];
}

function figuresOf(
  { encoders, main }: Bench,
  source: MixInstructSource,
  pool: string,
  curves: readonly Curve[],
): Exhibit[] {
  const id = `${NAME}${source.standIn === undefined ? "" : "-stand-in"}-${pool.replaceAll(/\W+/g, "-")}`;
  const title = `${source.title} (${pool})`;
  const caption =
    "Solid: eq. 6 on the fine-tuned encoder (exp). Dashed: on the encoder as it was (ctrl). Dash-dotted: model embeddings from prompts. Every query comes once.";
  return [
    ...encoders.map(({ name }) =>
      curvesExhibit({
        id: `${id}-${name}`,
        title: `${title}, ${name}`,
        caption,
        curves: curves.filter(({ encoder }) => encoder === name),
        panelOf: ({ form }) => form.split(", ").at(-1)!,
      }),
    ),
    curvesExhibit({
      id: `${id}-drops`,
      title: `${title}: dropping 8% or 15%`,
      caption: `Color: the encoder. Solid: eq. 6 on the fine-tuned encoder. Dash-dotted: prompts with five queries. zero-feedback and joust on ${main.name}.`,
      curves: curves.filter(
        ({ group, examples, encoder, policy }) =>
          group === "exp" || examples === 5 || (policy !== "fgts-cdb" && encoder === main.name),
      ),
      panelOf: ({ form }) => form.split(", ").at(-1)!,
      colors: "encoders",
    }),
    finalTable(`${id}-table`, `${title}: every curve`, { curves, rounds: [], stored: true }),
  ];
}
