import type { OfflineQueries } from "../../../core/calibrate/calibrate.ts";
import type { PromptSpec } from "./specs.ts";

/** A text per model that describes it to an encoder: the paper's listings, which have no space between sentences. */
export function promptsOf(offline: OfflineQueries, { listing, examples }: PromptSpec): string[] {
  const promptOf = PROMPTS[listing];
  return offline.models.map((_, k) => promptOf(offline, k, examples));
}

const PROMPTS = { topic: topicPrompt, model: modelPrompt, plain: plainPrompt } as const;

/** Listing 2: model k is the expert in category k. */
function topicPrompt(offline: OfflineQueries, k: number, examples: number): string {
  const topic = offline.categoryNames[k]!.replaceAll("_", " ");
  const questions = examplesOf(offline, k, examples);
  const numbered = questions.map((question, i) => `${i + 1}. ${question}`).join("");
  return `This model is very good at solving questions regarding ${topic}.Example questions it excels at: ${numbered}.`;
}

/** Listing 3, with the benchmark that the model is best at and its Perf and Cost there. */
function modelPrompt(offline: OfflineQueries, k: number, examples: number): string {
  const { scores, costs, models, categoryNames } = offline;
  const perf = scores[k]!;
  const m = perf.indexOf(Math.max(...perf));
  const cost = costs?.[k]?.[m] ?? 0;
  const efficiency = cost > 0 ? (1 / cost).toFixed(3) : "inf";
  return [
    `This is ${models[k]}, a language model with `,
    `average performance score of ${perf[m]!.toFixed(3)} `,
    `and cost efficiency rating of ${efficiency}.`,
    `It has shown particular strength in ${categoryNames[m]} type questions.`,
    handles(examplesOf(offline, m, examples)),
  ].join("");
}

/** Listing 3 without a benchmark: the examples are queries on which the model is best. */
function plainPrompt(offline: OfflineQueries, k: number, examples: number): string {
  const own = labelled(offline, k).slice(0, examples);
  return `This is ${offline.models[k]}, a language model.${handles(own)}`;
}

function handles(questions: readonly string[]): string {
  const list =
    questions.length > 1
      ? `${questions.slice(0, -1).join(", ")}, and ${questions.at(-1)}`
      : questions[0];
  return `Example question(s) it handles: ${list}.`;
}

function examplesOf({ texts, categories }: OfflineQueries, m: number, count: number): string[] {
  return texts.filter((_, i) => categories[i] === m).slice(0, count);
}

/** The queries on which k is best; all queries if it is best on none. */
function labelled({ texts, best }: OfflineQueries, k: number): readonly string[] {
  const own = texts.filter((_, i) => best[i]!.includes(k));
  return own.length > 0 ? own : texts;
}
