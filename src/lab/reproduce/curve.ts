import type { JobId } from "../jobs/job.ts";

/**
 * exp: a fine-tuned encoder. ctrl: the original encoder. ideal: an encoder fine-tuned with
 * knowledge that the others lack. prompt: model embeddings from prompts. baseline: any policy
 * but FGTS.CDB.
 */
export type Group = "exp" | "ctrl" | "ideal" | "prompt" | "baseline";

/** One line of a figure: an encoder, a weighting and a policy in one setting, over several runs. */
export interface Curve {
  readonly experiment: string;
  /** The paper's name: MiniLM_E4_Excel_perf_cost_exp. */
  readonly name: string;
  readonly encoder: string;
  readonly epochs: number;
  readonly group: Group;
  /** perf, perf_cost, excel_perf_cost, excel_mask, labels, means, or empty. */
  readonly weighting: string;
  /** Queries in a prompt; 0 without a prompt. */
  readonly examples: number;
  readonly policy: string;
  /** Form of the queries: rbprompt, natural, 8% dropped, .. */
  readonly form: string;
  readonly voteScale: number;
  /** The difference from the main setting of the experiment; empty for the main setting. */
  readonly variant: string;
  /** The job of each run. */
  readonly runs: readonly JobId[];
}

/** Policies that every figure shows beside its curves. */
export const BASELINES = ["random", "best-fixed", "zero-feedback", "joust"];
/** Baselines that do not use the vectors of the queries. */
export const WITHOUT_VECTORS = ["random", "best-fixed"];

/** The name in tables and for `--curve`. Unlike in figures, a baseline is named with its vectors. */
export function fullName({ name, group, policy, encoder, epochs }: Curve): string {
  if (group !== "baseline" || encoder === "" || WITHOUT_VECTORS.includes(policy)) return name;
  return `${name} on ${encoder}${epochs > 0 ? `_E${epochs}` : ""}`;
}

/** The form of the queries and the variant. */
export function settingText({ form, variant }: Pick<Curve, "form" | "variant">): string {
  return [form, variant].filter(Boolean).join(", ");
}
