import type { Clock } from "../clock/clock.ts";
import { endModelSpan, isTraced, startModelSpan } from "../telemetry/tracing.ts";
import type { ServedModel } from "./served-model.ts";
import { UpstreamError } from "./upstream/error.ts";
import type { UpstreamAnswer, UpstreamRequest } from "./upstream/upstream.ts";

/** A model that failed and was replaced by the next one. */
export interface Fallback {
  readonly model: string;
  readonly reason: string;
  /** US dollars, if the model reported usage before it failed. */
  readonly cost?: number;
}

/** A model that has begun to answer, and the models that failed before it. */
export interface Attempt {
  readonly model: ServedModel;
  readonly answer: UpstreamAnswer;
  readonly fallbacks: readonly Fallback[];
}

/** No model answered. `error` is the one that the client should see. */
export class AttemptsFailed extends Error {
  override readonly name = "AttemptsFailed";
  readonly error: UpstreamError;
  /** The models that failed before the last one. */
  readonly fallbacks: readonly Fallback[];
  /** The model that failed last. */
  readonly last: Fallback;

  constructor(error: UpstreamError, fallbacks: readonly Fallback[], last: Fallback) {
    super(error.message);
    this.error = error;
    this.fallbacks = fallbacks;
    this.last = last;
  }
}

export interface AttemptCounter {
  upstreamError(model: string, error: UpstreamError): void;
  fallback(model: string): void;
}

/**
 * Says whether the sender of a request may pay for another model, after others have cost `lost` dollars. The first
 * model was paid for before.
 */
export type Affords = (model: ServedModel, lost: number) => Promise<boolean>;

/**
 * Calls a model and, if it fails before its first byte, up to three others. `others` is only
 * called after a failure.
 */
export async function attempt(
  first: ServedModel,
  others: () => readonly ServedModel[],
  request: UpstreamRequest,
  signal: AbortSignal,
  counter: AttemptCounter,
  affords?: Affords,
): Promise<Attempt> {
  const fallbacks: Fallback[] = [];
  let queue: readonly ServedModel[] | undefined;
  let firstError: UpstreamError | undefined;
  for (let model = first; ; ) {
    try {
      const answer = await callModel(model, request, signal);
      return { model, answer, fallbacks };
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      firstError ??= error;
      queue ??= others();
      counter.upstreamError(model.name, error);
      if (error.refusal?.kind === "context_length") queue = withMoreContext(queue, model);
      const failed = failureOf(model, error);
      const mayGoOn = error.elsewhere && fallbacks.length < MAX_FALLBACKS;
      if (mayGoOn) queue = await fromAfforded(queue, [...fallbacks, failed], affords);
      const next = mayGoOn ? queue[0] : undefined;
      // The client sees the first error, unless the last one concerns the request itself.
      if (!next) {
        const shown = error.elsewhere ? firstError : error;
        throw new AttemptsFailed(shown, fallbacks, failed);
      }
      counter.fallback(model.name);
      fallbacks.push(failed);
      queue = queue.slice(1);
      model = next;
    }
  }
}

/** Calls models after others have failed. The others are fallbacks of the answer, or of the error if these models fail too. */
export async function attemptAfter(
  failed: readonly Fallback[],
  ...[first, others, request, signal, counter, affords]: Parameters<typeof attempt>
): Promise<Attempt> {
  const before = costOf(failed);
  const affordsMore =
    affords && ((model: ServedModel, lost: number) => affords(model, before + lost));
  try {
    const found = await attempt(first, others, request, signal, counter, affordsMore);
    return { ...found, fallbacks: [...failed, ...found.fallbacks] };
  } catch (error) {
    if (!(error instanceof AttemptsFailed)) throw error;
    throw new AttemptsFailed(error.error, [...failed, ...error.fallbacks], error.last);
  }
}

/** The models from the first one on that the sender of the request may pay for. */
export async function fromAfforded(
  models: readonly ServedModel[],
  failed: readonly Fallback[],
  affords: Affords | undefined,
): Promise<readonly ServedModel[]> {
  if (!affords) return models;
  const lost = costOf(failed);
  for (const [i, model] of models.entries()) if (await affords(model, lost)) return models.slice(i);
  return [];
}

function costOf(failed: readonly Fallback[]): number {
  return failed.reduce((sum, { cost = 0 }) => sum + cost, 0);
}

