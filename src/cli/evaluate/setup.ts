/** Opens the models, the prompts and the rules that an evaluation needs, and checks them before anything is paid. */
import { readFile } from "node:fs/promises";
import { checkedAt, InputError } from "../../core/input/input-error.ts";
import { didYouMean } from "../../core/input/nearest.ts";
import { Random } from "../../core/random/random.ts";
import { checkingBuilder } from "../../gateway/check-gateway.ts";
import type { EvaluationPrompt } from "../../gateway/evaluation/prompt.ts";
import { type ScoreSettings, scorerOf } from "../../gateway/evaluation/scorer.ts";
import { ownOptions } from "../../gateway/own-options.ts";
import { checkKeys } from "../../gateway/providers/model-specs.ts";
import type { ServedModel } from "../../gateway/providers/served-model.ts";
import type { Price } from "../../gateway/providers/upstream/usage.ts";
import type { Builder } from "../../gateway/routing/builder.ts";
import { servedConfiguration } from "../serve/configuration.ts";
import { configurationFlags, knownRouter } from "../shared/store-flags.ts";
import { checkWritable, type Target } from "./apply.ts";
import { EVALUATE_DEFAULTS, type EvaluateFlags } from "./flags.ts";
import { readPrompts, storedPrompts } from "./prompts.ts";

/** Everything that an evaluation works with. The builder has to be closed. */
export interface Setup extends Target {
  readonly builder: Builder;
  readonly models: readonly ServedModel[];
  readonly judge: ServedModel | undefined;
  readonly prompts: readonly EvaluationPrompt[];
  readonly scoring: ScoreSettings;
  /** Price of models whose price is unknown, if their cost may be estimated. */
  readonly assumedPrice: Price | undefined;
}

export async function openSetup(source: string, flags: EvaluateFlags): Promise<Setup> {
  const places = configurationFlags(flags);
  const served = await servedConfiguration(places);
  const { config, file } = served;
  const router = knownRouter(Object.keys(config.routers), flags.router);
  const target = { ...served, router };
  if (flags.router !== undefined && flags.judge === undefined) checkWritable(target);
  checkKeys(config, process.env);
  const all = flags.fromLog ? await storedPrompts(source, flags.router) : await readPrompts(source);
  const scoring = await scoringOf(flags);
  if (flags.judge === undefined) checkScorers(source, all, scoring);
  const random = Random.seeded(flags.seed ?? EVALUATE_DEFAULTS.seed).split("prompts");
  const prompts = random.shuffle([...all]).slice(0, flags.sample);
  const builder = checkingBuilder(ownOptions(config, file, places.data), 0);
  try {
    const known = await builder.models(config);
    const models = poolOf(router, known, config.routers[router]!.models, flags.exclude);
    const judge = flags.judge === undefined ? undefined : judgeOf(known, flags.judge);
    const unpriced = flags.unpriced ?? config.server.unpriced;
    const assumedPrice = assumedPriceOf(judge ? [...models, judge] : models, unpriced);
    return { ...target, builder, models, judge, prompts, scoring, assumedPrice };
  } catch (error) {
    await builder.close();
    throw error;
  }
}

function modelOf(known: ReadonlyMap<string, ServedModel>, name: string, flag: string): ServedModel {
  const model = known.get(name);
  if (model) return model;
  const names = [...known.keys()];
  const hint = `${didYouMean(name, names)}choose one of ${names.join(", ")}`;
  throw new InputError({ file: flag }, `there is no model "${name}"`, hint);
}

function judgeOf(known: ReadonlyMap<string, ServedModel>, name: string): ServedModel {
  const model = modelOf(known, name, "--judge");
  if (!model.spec.isDisabled) return model;
  const hint = `choose another model, or set models.${name}.enabled to true`;
  throw new InputError({ file: "--judge" }, `the model "${name}" is disabled`, hint);
}

