/** Texts that `joust simulate` prints besides its result. */
import { DEFAULT_ENCODER } from "../../core/encoder/open-encoder.ts";
import type { Dataset } from "../../lab/data/dataset.ts";
import { splitOf } from "../../lab/data/groups.ts";
import { plural } from "../../lab/report/words.ts";
import { SETTINGS, type Settings } from "../../lab/simulate/settings.ts";
import type { Simulation } from "../../lab/simulate/simulate.ts";

/** One line with the data, the told scores and every setting that is not the default. */
export function headingOf({ source, settings }: Simulation): string {
  const { queries, categories, models } = source.dataset;
  const { data, encoder, bundle, embeddings } = source.record;
  const { told, truthSd, voteScale, rounds, seed, voters } = settings;
  const changed = (key: "offline" | "ties" | "delay" | "lambda" | "stream") =>
    settings[key] === SETTINGS[key] ? [] : [`${key} ${settings[key]}`];
  const quirks = Object.entries(voters).filter(
    ([key, value]) => value !== SETTINGS.voters[key as keyof typeof voters],
  );
  const kinds = categories.length > 0 ? ` in ${plural(categories.length, "category")}` : "";
  return [
    `${data}: ${plural(queries.length, "query")}${kinds}, ${plural(models.length, "model")}; ${plural(rounds, "round")}`,
    ...(embeddings !== undefined ? [`embeddings ${embeddings}`] : []),
    ...(bundle !== undefined ? [`bundle ${bundle}`] : []),
    ...((embeddings ?? bundle ?? encoder === DEFAULT_ENCODER) ? [] : [`encoder ${encoder}`]),
    ...(bundle === undefined ? changed("offline") : []),
    `told ${told.kind}${told.kind === "noisy" ? `:${told.sd}` : ""}`,
    ...(truthSd > 0 ? [`truth noisy:${truthSd}`] : []),
    ...changed("lambda"),
    ...changed("stream"),
    `vote scale ${voteScale}`,
    ...changed("ties"),
    ...changed("delay"),
    ...(quirks.length > 0 ? [`voters ${quirks.map((quirk) => quirk.join("=")).join(" ")}`] : []),
    `seed ${seed}`,
  ].join(", ");
}

/** Notes about categories that are too small for --offline. */
export function offlineNotes(
  requested: number | undefined,
  dataset: Dataset,
  { offline }: Settings,
): string[] {
  const split = splitOf(dataset, offline);
  const hasBundle = dataset.calibration !== undefined;
  const fewer = hasBundle ? [] : split.filter((category) => category.offline < offline);
  const alone = split.filter(({ queries, offline }) => queries === offline);
  const wanted = requested ?? SETTINGS.offline;
  return [
    ...(wanted > offline && !hasBundle
      ? [
          `--offline ${wanted} was reduced to ${offline}: at most half of a category are offline queries`,
        ]
      : []),
    ...(fewer.length > 0
      ? [
          `small categories have fewer than ${offline} offline queries: ${list(fewer.map((one) => `${one.category} ${one.offline} of ${one.queries}`))}`,
        ]
      : []),
    ...(alone.length > 0
      ? [
          `categories that are never streamed, because all their queries are offline queries: ${list(alone.map(({ category }) => category))}`,
        ]
      : []),
  ];
}

function list(names: readonly string[]): string {
  const most = 5;
  const more = names.length > most ? [`and ${names.length - most} more`] : [];
  return [...names.slice(0, most), ...more].join(", ");
}
