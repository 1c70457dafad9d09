/**
 * Section 5.2, figs. 4 and 8: no categories and no scores, only comparisons. Eq. 6 makes the
 * model embeddings from ten offline queries of each best-model label; pairs of queries with
 * equal labels train the encoder. The most ambiguous 8% or 15% of the queries are
 * dropped; each of the others comes once. A vote is the stored verdict on that pair or, if
 * there is none, BTL on the utilities.
 */
import type { Dataset } from "../data/dataset.ts";
import { loadDataset } from "../data/load.ts";
import type { Curve } from "../reproduce/curve.ts";
import type { MixInstructSource } from "../reproduce/data-sets.ts";
import type { FoundEncoder } from "../reproduce/encoders.ts";
import type { Experiment, ReportItem } from "../reproduce/experiment.ts";
import type { Planner } from "../reproduce/planner.ts";
import { curvesFigure, curvesTable } from "../reproduce/report-items.ts";
import { type EncoderState, EXAMPLES, Setting, weighted } from "../reproduce/setting.ts";
import { topSharesOf, topSharesTable } from "./top-shares.ts";

const NAME = "mixinstruct";
/** Shares of the queries that are dropped. Offline queries are drawn from those that remain after the larger drop. */
const DROPS = [0.08, 0.15];
/** Vote scale for the few pairs that were not judged. */
const VOTE_SCALE = 3;

export const mixinstruct: Experiment = {
  name: NAME,
  title: "MixInstruct",
  async plan(planner) {
    const source = planner.data.mixinstruct;
    if ("missing" in source) return { notes: [source.missing], items: [] };
    const items: ReportItem[] = [];
    let counts = "";
    for (const pool of source.pools) {
      const dataset = await load(planner, source, pool.exclude);
      if (source.verdicts === undefined) {
        items.push(topSharesTable(pool.name, source, dataset));
        const suffix = pool.exclude.length > 0 ? ` ${pool.name}` : "";
        planner.facts.set(`mixinstruct top share${suffix}`, topSharesOf(dataset)[0]!.share);
      }
      const settings = settingsOf(planner, source, pool, dataset);
      const curves = planner.encoders.flatMap((encoder) =>
        settings.flatMap((setting) => curvesOf(setting, encoder, dataset.queries.length)),
      );
      items.push(...itemsOf(planner, source, pool.name, curves));
      if (pool.exclude.length === 0) counts = verdictCounts(dataset);
    }
    return {
      items,
      standIn: source.standIn,
      notes: [
        source.note,
        "The utility of a model on a query is wins + 0.5 ties, divided by the number of its comparisons and then by the largest value of the query; a Condorcet winner is placed on top. The ambiguity of a query is the share of pairs of models for which the verdicts, in both orders, do not all name one winner; the paper asks a language model instead.",
        "The end of a name, _8 or _15, is the percentage of the most ambiguous queries that was dropped. Offline queries are drawn from those that remain after dropping 15%, so that both drops have the same offline queries and the same fine-tuning. Categories are best-model labels, and told scores are means over the offline queries of a label.",
        `A vote is one of the stored verdicts on that query and pair, drawn at random in either order, so the vote scale hardly matters and is ${VOTE_SCALE} throughout; a tie counts as half a win of each. A pair without a verdict is voted on by BTL with s = ${VOTE_SCALE}.${counts}`,
      ],
    };
  },
};

/** A sentence with the number of verdicts. */
function verdictCounts({ queries, models }: Dataset): string {
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

function load(
  { data: { paths } }: Planner,
  { files, scores }: MixInstructSource,
  exclude: readonly string[],
): Promise<Dataset> {
  return loadDataset(
    files.map(({ sha256 }) => paths[sha256]!),
    { exclude, scores: scores && paths[scores.sha256] },
  );
}

/** One setting per share of dropped queries. They share the vectors of the first. */
function settingsOf(
  planner: Planner,
  { files, scores, verdicts }: MixInstructSource,
  { name, exclude }: MixInstructSource["pools"][number],
  dataset: Dataset,
): Setting[] {
  const models = dataset.models.length;
  const dataWithout = (ambiguous: number) => ({
    files,
    exclude,
    ...(scores && { scores }),
    ...(verdicts !== undefined && { verdicts }),
    ambiguous,
  });
  const settings: Setting[] = [];
  for (const ambiguous of DROPS) {
    const [first] = settings;
    const setting = new Setting(planner, {
      experiment: NAME,
      form: `${name}, ${Math.round(100 * ambiguous)}% dropped`,
      data: dataWithout(ambiguous),
      offlineData: dataWithout(DROPS.at(-1)!),
      offline: 10,
      models,
      queries: dataset.queries.length,
      categories: models,
      streamOf: () => ({ rounds: "once", stream: "shuffled" }),
      ...(first && { vectorsOf: first }),
    });
    settings.push(setting);
  }
  return settings;
}

function curvesOf(setting: Setting, encoder: FoundEncoder, rounds: number): Curve[] {
  const { quick } = setting.planner.size;
  const suffix = `_${Math.round(100 * setting.options.data.ambiguous!)}`;
  const epochs = encoder.epochs.at(-1) ?? 0;
  const state: EncoderState = { encoder, epochs, rounds };
  const original = { ...state, epochs: 0 };
  const models = weighted("labels");
  const common = { voteScale: VOTE_SCALE, epochs, models };
  const named = (name: string) => `${encoder.name}_${name}${suffix}`;
  const labels = (group: "exp" | "ctrl") =>
    setting.curve({
      ...common,
      state: group === "exp" ? state : original,
      group,
      name: named(`E${epochs}_Labels_${group}`),
    });
  return [
    ...(epochs > 0 ? [labels("exp")] : []),
    labels("ctrl"),
    ...setting.bestThetas({ ...common, state, group: "baseline" }, ["votes"]),
    ...(quick ? EXAMPLES.slice(-1) : EXAMPLES).map((examples) =>
      setting.promptCurve(
        { listing: "plain", examples },
        { state: original, voteScale: VOTE_SCALE, epochs, name: named(String(examples)) },
      ),
    ),
    ...setting.baselines(state, models, VOTE_SCALE),
  ];
}

function itemsOf(
  { encoders, main }: Planner,
  source: MixInstructSource,
  pool: string,
  curves: readonly Curve[],
): ReportItem[] {
  const id = `${NAME}${source.standIn === undefined ? "" : "-stand-in"}-${pool.replaceAll(/\W+/g, "-")}`;
  const title = `${source.title} (${pool})`;
  const panelOf = ({ form }: Curve) => form.split(", ").at(-1)!;
  return [
    ...encoders.map(({ name }) =>
      curvesFigure({
        id: `${id}-${name}`,
        title: `${title}, ${name}`,
        caption:
          "Solid: eq. 6 on the fine-tuned encoder (exp). Dashed: on the original encoder (ctrl). Dash-dotted: model embeddings from prompts. Every query comes once.",
        curves: curves.filter(({ encoder }) => encoder === name),
        panelOf,
      }),
    ),
    curvesFigure({
      id: `${id}-drops`,
      title: `${title}: dropping 8% or 15%`,
      caption: `Solid: eq. 6 on the fine-tuned encoder. Dash-dotted: prompts with five queries. zero-feedback and joust on ${main.name}.`,
      curves: curves.filter(
        ({ group, examples, encoder, policy }) =>
          group === "exp" || examples === 5 || (policy !== "fgts-cdb" && encoder === main.name),
      ),
      panelOf,
      colors: "encoders",
    }),
    curvesTable(`${id}-table`, `${title}: every curve`, { curves, rounds: [], stored: true }),
  ];
}
