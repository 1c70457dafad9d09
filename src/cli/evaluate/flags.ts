import type { Match } from "../../gateway/evaluation/match.ts";
import type { StoreFlags } from "../shared/store-flags.ts";

export interface EvaluateFlags extends StoreFlags {
  readonly config?: string | undefined;
  readonly out: string;
  readonly budget?: number | undefined;
  readonly fromLog?: boolean | undefined;
  readonly sample?: number | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly match?: Match | undefined;
  readonly regex?: string | undefined;
  readonly schema?: string | undefined;
  readonly test?: string | undefined;
  readonly testTimeout?: number | undefined;
  readonly judge?: string | undefined;
  readonly pairs?: number | undefined;
  readonly active?: boolean | undefined;
  readonly maxTokens: number;
  readonly concurrency: number;
  readonly retries: number;
  readonly unpriced?: "refuse" | "estimate" | undefined;
  readonly seed?: number | undefined;
  readonly dryRun?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export const EVALUATE_DEFAULTS = {
  out: "joust-evaluation",
  maxTokens: 1024,
  concurrency: 8,
  retries: 2,
  testTimeout: 10,
  seed: 1,
  /** Comparisons per prompt. */
  pairs: 2,
};
