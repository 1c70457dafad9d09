import { judgeMessages } from "../feedback/judge-prompt.ts";
import type { ServedModel } from "../providers/served-model.ts";
import type { Journal, PaidAnswer } from "./journal.ts";
import type { PaidCalls } from "./paid-calls.ts";
import type { EvaluationPrompt } from "./prompt.ts";
import { answerKey } from "./score-answers.ts";

/** The calls that an evaluation would make, with estimates of their cost and duration. */
export interface Plan {
  readonly requests: number;
  /** Answers that the journal has already. */
  readonly paid: number;
  readonly dollars: number;
  /** The most that the requests can cost, undefined if a price is unknown. */
  readonly most: number | undefined;
  readonly seconds: number;
}

interface PlannedCall {
  readonly model: ServedModel;
  readonly bytes: number;
  readonly outputTokens: number;
  readonly count: number;
  /** Mean cost and duration of earlier answers, if they are known. */
  readonly usual?: Pick<PaidAnswer, "cost" | "ms"> | undefined;
}

/** Plans answers of all models to all prompts. */
export function planScores(
  prompts: readonly EvaluationPrompt[],
  models: readonly ServedModel[],
  calls: PaidCalls,
  journal: Journal,
  concurrency: number,
): Plan {
  const all = prompts.flatMap((prompt) =>
    models.flatMap((model) =>
      journal.answer(answerKey(prompt, model, calls)) ? [] : [{ prompt, model }],
    ),
  );
  const planned = all.map(({ prompt, model }) => ({
    model,
    bytes: Buffer.byteLength(prompt.text),
    outputTokens: USUAL_ANSWER,
    count: 1,
    usual: journal.usual(model.name),
  }));
  return planOf(planned, prompts.length * models.length - all.length, calls, concurrency);
}

/** Answers that would be asked again, because those in the journal have another limit of tokens. */
export function answersAskedAgain(
  prompts: readonly EvaluationPrompt[],
  models: readonly ServedModel[],
  maxTokens: number,
  journal: Journal,
): { readonly maxTokens: number; readonly answers: number }[] {
  const has = (prompt: EvaluationPrompt, model: ServedModel, limit: number) =>
    journal.answer(answerKey(prompt, model, { settings: { maxTokens: limit } })) !== undefined;
  const isMissing = (prompt: EvaluationPrompt, model: ServedModel) =>
    !has(prompt, model, maxTokens);
  return [...journal.limits].flatMap((limit) => {
    const again = prompts.flatMap((prompt) =>
      models.filter((model) => isMissing(prompt, model) && has(prompt, model, limit)),
    );
    return again.length > 0 ? [{ maxTokens: limit, answers: again.length }] : [];
  });
}

/** Plans comparisons of random pairs, as if no two of them shared an answer. */
export function planComparisons(
  prompts: readonly EvaluationPrompt[],
  models: readonly ServedModel[],
  judge: ServedModel,
  count: number,
  calls: PaidCalls,
  concurrency: number,
): Plan {
  const bytes = meanOf(prompts.map(({ text }) => Buffer.byteLength(text)));
  const possible = prompts.length * models.length;
  const answers = Math.min(possible, 2 * count) / models.length;
  const shown = "x".repeat(BYTES_PER_TOKEN * USUAL_ANSWER);
  const judged = Buffer.byteLength(JSON.stringify(judgeMessages("", [shown, shown]))) + bytes;
  const planned: PlannedCall[] = [
    ...models.map((model) => ({ model, bytes, outputTokens: USUAL_ANSWER, count: answers })),
    { model: judge, bytes: judged, outputTokens: VERDICT_TOKENS, count: 2 * count },
  ];
  return planOf(planned, 0, calls, concurrency);
}

function planOf(
  planned: readonly PlannedCall[],
  paid: number,
  calls: PaidCalls,
  concurrency: number,
): Plan {
  let [requests, dollars, seconds] = [0, 0, 0];
  let most: number | undefined = 0;
  for (const { model, bytes, outputTokens, count, usual } of planned) {
    const { maxTokens, assumedPrice } = calls.settings;
    const price = model.spec.price ?? assumedPrice ?? { input: 0, output: 0 };
    const output = Math.min(outputTokens, maxTokens);
    requests += count;
    const expected = ((bytes / BYTES_PER_TOKEN) * price.input + output * price.output) / 1e6;
    dollars += count * (usual?.cost ?? expected);
    const own = calls.mostOf(model, bytes);
    most = most === undefined || own === undefined ? undefined : most + count * own;
    const duration = FIRST_TOKEN_SECONDS + output / TOKENS_PER_SECOND;
    seconds += count * (usual ? usual.ms / 1000 : duration);
  }
  return { requests: Math.round(requests), paid, dollars, most, seconds: seconds / concurrency };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Assumptions about answers that nobody has seen yet. */
const USUAL_ANSWER = 300;
const VERDICT_TOKENS = 5;
const BYTES_PER_TOKEN = 4;
const FIRST_TOKEN_SECONDS = 0.6;
const TOKENS_PER_SECOND = 60;
