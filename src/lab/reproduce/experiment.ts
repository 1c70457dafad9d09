/** Experiments, the figures and tables that they show, and the claims that are judged by them. */
import type { Picture } from "../report/svg.ts";
import type { Table } from "../report/table.ts";
import type { Planner } from "./planner.ts";
import type { Results } from "./results.ts";
import type { Finding } from "./verdict.ts";

/** One of the paper's experiments. */
export interface Experiment {
  /** Its name on the command line. */
  readonly name: string;
  readonly title: string;
  /** Plans the jobs and the items of the report. If its data is missing, it returns only a note. */
  plan(planner: Planner): Promise<PlannedExperiment>;
}

interface PlannedExperiment {
  /** Paragraphs for the report: the data, the method, and what was left out. */
  readonly notes: readonly string[];
  /** Description of the data, if it is not the paper's. */
  readonly standIn?: string | undefined;
  readonly items: readonly ReportItem[];
}

/** A figure or a table of the report. */
export interface ReportItem {
  readonly id: string;
  readonly title: string;
  readonly caption: string;
  /** Whether the item does not depend on the experiment's queries, so that it names no stand-in. */
  readonly withoutQueries?: boolean | undefined;
  draw(results: Results): Drawing;
}

export type Drawing =
  | { readonly kind: "figure"; readonly pictures: readonly Picture[]; readonly columns?: number }
  | { readonly kind: "table"; readonly table: Table };

/** A sentence of the paper, or one of ours, with a criterion that was fixed before the run. */
export interface Claim {
  readonly id: number;
  /** Section or figure of the paper. */
  readonly place: string;
  readonly statement: string;
  /** The experiments that it needs. */
  readonly needs: readonly string[];
  /** The criterion in words. */
  readonly criterion: string;
  test(results: Results): Finding;
  /** Whether this project makes the claim, not the paper. */
  readonly ours?: boolean | undefined;
  /** Matches the id of the figure or table that shows it best; by default its experiment is linked. */
  readonly shownBy?: RegExp | undefined;
}

/** All experiments and claims of a paper. */
export interface Suite {
  readonly experiments: readonly Experiment[];
  readonly claims: readonly Claim[];
}

/** A suite whose jobs are planned. */
export interface Reproduction {
  readonly planner: Planner;
  readonly parts: readonly (PlannedExperiment & { readonly experiment: Experiment })[];
  readonly claims: readonly Claim[];
}

export interface JudgedClaim extends Finding {
  readonly claim: Claim;
}

/** Claims sorted by their numbers. */
export function byId(judged: readonly JudgedClaim[]): JudgedClaim[] {
  return judged.toSorted((a, b) => a.claim.id - b.claim.id);
}

/** A suite whose jobs are done and whose claims are judged. */
export interface Reproduced extends Reproduction {
  readonly results: Results;
  readonly judged: readonly JudgedClaim[];
}
