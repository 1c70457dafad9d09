import { percentile } from "../src/lab/statistics.ts";

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}
