/** Texts that `joust simulate` prints in addition to its result. */
import { DEFAULT_ENCODER } from "../../core/encoder/open-encoder.ts";
import { mean } from "../../core/statistics.ts";
import type { Dataset } from "../../lab/data/dataset.ts";
import { splitOf } from "../../lab/data/groups.ts";
import { decimalsOf, fixed } from "../../lab/report/table.ts";
import { plural } from "../../lab/report/words.ts";
import { isOracle } from "../../lab/simulate/result-table.ts";
import type { RunsProgress } from "../../lab/simulate/runs.ts";
import { SETTINGS, type Settings } from "../../lab/simulate/settings.ts";
import { completeRuns, type Simulation } from "../../lab/simulate/simulate.ts";
import { drawBar, duration } from "../shared/status-line.ts";

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

export function progressLine(progress: RunsProgress, policies: readonly string[]): string {
  const { done, total, millisecondsLeft } = progress;
  const left = millisecondsLeft === undefined ? "" : `${duration(millisecondsLeft)} left`;
  return [`${drawBar(done, total)} ${done}/${total} runs`, left, leader(progress, policies)]
    .filter((part) => part !== "")
    .join(", ");
}

/** The policy with the smallest mean regret over the runs that all policies have finished, except the oracle. */
function leader({ runs }: RunsProgress, policies: readonly string[]): string {
  const complete = completeRuns(runs);
  const means = policies.flatMap((name, p) =>
    isOracle(name) || complete.length === 0
      ? []
      : [{ name, regret: mean(complete.map((run) => runs[p]![run]!.curve.at(-1)!)) }],
  );
  const [best] = means.sort((a, b) => a.regret - b.regret);
  if (!best) return "";
  const decimals = Math.max(1, decimalsOf(means.map(({ regret }) => regret)));
  return `best so far ${best.name} (regret ${fixed(best.regret, decimals)})`;
}
