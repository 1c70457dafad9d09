/** Checks the options of `joust fit` and derives the settings of the bundle from them. */
import { WEIGHTING_DEFAULTS, type Weighting } from "../../core/bandit/weighting.ts";
import { type BundleSettings, isBundle } from "../../core/calibrate/bundle.ts";
import { trainingDefaults, untrainable } from "../../core/calibrate/fine-tune.ts";
import type { OpenEncoder } from "../../core/encoder/open-encoder.ts";
import { readReference } from "../../core/encoder/reference.ts";
import { InputError } from "../../core/input/input-error.ts";
import { readScores } from "../../core/input/scores.ts";
import type { Dataset } from "../../lab/data/dataset.ts";
import { FIT_DEFAULTS, type FitFlags } from "./flags.ts";

/** Checks the options that can be checked before any file is read. */
export function checkFlags({ encoder, resume, overwrite, router, fromLog }: FitFlags): void {
  if (router !== undefined && !fromLog) {
    throw new InputError(
      { file: "--router" },
      "names a router of a log, but no log is given",
      "add --from-log",
    );
  }
  if (resume && overwrite) {
    throw new InputError(
      { file: "--overwrite" },
      "starts again, but --resume continues",
      "give only one of them",
    );
  }
  if (encoder === undefined) return;
  const { base, int8 } = readReference(encoder);
  if (int8) {
    throw new InputError(
      { file: "--encoder" },
      `${encoder} runs in 8 bits, which cannot be fitted`,
      `fit ${base}, and use the bundle in 8 bits later: --encoder BUNDLE:int8`,
    );
  }
  if (!isBundle(encoder)) return;
  throw new InputError(
    { file: "--encoder" },
    `${encoder} is a bundle, which is already fitted`,
    "give the encoder to start from",
  );
}

/** Checks that the data contains every model of the score table. A misspelt name would otherwise be ignored. */
export async function checkScores(file: string | undefined, { models, queries }: Dataset) {
  if (file === undefined || !(queries[0]!.scores || queries[0]!.comparisons)) return;
  const table = await readScores(file);
  for (const [model, scores] of table.models) {
    if (models.includes(model)) continue;
    const [first] = scores.values();
    throw new InputError(
      { file, line: first?.line, field: "model" },
      `"${model}" is not a model of the data`,
      `correct its name or remove its lines; the models of the data are ${models.join(", ")}`,
    );
  }
}

export function settingsOf(
  flags: FitFlags,
  dataset: Dataset,
  encoder: OpenEncoder,
): BundleSettings {
  const defaults = trainingDefaults(encoder);
  if (!defaults && flags.epochs) throw untrainable(encoder);
  if (flags.learningRate !== undefined && (flags.epochs ?? defaults?.epochs ?? 0) === 0) {
    throw new InputError(
      { file: "--learning-rate" },
      "has no effect without training",
      "remove it, or give --epochs",
    );
  }
  const { epochs, batch, learningRate } = defaults ?? { epochs: 0, batch: 1, learningRate: 0 };
  const hasComparisons = dataset.queries[0]!.comparisons !== undefined && !dataset.scores;
  const weighting = flags.weighting ?? (hasComparisons ? "labels" : "excel_perf_cost");
  checkWeighting(flags, weighting, dataset);
  return {
    weighting,
    tau: flags.tau ?? WEIGHTING_DEFAULTS.tau,
    lambda: flags.lambda ?? WEIGHTING_DEFAULTS.lambda,
    temperature: flags.temperature ?? WEIGHTING_DEFAULTS.temperature,
    epochs: flags.epochs ?? epochs,
    batch,
    learningRate: flags.learningRate ?? learningRate,
    seed: flags.seed ?? FIT_DEFAULTS.seed,
  };
}

/** Refuses options that have no effect, because the user expects one. */
function checkWeighting(flags: FitFlags, weighting: Weighting, dataset: Dataset): void {
  const { scores, queries, models } = dataset;
  const unused = Object.entries(USED_BY).find(
    ([flag, by]) => flags[flag as keyof typeof USED_BY] !== undefined && !by.includes(weighting),
  );
  if (unused) {
    const [flag, by] = unused;
    throw new InputError(
      { file: `--${flag}` },
      `has no effect with the weighting ${weighting}`,
      `remove it, or give --weighting ${by.join(" or ")}`,
    );
  }
  if (flags.lambda && !scores && !queries.every(({ costs }) => costs)) {
    throw new InputError(
      { file: "--lambda" },
      "needs costs, but the data has none",
      'remove it, add "costs" to the rows, or give --scores CSV',
    );
  }
  if (flags.tau !== undefined && flags.tau > models.length) {
    throw new InputError(
      { file: "--tau" },
      `is ${flags.tau}, but there are only ${models.length} models`,
      `give a number up to ${models.length}: the number of models that excel in a category`,
    );
  }
}

const USED_BY: Readonly<Record<"tau" | "lambda" | "temperature", readonly Weighting[]>> = {
  tau: ["excel_perf_cost", "excel_mask"],
  lambda: ["perf_cost", "excel_perf_cost", "excel_mask"],
  temperature: ["perf", "perf_cost", "excel_perf_cost"],
};
