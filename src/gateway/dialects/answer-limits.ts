import { ANSWER_LIMITS } from "../providers/parameters/rules.ts";
import type { Members } from "../wire/json.ts";
import { invalidMember } from "./dialect.ts";

/** Highest number and length of the answers that a request allows. */
interface AnswerLimits {
  /** Number of answers to a prompt. */
  readonly n: number;
  /** Tokens of each answer; undefined if the request has no limit. */
  readonly answerTokens: number | undefined;
}

/**
 * Reads the limits of a request in any dialect. An upstream may read another member than the one it should,
 * so the highest of several limits counts.
 */
export function answerLimits(members: Members): AnswerLimits {
  let answerTokens: number | undefined;
  for (const name of ANSWER_LIMITS) {
    const limit = members.value(name);
    if (isPositive(limit)) answerTokens = Math.max(limit, answerTokens ?? 0);
  }
  const n = Math.max(countIn(members, "n"), countIn(members, "best_of"));
  return { n, answerTokens };
}

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
