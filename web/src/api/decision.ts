import { getJson } from "./client.ts";

/** GET /v1/decisions/{id}. The names of a duel are missing until somebody has voted. */
export interface Decision {
  readonly id: string;
  readonly at: string;
  readonly router: string;
  readonly mode: "apply" | "observe" | "bypass";
  readonly session_id?: string;
  readonly duel: boolean;
  readonly position: number;
  readonly posterior_version: number;
  readonly hidden?: string;
  readonly votes: readonly DecisionVote[];
  readonly answers: readonly DecisionAnswer[];
  readonly models?: readonly string[];
  readonly chosen?: readonly string[];
  readonly scores?: readonly Score[];
  readonly runner_up?: string;
  readonly win_probability?: number;
  readonly propensity?: number;
  readonly seed?: number;
  readonly lambda?: number;
  readonly tradeoff?: number;
  readonly categories?: Readonly<Record<string, number>>;
  readonly excluded?: Readonly<Record<string, string>>;
  readonly reasons?: readonly string[];
  readonly prompt?: string;
  /** What the newest posterior says of the same two. */
  readonly now?: { readonly posterior_version: number; readonly win_probability: number };
}

export interface Score {
  readonly model: string;
  readonly value?: number;
  readonly uncertainty?: number;
  readonly cost?: number;
  readonly net?: number;
}

export interface DecisionAnswer {
  readonly slot: number;
  readonly status: "ok" | "failed" | "cancelled";
  readonly model?: string;
  readonly at?: string;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cost?: number;
  readonly latency_ms?: number;
  readonly first_byte_ms?: number;
  readonly fallbacks?: readonly { readonly model: string; readonly reason: string }[];
}

interface DecisionVote {
  readonly outcome?: "a" | "b" | "tie" | "both_bad";
  readonly rating?: number;
  readonly slot?: number;
  readonly ranking?: readonly string[];
  readonly source: "user" | "judge" | "import";
  readonly at: string;
}

export function getDecision(id: string, signal?: AbortSignal): Promise<Decision> {
  return getJson(`/v1/decisions/${encodeURIComponent(id)}`, signal);
}
