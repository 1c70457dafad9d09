import type { Outcome } from "../../core/bandit/policy.ts";
import type { Clock } from "../clock/clock.ts";
import { judgeMessages, verdictIn, verdictOfOrders } from "../feedback/judge-prompt.ts";
import type { ServedModel } from "../providers/served-model.ts";
import { concurrently } from "./concurrently.ts";
import type { Compared, Journal } from "./journal.ts";
import type { PaidCalls } from "./paid-calls.ts";
import { type EvaluationPrompt, hashOf, promptKey } from "./prompt.ts";
import { askPrompt, type RunOptions } from "./score-answers.ts";

/** Two models whose answers to a prompt are to be compared, as indices. */
export interface PromptPair {
  readonly prompt: number;
  readonly a: number;
  readonly b: number;
}

/** Chooses the pairs to compare. It may learn from the outcomes. */
export interface PairChooser {
  /** The next pair, or undefined if there is none. */
  next(): PromptPair | undefined;
  learn(pair: PromptPair, outcome: Outcome): void;
}

interface CompareParts {
  readonly calls: PaidCalls;
  readonly journal: Journal;
  readonly judge: ServedModel;
  readonly clock: Clock;
}

/**
 * Lets a judge compare the answers of pairs of models, each pair in both orders. A model wins if
 * it wins in both orders; otherwise the pair is a tie. Pairs in the journal are learned first and
 * count towards `count`. Returns the comparisons of these prompts and models.
 */
export async function compareAnswers(
  prompts: readonly EvaluationPrompt[],
  models: readonly ServedModel[],
  chooser: PairChooser,
  count: number,
  parts: CompareParts,
  { concurrency, signal, onDone }: RunOptions,
): Promise<{ readonly compared: readonly Compared[]; readonly undecided: number }> {
  const { calls, journal, judge } = parts;
  const keys = prompts.map(promptKey);
  const names = models.map(({ name }) => name);
  const pairOf = ({ prompt, a, b }: Compared) => ({
    prompt: keys.indexOf(prompt),
    a: names.indexOf(a),
    b: names.indexOf(b),
  });
  const compared = comparedBefore(prompts, models, judge, journal);
  for (const one of compared) {
    chooser.learn(pairOf(one), one.outcome);
    onDone?.();
  }
  let [started, undecided] = [compared.length, 0];
  const next = () => {
    if (signal.aborted || calls.isExhausted || started >= count) return undefined;
    // Without verdicts, answers would be paid for in vain.
    if (calls.hasGivenUp(judge.name)) return undefined;
    started++;
    return chooser.next();
  };
  await concurrently(concurrency, next, async (pair) => {
    const [a, b] = [models[pair.a]!, models[pair.b]!];
    const result = await comparePair(prompts[pair.prompt]!, a, b, parts);
    if (result === "undecided") undecided++;
    else if (result !== undefined) {
      const one = {
        at: parts.clock.date(),
        prompt: keys[pair.prompt]!,
        a: a.name,
        b: b.name,
        judge: judge.name,
        outcome: result,
      };
      journal.comparison(one);
      compared.push(one);
      chooser.learn(pair, result);
      onDone?.();
    }
  });
  return { compared, undecided };
}

/** The comparisons of these prompts and models by a judge that are in the journal. */
export function comparedBefore(
  prompts: readonly EvaluationPrompt[],
  models: readonly ServedModel[],
  judge: ServedModel,
  { compared }: Pick<Journal, "compared">,
): Compared[] {
  const keys = new Set(prompts.map(promptKey));
  const names = new Set(models.map(({ name }) => name));
  return compared.filter(
    ({ prompt, a, b, judge: by }) =>
      by === judge.name && keys.has(prompt) && names.has(a) && names.has(b),
  );
}

/** The judge's verdict; "undecided" if a model failed or the judge named no winner, undefined if the evaluation stops. */
async function comparePair(
  prompt: EvaluationPrompt,
  a: ServedModel,
  b: ServedModel,
  { calls, judge }: CompareParts,
): Promise<Outcome | "undecided" | undefined> {
  const answers = await Promise.all([a, b].map((model) => askPrompt(prompt, model, calls)));
  const [first, second] = answers.map((one) => (one.status === "ok" ? one.answer.text : undefined));
  if (first === undefined || second === undefined) return stoppedOr(answers);
  const orders = [[first, second] as const, [second, first] as const];
  const replies = await Promise.all(
    orders.map((texts) => {
      const key = hashOf("judge", judge.name, judge.spec.upstreamName, prompt.text, ...texts);
      return calls.call(judge, key, judgeMessages(prompt.text, texts));
    }),
  );
  const [forwards, backwards] = replies.map((reply) =>
    reply.status === "ok" ? verdictIn(reply.answer.text) : undefined,
  );
  if (!forwards || !backwards) return stoppedOr(replies);
  return verdictOfOrders(forwards, backwards);
}

function stoppedOr(results: readonly { readonly status: string }[]): "undecided" | undefined {
  const isStopped = results.some(({ status }) => status === "stopped" || status === "unaffordable");
  return isStopped ? undefined : "undecided";
}