/** The models to evaluate: those of the router that are enabled and not excluded. */
function poolOf(
  router: string,
  known: ReadonlyMap<string, ServedModel>,
  pool: readonly string[] = [...known.keys()],
  exclude: readonly string[] = [],
): ServedModel[] {
  for (const name of exclude) modelOf(known, name, "--exclude");
  const models = pool
    .filter((name) => !exclude.includes(name))
    .map((name) => modelOf(known, name, "--router"))
    .filter(({ spec }) => !spec.isDisabled);
  if (models.length >= 2) return models;
  const count = models.length === 0 ? "no enabled model" : "one enabled model";
  if (exclude.length > 0) {
    const hint = "an evaluation compares at least two models: exclude fewer";
    throw new InputError({ file: "--exclude" }, `leaves ${count}`, hint);
  }
  throw new InputError(
    { file: "--router" },
    `the router "${router}" has ${count}`,
    "an evaluation compares at least two models: add a model to the router, enable one of its models, or choose another router with --router",
  );
}

async function scoringOf(flags: EvaluateFlags): Promise<ScoreSettings> {
  const { test, testTimeout = EVALUATE_DEFAULTS.testTimeout, regex, match = "contains" } = flags;
  const words = test === undefined ? undefined : wordsOf(test);
  if (words && words.length === 0) {
    throw new InputError({ file: "--test" }, "is empty", 'write --test "python3 check.py {file}"');
  }
  const schema = flags.schema === undefined ? undefined : await readSchema(flags.schema);
  const place = { file: flags.schema ?? "--regex" };
  checkedAt(place, () => scorerOf({ id: "", text: "" }, { match, regex, schema }));
  return {
    match,
    regex,
    schema,
    ...(words && {
      test: { words: words as [string, ...string[]], timeoutMs: 1000 * testTimeout },
    }),
  };
}

async function readSchema(file: string): Promise<object> {
  const hint = "name a file with one JSON object, a JSON schema";
  const text = await readFile(file, "utf8").catch(() => {
    throw new InputError({ file }, "cannot be read", hint);
  });
  try {
    const schema: unknown = JSON.parse(text);
    if (typeof schema === "object" && schema !== null && !Array.isArray(schema)) return schema;
  } catch {
    // The error below is about this as well.
  }
  throw new InputError({ file }, "is not a JSON object", hint);
}

/** The words of a command, which may stand in quotes. Nothing else is interpreted, because no shell reads them. */
export function wordsOf(command: string): string[] {
  const parts = command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g);
  return Array.from(parts, ([, double, single, bare]) => double ?? single ?? bare ?? "");
}

function checkScorers(
  file: string,
  prompts: readonly EvaluationPrompt[],
  scoring: ScoreSettings,
): void {
  const lacking = prompts.filter((prompt) => !scorerOf(prompt, scoring));
  if (lacking.length === 0) return;
  throw new InputError(
    { file },
    `has ${lacking.length} of ${prompts.length} prompts without a way to score their answers (the first is ${lacking[0]!.id})`,
    'add "answer", "regex" or "schema" to the rows, or give --regex, --schema, --test, or --judge MODEL',
  );
}

/**
 * Price that is assumed for models without one: the highest of the others. Throws if there are such models and
 * estimates are not allowed.
 */
function assumedPriceOf(
  models: readonly ServedModel[],
  unpriced: "refuse" | "estimate",
): Price | undefined {
  const without = models.filter(({ spec }) => !spec.price);
  if (without.length === 0) return undefined;
  const prices = models.flatMap(({ spec }) => (spec.price ? [spec.price] : []));
  const names = without.map(({ name }) => name).join(", ");
  if (unpriced === "refuse" || prices.length === 0) {
    throw new InputError(
      { file: "--budget" },
      `cannot be kept, because the price of ${names} is unknown`,
      `set models.NAME.price in joust.yaml${prices.length > 0 ? ", leave the model out with --exclude, or give --unpriced estimate to count the highest price of the other models" : ""}`,
    );
  }
  return {
    input: Math.max(...prices.map(({ input }) => input)),
    output: Math.max(...prices.map(({ output }) => output)),
  };
}
