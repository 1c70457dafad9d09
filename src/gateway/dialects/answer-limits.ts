import type { Members } from "../wire/json.ts";
import { invalidMember } from "./dialect.ts";

/** Highest number and length of the answers that a request allows. */
interface AnswerLimits {
  /** Number of answers. */
  readonly n: number;
  /** Tokens of each answer; undefined if the request has no limit. */
  readonly answerTokens: number | undefined;
}

/**
 * Reads the limits of a request in any dialect. An upstream may read another member than the one it should,
 * so the highest of several limits counts.
 */
export function answerLimits(members: Members): AnswerLimits {
  const limits = TOKENS.map((name) => members.value(name)).filter(isPositive);
  return {
    n: Math.max(...COUNTS.map((name) => countIn(members, name))),
    answerTokens: limits.length > 0 ? Math.max(...limits) : undefined,
  };
}

const TOKENS = ["max_completion_tokens", "max_tokens", "max_output_tokens"];
const COUNTS = ["n", "best_of"];
const MOST_ANSWERS = 128;

function countIn(members: Members, name: string): number {
  const value = members.value(name) ?? 1;
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_ANSWERS) {
    return Number(value);
  }
  throw invalidMember(name, `has to be a whole number from 1 to ${MOST_ANSWERS}`);
}

function isPositive(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value > 0;
}
