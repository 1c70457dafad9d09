import type { ModelCounts } from "../../api/stats.ts";
import { BUCKET_MS, type Counts } from "../../store/tally.ts";

/** Span of the calls that health is derived from: six steps of five minutes. */
export const HEALTH_MS = 6 * BUCKET_MS;

/** Health of a model by its recent calls. An open circuit breaker means that it is not called. */
export function healthOf(
  recent: Pick<Counts, "answers" | "failures" | "fallbacks"> | undefined,
  breaker: ModelCounts["breaker"],
): ModelCounts["health"] {
  if (breaker === "open") return "down";
  const calls = recent ? recent.answers + recent.fallbacks : 0;
  if (calls === 0) return "unknown";
  const share = (recent!.failures + recent!.fallbacks) / calls;
  if (share >= DOWN) return "down";
  return share >= DEGRADED || breaker === "half-open" ? "degraded" : "ok";
}

/** Shares of failed calls. */
const DOWN = 0.5;
const DEGRADED = 0.05;
