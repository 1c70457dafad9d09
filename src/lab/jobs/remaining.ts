import { CodeHashes } from "./code.ts";
import type { JobId, Kinds } from "./job.ts";
import type { Plan, PlannedJob } from "./plan.ts";
import type { Published } from "./published.ts";
import { keyOf } from "./run-plan.ts";
import type { Store } from "./store.ts";

export interface RemainingOptions {
  readonly kinds: Kinds;
  readonly store: Store;
  readonly published?: Published | undefined;
}

/**
 * The jobs of a plan that `runPlan` would run, at most: those without a result, and those whose
 * result is only published and that such a job reads. A job counts as missing while a result that it
 * needs is missing.
 */
export async function remainingJobs(
  plan: Plan,
  { kinds, store, published }: RemainingOptions,
): Promise<PlannedJob[]> {
  const codes = new CodeHashes();
  const digests = new Map<JobId, string>();
  const stored = new Set<JobId>();
  const remaining = new Set<JobId>();
  const { jobs } = plan;
  for (const job of jobs) {
    if (job.needs.every((need) => digests.has(need))) {
      const key = keyOf(job, kinds, codes, digests);
      const found = await store.find(key);
      if (found !== undefined) stored.add(job.id);
      const known = found === undefined ? published?.find(key) : { digest: found };
      if (known) digests.set(job.id, known.digest ?? "");
      if (known) continue;
    }
    remaining.add(job.id);
  }
  for (const { id, needs } of jobs.toReversed()) {
    if (!remaining.has(id)) continue;
    for (const need of needs) if (!stored.has(need)) remaining.add(need);
  }
  return jobs.filter(({ id }) => remaining.has(id));
}
