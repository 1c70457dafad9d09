import type { ReasoningConfig } from "./request.ts";

/** Least budget in tokens of each effort, for dialects that have no budget. */
const BUDGETS = [
  [16_000, "high"],
  [4_000, "medium"],
  [0, "low"],
] as const;

/** Effort of reasoning as OpenAI's dialects write it; "none" turns reasoning off. */
export function effortOf({ enabled, effort, budget }: ReasoningConfig): string | undefined {
  if (enabled === false) return "none";
  if (effort !== undefined || budget === undefined) return effort;
  return BUDGETS.find(([least]) => budget >= least)![1];
}

export function readEffort(effort: string | undefined): ReasoningConfig {
  if (effort === undefined) return {};
  return effort === "none" ? { enabled: false } : { enabled: true, effort };
}
