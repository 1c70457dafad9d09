import type { ServedModel } from "../providers/served-model.ts";
import { concurrently } from "./concurrently.ts";
import type { Journal } from "./journal.ts";
import type { CallResult, PaidCalls } from "./paid-calls.ts";
import { type EvaluationPrompt, hashOf, promptKey } from "./prompt.ts";
import { type Scorer, type ScoreSettings, scorerOf } from "./scorer.ts";

/** The score and the cost of one answer. */
interface ScoredAnswer {
  readonly score: number;
  readonly cost: number;
}

/** A prompt with the scored answers of the models, by model. */
export interface ScoredPrompt {
  readonly prompt: EvaluationPrompt;
  readonly answers: ReadonlyMap<string, ScoredAnswer>;
}

export interface RunOptions {
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** Called after each item that was paid for or was in the journal. */
  readonly onDone?: (() => void) | undefined;
}

/**
 * Asks every model every prompt, and scores the answers. All models answer a prompt before the
 * next one begins, so that the prompts that the budget suffices for are complete.
 */
export async function scoreAnswers(
  prompts: readonly EvaluationPrompt[],
  models: readonly ServedModel[],
  settings: ScoreSettings,
  { calls, journal }: { readonly calls: PaidCalls; readonly journal: Journal },
  { concurrency, signal, onDone }: RunOptions,
): Promise<ScoredPrompt[]> {
  const all = prompts.map((prompt) => ({ prompt, answers: new Map<string, ScoredAnswer>() }));
  const tasks = all.flatMap((scored) => models.map((model) => ({ ...scored, model }))).values();
  const next = () => (signal.aborted || calls.isExhausted ? undefined : tasks.next().value);
  await concurrently(concurrency, next, async ({ prompt, answers, model }) => {
    const key = answerKey(prompt, model, calls);
    const result = await askPrompt(prompt, model, calls);
    if (result.status === "ok") {
      const { text, cost } = result.answer;
      const score = await scoreOf(key, text, scorerOf(prompt, settings)!, journal);
      answers.set(model.name, { score, cost });
    }
    if (result.status === "ok" || result.status === "failed") onDone?.();
  });
  return all;
}

/** Key of an answer in the journal. */
export function answerKey(
  prompt: EvaluationPrompt,
  { name, spec }: ServedModel,
  { settings }: { readonly settings: Pick<PaidCalls["settings"], "maxTokens"> },
): string {
  return hashOf(promptKey(prompt), name, spec.upstreamName, String(settings.maxTokens));
}

/** Asks a model a prompt. */
export function askPrompt(
  prompt: EvaluationPrompt,
  model: ServedModel,
  calls: PaidCalls,
): Promise<CallResult> {
  const messages = [{ role: "user", content: prompt.text }];
  return calls.call(model, answerKey(prompt, model, calls), messages);
}

async function scoreOf(
  answer: string,
  text: string,
  { rule, score }: Scorer,
  journal: Journal,
): Promise<number> {
  if (rule === undefined) return Number(await score(text));
  const key = `${answer}-${rule}`;
  const known = journal.score(key);
  if (known !== undefined) return known;
  const value = Number(await score(text));
  journal.scored(key, value);
  return value;
}
