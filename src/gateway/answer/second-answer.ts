import type { Clock } from "../clock/clock.ts";
import type { DeliveredAnswer, ResponseForm } from "../deliver/deliver.ts";
import { readSecond, requestForSecond } from "../deliver/later.ts";
import { type AnswerSlot, paidUsage, type Recorder } from "../log/recorder.ts";
import type { SecondAnswers } from "../log/second-answers.ts";
import { attemptSlot } from "../providers/attempt.ts";
import type { PendingDecision } from "../routing/decide.ts";
import type { Client } from "../wire/client.ts";

interface Parts {
  readonly recorder: Recorder;
  readonly seconds: SecondAnswers;
  readonly clock: Clock;
}

/** The second answer of a duel, while it is made for a client that may fetch it later. */
export interface StartedSecond {
  /** Stops the model, because the answer is not needed. */
  cancel(): void;
  /** Resolves to the answer and its cost when they are logged. It never rejects. */
  readonly finished: Promise<{ readonly answer: DeliveredAnswer; readonly cost: number }>;
}

/**
 * Calls the second model of a duel. The client's response does not wait for it: it goes on after
 * the response has ended, unless the client disconnects before that.
 */
export function startSecond(
  { recorder, seconds, clock }: Parts,
  pending: PendingDecision,
  client: Client,
  form: ResponseForm,
  { until, ...slot }: Omit<AnswerSlot, "slot"> & { readonly until: number },
): StartedSecond {
  const { id, router, pair } = pending;
  const running = seconds.begin(id, slot.owner, until);
  const { signal } = client;
  if (signal.aborted) running.cancel();
  signal.addEventListener("abort", () => running.cancel(), { once: true });
  const request = requestForSecond(form.request);
  const attempt = attemptSlot(1, pair[1], request, running.signal, recorder, clock);
  const created = Math.floor(clock.date() / 1000);
  const finish = async () => {
    const { delivered, kept } = await readSecond(attempt, form, { router: router.name, created });
    running.settle(kept);
    const cost = logSecond(recorder, pending, { ...slot, slot: 1 }, delivered);
    running.end();
    return { answer: delivered, cost };
  };
  return { cancel: () => running.cancel(), finished: finish() };
}

/** Logs how the second answer ended, and counts its cost as that of a duel. Returns the cost. */
function logSecond(
  recorder: Recorder,
  { router, settleSecond }: PendingDecision,
  slot: AnswerSlot,
  { model, end, failure }: DeliveredAnswer,
): number {
  if (!end) {
    if (!failure) return 0;
    const cost = model.lostCost(failure.error.lost);
    return recorder.failed(slot, { ...failure, model: model.name, cost, hidden: true });
  }
  const { usage, cost: paid } = paidUsage(model, end, slot.promptTokens);
  const answer = { model: model.name, usage, cost: paid, isWhole: !end.error };
  const cost = recorder.answered({ ...slot, ...settleSecond(answer) }, model, end, [], true);
  router.cap.spent(cost, cost);
  return cost;
}
