import { percentile } from "../src/lab/simulate/statistics.ts";

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}
