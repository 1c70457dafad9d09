/**
 * A decision: which model answers a request, or which two, and why. The log, replay, the HTTP
 * interface and the page all use this type. Models are named, because their indices change with
 * the pool. As an event, a decision has the kind "routed".
 */
export interface Decision {
  readonly kind: "routed";
  readonly id: string;
  readonly router: string;
  /** Time of the decision, in milliseconds since 1970. */
  readonly at: number;
  /** Id of the API key that sent the request. */
  readonly owner?: string | undefined;
  /** Session id that the client sent. */
  readonly session?: string | undefined;
  readonly mode: "apply" | "observe" | "bypass";
  /** Name of the encoder that produced x. Embeddings of different encoders cannot be mixed. */
  readonly encoder: string;
  /** Embedding of the request, rounded by `toHalf` before the policy used it. */
  readonly x: Float64Array;
  readonly candidates: readonly string[];
  /** Models in the order shown. Twice the same model means a single answer. */
  readonly pair: readonly [string, string];
  /** Probability of choosing this pair in either order or, for a single answer, this model. */
  readonly propensity: number;
  /** Number of answers requested; "any" lets the policy decide. Undefined if the policy did not choose. */
  readonly answers?: 1 | 2 | "any" | undefined;
  readonly seed: number;
  /** Version of the posterior: position of the last event it had learned from. */
  readonly version: number;
  /** Estimated utility of each candidate. */
  readonly values?: readonly number[] | undefined;
  /** Expected cost of each candidate's answer, in US dollars. */
  readonly costs?: readonly number[] | undefined;
  /** Utility that one US dollar was worth. */
  readonly lambda: number;
  readonly reasons?: Reasons | undefined;
  /**
   * Number of candidates that the row of this decision does not have, because the pool is large;
   * 0 if undefined. A statistic that decides again reads only decisions with all candidates.
   */
  readonly omitted?: number | undefined;
  /**
   * Probability with which the row of this decision was kept, 1 if undefined. A statistic over
   * rows counts each one 1 / sample times. Rows with 0 count nothing: they were dropped and then
   * restored from a vote token.
   */
  readonly sample?: number | undefined;
  /** Prompt as `seal` encoded it, only if the operator stores prompts. */
  readonly prompt?: Uint8Array | undefined;
}

/** Number of decisions that a row stands for in a statistic. */
export function weightOf({ sample = 1 }: Pick<Decision, "sample">): number {
  return sample === 0 ? 0 : 1 / sample;
}

/** Facts that explain a decision besides its values and costs. */
export interface Reasons {
  /** The cost_quality_tradeoff in force: 0 for quality alone, 10 for the cheapest model. */
  readonly tradeoff?: number | undefined;
  /** Models that could not serve the request, each with the reason. */
  readonly excluded?: Readonly<Record<string, string>> | undefined;
  /** Categories of the request with their shares. */
  readonly categories?: Readonly<Record<string, number>> | undefined;
  /** Standard deviation of each candidate's utility relative to the pool's mean. */
  readonly uncertainty?: readonly number[] | undefined;
  /** Tokens that each candidate's expected cost is based on. */
  readonly tokens?:
    | {
        readonly prompt: readonly number[];
        /** Tokens of the prompt that probably come from the upstream's cache. */
        readonly cached: readonly number[];
        readonly output: readonly number[];
      }
    | undefined;
  /** The best of the models that were not chosen. */
  readonly runner_up?: string | undefined;
  /** Probability that a vote prefers the first model of the pair to the runner-up. */
  readonly win?: number | undefined;
  /** The session's model, if it was kept: during a tool call, or because no other model gains `margin`. */
  readonly kept?:
    | {
        readonly model: string;
        readonly because: "tools" | "session";
        readonly gain?: number | undefined;
        readonly margin?: number | undefined;
      }
    | undefined;
  /** The best fixed model, if it was served because routing had done worse. */
  readonly guard?: string | undefined;
  /** The policy's choice in mode "observe", in which the fallback model answers. */
  readonly observed?:
    | { readonly pair: readonly [string, string]; readonly propensity: number }
    | undefined;
  /**
   * Reason for a duel, or reason why a requested duel did not take place. "later": the key or the
   * router wanted it, and the client may fetch the second answer later.
   */
  readonly duel?: "requested" | "auto" | "later" | "capped" | "not_possible" | undefined;
  /** Sentence that says why a requested duel was not possible. */
  readonly no_duel?: string | undefined;
  /** The encoder failed, so the prompt did not influence the decision. */
  readonly encoder_failed?: boolean | undefined;
}

/** Whether a decision has two answers. */
export function isDuel({ pair }: Pick<Decision, "pair">): boolean {
  return pair[0] !== pair[1];
}

/** Whether a decision is a duel whose second answer the client may fetch after the first. */
export function isLaterDuel(decision: Pick<Decision, "pair" | "reasons">): boolean {
  return isDuel(decision) && decision.reasons?.duel === "later";
}
