import type { Fallback, Recorder } from "../log/recorder.ts";
import { endModelSpan, startModelSpan } from "../telemetry/tracing.ts";
import type { Members } from "../wire/json-scan.ts";
import type { ServedModel } from "./served-model.ts";
import { UpstreamError } from "./upstream/error.ts";
import type { UpstreamAnswer, UpstreamRequest } from "./upstream/upstream.ts";

/** What goes to the model, whichever it is. */
export interface Errand {
  readonly endpoint: UpstreamRequest["endpoint"];
  readonly body: Uint8Array;
  readonly members?: Members | undefined;
  readonly stream: boolean;
  readonly signal: AbortSignal;
}

/** A model that answers, and those that failed before it. */
export interface Answering {
  readonly model: ServedModel;
  readonly answer: UpstreamAnswer;
  readonly fallbacks: readonly Fallback[];
}

/** Nobody answered: the first error says most, the others are in `fallbacks`. */
export class NobodyAnswered extends Error {
  override readonly name = "NobodyAnswered";
  readonly first: UpstreamError;
  readonly lastModel: string;
  readonly fallbacks: readonly Fallback[];

  constructor(first: UpstreamError, lastModel: string, fallbacks: readonly Fallback[]) {
    super(first.message);
    this.first = first;
    this.lastModel = lastModel;
    this.fallbacks = fallbacks;
  }
}

export async function callModel(model: ServedModel, errand: Errand): Promise<UpstreamAnswer> {
  const { endpoint, body, members, stream, signal } = errand;
  const { upstreamName, provider } = model.spec;
  const span = startModelSpan(endpoint, model.name, provider);
  try {
    const request = { endpoint, body, members, stream, model: upstreamName };
    const answer = await model.upstream.call(request, signal);
    answer.end.then((end) => endModelSpan(span, end));
    return answer;
  } catch (error) {
    endModelSpan(span, error instanceof UpstreamError ? { error } : {});
    throw error;
  }
}

/** Asks a model, and where it fails before its first byte, the next ones. */
export async function attempt(
  first: ServedModel,
  others: () => readonly ServedModel[],
  errand: Errand,
  recorder: Recorder,
): Promise<Answering> {
  const fallbacks: Fallback[] = [];
  let queue: readonly ServedModel[] | undefined;
  let firstError: UpstreamError | undefined;
  for (let model = first; ; ) {
    try {
      const answer = await callModel(model, errand);
      return { model, answer, fallbacks };
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      firstError ??= error;
      queue ??= others().slice(0, MAX_FALLBACKS);
      recorder.upstreamError(model.name, error);
      const next = error.elsewhere ? queue[fallbacks.length] : undefined;
      // What a model says against the request itself is what the client has to hear.
      if (!next)
        throw new NobodyAnswered(error.elsewhere ? firstError : error, model.name, fallbacks);
      recorder.fallback(model.name);
      fallbacks.push({ model: model.name, reason: reasonOf(error) });
      model = next;
    }
  }
}

const MAX_FALLBACKS = 3;

export function reasonOf(error: UpstreamError): string {
  return error.status === undefined ? error.code : `${error.code} ${error.status}`;
}
