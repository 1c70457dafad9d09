/** The options of `fit` that become settings of the bundle. */
import { WEIGHTING_DEFAULTS, type Weighting } from "../../core/bandit/weighting.ts";
import { type BundleSettings, isBundle } from "../../core/calibrate/bundle.ts";
import { trainingDefaults, untrainable } from "../../core/calibrate/fine-tune.ts";
import type { OpenEncoder } from "../../core/encoder/open-encoder.ts";
import { readReference } from "../../core/encoder/reference.ts";
import { InputError } from "../../core/input/input-error.ts";
import type { Dataset } from "../../lab/data/dataset.ts";
import { readScores } from "../../lab/data/scores.ts";

export interface FitFlags {
  readonly out: string;
  readonly fromLog?: boolean | undefined;
  readonly router?: string | undefined;
  readonly scores?: string | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly encoder?: string | undefined;
  readonly models?: string | undefined;
  readonly epochs?: number | undefined;
  readonly learningRate?: number | undefined;
  readonly offline?: number | undefined;
  readonly weighting?: Weighting | undefined;
  readonly tau?: number | undefined;
  readonly lambda?: number | undefined;
  readonly temperature?: number | undefined;
  readonly seed?: number | undefined;
  readonly resume?: boolean | undefined;
  readonly overwrite?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export const FIT_DEFAULTS = { offline: 5, seed: 1 };

/** What can be refused before anything is read. */
export function checkFlags({ encoder, resume, overwrite, router, fromLog }: FitFlags): void {
  if (router !== undefined && !fromLog) {
    throw new InputError({ file: "--router" }, "names a router of a log", "add --from-log");
  }
  if (resume && overwrite) {
    throw new InputError(
      { file: "--overwrite" },
      "begins anew, --resume goes on",
      "give one of them",
    );
  }
  if (encoder === undefined) return;
  const { base, int8 } = readReference(encoder);
  if (int8) {
    throw new InputError(
      { file: "--encoder" },
      `${encoder} runs in 8 bits, in which nothing can be fitted`,
      `fit ${base}, and give :int8 to who uses the bundle: --encoder BUNDLE:int8`,
    );
  }
  if (!isBundle(encoder)) return;
  throw new InputError(
    { file: "--encoder" },
    `${encoder} is a bundle, which was fitted already`,
    "name the encoder to start from",
  );
}

/** Every model that the table scores must be one of the data's: a misspelt name would be ignored. */
export async function checkScores(file: string | undefined, { models, queries }: Dataset) {
  if (file === undefined || !(queries[0]!.scores || queries[0]!.comparisons)) return;
  const table = await readScores(file);
  for (const [model, scores] of table.models) {
    if (models.includes(model)) continue;
    const [first] = scores.values();
    throw new InputError(
      { file, line: first?.line, field: "model" },
      `"${model}" is no model of the data`,
      `mend its name or leave its lines out; the data has ${models.join(", ")}`,
    );
  }
}

export function settingsOf(
  flags: FitFlags,
  dataset: Dataset,
  encoder: OpenEncoder,
): BundleSettings {
  const usual = trainingDefaults(encoder);
  if (!usual && flags.epochs) throw untrainable(encoder);
  if (flags.learningRate !== undefined && (flags.epochs ?? usual?.epochs ?? 0) === 0) {
    throw new InputError(
      { file: "--learning-rate" },
      "changes nothing where nothing is trained",
      "leave it out, or give --epochs",
    );
  }
  const { epochs, batch, learningRate } = usual ?? { epochs: 0, batch: 1, learningRate: 0 };
  const compared = dataset.queries[0]!.comparisons !== undefined && !dataset.scores;
  const weighting = flags.weighting ?? (compared ? "labels" : "excel_perf_cost");
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

/** An option that changes nothing was meant otherwise. */
function checkWeighting(flags: FitFlags, weighting: Weighting, dataset: Dataset): void {
  const { scores, queries, models } = dataset;
  const unheeded = Object.entries(HEEDED).find(
    ([flag, by]) => flags[flag as keyof typeof HEEDED] !== undefined && !by.includes(weighting),
  );
  if (unheeded) {
    const [flag, by] = unheeded;
    throw new InputError(
      { file: `--${flag}` },
      `changes nothing where the weighting is ${weighting}`,
      `leave it out, or give --weighting ${by.join(" or ")}`,
    );
  }
  if (flags.lambda && !scores && !queries.every(({ costs }) => costs)) {
    throw new InputError(
      { file: "--lambda" },
      "needs costs and the data has none",
      'leave it out, or add "costs" to the rows or --scores CSV',
    );
  }
  if (flags.tau !== undefined && flags.tau > models.length) {
    throw new InputError(
      { file: "--tau" },
      `is ${flags.tau}, and there are ${models.length} models`,
      `give a number up to ${models.length}: how many models of a category excel`,
    );
  }
}

const HEEDED: Readonly<Record<"tau" | "lambda" | "temperature", readonly Weighting[]>> = {
  tau: ["excel_perf_cost", "excel_mask"],
  lambda: ["perf_cost", "excel_perf_cost", "excel_mask"],
  temperature: ["perf", "perf_cost", "excel_perf_cost"],
};
