/** The texts that `joust fit` prints about a bundle. */
import { basename } from "node:path";
import type { BundleContents } from "../../core/calibrate/write-bundle.ts";
import { plural } from "../../lab/report/words.ts";
import { JOUST } from "../shared/command.ts";
import type { FitData } from "./data.ts";
import { FIT_DEFAULTS, type FitFlags } from "./flags.ts";

/** The queries, encoder, models, accuracy and folder of a bundle, and the command to run next. */
export function fitSummary(
  { title, file }: Pick<FitData, "title" | "file">,
  flags: FitFlags,
  contents: BundleContents,
): string {
  const { name, encoder, settings, models, offline, measured } = contents;
  const scores = flags.scores === undefined ? "means over these queries" : basename(flags.scores);
  return `Fitted ${name}
  queries   ${offline.length} of ${title}, ${grouping(contents)}
  encoder   ${encoder.name}, ${training(contents)}
  models    ${models.length}, embedded by ${settings.weighting}; scores: ${scores}
  accuracy  ${accuracy(measured)}
Bundle: ${flags.out}
Next:   ${file === undefined ? SERVE : nextCommand(measured.heldOut > 0 ? file : OTHER, flags)}
`;
}

/** A placeholder for other data: if every query was used, none is left to simulate with. */
const OTHER = "OTHER_DATA";
/** The next step after a fit to a log. */
const SERVE = "write the folder into joust.yaml as the bundle of the router";

/** The summary as a record for programs. The vectors are in the bundle. */
export function fitRecord(out: string, contents: BundleContents) {
  const { name, encoder, settings, categories, models, offline, measured, sources } = contents;
  return {
    bundle: out,
    name,
    encoder,
    settings,
    sources,
    categories: categories.map(({ name }, m) => {
      return { name, queries: offline.filter(({ category }) => category === m).length };
    }),
    models: models.map(({ name }) => name),
    measured,
  };
}

/** Without categories in the data, queries are grouped by their best model. */
function grouping({ categories, models }: BundleContents): string {
  const byBest = categories.every(({ name }) => models.some((model) => model.name === name));
  const count = categories.length;
  return byBest
    ? `grouped by best model, in ${plural(count, "group")}`
    : `in ${plural(count, "category")}`;
}

function training({ settings: { epochs }, measured: { pairs, losses } }: BundleContents): string {
  if (epochs === 0) return "not trained";
  const [first, last] = [losses[0]!, losses.at(-1)!].map((loss) => loss.toFixed(3));
  const loss =
    epochs === 1 ? `mean loss ${first}` : `mean loss ${first} in the first, ${last} in the last`;
  return `fine-tuned on ${pairs} pairs for ${plural(epochs, "epoch")}; ${loss}`;
}

function accuracy({ before, after, heldOut, pairs }: BundleContents["measured"]): string {
  if (before === null || after === null) return "not measured, because every query was used";
  const share =
    pairs === 0 ? before.toFixed(3) : `${before.toFixed(3)} before, ${after.toFixed(3)} after`;
  return `${share}: share of ${plural(heldOut, "other query")} that are nearest to the mean of their own category`;
}

function nextCommand(data: string, { scores, exclude, out }: FitFlags): string {
  const words = [
    ...[JOUST, "simulate", quoted(data)],
    ...(scores === undefined ? [] : ["--scores", quoted(scores)]),
    ...(exclude ? ["--exclude", quoted(exclude.join(","))] : []),
    ...["--encoder", quoted(out)],
  ];
  return words.join(" ");
}

function quoted(word: string): string {
  return /^[\w./,:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A note if categories have fewer queries than requested. */
export function fewerNote(
  flags: FitFlags,
  { categories, offline }: BundleContents,
): string | undefined {
  const { offline: requested = FIT_DEFAULTS.offline } = flags;
  const sizes = categories.map((_, m) => offline.filter(({ category }) => category === m).length);
  const fewer = categories.flatMap(({ name }, m) =>
    sizes[m]! < requested ? [`${name} ${sizes[m]}`] : [],
  );
  if (fewer.length === 0) return undefined;
  return `these categories have fewer than ${requested} queries, and all of them were used: ${fewer.join(", ")}`;
}
