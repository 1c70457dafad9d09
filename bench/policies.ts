import type { BenchResult } from "./main.ts";
export async function policies(): Promise<BenchResult> {
  return { ratios: {}, figures: {} };
}
