/** Tests which edits of the source change the cache keys of which jobs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import suite from "../src/lab/experiments/index.ts";
import { CodeHashes } from "../src/lab/jobs/code.ts";
import type { PlannedJob } from "../src/lab/jobs/plan.ts";
import { keyOf } from "../src/lab/jobs/run-plan.ts";
import KINDS from "../src/lab/reproduce/jobs/kinds.ts";
import { plan } from "../src/lab/reproduce/reproduce.ts";
import { MINILM, newPlanner, STATIC } from "../src/lab/reproduce/results.fixture.ts";

const SRC = join(import.meta.dirname, "../src");
const { data, size } = await newPlanner();
const { planner } = await plan(suite, ["mmlu", "routerbench"], {
  data,
  encoders: { here: [MINILM, STATIC], absent: [] },
  size,
  seed: 1,
});
const { jobs } = planner.plan;
const NO_EDIT = keysAfter((text) => text);

/** The keys of all jobs if `edit` is applied to one file, or to all files. */
function keysAfter(edit: (text: string) => string, file?: string): string[] {
  const codes = new CodeHashes((path) => {
    const text = readFileSync(path, "utf8");
    return file === undefined || path === join(SRC, file) ? edit(text) : text;
  });
  // Every result that a job needs stays the same.
  const digests = new Map(jobs.map(({ id }) => [id, "digest"]));
  return jobs.map((job) => keyOf(job, KINDS, codes, digests));
}

/** Names of the jobs whose keys change when code is added to a file: kind and policy. */
function changedBy(file: string): string[] {
  const keys = keysAfter((text) => `${text}\nexport const edited = 1;\n`, file);
  const changed = jobs.filter((_, i) => keys[i] !== NO_EDIT[i]);
  return [...new Set(changed.map(nameOf))].sort();
}

function nameOf({ kind, spec }: PlannedJob): string {
  const { policy } = spec as { readonly policy?: { readonly kind: string } };
  return policy ? `${kind} ${policy.kind}` : kind;
}

const NAMES = [...new Set(jobs.map(nameOf))].sort();
const RUNS = NAMES.filter((name) => /^(run|linear) /.test(name));

describe("the key of a job", () => {
  it("stays the same when comments are edited anywhere", () => {
    expect(NAMES).toContain("run joust");
    expect(keysAfter((text) => `/* Edited. */\n${text}\n// Edited.\n`)).toEqual(NO_EDIT);
  });

  it("depends on the code of its own policy, not on that of another", () => {
    expect(changedBy("core/bandit/policies/joust.ts")).toEqual(["linear joust", "run joust"]);
    expect(changedBy("core/bandit/policies/mixllm.ts")).toEqual(["run mixllm"]);
    expect(changedBy("core/bandit/sgld.ts")).toEqual(["linear fgts-cdb", "run fgts-cdb"]);
    expect(changedBy("core/bandit/policies/index.ts")).toEqual([]);
  });

  it("depends on the run engine if it is a run", () => {
    for (const file of ["lab/simulate/run.ts", "lab/simulate/voter.ts", "core/router.ts"]) {
      expect(changedBy(file), file).toEqual(RUNS);
    }
  });

  it("depends on the encoder's code if it embeds or fits, and on that of the fit if it fits", () => {
    expect(changedBy("core/encoder/hash.ts")).toEqual(["embed", "fit"]);
    expect(changedBy("core/calibrate/fine-tune.ts")).toEqual(["fit"]);
  });

  it("does not depend on figures, tables, claims or the job engine", () => {
    for (const file of ["lab/report/svg.ts", "lab/jobs/run-plan.ts", "lab/reproduce/verdict.ts"]) {
      expect(changedBy(file), file).toEqual([]);
    }
  });
});
