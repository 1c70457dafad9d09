/** What the screen says of a fit. */
import { basename } from "node:path";
import type { BundleContents } from "../../core/calibrate/write-bundle.ts";
import { plural } from "../../lab/report/words.ts";
import { JOUST } from "../shared/invocation.ts";
import type { FitData } from "./data.ts";
import { FIT_DEFAULTS, type FitFlags } from "./settings.ts";

/** What was fitted, how good it is, where it is, and what to type next. */
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
  models    ${models.length}, embedded by ${settings.weighting}; their scores: ${scores}
  accuracy  ${accuracy(measured)}
Bundle: ${flags.out}
Next:   ${file === undefined ? SERVE : nextCommand(measured.heldOut > 0 ? file : OTHER, flags)}
`;
}

/** Where every query was used, none is left to stream. */
const OTHER = "OTHER_DATA";
/** Who fits on a log has served it, and wants it served better. */
const SERVE = "name it in joust.yaml as bundle: of the router";

/** The same for machines; the vectors are in the bundle. */
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

/** Where the data names no categories, models stand for them. */
function grouping({ categories, models }: BundleContents): string {
  const byBest = categories.every(({ name }) => models.some((model) => model.name === name));
  const count = categories.length;
  return byBest ? `grouped by best model (${count} of them)` : `in ${plural(count, "category")}`;
}

function training({ settings: { epochs }, measured: { pairs, losses } }: BundleContents): string {
  if (epochs === 0) return "as it is";
  const [first, last] = [losses[0]!, losses.at(-1)!].map((loss) => loss.toFixed(3));
  const loss =
    epochs === 1 ? `mean loss ${first}` : `mean loss ${first} in the first, ${last} in the last`;
  return `fine-tuned on ${pairs} pairs for ${plural(epochs, "epoch")}; ${loss}`;
}

function accuracy({ before, after, heldOut, pairs }: BundleContents["measured"]): string {
  if (before === null || after === null) return "not measured: every query was used";
  const share =
    pairs === 0 ? before.toFixed(3) : `${before.toFixed(3)} before, ${after.toFixed(3)} after`;
  return `${share}: share of ${plural(heldOut, "other query")} nearest to the mean of their own category`;
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

/** As a shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w./,:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Where fewer queries than asked for were there. */
export function fewerNote(
  flags: FitFlags,
  { categories, offline }: BundleContents,
): string | undefined {
  const { offline: wanted = FIT_DEFAULTS.offline } = flags;
  const sizes = categories.map((_, m) => offline.filter(({ category }) => category === m).length);
  const fewer = categories.flatMap(({ name }, m) =>
    sizes[m]! < wanted ? [`${name} ${sizes[m]}`] : [],
  );
  if (fewer.length === 0) return undefined;
  return `fewer than ${wanted} queries are there in ${fewer.join(", ")}, and all of them were taken`;
}
