import { UpstreamError } from "./error.ts";
import type { Upstream, UpstreamAnswer, UpstreamRequest } from "./upstream.ts";

/** A model that may answer, and where. */
export interface Candidate {
  readonly upstream: Upstream;
  /** The upstream's own name of it. */
  readonly model: string;
}

export interface Fallback<C extends Candidate> {
  readonly answer: UpstreamAnswer;
  readonly candidate: C;
  /** Those that were asked before and could not, in order. */
  readonly failures: readonly { readonly candidate: C; readonly error: UpstreamError }[];
}

/**
 * Asks one candidate after the other, the best first, until one answers. What
 * the client itself has to mend is not asked again elsewhere. Where none
 * answers the first one's error is thrown: it was the one that was chosen.
 */
export async function callInTurn<C extends Candidate>(
  candidates: readonly C[],
  request: Omit<UpstreamRequest, "model">,
  signal: AbortSignal,
): Promise<Fallback<C>> {
  const failures: { candidate: C; error: UpstreamError }[] = [];
  for (const candidate of candidates) {
    const { upstream, model } = candidate;
    try {
      const answer = await upstream.call({ ...request, model }, signal);
      return { answer, candidate, failures };
    } catch (error) {
      if (!(error instanceof UpstreamError) || !error.elsewhere) throw error;
      failures.push({ candidate, error });
    }
  }
  throw failures[0]?.error ?? new RangeError("there is no candidate to ask");
}