/** The models that may accept a prompt that is too long for another one. */
function withMoreContext(models: readonly ServedModel[], refused: ServedModel): ServedModel[] {
  const known = refused.capabilities.context ?? 0;
  return models.filter(({ capabilities: { context } }) => context === undefined || context > known);
}

const MAX_FALLBACKS = 3;

/** Calls a model. If requests are traced, the call has a span that lasts until its answer ends. */
export function callModel(
  model: ServedModel,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  return isTraced() ? callTraced(model, request, signal) : model.call(request, signal);
}

async function callTraced(
  model: ServedModel,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const span = startModelSpan(request.endpoint, model.name, model.spec.provider);
  try {
    const answer = await model.call(request, signal);
    answer.end.then((end) => endModelSpan(span, end));
    return answer;
  } catch (error) {
    endModelSpan(span, error instanceof UpstreamError ? { error } : {});
    throw error;
  }
}

/** A failed call of a model for the log. */
function failureOf(model: ServedModel, error: UpstreamError | undefined): Fallback {
  const cost = model.lostCost(error?.lost);
  const reason = error ? reasonOf(error) : "gave no answer";
  return { model: model.name, reason, ...(cost > 0 && { cost }) };
}

/** Short form of an error for the log. */
function reasonOf(error: UpstreamError): string {
  const { kind = "request" } = error.refusal ?? {};
  if (kind !== "request") return `${kind} ${error.status}`;
  return error.status === undefined ? error.code : `${error.code} ${error.status}`;
}

/** One of the two models of a duel. */
export interface DuelAttempt {
  readonly slot: number;
  readonly model: ServedModel;
  /** Resolves when the answer begins, and with undefined if the model fails before. */
  readonly answer: Promise<UpstreamAnswer | undefined>;
  /** Reason why the model failed; undefined as long as it has not. */
  error: UpstreamError | undefined;
  /** Time of the call by the clock. */
  readonly startedAt: number;
  /** Stops waiting for the model, which then counts as failed. */
  giveUp(): void;
}

/** Calls both models of a duel at the same time. */
export function attemptDuel(
  pair: readonly [ServedModel, ServedModel],
  request: UpstreamRequest,
  signal: AbortSignal,
  counter: AttemptCounter,
  clock: Clock,
): readonly [DuelAttempt, DuelAttempt] {
  const start = (slot: 0 | 1) => attemptSlot(slot, pair[slot], request, signal, counter, clock);
  return [start(0), start(1)];
}

/** Calls one of the two models of a duel. */
export function attemptSlot(
  slot: 0 | 1,
  model: ServedModel,
  request: UpstreamRequest,
  signal: AbortSignal,
  counter: AttemptCounter,
  clock: Clock,
): DuelAttempt {
  const tooLate = new AbortController();
  const either = AbortSignal.any([signal, tooLate.signal]);
  const answer = callModel(model, request, either).catch((error: unknown) => {
    const own = asUpstreamError(error, model);
    started.error = tooLate.signal.aborted ? late(own, model) : own;
    counter.upstreamError(model.name, started.error);
    return undefined;
  });
  const started: DuelAttempt = {
    slot,
    model,
    answer,
    error: undefined,
    startedAt: clock.now(),
    giveUp: () => tooLate.abort(),
  };
  return started;
}

/** The error of a model that was given up, with what it and its earlier attempts have spent. */
function late({ lost, isAbandoned }: UpstreamError, { name }: ServedModel): UpstreamError {
  const error = new UpstreamError("timeout", name, "was too late for the duel");
  error.lost = lost;
  error.isAbandoned = isAbandoned;
  return error;
}

/** Both models of a duel failed. */
export function duelFailed([a, b]: readonly [DuelAttempt, DuelAttempt]): AttemptsFailed {
  const error = a.error ?? b.error ?? new UpstreamError("broken", a.model.name, "gave no answer");
  return new AttemptsFailed(error, [failureOf(a.model, a.error)], failureOf(b.model, b.error));
}

/**
 * Converts any error to UpstreamError. Upstreams should throw nothing else, but a defect
 * in the call of one model must not end the duel of both.
 */
export function asUpstreamError(error: unknown, model: ServedModel): UpstreamError {
  if (error instanceof UpstreamError) return error;
  return new UpstreamError("broken", model.name, `failed: ${error}`, { cause: error });
}
