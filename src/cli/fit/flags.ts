import type { Weighting } from "../../core/bandit/weighting.ts";

export interface FitFlags {
  readonly out: string;
  readonly fromLog?: boolean | undefined;
  readonly router?: string | undefined;
  readonly scores?: string | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly encoder?: string | undefined;
  readonly models?: string | undefined;
  readonly epochs?: number | undefined;
  readonly learningRate?: number | undefined;
  readonly offline?: number | undefined;
  readonly weighting?: Weighting | undefined;
  readonly tau?: number | undefined;
  readonly lambda?: number | undefined;
  readonly temperature?: number | undefined;
  readonly seed?: number | undefined;
  readonly resume?: boolean | undefined;
  readonly overwrite?: boolean | undefined;
  readonly json?: boolean | undefined;
}

export const FIT_DEFAULTS = { offline: 5, seed: 1 };
