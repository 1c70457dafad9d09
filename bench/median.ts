import { percentile } from "../src/core/statistics.ts";

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}
