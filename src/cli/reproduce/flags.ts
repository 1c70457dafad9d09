import type { Runs } from "../../lab/reproduce/planner.ts";

export const EXPERIMENTS = [
  "mmlu",
  "routerbench",
  "convergence",
  "unseen",
  "mixinstruct",
  "settings",
] as const;
export type Experiment = (typeof EXPERIMENTS)[number];

export interface ReproduceFlags {
  readonly data?: string | undefined;
  readonly encoders?: readonly string[] | undefined;
  readonly models?: string | undefined;
  readonly runs?: Runs | undefined;
  readonly seed?: number | undefined;
  readonly quick?: boolean | undefined;
  readonly out?: string | undefined;
  readonly cache?: string | undefined;
  readonly threads?: number | undefined;
  readonly workers?: string | undefined;
  /** A folder, or true for that of the project. */
  readonly published?: string | true | undefined;
  readonly publish?: string | undefined;
  readonly curve?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly json?: boolean | undefined;
}
